// Where the work is. The window follows it from stage to stage until a person moves upward, and one
// button tells where it is when it is out of view and leads there. While a change waits for a person,
// the request is where the work is.

import { announce } from "./copy.js";

const IN_VIEW = 0.5; // of what is looked for, or of the window where that is lower
const MOST_EMPTY = 0.5; // of the window, below the last stage
const GESTURE = 400;
export const DECIDED = "tarsy:decided"; // the session about which a person decided right before

// A change above what is read, which stays where it is in the window.
export function steadily(change, isFollowed = false) {
  const { style } = document.documentElement;
  const place = (stage) => stage.getBoundingClientRect().top + scrollY;
  const stages = [...document.querySelectorAll("#timeline > .t-stage")];
  const inView = [...stages, document.getElementById("reading")].filter((stage) => stage.getBoundingClientRect().bottom > 0);
  const places = new Map(inView.map((stage) => [stage, place(stage)]));
  // The browser's own way of it would come on top.
  style.overflowAnchor = "none";
  const result = change();
  const keep = () => {
    const seen = inView.find((stage) => stage.isConnected);
    if (!seen || (scrollY <= 0 && !isFollowed)) return;
    const now = place(seen);
    scrollBy(0, now - places.get(seen));
    places.set(seen, now);
  };
  keep();
  // Others may answer to the change before it is drawn: at once, or in the next frame.
  queueMicrotask(keep);
  requestAnimationFrame(() => {
    keep();
    style.overflowAnchor = "";
  });
  return result;
}

// The same, where `element` is what is read.
export function around(element, change) {
  const before = element.getBoundingClientRect().top;
  document.documentElement.style.overflowAnchor = "none";
  change();
  scrollBy(0, element.getBoundingClientRect().top - before);
  requestAnimationFrame(() => { document.documentElement.style.overflowAnchor = ""; });
}

// Of the window, by what sticks to its top.
function coveredAbove() {
  return parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
}

// A page that nobody looks at draws no frames.
function nextFrame() {
  return new Promise((go) => {
    if (document.hidden) go();
    else requestAnimationFrame(go);
    setTimeout(go, 100);
  });
}

