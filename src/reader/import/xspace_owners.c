/*
 * The process and the thread of a line of an XSpace, by the name of the line.
 *
 * Called by xspace_planes.c. Two lines of one name are two threads, except lines that dwell's export
 * made from one thread (overlapping ranges, events of signal handlers).
 */
#include <ctype.h>
#include <stdio.h>

#include "base/grow.h"
#include "import/xspace.h"

#define MOST_NAME 256u
#define MOST_PROCESSES 4096u

struct xs_process *xs_add_process(struct xspace *space)
{
	struct xs_process *process = DW_GROW(&space->processes, &space->process_capacity, space->process_count);

	if (!process) {
		space->failed = true;
		return NULL;
	}
	process->rank = -1;
	dw_encode_process_init(&process->journal, &space->encode, 0);
	space->process_count++;
	return process;
}

static uint32_t owner_find_process(struct xspace *space, int64_t rank, uint32_t pid)
{
	struct xs_process *process = &space->processes[0];
	const int64_t key[2] = { rank, pid };
	uint32_t *place;

	if (process->rank == rank && process->pid == pid)
		return 0;
	place = xs_map_at(&space->owners, xs_hash(1, key, sizeof key));
	if (!place) {
		space->failed = true;
		return 0;
	}
	if (*place)
		return *place - 1;
	/* The first process exists from the start, without rank and pid. */
	if (space->threads || process->rank >= 0 || process->pid)
		process = space->process_count < MOST_PROCESSES ? xs_add_process(space) : NULL;
	if (!process)
		return 0;
	process->rank = rank;
	process->pid = pid;
	*place = (uint32_t)(process - space->processes) + 1;
	return *place - 1;
}

uint32_t xs_read_process(struct xspace *space, const char **name)
{
	char *end;
	bool ranked = strncmp(*name, "rank ", 5) == 0;
	const char *digits = *name + (ranked ? 5 : 0);
	unsigned long number = strtoul(digits, &end, 10);

	if (!isdigit((unsigned char)*digits) || strncmp(end, ": ", 2) != 0 || number > INT32_MAX)
		return 0;
	*name = end + 2;
	return owner_find_process(space, ranked ? (int64_t)number : -1, ranked ? 0 : (uint32_t)number);
}

/* Splits "NAME/123" into a name and a number. A number that no thread can have is ignored. */
static uint32_t owner_read_number(char *name, uint64_t line)
{
	char *slash = strrchr(name, '/'), *end = name;
	long long number = slash && slash > name ? strtoll(slash + 1, &end, 10) : 0;

	if (!slash || slash == name || end == slash + 1 || *end)
		return line <= INT32_MAX ? (uint32_t)line : (uint32_t)(line % INT32_MAX);
	*slash = '\0';
	return number > 0 && number <= INT32_MAX ? (uint32_t)number : (uint32_t)((unsigned long long)number % INT32_MAX);
}

static struct xs_thread *owner_find_thread(struct xspace *space, uint64_t key, bool nested)
{
	uint32_t *place = xs_map_at(&space->keys, xs_hash(nested, &key, sizeof key));

	if (!place)
		space->failed = true;
	return place && *place ? &space->threads[*place - 1] : NULL;
}

/* Cuts `text` where `what` begins. */
static bool owner_cut_suffix(char *text, const char *what)
{
	char *at = strstr(text, what);

	if (at)
		*at = '\0';
	return at != NULL;
}

static void owner_make_thread(struct xspace *space, struct xs_thread *thread, const char *name, uint32_t tid)
{
	struct dw_encode_process *journal = &space->processes[thread->process].journal;
	struct xs_thread *whose = thread->nested ? owner_find_thread(space, thread->key, false) : NULL;

	thread->counters = strcmp(name, "_counters_") == 0;
	if (thread->counters)
		name = "counters";
	thread->thread = whose ? whose->thread : 0;
	thread->number = whose ? whose->number : ++space->streams;
	if (!whose) {
		thread->thread = dw_encode_thread(journal, tid, thread->number, 0, name);
		dw_encode_thread_name(journal, thread->thread, name);
	}
	dw_encode_stream_init(&thread->stream, journal,
	                      thread->number | (thread->nested ? DW_STREAM_NESTED : 0), thread->thread);
}

struct xs_thread *xs_find_thread(struct xspace *space, struct xs_text line_name, uint64_t line)
{
	char text[MOST_NAME], name[MOST_NAME * 2];
	const char *from = text;
	struct xs_thread *thread = NULL;
	bool lane, nested;
	uint32_t process, tid, *place;
	uint64_t key;

	snprintf(text, sizeof text, "%.*s", xspace_at_most(line_name.length, MOST_NAME - 1), line_name.bytes);
	process = xs_read_process(space, &from);
	lane = owner_cut_suffix(text, " (overlapping ");
	nested = owner_cut_suffix(text, " (signal handlers)");
	tid = owner_read_number(text + (from - text), line);
	snprintf(name, sizeof name, "%.*s%s%s", space->device ? xspace_at_most(space->plane_name.length, 60) : 0,
	         space->plane_name.bytes, space->device ? " " : "", from);
	key = xs_hash(((uint64_t)process << 32) + tid + 1, name, strlen(name));
	/* A second line of the signal handlers of a thread has no stream of its own: two streams of
	 * one number would be a duplicate, and one of them would be ignored. */
	if (lane || nested)
		thread = owner_find_thread(space, key, nested);
	if (thread)
		return thread;
	if (space->lines_kept >= XS_SPARE_LINES + space->size / XS_BYTES_A_LINE) {
		space->lines_dropped++;
		return NULL;
	}
	thread = DW_GROW(&space->threads, &space->thread_capacity, space->thread_count);
	place = xs_map_at(&space->keys, xs_hash(nested, &key, sizeof key));
	if (!thread || !place || space->failed) {
		space->failed = true;
		return NULL;
	}
	thread->key = key;
	thread->process = process;
	thread->nested = nested;
	owner_make_thread(space, thread, name, tid);
	space->lines_kept++;
	*xs_map_at(&space->keys, xs_hash(nested, &key, sizeof key)) = (uint32_t)++space->thread_count;
	return thread;
}
