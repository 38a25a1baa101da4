// The line under the head that says what the data on the page are worth. Hidden while live.

import { clockTime, holdClocks } from "./time.js";

// Pixels. The strip moves nothing when it appears, so at the top of the page it would lie on the
// row below the head; and there nobody has to be told the way to the conclusion.
const TOP = 40;

let hiding = null;
let said = null;

addEventListener("scroll", () => {
  const strip = document.getElementById("strip");
  if (strip && said === "ended" && scrollY < TOP) strip.hidden = true;
}, { passive: true });

export function showState(name, details) {
  const strip = document.getElementById("strip");
  if (!strip) return;
  const isCutOff = !["live", "ended"].includes(name);
  document.body.classList.toggle("is-cut-off", isCutOff);
  holdClocks(isCutOff ? details.asOf ?? new Date() : null);
  clearTimeout(hiding);
  draw(strip, name, details);
}

// For whoever still reads what was said: nothing appears that was put away or never shown.
export function tellAnew(name, details) {
  const strip = document.getElementById("strip");
  if (strip && !strip.hidden && said === name) draw(strip, name, details);
}

function draw(strip, name, details) {
  const [text, tone, link] = words(name, details);
  strip.hidden = !text;
  strip.className = tone ? `t-strip t-strip--${tone}` : "t-strip";
  strip.querySelector("[data-strip-text]").textContent = text;
  const anchor = strip.querySelector("[data-strip-link]");
  anchor.hidden = !link;
  if (link) [anchor.textContent, anchor.href] = link;
  anchor.onclick = name === "ended" ? () => { strip.hidden = true; } : null;
  // Said when it changes, not with each try.
  if (text && said !== name) document.getElementById("announce").textContent = text;
  said = name;
  if (name === "live" && text) hiding = setTimeout(() => { strip.hidden = true; }, 3000);
}

function words(name, details) {
  const here = encodeURIComponent(location.pathname + location.search + location.hash);
  const asOf = details.asOf ? `Showing data as of ${clockTime(details.asOf)}.` : "";
  switch (name) {
    case "reconnecting":
      return [`Reconnecting, try ${details.tries}. ${asOf}`, "", null];
    case "offline":
      return [`This browser is offline. ${asOf}`, "", null];
    case "polling":
      return [`Live stream unavailable, refreshing every 5 s. ${asOf}`, "", ["Reload", location.href]];
    case "signed-out":
      return ["You are signed out. This page stops here.", "bad", ["Sign in again", `/login/?next=${here}`]];
    case "refused":
      return [`No live updates: ${details.reason}`, "bad", ["Reload", location.href]];
    case "ended":
      return [[details.word, details.found, details.sure].filter(Boolean).join(" "), details.tone, [details.link, "#conclusion"]];
    default:
      if (!details.wasCutOff) return ["", "", null];
      return [`Live again. ${details.caughtUp} event${details.caughtUp === 1 ? "" : "s"} caught up.`, "ok", null];
  }
}
