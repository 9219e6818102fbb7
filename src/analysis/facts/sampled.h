/* The program's functions of Python by samples of call stacks: which function calls what a time is spent in, and which one a part of
 * the run is. */
#pragma once

#include "facts/samples_part.h"

#define DW_SAMPLED_MOST 0.5 /* of the samples, which a function that is named has at least */

struct dw_sampled_function {
	const char *name, *file;
	uint32_t line;  /* of those in which it is, the one with most weight, if that is half of it; else one of the largest */
	uint64_t total; /* weight of the samples in whose stacks it is */
	uint64_t line_weight;
};

enum { DW_SAMPLED_FUNCTIONS = 96 };

struct dw_sampled {
	struct dw_sampled_function at[DW_SAMPLED_FUNCTIONS]; /* those that were met first */
	size_t count;
	uint64_t weight, squares; /* of the samples that count */
};

typedef bool (*dw_sampled_wants)(void *context, const struct dw_sample_row *row);

/* Fills the functions in the stacks of the samples that count. */
void dw_sampled_find(const struct dw_facts_work *work, dw_sampled_wants wants, void *context, struct dw_sampled *to);
/* The innermost function that certainly has most of the samples: of those that have it, the one with the least. NULL: there is
 * none. */
const struct dw_sampled_function *dw_sampled_caller(const struct dw_sampled *sampled);
/* The function that is a part of the run: it has most of the part's samples, and few others. `all`: of the whole run. NULL: there is
 * none. */
const struct dw_sampled_function *dw_sampled_region(const struct dw_sampled *part, const struct dw_sampled *all);
/* "Net.forward", or "" of the script itself. */
const char *dw_sampled_name(const char *function, char text[200]);
/* "forward (net.py:10)", or "net.py:10" of the script itself, as a text that the model owns. NULL: out of memory. */
const char *dw_sampled_text(struct dw_facts_work *work, const struct dw_sampled_function *function);
