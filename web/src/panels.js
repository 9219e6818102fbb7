/** The panels below the first screen. A panel returns its content, or null if the trace has no data for it. */
import { h, choice } from "./dom.js";
import { bytes, setting, time } from "./format.js";
import { tableOf, rowsOf } from "./table.js";
import { Flame, treeOf, inverted } from "./flame.js";
import { colour, rangeWord, CATEGORY_NAMES } from "./theme.js";
import { byHue, hueOf } from "./timeline/hues.js";
import { meaning, wordList } from "./words.js";
import { memoryChart } from "./memory.js";
import { ranksPanel, isRanked } from "./ranks.js";
import { rulesPanel } from "./rules.js";
import { headsOf, notesOf } from "./first.js";
import { mountTimeline } from "./timeline/index.js";
import { EmbeddedSource } from "./timeline/source.js";

const WORDS = { run: "The run", breakdown: "A step" };

function headed(table, report, label) {
  if (!table.rows.length && !table.heads.length) return null;
  return h("div", { class: "part" }, headsOf(table, report),
    table.rows.length ? tableOf(table, label) : null, notesOf(table, report));
}

/** All tables of some views, below each other. */
function tables(report, title, ...views) {
  return listed(views.flatMap((view) => report.tables(view)), report, title, views.length > 1);
}

function listed(all, report, title, several) {
  const list = all.filter((table) => table.rows.length || table.heads.length);
  if (!list.length) return null;
  return list.map((table) => {
    const label = [title, table.part && (WORDS[table.part] || table.part), table.title].filter(Boolean).join(", ");
    return h("div", {}, list.length > 1 && (table.part || several) ? h("h3", {}, table.part ? WORDS[table.part] || table.part : table.view) : null, headed(table, report, label));
  });
}

/** The tables of a view that differ in how rows are grouped. */
function grouped(report, title, view) {
  const all = report.tables(view).filter((table) => table.rows.length), list = all.filter((table) => !table.part);
  if (!list.length) return null;
  const further = (table) => all.filter((other) => other.part && other.title === table.title).map((other) => headed(other, report, `${title} ${other.part}`));
  const box = h("div"), show = (i) => box.replaceChildren(headed(list[i], report, `${title} ${list[i].title || ""}`.trim()), ...further(list[i]));
  show(0);
  return [list.length > 1 ? choice(`Group ${title}`, list.map((table) => table.title || "by name"), show) : null, box];
}

function layers(report) {
  const table = report.table("layers");
  if (!table?.rows.length) return null;
  const rows = rowsOf(table), choices = [["time", "total_ns", time], ["backward", "backward_total_ns", time], ["memory", "memory_bytes", bytes]]
    .map(([text, wanted, unit]) => [text, table.columns.find((column) => column.name === wanted || (text === "memory" && column.name === "total_bytes"))?.name, unit])
    .filter(([, column]) => column && rows.some((row) => row[column] > 0));
  const depth = (i) => table.depths?.[i] ?? 0;
  /* A list of layers has no time of its own: it is as wide as what is in it. */
  const values = (column) => {
    const value = rows.map((row) => Math.max(0, row[column] || 0)), within = [];
    for (let i = rows.length - 1; i >= 0; i--) {
      value[i] = Math.max(value[i], within[depth(i) + 1] || 0);
      within[depth(i)] = (within[depth(i)] || 0) + value[i];
      within.length = depth(i) + 1;
    }
    return value;
  };
  const tree = (column) => {
    const value = values(column);
    return treeOf(rows.map((row, i) => ({ depth: depth(i), name: String(row[table.columns[0].name]), value: value[i], self: 0, count: row.calls || 0, hue: 3, kind: "layer" })));
  };
  const flame = choices.length ? new Flame(tree(choices[0][1]), { label: "Layers", unit: choices[0][2] }) : null;
  return [flame ? h("div", { class: "tools" }, choice("Width", choices.map(([text]) => text), (i) => { flame.unit = choices[i][2]; flame.set(tree(choices[i][1])); })) : null,
    flame?.box, headed(table, report, "Layers")];
}

const FLAMES = { ranges: "ranges", samples: "CPU time, by samples", waits: "waits, by samples" };

