/*
 * stragglers: which ranks make the others wait, and in which part of the step?
 *
 * There is one row for each rank that is slow in most steps, and one for each single step in which a
 * rank took much longer than usual. It is the comparison of `dwell ranks` (doc/how/ranks.md) for the
 * ranks of one trace.
 */
#include "base/error.h"
#include "ranks/ranks.h"
#include "views/common.h"

static struct dwell_table *stragglers_view(struct dw_model *model, const struct dwell_view_options *options,
                                           struct dwell_error *error)
{
	struct dw_summary summary = { .ranks = NULL };
	struct dwell_table *table = NULL;
	struct dw_ranks ranks;

	if (dw_summary_add_model(&summary, model, error) && dw_summary_finish(&summary, error)) {
		if (dw_ranks_compare(&ranks, &summary, error)) {
			table = dw_ranks_table_of_stragglers(&ranks);
			if (!table)
				dw_error_set(error, DWELL_E_NOMEM, "out of memory");
		}
		dw_ranks_reset(&ranks);
	}
	dw_summary_reset(&summary);
	return table;
}

const struct dw_view dw_view_stragglers = {
	.name = "stragglers", .question = "which ranks make the others wait, and in which part of the step?",
	.run = stragglers_view, .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(&dw_ranks_stragglers_columns),
	.needs_ranks = true, .needs = "steps of several processes",
	.remedy = "record all ranks, or give the traces of all ranks",
};
