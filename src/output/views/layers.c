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
#include "views/columns.h"

/* What was recorded. */
enum {
	BACKWARD = DW_HAS_OWN,
	FORWARD = BACKWARD << 1, /* one of them: calls of backward, or none */
	BACKWARD_CALLS = BACKWARD << 2,
	DEVICE = BACKWARD << 3,
	FLOPS = BACKWARD << 4,
	PARAMETERS = BACKWARD << 5,
	MEMORY = BACKWARD << 6,
	BACKWARD_MEMORY = BACKWARD << 7,
	BACKWARD_DEVICE = BACKWARD << 8,
	DEVICE_EVENTS = BACKWARD << 9,
	DEVICE_WORK = BACKWARD << 10,
	DEVICE_MEMORY = BACKWARD << 11,
};

struct layers_row {
	const char *name, *path, *kind, *type;
	struct dw_cell call, start_ns, calls, self_ns, total_ns, mean_ns, operators_ns, share, backward_calls, backward_ns,
		backward_total_ns, device_ns, device_total_ns, flops, parameters, self_bytes, total_bytes, backward_bytes,
		backward_device_ns, backward_device_total_ns, device_events, device_bytes, device_total_bytes;
};

/* Text and Markdown omit columns for which nothing was recorded; CSV and JSON have them, but for work and memory of
 * devices. */
