/*
 * layers: which layers of the model take the time and the memory?
 *
 * The tree by module path. Self and total are those of a layer's calls; operators and
 * backward are self times of operators, so that over all rows, with the one for what
 * lies in no layer, they add up to the operators view's. Children stand as first called.
 */
#include "model/layers.h"

#include "base/text.h"
#include "views/views.h"

enum {
	NAME, PATH, CALLS, SELF, TOTAL, MEAN, OPERATORS, SHARE, BACKWARD, BACKWARD_TOTAL, FLOPS,
	SELF_BYTES, BYTES, COLUMNS
};

static const struct dw_column columns[COLUMNS] = {
	DW_COLUMN("name", "layer", NONE, TEXT),
	DW_COLUMN("path", "path", NONE, TEXT, .data_only = true),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("mean_ns", "mean", NS, INT, .wide_only = true),
	DW_COLUMN("operators_ns", "operators", NS, INT),
	DW_COLUMN("share", "share", RATIO, REAL, .bar = true),
	DW_COLUMN("backward_ns", "backward", NS, INT),
	DW_COLUMN("backward_total_ns", "backward total", NS, INT),
	DW_COLUMN("flops", "FLOPs", COUNT, INT),
	DW_COLUMN("self_bytes", "self memory", BYTES, INT),
	DW_COLUMN("total_bytes", "memory", BYTES, INT),
};

/* People do not see columns that nothing was recorded for; machines do. */
static struct dw_table *make_table(const struct dw_layers *layers, struct dwell_error *error)
{
	struct dw_column own[COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		own[i] = columns[i];
	own[BACKWARD].data_only = own[BACKWARD_TOTAL].data_only = !layers->has_backward;
	own[FLOPS].data_only = !layers->has_flops;
	own[SELF_BYTES].data_only = own[BYTES].data_only = !layers->has_memory;
	return dw_view_table("layers", own, COLUMNS, error);
}

/* What every row has, those of the table's end too. */
static void fill_sums(struct dw_cell *row, const struct dw_layers *layers,
                      const struct dw_layer_sums *own, const struct dw_layer_sums *all,
                      uint64_t whole_ns)
{
	dw_cell_int(&row[OPERATORS], (int64_t)own->operators_ns);
	if (whole_ns)
		dw_cell_real(&row[SHARE],
		             (double)(own->operators_ns + own->backward_ns) / (double)whole_ns);
	if (layers->has_backward) {
		dw_cell_int(&row[BACKWARD], (int64_t)own->backward_ns);
		dw_cell_int(&row[BACKWARD_TOTAL], (int64_t)all->backward_ns);
	}
	if (layers->has_flops)
		dw_cell_int(&row[FLOPS], (int64_t)all->flops);
	if (layers->has_memory) {
		dw_cell_int(&row[SELF_BYTES], own->bytes);
		dw_cell_int(&row[BYTES], all->bytes);
	}
}

static void add_sums(struct dw_layer_sums *into, const struct dw_layer_sums *from)
{
	into->operators_ns += from->operators_ns;
	into->backward_ns += from->backward_ns;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->flops += from->flops;
}

static void fill_layer(struct dw_table *table, const struct dw_layers *layers,
                       const struct dw_layer *layer, uint64_t whole_ns)
{
	struct dw_cell *row = dw_table_row(table, (int)layer->depth);

	dw_cell_text(table, &row[NAME], layer->name);
	dw_cell_text(table, &row[PATH], layer->path);
	dw_cell_int(&row[CALLS], (int64_t)layer->calls);
	if (layer->calls) {
		dw_cell_int(&row[SELF], (int64_t)layer->self_ns);
		dw_cell_int(&row[TOTAL], (int64_t)layer->total_ns);
		dw_cell_int(&row[MEAN], (int64_t)((layer->total_ns + layer->calls / 2) / layer->calls));
	}
	fill_sums(row, layers, &layer->own, &layer->all, whole_ns);
}

static void fill(struct dw_table *table, const struct dw_layers *layers)
{
	struct dw_layer_sums sums = layers->outside;
	struct dw_cell *row;
	uint64_t whole_ns, calls = 0, open = 0;

	for (size_t i = 0; i < layers->count; i++) {
		add_sums(&sums, &layers->rows[i].own);
		calls += layers->rows[i].calls;
		open += layers->rows[i].open;
	}
	whole_ns = sums.operators_ns + sums.backward_ns;
	for (size_t i = 0; i < layers->count; i++)
		fill_layer(table, layers, &layers->rows[i], whole_ns);
	row = dw_table_row(table, 0);
	dw_cell_text(table, &row[NAME], "(outside layers)");
	fill_sums(row, layers, &layers->outside, &layers->outside, whole_ns);
	row = dw_table_totals(table);
	dw_cell_text(table, &row[NAME], "all operators");
	dw_cell_int(&row[CALLS], (int64_t)calls);
	fill_sums(row, layers, &sums, &sums, whole_ns);
	if (open)
		dw_table_note(table, "%s call%s did not end, or the end was overwritten; counted until there.",
		              dw_text_count((int64_t)open).at, dw_text_plural(open));
}

struct dw_table *dw_view_layers(struct dw_model *model, const struct dw_view_options *options,
                                struct dwell_error *error)
{
	const struct dw_layers *layers = dw_model_layers(model, error);
	struct dw_table *table = layers ? make_table(layers, error) : NULL;

	(void)options;
	if (table)
		fill(table, layers);
	return table;
}
