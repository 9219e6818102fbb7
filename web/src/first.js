/** The first screen: verdict, what to try, the parts of a step, all steps, what the figures rest on. */
import { breakable, h, name, unbroken, words } from "./dom.js";
import { time, bytes, percent, said, share, count } from "./format.js";
import { rowsOf } from "./table.js";
import { partsBar, partsList, stepsChart } from "./steps.js";
import { meaning } from "./words.js";

const PANEL_OF = { stragglers: "ranks" };

/** A sentence of dwell's. "(dwell report --view operators ...)" becomes a link to the panel. */
export function sentence(text, report) {
  const parts = [];
  let rest = text, match;
  while ((match = /\s*\((?:[^()]*, )?dwell report --view ([a-z]+)[^)]*\)/.exec(rest))) {
    parts.push(words(rest.slice(0, match.index)));
    const panel = PANEL_OF[match[1]] ?? match[1];
    if (report.has(panel)) parts.push(" (see ", h("a", { href: `#${panel}` }, panel), ")");
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest ? words(rest) : ""];
}

const CONTENTION = 0.05;

/** A sentence begins with a capital letter, unless it begins with code. */
const upper = (text) => (/^[a-z]+(-[a-z]+)*([ ,:]|$)/.test(text) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text);

/** The sentences above a table ("head") or below it ("note"), each with the word of its label. */
const linesOf = (table, which) => (table?.[`${which}s`] || []).map((text, i) => ({ text, label: table[`${which}_labels`]?.[i] || "" }));

/** Commands of a terminal, and what the page says at its end. */
const isApart = (line, i, lines) => line.label === "Next:" || line.label === "Trust:" || (!line.label && lines.slice(0, i).some((before) => before.label === "Trust:"));

const labelled = (line, className, report) => h("p", { class: className }, line.label ? h("b", {}, `${line.label} `) : null, sentence(line.text, report));
export const headsOf = (table, report) => linesOf(table, "head").map((line) => labelled(line, null, report));
export const notesOf = (table, report) => linesOf(table, "note").filter((...at) => !isApart(...at)).map((line) => labelled(line, "note", report));

/** Whether a hint only says where to look. */
const isLook = (hint) => /^dwell report --view [a-z]+$/.test(hint);

function verdicts(report) {
  const table = report.table("verdict");
  return table ? rowsOf(table).filter((row) => row.state === "yes" && row.statement) : [];
}

const overviewTables = (report) => report.data.tables.filter((table) => table.view === "overview");
const NO_TITLE = ["NOTE", "TRY", "LOOK", "ALL", ""];

/** @returns {{ran: string, title: string, more: string[]}} what ran, the sentence with which text begins too, and what the overview says besides */
function opening(report, fired) {
  const [first, ...rest] = linesOf(report.table("overview", "run"), "head");
  const isRemedy = (line) => ["TRY", "LOOK", "ALL"].includes(line.label), byLabel = rest.find((line) => !NO_TITLE.includes(line.label));
  const title = (byLabel || rest.find((line) => !isRemedy(line)) || first)?.text;
  const notes = overviewTables(report).flatMap((table) => linesOf(table, "note")).filter((line) => line.label === "NOTE");
  const more = [...rest.filter((line) => !isRemedy(line) && line.text !== title && !fired.some((row) => row.statement === line.text)), ...notes];
  return { ran: first && first.text !== title ? first.text : "", title: title || "This trace holds no ranges.", more: more.map((line) => line.text) };
}

