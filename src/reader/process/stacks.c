/*
 * The stacks of all threads of a process: native frames, and frames of Python where the
 * interpreter's loop executes them.
 */
#include "process/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/system/proc.h"

#define STACKS_PATIENCE_NS 2000000000u /* a thread of a busy machine waits for a CPU before it stops */

/* ---- both kinds of frames ---------------------------------------------------------------------- */

/* Whether native frame `i` is the call of the interpreter's loop that executes the frame `next` of Python. From
 * 3.12 on the loop has a record in its native frame; before, or if the stack pointers are not known, by its name. */
static bool stacks_is_loop(const struct dw_thread_read *read, const struct dw_place *place, size_t i, size_t next)
{
	const struct dw_native *native = read->native;
	uint64_t end = UINT64_MAX;

	while (next < read->python_count && !read->python[next].last)
		next++;
	if (next == read->python_count)
		return false;
	if (!read->python[next].loop || !native[i].sp)
		return place->loop;
	for (size_t outer = i + 1; outer < read->native_count && end == UINT64_MAX; outer++)
		end = native[outer].sp > native[i].sp ? native[outer].sp : end;
	return read->python[next].loop >= native[i].sp && read->python[next].loop < end;
}

static bool stacks_add_python(struct dw_thread_read *read, struct dw_unwind *unwind, struct dw_python *python, size_t i)
{
	const struct dw_place *place = dw_python_place(python, &unwind->process->arena, &read->python[i]);

	if (place && place->count && place->functions->file)
		dw_tasks_seen(python, &read->python[i], place->functions->file);
	if (place && place->count)
		read->mixed[read->count++] = (struct dw_mixed){ place, 0, false };
	return place != NULL;
}

bool dw_stacks_mix(struct dw_thread_read *read, struct dw_unwind *unwind, struct dw_python *python)
{
	size_t next = 0;
	bool done = true, after_loop = false;

	read->count = 0;
	for (size_t i = 0; done && i < read->native_count; i++) {
		const struct dw_place *place = dw_unwind_place(unwind, read->native[i].pc);

		if (!place)
			return false;
		/* With `python -X perf` made code calls the loop, under the name of the function that the loop executes. */
		if (after_loop && place->made) {
			after_loop = false;
			continue;
		}
		after_loop = read->python_count && stacks_is_loop(read, place, i, next);
		if (!after_loop) {
			bool between = next && python->module && strcmp(place->functions->module, python->module) == 0;

			read->mixed[read->count++] = (struct dw_mixed){ place, read->native[i].sp, between };
			continue;
		}
		while (done && next < read->python_count) {
			done = stacks_add_python(read, unwind, python, next);
			if (read->python[next++].last)
				break;
		}
	}
	/* The native stack ended early. */
	while (done && next < read->python_count)
		done = stacks_add_python(read, unwind, python, next++);
	return done;
}

/* ---- threads ----------------------------------------------------------------------------------- */

static int stacks_list_threads(struct dw_process *process, struct dwell_error *error)
{
	char path[64];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%u/task", process->pid);
	folder = opendir(path);
	if (!folder)
		return dw_error_set(error, DWELL_E_NO_DATA, "there is no process %u", process->pid);
	while ((entry = readdir(folder)) != NULL) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct dw_process_thread *thread = tid ? DW_GROW(&process->threads, &process->capacity, process->count) : NULL;

		if (tid && !thread) {
			closedir(folder);
			return dw_error_set(error, DWELL_E_NOMEM, "out of memory while listing threads of process %u", process->pid);
		}
		if (tid) {
			thread->tid = tid;
			process->count++;
		}
	}
	closedir(folder);
	return 0;
}

static void stacks_read_state(const struct dw_process *process, struct dw_process_thread *thread)
{
	struct dw_proc_stat stat;

	if (!dw_proc_read_stat(process->pid, thread->tid, &stat))
		return;
	snprintf(thread->name, sizeof thread->name, "%s", stat.name);
	thread->state = stat.state;
}

static const char *stacks_read_command(struct dw_process *process)
{
	char text[1024];
	ssize_t got = dw_proc_read(process->pid, 0, "cmdline", text, sizeof text);

	for (ssize_t i = 0; i + 1 < got; i++)
		text[i] = (char)(text[i] ? text[i] : ' ');
	return dw_arena_text(&process->arena, text, got > 0 ? (size_t)got - (text[got - 1] == '\0') : 0);
}

struct stacks {
	struct dw_process *process;
	struct dw_unwind unwind;
	struct dw_python python;
	struct dw_thread_read read;
};

static void stacks_read_python(void *context)
{
	struct stacks *stacks = context;

	stacks->read.python_count = dw_python_walk(&stacks->python, stacks->read.snapshot.tid, stacks->read.python);
}

