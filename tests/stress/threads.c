/*
 * Threads that start and end: slots and chunks are reused, every record belongs to the thread that
 * wrote it, memory and file stay small.
 */
#include "stress.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

struct job {
	uint32_t number;
	uint32_t step_first; /* the thread registers by another call than a probe */
};

static void *short_thread(void *argument)
{
	struct job *job = argument;
	char name[16];

	snprintf(name, sizeof name, "t%u", job->number);
	prctl(PR_SET_NAME, name);
	if (job->step_first)
		dwell_thread_name("named");
	for (int i = 0; i < 3; i++) {
		DWELL_ZONE("short");
		DWELL_COUNTER("number", job->number);
	}
	STRESS_THREAD_ENDS();
	return NULL;
}

static uint32_t thread_count;
static uint32_t batch_size;
static uint32_t named_first;
static long *rss_kb;

static void many_threads(void *path)
{
	struct job jobs[16];
	pthread_t threads[16];

	stress_start(path, NULL);
	rss_kb[0] = stress_status_kb("VmRSS:");
	for (uint32_t i = 0; i < thread_count; i += batch_size) {
		for (uint32_t j = 0; j < batch_size; j++) {
			jobs[j] = (struct job){ i + j, named_first };
			pthread_create(&threads[j], NULL, short_thread, &jobs[j]);
		}
		for (uint32_t j = 0; j < batch_size; j++)
			pthread_join(threads[j], NULL);
	}
	rss_kb[1] = stress_status_kb("VmRSS:");
}

struct seen {
	uint8_t *counters, *begins, *ends;
	uint64_t strangers;
};

static void see(void *context, const struct trace_record *record)
{
	struct seen *seen = context;
	unsigned number = 0;
	double value;

	if (strcmp(record->name, "dwell: new chunk") == 0 || !record->thread ||
	    sscanf(record->thread->name, "t%u", &number) != 1 || number >= thread_count)
		return;
	if (record->kind == DW_COUNTER) {
		memcpy(&value, record->payload, sizeof value);
		seen->strangers += value != number;
		seen->counters[number]++;
	}
	seen->begins[number] += record->kind == DW_BEGIN;
	seen->ends[number] += record->kind == TRACE_END;
}

static void check_short_threads(uint32_t count, uint32_t batch, bool name_first)
{
	struct seen seen = { calloc(count, 1), calloc(count, 1), calloc(count, 1), 0 };
	uint64_t wrong = 0, stream_chunks;
	struct trace trace;

	thread_count = count;
	batch_size = batch;
	named_first = name_first;
	rss_kb = stress_shared(2 * sizeof *rss_kb);
	CHECK_EXITED(stress_child(many_threads, (void *)(uintptr_t) "threads.dwell"), 0);
	if (!stress_read(&trace, "threads.dwell"))
		return;
	trace_walk(&trace, see, &seen);
	for (uint32_t i = 0; i < count; i++)
		wrong += seen.counters[i] != 3 || seen.begins[i] != 3 || seen.ends[i] != 3;
	CHECK_U64(wrong, 0);
	CHECK_U64(seen.strangers, 0);
	/* One more: the main thread, which ends the session. */
	CHECK_U64(trace_entries(&trace, DW_ENTRY_THREAD), count + 1);
	CHECK_U64(trace_lost_all(&trace), 0);
	/* 84 bytes of records a thread, and the THREAD records. */
	stream_chunks = (uint64_t)count * 120 / DW_BLOCK_BYTES + 4 * batch + 2;
	if (trace.chunk_count > stream_chunks)
		FAIL("%zu chunks of streams, %llu would do", trace.chunk_count,
		     (unsigned long long)stream_chunks);
	/* The mapped pages of the journal: a THREAD entry for each. */
	if (!STRESS_SANITIZED && rss_kb[1] - rss_kb[0] > 8192 + (long)count / 8)
		FAIL("%u threads made the program grow by %ld KiB", count, rss_kb[1] - rss_kb[0]);
	trace_close(&trace);
}

static void sequential(void)
{
	check_short_threads(STRESS_TIMES(10240, 100000), 1, false);
}

static void batches(void)
{
	check_short_threads(STRESS_TIMES(10240, 100000), 16, false); /* also a quarter of it is whole batches */
}

static void named_before(void)
{
	check_short_threads(1600, 16, true);
}

/* ---- cancelled and detached ------------------------------------------------------ */

static uint64_t *marks_made;

static void *cancelled_thread(void *number)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		DWELL_ZONE("cancelled");
		DWELL_MARK("cancelled.mark");
		__atomic_fetch_add(marks_made, 1, __ATOMIC_RELAXED);
	}
	return number;
}

static void cancel_threads(void *path)
{
	stress_start(path, NULL);
	for (int i = 0; i < 200; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, cancelled_thread, NULL);
		stress_sleep_us(200 + (unsigned)(stress_random() % 800));
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
}

static void cancelled(void)
{
	struct trace trace;
	uint64_t marks;

	if (STRESS_TSAN)
		stress_skip("TSan does not see that the end of a cancelled thread orders");
	marks_made = stress_shared(sizeof *marks_made);
	CHECK_EXITED(stress_child(cancel_threads, (void *)(uintptr_t) "cancel.dwell"), 0);
	if (!stress_read(&trace, "cancel.dwell"))
		return;
	marks = trace_count(&trace, DW_MARK, "cancelled.mark");
	/* A thread may die between writing a mark and counting it. */
	if (marks < *marks_made || marks > *marks_made + 200)
		FAIL("%llu marks in the file, %llu were made", (unsigned long long)marks,
		     (unsigned long long)*marks_made);
	trace_close(&trace);
}

static void *daemon_thread(void *unused)
{
	for (;;) {
		DWELL_ZONE("daemon");
		char name[32];

		/* New names and steps as well: all that goes to the journal. */
		snprintf(name, sizeof name, "daemon%llu",
		         (unsigned long long)__atomic_fetch_add(marks_made, 1, __ATOMIC_RELAXED) % 1000);
		stress_ranges(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), 20);
		dwell_step();
	}
	return unused;
}

static void leave_daemons(void *path)
{
	stress_start(path, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, daemon_thread, NULL);
	}
	stress_sleep_us((unsigned)(stress_random() % 8000));
	exit(0); /* while they go on */
}

static void daemons(void)
{
	int rounds = STRESS_TIMES(60, 500);

	marks_made = stress_shared(sizeof *marks_made);
	for (int round = 0; round < rounds; round++) {
		struct trace trace;

		unlink("daemon.dwell");
		CHECK_EXITED(stress_child(leave_daemons, (void *)(uintptr_t) "daemon.dwell"), 0);
		stress_read(&trace, "daemon.dwell");
		if (trace.surplus_ends)
			FAIL("%llu ends without a begin; %s", (unsigned long long)trace.surplus_ends,
			     trace_losses(&trace));
		trace_close(&trace);
	}
}

const struct stress_test thread_tests[] = {
	{ "threads.sequential", sequential }, { "threads.batches", batches },
	{ "threads.named-before", named_before }, { "threads.cancelled", cancelled },
	{ "threads.daemons-at-exit", daemons }, { NULL, NULL },
};
