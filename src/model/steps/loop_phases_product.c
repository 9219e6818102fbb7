/*
 * The phases of loops: what the walk collected, named and added up; see loop_phases.h.
 */
#include "base/free.h"
#include "base/order.h"
#include "model/steps/loop_phases_pass.h"
#include "model/steps/steps_build.h"

const char *dw_phase_name(enum dw_phase_kind kind)
{
	static const char *const names[] = { "learning", "evaluation", "acting", "inference", "checkpoint" };

	return kind < DW_PHASE_KINDS ? names[kind] : "";
}

/* ---- naming ------------------------------------------------------------------------------------------- */

/* Only where nothing shows learning, the border of a step separates two evaluations. */
static void phases_merge(struct dw_phase_loop *loop)
{
	struct dw_phase_runs *runs = &loop->runs;
	size_t kept = 0;

	for (size_t i = 0; i < runs->count; i++) {
		struct dw_phase_run *from = &runs->list[i], *last;

		if (!loop->learned || !from->soft) {
			runs->list[kept++] = *from;
			continue;
		}
		last = &runs->list[kept - 1];
		last->end_ticks = from->end_ticks;
		last->ticks += from->ticks;
		last->calls += from->calls;
		last->evaluations += from->evaluations;
		last->batches += from->batches;
		if (from->kind == DW_PHASE_EVALUATION)
			last->kind = DW_PHASE_EVALUATION;
	}
	runs->count = kept;
}

/* What the runs of one kind, and the learning around them, have in common. */
struct rounds {
	size_t times;            /* runs of the kind that learning follows */
	uint64_t least_calls, batches;
	uint64_t least_updates, most_updates; /* of the learning after each */
	bool first, last;        /* one comes before all learning; learning follows each */
	bool data;               /* learning gets data from a loader */
};

static struct rounds phases_compare_rounds(const struct dw_phase_loop *loop, enum dw_phase_kind kind)
{
	const struct dw_phase_runs *runs = &loop->runs;
	struct rounds rounds = { .least_calls = UINT64_MAX, .least_updates = UINT64_MAX, .last = true };
	bool learned = false;

	for (size_t i = 0; i < runs->count; i++) {
		const struct dw_phase_run *run = &runs->list[i], *next = i + 1 < runs->count ? run + 1 : NULL;

		learned |= run->kind == DW_PHASE_LEARNING;
		rounds.data |= run->kind == DW_PHASE_LEARNING && run->batches;
		if (run->kind != kind)
			continue;
		rounds.first |= !learned;
		rounds.batches += run->batches;
		rounds.least_calls = run->calls < rounds.least_calls ? run->calls : rounds.least_calls;
		if (!next || next->kind != DW_PHASE_LEARNING) {
			rounds.last = false;
			continue;
		}
		rounds.times++;
		rounds.least_updates = next->updates < rounds.least_updates ? next->updates : rounds.least_updates;
		rounds.most_updates = next->updates > rounds.most_updates ? next->updates : rounds.most_updates;
	}
	return rounds;
}

#define LEAST_ROUNDS 3u
#define LEAST_ACTS 4u   /* fewer calls are a target's or a teacher's, unless several updates follow them */

/* Whether an agent acts in these runs: it does before it first learns and before each learning, and asks no loader. A
 * model that is set to evaluation mode for that acts only if each learning has as many updates. */
static bool phases_are_acting(const struct dw_phase_loop *loop, enum dw_phase_kind kind)
{
	struct rounds rounds = phases_compare_rounds(loop, kind);

	if (rounds.times < LEAST_ROUNDS || !rounds.first || rounds.batches || !rounds.least_updates)
		return false;
	if (rounds.least_calls < LEAST_ACTS && (rounds.least_calls < 2 || rounds.least_updates < 2))
		return false;
	return kind == DW_PHASE_INFERENCE || (rounds.last && !rounds.data && rounds.least_updates == rounds.most_updates);
}

