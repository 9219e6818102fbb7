/* Events in order of thread and time; see sort.h. */
#include "import/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/free.h"
#include "base/grow.h"

#define FIRST_EVENTS ((size_t)4096)
#define READ_EVENTS ((size_t)2048) /* of a run at once */
#define MOST_RUN_BYTES ((size_t)64 << 20) /* of the buffers of all runs */

/* A sorted part of the temporary file. */
struct dw_sort_run {
	uint64_t at, end;             /* bytes of the file that are not read yet */
	struct dw_sort_event *buffer; /* NULL: not begun, or used up */
	size_t next, count;
};

void dw_sort_init(struct dw_sort *sort)
{
	memset(sort, 0, sizeof *sort);
	sort->fd = -1;
}

void dw_sort_reset(struct dw_sort *sort)
{
	for (size_t i = 0; i < sort->run_count; i++)
		free(sort->runs[i].buffer);
	DW_FREE(sort->runs, sort->events, sort->other, sort->heap);
	if (sort->fd >= 0)
		close(sort->fd);
	dw_sort_init(sort);
}

static void sort_fail(struct dw_sort *sort, int error)
{
	sort->failed = true;
	sort->error = error;
}

int dw_sort_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/var/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || snprintf(path, sizeof path, "%s/dwell-XXXXXX", folder) >= (int)sizeof path)
		return fd;
	fd = mkostemp(path, O_CLOEXEC); /* file systems without O_TMPFILE */
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* ---- sorting ------------------------------------------------------------------------------ */

/* Whether `b` comes strictly before `a`, both of one thread. */
static bool sort_is_before(const struct dw_sort_event *b, const struct dw_sort_event *a)
{
	return b->start_ns != a->start_ns ? b->start_ns < a->start_ns : b->length_ns > a->length_ns;
}

/* Brings the events of each thread together, in the order in which they were added. */
static bool sort_by_thread(struct dw_sort *sort, size_t **ends)
{
	size_t *at = calloc((size_t)sort->thread_count + 1, sizeof *at), sum = 0;

	*ends = at;
	if (!at)
		return false;
	for (size_t i = 0; i < sort->count; i++)
		at[sort->events[i].thread]++;
	for (uint32_t t = 0; t < sort->thread_count; t++) {
		size_t count = at[t];

		at[t] = sum;
		sum += count;
	}
	for (size_t i = 0; i < sort->count; i++)
		sort->other[at[sort->events[i].thread]++] = sort->events[i];
	return true;
}

static size_t sort_find_ascent(const struct dw_sort_event *events, size_t from, size_t count)
{
	while (++from < count && !sort_is_before(&events[from], &events[from - 1]))
		;
	return from < count ? from : count;
}

static void sort_merge(const struct dw_sort_event *from, size_t middle, size_t end, struct dw_sort_event *to)
{
	size_t a = 0, b = middle, out = 0;

	while (a < middle && b < end)
		to[out++] = sort_is_before(&from[b], &from[a]) ? from[b++] : from[a++];
	memcpy(to + out, from + a, (middle - a) * sizeof *to);
	out += middle - a;
	memcpy(to + out, from + b, (end - b) * sizeof *to);
}

/*
 * Sorts the events of a thread, which consist of a few ascending parts. Merges neighbouring parts
 * until one is left. So events that are already sorted cost one comparison each. The result is in
 * `to`.
 */
static void sort_thread(struct dw_sort_event *from, struct dw_sort_event *to, size_t count)
{
	struct dw_sort_event *result = to;

	for (size_t parts = 2; parts > 1;) {
		struct dw_sort_event *swap = from;

		parts = 0;
		for (size_t start = 0; start < count; parts++) {
			size_t middle = sort_find_ascent(from, start, count);
			size_t end = middle < count ? sort_find_ascent(from, middle, count) : count;

			sort_merge(from + start, middle - start, end - start, to + start);
			start = end;
		}
		from = to;
		to = swap;
	}
	if (count && from != result)
		memcpy(result, from, count * sizeof *from);
}

/* Sorts the buffer. */
static bool sort_buffer(struct dw_sort *sort)
{
	size_t *ends, start = 0;

	if (!sort->count)
		return true;
	if (!sort->other)
		sort->other = malloc(sort->capacity * sizeof *sort->other);
	if (!sort->other || !sort_by_thread(sort, &ends)) {
		sort_fail(sort, 0);
		return false;
	}
	for (uint32_t t = 0; t < sort->thread_count; t++) {
		sort_thread(sort->other + start, sort->events + start, ends[t] - start);
		start = ends[t];
	}
	free(ends);
	return true;
}

/* ---- the temporary file --------------------------------------------------------------------- */

