/** The page of a comparison (dwell diff --format html): the verdict, where the difference is, what was compared, tables, flame graph. */
import { h, choice, name, words } from "./dom.js";
import { cell, count, percent, setting, sign, time } from "./format.js";
import { tableOf, rowsOf } from "./table.js";
import { Flame, treeOf } from "./flame.js";
import { colour, CATEGORY_NAMES } from "./theme.js";
import { baseName, showPage } from "./shell.js";

const MOST_PARTS = 12, NODE = 10, CLASSES = 4;
const ROOM = 0.5; /* for the interval on each side of the bars, by their extent: a wide interval leaves no bars to see */
const GREY = 0, STONE = 1, FASTER = 10, SLOWER = 14; /* hues: a class is added to the last two */
const NAMES = { operator: "Operators", layer: "Layers", function: "Functions", zone: "Named ranges", phase: "Phases", data: "Data loading", action: "Actions", event: "Events",
  handler: "Handlers", collector: "Garbage collector", communication: "Communication", device: "Device", checkpoint: "Checkpoints", evaluation: "Evaluation", profiler: "Profiler" };

const signed = (value, text) => sign(value, text(value));
const isRefused = (row) => row.verdict === "not comparable";
/** A run without steps is one step. */
const unitOf = (report) => (report.table("functions") ? "run" : "step");
const known = (value) => typeof value === "number";

class Comparison {
  constructor(data) { this.data = data; }
  table(part) { return this.data.tables.find((table) => table.part === part && table.title !== "names"); }
  rows(part) { return rowsOf(this.table(part)); }
  names() { return this.data.tables.filter((table) => table.title === "names" && table.rows.length); }
}

/** A table whose differences have a sign. */
function signedTable(table, label) {
  const columns = table.columns.map((column) => ({ ...column, signed: /difference|change|^low|^high/.test(column.name) }));
  return [tableOf({ ...table, columns }, label), table.notes.map((text) => h("p", { class: "note" }, name(text)))];
}

/* ---- the first screen ---- */

