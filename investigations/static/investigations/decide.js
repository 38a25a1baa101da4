// A write of high risk is approved in two steps: the first press asks for the name of its target, and
// the second counts only once that is typed. The server checks the same.

import { announce } from "./copy.js";
import { DECIDED } from "./work.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-needs]");
  const field = button && document.getElementById(button.dataset.needs);
  if (!field || field.value.trim() === field.dataset.typed) return;
  event.preventDefault();
  field.closest(".t-confirm").classList.add("is-asked");
  field.focus();
  announce(`Type ${field.dataset.typed} to approve`, { quietly: true });
});

// Who decided is led to what comes of it, once the page is there anew.
document.getElementById("decide-form")?.addEventListener("submit", () => {
  sessionStorage.setItem(DECIDED, document.getElementById("session").dataset.session);
});

// Enter never decides.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-typed]")) event.preventDefault();
});

// *Check now* has a worker look at what a write did; what it sees comes by the stream.
document.getElementById("check-form").addEventListener("submit", async (event) => {
  const button = event.submitter;
  if (!button?.matches("[data-check]")) return;
  event.preventDefault();
  button.disabled = true;
  const answer = await fetch(button.formAction, {
    method: "POST", body: new FormData(event.target), headers: { "X-Requested-With": "fetch" },
  }).catch(() => null);
  if (answer?.status === 202) {
    button.lastChild.textContent = "Checking";
    return announce("TARSy looks at it now; what it sees comes here");
  }
  button.disabled = false;
  const said = answer?.status === 409 ? (await answer.json().catch(() => ({}))).error : "";
  return announce(said || (answer?.status === 401 ? "Not checked: you are signed out." : "Not checked: the server cannot be reached."));
});
