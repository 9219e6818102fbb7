/** Colours of a page: the one table of them (timeline/hues.js), and names that are not in it. --c11 to --c14 are faster, --c15 to --c18 slower (src/analysis/diff/flame.c). */
import { hasHue, hueOf, wordOf, BLUE, VIOLET, LIME, AMBER, TEAL, ROSE, GREEN, YELLOW } from "./timeline/hues.js";

/** By enum dwell_category. */
export const CATEGORY_NAMES = ["zone", "phase", "operator", "layer", "data", "action", "event", "handler", "function", "collector",
  "communication", "device", "checkpoint", "evaluation", "profiler"];
export const rangeWord = (category, label) => (category < 0 ? "thread" : wordOf(CATEGORY_NAMES[category] || "other", label));
export const rangeHue = (category, label) => hueOf(rangeWord(category, label));

const NAMED = [BLUE, VIOLET, LIME, AMBER, TEAL, ROSE, GREEN, YELLOW];

/** "importing torch" of "start-up: importing torch" and of "end: importing torch"; "thread" of "waits: thread". */
const plain = (part) => part.replace(/^(start-up|end|runs|others run): /, "").replace(/^importing .*/, "importing");

/** Hues of parts; names that the table of colours does not have get, in their order, hues that no other part has. */
export function partHues(parts) {
  const given = new Map(), taken = new Set(parts.map(plain).filter(hasHue).map(hueOf));
  const free = NAMED.filter((hue) => !taken.has(hue)), hues = free.length ? free : NAMED;
  return (part) => {
    const word = plain(part);
    if (hasHue(word)) return hueOf(word);
    if (!given.has(word)) given.set(word, hues[given.size % hues.length]);
    return given.get(word);
  };
}

export const colour = (hue) => `var(--c${hue})`;
/** Of a part of a bar: stripes where the thread had no CPU, which is no part of what shares are of. */
export const fill = (part, hue) => (/^(has no|without a) CPU$/.test(part) ? `repeating-linear-gradient(135deg, ${colour(hue)} 0 4px, var(--paper) 4px 7px)` : colour(hue));
/** For a canvas, which does not know variables. */
export function canvasColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (variable) => style.getPropertyValue(variable).trim();
  return { hues: Array.from({ length: 19 }, (_, i) => get(`--c${i}`)), ink: get("--ink"), paper: get("--paper"), found: get("--found"),
    accent: get("--accent"), faint: get("--faint") };
}
