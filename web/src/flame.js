/** Nested times as bars: the flame graph of calls and the icicle of layers. */
import { h } from "./dom.js";
import { time, percent, count } from "./format.js";
import { canvasColours } from "./theme.js";

const ROW = 20, LEAST = 0.4;

/** A tree from nodes in order, depth first. */
export function treeOf(nodes) {
  const root = { name: "all", value: 0, self: 0, count: 0, hue: 0, kind: "", children: [], parent: null, depth: 0 }, open = [root];
  for (const { depth, ...node } of nodes) {
    open.length = Math.min(open.length, depth + 1);
    const parent = open.at(-1), made = { ...node, parent, depth: parent.depth + 1, children: [] };
    parent.children.push(made);
    open.push(made);
  }
  for (const child of root.children) root.value += child.value;
  return root;
}

/** The same calls from the inside out: below each name those who called it, by self time. */
export function inverted(root) {
  const top = { name: "all, by self time", value: 0, self: 0, count: 0, hue: 0, kind: "", children: [], parent: null, depth: 0, by: new Map() };
  const visit = (node) => {
    const self = node.parent && node.kind !== "thread" ? node.self : 0;
    if (self > 0) {
      let into = top;
      top.value += self;
      for (let at = node; at.parent; at = at.parent) {
        const key = `${at.kind} ${at.name}`;
        let next = into.by.get(key);
        if (!next) {
          next = { name: at.name, kind: at.kind, hue: at.hue, value: 0, self: 0, count: 0, children: [], parent: into, depth: into.depth + 1, by: new Map() };
          into.by.set(key, next);
          into.children.push(next);
        }
        next.value += self;
        if (at === node) next.count += node.count;
        into = next;
      }
    }
    node.children.forEach(visit);
  };
  visit(root);
  const sort = (node) => (node.children.sort((a, b) => b.value - a.value), node.children.forEach(sort));
  sort(top);
  return top;
}

function describe(node, root, unit) {
  const share = root.value ? `, ${percent(node.value / root.value)} of all` : "";
  return `${node.name}: ${unit(node.value)}${share}${node.self ? `, ${unit(node.self)} self` : ""}${node.count ? `, ${count(node.count)} call${node.count === 1 ? "" : "s"}` : ""}${node.kind ? ` (${node.kind})` : ""}`;
}

/** A layer without the name of the layer around it: "net.conv1" in "net" is ".conv1". */
const shortName = (node) => cutName(node.parent?.name && node.name.startsWith(`${node.parent.name}.`) ? node.name.slice(node.parent.name.length) : node.name);
const cutName = (text) => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

/** As much of a text as there is space for, marked as cut; "" if that is less than three letters. */
function fitted(draw, text, space) {
  const wide = draw.measureText(text).width;
  if (wide <= space) return text;
  for (let letters = Math.min(text.length - 1, Math.ceil((text.length * space) / wide)); letters >= 3; letters--)
    if (draw.measureText(`${text.slice(0, letters)}…`).width <= space) return `${text.slice(0, letters)}…`;
  return "";
}

