// Local time beside UTC, ages and running clocks. Once a second while something runs.

const ZONE_KEY = "tarsy.zone";
const utc = () => localStorage.getItem(ZONE_KEY) === "utc";

export function clockTime(date) {
  return format(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export function refreshTimes(root = document) {
  const now = Date.now();
  const list = root.matches?.("time") ? [root] : root.querySelectorAll("time[data-kind]");
  for (const time of list) write(time, now);
}

function format(date, fields) {
  const zone = utc() ? { timeZone: "UTC" } : {};
  return new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...fields, ...zone }).format(date);
}

function zoneName(date) {
  const zone = utc() ? { timeZone: "UTC" } : {};
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short", ...zone }).formatToParts(date);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "";
}

function write(time, now) {
  const date = new Date(time.dateTime);
  const seconds = Math.max(0, Math.floor((now - date) / 1000));
  const text = {
    clock: () => `${clockTime(date)} ${zoneName(date)}`,
    date: () => recent(date, seconds),
    since: () => duration(seconds),
    age: () => age(seconds),
    left: () => duration(Math.max(0, Math.ceil((date - now) / 1000))),
  }[time.dataset.kind];
  if (!text) return;
  const words = text();
  if (time.textContent !== words) time.textContent = words;
  if (time.dataset.kind === "age") {
    time.closest("[data-stale]")?.classList.toggle("t-stale", seconds >= 30);
  }
}

function recent(date, seconds) {
  if (seconds < 3600) return age(seconds);
  const fields = { hour: "2-digit", minute: "2-digit" };
  if (seconds > 20 * 3600) Object.assign(fields, { day: "numeric", month: "short" });
  if (seconds > 300 * 86400) fields.year = "numeric";
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
  document.querySelector("[data-zone-switch]").addEventListener("click", () => {
    localStorage.setItem(ZONE_KEY, utc() ? "local" : "utc");
    drawZone();
    refreshTimes();
  });
  drawZone();
  refreshTimes();
  setInterval(() => {
    if (!document.hidden) refreshTimes();
  }, 1000);
}
