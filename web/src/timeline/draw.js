/**
 * Draws a timeline on a canvas.
 *
 * Events are not drawn one by one. Each visible row is a line of pixels in an array, into which the
 * events write their colours; the lines are then stretched to the height of a row. So a frame takes
 * about the same time for ten events and for a hundred thousand.
 */
import { counterHead, drawCounter, drawSample } from "./counters.js";
import { hueOf, wordOf } from "./hues.js";
import { firstAfter } from "./span.js";
import { ROW, HEAD, GROUP } from "./tracks.js";
import { markDistance, moment, duration } from "./format.js";

export const RULER = 24;
const LEAST_LABEL = 26; // pixels
const LEAST_TICK = 5;   // pixels from one mark's tick to the next
const MOST_TICKS = 2000;
const MOST_LABEL = 512; // pixels; labels that are wider are equals

const COLOURS = 11;

/** A CSS colour as the four bytes of a pixel. */
function pixelOf(colour, context) {
  context.fillStyle = "#000";
  context.fillStyle = colour;
  const value = parseInt(context.fillStyle.slice(1), 16);
  return ((255 << 24) | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** A colour between two, as pixels. */
function blend(a, b, part) {
  let result = 255 << 24;
  for (const shift of [0, 8, 16])
    result |= Math.round(((a >> shift) & 255) * part + ((b >> shift) & 255) * (1 - part)) << shift;
  return result >>> 0;
}

/** Where labels may be written in a frame. The arrays are used again in each frame: a frame leaves nothing to collect. */
class Labels {
  constructor() {
    this.room(1024);
    this.tracks = [];
    this.wide = new Uint32Array(MOST_LABEL + 1);
    this.clear();
  }

  room(size) {
    const grown = (before) => {
      const made = new Float64Array(size);
      if (before) made.set(before);
      return made;
    };
    for (const name of ["x", "y", "width", "item"]) this[name] = grown(this[name]);
  }

  clear() {
    this.count = 0;
    this.wide.fill(0);
  }

  add(x, y, width, track, item) {
    const i = this.count++;
    if (i === this.x.length) this.room(i * 2);
    this.x[i] = x;
    this.y[i] = y;
    this.width[i] = width;
    this.item[i] = item;
    this.tracks[i] = track;
    this.wide[Math.min(MOST_LABEL, width | 0)]++;
  }

  /** Chooses the widest labels, `most` of them: those of `least` pixels, and `spare` that are a pixel narrower. */
  choose(most) {
    this.least = MOST_LABEL + 1;
    this.spare = most;
    while (this.least > 0 && this.wide[this.least - 1] <= this.spare) this.spare -= this.wide[--this.least];
  }

  /** To be called once for each label. */
  isChosen(i) {
    const width = Math.min(MOST_LABEL, this.width[i] | 0);
    return width >= this.least || (width === this.least - 1 && this.spare-- > 0);
  }
}

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.strip = document.createElement("canvas");
    this.stripContext = this.strip.getContext("2d");
    this.widths = new Map();
    this.labels = new Labels();
  }

  /** Reads the colours from the style, after it has changed. */
  setStyle() {
    const style = getComputedStyle(this.canvas), get = (name) => style.getPropertyValue(name).trim();
    this.paper = get("--tl-paper");
    this.ink = get("--tl-ink");
    this.faint = get("--tl-faint");
    this.line = get("--tl-line");
    this.accent = get("--tl-accent");
    this.found = get("--tl-found");
    this.font = `11px ${get("--tl-font") || "system-ui, sans-serif"}`;
    const paper = pixelOf(this.paper, this.context);
    this.palette = [];
    for (let i = 0; i < COLOURS; i++) {
      const colour = pixelOf(get(`--c${i}`), this.context);
      this.palette.push([colour, blend(colour, paper, 0.82), blend(colour, paper, 0.66)]);
    }
    this.foundPixel = pixelOf(this.found, this.context);
    this.colourOf = null;
  }

  /** The colour of each name: that of its kind, in one of three tints. */
  setNames(timeline) {
    this.names = timeline.names;
    this.widths.clear();
    this.colourOf = new Uint32Array(timeline.names.length);
    timeline.names.forEach((name, i) => {
      const shades = this.palette[hueOf(wordOf(timeline.kind_names[timeline.kinds[i]], name))];
      let hash = 7;
      for (let k = 0; k < Math.min(40, String(name).length); k++) hash = (hash * 31 + String(name).charCodeAt(k)) | 0;
      this.colourOf[i] = shades[Math.abs(hash) % 3];
    });
  }

  resize(width, height, ratio) {
    if (this.width === width && this.height === height && this.ratio === ratio) return;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  /**
   * @param {object} scene begin, end (ns), scroll (pixels), places, parts (id -> Part[]), hits (by name,
   * or null), selected, hovered, range, flows, labels (how many at most)
   */
  draw(scene) {
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.fillStyle = this.paper;
    context.fillRect(0, 0, this.width, this.height);
    this.scale = this.width / (scene.end - scene.begin);
    this.drawGrid(scene);
    this.ticks = [];
    this.labels.clear();
    this.drawRows(scene);
    for (const place of scene.places) if (place.track.kind === "counter") drawCounter(this, scene, place, RULER);
    this.drawTicks();
    this.drawHeads(scene);
    this.drawLabels(scene.labels);
    this.drawRange(scene);
    for (const flow of scene.flows) this.drawFlow(scene, flow);
    if (scene.hovered) this.drawOutline(scene, scene.hovered, this.ink, 1);
    if (scene.selected) this.drawOutline(scene, scene.selected, this.accent, 2);
    this.drawRuler(scene);
  }

  x(scene, ns) {
    return (ns - scene.begin) * this.scale;
  }

  drawGrid(scene) {
    const distance = markDistance(1 / this.scale);
    this.context.fillStyle = this.line;
    for (let ns = Math.ceil(scene.begin / distance) * distance; ns < scene.end; ns += distance)
      this.context.fillRect(Math.round(this.x(scene, ns)), RULER, 1, this.height - RULER);
  }

  drawRows(scene) {
    const width = this.canvas.width, rows = scene.places.reduce((sum, place) => sum + place.rows, 0);
    if (!rows) return;
    if (this.strip.width !== width || this.strip.height < rows) {
      this.strip.width = width;
      this.strip.height = Math.ceil(rows / 16) * 16;
      this.image = this.stripContext.createImageData(width, this.strip.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0, 0, rows * width);
    let at = 0;
    for (const place of scene.places) {
      for (const part of scene.parts.get(place.track.id) || [])
        for (let row = 0; row < Math.min(place.rows, part.track.rows); row++)
          this.fillRow(scene, place, part, row, (at + row) * width);
      at += place.rows;
    }
    this.stripContext.putImageData(this.image, 0, 0, 0, 0, width, rows);
    this.context.imageSmoothingEnabled = false;
    at = 0;
    for (const place of scene.places) {
      const y = RULER + place.rowsTop - scene.scroll;
      this.context.drawImage(this.strip, 0, at, width, place.rows, 0, y, this.width, place.rows * ROW);
      this.context.fillStyle = this.paper;
      for (let row = 1; row <= place.rows; row++) this.context.fillRect(0, y + row * ROW - 1, this.width, 1);
      at += place.rows;
    }
  }

  fillRow(scene, place, part, row, offset) {
    const { track } = part, pixels = this.pixels, scale = this.scale * this.ratio, steps = place.track.kind === "steps";
    const left = Math.max(0, Math.floor((part.from - scene.begin) * scale));
    const right = Math.min(this.canvas.width, Math.ceil((part.to - scene.begin) * scale));
    const least = LEAST_LABEL / this.scale, hits = steps ? null : scene.hits;
    for (let i = firstAfter(track, row, part.from), last = track.first[row + 1]; i < last && track.begin[i] < part.to; i++) {
      const name = track.name[i];
      let colour = steps ? this.palette[hueOf("step")][name & 1] : this.colourOf[name];
      if (hits) colour = hits[name] ? this.foundPixel : this.palette[0][2];
      let from = Math.floor((track.begin[i] - scene.begin) * scale), to = Math.floor((track.end[i] - scene.begin) * scale);
      if (to - from >= 3) to--;
      from = Math.max(from, left);
      to = Math.min(Math.max(to, from + 1), right);
      for (let x = from; x < to; x++) pixels[offset + x] = colour;
      if (track.end[i] === track.begin[i]) this.addTick(this.x(scene, track.begin[i]), RULER + place.rowsTop - scene.scroll + row * ROW);
      const seen = Math.min(track.end[i], scene.end) - Math.max(track.begin[i], scene.begin);
      if (seen >= least && Math.max(track.begin[i], scene.begin) >= part.from)
        this.labels.add(Math.max(0, this.x(scene, track.begin[i])), RULER + place.rowsTop - scene.scroll + row * ROW, seen * this.scale, track, steps ? -1 - i : i);
    }
  }

  /** A mark has no length: a small triangle shows where it is. */
  addTick(x, y) {
    const { ticks } = this, before = ticks[ticks.length - 1];
    if (ticks.length < MOST_TICKS && !(before && before.y === y && x - before.x < LEAST_TICK)) ticks.push({ x, y });
  }

  drawTicks() {
    const context = this.context;
    context.fillStyle = this.ink;
    context.beginPath();
    for (const { x, y } of this.ticks) {
      context.moveTo(x - 3, y);
      context.lineTo(x + 4, y);
      context.lineTo(x + 0.5, y + 6);
      context.closePath();
    }
    context.fill();
  }

  textOf(track, i, steps) {
    const count = track.count ? track.count[i] : 1;
    if (steps) return count > 1 ? `${count} steps` : `step ${track.name[i]}`;
    return count > 1 ? `${this.names[track.name[i]]} and ${count - 1} more` : String(this.names[track.name[i]]);
  }

  /** Writes the widest labels; text that is too long is cut. */
  drawLabels(most) {
    const { context, labels } = this;
    context.font = this.font;
    context.textBaseline = "middle";
    context.fillStyle = this.ink;
    labels.choose(most);
    for (let i = 0; i < labels.count; i++) {
      if (!labels.isChosen(i)) continue;
      const item = labels.item[i], steps = item < 0, text = this.cut(this.textOf(labels.tracks[i], steps ? -1 - item : item, steps), labels.width[i] - 8);
      if (text) context.fillText(text, labels.x[i] + 4, labels.y[i] + ROW / 2);
    }
  }

  widthOf(text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      if (this.widths.size < 20000) this.widths.set(text, width);
    }
    return width;
  }

  /** As much of a text as there is space for; "" if that is less than three letters. */
  cut(whole, space) {
    const text = whole.slice(0, 200), wide = this.widthOf(text);
    if (wide <= space) return text;
    for (let letters = Math.min(text.length - 1, Math.floor((text.length * space) / wide)); letters >= 3; letters--) {
      const part = `${text.slice(0, letters)}\u2026`;
      if (this.widthOf(part) <= space) return part;
    }
    return "";
  }

  drawHeads(scene) {
    const context = this.context;
    context.textBaseline = "middle";
    for (const place of scene.places) {
      const y = RULER + place.top - scene.scroll;
      if (place.heads) {
        context.fillStyle = this.line;
        context.fillRect(0, y, this.width, 1);
        context.fillStyle = this.ink;
        context.font = `600 ${this.font}`;
        context.fillText(place.track.group, 6, y + GROUP / 2 + 1);
      }
      context.fillStyle = this.faint;
      context.font = this.font;
      context.fillText(`${place.collapsed ? "\u25b8" : "\u25be"} ${place.track.kind === "counter" ? counterHead(place.track) : place.track.name}`, 6, y + (place.heads ? GROUP : 0) + HEAD / 2 + 1);
    }
  }

  drawRuler(scene) {
    const context = this.context, distance = markDistance(1 / this.scale);
    context.fillStyle = this.paper;
    context.fillRect(0, 0, this.width, RULER);
    context.fillStyle = this.line;
    context.fillRect(0, RULER - 1, this.width, 1);
    context.fillStyle = this.faint;
    context.font = this.font;
    context.textBaseline = "middle";
    for (let ns = Math.ceil(scene.begin / distance) * distance; ns < scene.end; ns += distance) {
      context.fillRect(Math.round(this.x(scene, ns)), RULER - 6, 1, 6);
      context.fillText(moment(ns, distance), this.x(scene, ns) + 4, RULER / 2);
    }
    if (scene.unread < scene.end) {
      const x = Math.max(0, this.x(scene, scene.unread));
      context.fillStyle = this.line;
      context.globalAlpha = 0.5;
      context.fillRect(x, RULER, this.width - x, this.height);
      context.globalAlpha = 1;
    }
  }

  drawRange(scene) {
    if (!scene.range) return;
    const context = this.context, x = this.x(scene, scene.range.begin), width = Math.max(1, this.x(scene, scene.range.end) - x);
    context.fillStyle = this.accent;
    context.globalAlpha = 0.14;
    context.fillRect(x, RULER, width, this.height);
    context.globalAlpha = 1;
    context.fillRect(x, RULER, 1, this.height);
    context.fillRect(x + width, RULER, 1, this.height);
    const text = duration(scene.range.end - scene.range.begin);
    context.font = `600 ${this.font}`;
    context.textBaseline = "middle";
    const wide = context.measureText(text).width + 10, at = Math.min(Math.max(0, x + width / 2 - wide / 2), this.width - wide);
    context.fillRect(at, RULER + 3, wide, 16);
    context.fillStyle = this.paper;
    context.fillText(text, at + 5, RULER + 11);
  }

  drawOutline(scene, event, colour, thickness) {
    const place = scene.places.find((item) => item.track.id === event.track);
    if (!place || event.row >= place.rows) return;
    if (event.kind === "counter") {
      drawSample(this, scene, place, RULER, event, colour);
      return;
    }
    const x = this.x(scene, event.begin), width = Math.max(3, this.x(scene, event.end) - x);
    this.context.strokeStyle = colour;
    this.context.lineWidth = thickness;
    this.context.strokeRect(Math.max(-4, x), RULER + place.rowsTop - scene.scroll + event.row * ROW + 0.5,
                            Math.min(width, this.width + 8), ROW - 2);
  }

  drawFlow(scene, flow) {
    const context = this.context, [x1, x2] = [this.x(scene, flow.from.ns), this.x(scene, flow.to.ns)];
    const middle = Math.max(20, Math.abs(x2 - x1) / 2);
    context.strokeStyle = context.fillStyle = this.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x1, flow.from.y);
    context.bezierCurveTo(x1 + middle, flow.from.y, x2 - middle, flow.to.y, x2, flow.to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(x2, flow.to.y);
    context.lineTo(x2 - 7, flow.to.y - 4);
    context.lineTo(x2 - 7, flow.to.y + 4);
    context.fill();
  }
}
