/*
 * The functions of a rank, by samples: in which of the program's functions its steps spend the time that lies in no range of
 * their own. A rank that is slow there is slow in no part with a name.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/samples/hot.h"
#include "summary/summary.h"

/* Whose samples count. */
static bool functions_want(void *context, const struct dw_sample_row *row)
{
	const struct dw_loop *loop = context;

	return row->thread == loop->thread && (row->where == DW_SAMPLE_IN_STEP || row->where == DW_SAMPLE_BETWEEN) &&
	       (row->share == DW_SHARE_OTHER || row->share == DW_SHARE_PYTHON || row->share == DW_SHARE_LAYERS ||
	        row->share == DW_SHARE_FUNCTIONS);
}

/* "forward at net.c:31" */
static const char *functions_text(struct dw_summary *summary, const struct dw_hot_row *row)
{
	char name[160], place[90], text[256];

	dw_hot_name(row, name, sizeof name);
	dw_hot_place(row, place, sizeof place);
	snprintf(text, sizeof text, "%s%s%s", name, *place ? " at " : "", place);
	return dw_summary_text(summary, text, sizeof text - 1);
}

/* The functions with the most time. What they call in libraries of the system is theirs; in a program of Python, what they call in
 * code that is not Python. */
static bool functions_list(struct dw_summary *summary, struct dw_model *model, const struct dw_loop *loop, bool waits,
                           struct dw_summary_name **names, size_t *count)
{
	const struct dw_source *source = dw_model_source(model);
	bool python = source->processes[source->threads[loop->thread].process].flags & DW_PROCESS_PYTHON;
	struct dw_hot_ask ask = { waits, python ? DW_HOT_PYTHON : DW_HOT_OWN, functions_want, (void *)(uintptr_t)loop };
	struct dw_hot hot;
	bool good = dw_hot_make(&hot, model, &ask);

	*names = dw_arena_alloc(&summary->arena, DW_SUMMARY_FUNCTIONS * sizeof **names);
	for (size_t i = 0; good && *names && i < hot.count && *count < DW_SUMMARY_FUNCTIONS; i++) {
		const struct dw_hot_row *row = &hot.rows[i];

		if (dw_hot_is_function(row) && row->self_ns)
			(*names)[(*count)++] =
				(struct dw_summary_name){ functions_text(summary, row), false, row->self_samples, row->self_ns };
	}
	dw_hot_reset(&hot);
	return good && *names;
}

bool dw_summary_add_functions(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_model *model,
                              const struct dw_loop *loop, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);

	/* If steps were summarised before, the sums are of all steps, and the samples only of the newer ones. */
	if (summary->before || !dw_source_has_samples(source) || !dw_source_names_stacks(source))
		return true;
	rank->function_steps = loop->count;
	if (functions_list(summary, model, loop, false, &rank->functions, &rank->function_count) &&
	    functions_list(summary, model, loop, true, &rank->waits, &rank->wait_count))
		return true;
	dw_error_set(error, DWELL_E_NOMEM, "no memory for the functions of a rank");
	return false;
}
