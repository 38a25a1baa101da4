// Raw and rendered in the same place: the raw text is fetched when it is wanted, and always text.
// Who chose raw gets raw in whatever is opened next.

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
    prefersRaw(!link.rendered);
    change(link);
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.open && target.matches(".t-call") && prefersRaw()) showRaw(target);
  }, true);
}

function showRaw(root) {
  for (const link of root.querySelectorAll("[data-raw]")) if (!link.rendered) change(link);
}

// A second click while the first is under way changes nothing.
async function change(link) {
  if (link.ariaBusy) return;
  const box = document.querySelector(link.dataset.raw);
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
  link.textContent = word;
  box.classList.toggle("is-raw", Boolean(link.rendered));
}
