/* The run with rounds as steps; see rounds.h. */
#include "model/collectives/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "model/collectives/collectives.h"
#include "model/core/product.h"

#define LEAST_ROUNDS 8u  /* of a process: of fewer nobody can tell what is usual */
#define MOST_WIDTH 32u   /* collectives of a round */
#define REPEATED 0.9     /* of the collectives: what a sequence that is repeated explains at least */

struct rounds {
	struct dw_rounds of;     /* the first member: what dw_product_get() returns */
	struct dw_source source; /* a copy with other steps */
	size_t capacity;
	bool cut;                /* the run was ended from outside, or goes on */
};

/* The collectives of a process that count, in the order of their numbers. */
struct rounds_of {
	const struct dw_collective **all;
	size_t count;
	uint32_t process, thread;
};

/* ---- which collectives ------------------------------------------------------------------------------------- */

/* The thread with most of the collectives from `first` on. */
static uint32_t rounds_find_thread(const struct dw_collective *first, size_t count)
{
	uint32_t thread = first->thread;
	size_t votes = 0;

	for (size_t i = 0; i < count; i++) { /* the one that remains where each vote for another takes one away */
		if (!votes)
			thread = first[i].thread;
		votes += first[i].thread == thread ? 1 : (size_t)-1;
	}
	return thread;
}

/* The collectives of the process with the most of one group; with `pairs`, the messages with the most between two ranks. They follow
 * each other. */
static void rounds_choose(struct rounds_of *of, const struct dw_collectives *from, uint32_t process, bool pairs)
{
	const struct dw_collective *best = NULL;
	size_t most = 0;

	*of = (struct rounds_of){ of->all, 0, process, DW_NO_INDEX };
	for (size_t i = 0, to; i < from->count; i = to) {
		const struct dw_collective *first = &from->collectives[i];

		for (to = i + 1; to < from->count && from->collectives[to].process == first->process &&
		                 from->collectives[to].group == first->group && !from->collectives[to].sequence == !first->sequence;)
			to++;
		if (first->process == process && first->sequence && to - i > most &&
		    dw_group_is_pair(from->groups[first->group], NULL, NULL) == pairs) {
			most = to - i;
			best = first;
		}
	}
	if (most < LEAST_ROUNDS)
		return;
	of->thread = rounds_find_thread(best, most);
	for (size_t i = 0; i < most; i++)
		if (best[i].thread == of->thread)
			of->all[of->count++] = &best[i];
}

static bool rounds_is_same(const struct dw_collective *a, const struct dw_collective *b)
{
	return a->symbol == b->symbol && a->bytes == b->bytes;
}

/* The length of the sequence of collectives that the process repeats; 1: it repeats none. */
static uint32_t rounds_find_width(const struct rounds_of *of)
{
	for (uint32_t width = 1; width <= MOST_WIDTH && width * LEAST_ROUNDS <= of->count; width++) {
		size_t compared = 0, same = 0;

		for (size_t i = width; i < of->count; i++)
			if (of->all[i]->sequence == of->all[i - width]->sequence + width) {
				compared++;
				same += rounds_is_same(of->all[i], of->all[i - width]);
			}
		if ((double)same >= REPEATED * (double)compared && compared)
			return width;
	}
	return 1;
}

/* ---- their steps --------------------------------------------------------------------------------------------- */

static bool rounds_add(struct dw_model *model, struct rounds *rounds, struct dw_source_step step)
{
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[step.thread].process].file].clock;
	struct dw_source_step *to = &rounds->source.steps[rounds->source.step_count];

	step.start_ticks = dw_source_ticks(clock, step.start_ns);
	step.end_ticks = dw_source_ticks(clock, step.end_ns);
	if (rounds->source.step_count == rounds->capacity || step.end_ticks <= step.start_ticks)
		return false;
	*to = step;
	rounds->source.step_count++;
	return true;
}

/* A round ends with a collective whose number is a multiple of the width, so that rounds have the same numbers in all
 * ranks. */
