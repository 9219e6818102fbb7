/* The nodes of a picture of layers; see layers.h. */
#include "pictures/layers.h"


#include "base/arena.h"
#include "base/error.h"
#include "model/layers/layers.h"

enum { KIND_WHOLE, KIND_LAYER, KIND_OPERATOR, KIND_OUTSIDE };
static const struct dw_picture_kind kinds[] = {
	{ "all", DW_HUE_GREY }, { "layer", DW_HUE_GREEN }, { "operator", DW_HUE_AMBER },
	{ "outside layers", DW_HUE_STONE },
};

static const struct {
	const char *what, *counts, *none;
} pictures[] = {
	[DW_LAYER_PICTURE_TIME] = { "forward", "width is operators' time, the backward pass left out",
	                            "no operators: mark them with DWELL_OP(\"name\")" },
	[DW_LAYER_PICTURE_MEMORY] = { "memory", "width is what the forward pass allocated and kept",
	                              "no memory that was kept: record allocations" },
	[DW_LAYER_PICTURE_BACKWARD] = { "backward", "width is operators' time in the backward pass",
	                                "no backward pass: record a step of training" },
};

struct drawing {
	const struct dw_layers *layers;
	enum dw_layer_picture_of of;
	struct dw_arena arena;
	struct dw_picture_node *nodes;
	size_t count;
};

/* The value without that of inner layers. A layer that freed more than it allocated kept 0. */
static uint64_t layers_value(const struct drawing *drawing, const struct dw_layer_sums *sums)
{
	if (drawing->of == DW_LAYER_PICTURE_MEMORY)
		return sums->bytes > 0 ? (uint64_t)sums->bytes : 0;
	return drawing->of == DW_LAYER_PICTURE_TIME ? sums->operators_ns : sums->backward_ns;
}

static struct dw_picture_node *layers_add_node(struct drawing *drawing, const char *label, uint64_t value,
                                               uint64_t calls, uint32_t depth, uint32_t kind)
{
	struct dw_picture_node *node = &drawing->nodes[drawing->count++];

	*node = (struct dw_picture_node){ .label = label, .value = value, .self = value,
		.count = calls, .depth = depth, .kind = kind };
	return node;
}

static void layers_add_operators(struct drawing *drawing, struct dw_layer_operators from, uint32_t depth)
{
	for (size_t i = from.first; i < from.first + from.count; i++) {
		const struct dw_layer_operator *operator = &drawing->layers->operators[i];
		uint64_t value = layers_value(drawing, &operator->own);
		bool backward = drawing->of == DW_LAYER_PICTURE_BACKWARD;

		if (value)
			layers_add_node(drawing, operator->name, value,
			                backward ? operator->backward_calls : operator->calls, depth, KIND_OPERATOR);
	}
}

/* Adds the value of each layer, which is its own until now, to the layer around it. */
static void layers_sum_up(struct drawing *drawing, const size_t *node_of_layer)
{
	for (size_t i = drawing->layers->count; i-- > 0;) {
		const struct dw_layer *layer = &drawing->layers->rows[i];

		if (layer->parent != DW_NO_INDEX)
			drawing->nodes[node_of_layer[layer->parent]].value += drawing->nodes[node_of_layer[i]].value;
	}
}

static bool layers_make_nodes(struct drawing *drawing)
{
	const struct dw_layers *layers = drawing->layers;
	size_t most = layers->count + layers->operator_count + 1;
	size_t *node_of_layer = dw_arena_alloc(&drawing->arena, (layers->count + 1) * sizeof *node_of_layer);

	drawing->nodes = dw_arena_alloc(&drawing->arena, most * sizeof *drawing->nodes);
	if (!node_of_layer || !drawing->nodes)
		return false;
	for (size_t i = 0; i < layers->count; i++) {
		const struct dw_layer *layer = &layers->rows[i];

		node_of_layer[i] = drawing->count;
		layers_add_node(drawing, layer->name, layers_value(drawing, &layer->own), layer->calls, layer->depth,
		                KIND_LAYER);
		layers_add_operators(drawing, layer->operators, layer->depth + 1);
	}
	layers_sum_up(drawing, node_of_layer);
	if (layers_value(drawing, &layers->outside)) {
		layers_add_node(drawing, "(outside layers)", layers_value(drawing, &layers->outside), 0, 0, KIND_OUTSIDE);
		layers_add_operators(drawing, layers->outside_operators, 1);
	}
	return true;
}

