/** Memory over time by what it is for, and who holds it at the peak. */
import { h, svg, name } from "./dom.js";
import { time, bytes, percent } from "./format.js";
import { colour } from "./theme.js";
import { hueOf } from "./timeline/hues.js";
import { meaning } from "./words.js";

const HEIGHT = 200, LEFT = 70, BOTTOM = 20, TOP = 8;
/** What changes little lies at the bottom. */
const ORDER = ["parameter", "optimizer state", "gradient", "input", "activation", "temporary"];

function areas(pool, order, x, y) {
  const below = pool.time_ns.map(() => 0);
  return order.map(({ kind, index }) => {
    const from = below.slice();
    pool.bytes[index].forEach((value, i) => (below[i] += value));
    let up = "", down = "";
    pool.time_ns.forEach((ns, i) => {
      const end = x(pool.time_ns[i + 1] ?? pool.time_ns.at(-1));
      up += `${i ? "L" : "M"}${x(ns).toFixed(1)} ${y(below[i]).toFixed(1)}H${end.toFixed(1)}`;
      down = `L${end.toFixed(1)} ${y(from[i]).toFixed(1)}H${x(ns).toFixed(1)}${down}`;
    });
    return svg("path", { d: `${up}${down}z`, style: `fill:${colour(hueOf(kind))}` });
  });
}

export function memoryChart(pool) {
  const rank = (kind) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
  const order = pool.kinds.map((kind, index) => ({ kind, index })).filter(({ index }) => pool.bytes[index].some(Boolean)).sort((a, b) => rank(a.kind) - rank(b.kind));
  const plot = h("div", { class: "plot" });
  const from = pool.time_ns[0], to = Math.max(pool.time_ns.at(-1), from + 1), top = pool.peak_bytes * 1.06 || 1;
  function draw() {
    const whole = Math.max(260, plot.clientWidth || 900);
    const x = (ns) => LEFT + ((ns - from) / (to - from)) * (whole - LEFT), y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
    const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * pool.peak_bytes);
    plot.replaceChildren(svg("svg", { width: whole, height: HEIGHT, viewBox: `0 0 ${whole} ${HEIGHT}`, role: "img",
      "aria-label": `Memory over time: peak ${bytes(pool.peak_bytes)} at ${time(pool.peak_ns)}` },
      marks.map((value) => [svg("line", { x1: LEFT, x2: whole, y1: y(value), y2: y(value), class: "grid" }),
        svg("text", { x: LEFT - 8, y: y(value) + 4, class: "tick", "text-anchor": "end" }, bytes(value))]).flat(),
      areas(pool, order, x, y),
      svg("line", { x1: x(pool.peak_ns), x2: x(pool.peak_ns), y1: TOP, y2: HEIGHT - BOTTOM, class: "peak" }),
      svg("text", { x: LEFT, y: HEIGHT - 4, class: "tick" }, time(from)), svg("text", { x: whole - 2, y: HEIGHT - 4, class: "tick", "text-anchor": "end" }, time(to))));
  }
  new ResizeObserver(() => draw()).observe(plot);
  draw();
  return h("div", {},
    h("p", {}, name(pool.device), `: peak ${bytes(pool.peak_bytes)} at ${time(pool.peak_ns)}, ${pool.left_bytes ? bytes(pool.left_bytes) : "nothing"} left at the end.`),
    plot,
    h("ul", { class: "legend" }, order.map(({ kind }) => h("li", { title: meaning(kind) }, h("i", { style: `background:${colour(hueOf(kind))}` }), kind))),
    pool.owners.length ? h("div", {}, h("h3", {}, "Who allocated what was live at the peak"), h("ol", { class: "owners" }, pool.owners.map(([owner, value]) =>
      h("li", { style: `--share:${((value / pool.peak_bytes) * 100).toFixed(1)}%` }, h("span", {}, name(owner)), h("b", {}, bytes(value)), h("span", {}, percent(value / pool.peak_bytes)))))) : null);
}
