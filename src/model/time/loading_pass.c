/*
 * Requests for data, batches made, and counters of data loading, by thread; see loading.h.
 *
 * A request or a batch whose end was not recorded is left out. A request may lie in several segments
 * of a stream. The segment in which it ends adds it; what the loop made in earlier segments is added
 * afterwards.
 */

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/time/loading_pass.h"

enum meaning { NOTHING, SAMPLES, QUEUE };

struct dw_loading_lists {
	size_t request_capacity, made_capacity;
};

/* ---- a stream -------------------------------------------------------------------------------- */

bool dw_loading_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from)
{
	struct dw_loading_pass *loading = pass;
	const struct dw_segment *segment = from->segment;

	*loading = (struct dw_loading_pass){ .pass = from->pass, .sums = sums, .worker = worker,
		.clock = &from->pass->walk.file->clock, .frame_bytes = from->frame_bytes };
	if (segment->from) {
		loading->resumed = segment->open_count;
		loading->resumed_ticks = segment->ticks > segment->floor ? segment->ticks : segment->floor;
	}
	return true;
}

/* A range from before the segment is on the stack. An earlier segment has assigned the time before
 * this one. */
void dw_loading_resume(struct dw_loading_pass *loading)
{
	if (!--loading->resumed)
		loading->last_ticks = loading->resumed_ticks;
}

