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

struct actions_row {
	const char *name, *category;
	struct dw_view_stat stat;
	struct dw_cell share;
	struct dw_view_device device;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct actions_row, name, "action", NONE, TEXT, .total_text = "all actions"),
	DW_FIELD(struct actions_row, category, "kind", NONE, TEXT, .wide_only = true),
	DW_VIEW_STAT_FIELDS(struct actions_row, stat),
	DW_FIELD(struct actions_row, share, "of wall", RATIO, REAL, .bar = true, .sums = "self_ns"),
	DW_VIEW_DEVICE_FIELDS(struct actions_row, device),
};

static struct dwell_table *actions_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_OWN, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	bool device = dw_model_has_device(model);
	const struct dw_device_sum *sums = device ? dw_model_device_by_row(model, DW_VIEW_OWN, error) : NULL;
	struct dwell_table *table = NULL;
	struct dw_view_places places;
	uint64_t whole_ns;

	if (flat && (sums || !device))
		table = DW_VIEW_CHOOSE_DEVICE(model, "actions", columns, device ? DW_HAS_DEVICE : 0, error);
	if (!table)
		return NULL;
	whole_ns = dw_view_whole(table, "share", flat, flat->wall_ns, true);
	dw_view_places_init(&places, model);
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		const struct dw_symbol *symbol = &symbols[from->symbol];

		DW_TABLE_PUT(table, 0, struct actions_row, .name = symbol->name, .category = dw_view_category(symbol->category),
		             .stat = dw_view_stat_of(&from->stat), .share = DW_PART(from->stat.self_ns, whole_ns),
		             .device = dw_view_device_of(sums ? &sums[dw_model_symbol_row(model, from->symbol)] : NULL));
		dw_view_places_take(&places, table, from->symbol);
	}
	DW_TABLE_PUT_TOTALS(table, struct actions_row, .name = NULL);
	dw_view_note_calls(table, flat);
	dw_view_places_finish(&places, table);
	return table;
}

const struct dw_view dw_view_actions = {
	.name = "actions", .question = "what do the program's own named ranges take?",
	.run = actions_view, .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns), &dw_view_places_columns),
	.categories = DW_VIEW_OWN, .needs = "named ranges", .remedy = "mark them with DWELL_ZONE(\"name\")",
};
