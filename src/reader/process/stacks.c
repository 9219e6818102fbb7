/*
 * The stacks of all threads of a process: native frames, and frames of Python where the
 * interpreter's loop executes them.
 */
#include "process/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"

/* ---- what a thread waits for ------------------------------------------------------------------- */

static const char *stacks_name_wait(long call)
{
	switch (call) {
	case SYS_futex: return "a lock or a condition";
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return "a timer";
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
	case SYS_pause:
#endif
		return "a descriptor or a signal";
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64: return "input or output";
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect: return "a socket";
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_msync: return "a disk";
	case SYS_wait4:
	case SYS_waitid: return "a process";
	default: return NULL;
	}
}

/* The owner of the mutex at the address that the thread waits at: glibc keeps its tid behind the
 * lock's word. Only inside a function that locks is that address a mutex. */
static uint32_t stacks_find_holder(const struct dw_process *process, const struct dw_process_thread *thread,
                                   const struct dw_snapshot *snapshot)
{
	int32_t mutex[3];
	bool locks = false;

	for (size_t i = 0; i < thread->count && i < 4; i++)
		locks |= strstr(thread->frames[i].function, "lll_lock_wait") || strstr(thread->frames[i].function, "mutex_lock");
	if (!locks || snapshot->call != SYS_futex || !dw_process_memory(process->pid, snapshot->argument, mutex, sizeof mutex))
		return 0;
	for (size_t i = 0; i < process->count; i++)
		if (process->threads[i].tid == (uint32_t)mutex[2] && mutex[0])
			return process->threads[i].tid;
	return 0;
}

/* ---- both kinds of frames ---------------------------------------------------------------------- */

/* Whether native frame `i` is the call of the interpreter's loop that executes the frame `next` of Python. From
 * 3.12 on the loop has a record in its native frame; before, it is known by its name. */
static bool stacks_is_loop(const struct dw_process_frame *native, size_t count, size_t i,
                           const struct dw_python_thread *frames, size_t next)
{
	uint64_t end = UINT64_MAX;

	while (next < frames->count && !frames->frames[next].last)
		next++;
	if (native[i].inlined || next == frames->count)
		return false;
	if (!frames->frames[next].loop)
		return strncmp(native[i].function, "_PyEval_EvalFrameDefault", strlen("_PyEval_EvalFrameDefault")) == 0;
	for (size_t outer = i + 1; outer < count && end == UINT64_MAX; outer++)
		end = native[outer].sp > native[i].sp ? native[outer].sp : end;
	return frames->frames[next].loop >= native[i].sp && frames->frames[next].loop < end;
}

static bool stacks_append(struct dw_process_thread *thread, const struct dw_process_frame *frame)
{
	struct dw_process_frame *to = DW_GROW(&thread->frames, &thread->capacity, thread->count);

	if (to)
		*to = *frame, thread->count++;
	return to != NULL;
}

