/*
 * Facts of the data loader: production, hand-over and the start of workers, separately.
 *
 * The loop's requests for training batches are divided into epochs: an epoch begins when the loop
 * begins to iterate over a loader. The first request of an epoch is left out of the figures of a
 * batch, because it waits for workers to start.
 *
 * A request ends when its batch has been made and handed over. With n workers, the i-th request of
 * an epoch gets the batch of worker i mod n, in the order in which the workers were started. If
 * this agrees with the times (no batch was made after its request ended), the wait is divided at
 * the moment when the batch was made. Otherwise it is divided by the state of the queue: a request
 * that found no batch ready waited for production, except for the time of a usual hand-over.
 *
 * loader.workers is the number of threads that made batches in one epoch.
 */
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "base/order.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/time/loading.h"

#define NO_LOADER "the trace has no data loading: mark it with DWELL_SCOPE(DWELL_CATEGORY_DATA, \"name\")"
#define NO_WORKERS "the loader has no workers"
#define EARLY_NS 2e6       /* tolerance: a batch may seem to be made this much after its request ended */
#define LEAST_MATCHED 0.95
#define LEAST_MADE 8u      /* batches of a worker that is compared with others */

struct epoch {
	size_t first, end;     /* its requests, without the begin of the iteration */
	uint64_t start_ns, end_ns;
	uint64_t iterator_ns;  /* duration of the begin of the iteration */
	bool starts;           /* one of its workers makes its first batch in it: workers that stay make theirs in the first epoch */
};

struct loader {
	const struct dw_loading_all *all;
	struct dw_request *requests;  /* of training, without begins of iterations */
	size_t request_count;
	struct epoch *epochs;
	size_t epoch_count;
	double *production_ns;        /* by request: how long it waited for production */
	uint32_t *workers;            /* threads that made batches, by process and thread start */
	size_t worker_count, most_workers;
	bool *first;                  /* by request: it is the first of its epoch */
};

/* ---- requests and epochs ----------------------------------------------------------------------- */

static bool loader_gather_requests(struct dw_facts_work *work, struct loader *loader)
{
	const struct dw_loading *of = &loader->all->threads[work->loop->thread];
	struct epoch *epoch = NULL;

	loader->requests = calloc(of->request_count + 1, sizeof *loader->requests);
	loader->epochs = calloc(of->request_count + 2, sizeof *loader->epochs);
	loader->production_ns = calloc(of->request_count + 1, sizeof *loader->production_ns);
	loader->first = calloc(of->request_count + 1, sizeof *loader->first);
	if (!loader->requests || !loader->epochs || !loader->production_ns || !loader->first)
		return false;
	for (size_t i = 0; i < of->request_count; i++) {
		const struct dw_request *request = &of->requests[i];

		if (request->evaluation)
			continue;
		if (request->kind == DW_REQUEST_START || !epoch) {
			if (!epoch || epoch->end > epoch->first)
				epoch = &loader->epochs[loader->epoch_count++];
			*epoch = (struct epoch){ .first = loader->request_count,
				                     .end = loader->request_count, .start_ns = request->start_ns };
			if (request->kind == DW_REQUEST_START)
				epoch->iterator_ns = request->end_ns - request->start_ns;
		}
		epoch->end_ns = request->end_ns;
		if (request->kind == DW_REQUEST_START)
			continue;
		loader->first[loader->request_count] = epoch->end == epoch->first;
		loader->requests[loader->request_count++] = *request;
		epoch->end = loader->request_count;
	}
	return true;
}

static double loader_length(const struct dw_request *request)
{
	return (double)(request->end_ns - request->start_ns);
}

/* ---- workers ----------------------------------------------------------------------------------- */

/* Whether a thread makes batches for the loop: it must be another thread of the loop's rank, in the
 * loop's process or in another one. */
