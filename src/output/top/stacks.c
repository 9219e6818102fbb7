/* Stacks as text for people, where equal ones are printed once, and as a table with a row a frame. */
#include "top/stacks.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/core/open.h"
#include "top/deadlock.h"
#include "top/frames.h"

/* ---- where a thread is in the trace ------------------------------------------------------------- */

static struct dw_top_inside *stacks_inside_of(struct dw_top_insides *insides, const struct dw_source *source, uint32_t thread)
{
	uint32_t tid = source->threads[thread].tid, pid = source->processes[source->threads[thread].process].pid;
	struct dw_top_inside *inside;

	for (size_t i = 0; i < insides->count; i++)
		if (insides->threads[i].tid == tid)
			return &insides->threads[i];
	inside = DW_GROW(&insides->threads, &insides->capacity, insides->count);
	if (inside) {
		inside->pid = pid;
		inside->tid = tid;
		insides->count++;
	}
	return inside;
}

static void stacks_put_inside(struct dw_top_inside *inside, const char *what)
{
	size_t used = strlen(inside->text);

	snprintf(inside->text + used, sizeof inside->text - used, "%s%s", used ? " > " : "", what);
}

/* The names of threads that have not ended. The number of one that has may be another one's by now. */
static bool stacks_read_names(struct dw_top_insides *insides, const struct dw_source *source)
{
	for (uint32_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];
		struct dw_top_inside *inside;

		if (thread->end & DW_THREAD_ENDED || !*thread->name)
			continue;
		inside = stacks_inside_of(insides, source, i);
		if (!inside)
			return false;
		snprintf(inside->name, sizeof inside->name, "%.63s", thread->name);
	}
	return true;
}

int dw_top_insides_read(struct dw_top_insides *insides, const char *trace, struct dwell_error *error)
{
	struct dw_source *source;
	struct dw_model *model = NULL;
	struct dw_open_range *open = NULL;
	size_t count = 0;
	int code = dw_source_open(&source, &trace, 1, error);

	if (code)
		return code;
	if (!stacks_read_names(insides, source))
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	for (size_t i = 0; !code && i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_top_inside *inside = step->open ? stacks_inside_of(insides, source, step->thread) : NULL;
		char text[40];

		snprintf(text, sizeof text, "step %" PRIu64, step->number);
		if (inside)
			stacks_put_inside(inside, text);
		else if (step->open)
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	}
	if (!code)
		code = dw_model_create(&model, source, NULL, error);
	if (!code)
		code = dw_model_open_ranges(model, &open, &count, error);
	for (size_t i = 0; !code && i < count; i++) {
		struct dw_top_inside *inside = stacks_inside_of(insides, source, open[i].thread);

		if (inside)
			stacks_put_inside(inside, dw_model_symbols(model, NULL)[open[i].symbol].name);
		else
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	}
	free(open);
	if (model)
		dw_model_destroy(model);
	dw_source_close(source);
	return code;
}

void dw_top_insides_name(const struct dw_top_insides *insides, struct dw_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		for (size_t k = 0; k < insides->count; k++) {
			const struct dw_top_inside *inside = &insides->threads[k];

			if (inside->tid == process->threads[i].tid && inside->pid == process->pid && *inside->name)
				snprintf(process->threads[i].name, sizeof process->threads[i].name, "%s", inside->name);
		}
}

void dw_top_insides_reset(struct dw_top_insides *insides)
{
	free(insides->threads);
	*insides = (struct dw_top_insides){ 0 };
}

static const char *stacks_find_inside(const struct dw_top_insides *insides, uint32_t tid)
{
	for (size_t i = 0; i < insides->count; i++)
		if (insides->threads[i].tid == tid)
			return insides->threads[i].text;
	return "";
}

/* ---- text --------------------------------------------------------------------------------------- */

/* Frames before main() and before a thread's function. */
static bool stacks_is_start(const struct dw_process_frame *frame)
{
	static const char *const starts[] = { "_start", "__libc_start_main", "__libc_start_call_main", "start_thread", "__clone3",
		"clone3", "clone", "__clone" };
	size_t length = strcspn(frame->function, "@");

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strlen(starts[i]) == length && strncmp(frame->function, starts[i], length) == 0)
			return true;
	return false;
}

static bool stacks_are_equal(const struct dw_top_insides *insides, const struct dw_process_thread *a,
                             const struct dw_process_thread *b)
{
	if (a->count != b->count || a->holder != b->holder || a->joins != b->joins || a->problem != b->problem ||
	    strcmp(a->waits ? a->waits : "", b->waits ? b->waits : "") != 0 ||
	    strcmp(stacks_find_inside(insides, a->tid), stacks_find_inside(insides, b->tid)) != 0)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->frames[i].function, b->frames[i].function) != 0 || a->frames[i].line != b->frames[i].line)
			return false;
	return true;
}

