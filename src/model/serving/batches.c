/* Batches: what the steps of a server's engine compute; see serving.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "frameworks/frameworks.h"
#include "model/core/model_data.h"
#include "model/serving/build.h"

#define MOST_AT_ONCE 16u /* threads of a process that have batches */

DW_ORDER(batches_compare, struct dw_batch, DW_UP(process) DW_UP(start_ns) DW_DOWN(end_ns))

void dw_batch_write(const struct dw_serving *serving, const struct dw_batch_kind *kind, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	for (uint32_t i = 0; i <= DW_MOST_STAGE_NAMES && used < size; i++)
		if (kind->requests[i])
			used += (size_t)snprintf(to + used, size - used, "%s%u %.60s", used ? ", " : "", kind->requests[i],
			                         i < DW_MOST_STAGE_NAMES ? serving->stage_names[i] : "in flight");
	if (!used)
		snprintf(to, size, "nothing");
}

uint32_t dw_serving_stage_name(struct dw_serving *serving, const char *name)
{
	for (uint32_t i = 0; i < serving->stage_name_count; i++)
		if (strcmp(serving->stage_names[i], name) == 0)
			return i;
	if (serving->stage_name_count == DW_MOST_STAGE_NAMES) {
		serving->stage_names[DW_MOST_STAGE_NAMES - 1] = "other stages";
		return DW_MOST_STAGE_NAMES - 1;
	}
	serving->stage_names[serving->stage_name_count] = name;
	return serving->stage_name_count++;
}

/* The index of the kind, which is added if it is new. DW_NO_INDEX: out of memory. */
static uint32_t batches_kind(struct dw_serving_build *build, const struct dw_batch_kind *kind)
{
	struct dw_serving *to = build->to;
	uint32_t hash = dw_map_hash_bytes(0, kind, sizeof *kind);
	uint32_t found = DW_MAP_FIND(&build->kinds, hash, i, memcmp(&to->kinds[i], kind, sizeof *kind) == 0);

	if (found != DW_MAP_NONE)
		return found;
	if (!DW_APPEND(&to->kinds, &build->kind_capacity, &to->kind_count, *kind) ||
	    !dw_map_add(&build->kinds, hash, (uint32_t)to->kind_count - 1))
		return DW_NO_INDEX;
	return (uint32_t)to->kind_count - 1;
}

bool dw_serving_add_named(struct dw_serving_build *build, const char *name, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t process = build->model->source->threads[thread].process;
	struct dw_framework_batch named;
	struct dw_batch_kind kind = { .requests = { 0 } };
	uint32_t index;

	if (!dw_framework_is_batch(name, &named))
		return true;
	if (named.prefill)
		kind.requests[dw_serving_stage_name(build->to, "prefill")] = named.prefill;
	if (named.decode)
		kind.requests[dw_serving_stage_name(build->to, "decode")] = named.decode;
	if (named.mixed)
		kind.requests[dw_serving_stage_name(build->to, "prefill or decode")] = named.mixed;
	build->named = true;
	index = batches_kind(build, &kind);
	return index != DW_NO_INDEX &&
	       DW_APPEND(&build->to->batches, &build->batch_capacity, &build->to->batch_count,
	                 (struct dw_batch){ start_ns, end_ns, named.tokens, process, thread, index, 0 });
}

static bool batches_has_requests(const struct dw_serving *serving, uint32_t process)
{
	size_t at = DW_FIRST(i, 0, serving->count, serving->requests[i].process >= process);

	return at < serving->count && serving->requests[at].process == process;
}

static bool batches_in_scope(const struct dw_model *model, const struct dw_source_step *step, uint32_t process)
{
	const struct dw_interval *at = model->intervals ? model->intervals[process] : NULL;

	if (!at)
		return true;
	for (; at->start_ticks != UINT64_MAX; at++)
		if (step->start_ticks >= at->start_ticks && step->start_ticks < at->end_ticks)
			return true;
	return false;
}

/* A batch within another one of its thread is the same, or a part of it, by another name: a plugin of SGLang's gives it vLLM's, too. */
static void batches_drop_nested(struct dw_serving *serving)
{
	size_t kept = 0;

	for (size_t i = 0; i < serving->batch_count; i++) {
		const struct dw_batch *batch = &serving->batches[i];
		bool nested = false;

		for (size_t at = kept; at-- && !nested && serving->batches[at].process == batch->process && kept - at <= MOST_AT_ONCE;)
			nested = serving->batches[at].thread == batch->thread && serving->batches[at].end_ns >= batch->end_ns;
		if (!nested)
			serving->batches[kept++] = *batch;
	}
	serving->batch_count = kept;
}

