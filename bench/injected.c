/*
 * The cost of an ITT task and of an NVTX push and pop: beyond an empty collector, in units of two
 * readings of the clock.
 *
 *     bench_injected FOLDER LIBDWELL-INJECTED [ALTERNATIONS]
 *
 * Loads the library as ittnotify and NVTX do and calls it through their tables of functions. Each
 * alternation runs every case once. A line has the name, the median and the minimum of the thread's CPU
 * time in nanoseconds; the last two lines are the ratios of the medians.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "dwell/probe.h"

#define RANGES 1000000L
#define MOST 99

struct id {
	unsigned long long d1, d2, d3;
};

struct function {
	const char *name;
	void **place;
	void *init, *null;
	int group;
};

struct global {
	char before[120];
	struct function *functions;
	char after[80];
};

/* What the program calls: pointers, as in the static parts of the interfaces. */
static void (*volatile task_begin)(const void *, struct id, struct id, void *);
static void (*volatile task_end)(const void *);
static int (*volatile push)(const char *);
static int (*volatile pop)(void);
static void *(*create_domain)(const char *), *(*create_string)(const char *);
static void *domain, *string;
static volatile uint64_t sink;

static void empty_begin(const void *a, struct id b, struct id c, void *d)
{
	(void)a, (void)b, (void)c, (void)d;
}

static void empty_end(const void *a)
{
	(void)a;
}

static int empty_push(const char *a)
{
	return a != NULL;
}

static int empty_pop(void)
{
	return 0;
}

static void loop_floor(void)
{
	for (long i = 0; i < RANGES; i++) {
		sink = dwell_ticks();
		sink = dwell_ticks();
	}
}

static void loop_itt(void)
{
	const struct id none = { 0, 0, 0 };

	for (long i = 0; i < RANGES; i++) {
		task_begin(domain, none, none, string);
		task_end(domain);
	}
}

static void loop_nvtx(void)
{
	for (long i = 0; i < RANGES; i++) {
		push("forward");
		pop();
	}
}

/* ---- loading --------------------------------------------------------------------------------- */

static void *functions[4];
static void (*places[16])(void);
static void (**table[16])(void);

static int get_module(int module, void (****out)(void), unsigned *count)
{
	for (int i = 0; i < 16; i++)
		table[i] = &places[i];
	*out = table;
	*count = module == 1 ? 16 : 0;
	return 1;
}

static const void *get_table(unsigned id)
{
	static const struct {
		size_t size;
		int (*get)(int, void (****)(void), unsigned *);
	} callbacks = { sizeof callbacks, get_module };

	return id == 1 ? &callbacks : NULL;
}

static int load(const char *path)
{
	struct function list[] = { { "__itt_task_begin", &functions[0], NULL, NULL, 0 },
		                       { "__itt_task_end", &functions[1], NULL, NULL, 0 },
		                       { "__itt_domain_create", &functions[2], NULL, NULL, 0 },
		                       { "__itt_string_handle_create", &functions[3], NULL, NULL, 0 },
		                       { NULL, NULL, NULL, NULL, 0 } };
	struct global global = { .functions = list };
	void *library = dlopen(path, RTLD_NOW);
	void (*itt)(struct global *, int);
	int (*nvtx)(const void *(*)(unsigned));

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&itt = dlsym(library, "__itt_api_init");
	*(void **)&nvtx = dlsym(library, "InitializeInjectionNvtx2");
	if (!itt || !nvtx || nvtx(get_table) != 1)
		return -1;
	itt(&global, -1);
	*(void **)&create_domain = functions[2];
	*(void **)&create_string = functions[3];
	domain = create_domain("bench");
	string = create_string("task");
	return 0;
}

static void use(int recorded)
{
	void *begin = recorded ? functions[0] : (void *)empty_begin, *end = recorded ? functions[1] : (void *)empty_end;

	*(void **)&task_begin = begin;
	*(void **)&task_end = end;
	push = recorded ? (int (*)(const char *))(void *)places[9] : empty_push;
	pop = recorded ? (int (*)(void))(void *)places[11] : empty_pop;
}

/* ---- measuring ---------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*loop)(void);
	int recorded;
} cases[] = {
	{ "two readings of the clock", loop_floor, 0 },
	{ "ITT task, empty collector", loop_itt, 0 },
	{ "ITT task, recorded", loop_itt, 1 },
	{ "NVTX push and pop, empty", loop_nvtx, 0 },
	{ "NVTX push and pop, recorded", loop_nvtx, 1 },
};
#define CASES (sizeof cases / sizeof *cases)

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double ns[CASES][MOST];
	int alternations = argc > 3 ? atoi(argv[3]) : 15;
	struct dwell_options options = DWELL_OPTIONS_INIT;
	struct dwell_error error;
	char path[4096];

	if (argc < 3 || alternations < 1 || alternations > MOST) {
		fprintf(stderr, "usage: bench_injected FOLDER LIBDWELL-INJECTED [ALTERNATIONS]\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/bench-injected.dwell", argv[1]);
	options.path = path;
	options.overwrite = true;
	if (dwell_start(&options, &error) != 0) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	if (load(argv[2]) != 0)
		return 1;
	for (int i = -1; i < alternations; i++) /* the first one warms up */
		for (size_t c = 0; c < CASES; c++) {
			double start;

			use(cases[c].recorded);
			start = cpu_ns();
			cases[c].loop();
			ns[c][i < 0 ? 0 : i] = (cpu_ns() - start) / (double)RANGES;
		}
	dwell_stop(NULL);
	unlink(path);
	for (size_t c = 0; c < CASES; c++) {
		qsort(ns[c], (size_t)alternations, sizeof *ns[c], compare);
		printf("%-28s %6.2f %6.2f\n", cases[c].name, ns[c][alternations / 2], ns[c][0]);
	}
	for (size_t c = 1; c < CASES; c += 2)
		printf("%-28s %6.2f times two readings beyond an empty one\n", c == 1 ? "ITT" : "NVTX",
		       (ns[c + 1][alternations / 2] - ns[c][alternations / 2]) / ns[0][alternations / 2]);
	return 0;
}
