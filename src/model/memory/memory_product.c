/*
 * Merges the streams of each process and turns the process's account into pools; see memory.h.
 *
 * The events are handled twice, in order of time: first to find the kinds of blocks, then to count.
 * The first time they are kept, so that the records are walked once. Of processes with very many
 * events they are not kept, and the records are walked twice.
 *
 * The walk also finds where other walks can begin (segments_plan.h).
 *
 * Processes are independent and are computed in parallel. Within a process a heap merges the
 * streams, and each stream is decoded one chunk at a time. An account becomes one pool for each
 * device: paths become owners by name, ticks become ns, buckets become the curve.
 */

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/system/pool.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/memory/account.h"
#include "model/memory/kinds.h"

#define MOST_KEPT ((size_t)1 << 20) /* events of all processes, 40 bytes each */

/* The events of a process, in order of time. */
struct kept {
	struct dw_memory_event *events;
	size_t count, capacity, most;
	bool full; /* there were too many: `events` is not used */
};

struct pass {
	struct dw_model *model;
	struct dw_segments_plan plan;
	uint8_t *roles;                    /* by row */
	struct dw_memory_account *accounts; /* by process */
	bool failed;
};

/* ---- merging ------------------------------------------------------------------------------- */

struct heap {
	struct dw_memory_stream **items; /* streams with an event left, the earliest first */
	size_t count;
};

static bool memory_is_earlier(const struct dw_memory_stream *a, const struct dw_memory_stream *b)
{
	uint64_t left = a->events[a->at].ticks, right = b->events[b->at].ticks;

	return left != right ? left < right : a < b;
}

static void memory_sift(struct heap *heap, size_t at)
{
	for (;;) {
		size_t child = at * 2 + 1;
		struct dw_memory_stream *item = heap->items[at];

		if (child + 1 < heap->count && memory_is_earlier(heap->items[child + 1], heap->items[child]))
			child++;
		if (child >= heap->count || !memory_is_earlier(heap->items[child], item))
			return;
		heap->items[at] = heap->items[child];
		heap->items[child] = item;
		at = child;
	}
}

static void memory_keep_event(struct kept *kept, const struct dw_memory_event *event)
{

	if (kept->full || event->type == DW_MEMORY_SAID)
		return;
	if (kept->count < kept->most && DW_APPEND(&kept->events, &kept->capacity, &kept->count, *event))
		return;
	kept->full = true;
	free(kept->events);
	kept->events = NULL;
}

static bool memory_is_after_scope(const struct dw_memory_account *account, uint64_t ticks)
{
	return account->model->intervals && ticks >= account->to_ticks;
}

/* The first pass continues after the end of the scope, because the kind of a block may depend on
 * a free there. */
static void memory_merge_streams(struct dw_memory_account *account,
                                 struct dw_memory_kind_pass *kind_pass, struct kept *kept, struct heap *heap)
{
	for (size_t i = heap->count; i-- > 0;)
		memory_sift(heap, i);
	while (heap->count && !account->failed) {
		struct dw_memory_stream *first = heap->items[0];
		struct dw_memory_event *event = &first->events[first->at];

		if (!kind_pass && memory_is_after_scope(account, event->ticks))
			break; /* what is live now is live at the end of the scope */
		if (kind_pass) {
			memory_keep_event(kept, event);
			dw_memory_kind_pass_put(kind_pass, event);
		} else {
			dw_memory_account_put(account, event);
		}
		first->at++;
		if (!dw_memory_stream_fill(first)) {
			account->failed |= first->failed;
			heap->items[0] = heap->items[--heap->count];
		}
		if (heap->count)
			memory_sift(heap, 0);
	}
}

static size_t memory_count_streams(const struct dw_source *source, uint32_t process)
{
	size_t count = 0;

	for (size_t i = 0; i < source->stream_count; i++)
		count += source->streams[i].process == process;
	return count;
}

/* The part of the plan that is about the stream, without the first segment, which begins with the
 * stream. */
static void memory_take_plan(struct dw_memory_stream *stream, const struct dw_segments_plan *plan, size_t index)
{
	size_t first = 0, end;

	while (first < plan->count && plan->items[first].segment.stream != index)
		first++;
	for (end = first; end < plan->count && plan->items[end].segment.stream == index;)
		end++;
	if (end > first + 1) {
		stream->segments = &plan->items[first + 1];
		stream->segment_count = end - first - 1;
	}
}

