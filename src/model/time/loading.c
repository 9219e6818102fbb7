/*
 * Requests for data, batches made, and counters of data loading, by thread; see loading.h.
 *
 * One walk over all streams in scope, in parallel. A request or a batch whose end was not recorded
 * is left out.
 */
#include "model/time/loading.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/pool.h"
#include "format/keys.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/share_names.h"

enum meaning { NOTHING, SAMPLES, QUEUE };

struct loading_frame {
	struct dw_frame frame;
	uint32_t row;
	uint8_t data, evaluation;
};

/* What a thread has so far. */
struct lists {
	size_t request_capacity, made_capacity;
};

/* What all streams share. */
struct gathering {
	struct dw_model *model;
	struct dw_loading *threads;
	struct lists *lists;          /* by thread */
	bool *loops;                  /* by thread: it has steps */
	uint8_t *meanings;            /* by merged symbol: of counters */
	uint8_t *shares;              /* by row: DW_SHARE_DATA, DW_SHARE_EVALUATION or others */
	uint64_t *part_ticks, *part_counts; /* by row, of the current file: ns; see loading_add_parts() */
	pthread_mutex_t lock;         /* of `threads`: a thread may write into several streams */
	struct worker {
		struct dw_frames frames;
		void *buffer;
		uint64_t *ticks, *counts; /* by row, of one stream */
	} *workers;
	bool failed;
};

struct loading_state {
	struct dw_pass pass;
	struct gathering *all;
	struct worker *worker;
	const struct dw_source_clock *clock;
	const uint32_t *symbol_by_id;
	uint32_t data, evaluation;    /* open ranges */
	struct dw_request request;    /* the outermost DATA range, in ticks */
	uint64_t inner_ticks;         /* begin of the DATA range in it */
	uint64_t last_ticks;          /* all time before this has been assigned */
	bool loop, making;
};

/* ---- the hooks ------------------------------------------------------------------------------- */

static bool loading_is_loop(const struct loading_state *state)
{
	return state->pass.walk.thread != DW_NO_INDEX && state->all->loops[state->pass.walk.thread];
}

static enum dw_request_kind loading_kind(const struct dw_symbol *symbol)
{
	if (strstr(symbol->name, "__iter__"))
		return DW_REQUEST_START;
	if (symbol->detail && strcmp(symbol->detail, DW_LOADER_EMPTY) == 0)
		return DW_REQUEST_EMPTY;
	if (symbol->detail && strcmp(symbol->detail, DW_LOADER_READY) == 0)
		return DW_REQUEST_READY;
	return DW_REQUEST_BATCH;
}

DW_INLINE void loading_settle(void *pointer, uint64_t ticks)
{
	struct loading_state *state = pointer;
	const struct loading_frame *frame;

	if (__builtin_expect(!state->making, 1))
		return;
	frame = DW_PASS_INNERMOST(&state->pass, struct loading_frame);
	if (frame && ticks > state->last_ticks)
		state->worker->ticks[frame->row] += ticks - state->last_ticks;
	state->last_ticks = ticks;
}

static __attribute__((noinline)) void loading_begin_data(struct loading_state *state,
                                                         uint64_t ticks, uint32_t id)
{
	if (state->data++ == 0) {
		const struct dw_symbol *symbol =
		    &state->all->model->symbols[state->symbol_by_id[id]];

		state->loop = loading_is_loop(state);
		state->request = (struct dw_request){ .start_ns = ticks, .kind = loading_kind(symbol),
			                                  .evaluation = state->evaluation > 0 };
		state->making = !state->loop;
	} else if (state->data == 2 && state->loop) {
		state->inner_ticks = ticks;
		state->making = true;
	}
	state->last_ticks = ticks;
}

DW_INLINE void loading_enter(void *pointer, void *place, uint64_t ticks, uint32_t id)
{
	struct loading_state *state = pointer;
	struct loading_frame *frame = place;
	uint8_t share;

	frame->row = dw_walk_op(&state->pass.walk, id).row;
	frame->data = frame->evaluation = 0;
	if (__builtin_expect(state->making, 0))
		state->worker->counts[frame->row]++;
	share = state->all->shares[frame->row];
	if (__builtin_expect(share == DW_SHARE_DATA, 0) && id < state->pass.walk.op_count &&
	    dw_pass_in_scope(&state->pass, ticks)) {
		frame->data = 1;
		loading_begin_data(state, ticks, id);
	} else if (__builtin_expect(share == DW_SHARE_EVALUATION, 0)) {
		frame->evaluation = 1;
		state->evaluation++;
	}
}

static void loading_add_made(struct loading_state *state, uint64_t from, uint64_t to)
{
	uint32_t thread = state->pass.walk.thread;
	struct dw_loading *of = &state->all->threads[thread];
	struct dw_made *made;

	pthread_mutex_lock(&state->all->lock);
	made = DW_GROW(&of->made, &state->all->lists[thread].made_capacity, of->made_count);
	if (made) {
		*made = (struct dw_made){ dw_source_ns(state->clock, from), dw_source_ns(state->clock, to) };
		of->made_count++;
	}
	state->all->failed |= !made;
	pthread_mutex_unlock(&state->all->lock);
}