static void rounds_add_process(struct dw_model *model, struct rounds *rounds, const struct rounds_of *of)
{
	const struct dw_source *source = model->source;
	uint32_t width = rounds->of.widths[of->process];
	uint64_t begin_ns = 0, end_ns = source->processes[of->process].end_ns, number = 0;

	for (size_t i = 0; i < of->count; i++) {
		const struct dw_collective *at = of->all[i];

		if (at->sequence % width || at->open)
			continue;
		/* Where a number is missing, so is a part of the round. */
		if (begin_ns && at->sequence / width == number + 1)
			rounds_add(model, rounds, (struct dw_source_step){ .thread = of->thread, .recorded = true, .number = number,
			    .start_ns = begin_ns, .end_ns = at->leave_ns });
		begin_ns = at->leave_ns > begin_ns ? at->leave_ns : begin_ns;
		number = at->sequence / width;
	}
	if (rounds->cut && begin_ns)
		rounds_add(model, rounds, (struct dw_source_step){ .thread = of->thread, .recorded = true, .open = true, .number = number,
		    .start_ns = begin_ns, .end_ns = end_ns });
}

/* How many processes have steps, as far as it matters: in a job with a parameter server one alone may have an optimizer. */
static unsigned rounds_stepped(const struct dw_source *source)
{
	uint32_t first = DW_NO_INDEX;

	for (size_t i = 0; i < source->step_count; i++) {
		uint32_t process = source->threads[source->steps[i].thread].process;

		if (first != DW_NO_INDEX && process != first)
			return 2;
		first = process;
	}
	return first != DW_NO_INDEX;
}

/* ---- the product ----------------------------------------------------------------------------------------------- */

/* Whether the run goes on, or a signal ended it: only then is the last round one that did not end. */
static bool rounds_is_cut(const struct dw_source *source)
{
	bool cut = false;

	for (size_t i = 0; i < source->file_count; i++)
		cut |= source->files[i].head && !(source->files[i].head->flags & DW_HEAD_FINISHED);
	for (size_t i = 0; i < source->meta_count; i++)
		cut |= strcmp(source->metas[i].key, DW_KEY_STATUS) == 0 && strncmp(source->metas[i].value, "{\"signal\":", 10) == 0;
	return cut;
}

static bool rounds_fill(struct dw_model *model, struct rounds *rounds, const struct dw_collectives *collectives)
{
	const struct dw_source *source = model->source;
	struct rounds_of of = { .all = calloc(collectives->count + 1, sizeof *of.all) };

	for (uint32_t p = 0; of.all && p < source->process_count; p++) {
		rounds_choose(&of, collectives, p, false);
		if (of.count < LEAST_ROUNDS)
			rounds_choose(&of, collectives, p, true);
		if (of.count < LEAST_ROUNDS)
			continue;
		rounds->of.widths[p] = rounds_find_width(&of);
		rounds_add_process(model, rounds, &of);
	}
	free(of.all);
	return of.all != NULL;
}

static bool rounds_compute(struct dw_model *model, const void *request, void *result)
{
	struct rounds *rounds = result;
	const struct dw_source *source = model->source;
	const struct dw_collectives *collectives;

	rounds->of.widths = dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *rounds->of.widths);
	if (!rounds->of.widths)
		return false;
	memset(rounds->of.widths, 0, source->process_count * sizeof *rounds->of.widths);
	if (rounds_stepped(source) > 1 || source->step_summary_count)
		return true;
	collectives = dw_model_collectives(model, NULL);
	if (!collectives)
		return false;
	rounds->source = *source;
	rounds->source.step_count = 0;
	rounds->cut = rounds_is_cut(source);
	rounds->capacity = collectives->count + source->process_count;
	rounds->source.steps = dw_arena_alloc(&model->arena, (rounds->capacity + 1) * sizeof *rounds->source.steps);
	if (!rounds->source.steps || !rounds_fill(model, rounds, collectives))
		return false;
	if (rounds_stepped(source) && rounds_stepped(&rounds->source) < 2)
		return true; /* the steps of the one process are all that there is */
	return !rounds->source.step_count || !dw_model_create(&rounds->of.model, &rounds->source, &model->scope, NULL);
}

static void rounds_free(void *result)
{
	struct rounds *rounds = result;

	if (rounds->of.model)
		dw_model_destroy(rounds->of.model);
}

DW_PRODUCT(rounds, struct rounds, rounds_compute, rounds_free);

const struct dw_rounds *dw_model_rounds(struct dw_model *model, struct dwell_error *error)
{
	const struct rounds *rounds = dw_product_get(model, &dw_product_rounds, 0, NULL, error);

	return rounds ? &rounds->of : NULL;
}
