/* What the files of src/analysis/facts share: the state of one computation, and helpers that fill a fact. */
#pragma once

#include "facts/facts.h"
#include "model/samples/samples.h"
#include "model/steps/roles.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

#define DW_FACTS_CATEGORY(name) (1u << DWELL_CATEGORY_##name)

#define DW_FACTS_TEAM DW_USAGE_TEAM

struct dw_facts_work {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;
	const struct dw_loop *loop;     /* without a last step that did not end; NULL: the trace has no steps */
	const struct dw_loop *begun;    /* the same loop of `steps`, with all that began */
	struct dw_loop ended;           /* what `loop` points to */
	const struct dw_step *all;      /* the steps of the loop */
	struct dw_usage_of *all_usages; /* of the steps of all loops */
	struct dw_usage_of *usages;     /* of the steps of `all`, with their own CPU time where that is known */
	uint8_t *roles;                 /* by step of the loop; 0: it is not counted */
	const struct dw_step **steady;  /* the steady steps, in order */
	size_t steady_count;
	struct dw_model *after;  /* of what follows the last step, if that is the largest part of the run; or NULL */
	double *values, *wholes; /* space for a number for each step of the loop */
	double sampled;          /* part of the steps' time that is not of reduced steps; 1: there are none */
	double loop_ns;          /* wall time of the loop; 0: only part of the run is in scope */
	double per_cpu_ns; /* wall time of a CPU for a ns for which a thread runs: more than 1 if a hypervisor took some */
	double *fast;      /* self time of each symbol in a fast step (model/steps/fast_step.h) and, last, the time in no
	                    * range. NULL: what ranges take by the clock is what they take of a CPU and in waits */
	double fast_ns;    /* their sum */
	bool python;       /* the loop's process is a Python program */
	bool cpu_known;    /* the CPU time of most steady steps is known */
	bool delay_known;  /* it is also known for how long they waited for a CPU */
	bool switches_known; /* and how often they gave it up: a kernel that counts nothing has no step with one */
	bool failed;         /* memory ran out */
	struct dw_facts *facts;
};

/* ---- compute.c ------------------------------------------------------------------------------- */

/* Prepares the state for loop number `loop`, from 0. work->loop is NULL if there is no such loop.
 * False: out of memory. Call dw_facts_end() in any case; it frees what the state holds. */
bool dw_facts_begin(struct dw_facts_work *work, struct dw_model *model, size_t loop, struct dw_facts *facts);
void dw_facts_end(struct dw_facts_work *work);

/* ---- work.c: filling a fact ------------------------------------------------------------------ */

/* Sets a fact that is no median over steps. Returns it. */
struct dw_fact *dw_fact_set(struct dw_facts_work *work, enum dw_fact_id id, double value, size_t samples);
/* The same for a share: at most 1, and not measured if the whole is 0. */
struct dw_fact *dw_fact_set_share(struct dw_facts_work *work, enum dw_fact_id id, double part, double whole,
                                  size_t samples);
/* Sets a fact to "not measured". `missing` is not copied. */
void dw_fact_miss(struct dw_facts_work *work, enum dw_fact_id id, const char *missing);
/* Sets the symbol of a fact and its name. DW_NO_INDEX: none. */
void dw_fact_name(struct dw_facts_work *work, struct dw_fact *fact, uint32_t symbol);
/* Sets a fact to the median of the first `count` elements of work->values, with its interval. Sorts
 * the values. */
struct dw_fact *dw_fact_set_median(struct dw_facts_work *work, enum dw_fact_id id, size_t count);
/* Sets a fact to the sum of work->values divided by the sum of work->wholes, `count` elements of
 * each. The interval is that of the median over blocks of consecutive steps. */
struct dw_fact *dw_fact_set_blocks(struct dw_facts_work *work, enum dw_fact_id id, size_t count);

/* A copy of a text that the model owns. NULL: out of memory. */
const char *dw_facts_text(struct dw_facts_work *work, const char *text, size_t length);
/* The last value that the trace has for a key, or NULL. */
const char *dw_facts_meta(const struct dw_facts_work *work, const char *key);

/* ---- steady.c -------------------------------------------------------------------------------- */

/* Sets the roles of the loop's counted steps and the list of the steady ones. Returns how many
 * steps are counted. */
size_t dw_facts_choose_steady(struct dw_facts_work *work);
/* Fills the facts of steps: step.count to step.unnamed and those of warm-up and outliers. */
void dw_facts_of_steps(struct dw_facts_work *work);

/* contended.c: fills work->fast where other programs had the CPU for much of the steps' time. */
void dw_facts_find_fast(struct dw_facts_work *work);
/* The part of the time that a fast iteration spends between two steps. Negative: there is none, because other programs
 * left the CPU to the steps. */
double dw_facts_fast_gap(struct dw_facts_work *work);

/* No more than one thread of the process uses a CPU in the steps. Threads that wait for each other may use it
 * meanwhile, so that other programs change for how long. False: not known. */
bool dw_facts_one_thread_works(const struct dw_facts_work *work);

/* named.c: fills the facts of the largest range under the program's own names. */
void dw_facts_of_named(struct dw_facts_work *work);
/* Sets a fact to the time of the steady steps under the name of a symbol. Returns it. */
struct dw_fact *dw_facts_put_named(struct dw_facts_work *work, enum dw_fact_id id, uint32_t symbol);

/* ---- each fills the facts of one file; see the head of that file
 * --------------------------------- */

void dw_facts_of_run(struct dw_facts_work *work);
void dw_facts_of_time_outside(struct dw_facts_work *work);
void dw_facts_of_cpu(struct dw_facts_work *work);
void dw_facts_of_operators(struct dw_facts_work *work);
void dw_facts_of_after(struct dw_facts_work *work);
void dw_facts_of_gradients(struct dw_facts_work *work);
void dw_facts_of_padding(struct dw_facts_work *work);
void dw_facts_of_taken(struct dw_facts_work *work);
void dw_facts_of_cost(struct dw_facts_work *work);
void dw_facts_of_loader(struct dw_facts_work *work);
/* loader_cpus.c: of workers, and of the loop's thread, which made batches for some time itself. */
struct dw_loading;
double dw_facts_made_ns(const struct dw_loading *of);
void dw_facts_put_loader_cpus(struct dw_facts_work *work, const uint32_t *workers, size_t count, double loop_made_ns);
void dw_facts_of_memory(struct dw_facts_work *work);
void dw_facts_of_ranks(struct dw_facts_work *work);
void dw_facts_of_pace(struct dw_facts_work *work);
void dw_facts_of_gaps(struct dw_facts_work *work);
void dw_facts_of_shapes(struct dw_facts_work *work);
void dw_facts_of_flops(struct dw_facts_work *work);
void dw_facts_of_functions(struct dw_facts_work *work);
void dw_facts_of_device(struct dw_facts_work *work);
void dw_facts_of_samples(struct dw_facts_work *work);
/* pace_functions.c: what one function changes beyond the pace of all others from the first half of the loop to the second
 * one, as a part of the whole change, and its name. NAN: not known, or nearly all is one function. */
double dw_facts_pace_of_functions(struct dw_facts_work *work, const char **name);

/* Last, because it adds lines to the facts of others. */
void dw_facts_of_places(struct dw_facts_work *work);
void dw_facts_without_communication(struct dw_facts_work *work);