static void loading_add_request(struct loading_state *state, uint64_t ticks)
{
	uint32_t thread = state->pass.walk.thread;
	struct dw_loading *of = &state->all->threads[thread];
	struct dw_request *request;

	pthread_mutex_lock(&state->all->lock);
	request = DW_GROW(&of->requests, &state->all->lists[thread].request_capacity, of->request_count);
	if (request) {
		*request = state->request;
		request->start_ns = dw_source_ns(state->clock, request->start_ns);
		request->end_ns = dw_source_ns(state->clock, ticks);
		request->made_ns = dw_source_span_ns(state->clock, request->made_ns);
		of->request_count++;
	}
	state->all->failed |= !request;
	pthread_mutex_unlock(&state->all->lock);
}

static __attribute__((noinline)) void loading_end_data(struct loading_state *state, uint64_t ticks,
                                                       enum dw_leave how)
{
	state->data--;
	if (state->data == 0) {
		if (state->pass.walk.thread != DW_NO_INDEX && how == DW_LEAVE_END) {
			if (state->loop)
				loading_add_request(state, ticks);
			else
				loading_add_made(state, state->request.start_ns, ticks);
		}
		state->making = false;
	} else if (state->data == 1 && state->loop) {
		state->making = false;
		state->request.made_ns += ticks - state->inner_ticks;
		if (state->request.kind != DW_REQUEST_START && how == DW_LEAVE_END)
			loading_add_made(state, state->inner_ticks, ticks);
	}
}

DW_INLINE void loading_leave(void *pointer, void *place, uint64_t ticks, enum dw_leave how)
{
	struct loading_state *state = pointer;
	const struct loading_frame *frame = place;

	if (__builtin_expect(frame->data, 0))
		loading_end_data(state, ticks, how);
	state->evaluation -= frame->evaluation;
}

static void loading_note(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct loading_state *state = pointer;
	struct dw_walk *walk = &state->pass.walk;
	struct dw_loading *to;
	double value;

	if (record->kind != DW_COUNTER || !walk->wanted || record->id >= walk->op_count)
		return;
	value = dw_record_f64(record, 0);
	if (!(value >= 0 && value < 1e15) || !dw_walk_in_time(walk, ticks))
		return;
	to = &state->all->threads[walk->thread];
	switch (state->all->meanings[state->symbol_by_id[record->id]]) {
	case SAMPLES:
		__atomic_fetch_add(&to->samples, (uint64_t)value, __ATOMIC_RELAXED);
		break;
	case QUEUE:
		__atomic_fetch_add(&to->asked, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&to->ready, (uint64_t)value, __ATOMIC_RELAXED);
		break;
	default:
		break;
	}
}

static const struct dw_pass_hooks loading_hooks = {
	.frame_bytes = sizeof(struct loading_frame), .deepest = DW_DEEPEST, .enter = loading_enter,
	.leave = loading_leave, .note = loading_note, .settle = loading_settle,
};
DW_PASS_DEFINE(loading, loading_hooks)

/* ---- the walk ---------------------------------------------------------------------------------- */

/* Adds the parts of a stream, in ns, and resets them. */
static void loading_add_parts(struct gathering *all, struct worker *worker,
                              const struct dw_source_clock *clock)
{
	pthread_mutex_lock(&all->lock);
	for (uint32_t row = 0; row < all->model->row_count; row++) {
		all->part_ticks[row] += dw_source_span_ns(clock, worker->ticks[row]);
		all->part_counts[row] += worker->counts[row];
		worker->ticks[row] = worker->counts[row] = 0;
	}
	pthread_mutex_unlock(&all->lock);
}

static void loading_walk_stream(void *context, unsigned index, size_t at)
{
	struct gathering *all = context;
	struct worker *worker = &all->workers[index];
	const struct dw_source_stream *stream = &all->model->source->streams[at];
	struct loading_state state = { .all = all, .worker = worker };

	if (!dw_scope_has_stream(all->model, stream))
		return;
	state.clock = &all->model->source->files[stream->file].clock;
	state.symbol_by_id = all->model->symbol_by_id[stream->file];
	dw_pass_init(&state.pass, all->model, at, &worker->frames, worker->buffer);
	loading_walk(&state.pass);
	if (state.pass.failed)
		__atomic_store_n(&all->failed, true, __ATOMIC_RELAXED);
	loading_add_parts(all, worker, state.clock);
}