static void sort_write_run(struct dw_sort *sort)
{
	const char *bytes = (const char *)sort->events;
	size_t size = sort->count * sizeof *sort->events, done = 0;
	struct dw_sort_run *run;

	if (!sort_buffer(sort))
		return;
	if (sort->fd < 0 && (sort->fd = dw_sort_temporary()) < 0) {
		sort_fail(sort, errno);
		return;
	}
	run = DW_GROW(&sort->runs, &sort->run_capacity, sort->run_count);
	if (!run) {
		sort_fail(sort, 0);
		return;
	}
	while (done < size) {
		ssize_t written = pwrite(sort->fd, bytes + done, size - done, (off_t)(sort->file_bytes + done));

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			sort_fail(sort, written ? errno : ENOSPC);
			return;
		}
		done += (size_t)written;
	}
	run->at = sort->file_bytes;
	sort->file_bytes = run->end = run->at + size;
	sort->run_count++;
	sort->count = 0;
}

static bool sort_fill_run(struct dw_sort *sort, struct dw_sort_run *run)
{
	size_t most = MOST_RUN_BYTES / sizeof *run->buffer / sort->run_count, size;
	char *to;

	most = most < 16 ? 16 : most > READ_EVENTS ? READ_EVENTS : most;
	if (!run->buffer)
		run->buffer = malloc(most * sizeof *run->buffer);
	if (!run->buffer) {
		sort_fail(sort, 0);
		return false;
	}
	size = most * sizeof *run->buffer < run->end - run->at ? most * sizeof *run->buffer : (size_t)(run->end - run->at);
	run->next = 0;
	run->count = size / sizeof *run->buffer;
	to = (char *)run->buffer;
	while (size) {
		ssize_t got = pread(sort->fd, to, size, (off_t)run->at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			sort_fail(sort, got ? errno : EIO);
			return false;
		}
		to += got;
		size -= (size_t)got;
		run->at += (uint64_t)got;
	}
	return run->count > 0;
}

/* ---- adding --------------------------------------------------------------------------------- */

void dw_sort_add(struct dw_sort *sort, const struct dw_sort_event *event)
{
	if (sort->failed)
		return;
	if (sort->count == DW_SORT_EVENTS)
		sort_write_run(sort);
	if (sort->count == sort->capacity) {
		size_t capacity = sort->capacity ? sort->capacity * 2 : FIRST_EVENTS;
		struct dw_sort_event *grown = realloc(sort->events, capacity * sizeof *grown);

		if (!grown) {
			sort_fail(sort, 0);
			return;
		}
		sort->events = grown;
		sort->capacity = capacity;
	}
	if (sort->failed)
		return;
	sort->events[sort->count++] = *event;
	if (event->thread >= sort->thread_count)
		sort->thread_count = event->thread + 1;
}

/* ---- merging -------------------------------------------------------------------------------- */

/* Of equal events, the one of the earlier run comes first. */
static bool sort_run_is_before(const struct dw_sort *sort, uint32_t a, uint32_t b)
{
	const struct dw_sort_event *x = &sort->runs[a].buffer[sort->runs[a].next];
	const struct dw_sort_event *y = &sort->runs[b].buffer[sort->runs[b].next];

	if (x->thread != y->thread)
		return x->thread < y->thread;
	return sort_is_before(x, y) || (!sort_is_before(y, x) && a < b);
}

static void sort_sift(struct dw_sort *sort, size_t at)
{
	for (;;) {
		size_t least = at, child = at * 2 + 1;
		uint32_t swap = sort->heap[at];

		for (size_t i = child; i < child + 2 && i < sort->heap_count; i++)
			if (sort_run_is_before(sort, sort->heap[i], sort->heap[least]))
				least = i;
		if (least == at)
			return;
		sort->heap[at] = sort->heap[least];
		sort->heap[least] = swap;
		at = least;
	}
}

void dw_sort_finish(struct dw_sort *sort)
{
	sort->next = 0;
	if (sort->failed)
		return;
	if (!sort->run_count) {
		sort_buffer(sort);
	} else {
		if (sort->count)
			sort_write_run(sort);
		free(sort->events);
		sort->events = NULL;
		sort->count = sort->capacity = 0;
		sort->heap = malloc(sort->run_count * sizeof *sort->heap);
		if (!sort->heap)
			sort_fail(sort, 0);
		for (size_t i = 0; i < sort->run_count && !sort->failed; i++)
			if (sort_fill_run(sort, &sort->runs[i]))
				sort->heap[sort->heap_count++] = (uint32_t)i;
		for (size_t i = sort->heap_count / 2; i-- > 0 && !sort->failed;)
			sort_sift(sort, i);
	}
	free(sort->other);
	sort->other = NULL;
}

const struct dw_sort_event *dw_sort_next(struct dw_sort *sort)
{
	struct dw_sort_run *run;

	if (sort->failed)
		return NULL;
	if (!sort->run_count)
		return sort->next < sort->count ? &sort->events[sort->next++] : NULL;
	if (sort->next) { /* the caller is done with the event of the first run */
		run = &sort->runs[sort->heap[0]];
		if (++run->next == run->count && !sort_fill_run(sort, run) && !sort->failed) {
			free(run->buffer);
			run->buffer = NULL;
			sort->heap[0] = sort->heap[--sort->heap_count];
		}
		if (sort->failed || !sort->heap_count)
			return NULL;
		sort_sift(sort, 0);
	}
	sort->next = 1;
	if (!sort->heap_count)
		return NULL;
	run = &sort->runs[sort->heap[0]];
	return &run->buffer[run->next];
}
