/*
 * --max-size: the file stays within the limit, the part that --keep names is kept, each missing
 * record is counted, and a reader that follows the live file never gets wrong data.
 */
#include "stress.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BUDGET ((uint64_t)4 << 20)
#define THREADS 2
#define COUNTERS 1500000u /* 16 bytes each: 24 MB a thread */

static enum dwell_keep keep;
static uint32_t *finished;

static void *write_counters(void *number)
{
	char name[16];

	snprintf(name, sizeof name, "writer%d", (int)(uintptr_t)number);
	dwell_thread_name(name);
	for (uint32_t i = 0; i < COUNTERS; i++)
		DWELL_COUNTER("sequence", i);
	return NULL;
}

static void write_much(void *path)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	pthread_t threads[THREADS];

	options.keep = keep;
	options.max_size_bytes = BUDGET;
	stress_start(path, &options);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, write_counters, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(finished, 1, __ATOMIC_RELEASE);
}

struct order {
	const struct dw_entry_thread *thread;
	uint64_t last[64], first[64], jumps[64], threads;
	const struct dw_entry_thread *known[64];
};

static void see_sequence(void *context, const struct trace_record *record)
{
	struct order *order = context;
	uint64_t t = 0;
	double value;

	if (record->kind != DW_COUNTER)
		return;
	memcpy(&value, record->payload, sizeof value);
	while (t < order->threads && order->known[t] != record->thread)
		t++;
	if (t == order->threads && t < 64) {
		order->known[order->threads++] = record->thread;
		order->first[t] = (uint64_t)value;
	} else if ((uint64_t)value != order->last[t] + 1) {
		order->jumps[t]++;
		CHECK((uint64_t)value > order->last[t]);
	}
	order->last[t] = (uint64_t)value;
}

static void check_kept(struct trace *trace)
{
	struct order order = { 0 };
	uint64_t from_first = 0;

	trace_walk(trace, see_sequence, &order);
	CHECK(order.threads <= THREADS);
	for (uint64_t t = 0; t < order.threads; t++) {
		bool first = order.first[t] == 0;

		/* A thread that came late found the beginning's room taken. */
		from_first += first;
		if (keep != DWELL_KEEP_OLDEST)
			CHECK_U64(order.last[t], COUNTERS - 1);
		CHECK_U64(order.jumps[t], keep == DWELL_KEEP_BOTH && first);
	}
	CHECK(keep == DWELL_KEEP_NEWEST || from_first >= 1);
}

static void check_bound(enum dwell_keep wanted, const char *path)
{
	struct trace trace;
	uint64_t kept, lost;

	keep = wanted;
	finished = stress_shared(sizeof *finished);
	CHECK_EXITED(stress_child(write_much, (void *)(uintptr_t)path), 0);
	if (!stress_read(&trace, path))
		return;
	CHECK(trace.size_bytes <= BUDGET);
	CHECK(trace.size_bytes > BUDGET / 2);
	kept = trace.records - trace.own;
	lost = trace_lost_all(&trace);
	if (kept + lost != (uint64_t)THREADS * COUNTERS)
		FAIL("%llu kept + %llu lost, but %u written", (unsigned long long)kept,
		     (unsigned long long)lost, THREADS * COUNTERS);
	CHECK_U64(trace_lost(&trace, keep == DWELL_KEEP_OLDEST ? DW_LOSS_FULL : DW_LOSS_RECYCLED), lost);
	/* All names, threads and the process survive the recycling. */
	CHECK_U64(trace_entries(&trace, DW_ENTRY_PROCESS), 1);
	CHECK_U64(trace_entries(&trace, DW_ENTRY_THREAD_NAME), THREADS);
	check_kept(&trace);
	trace_close(&trace);
}

static void keep_both(void)
{
	check_bound(DWELL_KEEP_BOTH, "both.dwell");
}

static void keep_oldest(void)
{
	check_bound(DWELL_KEEP_OLDEST, "oldest.dwell");
}

static void keep_newest(void)
{
	check_bound(DWELL_KEEP_NEWEST, "newest.dwell");
}

/* ---- a follower ---------------------------------------------------------------------- */

/* Copies words in order, each before the words after it. */
static void copy_chunk(struct dw_chunk *to, const struct dw_chunk *from)
{
	const uint32_t *source = (const void *)from;
	uint32_t *target = (void *)to;

	for (uint32_t i = 0; i < DW_BLOCK_BYTES / 4; i++)
		target[i] = __atomic_load_n(source + i, __ATOMIC_ACQUIRE);
}

/* Within a chunk the sequence goes up by one. */
static uint64_t wrong_order(const struct dw_chunk *chunk)
{
	const uint32_t *at = (const void *)(chunk + 1);
	const uint32_t *end = (const void *)((const char *)chunk + DW_BLOCK_BYTES - 16);
	double last = -1;
	uint64_t wrong = 0;

	while (at < end && *at & DW_WORD_PRESENT) {
		double value;

		if (*at & DW_WORD_END) {
			at++;
		} else if (at[1] >> DW_KIND_SHIFT == DW_BEGIN) {
			at += 2;
		} else if (at[1] >> DW_KIND_SHIFT == DW_COUNTER) {
			memcpy(&value, at + 2, sizeof value);
			wrong += last >= 0 && value != last + 1;
			last = value;
			at += 4;
		} else {
			return wrong; /* a TIME or THREAD: nothing to compare behind it */
		}
	}
	return wrong;
}

