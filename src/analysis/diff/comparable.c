/* What was compared of the conditions of the runs, as a table: a row for each reason not to compare. */
#include <math.h>
#include <stdio.h>

#include "diff/diff.h"

enum { COMPARABLE_REASON, COMPARABLE_WHAT, COMPARABLE_STATE, COMPARABLE_FOUND };
static const struct dw_column comparable_columns[] = {
	[COMPARABLE_REASON] = DW_COLUMN("reason", "reason", NONE, TEXT),
	[COMPARABLE_WHAT] = DW_COLUMN("what", "what", NONE, TEXT),
	[COMPARABLE_STATE] = DW_COLUMN("state", "before and after", NONE, TEXT),
	[COMPARABLE_FOUND] = DW_COLUMN("found", "found", NONE, TEXT),
};

static const char *const comparable_what[] = {
	[DW_DIFF_MACHINE] = "Processor and number of CPUs",
	[DW_DIFF_VERSIONS] = "Versions of PyTorch and Linux",
	[DW_DIFF_RANKS] = "Processes and threads with steps",
	[DW_DIFF_BATCH] = "Bytes of inputs, if activations differ too",
	[DW_DIFF_SHAPES] = "Arithmetic operations of a step",
	[DW_DIFF_RECORDING] = "What was recorded",
	[DW_DIFF_CONTENTION] = "Waits for a CPU",
};

/* The quantity of a run as text, "" if it was not measured. */
static void comparable_describe(const struct dw_diff_run *run, enum dw_diff_reason reason, char *text, size_t size)
{
	const char *known = reason == DW_DIFF_MACHINE ? run->machine : run->versions;

	*text = '\0';
	switch (reason) {
	case DW_DIFF_MACHINE:
	case DW_DIFF_VERSIONS: snprintf(text, size, "%.200s", known ? known : ""); break;
	case DW_DIFF_RANKS:
		if (isfinite(run->ranks) && isfinite(run->loops))
			snprintf(text, size, "%.0f and %.0f", run->ranks, run->loops);
		break;
	case DW_DIFF_BATCH:
		if (isfinite(run->input_bytes))
			snprintf(text, size, "%s", dw_text_bytes(run->input_bytes, " ").at);
		break;
	case DW_DIFF_SHAPES:
		if (isfinite(run->flops))
			snprintf(text, size, "%s", dw_text_number(run->flops).at);
		break;
	case DW_DIFF_RECORDING:
		snprintf(text, size, "%s", run->functions && run->shapes ? "with functions and shapes"
		                           : run->functions              ? "with functions"
		                           : run->shapes                 ? "with shapes"
		                                                         : "without functions and shapes");
		break;
	case DW_DIFF_CONTENTION:
		if (isfinite(run->delay))
			snprintf(text, size, "%s of a step", dw_text_percent(run->delay).at);
		break;
	case DW_DIFF_REASON_COUNT: break;
	}
}

/* Both sides have a run in which the quantity was measured; `text` gets that of the first. */
static bool comparable_is_known(const struct dw_diff *diff, enum dw_diff_reason reason, char *text, size_t size)
{
	char other[256] = "";

	*text = '\0';
	for (size_t i = 0; i < diff->sides[DW_DIFF_BEFORE].count && !*text; i++)
		comparable_describe(&diff->sides[DW_DIFF_BEFORE].runs[i], reason, text, size);
	for (size_t i = 0; i < diff->sides[DW_DIFF_AFTER].count && !*other; i++)
		comparable_describe(&diff->sides[DW_DIFF_AFTER].runs[i], reason, other, sizeof other);
	if (*text && *other && reason == DW_DIFF_CONTENTION)
		snprintf(text, size,
		         diff->by != DW_DIFF_BY_PACE ? "the verdict does not rest on them"
		                                     : "they do not explain most of the change");
	return *text && *other;
}

struct dwell_table *dw_diff_comparable_table(const struct dw_diff *diff)
{
	struct dwell_table *table = dw_table_create("diff", comparable_columns,
	                                            sizeof comparable_columns / sizeof *comparable_columns);

	if (!table)
		return NULL;
	table->part = "comparable";
	table->coverage = 1;
	for (unsigned i = 0; i < DW_DIFF_REASON_COUNT; i++) {
		const enum dw_diff_reason reason = (enum dw_diff_reason)i;
		struct dw_cell *row = dw_table_row(table, 0);
		const char *found = diff->reasons[i] ? diff->reasons[i] : diff->waived[i];
		char text[256];
		bool known = comparable_is_known(diff, reason, text, sizeof text);

		dw_cell_text(table, &row[COMPARABLE_REASON], dw_diff_reason_name(reason));
		dw_cell_text(table, &row[COMPARABLE_WHAT], comparable_what[i]);
		dw_cell_text(table, &row[COMPARABLE_STATE],
		             diff->reasons[i] ? "differs" : diff->waived[i] ? "differs, accepted"
		             : known          ? "alike" : "not measured");
		dw_cell_text(table, &row[COMPARABLE_FOUND], found ? found : known ? text : "");
	}
	return table;
}
