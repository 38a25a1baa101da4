// The field for questions: asks without a reload, stops an answer, and never loses what was typed.
// Whether it is open stands in #ask-state, which the stream replaces.

import { announce } from "./copy.js";
import { keys } from "./keys.js";
import { place } from "./swap.js";

const form = document.getElementById("ask");
const field = document.getElementById("question");
const error = document.getElementById("ask-error");
const draftKey = form.dataset.draft;
let isSending = false;
let wantsFocus = false;

// ---- Draft ----

// A browser may refuse storage; then the text lives as long as the page.
function store(action) {
  try {
    return action(sessionStorage);
  } catch {
    return null;
  }
}

function keepDraft() {
  store((storage) => (field.value ? storage.setItem(draftKey, field.value) : storage.removeItem(draftKey)));
}

// ---- Ask ----

async function ask(event) {
  event.preventDefault();
  if (isSending || field.disabled) return;
  if (!field.value.trim()) {
    field.focus();
    return;
  }
  // A disabled field is not sent.
  const body = new FormData(form);
  setSending(true);
  tell("");
  const answer = await send(form.action, body);
  setSending(false);
  if (answer?.status === 202) taken(await answer.json());
  else await refused(answer);
}

function send(address, body) {
  return fetch(address, { method: "POST", body, headers: { "X-Requested-With": "fetch" } }).catch(() => null);
}

function taken({ stage_id: stage, html }) {
  field.value = "";
  keepDraft();
  place(html);
  sync();
  document.dispatchEvent(new CustomEvent("tarsy:asked", { detail: stage }));
}

async function refused(answer) {
  if (!answer) tell("Not asked: the server cannot be reached. Your text stays here.");
  else if (answer.status === 401) tell("Not asked: you are signed out. Your text stays in this tab.", signInLink());
  else tell(await reasonOf(answer));
  field.focus();
}

async function reasonOf(answer) {
  const said = await answer.json().catch(() => ({}));
  if (said.error) return `Not asked: ${said.error}. Your text stays here.`;
  return `Not asked: the server answered with ${answer.status}. Load the page again; your text stays.`;
}

function signInLink() {
  const link = document.createElement("a");
  link.href = `/login/?next=${encodeURIComponent(`${location.pathname}#ask`)}`;
  link.textContent = "Sign in again";
  return link;
}

function tell(words, link) {
  error.textContent = words;
  error.hidden = !words;
  if (link) error.append(" ", link);
}

function setSending(is) {
  isSending = is;
  sync();
}

// ---- Stop ----

async function stop(event) {
  const button = event.submitter;
  if (!button?.matches("[data-stop]")) return;
  event.preventDefault();
  button.disabled = true;
  const answer = await send(event.target.action, new FormData(event.target));
  if (answer?.ok) return announce("Stopping the answer");
  button.disabled = false;
  return announce(answer?.status === 401 ? "Not stopped: you are signed out." : "Not stopped: the server cannot be reached.");
}

// ---- State ----

function sync() {
  const state = document.getElementById("ask-state");
  const wasFocused = document.activeElement === field;
  field.disabled = isSending || state?.dataset.open !== "1";
  const button = state?.querySelector("button[type=submit]:not([data-stop])");
  if (button) button.disabled = isSending;
  for (const hidden of form.querySelectorAll("[data-suggest], .t-keyhint")) hidden.hidden = false;
  const word = form.querySelector(".t-try");
  if (word) word.hidden = !form.querySelector("[data-suggest]");
  wantsFocus ||= wasFocused && field.disabled;
  if (!field.disabled && wantsFocus) {
    wantsFocus = false;
    if (document.activeElement === document.body) field.focus({ preventScroll: true });
  }
}

function pressed(event) {
  if (event.key !== "Enter" || event.isComposing) return;
  const asksAnyway = event.ctrlKey || event.metaKey;
  // On a touch keyboard there is no Shift+Enter: there Enter starts a line.
  if (!asksAnyway && (event.shiftKey || event.altKey || matchMedia("(pointer: coarse)").matches)) return;
  event.preventDefault();
  form.requestSubmit();
}

function clicked(event) {
  const suggestion = event.target.closest("[data-suggest]");
  if (suggestion && !field.disabled) {
    field.value = suggestion.textContent;
    keepDraft();
    field.focus();
  }
  if (event.target.closest('a[href="#ask"]')) setTimeout(() => field.focus({ preventScroll: true }));
}

// ---- Start ----

field.value ||= store((storage) => storage.getItem(draftKey)) ?? "";
field.addEventListener("input", keepDraft);
field.addEventListener("keydown", pressed);
form.addEventListener("submit", ask);
document.getElementById("cancel-form").addEventListener("submit", stop);
document.addEventListener("click", clicked);
new MutationObserver(sync).observe(form, { childList: true });
keys.set("c", "ask a question", () => {
  field.scrollIntoView({ block: "center" });
  field.focus({ preventScroll: true });
});
sync();
