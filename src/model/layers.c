/*
 * Layers and the operators that they cause; see layers.h. The walk is here: it nests
 * ranges and gives each one's time to a place, see layers_inside.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "model/calls_inside.h"
#include "model/layers_inside.h"
#include "model/walk.h"

struct frame {
	uint64_t start, child;  /* child: of the same kind */
	enum dw_layer_what what;
	uint32_t symbol;
	uint32_t node;          /* the innermost layer, its own or inherited; 0: none */
	uint32_t call;          /* the place of the innermost layer's call; inherited */
	uint32_t place;         /* where time goes: `call`, or a late one; inherited */
	uint32_t entry;         /* of an operator's name in `place`; 0: none */
	int64_t bytes;          /* of the stream when it began */
	bool backward;          /* in a backward phase, or linked to a forward; inherited */
	bool covered;           /* an operator around it has FLOPs: its own are part of those */
	bool counts;            /* in scope */
};

struct pass {
	struct dw_model *model;
	struct dw_layers_ask ask;
	struct dw_layer_tree tree;
	struct dw_call_memory memory;
	struct dw_layer_symbol *symbols;
	struct frame *frames;
	size_t frame_capacity;
	bool failed;
};

struct context {
	struct dw_walk walk; /* first */
	struct pass *pass;
	const uint32_t *symbol_by_id;
	size_t depth;
	uint64_t over;
	double ratio;        /* to ticks of the first file */
	int64_t bytes;       /* allocated less freed so far */
};

/* Handles of flows are a process's; what they link has a thread of no other use. */
#define FLOW_THREAD(process) (0x80000000u | (process))

static uint64_t scaled(const struct context *context, uint64_t ticks)
{
	return (uint64_t)((double)ticks * context->ratio);
}

/* ---- begins ----------------------------------------------------------------------------- */

/* A call's own place; of a call in the backward pass that of its forward, which is the
 * thread's last one without a backward. */
static uint32_t place_of_call(struct context *context, const struct frame *frame, uint32_t around)
{
	struct dw_layer_tree *tree = &context->pass->tree;
	struct dw_layer_node *node = &tree->nodes[frame->node];
	uint32_t place = node->unpaired;

	if (!context->pass->ask.calls)
		return node->place;
	if (frame->backward) {
		if (!place || tree->places[place].thread != context->walk.thread)
			return node->place;
		node->unpaired = tree->places[place].before;
		return place;
	}
	place = dw_layer_place(tree, frame->node);
	if (!place)
		return 0;
	tree->places[place] = (struct dw_layer_place){
		.node = frame->node, .around = around, .before = node->unpaired,
		.thread = context->walk.thread, .counted = frame->counts,
		.start_ns = dw_source_ns(&context->walk.file->clock, frame->start),
	};
	return node->unpaired = place;
}

static void begin_layer(struct context *context, struct frame *frame)
{
	struct pass *pass = context->pass;

	frame->node = dw_layer_node(&pass->tree, frame->symbol, frame->node);
	frame->call = frame->node ? place_of_call(context, frame, frame->call) : 0;
	frame->place = frame->call;
	frame->entry = 0;
	if (frame->call)
		pass->tree.nodes[frame->node].within++;
	else
		pass->failed = true;
}

/* Of an operator, where it is now; what an operator's zones allocate is its own. */
static void enter(struct pass *pass, struct frame *frame)
{
	if (frame->what != DW_LAYER_IS_NOTHING)
		frame->entry = 0;
	if (!pass->ask.operators || frame->what != DW_LAYER_IS_OPERATOR || !frame->counts)
		return;
	frame->entry = dw_layer_entry(&pass->tree, frame->place, pass->model->symbol_row[frame->symbol]);
	pass->failed |= !frame->entry;
	pass->tree.entries[frame->entry].within++;
}

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct pass *pass = context->pass;
	uint32_t symbol = context->symbol_by_id[id < context->walk.op_count ? id : 0];
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
		                 (around->what == DW_LAYER_IS_OPERATOR && pass->symbols[around->symbol].flops);
	}
	frame->start = ticks;
	frame->bytes = context->bytes;
	frame->symbol = symbol;
	frame->backward |= pass->symbols[symbol].backward;
	frame->counts = context->walk.wanted && dw_walk_in_time(&context->walk, ticks);
	frame->what = pass->symbols[symbol].what;
	if (frame->what == DW_LAYER_IS_LAYER)
		begin_layer(context, frame);
	else
		enter(pass, frame);
}