static bool loader_is_worker(const struct dw_facts_work *work, const struct loader *loader, uint32_t thread)
{
	const struct dw_source *source = work->source;
	uint32_t loop = source->threads[work->loop->thread].process;
	uint32_t process = source->threads[thread].process;

	if (thread == work->loop->thread || !loader->all->threads[thread].made_count ||
	    loader->all->threads[thread].request_count)
		return false;
	while (process != loop && process != DW_NO_INDEX)
		process = source->processes[process].parent;
	return process == loop || work->steps->process_count == 1;
}

static uint64_t loader_started(const struct dw_facts_work *work, uint32_t thread)
{
	return work->source->processes[work->source->threads[thread].process].start_ns;
}

static bool loader_find_workers(struct dw_facts_work *work, struct loader *loader)
{
	size_t threads = work->source->thread_count;

	loader->workers = calloc(threads + 1, sizeof *loader->workers);
	if (!loader->workers)
		return false;
	for (uint32_t t = 0; t < threads; t++) {
		size_t at = loader->worker_count;

		if (!loader_is_worker(work, loader, t))
			continue;
		for (; at && loader_started(work, loader->workers[at - 1]) > loader_started(work, t); at--)
			loader->workers[at] = loader->workers[at - 1];
		loader->workers[at] = t;
		loader->worker_count++;
	}
	return true;
}

/* The first batch of a thread that began at or after `ns`. */
static size_t loader_first_made(const struct dw_loading *of, uint64_t ns)
{
	return DW_FIRST(i, 0, of->made_count, of->made[i].start_ns >= ns);
}

/* Finds the workers that made batches in the epoch. Stores them in `of`, and the index of their
 * first batch in `from`. A thread of the loop's process may make batches before the loop asks for the first one. */
static size_t loader_workers_of(const struct dw_facts_work *work, const struct loader *loader, const struct epoch *epoch,
                                uint32_t *of, size_t *from)
{
	const struct dw_source_thread *threads = work->source->threads;
	uint32_t process = threads[work->loop->thread].process;
	size_t count = 0;

	for (size_t w = 0; w < loader->worker_count; w++) {
		const struct dw_loading *made = &loader->all->threads[loader->workers[w]];
		bool early = epoch == loader->epochs && threads[loader->workers[w]].process == process;
		size_t first = early ? 0 : loader_first_made(made, epoch->start_ns);

		if (first == made->made_count || made->made[first].start_ns >= epoch->end_ns)
			continue;
		of[count] = loader->workers[w];
		from[count++] = first;
	}
	return count;
}

/* The batch that a request gets if the loop takes those of the workers in turn, beginning with worker `first`; NULL: the
 * worker made no more. */
static const struct dw_made *loader_batch_of(const struct loader *loader, size_t i, const uint32_t *workers,
                                             const size_t *from, size_t count, size_t first)
{
	size_t worker = (i + first) % count, at = from[worker] + i / count;
	const struct dw_loading *of = &loader->all->threads[workers[worker]];

	return at < of->made_count ? &of->made[at] : NULL;
}

/* How many requests of an epoch end after their batch was made. */
static size_t loader_count_matched(const struct loader *loader, const struct epoch *epoch, const uint32_t *workers,
                                   const size_t *from, size_t count, size_t first)
{
	size_t matched = 0, requests = epoch->end - epoch->first;

	for (size_t i = 0; i < requests; i++) {
		const struct dw_made *made = loader_batch_of(loader, i, workers, from, count, first);

		matched += made ? (double)made->end_ns <= (double)loader->requests[epoch->first + i].end_ns + EARLY_NS
		                : i + 1 == requests; /* the last request gets no batch: it ends the epoch */
	}
	return matched;
}

/* Divides the waits of an epoch by the times at which batches were made. Returns whether these fit
 * the requests. */
