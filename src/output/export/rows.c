/* The tables of a trace, row by row; see rows.h. */
#include "export/rows.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/numbers.h"
#include "export/out.h"
#include "export/stacks.h"
#include "model/device/device.h"
#include "model/samples/samples.h"
#include "model/steps/steps.h"

#define INT(name) { name, DW_CELL_INT, false }
#define REAL(name) { name, DW_CELL_REAL, false }
#define TEXT(name) { name, DW_CELL_TEXT, false }
#define NAME(name) { name, DW_CELL_TEXT, true }

const struct dw_rows_head dw_rows_heads[] = {
	[DW_ROWS_RANGES] = { "ranges", { NAME("name"), NAME("category"), INT("step"), NAME("thread"), INT("tid"), INT("pid"),
	                     INT("depth"), INT("start_ns"), INT("duration_ns"), INT("self_ns"), INT("ended"), TEXT("arguments") } },
	[DW_ROWS_MARKS] = { "marks", { NAME("name"), INT("step"), INT("tid"), INT("pid"), INT("time_ns"), TEXT("arguments") } },
	[DW_ROWS_COUNTERS] = { "counters", { NAME("name"), INT("step"), INT("tid"), INT("pid"), INT("time_ns"), REAL("value"),
	                       NAME("unit") } },
	[DW_ROWS_ALLOCATIONS] = { "allocations", { NAME("kind"), INT("step"), INT("tid"), INT("pid"), INT("time_ns"),
	                          INT("address"), INT("size_bytes"), NAME("category"), NAME("device") } },
	[DW_ROWS_FLOWS] = { "flows", { NAME("name"), INT("step"), INT("tid"), INT("pid"), INT("time_ns"), INT("handle"),
	                    NAME("direction") } },
	[DW_ROWS_ASYNC] = { "async_ranges", { NAME("name"), INT("step"), INT("tid"), INT("pid"), INT("start_ns"),
	                    INT("duration_ns"), INT("handle"), INT("ended"), TEXT("arguments") } },
	[DW_ROWS_STEPS] = { "steps", { INT("step"), NAME("thread"), INT("start_ns"), INT("duration_ns"), INT("cpu_ns"),
	                    INT("operators"), INT("counted"), INT("tid"), INT("pid") } },
	[DW_ROWS_SAMPLES] = { "samples", { NAME("function"), INT("step"), NAME("thread"), INT("tid"), INT("pid"), INT("time_ns"),
	                      INT("weight"), INT("cpu_ns"), TEXT("stack") } },
	[DW_ROWS_DEVICE] = { "device_events", { NAME("name"), NAME("kind"), INT("device"), INT("stream"), INT("start_ns"),
	                     INT("duration_ns"), INT("size_bytes"), NAME("call"), INT("call_start_ns"), INT("pid") } },
	[DW_ROWS_THREADS] = { "threads", { TEXT("thread"), INT("tid"), INT("pid"), INT("start_ns") } },
	[DW_ROWS_PROCESSES] = { "processes", { INT("pid"), TEXT("name"), TEXT("command"), INT("rank"), INT("start_ns"),
	                        INT("end_ns") } },
	[DW_ROWS_METADATA] = { "metadata", { INT("pid"), TEXT("key"), TEXT("value") } },
	[DW_ROWS_LOSSES] = { "losses", { TEXT("cause"), INT("records") } },
	[DW_ROWS_RUN] = { "run", { TEXT("path"), INT("began_unix_ns"), INT("end_ns"), TEXT("written_by") } },
};

struct rows_writer {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	unsigned tables;
	dw_rows_put *put;
	void *context;
	int result;            /* the first of `put` that is not 0 */
	const char **threads;  /* names by thread */
	struct dw_arena arena;
	struct dw_writer_out text; /* in memory: a stack */
	uint64_t *child;       /* by depth: time of the ranges that ended there, for self times */
	size_t child_count;    /* depths from here on are 0 */
	size_t child_capacity;
	uint32_t thread;       /* whose ranges `child` is of */
	bool nested;
	size_t step;           /* index of the step that was found last */
};

size_t dw_rows_column_count(enum dw_rows_table table)
{
	size_t count = 0;

	while (dw_rows_heads[table].columns[count].name)
		count++;
	return count;
}

