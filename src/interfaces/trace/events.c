/*
 * Events one by one, for programs: dwell_trace_events().
 *
 * Replaces the model's indices by names, threads, shapes and frames. An event points to buffers
 * of the pass, which the next event reuses, so that nothing is allocated for each event.
 */

#include "base/error.h"
#include "base/grow.h"
#include "model/core/shapes.h"
#include "model/time/flops.h"
#include "trace/trace.h"

struct pass {
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	int (*each)(const struct dwell_trace_event *, void *);
	void *context;
	struct dwell_tensor *tensors;
	size_t tensor_capacity;
	struct dwell_trace_frame *frames;
	size_t frame_capacity;
	bool failed;
};

/* Sets the sizes of the tensors. They are in the dictionary; the structures before them are packed
 * differently. */
static void event_set_tensors(struct pass *pass, struct dwell_trace_event *to, const struct dw_entry_shapes *shapes)
{
	const uint8_t *at = shapes ? shapes->tensors : NULL;

	for (uint32_t i = 0; shapes && i < shapes->entry.aux; i++) {
		struct dwell_tensor *tensor = DW_GROW(&pass->tensors, &pass->tensor_capacity, i);

		if (!tensor) {
			pass->failed = true;
			return;
		}
		*tensor = (struct dwell_tensor){ (const int64_t *)(const void *)(at + 8), at[1], dw_shapes_type(at) };
		at += 8 + (size_t)at[1] * 8;
		to->tensor_count = i + 1;
	}
	to->tensors = pass->tensors;
}

static void event_set_stack(struct pass *pass, struct dwell_trace_event *to, const struct dw_source_file *file,
                      uint32_t id)
{
	const struct dw_source_stack *stack;

	if (!id || !file->stacks || !file->frames || id >= file->symbol_count)
		return;
	stack = &file->stacks[id];
	for (uint32_t i = 0; i < stack->count; i++) {
		uint32_t frame_id = __atomic_load_n(&stack->frames[i], __ATOMIC_RELAXED);
		const struct dw_source_frame *frame = frame_id < file->symbol_count ? file->frames[frame_id] : NULL;

		for (uint32_t f = 0; frame && f < frame->count; f++) {
			struct dwell_trace_frame *item = DW_GROW(&pass->frames, &pass->frame_capacity, to->stack_depth);

			if (!item) {
				pass->failed = true;
				return;
			}
			*item = (struct dwell_trace_frame){ frame->functions[f].name,
				frame->functions[f].file, frame->functions[f].line };
			to->stack_depth++;
		}
	}
	to->stack = pass->frames;
}

static int64_t event_flops(const struct dw_symbol *symbol)
{
	enum dw_flops_why why;
	uint64_t flops;

	if (symbol->category != DWELL_CATEGORY_OPERATOR || !symbol->shapes)
		return -1;
	flops = dw_flops(symbol->name, symbol->shapes, &why);
	return why == DW_FLOPS_COUNTED ? dw_flops_shown(flops) : -1;
}

static int events_pass_on(void *pointer, const struct dw_event *from)
{
	static const uint32_t types[] = {
		[DW_EVENT_RANGE] = DWELL_TRACE_RANGE,       [DW_EVENT_MARK] = DWELL_TRACE_MARK,
		[DW_EVENT_COUNTER] = DWELL_TRACE_COUNTER,   [DW_EVENT_ALLOC] = DWELL_TRACE_ALLOC,
		[DW_EVENT_FREE] = DWELL_TRACE_FREE,         [DW_EVENT_ASYNC] = DWELL_TRACE_ASYNC,
		[DW_EVENT_FLOW_OUT] = DWELL_TRACE_FLOW_OUT, [DW_EVENT_FLOW_IN] = DWELL_TRACE_FLOW_IN,
	};
	struct pass *pass = pointer;
	const struct dw_source *source = pass->source;
	const struct dw_source_thread *thread = &source->threads[from->thread];
	const struct dw_source_process *process = &source->processes[thread->process];
	const struct dw_symbol *symbol = &pass->symbols[from->symbol];
	struct dwell_trace_event event = {
		.type = types[from->type], .category = symbol->category, .name = symbol->name,
		.detail = symbol->detail, .pid = process->pid, .tid = thread->tid, .depth = from->depth,
		.open = from->open, .start_ns = from->start_ns, .end_ns = from->end_ns,
		.handle = from->handle, .size_bytes = from->size_bytes, .value = from->value,
		.sequence_number = from->sequence, .args = from->args, .flops = event_flops(symbol),
	};

	if (from->forward_thread != DW_NO_INDEX)
		event.forward_tid = source->threads[from->forward_thread].tid;
	event_set_tensors(pass, &event, symbol->shapes);
	event_set_stack(pass, &event, &source->files[process->file], from->stack);
	return pass->failed ? DWELL_E_NOMEM : pass->each(&event, pass->context);
}

static int events_pass_steps(const struct pass *pass, const struct dw_model *model)
{
	int result = 0;

	for (size_t i = 0; i < pass->source->step_count && !result; i++) {
		const struct dw_source_step *step = &pass->source->steps[i];
		const struct dw_source_thread *thread = &pass->source->threads[step->thread];
		struct dwell_trace_event event = {
			.type = DWELL_TRACE_STEP, .name = "step", .tid = thread->tid,
			.pid = pass->source->processes[thread->process].pid, .open = step->open,
			.start_ns = step->start_ns, .end_ns = step->end_ns, .value = (double)step->number,
			.sequence_number = UINT64_MAX, .flops = -1,
		};

		if (dw_model_has_step(model, step))
			result = pass->each(&event, pass->context);
	}
	return result;
}

int dwell_trace_events(struct dwell_trace *trace,
                       int (*each)(const struct dwell_trace_event *event, void *context), void *context,
                       struct dwell_error *error)
{
	struct pass pass = { .each = each, .context = context };
	struct dw_model *model;
	int result;

	DW_TRACE_NEEDS(trace);
	DW_TRACE_NEEDS(each);
	model = dw_trace_model(trace);
	pass.source = dw_trace_source(trace);
	pass.symbols = dw_model_symbols(model, NULL);
	result = dw_model_events(model, events_pass_on, &pass, error);
	if (!result)
		result = events_pass_steps(&pass, model);
	if (pass.failed)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory reading events");
	free(pass.tensors);
	free(pass.frames);
	return result;
}
