// What this browser has not shown yet: a dot at sessions that ended since the list was last left,
// and failures that somebody has looked at leave the top of the list.

const LEFT_KEY = "tarsy.list";
const SEEN_KEY = "tarsy.seen"; // sessions whose page was shown

// A browser may refuse storage; then nothing is new, and nothing was seen.
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

const leftAt = read(LEFT_KEY);

export function markUnseen() {
  const seen = read(SEEN_KEY) ?? {};
  for (const row of document.querySelectorAll("#recent tr[data-ended]:not([data-marked])")) {
    row.dataset.marked = "";
    const isNew = leftAt && new Date(row.dataset.ended) > new Date(leftAt);
    if (isNew && !(row.dataset.session in seen)) row.querySelector(".t-cell-title").prepend(...dot());
  }
  hideSeenFailures(seen);
}

function dot() {
  const mark = document.createElement("span");
  mark.className = "t-newdot";
  mark.title = "New since you last looked";
  const words = document.createElement("span");
  words.className = "visually-hidden";
  words.textContent = "new, ";
  return [mark, words];
}

function hideSeenFailures(seen) {
  for (const row of document.querySelectorAll("#needs [data-failed]")) {
    if (!(row.dataset.failed in seen)) continue;
    row.remove();
    const count = document.querySelector("[data-needs-count]");
    count.textContent = String(Number(count.textContent) - 1);
  }
  const needs = document.getElementById("needs");
  if (needs && !needs.querySelector("li")) needs.remove();
}

addEventListener("pagehide", () => {
  try {
    localStorage.setItem(LEFT_KEY, JSON.stringify(new Date().toISOString()));
  } catch {
    // As above.
  }
});
