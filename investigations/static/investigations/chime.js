// A sound when one more approval waits: off until somebody wants it, and remembered in this browser.

import { store } from "./time.js";

const KEY = "tarsy.chime";
const PLACES = ".t-top-end, #approvals";
const NOTES = [[660, 0], [880, 0.16]]; // hertz, and seconds from the start
const LOUDNESS = 0.08;
const SECONDS = 0.15;

let audio = null;
let known = 0;
let isOn = false;

function count() {
  const here = document.querySelectorAll("#approvals .t-appr").length;
  return Math.max(here, parseInt(document.querySelector(".t-waits")?.textContent, 10) || 0);
}

// A browser lets a page sound only after somebody has touched it.
function wake() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume().catch(() => {});
}

function ring() {
  wake();
  for (const [pitch, after] of NOTES) {
    const note = audio.createOscillator();
    const volume = audio.createGain();
    note.frequency.value = pitch;
    volume.gain.value = LOUDNESS;
    note.connect(volume).connect(audio.destination);
    note.start(audio.currentTime + after);
    note.stop(audio.currentTime + after + SECONDS);
  }
}

function look() {
  const now = count();
  if (now > known && isOn) ring();
  known = now;
}

function show(button) {
  button.setAttribute("aria-pressed", String(isOn));
  button.textContent = `Sound for approvals: ${isOn ? "on" : "off"}`;
}

export function startChime() {
  const button = document.querySelector("[data-chime]");
  if (!button || !window.AudioContext) return;
  known = count();
  isOn = store((storage) => storage.getItem(KEY)) === "on";
  button.hidden = false;
  show(button);
  button.addEventListener("click", () => {
    isOn = !isOn;
    store((storage) => storage.setItem(KEY, isOn ? "on" : "off"));
    show(button);
    if (isOn) ring();
  });
  if (isOn) document.addEventListener("pointerdown", wake, { once: true });
  const watch = new MutationObserver(look);
  for (const place of document.querySelectorAll(PLACES)) {
    watch.observe(place, { childList: true, subtree: true });
  }
}
