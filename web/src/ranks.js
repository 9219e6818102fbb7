/** Ranks below each other, steps side by side; and which rank is the straggler. */
import { h, svg, name } from "./dom.js";
import { time, percent } from "./format.js";
import { tableOf } from "./table.js";

const ROW = 18, MOST_LABELS = 64;

export const isRanked = (steps) => Boolean(steps && steps.lanes.length > 1 && steps.lanes.some((lane) => /\brank\b/i.test(lane)));

const middle = (list) => { const sorted = list.slice().sort((a, b) => a - b); return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0; };
const rankOf = (lane) => Number(/\brank (\d+)/i.exec(lane)?.[1] ?? Infinity);

/** What a rank did in a step, until the next one: without the time in which it communicates, and so waits for the slow ones. */
function ownTimes(steps) {
  const waits = steps.parts.indexOf("communication");
  return steps.steps.filter((step) => step.state !== 2).map((step) => ({ ...step, own: step.length - (waits < 0 ? 0 : step.parts[waits]) }));
}

function heatMap(steps, list, numbers, order, medians) {
  const column = new Map(numbers.map((number, i) => [number, i])), row = new Map(order.map((lane, i) => [lane, i]));
  const cells = list.map((step) => {
    const ratio = step.own / (medians.get(step.number) || 1), excess = Math.max(0, Math.min(1, ratio - 1));
    return svg("rect", { x: column.get(step.number), y: row.get(step.lane), width: 1.02, height: 0.94, style: `fill:color-mix(in oklab,var(--heat) ${(6 + excess * 94).toFixed(0)}%,var(--paper))` },
      svg("title", {}, `${steps.lanes[step.lane]}, step ${step.number}: ${time(step.own)}, ${ratio.toFixed(2)} times the median of ranks`));
  });
  return h("div", { class: "ranks" },
    order.length <= MOST_LABELS ? h("ol", { "aria-hidden": "true" }, order.map((lane) => h("li", {}, name(steps.lanes[lane])))) : null,
    svg("svg", { viewBox: `0 0 ${numbers.length} ${order.length}`, preserveAspectRatio: "none", style: `height:${order.length * (order.length <= MOST_LABELS ? ROW : 4)}px`, role: "img",
      "aria-label": `Heat map of ${order.length} ranks and ${numbers.length} steps. The table below has its figures.` }, cells));
}

const scale = () => h("p", { class: "scale" }, "the median of ranks ", h("i", { "aria-hidden": "true" }), " twice as long or longer");

function mediansOf(list) {
  const byStep = new Map();
  for (const step of list) byStep.set(step.number, [...(byStep.get(step.number) || []), step.own]);
  return new Map([...byStep].map(([number, lengths]) => [number, middle(lengths)]));
}

/** For each rank what the map shows, added up. The slowest comes first. */
export function stragglers(steps, list = ownTimes(steps), medians = mediansOf(list)) {
  const slowest = new Map();
  for (const step of list) if (!(slowest.get(step.number)?.own >= step.own)) slowest.set(step.number, step);
  return steps.lanes.map((_, lane) => {
    const own = list.filter((step) => step.lane === lane), longer = own.reduce((sum, step) => sum + Math.max(0, step.own - medians.get(step.number)), 0);
    const mean = (sum) => (own.length ? sum / own.length : null);
    return { lane, last: mean(own.filter((step) => slowest.get(step.number) === step).length), excess: mean(longer), median: middle(own.map((step) => step.own)),
      waits: mean(own.reduce((sum, step) => sum + step.length - step.own, 0)), steps: own.length };
  }).sort((a, b) => (b.excess ?? 0) - (a.excess ?? 0) || rankOf(steps.lanes[a.lane]) - rankOf(steps.lanes[b.lane]) || a.lane - b.lane);
}

const rankTable = (steps, list) => tableOf({ rows: list.map((rank) => [steps.lanes[rank.lane], rank.last, rank.excess, rank.median, rank.waits, rank.steps]), rows_cut: 0,
  columns: [{ name: "rank", label: "rank", unit: "", text: 1 }, { name: "last", label: "the slowest in", unit: "ratio", bar: 1 },
    { name: "excess", label: "longer than the median rank, a step", unit: "ns" }, { name: "median", label: "median step, without communication", unit: "ns" },
    { name: "waits", label: "communication, a step", unit: "ns" }, { name: "steps", label: "steps", unit: "count" }] }, "Ranks");

/** @param {boolean} compared whether a sentence about the gain follows */
export function ranksPanel(steps, compared) {
  const list = ownTimes(steps), numbers = [...new Set(list.map((step) => step.number))].sort((a, b) => a - b), medians = mediansOf(list);
  const ranks = stragglers(steps, list, medians), order = ranks.map((rank) => rank.lane), columns = numbers.length;
  return [heatMap(steps, list, numbers, order, medians), scale(), rankTable(steps, ranks),
    h("p", { class: "note" }, `${columns.toLocaleString("en-US")} steps of ${order.length} ranks, the slowest rank first${steps.of > 1 ? `: of each ${steps.of} neighbouring steps of a rank the longest` : ""}. `
      + "The time in communication is left out: in it a rank waits for the slowest one."), compared ? null : percentNote(list, medians)];
}

/** What all ranks together would gain if none were slower than the median rank. */
function percentNote(list, medians) {
  const most = new Map(), length = new Map();
  for (const step of list) {
    most.set(step.number, Math.max(most.get(step.number) || 0, step.own - medians.get(step.number)));
    length.set(step.number, Math.max(length.get(step.number) || 0, step.length));
  }
  const sum = (map) => [...map.values()].reduce((all, value) => all + value, 0), all = sum(length);
  return all ? h("p", { class: "note" }, `If no rank took longer than the median rank, these steps would be at most ${percent(sum(most) / all)} shorter.`) : null;
}
