/** The parts of a step as one bar, and the chart of all steps. */
import { h, svg, name } from "./dom.js";
import { time, count, said } from "./format.js";
import { fill } from "./theme.js";
import { isRanked, stragglers } from "./ranks.js";
import { meaning } from "./words.js";

/** The share as sentences have it; "" of a part without one: time without a CPU is no part of the loop's. */
const shareOf = (part, all) => (part.share === undefined ? said(part.ns / all) : typeof part.share === "number" ? said(part.share) : "");

/** A label has its number if both fit, otherwise its name alone, never a part of a number (style.css). @param {{name: string, ns: number, share: ?number}[]} parts that sum to the whole */
export function partsBar(parts, colourOf, label) {
  const all = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
  const shown = parts.filter((part) => part.ns > 0);
  const text = shown.map((part) => `${part.name} ${shareOf(part, all) || time(part.ns)}`).join(", ");
  return h("div", { class: "parts", role: "img", "aria-label": `${label}: ${text}` },
    shown.map((part) =>
      h("span", { style: `flex:${part.ns / all} 0 0;background:${fill(part.name, colourOf(part.name))}`, title: [`${part.name}: ${time(part.ns)}`, shareOf(part, all)].filter(Boolean).join(", ") },
        h("span", { class: "label" }, name(part.name), h("span", {}, shareOf(part, all))))));
}

/** The list below the bar. */
export function partsList(parts, colourOf) {
  const all = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
  return h("ul", { class: "legend" }, parts.filter((part) => part.ns > 0).map((part) =>
    h("li", { title: meaning(part.name) }, h("i", { style: `background:${fill(part.name, colourOf(part.name))}` }), name(part.name), h("b", {}, time(part.ns)), h("span", {}, shareOf(part, all)))));
}

/** Steps of the data, decoded. */
export function readSteps(data) {
  if (!data) return null;
  const width = 7 + data.parts.length, steps = [];
  for (let i = 0; i + width <= data.steps.length; i += width) {
    const [lane, number, begin, length, state, why, extra] = data.steps.slice(i, i + 7);
    steps.push({ lane, number, begin, length, state, why: why < 0 ? null : data.why[why], extra, parts: data.steps.slice(i + 7, i + width) });
  }
  addGaps(data, steps);
  return { ...data, steps };
}

/** A bar reaches to the next step, so that a rank that waits between its steps is seen; `own` is what the step took, as in all other places. Of merged
 * steps the time between them is not known. */
function addGaps(data, steps) {
  const gapOf = new Map();
  for (let lane = 0; data.of === 1 && lane < data.lanes.length; lane++) {
    const list = steps.filter((step) => step.lane === lane).sort((a, b) => a.begin - b.begin);
    list.forEach((step, i) => gapOf.set(step, Math.max(0, (list[i + 1]?.begin ?? 0) - step.begin - step.length)));
  }
  const has = [...gapOf.values()].some((gap) => gap > 0);
  for (const step of steps) {
    step.own = step.length;
    if (!has) continue;
    step.parts.push(gapOf.get(step));
    step.length += gapOf.get(step);
  }
  if (has) data.parts = [...data.parts, BETWEEN];
}

/** Of ranks the slowest comes first: all ranks' steps are as long as its own, so what it computed decides. */
function laneOrder(steps) {
  return isRanked(steps) ? stragglers(steps).map((item) => item.lane) : steps.lanes.map((_, lane) => lane);
}

const BETWEEN = "until the next step";
const USUAL = 1.1; /* times the median: a step that is no longer needs no explanation */
const HEIGHT = 180, LEFT = 58, BOTTOM = 18, TOP = 8;

/** The top of the scale: above the outliers, unless they would flatten all others. */
function scaleTop(steps) {
  const sorted = steps.map((step) => step.length).sort((a, b) => a - b);
  const most = sorted.at(-1) || 1, usual = sorted[Math.floor((sorted.length - 1) * 0.98)] || most;
  return most > usual * 4 ? { top: usual * 2.2, cut: true } : { top: most * 1.04, cut: false };
}

