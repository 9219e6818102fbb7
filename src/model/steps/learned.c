/* The iterations of learning loops, decided from all updates; see learned.h. */
#include "model/steps/learned.h"

#include <string.h>

#include "base/order.h"
#include "format/keys.h"
#include "model/steps/loop_phases_pass.h"
#include "model/steps/steps_build.h"

/* ---- which loops ---------------------------------------------------------------------------------------- */

static bool learned_has(const struct dw_source *source, uint32_t process, const char *key, const char *value)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (source->metas[i].process == process && strcmp(source->metas[i].key, key) == 0 &&
		    (!value || strcmp(source->metas[i].value, value) == 0))
			return true;
	return false;
}

/* An older trace does not say who made its steps. Those that a program marks follow each other without a gap. */
static bool learned_is_seamless(const struct dw_phase_loop *loop)
{
	for (size_t i = 0; i + 1 < loop->count; i++)
		if (loop->steps[i].end_ns != loop->steps[i].next_ns)
			return false;
	return loop->count > 1;
}

static bool learned_is_marked(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	const struct dw_source *source = model->source;

	if (learned_has(source, process, DW_KEY_TORCH_STEPS, NULL))
		return learned_has(source, process, DW_KEY_TORCH_STEPS, "marked");
	return !learned_has(source, process, DW_KEY_TORCH_VERSION, NULL) ||
	       learned_has(source, process, DW_KEY_TORCH_STEP_ON, "steps") || learned_is_seamless(loop);
}

static bool learned_is_recorded(const struct dw_model *model, const struct dw_phase_loop *loop)
{
	if (model->source->step_summary_count || dw_model_is_partial(model))
		return false;
	for (size_t i = 0; i < loop->count; i++)
		if (!(loop->steps[i].recorded || loop->steps[i].reduced) || !loop->steps[i].whole)
			return false;
	return true;
}

/* Whether the trace says which optimizer each update is of. */
static bool learned_has_names(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	uint64_t named = 0;

	for (unsigned i = 0; i < DW_LOOP_OPTIMIZERS; i++)
		named += loop->updates_of[i];
	return named >= loop->update_count && learned_has(model->source, process, DW_KEY_TORCH_OPTIMIZERS, "numbered");
}

/* Whether a step of the trace has several updates. */
static bool learned_has_several(const struct dw_phase_loop *loop)
{
	for (size_t i = 0; i < loop->count; i++)
		if (loop->counts[i * DW_LOOP_EVENT_KINDS + DW_LOOP_UPDATE] > 1)
			return true;
	return false;
}

/* Whether steps of the trace, but for the last one, have no update: other code makes steps too, or a scaler skipped the update. */
static bool learned_has_none(const struct dw_phase_loop *loop)
{
	for (size_t i = 0; i + 1 < loop->count; i++)
		if (!loop->counts[i * DW_LOOP_EVENT_KINDS + DW_LOOP_UPDATE])
			return true;
	return !loop->update_count;
}

static enum dw_learned_why learned_ask(const struct dw_model *model, const struct dw_phase_loop *loop, uint32_t process)
{
	if (learned_is_marked(model, loop, process))
		return DW_LEARNED_MARKED;
	if (!learned_is_recorded(model, loop))
		return DW_LEARNED_UNRECORDED;
	if (learned_has_none(loop))
		return DW_LEARNED_NO_UPDATES;
	if (!learned_has_names(model, loop, process) && learned_has_several(loop))
		return DW_LEARNED_NAMELESS;
	return DW_LEARNED_DECIDED;
}

/* ---- iterations ----------------------------------------------------------------------------------------- */

/* Adds an iteration, recorded as the step of the trace is in which it ends. */
static void learned_add(struct dw_learned *learned, struct dw_learned_loop *to, const struct dw_phase_loop *loop,
                        uint64_t start_ticks, uint64_t end_ticks)
{
	struct dw_source_step *step = &learned->steps[learned->count++];
	size_t at;

	*step = (struct dw_source_step){ .thread = loop->steps->thread, .number = to->count++,
		.start_ns = dw_source_ns(loop->clock, start_ticks), .end_ns = dw_source_ns(loop->clock, end_ticks),
		.start_ticks = start_ticks, .end_ticks = end_ticks };
	at = DW_FIRST(i, 0, loop->count, loop->steps[i].end_ns >= step->end_ns);
	at -= at == loop->count;
	step->recorded = loop->steps[at].recorded;
	step->reduced = loop->steps[at].reduced;
}

/* Whether an iteration ends before the update. `stepped`: bits of the optimizers that stepped in it. */
static bool learned_ends_before(const struct dw_phase_update *update, uint32_t stepped)
{
	return stepped && (update->batches || stepped >> update->optimizer & 1);
}

static void learned_decide(struct dw_learned *learned, struct dw_learned_loop *to, const struct dw_phase_loop *loop)
{
	const struct dw_phase_update *updates = loop->updates;
	uint32_t stepped = 0;
	size_t first = 0;

	for (size_t i = 0; i < loop->update_count; i++) {
		if (learned_ends_before(&updates[i], stepped)) {
			learned_add(learned, to, loop, updates[first].start_ticks, updates[i - 1].end_ticks);
			first = i;
			stepped = 0;
		}
		stepped |= 1u << updates[i].optimizer;
	}
	learned_add(learned, to, loop, updates[first].start_ticks, updates[loop->update_count - 1].end_ticks);
}

/* How many iterations overlap one step, which overlaps no other iteration. */
static size_t learned_count_same(const struct dw_source_step *own, size_t count, const struct dw_phase_loop *loop)
{
	size_t same = 0, step = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t until = i + 1 < count ? own[i + 1].start_ns : UINT64_MAX;

		while (step < loop->count && loop->steps[step].end_ns <= own[i].start_ns)
			step++;
		if (step == loop->count)
			break;
		same += loop->steps[step].start_ns < own[i].end_ns && loop->steps[step].end_ns <= until &&
		        (!i || loop->steps[step].start_ns >= own[i - 1].end_ns) &&
		        (step + 1 == loop->count || loop->steps[step + 1].start_ns >= own[i].end_ns);
	}
	return same;
}

bool dw_learned_decide(struct dw_model *model, const struct dw_steps *steps, const struct dw_phase_loop *loops,
                       struct dw_learned *learned)
{
	size_t most = 0;

	for (size_t i = 0; i < steps->thread_count; i++)
		most += loops[i].update_count;
	learned->steps = dw_arena_alloc(&model->arena, (most + 1) * sizeof *learned->steps);
	learned->loops = dw_arena_alloc(&model->arena, (steps->thread_count + 1) * sizeof *learned->loops);
	learned->loop_count = steps->thread_count;
	for (size_t i = 0; learned->steps && learned->loops && i < steps->thread_count; i++) {
		struct dw_learned_loop *loop = &learned->loops[i];
		uint32_t process = model->source->threads[steps->threads[i]].process;

		*loop = (struct dw_learned_loop){ .why = learned_ask(model, &loops[i], process), .first = learned->count };
		if (loop->why != DW_LEARNED_DECIDED)
			continue;
		learned_decide(learned, loop, &loops[i]);
		loop->same = learned_count_same(learned->steps + loop->first, loop->count, &loops[i]);
	}
	return learned->steps && learned->loops;
}
