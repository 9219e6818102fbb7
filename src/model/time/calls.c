/*
 * Calls grouped by more than their name; see calls.h.
 *
 * One walk over the streams, in one thread. When a call ends, it is added to the sums of its row,
 * which is identified by the class of its symbol, the prefix of its stack and whether it is
 * asynchronous. The steps are a row too; its self time is the time of steps outside all calls. A
 * step inside a range that counts is not added: it would count the range's time twice.
 */
#include "model/time/calls.h"

#include <stdio.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/numbers.h"
#include "base/order.h"
#include "frameworks/torch.h"
#include "model/core/events.h"
#include "model/core/freed_bytes.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/core/tally.h"
#include "model/time/call_groups.h"
#include "model/time/flops.h"

/* ---- sums of a row --------------------------------------------------------------------------- */

struct call_sum {
	struct dw_tally tally;
	int64_t self_bytes[2], total_bytes[2]; /* of the CPU, of devices */
	uint64_t flops, first_ns; /* UINT64_MAX: none yet */
	uint64_t first_ticks;     /* duration of the first call */
	uint64_t nested;          /* ticks: sum of durations minus the time in which a call is open */
	uint32_t class, prefix;   /* class DW_NO_INDEX: the row of the steps */
	uint32_t symbol;
	bool is_async;
};

struct call_sums {
	struct call_sum *rows;
	size_t count, capacity;
	struct dw_map map; /* rows by class, prefix and whether they are asynchronous */
};

/* Finds or adds a row. Valid until the next call. NULL: out of memory. */
static struct call_sum *call_sums_find(struct call_sums *sums, uint32_t class, uint32_t prefix,
                                   uint32_t symbol, bool is_async)
{
	uint32_t hash = dw_map_hash((uint64_t)class << 32 | prefix << 1 | is_async), found;
	struct call_sum *row;

	found = DW_MAP_FIND(&sums->map, hash, i, sums->rows[i].class == class && sums->rows[i].prefix == prefix &&
	                                         sums->rows[i].is_async == is_async);
	if (found != DW_MAP_NONE)
		return &sums->rows[found];
	row = DW_GROW(&sums->rows, &sums->capacity, sums->count);
	if (!row || !dw_map_add(&sums->map, hash, (uint32_t)sums->count))
		return NULL;
	*row = (struct call_sum){ .class = class, .prefix = prefix, .symbol = symbol, .is_async = is_async,
		.first_ns = UINT64_MAX };
	sums->count++;
	return row;
}

static void call_sum_add(struct call_sum *row, struct dw_arena *arena,
                                   uint64_t start_ns, uint64_t ticks, uint64_t self_ticks)
{
	dw_tally_add(&row->tally, arena, ticks, self_ticks);
	if (start_ns < row->first_ns || (start_ns == row->first_ns && ticks > row->first_ticks)) {
		row->first_ns = start_ns;
		row->first_ticks = ticks;
	}
}

static void call_sums_reset(struct call_sums *sums)
{
	free(sums->rows);
	dw_map_reset(&sums->map);
}

/* ---- the steps as a row ----------------------------------------------------------------------- */

/* Converts ns to ticks of the first file. */
static inline uint64_t calls_ticks_of_ns(const struct dw_model *model, uint64_t ns)
{
	return dw_whole((double)ns / model->source->files[0].clock.ns_per_tick + 0.5);
}

struct step_row {
	struct dw_model *model;
	bool *inner;             /* by step: it is inside a range that counts, which includes its
	                          * time */
	uint64_t covered_ticks;  /* time in steps of calls that are in no other call */
	uint64_t self_ticks;     /* set at the end: time of the steps minus covered_ticks */
};

/* The position of a stream among the steps of its process. */
struct steps_at {
	size_t step; /* the source's step that contains the current time or follows it */
	size_t end;  /* one past the last step of the process */
	size_t next; /* the first step that may be inside a range that begins later */
};

/* A call that is in no other call, in ticks of its file; `ratio` converts to ticks of the first
 * file. */
struct call_span {
	uint64_t start, end;
	uint32_t thread;
	double ratio;
};

static bool step_row_init(struct step_row *steps, struct dw_model *model)
{
	steps->model = model;
	steps->inner = calloc(model->source->step_count + 1, sizeof *steps->inner);
	return steps->inner != NULL;
}

static void step_row_seek(const struct step_row *steps, uint32_t process, struct steps_at *at)
{
	const struct dw_source *source = steps->model->source;

	*at = (struct steps_at){ 0 };
	while (at->step < source->step_count && source->threads[source->steps[at->step].thread].process != process)
		at->step++;
	at->next = at->end = at->step;
	while (at->end < source->step_count && source->threads[source->steps[at->end].thread].process == process)
		at->end++;
}

