/*
 * Recorded stacks: their functions as text, and self time by symbol and stack.
 *
 * Called by labels.c, folded_stacks.c and pprof.c. Ranges arrive in the order of their ends, inner
 * ranges before the outer one; the self time of a range is its time without that of the inner
 * ranges. Memory: one row for each combination of thread, symbol and stack that occurs.
 */
#include "export/stacks.h"

#include "base/error.h"
#include "base/grow.h"
#include "model/device/device.h"

bool dw_stacks_any(const struct dw_source *source)
{
	for (size_t i = 0; i < source->file_count; i++)
		if (source->files[i].frames)
			return true;
	return false;
}

struct dw_stack dw_stack_at(const struct dw_source *source, uint32_t thread, uint32_t stack)
{
	const struct dw_source_file *file = &source->files[source->processes[source->threads[thread].process].file];
	struct dw_stack found = { .file = file };

	if (stack && file->stacks && file->frames && stack < file->symbol_count) {
		found.frames = file->stacks[stack].frames;
		found.count = file->stacks[stack].count;
	}
	return found;
}

const struct dw_source_frame *dw_stack_frame(const struct dw_stack *stack, uint32_t index)
{
	uint32_t id = __atomic_load_n(&stack->frames[index], __ATOMIC_RELAXED);

	return id < stack->file->symbol_count ? stack->file->frames[id] : NULL;
}

void dw_stack_function_text(struct dw_writer_out *out, const struct dw_source_function *function)
{
	if (function->file) {
		dw_out_text(out, function->file);
		dw_out_text(out, "(");
		dw_out_u64(out, function->line);
		dw_out_text(out, "): ");
	}
	dw_out_text(out, function->name);
}

void dw_stack_text(struct dw_writer_out *out, struct dw_stack stack)
{
	bool any = false;

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_stack_frame(&stack, i);

		for (uint32_t k = 0; frame && k < frame->count; k++) {
			dw_out_text(out, any ? ";" : "");
			any = true;
			dw_stack_function_text(out, &frame->functions[k]);
		}
	}
}

/* ---- sums --------------------------------------------------------------------------- */

/* A range that has ended while the range around it is open. Neighbours of the same depth are
 * merged. */
struct ended {
	uint64_t start_ns, took_ns;
	uint32_t depth;
};

struct pass {
	struct dw_stacks *stacks;
	struct ended *ended;
	size_t count, capacity;
	uint32_t thread;
	bool nested, failed;
	bool apart; /* not merged: within a scope of steps the range around two neighbours may be
	             * missing */
};

static uint32_t stacks_hash(const struct dw_stacks_row *key)
{
	return dw_map_hash(((uint64_t)key->symbol << 32 ^ key->stack) + ((uint64_t)key->thread << 17));
}

static struct dw_stacks_row *stacks_find_row(struct dw_stacks *stacks, const struct dw_event *event)
{
	struct dw_stacks_row key = { event->symbol, event->thread, event->stack, 0, 0 }, *row;
	uint32_t found;

	found = DW_MAP_FIND(&stacks->map, stacks_hash(&key), i, stacks->rows[i].symbol == key.symbol &&
	                    stacks->rows[i].stack == key.stack && stacks->rows[i].thread == key.thread);
	if (found != DW_MAP_NONE)
		return &stacks->rows[found];
	row = DW_GROW(&stacks->rows, &stacks->capacity, stacks->count);
	if (!row || !dw_map_add(&stacks->map, stacks_hash(&key), (uint32_t)stacks->count))
		return NULL;
	*row = key;
	stacks->count++;
	return row;
}

/* Subtracts from `self_ns` the time of ranges that ended within this one. */
static bool stacks_subtract_inner(struct pass *pass, const struct dw_event *event, uint64_t *self_ns)
{
	uint64_t took = event->end_ns - event->start_ns, within = 0;
	struct ended *last;

	if (event->thread != pass->thread || event->nested != pass->nested)
		pass->count = 0;
	pass->thread = event->thread;
	pass->nested = event->nested;
	while (pass->count && pass->ended[pass->count - 1].start_ns >= event->start_ns)
		within += pass->ended[--pass->count].took_ns;
	/* a range that was ended out of order may be shorter than the ranges that began in it */
	*self_ns = took > within ? took - within : 0;
	if (event->depth == 0) {
		pass->count = 0;
		return true;
	}
	last = pass->count ? &pass->ended[pass->count - 1] : NULL;
	if (last && !pass->apart && last->depth == event->depth) {
		last->took_ns += took;
		return true;
	}
	return DW_APPEND(&pass->ended, &pass->capacity, &pass->count,
	                 (struct ended){ event->start_ns, took, event->depth });
}

static int stacks_add_event(void *context, const struct dw_event *event)
{
	struct pass *pass = context;
	struct dw_stacks_row *row;
	uint64_t self_ns;

	if (event->type != DW_EVENT_RANGE)
		return 0;
	row = stacks_find_row(pass->stacks, event);
	if (!row || !stacks_subtract_inner(pass, event, &self_ns)) {
		pass->failed = true;
		return 1;
	}
	row->count++;
	row->self_ns += self_ns;
	return 0;
}

int dw_stacks_make(struct dw_stacks *stacks, struct dw_model *model, struct dwell_error *error)
{
	struct pass pass = { .stacks = stacks, .apart = dw_model_is_partial(model) };
	int result;

	memset(stacks, 0, sizeof *stacks);
	result = dw_model_events(model, stacks_add_event, &pass, error);
	free(pass.ended);
	if (pass.failed)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while adding up stacks; export fewer steps "
		                      "(--steps) or one thread (--thread)");
	return result < 0 ? result : 0;
}

int dw_stacks_make_device(struct dw_stacks *stacks, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(model, error);

	memset(stacks, 0, sizeof *stacks);
	if (!work)
		return DWELL_E_NOMEM;
	stacks->rows = calloc(work->call_count + 1, sizeof *stacks->rows);
	if (!stacks->rows)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory while adding up stacks of device time");
	for (size_t i = 0; i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];
		uint32_t at = dw_device_first_owner(call);

		if (call->in_scope && call->device_ns && at != DW_NO_INDEX)
			stacks->rows[stacks->count++] = (struct dw_stacks_row){ work->owners[at].symbol, work->owners[at].thread,
				                                                    work->owners[at].stack, call->work,
				                                                    call->device_ns };
	}
	return 0;
}

void dw_stacks_reset(struct dw_stacks *stacks)
{
	free(stacks->rows);
	dw_map_reset(&stacks->map);
}
