/*
 * Requests with their stages and tokens; see serving.h.
 *
 * Two walks: the first has the ranges of requests, their stages and the named batches. Tokens may be a hundred times as many as
 * requests: the second walk adds each to its request and its batch, and keeps none.
 */
#include <stdlib.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/keys.h"
#include "frameworks/frameworks.h"
#include "model/core/events.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/serving/build.h"

static bool serving_is(const struct dw_symbol *symbol, const char *detail)
{
	return symbol->category == DWELL_CATEGORY_ZONE && symbol->detail && strcmp(symbol->detail, detail) == 0;
}

static bool serving_is_request(const struct dw_symbol *symbol)
{
	return serving_is(symbol, DW_DETAIL_REQUEST) || serving_is(symbol, DW_DETAIL_ANSWERED);
}

bool dw_model_serves(const struct dw_model *model)
{
	struct dw_framework_batch batch;

	for (uint32_t i = 0; i < model->symbol_count; i++)
		if (serving_is_request(&model->symbols[i]) || dw_framework_is_batch(model->symbols[i].name, &batch))
			return true;
	return false;
}

/* ---- the first walk ------------------------------------------------------------------------------ */

static int serving_see(void *context, const struct dw_event *event)
{
	struct dw_serving_build *build = context;
	struct dw_serving *to = build->to;
	const struct dw_symbol *symbol = &build->model->symbols[event->symbol];
	uint32_t process = build->model->source->threads[event->thread].process;
	bool good = true;

	if (event->type == DW_EVENT_RANGE)
		good = event->open || dw_serving_add_named(build, symbol->name, event->thread, event->start_ns, event->end_ns);
	else if (event->type == DW_EVENT_ASYNC && serving_is(symbol, DW_DETAIL_STAGE))
		good = DW_APPEND(&build->parts, &build->part_capacity, &build->part_count,
		                 (struct dw_serving_part){ event->handle, event->start_ns, event->end_ns, process,
		                                           dw_serving_stage_name(to, symbol->name) });
	else if (event->type == DW_EVENT_ASYNC && serving_is_request(symbol))
		good = DW_APPEND(&to->requests, &build->capacity, &to->count,
		                 (struct dw_served){ .handle = event->handle, .start_ns = event->start_ns, .end_ns = event->end_ns,
		                                     .symbol = event->symbol, .thread = event->thread, .process = process,
		                                     .open = event->open });
	return good ? 0 : DWELL_E_NOMEM;
}

/* ---- stages and their requests ---------------------------------------------------------------------- */

DW_ORDER(serving_compare_handles, struct dw_served, DW_UP(process) DW_UP(handle) DW_UP(start_ns))
DW_ORDER(serving_compare_starts, struct dw_served, DW_UP(start_ns) DW_UP(process) DW_UP(handle))
DW_ORDER(serving_compare_parts, struct dw_serving_part, DW_UP(process) DW_UP(handle) DW_UP(start_ns) DW_UP(end_ns))

/* While requests are ordered by handle: the one that is open with it at this time; NULL: none is. */
static struct dw_served *serving_find(struct dw_serving *serving, uint32_t process, uint64_t handle, uint64_t ns)
{
	const struct dw_served *all = serving->requests;
	size_t after = DW_FIRST(i, 0, serving->count, all[i].process != process ? all[i].process > process :
	                                              all[i].handle != handle ? all[i].handle > handle : all[i].start_ns > ns);
	struct dw_served *found = after ? &serving->requests[after - 1] : NULL;

	return found && found->process == process && found->handle == handle && ns <= found->end_ns ? found : NULL;
}

/* Puts the stages in the order of their requests, and drops those of no request in scope. False: out of memory. */
static bool serving_join_stages(struct dw_serving_build *build)
{
	struct dw_serving *to = build->to;

	DW_SORT(to->requests, to->count, serving_compare_handles);
	DW_SORT(build->parts, build->part_count, serving_compare_parts);
	to->stages = malloc((build->part_count + 1) * sizeof *to->stages);
	for (size_t i = 0; to->stages && i < build->part_count; i++) {
		const struct dw_serving_part *part = &build->parts[i];
		struct dw_served *request = serving_find(to, part->process, part->handle, part->start_ns);

		if (!request)
			continue;
		if (!request->stage_count)
			request->first_stage = (uint32_t)to->stage_count;
		request->stage_count++;
		to->stages[to->stage_count++] = (struct dw_served_stage){ part->start_ns,
			part->end_ns < request->end_ns ? part->end_ns : request->end_ns, part->name };
	}
	return to->stages != NULL;
}

