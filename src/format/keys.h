/*
 * Names that writers and readers of a trace share: keys of facts (META entries) and names of
 * counters. The last fact of a key holds.
 *
 * Probes, which see public headers only, include this one too: it has no code.
 */
#ifndef DW_FORMAT_KEYS_H
#define DW_FORMAT_KEYS_H

/* ---- facts of dwell itself ------------------------------------------------------------------- */

#define DW_KEY_RANK "dwell.rank"                   /* JSON: a number */
#define DW_KEY_STATUS "dwell.status"               /* JSON: how `dwell run` saw the program end */
#define DW_KEY_COST_RANGE_NS "dwell.cost_range_ns" /* JSON: what a range costs on this machine */
#define DW_KEY_DELAY_NS "dwell.delay_ns"           /* JSON: how long the main thread was ready to
                                                    * run and got no CPU */
#define DW_KEY_STEP_ON "dwell.step_on"             /* text: the NAME of `dwell run --step-on` */
#define DW_KEY_FUNCTIONS "dwell.functions"         /* "not asked for": the program has the functions
                                                    * probe, and functions were not to be recorded */

/* ---- facts of Python's and PyTorch's probes ---------------------------------------------------- */

#define DW_KEY_PYTHON_FUNCTIONS "python.functions" /* text: why functions are not recorded as asked */
#define DW_KEY_TORCH_VERSION "torch.version"       /* text */
#define DW_KEY_TORCH_DEVICE "torch.device"         /* "cuda": an optimizer works on that device */
#define DW_KEY_TORCH_CALLBACK_NS "torch.callback_ns" /* JSON: what an operator costs beyond PyTorch */
#define DW_KEY_TORCH_HOOK_NS "torch.hook_ns"       /* JSON: what a layer's hooks cost */
#define DW_KEY_TORCH_STEP_ON "torch.step_on"       /* what became of --step-on NAME: "there", "steps" */
#define DW_KEY_TORCH_STEP_ON_CANDIDATES "torch.step_on.candidates" /* text: names that would do */

/* ---- counters of data loading ------------------------------------------------------------------ */

#define DW_COUNTER_SAMPLES "batch samples"         /* in the range that makes a batch: its samples */
#define DW_COUNTER_READY_BATCHES "DataLoader queue" /* when a batch is asked for: how many are ready */

#endif