/* If the call begins in a step, counts its time as covered and returns true. */
static bool step_row_cover(struct step_row *steps, struct steps_at *at, const struct call_span *call)
{
	const struct dw_source_step *step = steps->model->source->steps;

	while (at->step < at->end && (step[at->step].thread != call->thread || step[at->step].end_ticks <= call->start))
		at->step++;
	if (at->step == at->end || call->start < step[at->step].start_ticks)
		return false;
	steps->covered_ticks += dw_file_scale(call->end - call->start, call->ratio);
	return true;
}

static void step_row_mark_inner(struct step_row *steps, struct steps_at *at, const struct call_span *call)
{
	const struct dw_source *source = steps->model->source;

	while (at->next < at->end && source->steps[at->next].end_ticks <= call->start)
		at->next++;
	for (size_t i = at->next; i < at->end; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (step->start_ticks >= call->end)
			break;
		if (step->start_ticks >= call->start && step->end_ticks <= call->end && step->thread == call->thread)
			steps->inner[i] = true;
	}
}

/* A call that is in no other call has ended. Returns whether it is in a step. */
static bool step_row_call(struct step_row *steps, struct steps_at *at, const struct call_span *call)
{
	step_row_mark_inner(steps, at, call);
	return step_row_cover(steps, at, call);
}

static bool step_row_finish(struct step_row *steps, struct call_sums *sums)
{
	struct dw_model *model = steps->model;
	const struct dw_source *source = model->source;
	struct call_sum *row = NULL;
	uint64_t all_ticks = 0;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint64_t ticks = calls_ticks_of_ns(model, step->end_ns - step->start_ns);

		if (!dw_model_has_step(model, step) || !step->recorded || steps->inner[i] ||
		    (model->wanted_threads && !model->wanted_threads[step->thread]))
			continue;
		row = call_sums_find(sums, DW_NO_INDEX, 0, DW_NO_INDEX, false);
		if (!row)
			return false;
		call_sum_add(row, &model->arena, step->start_ns, ticks, 0);
		row->tally.open += step->open;
		all_ticks += ticks;
	}
	if (all_ticks > steps->covered_ticks)
		steps->self_ticks = all_ticks - steps->covered_ticks;
	if (row)
		row->tally.self = steps->self_ticks;
	return true;
}

/* ---- a stream --------------------------------------------------------------------------------- */

struct frame {
	struct dw_frame frame;      /* in the chain if it counts */
	int64_t bytes[2], child_bytes[2]; /* of the call itself; of its children: of the CPU, of devices */
	uint32_t symbol;            /* merged symbol */
	uint32_t stack;             /* STACK id, its own or that of the range around it; 0: none */
	bool covered;               /* a call around it has FLOPs, which include its own */
};
#define CHAIN 1u

struct pass {
	struct dw_model *model;
	const struct dw_calls_ask *ask;
	struct dw_calls *calls;
	struct dw_call_groups groups;
	struct dw_freed_bytes memory;
	struct call_sums sums;
	struct step_row steps;
	uint64_t *flops; /* by merged symbol */
	bool *counts;    /* by merged symbol: its calls are rows */
	struct dw_nesting *nestings; /* by class; for the current stream */
	struct dw_frames frames;
	uint64_t self_ticks;
	bool has_async, any_on_device, failed;
};

struct calls {
	struct dw_pass pass; /* must be the first member */
	struct pass *all;
	struct steps_at step;
	double ratio;        /* to ticks of the first file */
};

int dw_calls_parse_ranges(const char *text, struct dw_calls_ask *ask, struct dwell_error *error)
{
	ask->named = ask->steps = !text;
	ask->actions = false;
	if (text && strcmp(text, "none") == 0)
		return 0;
	while (text && *text) {
		const char *end = strchrnul(text, ',');
		int length = (int)(end - text < 100 ? end - text : 100);

		if (length == 5 && memcmp(text, "named", 5) == 0)
			ask->named = true;
		else if (length == 5 && memcmp(text, "steps", 5) == 0)
			ask->steps = true;
		else if (length == 7 && memcmp(text, "actions", 7) == 0)
			ask->actions = true;
		else
			return dw_error_set(error, DWELL_E_NAME, "--ranges takes a list of named, steps and actions, or none; not '%.*s'",
			                    length, text);
		text = end + (*end == ',');
	}
	return 0;
}

