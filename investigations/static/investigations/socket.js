// One channel of the stream: connect, continue from the last event, notice silence, reconnect.
// Tells its owner through two callbacks, message(payload) and state(name, details); `poll`, where it
// is given, fetches what the stream would have brought.

import { heardFrom, heardOf } from "./version.js";

const PING_EVERY = 20000;
const PONG_WITHIN = 10000;
const SLOWEST_RETRY = 3000;
const FAILURES_BEFORE_POLLING = 3;
const POLL_EVERY = 5000;

export class Feed {
  constructor({ channel, lastSeq = 0, format, poll, message, state }) {
    Object.assign(this, { channel, lastSeq, format, poll, message, state });
    this.failures = 0;
    this.caughtUp = 0;
    this.seenAt = new Date();
    this.stopped = false;
  }

  open() {
    if (this.stopped) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.askedFrom = null;
    this.socket = new WebSocket(`${scheme}://${location.host}/api/v1/ws`);
    this.socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => this.closed(event.code));
  }

  stop() {
    this.stopped = true;
    clearInterval(this.pinging);
    clearTimeout(this.polling);
    this.polling = null;
    this.socket?.close();
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
    if (payload.type === "connection.established") {
      heardOf(payload.build);
      return this.subscribe();
    }
    if (payload.type === "subscription.confirmed") return this.live();
    if (payload.type === "pong") return clearTimeout(this.silence);
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
    clearTimeout(this.polling);
    this.polling = null;
    clearInterval(this.pinging);
    this.pinging = setInterval(() => this.ping(), PING_EVERY);
    // What was missed follows the confirmation; count it for a moment before telling.
    setTimeout(() => this.state("live", { wasCutOff, caughtUp: this.caughtUp }), wasCutOff ? 500 : 0);
  }

  ping() {
    if (!this.isOpen()) return;
    this.send("ping");
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.socket.close(), PONG_WITHIN);
  }

  refused(payload) {
    this.state("refused", { reason: payload.message ?? "The server does not send this stream." });
    this.stop();
  }

  closed(code) {
    clearInterval(this.pinging);
    clearTimeout(this.silence);
    if (this.stopped) return;
    if (code === 4401) return this.signedOut();
    if (this.failures === 0) this.caughtUp = 0;
    this.failures += 1;
    const isPolling = Boolean(this.poll) && this.failures >= FAILURES_BEFORE_POLLING;
    this.state(isPolling ? "polling" : "reconnecting", { tries: this.failures, asOf: this.seenAt });
    if (isPolling && !this.polling) this.polling = setTimeout(() => this.pollOnce(), 0);
    const wait = Math.min(200 * 2 ** this.failures, isPolling ? 4 * SLOWEST_RETRY : SLOWEST_RETRY);
    setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
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
        messages.forEach((payload) => this.deliver(payload));
      }
    } catch {
      // No network: the strip already says so, and the next turn tries again.
    }
    if (this.polling) this.polling = setTimeout(() => this.pollOnce(), POLL_EVERY);
    return undefined;
  }
}