/* ---- the second walk: tokens ---------------------------------------------------------------------------- */

struct serving_walk {
	struct dw_pass pass; /* must be the first member */
	struct dw_serving_build *build;
};

DW_INLINE void serving_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
}

DW_INLINE void serving_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
}

/* Takes the times and the number of sends of a request that came over a connection. */
static void serving_note_answered(struct serving_walk *walk, const struct dw_record *record)
{
	const struct dw_source_clock *clock = &walk->pass.walk.file->clock;
	struct dw_serving *to = walk->build->to;
	const struct dw_symbol *symbols = walk->build->model->symbols;
	struct dw_served *request = serving_find(to, walk->pass.walk.stream->process, dw_record_u64(record, 2),
	                                         dw_source_ns(clock, dw_record_u64(record, 4)));

	/* In a process that marks requests it was dropped. */
	if (!request || !serving_is(&symbols[request->symbol], DW_DETAIL_ANSWERED))
		return;
	request->first_ns = dw_source_ns(clock, dw_record_u64(record, 6));
	request->last_ns = request->end_ns;
	request->tokens = record->payload[11];
	to->token_name = to->token_name ? to->token_name : "sends";
}

static void serving_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct serving_walk *walk = state;
	struct dw_serving_build *build = walk->build;
	struct dw_serving *to = build->to;
	uint32_t process = walk->pass.walk.stream->process, count;
	struct dw_served *request;
	struct dw_batch *batch;
	uint64_t ns;

	if (record->kind == DW_EXT && record->id == (DW_EXT_ANSWERED << DW_EXT_TYPE_SHIFT | DW_ANSWERED_WORDS) && walk->pass.walk.wanted)
		serving_note_answered(walk, record);
	if (record->kind != DW_EXT || record->id != (DW_EXT_TOKENS << DW_EXT_TYPE_SHIFT | DW_TOKENS_WORDS) || !walk->pass.walk.wanted)
		return;
	ns = dw_source_ns(&walk->pass.walk.file->clock, ticks);
	count = record->payload[5];
	request = serving_find(to, process, dw_record_u64(record, 2), ns);
	if (!request || !count)
		return;
	if (!request->first_ns || ns < request->first_ns)
		request->first_ns = ns;
	if (ns > request->last_ns)
		request->last_ns = ns;
	request->tokens += count;
	to->token_name = build->model->symbols[dw_walk_symbol(&walk->pass.walk, record->payload[4])].name;
	batch = build->named ? NULL : dw_serving_batch_at(to, process, ns);
	if (batch)
		batch->tokens += count;
}

static const struct dw_pass_hooks serving_hooks = {
	.frame_bytes = sizeof(struct dw_frame), .deepest = DW_DEEPEST,
	.enter = serving_enter, .leave = serving_leave, .note = serving_note,
};
DW_PASS_DEFINE(serving, serving_hooks)

static bool serving_add_tokens(struct dw_serving_build *build)
{
	const struct dw_source *source = build->model->source;
	struct dw_frames frames = { 0 };
	bool good = true;

	for (size_t i = 0; build->to->count && good && i < source->stream_count; i++) {
		struct serving_walk walk = { .build = build };

		if (!dw_scope_has_stream(build->model, &source->streams[i]))
			continue;
		dw_pass_init(&walk.pass, build->model, i, &frames);
		serving_walk(&walk.pass);
		good = !walk.pass.walk.failed;
	}
	dw_frames_reset(&frames);
	return good;
}

/* ---- the product ------------------------------------------------------------------------------------------ */

uint64_t dw_served_queue_ns(const struct dw_serving *serving, const struct dw_served *request)
{
	return (request->stage_count ? serving->stages[request->first_stage].start_ns : request->end_ns) - request->start_ns;
}

static bool serving_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_serving_build build = { .model = model, .to = result };
	bool good = true;

	if (!dw_model_serves(model))
		return true;
	good = dw_model_events(model, serving_see, &build, NULL) == 0 && serving_join_stages(&build) && dw_serving_add_steps(&build) &&
	       serving_add_tokens(&build) && dw_serving_count_in_flight(&build);
	if (good)
		DW_SORT(build.to->requests, build.to->count, serving_compare_starts);
	free(build.parts);
	dw_map_reset(&build.kinds);
	return good;
}

static void serving_free(void *result)
{
	struct dw_serving *serving = result;

	DW_FREE(serving->requests, serving->stages, serving->batches, serving->kinds);
}

DW_PRODUCT(serving, struct dw_serving, serving_compute, serving_free);
DW_PRODUCT_GETTER(serving, struct dw_serving)
