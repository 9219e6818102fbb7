/*
 * layers: which layers of the model take the time and the memory?
 *
 * The table is the tree of layers by module path. Self and total are times of a layer's calls.
 * Operators and backward are self times of operators: together with the rows for other layers and
 * for operators outside all layers they add up to those of the operators view. Without operators,
 * shares are of the layers' own time. Children are in the order of their first call. On request,
 * the calls of a layer and the operators inside it follow below the layer.
 */
#include "model/layers/layers.h"

#include "base/text.h"
#include "views/common.h"

enum {
	NAME, PATH, KIND, TYPE, CALL, START, CALLS, SELF, TOTAL, MEAN, OPERATORS, SHARE, BACKWARD_CALLS,
	BACKWARD, BACKWARD_TOTAL, DEVICE, DEVICE_TOTAL, FLOPS, PARAMETERS, SELF_BYTES, BYTES,
	BACKWARD_BYTES, COLUMNS, /* columns after this one only if the trace has work of devices */
	BACKWARD_DEVICE = COLUMNS, BACKWARD_DEVICE_TOTAL, DEVICE_EVENTS,
	EVENT_COLUMNS, /* columns after this one only if the trace has memory of devices */
	DEVICE_BYTES = EVENT_COLUMNS, DEVICE_TOTAL_BYTES, ALL_COLUMNS
};

static const struct dw_column columns[ALL_COLUMNS] = {
	DW_COLUMN("name", "layer", NONE, TEXT),
	DW_COLUMN("path", "path", NONE, TEXT, .data_only = true),
	DW_COLUMN("kind", "kind", NONE, TEXT, .data_only = true), /* layer, call, operator, rest */
	DW_COLUMN("type", "type", NONE, TEXT, .data_only = true),
	DW_COLUMN("call", "call", NONE, INT, .data_only = true),
	DW_COLUMN("start_ns", "start", NS, INT, .data_only = true),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("mean_ns", "mean", NS, INT, .wide_only = true),
	DW_COLUMN("operators_ns", "operators", NS, INT),
	DW_COLUMN("share", "of operators", RATIO, REAL, .bar = true),
	DW_COLUMN("backward_calls", "backward calls", COUNT, INT),
	DW_COLUMN("backward_ns", "backward", NS, INT),
	DW_COLUMN("backward_total_ns", "backward total", NS, INT),
	DW_COLUMN("device_ns", "device", NS, INT),
	DW_COLUMN("device_total_ns", "device total", NS, INT),
	DW_COLUMN("flops", "FLOPs", COUNT, INT),
	DW_COLUMN("parameters", "parameters", COUNT, INT),
	DW_COLUMN("self_bytes", "self memory", BYTES, INT),
	DW_COLUMN("total_bytes", "memory", BYTES, INT),
	DW_COLUMN("backward_bytes", "backward memory", BYTES, INT, .wide_only = true),
	DW_COLUMN("backward_device_ns", "backward device", NS, INT),
	DW_COLUMN("backward_device_total_ns", "backward device total", NS, INT),
	DW_COLUMN("device_events", "device events", COUNT, INT, .wide_only = true),
	DW_COLUMN("device_bytes", "self device memory", BYTES, INT),
	DW_COLUMN("device_total_bytes", "device memory", BYTES, INT),
};

struct filling {
	struct dwell_table *table;
	const struct dw_layers *layers;
	const struct dwell_view_options *options;
	const enum dw_layer_choice *choices;
	const char *chosen;             /* only these layers were recorded; NULL: all */
	uint64_t whole_ns;              /* time of all operators, or of all layers if there are no
	                                 * operators */
	bool operators;                 /* operators were recorded */
	struct dw_layer_sums elsewhere; /* sum over layers without a row of their own */
};

/* Text and Markdown omit columns for which nothing was recorded; CSV and JSON have all columns. */
static struct dwell_table *layers_make_table(const struct dw_layers *layers, const struct dwell_view_options *options,
                                             struct dwell_error *error)
{
	size_t count = layers->has_device_memory ? ALL_COLUMNS : layers->has_device_events ? EVENT_COLUMNS : COLUMNS;
	struct dw_column own[ALL_COLUMNS];

