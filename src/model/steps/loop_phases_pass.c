/*
 * Walks the streams of threads with steps and collects what happens in their loops; see loop_phases.h.
 *
 * An optimizer's update is PyTorch's own range of it ("Optimizer.step#Adam.step") where there is one, because the
 * phase around it also has zero_grad(), and in a closure's step begins late; otherwise the phase itself.
 */
#include "base/free.h"
#include "base/grow.h"
#include "dwell/probe.h"
#include "format/keys.h"
#include "frameworks/frameworks.h"
#include "model/core/pass.h"
#include "model/core/share_names.h"
#include "model/steps/loop_phases_pass.h"
#include "model/steps/steps_build.h"

/* What a row is, besides the kinds of events. */
enum { ROW_NOTHING = DW_LOOP_EVENT_KINDS, ROW_LOADER, ROW_STEPS, ROW_CLEARS, ROW_PART };

struct phases_frame {
	struct dw_frame frame;
	uint8_t row, event;      /* ROW_PART: of an `event` that is not counted on its own */
	bool counts;             /* begins in an iteration of the loop */
	bool bare;               /* of a call: the module has no parameters */
	bool clears, updated;    /* of an update: it is a zero_grad(); it has been counted */
	uint8_t optimizer;       /* of an update: which, from 0 */
	size_t step;             /* with `counts`: which iteration */
};

struct phases_walk {
	const struct dw_model *model;
	struct dw_phase_loop *loops;
	const uint32_t *loop_of; /* by thread; DW_NO_INDEX: it has no steps */
	const uint8_t *rows;
};

struct phases_state {
	struct dw_pass pass;
	const struct phases_walk *all;
	uint32_t thread;
	struct dw_phase_loop *loop;   /* of the thread; NULL: it has none */
	uint32_t open[DW_LOOP_EVENT_KINDS], stepping;
	uint32_t innermost;           /* place of the innermost event; 0: none is open */
	uint64_t last;
	bool failed;
};

static struct phases_frame *phases_at(const struct phases_state *state, uint32_t place)
{
	return (struct phases_frame *)(void *)dw_pass_at(&state->pass, sizeof(struct phases_frame), place);
}

/* ---- runs --------------------------------------------------------------------------------------------- */

static struct dw_phase_run *phases_last(struct dw_phase_runs *runs)
{
	return runs->count ? &runs->list[runs->count - 1] : NULL;
}

static struct dw_phase_run *phases_open(struct phases_state *state, struct dw_phase_runs *runs, enum dw_phase_kind kind,
                                        uint64_t ticks)
{
	struct dw_phase_run *run = DW_GROW(&runs->list, &runs->capacity, runs->count);

	if (!run) {
		state->failed = true;
		return NULL;
	}
	if (runs->count++ && run[-1].end_ticks > ticks)
		ticks = run[-1].end_ticks;
	*run = (struct dw_phase_run){ .kind = kind, .start_ticks = ticks, .end_ticks = ticks };
	return run;
}

/* What was got is no data that the loop learns from: an evaluation's, or the end of a loader. */
static void phases_uncount_data(struct dw_phase_loop *loop)
{
	loop->totals[DW_LOOP_DATA] -= loop->pending.counted;
	loop->between[DW_LOOP_DATA] -= loop->pending.between;
	if (loop->pending.counted)
		loop->counts[loop->pending.step * DW_LOOP_EVENT_KINDS + DW_LOOP_DATA] -= loop->pending.counted;
}

/* The data that was got before now belongs to the run, which has just begun or goes on. */
static void phases_take_data(struct dw_phase_loop *loop, struct dw_phase_run *run, uint64_t ticks)
{
	uint64_t start = loop->pending.start_ticks, earliest = loop->runs.count > 1 ? run[-1].end_ticks : 0, span;

	if (!start)
		return;
	start = start > earliest ? start : earliest; /* it may have begun in what is another phase */
	run->start_ticks = start < run->start_ticks ? start : run->start_ticks;
	run->end_ticks = ticks > run->end_ticks ? ticks : run->end_ticks;
	span = ticks > start ? ticks - start : 0;
	run->ticks += loop->pending.ticks < span ? loop->pending.ticks : span;
	run->batches += loop->pending.count;
	if (run->kind == DW_PHASE_LEARNING)
		loop->epochs += loop->pending.begins;
	else
		phases_uncount_data(loop);
	memset(&loop->pending, 0, sizeof loop->pending);
}

