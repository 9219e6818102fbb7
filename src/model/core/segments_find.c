/* Splits streams into pieces; see segments.h. */
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/system/pool.h"
#include "model/core/call_paths.h"
#include "model/core/plain_chunks.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/segments_plan.h"

#define LEAST_CHUNKS 64u      /* least size of a piece: 4 MiB */
#define PIECES_PER_WORKER 4u  /* more than one, so that workers finish at about the same time */

/* How a piece changes the stack of open ranges. */
struct effect {
	bool outer_gone;          /* all ranges open at its begin were ended at once */
	uint64_t ended;           /* otherwise: how many of them were ended, innermost first */
	bool overlaps;            /* a range was ended while a later one was open */
	struct dw_segment_range *open; /* ranges that began in it and are still open */
	uint32_t open_count, deepest, first_thread, last_thread;
	uint64_t ticks, now;      /* at its end */
	bool failed;
};

struct frame {
	struct dw_frame frame;
	uint32_t id;
};

struct boundary {
	struct dw_pass pass;
	struct effect *effect;
};

static void segments_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct boundary *boundary = state;

	((struct frame *)place)->id = id;
	if (boundary->pass.depth > boundary->effect->deepest)
		boundary->effect->deepest = boundary->pass.depth;
}

static void segments_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
}

static void segments_orphan(void *state, uint64_t ticks, uint32_t n)
{
	struct boundary *boundary = state;
	struct effect *effect = boundary->effect;

	if (effect->outer_gone)
		return;
	effect->ended++;
	effect->overlaps |= n || boundary->pass.depth;
}

static void segments_unnest(void *state, uint32_t place, uint64_t ticks)
{
	((struct boundary *)state)->effect->overlaps = true;
}

static void segments_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	((struct boundary *)state)->effect->outer_gone = true;
}

static const struct dw_pass_hooks segments_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_CALL_PATH_DEEPEST,
	.enter = segments_enter, .leave = segments_leave, .orphan = segments_orphan,
	.unnest = segments_unnest, .flushed = segments_flushed,
};
DW_PASS_DEFINE(segments, segments_hooks)

/* ---- the pieces ------------------------------------------------------------------------------ */

struct split {
	struct dw_model *model;
	struct dw_segment *items;
	struct effect *effects; /* by item */
	size_t count, capacity, effect_capacity;
	struct dw_frames *frames; /* by worker */
};

static bool segments_add(struct split *split, size_t stream, size_t from, size_t to)
{
	struct dw_segment *item = DW_GROW(&split->items, &split->capacity, split->count);

	if (!item || !DW_GROW(&split->effects, &split->effect_capacity, split->count))
		return false;
	*item = (struct dw_segment){ .stream = stream, .from = from, .to = to, .thread = DW_NO_INDEX };
	split->count++;
	return true;
}

static bool segments_can_split(const struct dw_model *model, const struct dw_source_stream *stream)
{
	for (size_t i = 0; i < stream->chunk_count; i++)
		if (stream->chunks[i].header)
			return false;
	/* The ratio must be 1: sums of pieces are added before they are scaled. */
	return !model->intervals && !model->source->files[stream->file].named_ends &&
	       dw_file_ratio(model->source, stream->file) == 1;
}

static bool segments_cut_streams(struct split *split, size_t piece)
{
	const struct dw_model *model = split->model;
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->stream_count; i++) {
		size_t stream = model->stream_order[i], from = 0;
		size_t count = source->streams[stream].chunk_count, pieces = 1;

		if (!dw_scope_has_stream(model, &source->streams[stream]))
			continue;
		if (piece && count > piece + piece / 2 && segments_can_split(model, &source->streams[stream]))
			pieces = (count + piece - 1) / piece;
		for (size_t n = 1; n <= pieces; n++) {
			size_t to = count * n / pieces;

			if (!segments_add(split, stream, from, to))
				return false;
			from = to;
		}
	}
	return true;
}

