/*
 * The sorted events of each thread, as records of its stream.
 *
 * Called by chrome_file.c when all events of a file were read. Only then the names of its threads are
 * known, and the forward thread of each backward operator.
 */
#include <string.h>

#include "import/chrome.h"

struct write_thread {
	struct dw_encode_stream stream;
	uint32_t index, id;
	uint64_t last_ns, step_end_ns;
};

static void write_u64s(struct write_thread *to, uint64_t ns, enum dw_kind kind, uint32_t op,
                       const uint64_t *values, unsigned count)
{
	dw_encode_record(&to->stream, ns, kind, op, values, count * 2);
}

static void write_link(struct chrome *chrome, struct write_thread *to, uint64_t ns,
                       const struct dw_sort_event *event)
{
	uint32_t thread = chrome_forward_thread(chrome, event->extra), link[3] = { 0, 0, 0 };
	uint64_t sequence = event->value - 1;

	memcpy(link, &sequence, sizeof sequence);
	if (event->extra && thread == UINT32_MAX)
		return; /* the forward operator is not in the file */
	link[2] = event->extra ? chrome->threads[thread].id : 0;
	dw_encode_record(&to->stream, ns, DW_LINK, 0, link, 3);
}

/* The number by which events of devices name the innermost range. */
static void write_number(struct write_thread *to, uint64_t ns, uint64_t number)
{
	if (number && number <= UINT32_MAX)
		dw_encode_correlation(&to->stream, (uint32_t)number);
	else if (number)
		dw_encode_external(&to->stream, ns, number);
}

static void write_range(struct chrome *chrome, struct write_thread *to, uint64_t ns,
                        const struct dw_sort_event *event)
{
	uint64_t end_ns = ns + event->length_ns;

	if (event->kind == CHROME_STEP && ns >= to->step_end_ns) {
		to->step_end_ns = end_ns;
		dw_encode_step(&chrome->processes[chrome->threads[to->index].process].journal, to->id,
		               event->value, ns, end_ns, 0, DW_STEP_RECORDED);
		return;
	}
	dw_encode_begin(&to->stream, ns, event->op);
	if (event->kind == CHROME_RANGE && event->value)
		write_link(chrome, to, ns, event);
	if (event->kind == CHROME_CALL)
		write_number(to, ns, event->value);
	if (event->more)
		dw_encode_record(&to->stream, ns, DW_ARGS, (uint32_t)event->more, NULL, 0);
	if (event->kind == CHROME_BEGIN)
		dw_ranges_push_open(&chrome->ranges, event->extra);
	else
		dw_ranges_push(&chrome->ranges, end_ns, 0);
}

/* An end has the name of its range, or none. Some writers give ends names of their own: these name no range. */
static bool write_end(struct chrome *chrome, struct write_thread *to, uint64_t ns, uint32_t name)
{
	if (name && !chrome->names.texts[name - 1].begins)
		name = 0;
	return dw_ranges_end(&chrome->ranges, &to->stream, ns, name);
}

static void write_event(struct chrome *chrome, struct write_thread *to,
                        const struct dw_sort_event *event)
{
	static const enum dw_kind kinds[] = {
		[CHROME_MARK] = DW_MARK, [CHROME_COUNTER] = DW_COUNTER, [CHROME_ALLOC] = DW_ALLOC,
		[CHROME_FREE] = DW_FREE, [CHROME_FLOW_OUT] = DW_FLOW_OUT, [CHROME_FLOW_IN] = DW_FLOW_IN,
		[CHROME_ASYNC_BEGIN] = DW_ASYNC_BEGIN, [CHROME_ASYNC_END] = DW_ASYNC_END,
	};
	const uint64_t values[2] = { event->value, event->more };
	uint64_t ns = chrome_moved_ns(&chrome->processes[chrome->threads[to->index].process], event->start_ns) + chrome->offset_ns;

	dw_ranges_close_until(&chrome->ranges, &to->stream, ns);
	if (event->kind <= CHROME_STEP && event->kind != CHROME_END)
		write_range(chrome, to, ns, event);
	else if (event->kind == CHROME_END)
		chrome->unmatched_ends += !write_end(chrome, to, ns, event->extra);
	else if (event->kind == CHROME_LAUNCHED)
		write_number(to, ns, event->value);
	else if (event->kind == CHROME_TOKENS)
		dw_encode_tokens(&to->stream, ns, event->op, event->value, (uint32_t)event->more);
	else
		write_u64s(to, ns, kinds[event->kind], event->op, values,
		           event->kind == CHROME_MARK ? 0 : event->kind == CHROME_ALLOC ? 2 : 1);
	to->last_ns = ns;
}

static void write_begin_thread(struct chrome *chrome, struct write_thread *to, uint32_t index)
{
	const struct chrome_thread *thread = &chrome->threads[index];
	struct chrome_process *process = &chrome->processes[thread->process];

	to->index = index;
	to->id = thread->id;
	to->step_end_ns = 0;
	dw_encode_stream_init(&to->stream, &process->journal, thread->number, thread->id);
}

static void write_end_thread(struct chrome *chrome, struct write_thread *to)
{
	if (to->index == UINT32_MAX)
		return;
	chrome->unmatched_begins += dw_ranges_close(&chrome->ranges, &to->stream, to->last_ns);
	dw_encode_close(&to->stream);
}

void chrome_write_threads(struct chrome *chrome)
{
	for (size_t i = 0; i < chrome->thread_count; i++) {
		struct chrome_thread *thread = &chrome->threads[i];
		struct chrome_process *process = &chrome->processes[thread->process];
		uint32_t name = chrome_string(chrome, thread->name);

		thread->number = ++process->streams;
		thread->id = dw_encode_thread(&process->journal, thread->tid, thread->number,
		                              (uint64_t)chrome->first_ns + chrome->offset_ns, NULL);
		if (name)
			dw_encode_entry(&process->journal, DW_ENTRY_THREAD_NAME, thread->id, name,
			                sizeof(struct dw_entry_thread_name));
	}
}

void chrome_write(struct chrome *chrome)
{
	struct write_thread to = { .index = UINT32_MAX };
	const struct dw_sort_event *event;

	dw_sort_finish(&chrome->sort);
	while (!chrome->failed && (event = dw_sort_next(&chrome->sort))) {
		if (event->thread != to.index) {
			write_end_thread(chrome, &to);
			write_begin_thread(chrome, &to, event->thread);
		}
		write_event(chrome, &to, event);
		chrome->failed |= chrome->ranges.failed;
	}
	write_end_thread(chrome, &to);
	chrome->failed |= chrome->sort.failed || chrome->encode.failed;
}
