// One channel of the stream: connect, continue from the last event, notice silence, reconnect.
// Tells its owner through two callbacks, message(payload) and state(name, details); `poll`, where it
// is given, fetches what the stream would have brought.
//
// What is not heard is not live: a browser reports a closed socket a minute late where the other end
// says nothing any more, so silence itself is a cut.

import { heardFrom, heardOf } from "./version.js";

const PING_EVERY = 10_000;
// Within 25 s it has to be said, and the look may come a second late.
const SILENCE = 24_000;
const CONNECTED_WITHIN = 10_000;
const LOOK_EVERY = 1000;
const SLOWEST_RETRY = 3000;
const FAILURES_BEFORE_POLLING = 3;
const POLL_EVERY = 5000;

// Two clocks: one stands still while the machine sleeps, the other jumps when it is set.
const elapsed = (mark) => Math.max(performance.now() - mark.steady, Date.now() - mark.clock);
const now = () => ({ steady: performance.now(), clock: Date.now() });

export class Feed {
  constructor({ channel, lastSeq = 0, format, poll, message, state }) {
    Object.assign(this, { channel, lastSeq, format, poll, message, state });
    this.failures = 0;
    this.caughtUp = 0;
    this.seenAt = new Date();
    this.heard = now();
    this.pinged = now();
    this.isLive = false;
    this.stopped = false;
    this.watching = setInterval(() => this.look(), LOOK_EVERY);
    addEventListener("offline", () => this.lost());
    addEventListener("online", () => this.again());
    addEventListener("pageshow", (event) => event.persisted && this.again());
    document.addEventListener("visibilitychange", () => this.look());
  }

  open() {
    clearTimeout(this.retrying);
    if (this.stopped) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.askedFrom = null;
    this.began = now();
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/ws`);
    this.socket = socket;
    // What an earlier socket still says is of no account.
    socket.addEventListener("message", (event) => socket === this.socket && this.receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => socket === this.socket && this.closed(event.code));
  }

  stop() {
    this.stopped = true;
    clearInterval(this.watching);
    clearTimeout(this.retrying);
    clearTimeout(this.polling);
    this.polling = null;
    this.isLive = false;
    this.drop();
  }

  drop() {
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }

  send(action, fields = {}) {
    this.socket.send(JSON.stringify({ action, ...fields }));
  }

  subscribe() {
    const fields = { channel: this.channel, last_event_id: this.lastSeq };
    if (this.format) fields.format = this.format;
    this.send("subscribe", fields);
  }

  receive(payload) {
    this.seenAt = new Date();
    this.heard = now();
    if (payload.type === "connection.established") {
      heardOf(payload.build);
      return this.subscribe();
    }
    if (payload.type === "subscription.confirmed") return this.live();
    if (payload.type === "pong") return undefined;
    if (payload.type === "subscription.error" || payload.type === "error") return this.refused(payload);
    if (payload.type === "catchup.overflow") return location.reload();
    return this.deliver(payload);
  }

  // Each stored event once and in order; a gap is asked for again.
  deliver(payload) {
    const seq = payload.db_event_id;
    if (seq === undefined) return this.message(payload);
    if (seq <= this.lastSeq) return undefined;
    if (seq > this.lastSeq + 1 && this.isOpen()) return this.askAgain();
    this.lastSeq = seq;
    this.caughtUp += 1;
    return this.message(payload);
  }

  // Once for each place, however many messages come behind the hole.
  askAgain() {
    if (this.askedFrom === this.lastSeq) return;
    this.askedFrom = this.lastSeq;
    this.send("catchup", { channel: this.channel, last_event_id: this.lastSeq });
  }

  isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  live() {
    const wasCutOff = this.failures > 0;
    this.failures = 0;
    this.isLive = true;
    clearTimeout(this.polling);
    this.polling = null;
    // What was missed follows the confirmation; count it for a moment before telling.
    setTimeout(() => this.isLive && this.state("live", { wasCutOff, caughtUp: this.caughtUp }), wasCutOff ? 500 : 0);
  }

  // Once a second, and when somebody comes back to the page. A tab in the background is seldom let
  // run, so it may have asked for nothing for a while: then it asks first.
  look() {
    if (this.stopped || !this.socket) return;
    const quiet = elapsed(this.heard);
    if (!this.isLive) {
      if (elapsed(this.began) >= CONNECTED_WITHIN) this.lost();
      return;
    }
    if (quiet >= SILENCE && (elapsed(this.pinged) < SILENCE || !document.hidden)) return this.lost();
    if (quiet >= PING_EVERY && elapsed(this.pinged) >= PING_EVERY && this.isOpen()) {
      this.pinged = now();
      this.send("ping");
    }
    return undefined;
  }

  // Nothing is heard any more, whatever the socket itself thinks.
  lost() {
    if (this.stopped || !this.socket) return;
    this.drop();
    this.closed(0);
  }

  // The network is back, or the page is.
  again() {
    if (this.stopped || (this.isLive && elapsed(this.heard) < SILENCE)) return;
    this.drop();
    this.isLive = false;
    this.open();
  }

  refused(payload) {
    this.state("refused", { reason: payload.message ?? "The server does not send this stream." });
    this.stop();
  }

  closed(code) {
    this.isLive = false;
    this.socket = null;
    if (this.stopped) return;
    if (code === 4401) return this.signedOut();
    if (this.failures === 0) this.caughtUp = 0;
    this.failures += 1;
    const isPolling = Boolean(this.poll) && this.failures >= FAILURES_BEFORE_POLLING && navigator.onLine;
    const name = navigator.onLine ? (isPolling ? "polling" : "reconnecting") : "offline";
    this.state(name, { tries: this.failures, asOf: this.seenAt });
    if (isPolling && !this.polling) this.polling = setTimeout(() => this.pollOnce(), 0);
    const wait = Math.min(200 * 2 ** this.failures, isPolling ? 4 * SLOWEST_RETRY : SLOWEST_RETRY);
    this.retrying = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
  }

  signedOut() {
    this.stop();
    this.state("signed-out", {});
  }

  async pollOnce() {
    try {
      const answer = await this.poll(this.lastSeq);
      heardFrom(answer);
      if (answer.status === 401) return this.signedOut();
      if (answer.ok) {
        const { messages, has_more: hasMore } = await answer.json();
        if (hasMore) return location.reload();
        this.seenAt = new Date();
        this.state("polling", { tries: this.failures, asOf: this.seenAt });
        messages.forEach((payload) => this.deliver(payload));
      }
    } catch {
      // No network: the strip says how old the page is, and the next turn tries again.
      if (this.polling) this.state("reconnecting", { tries: this.failures, asOf: this.seenAt });
    }
    if (this.polling) this.polling = setTimeout(() => this.pollOnce(), POLL_EVERY);
    return undefined;
  }
}