/* Another iteration over a loader begins: what was got before it is the end of the one before, which is no batch. */
static void phases_end_data(struct dw_phase_loop *loop)
{
	struct dw_phase_run *run = phases_last(&loop->runs);

	if (run && loop->pending.start_ticks) {
		run->ticks += loop->pending.ticks;
		if (loop->pending.end_ticks > run->end_ticks)
			run->end_ticks = loop->pending.end_ticks;
	}
	phases_uncount_data(loop);
	memset(&loop->pending, 0, sizeof loop->pending);
}

/* Steps that have no event of learning or evaluation: a program that names none of them learns there. */
static void phases_pass_steps(struct phases_state *state, struct dw_phase_loop *loop, size_t before)
{
	struct dw_phase_run *run = phases_last(&loop->runs);
	uint64_t start, end;

	if (before <= loop->seen)
		return;
	start = dw_source_ticks(loop->clock, loop->steps[loop->seen].start_ns);
	end = dw_source_ticks(loop->clock, loop->steps[before - 1].end_ns);
	if (!run || run->kind != DW_PHASE_LEARNING)
		run = phases_open(state, &loop->runs, DW_PHASE_LEARNING, start);
	if (run && end > run->end_ticks)
		run->end_ticks = end;
	if (run && loop->pending.start_ticks && loop->pending.start_ticks < end)
		phases_take_data(loop, run, end);
	loop->seen = before;
}

/* How many steps have begun, and how many have ended, when an event begins. */
static size_t phases_begun(const struct dw_phase_loop *loop, uint64_t ns)
{
	return loop->next + (loop->next < loop->count && ns >= loop->steps[loop->next].start_ns);
}

static size_t phases_ended(const struct dw_phase_loop *loop, uint64_t ns)
{
	return loop->next + (loop->next < loop->count && ns >= loop->steps[loop->next].end_ns);
}

/* The run of an event of learning, or of a call without it, that begins now. NULL: out of memory. */
static struct dw_phase_run *phases_find_run(struct phases_state *state, bool learns, uint64_t ticks, uint64_t ns)
{
	enum dw_phase_kind kind = learns ? DW_PHASE_LEARNING : DW_PHASE_INFERENCE;
	struct dw_phase_loop *loop = state->loop;
	struct dw_phase_run *run;
	size_t begun = phases_begun(loop, ns);

	phases_pass_steps(state, loop, phases_ended(loop, ns));
	run = phases_last(&loop->runs);
	if (!run || learns != (run->kind == DW_PHASE_LEARNING)) {
		run = phases_open(state, &loop->runs, kind, ticks);
	} else if (!learns && begun != loop->without) {
		run = phases_open(state, &loop->runs, kind, ticks);
		if (run)
			run->soft = true;
	}
	if (!learns)
		loop->without = begun;
	loop->seen = begun > loop->seen ? begun : loop->seen;
	if (run)
		phases_take_data(loop, run, ticks);
	return run;
}

/* ---- events ------------------------------------------------------------------------------------------- */

/* Gives the time since the last event began or ended to the innermost one. */
static void phases_give(struct phases_state *state, uint64_t ticks)
{
	struct dw_phase_loop *loop = state->loop;
	const struct phases_frame *frame;
	uint64_t span = ticks > state->last ? ticks - state->last : 0;
	struct dw_phase_run *run;

	state->last = ticks;
	if (!state->innermost || !loop || !span)
		return;
	frame = phases_at(state, state->innermost);
	if (frame->counts)
		loop->ticks[frame->event] += span;
	run = phases_last(frame->event == DW_LOOP_CHECKPOINT ? &loop->checkpoints : &loop->runs);
	if (frame->event == DW_LOOP_DATA && loop->pending.start_ticks) {
		loop->pending.ticks += span;
	} else if (run) {
		run->ticks += span;
		run->end_ticks = ticks > run->end_ticks ? ticks : run->end_ticks;
	}
}

