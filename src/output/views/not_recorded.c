/*
 * What the trace does not have, for the line "Not recorded: ..." of a view: what processes and `dwell run` say, and
 * processor time that no sample stands for.
 */
#include "base/text.h"
#include "format/keys.h"
#include "model/samples/cpu_account.h"
#include "read/unrecorded.h"
#include "views/columns.h"

#define MOST_GAPS 6u /* sentences of one kind; the table of the account has the rest */

/* ---- processor time ------------------------------------------------------------------------------ */

/* Rows with one cause, of all processes. */
struct gap {
	const struct dw_cpu_row *first;
	uint64_t missing_ns, threads, ranges_ns;
	bool counted; /* the number of threads is known */
};

static bool not_recorded_are_same(const struct dw_cpu_row *a, const struct dw_cpu_row *b)
{
	return a->why == b->why && (a->why != DW_CPU_LACKS || strcmp(a->lacks, b->lacks) == 0);
}

static size_t not_recorded_collect(const struct dw_cpu_account *account, struct gap gaps[MOST_GAPS])
{
	size_t count = 0, at;

	for (size_t i = 0; i < account->count; i++) {
		const struct dw_cpu_row *row = &account->rows[i];

		if (!row->missing_ns)
			continue;
		for (at = 0; at < count && !not_recorded_are_same(gaps[at].first, row); at++)
			;
		if (at == MOST_GAPS)
			continue;
		if (at == count)
			gaps[count++] = (struct gap){ .first = row, .counted = true };
		gaps[at].missing_ns += row->missing_ns;
		gaps[at].ranges_ns += row->ranges_ns;
		gaps[at].threads += row->count;
		gaps[at].counted &= row->count != 0;
	}
	return count;
}

static void not_recorded_add_cpu(struct dwell_table *table, const struct dw_cpu_account *account)
{
	struct gap gaps[MOST_GAPS];
	size_t count = not_recorded_collect(account, gaps);

	for (size_t i = 0; i < count; i++) {
		bool of_threads = gaps[i].first->why == DW_CPU_SHORT_THREADS || gaps[i].first->why == DW_CPU_BLOCKED;
		char threads[64] = "", ranges[96] = "";

		if (of_threads && gaps[i].counted)
			snprintf(threads, sizeof threads, " (%s)", dw_text_count((int64_t)gaps[i].threads).at);
		if (gaps[i].ranges_ns)
			snprintf(ranges, sizeof ranges, "; ranges cover %s of wall time",
			         dw_text_ns((double)gaps[i].ranges_ns, " ").at);
		dw_table_gap(table, "%s of %s of CPU time, for which no sample stands: %s%s%s",
		             dw_text_ns((double)gaps[i].missing_ns, " ").at, dw_text_ns((double)account->kernel_ns, " ").at,
		             dw_cpu_why_clause(gaps[i].first), threads, ranges);
	}
}

struct not_recorded_cells {
	struct dw_cell process, pid, threads, count, cpu_ns, sampled_ns, ranges_ns, missing_ns, why, clause;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct not_recorded_cells, process, "CPU time without samples", NONE, TEXT),
	DW_FIELD(struct not_recorded_cells, pid, "pid", NONE, INT),
	DW_FIELD(struct not_recorded_cells, threads, "threads", NONE, TEXT),
	DW_FIELD(struct not_recorded_cells, count, "number", COUNT, INT),
	DW_FIELD(struct not_recorded_cells, cpu_ns, "CPU time", NS, INT),
	DW_FIELD(struct not_recorded_cells, sampled_ns, "in samples", NS, INT),
	DW_FIELD(struct not_recorded_cells, ranges_ns, "in ranges", NS, INT, .data_only = true),
	DW_FIELD(struct not_recorded_cells, missing_ns, "missing", NS, INT),
	DW_FIELD(struct not_recorded_cells, why, "why", NONE, TEXT),
	DW_FIELD(struct not_recorded_cells, clause, "clause", NONE, TEXT, .data_only = true),
};
const struct dw_column_list dw_view_cpu_account_columns = DW_COLUMN_LIST(columns);

struct dwell_table *dw_view_cpu_account(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_cpu_account *account = dw_model_cpu_account(model, error);
	const struct dw_source *source = dw_model_source(model);
	struct dwell_table *table;

	if (!account || !account->missing_ns)
		return NULL;
	table = DW_VIEW_CHOOSE("hot", columns, 0, error);
	for (size_t i = 0; table && i < account->count; i++) {
		const struct dw_cpu_row *row = &account->rows[i];

		if (!row->missing_ns)
			continue;
		DW_TABLE_PUT(table, 0, struct not_recorded_cells, .process = DW_STRING(source->processes[row->process].label),
		             .pid = DW_INT(source->processes[row->process].pid), .threads = DW_STRING(row->threads),
		             .count = row->count ? DW_INT(row->count) : DW_EMPTY, .cpu_ns = DW_INT(row->kernel_ns),
		             .sampled_ns = DW_INT(row->sampled_ns),
		             .ranges_ns = row->ranges_ns ? DW_INT(row->ranges_ns) : DW_EMPTY,
		             .missing_ns = DW_INT(row->missing_ns), .why = DW_STRING(dw_cpu_why_word(row->why)),
		             .clause = DW_STRING(dw_cpu_why_clause(row)));
	}
	if (table)
		table->part = "cpu_account";
	return table;
}

/* ---- all ---------------------------------------------------------------------------------------------- */

/* Whether the account says it already. */
static bool not_recorded_has_lack(const struct dw_cpu_account *account, const char *lacks)
{
	for (size_t i = 0; account && i < account->count; i++)
		if (account->rows[i].missing_ns && account->rows[i].why == DW_CPU_LACKS &&
		    strcmp(account->rows[i].lacks, lacks) == 0)
			return true;
	return false;
}

/* Why there are no samples, or not of all: how much time that is is not known. */
static void not_recorded_add_lacks(struct dwell_table *table, const struct dw_source *source,
                           const struct dw_cpu_account *account)
{
	const char *last = "";

	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		if (strcmp(meta->key, DW_KEY_SAMPLE_LACKS) != 0 || strcmp(meta->value, last) == 0 ||
		    not_recorded_has_lack(account, meta->value))
			continue;
		last = meta->value;
		dw_table_gap(table, "call stacks, or a part of them: %s", last);
	}
}

void dw_view_state_gaps(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_cpu_account *account =
		dw_model_is_partial(model) || dw_model_scope(model)->thread ? NULL : dw_model_cpu_account(model, NULL);
	const char *gap;
	size_t at = 0;

	if (account)
		not_recorded_add_cpu(table, account);
	not_recorded_add_lacks(table, source, account);
	while ((gap = dw_source_next_gap(source, &at)) != NULL)
		dw_table_gap(table, "%s", gap);
}