static bool loader_match_epoch(struct loader *loader, const struct epoch *epoch,
                               const uint32_t *workers, const size_t *from, size_t count)
{
	size_t most = 0, best = 0, requests = epoch->end - epoch->first;

	for (size_t first = 0; first < count; first++) {
		size_t matched = loader_count_matched(loader, epoch, workers, from, count, first);

		if (matched > most) {
			most = matched;
			best = first;
		}
		if ((double)most >= LEAST_MATCHED * (double)requests)
			break;
	}
	for (size_t i = 0; count && i < requests; i++) {
		const struct dw_request *request = &loader->requests[epoch->first + i];
		const struct dw_made *made = loader_batch_of(loader, i, workers, from, count, best);

		if (made)
			loader->production_ns[epoch->first + i] =
			    fmax(0, fmin((double)made->end_ns - (double)request->start_ns, loader_length(request)));
	}
	return count && (double)most >= LEAST_MATCHED * (double)requests;
}

/* Divides the waits of an epoch by the state of the queue. */
static void loader_divide_by_queue(struct loader *loader, const struct epoch *epoch, double hand_over_ns)
{
	for (size_t i = epoch->first; i < epoch->end; i++) {
		const struct dw_request *request = &loader->requests[i];

		loader->production_ns[i] = request->kind == DW_REQUEST_EMPTY
		                               ? fmax(0, loader_length(request) - hand_over_ns) : 0;
	}
}

/* The usual time of a hand-over. Workers finish in any order: a request that finds the batch after the
 * next one first takes in both, and then the next request has nothing to do. So the mean of two
 * successive requests counts. Replaces the values. */
static double loader_usual(double *values, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++)
		values[i] = (values[i] + values[i + 1]) / 2;
	return dw_median(values, count > 1 ? count - 1 : count);
}

/* That of the requests that found a batch ready. */
static double loader_usual_hand_over(struct loader *loader, double *space)
{
	size_t count = 0;

	for (size_t i = 0; i < loader->request_count; i++)
		if (loader->requests[i].kind == DW_REQUEST_READY)
			space[count++] = loader_length(&loader->requests[i]);
	return loader_usual(space, count);
}

static bool loader_divide_waits(const struct dw_facts_work *work, struct loader *loader)
{
	uint32_t *workers = calloc(loader->worker_count + 1, sizeof *workers);
	size_t *from = calloc(loader->worker_count + 1, sizeof *from);
	double *space = calloc(loader->request_count + 1, sizeof *space);
	bool good = workers && from && space;
	double usual = good ? loader_usual_hand_over(loader, space) : 0;

	for (size_t e = 0; good && e < loader->epoch_count; e++) {
		struct epoch *epoch = &loader->epochs[e];
		size_t count = loader_workers_of(work, loader, epoch, workers, from);

		for (size_t w = 0; w < count; w++)
			epoch->starts |= !from[w];
		if (count > loader->most_workers)
			loader->most_workers = count;
		if (!loader_match_epoch(loader, epoch, workers, from, count))
			loader_divide_by_queue(loader, epoch, usual);
	}
	free(workers);
	free(from);
	free(space);
	return good;
}

/* ---- figures of steps ---------------------------------------------------------------------------- */

enum of_request { MADE, PRODUCTION, HAND_OVER };

/* Sums a part of the requests by the steady step in which they begin. */
static void loader_put_of_steps(struct dw_facts_work *work, const struct loader *loader,
                                enum dw_fact_id id, enum of_request which)
{
	size_t at = 0;

	for (size_t s = 0; s < work->steady_count; s++) {
		const struct dw_step *step = work->steady[s];
		double ns = 0;

		while (at < loader->request_count && loader->requests[at].start_ns < step->start_ns)
			at++;
		for (; at < loader->request_count && loader->requests[at].start_ns < step->end_ns; at++) {
			double made = (double)loader->requests[at].made_ns;
			double production = loader->production_ns[at];

			if (loader->first[at] && which != MADE)
				continue;
			ns += which == MADE         ? made
			      : which == PRODUCTION ? production
			                            : loader_length(&loader->requests[at]) - made - production;
		}
		work->values[s] = fmax(0, ns);
	}
	if (work->steady_count)
		dw_fact_set_steps(work, id);
}

