/** Quantities as text, in the units of `dwell report`. */

const TIMES = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
const BYTES = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024], ["B", 1]];

function three(value) {
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, units) {
  const [unit, factor] = units.find((item) => Math.abs(value) >= item[1] * 0.9995) || units.at(-1);
  return factor === 1 ? `${Math.round(value)} ${unit}` : `${three(value / factor)} ${unit}`;
}

export const time = (ns) => (ns === 0 ? "0" : scaled(ns, TIMES));
export const bytes = (value) => (value === 0 ? "0" : scaled(value, BYTES));
export const percent = (ratio) => `${(ratio * 100).toFixed(1)}%`;
export const count = (value) => (Number.isInteger(value) ? value.toLocaleString("en-US") : value >= 1000 ? Math.round(value).toLocaleString("en-US") : three(value));

/** A share as dwell's sentences have it (src/analysis/rules/sentence.c), so that the first screen has one number for it. */
export const said = (ratio) => (ratio > 0 && ratio < 0.01 ? percent(ratio) : `${Math.round(ratio * 100)}%`);

/** A share that is small but not nothing is not "0.0%". */
export const share = (ratio) => (ratio > 0 && ratio < 0.001 ? "less than 0.1%" : percent(ratio));

/** The text of a difference with its sign, unless it is so small that its text is 0. */
export const sign = (value, text) => (/^-?0(\.0+)?(?![.\d])/.test(text) ? text.replace("-", "") : value > 0 ? `+${text}` : text);

/** A cell of a table by the unit of its column. */
export function cell(value, unit) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  switch (unit) {
    case "ns": return time(value);
    case "bytes": return bytes(value);
    case "ratio": return percent(value);
    case "times": return `${three(value)}×`;
    case "1/s": return `${count(value)}/s`;
    case "": return Number.isInteger(value) ? String(value) : count(value); /* ids and numbers of steps */
    default: return count(value);
  }
}

/** What a trace says of its environment is text; what ends in _ns is a time, memory is in bytes. */
export function setting(key, value) {
  if (!/^\d+(\.\d+)?$/.test(value)) return value;
  return key.endsWith("_ns") ? time(Number(value)) : /\bmemory(_allowed)?$|\bbytes$/.test(key) ? bytes(Number(value)) : value;
}
