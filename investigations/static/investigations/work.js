// Where the work is. The window follows it from stage to stage until a person moves upward, and one
// button tells where it is when it is out of view and leads there.

const IN_VIEW = 0.5; // of the panel, or of the window where that is lower
const GESTURE = 400;

// A change above what is read, which stays where it is in the window.
export function steadily(change, isFollowed = false) {
  const { style } = document.documentElement;
  const seen = [...document.querySelectorAll("#timeline > .t-stage")].find((stage) => stage.getBoundingClientRect().bottom > 0);
  const before = seen?.getBoundingClientRect().top;
  // The browser's own way of it would come on top.
  style.overflowAnchor = "none";
  const result = change();
  const keep = () => {
    if ((scrollY > 0 || isFollowed) && seen?.isConnected) scrollBy(0, seen.getBoundingClientRect().top - before);
  };
  keep();
  // Others may answer to the change before it is drawn.
  requestAnimationFrame(() => {
    keep();
    style.overflowAnchor = "";
  });
  return result;
}

export class Work {
  constructor(timeline, pill) {
    this.timeline = timeline;
    this.pill = pill;
    this.on = !location.hash;
    // The page does not get shorter while somebody watches: what is read would be moved by it.
    timeline.classList.toggle("is-followed", timeline.hasAttribute("aria-busy"));
    this.tallest = 0;
    new ResizeObserver(() => this.keepHeight()).observe(timeline);
    this.ended = false;
    this.top = scrollY;
    pill.addEventListener("click", () => this.turnOn());
    addEventListener("wheel", (event) => this.moved(event, event.deltaY < 0), { passive: true });
    addEventListener("touchstart", (event) => { this.touchY = event.touches[0].clientY; }, { passive: true });
    addEventListener("touchmove", (event) => this.moved(event, event.touches[0].clientY > this.touchY), { passive: true });
    // A press beside everything is one on the bar.
    addEventListener("pointerdown", (event) => { this.byHand = event.target === document.documentElement; });
    addEventListener("pointerup", () => { this.byHand = false; });
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => this.draw(), { passive: true });
    document.addEventListener("tarsy:jump", () => this.turnOff());
    this.draw();
  }

  // The stage that is at work; the last, where a person asked for more.
  stage() {
    const heads = [...this.timeline.querySelectorAll('.t-stage-head[data-status="active"]')];
    return heads.at(-1)?.closest(".t-stage") ?? null;
  }

  moved(event, upward) {
    // What scrolls by itself is left to itself.
    const box = event.target.closest?.(".t-agent-body, .t-out, pre, dialog, .t-evidence");
    if (box && box.scrollHeight > box.clientHeight) return;
    this.gesture = Date.now();
    if (upward && document.scrollingElement.scrollHeight > innerHeight) this.turnOff();
  }

  key(event) {
    if (event.target.closest?.("input, textarea, select, dialog[open], .t-agents--live .t-agent-body")) return;
    this.gesture = Date.now();
    if (["PageUp", "Home", "ArrowUp"].includes(event.key)) this.turnOff();
  }

  scrolled() {
    const top = scrollY;
    if (this.byHand && top < this.top) this.turnOff();
    const byPerson = this.byHand || Date.now() - (this.gesture ?? 0) < GESTURE;
    if (!this.on && byPerson && top > this.top && this.isInView()) this.on = true;
    this.top = top;
    this.draw();
  }

  isInView() {
    const panel = this.stage()?.querySelector(".t-agents") ?? this.stage();
    if (!panel) return true;
    const { top, bottom, height } = panel.getBoundingClientRect();
    const seen = Math.min(bottom, innerHeight) - Math.max(top, 0);
    return seen >= IN_VIEW * Math.min(height, innerHeight);
  }

  turnOff() {
    this.on = false;
    this.draw();
  }

  turnOn() {
    if (this.ended) return;
    this.on = true;
    this.show();
    this.draw();
  }

  keepHeight() {
    if (this.ended || this.timeline.offsetHeight <= this.tallest) return;
    this.tallest = this.timeline.offsetHeight;
    this.timeline.style.minHeight = `${this.tallest}px`;
  }

  // A stage began, or what stands above it has grown.
  changed() {
    // Not for each of many messages: it asks where everything stands.
    if (this.looked !== undefined && performance.now() - this.looked < 50) {
      this.again ??= setTimeout(() => this.look(), 50);
    } else {
      this.look();
    }
  }

  look() {
    clearTimeout(this.again);
    this.again = null;
    this.looked = performance.now();
    // Nobody is led away from what waits for them.
    const waits = document.querySelector(".t-appr");
    if (this.on && !this.ended && !waits && !this.isInView()) this.show();
    this.draw();
  }

  show() {
    this.stage()?.scrollIntoView({ block: "start" });
    this.top = scrollY;
  }

  // Whether whoever watches is to be led on to what was found.
  end() {
    this.ended = true;
    this.draw();
    return this.on;
  }

  draw() {
    const stage = this.ended ? null : this.stage();
    // Where a person is waited for, that is where the work is.
    this.pill.hidden = !stage || this.isInView() || Boolean(document.querySelector(".t-appr"));
    if (this.pill.hidden) return;
    const open = stage.querySelectorAll('.t-agent-head:is([data-status="active"], [data-status="pending"])').length;
    const agents = open > 1 ? `, ${open} agents` : "";
    this.pill.querySelector("span").textContent = `Now: ${stage.querySelector(".t-stage-t").textContent.trim()}${agents}`;
  }
}
