/** Elements. Texts of a trace become text nodes, and nothing else. */

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {}))
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** @returns {HTMLElement} h("button", { class: "x", onclick: f }, "text", node) */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** A name of the trace, isolated from the direction of the text around it. */
export const name = (text) => h("bdi", {}, String(text));
/** The same of a sentence. */
export const words = (text) => h("bdi", {}, unbroken(text));

/** Text in which a number stays with its unit. */
export const unbroken = (text) => String(text).split(/(\d[\d.,]* (?:[mun]?s|[KMGT]?i?B)\b)/).map((part, i) => (i % 2 ? h("span", { class: "quantity" }, part) : part));

/** The same nodes, in which long names may be broken after `_`, `.`, `/`, `#` and `::`, before `[`, `(` and the number of a line, and where a word in them begins. */
export function breakable(nodes) {
  for (const node of nodes.filter((item) => item.nodeName === "BDI").flatMap((item) => [...item.childNodes]).filter((item) => item.nodeType === Node.TEXT_NODE))
    node.replaceWith(...node.data.split(/(?<=[A-Za-z0-9][_:./]+)(?=[A-Za-z])(?![A-Za-z]{1,4}:\d)|(?<=[\w)]#)(?=\w)|(?<=\w)(?=[[(]\w)|(?<=[A-Za-z]:)(?=\d)|(?<=[a-z])(?=[A-Z][a-z])|(?<=[\w])(?=\+0x)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
  return nodes;
}

const LONG = 24; /* letters of a word that is shortened itself */

/** A thread's name in pieces that are not broken: words, and the number in brackets. */
const piecesOf = (text) => text.split(/(?<=[\s_./:#-])(?=\S)|(?<=\S)(?=\[)/).map((word) => (word.length > LONG ? `${word.slice(0, LONG / 2)}…${word.slice(-LONG / 2 + 1)}` : word));

export const threadName = (text) => h("bdi", { class: "thread", title: text }, piecesOf(text).flatMap((piece, i) => (i ? [h("wbr"), piece] : [piece])));

/** Shortens names of threads that take more than two lines: pieces of the middle are left out. */
export function shortenThreads(box) {
  for (const node of box.querySelectorAll("bdi.thread")) {
    const pieces = piecesOf(node.title), before = pieces.slice(0, Math.ceil(pieces.length / 2)), after = pieces.slice(before.length), line = parseFloat(getComputedStyle(node).lineHeight);
    const put = (list) => node.replaceChildren(...list.flatMap((piece, i) => (i ? [h("wbr"), piece] : [piece])));
    for (put(pieces); node.clientHeight > 2.5 * line && before.length + after.length > 2; put([...before.slice(0, -1), `${before.at(-1).trimEnd()}… `, ...after])) (before.length > after.length ? before.pop() : after.shift());
  }
}

/** Buttons of which one is chosen. `change` gets its index. */
export function choice(label, texts, change) {
  const buttons = texts.map((text, i) =>
    h("button", { type: "button", "aria-pressed": i === 0 ? "true" : "false", onclick: () => choose(i) }, text));
  function choose(index) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
    change(index);
  }
  return h("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}
