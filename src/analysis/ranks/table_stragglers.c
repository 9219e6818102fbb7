/* The table of stragglers: ranks that are slow in most steps, then single steps. */
#include "base/order.h"
#include "ranks/ranks.h"

enum { RANK, HOST, STEP, EXCESS, EXCESS_NS, LAST, PART, PART_EXCESS, LAYER, NAME };
static const struct dw_column columns[] = {
	[RANK] = DW_COLUMN("rank", "rank", NONE, INT),
	[HOST] = DW_COLUMN("host", "host", NONE, TEXT, .wide_only = true),
	[STEP] = DW_COLUMN("step", "in step", NONE, INT),
	[EXCESS] = DW_COLUMN("excess", "excess", RATIO, REAL, .of = "the work of the median rank"),
	[EXCESS_NS] = DW_COLUMN("excess_ns", "delays by", NS, REAL),
	[LAST] = DW_COLUMN("last", "last in", RATIO, REAL, .of = "the steps"),
	[PART] = DW_COLUMN("part", "most in", NONE, TEXT),
	[PART_EXCESS] = DW_COLUMN("part_excess_ns", "excess there", NS, REAL, .wide_only = true),
	[LAYER] = DW_COLUMN("layer", "layer", NONE, TEXT),
	[NAME] = DW_COLUMN("name", "operator", NONE, TEXT),
};
const struct dw_column_list dw_ranks_stragglers_columns = DW_COLUMN_LIST(columns);

DW_ORDER_OF_POINTERS(stragglers_compare, struct dw_rank_result, DW_DOWN(excess))

static void stragglers_add_rank(struct dwell_table *table, const struct dw_ranks *ranks,
                                const struct dw_rank_result *result)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_int(&row[RANK], dw_ranks_number(ranks, (size_t)(result - ranks->results)));
	dw_cell_text(table, &row[HOST], result->rank->host);
	dw_cell_real(&row[EXCESS], result->excess);
	if (ranks->waits_known) {
		dw_cell_real(&row[EXCESS_NS], result->delay_ns);
		dw_cell_real(&row[LAST], result->last);
	}
	if (result->part != DW_RANKS_NO_PART) {
		dw_cell_text(table, &row[PART], dw_ranks_part_name(result->part));
		dw_cell_real(&row[PART_EXCESS], result->part_ns);
	}
	if (result->layer)
		dw_cell_text(table, &row[LAYER], result->layer);
	if (result->name)
		dw_cell_text(table, &row[NAME], result->name);
}

static void stragglers_add_step(struct dwell_table *table, const struct dw_ranks *ranks,
                                const struct dw_slow_step *step)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_int(&row[RANK], dw_ranks_number(ranks, step->result));
	dw_cell_text(table, &row[HOST], ranks->results[step->result].rank->host);
	dw_cell_int(&row[STEP], (int64_t)step->number);
	dw_cell_real(&row[EXCESS_NS], step->excess_ns);
	if (step->part != DW_RANKS_NO_PART)
		dw_cell_text(table, &row[PART], dw_ranks_part_name(step->part));
}

struct dwell_table *dw_ranks_table_of_stragglers(const struct dw_ranks *ranks)
{
	const struct dw_rank_result **slow = calloc(ranks->count + 1, sizeof(void *));
	struct dwell_table *table = slow ? dw_table_create("stragglers", columns, sizeof columns / sizeof *columns) : NULL;
	size_t count = 0;

	for (size_t i = 0; table && i < ranks->count; i++)
		if (ranks->results[i].slow)
			slow[count++] = &ranks->results[i];
	DW_SORT(slow, count, stragglers_compare);
	if (table) {
		table->coverage = 1;
		dw_ranks_put_heads(table, ranks);
		for (size_t i = 0; i < count; i++)
			stragglers_add_rank(table, ranks, slow[i]);
		for (size_t i = 0; i < ranks->slow_step_count; i++)
			stragglers_add_step(table, ranks, &ranks->slow_steps[i]);
		dw_table_note(table,
		              "Without a step: the rank is slow in most steps. excess: its work beyond the median rank's. "
		              "last in: the steps in which others wait for it. dwell ranks shows all ranks.");
		for (size_t i = 0; i < ranks->note_count; i++)
			if (ranks->notes[i])
				dw_table_note(table, "%s", ranks->notes[i]);
	}
	free(slow);
	return table;
}
