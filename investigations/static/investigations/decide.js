// A write of high risk is approved in two steps: the first press asks for the name of its target, and
// the second counts only once that is typed. The server checks the same.

import { announce } from "./copy.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-needs]");
  const field = button && document.getElementById(button.dataset.needs);
  if (!field || field.value.trim() === field.dataset.typed) return;
  event.preventDefault();
  field.closest(".t-confirm").classList.add("is-asked");
  field.focus();
  announce(`Type ${field.dataset.typed} to approve`, { quietly: true });
});

// Enter never decides.
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-typed]")) event.preventDefault();
});
