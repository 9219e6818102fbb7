/* What an overview says at its end: what is not recorded, what is lost, and what recording cost. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "views/overview_parts.h"

/* What recording cost, in all. The part "profiler" is a row above, and the rest lies within other rows. */
static void losses_write_cost(const struct dw_overview *overview, char *to, size_t size)
{
	const struct dw_facts_cost *cost = &overview->cost;
	char parts[128] = ".", cupti[128] = "";
	double least_ns = DW_OVERVIEW_NOTHING * cost->ns / cost->share;

	if (isnan(cost->share))
		return;
	if (cost->cupti_ns > 0)
		snprintf(cupti, sizeof cupti, " CUPTI's own part of that is an estimate: %s, by %.0f us a launch (H100).",
		         dw_text_ns(cost->cupti_ns, " ").at, DW_CUPTI_LAUNCH_NS / 1e3);
	if (cost->part_ns >= least_ns && cost->ns - cost->part_ns >= least_ns)
		snprintf(parts, sizeof parts, ": %s, and %s within other parts.", dw_share_label(DW_SHARE_PROFILER),
		         dw_text_ns(cost->ns - cost->part_ns, " ").at);
	if (cost->share < 0.0005)
		snprintf(to, size, "Profiling cost less than 0.1%% of %s.%s", overview->steps ? "the loop" : "the run", cupti);
	else if (overview->steps)
		snprintf(to, size, "Profiling cost about %s of a step (%.1f%% of the loop)%s%s", dw_text_ns(cost->ns, " ").at,
		         cost->share * 100, parts, cupti);
	else
		snprintf(to, size, "Profiling cost about %.1f%% of the run.%s", cost->share * 100, cupti);
}

void dw_overview_note_losses(struct dwell_table *table, const struct dwell_table *first, const struct dw_overview *overview)
{
	double coverage = dw_model_coverage(overview->model);
	char cost[400] = "";
	bool any = false;

	for (size_t i = 0; i < first->gap_count; i++)
		dw_table_note(table, "Not recorded: %s.", first->gaps[i]);
	any = first->gap_count != 0;
	for (size_t i = 0; i < DW_LOSS_SLOTS; i++) {
		if (!overview->source->lost[i])
			continue;
		any = true;
		dw_table_note(table, "Lost: %s record%s: %s.", dw_text_count((int64_t)overview->source->lost[i]).at,
		              dw_text_plural(overview->source->lost[i]), dw_view_loss_text(overview->source, i));
	}
	for (size_t i = 0; i < overview->source->file_count; i++) {
		uint64_t missing = overview->source->files[i].missing_bytes;

		if (!missing || overview->source->live)
			continue;
		any = true;
		dw_table_note(table, "Lost: the last %s of the file; this is a truncated copy.",
		              dw_text_bytes((double)missing, " ").at);
	}
	if (coverage < 0.9995)
		dw_table_note(table, "Recorded: %s of this time.", dw_text_percent(coverage).at);
	losses_write_cost(overview, cost, sizeof cost);
	if (any && *cost)
		dw_table_note(table, "%s", cost);
	else if (!any)
		dw_table_note(table, "Lost: nothing.%s%s", *cost ? " " : "", cost);
}