#define BIT(name) (1u << DWELL_CATEGORY_##name)

bool dw_calls_count(const struct dw_calls_ask *ask, const struct dw_symbol *symbol)
{
	const uint32_t all = BIT(OPERATOR) | BIT(ZONE) | BIT(RUNTIME) | BIT(PHASE) | BIT(DATA) |
	                     BIT(COMMUNICATION) | BIT(ACTION) | BIT(EVENT) | BIT(HANDLER) |
	                     BIT(CHECKPOINT) | BIT(EVALUATION);
	uint32_t counted = ask->all_ranges ? all
	                                   : BIT(OPERATOR) | (ask->named ? BIT(ZONE) : 0) | (ask->actions ? BIT(ACTION) : 0);

	return symbol->category < 32 && counted >> symbol->category & 1 &&
	       !(ask->all_ranges && dw_torch_is_hidden(symbol->name));
}

static struct call_sum *calls_add(struct calls *calls, const struct frame *frame, uint64_t ticks, uint64_t self)
{
	struct pass *pass = calls->all;
	uint32_t prefix = dw_call_prefix(&pass->groups, calls->pass.walk.stream->file, frame->stack);
	struct call_sum *row = call_sums_find(&pass->sums, pass->groups.classes[frame->symbol],
	                                         prefix, frame->symbol, false);
	double ratio = calls->ratio;

	if (!row || prefix == DW_NO_INDEX) {
		pass->failed = true;
		return NULL;
	}
	call_sum_add(row, &pass->model->arena, dw_source_ns(&calls->pass.walk.file->clock, frame->frame.start),
	                dw_file_scale(ticks - frame->frame.start, ratio), dw_file_scale(self, ratio));
	for (int i = 0; i < 2; i++) {
		row->self_bytes[i] += frame->bytes[i];
		row->total_bytes[i] += frame->bytes[i] + frame->child_bytes[i];
	}
	return row;
}

static struct frame *call_frame_at(const struct calls *calls, uint32_t place)
{
	return (struct frame *)dw_pass_at(&calls->pass, sizeof(struct frame), place);
}

/* When a call ends: how many of its ticks are within other calls of its row, and count there.
 * Rows are classes. With grouping by stacks, only calls around it with the same prefix are of
 * its row. */
static uint64_t call_nested_ticks(struct calls *calls, const struct frame *frame, uint64_t ticks)
{
	struct pass *pass = calls->all;
	uint32_t class = pass->groups.classes[frame->symbol], file = calls->pass.walk.stream->file;
	uint32_t prefix;
	uint64_t before, duration = ticks - frame->frame.start;

	if (!pass->ask->group.stack_frames) {
		before = pass->nestings[class].nested;
		dw_nesting_end(&pass->nestings[class], ticks, duration);
		return pass->nestings[class].nested - before;
	}
	prefix = dw_call_prefix(&pass->groups, file, frame->stack);
	for (uint32_t top = frame->frame.previous; top; top = call_frame_at(calls, top)->frame.previous) {
		const struct frame *around = call_frame_at(calls, top);

		if (pass->groups.classes[around->symbol] == class &&
		    dw_call_prefix(&pass->groups, file, around->stack) == prefix)
			return duration;
	}
	return 0;
}

static void calls_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct calls *calls = state;
	struct pass *pass = calls->all;
	struct frame *frame = place;
	uint32_t symbol = dw_walk_symbol(&calls->pass.walk, id);

	memset(frame->bytes, 0, sizeof frame->bytes);
	memset(frame->child_bytes, 0, sizeof frame->child_bytes);
	frame->stack = calls->pass.depth > 1 ? frame[-1].stack : 0;
	frame->covered = false;
	frame->frame.in_scope = dw_pass_in_scope(&calls->pass, ticks);
	if (!pass->counts[symbol] || !frame->frame.in_scope)
		return;
	frame->symbol = symbol;
	dw_nesting_begin(&pass->nestings[pass->groups.classes[symbol]], ticks);
	dw_pass_link(&calls->pass, &frame->frame, CHAIN);
	if (frame->frame.previous) {
		const struct frame *around = call_frame_at(calls, frame->frame.previous);

		frame->covered = around->covered || pass->flops[around->symbol];
	}
}

