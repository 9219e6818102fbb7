/*
 * The events in which a period is searched: of a thread those outermost ranges that recur, of a device its kernels.
 *
 * A program's loop is often inside of ranges that occur once, as main() or an epoch. So ranges are counted by call
 * path, and on each level a range that occurs less than DW_PERIOD_LEAST times is replaced by what is in it. What is in
 * a range that has occurred that often is not looked at: decoding goes over it.
 */
#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "format/device.h"
#include "model/core/parallel.h"
#include "model/core/pass.h"
#include "model/steps/periods_build.h"

/* ---- how busy threads are ------------------------------------------------------------------------ */

struct busy {
	struct dw_period_names *names;
	uint64_t *by_thread;
};

struct busy_state {
	struct dw_pass pass;
	struct busy *busy;
	uint64_t since; /* ticks; when the outermost range began */
};

DW_INLINE void busy_enter(void *state, void *frame, uint64_t ticks, uint32_t id)
{
	struct busy_state *at = state;
	const struct dw_period_names *names = at->busy->names;
	uint32_t symbol = dw_walk_symbol(&at->pass.walk, id);

	if (at->pass.depth == 1)
		at->since = ticks;
	if (__builtin_expect(names->numbered[symbol], 0))
		__atomic_add_fetch(&names->counts[symbol], 1, __ATOMIC_RELAXED);
}

DW_INLINE void busy_leave(void *state, void *frame, uint64_t ticks, enum dw_leave how)
{
	struct busy_state *at = state;

	if (!at->pass.depth)
		__atomic_add_fetch(&at->busy->by_thread[at->pass.walk.thread], ticks - at->since, __ATOMIC_RELAXED);
}

static const struct dw_pass_hooks busy_hooks = { .frame_bytes = sizeof(struct dw_frame), .deepest = DW_DEEPEST,
	.enter = busy_enter, .leave = busy_leave };

DW_PASS_DEFINE(busy, busy_hooks)

static bool collect_busy_stream(void *context, void *worker, struct dw_frames *frames, const struct dw_model *model,
                                const struct dw_segment *segment)
{
	struct busy_state state = { .busy = context };

	dw_pass_init(&state.pass, model, segment->stream, frames);
	busy_walk(&state.pass);
	return !state.pass.walk.failed;
}

static bool collect_busy_wants(const struct dw_model *model, size_t stream)
{
	return !model->source->streams[stream].nested;
}

bool dw_period_busy(const struct dw_model *model, struct dw_period_names *names, uint64_t *by_thread)
{
	static const struct dw_walk_kind kind = { .walk = collect_busy_stream };
	struct busy busy = { names, by_thread };
	const struct dw_parallel walk = { .kind = &kind, .model = model, .context = &busy, .only = collect_busy_wants };

	return dw_walk_parallel(&walk);
}

/* ---- the events of a thread ---------------------------------------------------------------------- */

#define NOTHING UINT32_MAX /* no node: what is in here does not count; no event */

/* A call path. */
struct node {
	uint32_t key, parent, depth;
	uint32_t count;
	bool inner;  /* it has nodes in it */
	bool opened; /* what is in it counts in its place */
};

/* One of the two views of a thread: the ranges that the program named, or all. */
struct view {
	struct node *nodes; /* the first one is the thread */
	size_t count, capacity;
	struct dw_map map;
	uint32_t *latest; /* by key: its node that was looked for last */
	struct dw_period_events *events; /* the path of each is its node */
	bool decided; /* it is full, and what is opened is known */
	bool failed;
};

enum { NAMED, ALL, VIEWS };

struct collect_frame {
	struct dw_frame base;
	uint32_t node[VIEWS]; /* of what begins in it */
	uint32_t event[VIEWS];
};

struct collect_state {
	struct dw_pass pass;
	const struct dw_period_names *names;
	uint32_t thread;
	uint64_t from, to; /* ticks */
	uint64_t soon;     /* if a quarter of the most events lies before this time, they are too dense; 0: no density is too high */
	bool too_many;
	struct view views[VIEWS];
};

