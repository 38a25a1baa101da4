// Puts pieces of HTML from our own server where they belong: each element takes the place of the
// one with its id, or goes behind the event that `data-after` names something in, or to the end of
// the element that `data-into` names. What a person opened or ticked stays so, and focus stays put;
// a figure that only grows, as `data-grows` tells, is not set back by a piece that was made earlier.

import { refreshTimes } from "./time.js";

// Returns the elements that found no place.
export function place(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const homeless = [];
  for (const element of [...holder.content.children]) {
    const old = element.id && document.getElementById(element.id);
    const into = document.getElementById(element.dataset.into ?? "");
    const after = document.getElementById(element.dataset.after ?? "")?.closest(".t-event");
    if (old) replace(old, element);
    else if (after) after.after(element);
    else if (into) into.append(element);
    else homeless.push(element);
    refreshTimes(element);
    globalThis.htmx?.process(element);
  }
  return homeless;
}

function replace(old, fresh) {
  if (isAhead(old, fresh)) return;
  keepAsLeft(old, fresh);
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const path = focused && pathTo(old, focused);
  if (old.classList.contains("is-here")) fresh.classList.add("is-here");
  old.replaceWith(fresh);
  if (path) follow(fresh, path)?.focus({ preventScroll: true });
}

function isAhead(old, fresh) {
  return Number(old.dataset.grows) > Number(fresh.dataset.grows);
}

function keepAsLeft(old, fresh) {
  for (const figure of old.querySelectorAll("[id][data-grows]")) {
    const same = fresh.querySelector(`#${CSS.escape(figure.id)}`);
    if (same && isAhead(figure, same)) same.replaceWith(figure.cloneNode(true));
  }
  for (const box of old.querySelectorAll("input[name=session]:checked")) {
    const same = fresh.querySelector(`input[name=session][value="${CSS.escape(box.value)}"]`);
    if (same) same.checked = true;
  }
  if (old.matches("details[open]")) fresh.setAttribute("open", "");
  for (const details of old.querySelectorAll("details[id][open]")) {
    fresh.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute("open", "");
  }
}

function pathTo(root, element) {
  const path = [];
  for (let node = element; node !== root; node = node.parentElement) {
    path.unshift([...node.parentElement.children].indexOf(node));
  }
  return path;
}

function follow(root, path) {
  return path.reduce((node, index) => node?.children[index], root);
}