bool dw_serving_add_steps(struct dw_serving_build *build)
{
	const struct dw_source *source = build->model->source;
	struct dw_serving *to = build->to;

	for (size_t i = 0; !build->named && i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint32_t process = source->threads[step->thread].process;

		if (step->open || !batches_has_requests(to, process) || !batches_in_scope(build->model, step, process))
			continue;
		if (!DW_APPEND(&to->batches, &build->batch_capacity, &to->batch_count,
		               (struct dw_batch){ step->start_ns, step->end_ns, 0, process, step->thread, 0, 0 }))
			return false;
	}
	DW_SORT(to->batches, to->batch_count, batches_compare);
	batches_drop_nested(to);
	return true;
}

struct dw_batch *dw_serving_batch_at(struct dw_serving *serving, uint32_t process, uint64_t ns)
{
	struct dw_batch *all = serving->batches;
	size_t after = DW_FIRST(i, 0, serving->batch_count,
	                        all[i].process != process ? all[i].process > process : all[i].start_ns > ns);

	return after && all[after - 1].process == process ? &all[after - 1] : NULL;
}

/* ---- what was in flight --------------------------------------------------------------------------------- */

/* The begins and ends of one stage in one process, each in order. */
struct batches_flight {
	uint64_t *starts, *ends;
	size_t count;
};

static uint32_t batches_open(const struct batches_flight *flight, uint64_t ns)
{
	size_t began = DW_FIRST(i, 0, flight->count, flight->starts[i] > ns);
	size_t ended = DW_FIRST(i, 0, flight->count, flight->ends[i] > ns);

	return (uint32_t)(began - ended);
}

#define IN_FLIGHT DW_MOST_STAGE_NAMES     /* requests without stages */
#define WAITING (DW_MOST_STAGE_NAMES + 1) /* before their first stage */

static void batches_add(struct batches_flight *flight, uint64_t start_ns, uint64_t end_ns)
{
	flight->starts[flight->count] = start_ns;
	flight->ends[flight->count++] = end_ns;
}

/* Of the requests of the process, which are ordered by process. */
static void batches_fill(struct batches_flight *flights, const struct dw_serving *serving, uint32_t process)
{
	for (size_t i = 0; i < serving->count; i++) {
		const struct dw_served *request = &serving->requests[i];

		if (request->process != process)
			continue;
		if (!request->stage_count)
			batches_add(&flights[serving->stage_count ? WAITING : IN_FLIGHT], request->start_ns, request->end_ns);
		else
			batches_add(&flights[WAITING], request->start_ns, serving->stages[request->first_stage].start_ns);
		for (uint32_t at = 0; at < request->stage_count; at++) {
			const struct dw_served_stage *stage = &serving->stages[request->first_stage + at];

			batches_add(&flights[stage->name], stage->start_ns, stage->end_ns);
		}
	}
	for (uint32_t i = 0; i <= WAITING; i++) {
		if (flights[i].count > 1) {
			qsort(flights[i].starts, flights[i].count, sizeof *flights[i].starts, dw_compare_u64);
			qsort(flights[i].ends, flights[i].count, sizeof *flights[i].ends, dw_compare_u64);
		}
	}
}

static bool batches_count(struct dw_serving_build *build, const struct batches_flight *flights, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct dw_batch *batch = &build->to->batches[i];
		uint64_t middle = batch->start_ns + (batch->end_ns - batch->start_ns) / 2;
		struct dw_batch_kind kind = { .requests = { 0 } };

		for (uint32_t name = 0; name <= IN_FLIGHT; name++)
			kind.requests[name] = batches_open(&flights[name], middle);
		batch->waiting = batches_open(&flights[WAITING], middle);
		batch->kind = batches_kind(build, &kind);
		if (batch->kind == DW_NO_INDEX)
			return false;
	}
	return true;
}

bool dw_serving_count_in_flight(struct dw_serving_build *build)
{
	struct dw_serving *to = build->to;
	size_t most = to->count + to->stage_count + 1;
	struct batches_flight flights[WAITING + 1] = { { .starts = NULL } };
	bool good = true;

	if (build->named || !to->batch_count)
		return true;
	for (uint32_t i = 0; i <= WAITING; i++) {
		flights[i].starts = malloc(most * sizeof *flights[i].starts);
		flights[i].ends = malloc(most * sizeof *flights[i].ends);
		good = good && flights[i].starts && flights[i].ends;
	}
	for (size_t from = 0, end; good && from < to->batch_count; from = end) {
		for (end = from; end < to->batch_count && to->batches[end].process == to->batches[from].process; end++)
			;
		for (uint32_t i = 0; i <= WAITING; i++)
			flights[i].count = 0;
		batches_fill(flights, to, to->batches[from].process);
		good = batches_count(build, flights, from, end);
	}
	for (uint32_t i = 0; i <= WAITING; i++)
		DW_FREE(flights[i].starts, flights[i].ends);
	return good;
}
