// Deep links: #T5 for a tool call, #e-12 for an event. Opens what is around it, loads earlier events
// until it is there, or what `data-holds` names it, and marks it for a moment.

const MARK_FOR = 2000;
const MOST_LOADS = 50;

export function startLinks() {
  addEventListener("hashchange", () => reveal(location.hash));
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    // The same link twice changes no hash.
    if (link && link.hash === location.hash) reveal(link.hash);
  });
  if (location.hash) reveal(location.hash);
}

async function reveal(hash) {
  const id = decodeURIComponent(hash.slice(1));
  if (!id) return;
  const target = document.getElementById(id) ?? (await load(id));
  const notice = document.getElementById("notice");
  if (notice) notice.hidden = Boolean(target);
  if (!target) {
    if (notice) notice.textContent = `This session has no ${/^T\d+$/.test(id) ? `tool call ${id}` : "such event"} yet.`;
    return;
  }
  document.dispatchEvent(new CustomEvent("tarsy:jump"));
  for (let node = target; node; node = node.parentElement) if (node.matches("details")) node.open = true;
  target.scrollIntoView({ block: /^(stage-|conclusion)/.test(id) ? "start" : "center" });
  const event = target.closest(".t-event");
  event?.classList.add("is-target");
  setTimeout(() => event?.classList.remove("is-target"), MARK_FOR);
}

async function load(id) {
  const holder = document.querySelector(`[data-holds~="${CSS.escape(id)}"]`);
  if (holder && !holder.open) {
    const filled = new Promise((resolve) => { holder.addEventListener("tarsy:filled", resolve, { once: true }); });
    holder.open = true;
    await filled;
    return document.getElementById(id);
  }
  if (!/^(T|e-)\d+$/.test(id)) return null;
  for (let count = 0; count < MOST_LOADS; count += 1) {
    const link = document.querySelector("[data-earlier]");
    if (!link) return null;
    const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return null;
    const holder = document.createElement("template");
    holder.innerHTML = await answer.text();
    globalThis.htmx?.process(holder.content);
    link.closest(".t-earlier").replaceWith(holder.content);
    const found = document.getElementById(id);
    if (found) return found;
  }
  return null;
}