/* Passes on a row with cells in the order of the columns. */
#define ROWS_PUT(to, table, ...) rows_put(to, DW_ROWS_##table, (const struct dw_cell[]){ __VA_ARGS__ })
static void rows_put(struct rows_writer *to, enum dw_rows_table table, const struct dw_cell *row)
{
	if (!to->result && to->tables & 1u << table)
		to->result = to->put(to->context, table, row);
}

/* The step that a moment of a process belongs to; outside the steps null. */
static struct dw_cell rows_step(struct rows_writer *to, uint32_t process, uint64_t ns)
{
	const struct dw_source_step *step = dw_source_step_at(to->source, process, ns, &to->step);

	return step ? DW_INT(step->number) : DW_EMPTY;
}

static const char *rows_category(uint32_t category)
{
	return dw_category_name(category) ? dw_category_name(category) : "unknown";
}

/* ---- events --------------------------------------------------------------------------------------- */

/* The time of the ranges directly in this one, which ended before it on the same stream. */
static uint64_t rows_take_child(struct rows_writer *to, const struct dw_event *event)
{
	uint64_t length = event->end_ns - event->start_ns, child;

	if (event->thread != to->thread || event->nested != to->nested) {
		for (size_t i = 0; i < to->child_count; i++)
			to->child[i] = 0;
		to->thread = event->thread;
		to->nested = event->nested;
	}
	while (to->child_count < (size_t)event->depth + 2) {
		if (!DW_GROW(&to->child, &to->child_capacity, to->child_count)) {
			to->result = to->result ? to->result : DWELL_E_NOMEM;
			return 0;
		}
		to->child_count++;
	}
	child = to->child[event->depth + 1];
	to->child[event->depth + 1] = 0;
	to->child[event->depth] += length;
	return child < length ? child : length;
}

static void rows_put_range(struct rows_writer *to, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &to->symbols[event->symbol];
	const struct dw_source_thread *thread = &to->source->threads[event->thread];
	uint64_t length = event->end_ns - event->start_ns, child = rows_take_child(to, event);

	ROWS_PUT(to, RANGES, DW_STRING(symbol->name), DW_STRING(rows_category(symbol->category)),
	         rows_step(to, thread->process, event->start_ns), DW_STRING(to->threads[event->thread]), DW_INT(thread->tid),
	         DW_INT(to->source->processes[thread->process].pid), DW_INT(event->depth), DW_INT(event->start_ns), DW_INT(length),
	         DW_INT(length - child), DW_INT(!event->open), DW_STRING(event->args));
}

static void rows_put_other(struct rows_writer *to, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &to->symbols[event->symbol];
	const struct dw_source_thread *thread = &to->source->threads[event->thread];
	const bool allocates = event->type == DW_EVENT_ALLOC;
	/* Columns that all these tables have after the name. */
	const struct dw_cell step = rows_step(to, thread->process, event->start_ns), tid = DW_INT(thread->tid);
	const struct dw_cell pid = DW_INT(to->source->processes[thread->process].pid), start = DW_INT(event->start_ns);

	if (allocates || event->type == DW_EVENT_FREE)
		ROWS_PUT(to, ALLOCATIONS, DW_STRING(allocates ? "allocation" : "free"), step, tid, pid, start,
		         DW_INT(event->handle), allocates ? DW_INT(event->size_bytes) : DW_EMPTY, DW_STRING(symbol->name),
		         DW_STRING(symbol->detail));
	else if (event->type == DW_EVENT_COUNTER)
		ROWS_PUT(to, COUNTERS, DW_STRING(symbol->name), step, tid, pid, start, DW_REAL(event->value),
		         DW_STRING(symbol->detail));
	else if (event->type == DW_EVENT_ASYNC)
		ROWS_PUT(to, ASYNC, DW_STRING(symbol->name), step, tid, pid, start, DW_INT(event->end_ns - event->start_ns),
		         DW_INT(event->handle), DW_INT(!event->open), DW_STRING(event->args));
	else if (event->type == DW_EVENT_MARK)
		ROWS_PUT(to, MARKS, DW_STRING(symbol->name), step, tid, pid, start, DW_STRING(event->args));
	else
		ROWS_PUT(to, FLOWS, DW_STRING(symbol->name), step, tid, pid, start, DW_INT(event->handle),
		         DW_STRING(event->type == DW_EVENT_FLOW_OUT ? "out" : "in"));
}

static int rows_put_event(void *context, const struct dw_event *event)
{
	struct rows_writer *to = context;

	if (event->type == DW_EVENT_RANGE)
		rows_put_range(to, event);
	else
		rows_put_other(to, event);
	return to->result;
}

