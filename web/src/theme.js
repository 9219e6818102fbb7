/** Colours of a page: the one table of them (timeline/hues.js), and names that are not in it. --c11 to --c14 are faster, --c15 to --c18 slower (src/analysis/diff/flame.c). */
import { hasHue, hueOf, wordOf, BLUE, VIOLET, LIME, AMBER, TEAL, ROSE, GREEN, YELLOW } from "./timeline/hues.js";

/** By enum dwell_category. */
export const CATEGORY_NAMES = ["zone", "phase", "operator", "layer", "data", "action", "event", "handler", "function", "collector",
  "communication", "device", "checkpoint", "evaluation", "profiler"];
export const rangeWord = (category, label) => (category < 0 ? "thread" : wordOf(CATEGORY_NAMES[category] || "other", label));
export const rangeHue = (category, label) => hueOf(rangeWord(category, label));

const NAMED = [BLUE, VIOLET, LIME, AMBER, TEAL, ROSE, GREEN, YELLOW];

/** "garbage collection" of "start-up: garbage collection" and of "end: garbage collection"; a chart's word for the time between steps is the bar's. */
const plain = (part) => part.replace(/^(start-up|end|runs|others run): /, "").replace(/^until the next step$/, "between steps");
const isStriped = (part) => /^(has no|without a) CPU$/.test(part);
/** The table has one word for all imports, and one for the code of all libraries. */
const kindOf = (word) => (/^importing /.test(word) ? "importing" : /^code of /.test(word) ? "code of libraries" : word);
const hueOfPart = (word) => hueOf(kindOf(word));

export const colour = (hue) => `var(--c${hue})`;
/** A hue, and a darker one for a second word of it in one bar. No two of these 22 are near (tests/page/report_chromium.py). */
const SHADES = [colour, (hue) => `color-mix(in oklab,${colour(hue)} var(--shade),#000)`];

/** The colours of parts on a page, so that in no bar two of them have the same one. Names that the table of colours does not have get hues in their order.
 * @param {string[][]} bars the parts of each bar */
export function partColours(bars) {
  const given = new Map(), words = [...new Set(bars.flat().map(plain))].filter((word) => !isStriped(word)), all = bars.map((bar) => new Set(bar.map(plain)));
  const shaded = (hues) => SHADES.flatMap((shade) => hues.map(shade));
  for (const word of [...words.filter(isKnown), ...words.filter((word) => !isKnown(word))]) {
    const taken = new Set(all.filter((bar) => bar.has(word)).flatMap((bar) => [...bar].map((other) => given.get(other))));
    const own = shaded(isKnown(word) ? [hueOfPart(word)] : NAMED);
    given.set(word, own.find((one) => !taken.has(one)) ?? shaded(NAMED).find((one) => !taken.has(one)) ?? own[0]);
  }
  return (part) => given.get(plain(part)) ?? colour(hueOfPart(plain(part)));
}
const isKnown = (word) => hasHue(kindOf(word));

/** The background of a part of a bar: stripes where the thread had no CPU, which is no part of what shares are of. */
export const fill = (part, shade) => (isStriped(part) ? `repeating-linear-gradient(135deg, ${shade} 0 4px, var(--paper) 4px 7px)` : shade);
/** For a canvas, which does not know variables. */
export function canvasColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (variable) => style.getPropertyValue(variable).trim();
  return { hues: Array.from({ length: 19 }, (_, i) => get(`--c${i}`)), ink: get("--ink"), paper: get("--paper"), found: get("--found"),
    accent: get("--accent"), faint: get("--faint") };
}
