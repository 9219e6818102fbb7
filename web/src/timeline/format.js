/** Times and numbers as text. */

const UNITS = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

/** @param {number} ns @returns {string} a duration with three significant digits: "1.25 ms" */
export function duration(ns) {
  const size = Math.abs(ns);
  const [unit, factor] = UNITS.find((item) => size >= item[1]) || UNITS[3];
  const value = ns / factor;
  const digits = unit === "ns" || Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return `${value.toFixed(digits)} ${unit}`;
}

/** @returns {string} a point in time, exact enough to tell two pixels apart */
export function moment(ns, nsPerPixel = 1) {
  const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, nsPerPixel)))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

/** @returns {number} the distance of a ruler's marks: 1, 2 or 5 times a power of ten */
export function markDistance(nsPerPixel, pixels = 110) {
  const least = Math.max(1, nsPerPixel * pixels), power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((distance) => distance >= least);
}

/** @returns {string} a count with separators */
export function number(value) {
  return value.toLocaleString("en-US");
}
