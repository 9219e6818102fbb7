/*
 * Facts: measured quantities of a training loop, each with its unit, denominator and source.
 *
 * Rules, the view `facts`, JSON, comparisons and pages use facts and compute no sums of their own.
 * facts.def is the list. A fact that cannot be computed from the trace is "not measured", and not
 * 0; it says what to record. A share does not exceed its denominator.
 *
 * A loop consists of the steps of one thread. Facts of steps cover its steady steps. These are the
 * steps that were recorded and ended, without the warm-up and without outliers. The warm-up consists of
 * first steps that took longer; outliers are rare later steps that did. Both have facts of their
 * own. Durations and counts are medians over the steady steps. Shares are computed from sums over
 * the steady steps, so that they add up.
 */
#pragma once

#include "account/account.h"
#include "model/core/model.h"
#include "model/steps/iterations.h"

enum dw_fact_id {
#define FACT(id, name, unit, denominator, meaning, source) DW_FACT_##id,
#include "facts/facts.def"
#undef FACT
	DW_FACT_COUNT
};

enum dw_fact_unit {
	DW_FACT_RATIO,   /* 0 to 1 */
	DW_FACT_CHANGED, /* CHANGE in facts.def: a ratio of any sign */
	DW_FACT_TIMES,   /* a factor */
	DW_FACT_NS,
	DW_FACT_COUNTED, /* COUNT in facts.def */
	DW_FACT_BYTES,
	DW_FACT_PER_SECOND,
};

/* The framework of the program, as far as the trace shows it. Remedies use its words. */
enum dw_facts_framework {
	DW_FACTS_C,         /* a program with dwell's probes */
	DW_FACTS_PYTHON,    /* Python without PyTorch's probe */
	DW_FACTS_PYTORCH,
	DW_FACTS_LIGHTNING,
	DW_FACTS_IGNITE,
	DW_FACTS_JAX,
	DW_FACTS_FRAMEWORK_COUNT
};

#define DW_FACTS_SMALL_NS 20e3 /* an operator that takes no longer is small: about what calling one from Python costs */

/* Of the machine's CPUs, used by other programs: from here on they decide when a thread runs. */
#define DW_FACTS_OTHERS 0.25

struct dw_fact {
	bool measured;
	const char *missing; /* if not measured: what to record ("dwell run --shapes"), or why it cannot
	                      * be measured; otherwise NULL */
	double value;
	double low, high;    /* 95% interval of the median over steps, or over blocks of steps, by order
	                      * statistics; both equal the value if it is no median over steps */
	size_t samples;      /* number of steps or other instances that the value was computed from */
	uint32_t symbol;     /* index into dw_model_symbols() of the name that belongs to the fact, or
	                      * DW_NO_INDEX */
	const char *name;    /* name of the symbol, or NULL */
	const char *where;   /* "train.py:41", or "train.py:41 and train.py:44"; or NULL */
	const char *note;    /* a further text, which the meaning in facts.def describes; or NULL */
};

struct dw_facts {
	struct dw_fact at[DW_FACT_COUNT];
	size_t loop, loop_count; /* the facts are of loop number `loop`, from 0 */
	uint32_t thread;         /* its thread: index into the source's threads; DW_NO_INDEX: the trace
	                          * has no steps, and facts of loops and steps are not measured */
	enum dw_facts_framework framework;
	enum dw_iteration_kind iterations; /* what the steps of these facts are */
	const char *iteration_name;        /* of a period: what begins each; otherwise NULL */
	const struct dw_facts *after;      /* of what follows the last step, if that is the largest part of the run; or NULL */
	bool follows;                      /* these are facts of what follows the last step of a run */
	bool one_process;                  /* of a whole run: it is the run of one process, and others take longer */
	const struct dw_account *account;  /* of the same loop */
	double device_cost_ns;   /* what recording adds to a step, which the device's facts are without; 0: they have it, if there is any */
	bool foreign;            /* another profiler wrote the trace */
	/* They are of this model. NULL: they were made without one, and what tables of the loops show is here, or not known. */
	struct dw_model *model;
	const struct dw_loop_parts *parts;
	const struct dw_loop_operators *operators;
};

/*
 * The facts of the main loop, which is the loop of the thread with the most steps. Computed once
 * for a model, which owns the result. NULL with `error` if memory ran out.
 */
const struct dw_facts *dw_facts(struct dw_model *model, struct dwell_error *error);
/* The same for each loop; `loop` must be less than loop_count. 0 is the main loop. */
const struct dw_facts *dw_facts_of_loop(struct dw_model *model, size_t loop, struct dwell_error *error);

/* The model whose profile by name the facts use if functions were recorded: the threads with steps,
 * from the first step of the main loop to its last one (struct dw_step_outline). A caller that
 * computes other profiles too gets it from the same walk. */
struct dw_model *dw_facts_loop_model(struct dw_model *model, uint64_t start_ns, uint64_t end_ns,
                                     struct dwell_error *error);

/* A part of the mean steady step of all loops: the part of a fact from step.profiler to
 * step.unnamed, or ranges under a name that the program gave. */
struct dw_steady_part {
	const char *name;
	double ns;           /* mean time in a step */
	bool own;            /* the program gave the name */
};

