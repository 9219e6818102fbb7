/*
 * Layers and the operators that they cause; see layers.h. This file walks the records: it nests
 * ranges and adds the time of each to a place of the tree (layer_tree.h).
 */

#include <string.h>

#include "base/free.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/share_names.h"
#include "model/device/sums.h"
#include "model/layers/layer_tree.h"
#include "model/core/freed_bytes.h"
#include "model/time/flops.h"

/* ---- what a symbol is to the walk -------------------------------------------------------- */

enum dw_layer_what { DW_LAYER_IS_NOTHING, DW_LAYER_IS_LAYER, DW_LAYER_IS_OPERATOR, DW_LAYER_IS_DEVICE };

/* The properties of a symbol that the walk needs. */
struct layer_symbol {
	uint64_t flops;
	enum dw_layer_what what;
	bool backward;          /* it names the backward pass */
};

static enum dw_layer_what layers_what_is(uint32_t category)
{
	return category == DWELL_CATEGORY_OPERATOR ? DW_LAYER_IS_OPERATOR
	       : category == DWELL_CATEGORY_LAYER  ? DW_LAYER_IS_LAYER
	       : category == DWELL_CATEGORY_DEVICE ? DW_LAYER_IS_DEVICE : DW_LAYER_IS_NOTHING;
}

static struct layer_symbol *layers_make_symbols(const struct dw_model *model)
{
	struct layer_symbol *symbols = calloc(model->symbol_count + 1, sizeof *symbols);

	for (uint32_t i = 0; symbols && i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];
		enum dw_flops_why why;

		symbols[i].what = layers_what_is(symbol->category);
		symbols[i].backward = dw_share_of(symbol) == DW_SHARE_BACKWARD;
		if (symbols[i].what == DW_LAYER_IS_OPERATOR)
			symbols[i].flops = dw_flops(symbol->name, symbol->shapes, &why);
	}
	return symbols;
}

/* ---- the walk ----------------------------------------------------------------------------- */

struct frame {
	struct dw_frame frame;  /* ranges that count are chained by `what` */
	enum dw_layer_what what;
	uint32_t symbol;
	uint32_t node;          /* the innermost layer: the range itself or around it; 0: none */
	uint32_t called;        /* the path of ranges of layers: see dw_layer_node() */
	uint32_t call;          /* the place of the innermost layer's call; inherited */
	uint32_t place;         /* where its time is added: `call` or a late place; inherited */
	uint32_t entry;         /* of the innermost operator, in `place`; 0: none */
	int64_t bytes, device_bytes; /* the stream's when the range began */
	bool backward;          /* in a backward phase, or linked to a forward; inherited */
	bool covered;           /* an operator around it has FLOPs, which include its own */
};

struct pass {
	struct dw_model *model;
	struct dw_layers_ask ask;
	struct dw_layer_tree tree;
	struct dw_freed_bytes memory;
	struct layer_symbol *symbols;
	struct dw_frames frames;
	const struct dw_device_work *work; /* NULL: no events of devices */
	size_t *next_call;      /* by thread: number of its calls of devices that have been added */
	bool device_memory;     /* the pass has found an allocation of a device in scope */
	bool failed;
};

struct layers {
	struct dw_pass pass; /* first */
	struct pass *all;
	double ratio;        /* multiplies ticks of this file to get those of the first */
	int64_t bytes;       /* allocated less freed so far, of the CPU's memory */
	int64_t device_bytes; /* and of devices */
	uint32_t thread;     /* the thread of `calls` */
	const struct dw_device_moment *calls; /* those that caused work of devices */
	size_t call_count;
};

/* A flow has a handle of its process and no thread. Its links have this value as their thread. */
#define FLOW_THREAD(process) (0x80000000u | (process))

static uint64_t layers_scale(const struct layers *layers, uint64_t ticks)
{
	return dw_file_scale(ticks, layers->ratio);
}

