/*
 * The bytes that each free subtracts; see freed_bytes.h.
 *
 * Memory may be allocated in one stream and freed in another, but a pass reads one stream after the
 * other. So the changes of each stream are collected first. Then those of all
 * streams of a process are visited in order of time, and a table of what is allocated now says what a
 * free subtracts. A free of memory that was allocated before the recording counts 0 bytes.
 */
#include "model/core/freed_bytes.h"

#include "base/free.h"
#include "base/live.h"
#include "model/core/parallel.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"

#define MOST_BYTES ((uint64_t)1 << 60)

struct freed_all {
	struct dw_freed_stream *streams;
	size_t count;
};

/* ---- the changes of a stream ------------------------------------------------------------------- */

struct freed_walk {
	struct dw_pass pass; /* must be the first member */
	struct dw_freed_stream *stream;
	uint64_t **ticks;
	size_t tick_capacity;
	const bool *on_device; /* by merged symbol */
	bool failed;
};

struct freed_collect {
	struct dw_model *model;
	struct freed_all *all;
	uint64_t **ticks; /* by stream: of its changes */
	bool *on_device;
};

DW_INLINE void freed_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
}

DW_INLINE void freed_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
}

static void freed_note(void *state, uint64_t now, const struct dw_record *record)
{
	struct freed_walk *walk = state;
	struct dw_freed_stream *stream = walk->stream;
	struct dw_freed_change change = { .is_free = record->kind == DW_FREE };
	uint32_t id = record->id < walk->pass.walk.op_count ? record->id : 0;
	size_t ticks = stream->count;

	if (record->kind != DW_ALLOC && record->kind != DW_FREE)
		return;
	change.address = dw_record_u64(record, 0);
	if (record->kind == DW_ALLOC) {
		uint64_t bytes = dw_record_u64(record, 2); /* a damaged trace may have any value */

		change.bytes = (int64_t)(bytes < MOST_BYTES ? bytes : MOST_BYTES);
		change.on_device = walk->on_device[walk->pass.walk.symbol_by_id[id]];
	}
	walk->failed |= !DW_APPEND(walk->ticks, &walk->tick_capacity, &ticks, now) ||
	                !DW_APPEND(&stream->changes, &stream->capacity, &stream->count, change);
}

static const struct dw_pass_hooks freed_hooks = {
	.frame_bytes = sizeof(struct dw_frame), .deepest = DW_DEEPEST,
	.enter = freed_enter, .leave = freed_leave, .note = freed_note,
};
DW_PASS_DEFINE(freed, freed_hooks)

static bool freed_walk_stream(void *context, void *worker, struct dw_frames *frames, const struct dw_model *model,
                              const struct dw_segment *segment)
{
	struct freed_collect *collect = context;
	struct freed_walk walk = { .stream = &collect->all->streams[segment->stream],
		.ticks = &collect->ticks[segment->stream], .on_device = collect->on_device };

	dw_pass_init(&walk.pass, model, segment->stream, frames);
	freed_walk(&walk.pass);
	return !walk.failed && !walk.pass.walk.failed;
}

/* ---- what is allocated now ------------------------------------------------------------------------ */

struct freed_live {
	struct dw_live live;
	struct dw_freed_change *allocations; /* by number */
	size_t capacity;
};

static bool freed_settle(struct freed_live *live, struct dw_freed_change *change)
{
	uint32_t number = dw_live_find(&live->live, change->address, 0);

	if (change->is_free) {
		if (number == DW_MAP_NONE)
			return true;
		change->bytes = -live->allocations[number].bytes;
		change->on_device = live->allocations[number].on_device;
		dw_live_remove(&live->live, number);
		return true;
	}
	if (number == DW_MAP_NONE)
		number = dw_live_add(&live->live, change->address, 0);
	if (number == DW_MAP_NONE || !DW_GROW(&live->allocations, &live->capacity, number))
		return false;
	live->allocations[number] = *change;
	return true;
}

/* ---- the streams of a process in order of time ---------------------------------------------------- */

struct freed_head {
	const uint64_t *ticks;
	struct dw_freed_stream *stream;
	size_t at;
};

struct freed_heap {
	struct freed_head *heads;
	size_t count;
};

/* Changes of the same time are in the order of the streams. */
static bool freed_is_earlier(const struct freed_head *a, const struct freed_head *b)
{
	if (a->ticks[a->at] != b->ticks[b->at])
		return a->ticks[a->at] < b->ticks[b->at];
	return a->stream < b->stream;
}

