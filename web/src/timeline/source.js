/**
 * Where a timeline gets its events: from the report itself, or by span from `dwell view`.
 *
 * Both have the same functions. parts() answers at once with what is there; `changed` is called
 * when there is more.
 *
 * @typedef {object} Part events of a track for a time, which may come from a span of a longer time
 * @property {import("./span.js").Track} track
 * @property {number} from
 * @property {number} to
 * @property {number} resolution ns; shorter events may be merged
 */
import { decodeCounter } from "./counters.js";
import { decodeSpan, firstAfter } from "./span.js";

const LEVELS_UP = 14;       // how much coarser a tile may be that stands in for a missing one
const TILE_PIXELS = 512;
const TRACKS_PER_REQUEST = 6;
const MOST_REQUESTS = 4;
const MOST_TILES = 600;
const MOST_SUMMED = 200;

/** Adds the events of a row to the sums of their names, and to what is within the events of the row above. */
function addRow({ track, from, to }, row, isFirst, isNested, sums) {
  const sumOf = (name) => sums.get(name) || sums.set(name, { name, count: 0, ns: 0, within: 0 }).get(name);
  let above = row && isNested ? firstAfter(track, row - 1, from) : 0;
  for (let i = firstAfter(track, row, from); i < track.first[row + 1] && track.begin[i] < to; i++) {
    const sum = sumOf(track.name[i]), ns = Math.min(to, track.end[i]) - Math.max(from, track.begin[i]);
    if (track.begin[i] >= from || isFirst) sum.count += track.count ? track.count[i] : 1;
    sum.ns += ns;
    if (!row || !isNested) continue;
    while (above < track.first[row] && track.end[above] < track.end[i]) above++;
    if (above < track.first[row] && track.begin[above] <= track.begin[i]) sumOf(track.name[above]).within += ns;
  }
}

/** Everything that is in the report. */
export class EmbeddedSource {
  constructor(timeline) {
    this.timeline = timeline;
    this.spans = timeline.spans.map(decodeSpan).sort((a, b) => a.resolution - b.resolution);
    this.counters = new Map((timeline.counters || []).map((counter) => [counter.track, decodeCounter(counter, 0)]));
    this.changed = () => {};
    this.complete = true;
    this.nested = new Set(timeline.tracks.filter((track) => track.kind === "thread" || track.kind === "handlers").map((track) => track.id));
    this.steps = new Set(timeline.tracks.filter((track) => track.kind === "steps").map((track) => track.id));
  }

  /** The coarsest span that shows each pixel, otherwise the finest one. */
  best(at, nsPerPixel) {
    const here = this.spans.filter((span) => span.begin <= at && at < span.end);
    return here.filter((span) => span.resolution <= nsPerPixel).pop() || here[0];
  }

  /** @returns {Part[]} */
  parts(id, begin, end, nsPerPixel) {
    if (this.counters.has(id)) return [{ track: this.counters.get(id), from: begin, to: end, resolution: 0 }];
    const cuts = new Set([begin]), parts = [];
    for (const span of this.spans)
      for (const cut of [span.begin, span.end]) if (cut > begin && cut < end) cuts.add(cut);
    const sorted = [...cuts].sort((a, b) => a - b).concat(end);
    for (let i = 0; i + 1 < sorted.length; i++) {
      const span = this.best(sorted[i], nsPerPixel), track = span?.tracks.get(id);
      if (track) parts.push({ track, from: sorted[i], to: sorted[i + 1], resolution: span.resolution });
    }
    return parts;
  }

  /** The time in a selection by name, of what the report holds. Only rows of threads are nested. */
  async totals(begin, end, ids) {
    const sums = new Map();
    let exact = true;
    for (const id of ids.filter((track) => !this.steps.has(track)))
      for (const part of this.parts(id, begin, end, 0)) {
        exact &&= !part.resolution;
        for (let row = 0; row < part.track.rows; row++) addRow(part, row, part.from === begin, this.nested.has(id), sums);
      }
    const names = [...sums.values()].map(({ within, ...sum }) => ({ ...sum, self_ns: Math.max(0, sum.ns - within) })).sort((a, b) => b.self_ns - a.self_ns || b.ns - a.ns);
    return { begin_ns: begin, end_ns: end, exact, names: names.slice(0, MOST_SUMMED), left_out: Math.max(0, names.length - MOST_SUMMED) };
  }

  async event() { return null; }

  /** The next event whose name contains the text, among those that the report holds. */
  async find(text, ns, forward, ids) {
    const wanted = text.toLowerCase(), hits = this.timeline.names.map((name) => String(name).toLowerCase().includes(wanted));
    let best = null;
    for (const id of ids.filter((track) => !this.steps.has(track)))
      for (const span of this.spans) {
        const track = span.tracks.get(id);
        for (let row = 0; track && row < track.rows; row++)
          for (let i = track.first[row]; i < track.first[row + 1]; i++) {
            const begin = track.begin[i];
            if (!hits[track.name[i]] || (forward ? begin <= ns : begin >= ns)) continue;
            if (!best || (forward ? begin < best.begin_ns : begin > best.begin_ns))
              best = { track: id, row, begin_ns: begin, end_ns: track.end[i], name: track.name[i], count: track.count ? track.count[i] : 1 };
          }
      }
    return best;
  }
}