static void calls_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct calls *calls = state;
	struct pass *pass = calls->all;
	struct frame *frame = place, *around;
	uint64_t duration = ticks - frame->frame.start, nested;
	/* Children that overlap can sum to more than the duration. */
	uint64_t self = duration > frame->frame.child ? duration - frame->frame.child : 0;
	struct call_sum *row = NULL;
	bool in_step = false;

	if (!frame->frame.chain)
		return;
	around = frame->frame.previous ? call_frame_at(calls, frame->frame.previous) : NULL;
	nested = call_nested_ticks(calls, frame, ticks);
	if (!around && pass->ask->steps) {
		struct call_span span = { frame->frame.start, ticks, calls->pass.walk.thread, calls->ratio };

		in_step = step_row_call(&pass->steps, &calls->step, &span) && pass->ask->all_ranges;
	}
	if ((!around && !in_step) || !pass->ask->top_level)
		row = calls_add(calls, frame, ticks, self);
	if (row && !pass->ask->top_level)
		row->nested += (int64_t)nested < 0 ? -dw_file_scale(-nested, calls->ratio)
		                                   : dw_file_scale(nested, calls->ratio);
	if (row) {
		row->tally.open += how == DW_LEAVE_OPEN;
		row->tally.cut += how == DW_LEAVE_CUT;
	}
	if (row && !frame->covered)
		row->flops = dw_flops_add(row->flops, pass->flops[frame->symbol]);
	pass->self_ticks += dw_file_scale(self, calls->ratio);
	for (int i = 0; around && i < 2; i++)
		around->child_bytes[i] += frame->bytes[i] + frame->child_bytes[i];
}

static void calls_unnest(void *state, uint32_t place, uint64_t ticks)
{
	struct calls *calls = state;

	calls->all->calls->overlapping += call_frame_at(calls, place)->frame.chain != 0;
}

static void calls_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct calls *calls = state;
	struct pass *pass = calls->all;
	struct frame *innermost = DW_PASS_INNERMOST(&calls->pass, struct frame);
	uint32_t counted = calls->pass.top[CHAIN];
	int64_t change;
	bool on_device;

	switch (record->kind) {
	case DW_STACK:
		if (innermost)
			innermost->stack = record->id;
		break;
	case DW_ALLOC:
	case DW_FREE:
		change = dw_freed_bytes_next_on(&pass->memory, dw_record_u64(record, 0), &on_device);
		pass->memory.any |= dw_pass_in_scope(&calls->pass, ticks);
		pass->any_on_device |= on_device && dw_pass_in_scope(&calls->pass, ticks);
		if (counted && !calls->pass.folded)
			call_frame_at(calls, counted)->bytes[on_device] += change;
		break;
	case DW_ASYNC_BEGIN: pass->has_async = true; break;
	default: break;
	}
}

static const struct dw_pass_hooks calls_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .chains = true, .siblings = true, .scoped = true,
	.enter = calls_enter, .leave = calls_leave, .note = calls_note, .unnest = calls_unnest,
};
DW_PASS_DEFINE(calls, calls_hooks)

static bool calls_walk_streams(struct pass *pass)
{
	struct dw_model *model = pass->model;
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->stream_count && !pass->failed; i++) {
		struct calls calls = { .all = pass };

		/* A stream out of scope is walked only for its allocations: the list has those of all
		 * streams. */
		if (!dw_scope_has_stream(model, &source->streams[i]) && !pass->memory.known)
			continue;
		dw_pass_init(&calls.pass, model, i, &pass->frames);
		/* The list of allocations has those of all chunks, so that none is skipped. */
		calls.pass.in_scope = pass->memory.known;
		calls.ratio = dw_file_ratio(source, source->streams[i].file);
		step_row_seek(&pass->steps, source->streams[i].process, &calls.step);
		calls_walk(&calls.pass);
		pass->failed |= calls.pass.walk.failed;
	}
	return !pass->failed;
}

static int calls_add_async(void *pointer, const struct dw_event *event)
{
	struct pass *pass = pointer;
	struct call_sum *row;

	if (event->type != DW_EVENT_ASYNC || !pass->counts[event->symbol])
		return 0;
	row = call_sums_find(&pass->sums, pass->groups.classes[event->symbol], 0, event->symbol, true);
	if (!row) {
		pass->failed = true;
		return -1;
	}
	call_sum_add(row, &pass->model->arena, event->start_ns,
	             calls_ticks_of_ns(pass->model, event->end_ns - event->start_ns), 0);
	row->tally.open += event->open;
	return 0;
}

/* ---- the product ------------------------------------------------------------------------------------ */

/* A call that begins together with its child comes first. */
DW_ORDER(calls_compare_rows, struct dw_call_row, DW_UP(first_ns) DW_DOWN(first_end_ns) DW_TEXT(name))