struct dw_steady {
	size_t steps;        /* steady steps of all loops */
	size_t warm_up, outliers; /* steps that were left out */
	double ns;           /* their mean length */
	struct dw_steady_part *parts; /* they sum to it; descending, but time without a name is last */
	size_t part_count;
	bool unnamed;        /* the last part is time without a name */
};

/* With one loop, the parts are those of its facts. NULL with `error` if memory ran out. */
const struct dw_steady *dw_facts_steady(struct dw_model *model, struct dwell_error *error);

/*
 * Where the time of the loops goes, from the begin of each step to the next begin (struct dw_iteration_times). Parts
 * that lie in steps and between them are one. Parts of which the records of all steps know how long they are, as data,
 * are exact. The others are those of the recorded steps, for all of the steps' time. If the thread of a single loop had
 * no CPU for some time, that is in no part.
 */
struct dw_loop_parts {
	size_t steps;        /* iterations of all loops */
	double ns;           /* their mean; the parts and no_cpu_ns sum to it */
	double no_cpu_ns;    /* in an iteration; shares are of the rest */
	double scale;        /* for how many ns of all steps one of the counted steps stands, in parts that are not exact */
	struct dw_steady_part *parts; /* of an iteration; descending, but time without a name is last */
	size_t part_count;
	bool unnamed;
};

#define DW_PART_BETWEEN_STEPS "between steps" /* the part of the time between them that nothing explains */

/* Of a run that is one iteration: the parts of dw_facts_steady(). NULL with `error` if memory ran out. */
const struct dw_loop_parts *dw_facts_loop_parts(struct dw_model *model, struct dwell_error *error);

/*
 * What operators have of a mean iteration of all loops: of the counted steps, for all of the steps' time, and between
 * the steps. As the parts, without the time for which the thread had no CPU. Without steps there is nothing.
 */
struct dw_loop_operators {
	double *calls, *ns;  /* by symbol of dw_model_symbols(): of an iteration; `ns` is self time */
	size_t count;
	double whole_ns;     /* of an iteration: what shares are of; 0: there are no counted steps */
};

/* Walks the records, unless the profile by name of the counted steps is known. NULL with `error` if memory ran out. */
const struct dw_loop_operators *dw_facts_loop_operators(struct dw_model *model, struct dwell_error *error);

/* How much longer a step takes while devices are recorded, from a run in which they are recorded in bursts (bursts.c). */
struct dw_facts_bursts {
	bool known;              /* the others below are; else too few stretches alternate, or everything was recorded */
	double ns, low_ns, high_ns; /* with its 95% interval; ns is below 0 where chance decides */
	size_t stretches;        /* recorded ones that were compared */
	size_t recorded_steps, other_steps;
};
/* Computed once for a model. NULL with `error` if memory ran out. */
const struct dw_facts_bursts *dw_facts_bursts(struct dw_model *model, struct dwell_error *error);
/* Whether recording surely makes a step longer, by no more than a device is idle in a recorded one: then the difference can be taken
 * out of its idle time. */
bool dw_facts_bursts_add(const struct dw_facts_bursts *bursts, double idle_ns);

/* What recording cost: an estimate, and one figure for all that report it (cost.c). */
struct dw_facts_cost {
	double share;    /* of the loop, as the parts' shares; without steps, of the run. NaN: not known */
	double ns;       /* of a mean iteration, or of the run */
	double part_ns;  /* of it: the part "profiler" of dw_facts_loop_parts(). The rest lies in other parts */
	bool cupti;      /* CUPTI recorded devices. Its own part is in the rest only if dw_facts_bursts() knows it */
};
/* Computed once for a model. NULL with `error` if memory ran out. */
const struct dw_facts_cost *dw_facts_cost(struct dw_model *model, struct dwell_error *error);
/* Of a run without steps that took so long. */
struct dw_facts_cost dw_facts_cost_of_run(struct dw_model *model, double wall_ns, struct dwell_error *error);

/* The fast step of the steady steps (model/steps/fast_step.h); with several loops their mean. */
struct dw_fast_step {
	double ns;
	double *of_symbols; /* ns of its self time by symbol of dw_model_symbols(); one more: in no range */
};

/* Computed once for a model. NULL with `error` if memory ran out. */
const struct dw_fast_step *dw_facts_fast_step(struct dw_model *model, struct dwell_error *error);

/* What facts.def says about a fact. */
struct dw_fact_kind {
	const char *name, *denominator, *meaning, *source;
	enum dw_fact_unit unit;
};
const struct dw_fact_kind *dw_fact_kind(enum dw_fact_id id);
/* The part of a device's time that a fact is: "idle: host late"; NULL: it is none. (device.c) */
const char *dw_fact_device_part(enum dw_fact_id id);
/* In JSON and CSV: "ratio", "ns". */
const char *dw_fact_unit_name(enum dw_fact_unit unit);
/* The fact of this name, or DW_FACT_COUNT. */
enum dw_fact_id dw_fact_find(const char *name);

const char *dw_facts_framework_name(enum dw_facts_framework framework);

/* For tests and callers that make facts by hand: all facts "not measured: not computed". */
void dw_facts_init(struct dw_facts *facts);
/* The value of `missing` in a fact that was not computed yet. */
const char *dw_facts_missing_default(void);
