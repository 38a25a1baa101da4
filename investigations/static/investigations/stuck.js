// How much of the window's top is covered by what sticks there: the head, and the line below it while
// it is shown. The style sheet keeps what is scrolled to clear of it (`--t-stuck`).

export function startStuck() {
  const sticky = document.querySelector(".t-sticky");
  if (!sticky) return;
  const measure = () => document.documentElement.style.setProperty("--t-stuck", `${coveredBy(sticky)}px`);
  measure();
  const observer = new ResizeObserver(measure);
  const watch = () => {
    observer.disconnect();
    for (const each of [sticky, ...sticky.querySelectorAll(".t-shead-b, .t-strip, .t-find")]) observer.observe(each);
  };
  watch();
  // Its parts come anew by the stream.
  new MutationObserver(watch).observe(sticky, { childList: true });
}

function coveredBy(sticky) {
  const strip = sticky.querySelector("#strip")?.offsetHeight ?? 0;
  // On a phone the box is not drawn, and only some of its parts stick.
  if (getComputedStyle(sticky).display !== "contents") return sticky.offsetHeight + strip;
  const parts = [...sticky.querySelectorAll(":scope > .t-strip, :scope > .t-find")].map((each) => each.offsetHeight);
  return (sticky.querySelector(".t-shead-b")?.offsetHeight ?? 0) + Math.max(0, ...parts);
}