/* ---- the other tables ------------------------------------------------------------------------------- */

static int rows_put_steps(struct rows_writer *to, struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(to->model, error);

	for (size_t i = 0; steps && i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];
		const struct dw_source_thread *thread = &to->source->threads[step->thread];

		ROWS_PUT(to, STEPS, DW_INT(step->number), DW_STRING(to->threads[step->thread]), DW_INT(step->start_ns),
		         DW_INT(step->end_ns - step->start_ns), step->cpu_ns ? DW_INT(step->cpu_ns) : DW_EMPTY,
		         DW_INT(step->operator_count), DW_INT(step->counted), DW_INT(thread->tid),
		         DW_INT(to->source->processes[thread->process].pid));
	}
	return steps ? 0 : DWELL_E_NOMEM;
}

/* The functions of a stack, outermost first, separated by ';', in `to->text`. Returns the innermost one, or NULL. */
static const char *rows_write_stack(struct rows_writer *to, const struct dw_sample_time *sample)
{
	const struct dw_sample_row row = { .thread = sample->thread, .frame = sample->frame, .stack = sample->stack };
	const struct dw_sample_stack stack = dw_sample_stack_of(to->source, &row);
	const struct dw_source_frame *innermost = dw_sample_stack_at(&stack, 0);

	to->text.used = 0;
	for (uint32_t i = stack.count; i-- > 0;) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		for (uint32_t k = frame ? frame->count : 0; k-- > 0;) {
			dw_out_text(&to->text, to->text.used ? ";" : "");
			dw_out_text(&to->text, frame->functions[k].name);
		}
	}
	dw_out_bytes(&to->text, "", 1);
	return innermost ? innermost->functions[0].name : NULL;
}

static int rows_put_samples(struct rows_writer *to, struct dwell_error *error)
{
	struct dw_sample_time *samples = NULL;
	size_t count = 0;
	int result = dw_model_samples_in_order(to->model, false, &samples, &count, error);

	for (size_t i = 0; i < count && !result && !to->result; i++) {
		const struct dw_source_thread *thread = &to->source->threads[samples[i].thread];
		const double period = dw_samples_period(to->source, thread->process);
		const char *function = rows_write_stack(to, &samples[i]);

		if (to->text.error)
			result = dw_error_set(error, DWELL_E_NOMEM, "out of memory for the stack of a sample");
		else
			ROWS_PUT(to, SAMPLES, DW_STRING(function), rows_step(to, thread->process, samples[i].ns),
			         DW_STRING(to->threads[samples[i].thread]), DW_INT(thread->tid),
			         DW_INT(to->source->processes[thread->process].pid), DW_INT(samples[i].ns), DW_INT(samples[i].weight),
			         period > 0 ? DW_INT(dw_whole(samples[i].weight * period)) : DW_EMPTY,
			         DW_STRING(function ? to->text.buffer : NULL));
	}
	free(samples);
	return result;
}

static const char *rows_device_kind(uint32_t kind)
{
	static const char *const names[] = { [DW_DEVICE_KERNEL] = "kernel", [DW_DEVICE_COPY] = "copy",
		[DW_DEVICE_SET] = "memory set", [DW_DEVICE_SYNC] = "wait", [DW_DEVICE_GRAPH] = "graph",
		[DW_DEVICE_MEMORY] = "memory", [DW_DEVICE_OVERHEAD] = "overhead", [DW_DEVICE_RANGE] = "range",
		[DW_DEVICE_RECORD] = "event", [DW_DEVICE_CALL] = "call" };

	return kind < sizeof names / sizeof *names && names[kind] ? names[kind] : "unknown";
}

static int rows_put_device(struct rows_writer *to, struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(to->model, error);

	for (size_t i = 0; work && i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		const struct dw_source_queue *queue = &to->source->queues[event->queue];
		const struct dw_source_device *device = &to->source->devices[queue->device];
		const struct dw_device_call *call = event->call == DW_NO_INDEX ? NULL : &work->calls[event->call];

		if (!event->in_scope)
			continue;
		ROWS_PUT(to, DEVICE, DW_STRING(work->names[event->name].name), DW_STRING(rows_device_kind(event->kind)),
		         DW_INT(device->number), queue->number == DW_QUEUE_NONE ? DW_EMPTY : DW_INT(queue->number),
		         DW_INT(event->start_ns), DW_INT(event->end_ns - event->start_ns), DW_INT(event->bytes),
		         DW_STRING(call ? to->symbols[call->symbol].name : NULL), call ? DW_INT(call->start_ns) : DW_EMPTY,
		         DW_INT(to->source->processes[device->process].pid));
	}
	return work ? 0 : DWELL_E_NOMEM;
}

