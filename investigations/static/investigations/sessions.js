// The list page: refetches the row that changed, and never moves a row under the pointer.

import { Feed } from "./socket.js";
import { showState } from "./strip.js";
import { place } from "./swap.js";

const SECTIONS_EVERY = 1000;
const ROW_EVERY = 1000;
const TERMINAL = ["completed", "failed", "cancelled", "timed_out"];

const rowsDue = new Map();
const finished = new Set();
let sectionsDue = null;

function apply(payload) {
  const id = payload.session_id;
  if (/^(session|approval)\./.test(payload.type)) askRow(id);
  if (payload.type !== "session.status") return;
  if (TERMINAL.includes(payload.status)) tellFinished(id);
  askSections();
}

function askRow(id) {
  if (rowsDue.has(id) || !document.querySelector(`.t-runrow[data-session="${id}"]`)) return;
  rowsDue.set(id, setTimeout(async () => {
    rowsDue.delete(id);
    const answer = await fetch(`/sessions/${id}/row/`, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
    if (answer?.ok && document.getElementById(`row-${id}`)) place(await answer.text());
  }, ROW_EVERY));
}

// Rows come and go only while nobody points at them or has the focus there.
function askSections() {
  sectionsDue ??= setTimeout(() => {
    sectionsDue = null;
    const active = document.getElementById("active");
    if (active.matches(":hover") || active.contains(document.activeElement)) return askSections();
    return htmx.trigger(active, "refresh");
  }, SECTIONS_EVERY);
}

function tellFinished(id) {
  if (document.querySelector(`#recent [data-session="${id}"]`)) return;
  finished.add(id);
  const button = document.getElementById("new-rows");
  if (!button) return location.reload();
  button.textContent = `${finished.size} new session${finished.size === 1 ? "" : "s"} finished. Show ${finished.size === 1 ? "it" : "them"}`;
  button.hidden = false;
  return undefined;
}

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (document.querySelector("#active li")) document.getElementById("nothing-yet")?.remove();
  if (event.detail.target?.id !== "recent") return;
  finished.clear();
  document.getElementById("new-rows").hidden = true;
});

function stateChanged(name, details) {
  showState(name, details);
  if (name === "live" && details.wasCutOff) askSections();
}

// Without a stream the sections are fetched again every few seconds.
const poll = async () => {
  const answer = await fetch("/fragments/active/", { headers: { "X-Requested-With": "fetch" } });
  if (answer.ok) askSections();
  return { status: answer.status, ok: false };
};

new Feed({ channel: "sessions", message: apply, state: stateChanged, poll }).open();
