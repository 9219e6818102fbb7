/**
 * The timeline: every event of a trace on tracks, one below the other.
 *
 *     const timeline = mountTimeline(element, { source, fill: false });
 *
 * `source` is an EmbeddedSource or a ServerSource. `fill`: the timeline fills its element, and the
 * wheel always zooms; otherwise the wheel zooms when the timeline has the focus, so that a page around it
 * still scrolls. Colours come from the CSS variables in timeline.css.
 */
import { Tracks, ROW } from "./tracks.js";
import { Painter, RULER } from "./draw.js";
import { Details, element } from "./details.js";
import { counterAt, counterBeside } from "./counters.js";
import { firstAfter } from "./span.js";
import { duration, moment, number } from "./format.js";
import { byHue, wordOf } from "./hues.js";

const LABELS = 400, LABELS_MOVING = 120;
const LEAST_SPAN = 40;      // ns
const ZOOM = 1.35;
const LEAST_HEIGHT = 150, MOST_HEIGHT = 440; // of the tracks, where the timeline does not fill its element
const HELP = "Mouse: drag moves, Control and the wheel zoom, Shift and drag measures. Keys: W and S zoom, A and D move, 0 shows all, arrow keys go from event to event, Enter zooms to the event, " +
  "[ and ] set the begin and the end of the measured time at it, M measures it, / searches, N and P go to the next and the previous find, " +
  "C folds the thread, B goes back from where a flow led to, Escape clears.";