static const struct dw_column columns[] = {
	DW_FIELD(struct layers_row, name, "layer", NONE, TEXT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, path, "path", NONE, TEXT, .data_only = true),
	DW_FIELD(struct layers_row, kind, "kind", NONE, TEXT, .data_only = true), /* layer, call, operator, rest */
	DW_FIELD(struct layers_row, type, "type", NONE, TEXT, .data_only = true),
	DW_FIELD(struct layers_row, call, "call", NONE, INT, .data_only = true),
	DW_FIELD(struct layers_row, start_ns, "start", NS, INT, .data_only = true),
	DW_FIELD(struct layers_row, calls, "calls", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, self_ns, "self", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, total_ns, "total", NS, INT),
	DW_FIELD(struct layers_row, mean_ns, "mean", NS, INT, .wide_only = true),
	DW_FIELD(struct layers_row, operators_ns, "operators", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, share, "of operators", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, backward_calls, "backward calls", COUNT, INT, .text_only = BACKWARD_CALLS),
	DW_FIELD(struct layers_row, backward_ns, "backward", NS, INT, .text_only = BACKWARD, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, backward_total_ns, "backward total", NS, INT, .text_only = BACKWARD,
	         .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, device_ns, "device", NS, INT, .text_only = DEVICE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, device_total_ns, "device total", NS, INT, .text_only = DEVICE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, flops, "FLOPs", COUNT, INT, .only = FORWARD, .text_only = FLOPS, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, flops, "FLOPs, both passes", COUNT, INT, .only = BACKWARD, .text_only = FLOPS,
	         .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, parameters, "parameters", COUNT, INT, .text_only = PARAMETERS, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, self_bytes, "self memory", BYTES, INT, .text_only = MEMORY, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, total_bytes, "memory", BYTES, INT, .text_only = MEMORY, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, backward_bytes, "backward memory", BYTES, INT, .wide_only = true,
	         .text_only = BACKWARD_MEMORY, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, backward_device_ns, "backward device", NS, INT, .only = DEVICE_EVENTS,
	         .text_only = BACKWARD_DEVICE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, backward_device_total_ns, "backward device total", NS, INT, .only = DEVICE_EVENTS,
	         .text_only = BACKWARD_DEVICE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, device_events, "device events", COUNT, INT, .wide_only = true, .only = DEVICE_EVENTS,
	         .text_only = DEVICE_WORK, .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, device_bytes, "self device memory", BYTES, INT, .only = DEVICE_MEMORY,
	         .total = DW_TOTAL_OWN),
	DW_FIELD(struct layers_row, device_total_bytes, "device memory", BYTES, INT, .only = DEVICE_MEMORY,
	         .total = DW_TOTAL_OWN),
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

static unsigned layers_find_columns(const struct dw_layers *layers, const struct dwell_view_options *options)
{
	return (layers->has_backward ? BACKWARD : FORWARD) |
	       (layers->has_backward && options->events ? BACKWARD_CALLS : 0) | (layers->has_device ? DEVICE : 0) |
	       (layers->has_flops ? FLOPS : 0) | (layers->has_parameters ? PARAMETERS : 0) |
	       (layers->has_memory ? MEMORY : 0) | (layers->has_backward_memory ? BACKWARD_MEMORY : 0) |
	       (layers->has_backward_device ? BACKWARD_DEVICE : 0) |
	       (layers->has_device_events || layers->has_device_memory ? DEVICE_EVENTS : 0) |
	       (layers->has_device_events ? DEVICE_WORK : 0) | (layers->has_device_memory ? DEVICE_MEMORY : 0);
}

/* ---- cells ------------------------------------------------------------------------------ */

/* Fills the columns that every row has. `all` includes nested layers; it is NULL for a row without
 * any. */
static void layers_fill_sums(const struct filling *filling, struct layers_row *row, const struct dw_layer_sums *own,
                             const struct dw_layer_sums *all)
{
	const struct dw_layers *layers = filling->layers;

	all = all ? all : own;
	row->operators_ns = DW_INT(own->operators_ns);
	if (filling->whole_ns && filling->operators)
		row->share = DW_REAL((double)(own->operators_ns + own->backward_ns) / (double)filling->whole_ns);
	if (layers->has_backward) {
		row->backward_ns = DW_INT(own->backward_ns);
		row->backward_total_ns = DW_INT(all->backward_ns);
	}
	if (layers->has_device) {
		row->device_ns = DW_INT(own->device_ns);
		row->device_total_ns = DW_INT(all->device_ns);
	}
	if (layers->has_device_events) {
		row->backward_device_ns = DW_INT(own->backward_device_ns);
		row->backward_device_total_ns = DW_INT(all->backward_device_ns);
		row->device_events = DW_INT(own->device_events);
	}
	if (layers->has_flops)
		row->flops = DW_INT(dw_flops_shown(all->flops));
	if (layers->has_memory) {
		row->self_bytes = DW_INT(own->bytes);
		row->total_bytes = DW_INT(all->bytes);
	}
	if (layers->has_backward_memory)
		row->backward_bytes = DW_INT(own->backward_bytes);
	if (layers->has_device_memory) {
		row->device_bytes = DW_INT(own->device_bytes);
		row->device_total_bytes = DW_INT(all->device_bytes);
	}
}

static void layers_fill_operators(const struct filling *filling, struct dw_layer_operators from,
                                  const char *path, int64_t call, int depth)
{
	for (size_t i = from.first; i < from.first + from.count; i++) {
		const struct dw_layer_operator *operator = &filling->layers->operators[i];
		struct layers_row row = { .kind = "operator", .name = operator->name, .path = path };

		if (call >= 0)
			row.call = DW_INT(call);
		row.calls = DW_INT(operator->calls);
		if (operator->calls) {
			row.self_ns = DW_INT(operator->own.operators_ns);
			row.total_ns = DW_INT(operator->total_ns);
			row.mean_ns = DW_INT((operator->total_ns + operator->calls / 2) / operator->calls);
		}
		if (filling->layers->has_backward)
			row.backward_calls = DW_INT(operator->backward_calls);
		layers_fill_sums(filling, &row, &operator->own, NULL);
		if (filling->layers->has_memory)
			row.total_bytes = DW_INT(operator->total_bytes);
		if (filling->layers->has_device_memory)
			row.device_total_bytes = DW_INT(operator->device_total_bytes);
		if (filling->layers->has_device_events)
			row.device_total_ns = DW_INT(operator->device_total_ns);
		if (filling->layers->has_backward)
			row.backward_total_ns = DW_INT(operator->backward_total_ns);
		dw_table_put(filling->table, depth, &row, sizeof row);
	}
}

static void layers_fill_calls(const struct filling *filling, const struct dw_layer *layer, int depth)
{
	for (size_t i = layer->first_call; i < layer->first_call + layer->call_count; i++) {
		const struct dw_layer_call *call = &filling->layers->calls[i];
		struct layers_row row = { .kind = "call", .path = layer->path };
		char name[32];

		snprintf(name, sizeof name, "call %u", call->number);
		row.name = name;
		row.call = DW_INT(call->number);
		row.start_ns = DW_INT(call->start_ns);
		row.calls = DW_INT(1);
		row.self_ns = DW_INT(call->self_ns);
		row.total_ns = DW_INT(call->total_ns);
		row.mean_ns = DW_INT(call->total_ns);
		layers_fill_sums(filling, &row, &call->own, &call->all);
		dw_table_put(filling->table, depth, &row, sizeof row);
		if (filling->options->events)
			layers_fill_operators(filling, call->operators, layer->path, call->number, depth + 1);
	}
}

static void layers_fill_layer(const struct filling *filling, const struct dw_layer *layer)
{
	bool leaves = filling->options->leaves;
	int depth = leaves ? 0 : (int)layer->depth;
	struct layers_row row = {
		.kind = "layer", .name = leaves ? layer->path : layer->name, .path = layer->path, .type = layer->type
	};

	row.calls = DW_INT(layer->calls);
	if (layer->calls) {
		row.self_ns = DW_INT(layer->self_ns);
		row.total_ns = DW_INT(layer->total_ns);
		row.mean_ns = DW_INT((layer->total_ns + layer->calls / 2) / layer->calls);
	}
	if (filling->layers->has_parameters)
		row.parameters = DW_INT(layer->parameters);
	layers_fill_sums(filling, &row, &layer->own, &layer->all);
	if (!filling->operators && filling->whole_ns)
		row.share = DW_REAL((double)layer->self_ns / (double)filling->whole_ns);
	dw_table_put(filling->table, depth, &row, sizeof row);
	if (filling->options->events)
		layers_fill_operators(filling, layer->operators, layer->path, -1, depth + 1);
	if (filling->options->per_call)
		layers_fill_calls(filling, layer, depth + 1);
}

/* ---- rows ------------------------------------------------------------------------------- */

static void layers_fill_rest(const struct filling *filling, const char *name, const struct dw_layer_sums *sums)
{
	struct layers_row row = { .kind = "rest", .name = name };

	layers_fill_sums(filling, &row, sums, NULL);
	dw_table_put(filling->table, 0, &row, sizeof row);
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
			DW_TABLE_PUT(filling->table, (int)layer->depth, struct layers_row, .kind = "layer", .name = layer->name,
			             .path = layer->path);
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
	struct layers_row row = { .name = NULL };

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
		dw_table_named(filling->table, "operators_ns")->data_only = true;
		dw_table_named(filling->table, "share")->label = "of layers";
	}
	layers_fill_rows(filling);
	row.name = filling->operators ? "all operators" : "all layers";
	if (!filling->operators) {
		row.calls = DW_INT(calls);
		row.self_ns = DW_INT(self_ns);
	}
	if (layers->has_parameters)
		row.parameters = DW_INT(parameters);
	layers_fill_sums(filling, &row, &sums, NULL);
	dw_table_put_totals(filling->table, &row, sizeof row);
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
	filling.table = DW_VIEW_CHOOSE("layers", columns, layers_find_columns(filling.layers, options), error);
	if (filling.table)
		layers_fill_row(&filling);
	return filling.table;
}

const struct dw_view dw_view_layers = {
	.name = "layers", .question = "which layers of the model take the time and the memory?",
	.run = layers_view,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.takes = DW_VIEW_TAKES(events) | DW_VIEW_TAKES(paths) | DW_VIEW_TAKES(leaves) | DW_VIEW_TAKES(per_call),
	.row_name = "name", .row_ns = "total_ns", .limit = SIZE_MAX,
	.categories = DW_VIEW_CATEGORY(LAYER), .needs = "layers",
	.remedy = "mark each layer's call with DWELL_LAYER(\"path\")",
};
