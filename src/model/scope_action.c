/*
 * Where an action runs, thread by thread, for a scope.
 *
 * scope.c asks once, before anything else walks the streams. An action is any range that
 * the program names itself. A thread without such ranges is nobody's own (a pool, autograd's
 * backward): it goes with its process, as it does with profiles.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "model/scope_inside.h"
#include "model/walk.h"

#define OWN_KIND 1u /* dw_kind_of() what people name themselves */

struct frame {
	uint64_t start;
	bool wanted, own;
};

struct context {
	struct dw_walk walk;
	struct dw_action_times *times;
	const bool *wanted_rows;
	struct frame *frames;
	size_t depth, capacity;
	uint32_t over;
	bool failed;
};

static void visit_begin(void *pointer, uint64_t ticks, uint32_t id)
{
	struct context *context = pointer;
	struct dw_op op = dw_walk_op(&context->walk, id);
	struct frame *frame = NULL;

	if (context->depth < DW_MOST_DEPTH && !context->over)
		frame = DW_GROW(&context->frames, &context->capacity, context->depth);
	if (!frame) {
		context->failed |= context->depth < DW_MOST_DEPTH && !context->over;
		context->over++;
		return;
	}
	context->depth++;
	*frame = (struct frame){ ticks, context->wanted_rows[op.row], op.kind == OWN_KIND };
	if (frame->own)
		context->times->threads[context->walk.thread].has_actions = true;
}

static void end_frame(struct context *context, const struct frame *frame, uint64_t ticks)
{
	const struct dw_source_clock *clock = &context->walk.file->clock;
	struct dw_action_thread *thread = &context->times->threads[context->walk.thread];
	struct dw_interval *interval;

	if (!frame->wanted)
		return;
	interval = DW_GROW(&thread->intervals, &thread->capacity, thread->count);
	context->failed |= !interval;
	if (interval) {
		thread->count++;
		interval->start_ticks = dw_source_ns(clock, frame->start);
		interval->end_ticks = dw_source_ns(clock, ticks);
	}
}

static void visit_end(void *pointer, uint64_t ticks)
{
	struct context *context = pointer;

	if (context->over)
		context->over--;
	else if (context->depth)
		end_frame(context, &context->frames[--context->depth], ticks);
}

static void flush(void *pointer, uint64_t ticks, enum dw_flush why)
{
	struct context *context = pointer;

	(void)why;
	context->over = 0;
	while (context->depth)
		end_frame(context, &context->frames[--context->depth], ticks);
}

static void visit_other(void *pointer, uint64_t ticks, const struct dw_record *record)
{
	struct context *context = pointer;
	struct frame frame, *at;

	if (dw_walk_break(&context->walk, ticks, record, flush) || record->kind != DW_END_OF ||
	    context->over || record->payload[0] >= context->depth)
		return;
	at = &context->frames[context->depth - 1 - record->payload[0]];
	frame = *at;
	memmove(at, at + 1, record->payload[0] * sizeof frame);
	context->depth--;
	end_frame(context, &frame, ticks);
}

/* By row; NULL: out of memory. */
static bool *find_rows(struct dw_model *model, const char *action, struct dw_nearest *nearest,
                       bool *found)
{
	bool *rows = calloc(model->row_count + 1, sizeof *rows);

	for (uint32_t row = 0; rows && row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		if (dw_kind_of(symbol->category) != OWN_KIND || model->row_symbol[row] <= DW_OTHER_CALLS)
			continue;
		rows[row] = strcmp(symbol->name, action) == 0;
		*found |= rows[row];
		dw_nearest_try(nearest, symbol->name);
	}
	return rows;
}

int dw_action_times_init(struct dw_action_times *times, struct dw_model *model,
                         struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct context context = { .times = times };
	struct dw_nearest nearest;
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool found = false, *rows;

	dw_nearest_init(&nearest, model->scope.action);
	times->count = source->thread_count;
	times->threads = calloc(source->thread_count + 1, sizeof *times->threads);
	context.wanted_rows = rows = find_rows(model, model->scope.action, &nearest, &found);
	context.failed = !buffer || !rows || !times->threads;
	for (size_t i = 0; i < source->stream_count && found && !context.failed; i++) {
		dw_walk_init(&context.walk, model, i, buffer);
		dw_walk(&context.walk, visit_begin, visit_end, visit_other, flush, NULL);
	}
	free(rows);
	free(buffer);
	free(context.frames);
	if (context.failed)
		return dw_model_no_memory(model, error);
	if (!found)
		return dw_error_set(error, DWELL_E_NAME,
		                    "no action '%.100s' in %s%s%s%s (dwell report --view actions lists all)",
		                    model->scope.action, source->files[0].path,
		                    nearest.best ? "; did you mean '" : "",
		                    nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
	return 0;
}

void dw_action_times_reset(struct dw_action_times *times)
{
	for (size_t i = 0; times->threads && i < times->count; i++)
		free(times->threads[i].intervals);
	free(times->threads);
}

size_t dw_action_times_of(const struct dw_action_times *times, const struct dw_source *source,
                          uint32_t process, uint32_t thread, struct dw_interval **result)
{
	size_t room = 1, count = 0;
	bool own = thread != DW_NO_INDEX && times->threads[thread].has_actions;

	for (size_t i = 0; i < times->count; i++)
		room += times->threads[i].count;
	*result = malloc(room * sizeof **result);
	for (size_t i = 0; *result && i < times->count; i++) {
		const struct dw_action_thread *from = &times->threads[i];

		if (source->threads[i].process != process || (own && i != thread) || !from->count)
			continue;
		memcpy(*result + count, from->intervals, from->count * sizeof **result);
		count += from->count;
	}
	return count;
}
