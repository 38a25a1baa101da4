// What is new since this browser last showed the session: a line above the timeline with a way to
// the first of it, and a rule in each column where it begins.

import { clockTime } from "./time.js";

const KEY = "tarsy.seen";
const MOST = 300; // sessions that are remembered

// A browser may refuse storage; then nothing is new.
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function write(seen) {
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // As above.
  }
}

// `position` tells the number of the newest message that the page shows.
export function startSeen(session, position) {
  const save = () => {
    const { [session]: _old, ...others } = read();
    const kept = Object.entries(others).slice(1 - MOST);
    write({ ...Object.fromEntries(kept), [session]: [position(), Date.now()] });
  };
  draw(read()[session]);
  addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) save();
    else draw(read()[session]);
  });
}

function draw(last) {
  for (const old of document.querySelectorAll(".t-since")) old.remove();
  const line = document.getElementById("since");
  line.hidden = true;
  if (!last) return;
  const [seq, at] = last;
  const since = clockTime(new Date(at));
  let total = 0;
  let first = null;
  for (const feed of document.querySelectorAll(".t-feed")) {
    const fresh = [...feed.querySelectorAll(":scope > .t-event:not([hidden])")].filter((event) => seqOf(event) > seq);
    if (!fresh.length) continue;
    total += fresh.length;
    fresh.sort((one, other) => seqOf(one) - seqOf(other));
    if (!first || seqOf(fresh[0]) < seqOf(first)) [first] = fresh;
    fresh[0].before(rule(`${words(fresh.length)} since ${since}`));
  }
  if (!first) return;
  line.hidden = false;
  line.querySelector("span").textContent = `${words(total)} since ${since}.`;
  line.querySelector("a").hash = first.id;
}

function rule(text) {
  const element = document.createElement("p");
  element.className = "t-since";
  element.textContent = text;
  return element;
}

function words(count) {
  return `${count} new event${count === 1 ? "" : "s"}`;
}

function seqOf(event) {
  return Number(event.id.slice(2));
}