static bool phases_is_without_learning(const struct phases_state *state)
{
	return state->open[DW_LOOP_EVALUATION] || state->open[DW_LOOP_INFERENCE];
}

static bool phases_is_learning(const struct phases_state *state)
{
	return state->open[DW_LOOP_FORWARD] || state->open[DW_LOOP_BACKWARD] || state->open[DW_LOOP_UPDATE];
}

static void phases_count(struct dw_phase_loop *loop, const struct phases_frame *frame, unsigned kind, bool between)
{
	loop->counts[frame->step * DW_LOOP_EVENT_KINDS + kind]++;
	loop->totals[kind]++;
	loop->between[kind] += between;
}

static void phases_note_data(struct dw_phase_loop *loop, const struct phases_frame *frame, bool between)
{
	phases_count(loop, frame, DW_LOOP_DATA, between);
	if (!loop->pending.counted || loop->pending.step != frame->step)
		loop->pending.counted = loop->pending.between = 0;
	loop->pending.step = frame->step;
	loop->pending.counted++;
	loop->pending.between += between;
}

static void phases_get_data(struct phases_state *state, const struct phases_frame *frame, bool between)
{
	struct dw_phase_loop *loop = state->loop;
	struct dw_phase_run *run = phases_last(&loop->runs);

	if (phases_is_without_learning(state)) {
		if (run)
			run->batches += frame->row != ROW_LOADER;
		return;
	}
	if (frame->row == ROW_LOADER) {
		phases_end_data(loop);
		loop->pending.begins = true;
	}
	if (!loop->pending.start_ticks)
		loop->pending.start_ticks = frame->frame.start ? frame->frame.start : 1;
	loop->pending.count += frame->row != ROW_LOADER;
	if (frame->counts && frame->row != ROW_LOADER)
		phases_note_data(loop, frame, between);
}

static void phases_save(struct phases_state *state, uint64_t ticks, uint64_t ns)
{
	struct dw_phase_loop *loop = state->loop;
	size_t begun = phases_begun(loop, ns) + 1;
	struct dw_phase_run *run = loop->saving == begun ? phases_last(&loop->checkpoints)
	                                                 : phases_open(state, &loop->checkpoints, DW_PHASE_CHECKPOINT, ticks);

	if (run)
		run->calls++;
	loop->saving = begun;
}

/* Adds an event to the run that it belongs to. */
static void phases_follow(struct phases_state *state, const struct phases_frame *frame, unsigned kind, uint64_t ticks,
                          uint64_t ns)
{
	struct dw_phase_loop *loop = state->loop;
	bool learns = kind != DW_LOOP_EVALUATION && kind != DW_LOOP_INFERENCE;
	struct dw_phase_run *run;

	loop->saving = 0;
	loop->learned += learns;
	if (!learns && phases_is_learning(state))
		return;
	run = phases_find_run(state, learns, ticks, ns);
	if (!run)
		return;
	if (kind == DW_LOOP_EVALUATION)
		run->kind = DW_PHASE_EVALUATION;
	if (frame->bare)
		return;
	run->calls += !learns || kind == DW_LOOP_FORWARD;
	run->evaluations += kind == DW_LOOP_EVALUATION;
}