/* 0: not known. A process says it with its first block. */
static double memory_heap_period(const struct dw_source *source, uint32_t process)
{
	const char *value = dw_source_meta(source, process, DW_KEY_HEAP_PERIOD);
	double period = value ? strtod(value, NULL) : 0;

	return period > 0 && period < 1e9 ? period : 0;
}

/* Walks all streams, also those of threads out of scope: any thread may free a block that a thread
 * in scope allocated. */
static void memory_walk_streams(struct dw_memory_account *account,
                                struct dw_memory_kind_pass *kind_pass, struct kept *kept,
                                const struct dw_segments_plan *plan)
{
	struct dw_model *model = account->model;
	const struct dw_source *source = model->source;
	size_t most = memory_count_streams(source, account->process), count = 0;
	struct dw_memory_stream *streams = calloc(most + 1, sizeof *streams);
	struct heap heap = { calloc(most + 1, sizeof *heap.items), 0 };

	account->failed |= !streams || !heap.items;
	for (size_t i = 0; !account->failed && i < source->stream_count; i++) {
		struct dw_memory_stream *stream = &streams[count];

		if (source->streams[i].process != account->process)
			continue;
		dw_pass_init(&stream->pass, model, i, &stream->frames);
		stream->kind_pass = kind_pass;
		stream->finds_paths = !kind_pass || kept->most;
		stream->fails = &account->fails;
		if (kind_pass)
			memory_take_plan(stream, plan, i);
		stream->paths = &account->paths;
		stream->heap_period = memory_heap_period(source, account->process);
		count++;
		if (dw_memory_stream_fill(stream))
			heap.items[heap.count++] = stream;
		account->failed |= stream->failed;
	}
	if (!account->failed)
		memory_merge_streams(account, kind_pass, kept, &heap);
	for (size_t i = 0; streams && i < count; i++)
		dw_memory_stream_reset(&streams[i]);
	DW_FREE(streams, heap.items);
}

/* The second time that the events are handled. */
static void memory_count(struct dw_memory_account *account, struct kept *kept)
{
	if (kept->full) {
		memory_walk_streams(account, NULL, NULL, NULL);
		return;
	}
	for (size_t i = 0; i < kept->count && !account->failed &&
	                   !memory_is_after_scope(account, kept->events[i].ticks); i++)
		dw_memory_account_put(account, &kept->events[i]);
}

static void memory_walk_process(void *context, unsigned worker, size_t process)
{
	struct pass *pass = context;
	struct dw_memory_account *account = &pass->accounts[process];
	struct kept kept = { .most = MOST_KEPT / pass->model->source->process_count };
	struct dw_memory_kind_pass kind_pass;

	if (dw_memory_account_init(account, pass->model, (uint32_t)process)) {
		account->killed = account->fails = dw_memory_was_killed(pass->model->source, (uint32_t)process);
		dw_memory_kind_pass_init(&kind_pass, account, pass->roles);
		memory_walk_streams(account, &kind_pass, &kept, &pass->plan);
		dw_memory_kind_pass_end(&kind_pass);
		account->failed |= kind_pass.failed;
		account->kinds = kind_pass.kinds;
		account->kind_count = kind_pass.kind_count;
		memory_count(account, &kept);
		dw_memory_account_end(account);
		dw_memory_kind_pass_reset(&kind_pass);
		free(kept.events);
	}
	if (account->failed)
		__atomic_store_n(&pass->failed, true, __ATOMIC_RELAXED);
}

/* ---- owners -------------------------------------------------------------------------------- */

static void memory_add_use(struct dw_memory_use *to, const struct dw_memory_use *from)
{
	to->at_peak_bytes += from->at_peak_bytes;
	to->at_failure_bytes += from->at_failure_bytes;
	to->live_bytes += from->live_bytes;
	to->live_count += from->live_count;
	to->allocated_bytes += from->allocated_bytes;
	to->freed_bytes += from->freed_bytes;
	to->allocations += from->allocations;
	to->frees += from->frees;
}

DW_ORDER(memory_compare_owners, struct dw_memory_owner, DW_DOWN(use.at_peak_bytes)
         DW_DOWN(use.allocated_bytes) DW_UP(symbol))

/* Owners by row while they are collected; the last row is "no operator". */
struct collection {
	struct dw_memory_owner *owners;
	uint32_t *seen; /* the last holder that was added to the owner's total, + 1 */
	uint32_t rows;
};