/* Copies the frames to the thread, with the functions that were inlined. */
static bool stacks_expand(struct dw_process_thread *thread, const struct dw_thread_read *read)
{
	size_t count = 0;

	for (size_t i = 0; i < read->count; i++)
		count += read->mixed[i].place->count;
	thread->frames = calloc(count + 1, sizeof *thread->frames);
	if (!thread->frames)
		return false;
	for (size_t i = 0; i < read->count; i++)
		for (uint32_t n = 0; n < read->mixed[i].place->count; n++) {
			struct dw_process_frame *frame = &thread->frames[thread->count++];

			*frame = read->mixed[i].place->functions[n];
			frame->sp = read->mixed[i].sp;
			frame->interpreter = read->mixed[i].interpreter;
		}
	return true;
}

static bool stacks_has_thread(const struct dw_process *process, uint32_t tid)
{
	for (size_t i = 0; i < process->count; i++)
		if (process->threads[i].tid == tid)
			return true;
	return false;
}

/* False: out of memory. */
static bool stacks_read_thread(struct stacks *stacks, struct dw_process_thread *thread)
{
	struct dw_thread_read *read = &stacks->read;
	struct dw_snapshot *snapshot = &read->snapshot;
	char name[sizeof thread->name];
	bool whole = false;
	int code = 0;

	snapshot->pid = stacks->process->pid;
	snapshot->tid = thread->tid;
	read->native_count = 0;
	if (dw_snapshot_blocked(snapshot)) {
		stacks_read_python(stacks);
		whole = dw_unwind_walk(&stacks->unwind, snapshot, read->native, &read->native_count) &&
		        dw_snapshot_holds(snapshot);
	}
	if (!whole) {
		bool was_blocked = snapshot->blocked;
		long call = snapshot->call;
		uint64_t argument = snapshot->argument;

		code = dw_snapshot_stop(snapshot, sizeof snapshot->stack, STACKS_PATIENCE_NS, stacks_read_python, stacks);
		thread->stopped_ns = snapshot->stopped_ns;
		if (!code)
			whole = dw_unwind_walk(&stacks->unwind, snapshot, read->native, &read->native_count);
		else
			stacks_read_python(stacks);
		snapshot->blocked = was_blocked;
		snapshot->call = was_blocked ? call : -1;
		snapshot->argument = argument;
	}
	if (code)
		thread->problem = dw_process_explain(code);
	else if (!whole)
		thread->problem = "the stack ends in code without unwind tables";
	if (!dw_stacks_mix(read, &stacks->unwind, &stacks->python) || !stacks_expand(thread, read))
		return false;
	if (read->python_count && thread->tid != stacks->process->pid &&
	    dw_python_thread_name(&stacks->python, &stacks->process->arena, &read->python[read->python_count - 1], name))
		memcpy(thread->name, name, sizeof thread->name);
	if (snapshot->blocked) {
		dw_holder_find(stacks->process->pid, &stacks->python, read, thread);
		if (!stacks_has_thread(stacks->process, thread->holder))
			thread->holder = 0;
	}
	return true;
}

static bool stacks_read_all(struct stacks *stacks)
{
	struct dw_process *process = stacks->process;
	bool done;

	dw_python_find(&stacks->python, &stacks->unwind);
	done = dw_python_list(&stacks->python);
	for (size_t i = 0; done && i < process->count; i++) {
		stacks_read_state(process, &process->threads[i]);
		done = stacks_read_thread(stacks, &process->threads[i]);
	}
	dw_holder_check(&stacks->python, process);
	done = done && dw_tasks_read(process, &stacks->python);
	if (*stacks->unwind.made.lacks && !process->problem)
		process->problem = dw_arena_printf(&process->arena, "names of code made at run time: %s", stacks->unwind.made.lacks);
	dw_python_reset(&stacks->python);
	return done && !stacks->unwind.no_memory;
}

int dw_process_read(struct dw_process *process, uint32_t pid, struct dwell_error *error)
{
	struct stacks *stacks = malloc(sizeof *stacks);
	int code;

	*process = (struct dw_process){ .pid = pid };
	process->command = stacks_read_command(process);
	code = process->command && stacks ? stacks_list_threads(process, error)
	                                  : dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	if (!code) {
		stacks->process = process;
		code = dw_unwind_open(&stacks->unwind, process, error);
		if (!code && !stacks_read_all(stacks))
			code = dw_error_set(error, DWELL_E_NOMEM, "out of memory while reading the stacks of process %u", pid);
		dw_unwind_close(&stacks->unwind);
	}
	free(stacks);
	return code;
}

void dw_process_reset(struct dw_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		free(process->threads[i].frames);
	for (size_t i = 0; i < process->task_count; i++)
		free(process->tasks[i].frames);
	free(process->threads);
	free(process->tasks);
	dw_arena_reset(&process->arena);
}
