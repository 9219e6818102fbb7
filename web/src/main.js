/** The page of a report: reads the data, shows the first screen at once, and panels when they come near. */
import { h, name } from "./dom.js";
import { bytes, time } from "./format.js";
import { rowsOf } from "./table.js";
import { readSteps } from "./steps.js";
import { partHues } from "./theme.js";
import { firstScreen } from "./first.js";
import { PANELS } from "./panels.js";
import { isRanked } from "./ranks.js";

class Report {
  constructor(data) {
    this.data = data;
    this.ids = new Set();
  }
  tables(view) { return this.data.tables.filter((table) => table.view === view); }
  table(view, part) { return this.data.tables.find((table) => table.view === view && (!part || table.part === part)); }
  has(id) { return this.ids.has(id); }
  /** @returns {number|null} a measured quantity */
  fact(wanted) {
    const table = this.table("facts"), at = table?.columns.findIndex((column) => column.name === "value");
    return table?.rows.find((row) => row[0] === wanted)?.[at] ?? null;
  }
  /** All names that a part of a step has somewhere on the page. */
  partNames() {
    const rows = [this.table("overview", "breakdown"), this.table("overview", "wall")].flatMap((table) => table?.rows ?? []);
    return [...rows.map((row) => String(row[0])), ...(this.data.steps?.parts ?? [])];
  }
}

/** Whether a panel has anything to show, without making it. */
function isThere(id, report, steps) {
  if (id === "tree") return report.data.flame.nodes.length > 0;
  if (id === "timeline") return Boolean(report.data.timeline?.tracks?.length);
  if (id === "environment") return report.data.environment.length > 0;
  if (id === "ranks") return isRanked(steps) || report.tables(id).some((table) => table.rows.length > 0);
  if (id === "memory") return report.data.memory.length > 0;
  if (id === "flops") return report.tables(id).some((table) => table.rows.length > 0 && !(table.totals && rowsOf({ ...table, rows: [table.totals] })[0].flops === 0)
    && table.part !== "uncounted");
  if (id === "gc") return report.tables(id).some((table) => table.rows.length > 0);
  return report.tables(id === "events" ? "events" : id).some((table) => table.rows.length > 0) || (id === "events" && report.tables("handlers").length > 0);
}

/** The content is made when the panel comes near, is linked to, or is printed. */
function panel([id, title, look, make], report, steps, pending) {
  const section = h("section", { class: "panel", id, "aria-labelledby": `${id}-title`, tabindex: "-1" },
    h("h2", { id: `${id}-title` }, title), h("p", { class: "look" }, look));
  section.classList.add("waiting");
  pending.set(section, () => {
    pending.delete(section);
    section.classList.remove("waiting");
    section.append(...[make(report, steps)].flat(3).filter(Boolean));
  });
  return section;
}

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

function header(data) {
  const { trace } = data, created = trace.created_s ? new Date(trace.created_s * 1000) : null;
  return h("header", { class: "top" },
    h("p", { class: "brand" }, "dwell"),
    h("p", { class: "what" }, name(trace.program || baseName(trace.paths[0] || "")), h("span", { title: trace.paths.slice(0, 20).join("\n") }, [trace.files > 1 ? `${trace.files} files` : name(baseName(trace.paths[0] || "")), bytes(trace.bytes), time(trace.end_ns),
      created ? created.toISOString().replace("T", " ").slice(0, 16) + " UTC" : ""].filter(Boolean).map((part, i) => [i ? ", " : "", part]).flat())));
}

function navigation(panels) {
  const list = h("ul", {}, [["summary", "Summary"], ...panels].map(([id, title]) => h("li", {}, h("a", { href: `#${id}` }, title))));
  return h("nav", { "aria-label": "Panels" }, h("details", { open: matchMedia("(min-width: 64em)").matches }, h("summary", {}, "Panels"), list));
}

function watchPlace(nav) {
  const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-12% 0px -80% 0px" });
  links.forEach((_, id) => { const section = document.getElementById(id); if (section) seen.observe(section); });
}

/**
 * Marks that change the direction of text are shown as text: an element around a name does not stop all of them. The JSON has
 * them as escapes; after another backslash it is a text that looks like one.
 */
const visible = (json) => json.replace(/(\\+)u(?:202[a-e]|206[6-9])/gi, (all, slashes) => (slashes.length % 2 ? `\\${all}` : all));

function start() {
  const data = JSON.parse(visible(document.getElementById("data").textContent)), report = new Report(data);
  const steps = readSteps(data.steps), hueOf = partHues(report.partNames()), pending = new Map();
  const panels = PANELS.filter(([id]) => isThere(id, report, steps));
  report.ids = new Set(panels.map(([id]) => id));
  const sections = panels.map((item) => panel(item, report, steps, pending)), nav = navigation(panels);
  document.title = `${data.trace.program || data.trace.paths[0] || "trace"} - dwell report`;
  document.getElementById("page").replaceChildren(header(data), nav, h("main", { id: "main", tabindex: "-1" }, firstScreen(report, steps, hueOf), sections,
    h("footer", {}, "Made by dwell. This file holds all of its data and asks for nothing from a network.")));
  const near = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    near.unobserve(entry.target);
    pending.get(entry.target)?.();
  }), { rootMargin: "600px" });
  sections.forEach((section) => near.observe(section));
  report.showTime = (begin, end) => {
    const section = document.getElementById("timeline");
    pending.get(section)?.();
    section.scrollIntoView();
    report.timeline().show(begin - (end - begin) * 0.04, end + (end - begin) * 0.04);
    section.querySelector("canvas")?.focus({ preventScroll: true });
  };
  const all = () => [...pending.values()].forEach((make) => make());
  const linked = () => { const target = document.getElementById(location.hash.slice(1)); if (pending.has(target)) { all(); target.scrollIntoView(); } };
  addEventListener("beforeprint", all);
  addEventListener("hashchange", linked);
  addEventListener("keydown", (event) => { if ((event.ctrlKey || event.metaKey) && event.key === "f") all(); });
  watchPlace(nav);
  linked();
  performance.mark("dwell-ready");
}

start();