	for (size_t i = 0; i < ALL_COLUMNS; i++)
		own[i] = columns[i];
	own[BACKWARD].data_only = own[BACKWARD_TOTAL].data_only = !layers->has_backward;
	own[BACKWARD_CALLS].data_only = !layers->has_backward || !options->events;
	own[DEVICE].data_only = own[DEVICE_TOTAL].data_only = !layers->has_device;
	own[FLOPS].data_only = !layers->has_flops;
	if (layers->has_backward)
		own[FLOPS].label = "FLOPs, both passes";
	own[PARAMETERS].data_only = !layers->has_parameters;
	own[SELF_BYTES].data_only = own[BYTES].data_only = !layers->has_memory;
	own[BACKWARD_BYTES].data_only = !layers->has_backward_memory;
	own[BACKWARD_DEVICE].data_only = own[BACKWARD_DEVICE_TOTAL].data_only = !layers->has_backward_device;
	own[DEVICE_EVENTS].data_only = !layers->has_device_events;
	return dw_view_table("layers", own, count, error);
}

/* ---- cells ------------------------------------------------------------------------------ */

static void layers_fill_kind(const struct filling *filling, struct dw_cell *row, const char *kind,
                             const char *name, const char *path)
{
	dw_cell_text(filling->table, &row[NAME], name);
	if (path)
		dw_cell_text(filling->table, &row[PATH], path);
	dw_cell_text(filling->table, &row[KIND], kind);
}

/* Fills the columns that every row has. `all` includes nested layers; it is NULL for a row without
 * any. */
static void layers_fill_sums(const struct filling *filling, struct dw_cell *row,
                             const struct dw_layer_sums *own, const struct dw_layer_sums *all)
{
	const struct dw_layers *layers = filling->layers;

	all = all ? all : own;
	dw_cell_int(&row[OPERATORS], (int64_t)own->operators_ns);
	if (filling->whole_ns && filling->operators)
		dw_cell_real(&row[SHARE], (double)(own->operators_ns + own->backward_ns) / (double)filling->whole_ns);
	if (layers->has_backward) {
		dw_cell_int(&row[BACKWARD], (int64_t)own->backward_ns);
		dw_cell_int(&row[BACKWARD_TOTAL], (int64_t)all->backward_ns);
	}
	if (layers->has_device) {
		dw_cell_int(&row[DEVICE], (int64_t)own->device_ns);
		dw_cell_int(&row[DEVICE_TOTAL], (int64_t)all->device_ns);
	}
	if (layers->has_device_events) {
		dw_cell_int(&row[BACKWARD_DEVICE], (int64_t)own->backward_device_ns);
		dw_cell_int(&row[BACKWARD_DEVICE_TOTAL], (int64_t)all->backward_device_ns);
		dw_cell_int(&row[DEVICE_EVENTS], (int64_t)own->device_events);
	}
	if (layers->has_flops)
		dw_cell_int(&row[FLOPS], dw_flops_shown(all->flops));
	if (layers->has_memory) {
		dw_cell_int(&row[SELF_BYTES], own->bytes);
		dw_cell_int(&row[BYTES], all->bytes);
	}
	if (layers->has_backward_memory)
		dw_cell_int(&row[BACKWARD_BYTES], own->backward_bytes);
	if (layers->has_device_memory) {
		dw_cell_int(&row[DEVICE_BYTES], own->device_bytes);
		dw_cell_int(&row[DEVICE_TOTAL_BYTES], all->device_bytes);
	}
}

