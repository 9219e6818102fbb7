/** Reads the data and shows the page of a report, or of a comparison: the first screen at once, and panels when they come near. */
import { h, name } from "./dom.js";
import { bytes } from "./format.js";
import { rowsOf } from "./table.js";
import { readSteps } from "./steps.js";
import { partColours } from "./theme.js";
import { firstScreen } from "./first.js";
import { PANELS } from "./panels.js";
import { isRanked } from "./ranks.js";
import { wordsOf } from "./words.js";
import { showComparison } from "./comparison.js";
import { baseName, readData, showPage } from "./shell.js";

class Report {
  constructor(data) {
    this.data = data;
    this.ids = new Set();
  }
  tables(view) { return this.data.tables.filter((table) => table.view === view); }
  table(view, part) { return this.data.tables.find((table) => table.view === view && (!part || table.part === part)); }
  has(id) { return this.ids.has(id); }
  get ranks() { return this.fact("run.ranks") ?? 1; }
  /** @returns {number|null} a measured quantity */
  fact(wanted) {
    const table = this.table("facts"), at = table?.columns.findIndex((column) => column.name === "value");
    return table?.rows.find((row) => row[0] === wanted)?.[at] ?? null;
  }
  /** The names in each bar of parts. */
  bars() {
    const tables = ["breakdown", "wall", "device", "ends", "account"].map((part) => this.table("overview", part)?.rows ?? []);
    return [...tables.map((rows) => rows.map((row) => String(row[0]))), this.data.steps?.parts ?? []];
  }
}

/** Panels in which all ranks' times are added up. */
const SUMS = ["phases", "operators", "layers", "tree", "functions", "hot", "actions", "events", "gc", "flops", "kernels"];
const withSums = (report, [id, title, look, make]) => [id, title, report.ranks > 1 && SUMS.includes(id) ? `${look} Times are sums of ${report.ranks} ranks.` : look, make];

/** What is said of steps alone, where there are none. */
const withoutSteps = (report, [id, title, look, make]) => [id, title, report.data.steps || id !== "timeline" ? look : "Look for gaps, and for threads that wait for one another. Short events are merged.", make];

/** Whether a panel has anything to show, without making it. */
function isThere(id, report, steps) {
  if (id === "tree") return report.data.flames.some((flame) => flame.nodes.length > 0);
  if (id === "words") return wordsOf(report).length > 0;
  if (id === "timeline") return Boolean(report.data.timeline?.tracks?.length);
  if (id === "environment") return report.data.environment.length > 0;
  if (id === "ranks") return isRanked(steps) || report.tables(id).some((table) => table.rows.length > 0);
  if (id === "memory") return report.data.memory.length > 0;
  if (id === "flops") return report.tables(id).some((table) => table.rows.length > 0 && !(table.totals && rowsOf({ ...table, rows: [table.totals] })[0].flops === 0)
    && table.part !== "uncounted");
  if (id === "gc") return report.tables(id).some((table) => table.rows.length > 0);
  return report.tables(id === "events" ? "events" : id).some((table) => table.rows.length > 0) || (id === "events" && report.tables("handlers").length > 0);
}

function header(data) {
  const { trace } = data, created = trace.created_s ? new Date(trace.created_s * 1000) : null;
  return h("header", { class: "top" },
    h("p", { class: "brand" }, "dwell"),
    h("p", { class: "what" }, name(trace.program || baseName(trace.paths[0] || "")), h("span", { title: trace.paths.slice(0, 20).join("\n") }, [trace.files > 1 ? `${trace.files} files` : name(baseName(trace.paths[0] || "")), bytes(trace.bytes),
      created ? h("time", {}, created.toISOString().replace("T", " ").slice(0, 16) + " UTC") : ""].filter(Boolean).map((part, i) => [i ? ", " : "", part]).flat())));
}

function showReport(data) {
  const report = new Report(data), steps = readSteps(data.steps), colourOf = partColours(report.bars());
  const panels = PANELS.filter(([id]) => isThere(id, report, steps)).map((panel) => withoutSteps(report, withSums(report, panel)));
  report.ids = new Set(panels.map(([id]) => id));
  const sectionOf = showPage({ title: `${data.trace.program || data.trace.paths[0] || "trace"} - dwell report`, header: header(data), panels, made: [report, steps],
    first: firstScreen(report, steps, colourOf) });
  report.showTime = (begin, end) => {
    const section = sectionOf("timeline");
    section.scrollIntoView();
    report.timeline().show(begin - (end - begin) * 0.04, end + (end - begin) * 0.04);
    section.querySelector("canvas")?.focus({ preventScroll: true });
  };
}

const data = readData();
if (data.comparison) showComparison(data);
else showReport(data);
