/*
 * The cost of a record, compared with the minimum for any recorder: two readings of the clock.
 *
 *     bench_cost FOLDER [ALTERNATIONS]
 *     bench_cost FOLDER CASE N      one case, N times, and its trace stays: for counting instructions
 *     bench_cost FOLDER CASE N floor    the same; prints nanoseconds of CPU time: of the case, of the minimum
 *
 * Each alternation runs every case once, so that disturbances of the machine affect all cases. A
 * line contains a case's name, then nanoseconds per range (or call): the median and the minimum of
 * the thread's CPU time, and the user, system and wall time of the median run; last the bytes in
 * the file. CPU time is used because other programs may need the processor too. Ranges are four
 * begin/end pairs nested to depth three, written into a new file in FOLDER, page faults included.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "deep.h"
#include "dwell/probe.h"
#include "dwell/compat/lightning.h"

#define RANGES 2000000L /* per case and thread: 24 MB */
#define MAX_ALTERNATIONS 99
#define BARRIER() __asm__ volatile("" ::: "memory")

static const char *folder;
static uint32_t ids[4];
static volatile uint64_t sink;

/* ---- the loops: each makes n ranges or calls ---------------------------------- */

static void loop_empty(long n)
{
	for (long i = 0; i < n; i++)
		BARRIER();
}

static void loop_floor(long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i += 4) {
		for (int j = 0; j < 8; j++) {
			sum += dwell_ticks();
			BARRIER();
		}
	}
	sink = sum;
}

/* An empty action of a profiler that records nothing itself. */
static void loop_actions(long n)
{
	static const struct dwell_lightning_methods methods = { .size = sizeof methods, .name = "simple" };
	struct dwell_lightning_profiler actions = { .methods = &methods, .records = true, .local_rank = -1 };

	for (long i = 0; i < n; i++) {
		DWELL_LIGHTNING_ACTION(&actions, "action");
		BARRIER();
	}
}

static void loop_ranges(long n)
{
	for (long i = 0; i < n; i += 4) {
		DWELL_ZONE("a");
		{
			DWELL_ZONE("b");
			{
				DWELL_ZONE("c");
				BARRIER();
			}
			{
				DWELL_ZONE("d");
				BARRIER();
			}
		}
		BARRIER();
	}
}

/* Layers that are not recorded, because other layers were chosen. */
static void loop_unchosen(long n)
{
	for (long i = 0; i < n; i++) {
		DWELL_LAYER("Net.layer");
		BARRIER();
	}
}

static void loop_library(long n)
{
	for (long i = 0; i < n; i += 4) {
		unsigned a = dwell_begin_id(ids[0], DWELL_CATEGORY_ZONE);
		unsigned b = dwell_begin_id(ids[1], DWELL_CATEGORY_ZONE);
		unsigned c = dwell_begin_id(ids[2], DWELL_CATEGORY_ZONE);
		dwell_end_id(c);
		unsigned d = dwell_begin_id(ids[3], DWELL_CATEGORY_ZONE);
		dwell_end_id(d);
		dwell_end_id(b);
		dwell_end_id(a);
	}
}

static void loop_disabled(long n)
{
	for (long i = 0; i < n; i++) {
		DWELL_ZONE("disabled");
		BARRIER();
	}
}

/* The shapes of eight layers in turn, as operators of a network have them. */
static void loop_shapes(long n)
{
	int64_t sizes[8][6];

	for (int i = 0; i < 8; i++)
		memcpy(sizes[i], (int64_t[]){ 16, 64 << (i / 2), 56 >> (i / 2), 56 >> (i / 2), 3, i }, 48);
	for (long i = 0; i < n; i++) {
		struct dwell_tensor tensor = { sizes[i % 8], 6, DWELL_FLOAT32 };

		DWELL_OP_SHAPES("conv2d", &tensor, 1);
		BARRIER();
	}
}

static void loop_counter(long n)
{
	for (long i = 0; i < n; i++)
		DWELL_COUNTER("loss", (double)i);
}

static void loop_alloc(long n)
{
	for (long i = 0; i < n; i += 2) {
		DWELL_ALLOC("activation", "cpu", (void *)(uintptr_t)(i * 64), 4096);
		DWELL_FREE((void *)(uintptr_t)(i * 64));
	}
}