static void stacks_print_frame(const struct dw_process_frame *frame, FILE *file)
{
	char function[400], place[300] = "";

	dw_top_frame_name(frame, function, sizeof function);
	if (frame->file && frame->line)
		snprintf(place, sizeof place, "%s:%d", dw_top_frame_file(frame), frame->line);
	else if (frame->file)
		snprintf(place, sizeof place, "%s", dw_top_frame_file(frame));
	else if (frame->module)
		snprintf(place, sizeof place, "%s", frame->module);
	dw_text_disarm(place, false);
	fprintf(file, "    %-40s %s%s\n", function, place, frame->inlined ? " (inlined)" : "");
}

static void stacks_print_state(const struct dw_process_thread *thread, bool many, const char *inside, FILE *file)
{
	char awaited[80];

	if (thread->holder) {
		dw_top_put_awaited(thread, awaited);
		fprintf(file, " wait%s for %s", many ? "" : "s", awaited);
	} else if (thread->waits)
		fprintf(file, " wait%s for %s", many ? "" : "s", thread->waits);
	else
		fprintf(file, " %s",
		        thread->state == 'R'                           ? (many ? "run" : "runs")
		        : thread->state == 'D'                         ? (many ? "wait for a disk" : "waits for a disk")
		        : thread->state == 'T' || thread->state == 't' ? (many ? "are stopped" : "is stopped")
		        : thread->state == 'Z'                         ? (many ? "have ended" : "has ended")
		        : many                                         ? "sleep"
		                                                       : "sleeps");
	if (*inside)
		fprintf(file, ", in %s", inside);
	fputc('\n', file);
}

/* Threads of a process, or its tasks. */
struct stacks_list {
	const struct dw_process_thread *threads;
	size_t count;
	bool tasks;
	bool *printed;
};

/* "threads 17, 18 and 2 more (loader)", "tasks Task-2, Task-3". Marks those that are as the one at `at`. */
static void stacks_print_names(const struct stacks_list *list, const struct dw_top_insides *insides, size_t at, size_t same, FILE *file)
{
	const struct dw_process_thread *first = &list->threads[at];
	bool one_name = true;

	for (size_t i = at; i < list->count; i++)
		one_name &= !stacks_are_equal(insides, first, &list->threads[i]) || strcmp(first->name, list->threads[i].name) == 0;
	fprintf(file, "\n%s%s", list->tasks ? "task" : "thread", dw_text_plural(same));
	for (size_t i = at, listed = 0; i < list->count; i++) {
		if (!stacks_are_equal(insides, first, &list->threads[i]))
			continue;
		if (listed < 8 && list->tasks)
			fprintf(file, "%s %s", listed ? "," : "", list->threads[i].name);
		else if (listed < 8 && one_name)
			fprintf(file, "%s %u", listed ? "," : "", list->threads[i].tid);
		else if (listed < 8)
			fprintf(file, "%s %u (%s)", listed ? "," : "", list->threads[i].tid, list->threads[i].name);
		else if (listed == 8)
			fprintf(file, " and %zu more", same - 8);
		listed++;
		list->printed[i] = true;
	}
	if (!list->tasks && one_name)
		fprintf(file, " (%s)", first->name);
}

static void stacks_print_thread(const struct stacks_list *list, const struct dw_top_insides *insides, size_t at, bool all, FILE *file)
{
	const struct dw_process_thread *thread = &list->threads[at];
	size_t same = 0, left_out = 0;

	for (size_t i = at; i < list->count; i++)
		same += stacks_are_equal(insides, thread, &list->threads[i]);
	stacks_print_names(list, insides, at, same, file);
	if (list->tasks)
		fprintf(file, " await%s %s\n", same > 1 ? "" : "s", thread->waits);
	else
		stacks_print_state(thread, same > 1, stacks_find_inside(insides, thread->tid), file);
	for (size_t i = 0; i < thread->count; i++) {
		if (!all && (thread->frames[i].interpreter || stacks_is_start(&thread->frames[i])))
			left_out++;
		else
			stacks_print_frame(&thread->frames[i], file);
	}
	if (thread->count && left_out == thread->count)
		stacks_print_frame(&thread->frames[0], file);
	if (thread->problem)
		fprintf(file, "    (%s)\n", thread->problem);
}

static void stacks_print_list(struct stacks_list list, const struct dw_top_insides *insides, bool all, FILE *file)
{
	list.printed = calloc(list.count + 1, sizeof *list.printed);
	for (size_t i = 0; list.printed && i < list.count; i++)
		if (!list.printed[i])
			stacks_print_thread(&list, insides, i, all, file);
	free(list.printed);
}

