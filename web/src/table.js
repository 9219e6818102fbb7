/** Tables: sort, filter, more rows. A table of a tree keeps its order and its indentation. */
import { breakable, h, name, shortenThreads, threadName } from "./dom.js";
import { cell, sign } from "./format.js";
import { meaning } from "./words.js";

/** Views whose rows are parts with names of dwell's. */
const PARTS_IN = ["overview", "phases", "account", "device"];

const MOST_WIDE = 8; /* columns of a table whose bars take what is left of the page's width */
const FIRST = 15, FEW_MORE = 5, FILTER_FROM = 12;

/** Rows of the data as objects with their column's names. */
export function rowsOf(table) {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((column, i) => [column.name, row[i]])));
}

/** What a view's table is looked at for, besides its bars. */
const KEYS = { operators: ["self_per_step_ns"], steps: ["why", "duration_ns"], dataloader: ["ready"], layers: ["total_ns"], waits: ["thread"], diff: ["difference_ns", "state"], names: ["self_difference_ns"] };
const SORTED = { operators: "self_per_step_ns" }; /* whose rows come in another order */

/** The first column, and as many columns of text as tell apart the rows that are shown first, if they do. */
function namesOf(table, columns) {
  const kinds = (items) => new Set(table.rows.slice(0, FIRST + FEW_MORE).map((row) => items.map((item) => row[item.at]).join("\n"))).size;
  return columns.slice(1).filter((item) => item.column.text).reduce((names, item) => (kinds([...names, item]) > kinds(names) ? [...names, item] : names), columns.slice(0, 1));
}

/** The column with bars and the view's key column stand next to the names, so that they are seen first. */
function columnsOf(table) {
  const columns = table.columns.map((column, at) => ({ column, at })).filter(({ column, at }) => isShown(table, column, at));
  const keys = KEYS[table.title === "names" ? "names" : table.view] || [], names = table.depths ? columns.slice(0, 1) : namesOf(table, columns);
  columns.forEach((item) => { item.isName = names.includes(item); item.isKey = names.includes(item) || (item.column.bar && item.column.unit === "ratio") || keys.includes(item.column.name); });
  return [...columns.filter((item) => item.isKey), ...columns.filter((item) => !item.isKey)];
}

/** The order in which columns are left out where all are too wide: those that a narrow terminal leaves out, the others, then key columns, at last those that tell rows apart; from the right. */
function leftOutFirst(columns) {
  const fromRight = columns.slice(1).reverse(), others = fromRight.filter((item) => !item.isKey).sort((a, b) => (b.column.wide ?? 0) - (a.column.wide ?? 0));
  return [...others, ...fromRight.filter((item) => item.isKey && !item.isName && !item.column.bar), ...fromRight.filter((item) => item.isName)];
}

const isShown = (table, column, i) => !column.hidden && table.rows.some((row) => row[i] !== null);

/** @returns {number} negative: a comes first; empty cells come last */
function compare(a, b, ascending) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "string" ? a.localeCompare(b) : a - b;
  return ascending ? order : -order;
}

/** Rows that contain the text, and in a tree those around them. */
function filtered(table, order, text) {
  if (!text) return order;
  const wanted = text.toLowerCase();
  const hit = table.rows.map((row) => row.some((value) => typeof value === "string" && value.toLowerCase().includes(wanted)));
  if (table.depths)
    for (let i = table.rows.length - 1, need = -1; i >= 0; i--) {
      if (hit[i]) need = Math.max(need, table.depths[i] - 1);
      else if (table.depths[i] <= need) { hit[i] = true; need = table.depths[i] - 1; }
      if (need >= table.depths[i]) need = table.depths[i] - 1;
    }
  return order.filter((i) => hit[i]);
}

function headCell(column, state, sort, hasBars) {
  const { sorted, isTree } = state, is = sorted?.column === column;
  const text = column.label || "time";
  return h("th", { scope: "col", title: meaning(text), class: [column.text && "text", hasBars && "bar"].filter(Boolean).join(" ") || null, "aria-sort": is ? (sorted.ascending ? "ascending" : "descending") : null },
    isTree ? text : h("button", { type: "button", onclick: () => sort(column) }, text, h("span", { class: "arrow", "aria-hidden": "true" }, is ? (sorted.ascending ? "▲" : "▼") : "")));
}

function bodyRow(table, columns, row, most) {
  return columns.map(({ column, at }, i) => {
    const value = row === -1 ? table.totals[at] : table.rows[row][at], plain = cell(value, column.unit), text = (column.signed ? sign(value, plain) : plain) || (i === 0 ? "(no name)" : "");
    const share = most[at] && typeof value === "number" ? Math.max(0, Math.min(1, value / most[at])) : 0;
    const attributes = { class: [column.text && "text", share && "bar"].filter(Boolean).join(" ") || null,
      title: typeof value === "number" && column.unit ? `${value} ${column.unit}` : text.length > 48 ? text : i === 0 && PARTS_IN.includes(table.view) ? meaning(text) : null };
    if (share) attributes.style = `--bar:${share.toFixed(3)}`;
    const depth = i === 0 && row >= 0 && table.depths ? table.depths[row] : 0;
    if (depth) attributes.style = `padding-left:${(0.5 + Math.min(depth, 24) * 1.1).toFixed(1)}em`;
    const isThread = column.name === "thread" && typeof value === "string", words = isThread ? threadName(text) : i === 0 || typeof value === "string" ? name(text) : text;
    if (typeof words !== "string") (isThread ? words : breakable([words])[0]).style.setProperty("--letters", Math.min(60, text.length));
    return i === 0 ? h("th", { scope: "row", ...attributes }, words) : h("td", attributes, words);
  });
}

