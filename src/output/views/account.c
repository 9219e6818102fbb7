/*
 * account: where does the time of the loop's thread go?
 *
 * A row is the sum of the account's cells with one state and activity (analysis/account/account.h). The rows add up to the
 * time of the loop. Shares are of the time without the one for which the thread had no CPU, as in the sentences of verdicts.
 */
#include <string.h>

#include "account/account.h"
#include "base/code/demangle.h"
#include "base/text.h"
#include "model/samples/hot.h"
#include "views/columns.h"
#include "views/overview_parts.h"

struct account_cells {
	struct dw_cell does, function, line, ns, share, error, samples, state, activity;
};

enum { SAMPLED = DW_HAS_OWN }; /* samples divide it */

static const struct dw_column account_columns[] = {
	DW_FIELD(struct account_cells, does, "thread", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct account_cells, function, "largest part in", NONE, TEXT, .text_only = SAMPLED),
	DW_FIELD(struct account_cells, line, "line", NONE, TEXT, .text_only = SAMPLED),
	DW_FIELD(struct account_cells, ns, "time", NS, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct account_cells, share, "share", RATIO, REAL, .bar = true, .sums = "ns"),
	DW_FIELD(struct account_cells, error, "+-", RATIO, REAL, .of = "the time of the table", .text_only = SAMPLED, .wide_only = true),
	DW_FIELD(struct account_cells, samples, "samples", COUNT, INT, .text_only = SAMPLED, .wide_only = true),
	DW_FIELD(struct account_cells, state, "state", NONE, TEXT, .data_only = true),
	DW_FIELD(struct account_cells, activity, "activity", NONE, TEXT, .data_only = true),
};
const struct dw_column_list dw_overview_account_columns = DW_COLUMN_LIST(account_columns);

#define MOST_NAME 36u /* characters: a table is at most 120 wide */

/* Leaves the end of a long name: what stands before is its namespace. */
static void account_cut(char *name)
{
	size_t length = strlen(name);

	if (length <= MOST_NAME)
		return;
	memmove(name + 3, name + length - (MOST_NAME - 3), MOST_NAME - 3 + 1);
	memcpy(name, "...", 3);
}

void dw_view_account_place(const struct dw_account_sum *sum, char name[DW_VIEW_SHORT_NAME], char line[200])
{
	const struct dw_source_function *function = sum->function;
	const struct dw_hot_row at = { .name = function ? function->name : "",
		                           .file = function ? function->file : NULL,
		                           .line = sum->line };

	*name = *line = '\0';
	if (!function)
		return;
	dw_name_short(name, DW_VIEW_SHORT_NAME, function->name);
	account_cut(name);
	dw_hot_place(&at, line, 200);
}

static void account_put_row(struct dwell_table *table, const struct dw_account *account,
                            const struct dw_account_row *row)
{
	bool counted = row->state != DW_ACCOUNT_NO_CPU && account->own_ns > 0;
	char name[DW_VIEW_SHORT_NAME], place[200], label[64];

	dw_view_account_place(&row->sum, name, place);
	DW_TABLE_PUT(
		table, 0, struct account_cells, .does = DW_STRING(dw_account_label(row, label)),
		.function = DW_STRING(*name ? name : NULL), .line = DW_STRING(*place ? place : NULL),
		.ns = DW_REAL(row->sum.ns), .share = counted ? DW_REAL(row->sum.ns / account->own_ns) : DW_EMPTY,
		.error = counted && row->sum.samples ? DW_REAL((row->sum.high_ns - row->sum.low_ns) / 2 / account->own_ns)
	                                         : DW_EMPTY,
		.samples = row->sum.samples ? DW_INT(row->sum.samples) : DW_EMPTY,
		.state = DW_STRING(dw_account_state_name(row->state)), .activity = DW_STRING(dw_activity_name(row->activity)));
}

/* The name of the account's thread for people. */
static const char *account_thread(struct dw_model *model, const struct dw_account *account, char text[256])
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = &source->threads[account->thread];
	size_t processes = 0;

	for (size_t i = 0; i < source->process_count; i++)
		processes += !(source->processes[i].flags & DW_PROCESS_RUNNER);
	if (thread->tid == source->processes[thread->process].pid && processes == 1)
		return "main thread";
	return dw_view_thread_name(model, account->thread, false, text);
}

#define SMALL 0.005    /* of the time that shares are of: rows that an overview sums up */
#define NOTHING 0.0005 /* shown as 0.0% */

/* `folds`: small rows are one. */
static struct dwell_table *account_table(const char *view, struct dw_model *model, const struct dw_account *account, bool folds,
                                         struct dwell_error *error)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	struct dwell_table *table = DW_VIEW_CHOOSE(view, account_columns, dw_account_is_divided(account) ? SAMPLED : 0, error);
	double small_ns = 0;
	size_t count, small = 0;
	char name[256], text[48];

	if (!table || account->thread == DW_NO_INDEX)
		return table;
	table->part = "account";
	table->columns[0].label = dw_arena_printf(&table->arena, "%s", account_thread(model, account, name));
	table->failed |= !table->columns[0].label;
	count = dw_account_rows(account, rows);
	for (size_t i = 0; i < count; i++) {
		if (!folds || rows[i].sum.ns >= SMALL * account->own_ns) {
			account_put_row(table, account, &rows[i]);
			continue;
		}
		small_ns += rows[i].sum.ns;
		small++;
	}
	snprintf(text, sizeof text, "%zu smaller one%s", small, dw_text_plural(small));
	if (small_ns >= NOTHING * account->own_ns)
		DW_TABLE_PUT(table, 0, struct account_cells, .does = DW_STRING(text), .ns = DW_REAL(small_ns),
		             .share = DW_REAL(small_ns / account->own_ns));
	DW_TABLE_PUT_TOTALS(table, struct account_cells, .ns = DW_REAL(account->wall_ns));
	return table;
}

struct dwell_table *dw_overview_account(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_account *account = overview->facts->account;

	if (!account)
		return NULL;
	return account_table("overview", overview->model, account, true, error);
}

static struct dwell_table *account_view(struct dw_model *model, const struct dwell_view_options *options, struct dwell_error *error)
{
	const struct dw_account *account = dw_account_of(model, error);
	struct dwell_table *table = account ? account_table("account", model, account, false, error) : NULL;

	if (table && account->state_ns[DW_ACCOUNT_NO_CPU] > 0)
		dw_table_note(table, "Shares are of the time in which the thread had a CPU or waited.");
	return table;
}

const struct dw_view dw_view_account = {
	.name = "account", .question = "where does the time of the loop's thread go?",
	.run = account_view, .row_name = "does", .row_ns = "ns", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(account_columns)),
	.needs_samples = true, .needs = "samples of call stacks", .remedy = "record with dwell run --sample 100",
};