static void phases_name(struct dw_phase_loop *loop)
{
	static const enum dw_phase_kind kinds[] = { DW_PHASE_INFERENCE, DW_PHASE_EVALUATION };

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		if (!phases_are_acting(loop, kinds[k]))
			continue;
		for (size_t i = 0; i < loop->runs.count; i++)
			if (loop->runs.list[i].kind == kinds[k])
				loop->runs.list[i].kind = DW_PHASE_ACTING;
		return;
	}
}

/* Calls of an evaluation are those that are named so: a loss is called there too, and is in training mode. */
static uint64_t phases_calls(const struct dw_phase_run *run)
{
	return run->kind == DW_PHASE_EVALUATION ? run->evaluations : run->calls;
}

/* ---- phases ------------------------------------------------------------------------------------------- */

static uint64_t phases_less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void phases_add(struct dw_phase_sums *sums, uint64_t ns, uint64_t run_ns, uint64_t until_ns)
{
	sums->times++;
	sums->ns += ns;
	sums->run_ns += run_ns;
	sums->until_ns += until_ns;
}

/* Adds a run that lasts until `until_ticks`. */
static void phases_add_run(struct dw_phase *phase, const struct dw_phase_loop *loop, const struct dw_loop *of,
                           const struct dw_phase_run *run, uint64_t until_ticks)
{
	uint64_t start_ns = dw_source_ns(loop->clock, run->start_ticks), end_ns = dw_source_ns(loop->clock, run->end_ticks);
	uint64_t until_ns = dw_source_ns(loop->clock, until_ticks), ns = dw_source_span_ns(loop->clock, run->ticks);

	phases_add(&phase->all, ns, end_ns - start_ns, until_ns - start_ns);
	phase->calls += phases_calls(run);
	phase->batches += run->batches;
	phase->updates += run->updates;
	if (start_ns < of->start_ns || start_ns >= of->end_ns)
		return;
	end_ns = phases_less(end_ns, of->end_ns);
	phases_add(&phase->loop, phases_less(ns, end_ns - start_ns), end_ns - start_ns,
	           phases_less(until_ns, of->end_ns) - start_ns);
}

static void phases_order(struct dw_phase *phase, uint64_t *values, size_t count)
{
	if (!count)
		return;
	qsort(values, count, sizeof *values, dw_compare_u64);
	phase->least = values[0];
	phase->p50 = dw_steps_quantile(values, count, 0.5);
	phase->most = values[count - 1];
}

static bool phases_sum(struct dw_loop_phases *phases, const struct dw_phase_loop *loop, const struct dw_loop *of)
{
	const struct dw_phase_runs *runs = &loop->runs, *saves = &loop->checkpoints;
	uint64_t end_ticks = dw_source_ticks(loop->clock, of->end_ns);
	uint64_t *values = malloc((runs->count + saves->count + 1) * sizeof *values);

	for (unsigned kind = 0; values && kind < DW_PHASE_KINDS; kind++) {
		struct dw_phase *phase = &phases->phases[kind];
		size_t count = 0;

		for (size_t i = 0; i < runs->count; i++) {
			const struct dw_phase_run *run = &runs->list[i];
			uint64_t until = i + 1 < runs->count     ? run[1].start_ticks
			                 : end_ticks > run->end_ticks ? end_ticks : run->end_ticks;

			if (run->kind != (enum dw_phase_kind)kind)
				continue;
			phases_add_run(phase, loop, of, run, until > run->end_ticks ? until : run->end_ticks);
			values[count++] = kind == DW_PHASE_LEARNING ? run->updates : phases_calls(run);
		}
		for (size_t i = 0; kind == DW_PHASE_CHECKPOINT && i < saves->count; i++) {
			phases_add_run(phase, loop, of, &saves->list[i], saves->list[i].end_ticks);
			values[count++] = saves->list[i].calls;
		}
		phases_order(phase, values, count);
	}
	free(values);
	return values != NULL;
}

/* ---- events ------------------------------------------------------------------------------------------- */