/* ---- ends ------------------------------------------------------------------------------- */

static void end_operator(struct context *context, const struct frame *frame, uint64_t duration,
                         uint64_t self)
{
	const struct pass *pass = context->pass;
	struct dw_layer_entry *entry = &pass->tree.entries[frame->entry];
	struct dw_layer_ticks more = { .flops = frame->covered ? 0 : pass->symbols[frame->symbol].flops };

	*(frame->backward ? &more.backward : &more.operators) = scaled(context, self);
	dw_layer_ticks_add(&pass->tree.places[frame->place].ticks, &more);
	if (!frame->entry)
		return;
	entry->within--;
	dw_layer_ticks_add(&entry->ticks, &more);
	*(frame->backward ? &entry->backward_calls : &entry->calls) += 1;
	if (entry->within)
		return;
	*(frame->backward ? &entry->backward_total : &entry->total) += scaled(context, duration);
	entry->total_bytes += frame->backward ? 0 : context->bytes - frame->bytes;
}

static void end_layer(struct context *context, const struct frame *frame, uint64_t duration,
                      uint64_t self, bool ended)
{
	struct dw_layer_tree *tree = &context->pass->tree;
	struct dw_layer_node *node = &tree->nodes[frame->node];

	if (frame->backward)
		return;
	node->calls++;
	node->open += !ended;
	node->self += scaled(context, self);
	if (!node->within)
		node->total += scaled(context, duration);
	tree->places[frame->call].total = scaled(context, duration);
	tree->places[frame->call].self = scaled(context, self);
	tree->places[frame->call].open = !ended;
}

/* `at` frames lie around `frame`, which is none of the stack's any more. */
static void end_frame(struct context *context, const struct frame *frame, size_t at, uint64_t ticks,
                      bool ended)
{
	struct dw_layer_tree *tree = &context->pass->tree;
	uint64_t duration = ticks - frame->start;
	uint64_t self = duration > frame->child ? duration - frame->child : 0;

	if (frame->what == DW_LAYER_IS_NOTHING)
		return;
	if (frame->what == DW_LAYER_IS_LAYER)
		tree->nodes[frame->node].within--;
	if (!frame->counts)
		return;
	while (at--) {
		struct frame *around = &context->pass->frames[at];

		if (around->what == frame->what) {
			around->child += duration;
			break;
		}
	}
	if (frame->what == DW_LAYER_IS_OPERATOR)
		end_operator(context, frame, duration, self);
	else if (frame->what == DW_LAYER_IS_LAYER)
		end_layer(context, frame, duration, self, ended);
	else
		tree->places[frame->place].ticks.device += scaled(context, self);
}

static void end_innermost(struct context *context, uint64_t ticks, bool ended)
{
	size_t at = --context->depth;

	end_frame(context, &context->pass->frames[at], at, ticks, ended);
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over)
		context->over--;
	else if (context->depth)
		end_innermost(context, ticks, true);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	(void)why;
	context->over = 0;
	while (context->depth)
		end_innermost(context, ticks, false);
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

/* ---- links, flows, memory --------------------------------------------------------------- */

/* The innermost range is what somewhere else began as `sequence`. */
static void make_late(struct pass *pass, struct frame *frame, uint64_t sequence, uint32_t thread)
{
	pass->tree.entries[frame->entry].within -= frame->entry != 0;
	frame->place = dw_layer_late(&pass->tree, sequence, thread);
	pass->failed |= !frame->place;
	enter(pass, frame);
}