export class Flame {
  constructor(root, { label, unit = time, tell = describe }) {
    this.unit = unit;
    this.tell = tell;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": `${label}. Arrow keys go from bar to bar, Enter zooms, Escape shows all.`, "aria-roledescription": "flame graph" });
    this.said = h("p", { class: "said", role: "status" });
    this.box = h("div", { class: "flame" }, h("div", { class: "sheet" }, this.canvas), this.said);
    this.text = "";
    this.set(root);
    new ResizeObserver(() => this.draw()).observe(this.box);
    for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", () => this.draw());
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.find(event)));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("click", (event) => { const node = this.find(event); if (node) this.zoom(node); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => { this.at ||= this.focus; this.draw(); this.say(); });
  }

  set(root) {
    Object.assign(this, { root, focus: root, at: null, hovered: null });
    this.draw();
    this.say();
  }

  search(text) {
    this.text = text.toLowerCase();
    this.draw();
    if (!this.text) return this.say();
    let sum = 0, found = 0;
    const visit = (node, within) => {
      const hit = node.parent && node.name.toLowerCase().includes(this.text);
      found += hit ? 1 : 0;
      if (hit && !within) sum += node.value;
      node.children.forEach((child) => visit(child, within || hit));
    };
    visit(this.root, false);
    this.said.textContent = `${count(found)} bar${found === 1 ? "" : "s"} found: ${this.unit(sum)}, ${percent(sum / (this.root.value || 1))} of all`;
  }

  zoom(node) {
    this.focus = node === this.focus && node.parent ? node.parent : node;
    this.at = node;
    this.draw();
    this.say();
  }

  say() {
    const node = this.hovered || this.at || this.focus;
    this.said.textContent = node.parent ? this.tell({ ...node, name: cutName(node.name) }, this.root, this.unit) : `${this.unit(this.root.value)} in all`;
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.draw();
    this.say();
  }

  key(event) {
    const at = this.at || this.focus, siblings = at.parent ? at.parent.children : [at], index = siblings.indexOf(at);
    const to = { ArrowDown: at.children[0], ArrowUp: at.parent, ArrowRight: siblings[index + 1], ArrowLeft: siblings[index - 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") this.zoom(at);
    else if (event.key === "Escape") this.zoom(this.root);
    else if (!event.key.startsWith("Arrow")) return;
    else if (to) {
      this.at = to;
      for (let out = true; out && this.focus.parent;) {
        out = to !== this.focus && !this.isWithin(to, this.focus);
        if (out) this.focus = this.focus.parent;
      }
      this.draw();
      this.say();
    }
    event.preventDefault();
  }

  isWithin(node, around) {
    for (let at = node; at; at = at.parent) if (at === around) return true;
    return false;
  }

  find(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, row = Math.floor((event.clientY - box.top) / ROW);
    return this.places?.find((place) => place.row === row && x >= place.x && x < place.x + place.width)?.node || null;
  }

  lay(width) {
    const places = [], around = [];
    for (let at = this.focus.parent; at; at = at.parent) around.unshift(at);
    around.forEach((node, row) => places.push({ node, row, x: 0, width, faint: true }));
    const visit = (node, row, x, wide) => {
      places.push({ node, row, x, width: wide });
      let left = x;
      for (const child of node.children) {
        const part = node.value ? (child.value / node.value) * wide : 0;
        if (part >= LEAST) visit(child, row + 1, left, part);
        left += part;
      }
    };
    visit(this.focus, around.length, 0, width);
    this.places = places;
    return places.reduce((rows, place) => Math.max(rows, place.row + 1), 1);
  }

  draw() {
    const width = this.box.clientWidth;
    if (!width) return;
    const rows = this.lay(width), ratio = devicePixelRatio || 1, height = Math.min(rows, 200) * ROW;
    const draw = this.canvas.getContext("2d"), { hues, ink, paper, found, accent } = canvasColours();
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    draw.scale(ratio, ratio);
    draw.font = `12px ${getComputedStyle(this.box).fontFamily}`;
    draw.textBaseline = "middle";
    for (const place of this.places) {
      const { node, row, x, width: wide } = place, hit = this.text && node.parent && node.name.toLowerCase().includes(this.text);
      draw.globalAlpha = place.faint || (this.text && !hit) ? 0.45 : 1;
      draw.fillStyle = hit ? found : hues[node.hue];
      draw.fillRect(x, row * ROW, Math.max(wide - 1, 0.4), ROW - 1);
      draw.globalAlpha = 1;
      if (wide > 30) {
        draw.fillStyle = ink;
        draw.fillText(fitted(draw, shortName(node), wide - 10), x + 5, row * ROW + ROW / 2);
      }
      if (node === this.hovered || (node === this.at && document.activeElement === this.canvas)) {
        draw.lineWidth = 2;
        draw.strokeStyle = node === this.at && document.activeElement === this.canvas ? accent : ink;
        draw.strokeRect(x + 1, row * ROW + 1, Math.max(wide - 3, 1), ROW - 3);
      }
    }
    this.canvas.style.background = paper;
  }
}