static void rows_put_people(struct rows_writer *to)
{
	const struct dw_source *source = to->source;

	for (size_t i = 0; i < source->thread_count; i++)
		ROWS_PUT(to, THREADS, DW_STRING(to->threads[i]), DW_INT(source->threads[i].tid),
		         DW_INT(source->processes[source->threads[i].process].pid), DW_INT(source->threads[i].start_ns));
	for (size_t i = 0; i < source->process_count; i++) {
		const struct dw_source_process *process = &source->processes[i];

		ROWS_PUT(to, PROCESSES, DW_INT(process->pid), DW_STRING(process->name), DW_STRING(process->command),
		         process->rank >= 0 ? DW_INT(process->rank) : DW_EMPTY, DW_INT(process->start_ns), DW_INT(process->end_ns));
	}
}

static void rows_put_run(struct rows_writer *to)
{
	const struct dw_source *source = to->source;

	for (size_t i = 0; i < source->meta_count; i++)
		ROWS_PUT(to, METADATA, DW_INT(source->processes[source->metas[i].process].pid), DW_STRING(source->metas[i].key),
		         DW_STRING(source->metas[i].value));
	for (size_t i = 0; i < DW_LOSS_SLOTS; i++)
		if (source->lost[i])
			ROWS_PUT(to, LOSSES, DW_STRING(dw_loss_cause(i) ? dw_loss_cause(i) : "unknown"), DW_INT(source->lost[i]));
	for (size_t i = 0; i < source->file_count; i++)
		ROWS_PUT(to, RUN, DW_STRING(source->files[i].path), DW_INT(source->realtime_start_ns), DW_INT(source->end_ns),
		         DW_STRING(source->files[i].head->writer));
}

static bool rows_name_threads(struct rows_writer *to)
{
	to->threads = dw_arena_alloc(&to->arena, (to->source->thread_count + 1) * sizeof *to->threads);
	for (uint32_t i = 0; to->threads && i < to->source->thread_count; i++) {
		char name[256];

		dw_model_thread_name(to->model, i, name, sizeof name);
		to->threads[i] = dw_arena_text(&to->arena, name, strlen(name));
		if (!to->threads[i])
			return false;
	}
	return to->threads != NULL;
}

#define ROWS_OF_EVENTS (1u << DW_ROWS_RANGES | 1u << DW_ROWS_MARKS | 1u << DW_ROWS_COUNTERS | 1u << DW_ROWS_ALLOCATIONS | \
	                    1u << DW_ROWS_FLOWS | 1u << DW_ROWS_ASYNC)

/* Returns an error of dwell. What `put` returned is in `result`. */
static int rows_walk_all(struct rows_writer *to, struct dwell_error *error)
{
	int code = 0;

	if (to->tables & ROWS_OF_EVENTS)
		code = dw_model_events(to->model, rows_put_event, to, error);
	if (!code && to->tables & 1u << DW_ROWS_STEPS)
		code = rows_put_steps(to, error);
	if (!code && to->tables & 1u << DW_ROWS_SAMPLES)
		code = rows_put_samples(to, error);
	if (!code && to->tables & 1u << DW_ROWS_DEVICE)
		code = rows_put_device(to, error);
	if (!code) {
		rows_put_people(to);
		rows_put_run(to);
	}
	return code;
}

int dw_rows_walk(struct dw_model *model, unsigned tables, dw_rows_put *put, void *context, struct dwell_error *error)
{
	struct rows_writer to = { .model = model, .source = dw_model_source(model), .symbols = dw_model_symbols(model, NULL),
		                      .tables = tables, .put = put, .context = context, .thread = DW_NO_INDEX };
	int code;

	dw_out_init_memory(&to.text);
	code = rows_name_threads(&to) ? rows_walk_all(&to, error)
	                              : dw_error_set(error, DWELL_E_NOMEM, "out of memory for the names of threads");
	dw_out_reset(&to.text);
	free(to.child);
	dw_arena_reset(&to.arena);
	return to.result ? to.result : code;
}