static uint32_t view_node(struct view *view, uint32_t parent, uint32_t key)
{
	struct node node = { .key = key, .parent = parent };
	uint32_t hash, found = view->latest[key];

	if (found && view->nodes[found].parent == parent)
		return found;
	hash = dw_map_hash((uint64_t)parent << 32 | key);
	found = DW_MAP_FIND(&view->map, hash, i, view->nodes[i].parent == parent && view->nodes[i].key == key);
	if (found != DW_MAP_NONE)
		view->latest[key] = found;
	if (found != DW_MAP_NONE || view->count == DW_PERIOD_PATHS)
		return found;
	node.depth = view->nodes[parent].depth + 1;
	found = (uint32_t)view->count;
	if (!DW_APPEND(&view->nodes, &view->capacity, &view->count, node) || !dw_map_add(&view->map, hash, found)) {
		view->failed = true;
		return NOTHING;
	}
	view->nodes[parent].inner = true;
	view->latest[key] = found;
	return found;
}

/* Adds the event of a range that begins in a range of the node *parent. Changes *parent to the node of what begins in
 * it. Returns the event's index. */
static uint32_t view_enter(struct view *view, uint32_t *parent, uint32_t key, uint64_t ticks)
{
	uint32_t node = view->events->count < DW_PERIOD_EVENTS ? view_node(view, *parent, key) : NOTHING;

	*parent = NOTHING;
	if (node == NOTHING)
		return NOTHING;
	if (!dw_period_add(view->events, &(struct dw_period_event){ ticks, ticks, node })) {
		view->failed = true;
		return NOTHING;
	}
	if (++view->nodes[node].count < DW_PERIOD_LEAST)
		*parent = node;
	return (uint32_t)(view->events->count - 1);
}

static void collect_range(struct collect_state *state, struct collect_frame *frame, uint64_t ticks, uint32_t symbol)
{
	enum dw_period_kind kind = state->names->kinds[symbol];
	bool named = kind >= DW_PERIOD_RANGE;

	for (int i = 0; i < VIEWS; i++) {
		uint32_t *node = &frame->node[i];

		if (kind == DW_PERIOD_HIDDEN || (i == NAMED && kind == DW_PERIOD_OPERATOR))
			*node = NOTHING;
		else if (*node != NOTHING && (i == ALL || named))
			frame->event[i] = view_enter(&state->views[i], node, state->names->keys[symbol], ticks);
	}
}

DW_INLINE void collect_enter(void *state, void *at, uint64_t ticks, uint32_t id)
{
	struct collect_state *to = state;
	struct collect_frame *frame = at;
	bool outermost = to->pass.depth == 1;

	for (int i = 0; i < VIEWS; i++) {
		frame->event[i] = NOTHING;
		frame->node[i] = !outermost ? frame[-1].node[i] : to->pass.walk.thread == to->thread ? 0 : NOTHING;
		if (ticks >= to->to)
			frame->node[i] = NOTHING;
	}
	if (ticks < to->from)
		return;
	if (frame->node[NAMED] != NOTHING || frame->node[ALL] != NOTHING)
		collect_range(to, frame, ticks, dw_walk_symbol(&to->pass.walk, id));
}

/* Whether no view looks at what is in the innermost range. */
DW_INLINE bool collect_over(void *state)
{
	struct collect_state *to = state;
	const struct collect_frame *frame = DW_PASS_INNERMOST(&to->pass, struct collect_frame);

	return frame && frame->node[NAMED] == NOTHING && frame->node[ALL] == NOTHING;
}

DW_INLINE void collect_leave(void *state, void *at, uint64_t ticks, enum dw_leave how)
{
	struct collect_state *to = state;
	struct collect_frame *frame = at;

	for (int i = 0; i < VIEWS; i++)
		if (frame->event[i] != NOTHING && !dw_period_end_at(to->views[i].events, frame->event[i], ticks))
			to->views[i].failed = true;
}