static void layers_fill_operators(const struct filling *filling, struct dw_layer_operators from,
                                  const char *path, int64_t call, int depth)
{
	for (size_t i = from.first; i < from.first + from.count; i++) {
		const struct dw_layer_operator *operator = &filling->layers->operators[i];
		struct dw_cell *row = dw_table_row(filling->table, depth);

		layers_fill_kind(filling, row, "operator", operator->name, path);
		if (call >= 0)
			dw_cell_int(&row[CALL], call);
		dw_cell_int(&row[CALLS], (int64_t)operator->calls);
		if (operator->calls) {
			dw_cell_int(&row[SELF], (int64_t)operator->own.operators_ns);
			dw_cell_int(&row[TOTAL], (int64_t)operator->total_ns);
			dw_cell_int(&row[MEAN], (int64_t)((operator->total_ns + operator->calls / 2) / operator->calls));
		}
		if (filling->layers->has_backward)
			dw_cell_int(&row[BACKWARD_CALLS], (int64_t)operator->backward_calls);
		layers_fill_sums(filling, row, &operator->own, NULL);
		if (filling->layers->has_memory)
			dw_cell_int(&row[BYTES], operator->total_bytes);
		if (filling->layers->has_device_memory)
			dw_cell_int(&row[DEVICE_TOTAL_BYTES], operator->device_total_bytes);
		if (filling->layers->has_device_events)
			dw_cell_int(&row[DEVICE_TOTAL], (int64_t)operator->device_total_ns);
		if (filling->layers->has_backward)
			dw_cell_int(&row[BACKWARD_TOTAL], (int64_t)operator->backward_total_ns);
	}
}

static void layers_fill_calls(const struct filling *filling, const struct dw_layer *layer, int depth)
{
	for (size_t i = layer->first_call; i < layer->first_call + layer->call_count; i++) {
		const struct dw_layer_call *call = &filling->layers->calls[i];
		struct dw_cell *row = dw_table_row(filling->table, depth);
		char name[32];

		snprintf(name, sizeof name, "call %u", call->number);
		layers_fill_kind(filling, row, "call", name, layer->path);
		dw_cell_int(&row[CALL], call->number);
		dw_cell_int(&row[START], (int64_t)call->start_ns);
		dw_cell_int(&row[CALLS], 1);
		dw_cell_int(&row[SELF], (int64_t)call->self_ns);
		dw_cell_int(&row[TOTAL], (int64_t)call->total_ns);
		dw_cell_int(&row[MEAN], (int64_t)call->total_ns);
		layers_fill_sums(filling, row, &call->own, &call->all);
		if (filling->options->events)
			layers_fill_operators(filling, call->operators, layer->path, call->number, depth + 1);
	}
}

static void layers_fill_layer(const struct filling *filling, const struct dw_layer *layer)
{
	bool leaves = filling->options->leaves;
	int depth = leaves ? 0 : (int)layer->depth;
	struct dw_cell *row = dw_table_row(filling->table, depth);

	layers_fill_kind(filling, row, "layer", leaves ? layer->path : layer->name, layer->path);
	if (layer->type)
		dw_cell_text(filling->table, &row[TYPE], layer->type);
	dw_cell_int(&row[CALLS], (int64_t)layer->calls);
	if (layer->calls) {
		dw_cell_int(&row[SELF], (int64_t)layer->self_ns);
		dw_cell_int(&row[TOTAL], (int64_t)layer->total_ns);
		dw_cell_int(&row[MEAN], (int64_t)((layer->total_ns + layer->calls / 2) / layer->calls));
	}
	if (filling->layers->has_parameters)
		dw_cell_int(&row[PARAMETERS], (int64_t)layer->parameters);
	layers_fill_sums(filling, row, &layer->own, &layer->all);
	if (!filling->operators && filling->whole_ns)
		dw_cell_real(&row[SHARE], (double)layer->self_ns / (double)filling->whole_ns);
	if (filling->options->events)
		layers_fill_operators(filling, layer->operators, layer->path, -1, depth + 1);
	if (filling->options->per_call)
		layers_fill_calls(filling, layer, depth + 1);
}

/* ---- rows ------------------------------------------------------------------------------- */

static void layers_fill_rest(const struct filling *filling, const char *name, const struct dw_layer_sums *sums)
{
	struct dw_cell *row = dw_table_row(filling->table, 0);

	layers_fill_kind(filling, row, "rest", name, NULL);
	layers_fill_sums(filling, row, sums, NULL);
}

