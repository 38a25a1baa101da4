// Local time beside UTC, ages and running clocks. Once a second while something runs.

export const ZONE_KEY = "tarsy.zone";
// What stands as it was written, however much time passes.
const FIXED = ["clock", "offset", "stamp"];
let prefersUtc = false;
// What this computer's clock lacks: ages are told by the server's, where the two are far apart.
const MOST_APART = 2000;
let ahead = 0;
// When the page was last heard of, while it is cut off: what runs stands still there.
let heldAt = null;
const utc = () => prefersUtc;
const formats = new Map();
const written = new WeakSet();

// A browser may refuse storage; then the choice lasts as long as the page.
export function store(action) {
  try {
    return action(localStorage);
  } catch {
    return null;
  }
}

export function clockTime(date) {
  return format(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

// Takes the time at which something was last heard, or null to let clocks run on.
export function holdClocks(at) {
  heldAt = at === null ? null : at.getTime() + ahead;
  tick();
}

export const serverNow = () => Date.now() + ahead;

export function refreshTimes(root = document) {
  const now = serverNow();
  const list = root.matches?.("time") ? [root] : root.querySelectorAll("time[data-kind]");
  for (const time of list) write(time, now);
}

function tick() {
  const now = serverNow();
  for (const time of document.querySelectorAll("time[data-kind]")) if (!written.has(time)) write(time, now);
  const until = heldAt === null ? now : Math.min(now, heldAt);
  for (const bar of document.querySelectorAll("progress[data-until]")) bar.value = Math.max(0, (new Date(bar.dataset.until) - until) / 1000);
}

// Making one takes far longer than using it, and a page has hundreds of times.
function formatter(fields, inUtc = utc()) {
  const key = `${inUtc} ${JSON.stringify(fields)}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", inUtc ? { ...fields, timeZone: "UTC" } : fields));
  return formats.get(key);
}

function format(date, fields) {
  return formatter({ hourCycle: "h23", ...fields }).format(date);
}

function zoneName(date) {
  const parts = formatter({ timeZoneName: "short" }).formatToParts(date);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "";
}

function write(time, now) {
  const date = new Date(time.dateTime);
  // No moment: what stands there is all there is to say.
  if (Number.isNaN(date.getTime())) return;
  // How old something is goes on; how long it has run is not known any more.
  const runsTo = heldAt !== null && time.dataset.kind !== "age" ? Math.min(now, heldAt) : now;
  const seconds = Math.max(0, Math.floor((runsTo - date) / 1000));
  const text = {
    clock: () => `${clockTime(date)} ${zoneName(date)}`,
    offset: () => withOffset(date),
    stamp: () => stamp(date, time.dateTime),
    date: () => recent(date, date - now > MOST_APART ? (now - date) / 1000 : seconds),
    since: () => duration(seconds),
    age: () => age(seconds),
    left: () => duration(Math.max(0, Math.ceil((date - runsTo) / 1000))),
  }[time.dataset.kind];
  if (!text) return;
  const words = text();
  if (FIXED.includes(time.dataset.kind)) written.add(time);
  if (time.title) time.title = bothZones(date);
  if (time.textContent !== words) time.textContent = words;
  if (time.dataset.kind === "age") {
    time.closest("[data-stale]")?.classList.toggle("t-stale", seconds >= 30);
  }
}

// Clock time, and how long after the start of the session.
function withOffset(date) {
  const started = document.getElementById("session")?.dataset.started;
  const seconds = started ? Math.floor((date - new Date(started)) / 1000) : -1;
  const clock = `${clockTime(date)} ${zoneName(date)}`;
  return seconds < 0 ? clock : `${clock}, +${duration(seconds)}`;
}

// A moment within a sentence: as exact as it was written.
function stamp(date, written) {
  const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const parts = Object.fromEntries(formatter(fields).formatToParts(date).map(({ type, value }) => [type, value]));
  const behind = /T\d\d:\d\d([\d:.]*)/.exec(written)?.[1] ?? "";
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}${behind} ${zoneName(date)}`;
}

function bothZones(date) {
  const fields = { dateStyle: "medium", timeStyle: "long" };
  return `${formatter(fields, false).format(date)}, ${formatter(fields, true).format(date)}`;
}

// Seconds below zero are still to come.
function recent(date, seconds) {
  if (seconds >= 0 && seconds < 3600) return age(seconds);
  const apart = Math.abs(seconds);
  const fields = { hour: "2-digit", minute: "2-digit" };
  if (apart > 20 * 3600) Object.assign(fields, { day: "numeric", month: "short" });
  if (apart > 300 * 86400) fields.year = "numeric";
  return `${format(date, fields)} ${zoneName(date)}`;
}

export function duration(seconds) {
  const pad = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}

function age(seconds) {
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}

function drawZone() {
  const now = new Date();
  document.querySelector("[data-zone]").textContent = `Times in ${zoneName(now)}`;
  const button = document.querySelector("[data-zone-switch]");
  button.hidden = now.getTimezoneOffset() === 0;
  button.textContent = utc() ? "Show local time" : "Show UTC";
}

export function startTimes() {
  const told = Date.parse(document.querySelector("meta[name=tarsy-now]")?.content ?? "");
  const loaded = performance.timeOrigin + (performance.getEntriesByType("navigation")[0]?.responseStart ?? 0);
  if (Math.abs(told - loaded) > MOST_APART) ahead = told - loaded;
  prefersUtc = store((storage) => storage.getItem(ZONE_KEY)) === "utc";
  document.querySelector("[data-zone-switch]").addEventListener("click", () => {
    prefersUtc = !prefersUtc;
    store((storage) => storage.setItem(ZONE_KEY, prefersUtc ? "utc" : "local"));
    drawZone();
    refreshTimes();
  });
  drawZone();
  refreshTimes();
  setInterval(() => {
    if (!document.hidden) tick();
  }, 1000);
}
