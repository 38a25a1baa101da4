// Search within the session: the server looks through everything, also what the page has not loaded
// or keeps closed; each hit is loaded, opened and marked when it is gone to.

import { announce, loadText } from "./copy.js";
import { keys } from "./keys.js";
import { reveal } from "./links.js";
import { showAround } from "./raw.js";

const form = document.getElementById("find");
const field = form.querySelector("input");
const count = form.querySelector("[data-find-count]");
let found = null; // {words, hits, hasMore}
let at = -1;

function open() {
  form.hidden = false;
  field.focus();
  field.select();
}

function close() {
  if (form.hidden) return false;
  form.hidden = true;
  found = null;
  unmark();
  if (form.contains(document.activeElement)) document.activeElement.blur();
  return undefined;
}

// Asked anew for other words, and while the session goes on.
async function look() {
  const words = field.value.trim();
  if (!words) return;
  count.textContent = "Searching";
  const answer = await fetch(`${form.action}?q=${encodeURIComponent(words)}`, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  if (!answer?.ok) {
    tell(answer?.status === 401 ? "You are signed out" : "The server cannot be reached");
    return;
  }
  const { hits, has_more: hasMore } = await answer.json();
  found = { words, hits, hasMore };
  at = -1;
}

async function go(direction) {
  if (field.value.trim() !== found?.words) await look();
  if (!found) return;
  if (!found.hits.length) {
    tell("No hits");
    unmark();
    return;
  }
  at = (at + direction + found.hits.length) % found.hits.length;
  const target = await reveal(found.hits[at].anchor);
  tell(`${at + 1} of ${found.hits.length}${found.hasMore ? " and more" : ""}`);
  if (target) await mark(target, found.words);
}

// What was hit last in a block that is closed, cut or scrolled away is brought to the eye.
async function mark(target, words) {
  const event = target.closest(".t-event") ?? target;
  const rest = event.querySelector("[data-load-text]");
  if (rest && !ranges(event, words).length) await loadText(rest);
  const all = ranges(event, words);
  if (globalThis.Highlight) CSS.highlights.set("found", new Highlight(...all));
  if (all.length) showAround(all[0].startContainer.parentElement);
  const box = all[0]?.startContainer.parentElement.closest(".t-out");
  if (box) box.scrollTop += all[0].getBoundingClientRect().top - box.getBoundingClientRect().top - 40;
}

function unmark() {
  CSS.highlights?.delete("found");
}

function ranges(event, words) {
  const wanted = words.toLowerCase();
  const walker = document.createTreeWalker(event, NodeFilter.SHOW_TEXT);
  const all = [];
  while (walker.nextNode()) {
    const text = walker.currentNode.data.toLowerCase();
    for (let start = text.indexOf(wanted); start >= 0; start = text.indexOf(wanted, start + wanted.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, start);
      range.setEnd(walker.currentNode, Math.min(start + wanted.length, walker.currentNode.length));
      all.push(range);
    }
  }
  return all;
}

function tell(words) {
  count.textContent = words;
  announce(words, { quietly: true });
}

function step(direction) {
  if (form.hidden) return false;
  go(direction);
  return undefined;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  go(event.submitter?.value === "back" ? -1 : 1);
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  // Enter in a field presses the first button, which is the one backwards.
  if (event.key !== "Enter") return;
  event.preventDefault();
  go(event.shiftKey ? -1 : 1);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-find]")) open();
  if (event.target.closest("[data-find-close]")) close();
});
keys.set("/", "search this session", open);
keys.set("n", "next hit while searching", () => step(1));
keys.set("N", "previous hit", () => step(-1));
keys.set("Escape", "leave the search", close);