static void follow(void)
{
	struct dw_chunk *copy = malloc(DW_BLOCK_BYTES);
	uint64_t copies = 0, refused = 0, wrong = 0, damaged = 0;
	const char *data = NULL;
	struct stat status;
	pid_t pid;
	int file;

	keep = DWELL_KEEP_NEWEST;
	finished = stress_shared(sizeof *finished);
	pid = stress_spawn(write_much, (void *)(uintptr_t) "follow.dwell");
	while ((file = open("follow.dwell", O_RDONLY)) < 0)
		stress_sleep_us(100);
	data = mmap(NULL, BUDGET, PROT_READ, MAP_SHARED, file, 0);
	while (!__atomic_load_n(finished, __ATOMIC_ACQUIRE)) {
		fstat(file, &status);
		for (off_t at = DW_BLOCK_BYTES; at < status.st_size; at += DW_BLOCK_BYTES) {
			const struct dw_chunk *chunk = (const void *)(data + at);
			uint64_t number;

			/* The writer trims the file at its end: look no further then. */
			if (__atomic_load_n(finished, __ATOMIC_ACQUIRE))
				break;
			if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) != DW_CHUNK_MAGIC ||
			    chunk->type != DW_CHUNK_STREAM)
				continue;
			number = __atomic_load_n(&chunk->number, __ATOMIC_ACQUIRE);
			if (!number)
				continue;
			copy_chunk(copy, chunk);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (__atomic_load_n(&chunk->number, __ATOMIC_RELAXED) != number) {
				refused++;
				continue;
			}
			copies++;
			trace_chunk_records(copy, &damaged);
			wrong += wrong_order(copy);
		}
	}
	CHECK_EXITED(stress_wait(pid), 0);
	CHECK_U64(damaged, 0);
	CHECK_U64(wrong, 0);
	CHECK(copies > 100);
	printf("    %llu copies of chunks, %llu given up because they were recycled meanwhile\n",
	       (unsigned long long)copies, (unsigned long long)refused);
	free(copy);
}

/* ---- the program's own memory ----------------------------------------------------------- */

#define RESIDENT_BUDGET ((uint64_t)160 << 20)
#define RESIDENT_ROUNDS 2 /* of the budget that are written */
#define RESIDENT_THREADS 64

static struct {
	unsigned threads;
	long file_kb, anonymous_kb;
	pthread_barrier_t written, measured;
} *resident;

/* Writes its part of the file several times; the last thread as much as all others. */
static void *write_rounds(void *number)
{
	uint64_t bytes = RESIDENT_ROUNDS * RESIDENT_BUDGET / 2 / resident->threads;

	if ((uintptr_t)number == 0)
		bytes *= resident->threads;
	for (uint64_t i = 0; i < bytes / 16; i++)
		DWELL_COUNTER("filler", (double)i);
	pthread_barrier_wait(&resident->written);
	pthread_barrier_wait(&resident->measured);
	return NULL;
}

static void write_for_long(void *path)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	pthread_t threads[RESIDENT_THREADS];

	options.keep = keep;
	options.max_size_bytes = RESIDENT_BUDGET;
	stress_start(path, &options);
	for (uintptr_t i = 0; i < resident->threads; i++)
		pthread_create(&threads[i], NULL, write_rounds, (void *)i);
	pthread_barrier_wait(&resident->written);
	resident->file_kb = stress_status_kb("RssFile:");
	resident->anonymous_kb = stress_status_kb("RssAnon:");
	pthread_barrier_wait(&resident->measured);
	for (unsigned i = 0; i < resident->threads; i++)
		pthread_join(threads[i], NULL);
}

static void check_resident(enum dwell_keep wanted, unsigned threads)
{
	keep = wanted;
	resident = stress_shared(sizeof *resident);
	resident->threads = threads;
	pthread_barrier_init(&resident->written, NULL, threads + 1);
	pthread_barrier_init(&resident->measured, NULL, threads + 1);
	CHECK_EXITED(stress_child(write_for_long, (void *)(uintptr_t) "resident.dwell"), 0);
	printf("    %u threads: RssFile %ld kB, RssAnon %ld kB\n", threads, resident->file_kb,
	       resident->anonymous_kb);
	CHECK(resident->file_kb > 0 && resident->file_kb <= 64 << 10);
	CHECK(resident->anonymous_kb <= 8 << 10);
	unlink("resident.dwell");
}

static void resident_memory(void)
{
	if (STRESS_SANITIZED)
		stress_skip("a sanitizer's memory is counted with the program's");
	check_resident(DWELL_KEEP_NEWEST, 4);
	check_resident(DWELL_KEEP_BOTH, RESIDENT_THREADS);
}

const struct stress_test bound_tests[] = {
	{ "bounds.both", keep_both },
	{ "bounds.oldest", keep_oldest },
	{ "bounds.newest", keep_newest },
	{ "bounds.follower", follow },
	{ "bounds.resident", resident_memory },
	{ NULL, NULL },
};
