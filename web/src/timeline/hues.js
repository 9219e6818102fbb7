/**
 * The one table of colours: what has a colour on a page has the same one in each part of it. The colours themselves are the CSS
 * variables --c0 to --c10, those of dwell's pictures (src/output/pictures/style.c).
 */
export const GREY = 0, STONE = 1, BLUE = 2, GREEN = 3, AMBER = 4, YELLOW = 5, TEAL = 6, VIOLET = 7, ROSE = 8, LIME = 9, SLATE = 10;

/** By hue: kinds of ranges, parts of a step, a run and a device, families of kernels, kinds of memory. */
const WORDS = [
  ["thread", "other", "idle", "idle: nothing submitted", "idle: before its first work", "idle: not known why", "unknown", "not known", "memory set", "mark", "between steps", "until the next step", "waits: for what is not known", "waits of unknown cause"],
  ["function", "functions", "python", "Python", "Python of libraries", "interpreter", "runtime", "other names", "smaller ones", "sort and scan", "idle: host late", "named"],
  ["zone", "forward", "elementwise", "parameter", "steps", "of the step"],
  ["layer", "layers", "checkpoint", "compute", "normalisation", "code of libraries"],
  ["operator", "operators", "matmul", "convolution", "activation", "own code", "its own code"],
  ["data", "copy", "input", "reading and writing files", "file"],
  ["device", "evaluation", "pooling", "temporary", "embedding", "idle: work is queued"],
  ["phase", "backward", "attention", "optimizer state", "idle: waits for another stream", "importing"],
  ["communication", "gradient", "idle: synchronising call", "waiting for threads", "waiting for answers", "waits: thread", "waits: lock", "spins"],
  ["action", "event", "handler", "optimizer", "reduction", "softmax", "idle: first call"],
  ["step", "collector", "garbage collection", "profiler", "idle: launch latency", "has no CPU", "without a CPU", "smaller parts", "operating system"],
];
const HUES = new Map(WORDS.flatMap((words, hue) => words.map((word) => [word, hue])));

/** Parts that a phase may be, which then has the part's colour. */
const PHASES = ["forward", "backward", "optimizer", "data", "evaluation", "checkpoint", "communication"];

/** The word by which a range has its colour: its kind, or of a phase such as "forward" its name. */
export const wordOf = (kind, name) => (kind === "phase" && PHASES.includes(name) ? name : kind);
export const hasHue = (word) => HUES.has(word);
export const hueOf = (word) => HUES.get(word) ?? GREY;

/** @returns {[number, string[]][]} a legend: each colour once, with its words */
export function byHue(words) {
  const found = new Map();
  for (const word of words) found.set(hueOf(word), [...(found.get(hueOf(word)) ?? []), word]);
  return [...found];
}
