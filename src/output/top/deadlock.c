/* See deadlock.h. */
#include "top/deadlock.h"

#include <stdio.h>
#include <string.h>

#include "base/code/activity.h"
#include "top/frames.h"

static const struct dw_process_thread *deadlock_next(const struct dw_process *process, const struct dw_process_thread *thread)
{
	for (size_t i = 0; thread && thread->holder && i < process->count; i++)
		if (process->threads[i].tid == thread->holder)
			return &process->threads[i];
	return NULL;
}

/* Whether the thread is in a cycle of waits, of which it is the first one in the list of threads. */
static bool deadlock_begins_at(const struct dw_process *process, const struct dw_process_thread *thread)
{
	const struct dw_process_thread *at = deadlock_next(process, thread);

	for (size_t i = 0; i < process->count && at && at != thread; i++) {
		if (at < thread)
			return false;
		at = deadlock_next(process, at);
	}
	return at == thread;
}

/* Whether the frame is the program's own, with a line. */
static bool deadlock_is_own(const struct dw_process_frame *frame)
{
	return frame->line && !frame->interpreter &&
	       (!frame->module || dw_code_is_own(dw_library_role_of(frame->module), frame->function, frame->file));
}

/* `python`: one of Python, which is the program's even if the interpreter has lines, too. NULL: there is none. */
static const struct dw_process_frame *deadlock_own(const struct dw_process_thread *thread, bool python)
{
	for (size_t i = 0; i < thread->count; i++)
		if (deadlock_is_own(&thread->frames[i]) && !(python && thread->frames[i].module))
			return &thread->frames[i];
	return NULL;
}

/* "thread 17 (loader) waits in take_both() (pair.cpp:29) for a lock that thread 18 holds" */
static size_t deadlock_put(const struct dw_process_thread *thread, char *text, size_t size)
{
	const struct dw_process_frame *own = deadlock_own(thread, true);
	char function[160], awaited[80];
	int length;

	own = own ? own : deadlock_own(thread, false);
	if (own)
		dw_top_frame_name(own, function, sizeof function);
	length = snprintf(text, size, "thread %u (%s) waits", thread->tid, thread->name);
	if (own)
		length += snprintf(text + length, size - (size_t)length, " in %s (%s:%d)", function, dw_top_frame_file(own), own->line);
	dw_top_put_awaited(thread, awaited);
	length += snprintf(text + length, size - (size_t)length, " for %s", awaited);
	return (size_t)length < size ? (size_t)length : size - 1;
}

bool dw_top_deadlock(const struct dw_process *process, size_t *from, char *text, size_t size)
{
	for (; *from < process->count; ++*from) {
		const struct dw_process_thread *first = &process->threads[*from], *at = first;
		size_t used;

		if (!deadlock_begins_at(process, first))
			continue;
		used = (size_t)snprintf(text, size, "Deadlock: ");
		do {
			used += deadlock_put(at, text + used, size - used);
			at = deadlock_next(process, at);
			used += (size_t)snprintf(text + used, size - used, "%s", at == first ? "." : "; ");
		} while (at != first && used + 400 < size);
		++*from;
		return true;
	}
	return false;
}