/* ---- production ------------------------------------------------------------------------------------ */

/* The first batch that a thread made and that counts: the first one of a worker takes longer. */
static size_t loader_first_usual(const struct loader *loader, size_t worker, const struct dw_loading *of)
{
	return worker < loader->worker_count && of->made_count > 1;
}

/* The durations of the batches that were made for the loop, without the first ones of workers. `sum`
 * and `samples` are of all batches. */
static double *loader_made_lengths(const struct dw_facts_work *work, const struct loader *loader,
                                   size_t *count, double *sum, uint64_t *samples)
{
	double *lengths = NULL;
	size_t all = 0;

	*count = 0;
	*sum = 0;
	*samples = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t w = 0; w <= loader->worker_count; w++) {
			uint32_t thread = w < loader->worker_count ? loader->workers[w] : work->loop->thread;
			const struct dw_loading *of = &loader->all->threads[thread];

			all += pass ? 0 : of->made_count;
			*samples += pass ? of->samples : 0;
			for (size_t i = 0; pass && i < of->made_count; i++) {
				double length = (double)(of->made[i].end_ns - of->made[i].start_ns);

				*sum += length;
				if (i >= loader_first_usual(loader, w, of))
					lengths[(*count)++] = length;
			}
		}
		if (!pass)
			lengths = calloc(all + 1, sizeof *lengths);
		if (!lengths)
			break;
	}
	return lengths;
}

static void loader_put_production(struct dw_facts_work *work, const struct loader *loader)
{
	size_t count;
	uint64_t samples;
	double sum, median, *lengths = loader_made_lengths(work, loader, &count, &sum, &samples);

	work->failed |= !lengths;
	if (lengths && count) {
		median = dw_median(lengths, count);
		dw_fact_set(work, DW_FACT_LOADER_PRODUCTION, median, count);
		if (median > 0)
			dw_fact_set(work, DW_FACT_LOADER_VARIATION, lengths[(size_t)(0.99 * (double)(count - 1))] / median, count);
		if (samples)
			dw_fact_set(work, DW_FACT_LOADER_SAMPLE, sum / (double)samples, samples);
		else
			dw_fact_miss(work, DW_FACT_LOADER_SAMPLE, "the number of samples is not in the trace");
	} else {
		for (unsigned id = DW_FACT_LOADER_PRODUCTION; id <= DW_FACT_LOADER_PART; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, "no batch was seen being made");
		dw_fact_miss(work, DW_FACT_LOADER_VARIATION, "no batch was seen being made");
	}
	free(lengths);
}

static void loader_put_parts(struct dw_facts_work *work, const struct loader *loader)
{
	double all = (double)loader->all->making_ns;
	struct dw_fact *fact;

	if (!loader->all->part_count)
		return;
	/* The largest part may be code without a name: then only functions tell what it is. */
	if (work->symbols[loader->all->parts[0].symbol].category == DWELL_CATEGORY_DATA &&
	    !(work->facts->at[DW_FACT_TRACE_FUNCTIONS].value > 0)) {
		dw_fact_miss(work, DW_FACT_LOADER_PART, work->python ? "record with dwell run --functions"
		                                                     : "name the parts of making a batch");
		return;
	}
	fact = dw_fact_set_share(work, DW_FACT_LOADER_PART, (double)loader->all->parts[0].ns, all,
	                         loader->all->parts[0].count);
	dw_fact_name(work, fact, loader->all->parts[0].symbol);
	if (work->symbols[fact->symbol].category == DWELL_CATEGORY_DATA)
		fact->note = "the data set's own code, not named";
}

/* ---- workers ----------------------------------------------------------------------------------- */

/* Compares the workers that made several batches, by their medians: the first batches of a worker
 * take longer, so that workers with few batches tell nothing. */
