/*
 * When an action runs, by thread, for a scope.
 *
 * Called once by scope.c, before any other walk over the streams. An action is a range that the
 * program names itself. A thread without such ranges (a pool, autograd's backward) uses the actions
 * of all threads of its process.
 */

#include "base/error.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "model/core/scope_times.h"
#include "model/core/pass.h"

#define OWN_KIND 1u /* what dw_kind_of() returns for ranges that the program names */

struct frame {
	struct dw_frame frame;
	bool wanted;
};

struct actions {
	struct dw_pass pass;
	struct dw_action_times *times;
	const bool *wanted_rows;
	bool failed;
};

static void actions_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct actions *actions = state;
	struct frame *frame = place;
	struct dw_op op = dw_walk_op(&actions->pass.walk, id);

	frame->wanted = actions->wanted_rows[op.row];
	if (op.kind == OWN_KIND)
		actions->times->threads[actions->pass.walk.thread].has_actions = true;
}

static void actions_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct actions *actions = state;
	const struct frame *frame = place;
	const struct dw_source_clock *clock = &actions->pass.walk.file->clock;
	struct dw_action_thread *thread = &actions->times->threads[actions->pass.walk.thread];
	struct dw_interval *interval;

	if (!frame->wanted)
		return;
	interval = DW_GROW(&thread->intervals, &thread->capacity, thread->count);
	actions->failed |= !interval;
	if (interval) {
		thread->count++;
		interval->start_ticks = dw_source_ns(clock, frame->frame.start);
		interval->end_ticks = dw_source_ns(clock, ticks);
	}
}

static const struct dw_pass_hooks actions_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .enter = actions_enter, .leave = actions_leave,
};
DW_PASS_DEFINE(actions, actions_hooks)

/* Which rows have the action's name, by row. NULL: out of memory. */
static bool *action_find_rows(struct dw_model *model, const char *action, struct dw_nearest *nearest, bool *found)
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

int dw_action_times_init(struct dw_action_times *times, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct dw_frames frames = { 0 };
	struct dw_nearest nearest;
	bool found = false, failed, *rows;

	dw_nearest_init(&nearest, model->scope.action);
	times->count = source->thread_count;
	times->threads = calloc(source->thread_count + 1, sizeof *times->threads);
	rows = action_find_rows(model, model->scope.action, &nearest, &found);
	failed = !rows || !times->threads;
	for (size_t i = 0; i < source->stream_count && found && !failed; i++) {
		struct actions actions = { .times = times, .wanted_rows = rows };

		dw_pass_init(&actions.pass, model, i, &frames);
		actions_walk(&actions.pass);
		failed = actions.failed || actions.pass.walk.failed;
	}
	free(rows);
	dw_frames_reset(&frames);
	if (failed)
		return dw_model_no_memory(model, error);
	if (!found)
		return dw_error_set(error, DWELL_E_NAME,
		                    "no action '%.100s' in %s%s (dwell report --view actions lists all)",
		                    model->scope.action, source->files[0].path, dw_nearest_question(&nearest).at);
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
