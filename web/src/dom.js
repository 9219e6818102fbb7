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

/** The same nodes, in which long names may be broken after `_`, `.`, `/` and `::`. */
export function breakable(nodes) {
  for (const node of nodes.filter((item) => item.nodeName === "BDI"))
    node.replaceChildren(...node.textContent.split(/(?<=[A-Za-z][_:./]+)(?=[A-Za-z])/).flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
  return nodes;
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