function ticks(top) {
  const power = 10 ** Math.floor(Math.log10(top / 3)), distance = [1, 2, 5, 10].map((factor) => factor * power).find((value) => top / value <= 4.5);
  return Array.from({ length: Math.floor(top / distance) + 1 }, (_, i) => i * distance);
}

/** Bars are drawn from what the screen can show: several steps on one pixel share its longest. */
function stackPaths(steps, parts, x, y, width) {
  const paths = parts.map(() => "");
  const gap = width > 4 ? 1 : 0;
  steps.forEach((step, i) => {
    let sum = 0;
    step.parts.forEach((ns, part) => {
      if (!ns) return;
      const from = y(sum), to = y(sum + ns);
      sum += ns;
      if (from - to > 0.05) paths[part] += `M${x(i).toFixed(2)} ${from.toFixed(1)}V${to.toFixed(1)}h${(width - gap).toFixed(2)}V${from.toFixed(1)}z`;
    });
  });
  return paths;
}

function details(steps, step, colourOf, report) {
  const parts = steps.parts.map((part, i) => ({ name: part, ns: step.parts[i] })).filter((part) => part.name !== BETWEEN).sort((a, b) => b.ns - a.ns);
  const open = step.state === 2, ratio = steps.own_p50_ns && !open ? step.own / steps.own_p50_ns : 0, gap = step.length - step.own;
  const words = [h("b", {}, `Step ${step.number}`), steps.lanes.length > 1 ? [" of ", name(steps.lanes[step.lane] ?? "")] : "",
    open ? ` did not end: it lasts for ${time(step.own)} until the end of the recording` : ` took ${time(step.own)}`, ratio ? `, ${ratio.toFixed(ratio < 10 ? 1 : 0)} times the median` : "", gap > step.length / 20 ? `; the next one began ${time(gap)} later` : "", ". "];
  if (step.state === 1) words.push("Part of it was not recorded.");
  else if (step.why && !open) words.push(`${time(step.extra)} of that, more than usual, in `, name(step.why), ".");
  else if (ratio > USUAL) words.push("No single name explains the difference.");
  const inTimeline = report.has("timeline") && step.length > 0
    ? h("p", {}, h("button", { type: "button", onclick: () => report.showTime(step.begin, step.begin + step.length) }, "Show it in the timeline")) : null;
  return [h("p", {}, words.flat()), partsBar(parts, colourOf, `Parts of step ${step.number}`), partsList(parts, colourOf), inTimeline].filter(Boolean);
}

