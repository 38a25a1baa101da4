// Which rows of the list are selected. Without this script the ticks and the buttons work as well.

const BOXES = '#recent input[name="session"]';

export function startSelecting() {
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-all]")) {
      for (const box of document.querySelectorAll(BOXES)) box.checked = event.target.checked;
    }
    draw();
  });
  document.addEventListener("reset", () => setTimeout(draw));
  document.body.addEventListener("htmx:afterSwap", draw);
  // A browser that comes back to the page may have kept the ticks.
  addEventListener("pageshow", draw);
  draw();
}

function draw() {
  const all = document.querySelector("[data-select-all]");
  if (!all) return;
  const boxes = [...document.querySelectorAll(BOXES)];
  const count = boxes.filter((box) => box.checked).length;
  all.hidden = false;
  all.checked = count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
  document.querySelector("[data-selected]").textContent = `${count} selected`;
}