/** The column that the table says gets bars. */
function barScale(table, columns) {
  const most = [];
  if (columns.some(({ column }) => column.signed)) return most;
  const bar = columns.find(({ column }) => column.bar);
  if (bar) most[bar.at] = Math.max(...table.rows.map((row) => row[bar.at] || 0), bar.column.unit === "ratio" ? 0.001 : 0);
  return most;
}

/** Leaves out columns until the others fit into the box, and bars before key columns. @param {{everything: boolean, leftOut: Set, width: number}} state */
function fit(box, head, columns, state, draw) {
  const width = box.clientWidth, order = leftOutFirst(columns);
  if (!width || state.everything || width === state.width) return shortenThreads(box);
  state.width = width;
  state.leftOut.clear();
  head.parentNode.classList.remove("bare");
  draw();
  for (let over; (over = box.scrollWidth - width) > 0 && order.length > state.leftOut.size; draw()) {
    if (!order.some((item) => !item.isKey && !state.leftOut.has(item)) && !head.parentNode.classList.contains("bare")) {
      head.parentNode.classList.add("bare");
      continue;
    }
    const shown = columns.filter((item) => !state.leftOut.has(item)), widths = new Map([...head.rows[0].cells].map((cell, i) => [shown[i], cell.offsetWidth]));
    const others = order.filter((item) => !item.isKey), rest = others.some((item) => !state.leftOut.has(item)) ? others : order.filter((item) => !state.leftOut.has(item)).slice(0, 1);
    for (const item of rest)
      if (over > 0 && !state.leftOut.has(item)) {
        state.leftOut.add(item);
        over -= widths.get(item);
      }
  }
  shortenThreads(box);
}

/** @param {string} label names the table for screen readers */
export function tableOf(table, label) {
  const columns = columnsOf(table), totals = table.totals?.some((value, i) => i > 0 && value !== null && !table.columns[i].hidden);
  const most = barScale(table, columns), all = table.rows.map((_, i) => i);
  const state = { sorted: null, isTree: Boolean(table.depths?.some((depth) => depth > 0)), text: "", shown: FIRST, order: all, leftOut: new Set(), everything: false, width: 0 };
  const head = h("thead"), body = h("tbody"), foot = h("tfoot"), under = h("p", { class: "under" });
  const status = h("span", { role: "status", class: "status" }), shownColumns = () => columns.filter((item) => !state.leftOut.has(item));

  function order(column, ascending) {
    const at = table.columns.indexOf(column);
    state.sorted = { column, ascending };
    state.order = all.slice().sort((a, b) => compare(table.rows[a][at], table.rows[b][at], ascending));
  }
  function sort(column) {
    order(column, state.sorted?.column === column ? !state.sorted.ascending : Boolean(column.text));
    draw();
    head.querySelectorAll("button")[shownColumns().findIndex((item) => item.column === column)]?.focus();
  }
  function draw() {
    const rows = filtered(table, state.order, state.text), cut = table.rows_cut, columns = shownColumns();
    if (rows.length <= state.shown + FEW_MORE) state.shown = Infinity;
    head.replaceChildren(h("tr", {}, columns.map(({ column, at }) => headCell(column, state, sort, Boolean(most[at])))));
    body.replaceChildren(...rows.slice(0, state.shown).map((row) => h("tr", {}, bodyRow(table, columns, row, most))));
    const hasSum = totals && columns.some(({ at }, i) => i && table.totals[at] !== null);
    foot.replaceChildren(...(hasSum && !state.text ? [h("tr", {}, bodyRow(table, columns, -1, []))] : []));
    head.parentNode?.classList.toggle("barred", most.some(Boolean) && columns.length <= MOST_WIDE);
    status.textContent = state.text ? `${rows.length} of ${table.rows.length} rows` : "";
    under.replaceChildren();
    if (rows.length > state.shown)
      under.append(h("button", { type: "button", onclick: () => { state.shown = Infinity; draw(); } }, `Show all ${rows.length} rows`));
    if (state.leftOut.size)
      under.append(h("button", { type: "button", onclick: () => { state.everything = true; state.leftOut.clear(); draw(); } }, `Show all ${columns.length + state.leftOut.size} columns`));
    shortenThreads(body);
    if (cut && rows.length <= state.shown) under.append(`${cut.toLocaleString("en-US")} smaller rows are not in this file.`);
  }
  const byKey = !state.isTree && columns.find(({ column }) => column.name === SORTED[table.view]);
  if (byKey) order(byKey.column, false);
  const filter = table.rows.length >= FILTER_FROM
    ? h("p", { class: "filter" }, h("input", { type: "search", placeholder: "Filter", "aria-label": `Filter ${label}`, spellcheck: "false",
        oninput: (event) => { state.text = event.target.value; state.shown = FIRST; draw(); } }), status)
    : null;
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `${label}, table` },
    h("table", { "aria-label": label }, head, body, foot));
  draw();
  new ResizeObserver(() => fit(scroll, head, columns, state, draw)).observe(scroll);
  return h("div", { class: "table" }, filter, scroll, under);
}