/* Replaces each call of the interpreter's loop with the frames that it executes. */
static bool stacks_mix(struct dw_process_thread *thread, const struct dw_python *python)
{
	const struct dw_python_thread *frames = dw_python_thread_of(python, thread->tid);
	struct dw_process_frame *native = thread->frames;
	size_t native_count = thread->count, next = 0;
	bool done = true;

	if (!frames)
		return true;
	thread->frames = NULL;
	thread->count = thread->capacity = 0;
	for (size_t i = 0; done && i < native_count; i++) {
		if (!stacks_is_loop(native, native_count, i, frames, next)) {
			native[i].interpreter = next && python->module && strcmp(native[i].module, python->module) == 0;
			done = stacks_append(thread, &native[i]);
			continue;
		}
		while (done && next < frames->count) {
			done = stacks_append(thread, &frames->frames[next].frame);
			if (frames->frames[next++].last)
				break;
		}
	}
	/* The native stack ended early. */
	while (done && next < frames->count)
		done = stacks_append(thread, &frames->frames[next++].frame);
	free(native);
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

/* The name and the state, from "4711 (name) S ...". */
static void stacks_read_state(const struct dw_process *process, struct dw_process_thread *thread)
{
	char path[64], line[256] = "";
	const char *begin, *end;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%u/task/%u/stat", process->pid, thread->tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, sizeof line, file))
		line[0] = '\0';
	fclose(file);
	begin = strchr(line, '(');
	end = strrchr(line, ')');
	if (!begin || !end || end < begin)
		return;
	snprintf(thread->name, sizeof thread->name, "%.*s", (int)(end - begin - 1), begin + 1);
	thread->state = end[1] ? end[2] : '?';
}

static const char *stacks_read_command(struct dw_process *process)
{
	char path[64], text[1024];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%u/cmdline", process->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, sizeof text - 1);
		close(fd);
	}
	for (ssize_t i = 0; i + 1 < got; i++)
		text[i] = (char)(text[i] ? text[i] : ' ');
	return dw_arena_text(&process->arena, text, got > 0 ? (size_t)got - (text[got - 1] == '\0') : 0);
}

static void stacks_read_thread(struct dw_unwind *unwind, struct dw_process_thread *thread, struct dw_snapshot *snapshot)
{
	bool whole = false;
	int code = 0;

	snapshot->pid = unwind->pid;
	snapshot->tid = thread->tid;
	if (dw_snapshot_blocked(snapshot))
		whole = dw_unwind_thread(unwind, thread, snapshot) && dw_snapshot_holds(snapshot);
	if (!whole) {
		bool was_blocked = snapshot->blocked;
		long call = snapshot->call;
		uint64_t argument = snapshot->argument;

		code = dw_snapshot_stop(snapshot);
		thread->stopped_ns = snapshot->stopped_ns;
		if (!code)
			whole = dw_unwind_thread(unwind, thread, snapshot);
		snapshot->blocked = was_blocked;
		snapshot->call = was_blocked ? call : -1;
		snapshot->argument = argument;
	}
	if (code)
		thread->problem = dw_process_explain(code);
	else if (!whole)
		thread->problem = "the stack ends in code without unwind tables";
	if (snapshot->blocked) {
		thread->waits = stacks_name_wait(snapshot->call);
		thread->holder = stacks_find_holder(unwind->process, thread, snapshot);
	}
}

static int stacks_read_all(struct dw_process *process, struct dw_unwind *unwind, struct dwell_error *error)
{
	struct dw_snapshot *snapshot = malloc(sizeof *snapshot);
	struct dw_python python;
	bool done = snapshot != NULL && dw_python_find(&python, unwind);

	/* Python's frames first: a thread that runs changes them sooner than its native ones. */
	if (done)
		done = dw_python_read(&python, process);
	for (size_t i = 0; done && i < process->count; i++) {
		stacks_read_state(process, &process->threads[i]);
		stacks_read_thread(unwind, &process->threads[i], snapshot);
		done = !unwind->no_memory && stacks_mix(&process->threads[i], &python);
	}
	if (snapshot)
		dw_python_reset(&python);
	free(snapshot);
	return done ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory while reading the stacks of process %u", process->pid);
}

int dw_process_read(struct dw_process *process, uint32_t pid, struct dwell_error *error)
{
	struct dw_unwind unwind;
	int code;

	*process = (struct dw_process){ .pid = pid };
	process->command = stacks_read_command(process);
	code = process->command ? stacks_list_threads(process, error)
	                        : dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	if (code)
		return code;
	code = dw_unwind_open(&unwind, process, error);
	if (!code)
		code = stacks_read_all(process, &unwind, error);
	dw_unwind_close(&unwind);
	return code;
}

void dw_process_reset(struct dw_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		free(process->threads[i].frames);
	free(process->threads);
	dw_arena_reset(&process->arena);
}