/* Forward: the operator's place is known. Backward: it is what has to be found. */
static void take_link(struct context *context, struct frame *frame, const struct dw_record *record)
{
	struct pass *pass = context->pass;
	uint64_t sequence = dw_record_u64(record, 0);
	uint32_t id = record->payload[2];

	if (frame->what != DW_LAYER_IS_OPERATOR)
		return;
	if (!id) {
		pass->failed |= frame->place &&
		                !dw_layer_link(&pass->tree, sequence, context->walk.thread, frame->place);
	} else if (id < context->walk.file->symbol_count) {
		frame->backward = true;
		make_late(pass, frame, sequence, context->walk.file->thread_by_id[id]);
	}
}

/* From an operator or a layer to what a device does for it. */
static void take_flow(struct context *context, struct frame *frame, const struct dw_record *record)
{
	struct pass *pass = context->pass;
	uint64_t handle = dw_record_u64(record, 0);
	uint32_t thread = FLOW_THREAD(context->walk.stream->process);

	if (record->kind == DW_FLOW_OUT && frame->place)
		pass->failed |= !dw_layer_link(&pass->tree, handle, thread, frame->place);
	else if (record->kind == DW_FLOW_IN && frame->what == DW_LAYER_IS_DEVICE)
		make_late(pass, frame, handle, thread);
}

static void take_memory(struct context *context, const struct frame *frame, uint64_t ticks,
                        const struct dw_record *record)
{
	struct pass *pass = context->pass;
	int64_t change = dw_call_memory_next(&pass->memory, dw_record_u64(record, 0));
	struct dw_layer_ticks more = { .bytes = frame->backward ? 0 : change,
		                           .backward_bytes = frame->backward ? change : 0 };

	if (!context->walk.wanted || !dw_walk_in_time(&context->walk, ticks))
		return;
	pass->memory.any = true;
	context->bytes += change;
	dw_layer_ticks_add(&pass->tree.places[frame->place].ticks, &more);
	if (frame->entry)
		dw_layer_ticks_add(&pass->tree.entries[frame->entry].ticks, &more);
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	struct frame none = { 0 }, *frame;

	if (dw_walk_break(&context->walk, ticks, record, flush))
		return;
	frame = context->depth && !context->over ? &context->pass->frames[context->depth - 1] : &none;
	if (record->kind == DW_END_OF)
		end_of(context, ticks, record->payload[0]);
	else if (record->kind == DW_LINK)
		take_link(context, frame, record);
	else if (record->kind == DW_FLOW_OUT || record->kind == DW_FLOW_IN)
		take_flow(context, frame, record);
	else if (record->kind == DW_ALLOC || record->kind == DW_FREE)
		take_memory(context, frame, ticks, record);
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

/* ---- the product --------------------------------------------------------------------------- */

const struct dw_layers *dw_model_layers(struct dw_model *model, const struct dw_layers_ask *ask,
                                        struct dwell_error *error)
{
	struct pass pass = { .model = model, .ask = ask ? *ask : (struct dw_layers_ask){ false } };
	struct dw_layers *layers = dw_arena_alloc(&model->arena, sizeof *layers);
	bool done = layers && (pass.symbols = dw_layer_symbols(model)) &&
	            dw_layer_tree_make(&pass.tree, model) &&
	            dw_call_memory_make(&pass.memory, model, true) && walk_streams(&pass);

	if (done && pass.ask.uncalled)
		done = dw_layer_tree_add_uncalled(&pass.tree);
	if (done) {
		layers->has_memory = pass.memory.any;
		done = dw_layer_settle(&pass.tree) && dw_layers_take(&pass.tree, &pass.ask, layers);
	}
	dw_layer_tree_reset(&pass.tree);
	dw_call_memory_reset(&pass.memory);
	free(pass.symbols);
	free(pass.frames);
	if (!done)
		dw_model_no_memory(model, error);
	return done ? layers : NULL;
}