export function stepsChart(steps, colourOf, report, median) {
  steps.own_p50_ns = steps.p50_ns;
  steps.p50_ns = median || steps.p50_ns; // from a step's begin to the next one's, as high as the bars are
  const lane = { index: 0 }, lanes = laneOrder(steps);
  const root = h("div", { class: "steps" }), plot = h("div", { class: "plot" }), panel = h("div", { class: "details", "aria-live": "polite" });
  const slowest = h("p", { class: "slowest" });
  let list = [], at = -1, marker = null, geometry = null;

  function select(index, focus) {
    at = Math.max(0, Math.min(list.length - 1, index));
    const step = list[at];
    plot.setAttribute("aria-valuenow", at);
    plot.setAttribute("aria-valuetext", `Step ${step.number}: ${time(step.own)}${step.why ? `, ${time(step.extra)} longer in ${step.why}` : ""}`);
    mark();
    panel.replaceChildren(...details(steps, step, colourOf, report));
    if (focus) plot.focus();
  }
  function mark() {
    if (!marker || at < 0) return;
    const { x, width } = geometry;
    marker.setAttribute("x", x(at) - 1);
    marker.setAttribute("width", Math.max(3, width + 1));
    marker.removeAttribute("visibility");
  }
  function draw() {
    const whole = Math.max(260, plot.clientWidth || 900), { top, cut } = scaleTop(list), room = whole - LEFT;
    const width = room / Math.max(list.length, 12), end = LEFT + list.length * width, x = (i) => LEFT + i * width;
    const y = (ns) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.min(1, ns / top));
    geometry = { x, width };
    marker = svg("rect", { y: TOP - 4, height: HEIGHT - TOP - BOTTOM + 8, class: "marker", visibility: "hidden" });
    const over = cut ? list.flatMap((step, i) => (step.length > top ? [svg("path", { class: "over", d: `M${x(i) + width / 2 - 4} ${TOP + 5}l4-6 4 6z` })] : [])) : [];
    plot.replaceChildren(svg("svg", { width: whole, height: HEIGHT, viewBox: `0 0 ${whole} ${HEIGHT}`, "aria-hidden": "true" },
      ticks(top).map((ns) => [svg("line", { x1: LEFT, x2: whole, y1: y(ns), y2: y(ns), class: "grid" }), svg("text", { x: LEFT - 8, y: y(ns) + 4, class: "tick", "text-anchor": "end" }, ns ? time(ns) : "0")]).flat(),
      stackPaths(list, steps.parts, x, y, width).map((d, i) => svg("path", { d, style: `fill:${colourOf(steps.parts[i])}` })),
      steps.p50_ns && steps.p50_ns < top ? svg("line", { x1: LEFT, x2: whole, y1: y(steps.p50_ns), y2: y(steps.p50_ns), class: "median" }) : null,
      steps.p50_ns && steps.p50_ns < top ? svg("text", { x: whole - 2, y: y(steps.p50_ns) - 4, class: "tick haloed", "text-anchor": "end" }, `median ${time(steps.p50_ns)}`) : null,
      over, marker,
      svg("text", { x: LEFT, y: HEIGHT - 3, class: "tick" }, `step ${list[0]?.number ?? ""}`),
      svg("text", { x: end - 2, y: HEIGHT - 3, class: "tick", "text-anchor": "end" }, list.length > 1 && end - LEFT > 150 ? `step ${list.at(-1).number}` : "")));
    mark();
  }
  function choose(index) {
    lane.index = index;
    list = steps.steps.filter((step) => step.lane === index).sort((a, b) => a.begin - b.begin);
    plot.setAttribute("aria-valuemax", Math.max(0, list.length - 1));
    draw();
    const order = list.map((_, i) => i).sort((a, b) => list[b].own - list[a].own).slice(0, 5), far = list.reduce((most, step, i) => (step.length > list[most].length ? i : most), 0);
    const choose = (i, ns) => h("button", { type: "button", onclick: () => select(i) }, `${list[i].number}`, h("span", {}, ` ${time(ns)}`));
    const isApart = list.length > 0 && !order.includes(far) && list[far].length > USUAL * list[order[0]].own;
    slowest.replaceChildren("Slowest: ", ...order.map((i) => choose(i, list[i].own)), ...(isApart ? ["longest until the next step: ", choose(far, list[far].length)] : []));
    if (order.length) select(order[0]);
  }
  Object.entries({ tabindex: "0", role: "slider", "aria-label": "Steps. Arrow keys go from step to step.", "aria-valuemin": "0", "aria-valuenow": "0" })
    .forEach(([key, value]) => plot.setAttribute(key, value));
  plot.addEventListener("click", (event) => select(Math.floor((event.clientX - plot.getBoundingClientRect().left - LEFT) / geometry.width)));
  plot.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowUp: at + 1, ArrowDown: at - 1, PageUp: at + 10, PageDown: at - 10, Home: 0, End: list.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(to);
  });
  if (steps.lanes.length > 1)
    root.append(h("p", {}, h("label", {}, "Steps of ", h("select", { onchange: (event) => choose(Number(event.target.value)) },
      lanes.map((at) => h("option", { value: at }, steps.lanes[at]))))));
  root.append(plot, slowest, panel);
  if (steps.of > 1) root.append(h("p", { class: "note" }, `A bar is the longest of ${steps.of} neighbouring steps; there are ${count(steps.count)}.`));
  new ResizeObserver(() => draw()).observe(plot);
  choose(lanes[0]);
  return root;
}