/* Steps of a profile whose schedule records none of them. */
static void loop_idle(long n)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *profile;

	options.schedule = (struct dwell_schedule){ .wait = INT32_MAX, .active = 1 };
	profile = dwell_profile_create(&options, NULL);
	if (dwell_profile_start(profile, NULL))
		exit(1);
	for (long i = 0; i < n; i++)
		dwell_profile_step(profile, NULL);
	dwell_profile_destroy(profile);
}

static void loop_steps(long n)
{
	for (long i = 0; i < n; i++) {
		DWELL_STEP();
		BARRIER();
	}
}

/* ---- one measurement ------------------------------------------------------------- */

struct cost {
	double cpu, wall, user, system; /* ns; cpu = user + system, by a more precise clock */
};

static double ns_of(struct timespec time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double ns_of_timeval(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static struct cost timed(void (*loop)(long), long n)
{
	struct rusage before, after;
	struct timespec start, end, cpu_start, cpu_end;

	getrusage(RUSAGE_THREAD, &before);
	clock_gettime(CLOCK_MONOTONIC, &start);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_start);
	loop(n);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_end);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_THREAD, &after);
	return (struct cost){
		(ns_of(cpu_end) - ns_of(cpu_start)) / (double)n,
		(ns_of(end) - ns_of(start)) / (double)n,
		(ns_of_timeval(after.ru_utime) - ns_of_timeval(before.ru_utime)) / (double)n,
		(ns_of_timeval(after.ru_stime) - ns_of_timeval(before.ru_stime)) / (double)n,
	};
}

struct worker {
	void (*loop)(long);
	long n;
	int cpu;
	pthread_barrier_t *together;
	struct cost cost;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	sched_setaffinity(0, sizeof set, &set); /* if it is refused, the thread is not pinned */
	worker->loop(4); /* creates the names and the first chunk */
	pthread_barrier_wait(worker->together);
	worker->cost = timed(worker->loop, worker->n);
	return NULL;
}

static struct cost run_threads(void (*loop)(long), long n, int threads)
{
	struct worker workers[2] = { { loop, n, 0, NULL, { 0, 0, 0, 0 } }, { loop, n, 1, NULL, { 0, 0, 0, 0 } } };
	struct cost mean = { 0, 0, 0, 0 };
	pthread_barrier_t together;
	pthread_t ids_of[2];

