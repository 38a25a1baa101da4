// The live session page: applies the session's messages to the page that the server rendered.

import { showInvisible } from "./copy.js";
import { Follow } from "./follow.js";
import { keys } from "./keys.js";
import "./search.js";
import { startSeen } from "./seen.js";
import { Feed } from "./socket.js";
import { showState, tellAnew } from "./strip.js";
import { place } from "./swap.js";
import { refreshTimes, serverNow } from "./time.js";
import { trim } from "./trim.js";
import { around, steadily, Work } from "./work.js";
import { Written } from "./written.js";

const FACTS_EVERY = 3000;
const LONG_QUIET = 10_000;
const GAP = "[…] ";

const root = document.getElementById("session");
const base = root.dataset.url;
const follows = new Map();
const streams = new Map(); // event id -> Written
let factsDue = null;
let heardAt = 0;

const get = (path) => fetch(base + path, { headers: { "X-Requested-With": "fetch" } });

// ---- Messages ----

async function apply(payload) {
  heardAt = Date.now();
  sawEvent(payload);
  switch (payload.type) {
    case "stream.chunk":
      return append(payload);
    case "execution.progress":
      return setNow(payload.execution_id, payload.message);
    case "interaction.created":
      return askFacts();
    case "stage.status":
      return stageChanged(payload);
    default:
      return settle(payload);
  }
}

async function settle(payload) {
  if (payload.event_id) streams.delete(payload.event_id);
  if (!payload.html) return;
  const isOfSession = payload.type === "session.status" || payload.type === "session.updated";
  const arrive = () => {
    const left = place(payload.html);
    if (isOfSession || payload.type.startsWith("approval.")) sessionChanged();
    return left;
  };
  const homeless = isOfSession ? steadily(arrive, work.on) : arrive();
  if (homeless.some((element) => element.dataset.into) && payload.stage_id) await loadStage(payload.stage_id);
  if (payload.type === "execution.status" && !document.getElementById(`agent-${payload.execution_id}`)) {
    await loadStage(payload.stage_id);
  }
  if (payload.execution_id) grew(payload.execution_id, payload.type === "timeline_event.created");
  if (payload.type === "execution.status") answerEnded(payload.execution_id);
  if (payload.type === "timeline_event.created") drawNow(payload);
  work.changed();
  // Who begins to write has done with thinking.
  if (payload.event_type === "llm_response" && payload.status === "streaming") endThinking(payload.execution_id);
  // Once: nobody wants to hear each second of it.
  if (payload.status === "streaming" && payload.metadata?.about === "provider_wait") say(`Provider asks to wait ${payload.metadata.wait}`);
}

async function stageChanged(payload) {
  const section = document.querySelector(`[data-stage="${payload.stage_id}"]`);
  const isNew = !section || section.classList.contains("t-stage--wait");
  const begins = payload.status === "started";
  const wanted = [...(isNew ? [payload.stage_id] : []), ...(begins ? findToFold() : [])];
  const pieces = (await Promise.all(wanted.map(fetchStage))).filter(Boolean);
  if (payload.html) steadily(() => place(payload.html), work.on);
  const change = () => { for (const piece of pieces) putStage(piece); };
  if (begins) await work.turn(change);
  else steadily(change, work.on);
  const head = document.getElementById(`stage-${payload.stage_id}-head`);
  if (head) say(head.dataset.said);
  if (pieces.length) startFollowing();
  work.changed();
}

// As in the log of a build: what is done takes a line, unless somebody reads there.
function findToFold() {
  if (!work.on) return [];
  const done = [...document.querySelectorAll('#timeline .t-stage-head[data-status="completed"]')].map((head) => head.closest(".t-stage"));
  const open = done.filter((stage) => !stage.querySelector(":scope > .t-inside") && !stage.contains(document.activeElement));
  return open.map((stage) => stage.dataset.stage);
}

function sessionChanged() {
  const head = document.getElementById("session-head");
  document.title = head.dataset.title;
  say(head.dataset.word);
  if (!["completed", "failed", "cancelled", "timed_out"].includes(head.dataset.status)) return;
  // Its alerts may be over later than it is.
  if (root.dataset.live !== "1") return void tellAnew("ended", wordsOfTheEnd(head));
  root.dataset.live = "0";
  document.getElementById("timeline").removeAttribute("aria-busy");
  everyFollow((follow) => follow.end());
  for (const caret of document.querySelectorAll(".t-caret")) caret.classList.remove("t-caret");
  const conclusion = document.getElementById("conclusion");
  const wasFollowed = work.end();
  if (scrollY > 200) showState("ended", wordsOfTheEnd(head));
  // Who followed to the end wants to know what came of it.
  if (wasFollowed) requestAnimationFrame(() => requestAnimationFrame(() => conclusion.scrollIntoView({ block: "start" })));
  askFacts();
}

