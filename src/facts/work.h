/* What the files of src/facts share: the state of one computation, and helpers that fill a fact. */
#ifndef DW_FACTS_WORK_H
#define DW_FACTS_WORK_H

#include "facts/facts.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

#define DW_FACTS_CATEGORY(name) (1u << DWELL_CATEGORY_##name)

/* The parts of a step, each instant in one of them. The facts step.profiler .. step.unnamed have
 * this order. */
#define DW_PARTS(X)                                                                       \
	X(PROFILER, "profiler") X(COLLECTOR, "collector") X(DATA, "data")                     \
	X(COMMUNICATION, "communication") X(DEVICE, "device") X(CHECKPOINT, "checkpoint")     \
	X(EVALUATION, "evaluation") X(OPTIMIZER, "optimizer") X(BACKWARD, "backward")         \
	X(FORWARD, "forward") X(OPERATORS, "operators") X(LAYERS, "layers")                   \
	X(FUNCTIONS, "functions") X(NAMED, "named") X(PYTHON, "python") X(IDLE, "idle")       \
	X(UNNAMED, "unnamed")
enum dw_part {
#define X(name, label) DW_PART_##name,
	DW_PARTS(X)
#undef X
	DW_PART_COUNT
};

/* What a step of the loop is; several may be true. */
enum {
	DW_ROLE_WARM_UP = 1,
	DW_ROLE_OUTLIER = 2,
	DW_ROLE_STEADY = 4,
};

struct dw_facts_work {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	const struct dw_steps *steps;
	const struct dw_loop *loop;    /* NULL: the trace has no steps */
	const struct dw_step *all;     /* the steps of the loop */
	const struct dw_usage_of *usages; /* of the same steps */
	uint8_t *roles;                /* by step of the loop; 0: it is not counted */
	const struct dw_step **steady; /* the steady steps, in order */
	size_t steady_count;
	double *values, *wholes;       /* space for a number for each step of the loop */
	double loop_ns;                /* wall time of the loop; 0: only part of the run is in scope */
	bool python;                   /* the loop's process is a Python program */
	bool cpu_known;                /* the CPU time of most steady steps is known */
	bool delay_known;              /* and for how long they waited for a CPU */
	bool failed;                   /* memory ran out */
	struct dw_facts *facts;
};

/* ---- facts.c --------------------------------------------------------------------------------- */

/* Prepares the state for a loop, from 0; work->loop is NULL if there is no such loop. False: out of
 * memory. dw_facts_end() frees it in any case. */
bool dw_facts_begin(struct dw_facts_work *work, struct dw_model *model, size_t loop,
                    struct dw_facts *facts);
void dw_facts_end(struct dw_facts_work *work);

/* ---- facts.c: filling a fact ---------------------------------------------------------------- */

/* A fact that is not a median over steps. Returns it. */
struct dw_fact *dw_fact_set(struct dw_facts_work *work, enum dw_fact_id id, double value,
                            size_t samples);
/* The same for a share: at most 1, and not measured if the whole is 0. */
struct dw_fact *dw_fact_set_share(struct dw_facts_work *work, enum dw_fact_id id, double part,
                                  double whole, size_t samples);
void dw_fact_miss(struct dw_facts_work *work, enum dw_fact_id id, const char *missing);
void dw_fact_name(struct dw_facts_work *work, struct dw_fact *fact, uint32_t symbol);
/* The median of work->values[0..count), with its interval. Sorts the values. */
struct dw_fact *dw_fact_set_median(struct dw_facts_work *work, enum dw_fact_id id, size_t count);
/* The share of the sum of work->values in the sum of work->wholes, `count` of each. The interval is
 * that of the median over blocks of consecutive steps. */
struct dw_fact *dw_fact_set_blocks(struct dw_facts_work *work, enum dw_fact_id id, size_t count);
/* The median of an array, which it sorts. 0: it is empty. */
double dw_facts_median(double *values, size_t count);

/* `missing` of a fact that was not touched yet. */
const char *dw_facts_missing_default(void);
/* The last value of a key, or NULL. */
const char *dw_facts_meta(const struct dw_facts_work *work, const char *key);

/* ---- parts.c --------------------------------------------------------------------------------- */

/* Divides a step into parts, in ns; they sum to its length. */
void dw_facts_divide(const struct dw_facts_work *work, const struct dw_step *step,
                     double parts[DW_PART_COUNT]);
/* The time of a step in which its thread neither ran nor waited for a CPU. Negative: not known. */
double dw_facts_unused(const struct dw_facts_work *work, const struct dw_step *step);
const char *dw_facts_part_name(enum dw_part part);

/* ---- steady.c -------------------------------------------------------------------------------- */

/* Sets the roles of the steps by their lengths in ns; `first`: the first of them is the first of
 * the loop. `space` has `count` numbers. */
void dw_facts_find_roles(const double *lengths, size_t count, bool first, uint8_t *roles,
                         double *space);
/* Sets the roles of the loop's counted steps and the list of the steady ones. Returns how many
 * steps are counted. */
size_t dw_facts_choose_steady(struct dw_facts_work *work);
void dw_facts_of_steps(struct dw_facts_work *work);

/* ---- one file each ------------------------------------------------------------------------------ */

void dw_facts_of_run(struct dw_facts_work *work);
void dw_facts_of_time_outside(struct dw_facts_work *work);
void dw_facts_of_cpu(struct dw_facts_work *work);
void dw_facts_of_operators(struct dw_facts_work *work);
void dw_facts_of_loader(struct dw_facts_work *work);
void dw_facts_of_memory(struct dw_facts_work *work);
void dw_facts_of_ranks(struct dw_facts_work *work);
void dw_facts_of_pace(struct dw_facts_work *work);
void dw_facts_of_flops(struct dw_facts_work *work);
void dw_facts_of_waits(struct dw_facts_work *work);
void dw_facts_of_device(struct dw_facts_work *work);

#endif
