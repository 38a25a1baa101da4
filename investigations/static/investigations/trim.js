// A page that is left open does not grow for ever: what has long scrolled away from somebody who
// follows goes, and a link brings it back.

const MOST = 400;
const KEPT = 200;

// `around` makes a change and leaves an element where it is in the window.
export function trim(feed, address, around) {
  const events = [...feed.querySelectorAll(":scope > .t-event")];
  if (events.length <= MOST) return;
  const kept = events.slice(-KEPT);
  const gone = events.slice(0, -KEPT);
  // Nothing goes that somebody opened or is at.
  if (gone.some((event) => event.open || event.matches(".is-here") || event.contains(document.activeElement))) return;
  // A summary stands before events that are older than it.
  const oldest = Math.min(...kept.map((event) => Number(event.id.slice(2))));
  around(kept.findLast((event) => !event.hidden) ?? feed, () => {
    while (feed.firstElementChild !== kept[0]) feed.firstElementChild.remove();
    feed.prepend(earlier(`${address}?before=${oldest}`, oldest));
  });
}

function earlier(address, oldest) {
  const link = document.createElement("a");
  link.className = "t-btn t-btn--s";
  link.href = address;
  link.textContent = "Load earlier";
  const fetches = { "data-earlier": "", "hx-get": address, "hx-target": "closest .t-earlier", "hx-swap": "outerHTML" };
  for (const [name, value] of Object.entries(fetches)) link.setAttribute(name, value);
  const line = document.createElement("p");
  line.className = "t-earlier";
  Object.assign(line.dataset, { before: oldest, after: 0 });
  line.append(link);
  globalThis.htmx?.process(line);
  return line;
}
