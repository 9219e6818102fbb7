/**
 * Spans as the server and the report have them (src/output/page/span.h), decoded into typed arrays.
 *
 * @typedef {object} Track events of one track in a span, row after row
 * @property {number} rows
 * @property {Uint32Array} first by row: its first event; one more entry at the end
 * @property {Float64Array} begin ns
 * @property {Float64Array} end ns
 * @property {Uint32Array} name of a track of steps: the step's number
 * @property {Uint32Array|null} count events that were merged; null: each is one
 * @property {Set<number>|null} open events without an end
 */
import { decodeCounter } from "./counters.js";

/** @returns {Track} */
function decodeTrack(from, spanBegin) {
  const size = from.begin.length, rows = from.rows.length;
  const first = new Uint32Array(rows + 1), begin = new Float64Array(size), end = new Float64Array(size);
  for (let row = 0, i = 0; row < rows; row++) {
    let at = spanBegin;
    first[row] = i;
    for (let last = i + from.rows[row]; i < last; i++) {
      begin[i] = at + from.begin[i];
      at = end[i] = begin[i] + from.duration[i];
    }
    first[row + 1] = i;
  }
  return { rows, first, begin, end, name: Uint32Array.from(from.name),
           count: from.count ? Uint32Array.from(from.count) : null, open: from.open ? new Set(from.open) : null };
}

/** @returns {{begin: number, end: number, resolution: number, read: number, tracks: Map<number, Track>}} */
export function decodeSpan(from) {
  const tracks = new Map(from.tracks.map((track) => [track.track, decodeTrack(track, from.begin_ns)]));
  for (const counter of from.counters || []) tracks.set(counter.track, decodeCounter(counter, from.begin_ns));
  return { begin: from.begin_ns, end: from.end_ns, resolution: from.resolution_ns,
           read: from.read_ns ?? Infinity, tracks };
}

/** The memory of a span's arrays, each once: some arrays of counters are the same one. */
export function buffersOf(span) {
  const buffers = new Set();
  for (const track of span.tracks.values())
    for (const part of Object.values(track)) if (ArrayBuffer.isView(part)) buffers.add(part.buffer);
  return [...buffers];
}

/** The first event of a row that ends after `ns`; the row's end if there is none. */
export function firstAfter(track, row, ns) {
  let low = track.first[row], high = track.first[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.end[middle] > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}