static uint64_t layers_whole(const struct drawing *drawing)
{
	uint64_t value = 0;

	for (size_t i = 0; i < drawing->count; i++)
		value += drawing->nodes[i].depth ? 0 : drawing->nodes[i].value;
	return value;
}

/* Bytes that layers freed but had not allocated. The view `layers` subtracts them; a width cannot
 * be negative. */
static uint64_t layers_freed(const struct drawing *drawing)
{
	const struct dw_layers *layers = drawing->layers;
	uint64_t bytes = layers->outside.bytes < 0 ? (uint64_t)-layers->outside.bytes : 0;

	for (size_t i = 0; i < layers->count; i++)
		bytes += layers->rows[i].own.bytes < 0 ? (uint64_t)-layers->rows[i].own.bytes : 0;
	return drawing->of == DW_LAYER_PICTURE_MEMORY ? bytes : 0;
}

static void layers_next_node(const void *context, size_t index, struct dw_picture_node *to)
{
	*to = ((const struct drawing *)context)->nodes[index];
}

static const char *layers_make_title(struct drawing *drawing, const struct dw_source *source)
{
	const char *name = source->process_count ? source->processes[0].label : "";

	for (size_t i = 0; i < source->process_count; i++)
		if (!(source->processes[i].flags & DW_PROCESS_RUNNER)) {
			name = source->processes[i].label;
			break;
		}
	return dw_arena_printf(&drawing->arena, "%s: layers, %s", name, pictures[drawing->of].what);
}

/* Makes the nodes, the title and the subtitle. */
static int layers_fill(struct drawing *drawing, struct dw_picture *picture, struct dw_model *model, struct dwell_error *error)
{
	const char *less = "";
	struct dw_text total;

	if (!layers_make_nodes(drawing))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing layers");
	if (!drawing->layers->count || !layers_whole(drawing))
		return dw_error_set(error, DWELL_E_NO_DATA, "%s has %s",
		                    dw_model_source(model)->files[0].path,
		                    drawing->layers->count
		                        ? pictures[drawing->of].none
		                        : "no layers: mark each layer's call with DWELL_LAYER(\"path\")");
	total = picture->unit((double)layers_whole(drawing), " ");
	picture->count = drawing->count;
	if (layers_freed(drawing))
		less = dw_arena_printf(&drawing->arena, "; less %s that layers freed of others' memory",
		                       dw_text_bytes((double)layers_freed(drawing), " ").at);
	picture->subtitle = less ? dw_arena_printf(&drawing->arena, "%s in %s layer%s; %s%s", total.at,
	                                           dw_text_count((int64_t)drawing->layers->count).at,
	                                           dw_text_plural(drawing->layers->count),
	                                           pictures[drawing->of].counts, less) : NULL;
	if (!picture->title)
		picture->title = layers_make_title(drawing, dw_model_source(model));
	if (!picture->title || !picture->subtitle)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing layers");
	return 0;
}

int dw_layer_picture_write(struct dw_model *model, enum dw_layer_picture_of of, const char *title,
                           bool down, dw_put *put, void *to, struct dw_picture_drawn *drawn, struct dwell_error *error)
{
	const struct dw_layers_ask ask = { .operators = true };
	struct drawing drawing = { .of = of };
	struct dw_picture picture = {
		.title = title, .root = "all", .counted = "call", .down = down,
		.unit = of == DW_LAYER_PICTURE_MEMORY ? dw_text_bytes : dw_text_ns,
		.kinds = kinds, .kind_count = sizeof kinds / sizeof *kinds,
		.node = layers_next_node, .context = &drawing,
	};
	int result;

	drawing.layers = dw_model_layers(model, &ask, error);
	if (!drawing.layers)
		return DWELL_E_NOMEM;
	result = layers_fill(&drawing, &picture, model, error);
	if (!result)
		result = dw_picture_write(&picture, put, to, drawn, error);
	dw_arena_reset(&drawing.arena);
	return result;
}
