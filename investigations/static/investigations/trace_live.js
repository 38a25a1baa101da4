// Keeps the trace of a session up to date: each message of its stream asks for the page once more,
// at most every two seconds, and only what changed is put in. What was opened stays open, with what
// it had loaded, and the line that was at the top of the window stays there.

import { Feed } from "./socket.js";
import { showState } from "./strip.js";
import { refreshTimes } from "./time.js";

const EVERY = 2000;
const PARTS = ["trace-head", "trace-facts", "trace-filters", "trace-tree"];
const root = document.getElementById("trace");
let due = null;
let isStale = false;

function ask() {
  isStale = true;
  if (!document.hidden) due ??= setTimeout(refresh, EVERY);
}

async function refresh() {
  due = null;
  if (isReading()) return ask();
  isStale = false;
  const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (!answer?.ok) return ask();
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const anchor = findAnchor();
  for (const id of PARTS) update(document.getElementById(id), fresh.getElementById(id));
  if (anchor) scrollBy(0, document.getElementById(anchor.id).getBoundingClientRect().top - anchor.top);
  document.dispatchEvent(new CustomEvent("tarsy:traced"));
  return undefined;
}

// A selection in the tree would be lost.
function isReading() {
  const selection = getSelection();
  return !selection.isCollapsed && document.getElementById("trace-tree").contains(selection.anchorNode);
}

function findAnchor() {
  const rows = document.querySelectorAll("#trace-tree details[id]");
  const row = [...rows].find((each) => each.getBoundingClientRect().bottom > 0);
  return row && scrollY > 0 ? { id: row.id, top: row.getBoundingClientRect().top } : null;
}

function update(old, fresh) {
  if (!old || !fresh || old.outerHTML === fresh.outerHTML) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.closest("[id]")?.id : null;
  for (const details of old.querySelectorAll("details[id]")) keepAsLeft(details, fresh);
  old.replaceWith(document.adoptNode(fresh));
  refreshTimes(fresh);
  if (focused) focusable(document.getElementById(focused))?.focus({ preventScroll: true });
}

// A finished call does not change: what was loaded of it moves along.
function keepAsLeft(old, tree) {
  const fresh = tree.querySelector(`#${CSS.escape(old.id)}`);
  if (!fresh) return;
  if (fresh.open !== old.open) fresh.open = old.open;
  if (!fresh.dataset.body || old.dataset.body || !old.open) return;
  delete fresh.dataset.body;
  fresh.lastElementChild.replaceWith(old.lastElementChild);
}

function focusable(element) {
  return element?.matches("a, button, summary, select") ? element : element?.querySelector("summary, a, button, select");
}

document.addEventListener("visibilitychange", () => { if (isStale) ask(); });
new Feed({
  channel: root.dataset.channel,
  lastSeq: Number(root.dataset.lastSeq),
  poll: (after) => fetch(`${root.dataset.url}events/?after=${after}`, { headers: { "X-Requested-With": "fetch" } }),
  message: ({ type }) => { if (!["stream.chunk", "execution.progress"].includes(type)) ask(); },
  state: showState,
}).open();
