/** What the words of a page mean: shown where the pointer rests on one, and in the last panel. */
import { h } from "./dom.js";

const WORDS = {
  /* parts of a step and of a run */
  "data": "The loop waits for its next batch, or makes it.",
  "forward": "The model computes its result.",
  "backward": "Gradients are computed.",
  "optimizer": "Parameters are updated by their gradients.",
  "python": "The interpreter runs, and no operator does.",
  "operators": "Operators outside forward, backward and optimizer.",
  "layers": "Layers outside any named range.",
  "functions": "Functions outside any named range.",
  "collector": "Python's garbage collector.",
  "profiler": "What dwell itself takes.",
  "communication": "Ranks exchange data, or wait for one another to do so.",
  "checkpoint": "The program saves its state.",
  "evaluation": "The model is tested between steps.",
  "idle": "The thread uses no CPU, waits for none, and is in no named range.",
  "other": "No range is open.",
  "between steps": "From the end of a step to the begin of the next one.",
  "has no CPU": "The thread could run, and other threads or programs had the CPUs. It is no share of the loop.",
  "named": "In ranges that the program named.",
  "device": "Named work of a device, or a call that waits for it.",
  "start-up": "Before the first step.",
  "end": "After the last step.",
  "runs": "The thread uses a CPU, by samples for what is named.",
  "spins": "The thread uses a CPU to wait for another thread.",
  "others run": "The thread waits for threads of the program, which do what is named.",
  "waits": "The thread waits for what is named, and needs no CPU.",
  "unknown": "The kernel's account of the thread was not read.",
  "without a CPU": "The thread could run, and other threads or programs had the CPUs.",
  "steps": "All steps of the loop, or their number.",
  "smaller parts": "Parts that are too short for a row.",
  "not known": "Neither samples nor the kernel's account say what the thread did.",
  "compute": "The device computes.",
  "copy": "The device copies, and does not compute.",
  "idle: host late": "The device has done everything before the host submits more.",
  "idle: synchronising call": "The host waited for the device, and so submitted nothing.",
  "idle: launch latency": "From the call that submits work to its begin.",
  "idle: waits for another stream": "The work is submitted and waits for work of another stream.",
  "idle: first call": "The host is in its first call of a kernel, which loads code.",
  "idle: work is queued": "The work is submitted, and nothing shows what it waits for.",
  "idle: not known why": "What the host did then was not recorded.",
  "idle: before its first work": "From the begin of the recording to the device's first work.",
  "idle: nothing submitted": "Before the device's first work and after its last.",
  /* columns */
  "self": "Without what is called within.",
  "total": "With everything that is called within.",
  "calls": "How often it was called.",
  "calls/step": "How often it is called in a step, on average.",
  "self/step": "Self time in a step, on average.",
  "mean": "The average of single calls.",
  "p50": "Half are shorter: the median.",
  "p95": "95 of 100 are shorter.",
  "p99": "99 of 100 are shorter.",
  "std": "Standard deviation of single calls.",
  "+-": "Half of the 95% interval of the share.",
  "95% between": "The share lies between these in 95 of 100 such measurements.",
  "samples": "A look at what a thread does, each time it has used the CPU, or waited, for a certain time.",
  "of the loop": "Share of the whole loop, from the first step to the last, without the time for which it had no CPU.",
  "of wall": "Share of the run on the wall clock.",
  "of median": "Length by the length of the median step.",
  "until next": "From its begin to the begin of the next step.",
  "what took longer": "The name that took longer than it usually does, and by how much.",
  "cpu": "Share of the time in which the thread used a CPU.",
  "busy": "Time in which the thread used a CPU or was in a range.",
  "lost": "Records that could not be kept.",
  "drift": "How much a time changes from the first iteration to the last.",
  "saves at most": "The most that a step, or a run without steps, can become shorter: if the cause goes entirely.",
  "self memory": "Allocated less freed, without inner layers; less than 0 where more is freed.",
  "memory": "Allocated less freed; less than 0 where more is freed.",
  "until the next step": "From the end of a step to the begin of the next one: evaluation, checkpoints, data and all else that is between.",
  "OP_ID": "The place of the operator in the iteration.",
  "at the peak": "What was allocated when memory was at its highest.",
  "live": "Allocated and not freed.",
  "FLOPs": "Arithmetic operations, counted from the shapes of operators.",
  "occupancy": "Share of the places for threads of a device's processors that a kernel uses.",
  /* figures and kinds */
  "a step": "Average time from the begin of a step to the begin of the next one.",
  "median": "Half of the steps are shorter.",
  "95% are below": "95 of 100 steps are shorter.",
  "99% are below": "99 of 100 steps are shorter.",
  "waits for data": "Share of the loop in which it waits for its next batch.",
  "peak memory": "The most that was allocated at once, of what the program allocated by what dwell sees.",
  "operator": "A function of the framework that computes with tensors, such as a convolution.",
  "layer": "A module of the model.",
  "phase": "A named part of a step, such as forward.",
  "zone": "A range that the program named.",
  "action": "A named range that is repeated.",
  "function": "A function of the program or of a library.",
  "own code": "A function of the program's own files.",
  "code of libraries": "A function of a library or an installed package.",
  "interpreter": "Python's interpreter, and its own modules.",
  "operating system": "The kernel, on behalf of the program.",
  "runtime": "A call of the device's runtime, such as a launch.",
  "thread": "A thread of a process.",
  "step": "One iteration of the loop.",
  "parameter": "Memory of what the model learns.",
  "optimizer state": "Memory that the optimizer keeps for each parameter.",
  "gradient": "Memory of gradients.",
  "activation": "Memory of results of the forward pass, which backward needs.",
  "input": "Memory of batches.",
  "temporary": "Memory that is freed within the same pass.",
};

/** @returns {string|null} what a word of the page means */
export const meaning = (word) => WORDS[keyOf(word)] ?? null;

/** Of "waits: lock" and "start-up: importing torch" the word before the colon, unless the whole has a meaning of its own. */
const keyOf = (word) => (Object.hasOwn(WORDS, word) ? word : Object.hasOwn(WORDS, word.split(": ")[0]) ? word.split(": ")[0] : null);

/** The words that a page has, in the order of the alphabet. */
export function wordsOf(report) {
  const said = new Set();
  for (const table of report.data.tables) {
    for (const column of table.columns) if (!column.hidden) said.add(column.label);
    if (["overview", "phases", "device", "memory"].includes(table.view)) for (const row of table.rows) row.slice(0, 2).forEach((text) => said.add(text));
  }
  for (const { kinds, kind } of report.data.flames ?? []) for (const of of kind ?? []) said.add(kinds[of]);
  for (const kind of report.data.timeline?.kinds ?? []) said.add(report.data.timeline.kind_names[kind]);
  return [...new Set([...said].map((word) => (typeof word === "string" ? keyOf(word) : null)))].filter(Boolean).sort((a, b) => a.localeCompare(b));
}

export const wordList = (report) => h("dl", { class: "words" }, wordsOf(report).map((word) => h("div", {}, h("dt", {}, word), h("dd", {}, meaning(word)))));