/** What a hint says that it can save, and how much if something else goes, too: ": at most 5.1 ms a step, or 6.2 ms if the rest of parse goes, too" */
const GAIN = /: at most ([\d.]+ (?:s|ms|us|ns) (?:a step|an iteration|in the run|in that process))(?:, or [\d.]+ (?:s|ms|us|ns) if (.*?) goes, too)?(?= \(|$)/;

/** A hint without what it can save, which has a line and a bar of its own. */
const withoutGain = (hint) => hint.replace(GAIN, "");

/** "22.4 ms a step, 58%", of the same whole as the share; what a device can save may be more than a step of the host. */
function gainOf(row) {
  const [, own, rest] = GAIN.exec(row.hint) ?? [], share = row.gain_share < 1.005 ? `, ${said(row.gain_share)}` : "";
  return rest ? `${own}, or ${time(row.gain_ns)}${share}, if ${rest} goes, too` : (own ?? time(row.gain_ns)) + share;
}

/** The first one repeats no statement: it is the title of the page. */
function recommendation(row, isFirst, report) {
  const saves = typeof row.gain_ns === "number", part = saves && row.gain_share <= 1 ? row.gain_share : null;
  const known = typeof row.share === "number", isSaid = known && row.statement.includes(said(row.share));
  const range = typeof row.low === "number" && row.high - row.low >= 0.0005 ? `95% between ${percent(row.low)} and ${percent(row.high)}` : "";
  const evidence = [!known ? "?" : isSaid ? "" : said(row.share), range].filter(Boolean).join(", ");
  return h("li", {},
    isFirst ? null : h("p", { class: "statement" }, sentence(row.statement, report)),
    row.hint ? h("p", { class: isFirst ? "statement" : "hint" }, sentence(upper(saves ? withoutGain(row.hint) : row.hint), report)) : null,
    h("p", { class: "evidence" }, evidence ? `Evidence: ${evidence}${row.of ? ` of ${String(row.of).replace(/^of /, "")}` : ""}. ` : "",
      saves ? `Saves at most ${gainOf(row)}. ` : "", h("span", { class: "rule" }, row.rule)),
    part !== null ? h("div", { class: "gain", "aria-hidden": "true" }, h("span", { style: `width:${(part * 100).toFixed(1)}%` })) : null);
}

function figures(report, run) {
  const memory = (report.data.memory || []).reduce((most, pool) => Math.max(most, pool.peak_bytes), 0), list = [];
  const data = report.table("overview", "breakdown") && rowsOf(report.table("overview", "breakdown")).find((row) => row.name === "data");
  const ranks = report.ranks, add = (label, value) => list.push(h("div", { title: meaning(label) }, h("dt", {}, label), h("dd", {}, value)));
  if (run?.steps) {
    add(ranks > 1 ? `steps of ${ranks} ranks` : "steps", count(run.steps));
    add("a step", time(run.mean_ns));
    add("median", time(run.p50_ns));
    add("95% are below", time(run.p95_ns));
    add("99% are below", time(run.p99_ns));
    if (run.mean_ns) add(ranks > 1 ? "steps a second of each" : "steps a second", count(1e9 / run.mean_ns));
    if (data) add("waits for data", said(data.share));
  }
  if (memory) add("peak memory", bytes(memory));
  return list.length ? h("dl", { class: "figures" }, list) : null;
}

function trust(report, run) {
  const table = report.table("overview", "run") || report.data.tables[0], items = [];
  const item = (good, ...words) => items.push(h("li", { class: good ? "good" : "poor" }, ...words));
  if (!table) return null;
  if (table.losses.length) table.losses.forEach(([, records, why]) => item(false, `${count(records)} records are lost: `, name(why), "."));
  else item(true, "No record is lost.");
  item(table.coverage > 0.9995, table.coverage > 0.9995 ? "All of the time in question was recorded." : `${percent(table.coverage)} of the time in question was recorded.`);
  if (typeof run?.cost_share === "number") item(run.cost_share < 0.05, `Profiling cost ${run.cost_share < 0.001 ? "" : "about "}${share(run.cost_share)} of the time.`);
  else if (report.fact("trace.foreign")) item(true, "Another profiler recorded this trace: what that cost is not in it.");
  const delay = report.fact("cpu.delay") ?? report.fact("run.delay"), others = report.fact("cpu.others");
  if (delay !== null || others !== null) item((delay ?? 0) < CONTENTION && (others ?? 0) < CONTENTION, [
    delay === null ? "" : `The thread of these figures could run and had no processor for ${share(delay)} of the time`,
    others === null ? "" : `${delay === null ? "O" : "; o"}ther programs took ${share(others)} of the machine's processors`].join(""), ".");
  const stolen = report.fact("cpu.stolen");
  if (stolen !== null && stolen >= 0.001) item(stolen < CONTENTION, `The hypervisor of this virtual machine ran others for ${share(stolen)} of the time for which the processors had work.`);
  overviewTables(report).flatMap((each) => linesOf(each, "note")).filter((line) => /^Not recorded: /.test(line.text)).forEach((line) => item(false, name(line.text)));
  if (report.data.trace.files > 1) item(true, `${count(report.data.trace.files)} files are one run: times of different hosts are compared by the hosts' clocks.`);
  const missing = report.table("verdict") ? rowsOf(report.table("verdict")).filter((row) => row.state === "not measured") : [];
  if (missing.length) item(true, `${missing.length} of the ${report.table("verdict").rows.length} rules could not be tested: `, h("a", { href: "#verdict" }, "which, and what to record for them"), ".");
  if (report.data.trace.live) item(false, "The program was still running when this report was made.");
  return h("section", { class: "trust", "aria-labelledby": "trust" }, h("h2", { id: "trust" }, "What these figures rest on"), h("ul", {}, items));
}

function partsSection(table, id, titleOf, look, colourOf, report) {
  if (!table) return null;
  const value = table.columns.find((column) => column.unit === "ns")?.name;
  const parts = rowsOf(table).map((row) => ({ name: row[table.columns[0].name], ns: row[value] || 0, share: table.columns.some((column) => column.name === "share") ? row.share ?? null : undefined }));
  const all = (table.totals && rowsOf({ ...table, rows: [table.totals] })[0][value]) || parts.reduce((sum, part) => sum + part.ns, 0);
  if (!value || !all) return null;
  const title = titleOf(time(all));
  return h("section", { "aria-labelledby": id }, h("h2", { id }, unbroken(title)), h("p", { class: "look" }, look), partsBar(parts, colourOf, title), partsList(parts, colourOf), notesOf(table, report));
}

function parts(report, colourOf) {
  const steps = report.table("overview", "breakdown"), device = report.table("overview", "device");
  const mean = /, mean of .*/.exec(steps?.columns[0].label ?? "")?.[0] ?? "";
  const host = partsSection(steps || report.table("overview", "wall"), "parts", (all) => `${steps ? device ? "A step of the host, " : "A step of " : ""}${all}${mean}, by part`,
    "Each moment belongs to one part, so the parts sum to the whole. Look at the widest part that does not compute.", colourOf, report);
  const work = partsSection(device, "device-parts", (all) => `A step on the device, ${all}, by part`,
    "The same steps, seen from the device: the host submits work and goes on. Look at the widest part that does not compute.", colourOf, report);
  const ends = report.table("overview", "ends");
  const run = partsSection(ends, "run-parts", (all) => `${upper(ends.columns[0].label)}, ${all}, by part`,
    "The steps are less than half of the run. Look at the widest part before or after them.", colourOf, report);
  const account = report.table("overview", "account"), thread = account && !steps ? partsSection(account, "thread-parts", (all) => `${upper(account.columns[0].label)}, ${all}, by part`,
    "What the thread did, by the kernel's account and by samples. Each moment belongs to one part.", colourOf, report) : null;
  return [run, host, work, thread];
}

export function firstScreen(report, steps, colourOf) {
  const fired = verdicts(report), { ran, title, more: said } = opening(report, fired);
  const runTable = report.table("overview", "run"), run = runTable ? rowsOf(runTable)[0] : null;
  const all = linesOf(report.table("verdict"), "head").find((line) => line.label === "ALL"), together = all && `All of this ${all.text}`;
  const toTry = fired.filter((row) => row.hint && !isLook(row.hint)), others = fired.filter((row) => row.statement !== title && !toTry.includes(row)).map((row) => row.statement);
  const charted = steps && steps.steps.length > 1, slowest = said.find((text) => text.startsWith("Slowest:")), more = said.filter((text) => text !== slowest || !charted);
  return [
    h("section", { class: "verdict", id: "summary" }, ran ? h("p", { class: "ran" }, sentence(ran, report)) : null, h("h1", {}, breakable(sentence(title, report))), [...others, ...more].map((text) => h("p", {}, sentence(text, report))), figures(report, run)),
    toTry.length ? h("section", { "aria-labelledby": "try" }, h("h2", { id: "try" }, "What to try"),
      h("ol", { class: "try" }, toTry.map((row) => recommendation(row, row.statement === title, report))), together ? h("p", { class: "note" }, together) : null) : null,
    ...parts(report, colourOf),
    charted ? h("section", { "aria-labelledby": "all-steps" }, h("h2", { id: "all-steps" }, "All steps"),
      h("p", { class: "look" }, "Look for steps that stand out, and for a slow rise. Choose a step to see why it took longer.", slowest ? [" ", sentence(slowest, report)] : ""), stepsChart(steps, colourOf, report, run?.p50_ns)) : null,
    trust(report, run),
  ];
}