/* NULL: out of memory. */
static const char *calls_name(const struct pass *pass, const struct dw_symbol *symbol)
{
	char text[512];

	if (pass->ask->actions && symbol->category == DWELL_CATEGORY_ACTION)
		snprintf(text, sizeof text, "[pl][profile]%s", symbol->name);
	else if (pass->ask->all_ranges && symbol->detail)
		dw_torch_annotation(symbol->category, symbol->name, symbol->detail, text, sizeof text);
	else
		return symbol->name;
	return dw_arena_text(&pass->model->arena, text, strlen(text));
}

static bool calls_make_rows(struct pass *pass)
{
	struct dw_model *model = pass->model;
	struct dw_calls *calls = pass->calls;
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;

	calls->rows = dw_arena_alloc(&model->arena, (pass->sums.count + 1) * sizeof *calls->rows);
	if (!calls->rows)
		return false;
	for (size_t i = 0; i < pass->sums.count; i++) {
		const struct call_sum *from = &pass->sums.rows[i];
		struct dw_call_row *row = &calls->rows[calls->count++];
		bool is_step = from->class == DW_NO_INDEX;
		const struct dw_symbol *symbol = is_step ? NULL : &model->symbols[from->symbol];

		*row = (struct dw_call_row){ .name = is_step ? DW_TORCH_STEPS : calls_name(pass, symbol),
			.symbol = from->symbol, .category = is_step ? DWELL_CATEGORY_ZONE : symbol->category,
			.stack = is_step || from->is_async ? NULL : pass->groups.prefixes[from->prefix],
			.is_async = from->is_async, .self_bytes = from->self_bytes[0], .total_bytes = from->total_bytes[0],
			.device_bytes = from->self_bytes[1], .device_total_bytes = from->total_bytes[1], .flops = from->flops,
			.first_ns = from->first_ns,
			.first_end_ns = from->first_ns + dw_whole((double)from->first_ticks * ns_per_tick + 0.5) };
		if (!row->name)
			return false;
		dw_tally_stat_nested(&from->tally, from->nested, ns_per_tick, &row->stat);
		calls->has_flops |= from->flops > 0;
		calls->has_shapes |= symbol && symbol->shapes;
	}
	calls->self_ns = dw_whole((double)pass->self_ticks * ns_per_tick + 0.5);
	calls->has_memory = pass->memory.any;
	calls->has_device_memory = pass->any_on_device;
	calls->has_stacks = pass->groups.any_stack;
	DW_SORT(calls->rows, calls->count, calls_compare_rows);
	return true;
}

static bool calls_prepare(struct pass *pass)
{
	struct dw_model *model = pass->model;

	pass->flops = calloc(model->symbol_count + 1, sizeof *pass->flops);
	pass->nestings = calloc(model->symbol_count + 1, sizeof *pass->nestings);
	pass->counts = calloc(model->symbol_count + 1, sizeof *pass->counts);
	if (!pass->flops || !pass->nestings || !pass->counts || !step_row_init(&pass->steps, model) ||
	    !dw_call_groups_make(&pass->groups, model, &pass->ask->group) ||
	    !dw_freed_bytes_init(&pass->memory, model, pass->ask->memory))
		return false;
	for (uint32_t i = 0; i < model->symbol_count; i++) {
		enum dw_flops_why why;

		pass->counts[i] = dw_calls_count(pass->ask, &model->symbols[i]);
		if (model->symbols[i].category == DWELL_CATEGORY_OPERATOR)
			pass->flops[i] = dw_flops(model->symbols[i].name, model->symbols[i].shapes, &why);
	}
	return true;
}

static bool calls_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_calls_ask *ask = request;
	struct pass pass = { .model = model, .ask = ask, .calls = result };
	bool done = calls_prepare(&pass) && calls_walk_streams(&pass);

	if (done && ask->steps) {
		done = step_row_finish(&pass.steps, &pass.sums);
		pass.self_ticks += pass.steps.self_ticks;
	}
	if (done && pass.has_async)
		done = dw_model_events(model, calls_add_async, &pass, NULL) == 0;
	done = done && !pass.failed && calls_make_rows(&pass);
	DW_FREE(pass.flops, pass.counts, pass.nestings);
	dw_frames_reset(&pass.frames);
	call_sums_reset(&pass.sums);
	free(pass.steps.inner);
	dw_call_groups_reset(&pass.groups);
	return done;
}

DW_PRODUCT(calls, struct dw_calls, calls_compute, NULL);

const struct dw_calls *dw_model_calls(struct dw_model *model, const struct dw_calls_ask *ask, struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_calls, dw_calls_key(ask), ask, error);
}