/* Adds a holder to its owner, and to the totals of the owners on its path: once to each, even if
 * it is on the path several times. */
static void memory_add_holder(struct collection *collection, const struct dw_memory_account *account, uint32_t index)
{
	const struct dw_memory_holder *holder = &account->holders[index];
	const struct dw_call_path *path = dw_call_path_at(&account->paths, holder->path);
	uint32_t owner = path->depth ? dw_memory_owner_row(account, holder->path) : collection->rows;

	memory_add_use(&collection->owners[owner].use, &holder->use);
	for (;; path = dw_call_path_at(&account->paths, path->parent)) {
		uint32_t row = path->depth ? path->key : collection->rows;

		if (collection->seen[row] != index + 1 && (row < collection->rows || row == owner)) {
			collection->seen[row] = index + 1;
			collection->owners[row].total_bytes += holder->use.allocated_bytes;
			collection->owners[row].total_count += holder->use.allocations;
		}
		if (!path->depth)
			break;
	}
}

static bool memory_was_used(const struct dw_memory_owner *owner)
{
	return owner->total_count || owner->use.at_peak_bytes || owner->use.at_failure_bytes || owner->use.live_count || owner->use.frees;
}

static bool memory_make_owners(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t device)
{
	struct dw_model *model = account->model;
	struct collection all = { calloc(model->row_count + 1, sizeof *all.owners),
		                      calloc(model->row_count + 1, sizeof *all.seen), model->row_count };

	for (uint32_t i = 0; all.owners && all.seen && i < account->holder_count; i++)
		if (account->holders[i].device == device)
			memory_add_holder(&all, account, i);
	for (uint32_t row = 0; all.owners && row <= all.rows; row++)
		pool->owner_count += memory_was_used(&all.owners[row]);
	pool->owners = dw_arena_alloc(&model->arena, (pool->owner_count + 1) * sizeof *pool->owners);
	pool->owner_count = 0;
	for (uint32_t row = 0; all.owners && pool->owners && row <= all.rows; row++) {
		if (!memory_was_used(&all.owners[row]))
			continue;
		all.owners[row].symbol = row == all.rows ? DW_NO_INDEX : model->row_symbol[row];
		pool->owners[pool->owner_count++] = all.owners[row];
	}
	DW_SORT(pool->owners, pool->owner_count, memory_compare_owners);
	DW_FREE(all.owners, all.seen);
	return all.owners && all.seen && pool->owners;
}

/* ---- pools --------------------------------------------------------------------------------- */

static void memory_put_point(struct dw_memory_pool *pool, uint64_t ns, const uint64_t *bytes)
{
	struct dw_memory_point *point = &pool->points[pool->point_count++];

	point->ns = ns;
	memcpy(point->bytes, bytes, sizeof point->bytes);
}

/* Whether the bucket equals the ones before and after it. Then the curve needs no point for it. */
static bool memory_is_flat(const struct dw_memory_bucket *buckets, size_t at)
{
	const struct dw_memory_bucket *bucket = &buckets[at];

	return at > 0 && at + 2 < DW_MEMORY_POINTS && bucket[-1].used && bucket[1].used &&
	       memcmp(bucket->kinds, bucket[-1].kinds, sizeof bucket->kinds) == 0 &&
	       memcmp(bucket->kinds, bucket[1].kinds, sizeof bucket->kinds) == 0;
}

/* A bucket keeps the first of its largest moments. So the peak is in a bucket, unless the scope has
 * gaps and the level was larger in a gap. Then the peak is added as a point of its own. */
static bool memory_make_points(struct dw_memory_pool *pool, const struct dw_memory_account *account,
                               const struct dw_memory_device *device)
{
	const struct dw_model *model = account->model;
	const struct dw_source_clock *clock = &model->source->files[model->source->processes[account->process].file].clock;
	uint64_t at_peak[DW_MEMORY_KIND_COUNT];
	bool peak_is_in = !device->peak;

	pool->points = dw_arena_alloc(&account->model->arena, DW_MEMORY_POINTS * sizeof *pool->points);
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
		at_peak[kind] = device->kinds[kind].at_peak_bytes;
	for (size_t i = 0; pool->points && i < DW_MEMORY_POINTS - 1; i++) {
		const struct dw_memory_bucket *bucket = &device->buckets[i];

		if (!bucket->used || (memory_is_flat(device->buckets, i) && bucket->ticks != device->peak_ticks))
			continue;
		if (!peak_is_in && device->peak_ticks < bucket->ticks)
			memory_put_point(pool, pool->peak_ns, at_peak);
		peak_is_in |= device->peak_ticks <= bucket->ticks;
		memory_put_point(pool, dw_source_ns(clock, bucket->ticks), bucket->kinds);
	}
	if (pool->points && !peak_is_in)
		memory_put_point(pool, pool->peak_ns, at_peak);
	return pool->points != NULL;
}

