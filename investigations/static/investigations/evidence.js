// The evidence of a claim beside it: a chip in the conclusion or in an answer opens the call it
// names, at the passage that is quoted. `n` and `p` go through the claims, Escape and *Back* return.

import { keys } from "./keys.js";
import { goBack } from "./links.js";

const reading = document.getElementById("reading");
const panel = document.getElementById("evidence");
const heading = document.getElementById("evidence-h");
const body = document.getElementById("evidence-body");
const [state, words, refs] = [".t-side-state", ".t-side-claim", ".t-side-refs"].map((each) => panel.querySelector(each));
const OURS = /^#claim-\d+$/;
const MOST_WORDS = 500; // characters of a claim that are looked for
let place = 0; // of the claim that is shown, from 1; 0 for a chip outside of claims
let opener = null;
let asked = 0;
let isOwnStep = false; // the step of the history that opened the panel

const claims = () => [...reading.querySelectorAll(".t-claim")];
const base = document.getElementById("session").dataset.url;

// ---- What is shown ----

function open(chip) {
  const claim = chip.closest(".t-claim") ?? (chip.closest(".t-side-refs") && claims()[place - 1]);
  place = claim ? claims().indexOf(claim) + 1 : 0;
  show(claim, chip);
  load(chip, claim);
}

function openClaim(number) {
  const claim = claims()[number - 1];
  if (!claim) return false;
  place = number;
  const chip = claim.querySelector(".t-ev--said, .t-ev--not") ?? claim.querySelector(".t-ev");
  show(claim, chip);
  if (chip) load(chip, claim);
  else tellNothing(claim);
  return undefined;
}

function show(claim, chip) {
  const wasHidden = panel.hidden;
  if (wasHidden) opener = chip ?? claim;
  const number = chip?.hash.slice(1) ?? "";
  heading.textContent = claim ? `Claim ${place} of ${claims().length}` : number;
  panel.setAttribute("aria-label", heading.textContent);
  const known = claim?.dataset.state ?? "";
  state.textContent = known.slice(0, 1).toUpperCase() + known.slice(1);
  state.classList.toggle("is-doubtful", Boolean(claim?.querySelector(".t-claim-words.t-unsup")));
  words.textContent = wordsOf(claim);
  drawRefs(claim, chip);
  for (const step of panel.querySelectorAll("[data-step]")) step.hidden = !claims().length;
  for (const each of claims()) each.classList.toggle("is-open", each === claim);
  keepInPlace(claim ?? chip, () => {
    panel.hidden = false;
    reading.classList.add("has-evidence");
  });
  remember(claim ? `#claim-${place}` : `#${number}`, wasHidden);
  claim?.scrollIntoView({ block: "nearest" });
  panel.focus({ preventScroll: true });
}

function drawRefs(claim, chip) {
  const chips = claim ? [...claim.querySelectorAll(".t-ev")] : [];
  refs.hidden = chips.length < 2;
  refs.replaceChildren(...chips.map((each) => {
    const copy = each.cloneNode(true);
    if (isSame(each, chip)) copy.setAttribute("aria-current", "true");
    return copy;
  }));
}

const isSame = (one, other) => one.hash === other?.hash && one.dataset.quote === other?.dataset.quote;

// What a person reads of a claim, without the marks behind its words.
function wordsOf(claim) {
  const said = claim?.querySelector(".t-claim-words")?.cloneNode(true);
  for (const mark of said?.querySelectorAll(".t-unsup-mark") ?? []) mark.remove();
  return said?.textContent.replace(/\s+/g, " ").replace(/ (?=[.,;:]$)/, "").trim() ?? "";
}

async function load(chip, claim) {
  asked += 1;
  const mine = asked;
  const query = new URLSearchParams({ q: chip.dataset.quote ?? "", claim: wordsOf(claim).slice(0, MOST_WORDS) });
  panel.ariaBusy = "true";
  const answer = await fetch(`${base}calls/${chip.hash.slice(2)}/quote/?${query}`, { headers: { "HX-Request": "true" } }).catch(() => null);
  const html = answer?.ok ? await answer.text() : "";
  if (mine !== asked) return;
  panel.ariaBusy = null;
  if (!html) {
    tell(answer?.status === 401 ? "You are signed out." : "The result could not be loaded.");
    return;
  }
  const holder = document.createElement("template");
  holder.innerHTML = html;
  body.replaceChildren(...holder.content.children);
  const [box, mark] = [body.querySelector(".t-out"), body.querySelector("mark")];
  if (box && mark) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
}

function tellNothing(claim) {
  asked += 1;
  const source = claim.querySelector(".t-source")?.textContent;
  tell(source ? `${source}: no tool call was made for it.` : "It cites no tool call. Treat it as a guess.");
}

function tell(text) {
  const line = document.createElement("p");
  line.className = "t-why";
  line.textContent = text;
  body.replaceChildren(line);
}

// ---- The way there and back ----

// The words that are read stay where they are while the card grows narrower or wider.
function keepInPlace(element, change) {
  const before = element?.getBoundingClientRect().top ?? 0;
  change();
  if (element?.isConnected) scrollBy(0, element.getBoundingClientRect().top - before);
}

function remember(hash, isFirst) {
  if (!isFirst) return history.replaceState(history.state, "", hash);
  isOwnStep = location.hash !== hash;
  return isOwnStep ? history.pushState(null, "", hash) : undefined;
}

function close() {
  if (panel.hidden) return false;
  hide();
  if (isOwnStep) history.back();
  return undefined;
}

function hide() {
  const claim = claims()[place - 1];
  claim?.classList.remove("is-open");
  asked += 1;
  keepInPlace(claim ?? opener, () => {
    panel.hidden = true;
    reading.classList.remove("has-evidence");
  });
  body.replaceChildren();
  (claim?.querySelector(".t-ev") ?? opener)?.focus({ preventScroll: true });
}

function step(direction) {
  const all = claims();
  if (!all.length) return false;
  const from = panel.hidden ? 0 : place;
  const next = from + direction;
  return openClaim(next < 1 ? all.length : next > all.length ? 1 : next);
}

// ---- Start ----

document.addEventListener("click", (event) => {
  const chip = event.target.closest("#reading a.t-ev");
  if (!chip || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(chip);
});
panel.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-step]");
  if (button) step(Number(button.dataset.step));
  if (target.closest("[data-evidence-close]")) close();
  // The link to the timeline leads away.
  if (target.closest("[data-plain]")) {
    isOwnStep = false;
    hide();
  }
});
addEventListener("popstate", () => {
  if (panel.hidden) return;
  isOwnStep = false;
  hide();
});
keys.set("n", "next claim with its evidence", () => step(1));
keys.set("p", "previous claim", () => step(-1));
keys.set("Escape", "back to the claim", close);
keys.set("Escape", "back to where you read", goBack);
if (OURS.test(location.hash)) openClaim(Number(location.hash.slice(7)));
