/*
 * What an overview says of the start and the end of a run, if the loop is less than half of it: a table of the run's parts.
 * It is of the accounts of the loop's thread (analysis/account/account.h), and adds up to its time. The sentence is in ends.c.
 */
#include <stdio.h>
#include <string.h>

#include "account/account.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/samples/hot.h"
#include "views/columns.h"
#include "views/overview_parts.h"

#define SMALL 0.005 /* of the run: parts that the table sums up */

static const char *const phases[DW_ACCOUNT_PHASE_COUNT] = { "start-up", "steps", "end" };

/* How the program ended, if `dwell run` saw it fail: "with exit status 1", or "by signal 6 (Aborted)". */
static bool ends_write_failure(char *to, size_t size, const struct dw_source *source)
{
	int number;

	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		if (strcmp(meta->key, DW_KEY_STATUS) != 0)
			continue;
		if (sscanf(meta->value, "{\"signal\":%d", &number) == 1 && number > 0 && number < 65) {
			snprintf(to, size, "by signal %d (%s)", number, strsignal(number));
			return true;
		}
		if (sscanf(meta->value, "{\"exit\":%d", &number) == 1 && number) {
			snprintf(to, size, "with exit status %d", number);
			return true;
		}
	}
	return false;
}

void dw_overview_head_failed(struct dwell_table *table, const struct dw_overview *overview)
{
	const char *uncaught = dw_view_uncaught(overview->source);
	char failure[120], did[1200];

	if (!ends_write_failure(failure, sizeof failure, overview->source))
		return;
	dw_view_until_end(overview->model, did, sizeof did);
	dw_table_say(table, DW_LABEL_STOP, "The program ended %s%s%s.", failure, *uncaught ? ", by the exception " : "", uncaught);
	if (*did)
		dw_table_say(table, DW_LABEL_REST, "Until then: %s.", did);
}

/* ---- the table --------------------------------------------------------------------------- */

struct ends_row {
	struct dw_cell part, function, line, ns, share, samples, phase;
};

static const struct dw_column ends_columns[] = {
	DW_FIELD(struct ends_row, part, "the run", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct ends_row, function, "largest part in", NONE, TEXT),
	DW_FIELD(struct ends_row, line, "line", NONE, TEXT),
	DW_FIELD(struct ends_row, ns, "time", NS, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct ends_row, share, "of the run", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN, .sums = "ns"),
	DW_FIELD(struct ends_row, samples, "samples", COUNT, INT, .wide_only = true),
	DW_FIELD(struct ends_row, phase, "phase", NONE, TEXT, .data_only = true),
};
const struct dw_column_list dw_overview_ends_columns = DW_COLUMN_LIST(ends_columns);

static void ends_put_row(struct dwell_table *table, const struct dw_account_run *run,
                         const struct dw_account_run_part *part)
{
	char label[128], function[DW_VIEW_SHORT_NAME], line[200];

	snprintf(label, sizeof label, "%s%s%s", phases[part->phase], *part->words ? ": " : "", part->words);
	dw_view_account_place(&part->sum, function, line);
	DW_TABLE_PUT(table, 0, struct ends_row, .part = DW_STRING(label),
	             .function = DW_STRING(*function ? function : NULL), .line = DW_STRING(*line ? line : NULL),
	             .ns = DW_REAL(part->sum.ns), .share = DW_REAL(part->sum.ns / dw_account_run_own_ns(run)),
	             .samples = part->sum.samples ? DW_INT(part->sum.samples) : DW_EMPTY,
	             .phase = DW_STRING(phases[part->phase]));
}

static bool ends_is_row(const struct dw_account_run *run, const struct dw_account_run_part *part)
{
	return part->phase == DW_ACCOUNT_LOOP || part->sum.ns >= SMALL * dw_account_run_own_ns(run);
}

/* Puts the rows of the phases; returns the time for which there was no CPU. */
static double ends_put_phases(struct dwell_table *table, const struct dw_account_run *run)
{
	struct dw_account_run_part parts[DW_ACCOUNT_RUN_PARTS];
	size_t count = dw_account_run_parts(run, parts);
	double no_cpu_ns = 0;

	for (size_t i = 0; i < count;) {
		struct dw_account_run_part rest = { .phase = parts[i].phase, .words = "smaller parts" };

		for (; i < count && parts[i].phase == rest.phase; i++) {
			if (parts[i].no_cpu) {
				no_cpu_ns += parts[i].sum.ns;
			} else if (ends_is_row(run, &parts[i])) {
				ends_put_row(table, run, &parts[i]);
			} else {
				rest.sum.ns += parts[i].sum.ns;
				rest.sum.samples += parts[i].sum.samples;
			}
		}
		if (rest.sum.ns >= 1)
			ends_put_row(table, run, &rest);
	}
	return no_cpu_ns;
}

struct dwell_table *dw_overview_ends(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_account_run *run = dw_account_of_run(overview->model, NULL);
	struct dwell_table *table;
	char whose[300];
	double no_cpu_ns;

	if (!run ||
	    !(dw_account_is_divided(run->phases[DW_ACCOUNT_START]) || dw_account_is_divided(run->phases[DW_ACCOUNT_END])))
		return NULL;
	table = DW_VIEW_CHOOSE("overview", ends_columns, 0, error);
	if (!table)
		return NULL;
	table->part = "ends";
	dw_view_write_whose_run(overview->model, run, whose, sizeof whose);
	table->columns[0].label = dw_arena_printf(&table->arena, "%s", whose);
	table->failed |= !table->columns[0].label;
	no_cpu_ns = ends_put_phases(table, run);
	if (no_cpu_ns >= 1)
		DW_TABLE_PUT(table, 0, struct ends_row, .part = DW_STRING("has no CPU"), .ns = DW_REAL(no_cpu_ns));
	DW_TABLE_PUT_TOTALS(table, struct ends_row, .ns = DW_REAL(run->wall_ns), .share = DW_REAL(1));
	return table;
}
