/*
 * actions: what do the program's own named ranges take?
 *
 * The view lists zones, phases, data loading and all other ranges that the program names. The self
 * time of a range excludes nested named ranges and includes operators. Shares are of wall time;
 * with several threads they can add up to more than 100%. Work of devices that a thread of
 * autograd submitted counts for the range of the thread that waits for it.
 */
#include "views/device.h"
#include "views/places.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "action", NONE, TEXT),
	DW_COLUMN("category", "kind", NONE, TEXT, .wide_only = true),
	DW_VIEW_STAT_COLUMNS,
	DW_COLUMN("share", "of wall", RATIO, REAL, .bar = true),
};
enum { STAT = 2, SHARE = STAT + DW_VIEW_STAT_COUNT, COLUMNS };

static struct dwell_table *actions_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_OWN, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	bool device = dw_model_has_device(model);
	const struct dw_device_sum *sums = device ? dw_model_device_by_row(model, DW_VIEW_OWN, error) : NULL;
	struct dwell_table *table = NULL;
	uint64_t self_ns = 0, calls = 0, whole_ns;
	struct dw_view_places places;

	if (flat && (sums || !device))
		table = dw_view_table_with_device(model, "actions", columns, COLUMNS, error);
	if (!table)
		return NULL;
	whole_ns = dw_view_whole(table, SHARE, flat, flat->wall_ns, true);
	dw_view_places_init(&places, model);
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		const struct dw_symbol *symbol = &symbols[from->symbol];
		struct dw_cell *row = DW_TABLE_ROW(table, 0, DW_STRING(symbol->name),
		                                   DW_STRING(dw_view_category(symbol->category)));

		self_ns += from->stat.self_ns;
		calls += from->stat.count;
		dw_view_stat(&row[STAT], &from->stat);
		row[SHARE] = DW_PART(from->stat.self_ns, whole_ns);
		if (sums)
			dw_view_device_cells(&row[COLUMNS], &sums[dw_model_symbol_row(model, from->symbol)]);
		dw_view_places_take(&places, table, from->symbol);
	}
	DW_TABLE_TOTALS(table, DW_STRING("all actions"), DW_EMPTY, DW_INT(calls), DW_INT(self_ns));
	dw_view_note_calls(table, flat);
	dw_view_places_finish(&places, table);
	return table;
}

const struct dw_view dw_view_actions = {
	.name = "actions", .question = "what do the program's own named ranges take?",
	.run = actions_view, .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.categories = DW_VIEW_OWN, .needs = "named ranges", .remedy = "mark them with DWELL_ZONE(\"name\")",
};
