// Keyboard shortcuts: one registry, silent in fields, each also reachable as a button or link. The
// help lists what is registered on this page and nothing else.

import { copyText } from "./copy.js";

const ROWS = ".t-event:not([hidden]), .t-runrow, .t-qrow, .t-recent tbody tr";
const SECOND_KEY_WITHIN = 1000;
const registry = new Map(); // keys, such as "g l" -> [{words, act}]
let here = null;
let first = "";

export const keys = {
  // `act` returns false where it has nothing to do: then the next one that is set for the key is
  // asked, and at last the key does what it does elsewhere.
  set(key, words, act) {
    registry.set(key, [...(registry.get(key) ?? []), { words, act }]);
  },
};

export function startKeys() {
  keys.set("j", "next row or event", () => step(1));
  keys.set("k", "previous row or event", () => step(-1));
  keys.set("o", "open or close it", open);
  keys.set("Enter", "open or close it as well", () => (here && document.activeElement === document.body ? open() : false));
  keys.set("e", "next error", nextError);
  keys.set("a", "next approval", nextApproval);
  keys.set("y", "copy a link to this place", () => copyText(link()));
  for (const [key, rel, words] of [["[", "prev", "earlier session"], ["]", "next", "later session"]]) {
    const neighbour = document.querySelector(`a[rel="${rel}"]`);
    if (neighbour) keys.set(key, words, () => neighbour.click());
  }
  keys.set("g l", "list of sessions", () => location.assign("/"));
  keys.set("g n", "submit a new alert", () => location.assign("/submit-alert/"));
  keys.set("g s", "system", () => location.assign("/system/"));
  keys.set("?", "this list", help);
  const button = document.querySelector("[data-help]");
  button.hidden = false;
  button.addEventListener("click", help);
  document.addEventListener("keydown", pressed);
}

function pressed(event) {
  // Brackets need AltGr on many keyboards, and it counts as Control and Alt.
  const isChord = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
  // A closed dialog may keep the focus on the button that closed it.
  if (isChord || event.target.closest("input, textarea, select, dialog[open]")) return;
  const key = first + event.key;
  first = "";
  if ([...registry.keys()].some((known) => known.startsWith(`${key} `))) {
    first = `${key} `;
    setTimeout(() => { first = ""; }, SECOND_KEY_WITHIN);
    return;
  }
  const found = registry.get(key) ?? [];
  if (found.some(({ act }) => act() !== false)) event.preventDefault();
}

function help() {
  const rows = [...registry].map(([key, uses]) => {
    const term = document.createElement("dt");
    for (const each of key.split(" ")) {
      const cap = document.createElement("kbd");
      cap.className = "t-kbd";
      cap.textContent = each === "Escape" ? "Esc" : each;
      term.append(cap, " ");
    }
    const said = document.createElement("dd");
    said.textContent = uses.map(({ words }) => words).join("; else ");
    return [term, said];
  });
  document.querySelector("#help dl").replaceChildren(...rows.flat());
  document.getElementById("help").showModal();
}

function visibleRows() {
  return [...document.querySelectorAll(ROWS)].filter((row) => row.offsetParent !== null);
}

function step(direction) {
  const rows = visibleRows();
  const at = rows.indexOf(here);
  go(rows[at < 0 ? (direction > 0 ? 0 : rows.length - 1) : at + direction]);
}

function nextError() {
  const rows = visibleRows();
  const bad = rows.filter((row) => row.matches(".t-call--bad, .t-gate--bad"));
  go(bad.find((row) => rows.indexOf(row) > rows.indexOf(here)) ?? bad[0]);
}

// On this page, else where the bar says that one waits.
function nextApproval() {
  const asked = [...document.querySelectorAll(".t-appr")];
  const next = asked[asked.indexOf(here) + 1] ?? asked[0];
  if (next) {
    go(next, "start");
    return next.querySelector("h2").focus({ preventScroll: true });
  }
  document.querySelector(".t-waits")?.click();
  return undefined;
}

function go(row, block = "nearest") {
  if (!row) return;
  here?.classList.remove("is-here");
  here = row;
  here.classList.add("is-here");
  here.scrollIntoView({ block });
  document.dispatchEvent(new CustomEvent("tarsy:jump"));
}

function open() {
  if (!here?.isConnected) return false;
  const details = here.matches("details") ? here : here.querySelector("details");
  if (details) details.open = !details.open;
  else here.querySelector("a")?.click();
  return true;
}

function link() {
  const id = here?.querySelector("summary[id]")?.id ?? here?.id;
  return id ? `${location.origin}${location.pathname}#${id}` : location.href;
}
