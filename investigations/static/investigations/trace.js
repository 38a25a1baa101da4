// The trace: what is inside a call is fetched when it is opened. Texts stay texts.

import { showInvisible } from "./copy.js";
import { refreshTimes } from "./time.js";

const get = (address) => fetch(address, { headers: { "X-Requested-With": "fetch" } });

// `toggle` does not bubble. A link or a quick hand may have opened some before this script came.
document.addEventListener("toggle", ({ target }) => opened(target), true);
document.querySelectorAll("details[open]").forEach(opened);

function opened(details) {
  if (details.open && details.dataset?.body) load(details, "body", fill);
  if (details.open && details.dataset?.text) load(details, "text", fillText);
}

// Once; after a failure closing and opening tries again.
async function load(details, name, put) {
  const address = details.dataset[name];
  const inside = details.lastElementChild;
  delete details.dataset[name];
  inside.setAttribute("aria-busy", "true");
  const answer = await get(address).catch(() => null);
  inside.removeAttribute("aria-busy");
  if (answer?.ok) {
    put(inside, await answer.text());
  } else {
    details.dataset[name] = address;
    tellFailure(inside, answer);
  }
  details.dispatchEvent(new CustomEvent("tarsy:filled"));
}

function fill(inside, html) {
  // From our own server, escaped there.
  inside.innerHTML = html;
  refreshTimes(inside);
}

function fillText(inside, text) {
  const box = document.createElement("div");
  box.className = "t-out";
  box.tabIndex = 0;
  box.textContent = showInvisible(text);
  inside.firstElementChild.replaceWith(box);
}

function tellFailure(inside, answer) {
  inside.querySelector("[data-failure]")?.remove();
  const note = document.createElement("p");
  note.className = "t-note t-fg-bad";
  note.dataset.failure = "";
  note.textContent = answer?.status === 401
    ? "You are signed out. Sign in again and load this page anew."
    : "This could not be loaded. Close it and open it again.";
  inside.prepend(note);
}

const iterations = () => [...document.querySelectorAll("[data-iteration]")];
const fold = document.querySelector("[data-fold]");
fold?.addEventListener("click", () => {
  const areOpen = iterations().some((each) => each.open);
  for (const each of iterations()) each.open = !areOpen;
});
document.addEventListener("toggle", drawFold, true);
document.addEventListener("tarsy:traced", drawFold);
drawFold();

function drawFold() {
  if (!fold) return;
  fold.hidden = iterations().length < 2;
  fold.textContent = iterations().some((each) => each.open) ? "Close all iterations" : "Open all iterations";
}

// A choice counts at once, and whoever chose by keyboard goes on where they were.
const chosen = document.querySelector("[data-at-once]");
const CHOSE = "tarsy:chose";
chosen?.addEventListener("change", ({ target }) => {
  sessionStorage.setItem(CHOSE, target.id);
  chosen.requestSubmit();
});
const choice = sessionStorage.getItem(CHOSE);
sessionStorage.removeItem(CHOSE);
if (choice) document.getElementById(choice)?.focus({ preventScroll: true });