static void phases_begin_event(struct phases_state *state, struct phases_frame *frame, unsigned kind, uint64_t ticks)
{
	struct dw_phase_loop *loop = state->loop;
	uint64_t ns = dw_source_ns(loop->clock, ticks);
	const struct dw_step *step;

	while (loop->next < loop->count && dw_phase_iteration_end(&loop->steps[loop->next]) <= ns)
		loop->next++;
	step = loop->next < loop->count ? &loop->steps[loop->next] : NULL;
	frame->counts = step && step->start_ns <= ns;
	frame->step = loop->next;
	phases_give(state, ticks);
	if (frame->counts && kind != DW_LOOP_UPDATE && kind != DW_LOOP_DATA && !frame->bare)
		phases_count(loop, frame, kind, ns >= step->end_ns);
	if (kind == DW_LOOP_DATA)
		phases_get_data(state, frame, step && ns >= step->end_ns);
	else if (kind == DW_LOOP_CHECKPOINT)
		phases_save(state, ticks, ns);
	else
		phases_follow(state, frame, kind, ticks, ns);
}

/* An optimizer updates parameters; the event began at the frame. */
static void phases_update(struct phases_state *state, struct phases_frame *frame)
{
	struct dw_phase_run *run = phases_last(&state->loop->runs);

	frame->updated = true;
	if (frame->counts)
		phases_count(state->loop, frame, DW_LOOP_UPDATE,
		             dw_source_ns(state->loop->clock, frame->frame.start) >= state->loop->steps[frame->step].end_ns);
	if (run && run->kind == DW_PHASE_LEARNING)
		run->updates++;
}

static struct phases_frame *phases_find_update(const struct phases_state *state)
{
	for (uint32_t place = state->pass.depth; place; place--)
		if (phases_at(state, place)->row == DW_LOOP_UPDATE)
			return phases_at(state, place);
	return NULL;
}

/* PyTorch's own range of an optimizer's step begins, in the phase or around it. */
static void phases_begin_step(struct phases_state *state, struct phases_frame *frame, uint64_t ticks)
{
	struct phases_frame *update = phases_find_update(state);

	if (state->stepping++ || phases_is_without_learning(state))
		return;
	if (!update) {
		phases_begin_event(state, frame, DW_LOOP_UPDATE, ticks);
		update = frame;
	}
	if (!update->updated)
		phases_update(state, update);
}

/* ---- the pass ----------------------------------------------------------------------------------------- */

static void phases_choose_thread(struct phases_state *state)
{
	uint32_t thread = state->pass.walk.thread;
	uint32_t loop = thread == DW_NO_INDEX ? DW_NO_INDEX : state->all->loop_of[thread];

	state->thread = thread;
	state->loop = loop == DW_NO_INDEX ? NULL : &state->all->loops[loop];
}

static bool phases_is_part(const struct phases_state *state, unsigned kind)
{
	return state->open[kind] || (kind != DW_LOOP_DATA && phases_is_without_learning(state)) ||
	       (kind == DW_LOOP_FORWARD && state->open[DW_LOOP_BACKWARD]);
}

/* What the detail of an event says. */
static void phases_read_detail(const struct phases_state *state, struct phases_frame *frame, uint32_t id)
{
	const char *detail = state->all->model->symbols[dw_walk_symbol(&state->pass.walk, id)].detail;
	size_t length = detail ? strlen(detail) : 0, clears = strlen(DW_DETAIL_CLEARS);
	unsigned long number;

	if (!detail)
		return;
	frame->bare = frame->event != DW_LOOP_UPDATE && strcmp(detail, DW_DETAIL_BARE) == 0;
	if (frame->event != DW_LOOP_UPDATE)
		return;
	frame->clears = length >= clears && strcmp(detail + length - clears, DW_DETAIL_CLEARS) == 0;
	number = strtoul(detail, NULL, 10);
	frame->optimizer = number && number <= DW_LOOP_OPTIMIZERS ? (uint8_t)(number - 1) : 0;
}

/* PyTorch's own range of a zero_grad() begins: the phase around it is one. In an optimizer's step it has a phase of its own. */
static void phases_clear(struct phases_state *state)
{
	for (uint32_t place = state->pass.depth; place; place--) {
		struct phases_frame *frame = phases_at(state, place);

		if ((frame->row != DW_LOOP_UPDATE && frame->row != ROW_PART) || frame->event != DW_LOOP_UPDATE)
			continue;
		frame->clears = true;
		return;
	}
}

