/*
 * Which ranges and steps of a track nest.
 *
 * Viewers draw the ranges of a track inside one another, and draw wrongly or drop a range that
 * overlaps another one only partly. Almost all ranges nest. A range that was ended out of order may
 * not, and a step may not, because steps and ranges are begun and ended by different calls.
 */
#pragma once

#include "model/model.h"

/* ---- ranges of one track ----------------------------------------------------------------- */

struct dw_nest_span {
	uint64_t start_ns, end_ns;
	uint32_t depth;
};

/* The spans that ranges still to come may enclose or follow. Initialized by zeroing. */
struct dw_nest {
	struct dw_nest_span *spans; /* disjoint, ascending */
	size_t count, capacity;
	bool apart;        /* the next span is not merged with the last one */
	bool never_joined; /* set by the caller if not every range is added: within a scope of steps */
};

/* Starts a track. */
void dw_nest_start(struct dw_nest *nest);
/* Adds the ranges of a track in the order of their ends. Returns 1 if the range nests, 0 if it
 * partly overlaps another one, -1 if out of memory. */
int dw_nest_add(struct dw_nest *nest, uint64_t start_ns, uint64_t end_ns, uint32_t depth);
void dw_nest_reset(struct dw_nest *nest);

/* ---- steps and the ranges of their threads ----------------------------------------------- */

struct dw_nest_step {
	uint64_t start_ns, end_ns;
	const struct dw_source_step *step;
	uint32_t track;
	bool overlaps; /* it partly overlaps a range or another step */
};

struct dw_nest_steps {
	/* The first `apart` are sorted by thread and start; the rest overlap an earlier one. */
	struct dw_nest_step *steps;
	size_t count, apart;
	size_t *first; /* by thread, with one more entry at the end */
	size_t at;     /* the step at the last range */
};

/* Collects all steps of the scope. Returns -1 if out of memory. */
int dw_nest_steps_make(struct dw_nest_steps *steps, const struct dw_model *model);
/* Takes a range of `thread` into account that was written as one that nests. */
void dw_nest_steps_add_range(struct dw_nest_steps *steps, uint32_t thread, uint64_t start_ns, uint64_t end_ns);
void dw_nest_steps_reset(struct dw_nest_steps *steps);