/** Asks the server for tiles of 512 pixels at levels of 2^z ns a pixel, and keeps the last ones. */
export class ServerSource {
  /** @param {import("./server.js").Server} server */
  constructor(timeline, server) {
    this.server = server;
    this.changed = () => {};
    this.running = 0;
    this.reset(timeline);
  }

  /** A new state of the trace. */
  reset(timeline) {
    this.timeline = timeline;
    this.tiles = new Map();
    this.wanted = new Map();
    this.complete = timeline.read_ns >= timeline.end_ns;
  }

  tile(level, index) {
    const key = `${level}:${index}`;
    let tile = this.tiles.get(key);
    if (!tile) {
      tile = { key, level, index, tracks: new Map(), asked: new Set(), stale: false };
      this.tiles.set(key, tile);
    }
    return tile;
  }

  /** To be called before the parts of a frame are asked for: only what it needs is requested. */
  beginFrame() {
    this.wanted = new Map();
  }

  /** @returns {Part[]} */
  parts(id, begin, end, nsPerPixel) {
    const level = Math.max(0, Math.ceil(Math.log2(nsPerPixel))), width = TILE_PIXELS * 2 ** level, parts = [];
    for (let index = Math.floor(begin / width); index * width < end; index++) {
      const tile = this.tile(level, index), from = Math.max(begin, index * width), to = Math.min(end, (index + 1) * width);
      const track = tile.tracks.get(id);
      if (track !== undefined) {
        if (track) parts.push({ track: track.data, from, to, resolution: track.resolution });
        if (tile.stale && !tile.asked.has(id)) this.want(tile, id);
        continue;
      }
      if (!tile.asked.has(id)) this.want(tile, id);
      parts.push(...this.standIn(id, level, index, from, to));
    }
    return parts;
  }

  /** A tile of a coarser level that has this track, or two of the next finer one. */
  standIn(id, level, index, from, to) {
    for (let up = 1; up <= LEVELS_UP; up++) {
      const track = this.tiles.get(`${level + up}:${Math.floor(index / 2 ** up)}`)?.tracks.get(id);
      if (track) return [{ track: track.data, from, to, resolution: track.resolution }];
    }
    const parts = [], half = TILE_PIXELS * 2 ** (level - 1);
    for (let i = index * 2; level && i < index * 2 + 2; i++) {
      const track = this.tiles.get(`${level - 1}:${i}`)?.tracks.get(id);
      if (track) parts.push({ track: track.data, from: Math.max(from, i * half), to: Math.min(to, (i + 1) * half), resolution: track.resolution });
    }
    return parts.filter((part) => part.from < part.to);
  }

  want(tile, id) {
    const wanted = this.wanted.get(tile.key) || { tile, ids: [] };
    wanted.ids.push(id);
    this.wanted.set(tile.key, wanted);
  }

  /** To be called when a frame is drawn: sends what it lacked. */
  endFrame() {
    for (const [key, { tile, ids }] of this.wanted) {
      while (ids.length && this.running < MOST_REQUESTS) this.request(tile, ids.splice(0, TRACKS_PER_REQUEST));
      if (!ids.length) this.wanted.delete(key);
    }
    if (this.tiles.size > MOST_TILES) this.forget();
  }

  async request(tile, ids) {
    const tiles = this.tiles, width = TILE_PIXELS * 2 ** tile.level;
    this.running++;
    for (const id of ids) tile.asked.add(id);
    try {
      const span = await this.server.ask("span", { begin: tile.index * width, end: (tile.index + 1) * width, pixels: TILE_PIXELS, tracks: ids.join(",") });
      if (tiles === this.tiles) // otherwise it is of an older state of the trace
        for (const id of ids) {
          const data = span.tracks.get(id);
          tile.tracks.set(id, data ? { data, resolution: span.resolution } : null);
        }
    } catch (error) {
      this.failed?.(error);
    }
    this.running--;
    this.changed();
  }

  /** Drops the tiles that were made first. */
  forget() {
    for (const key of this.tiles.keys()) {
      if (this.tiles.size <= MOST_TILES / 2) return;
      this.tiles.delete(key);
    }
  }

  /** There is a newer state: more has been read, or the program has written more. What may have changed
   * is asked for again, and shown as it was until then. */
  renew(timeline) {
    const before = Math.min(this.timeline.read_ns, this.timeline.end_ns);
    if (this.timeline.names.some((name, i) => name !== timeline.names[i])) return this.reset(timeline);
    this.timeline = timeline;
    this.complete = timeline.read_ns >= timeline.end_ns;
    for (const tile of this.tiles.values())
      if ((tile.index + 1) * TILE_PIXELS * 2 ** tile.level > before) {
        tile.stale = true;
        tile.asked = new Set();
      }
  }

  async totals(begin, end, ids) {
    const shown = ids.length <= 256 ? { tracks: ids.join(",") } : {};
    return this.server.ask("totals", { begin: Math.floor(begin), end: Math.ceil(end), ...shown });
  }

  async event(track, row, begin) {
    return this.server.ask("event", { track, row, begin });
  }

  async find(text, ns, forward) {
    return this.server.ask("find", { text, ns: Math.max(0, Math.floor(ns)), ...(forward ? {} : { backward: 1 }) });
  }
}