/* ---- begins ----------------------------------------------------------------------------- */

/* The place of a call. A call in the backward pass has the place of its forward call: the node's
 * last call without a backward call, if it ran in the same thread. */
static uint32_t layers_find_place(struct layers *layers, const struct frame *frame, uint32_t around)
{
	struct dw_layer_tree *tree = &layers->all->tree;
	struct dw_layer_node *node = &tree->nodes[frame->node];
	uint32_t place = node->unpaired;

	if (!layers->all->ask.calls)
		return node->place;
	if (frame->backward) {
		if (!place || tree->places[place].thread != layers->pass.walk.thread)
			return node->place;
		node->unpaired = tree->places[place].before;
		return place;
	}
	place = dw_layer_place(tree, frame->node);
	if (!place)
		return 0;
	tree->places[place] = (struct dw_layer_place){
		.node = frame->node, .around = around, .before = node->unpaired,
		.thread = layers->pass.walk.thread, .counted = frame->frame.in_scope,
		.start_ns = dw_source_ns(&layers->pass.walk.file->clock, frame->frame.start),
	};
	return node->unpaired = place;
}

static void layers_begin_layer(struct layers *layers, struct frame *frame)
{
	struct pass *pass = layers->all;

	frame->node = dw_layer_node(&pass->tree, frame->symbol, frame->node, &frame->called);
	frame->call = frame->node ? layers_find_place(layers, frame, frame->call) : 0;
	frame->place = frame->call;
	frame->entry = 0;
	if (frame->call)
		pass->tree.nodes[frame->node].within++;
	else
		pass->failed = true;
}

/* Sets the entry of an operator in its place. A zone in an operator keeps the operator's entry, so
 * its allocations count as the operator's. */
static void layers_enter_operator(struct pass *pass, struct frame *frame)
{
	if (frame->what != DW_LAYER_IS_NOTHING)
		frame->entry = 0;
	if (!pass->ask.operators || frame->what != DW_LAYER_IS_OPERATOR || !frame->frame.in_scope)
		return;
	frame->entry = dw_layer_entry(&pass->tree, frame->place, pass->model->symbol_row[frame->symbol]);
	pass->failed |= !frame->entry;
	pass->tree.entries[frame->entry].within++;
}

static void layers_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct layers *layers = state;
	struct pass *pass = layers->all;
	uint32_t symbol = dw_walk_symbol(&layers->pass.walk, id);
	struct dw_frame own = *(struct dw_frame *)place;
	struct frame *frame = place, *around = layers->pass.depth > 1 ? frame - 1 : NULL;

	*frame = around ? *around : (struct frame){ .what = DW_LAYER_IS_NOTHING };
	frame->frame = own;
	frame->covered = around && (around->covered || (around->what == DW_LAYER_IS_OPERATOR &&
	                                                pass->symbols[around->symbol].flops));
	frame->bytes = layers->bytes;
	frame->device_bytes = layers->device_bytes;
	frame->symbol = symbol;
	frame->backward |= pass->symbols[symbol].backward;
	frame->frame.in_scope = dw_pass_in_scope(&layers->pass, ticks);
	frame->what = pass->symbols[symbol].what;
	if (frame->frame.in_scope && frame->what != DW_LAYER_IS_NOTHING)
		dw_pass_link(&layers->pass, &frame->frame, frame->what);
	if (frame->what == DW_LAYER_IS_LAYER)
		layers_begin_layer(layers, frame);
	else
		layers_enter_operator(pass, frame);
}

/* ---- ends ------------------------------------------------------------------------------- */