static bool memory_make_pool(struct dw_memory_pool *pool, const struct dw_memory_account *account, uint32_t index)
{
	const struct dw_memory_device *device = &account->devices[index];
	const struct dw_source *source = account->model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[account->process].file].clock;

	pool->process = account->process;
	pool->device = device->name;
	memcpy(pool->kinds, device->kinds, sizeof pool->kinds);
	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
		memory_add_use(&pool->all, &pool->kinds[kind]);
	pool->most_reserved_bytes = device->most_reserved;
	pool->reserved_bytes = device->reserved.at_peak;
	pool->peak_ns = dw_source_ns(clock, device->peak_ticks);
	pool->peak_step = device->peak ? dw_memory_step_at(source, account->process, device->peak_ticks) : DW_NO_INDEX;
	pool->sampled = device->sampled;
	return memory_make_owners(pool, account, index) && memory_make_points(pool, account, device) &&
	       dw_memory_make_failure(pool, account, index) &&
	       (!pool->sampled || dw_memory_make_places(pool, account, index));
}

DW_ORDER(memory_compare_pools, struct dw_memory_pool, DW_UP(sampled) DW_DOWN(all.at_peak_bytes) DW_UP(process)
         DW_TEXT(device))

static bool memory_make_steps(struct dw_memory *memory, const struct pass *pass)
{
	size_t processes = pass->model->source->process_count, count = 0;

	for (size_t i = 0; i < processes; i++)
		count += pass->accounts[i].step_count;
	memory->steps = dw_arena_alloc(&pass->model->arena, (count + 1) * sizeof *memory->steps);
	for (size_t i = 0; memory->steps && i < processes; i++)
		for (size_t at = 0; at < pass->accounts[i].step_count; at++)
			memory->steps[memory->step_count++] = pass->accounts[i].steps[at].result;
	return memory->steps != NULL;
}

static bool memory_make_pools(struct dw_memory *memory, const struct pass *pass)
{
	size_t processes = pass->model->source->process_count, most = 0;

	for (size_t i = 0; i < processes; i++)
		most += pass->accounts[i].device_count;
	memory->pools = dw_arena_alloc(&pass->model->arena, (most + 1) * sizeof *memory->pools);
	for (size_t i = 0; memory->pools && i < processes; i++) {
		const struct dw_memory_account *account = &pass->accounts[i];

		memory->unknown_frees += account->unknown_frees;
		memory->doubled += account->doubled;
		for (uint32_t device = 0; device < account->device_count; device++)
			if (!memory_make_pool(&memory->pools[memory->pool_count++], account, device))
				return false;
	}
	DW_SORT(memory->pools, memory->pool_count, memory_compare_pools);
	return memory->pools != NULL;
}

/* ---- the product --------------------------------------------------------------------------- */

static bool memory_compute(struct dw_model *model, const void *request, void *result)
{
	size_t processes = model->source->process_count;
	struct pass pass = { .model = model, .roles = dw_memory_roles(model),
		.accounts = calloc(processes + 1, sizeof *pass.accounts) };
	bool good = dw_segments_plan(&pass.plan, model) && pass.roles && pass.accounts;

	if (good)
		dw_pool_run(processes, dw_pool_workers(processes), memory_walk_process, &pass);
	good = good && !pass.failed && memory_make_pools(result, &pass) && memory_make_steps(result, &pass) &&
	       dw_segments_put(&pass.plan, model);
	dw_segments_plan_reset(&pass.plan);
	for (size_t i = 0; pass.accounts && i < processes; i++)
		dw_memory_account_reset(&pass.accounts[i]);
	DW_FREE(pass.accounts, pass.roles);
	return good;
}

DW_PRODUCT(memory, struct dw_memory, memory_compute, NULL);

DW_PRODUCT_GETTER(memory, struct dw_memory)