/* Whether all events of the iteration are in the trace. */
static bool phases_knows(const struct dw_phase_loop *loop, size_t i)
{
	const struct dw_step *step = &loop->steps[i], *next = i + 1 < loop->count ? step + 1 : NULL;

	if (!dw_step_has_phases(step) || !step->whole || (!step->next_ns && loop->count > 1))
		return false;
	return !next || next->start_ns != step->next_ns || dw_step_has_phases(next);
}

static bool phases_sum_event(struct dw_loop_phases *phases, const struct dw_phase_loop *loop, unsigned kind)
{
	struct dw_loop_event *event = &phases->events[kind];
	uint64_t *counts = malloc((loop->count + 1) * sizeof *counts), sum = 0;
	size_t known = 0;

	if (!counts)
		return false;
	for (size_t i = 0; i < loop->count; i++)
		if (phases_knows(loop, i)) {
			counts[known] = loop->counts[i * DW_LOOP_EVENT_KINDS + kind];
			sum += counts[known++];
		}
	event->count = loop->totals[kind];
	event->between = loop->between[kind];
	event->ns = dw_source_span_ns(loop->clock, loop->ticks[kind]);
	phases->iterations = known;
	if (known) {
		qsort(counts, known, sizeof *counts, dw_compare_u64);
		event->least = (uint32_t)counts[0];
		event->p50 = (uint32_t)dw_steps_quantile(counts, known, 0.5);
		event->most = (uint32_t)counts[known - 1];
		event->mean = (double)sum / (double)known;
	}
	free(counts);
	return true;
}

/* ---- the product -------------------------------------------------------------------------------------- */

static bool phases_has_events(const struct dw_phase_loop *loop)
{
	if (loop->learned || loop->checkpoints.count)
		return true;
	for (size_t i = 0; i < loop->runs.count; i++)
		if (loop->runs.list[i].kind != DW_PHASE_LEARNING)
			return true;
	return false;
}

static bool phases_make(struct dw_loop_phases *phases, struct dw_phase_loop *loop, const struct dw_loop *of)
{
	const struct dw_loop_event *events = phases->events;

	for (unsigned kind = 0; kind < DW_LOOP_EVENT_KINDS; kind++)
		if (!phases_sum_event(phases, loop, kind))
			return false;
	phases->epochs = loop->epochs;
	memcpy(phases->updates_of, loop->updates_of, sizeof phases->updates_of);
	if (events[DW_LOOP_UPDATE].mean > 0)
		phases->accumulated = events[DW_LOOP_BACKWARD].mean / events[DW_LOOP_UPDATE].mean;
	else if (events[DW_LOOP_UPDATE].count) /* no iteration is whole */
		phases->accumulated = (double)events[DW_LOOP_BACKWARD].count / (double)events[DW_LOOP_UPDATE].count;
	if (!phases_has_events(loop))
		return true;
	phases_merge(loop);
	phases_name(loop);
	return phases_sum(phases, loop, of);
}

struct loop_phases {
	struct dw_loop_phases *loops;
};

static bool phases_compute(struct dw_model *model, const void *request, void *result)
{
	struct loop_phases *found = result;
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	struct dw_phase_loop *loops;
	bool good;

	if (!steps)
		return false;
	found->loops = dw_arena_alloc(&model->arena, (steps->thread_count + 1) * sizeof *found->loops);
	loops = calloc(steps->thread_count + 1, sizeof *loops);
	good = found->loops && loops && dw_phase_loops_walk(model, steps, loops);
	for (size_t i = 0; good && i < steps->thread_count; i++)
		good = phases_make(&found->loops[i], &loops[i], &steps->loops[i]);
	for (size_t i = 0; loops && i < steps->thread_count; i++)
		DW_FREE(loops[i].counts, loops[i].runs.list, loops[i].checkpoints.list);
	free(loops);
	return good;
}

DW_PRODUCT(loop_phases, struct loop_phases, phases_compute, NULL);

const struct dw_loop_phases *dw_model_loop_phases(struct dw_model *model, struct dwell_error *error)
{
	const struct loop_phases *found = dw_product_get(model, &dw_product_loop_phases, 0, NULL, error);

	return found ? found->loops : NULL;
}