void dw_top_stacks_print(const struct dw_process *process, const struct dw_top_insides *insides, bool all, FILE *file)
{
	char command[300];

	snprintf(command, sizeof command, "%s", process->command);
	dw_text_disarm(command, false);
	fprintf(file, "process %u: %s (", process->pid, command);
	if (process->python)
		fprintf(file, "Python 3.%u, ", process->python);
	fprintf(file, "%zu thread%s", process->count, dw_text_plural(process->count));
	if (process->task_count)
		fprintf(file, ", %zu task%s that wait%s", process->task_count, dw_text_plural(process->task_count),
		        process->task_count > 1 ? "" : "s");
	fprintf(file, ")\n");
	if (process->problem)
		fprintf(file, "%s\n", process->problem);
	stacks_print_list((struct stacks_list){ process->threads, process->count, false, NULL }, insides, all, file);
	stacks_print_list((struct stacks_list){ process->tasks, process->task_count, true, NULL }, insides, all, file);
}

/* ---- the table ---------------------------------------------------------------------------------- */

struct stacks_row {
	uint32_t process, thread, holder, frame, line;
	uint64_t stopped_ns;
	const char *thread_name, *state, *waits_for, *inside, *function, *kind, *module, *file;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct stacks_row, process, "process", NONE, INT),
	DW_FIELD(struct stacks_row, thread, "thread", NONE, INT),
	DW_FIELD(struct stacks_row, thread_name, "name", NONE, TEXT),
	DW_FIELD(struct stacks_row, state, "state", NONE, TEXT),
	DW_FIELD(struct stacks_row, waits_for, "waits for", NONE, TEXT),
	DW_FIELD(struct stacks_row, holder, "lock held by", NONE, INT),
	DW_FIELD(struct stacks_row, inside, "in", NONE, TEXT),
	DW_FIELD(struct stacks_row, stopped_ns, "stopped for", NS, INT),
	DW_FIELD(struct stacks_row, frame, "frame", NONE, INT),
	DW_FIELD(struct stacks_row, function, "function", NONE, TEXT),
	DW_FIELD(struct stacks_row, kind, "kind", NONE, TEXT),
	DW_FIELD(struct stacks_row, module, "module", NONE, TEXT),
	DW_FIELD(struct stacks_row, file, "file", NONE, TEXT),
	DW_FIELD(struct stacks_row, line, "line", NONE, INT),
};

struct dwell_table *dw_top_stacks_table(void)
{
	return dw_table_create("stacks", columns, sizeof columns / sizeof *columns);
}

static void stacks_add_rows(struct dwell_table *table, const struct dw_process *process, const struct dw_process_thread *thread,
                            const char *inside)
{
	bool task = !thread->tid;
	const char state[2] = { thread->state, '\0' };
	struct stacks_row row = {
		.process = process->pid,
		.thread = task ? UINT32_MAX : thread->tid,
		.thread_name = thread->name,
		.state = state,
		.waits_for = thread->joins ? "the end of a thread" : thread->waits,
		.holder = thread->holder && !thread->joins ? thread->holder : UINT32_MAX,
		.inside = *inside ? inside : NULL,
		.stopped_ns = thread->stopped_ns,
		.frame = UINT32_MAX,
		.line = UINT32_MAX,
	};

	if (!thread->count)
		dw_table_put(table, 0, &row, sizeof row);
	for (size_t k = 0; k < thread->count; k++) {
		const struct dw_process_frame *frame = &thread->frames[k];

		row.frame = (uint32_t)k;
		row.function = frame->function;
		row.kind = task                 ? "task"
		           : !frame->module     ? "python"
		           : frame->interpreter ? "interpreter"
		           : frame->inlined     ? "inlined"
		                                : "native";
		row.module = frame->module;
		row.file = frame->file;
		row.line = frame->line ? (uint32_t)frame->line : UINT32_MAX;
		dw_table_put(table, 0, &row, sizeof row);
	}
	if (thread->problem)
		dw_table_note(table, "Thread %u: %s.", thread->tid, thread->problem);
}

void dw_top_stacks_add(struct dwell_table *table, const struct dw_process *process,
                       const struct dw_top_insides *insides)
{
	char text[2000];

	for (size_t i = 0; i < process->count; i++)
		stacks_add_rows(table, process, &process->threads[i], stacks_find_inside(insides, process->threads[i].tid));
	for (size_t i = 0; i < process->task_count; i++)
		stacks_add_rows(table, process, &process->tasks[i], "");
	for (size_t from = 0; dw_top_deadlock(process, &from, text, sizeof text);)
		dw_table_head(table, "%s", text);
	if (process->problem)
		dw_table_note(table, "Process %u: %s.", process->pid, process->problem);
}
