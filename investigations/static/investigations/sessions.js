// The list page: refetches the row that changed, and never moves a row under the pointer.

import { keys } from "./keys.js";
import { drawSelection, startSelecting } from "./select.js";
import { markUnseen } from "./unseen.js";
import { Feed } from "./socket.js";
import { showState } from "./strip.js";
import { place } from "./swap.js";
import { refreshTimes } from "./time.js";

const EVERY = 1000;
const HANDS_OFF = 3000; // since somebody last moved within the sections
const TERMINAL = ["completed", "failed", "cancelled", "timed_out"];
const FROM_SCRIPT = { headers: { "X-Requested-With": "fetch" } };

const rowsDue = new Map();
let sectionsDue = null;
let countDue = null;
let touchedAt = 0;

function apply(payload) {
  if (/^(session|approval)\./.test(payload.type)) askRow(payload.session_id);
  if (/^approval\./.test(payload.type)) askSections();
  if (payload.type !== "session.status") return;
  if (TERMINAL.includes(payload.status)) askCount();
  askSections();
}

function askRow(id) {
  if (rowsDue.has(id) || !document.querySelector(`.t-runrow[data-session="${id}"]`)) return;
  rowsDue.set(id, setTimeout(async () => {
    rowsDue.delete(id);
    const answer = await fetch(`/sessions/${id}/row/`, FROM_SCRIPT).catch(() => null);
    if (answer?.ok && document.getElementById(`row-${id}`)) place(await answer.text());
    drawSelection();
  }, EVERY));
}

// Rows come and go only while nobody is about to use one.
function askSections() {
  sectionsDue ??= setTimeout(() => {
    sectionsDue = null;
    if (Date.now() - touchedAt < HANDS_OFF) return askSections();
    return htmx.trigger(document.getElementById("active"), "refresh");
  }, EVERY);
}

for (const kind of ["pointermove", "pointerdown", "focusin", "keydown"]) {
  document.addEventListener(kind, (event) => {
    if (event.target.closest?.("#active")) touchedAt = Date.now();
  }, { passive: true });
}

// How many rows this view would have gained: the rows themselves come when they are asked for.
function askCount() {
  const recent = document.getElementById("recent");
  if (!recent) return location.reload();
  countDue ??= setTimeout(async () => {
    countDue = null;
    const { asOf, query } = document.getElementById("recent").dataset;
    const address = `/fragments/new/?since=${encodeURIComponent(asOf)}&${query}`;
    const answer = await fetch(address, FROM_SCRIPT).catch(() => null);
    const holder = document.getElementById("new-rows");
    if (!answer?.ok || document.getElementById("recent").dataset.asOf !== asOf) return;
    holder.innerHTML = await answer.text();
    htmx.process(holder);
  }, EVERY);
  return undefined;
}

document.body.addEventListener("htmx:afterSwap", (event) => {
  const swapped = event.detail.target?.id;
  if (swapped === "active") {
    const fresh = document.getElementById("active");
    document.title = fresh.dataset.title;
    if (fresh.querySelector("li")) document.getElementById("nothing-yet")?.remove();
    refreshTimes(fresh);
  }
  if (swapped === "recent") refreshTimes(document.getElementById("recent"));
  markUnseen();
});

function stateChanged(name, details) {
  showState(name, details);
  if (name !== "live" || !details.wasCutOff) return;
  askSections();
  askCount();
}

// Without a stream the sections are fetched again every few seconds.
const poll = async () => {
  const answer = await fetch("/fragments/active/", FROM_SCRIPT);
  if (answer.ok) {
    askSections();
    if (document.getElementById("recent")) askCount();
  }
  return { status: answer.status, ok: false };
};

// A list of boxes that opens below its name, and closes when somebody goes on elsewhere.
function startPick(pick) {
  const summary = pick.querySelector("summary");
  const name = summary.textContent.split(":")[0];
  pick.addEventListener("change", () => {
    const count = pick.querySelectorAll(":checked").length;
    summary.textContent = count ? `${name}: ${count}` : name;
  });
  for (const kind of ["click", "focusin"]) {
    document.addEventListener(kind, (event) => {
      if (!pick.contains(event.target)) pick.open = false;
    });
  }
  pick.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pick.open = false;
    summary.focus();
  });
}

function startFilters() {
  const form = document.getElementById("filters");
  if (!form) return;
  const fold = form.querySelector("[data-fold]");
  const setFolded = (isFolded) => {
    form.classList.toggle("is-folded", isFolded);
    fold.ariaExpanded = String(!isFolded);
  };
  fold.hidden = false;
  setFolded(true);
  fold.addEventListener("click", () => setFolded(!form.classList.contains("is-folded")));
  for (const pick of form.querySelectorAll("[data-pick]")) startPick(pick);
  keys.set("/", "search the list", () => document.getElementById("search").focus());
  document.getElementById("search").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.target.value) event.target.blur();
  });
}

startFilters();
startSelecting();
markUnseen();
new Feed({ channel: "sessions", message: apply, state: stateChanged, poll }).open();
