/*
 * Which ranges and steps of a track nest.
 *
 * Viewers draw ranges of a track in one another, and draw wrong or drop what overlaps
 * another only partly. Almost all ranges nest. One that was ended out of order may not, and
 * a step may not, because steps and ranges are begun and ended by different calls.
 */
#ifndef DW_EXPORT_NEST_H
#define DW_EXPORT_NEST_H

#include "model/model.h"

/* ---- ranges of one track ----------------------------------------------------------------- */

struct dw_nest_span {
	uint64_t start_ns, end_ns;
	uint32_t depth;
};

/* The ranges that may lie in or beside those to come. Zeroed it is empty. */
struct dw_nest {
	struct dw_nest_span *spans; /* disjoint, ascending */
	size_t count, capacity;
	bool apart;        /* the next span is not joined with the last one */
	bool never_joined; /* set it if not every range is added: within a scope of steps */
};

/* Begins a track. */
void dw_nest_start(struct dw_nest *nest);
/* The ranges of a track in the order of their ends. 1: it nests; 0: it overlaps another one
 * partly; -1: out of memory. */
int dw_nest_add(struct dw_nest *nest, uint64_t start_ns, uint64_t end_ns, uint32_t depth);
void dw_nest_reset(struct dw_nest *nest);

/* ---- steps and the ranges of their threads ----------------------------------------------- */

struct dw_nest_step {
	uint64_t start_ns, end_ns;
	const struct dw_source_step *step;
	uint32_t track;
	bool overlaps; /* it overlaps a range or another step partly */
};

struct dw_nest_steps {
	/* The first `apart` by thread, then start; then those that overlap an earlier one. */
	struct dw_nest_step *steps;
	size_t count, apart;
	size_t *first; /* by thread, and one more */
	size_t at;     /* the step of the last range */
};

/* All steps of the scope. -1: out of memory. */
int dw_nest_steps_make(struct dw_nest_steps *steps, const struct dw_model *model);
/* A range of `thread` was put as one that nests. */
void dw_nest_steps_add_range(struct dw_nest_steps *steps, uint32_t thread, uint64_t start_ns,
                             uint64_t end_ns);
void dw_nest_steps_reset(struct dw_nest_steps *steps);

#endif
