// Copy buttons, whole results on demand, and questions before something is stopped.

export function startCopying() {
  for (const button of document.querySelectorAll("[data-copy], [data-copy-link]")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-link], [data-load-text], [data-confirm]");
    if (!button) return;
    if (button.dataset.confirm && !confirm(button.dataset.confirm)) event.preventDefault();
    if (button.dataset.loadText) loadText(event, button);
    if (button.dataset.copy) copyText(document.querySelector(button.dataset.copy)?.textContent ?? "");
    if ("copyLink" in button.dataset) copyText(location.href);
  });
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text.trim());
    announce("Copied");
  } catch {
    announce("The browser does not let this page copy. Select the text instead.");
  }
}

export function announce(words) {
  const region = document.getElementById("announce");
  region.textContent = words;
  const toast = document.createElement("span");
  toast.className = "t-toast";
  toast.textContent = words;
  toast.ariaHidden = "true";
  document.body.append(toast);
  setTimeout(() => toast.remove(), 1600);
}

// Always as text: a result is never read as HTML.
async function loadText(event, link) {
  event.preventDefault();
  const answer = await fetch(link.href, { headers: { "X-Requested-With": "fetch" } });
  if (!answer.ok) return announce("The result could not be loaded.");
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
