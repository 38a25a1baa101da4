// Raw and rendered in the same place: the raw text is fetched when it is wanted, and always text.
// Who chose raw gets raw in whatever is opened next. A result that was summed up has its summary, which
// stands behind the call, as a view too, and shows that first.

import { announce, showInvisible } from "./copy.js";

const KEY = "tarsy.raw";

// A browser may refuse storage; then the choice lasts for one block.
function prefersRaw(choice) {
  try {
    if (choice !== undefined) localStorage.setItem(KEY, choice ? "1" : "");
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}

export function startRaw() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-raw]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (isOfPassage(link)) {
      change(link);
      return;
    }
    if (isSummed(link)) {
      prefersRaw(true);
      show(link.closest(".t-call"), "raw");
      return;
    }
    prefersRaw(!link.rendered);
    change(link);
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-view]");
    if (!button) return;
    if (button.dataset.view === "result") prefersRaw(false);
    show(button.closest(".t-call"), button.dataset.view);
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.open && target.matches(".t-call") && prefersRaw()) showRaw(target);
  }, true);
}

// A passage that a claim quotes is read as such: raw is chosen for it alone.
const isOfPassage = (element) => Boolean(element.closest(".t-passage"));
const isSummed = (element) => !isOfPassage(element) && Boolean(element.closest(".t-call")?.nextElementSibling?.matches(".t-sum"));

// Which of a call's views is seen: summary, result or raw.
function show(call, view) {
  const raw = call.querySelector(".t-views [data-raw]");
  call.classList.toggle("is-result", view !== "summary");
  for (const button of call.querySelectorAll("[data-view]")) button.ariaPressed = String(button.dataset.view === view);
  raw.ariaCurrent = view === "raw" ? "true" : null;
  if (view !== "summary" && Boolean(raw.rendered) !== (view === "raw")) change(raw);
}

// Brings what is looked for to the eye, in a result or in the summary of one.
export function showAround(element) {
  const call = element.closest(".t-call");
  if (element.closest(".t-out") && call && isSummed(call)) {
    show(call, call.querySelector(".t-views [data-raw]").rendered ? "raw" : "result");
  }
  const before = element.closest(".t-sum")?.previousElementSibling;
  if (before?.matches(".t-call.is-result")) show(before, "summary");
}

function showRaw(root) {
  for (const link of root.querySelectorAll("[data-raw]")) if (!link.rendered && !isOfPassage(link)) change(link);
}

// A second click while the first is under way changes nothing.
async function change(link) {
  if (link.ariaBusy) return;
  const box = (link.closest(".t-passage") ?? document).querySelector(link.dataset.raw);
  if (link.rendered) {
    box.replaceChildren(...link.rendered);
    link.rendered = null;
    draw(link, box, "Raw");
    return;
  }
  link.ariaBusy = "true";
  const answer = await fetch(link.href, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  const text = answer?.ok ? await answer.text() : null;
  link.ariaBusy = null;
  if (text === null) {
    announce(answer?.status === 401 ? "You are signed out." : "The raw text could not be loaded.");
    return;
  }
  link.rendered = [...box.childNodes];
  box.textContent = showInvisible(text);
  draw(link, box, "Rendered");
}

function draw(link, box, word) {
  link.textContent = isSummed(link) ? "Raw" : word;
  box.classList.toggle("is-raw", Boolean(link.rendered));
}