/** What has which colour, of the words that occur, each with its meaning. */
const colourLegend = (words, label) => h("ul", { class: "legend", "aria-label": label }, byHue(words).map(([hue, of]) =>
  h("li", {}, h("i", { style: `background:${colour(hue)}` }), of.map((word, i) => [i ? ", " : "", h("bdi", { title: meaning(word) }, word)]))));

function treeOfPaths({ nodes, names, threads, kinds, kind }, words) {
  const list = [];
  for (let i = 0; i < nodes.length; i += 6) {
    const [depth, label, category, value, self, calls] = nodes.slice(i, i + 6), text = category < 0 ? threads[label] : names[label], word = category >= 0 && kinds ? kinds[kind[label]] : rangeWord(category, text);
    words.add(word);
    list.push({ depth, name: text, hue: hueOf(word), kind: category < 0 ? "thread" : kinds ? word : CATEGORY_NAMES[category] || "other", value, self, count: calls });
  }
  return treeOf(list);
}

function flameGraph(report) {
  const flames = report.data.flames.filter((flame) => flame.nodes.length).map((data) => { const words = new Set(); return { data, words, tree: treeOfPaths(data, words) }; });
  if (!flames.length) return null;
  const state = { at: 0, thread: -1, invert: false }, flame = new Flame(flames[0].tree, { label: "Flame graph" });
  const threads = h("select", { onchange: (event) => { state.thread = Number(event.target.value); renew(); } }), around = h("label", {}, "Thread ", threads), under = h("div");
  function renew() {
    const { tree } = flames[state.at], root = state.thread < 0 ? tree : { ...tree, value: tree.children[state.thread].value, children: [tree.children[state.thread]] };
    flame.set(state.invert ? inverted(root) : root);
  }
  function choose(at) {
    const { tree, words, data } = flames[at];
    Object.assign(state, { at, thread: -1 });
    threads.replaceChildren(h("option", { value: "-1" }, "all"), ...tree.children.slice(0, 500).map((node, i) => h("option", { value: i }, node.name)));
    around.hidden = tree.children.length < 2;
    under.replaceChildren(words.size > 2 ? colourLegend([...words], "Colours of the flame graph") : "",
      data.left_out ? h("p", { class: "note" }, `${data.left_out.toLocaleString("en-US")} narrower call paths are part of the bars around them.`) : "");
    renew();
  }
  choose(0);
  return [h("div", { class: "tools" }, flames.length > 1 ? choice("Time of", flames.map(({ data }) => FLAMES[data.of]), choose) : null,
    choice("Direction", ["from the thread in", "by self time"], (i) => { state.invert = i === 1; renew(); }), around,
    h("input", { type: "search", placeholder: "Search", "aria-label": "Search the flame graph", spellcheck: "false", oninput: (event) => flame.search(event.target.value) }),
    h("button", { type: "button", onclick: () => flame.zoom(flame.root) }, "Show all")),
  flame.box, under];
}

function memory(report) {
  const pools = report.data.memory || [];
  /* The chart has the owners at the peak and the memory over time. */
  const content = listed(report.tables("memory").filter((table) => !pools.length || !["peak", "timeline"].includes(table.part)), report, "Memory");
  if (!pools.length && !content) return null;
  const box = h("div"), show = (i) => box.replaceChildren(memoryChart(pools[i]));
  const label = (pool) => `${pool.process}${pools.some((other) => other !== pool && other.process === pool.process && other.device === pool.device) ? ` [${pool.pid}]` : ""} ${pool.device}`;
  if (pools.length) show(0);
  return [pools.length > 1 ? choice("Device", pools.map(label), show) : null, pools.length ? box : null, content];
}

function timeline(report) {
  if (!report.data.timeline?.tracks?.length) return null;
  const box = h("div", { class: "timeline" });
  let timeline = null;
  const mount = () => (timeline ??= mountTimeline(box, { source: new EmbeddedSource(report.data.timeline), fill: false }));
  report.timeline = mount;
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watch.disconnect();
    mount();
  }, { rootMargin: "300px" });
  watch.observe(box);
  return box;
}

function environment(report) {
  const rows = report.data.environment;
  if (!rows.length) return null;
  /* What several processes say alike stands once. */
  const by = new Map();
  for (const [process, key, value] of rows) {
    const at = `${key}\0${value}`;
    if (!by.has(at)) by.set(at, [key, setting(key, value), new Set()]);
    by.get(at)[2].add(process);
  }
  return tableOf({ columns: [{ name: "key", label: "what", unit: "", text: 1 }, { name: "value", label: "value", unit: "", text: 1 }, { name: "process", label: "process", unit: "", text: 1 }],
    rows: [...by.values()].map(([key, value, processes]) => [key, value, [...processes].slice(0, 4).join(", ") + (processes.size > 4 ? ` and ${processes.size - 4} more` : "")]), rows_cut: 0 }, "Environment");
}