/* A plain chunk of which no range is open at the end of the piece: its ends, and begins that later chunks end. */
static void segment_pass_over(struct boundary *boundary, const struct dw_plain_chunk *chunk)
{
	int32_t depth = (int32_t)boundary->pass.depth, most = depth + chunk->most;

	if (chunk->most - chunk->least > most)
		most = chunk->most - chunk->least;
	if ((uint32_t)most > boundary->effect->deepest)
		boundary->effect->deepest = (uint32_t)most;
	for (int32_t i = 0; i > chunk->least; i--)
		segments_end(&boundary->pass, 0);
	for (int32_t i = chunk->least; i < chunk->net; i++)
		segments_begin(&boundary->pass, 0, 0);
}

/* Walks only those chunks of a piece in which ranges begin that are open at its end, and the last one for the time.
 * False: other records than begins and ends are in it, and nothing was walked. */
static bool segment_walk_plain(struct boundary *boundary, const struct dw_segment *item)
{
	const struct dw_walk *walk = &boundary->pass.walk;
	size_t count = item->to - item->from;
	struct dw_plain_chunk *chunks = malloc(count * sizeof *chunks);
	int64_t depth = 0, least;

	if (!chunks || !dw_plain_chunks(walk->file, walk->stream, item->from, item->to, chunks)) {
		free(chunks);
		return false;
	}
	for (size_t i = 0; i < count; i++)
		depth += chunks[i].net;
	least = depth;
	for (size_t i = count; i--;) { /* `least`: from the end of the chunk on, and `depth` at its begin */
		depth -= chunks[i].net;
		if (i == count - 1 || depth + chunks[i].least < least)
			chunks[i].walked = true;
		if (depth + chunks[i].least < least)
			least = depth + chunks[i].least;
	}
	for (size_t i = 0; i < count; i++)
		if (chunks[i].walked)
			segments_chunk(&boundary->pass, item->from + i);
		else
			segment_pass_over(boundary, &chunks[i]);
	free(chunks);
	return true;
}

/* The first pass over a piece. The last piece of a stream does not need it. */
static void segment_find_effect(void *context, unsigned worker, size_t index)
{
	struct split *split = context;
	const struct dw_segment *item = &split->items[index];
	struct effect *effect = &split->effects[index];
	const struct dw_source_stream *stream = &split->model->source->streams[item->stream];
	struct boundary boundary;

	if (item->to == stream->chunk_count)
		return;
	memset(&boundary, 0, sizeof boundary);
	dw_pass_init(&boundary.pass, split->model, item->stream, &split->frames[worker]);
	boundary.effect = effect;
	effect->first_thread = stream->chunks[item->from].thread;
	if (!segment_walk_plain(&boundary, item))
		for (size_t i = item->from; i < item->to; i++)
			segments_chunk(&boundary.pass, i);
	effect->last_thread = boundary.pass.walk.thread;
	effect->ticks = boundary.pass.walk.time.ticks;
	effect->now = dw_time_now(&boundary.pass.walk.time);
	effect->failed |= boundary.pass.walk.failed;
	if (boundary.pass.folded)
		effect->deepest = UINT32_MAX;
	effect->open = malloc((boundary.pass.depth + (size_t)1) * sizeof *effect->open);
	effect->failed |= !effect->open;
	for (uint32_t place = 1; effect->open && place <= boundary.pass.depth; place++) {
		const struct frame *frame = (struct frame *)dw_pass_at(&boundary.pass, sizeof *frame, place);

		effect->open[effect->open_count++] = (struct dw_segment_range){ frame->frame.start, frame->id };
	}
	dw_walk_reset(&boundary.pass.walk);
}

/* ---- combining the pieces ------------------------------------------------------------------- */

