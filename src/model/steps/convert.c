/*
 * Converts steps from ticks to ns.
 *
 * Called by steps_product.c after the walk. In ns, the shares of a step sum exactly to its length. The
 * steps and the time outside them sum exactly to the wall time.
 */
#include "base/free.h"
#include "base/order.h"
#include "model/steps/steps_build.h"

/* ---- missing records -------------------------------------------------------------------- */

/* The part of [from, to) in the holes. *missing is the first hole that can overlap; it moves on. */
static uint64_t steps_missing_in(const struct dw_interval **missing, uint64_t from, uint64_t to)
{
	uint64_t ticks = 0;

	while ((*missing)->start_ticks < to) {
		uint64_t start = (*missing)->start_ticks > from ? (*missing)->start_ticks : from;
		uint64_t end = (*missing)->end_ticks < to ? (*missing)->end_ticks : to;

		ticks += end > start ? end - start : 0;
		if ((*missing)->end_ticks > to)
			break;
		(*missing)++;
	}
	return ticks;
}

uint64_t dw_steps_missing_ticks(const struct dw_steps *steps, const struct dw_pace *pace,
                              const struct dw_interval *missing, bool partial)
{
	uint64_t ticks = 0, at = pace->start_ticks;

	for (size_t i = 0; i < pace->count; i++) {
		const struct dw_pace_step *step = &pace->steps[i];
		uint64_t before = steps_missing_in(&missing, at, step->start_ticks);
		uint64_t in = steps_missing_in(&missing, step->start_ticks, step->end_ticks);

		if (!steps->steps[pace->first_step + i].recorded && !steps->steps[pace->first_step + i].reduced)
			in = step->end_ticks - step->start_ticks;
		ticks += in + (partial ? 0 : before);
		at = step->end_ticks;
	}
	return ticks + (partial ? 0 : steps_missing_in(&missing, at, pace->end_ticks));
}

/* ---- ticks to ns ------------------------------------------------------------------------------------------ */

/* Scales parts to ns so that they sum to `whole_ns`; the largest gets the rounding difference. */
static void steps_scale_parts(const uint64_t *ticks, uint64_t *ns, size_t count, uint64_t whole_ns)
{
	unsigned __int128 sum = 0;
	uint64_t given = 0;
	size_t largest = count - 1;

	for (size_t i = 0; i < count; i++)
		sum += ticks[i];
	for (size_t i = 0; i < count; i++) {
		ns[i] = sum ? (uint64_t)((unsigned __int128)ticks[i] * whole_ns / sum) : 0;
		given += ns[i]; /* rounded down, so it never exceeds the whole */
		if (ticks[i] > ticks[largest])
			largest = i;
	}
	ns[largest] += whole_ns - given;
}

/* Converts a step with time under names of the program, which become its parts. */
static int steps_convert_parts(struct dw_model *model, struct dw_step *step,
                               const struct dw_pace_step *ticks, const struct dw_own *owns)
{
	size_t count = DW_SHARE_COUNT + ticks->own_count;
	uint64_t *from = malloc(count * sizeof *from), *to = malloc(count * sizeof *to);
	struct dw_step_part *parts = dw_arena_alloc(&model->arena, (ticks->own_count + 1) * sizeof *parts);
	bool ready = from && to && parts;

	for (unsigned i = 0; ready && i < DW_SHARE_COUNT; i++)
		from[i] = i == DW_SHARE_NAMED ? 0 : ticks->sums.share_ticks[i];
	for (uint32_t i = 0; ready && i < ticks->own_count; i++)
		from[DW_SHARE_COUNT + i] = owns[i].ticks;
	if (ready) {
		steps_scale_parts(from, to, count, dw_step_length(step));
		for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
			step->share_ns[i] = to[i];
		for (uint32_t i = 0; i < ticks->own_count; i++) {
			parts[i] = (struct dw_step_part){ model->row_symbol[owns[i].row], to[DW_SHARE_COUNT + i] };
			step->share_ns[DW_SHARE_NAMED] += parts[i].ns;
		}
		step->parts = parts;
		step->part_count = ticks->own_count;
	}
	DW_FREE(from, to);
	return ready ? 0 : -1;
}

int dw_steps_convert(struct dw_model *model, struct dw_steps *steps, const struct dw_pace *pace)
{
	for (size_t i = 0; i < pace->count; i++) {
		struct dw_step *step = &steps->steps[pace->first_step + i];
		const struct dw_pace_step *ticks = &pace->steps[i];

		if (!ticks->own_count)
			steps_scale_parts(ticks->sums.share_ticks, step->share_ns, DW_SHARE_COUNT, dw_step_length(step));
		else if (steps_convert_parts(model, step, ticks, pace->owns + ticks->own_first))
			return -1;
		if (!step->counted)
			continue;
		steps->recorded_count++;
		steps->recorded_ns += dw_step_length(step);
		for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
			steps->share_ns[share] += step->share_ns[share];
	}
	return 0;
}

DW_ORDER(steps_compare_parts, struct dw_step_part, DW_DOWN(ns) DW_UP(symbol))

