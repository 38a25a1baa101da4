// Copy buttons, whole results on demand, and questions before something is stopped.

const BUTTONS = "[data-copy], [data-copy-text], [data-copy-link], [data-copy-from], [data-load-text], [data-confirm]";

export function startCopying() {
  for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest(BUTTONS);
    if (!button) return;
    const { confirm: question, copy, copyText: text, copyFrom } = button.dataset;
    if (question && !confirm(question)) event.preventDefault();
    if ("loadText" in button.dataset) {
      event.preventDefault();
      loadText(button);
    }
    if (copy) copyText(textOf(button, document.querySelector(copy)?.textContent ?? ""));
    if (text) copyText(text);
    if (copyFrom) copyFetched(copyFrom);
    if ("copyLink" in button.dataset) copyText(location.href);
  });
}

// What is handed on says where it came from.
function textOf(button, text) {
  return "copyAddress" in button.dataset ? `${text.trim()}\n\n${location.origin}${location.pathname}` : text;
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text.trim());
    announce("Copied");
  } catch {
    announce("The browser does not let this page copy. Select the text instead.");
  }
}

async function copyFetched(address) {
  const answer = await fetchText(address);
  if (answer?.ok) return copyText(await answer.text());
  return announce("The text could not be loaded.");
}

function fetchText(address) {
  return fetch(address, { headers: { "X-Requested-With": "fetch" } }).catch(() => null);
}

export function announce(words, { quietly = false } = {}) {
  const region = document.getElementById("announce");
  region.textContent = words;
  if (quietly) return;
  const toast = document.createElement("span");
  toast.className = "t-toast";
  toast.textContent = words;
  toast.ariaHidden = "true";
  document.body.append(toast);
  setTimeout(() => toast.remove(), 1600);
}

// Always as text: a result is never read as HTML.
export async function loadText(link) {
  const answer = await fetchText(link.href);
  if (!answer?.ok) return announce("The result could not be loaded.");
  document.querySelector(link.dataset.loadText).textContent = showInvisible(await answer.text());
  link.parentElement.remove();
  return undefined;
}

const TERMINAL = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b/g;
const SUSPECT = /[\p{Cf}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u115f\u1160\u2028\u2029\u2800\u3164\uffa0]/gu;
const JOINER = "\u200d";

export function showInvisible(text) {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(TERMINAL, "")
    .replace(SUSPECT, (character) => {
      if (character === JOINER) return character;
      return `[U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
    });
}
