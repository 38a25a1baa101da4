// Which rows of the list are selected. Without this script the ticks and the buttons work as well.

let ticked = [];

export function startSelecting() {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) {
      for (const box of boxesIn("#recent")) tick(box.value, event.target.checked);
    }
    if (event.target.name === "session") tick(event.target.value, event.target.checked);
    drawSelection();
  });
  document.addEventListener("reset", () => setTimeout(drawSelection));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-selecting]")) setSelecting(!isSelecting());
  });
  // What runs and what waits is drawn anew while somebody chooses.
  document.body.addEventListener("htmx:beforeSwap", () => {
    ticked = boxesIn("#active").filter((box) => box.checked).map((box) => box.value);
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const box of boxesIn("#active")) box.checked ||= ticked.includes(box.value);
    drawSelection();
  });
  // A browser that comes back to the page may have kept the ticks.
  addEventListener("pageshow", () => {
    if (boxesIn("#sessions").some((box) => box.checked)) setSelecting(true);
    drawSelection();
  });
  drawSelection();
}

export function drawSelection() {
  const words = document.querySelector("[data-selected]");
  if (!words) return;
  const chosen = boxesIn("#sessions").filter((box) => box.checked).map((box) => box.value);
  words.textContent = `${new Set(chosen).size} selected`;
  const all = document.querySelector("[data-select-all]");
  if (!all) return;
  const ended = boxesIn("#recent");
  const count = ended.filter((box) => box.checked).length;
  all.hidden = false;
  all.checked = count === ended.length;
  all.indeterminate = count > 0 && count < ended.length;
}

// On a phone the boxes take room only while somebody chooses.
function isSelecting() {
  return document.getElementById("sessions").classList.contains("is-selecting");
}

function setSelecting(is) {
  document.getElementById("sessions").classList.toggle("is-selecting", is);
  if (!is) document.getElementById("bulk").reset();
}

// One that waits may stand in two sections.
function tick(id, isTicked) {
  for (const box of boxesIn("#sessions")) if (box.value === id) box.checked = isTicked;
}

function boxesIn(section) {
  return [...document.querySelectorAll(`${section} input[name="session"]`)];
}