/* Sums the parts of all counted steps by symbol. */
int dw_steps_sum_parts(struct dw_model *model, struct dw_steps *steps)
{
	uint64_t *sums = calloc(model->symbol_count + 1, sizeof *sums);
	size_t count = 0;

	for (size_t i = 0; sums && i < steps->count; i++)
		for (uint32_t p = 0; steps->steps[i].counted && p < steps->steps[i].part_count; p++)
			sums[steps->steps[i].parts[p].symbol] += steps->steps[i].parts[p].ns;
	for (uint32_t i = 0; sums && i < model->symbol_count; i++)
		count += sums[i] > 0;
	steps->parts = dw_arena_alloc(&model->arena, (count + 1) * sizeof *steps->parts);
	for (uint32_t i = 0; sums && steps->parts && i < model->symbol_count; i++)
		if (sums[i])
			steps->parts[steps->part_count++] = (struct dw_step_part){ i, sums[i] };
	DW_SORT(steps->parts, steps->part_count, steps_compare_parts);
	free(sums);
	return sums && steps->parts ? 0 : -1;
}

/* Handles steps of the pace's thread that the trace has only as sums: the walk counted their time
 * as before the first step or after the last one. */
static void steps_add_summed(struct dw_steps *steps, const struct dw_model *model,
                             const struct dw_pace *pace, uint64_t *ns)
{
	const struct dw_source *source = model->source;
	uint64_t span_ns, steps_ns, *around;

	for (size_t i = 0; i < source->step_summary_count; i++) {
		const struct dw_source_step_summary *from = &source->step_summaries[i];

		if (from->thread != pace->thread)
			continue;
		if (!steps->summed_count || from->first_number < steps->summed_from)
			steps->summed_from = from->first_number;
		steps->summed_count += from->count;
		steps->summed_ns += from->step_ns;
		around = &ns[from->start_ns < steps->steps[pace->first_step].start_ns ? DW_BESIDE_START : DW_BESIDE_AFTER];
		span_ns = from->end_ns - from->start_ns;
		span_ns = span_ns < *around ? span_ns : *around;
		steps_ns = from->step_ns < span_ns ? from->step_ns : span_ns;
		*around -= span_ns;
		steps->iterations.steps += from->count;
		steps->iterations.loop_ns += span_ns;
		dw_iterations_set_mean(&steps->iterations);
		ns[DW_BESIDE_SUMMED] += steps_ns;
		ns[DW_SHARE_OTHER] += span_ns - steps_ns;
	}
}

void dw_steps_convert_besides(struct dw_steps *steps, const struct dw_model *model,
                            const struct dw_pace *pace, uint64_t *beside_ns, uint64_t *beside_counts)
{
	const struct dw_source_process *process = &model->source->processes[pace->process];
	const struct dw_source_clock *clock = &model->source->files[process->file].clock;
	uint64_t wall_ns = dw_source_ns(clock, pace->end_ticks) - dw_source_ns(clock, pace->start_ticks);
	uint64_t steps_ns = 0, ns[DW_BESIDE_COUNT];

	for (size_t i = 0; i < pace->count; i++)
		steps_ns += dw_step_length(&steps->steps[pace->first_step + i]);
	if (model->intervals) {
		steps->wall_ns += steps_ns;
		return;
	}
	if (wall_ns < steps_ns)
		wall_ns = steps_ns; /* they differ only by rounding */
	steps_scale_parts(pace->out.beside_ticks, ns, DW_BESIDE_COUNT, wall_ns - steps_ns);
	steps_add_summed(steps, model, pace, ns);
	steps->wall_ns += wall_ns;
	for (unsigned i = 0; i < DW_BESIDE_COUNT; i++) {
		beside_ns[i] += ns[i];
		beside_counts[i] += pace->out.beside_counts[i];
	}
}

int dw_steps_name_besides(struct dw_model *model, struct dw_steps *steps, const uint64_t *ns, const uint64_t *counts)
{
	static const unsigned order[] = { DW_BESIDE_START, DW_SHARE_EVALUATION, DW_SHARE_CHECKPOINT,
		DW_SHARE_DATA, DW_SHARE_COLLECTOR, DW_SHARE_COMMUNICATION, DW_SHARE_DEVICE,
		DW_SHARE_PROFILER, DW_SHARE_OTHER, DW_BESIDE_SUMMED, DW_BESIDE_AFTER };

	steps->besides = dw_arena_alloc(&model->arena, sizeof order / sizeof *order * sizeof *steps->besides);
	if (!steps->besides)
		return -1;
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		unsigned which = order[i];

		if (!ns[which])
			continue;
		steps->besides[steps->beside_count++] = (struct dw_beside){
			which == DW_BESIDE_START    ? "start-up"
			: which == DW_BESIDE_AFTER  ? "after the last step"
			: which == DW_BESIDE_SUMMED ? DW_STEPS_SUMMED
			                            : dw_share_label((enum dw_share)which),
			ns[which], counts[which] ? counts[which] : 1
		};
	}
	return 0;
}