static void layers_end_operator(struct layers *layers, const struct frame *frame, uint64_t duration, uint64_t self)
{
	const struct pass *pass = layers->all;
	struct dw_layer_entry *entry = &pass->tree.entries[frame->entry];
	struct dw_layer_ticks more = { .flops = frame->covered ? 0 : pass->symbols[frame->symbol].flops };

	*(frame->backward ? &more.backward : &more.operators) = layers_scale(layers, self);
	dw_layer_ticks_add(&pass->tree.places[frame->place].ticks, &more);
	if (!frame->entry)
		return;
	entry->within--;
	dw_layer_ticks_add(&entry->ticks, &more);
	*(frame->backward ? &entry->backward_calls : &entry->calls) += 1;
	if (entry->within)
		return;
	*(frame->backward ? &entry->backward_total : &entry->total) += layers_scale(layers, duration);
	if (frame->backward)
		return;
	entry->total_bytes += layers->bytes - frame->bytes;
	entry->device_total_bytes += layers->device_bytes - frame->device_bytes;
}

static void layers_end_layer(struct layers *layers, const struct frame *frame, uint64_t duration,
                             uint64_t self, bool ended)
{
	struct dw_layer_tree *tree = &layers->all->tree;
	struct dw_layer_node *node = &tree->nodes[frame->node];

	if (frame->backward)
		return;
	node->calls++;
	node->open += !ended;
	node->self += layers_scale(layers, self);
	if (!node->within)
		node->total += layers_scale(layers, duration);
	tree->places[frame->call].total = layers_scale(layers, duration);
	tree->places[frame->call].self = layers_scale(layers, self);
	tree->places[frame->call].open = !ended;
}

static void layers_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct layers *layers = state;
	const struct frame *frame = place;
	struct dw_layer_tree *tree = &layers->all->tree;
	uint64_t duration = ticks - frame->frame.start, self = duration - frame->frame.child;

	if (frame->what == DW_LAYER_IS_LAYER)
		tree->nodes[frame->node].within--;
	if (!frame->frame.chain)
		return;
	if (frame->what == DW_LAYER_IS_OPERATOR)
		layers_end_operator(layers, frame, duration, self);
	else if (frame->what == DW_LAYER_IS_LAYER)
		layers_end_layer(layers, frame, duration, self, how == DW_LEAVE_END);
	else
		tree->places[frame->place].ticks.device += layers_scale(layers, self);
}

/* ---- links, flows, memory --------------------------------------------------------------- */

/* The innermost range belongs to the layer of something recorded elsewhere as `sequence`. */
static void layers_make_late(struct pass *pass, struct frame *frame, uint64_t sequence, uint32_t thread)
{
	pass->tree.entries[frame->entry].within -= frame->entry != 0;
	/* The operators of a layer are in the order of the walk, forward before backward. */
	frame->place = pass->ask.operators ? 0 : dw_layer_known(&pass->tree, sequence, thread);
	if (!frame->place)
		frame->place = dw_layer_late(&pass->tree, sequence, thread);
	pass->failed |= !frame->place;
	layers_enter_operator(pass, frame);
}

/* A link without a thread is in a forward operator, whose place is known. A link with a thread is
 * in an operator of the backward pass, whose place is found after the walk. */
static void layers_take_link(struct layers *layers, struct frame *frame, const struct dw_record *record)
{
	struct pass *pass = layers->all;
	uint64_t sequence = dw_record_u64(record, 0);
	uint32_t id = record->payload[2];

	if (frame->what != DW_LAYER_IS_OPERATOR)
		return;
	if (!id) {
		pass->failed |= frame->place && !dw_layer_link(&pass->tree, sequence, layers->pass.walk.thread, frame->place);
	} else if (id < layers->pass.walk.file->symbol_count) {
		frame->backward = true;
		layers_make_late(pass, frame, sequence, layers->pass.walk.file->thread_by_id[id]);
	}
}

/* A flow leads from an operator or a layer to the range of a device that works for it. */
static void layers_take_flow(struct layers *layers, struct frame *frame, const struct dw_record *record)
{
	struct pass *pass = layers->all;
	uint64_t handle = dw_record_u64(record, 0);
	uint32_t thread = FLOW_THREAD(layers->pass.walk.stream->process);

	if (record->kind == DW_FLOW_OUT && frame->place)
		pass->failed |= !dw_layer_link(&pass->tree, handle, thread, frame->place);
	else if (record->kind == DW_FLOW_IN && frame->what == DW_LAYER_IS_DEVICE)
		layers_make_late(pass, frame, handle, thread);
}

