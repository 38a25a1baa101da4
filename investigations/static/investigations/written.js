// A text that is being written. Words are put behind the last of it as they come; where the server
// renders the text, its blocks take their places: what is closed stays as it is, and of the open one
// only what changed is replaced, so that nothing moves that is already read.

import { cite } from "./cite.js";
import { showInvisible } from "./copy.js";

const CLOSED = "a, code, pre";

export class Written {
  constructor(holder) {
    this.holder = holder;
    this.isRendered = "blocks" in holder.dataset;
    this.length = Number(holder.dataset.length ?? [...holder.textContent].length);
    this.waiting = "";
    if (this.isRendered) citeWithin(holder);
    else this.node = this.plainTail();
  }

  get isThere() {
    return this.holder.isConnected;
  }

  plainTail() {
    const text = this.holder.textContent;
    this.holder.replaceChildren(document.createTextNode(text));
    return cite(this.holder.firstChild);
  }

  // Text behind the last; `length` counts it already.
  append(text) {
    const shown = showInvisible(text);
    this.holder.dataset.length = this.length;
    if (!this.isRendered) {
      this.node.appendData(shown);
      if (shown.includes("]")) this.node = cite(this.node);
      return;
    }
    if (!this.tail?.isConnected) {
      this.tail = document.createTextNode("");
      this.innermost().append(this.tail);
    }
    this.tail.appendData(shown);
    if (shown.includes("]") && !this.tail.parentElement.closest(CLOSED)) this.tail = cite(this.tail);
  }

  // Where the next words belong.
  innermost() {
    let element = this.holder;
    while (element.lastElementChild && !element.lastElementChild.matches("a, code, strong, em, s, span, br, hr")) {
      element = element.lastElementChild;
    }
    const code = element.matches("pre") ? element.querySelector("code") : null;
    if (element === this.holder) return element.appendChild(document.createElement("div"));
    return code ?? element;
  }

  // Blocks from the one with this number on. False where those before it are missing. A space at the
  // end is in no block; what comes next stands behind it.
  draw({ first, html, endsInSpace }) {
    if (first > this.holder.children.length) return false;
    this.tail = null;
    html.forEach((block, index) => {
      const fresh = document.createElement("div");
      fresh.innerHTML = block;
      citeWithin(fresh);
      const old = this.holder.children[first + index];
      if (old) settle(old, fresh);
      else this.holder.append(fresh);
    });
    while (this.holder.children.length > first + html.length) this.holder.lastElementChild.remove();
    this.holder.dataset.length = this.length;
    if (endsInSpace && !this.innermost().closest("pre")) this.append(" ");
    return true;
  }
}

// Only what differs is replaced, from the first difference on.
function settle(old, fresh) {
  const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
  let same = 0;
  while (same < before.length && same < after.length && before[same].isEqualNode(after[same])) same += 1;
  const [mine, next] = [before[same], after[same]];
  if (mine instanceof Element && mine.matches("ul, ol, li, table, tbody, blockquote") && mine.nodeName === next?.nodeName) {
    settle(mine, next);
    same += 1;
  }
  for (const gone of before.slice(same)) gone.remove();
  old.append(...after.slice(same));
}

function citeWithin(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) if (text.data.includes("[T") && !text.parentElement.closest(CLOSED)) cite(text);
}