/* Computes the stack at the begin of the piece after `item`. False: out of memory, or not exact. */
static bool segment_follow(struct dw_model *model, const struct dw_segment *item,
                           const struct effect *effect, struct dw_segment *next)
{
	uint32_t outer = item->from ? item->open_count : 0;
	struct dw_segment_range *open;

	/* If ranges overlap, a call path can hold ranges that are no longer open. */
	if (effect->failed || effect->overlaps || (uint64_t)outer + effect->deepest >= DW_CALL_PATH_DEEPEST)
		return false;
	open = dw_arena_alloc(&model->arena, (outer + effect->open_count + (size_t)1) * sizeof *open);
	if (!open)
		return false;
	if (outer)
		memcpy(open, item->open, outer * sizeof *open);
	outer -= effect->ended < outer ? (uint32_t)effect->ended : outer;
	if (effect->outer_gone || (item->from && item->thread != effect->first_thread))
		outer = 0;
	next->open = open;
	next->open_count = outer + effect->open_count;
	for (uint32_t i = 0; i < effect->open_count; i++) {
		open[outer + i] = effect->open[i];
		/* Time never runs backward. */
		if (item->from && open[outer + i].start < item->floor)
			open[outer + i].start = item->floor;
	}
	next->thread = effect->last_thread;
	next->ticks = effect->ticks;
	next->floor = item->from && item->floor > effect->now ? item->floor : effect->now;
	return true;
}

/* Sets the stack of each piece. If that fails, the stream becomes one piece again. */
static void segments_resolve(struct split *split)
{
	size_t kept = 0;

	for (size_t i = 0; i < split->count;) {
		struct dw_segment *first = &split->items[i];
		size_t end = i + 1;
		bool good = true;

		for (; end < split->count && split->items[end].stream == first->stream; end++)
			good = good && segment_follow(split->model, &split->items[end - 1],
			                              &split->effects[end - 1], &split->items[end]);
		if (!good) {
			first->to = split->items[end - 1].to;
			split->items[kept++] = *first;
			i = end;
			continue;
		}
		for (; i < end; i++)
			split->items[kept++] = split->items[i];
	}
	split->count = kept;
}

