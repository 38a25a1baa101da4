// Keyboard shortcuts: one registry, silent in fields, each also reachable as a button or link.

import { copyText } from "./copy.js";

const ROWS = ".t-event:not([hidden]), .t-runrow, .t-qrow, .t-recent tbody tr";
const PLACES = { l: "/", n: "/submit-alert/", s: "/system/" };
let here = null;
let afterG = false;

export const keys = new Map([
  ["j", () => step(1)],
  ["k", () => step(-1)],
  ["o", () => open()],
  ["Enter", () => (here && document.activeElement === document.body ? open() : false)],
  ["e", () => nextError()],
  ["y", () => copyText(link())],
  ["?", () => help()],
]);

export function startKeys() {
  const button = document.querySelector("[data-help]");
  button.hidden = false;
  button.addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (afterG) {
      afterG = false;
      if (Object.hasOwn(PLACES, event.key)) location.assign(PLACES[event.key]);
      return;
    }
    if (event.key === "g") {
      afterG = true;
      setTimeout(() => { afterG = false; }, 1000);
      return;
    }
    const action = keys.get(event.key);
    if (action && action() !== false) event.preventDefault();
  });
}

function help() {
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

function go(row) {
  if (!row) return;
  here?.classList.remove("is-here");
  here = row;
  here.classList.add("is-here");
  here.scrollIntoView({ block: "nearest" });
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
