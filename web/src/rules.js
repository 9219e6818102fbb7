/** Every rule: what was found, what was not, and what to record for the rest. */
import { h, choice } from "./dom.js";
import { percent } from "./format.js";
import { tableOf, rowsOf } from "./table.js";

const text = (name, label = name) => ({ name, label, unit: "", text: 1 });
const TESTED = [text("question"), { name: "share", label: "share", unit: "ratio", bar: 1 }, text("interval", "95% between"), text("of"), { name: "gain", label: "saves at most", unit: "ns" },
  text("found"), text("rule")];
const UNTESTED = [text("question"), text("missing", "what is missing"), text("rule")];

function table(rows, columns) {
  const cells = (row) => ({ ...row, gain: row.gain_ns, found: row.state, interval: typeof row.low === "number" && row.high - row.low >= 0.0005 ? `${percent(row.low)} and ${percent(row.high)}` : null });
  return { columns, rows: rows.map(cells).map((row) => columns.map((column) => row[column.name] ?? null)), rows_cut: 0 };
}

export function rulesPanel(report) {
  const all = rowsOf(report.table("verdict")), found = all.filter((row) => row.state === "yes"), missing = all.filter((row) => row.state === "not measured");
  const rest = all.filter((row) => row.state !== "yes" && row.state !== "not measured");
  const groups = [["found", found, TESTED], ["not found", rest, TESTED], ["not measured", missing, UNTESTED], ["all", all, TESTED]].filter(([, rows]) => rows.length);
  const box = h("div"), show = (i) => box.replaceChildren(tableOf(table(groups[i][1], groups[i][2]), `Rules: ${groups[i][0]}`));
  show(0);
  return [choice("Rules", groups.map(([label, rows]) => `${label} ${rows.length}`), show), box];
}