function ranks(report, steps) {
  const compared = tables(report, "Stragglers", "stragglers");
  return [isRanked(steps) ? ranksPanel(steps, Boolean(compared)) : null, compared];
}

/** id, title, what to look for, content. The id is the view's name, to which sentences link. */
export const PANELS = [
  ["verdict", "Every rule", "What dwell tested, how sure it is, and what to record for what it could not test.", rulesPanel],
  ["account", "Account", "Where the time of the loop's thread goes. Look for waits, and for work that is not what the program is for.", (report) => tables(report, "Account", "account")],
  ["timeline", "Timeline", "Look for gaps, and for threads that wait for one another. The slowest, the median and the first steady step have every event; elsewhere short events are merged.", timeline],
  ["steps", "Slowest steps", "Look at what took longer than in other steps.", (report) => tables(report, "Slowest steps", "steps")],
  ["phases", "Phases", "Look for phases outside the steps: start-up, validation, checkpoints.", (report) => tables(report, "Phases", "phases")],
  ["operators", "Operators", "Self time excludes operators within. Many calls of short ones cost more in calls than in work.", (report) => grouped(report, "Operators", "operators")],
  ["layers", "Layers", "Width is time or memory with all inner layers. Look for a layer that is wider than its share of the work.", layers],
  ["tree", "Flame graph", "Width is time, and what is above called what is below. Look for wide bars at the bottom ends.", flameGraph],
  ["functions", "Functions", "Look for functions of your own with large self time.", (report) => tables(report, "Functions", "functions")],
  ["hot", "CPU time", "By samples of call stacks: the functions that use the CPU, in all threads. Look for functions of your own with large self time.", (report) => grouped(report, "CPU time", "hot")],
  ["waits", "Waits", "By samples of call stacks: where threads wait. Look at the thread whose work you wait for.", (report) => tables(report, "Waits", "waits")],
  ["requests", "Requests", "Requests, tasks and short threads, by name. Look at p99 beside p50, and at what they wait for.", (report) => tables(report, "Requests", "requests")],
  ["actions", "Named ranges", "The names that the program gave. Look at share and at the distance of p50 and p99.", (report) => tables(report, "Named ranges", "actions")],
  ["events", "Events", "Events of the training engine, with the handlers that ran in them.", (report) => tables(report, "Events", "events", "handlers")],
  ["sequence", "Sequence", "The operators of one iteration in their order. Look for those that take longer as the run goes on.", (report) => tables(report, "Sequence", "sequence")],
  ["dataloader", "Data loading", "A loop that finds the queue empty waits. Compare the time of a batch with the number of workers.", (report) => tables(report, "Data loading", "dataloader")],
  ["memory", "Memory", "Look for what is largest at the peak, and for growth from step to step.", memory],
  ["threads", "Threads", "Look for workers that are idle, and for one thread that does all the work.", (report) => tables(report, "Threads", "threads")],
  ["gc", "Garbage collector", "Look for long pauses within steps.", (report) => tables(report, "Garbage collector", "gc")],
  ["flops", "Arithmetic", "Look for heavy operators that are far from the speed of the others.", (report) => tables(report, "Arithmetic", "flops")],
  ["device", "Device", "Look for idle time, and at what the device waits for.", (report) => tables(report, "Device", "device")],
  ["kernels", "Kernels", "Kernels of the device by time.", (report) => tables(report, "Kernels", "kernels")],
  ["streams", "Streams", "Look for streams that work one after the other and could overlap.", (report) => tables(report, "Streams", "streams")],
  ["ranks", "Ranks", "A strong colour is a rank that took longer in that step than the others did. A row of them is a straggler.", ranks],
  ["facts", "Facts", "Every quantity that verdicts are made from, or why it is not measured.", (report) => tables(report, "Facts", "facts")],
  ["words", "Words", "What the words of this page mean. Each is also shown where the pointer rests on it.", wordList],
  ["environment", "Environment", "Where and how the program ran. Compare it when two reports differ.", environment],
];