static void layers_fill_rows(struct filling *filling)
{
	const struct dw_layers *layers = filling->layers;
	bool elsewhere = false;

	for (size_t i = 0; i < layers->count; i++) {
		const struct dw_layer *layer = &layers->rows[i];
		bool leaves = filling->options->leaves;

		if (filling->choices[i] >= DW_LAYER_CHOSEN && (layer->leaf || !leaves)) {
			layers_fill_layer(filling, layer);
			continue;
		}
		if (filling->choices[i] == DW_LAYER_ABOVE && !leaves) /* without figures; a layer within it was chosen */
			layers_fill_kind(filling, dw_table_row(filling->table, (int)layer->depth), "layer", layer->name,
			                 layer->path);
		dw_layer_sums_add(&filling->elsewhere, &layer->own);
		elsewhere = true;
	}
	if (elsewhere)
		layers_fill_rest(filling, "(other layers)", &filling->elsewhere);
	if (filling->operators)
		layers_fill_rest(filling, "(outside layers)", &layers->outside);
	if (filling->options->events)
		layers_fill_operators(filling, layers->outside_operators, NULL, -1, 1);
}

static void layers_fill_row(struct filling *filling)
{
	const struct dw_layers *layers = filling->layers;
	struct dw_layer_sums sums = layers->outside;
	uint64_t calls = 0, open = 0, parameters = 0, self_ns = 0;
	struct dw_cell *row;

	for (size_t i = 0; i < layers->count; i++) {
		dw_layer_sums_add(&sums, &layers->rows[i].own);
		calls += layers->rows[i].calls;
		open += layers->rows[i].open;
		parameters += layers->rows[i].parameters;
	}
	filling->whole_ns = sums.operators_ns + sums.backward_ns;
	filling->operators = filling->whole_ns > 0;
	for (size_t i = 0; i < layers->count; i++)
		self_ns += layers->rows[i].self_ns;
	/* If only layers were recorded, shares are of the layers' own time. */
	if (!filling->operators) {
		filling->whole_ns = self_ns;
		filling->table->columns[OPERATORS].data_only = true;
		filling->table->columns[SHARE].label = "of layers";
	}
	layers_fill_rows(filling);
	row = dw_table_totals(filling->table);
	dw_cell_text(filling->table, &row[NAME], filling->operators ? "all operators" : "all layers");
	if (!filling->operators) {
		dw_cell_int(&row[CALLS], (int64_t)calls);
		dw_cell_int(&row[SELF], (int64_t)self_ns);
	}
	if (layers->has_parameters)
		dw_cell_int(&row[PARAMETERS], (int64_t)parameters);
	layers_fill_sums(filling, row, &sums, NULL);
	if (filling->chosen)
		dw_table_note(filling->table, "Of layers only these were recorded: %.300s; what lies in others counts for "
		              "what is around them.", filling->chosen);
	if (open)
		dw_table_note(filling->table, "%s call%s did not end, or the end was overwritten; counted until there.",
		              dw_text_count((int64_t)open).at, dw_text_plural(open));
}

static struct dwell_table *layers_view(struct dw_model *model, const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	struct dw_layers_ask ask = { .operators = options->events, .calls = options->per_call };
	struct filling filling = { .options = options };
	enum dw_layer_choice *choices;

	filling.layers = dw_model_layers(model, &ask, error);
	if (!filling.layers || dw_layers_choose(model, filling.layers, options->paths, &choices, error))
		return NULL;
	filling.choices = choices;
	filling.chosen = dw_model_source(model)->files[0].layers;
	filling.table = layers_make_table(filling.layers, options, error);
	if (filling.table)
		layers_fill_row(&filling);
	return filling.table;
}

const struct dw_view dw_view_layers = {
	.name = "layers", .question = "which layers of the model take the time and the memory?",
	.run = layers_view,
	.takes = DW_VIEW_TAKES(events) | DW_VIEW_TAKES(paths) | DW_VIEW_TAKES(leaves) | DW_VIEW_TAKES(per_call),
	.row_name = "name", .row_ns = "total_ns", .limit = SIZE_MAX,
	.categories = DW_VIEW_CATEGORY(LAYER), .needs = "layers",
	.remedy = "mark each layer's call with DWELL_LAYER(\"path\")",
};