static void loader_put_slowest(struct dw_facts_work *work, const struct loader *loader, double *medians, double *space)
{
	double slowest = 0, median;
	uint32_t slow = DW_NO_INDEX;
	struct dw_fact *fact;
	size_t count = 0;

	for (size_t w = 0; w < loader->worker_count; w++) {
		const struct dw_loading *of = &loader->all->threads[loader->workers[w]];

		if (of->made_count < LEAST_MADE)
			continue;
		for (size_t i = 0; i < of->made_count; i++)
			space[i] = (double)(of->made[i].end_ns - of->made[i].start_ns);
		medians[count++] = dw_median(space, of->made_count);
		if (medians[count - 1] > slowest) {
			slowest = medians[count - 1];
			slow = loader->workers[w];
		}
	}
	median = dw_median(medians, count);
	if (count < 2 || !(median > 0)) {
		dw_fact_miss(work, DW_FACT_LOADER_SLOWEST,
		             loader->worker_count < 2 ? "there is only one worker" : "no two workers made at least 8 batches");
		return;
	}
	fact = dw_fact_set(work, DW_FACT_LOADER_SLOWEST, slowest / median, count);
	fact->note = work->source->threads[slow].name;
}

static void loader_put_workers(struct dw_facts_work *work, const struct loader *loader)
{
	double busy = 0, span = 0, *medians, *space;
	size_t most = 0;

	dw_fact_set(work, DW_FACT_LOADER_WORKERS, (double)loader->most_workers, loader->epoch_count);
	dw_fact_set(work, DW_FACT_LOADER_WORKERS_STARTED, (double)loader->worker_count, 1);
	if (!loader->worker_count) {
		dw_fact_miss(work, DW_FACT_LOADER_BUSY, NO_WORKERS);
		dw_fact_miss(work, DW_FACT_LOADER_SLOWEST, NO_WORKERS);
		return;
	}
	for (size_t w = 0; w < loader->worker_count; w++) {
		const struct dw_loading *of = &loader->all->threads[loader->workers[w]];

		busy += dw_facts_made_ns(of);
		span += (double)(of->made[of->made_count - 1].end_ns - of->made[0].start_ns);
		most = of->made_count > most ? of->made_count : most;
	}
	dw_fact_set_share(work, DW_FACT_LOADER_BUSY, busy, span, loader->worker_count);
	medians = calloc(loader->worker_count + 1, sizeof *medians);
	space = calloc(most + 1, sizeof *space);
	work->failed |= !medians || !space;
	if (medians && space)
		loader_put_slowest(work, loader, medians, space);
	free(medians);
	free(space);
}

/* ---- requests ---------------------------------------------------------------------------------- */

/* The part of a time that lies in the loop. */
static double loader_in_loop(const struct dw_facts_work *work, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = start_ns > work->loop->start_ns ? start_ns : work->loop->start_ns;
	uint64_t to = end_ns < work->loop->end_ns ? end_ns : work->loop->end_ns;

	return to > from ? (double)(to - from) : 0;
}

/* The loop's data loading has no time of the collector. So collections within requests are what these
 * are longer. */
static void loader_put_collector(struct dw_facts_work *work, const struct loader *loader)
{
	const struct dw_fact *data = &work->facts->at[DW_FACT_LOOP_DATA_ALL];
	const struct dw_fact *collector = &work->facts->at[DW_FACT_LOOP_COLLECTOR_ALL];
	double ns = 0;

	if (!data->measured || !collector->measured) {
		dw_fact_miss(work, DW_FACT_LOADER_COLLECTOR, "only part of the run is in scope");
		return;
	}
	for (size_t i = 0; i < loader->request_count; i++)
		ns += loader_in_loop(work, loader->requests[i].start_ns, loader->requests[i].end_ns);
	for (size_t i = 0; i < loader->epoch_count; i++)
		ns += loader_in_loop(work, loader->epochs[i].start_ns,
		                     loader->epochs[i].start_ns + loader->epochs[i].iterator_ns);
	ns = fmin(ns - data->value * work->loop_ns, collector->value * work->loop_ns);
	dw_fact_set_share(work, DW_FACT_LOADER_COLLECTOR, fmax(0, ns), work->loop_ns, loader->request_count);
}

