/*
 * Loops: converts what the walk collected for each thread with steps from ticks to ns.
 *
 * Called by steps_product.c after the steps have been converted.
 */

#include "base/order.h"
#include "model/steps/steps_build.h"

DW_ORDER(loops_compare_rows, struct dw_loop_row, DW_DOWN(ns) DW_UP(symbol))

static uint64_t loops_sum_classes(const uint64_t ticks[DW_ITERATION_CLASSES])
{
	uint64_t sum = 0;

	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		sum += ticks[class];
	return sum;
}

/* Makes the list of rows with time; with `outside` of those between steps. */
static struct dw_loop_row *loops_make_rows(struct dw_model *model, const struct dw_pace *pace,
                                           const struct dw_source_clock *clock, bool outside, size_t *count)
{
	struct dw_loop_row *rows;
	size_t most = 0;

	for (uint32_t row = 0; row < model->row_count; row++)
		most += outside ? loops_sum_classes(pace->rows[row].outside_ticks) > 0 : pace->rows[row].count > 0;
	rows = dw_arena_alloc(&model->arena, (most + 1) * sizeof *rows);
	*count = 0;
	for (uint32_t row = 0; rows && row < model->row_count; row++) {
		const struct dw_pace_row *from = &pace->rows[row];
		uint64_t ticks = outside ? loops_sum_classes(from->outside_ticks) : from->ticks;
		struct dw_loop_row *to = &rows[*count];

		if (outside ? !ticks : !from->count)
			continue;
		*to = (struct dw_loop_row){
			.symbol = model->row_symbol[row],
			.ns = dw_source_span_ns(clock, ticks),
			.count = outside ? from->outside_count : from->count,
			.moved_ns = outside ? 0 : dw_source_span_ns(clock, from->moved_ticks),
		};
		for (unsigned class = 0; outside && class < DW_ITERATION_CLASSES; class++)
			to->class_ns[class] = dw_source_span_ns(clock, from->outside_ticks[class]);
		(*count)++;
	}
	DW_SORT(rows, *count, loops_compare_rows);
	return rows;
}

/* How much longer operators between the steps took than was recorded, by class: see loops_divide_reduced(). */
static void loops_scale_rows(struct dw_model *model, struct dw_pace *pace, const double longer[DW_ITERATION_CLASSES])
{
	for (uint32_t row = 0; row < model->row_count; row++) {
		struct dw_pace_row *of = &pace->rows[row];
		uint64_t recorded = loops_sum_classes(of->outside_ticks);

		if (!recorded || model->symbols[model->row_symbol[row]].category != DWELL_CATEGORY_OPERATOR)
			continue;
		for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
			of->outside_ticks[class] += (uint64_t)((double)of->outside_ticks[class] * longer[class]);
		of->outside_count = (uint64_t)((double)of->outside_count * (double)loops_sum_classes(of->outside_ticks) / (double)recorded);
	}
}

/* Before a reduced step, operators between steps are not known. That time is divided between them and the rest as
 * in the other pauses of iterations of its class. If there are none, it is no operators' time. */
static void loops_divide_reduced(struct dw_model *model, struct dw_pace *pace)
{
	double longer[DW_ITERATION_CLASSES] = { 0 };

	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++) {
		uint64_t *ticks = pace->out.outside_ticks[class], reduced = pace->out.reduced_ticks[class];
		double operators = (double)ticks[DW_SHARE_OPERATORS], all = operators + (double)ticks[DW_SHARE_OTHER];
		uint64_t more = operators > 0 ? (uint64_t)((double)reduced * operators / all) : 0;

		ticks[DW_SHARE_OPERATORS] += more;
		ticks[DW_SHARE_OTHER] += reduced - more;
		longer[class] = operators > 0 ? (double)more / operators : 0;
		pace->out.reduced_ticks[class] = 0;
	}
	loops_scale_rows(model, pace, longer);
}

/* The time between the steps, by share. */
static void loops_convert_outside(struct dw_loop *loop, const struct dw_out_sums *out,
                                  const struct dw_source_clock *clock)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++) {
		uint64_t ticks = 0;

		for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++) {
			ticks += out->outside_ticks[class][share];
			loop->outside_class_ns[class][share] = dw_source_span_ns(clock, out->outside_ticks[class][share]);
		}
		loop->outside_ns[share] = dw_source_span_ns(clock, ticks);
		loop->outside_counts[share] = out->outside_counts[share];
	}
}

static void loops_convert_step(struct dw_step *step, const struct dw_step_sums *ticks,
                               const struct dw_source_clock *clock)
{
	for (unsigned i = 0; i < DW_WHOLE_COUNT; i++)
		step->whole_ns[i] = dw_source_span_ns(clock, ticks->whole_ticks[i]);
	step->operator_ns = dw_source_span_ns(clock, ticks->operator_ticks);
	step->operator_count = (uint32_t)ticks->operator_count;
	step->called_count = (uint32_t)ticks->called_count;
	step->optimizer_count = (uint32_t)ticks->optimizer_count;
	step->closure = ticks->closure;
	step->helped_ns = dw_source_span_ns(clock, ticks->helped_ticks);
}

/* A last step that did not end is no iteration of the loop, if others ended: the program may have gone on with something else. */
static void loops_find_end(struct dw_loop *loop, const struct dw_step *steps)
{
	size_t ended = loop->count;

	while (ended && steps[ended - 1].open)
		ended--;
	loop->ended_count = ended ? ended : loop->count;
	loop->end_ns = loop->ended_count < loop->count ? steps[ended].start_ns : steps[loop->count - 1].end_ns;
}

int dw_steps_convert_loop(struct dw_model *model, struct dw_steps *steps, struct dw_pace *pace)
{
	const struct dw_source_process *process = &model->source->processes[pace->process];
	const struct dw_source_clock *clock = &model->source->files[process->file].clock;
	struct dw_step *step = &steps->steps[pace->first_step];
	struct dw_loop *loop = steps->loops;

	while (steps->threads[loop - steps->loops] != pace->thread)
		loop++;
	*loop = (struct dw_loop){ .thread = pace->thread, .first_step = pace->first_step, .count = pace->count };
	loop->start_ns = step[0].start_ns;
	loops_find_end(loop, step);
	if (dw_steps_time_iterations(step, pace->count, &loop->iterations))
		return -1;
	for (size_t i = 0; i < pace->count; i++) {
		loops_convert_step(&step[i], &pace->steps[i].sums, clock);
		step[i].before_ns = dw_source_span_ns(clock, pace->steps[i].before_ticks);
		if (pace->steps[i].usual) {
			loop->usual_count++;
			loop->usual_ns += dw_step_length(&step[i]);
		}
		steps->helped_ns += step[i].helped_ns;
	}
	if (loops_sum_classes(pace->out.reduced_ticks))
		loops_divide_reduced(model, pace);
	if (!model->intervals)
		loops_convert_outside(loop, &pace->out, clock);
	loop->outside_rows = loops_make_rows(model, pace, clock, true, &loop->outside_row_count);
	loop->operators = loops_make_rows(model, pace, clock, false, &loop->operator_count);
	return loop->outside_rows && loop->operators ? 0 : -1;
}