/** The sentence of a verdict without what the figures below it have: the times, the interval and the runs. */
const shortTitle = (title) => title.replace(/^([^,(]+)[,:] [^,(:]+ before, [^,(]+ after( \(.*\))?\.$/, "$1.");

function figures(row, unit, title) {
  const list = [], add = (label, value) => list.push(h("div", {}, h("dt", {}, label), h("dd", {}, value)));
  const by = { "fast steps": "fast_", "processor time": "cpu_" }[row.by] || "", change = row[`${by}change`], low = by ? row[`${by}low`] : row.change_low, high = by ? row[`${by}high`] : row.change_high;
  add(by === "fast_" ? "fast step before" : by ? "processor time before" : `per ${unit} before`, time(row[`${by}before_ns`]));
  add("after", time(row[`${by}after_ns`]));
  if (!isRefused(row)) {
    if (!known(change)) add("change", "not known");
    else if (!title.includes("%")) add("change", signed(change, percent));
    add("95% interval", known(low) ? `${signed(low, percent)} to ${signed(high, percent)}` : "one run a side has none");
    if (!by && known(row.detectable)) add("smallest detectable change", percent(row.detectable));
  }
  add("runs", `${count(row.before_runs)} before, ${count(row.after_runs)} after`);
  return h("dl", { class: "figures" }, list);
}

/** The parts by size of their difference; the smaller ones are one. */
function fallOf(rows, isFast) {
  const parts = rows.map((row) => ({ name: row.name, ns: row.difference_ns, of: row.change_of_whole })), rest = parts.splice(parts.length > MOST_PARTS ? MOST_PARTS - 1 : MOST_PARTS);
  if (rest.length) parts.push({ name: isFast ? "everything else" : `${rest.length} further parts`, ns: rest.reduce((sum, part) => sum + part.ns, 0), of: rest.reduce((sum, part) => sum + part.of, 0) });
  return parts;
}

/** The interval of the whole, as far as the scale has it; an end beyond the scale is an arrow. */
function intervalOf({ low_ns: low, high_ns: high }, least, most) {
  const from = Math.max(low, least), to = Math.min(high, most), size = most - least || 1, place = (ns) => (((ns - least) / size) * 100).toFixed(3);
  return h("i", { class: ["interval", low < from && "on-left", high > to && "on-right"].filter(Boolean).join(" "), style: `left:${place(from)}%;width:${(((to - from) / size) * 100).toFixed(3)}%` });
}

function waterfall(report) {
  const fast = report.table("fast"), table = fast || report.table("parts"), parts = fallOf(rowsOf(table), Boolean(fast));
  if (!parts.length) return null;
  const [whole] = rowsOf({ ...table, rows: [table.totals] }), ends = `from ${time(whole.before_ns)} to ${time(whole.after_ns)}`;
  let at = 0, least = Math.min(0, whole.difference_ns), most = Math.max(0, whole.difference_ns);
  for (const part of parts) {
    part.from = at;
    at += part.ns;
    part.to = at;
    least = Math.min(least, at);
    most = Math.max(most, at);
  }
  const room = (most - least) * ROOM, from = Math.max(least - room, Math.min(least, whole.low_ns ?? least)), to = Math.min(most + room, Math.max(most, whole.high_ns ?? most));
  least = from;
  most = to;
  const size = most - least || 1, place = (ns) => `${(((ns - least) / size) * 100).toFixed(3)}%`;
  const bar = (from, to) => h("i", { class: to > from ? "up" : "down", style: `left:${place(Math.min(from, to))};width:${((Math.abs(to - from) / size) * 100).toFixed(3)}%` });
  const line = (part, isLast) => h("li", { class: isLast ? "whole" : null }, h("bdi", { title: part.name }, part.name),
    h("div", { class: "track", "aria-hidden": "true" }, h("i", { class: "zero", style: `left:${place(0)}` }), bar(part.from, part.to), isLast ? null : h("i", { class: "link", style: `left:${place(part.to)}` }),
      isLast && known(whole.low_ns) ? intervalOf(whole, least, most) : null),
    h("b", {}, signed(part.ns, time)), h("span", {}, signed(part.of, percent)));
  return h("section", { "aria-labelledby": "where" }, h("h2", { id: "where" }, `Where the difference is: ${fast ? `fast steps ${ends}` : `${ends} per ${unitOf(report)}`}`),
    h("p", { class: "look" }, fast ? "Each name has its self time in a fast step" : "Parts exclude each other", ", so their differences sum to the whole. A bar begins where the one above it ends; to the right is slower. The line is no change",
      known(whole.low_ns) ? `, and the thin bar the 95% interval of the whole${whole.low_ns < least || whole.high_ns > most ? ", which goes on beyond an arrow" : ""}.` : "."),
    h("ol", { class: "waterfall" }, parts.map((part) => line(part, false)), line({ name: "all", ns: whole.difference_ns, of: whole.change_of_whole, from: 0, to: whole.difference_ns }, true)));
}

function comparable(report) {
  const items = [], missing = [], item = (good, ...words) => items.push(h("li", { class: good ? "good" : "poor" }, ...words));
  for (const row of report.rows("comparable")) {
    if (row.state === "not measured") missing.push(row.what.toLowerCase().replace("cpu", "CPU").replace("pytorch", "PyTorch").replace("linux", "Linux"));
    else if (row.state === "alike") item(true, `${row.what}: alike${row.found ? ", " : ""}`, name(row.found), ".");
    else item(false, h("b", {}, row.what), row.state === "differs" ? " differ: " : " differ, which was accepted: ", name(row.found), ".");
  }
  if (missing.length) items.push(h("li", { class: "open" }, `Not measured, so not compared: ${missing.join("; ")}.`));
  const others = report.rows("environment").filter((row) => row.state === "differs").length;
  if (others) item(true, `${others === 1 ? "One detail of the environment differs" : `${count(others)} details of the environment differ`}: `, h("a", { href: "#environment" }, "which"), ".");
  return h("section", { class: "trust", "aria-labelledby": "comparable" }, h("h2", { id: "comparable" }, "Whether the runs can be compared"), h("ul", {}, items));
}

function firstScreen(report) {
  const table = report.table("verdict"), [row] = rowsOf(table), [title, ...more] = table.heads;
  return [h("section", { class: "verdict", id: "summary" }, h("h1", {}, words(shortTitle(title))), more.map((text) => h("p", {}, words(text))), figures(row, unitOf(report), title)),
    isRefused(row) ? [comparable(report), waterfall(report)] : [waterfall(report), comparable(report)]];
}

/* ---- panels ---- */

/** Each run as a point; the table below has the values. */
function strip(rows) {
  const values = rows.map((row) => row.ns), least = Math.min(...values), size = Math.max(...values) - least || 1, place = (ns) => `left:${(((ns - least) / size) * 100).toFixed(2)}%`;
  const line = (side) => {
    const of = rows.filter((row) => row.side === side).map((row) => row.ns);
    return [h("span", {}, side), h("div", { class: "track" }, of.map((ns) => h("i", { class: "dot", style: place(ns) })), h("i", { class: "mean", style: place(of.reduce((sum, ns) => sum + ns, 0) / of.length) }))];
  };
  return h("div", { class: "strip", "aria-hidden": "true" }, line("before"), line("after"), h("span"), h("span", { class: "ends" }, h("span", {}, time(least)), h("span", {}, time(least + size))));
}

/** The folder that all paths are in, with its last "/"; "" if they have none. */
function folderOf(paths) {
  let folder = paths[0].slice(0, paths[0].lastIndexOf("/") + 1);
  while (folder && !paths.every((path) => path.startsWith(folder))) folder = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
  return folder;
}

/** Paths without the folder of all of them, so that what tells them apart is not cut. */
function runs(report) {
  const table = report.table("runs"), at = table.columns.findIndex((column) => column.name === "trace"), folder = folderOf(table.rows.map((row) => row[at]));
  const rows = table.rows.map((row) => row.map((value, i) => (i === at ? value.slice(folder.length) : value)));
  return [strip(report.rows("runs")), signedTable({ ...table, rows }, "Runs"), folder ? h("p", { class: "note" }, "The traces are in ", name(folder), ".") : null];
}

function environment(report) {
  const table = report.table("environment"), key = table.columns.findIndex((column) => column.name === "key");
  return tableOf({ ...table, rows: table.rows.map((row) => row.map((value) => (typeof value === "string" ? setting(row[key], value) : value))) }, "Environment");
}

function byName(report) {
  const list = report.names(), box = h("div"), title = (table) => NAMES[table.part] || table.part;
  const show = (i) => box.replaceChildren(...signedTable(list[i], `${title(list[i])} by name`).flat());
  show(0);
  return [list.length > 1 ? choice("Kind of names", list.map(title), show) : null, box];
}

const hueOf = (kind, change) => (kind < 0 ? GREY : change === 0 ? STONE : change > 0 ? SLOWER + change : FASTER - change);

function tell(node) {
  const [before, after] = node.times, [ownBefore, ownAfter] = node.own, [callsBefore, callsAfter] = node.calls;
  return `${node.name}: ${time(after)} after, ${time(before)} before, ${signed(after - before, time)}${node.isThread ? "" :
    `; self ${time(ownAfter)} after, ${time(ownBefore)} before, ${signed(ownAfter - ownBefore, time)}; ${cell(callsAfter)} calls a step after, ${cell(callsBefore)} before`} (${node.kind})`;
}

function legend(largest) {
  const item = (hue, text) => h("li", {}, h("i", { style: `background:${colour(hue)}` }), text);
  const classes = (hue, sign) => Array.from({ length: CLASSES }, (_, i) => item(hue + i + 1, `${sign}${time(i ? (largest * i) / CLASSES : largest / 16)} to ${sign}${time((largest * (i + 1)) / CLASSES)}`));
  return h("ul", { class: "legend", "aria-label": "Colour: change of self time per step" }, item(STONE, "self time as before"), largest ? [classes(SLOWER, "+"), classes(FASTER, "-")] : null);
}

function flameGraph(report) {
  const { nodes, names, largest_ns: largest, left_out: leftOut } = report.data.flame, list = [];
  for (let i = 0; i < nodes.length; i += NODE) {
    const [depth, label, category, change, before, after, ownBefore, ownAfter, callsBefore, callsAfter] = nodes.slice(i, i + NODE);
    list.push({ depth, name: names[label], kind: category < 0 ? "thread" : CATEGORY_NAMES[category] || "other", isThread: category < 0, hue: hueOf(category, change), times: [before, after],
      own: [ownBefore, ownAfter], calls: [callsBefore, callsAfter], self: 0, count: 0 });
  }
  /* A path that a side does not have has nothing below it there either. */
  const tree = (side) => treeOf(list.filter((node) => node.times[side] > 0).map((node) => ({ ...node, value: node.times[side] })));
  const flame = new Flame(tree(1), { label: "Differential flame graph", tell });
  const gone = list.filter((node) => !node.isThread && node.times[1] === 0).reduce((sum, node) => sum + node.own[0], 0);
  return [h("div", { class: "tools" }, choice("Width", ["time after", "time before"], (i) => flame.set(tree(1 - i))),
    h("input", { type: "search", placeholder: "Search", "aria-label": "Search the flame graph", spellcheck: "false", oninput: (event) => flame.search(event.target.value) }),
    h("button", { type: "button", onclick: () => flame.zoom(flame.root) }, "Show all")),
  flame.box, legend(largest),
  gone ? h("p", { class: "note" }, `Call paths that only the runs before have took ${time(gone)} per step; they are in the picture of the time before.`) : null,
  leftOut ? h("p", { class: "note" }, `${count(leftOut)} narrower call paths are part of the bars around them.`) : null];
}

const PANELS = [
  ["fast", "Fast step", "Self time in the fast step by name, in the runs that were disturbed least. Low and high are the 95% interval of each difference: of twenty names without a change, one excludes 0 by chance.",
    (report) => signedTable(report.table("fast"), "Fast step"), (report) => Boolean(report.table("fast"))],
  ["parts", "Parts", "Parts of a step, or of a run without steps, as in a report. Low and high are the 95% interval of each difference: of twenty parts without a change, one excludes 0 by chance.",
    (report) => signedTable(report.table("parts"), "Parts"), (report) => report.table("parts").rows.length],
  ["operators", "Operators", "Self time per step, on the thread with the steps. It is within the parts above.", (report) => signedTable(report.table("operators"), "Operators"),
    (report) => report.table("operators").rows.length],
  ["functions", "Functions", "Processor time of a run by samples, by the function in which it was used.", (report) => signedTable(report.table("functions"), "Functions"),
    (report) => Boolean(report.table("functions"))],
  ["names", "By name", "Self time and calls per step on all threads. A heading sorts, the field filters. Look for calls that one side alone has.", byName, (report) => report.names().length],
  ["tree", "Flame graph", "Width is time per step of all threads, with the time outside the steps; colour is the change of self time: red is slower, blue faster. Look for strong colours.", flameGraph, (report) => report.data.flame.nodes.length],
  ["runs", "Runs", "Each circle is a run, the upright line the mean. If the sides overlap, more runs show more.", runs, () => true],
  ["environment", "Environment", "What differs comes first. It may be the change that you test, or the reason for the difference.", environment,
    (report) => report.table("environment").rows.length],
];

/** Names of the first file of both sides: their paths, if the names are alike. */
function titles({ before: [before], after: [after] }) {
  return baseName(before) === baseName(after) ? [before, after] : [baseName(before), baseName(after)];
}

function header({ comparison }) {
  const [before, after] = titles(comparison);
  const side = (title, paths, all) => h("bdi", { title: paths.slice(0, 20).join("\n") }, title, all > 1 ? ` and ${count(all - 1)} more` : "");
  return h("header", { class: "top" }, h("p", { class: "brand" }, "dwell"),
    h("p", { class: "what" }, "Before and after", h("span", {}, side(before, comparison.before, comparison.before_count), " → ", side(after, comparison.after, comparison.after_count))));
}

export function showComparison(data) {
  const report = new Comparison(data), [row] = report.rows("verdict");
  showPage({ title: `${row.verdict}: ${titles(data.comparison).join(" and ")} - dwell diff`, header: header(data), made: [report],
    first: firstScreen(report), panels: PANELS.filter((item) => item[4](report)).map((item) => item.slice(0, 4)) });
}