function wordsOfTheEnd({ dataset: { word, tone } }) {
  const conclusion = document.getElementById("conclusion");
  const none = conclusion.querySelector("[data-no-conclusion]");
  if (none) return { word, tone, found: `${none.querySelector("h2").textContent}.`, link: "Show how it ended" };
  const found = conclusion.querySelector(".t-lead")?.textContent.trim().replace(/\s+/g, " ") ?? "";
  const sure = conclusion.querySelector(".t-sure-words b")?.textContent.trim() ?? "";
  return { word, tone, found, sure, link: "Read the conclusion" };
}

// ---- Text as it is written ----

function append({ event_id: id, execution_id: execution, offset, delta, blocks }) {
  const known = streams.get(id);
  // A stage that was loaded anew brought its blocks as they stood by then.
  const stream = known?.isThere ? known : findStream(id);
  if (!stream || stream.pending) return;
  if (offset > stream.length) {
    stream.pending = true;
    fillGap(id, { offset, delta, blocks }, execution);
    return;
  }
  const fresh = [...delta].slice(Math.max(0, stream.length - offset)).join("");
  stream.length += [...fresh].length;
  stream.waiting += fresh;
  if (blocks && offset + [...delta].length >= stream.length) [stream.blocks, stream.waiting] = [{ ...blocks, endsInSpace: /\s$/.test(delta) }, ""];
  else if (!fresh) return;
  // One write a frame and block, however many messages came.
  stream.frame ??= requestAnimationFrame(() => {
    stream.frame = null;
    if (stream.blocks && !stream.draw(stream.blocks)) streams.delete(id);
    stream.blocks = null;
    if (stream.waiting) stream.append(stream.waiting);
    stream.waiting = "";
    grew(execution, false);
  });
}

function findStream(id) {
  const holder = document.querySelector(`[data-event="${CSS.escape(id)}"] [data-stream]`);
  if (!holder) return null;
  const stream = new Written(holder);
  streams.set(id, stream);
  return stream;
}

// Part of the block is missing here: take what the server keeps, and go on from there. What it does
// not keep yet comes with the finished block.
async function fillGap(id, { offset, delta, blocks }, execution) {
  const answer = await get(`events/${id}/`).catch(() => null);
  if (answer?.ok) place(await answer.text());
  streams.delete(id);
  const stream = findStream(id);
  if (!stream) return;
  if (stream.length < offset) {
    stream.length = offset;
    stream.append(GAP);
  }
  append({ event_id: id, execution_id: execution, offset, delta, blocks });
}

// ---- Pieces ----

async function loadStage(id) {
  const fresh = await fetchStage(id);
  if (!fresh) return;
  putStage(fresh);
  startFollowing();
  work.changed();
}

async function fetchStage(id) {
  const answer = await get(`stages/${id}/`).catch(() => null);
  if (!answer?.ok) return null;
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  return holder.content.firstElementChild;
}

function putStage(fresh) {
  const old = document.querySelector(`[data-stage="${fresh.dataset.stage}"]`);
  if (old) old.replaceWith(fresh);
  else insertStage(fresh);
  refreshTimes(fresh);
  globalThis.htmx?.process(fresh);
}

function insertStage(fresh) {
  // Answers stand where the conclusion is read.
  const timeline = document.getElementById(fresh.classList.contains("t-stage--chat") ? "turns" : "timeline");
  const later = [...timeline.children].find((stage) => Number(stage.dataset.index) > Number(fresh.dataset.index));
  timeline.insertBefore(fresh, later ?? null);
}

function askFacts() {
  factsDue ??= setTimeout(async () => {
    factsDue = null;
    const answer = await get("facts/").catch(() => null);
    if (!answer?.ok) return;
    const facts = await answer.text();
    steadily(() => place(facts), work.on);
  }, FACTS_EVERY);
}

// Where nothing happens for a while, perhaps nobody is there to do it.
async function askWhoWorks() {
  if (document.hidden || Date.now() - heardAt < LONG_QUIET) return;
  if (root.dataset.live !== "1" && !document.querySelector("#ask [data-stop]")) return;
  const answer = await get("workers/").catch(() => null);
  if (answer?.ok) place(await answer.text());
}

function drawNow(payload) {
  const words = { llm_thinking: "Thinking", llm_response: "Writing", llm_tool_call: "Running a tool" };
  if (payload.status === "streaming" && words[payload.event_type]) {
    setNow(payload.execution_id, words[payload.event_type]);
  }
}

function endThinking(execution) {
  const feed = document.getElementById(`feed-${execution}`);
  for (const caret of feed?.querySelectorAll(".t-think .t-caret") ?? []) caret.classList.remove("t-caret");
}

function sawEvent(payload) {
  const time = document.querySelector("[data-last-event] time");
  if (!time) return;
  time.dateTime = payload.timestamp ?? new Date(serverNow()).toISOString();
  refreshTimes(time);
}