static void loader_put_requests(struct dw_facts_work *work, const struct loader *loader, double *space)
{
	const struct dw_loading *of = &loader->all->threads[work->loop->thread];
	double empty = 0, asked = 0;
	size_t hand_overs = 0;

	for (size_t i = 0; i < loader->request_count; i++) {
		const struct dw_request *request = &loader->requests[i];

		if (loader->first[i])
			continue;
		asked += request->kind == DW_REQUEST_EMPTY || request->kind == DW_REQUEST_READY;
		empty += request->kind == DW_REQUEST_EMPTY;
		if (loader->worker_count && loader->production_ns[i] <= 0)
			space[hand_overs++] = loader_length(request);
	}
	dw_fact_set(work, DW_FACT_LOADER_EPOCHS, (double)loader->epoch_count, 1);
	dw_fact_set(work, DW_FACT_LOADER_BATCHES, (double)loader->request_count, 1);
	if (asked > 0)
		dw_fact_set_share(work, DW_FACT_LOADER_EMPTY, empty, asked, (size_t)asked);
	else
		dw_fact_miss(work, DW_FACT_LOADER_EMPTY, NO_WORKERS);
	if (of->asked)
		dw_fact_set(work, DW_FACT_LOADER_READY, (double)of->ready / (double)of->asked, (size_t)of->asked);
	else
		dw_fact_miss(work, DW_FACT_LOADER_READY, NO_WORKERS);
	if (hand_overs)
		dw_fact_set(work, DW_FACT_LOADER_HAND_OVER_NS, loader_usual(space, hand_overs), hand_overs);
	else
		dw_fact_miss(work, DW_FACT_LOADER_HAND_OVER_NS,
		             loader->worker_count ? "no request found a batch ready" : NO_WORKERS);
}

/* The median duration of the requests that are neither the first nor the last ones of their epochs. The last one ends the iteration, and
 * may end the workers. */
static double loader_usual_wait(const struct loader *loader, double *space)
{
	size_t count = 0;

	for (size_t e = 0; e < loader->epoch_count; e++)
		for (size_t i = loader->epochs[e].first + 1; i + (e + 1 < loader->epoch_count) < loader->epochs[e].end; i++)
			space[count++] = loader_length(&loader->requests[i]);
	return dw_median(space, count);
}

/* What the last request of an epoch takes beyond a usual one, if another epoch follows: a loader
 * that does not keep its workers ends them then. */
static double loader_end_ns(const struct loader *loader, size_t number, double usual_ns)
{
	const struct epoch *epoch = &loader->epochs[number];

	if (number + 1 == loader->epoch_count || epoch->end - epoch->first < 2)
		return 0;
	return fmax(0, loader_length(&loader->requests[epoch->end - 1]) - usual_ns);
}

/* The time that the begin of an epoch with new workers takes beyond a usual batch and making the first batch, and its end beyond a
 * usual batch. */