static void layers_take_memory(struct layers *layers, const struct frame *frame, uint64_t ticks,
                               const struct dw_record *record)
{
	struct pass *pass = layers->all;
	bool on_device;
	int64_t change = dw_freed_bytes_next_on(&pass->memory, dw_record_u64(record, 0), &on_device);
	struct dw_layer_ticks more = { .operators = 0 };

	if (!dw_pass_in_scope(&layers->pass, ticks))
		return;
	pass->memory.any = true;
	*(on_device ? &layers->device_bytes : &layers->bytes) += change;
	pass->device_memory |= on_device;
	if (on_device)
		more.device_bytes = frame->backward ? 0 : change;
	else
		*(frame->backward ? &more.backward_bytes : &more.bytes) = change;
	dw_layer_ticks_add(&pass->tree.places[frame->place].ticks, &more);
	if (frame->entry)
		dw_layer_ticks_add(&pass->tree.entries[frame->entry].ticks, &more);
}

/* ---- work of devices ----------------------------------------------------------------------- */

/* Adds a call of the forward pass to each operator that is open around it in its layer. */
static void layers_add_device_total(struct layers *layers, const struct dw_device_call *call)
{
	struct dw_layer_tree *tree = &layers->all->tree;
	uint32_t innermost = layers->pass.folded ? 0 : layers->pass.depth;

	for (uint32_t place = innermost; place && innermost - place < DW_DEVICE_DEEPEST; place--) {
		const struct frame *frame = (const struct frame *)(const void *)dw_pass_at(
		    &layers->pass, sizeof(struct frame), place);
		struct dw_layer_entry *entry = &tree->entries[frame->entry];

		if (!frame->entry || frame->backward || entry->last_call == call)
			continue;
		entry->last_call = call;
		entry->device_total_ns += call->device_ns;
	}
}

/* Adds the device time of the calls that began before this time to the ranges that are open. */
static void layers_take_calls(struct layers *layers, uint64_t before_ns)
{
	struct pass *pass = layers->all;
	const struct frame none = { .what = DW_LAYER_IS_NOTHING };
	const struct frame *frame = DW_PASS_INNERMOST(&layers->pass, struct frame);
	uint32_t thread = layers->pass.walk.thread;
	size_t *next;

	if (thread == DW_NO_INDEX)
		return;
	if (thread != layers->thread) {
		layers->thread = thread;
		layers->calls = dw_model_device_moments(pass->model, DW_DEVICE_WHERE_MADE, thread, &layers->call_count, NULL);
		pass->failed |= !layers->calls;
	}
	frame = frame ? frame : &none;
	next = &pass->next_call[thread];
	for (; layers->calls && *next < layers->call_count && layers->calls[*next].start_ns < before_ns; ++*next) {
		const struct dw_device_call *call = &pass->work->calls[layers->calls[*next].call];
		struct dw_layer_ticks more = { .events = call->work };

		*(frame->backward ? &more.backward_events_ns : &more.events_ns) = call->device_ns;
		dw_layer_ticks_add(&pass->tree.places[frame->place].ticks, &more);
		if (frame->entry)
			dw_layer_ticks_add(&pass->tree.entries[frame->entry].ticks, &more);
		if (pass->ask.operators)
			layers_add_device_total(layers, call);
	}
}

DW_INLINE void layers_settle(void *state, uint64_t ticks)
{
	struct layers *layers = state;

	layers_take_calls(layers, dw_source_ns(&layers->pass.walk.file->clock, ticks));
}

