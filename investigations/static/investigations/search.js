// Search within the session: the server looks through everything, also what the page has not loaded
// or keeps closed; each hit is loaded, opened and marked when it is gone to. It goes on while somebody
// types, and the address holds the words.

import { announce, loadText } from "./copy.js";
import { keys } from "./keys.js";
import { reveal } from "./links.js";
import { showAround } from "./raw.js";

const PAUSE = 300; // ms without a key, after which what was typed is looked for
const SHORTEST = 2; // characters that are looked for unasked
const IN_ADDRESS = "find";
const form = document.getElementById("find");
const field = form.querySelector("input");
const count = form.querySelector("[data-find-count]");
let found = null; // {words, hits, hasMore}
let at = -1;
let isByTyping = false; // the hit that is shown was brought without being asked for
let due = null;
let question = null; // the one that runs: an older answer comes to nothing

const inField = () => field.value.trim();
const isAnswered = () => inField() === found?.words && !question;

function open() {
  form.hidden = false;
  field.focus();
  field.select();
}

function close() {
  if (form.hidden) return false;
  form.hidden = true;
  forget();
  if (form.contains(document.activeElement)) document.activeElement.blur();
  return undefined;
}

function forget() {
  clearTimeout(due);
  question?.abort();
  question = null;
  found = null;
  count.textContent = "";
  unmark();
  keep("");
}

function keep(words) {
  const address = new URL(location.href);
  if (words === (address.searchParams.get(IN_ADDRESS) ?? "")) return;
  if (words) address.searchParams.set(IN_ADDRESS, words);
  else address.searchParams.delete(IN_ADDRESS);
  history.replaceState(history.state, "", address);
}

// Asked anew for other words, and while the session goes on. Whether it was answered.
async function look() {
  clearTimeout(due);
  question?.abort();
  const mine = question = new AbortController();
  const words = inField();
  count.textContent = "Searching";
  keep(words);
  const asked = { headers: { "X-Requested-With": "fetch" }, signal: mine.signal };
  const answer = await fetch(`${form.action}?q=${encodeURIComponent(words)}`, asked).catch(() => null);
  const read = answer?.ok ? await answer.json().catch(() => null) : null;
  if (mine !== question) return false;
  question = null;
  if (!read) {
    tell(answer?.status === 401 ? "You are signed out" : "The server cannot be reached");
    return false;
  }
  found = { words, hits: read.hits, hasMore: read.has_more };
  at = -1;
  isByTyping = false;
  return true;
}

async function go(direction, isEnter = false) {
  if (!inField()) return;
  if (!isAnswered() && !(await look())) return;
  // Whoever types and then presses Enter means the hit that the typing has brought.
  const stays = isEnter && isByTyping && direction > 0;
  isByTyping = false;
  if (found.hits.length && !stays) at = (at + direction + found.hits.length) % found.hits.length;
  await show();
}

async function show() {
  const shown = found;
  if (!shown.hits.length) {
    tell("No hits");
    unmark();
    return;
  }
  const target = await reveal(shown.hits[at].anchor);
  if (shown !== found) return;
  tell(`${at + 1} of ${shown.hits.length}${shown.hasMore ? " and more" : ""}`);
  if (target) await mark(target, shown.words);
}

async function lookAsTyped() {
  if (isAnswered()) return;
  if (inField().length < SHORTEST) {
    forget();
    return;
  }
  await lookAndShow();
}

async function lookAndShow() {
  if (!(await look())) return;
  at = 0;
  isByTyping = true;
  await show();
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
field.addEventListener("input", () => {
  clearTimeout(due);
  due = setTimeout(lookAsTyped, PAUSE);
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  // Enter in a field presses the first button, which is the one backwards.
  if (event.key !== "Enter") return;
  event.preventDefault();
  go(event.shiftKey ? -1 : 1, true);
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-find]")) open();
  if (event.target.closest("[data-find-close]")) close();
});
keys.set("/", "search this session", open);
keys.set("n", "next hit while searching", () => step(1));
keys.set("N", "previous hit", () => step(-1));
keys.set("Escape", "leave the search", close);
// A step back leads to an address from before the words.
addEventListener("popstate", () => { if (!form.hidden && found) keep(found.words); });
if (inField()) lookAndShow();
