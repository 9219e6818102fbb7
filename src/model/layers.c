/* Layers and the operators that they cause; see layers.h. The walk is here, the tree
 * with its names in layers_tree.c. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "model/calls_inside.h"
#include "model/flops.h"
#include "model/layers_inside.h"
#include "model/walk.h"

enum what { NOTHING, LAYER, OPERATOR };

struct frame {
	uint64_t start, child;  /* child: of the same kind */
	enum what what;
	uint32_t symbol;
	uint32_t node;          /* the innermost layer, its own or inherited; 0: none */
	uint32_t late;          /* + 1: what waits for its forward operator's layer; inherited */
	bool backward;          /* in a backward phase; inherited */
	bool covered;           /* an operator around it has FLOPs: its own are part of those */
	bool counts;            /* in scope */
};

/* Of a backward operator, until it is known which layer ran its forward. */
struct late {
	uint64_t sequence;
	uint32_t thread;
	struct dw_layer_ticks ticks;
};

/* A forward operator's place. */
struct link {
	uint64_t sequence;
	uint32_t thread, node;
};

struct pass {
	struct dw_model *model;
	struct dw_layer_tree tree;
	struct dw_call_memory memory;
	uint64_t *flops;        /* by symbol */
	bool *backward;         /* by symbol: it names the backward pass */
	struct frame *frames;
	size_t frame_capacity;
	struct late *lates;
	size_t late_count, late_capacity;
	struct link *links;
	size_t link_count, link_capacity;
	bool failed;
};

struct context {
	struct dw_walk walk; /* first */
	struct pass *pass;
	const uint32_t *symbol_by_id;
	size_t depth;
	uint64_t over;
	double ratio;        /* to ticks of the first file */
};

/* ---- a stream ----------------------------------------------------------------------- */

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;
	uint32_t symbol = context->symbol_by_id[id < context->walk.op_count ? id : 0];
	uint32_t category = pass->model->symbols[symbol].category;
	struct frame *frame = NULL, *around;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&pass->frames, &pass->frame_capacity, context->depth);
	if (!frame) {
		pass->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	around = context->depth++ ? frame - 1 : NULL;
	if (around) {
		*frame = *around;
		frame->child = 0;
		frame->covered = around->covered ||
		                 (around->what == OPERATOR && pass->flops[around->symbol]);
	}
	frame->start = ticks;
	frame->symbol = symbol;
	frame->backward |= pass->backward[symbol];
	frame->counts = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
	frame->what = category == DWELL_CATEGORY_OPERATOR ? OPERATOR
	              : category == DWELL_CATEGORY_LAYER  ? LAYER : NOTHING;
	if (frame->what == LAYER) {
		frame->node = dw_layer_node(&pass->tree, symbol, frame->node);
		if (frame->node)
			pass->tree.nodes[frame->node].within++;
		else
			pass->failed = true;
	}
}

/* Where a frame's time, bytes and FLOPs go; a layer's own calls never wait. */
static struct dw_layer_ticks *ticks_of(struct pass *pass, const struct frame *frame)
{
	return frame->late ? &pass->lates[frame->late - 1].ticks : &pass->tree.nodes[frame->node].ticks;
}

static void end_operator(struct context *context, const struct frame *frame, uint64_t self)
{
	struct dw_layer_ticks *ticks = ticks_of(context->pass, frame);

	*(frame->late || frame->backward ? &ticks->backward : &ticks->operators) +=
	    (uint64_t)((double)self * context->ratio);
	if (!frame->covered)
		ticks->flops += context->pass->flops[frame->symbol];
}

static void end_layer(struct context *context, const struct frame *frame, uint64_t duration,
                      uint64_t self, bool ended)
{
	struct dw_layer_node *node = &context->pass->tree.nodes[frame->node];

	if (frame->backward)
		return;
	node->calls++;
	node->open += !ended;
	node->self += (uint64_t)((double)self * context->ratio);
	if (!node->within)
		node->total += (uint64_t)((double)duration * context->ratio);
}

/* `at` frames lie around `frame`, which is none of the stack's any more. */
static void end_frame(struct context *context, const struct frame *frame, size_t at, uint64_t ticks,
                      bool ended)
{
	uint64_t duration = ticks - frame->start;
	uint64_t self = duration > frame->child ? duration - frame->child : 0;

	if (frame->what == NOTHING)
		return;
	if (frame->what == LAYER)
		context->pass->tree.nodes[frame->node].within--;
	if (!frame->counts)
		return;
	while (at--) {
		struct frame *around = &context->pass->frames[at];

		if (around->what == frame->what) {
			around->child += duration;
			break;
		}
	}
	if (frame->what == OPERATOR)
		end_operator(context, frame, self);
	else
		end_layer(context, frame, duration, self, ended);
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over) {
		context->over--;
	} else if (context->depth) {
		context->depth--;
		end_frame(context, &context->pass->frames[context->depth], context->depth, ticks, true);
	}
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	(void)why;
	context->over = 0;
	while (context->depth) {
		context->depth--;
		end_frame(context, &context->pass->frames[context->depth], context->depth, ticks, false);
	}
}