static const struct dw_pass_hooks collect_hooks = { .frame_bytes = sizeof(struct collect_frame), .deepest = DW_DEEPEST,
	.enter = collect_enter, .over = collect_over, .leave = collect_leave };

DW_PASS_DEFINE(collect, collect_hooks)

/* ---- the outermost ones that recur --------------------------------------------------------------- */

DW_ORDER_OF_POINTERS(collect_compare_depths, struct node, DW_UP(depth) DW_UP_PLACE)

/* Opens the nodes from `first` to before `end`, which are of one depth, if their name is rare there. */
static void view_open_level(const struct view *view, struct node *const *first, struct node *const *end,
                            uint32_t *counts)
{
	for (struct node *const *at = first; at < end; at++)
		if (view->nodes[(*at)->parent].opened)
			counts[(*at)->key] += (*at)->count;
	for (struct node *const *at = first; at < end; at++)
		(*at)->opened = view->nodes[(*at)->parent].opened && (*at)->inner && counts[(*at)->key] < DW_PERIOD_LEAST;
	for (struct node *const *at = first; at < end; at++)
		counts[(*at)->key] = 0;
}

/* Opens ranges that are rare. False: out of memory. */
static bool view_open(struct view *view, uint32_t key_count)
{
	uint32_t *counts = calloc(key_count + (size_t)1, sizeof *counts);
	struct node **order = calloc(view->count + 1, sizeof *order);
	bool good = counts && order && !view->failed;

	for (size_t i = 0; good && i < view->count; i++)
		order[i] = &view->nodes[i];
	if (good)
		DW_SORT(order, view->count, collect_compare_depths);
	for (size_t i = 1, end; good && i < view->count; i = end) {
		for (end = i; end < view->count && order[end]->depth == order[i]->depth;)
			end++;
		view_open_level(view, order + i, order + end, counts);
	}
	DW_FREE(counts, order);
	return good;
}

static bool view_keeps(const struct view *view, const struct node *node)
{
	return view->nodes[node->parent].opened && !node->opened;
}

/* Opens ranges that are rare, and keeps the events of the others. False: out of memory. */
static bool view_finish(struct view *view, uint32_t key_count)
{
	bool good = view_open(view, key_count), *counts = calloc(view->count + 1, sizeof *counts), all = true;

	good = good && counts;
	for (size_t i = 0; good && i < view->count; i++) {
		const struct node *node = &view->nodes[i];

		counts[i] = view_keeps(view, node);
		all &= counts[i] || !node->count;
		good = dw_period_add_path(view->events, (struct dw_period_path){ node->key, view->nodes[node->parent].key });
	}
	good = good && (all || dw_period_keep(view->events, counts));
	free(counts);
	return good;
}

/* ---- the walk of a thread ------------------------------------------------------------------------ */

/* Whether a view takes no more events. What is opened is decided then. */
static bool view_is_full(struct view *view, const struct dw_period_names *names, bool possible)
{
	if (!possible)
		return true;
	if (view->events->count < DW_PERIOD_EVENTS)
		return false;
	if (!view->decided)
		view->failed |= !view_open(view, names->count);
	view->decided = true;
	return true;
}

/* Whether nothing that is still to come changes an event: the views are full, and no event waits for its end. */
static bool collect_is_done(struct collect_state *state)
{
	for (int i = 0; i < VIEWS; i++) {
		struct view *view = &state->views[i];

		if (!view_is_full(view, state->names, i == ALL || state->names->any_named))
			return false;
		for (uint32_t place = 1; place <= state->pass.depth && view->decided; place++) {
			const struct collect_frame *frame = (void *)dw_pass_at(&state->pass, sizeof *frame, place);

			if (frame->event[i] != NOTHING && view_keeps(view, &view->nodes[dw_period_path_at(view->events, frame->event[i])]))
				return false;
		}
	}
	return true;
}

/* Whether events are so dense that those which are kept would end long before half of the run. Iterations that cover less than half are
 * not used (iterations_covers()), so the search for them can stop. */