	pthread_barrier_init(&together, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		workers[i].together = &together;
		pthread_create(&ids_of[i], NULL, work, &workers[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(ids_of[i], NULL);
		mean.cpu += workers[i].cost.cpu / threads;
		mean.wall += workers[i].cost.wall / threads;
		mean.user += workers[i].cost.user / threads;
		mean.system += workers[i].cost.system / threads;
	}
	pthread_barrier_destroy(&together);
	return mean;
}

/* ---- the cases --------------------------------------------------------------------- */

struct bench_case {
	const char *name;
	void (*loop)(long);
	long n;
	int threads;
	bool recorded;
	uint32_t details;
	const char *layers;
	bool armed; /* recorded only when a capture asks for it */
	struct cost costs[MAX_ALTERNATIONS];
	double bytes;
};

static struct bench_case cases[] = {
	{ .name = "empty", .loop = loop_empty, .n = 20 * RANGES, .threads = 1 },
	{ .name = "disabled", .loop = loop_disabled, .n = 20 * RANGES, .threads = 1 },
	{ .name = "armed", .loop = loop_disabled, .n = 20 * RANGES, .threads = 1, .recorded = true,
	  .armed = true },
	{ .name = "floor", .loop = loop_floor, .n = RANGES, .threads = 1 },
	{ .name = "range", .loop = loop_ranges, .n = RANGES, .threads = 1, .recorded = true },
	{ .name = "library", .loop = loop_library, .n = RANGES, .threads = 1, .recorded = true },
	{ .name = "floor2", .loop = loop_floor, .n = RANGES, .threads = 2 },
	{ .name = "action", .loop = loop_actions, .n = RANGES, .threads = 1, .recorded = true },
	{ .name = "range2", .loop = loop_ranges, .n = RANGES, .threads = 2, .recorded = true },
	{ .name = "shapes", .loop = loop_shapes, .n = RANGES, .threads = 1, .recorded = true,
	  .details = DWELL_DETAIL_SHAPES },
	{ .name = "unchosen", .loop = loop_unchosen, .n = RANGES, .threads = 1, .recorded = true,
	  .layers = "Net.other" },
	{ .name = "stack", .loop = deep_operators, .n = RANGES, .threads = 1, .recorded = true,
	  .details = DWELL_DETAIL_STACKS },
	{ .name = "counter", .loop = loop_counter, .n = RANGES, .threads = 1, .recorded = true },
	{ .name = "alloc", .loop = loop_alloc, .n = RANGES, .threads = 1, .recorded = true },
	{ .name = "step", .loop = loop_steps, .n = 1000000, .threads = 1, .recorded = true },
	{ .name = "idle", .loop = loop_idle, .n = 1000000, .threads = 1, .recorded = true },
};
#define CASES (sizeof cases / sizeof *cases)

/* Each measurement runs in a process of its own: a recorder's windows remain mapped until the
 * process ends, so the pages of deleted files could not be reused. */
struct result {
	struct cost cost;
	double bytes;
};

static bool keeps_trace;

static void run_case(struct bench_case *one, struct result *result)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error;
	struct stat status;
	char path[4096];

	snprintf(path, sizeof path, "%s/bench-%d.dwell", folder, keeps_trace ? 0 : (int)getpid());
	result->bytes = 0;
	options.path = path;
	options.overwrite = true;
	options.layers = one->layers;
	options.categories = one->armed ? DWELL_MASK_NONE : DWELL_MASK_DEFAULT | one->details;
	if (one->recorded && dwell_start(&options, &error) != 0) {
		fprintf(stderr, "bench_cost: %s\n", error.message);
		exit(1);
	}
	for (int i = 0; i < 4; i++)
		ids[i] = dwell_intern(DWELL_CATEGORY_ZONE, (const char *[]){ "a", "b", "c", "d" }[i], NULL);
	result->cost = run_threads(one->loop, one->n, one->threads);
	if (one->recorded) {
		dwell_stop(NULL);
		if (stat(path, &status) == 0)
			result->bytes = (double)(status.st_size - 3 * 65536) / (double)(one->n * one->threads);
		if (!keeps_trace)
			unlink(path);
	}
}

/* On a virtual machine the host allocates memory at the first access, which takes microseconds per
 * page, at random. Therefore pages are touched once before the measurement. */
static void warm_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	memset(memory, 1, bytes);
	munmap(memory, bytes);
}

static int count_case(const char *name, long n, bool prints)
{
	struct result result = { .bytes = 0 };

	keeps_trace = true;
	for (size_t i = 0; i < CASES; i++)
		if (strcmp(cases[i].name, name) == 0) {
			cases[i].n = n;
			if (prints || n > 500000) /* not where instructions are counted */
				warm_memory((size_t)n * 96);
			run_case(&cases[i], &result);
			if (prints)
				printf("%.3f %.3f\n", result.cost.cpu, run_threads(loop_floor, RANGES, 1).cpu);
			return 0;
		}
	return 2;
}

static void run_in_child(struct bench_case *one, int alternation)
{
	static struct result *result;
	int status = 1;
	pid_t child;

	if (!result)
		result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		run_case(one, result);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
	one->costs[alternation] = result->cost;
	one->bytes = result->bytes;
}

static int by_cpu(const void *a, const void *b)
{
	double x = ((const struct cost *)a)->cpu, y = ((const struct cost *)b)->cpu;

	return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
	int alternations = count > 2 ? atoi(arguments[2]) : 11;

	folder = count > 1 ? arguments[1] : "/tmp";
	if (count > 3)
		return count_case(arguments[2], atol(arguments[3]), count > 4);
	if (alternations < 1 || alternations > MAX_ALTERNATIONS)
		return 2;
	warm_memory((size_t)512 << 20);
	for (int a = -1; a < alternations; a++) /* the first alternation is a warm-up */
		for (size_t i = 0; i < CASES; i++)
			run_in_child(&cases[i], a < 0 ? 0 : a);
	for (size_t i = 0; i < CASES; i++) {
		struct bench_case *one = &cases[i];
		qsort(one->costs, (size_t)alternations, sizeof *one->costs, by_cpu);
		const struct cost *median = &one->costs[alternations / 2];
		printf("%s %.3f %.3f %.3f %.3f %.3f %.2f\n", one->name, median->cpu, one->costs[0].cpu,
		       median->user, median->system, median->wall, one->bytes);
	}
	return 0;
}