static bool loading_is_loop(const struct dw_loading_pass *loading)
{
	uint32_t thread = loading->pass->walk.thread;

	return thread != DW_NO_INDEX && loading->sums->loops[thread];
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

void dw_loading_give(struct dw_loading_pass *loading, uint64_t ticks)
{
	const struct dw_pass *pass = loading->pass;

	if (pass->depth && !pass->folded && ticks > loading->last_ticks)
		loading->worker->ticks[dw_part_row(pass, loading->frame_bytes, pass->depth)] += ticks - loading->last_ticks;
	loading->last_ticks = ticks;
}

void dw_loading_begin_data(struct dw_loading_pass *loading, uint64_t ticks, uint32_t id)
{
	if (loading->data++ == 0) {
		const struct dw_symbol *symbol = &loading->sums->model->symbols[loading->pass->walk.symbol_by_id[id]];

		loading->loop = loading_is_loop(loading);
		loading->request = (struct dw_request){ .start_ns = ticks, .kind = loading_kind(symbol),
			                                    .evaluation = loading->evaluation > 0 };
		loading->making = !loading->loop;
	} else if (loading->data == 2 && loading->loop) {
		loading->inner_ticks = ticks;
		loading->making = true;
	}
	loading->last_ticks = ticks;
}

static void loading_add_made(struct dw_loading_pass *loading, uint64_t from, uint64_t to)
{
	uint32_t thread = loading->pass->walk.thread;
	struct dw_loading_sums *sums = loading->sums;
	struct dw_loading *of = &sums->threads[thread];

	pthread_mutex_lock(&sums->lock);
	sums->failed |= !DW_APPEND(&of->made, &sums->lists[thread].made_capacity, &of->made_count,
	                           (struct dw_made){ dw_source_ns(loading->clock, from),
	                               dw_source_ns(loading->clock, to) });
	pthread_mutex_unlock(&sums->lock);
}

/* Times of the request are in ticks until here; made_ns stays in ticks until all parts of it are
 * known. */
static void loading_add_request(struct dw_loading_pass *loading, uint64_t ticks)
{
	uint32_t thread = loading->pass->walk.thread;
	struct dw_loading_sums *sums = loading->sums;
	struct dw_loading *of = &sums->threads[thread];
	struct dw_request *request;

	pthread_mutex_lock(&sums->lock);
	request = DW_GROW(&of->requests, &sums->lists[thread].request_capacity, of->request_count);
	if (request) {
		*request = loading->request;
		request->start_ns = dw_source_ns(loading->clock, request->start_ns);
		request->end_ns = dw_source_ns(loading->clock, ticks);
		of->request_count++;
	}
	sums->failed |= !request;
	pthread_mutex_unlock(&sums->lock);
}

void dw_loading_end_data(struct dw_loading_pass *loading, uint64_t ticks, enum dw_leave how)
{
	loading->data--;
	if (loading->data == 0) {
		if (loading->pass->walk.thread != DW_NO_INDEX && how == DW_LEAVE_END) {
			if (loading->loop)
				loading_add_request(loading, ticks);
			else
				loading_add_made(loading, loading->request.start_ns, ticks);
		}
		loading->making = false;
	} else if (loading->data == 1 && loading->loop) {
		loading->making = false;
		loading->request.made_ns += ticks - loading->inner_ticks;
		if (loading->request.kind != DW_REQUEST_START && how == DW_LEAVE_END)
			loading_add_made(loading, loading->inner_ticks, ticks);
	}
}

void dw_loading_carried(void *pass)
{
	struct dw_loading_pass *loading = pass;
	struct dw_loading_sums *sums = loading->sums;

	dw_loading_settle(loading, dw_time_now(&loading->pass->walk.time));
	if (!loading->data || !loading->loop || !loading->request.made_ns)
		return;
	pthread_mutex_lock(&sums->lock);
	sums->failed |= !DW_APPEND(&sums->rests, &sums->rest_capacity, &sums->rest_count,
	                           (struct dw_loading_rest){ loading->pass->walk.thread,
	                               dw_source_ns(loading->clock, loading->request.start_ns), loading->request.made_ns });
	pthread_mutex_unlock(&sums->lock);
}

void dw_loading_note(void *pass, uint64_t ticks, const struct dw_record *record)
{
	struct dw_loading_pass *loading = pass;
	struct dw_walk *walk = &loading->pass->walk;
	struct dw_loading *to;
	double value;

	if (record->kind != DW_COUNTER || !walk->wanted || record->id >= walk->op_count)
		return;
	value = dw_record_f64(record, 0);
	if (!(value >= 0 && value < 1e15) || !dw_walk_in_time(walk, ticks))
		return;
	to = &loading->sums->threads[walk->thread];
	switch (loading->sums->meanings[loading->pass->walk.symbol_by_id[record->id]]) {
	case SAMPLES: __atomic_fetch_add(&to->samples, (uint64_t)value, __ATOMIC_RELAXED); break;
	case QUEUE:
		__atomic_fetch_add(&to->asked, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&to->ready, (uint64_t)value, __ATOMIC_RELAXED);
		break;
	default: break;
	}
}

/* ---- a worker -------------------------------------------------------------------------------- */

bool dw_loading_worker_init(void *memory, const void *sums)
{
	struct dw_loading_worker *worker = memory;
	size_t rows = ((const struct dw_loading_sums *)sums)->model->row_count + (size_t)1;

	worker->ticks = calloc(rows, sizeof *worker->ticks);
	worker->counts = calloc(rows, sizeof *worker->counts);
	return worker->ticks && worker->counts;
}

void dw_loading_worker_reset(void *memory)
{
	struct dw_loading_worker *worker = memory;

	DW_FREE(worker->ticks, worker->counts);
	*worker = (struct dw_loading_worker){ NULL, NULL };
}

bool dw_loading_merge(void *into, void *memory, uint32_t file)
{
	struct dw_loading_sums *sums = into;
	struct dw_loading_worker *worker = memory;

	for (uint32_t row = 0; row < sums->model->row_count; row++) {
		sums->part_ticks[row] += worker->ticks[row];
		sums->part_counts[row] += worker->counts[row];
		worker->ticks[row] = worker->counts[row] = 0;
	}
	return true;
}

void dw_loading_end_file(void *into, uint32_t file)
{
	struct dw_loading_sums *sums = into;
	const struct dw_source_clock *clock = &sums->model->source->files[file].clock;

	for (uint32_t row = 0; row < sums->model->row_count; row++) {
		sums->part_ns[row] += dw_source_span_ns(clock, sums->part_ticks[row]);
		sums->part_ticks[row] = 0;
	}
}

/* ---- the product ------------------------------------------------------------------------------- */

/* Finds the meanings of counters and the shares of rows. False: the trace has no data loading. */
static bool loading_find_symbols(struct dw_loading_sums *sums)
{
	const struct dw_model *model = sums->model;
	bool any = false;

	for (uint32_t i = 0; i < model->symbol_count; i++) {
		const struct dw_symbol *symbol = &model->symbols[i];

		if (symbol->category != DWELL_CATEGORY_COUNTER)
			continue;
		sums->meanings[i] = strcmp(symbol->name, DW_COUNTER_SAMPLES) == 0 ? SAMPLES
		                    : strcmp(symbol->name, DW_COUNTER_READY_BATCHES) == 0 ? QUEUE : NOTHING;
		any |= sums->meanings[i] != NOTHING;
	}
	for (uint32_t row = 0; row < model->row_count; row++) {
		sums->shares[row] = (uint8_t)dw_share_of(&model->symbols[model->row_symbol[row]]);
		any |= sums->shares[row] == DW_SHARE_DATA;
	}
	return any;
}

bool dw_loading_sums_init(struct dw_loading_sums *sums, struct dw_model *model)
{
	const struct dw_source *source = model->source;
	size_t rows = model->row_count + (size_t)1, threads = source->thread_count + 1;

	*sums = (struct dw_loading_sums){ .model = model, .lock = PTHREAD_MUTEX_INITIALIZER };
	sums->threads = dw_arena_alloc(&model->arena, threads * sizeof *sums->threads);
	if (!sums->threads || !DW_NEW(&sums->lists, threads) || !DW_NEW(&sums->loops, threads) ||
	    !DW_NEW(&sums->meanings, model->symbol_count + (size_t)1) || !DW_NEW(&sums->shares, rows) ||
	    !DW_NEW(&sums->part_ticks, rows) || !DW_NEW(&sums->part_ns, rows) || !DW_NEW(&sums->part_counts, rows))
		return false;
	for (size_t i = 0; i < source->step_count; i++)
		sums->loops[source->steps[i].thread] = true;
	sums->any = loading_find_symbols(sums);
	return true;
}

void dw_loading_sums_reset(struct dw_loading_sums *sums)
{
	for (size_t t = 0; sums->model && sums->threads && sums->lists && t < sums->model->source->thread_count; t++)
		if (sums->lists[t].request_capacity || sums->lists[t].made_capacity) {
			DW_FREE(sums->threads[t].requests, sums->threads[t].made);
		}
	DW_FREE(sums->lists, sums->rests, sums->loops, sums->meanings, sums->shares, sums->part_ticks, sums->part_ns,
	        sums->part_counts);
}

DW_ORDER(loading_compare_parts, struct dw_loading_part, DW_DOWN(ns) DW_UP(symbol))

DW_ORDER(loading_compare_requests, struct dw_request, DW_UP(start_ns) DW_UP(end_ns))

DW_ORDER(loading_compare_made, struct dw_made, DW_UP(start_ns) DW_UP(end_ns))

/* Adds what the loop made in a segment before that in which the request ended. */
static void loading_add_rest(const struct dw_loading *of, const struct dw_loading_rest *rest)
{
	/* The first request that begins later. */
	size_t low = DW_FIRST(i, 0, of->request_count, of->requests[i].start_ns > rest->start_ns);

	if (low && of->requests[low - 1].start_ns == rest->start_ns)
		of->requests[low - 1].made_ns += rest->made_ticks;
}

/* Moves the lists of a thread into the model's memory. */
static bool loading_keep_thread(struct dw_loading_sums *sums, uint32_t thread)
{
	struct dw_model *model = sums->model;
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[thread].process].file].clock;
	struct dw_loading *of = &sums->threads[thread];
	struct dw_request *requests = dw_arena_alloc(&model->arena, (of->request_count + 1) * sizeof *requests);
	struct dw_made *made = dw_arena_alloc(&model->arena, (of->made_count + 1) * sizeof *made);

	if (!requests || !made)
		return false;
	if (of->request_count) {
		memcpy(requests, of->requests, of->request_count * sizeof *requests);
		DW_SORT(requests, of->request_count, loading_compare_requests);
	}
	if (of->made_count) {
		memcpy(made, of->made, of->made_count * sizeof *made);
		DW_SORT(made, of->made_count, loading_compare_made);
	}
	DW_FREE(of->requests, of->made);
	sums->lists[thread] = (struct dw_loading_lists){ 0, 0 };
	of->requests = requests;
	of->made = made;
	for (size_t i = 0; i < sums->rest_count; i++)
		if (sums->rests[i].thread == thread)
			loading_add_rest(of, &sums->rests[i]);
	for (size_t i = 0; i < of->request_count; i++)
		requests[i].made_ns = dw_source_span_ns(clock, requests[i].made_ns);
	return true;
}