static void layers_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct layers *layers = state;
	struct frame none = { .what = DW_LAYER_IS_NOTHING };
	struct frame *frame = DW_PASS_INNERMOST(&layers->pass, struct frame);

	if (!frame)
		frame = &none;
	if (record->kind == DW_LINK)
		layers_take_link(layers, frame, record);
	else if (record->kind == DW_FLOW_OUT || record->kind == DW_FLOW_IN)
		layers_take_flow(layers, frame, record);
	else if ((record->kind == DW_ALLOC || record->kind == DW_FREE) && !layers->all->ask.no_memory)
		layers_take_memory(layers, frame, ticks, record);
}

/* Not scoped: a block that is freed in scope may be allocated in a chunk out of scope. */
static const struct dw_pass_hooks layers_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true,
	.enter = layers_enter, .leave = layers_leave, .note = layers_note,
};
DW_PASS_DEFINE(layers, layers_hooks)

/* For traces with work of devices. Other traces use the pass above, which has no hook for it. */
static const struct dw_pass_hooks layers_device_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true,
	.enter = layers_enter, .leave = layers_leave, .note = layers_note, .settle = layers_settle,
};
DW_PASS_DEFINE(layers_device, layers_device_hooks)

static bool layers_walk_streams(struct pass *pass)
{
	struct dw_model *model = pass->model;
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->stream_count && !pass->failed; i++) {
		struct layers layers = { .all = pass, .thread = DW_NO_INDEX };

		/* Ranges out of scope do not count, but any stream may free or allocate memory. */
		if (!dw_scope_has_stream(model, &source->streams[i]) && !pass->memory.known)
			continue;
		dw_pass_init(&layers.pass, model, i, &pass->frames);
		layers.ratio = dw_file_ratio(source, source->streams[i].file);
		if (pass->work) {
			layers_device_walk(&layers.pass);
			layers_take_calls(&layers, UINT64_MAX);
		} else {
			layers_walk(&layers.pass);
		}
		pass->failed |= layers.pass.walk.failed;
	}
	return !pass->failed;
}

/* ---- the product --------------------------------------------------------------------------- */

static bool layers_find_device_work(struct pass *pass)
{
	if (!dw_model_has_device(pass->model))
		return true;
	pass->work = dw_model_device_work(pass->model, NULL);
	pass->next_call = calloc(pass->model->source->thread_count + 1, sizeof *pass->next_call);
	return pass->work && pass->next_call;
}

static bool layers_compute(struct dw_model *model, const void *request, void *result)
{
	struct pass pass = { .model = model, .ask = *(const struct dw_layers_ask *)request };
	struct dw_layers *layers = result;
	bool done = (pass.symbols = layers_make_symbols(model)) &&
	            dw_layer_tree_make(&pass.tree, model) && layers_find_device_work(&pass) &&
	            dw_freed_bytes_init(&pass.memory, model, !pass.ask.no_memory) && layers_walk_streams(&pass);

	if (done && pass.ask.uncalled)
		done = dw_layer_tree_add_uncalled(&pass.tree);
	if (done) {
		layers->has_memory = pass.memory.any;
		layers->has_device_memory = pass.device_memory;
		done = dw_layer_settle(&pass.tree) && dw_layers_take(&pass.tree, &pass.ask, layers);
	}
	dw_layer_tree_reset(&pass.tree);
	DW_FREE(pass.symbols, pass.next_call);
	dw_frames_reset(&pass.frames);
	return done;
}

DW_PRODUCT(layers, struct dw_layers, layers_compute, NULL);

const struct dw_layers *dw_model_layers(struct dw_model *model, const struct dw_layers_ask *ask,
                                        struct dwell_error *error)
{
	static const struct dw_layers_ask nothing;
	uint64_t key;

	ask = ask ? ask : &nothing;
	key = ask->operators | (uint64_t)ask->calls << 1 | (uint64_t)ask->uncalled << 2 | (uint64_t)ask->no_memory << 3;
	return dw_product_get(model, &dw_product_layers, key, ask, error);
}