static void loader_put_start(struct dw_facts_work *work, const struct loader *loader, double usual_ns, double production_ns)
{
	struct dw_fact *outliers = &work->facts->at[DW_FACT_STEP_OUTLIERS_EXCESS];
	double sum = 0, within = 0;

	if (!loader->worker_count || !loader->epoch_count) {
		dw_fact_miss(work, DW_FACT_LOADER_START, NO_WORKERS);
		dw_fact_miss(work, DW_FACT_LOADER_START_SHARE, NO_WORKERS);
		return;
	}
	for (size_t e = 0; e < loader->epoch_count; e++) {
		const struct epoch *epoch = &loader->epochs[e];
		double ns = (double)epoch->iterator_ns;

		if (!epoch->starts)
			continue;
		if (epoch->end > epoch->first)
			ns += fmax(0, loader_length(&loader->requests[epoch->first]) - usual_ns - production_ns);
		ns += loader_end_ns(loader, e, usual_ns);
		sum += ns;
		within += e && epoch->start_ns < work->loop->end_ns ? ns : 0;
	}
	dw_fact_set(work, DW_FACT_LOADER_START, sum / (double)loader->epoch_count, loader->epoch_count);
	dw_fact_set_share(work, DW_FACT_LOADER_START_SHARE, within, work->loop_ns, loader->epoch_count - 1);
	/* The first steps of epochs are outliers only because workers start in them. */
	if (outliers->measured && outliers->note && strcmp(outliers->note, "data") == 0 && work->loop_ns > 0)
		outliers->value = outliers->low = outliers->high = fmax(0, outliers->value - within / work->loop_ns);
}

/* The time for which the loop made batches itself. */
static double loader_made_by_loop(const struct loader *loader)
{
	double ns = 0;

	for (size_t i = 0; i < loader->request_count; i++)
		ns += (double)loader->requests[i].made_ns;
	return ns;
}

static void loader_put_all(struct dw_facts_work *work, struct loader *loader)
{
	double *space = calloc(loader->request_count + 1, sizeof *space);
	const struct dw_fact *production = &work->facts->at[DW_FACT_LOADER_PRODUCTION];

	if (!space) {
		work->failed = true;
		return;
	}
	loader_put_requests(work, loader, space);
	loader_put_collector(work, loader);
	loader_put_production(work, loader);
	loader_put_parts(work, loader);
	loader_put_workers(work, loader);
	dw_facts_put_loader_cpus(work, loader->workers, loader->worker_count, loader_made_by_loop(loader));
	loader_put_start(work, loader, loader_usual_wait(loader, space), production->measured ? production->value : 0);
	loader_put_of_steps(work, loader, DW_FACT_LOADER_IN_PROCESS, MADE);
	if (loader->worker_count) {
		loader_put_of_steps(work, loader, DW_FACT_LOADER_STARVED, PRODUCTION);
		loader_put_of_steps(work, loader, DW_FACT_LOADER_HAND_OVER, HAND_OVER);
	} else {
		dw_fact_miss(work, DW_FACT_LOADER_STARVED, NO_WORKERS);
		dw_fact_miss(work, DW_FACT_LOADER_HAND_OVER, NO_WORKERS);
	}
	free(space);
}

/* The number of threads that can run at one time: the operators' threads of each process with
 * steps, and one thread for each worker. */
static void loader_put_threads(struct dw_facts_work *work, size_t workers)
{
	const struct dw_fact *threads = &work->facts->at[DW_FACT_CPU_OPERATOR_THREADS];

	if (threads->measured)
		dw_fact_set(work, DW_FACT_CPU_THREADS,
		            (threads->value + (double)workers) * (double)work->steps->process_count, 1);
}

void dw_facts_of_loader(struct dw_facts_work *work)
{
	struct loader loader = { .all = dw_model_loading_all(work->model, NULL) };

	work->failed |= !loader.all;
	if (loader.all && loader_gather_requests(work, &loader) && loader.request_count) {
		if (loader_find_workers(work, &loader) && loader_divide_waits(work, &loader))
			loader_put_all(work, &loader);
		else
			work->failed = true;
	} else {
		for (unsigned id = DW_FACT_LOADER_WORKERS; id <= DW_FACT_LOADER_VARIATION; id++)
			if (!work->facts->at[id].measured)
				dw_fact_miss(work, (enum dw_fact_id)id, NO_LOADER);
	}
	loader_put_threads(work, loader.most_workers);
	free(loader.requests);
	free(loader.epochs);
	free(loader.production_ns);
	free(loader.workers);
	free(loader.first);
}