static bool collect_is_too_dense(struct collect_state *state)
{
	bool most = false;

	for (int i = 0; i < VIEWS; i++)
		most |= state->views[i].events->count >= DW_PERIOD_EVENTS / 4;
	state->too_many |= most && dw_time_now(&state->pass.walk.time) < state->soon;
	state->soon = most ? 0 : state->soon;
	return state->too_many;
}

static bool collect_stream(struct collect_state *state)
{
	for (size_t i = 0; i < state->pass.walk.stream->chunk_count; i++) {
		collect_chunk(&state->pass, i);
		if (collect_is_too_dense(state) || collect_is_done(state)) {
			dw_walk_reset(&state->pass.walk);
			return !state->pass.walk.failed;
		}
	}
	collect_finish(&state->pass);
	return !state->pass.walk.failed;
}

static bool collect_has_thread(const struct dw_source *source, const struct dw_source_stream *stream, uint32_t thread)
{
	return stream->process == source->threads[thread].process && stream->stream == source->threads[thread].stream &&
	       !stream->nested;
}

bool dw_period_collect(const struct dw_model *model, const struct dw_period_names *names, uint32_t thread,
                       struct dw_period_events *named, struct dw_period_events *all)
{
	const struct dw_source *source = model->source;
	struct dw_frames memory = { NULL, 0, NULL };
	const struct dw_source_process *process = &source->processes[source->threads[thread].process];
	const struct dw_source_clock *clock = &source->files[process->file].clock;
	struct collect_state state = { .names = names, .thread = thread };
	bool good = true;

	state.from = names->from_ns ? dw_source_ticks(clock, names->from_ns) : 0;
	state.to = names->to_ns < UINT64_MAX ? dw_source_ticks(clock, names->to_ns) : UINT64_MAX;
	if (!names->from_ns && names->to_ns == UINT64_MAX && !names->any_meant)
		state.soon = dw_source_ticks(clock, process->start_ns + (process->end_ns - process->start_ns) / 8);
	state.views[NAMED].events = named;
	state.views[ALL].events = all;
	for (int i = 0; i < VIEWS; i++)
		good &= DW_APPEND(&state.views[i].nodes, &state.views[i].capacity, &state.views[i].count,
		                  (struct node){ .key = 0, .opened = true }) &&
		        DW_NEW(&state.views[i].latest, names->count + (size_t)1);
	for (size_t i = 0; good && i < source->stream_count; i++) {
		if (!collect_has_thread(source, &source->streams[i], thread))
			continue;
		dw_pass_init(&state.pass, model, i, &memory);
		good = collect_stream(&state);
	}
	for (int i = 0; i < VIEWS; i++) {
		good = good && view_finish(&state.views[i], names->count);
		DW_FREE(state.views[i].nodes, state.views[i].latest);
		dw_map_reset(&state.views[i].map);
	}
	if (state.too_many) {
		dw_period_events_reset(named);
		dw_period_events_reset(all);
	}
	dw_frames_reset(&memory);
	return good;
}

/* ---- the events of a device ---------------------------------------------------------------------- */

/* Of all queues, the time of the events of one kind; then of one queue, these events. */
struct device_events {
	uint64_t *by_queue; /* ticks */
	uint32_t queue;     /* DW_NO_INDEX: none yet */
	struct dw_period_event *items; /* their path is the key */
	size_t count, capacity;
};

enum { KERNELS, RANGES, SORTS };

struct device_work {
	const struct dw_model *model;
	struct dw_period_names *names;
	struct device_events sorts[SORTS];
	bool counts; /* time; otherwise events are kept */
};