class Timeline {
  constructor(box, { source, fill = false }) {
    Object.assign(this, { box, source, fill });
    this.tracks = new Tracks(source.timeline);
    this.view = { begin: 0, end: source.timeline.end_ns };
    Object.assign(this, { selected: null, hovered: null, range: null, flows: [], hits: null, found: null, before: [], moving: 0 });
    this.build();
    this.painter = new Painter(this.canvas);
    this.restyle();
    source.changed = () => this.redraw();
    new ResizeObserver(() => this.redraw()).observe(this.scroller);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.restyle());
    this.listen();
    this.open();
    this.redraw();
  }

  /** Begins at the slowest step, if there are steps. */
  open() {
    const { slowest } = this.source.timeline;
    if (!slowest || slowest.end_ns <= slowest.begin_ns) return;
    const margin = (slowest.end_ns - slowest.begin_ns) * 0.04;
    this.show(slowest.begin_ns - margin, slowest.end_ns + margin);
    this.goal = slowest.track;
    this.select({ track: slowest.track, row: 0, begin: slowest.begin_ns, end: slowest.end_ns, name: slowest.name, count: 1, open: slowest.open,
                  text: `step ${slowest.name}, ${slowest.open ? "the last" : "the slowest"}`, kind: "step",
                  trackName: this.trackName(slowest.track) });
  }

  // ---- the elements ---------------------------------------------------------------------------

  build() {
    const id = `tl-help-${Math.random().toString(36).slice(2, 8)}`;
    const button = (text, label, action) => element("button", { type: "button", title: label, "aria-label": label, onclick: action }, text);
    this.search = element("input", { type: "search", placeholder: "Search names", "aria-label": "Search names of events", spellcheck: "false" });
    this.status = element("span", { class: "tl-status", role: "status" });
    this.state = element("span", { class: "tl-state" });
    this.canvas = element("canvas", { class: "tl-canvas", tabindex: "0", role: "application", "aria-label": "Timeline of events", "aria-describedby": id });
    this.spacer = element("div", { class: "tl-spacer" });
    this.scroller = element("div", { class: "tl-scroller" }, this.canvas, this.spacer);
    this.tip = element("div", { class: "tl-tip", "aria-hidden": "true" });
    this.legend = element("ul", { class: "tl-legend", "aria-label": "Colours" });
    this.stage = element("div", { class: "tl-stage" }, this.scroller, this.tip);
    this.details = new Details({ goTo: (track, ns, end) => this.goTo(track, ns, end), back: () => this.back(), name: (name) => this.source.timeline.names[name] ?? "",
                                 trackName: (track) => this.trackName(track) });
    this.box.classList.add("tl");
    this.box.classList.toggle("tl-fill", this.fill);
    this.box.replaceChildren(
      element("div", { class: "tl-bar", role: "toolbar", "aria-label": "Timeline" },
        button("All", "All of the run", () => this.fit()), button("\u2212", "Zoom out", () => this.zoom(ZOOM)), button("+", "Zoom in", () => this.zoom(1 / ZOOM)),
        button("\u2190", "Move left", () => this.pan(-0.25)), button("\u2192", "Move right", () => this.pan(0.25)),
        this.search, button("\u2191", "Previous find", () => this.find(false)), button("\u2193", "Next find", () => this.find(true)), this.status, this.state),
      element("details", { class: "tl-help" }, element("summary", {}, "Keys and mouse"), element("p", { id }, HELP)),
      this.legend, element("div", { class: "tl-body" }, this.stage, this.details.box));
  }

  restyle() {
    this.painter.setStyle();
    this.painter.setNames(this.source.timeline);
    this.showLegend();
    this.sayState();
    this.redraw();
  }

  /** What has which colour, of what the trace has. */
  showLegend() {
    const { names, kinds, kind_names: kindNames, counts } = this.source.timeline, words = new Set(this.tracks.list.some((track) => track.kind === "steps") ? ["step"] : []);
    names.forEach((name, i) => { if (!counts || counts[i]) words.add(wordOf(kindNames[kinds[i]], name)); });
    words.delete("mark");
    if ([...words].join() === this.shownWords) return;
    this.shownWords = [...words].join();
    this.legend.replaceChildren(...byHue(words).map(([hue, of]) => {
      const box = element("i");
      box.style.background = `var(--c${hue})`; // an attribute would be against the policy of `dwell view`
      return element("li", {}, box, of.join(", "));
    }));
  }

  sayState() {
    const values = this.source.timeline.counter_values_left_out;
    this.state.textContent = values ? `${number(values)} values of further counters are not shown` : "";
  }

  /** The source has a newer state. Keeps what is shown in place. */
  renew() {
    const whole = this.view.begin <= 0 && this.view.end >= this.endBefore;
    this.tracks.reset(this.source.timeline);
    this.sayState();
    this.painter.setNames(this.source.timeline);
    this.showLegend();
    if (this.hits) this.setSearch();
    if (whole || this.follow) this.view = whole ? { begin: 0, end: this.source.timeline.end_ns } : this.view;
    this.redraw();
  }

  get endBefore() {
    return this.lastEnd ?? this.source.timeline.end_ns;
  }

  trackName(id) {
    const track = this.tracks.byId.get(id)?.track;
    return track ? `${track.name}, ${track.group}` : "a track that is not shown";
  }

  // ---- drawing --------------------------------------------------------------------------------

  redraw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.frame();
    });
  }

  /** Tracks of little height leave no empty field below them. */
  fitHeight() {
    if (this.fill) return;
    const height = `${Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, this.tracks.height + RULER + 4))}px`;
    if (this.stage.style.minHeight !== height) this.stage.style.minHeight = height;
  }

  frame() {
    this.fitHeight();
    if (this.goal !== undefined && this.scroller.clientHeight) {
      this.spacer.style.height = `${this.tracks.height}px`;
      this.scroller.scrollTop = Math.max(0, (this.tracks.byId.get(this.goal)?.top ?? 0) - 4);
    }
    const { source, painter, view } = this, width = this.scroller.clientWidth, height = this.scroller.clientHeight;
    if (!width || !height) return;
    const from = performance.now();
    this.lastEnd = source.timeline.end_ns;
    painter.resize(width, height, devicePixelRatio || 1);
    const scroll = this.scroller.scrollTop, nsPerPixel = (view.end - view.begin) / width;
    let places = this.tracks.between(scroll, scroll + height - RULER);
    source.beginFrame?.();
    this.parts = new Map();
    let grown = false;
    for (const place of places) {
      const parts = source.parts(place.track.id, view.begin, view.end, nsPerPixel);
      this.parts.set(place.track.id, parts);
      place.collapsed = this.tracks.collapsed.has(place.track.id);
      for (const part of parts) grown = this.tracks.need(place.track.id, part.track.rows) || grown;
    }
    if (grown) {
      this.tracks.place();
      places = this.tracks.between(scroll, scroll + height - RULER);
      this.redraw();
    }
    this.spacer.style.height = `${Math.max(0, this.tracks.height + RULER - height)}px`;
    this.nsPerPixel = nsPerPixel;
    const moving = from - this.moving < 150;
    painter.draw({ ...view, scroll, places, parts: this.parts, hits: this.hits, selected: this.selected, hovered: this.hovered,
                   range: this.range, flows: this.placeFlows(scroll), unread: source.timeline.read_ns ?? Infinity, labels: moving ? LABELS_MOVING : LABELS });
    source.endFrame?.();
    if (!grown && !source.running) this.goal = undefined; // tracks above it have their height
    if (moving) this.settle();
    this.lastFrame = performance.now() - from;
  }

  /** Draws all labels once nothing moves any more. */
  settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.redraw(), 160);
  }

  /** The two ends of each flow of the selected event, as heights on the canvas. */
  placeFlows(scroll) {
    const at = (track, ns) => {
      const place = this.tracks.byId.get(track);
      if (!place) return null;
      const row = track === this.selected?.track && ns >= this.selected.begin && ns <= this.selected.end ? this.selected.row : this.deepest(track, ns);
      return { ns, y: RULER + place.rowsTop - scroll + Math.min(row, place.rows - 1) * ROW + ROW / 2 };
    };
    return this.flows.map(([fromTrack, from, toTrack, to]) => ({ from: at(fromTrack, from), to: at(toTrack, to) })).filter((flow) => flow.from && flow.to);
  }

  /** The deepest row of a track that has an event at a time. */
  deepest(id, ns) {
    let deepest = 0;
    for (const part of this.parts?.get(id) || [])
      for (let row = 0; ns >= part.from && ns < part.to && row < part.track.rows; row++) {
        const i = firstAfter(part.track, row, ns);
        if (i < part.track.first[row + 1] && part.track.begin[i] <= ns) deepest = row;
      }
    return deepest;
  }

  // ---- where one looks ------------------------------------------------------------------------

  show(begin, end) {
    const all = this.source.timeline.end_ns, length = Math.min(Math.max(end - begin, LEAST_SPAN), all * 1.1);
    begin = Math.min(Math.max(begin + (end - begin - length) / 2, -length * 0.5), all - length * 0.5);
    this.view = { begin, end: begin + length };
    this.hover(null); // what was under the pointer is elsewhere now
    this.moving = performance.now();
    this.redraw();
  }

  fit() {
    this.show(0, this.source.timeline.end_ns);
  }

  /** @param {number} part where to zoom, 0 to 1 of the width */
  zoom(factor, part = 0.5) {
    const { begin, end } = this.view, at = begin + (end - begin) * part;
    this.show(at - (at - begin) * factor, at + (end - at) * factor);
  }

  pan(part) {
    const length = this.view.end - this.view.begin;
    this.show(this.view.begin + length * part, this.view.end + length * part);
  }

  /** Makes an event visible, without a change of zoom if it is long enough to be seen. */
  reveal(event) {
    const length = event.end - event.begin, { begin, end } = this.view;
    if (length < (end - begin) / 400 || length > (end - begin) * 2) {
      const wide = Math.max(length * 8, LEAST_SPAN * 10), middle = (event.begin + event.end) / 2;
      this.show(middle - wide / 2, middle + wide / 2);
    } else if (event.end < begin || event.begin > end) {
      const middle = (event.begin + event.end) / 2;
      this.show(middle - (end - begin) / 2, middle + (end - begin) / 2);
    }
    const place = this.tracks.byId.get(event.track);
    if (!place) return;
    const y = place.rowsTop + event.row * ROW, height = this.scroller.clientHeight - RULER;
    this.spacer.style.height = `${Math.max(0, this.tracks.height - height)}px`;
    if (y < this.scroller.scrollTop || y + ROW > this.scroller.scrollTop + height) this.scroller.scrollTop = y - height / 3;
  }

  /** Follows a flow. `end` is the range there, or null: then the innermost one that is drawn. */
  goTo(track, ns, end) {
    if (this.selected) this.before.push({ event: this.selected, view: this.view, scroll: this.scroller.scrollTop });
    const { begin, end: last } = this.view, half = (last - begin) / 2;
    if (ns < begin || ns > last) this.show(ns - half, ns + half);
    this.tracks.collapsed.delete(track);
    const event = end ? this.namedEvent({ track, ...end }) : this.eventAt(track, this.deepest(track, ns), ns) ||
      { track, row: this.deepest(track, ns), begin: ns, end: ns, count: 1, text: "no range is there", kind: "", trackName: this.trackName(track) };
    this.tracks.need(track, event.row + 1);
    this.tracks.place();
    this.select(event);
    this.reveal(event);
  }

  /** Returns from where a flow led to. */
  back() {
    const before = this.before.pop();
    if (!before) return;
    this.show(before.view.begin, before.view.end);
    this.select(before.event);
    this.scroller.scrollTop = before.scroll;
  }

  /** An event as a server or a file names it. */
  namedEvent(found) {
    const { timeline } = this.source;
    return { track: found.track, row: found.row, begin: found.begin_ns, end: found.end_ns, name: found.name, count: found.count, text: String(timeline.names[found.name]),
             kind: timeline.kind_names[timeline.kinds[found.name]], trackName: this.trackName(found.track) };
  }

  // ---- events ---------------------------------------------------------------------------------

  describe(track, id, row, i) {
    const { timeline } = this.source, kind = this.tracks.kinds.get(id), name = track.name[i];
    return { track: id, row, begin: track.begin[i], end: track.end[i], name, count: track.count ? track.count[i] : 1, open: track.open?.has(i) ?? false,
             text: this.painter.textOf(track, i, kind === "steps"), kind: kind === "steps" ? "step" : timeline.kind_names[timeline.kinds[name]],
             trackName: this.trackName(id) };
  }

  /** The event of a row at a time, or one within `slack` ns of it. */
  eventAt(id, row, ns, slack = 0) {
    if (this.tracks.kinds.get(id) === "counter") return row ? null : counterAt(this.parts?.get(id), this.tracks.byId.get(id), this.trackName(id), ns);
    for (const part of this.parts?.get(id) || []) {
      if (ns < part.from - slack || ns >= part.to + slack || row >= part.track.rows) continue;
      const i = firstAfter(part.track, row, ns - slack);
      if (i < part.track.first[row + 1] && part.track.begin[i] <= ns + slack) return this.describe(part.track, id, row, i);
    }
    return null;
  }

  /** The event before or after another one in its row, among those that are drawn. */
  neighbour(event, forward) {
    if (event.kind === "counter") return counterBeside(this.parts?.get(event.track), this.tracks.byId.get(event.track), event.trackName, event, forward);
    let best = null;
    for (const part of this.parts?.get(event.track) || [])
      for (let i = part.track.first[event.row] ?? 0; event.row < part.track.rows && i < part.track.first[event.row + 1]; i++) {
        const begin = part.track.begin[i];
        if ((forward ? begin > event.begin : begin < event.begin) && (!best || (forward ? begin < best.begin : begin > best.begin)))
          best = this.describe(part.track, event.track, event.row, i);
      }
    return best;
  }

  lengthOf(event) {
    if (event.kind === "counter") return event.open ? `since ${moment(event.begin)}` : `from ${moment(event.begin)} for ${duration(event.end - event.begin)}`;
    return `${duration(event.end - event.begin)}${event.open ? ", not ended" : ""}`;
  }

  select(event) {
    this.selected = event;
    this.flows = [];
    if (!event) this.before = [];
    this.details.showEvent(event, null, this.before.at(-1)?.event.text);
    this.status.textContent = event ? `${event.text}, ${this.lengthOf(event)}, ${event.trackName ?? ""}` : this.found ?? "";
    this.redraw();
    if (event && event.count === 1 && event.kind !== "step" && event.kind !== "counter" && this.tracks.kinds.get(event.track) !== "async") this.fetchDetails(event);
  }

  async fetchDetails(event) {
    const more = await this.source.event(event.track, event.row, event.begin).catch(() => null);
    if (!more || this.selected !== event) return;
    this.flows = more.flows || [];
    this.details.showEvent(event, more, this.before.at(-1)?.event.text);
    this.redraw();
  }

  async measure(begin, end) {
    const range = end > begin ? { begin, end } : null;
    this.range = range;
    this.details.showTotals(range);
    this.redraw();
    if (!range) return;
    clearTimeout(this.summing);
    this.summing = setTimeout(async () => {
      const totals = await this.source.totals(Math.max(0, begin), Math.max(1, end), this.tracks.ids()).catch(() => null);
      if (this.range === range && totals) this.details.showTotals(range, totals);
    }, 120);
  }

  async find(forward) {
    const text = this.search.value.trim();
    if (!text) return;
    const from = this.selected ? this.selected.begin : forward ? this.view.begin - 1 : this.view.end;
    const found = await this.source.find(text, from, forward, this.tracks.ids()).catch((error) => ({ error }));
    if (!found || found.error) {
      this.status.textContent = found?.error ? `The search failed: ${found.error.message}` : `Nothing ${forward ? "further" : "earlier"} has "${text}" in its name${this.found ? `; ${this.found}` : ""}`;
      return;
    }
    const event = this.namedEvent(found);
    this.tracks.collapsed.delete(event.track);
    this.tracks.need(event.track, event.row + 1);
    this.tracks.place();
    this.select(event);
    this.reveal(event);
  }

  /** Shows which names have the text, and how many events they are. */
  setSearch() {
    const text = this.search.value.trim().toLowerCase(), { names, counts } = this.source.timeline;
    this.hits = text ? names.map((name) => String(name).toLowerCase().includes(text)) : null;
    this.found = null;
    if (this.hits && counts) {
      const events = counts.reduce((sum, count, i) => sum + (this.hits[i] ? count : 0), 0), of = new Set(names.filter((_, i) => this.hits[i] && counts[i])).size;
      this.found = events ? `${number(events)} event${events === 1 ? "" : "s"} of ${of === 1 ? "one name" : `${number(of)} names`}` : `no event has "${text}" in its name`;
    }
    this.status.textContent = this.found ?? "";
    this.redraw();
  }

  // ---- mouse and keys -------------------------------------------------------------------------

  /** What is at a place of the canvas. */
  under(pointer) {
    const box = this.canvas.getBoundingClientRect(), x = pointer.clientX - box.left, y = pointer.clientY - box.top;
    const ns = this.view.begin + x * this.nsPerPixel, found = y > RULER ? this.tracks.at(y - RULER + this.scroller.scrollTop) : null;
    const event = found && found.row >= 0 ? this.eventAt(found.place.track.id, found.place.track.kind === "counter" ? 0 : found.row, ns, this.nsPerPixel * 2) : null;
    return { x, y, ns, found, event };
  }

  listen() {
    const { canvas } = this;
    this.scroller.addEventListener("scroll", () => {
      this.hover(null);
      this.redraw();
    });
    canvas.addEventListener("wheel", (wheel) => this.onWheel(wheel), { passive: false });
    canvas.addEventListener("pointerdown", (pointer) => this.onDown(pointer));
    canvas.addEventListener("pointermove", (pointer) => this.onMove(pointer));
    canvas.addEventListener("pointerup", (pointer) => this.onUp(pointer));
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("dblclick", (pointer) => {
      const { event } = this.under(pointer);
      if (event) this.show(event.begin - (event.end - event.begin) * 0.05, event.end + (event.end - event.begin) * 0.05);
    });
    this.box.addEventListener("keydown", (key) => this.onKey(key));
    this.search.addEventListener("input", () => this.setSearch());
  }

  onWheel(wheel) {
    this.goal = undefined;
    if (!this.fill && !wheel.ctrlKey && document.activeElement !== this.canvas) return;
    const sideways = wheel.shiftKey || Math.abs(wheel.deltaX) > Math.abs(wheel.deltaY);
    wheel.preventDefault();
    if (wheel.altKey) this.scroller.scrollTop += wheel.deltaY;
    else if (sideways) this.pan((wheel.deltaX || wheel.deltaY) / this.scroller.clientWidth);
    else this.zoom(Math.exp(wheel.deltaY * 0.002), this.under(wheel).x / this.scroller.clientWidth);
  }

  onDown(pointer) {
    this.goal = undefined;
    if (pointer.button !== 0) return;
    const at = this.under(pointer);
    this.canvas.setPointerCapture(pointer.pointerId);
    this.drag = { x: pointer.clientX, y: pointer.clientY, ns: at.ns, view: this.view, scroll: this.scroller.scrollTop, measure: pointer.shiftKey || at.y <= RULER, moved: false };
  }

  onMove(pointer) {
    const { drag } = this;
    if (!drag) {
      this.hover(this.under(pointer), pointer);
      return;
    }
    const dx = pointer.clientX - drag.x, dy = pointer.clientY - drag.y;
    drag.moved ||= Math.abs(dx) + Math.abs(dy) > 3;
    if (!drag.moved) return;
    this.hover(null);
    if (drag.measure) {
      const { ns } = this.under(pointer);
      this.measure(Math.min(ns, drag.ns), Math.max(ns, drag.ns));
      return;
    }
    this.show(drag.view.begin - dx * this.nsPerPixel, drag.view.end - dx * this.nsPerPixel);
    if (dy !== drag.dy) this.scroller.scrollTop = drag.scroll - dy;
    drag.dy = dy;
  }

  onUp(pointer) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved) return;
    const { found, event } = this.under(pointer);
    if (drag.measure && !pointer.shiftKey) this.measure(0, 0);
    else if (found && found.row < 0) this.fold(found.place.track.id);
    else this.select(event);
  }

  fold(id) {
    this.tracks.toggle(id);
    this.status.textContent = `${this.trackName(id)}: ${this.tracks.collapsed.has(id) ? "folded" : "unfolded"}`;
    this.redraw();
  }

  hover(at, pointer) {
    const event = at?.event ?? null;
    if (event?.begin !== this.hovered?.begin || event?.row !== this.hovered?.row || event?.track !== this.hovered?.track) {
      this.hovered = event;
      this.redraw();
    }
    if (this.tip.hidden === Boolean(event)) this.tip.hidden = !event;
    if (!event) return;
    this.tip.textContent = `${event.text}\n${this.lengthOf(event)}${event.kind === "counter" ? "" : `, at ${moment(event.begin)}`}`;
    const box = this.tip.parentElement.getBoundingClientRect();
    this.tip.style.left = `${Math.min(pointer.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${Math.min(pointer.clientY - box.top + 16, box.height - this.tip.offsetHeight - 4)}px`;
  }

  onKey(key) {
    this.goal = undefined;
    if (key.target === this.search) {
      if (key.key === "Enter") this.find(!key.shiftKey);
      else if (key.key === "Escape") {
        this.search.value = "";
        this.setSearch();
        this.canvas.focus();
      }
      return;
    }
    if (key.target !== this.canvas || key.ctrlKey || key.metaKey || key.altKey) return;
    const actions = {
      w: () => this.zoom(1 / ZOOM), s: () => this.zoom(ZOOM), "+": () => this.zoom(1 / ZOOM), "-": () => this.zoom(ZOOM), a: () => this.pan(-0.15), d: () => this.pan(0.15),
      0: () => this.fit(), "/": () => this.search.focus(), n: () => this.find(true), p: () => this.find(false), c: () => this.selected && this.fold(this.selected.track),
      m: () => this.selected && this.measure(this.selected.begin, this.selected.end), "[": () => this.edge(true), "]": () => this.edge(false),
      ArrowRight: () => this.step(1, 0), ArrowLeft: () => this.step(-1, 0), ArrowDown: () => this.step(0, 1), ArrowUp: () => this.step(0, -1),
      Enter: () => this.selected && this.show(this.selected.begin - (this.selected.end - this.selected.begin) * 0.1, this.selected.end + (this.selected.end - this.selected.begin) * 0.1),
      PageDown: () => (this.scroller.scrollTop += this.scroller.clientHeight * 0.8), PageUp: () => (this.scroller.scrollTop -= this.scroller.clientHeight * 0.8),
      b: () => this.back(), Backspace: () => this.back(),
      Escape: () => {
        this.search.value = "";
        this.setSearch();
        this.select(null);
        this.measure(0, 0);
        this.hover(null);
      },
    };
    const action = actions[key.key.length === 1 ? key.key.toLowerCase() : key.key];
    if (!action) return;
    key.preventDefault();
    action();
  }

  /** Sets an edge of the measured time at the selected event. */
  edge(begins) {
    if (!this.selected) return;
    const { begin, end } = this.range || this.selected;
    if (begins) this.measure(this.selected.begin, Math.max(end, this.selected.end));
    else this.measure(Math.min(begin, this.selected.begin), this.selected.end);
  }

  /** Selects the next event in a direction: in its row, in the row below or above, or of the next track. */
  step(right, down) {
    const event = this.selected, middle = (this.view.begin + this.view.end) / 2;
    let next = null;
    if (!event) {
      for (const place of this.tracks.between(this.scroller.scrollTop, this.scroller.scrollTop + this.scroller.clientHeight))
        next ||= this.eventAt(place.track.id, 0, middle, (this.view.end - this.view.begin) / 2);
    } else if (right) {
      next = this.neighbour(event, right > 0);
    } else {
      const at = (event.begin + event.end) / 2, slack = (event.end - event.begin) / 2;
      next = this.eventAt(event.track, event.row + down, at, slack);
      for (let i = this.tracks.list.findIndex((track) => track.id === event.track) + down; !next && i >= 0 && i < this.tracks.list.length; i += down)
        next = this.eventAt(this.tracks.list[i].id, 0, at, Math.max(slack, (this.view.end - this.view.begin) / 2));
    }
    if (!next) return;
    this.select(next);
    this.reveal(next);
  }
}

/** @returns {Timeline} */
export function mountTimeline(box, options) {
  return new Timeline(box, options);
}
