// `T3` where a citation begins, in a text that is still being written, becomes a link to that tool
// call, where the page has it. The text itself stays as it came, brackets and all: what follows is counted in its characters.

const CITED = /\[T(\d{1,6})(?:\]|(?=[:,;]?\s?["\u201c\u201e\u00ab]))/g;

// Takes the last text node of a block; returns the one that what follows is to be appended to.
export function cite(node) {
  let last = node;
  for (const [cited, number] of [...node.data.matchAll(CITED)]) {
    const row = document.getElementById(`T${number}`);
    if (!row) continue;
    const rest = last.splitText(last.data.indexOf(cited));
    last = rest.splitText(cited.length);
    const tool = row.querySelector(".t-tool b")?.textContent ?? "";
    rest.replaceWith(chip(number, tool, cited.endsWith("]") ? "]" : ""));
  }
  return last;
}

function chip(number, tool, end) {
  const link = document.createElement("a");
  link.className = "t-ev";
  link.href = `#T${number}`;
  link.title = `Show tool call T${number}, ${tool}`;
  link.append(hidden("["), `T${number}`, hidden(end));
  return link;
}

function hidden(text) {
  const element = document.createElement("span");
  element.hidden = true;
  element.textContent = text;
  return element;
}