static int segments_compare_sizes(const void *left, const void *right)
{
	const struct dw_segment *a = left, *b = right;
	size_t a_size = a->to - a->from, b_size = b->to - b->from;

	if (a_size != b_size)
		return a_size < b_size ? 1 : -1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static size_t segment_size(const struct dw_model *model)
{
	const struct dw_source *source = model->source;
	size_t chunks = 0, piece;
	unsigned workers;

	if (model->segment_chunks)
		return model->segment_chunks;
	for (size_t i = 0; i < source->stream_count; i++)
		chunks += source->streams[i].chunk_count;
	workers = dw_pool_workers(chunks);
	piece = chunks / (workers * PIECES_PER_WORKER);
	return workers == 1 ? 0 : piece > LEAST_CHUNKS ? piece : LEAST_CHUNKS;
}

/* Copies the pieces into the model's memory, largest first. */
static bool segments_keep(struct dw_model *model, const struct split *split, struct dw_segments *segments)
{
	segments->items = dw_arena_alloc(&model->arena, (split->count + 1) * sizeof *segments->items);
	if (!segments->items)
		return false;
	if (split->count) {
		memcpy(segments->items, split->items, split->count * sizeof *segments->items);
		DW_SORT(segments->items, split->count, segments_compare_sizes);
	}
	segments->count = split->count;
	return true;
}

static bool segments_compute(struct dw_model *model, const void *request, void *result)
{
	struct split split = { .model = model };
	size_t pieces = 0;
	unsigned workers = 0;
	bool good = false;

	if (segments_cut_streams(&split, segment_size(model))) {
		pieces = split.count;
		workers = dw_pool_workers(pieces);
		split.frames = calloc(workers, sizeof *split.frames);
		if (split.frames) {
			if (split.count)
				dw_pool_run(split.count, workers, segment_find_effect, &split);
			segments_resolve(&split);
			good = segments_keep(model, &split, result);
		}
	}
	for (size_t i = 0; i < pieces; i++)
		free(split.effects[i].open);
	DW_FREE(split.items, split.effects);
	dw_frames_free(split.frames, workers);
	return good;
}

static bool segments_compute_whole(struct dw_model *model, const void *request, void *result)
{
	struct split split = { .model = model };
	bool good = segments_cut_streams(&split, 0) && segments_keep(model, &split, result);

	DW_FREE(split.items, split.effects);
	return good;
}

DW_PRODUCT_OF_RECORDS(segments, struct dw_segments, segments_compute, NULL);

const struct dw_segments *dw_model_segments(struct dw_model *model)
{
	return dw_product_get(model, &dw_product_segments, 0, NULL, NULL);
}

DW_PRODUCT_OF_RECORDS(whole_streams, struct dw_segments, segments_compute_whole, NULL);

const struct dw_segments *dw_model_whole_streams(struct dw_model *model)
{
	return dw_product_get(model, &dw_product_whole_streams, 0, NULL, NULL);
}

/* ---- begins that another walk finds -------------------------------------------------------- */

bool dw_segments_plan(struct dw_segments_plan *plan, struct dw_model *model)
{
	struct split split = { .model = model };
	bool good = true;

	*plan = (struct dw_segments_plan){ NULL, 0 };
	if (dw_product_has(model, &dw_product_segments, 0))
		return true;
	good = segments_cut_streams(&split, segment_size(model));
	plan->items = good ? calloc(split.count + 1, sizeof *plan->items) : NULL;
	for (size_t i = 0; plan->items && i < split.count; i++)
		plan->items[plan->count++].segment = split.items[i];
	DW_FREE(split.items, split.effects);
	return plan->items != NULL;
}

void dw_segments_plan_reset(struct dw_segments_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free(plan->items[i].open);
	free(plan->items);
}

bool dw_segment_begin(struct dw_segment_plan *item, const struct dw_pass *pass)
{
	struct dw_segment *segment = &item->segment;

	if (pass->folded || pass->depth >= DW_CALL_PATH_DEEPEST)
		return false;
	item->open = malloc((pass->depth + (size_t)1) * sizeof *item->open);
	segment->open_count = item->open ? pass->depth : 0;
	segment->thread = pass->walk.thread;
	segment->ticks = pass->walk.time.ticks;
	segment->floor = dw_time_now(&pass->walk.time);
	return item->open != NULL;
}

/* Copies the segments of a stream, or makes them one. Returns how many were copied. */
static size_t segments_copy_stream(struct dw_model *model, struct dw_segment *to,
                                   const struct dw_segment_plan *from, size_t count)
{
	bool good = true;

	for (size_t i = 0; good && i < count; i++) {
		size_t bytes = (from[i].segment.open_count + (size_t)1) * sizeof *from[i].open;
		struct dw_segment_range *open;

		to[i] = from[i].segment;
		if (!i)
			continue;
		open = from[i].open ? dw_arena_alloc(&model->arena, bytes) : NULL;
		if (open)
			memcpy(open, from[i].open, bytes - sizeof *open);
		to[i].open = open;
		good = open != NULL;
	}
	if (good)
		return count;
	to[0] = from[0].segment;
	to[0].to = from[count - 1].segment.to;
	return 1;
}

bool dw_segments_put(const struct dw_segments_plan *plan, struct dw_model *model)
{
	struct dw_segments *segments;

	if (!plan->items)
		return true;
	segments = dw_product_put(model, &dw_product_segments, 0);
	if (segments)
		segments->items = dw_arena_alloc(&model->arena, (plan->count + 1) * sizeof *segments->items);
	if (!segments || !segments->items)
		return false;
	for (size_t i = 0, end; i < plan->count; i = end) {
		for (end = i + 1; end < plan->count && plan->items[end].segment.stream == plan->items[i].segment.stream;)
			end++;
		segments->count += segments_copy_stream(model, &segments->items[segments->count], &plan->items[i], end - i);
	}
	DW_SORT(segments->items, segments->count, segments_compare_sizes);
	return true;
}
