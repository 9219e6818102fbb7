/*
 * The parts of a step, and the steps of a loop divided into them.
 *
 * Each instant of a step belongs to one part, so the parts of a step sum to its length.
 */
#pragma once

#include "facts/facts.h"
#include "model/steps/steps.h"

/* The facts from step.profiler to step.unnamed have this order. */
#define DW_PARTS(X) \
	X(PROFILER, "profiler") \
	X(COLLECTOR, "collector") X(DATA, "data") X(COMMUNICATION, "communication") \
		X(DEVICE, "device") X(CHECKPOINT, "checkpoint") X(EVALUATION, "evaluation") \
			X(OPTIMIZER, "optimizer") X(BACKWARD, "backward") X(FORWARD, "forward") \
				X(OPERATORS, "operators") X(LAYERS, "layers") X(FUNCTIONS, "functions") \
					X(NAMED, "named") X(PYTHON, "python") X(IDLE, "idle") X(UNNAMED, "unnamed")
enum dw_part {
#define X(name, label) DW_PART_##name,
	DW_PARTS(X)
#undef X
		DW_PART_COUNT
};

const char *dw_facts_part_name(enum dw_part part);

struct dw_facts_work; /* see work.h */

/* Divides a step into parts, in ns; they sum to its length. */
void dw_facts_divide(const struct dw_facts_work *work, const struct dw_step *step, double parts[DW_PART_COUNT]);
/* The same without the time for which the step's thread waited for a CPU; parts in which it waits for something else,
 * and not for that, keep theirs. Returns the time that is left, the sum of the parts. */
double dw_facts_divide_running(const struct dw_facts_work *work, const struct dw_step *step, double parts[DW_PART_COUNT]);
/* The time for which a step's thread waited for a CPU, or 0 if that is not known. */
double dw_facts_delay(const struct dw_facts_work *work, const struct dw_step *step);
/* Sets a fact as dw_fact_set_blocks() does, to times of all steady steps: work->values in the order of work->steady. A
 * step for which the thread had no CPU for most of its time counts as its other time. */
struct dw_fact *dw_fact_set_steps(struct dw_facts_work *work, enum dw_fact_id id);
/* Corrects the usage of the steps of a program with one busy thread: several short steps share a reading, but the CPU
 * time of each is known. So the steps in which the thread lost its CPU have the time without one. */
void dw_facts_correct_usages(struct dw_facts_work *work);
/* The time of a step in which its thread neither ran nor waited for a CPU. Negative: not known. */
double dw_facts_unused(const struct dw_facts_work *work, const struct dw_step *step);

#define DW_PLACE_TEXT 400

/* places.c: "train.py:41", or "train.py:41 and train.py:44"; returns its length. `from` of the place must be known. */
int dw_facts_place_text(const struct dw_source_place *place, char text[DW_PLACE_TEXT]);
/* The place's time, with the longest one replaced by the mean of the others: the first step may take far
 * longer than all others. */
double dw_facts_place_ns(const struct dw_source_place *place);

/* A counted step, with its parts in whole ns, which sum to its length. */
struct dw_divided_step {
	const struct dw_step *step;
	bool warm_up;
	bool alone; /* recorded without operators and layers; it is not counted */
	uint64_t part_ns[DW_PART_COUNT];
};

struct dw_divided_loop {
	const struct dw_loop *loop; /* NULL: the model has no loop of this number */
	size_t loop_count;
	struct dw_divided_step *steps; /* in order of time; the caller frees them */
	size_t count;
};

/* Divides the counted steps, and those without operators, of loop number `loop`, which has the most steps if the number is 0.
 * False with `error`: out of memory. */
bool dw_facts_divide_loop(struct dw_model *model, size_t loop, struct dw_divided_loop *divided,
                          struct dwell_error *error);
