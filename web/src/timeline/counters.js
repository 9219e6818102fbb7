/** Counters in the timeline: a value holds until the next one, so a counter is a line of steps. */
import { ROW } from "./tracks.js";

/** The samples of a counter in a span (src/output/page/span.h), as a track without rows. */
export function decodeCounter(from, spanBegin) {
  const begin = new Float64Array(from.at.length), last = Float64Array.from(from.last);
  for (let i = 0, at = spanBegin; i < begin.length; i++) at = begin[i] = at + from.at[i];
  return { rows: 0, first: new Uint32Array(1), begin, end: begin, name: new Uint32Array(0), count: null, open: null,
           last, low: from.low ? Float64Array.from(from.low) : last, high: from.high ? Float64Array.from(from.high) : last };
}

/** The last sample at or before a time; -1: there is none. */
export function sampleBefore(samples, ns) {
  let low = 0, high = samples.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (samples.begin[middle] > ns) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

export function valueText(value, unit = "") {
  const size = Math.abs(value);
  const text = Number.isInteger(value) && size < 1e7 ? String(value) : size && (size < 1e-3 || size >= 1e7) ? value.toExponential(3) : value.toPrecision(5).replace(/\.?0+$/, "");
  return unit ? `${text} ${unit}` : text;
}

/** The name of a counter's track, with the range of its values. */
export function counterHead({ name, low, high, unit, not_finite: notFinite }) {
  const values = low === high ? valueText(low, unit) : `${valueText(low)} to ${valueText(high, unit)}`;
  return `${name}: ${values}${notFinite ? `, and ${notFinite} that are no finite numbers` : ""}`;
}

/** The height of a value below the top of a track's rows. */
function heightOf(place, value) {
  const { low, high } = place.track, space = place.rows * ROW - 7;
  return 3 + (high > low ? (1 - (value - low) / (high - low)) * space : space / 2);
}

export function drawCounter(painter, scene, place, top) {
  const { context, scale } = painter, y = top + place.rowsTop - scene.scroll;
  context.strokeStyle = context.fillStyle = painter.accent;
  context.lineWidth = 1.25;
  for (const { track, from, to } of scene.parts.get(place.track.id) || []) {
    let i = Math.max(0, sampleBefore(track, from)), drawn = false, before = 0;
    context.beginPath();
    for (; i < track.begin.length && track.begin[i] < to; i++) {
      const x = (Math.max(track.begin[i], from) - scene.begin) * scale, at = y + heightOf(place, track.last[i]);
      if (drawn) context.lineTo(x, before);
      if (drawn) context.lineTo(x, at);
      else context.moveTo(x, at);
      if (track.low[i] < track.high[i]) {
        const high = y + heightOf(place, track.high[i]);
        context.fillRect(x, high, 1.25, Math.max(1, y + heightOf(place, track.low[i]) - high));
      }
      before = at;
      drawn = true;
    }
    if (drawn) context.lineTo((to - scene.begin) * scale, before);
    context.stroke();
  }
}

/** A dot at a value. */
export function drawSample(painter, scene, place, top, event, colour) {
  const { context } = painter;
  context.fillStyle = colour;
  context.beginPath();
  context.arc(painter.x(scene, Math.max(event.begin, scene.begin)), top + place.rowsTop - scene.scroll + heightOf(place, event.value), 3.5, 0, 7);
  context.fill();
}

/** A sample as an event, which can be selected. It lasts until the next one. */
function describe(samples, place, trackName, i) {
  const { track } = place, next = samples.begin[i + 1];
  return { track: track.id, row: 0, begin: samples.begin[i], end: next ?? samples.begin[i], name: 0, count: 1, open: next === undefined, kind: "counter",
           value: samples.last[i], least: samples.low[i], most: samples.high[i], unit: track.unit,
           text: `${track.name}: ${valueText(samples.last[i], track.unit)}`, trackName };
}

/** The value of a counter at a time, among the samples that are drawn. */
export function counterAt(parts, place, trackName, ns) {
  for (const part of parts || []) {
    if (ns < part.from || ns >= part.to) continue;
    const i = sampleBefore(part.track, ns);
    if (i >= 0) return describe(part.track, place, trackName, i);
  }
  return null;
}

/** The sample before or after another one, among those that are drawn. */
export function counterBeside(parts, place, trackName, event, forward) {
  let best = null;
  for (const part of parts || [])
    for (let i = 0; i < part.track.begin.length; i++) {
      const begin = part.track.begin[i];
      if ((forward ? begin > event.begin : begin < event.begin) && (!best || (forward ? begin < best.begin : begin > best.begin)))
        best = describe(part.track, place, trackName, i);
    }
  return best;
}