export class Work {
  constructor(timeline, pill) {
    this.timeline = timeline;
    this.pill = pill;
    this.foot = document.querySelector(".t-foot");
    this.on = !location.hash;
    // The page does not get shorter while somebody watches: what is read would be moved by it.
    for (const name of ["is-followed", "was-live"]) timeline.classList.toggle(name, timeline.hasAttribute("aria-busy"));
    this.isTurning = false;
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

  // The same; where none is at work at this moment, the last.
  newest() {
    return this.stage() ?? this.timeline.lastElementChild;
  }

  // What waits for a person; it is shown once to who follows, and then left to them.
  request() {
    const request = this.ended ? null : document.querySelector(".t-appr");
    if (request && request.id !== this.asked) [this.asked, this.askedAt] = [request.id, Date.now()];
    return request;
  }

  moved(event, upward) {
    // What scrolls by itself is left to itself; from its beginning on, the window goes on.
    const box = event.target.closest?.(".t-agent-body, .t-out, pre, dialog, .t-evidence");
    if (box && box.scrollHeight > box.clientHeight && !(upward && box.scrollTop <= 0)) return;
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
    if (this.byHand) this.gesture = Date.now();
    if (this.byHand && top < this.top) this.turnOff();
    const byPerson = this.byHand || Date.now() - (this.gesture ?? 0) < GESTURE;
    if (!this.on && byPerson && top > this.top && this.isInView()) this.on = true;
    this.top = top;
    this.dropRoom();
    this.draw();
  }

  isInView() {
    const place = this.request() ?? this.stage()?.querySelector(".t-agents") ?? this.stage();
    if (!place) return true;
    const { top, bottom, height } = place.getBoundingClientRect();
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

  // The page came anew by a decision of who watches: what came of it is said, and the work goes on.
  startAfterDecision(session) {
    const isOurs = sessionStorage.getItem(DECIDED) === session;
    sessionStorage.removeItem(DECIDED);
    if (!isOurs) return;
    const outcome = [...document.querySelectorAll("#approvals > .t-decided > span:first-of-type")].at(-1);
    if (outcome) announce(outcome.textContent.trim().replace(/\s+/g, " "));
    // Who decided by keys goes on from there, not from the head of the page.
    outcome?.parentElement.focus({ preventScroll: true });
    this.turnOn();
  }

  // As tall as it ever was, but nobody is left in front of nothing. There is always room for the
  // stage that works at the top of the window, so that the foot of the page stays below it.
  keepHeight() {
    const last = this.timeline.lastElementChild;
    if (this.ended || (!last && !this.isTurning)) return;
    const { top, bottom } = this.timeline.getBoundingClientRect();
    this.tallest = Math.max(this.tallest, this.timeline.offsetHeight);
    const filled = last ? last.getBoundingClientRect().bottom - top : 0;
    const kept = this.isTurning ? this.tallest : Math.min(this.tallest, filled + MOST_EMPTY * innerHeight);
    const begins = last ? this.newest().getBoundingClientRect().top - top : 0;
    const foot = this.foot.getBoundingClientRect().top;
    const whole = begins + innerHeight - coveredAbove() - (foot - bottom);
    const isBelow = foot >= innerHeight;
    const more = this.isTurning && isBelow ? innerHeight : 0;
    // What is below the window never comes up into it.
    const unseen = isBelow ? innerHeight - top - (foot - bottom) : 0;
    this.timeline.style.minHeight = `${Math.ceil(Math.max(kept, whole + more, unseen))}px`;
  }

  // What is empty below the last stage.
  room() {
    const last = this.timeline.lastElementChild;
    return last ? this.timeline.getBoundingClientRect().bottom - last.getBoundingClientRect().bottom : 0;
  }

  // Nothing more is to come: the room goes once nobody sees it go. At the top of the page nothing that
  // is read can move.
  dropRoom() {
    if (!this.ended || !this.timeline.classList.contains("is-followed")) return;
    if (scrollY > 0 && this.foot.getBoundingClientRect().top - this.room() < innerHeight) return;
    this.timeline.classList.remove("is-followed");
    this.timeline.style.minHeight = "";
  }

  // A stage begins: `change` brings it and folds those before it. Whoever follows is led to it in the
  // same frame, so that nothing moves that they see; the foot of the page has made room for it before,
  // in a frame of its own.
  async turn(change) {
    if (!this.on || this.ended || this.request()) {
      steadily(change);
      return;
    }
    await nextFrame();
    this.isTurning = true;
    this.keepHeight();
    await nextFrame();
    const { style } = document.documentElement;
    style.overflowAnchor = "none";
    try {
      change();
      if (this.on && this.newest() && !this.isWhole()) this.show();
      await nextFrame();
    } finally {
      style.overflowAnchor = "";
      await nextFrame();
      this.isTurning = false;
      this.keepHeight();
    }
  }

  // Whether all of the newest stage is in view.
  isWhole() {
    const { top, bottom } = this.newest().getBoundingClientRect();
    return top >= coveredAbove() && bottom <= innerHeight;
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
    this.keepHeight();
    const isLeftToThem = this.request() && (this.gesture ?? 0) > this.askedAt;
    if (this.on && !this.ended && !isLeftToThem && !this.isInView()) {
      this.show();
      // What arrived with it may still move the page.
      this.again = setTimeout(() => this.look(), 50);
    }
    this.draw();
  }

  show() {
    this.keepHeight();
    (this.request() ?? this.newest())?.scrollIntoView({ block: "start" });
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
    const request = this.request();
    this.pill.hidden = !(request ?? stage) || this.isInView();
    if (this.pill.hidden) return;
    if (request) {
      this.pill.querySelector("span").textContent = "An approval waits";
      return;
    }
    const open = stage.querySelectorAll('.t-agent-head:is([data-status="active"], [data-status="pending"])').length;
    const agents = open > 1 ? `, ${open} agents` : "";
    this.pill.querySelector("span").textContent = `Now: ${stage.querySelector(".t-stage-t").textContent.trim()}${agents}`;
  }
}