bool dw_loading_finish(struct dw_loading_sums *sums, struct dw_loading_all *to)
{
	struct dw_model *model = sums->model;

	to->threads = sums->threads;
	for (uint32_t t = 0; t < model->source->thread_count; t++)
		if (!loading_keep_thread(sums, t))
			return false;
	to->parts = dw_arena_alloc(&model->arena, (model->row_count + 1) * sizeof *to->parts);
	if (!to->parts)
		return false;
	for (uint32_t row = 0; row < model->row_count; row++) {
		if (!sums->part_ns[row])
			continue;
		to->parts[to->part_count++] = (struct dw_loading_part){ model->row_symbol[row],
			sums->part_ns[row], sums->part_counts[row] };
		to->making_ns += sums->part_ns[row];
	}
	DW_SORT(to->parts, to->part_count, loading_compare_parts);
	return !sums->failed;
}

#define LOOP loading_alone
#define LOOP_HOOKS
#define LOOP_PARTS(PART) PART(loading, ALWAYS)
#include "model/core/loop.h"

static bool loading_walk(struct dw_loading_sums *own)
{
	struct dw_part_sums sums = { .loading = own };
	const struct dw_segments *segments = dw_model_segments(own->model);

	return segments && loading_alone_walk_all(own->model, &sums, segments, NULL);
}

static bool loading_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_loading_sums sums;
	bool good = dw_loading_sums_init(&sums, model) && (!sums.any || loading_walk(&sums)) &&
	            dw_loading_finish(&sums, result);

	dw_loading_sums_reset(&sums);
	return good;
}

DW_PRODUCT(loading, struct dw_loading_all, loading_compute, NULL);

const struct dw_loading_all *dw_model_loading_all(struct dw_model *model, struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_loading, 0, NULL, error);
}

const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_loading_all *all = dw_model_loading_all(model, error);

	return all ? all->threads : NULL;
}