static __attribute__((noinline)) void phases_enter_row(struct phases_state *state, struct phases_frame *frame,
                                                       uint64_t ticks, uint32_t id, uint8_t row)
{
	unsigned kind = row == ROW_LOADER ? DW_LOOP_DATA : row;

	if (state->pass.walk.thread != state->thread)
		phases_choose_thread(state);
	if (!state->loop)
		return;
	frame->row = row;
	if (row == ROW_STEPS) {
		phases_begin_step(state, frame, ticks);
	} else if (row == ROW_CLEARS) {
		phases_clear(state);
	} else {
		bool part = phases_is_part(state, kind);

		frame->event = (uint8_t)kind;
		phases_read_detail(state, frame, id);
		if (!part)
			phases_begin_event(state, frame, kind, ticks);
		else
			frame->row = ROW_PART;
		state->open[kind]++;
		if (!part)
			state->innermost = state->pass.depth;
	}
}

DW_INLINE void phases_enter(void *context, void *place, uint64_t ticks, uint32_t id)
{
	struct phases_state *state = context;
	struct phases_frame *frame = place;
	uint8_t row = state->all->rows[dw_walk_op(&state->pass.walk, id).row];

	frame->row = ROW_NOTHING;
	frame->counts = frame->bare = frame->clears = frame->updated = false;
	frame->optimizer = 0;
	if (__builtin_expect(row != ROW_NOTHING, 0))
		phases_enter_row(state, frame, ticks, id, row);
}

/* The event at the frame ends. */
static void phases_end_event(struct phases_state *state, struct phases_frame *frame, uint64_t ticks)
{
	struct dw_phase_loop *loop = state->loop;
	struct dw_phase_run *run = phases_last(frame->event == DW_LOOP_CHECKPOINT ? &loop->checkpoints : &loop->runs);

	if (frame->event == DW_LOOP_UPDATE && !frame->updated && !frame->clears && !state->stepping)
		phases_update(state, frame);
	if (frame->event == DW_LOOP_UPDATE && !frame->clears)
		loop->updates_of[frame->optimizer]++;
	if (frame->event == DW_LOOP_DATA && loop->pending.start_ticks)
		loop->pending.end_ticks = ticks;
	else if (run && ticks > run->end_ticks)
		run->end_ticks = ticks;
}

static bool phases_is_event(const struct phases_frame *frame)
{
	return frame->row < DW_LOOP_EVENT_KINDS || frame->row == ROW_LOADER;
}

static __attribute__((noinline)) void phases_leave_row(struct phases_state *state, struct phases_frame *frame, uint64_t ticks)
{
	if (frame->row == ROW_STEPS) {
		state->stepping--;
		return;
	}
	if (frame->row == ROW_CLEARS)
		return;
	if (phases_is_event(frame)) {
		phases_give(state, ticks);
		phases_end_event(state, frame, ticks);
	}
	state->open[frame->event]--;
	state->innermost = state->pass.depth;
	while (state->innermost && !phases_is_event(phases_at(state, state->innermost)))
		state->innermost--;
}

DW_INLINE void phases_leave(void *context, void *place, uint64_t ticks, enum dw_leave how)
{
	struct phases_frame *frame = place;

	if (__builtin_expect(frame->row != ROW_NOTHING, 0))
		phases_leave_row(context, frame, ticks);
}

/* Before a range that is not the innermost is removed: the places above it move down. */
static void phases_unnest(void *context, uint32_t place, uint64_t ticks)
{
	struct phases_state *state = context;

	if (!state->innermost || state->innermost < place)
		return;
	phases_give(state, ticks);
	if (state->innermost > place)
		state->innermost--;
}

static const struct dw_pass_hooks phases_hooks = {
	.frame_bytes = sizeof(struct phases_frame), .deepest = DW_DEEPEST,
	.enter = phases_enter, .leave = phases_leave, .unnest = phases_unnest,
};
DW_PASS_DEFINE(phases, phases_hooks)

