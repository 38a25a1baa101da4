// Deep links: #T5 for a tool call, #e-12 for an event. Opens what is around it, loads the events
// around it where the page has left them out, or what `data-holds` names it, and marks it for a moment.

import { showAround } from "./raw.js";
import { refreshTimes } from "./time.js";

const MARK_FOR = 2000;
const back = document.getElementById("back");
let isByChip = false; // the jump that is under way

export function startLinks() {
  addEventListener("hashchange", () => {
    offerBack(isByChip);
    isByChip = false;
    reveal(location.hash.slice(1));
  });
  back?.addEventListener("click", goBack);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    // There the evidence opens beside the words.
    if (link?.matches("#reading a.t-ev")) return;
    if (link?.dataset.quote && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      history.pushState(null, "", link.hash);
      offerBack(true);
      showQuote(link);
      return;
    }
    isByChip = Boolean(link?.matches(".t-ev, [data-plain]")) && link.hash !== location.hash;
    // The same link twice changes no hash.
    if (link && link.hash === location.hash) reveal(link.hash.slice(1));
  });
  if (location.hash) reveal(location.hash.slice(1));
}

// Who was led away from what they read by a chip is offered the way back; the browser knows the place.
function offerBack(isOffered) {
  if (back) back.hidden = !isOffered;
}

// False where nobody was led away.
export function goBack() {
  if (!back || back.hidden) return false;
  history.back();
  return undefined;
}

let chain = Promise.resolve();

// One after the other: each may change what the next one looks for. Gives the element, or null where
// the session has no such event.
export function reveal(hash) {
  const done = chain.then(() => goTo(hash));
  chain = done.catch(() => null);
  return done;
}

async function goTo(hash) {
  const id = decodeURIComponent(hash);
  if (!id) return null;
  const target = document.getElementById(id) ?? (await load(id));
  const notice = document.getElementById("notice");
  if (notice) notice.hidden = Boolean(target);
  if (!target) {
    if (notice) notice.textContent = `This session has no ${/^T\d+$/.test(id) ? `tool call ${id}` : "such event"} yet.`;
    return null;
  }
  document.dispatchEvent(new CustomEvent("tarsy:jump"));
  for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
  showAround(target);
  target.scrollIntoView({ block: /^(stage-|conclusion|approval-)/.test(id) ? "start" : "center" });
  const event = target.closest(".t-event");
  event?.classList.add("is-target");
  setTimeout(() => event?.classList.remove("is-target"), MARK_FOR);
  return target;
}

// Opens the call and shows the words that a citation quotes where they stand in its result.
async function showQuote({ hash, dataset: { quote } }) {
  const row = await reveal(hash.slice(1));
  const body = row?.closest(".t-call")?.querySelector(".t-call-body");
  const base = document.getElementById("session")?.dataset.url;
  const answer = body && base && (await fetchPiece(`${base}calls/${hash.slice(2)}/quote/?q=${encodeURIComponent(quote)}`));
  if (!answer?.ok) return;
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const passage = holder.content.firstElementChild;
  body.querySelector(".t-passage")?.remove();
  body.prepend(passage);
  passage.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  passage.scrollIntoView({ block: "center" });
  passage.focus({ preventScroll: true });
}

async function load(id) {
  const holder = document.querySelector(`[data-holds~="${CSS.escape(id)}"]`);
  if (holder && !holder.open) {
    const filled = new Promise((resolve) => { holder.addEventListener("tarsy:filled", resolve, { once: true }); });
    holder.open = true;
    await filled;
  } else if (/^(T|e-)\d+$/.test(id)) {
    await loadAround(id);
  }
  return document.getElementById(id);
}

// Only the events near the one that is wanted: the page stays as small as it was.
async function loadAround(id) {
  const base = document.getElementById("session")?.dataset.url;
  const answer = base && (await fetchPiece(`${base}place/?at=${id}`));
  if (!answer?.ok) return;
  const { place } = await answer.json();
  if (!place) return;
  const { seq, execution_id: execution } = place;
  const gaps = document.querySelectorAll(`#feed-${CSS.escape(execution ?? "")} > .t-earlier`);
  const gap = [...gaps].find(({ dataset }) => Number(dataset.after) < seq && seq < Number(dataset.before));
  const piece = gap && (await fetchPiece(`${gap.querySelector("a").href}&at=${seq}`));
  if (!piece?.ok) return;
  const holder = document.createElement("template");
  holder.innerHTML = await piece.text();
  globalThis.htmx?.process(holder.content);
  for (const element of holder.content.children) refreshTimes(element);
  gap.replaceWith(holder.content);
}

function fetchPiece(address) {
  return fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
}
