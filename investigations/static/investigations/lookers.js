// Who else has this page open. A page that nobody looks at tells nothing.

const EVERY = 30000;
const place = document.getElementById("lookers");

async function look() {
  if (document.hidden || !navigator.onLine) return;
  const options = { headers: { "X-Requested-With": "fetch" } };
  const answer = await fetch(place.dataset.url, options).catch(() => null);
  if (answer?.ok) place.textContent = await answer.text();
}

if (place) {
  look();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
}
