/*
 * waits: in which functions of libc do threads wait, and which functions call them?
 *
 * From samples of waits: each stands for a period of waiting. A thread that spins until another thread is ready waits
 * too, by its CPU time. The table is that of the view hot.
 */
#include "views/common.h"

/* By thread unless another group is asked for: threads of pools wait most, for work. */
static struct dwell_table *waits_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	struct dwell_view_options by_thread = *options;

	if (!by_thread.group_by)
		by_thread.group_by = "thread";
	return dw_view_sampled(model, &by_thread, true, error);
}

const struct dw_view dw_view_waits = {
	.name = "waits", .question = "in which functions of libc do threads wait, and which functions call them?",
	.run = waits_view, .takes = DW_VIEW_TAKES(group_by), .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.tables = DW_VIEW_TABLES(&dw_view_sampled_columns, &dw_view_cpu_account_columns),
	.needs_samples = true, .needs = "samples of waits", .remedy = "record with dwell run --sample 100",
};