static void end_of(struct context *context, uint64_t ticks, uint32_t n)
{
	struct frame *frames = context->pass->frames, frame;
	size_t at;

	if (context->over || n >= context->depth)
		return;
	at = context->depth - 1 - n;
	frame = frames[at];
	memmove(&frames[at], &frames[at + 1], n * sizeof frame);
	context->depth--;
	end_frame(context, &frame, at, ticks, true);
}

/* Forward: the operator's place is known. Backward: it is what has to be found. */
static void take_link(struct context *context, const struct dw_record *record)
{
	struct pass *pass = context->pass;
	struct frame *frame = context->depth ? &pass->frames[context->depth - 1] : NULL;
	uint64_t sequence = record->payload[0] | (uint64_t)record->payload[1] << 32;
	uint32_t id = record->payload[2];

	if (!frame || context->over || frame->what != OPERATOR)
		return;
	if (!id) {
		struct link *link = frame->late || !frame->node
		                        ? NULL : DW_GROW(&pass->links, &pass->link_capacity, pass->link_count);

		if (link)
			*link = (struct link){ sequence, context->walk.thread, frame->node };
		else
			pass->failed |= !frame->late && frame->node;
		pass->link_count += link != NULL;
	} else if (id < context->walk.file->symbol_count) {
		struct late *late = DW_GROW(&pass->lates, &pass->late_capacity, pass->late_count);

		if (late) {
			late->sequence = sequence;
			late->thread = context->walk.file->thread_by_id[id];
			frame->late = (uint32_t)++pass->late_count;
		}
		pass->failed |= !late;
	}
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	if (record->kind == DW_END_OF) {
		end_of(context, ticks, record->payload[0]);
	} else if (record->kind == DW_LINK) {
		take_link(context, record);
	} else if (record->kind == DW_ALLOC || record->kind == DW_FREE) {
		struct frame none = { 0 };
		const struct frame *frame =
		    context->depth && !context->over ? &pass->frames[context->depth - 1] : &none;
		struct dw_layer_ticks *sums = ticks_of(pass, frame);
		bool backward = frame->late || frame->backward;
		int64_t change = dw_call_memory_next(&pass->memory, dw_record_u64(record, 0));

		if (context->walk.wanted && dw_walk_in_time(&context->walk, ticks))
			*(backward ? &sums->backward_bytes : &sums->bytes) += change;
	}
}

static bool walk_streams(struct pass *pass)
{
	struct dw_model *model = pass->model;
	const struct dw_source *source = model->source;
	void *buffer = malloc(DW_BLOCK_BYTES);

	pass->failed |= !buffer;
	for (size_t i = 0; i < source->stream_count && !pass->failed; i++) {
		struct context context;

		/* Out of scope nothing counts; the memory of all streams is in one row. */
		if (!dw_scope_has_stream(model, &source->streams[i]) && !pass->memory.count)
			continue;
		memset(&context, 0, sizeof context);
		dw_walk_init(&context.walk, model, i, buffer);
		context.pass = pass;
		context.symbol_by_id = model->symbol_by_id[source->streams[i].file];
		context.ratio = context.walk.file->clock.ns_per_tick / source->files[0].clock.ns_per_tick;
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	free(buffer);
	return !pass->failed;
}

/* ---- backward to forward ---------------------------------------------------------------- */

static int compare_links(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static void settle(struct pass *pass)
{
	if (pass->link_count)
		qsort(pass->links, pass->link_count, sizeof *pass->links, compare_links);
	for (size_t i = 0; i < pass->late_count; i++) {
		const struct late *late = &pass->lates[i];
		struct link wanted = { late->sequence, late->thread, 0 };
		const struct link *link = pass->link_count
		                              ? bsearch(&wanted, pass->links, pass->link_count,
		                                        sizeof *pass->links, compare_links)
		                              : NULL;

		dw_layer_ticks_add(&pass->tree.nodes[link ? link->node : 0].ticks, &late->ticks);
	}
}

/* ---- the product --------------------------------------------------------------------------- */

static bool prepare(struct pass *pass)
{
	struct dw_model *model = pass->model;

	pass->flops = calloc(model->symbol_count + 1, sizeof *pass->flops);
	pass->backward = calloc(model->symbol_count + 1, sizeof *pass->backward);
	if (!pass->flops || !pass->backward || !dw_layer_tree_make(&pass->tree, model) ||
	    !dw_call_memory_make(&pass->memory, model, true))
		return false;
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		enum dw_flops_why why;

		pass->backward[i] = dw_share_of(symbol) == DW_SHARE_BACKWARD;
		if (symbol->category == DWELL_CATEGORY_OPERATOR)
			pass->flops[i] = dw_flops(symbol->name, symbol->shapes, &why);
	}
	return true;
}

const struct dw_layers *dw_model_layers(struct dw_model *model, struct dwell_error *error)
{
	struct pass pass = { .model = model };
	struct dw_layers *layers = dw_arena_alloc(&model->arena, sizeof *layers);
	bool done = layers && prepare(&pass) && walk_streams(&pass);

	if (done) {
		settle(&pass);
		layers->has_memory = pass.memory.any;
		done = dw_layer_tree_take(&pass.tree, layers);
	}
	dw_layer_tree_reset(&pass.tree);
	dw_call_memory_reset(&pass.memory);
	free(pass.flops);
	free(pass.backward);
	free(pass.frames);
	free(pass.lates);
	free(pass.links);
	if (!done)
		dw_model_no_memory(model, error);
	return done ? layers : NULL;
}
