// An open page learns that the server runs another build by now, and says so in one quiet line.
// Whatever was typed is carried over the reload.

const OURS = document.querySelector('meta[name="tarsy-build"]')?.content;
const HEADER = "X-TARSY-Build";
const ASK_EVERY = 60_000;
const DRAFTS = "tarsy.typed";
const TYPED = "textarea, input:not([type]), input[type=text], input[type=search]";

export function heardOf(build) {
  const line = document.getElementById("new-version");
  if (!build || !OURS || build === OURS || !line?.hidden) return;
  line.hidden = false;
  document.getElementById("announce").textContent = "A new version is running.";
}

export const heardFrom = (answer) => heardOf(answer.headers.get(HEADER));

async function ask() {
  if (document.hidden) return;
  const answer = await fetch("/healthz").catch(() => null);
  if (answer) heardFrom(answer);
}

// By its place among the fields of its name: not every field has an id.
function places() {
  const seen = new Map();
  return [...document.querySelectorAll(TYPED)].map((field) => {
    const name = field.id || field.name;
    seen.set(name, (seen.get(name) ?? 0) + 1);
    return [`${name} ${seen.get(name)}`, field];
  });
}

function keepTyped() {
  const typed = places().filter(([, field]) => field.value !== field.defaultValue);
  const values = Object.fromEntries(typed.map(([place, field]) => [place, field.value]));
  try {
    sessionStorage.setItem(DRAFTS, JSON.stringify({ at: location.pathname, values }));
  } catch {
    // No room, or none allowed: then the browser's own memory of forms has to do.
  }
}

function bringBackTyped() {
  let kept = null;
  try {
    kept = JSON.parse(sessionStorage.getItem(DRAFTS));
    sessionStorage.removeItem(DRAFTS);
  } catch {
    return;
  }
  if (kept?.at !== location.pathname) return;
  for (const [place, field] of places()) {
    if (!(place in kept.values) || field.value !== field.defaultValue) continue;
    field.value = kept.values[place];
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

export function startVersion() {
  bringBackTyped();
  document.querySelector("#new-version a")?.addEventListener("click", (event) => {
    event.preventDefault();
    keepTyped();
    location.reload();
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    heardOf(event.detail.xhr?.getResponseHeader(HEADER));
  });
  document.addEventListener("visibilitychange", ask);
  setInterval(ask, ASK_EVERY);
}
