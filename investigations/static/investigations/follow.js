// Follow mode is a state. On while something runs; off only by a person's own move upward, on again
// by the pill, by End, or by scrolling to the bottom oneself. Growing content never changes it.

const NEAR = 24;
const AHEAD = "200px"; // of the window, from where on a box counts as seen
const later = new Set();
const boxes = new WeakMap(); // what scrolls by itself -> its Follow

// A page may have hundreds of boxes, and to ask one that is out of view where its end is means a
// layout for it alone. So each is brought to its end when it comes into view.
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) boxes.get(target).isSeen = isIntersecting;
  followToEnd(entries.map(({ target }) => boxes.get(target)).filter((follow) => follow.on));
}, { rootMargin: AHEAD });

function followToEnd(follows) {
  const free = follows.filter((follow) => follow.isSeen && !follow.isHeld());
  jumpAll(free);
  if (free.length) jumpLater(free);
}

// All are asked where their end is before the first is moved.
function jumpAll(follows) {
  const ends = follows.map((follow) => follow.bottom());
  follows.forEach(({ box }, place) => { box.scrollTop = ends[place]; });
  for (const follow of follows) follow.top = follow.box.scrollTop;
}

// Rows that come into view take their real height only when they are drawn, which is after the next
// frame has begun: then to the end again.
function jumpLater(follows) {
  if (!later.size) {
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const due = [...later].filter((follow) => follow.on && !follow.isHeld());
      later.clear();
      jumpAll(due);
    }));
  }
  for (const follow of follows) later.add(follow);
}

export class Follow {
  // `box` scrolls; `pill` is its button. The window is followed with document.scrollingElement, and
  // stays where it is while `isHeld` says so. Of its end, `room` is empty.
  constructor(box, pill, isHeld = () => false, room = () => 0) {
    this.box = box;
    this.pill = pill;
    this.isHeld = isHeld;
    this.room = room;
    this.isWindow = box === document.scrollingElement;
    this.on = true;
    this.fresh = 0;
    this.byHand = false;
    // What scrolls by itself is new here and stands at its beginning.
    this.top = this.isWindow ? scrollY : 0;
    this.isSeen = this.isWindow;
    if (!this.isWindow) {
      boxes.set(box, this);
      watcher.observe(box);
    }
    this.listen(this.isWindow ? window : box);
    pill.addEventListener("click", () => {
      this.turnOn();
      this.jump();
    });
  }

  listen(target) {
    target.addEventListener("wheel", (event) => this.moved(event.deltaY < 0), { passive: true });
    target.addEventListener("touchstart", (event) => { this.touchY = event.touches[0].clientY; }, { passive: true });
    target.addEventListener("touchmove", (event) => this.moved(event.touches[0].clientY > this.touchY), { passive: true });
    target.addEventListener("pointerdown", (event) => { this.byHand = event.target === this.box || this.isWindow; });
    addEventListener("pointerup", () => { this.byHand = false; });
    target.addEventListener("keydown", (event) => {
      if (!event.target.closest?.("input, textarea, select, dialog[open]")) this.key(event.key);
    });
    target.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  moved(upward) {
    this.gesture = Date.now();
    if (upward && this.box.scrollHeight > this.box.clientHeight) this.turnOff();
  }

  key(name) {
    this.gesture = Date.now();
    if (["PageUp", "Home", "ArrowUp"].includes(name)) this.turnOff();
    if (name === "End") this.turnOn();
  }

  scrolled() {
    const top = this.box.scrollTop;
    if (this.byHand && top < this.top) this.turnOff();
    const byPerson = this.byHand || Date.now() - (this.gesture ?? 0) < 400;
    if (!this.on && byPerson && top > this.top && this.isAtEnd()) this.turnOn();
    this.top = top;
  }

  isAtEnd() {
    return this.bottom() - this.box.scrollTop < NEAR;
  }

  // How far its end is scrolled to. What is gone below moves nobody back.
  bottom() {
    const end = this.box.scrollHeight - this.box.clientHeight;
    return this.isWindow ? Math.max(this.box.scrollTop, end - this.room()) : end;
  }

  turnOff() {
    if (!this.on) return;
    this.on = false;
    this.fresh = 0;
    this.draw();
  }

  // What was followed has ended: there is no more to come.
  end() {
    this.on = false;
    this.ended = true;
    watcher.unobserve(this.box);
    this.draw();
  }

  turnOn() {
    if (this.ended) return;
    this.on = true;
    this.fresh = 0;
    this.toEnd();
    this.draw();
  }

  // Something was added; `isEvent` when it counts as new.
  grew(isEvent) {
    if (this.ended) return undefined;
    if (this.on) return this.toEnd();
    if (isEvent) {
      this.fresh += 1;
      this.draw();
    }
    return undefined;
  }

  toEnd() {
    followToEnd([this]);
  }

  jump() {
    jumpAll([this]);
  }

  draw() {
    this.pill.hidden = this.on || Boolean(this.ended);
    this.pill.querySelector("span").textContent = this.fresh ? `Follow - ${this.fresh} new` : "Follow";
  }
}