static void freed_sift(struct freed_heap *heap, size_t at)
{
	for (;;) {
		size_t child = at * 2 + 1;
		struct freed_head head = heap->heads[at];

		if (child + 1 < heap->count && freed_is_earlier(&heap->heads[child + 1], &heap->heads[child]))
			child++;
		if (child >= heap->count || !freed_is_earlier(&heap->heads[child], &head))
			return;
		heap->heads[at] = heap->heads[child];
		heap->heads[child] = head;
		at = child;
	}
}

static bool freed_settle_process(const struct freed_collect *collect, uint32_t process, struct freed_heap *heap)
{
	const struct dw_source *source = collect->model->source;
	struct freed_live live = { .allocations = NULL };
	bool good = true;

	heap->count = 0;
	for (size_t i = 0; i < source->stream_count; i++)
		if (source->streams[i].process == process && collect->all->streams[i].count)
			heap->heads[heap->count++] = (struct freed_head){ collect->ticks[i], &collect->all->streams[i], 0 };
	for (size_t i = heap->count; i-- > 0;)
		freed_sift(heap, i);
	while (good && heap->count) {
		struct freed_head *first = &heap->heads[0];

		good = freed_settle(&live, &first->stream->changes[first->at]);
		if (++first->at == first->stream->count)
			*first = heap->heads[--heap->count];
		freed_sift(heap, 0);
	}
	dw_live_reset(&live.live);
	free(live.allocations);
	return good;
}

static bool freed_settle_all(const struct freed_collect *collect)
{
	const struct dw_source *source = collect->model->source;
	struct freed_heap heap = { calloc(source->stream_count + 1, sizeof *heap.heads), 0 };
	bool good = heap.heads != NULL;

	for (uint32_t i = 0; good && i < source->process_count; i++)
		good = freed_settle_process(collect, i, &heap);
	free(heap.heads);
	return good;
}

/* ---- the product --------------------------------------------------------------------------------- */

static void freed_free(void *result)
{
	struct freed_all *all = result;

	for (size_t i = 0; all->streams && i < all->count; i++)
		free(all->streams[i].changes);
	free(all->streams);
}

static bool freed_compute(struct dw_model *model, const void *request, void *result)
{
	struct freed_all *all = result;
	struct freed_collect collect = { .model = model, .all = all };
	static const struct dw_walk_kind kind = { .walk = freed_walk_stream };
	const struct dw_parallel walk = { .kind = &kind, .model = model, .context = &collect };
	bool good;

	all->count = model->source->stream_count;
	all->streams = calloc(all->count + 1, sizeof *all->streams);
	collect.ticks = calloc(all->count + 1, sizeof *collect.ticks);
	collect.on_device = calloc(model->symbol_count + 1, sizeof *collect.on_device);
	good = all->streams && collect.ticks && collect.on_device;
	for (uint32_t i = 0; good && i < model->symbol_count; i++)
		collect.on_device[i] = model->symbols[i].detail && strncmp(model->symbols[i].detail, "cpu", 3) != 0;
	good = good && dw_walk_parallel(&walk) && freed_settle_all(&collect);
	for (size_t i = 0; collect.ticks && i < all->count; i++)
		free(collect.ticks[i]);
	DW_FREE(collect.ticks, collect.on_device);
	return good;
}

static bool freed_has_allocations(const struct dw_model *model)
{
	for (uint32_t i = 0; i < model->symbol_count; i++)
		if (model->symbols[i].category == DWELL_CATEGORY_ALLOCATION)
			return true;
	return false;
}

DW_PRODUCT(freed_bytes, struct freed_all, freed_compute, freed_free);

bool dw_freed_bytes_init(struct dw_freed_bytes *freed, struct dw_model *model, bool wanted)
{
	static const struct dw_scope everything;
	const struct freed_all *all;

	memset(freed, 0, sizeof *freed);
	if (!wanted || !freed_has_allocations(model))
		return true;
	/* Memory freed in scope may have been allocated out of scope. */
	if (!dw_scope_is_all(model) && dw_model_within(model, &everything, &model, NULL) != 0)
		return false;
	all = dw_product_get(model, &dw_product_freed_bytes, 0, NULL, NULL);
	if (!all)
		return false;
	freed->known = true;
	freed->streams = all->streams;
	freed->end = all->streams + all->count;
	return true;
}
