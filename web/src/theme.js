/** Colours: those of dwell's pictures (src/output/pictures/style.c), as the CSS variables --c0 to --c10. --c11 to --c14 are faster, --c15 to --c18 slower (src/analysis/diff/flame.c). */

const GREY = 0, STONE = 1, BLUE = 2, GREEN = 3, AMBER = 4, YELLOW = 5, TEAL = 6, VIOLET = 7, ROSE = 8, LIME = 9, SLATE = 10;

/** By enum dwell_category, as flamegraph.c has them. */
const CATEGORIES = [BLUE, VIOLET, AMBER, GREEN, YELLOW, LIME, LIME, LIME, STONE, SLATE, ROSE, TEAL, VIOLET, VIOLET, SLATE];
export const CATEGORY_NAMES = ["zone", "phase", "operator", "layer", "data", "action", "event", "handler", "function", "collector",
  "communication", "device", "checkpoint", "evaluation", "profiler"];
export const categoryHue = (category) => (category < 0 ? GREY : CATEGORIES[category] ?? STONE);

const PARTS = { data: YELLOW, forward: BLUE, backward: VIOLET, optimizer: LIME, python: STONE, operators: AMBER, layers: GREEN,
  functions: STONE, collector: SLATE, profiler: SLATE, communication: ROSE, device: TEAL, checkpoint: GREEN, evaluation: TEAL,
  compute: GREEN, copy: YELLOW, "idle: host late": STONE, "idle: synchronising call": ROSE, "idle: waits for another stream": VIOLET,
  "idle: launch latency": SLATE, "idle: nothing submitted": GREY, other: GREY, idle: GREY, "other names": STONE, "smaller ones": STONE };
const NAMED = [BLUE, VIOLET, LIME, AMBER, TEAL, ROSE, GREEN, YELLOW];

/** Hues of the parts of a step; names of the program get, in their order, hues that no other part has. */
export function partHues(parts) {
  const given = new Map(), taken = new Set(parts.filter((part) => Object.hasOwn(PARTS, part)).map((part) => PARTS[part]));
  const free = NAMED.filter((hue) => !taken.has(hue)), hues = free.length ? free : NAMED;
  return (part) => {
    if (Object.hasOwn(PARTS, part)) return PARTS[part];
    if (!given.has(part)) given.set(part, hues[given.size % hues.length]);
    return given.get(part);
  };
}

const MEMORY = { parameter: BLUE, "optimizer state": VIOLET, gradient: ROSE, input: YELLOW, activation: AMBER, temporary: TEAL };
export const memoryHue = (kind) => MEMORY[kind] ?? GREY;

export const colour = (hue) => `var(--c${hue})`;
/** For a canvas, which does not know variables. */
export function canvasColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (variable) => style.getPropertyValue(variable).trim();
  return { hues: Array.from({ length: 19 }, (_, i) => get(`--c${i}`)), ink: get("--ink"), paper: get("--paper"), found: get("--found"),
    accent: get("--accent"), faint: get("--faint") };
}