// What an agent does now, counted from this moment: a line of its own, which takes the place of the
// last one, so that no part of that moves.
function setNow(execution, words) {
  const element = document.getElementById(`now-${execution}`);
  const shown = showInvisible(words ?? "");
  if (!element || element.textContent === shown) return;
  const fresh = element.parentElement.cloneNode(true);
  fresh.querySelector(`#${CSS.escape(element.id)}`).textContent = shown;
  const time = fresh.querySelector("[id^=since-] time");
  if (time) {
    time.dateTime = new Date(serverNow()).toISOString();
    refreshTimes(time);
  }
  element.parentElement.replaceWith(fresh);
}

function say(words) {
  document.getElementById("announce").textContent = words;
}

// ---- Follow ----

function startFollowing() {
  for (const place of findPlaces()) startAt(place);
}

// Agents side by side scroll all alike, each by itself or with the window: asking one of them is
// enough, and each answer may cost a layout of the page.
function findPlaces() {
  const places = [];
  let doScroll = null;
  for (const agent of document.querySelectorAll(".t-agents--live .t-agent, .t-solo .t-agent, .t-answer")) {
    if (follows.has(agent.dataset.execution) || agent.closest(".t-inside") || !isAtWork(agent)) continue;
    const isAnswer = agent.classList.contains("t-answer");
    const body = isAnswer ? document.getElementById("turns") : agent.querySelector(".t-agent-body");
    const isBeside = !isAnswer && Boolean(agent.closest(".t-agents--live"));
    if (isBeside) doScroll ??= getComputedStyle(body).overflowY === "auto";
    const scrolls = isBeside ? doScroll : getComputedStyle(body).overflowY === "auto";
    const box = scrolls ? body : document.scrollingElement;
    if (scrolls || isAnswer || agent.closest(".t-solo")) places.push({ agent, box, isAnswer, scrolls });
  }
  return places;
}

function startAt({ agent, box, isAnswer, scrolls }) {
  // Who stopped following somewhere wants to read: nothing new pulls them away. And an answer is
  // followed by who asked.
  const isReading = isAnswer || Boolean(location.hash) || !work.on || [...follows.values()].some((follow) => !follow.on && !follow.ended);
  // Nobody is led away from what waits for them.
  const isHeld = () => !scrolls && !isAnswer && Boolean(work.request());
  const follow = new Follow(box, agent.querySelector("[data-follow]"), isHeld, () => work.room());
  follows.set(agent.dataset.execution, follow);
  if (isReading) follow.turnOff();
}

function isAtWork(agent) {
  const status = document.getElementById(`${agent.id}-head`)?.dataset.status;
  return status === "active" || status === "pending";
}

// Who asked goes to the answer and follows it; it comes by the stream, or right here.
async function goToAnswer(stage) {
  if (!document.querySelector(`[data-stage="${stage}"]`)) await loadStage(stage);
  const section = document.querySelector(`[data-stage="${stage}"]`);
  section?.scrollIntoView({ block: "start" });
  follows.get(section?.querySelector(".t-answer")?.dataset.execution)?.turnOn();
}

function answerEnded(execution) {
  const turn = document.getElementById(`agent-${execution}`);
  if (turn?.matches(".t-answer") && !isAtWork(turn)) follows.get(execution)?.end();
}

function grew(execution, isEvent) {
  const follow = follows.get(execution);
  const feed = isEvent && follow?.on && document.getElementById(`feed-${execution}`);
  if (feed) trim(feed, `${base}executions/${execution}/earlier/`, follow.isWindow ? around : (_row, change) => change());
  follow?.grew(isEvent);
}

function turnAllOn() {
  work.turnOn();
  everyFollow((follow) => follow.turnOn());
}

function everyFollow(action) {
  for (const follow of follows.values()) action(follow);
}

// ---- Start ----

let chain = Promise.resolve();
// One after the other: a stage must be on the page before its events.
const inTurn = (work) => { chain = chain.then(work).catch((error) => console.error(error)); };
// An ended session is followed too: somebody may ask about it, here or in another browser.
const work = new Work(document.getElementById("timeline"), document.getElementById("now"));
if (root.dataset.live !== "1") work.end();
work.startAfterDecision(root.dataset.session);
const feed = new Feed({
  channel: root.dataset.channel,
  lastSeq: Number(root.dataset.lastSeq),
  format: "html",
  poll: (after) => get(`events/?after=${after}`),
  message: (payload) => inTurn(() => apply(payload)),
  state: showState,
});
startFollowing();
for (const event of document.querySelectorAll(".t-event:has(.t-caret)")) findStream(event.dataset.event);
document.addEventListener("tarsy:jump", () => everyFollow((follow) => follow.turnOff()));
document.addEventListener("tarsy:asked", (event) => inTurn(() => goToAnswer(event.detail)));
keys.set("f", "follow what is new", turnAllOn);
setInterval(askWhoWorks, LONG_QUIET);
startSeen(root.dataset.session, () => feed.lastSeq);
feed.open();