static void loading_walk_all(struct gathering *all)
{
	size_t streams = all->model->source->stream_count, rows = all->model->row_count + 1;
	unsigned workers = dw_pool_workers(streams);

	all->workers = calloc(workers, sizeof *all->workers);
	all->failed |= !all->workers;
	for (unsigned i = 0; all->workers && i < workers; i++) {
		all->workers[i].buffer = malloc(DW_BLOCK_BYTES);
		all->workers[i].ticks = calloc(rows, sizeof *all->workers[i].ticks);
		all->workers[i].counts = calloc(rows, sizeof *all->workers[i].counts);
		all->failed |= !all->workers[i].buffer || !all->workers[i].ticks || !all->workers[i].counts;
	}
	if (!all->failed)
		dw_pool_run(streams, workers, loading_walk_stream, all);
	for (unsigned i = 0; all->workers && i < workers; i++) {
		dw_frames_reset(&all->workers[i].frames);
		free(all->workers[i].buffer);
		free(all->workers[i].ticks);
		free(all->workers[i].counts);
	}
	free(all->workers);
}

/* ---- the product ------------------------------------------------------------------------------- */

/* Finds the meanings of counters and the shares of rows. False: the trace has no data loading. */
static bool loading_find_symbols(struct gathering *all)
{
	const struct dw_model *model = all->model;
	bool any = false;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category != DWELL_CATEGORY_COUNTER)
			continue;
		all->meanings[i] = strcmp(symbol->name, DW_COUNTER_SAMPLES) == 0 ? SAMPLES
		                   : strcmp(symbol->name, DW_COUNTER_READY_BATCHES) == 0 ? QUEUE : NOTHING;
		any |= all->meanings[i] != NOTHING;
	}
	for (uint32_t row = 0; row < model->row_count; row++) {
		all->shares[row] = (uint8_t)dw_share_of(&model->symbols[model->row_symbol[row]]);
		any |= all->shares[row] == DW_SHARE_DATA;
	}
	return any;
}

static int loading_compare_parts(const void *left, const void *right)
{
	const struct dw_loading_part *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static int loading_compare_requests(const void *left, const void *right)
{
	const struct dw_request *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int loading_compare_made(const void *left, const void *right)
{
	const struct dw_made *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Moves what was gathered into the model's memory. */
static void loading_keep(struct gathering *all, struct dw_loading_all *to)
{
	struct dw_model *model = all->model;

	for (size_t t = 0; t < model->source->thread_count; t++) {
		struct dw_loading *of = &all->threads[t];
		struct dw_request *requests =
		    dw_arena_alloc(&model->arena, (of->request_count + 1) * sizeof *requests);
		struct dw_made *made = dw_arena_alloc(&model->arena, (of->made_count + 1) * sizeof *made);

		all->failed |= !requests || !made;
		if (requests && of->request_count) {
			memcpy(requests, of->requests, of->request_count * sizeof *requests);
			qsort(requests, of->request_count, sizeof *requests, loading_compare_requests);
		}
		if (made && of->made_count) {
			memcpy(made, of->made, of->made_count * sizeof *made);
			qsort(made, of->made_count, sizeof *made, loading_compare_made);
		}
		free(of->requests);
		free(of->made);
		of->requests = requests;
		of->made = made;
	}
	to->parts = dw_arena_alloc(&model->arena, (model->row_count + 1) * sizeof *to->parts);
	all->failed |= !to->parts;
	for (uint32_t row = 0; to->parts && row < model->row_count; row++) {
		if (!all->part_ticks[row])
			continue;
		to->parts[to->part_count++] = (struct dw_loading_part){ model->row_symbol[row],
			all->part_ticks[row], all->part_counts[row] };
		to->making_ns += all->part_ticks[row];
	}
	if (to->part_count)
		qsort(to->parts, to->part_count, sizeof *to->parts, loading_compare_parts);
}

static bool loading_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	struct dw_loading_all *to = result;
	struct gathering all = { .model = model, .lock = PTHREAD_MUTEX_INITIALIZER };

	all.threads = to->threads =
	    dw_arena_alloc(&model->arena, (source->thread_count + 1) * sizeof *to->threads);
	all.lists = calloc(source->thread_count + 1, sizeof *all.lists);
	all.loops = calloc(source->thread_count + 1, sizeof *all.loops);
	all.meanings = calloc(model->symbol_count + 1, 1);
	all.shares = calloc(model->row_count + 1, 1);
	all.part_ticks = calloc(model->row_count + 1, sizeof *all.part_ticks);
	all.part_counts = calloc(model->row_count + 1, sizeof *all.part_counts);
	all.failed = !all.threads || !all.lists || !all.loops || !all.meanings || !all.shares ||
	             !all.part_ticks || !all.part_counts;
	for (size_t i = 0; !all.failed && i < source->step_count; i++)
		all.loops[source->steps[i].thread] = true;
	if (!all.failed && loading_find_symbols(&all))
		loading_walk_all(&all);
	if (all.part_counts && all.threads)
		loading_keep(&all, to);
	free(all.lists);
	free(all.loops);
	free(all.meanings);
	free(all.shares);
	free(all.part_ticks);
	free(all.part_counts);
	return !all.failed;
}

const struct dw_loading_all *dw_model_loading_all(struct dw_model *model,
                                                  struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_loading_all), loading_compute,
		                                       NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}

const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_loading_all *all = dw_model_loading_all(model, error);

	return all ? all->threads : NULL;
}