/* False: out of memory. */
static bool device_take(void *context, const struct dw_source_events *chunk, const struct dw_device_record_wide *wide)
{
	struct device_work *work = context;
	const struct dw_device_record *record = &wide->record;
	const struct dw_source_file *file = &work->model->source->files[chunk->file];
	uint32_t kind = dw_device_kind(record), queue = dw_device_queue(record), name = record->name.id;
	struct device_events *to = &work->sorts[kind == DW_DEVICE_RANGE ? RANGES : KERNELS];
	uint64_t start, end;

	if (record->start_ticks > DW_TICKS_MAX ||
	    (kind != DW_DEVICE_KERNEL && kind != DW_DEVICE_GRAPH && kind != DW_DEVICE_RANGE))
		return true;
	queue = file->queue_by_id[queue < file->symbol_count ? queue : 0];
	start = dw_source_device_ticks(&chunk->clock, record->start_ticks);
	end = dw_source_device_ticks(&chunk->clock, record->start_ticks + dw_device_duration(record));
	if (work->counts)
		to->by_queue[queue] += end - start;
	if (work->counts || to->queue != queue || to->count == DW_PERIOD_EVENTS)
		return true;
	name = work->names->keys[work->model->symbol_by_id[chunk->file][name < file->symbol_count ? name : 0]];
	if (name >= DW_PERIOD_PATHS)
		return true;
	if (kind != DW_DEVICE_KERNEL)
		work->names->kinds[name] = kind == DW_DEVICE_RANGE ? DW_PERIOD_RANGE : DW_PERIOD_FUNCTION;
	return DW_APPEND(&to->items, &to->capacity, &to->count, (struct dw_period_event){ start, end, name });
}

/* A range is before those in it. */
DW_ORDER(device_compare, struct dw_period_event, DW_UP(start) DW_DOWN(end) DW_UP(path))

/* The queue with most time, of one process if that is known. */
static uint32_t collect_busiest_queue(const struct dw_source *source, const uint64_t *by_queue, uint32_t process)
{
	uint32_t most = DW_NO_INDEX;

	for (uint32_t i = 0; i < source->queue_count; i++)
		if (by_queue[i] && (most == DW_NO_INDEX || by_queue[i] > by_queue[most]) &&
		    (process == DW_NO_INDEX || source->devices[source->queues[i].device].process == process))
			most = i;
	return most;
}

/* Puts the events in order. Their path is their name. False: out of memory. */
static bool device_pack(const struct dw_period_names *names, struct device_events *from, struct dw_period_events *to)
{
	bool good = true;

	DW_SORT(from->items, from->count, device_compare);
	for (uint32_t key = 0; good && from->count && key < names->count && key < DW_PERIOD_PATHS; key++)
		good = dw_period_add_path(to, (struct dw_period_path){ key, 0 });
	for (size_t i = 0; good && i < from->count; i++)
		good = dw_period_add(to, &from->items[i]);
	return good;
}

bool dw_period_collect_device(const struct dw_model *model, struct dw_period_names *names,
                              struct dw_period_events *kernels, struct dw_period_events *ranges, uint32_t *process)
{
	const struct dw_source *source = model->source;
	struct device_work work = { model, names, { { .queue = DW_NO_INDEX }, { .queue = DW_NO_INDEX } }, true };
	bool good = DW_NEW(&work.sorts[KERNELS].by_queue, source->queue_count + 1) &&
	            DW_NEW(&work.sorts[RANGES].by_queue, source->queue_count + 1) &&
	            dw_source_visit_devices(source, device_take, &work);

	*process = DW_NO_INDEX;
	for (int i = 0; i < SORTS && good; i++) {
		work.sorts[i].queue = collect_busiest_queue(source, work.sorts[i].by_queue, *process);
		if (work.sorts[i].queue != DW_NO_INDEX)
			*process = source->devices[source->queues[work.sorts[i].queue].device].process;
	}
	work.counts = false;
	good = good && (*process == DW_NO_INDEX || dw_source_visit_devices(work.model->source, device_take, &work));
	good = good && device_pack(names, &work.sorts[KERNELS], kernels) && device_pack(names, &work.sorts[RANGES], ranges);
	for (int i = 0; i < SORTS; i++)
		DW_FREE(work.sorts[i].by_queue, work.sorts[i].items);
	return good;
}
