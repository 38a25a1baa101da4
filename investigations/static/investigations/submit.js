// The submit form: rows without a reload, counts beside what is ticked, one investigation per click.

import { announce } from "./copy.js";

const form = document.getElementById("alert-form");
const start = document.getElementById("start");
const text = document.getElementById("text");
const LIMIT = Number(text.dataset.limit);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

if (matchMedia("(max-width: 767px)").matches) {
  for (const details of form.querySelectorAll("details[data-phone]")) {
    if (!details.querySelector(":checked")) details.open = false;
  }
}
document.getElementById("ctrl-enter").hidden = false;
for (const button of form.querySelectorAll("[data-remove-row]")) button.hidden = false;
document.getElementById("dry-run")?.focus({ preventScroll: true });

// ---- Rows

function addRow(after) {
  const rows = document.getElementById("rows");
  const row = rows.firstElementChild.cloneNode(true);
  for (const field of row.querySelectorAll("input")) {
    field.value = "";
    field.removeAttribute("value");
    for (const name of ["aria-invalid", "aria-describedby", "autofocus"]) field.removeAttribute(name);
  }
  row.querySelector(".t-formerror")?.remove();
  if (after) after.after(row);
  else rows.append(row);
  row.querySelector("input").focus();
}

function removeRow(row) {
  const next = row.nextElementSibling ?? row.previousElementSibling;
  if (!next) return row.querySelectorAll("input").forEach((field) => { field.value = ""; });
  row.remove();
  next.querySelector("input").focus();
  return changed();
}

function changed() {
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

form.addEventListener("click", (event) => {
  const add = event.target.closest("[data-add-row]");
  const remove = event.target.closest("[data-remove-row]");
  if (add) {
    event.preventDefault();
    addRow();
  }
  if (remove) removeRow(remove.closest("li"));
});

// ---- Keys: Enter goes on to the next field, Ctrl and Enter starts.

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    form.requestSubmit(start);
    return;
  }
  if (!event.target.matches("input")) return;
  event.preventDefault();
  if (event.target.name === "key") event.target.nextElementSibling.focus();
  if (event.target.name === "value") {
    const row = event.target.closest("li");
    const next = row.nextElementSibling;
    if (next) next.querySelector("input").focus();
    else addRow(row);
  }
});

// ---- What is chosen

form.addEventListener("change", (event) => {
  const item = event.target.closest?.(".t-tick");
  if (item) keepTogether(item, event.target);
  count();
});

// Single tools are of no use without their server, nor the other way about.
function keepTogether(item, box) {
  const server = item.querySelector('[name="server"]');
  const tools = [...item.querySelectorAll(".t-only input")];
  if (box === server && !server.checked) for (const tool of tools) tool.checked = false;
  if (box !== server && box.checked) server.checked = true;
}

// A server, and how many of its tools where not all of them are meant.
function inWords(server) {
  const tools = [...server.closest("li").querySelectorAll(".t-only input")];
  const some = tools.filter((box) => box.checked).length;
  return some ? `${server.value} (${some} of ${plural(tools.length, "tool")})` : server.value;
}

function count() {
  const chosen = [...form.querySelectorAll('[name="server"]:checked')].map(inWords);
  form.querySelector("[data-servers-chosen]").textContent = chosen.length ? `only ${chosen.join(", ")}` : "as configured";
  for (const list of form.querySelectorAll(".t-only")) {
    const all = list.querySelectorAll("input").length;
    const some = list.querySelectorAll("input:checked").length;
    list.querySelector("[data-tools-chosen]").textContent = `${some ? `${some} of ` : ""}${plural(all, "tool")}`;
  }
}

// ---- What would run, and the same as a command: asked anew shortly after each change.

const preview = document.getElementById("preview");
const QUIET_FOR = 500;
let asking = null;
let due = null;

async function ask() {
  asking?.abort();
  asking = new AbortController();
  preview.ariaBusy = "true";
  try {
    const request = { method: "POST", body: new FormData(form), headers: { "X-Requested-With": "fetch" }, signal: asking.signal };
    const answer = await fetch(preview.dataset.url, request);
    if (answer.status === 401) announce("You are signed out. Copy what you typed, then sign in again.");
    if (answer.ok) show(await answer.text());
    preview.ariaBusy = null;
  } catch {
    // A newer question is under way, or the page is being left.
  }
}

function show(html) {
  const open = [...preview.querySelectorAll("details")].map((details) => details.open);
  preview.innerHTML = html;
  preview.querySelectorAll("details").forEach((details, at) => { details.open = open[at] ?? details.open; });
}

function askSoon(pause) {
  clearTimeout(due);
  due = setTimeout(ask, pause);
}

form.addEventListener("input", () => askSoon(QUIET_FOR));
form.addEventListener("change", () => askSoon(0));

// ---- Size, and one investigation per click

function tellSize() {
  const size = text.value.length < LIMIT / 4 ? 0 : new TextEncoder().encode(text.value).length;
  const place = document.getElementById("alert-size");
  place.className = size > LIMIT ? "t-fg-bad" : "";
  place.textContent = size ? ` This is ${(size / LIMIT).toFixed(2)} MiB.` : "";
  return size <= LIMIT;
}

text.addEventListener("input", tellSize);
form.addEventListener("submit", (event) => {
  if (form.elements.mode.value === "text" && !tellSize()) {
    event.preventDefault();
    announce("The alert is larger than 1 MiB. Shorten it first.");
    text.focus();
    return;
  }
  clearTimeout(due);
  asking?.abort();
  if (event.submitter !== start) return;
  if (start.ariaBusy === "true") event.preventDefault();
  start.ariaBusy = "true";
  start.textContent = "Starting…";
});
// Back shows the page as it was left.
addEventListener("pageshow", () => {
  start.ariaBusy = null;
  start.textContent = "Start investigation";
  count();
  if (document.getElementById("rows")) tellSize();
});