/* ---- the walk ----------------------------------------------------------------------------------------- */

static uint8_t phases_row_of(const struct dw_symbol *symbol)
{
	if (symbol->category == DWELL_CATEGORY_ZONE && dw_framework_wraps_optimizer(symbol->name))
		return strncmp(symbol->name, "Optimizer.zero", 14) == 0 ? ROW_CLEARS : ROW_STEPS;
	switch (dw_share_of(symbol)) {
	case DW_SHARE_DATA: return strstr(symbol->name, "__iter__") ? ROW_LOADER : DW_LOOP_DATA;
	case DW_SHARE_FORWARD: return DW_LOOP_FORWARD;
	case DW_SHARE_BACKWARD: return DW_LOOP_BACKWARD;
	case DW_SHARE_OPTIMIZER: return DW_LOOP_UPDATE;
	case DW_SHARE_EVALUATION:
		return strcmp(symbol->name, DW_NAME_INFERENCE) == 0 ? DW_LOOP_INFERENCE : DW_LOOP_EVALUATION;
	case DW_SHARE_CHECKPOINT: return DW_LOOP_CHECKPOINT;
	default: return ROW_NOTHING;
	}
}

static bool phases_walk_stream(const struct phases_walk *all, size_t stream)
{
	struct dw_frames frames = { 0 };
	struct phases_state state;

	memset(&state, 0, sizeof state);
	state.all = all;
	state.thread = DW_NO_INDEX;
	dw_pass_init(&state.pass, all->model, stream, &frames);
	phases_walk(&state.pass);
	state.failed |= state.pass.walk.failed;
	dw_frames_reset(&frames);
	return !state.failed;
}

/* Steps after the last event. */
static bool phases_end_steps(struct dw_phase_loop *loop)
{
	struct phases_state state = { .failed = false };

	phases_pass_steps(&state, loop, loop->count);
	if (loop->runs.count)
		phases_end_data(loop);
	return !state.failed;
}

static bool phases_prepare(struct dw_model *model, const struct dw_steps *steps, struct dw_phase_loop *loops,
                           uint32_t *loop_of, bool *wanted)
{
	const struct dw_source *source = model->source;

	memset(loop_of, 0xff, source->thread_count * sizeof *loop_of);
	for (uint32_t i = 0; i < steps->thread_count; i++) {
		const struct dw_loop *from = &steps->loops[i];
		struct dw_phase_loop *loop = &loops[i];

		*loop = (struct dw_phase_loop){ .steps = steps->steps + from->first_step, .count = from->count };
		loop->clock = &source->files[source->processes[source->threads[from->thread].process].file].clock;
		if (!DW_NEW(&loop->counts, from->count * DW_LOOP_EVENT_KINDS + 1))
			return false;
		loop_of[from->thread] = i;
		wanted[dw_steps_find_stream(source, from->thread)] = true;
	}
	return true;
}

bool dw_phase_loops_walk(struct dw_model *model, const struct dw_steps *steps, struct dw_phase_loop *loops)
{
	const struct dw_source *source = model->source;
	uint32_t *loop_of = calloc(source->thread_count + 1, sizeof *loop_of);
	bool *wanted = calloc(source->stream_count + 1, sizeof *wanted), good;
	uint8_t *rows = calloc(model->row_count + (size_t)1, sizeof *rows);
	const struct phases_walk all = { model, loops, loop_of, rows };

	good = loop_of && wanted && rows && phases_prepare(model, steps, loops, loop_of, wanted);
	for (uint32_t row = 0; good && row < model->row_count; row++)
		rows[row] = phases_row_of(&model->symbols[model->row_symbol[row]]);
	for (size_t i = 0; good && i < source->stream_count; i++)
		good = !wanted[i] || phases_walk_stream(&all, i);
	for (size_t i = 0; good && i < steps->thread_count; i++)
		good = phases_end_steps(&loops[i]);
	DW_FREE(loop_of, wanted, rows);
	return good;
}
