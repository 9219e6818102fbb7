/*
 * An empty loop on the C engine with 8 handlers: measures iterations per second.
 *
 *     bench_engine plain|profiled ITERATIONS
 *
 * Started by bench/engine, which runs Ignite on the same loop. Prints iterations per second and by
 * how much the run increased the memory in use.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <dwell/compat/ignite.h>

static uint64_t left;

static int next(void *user, void **batch)
{
	(void)user;
	*batch = &left;
	return left-- > 0;
}

static int process(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	(void)engine, (void)batch, (void)user;
	return 0;
}

static int handler(struct dwell_ignite_engine *engine, void *user)
{
	(void)engine, (void)user;
	return 0;
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const struct dwell_error *error)
{
	fprintf(stderr, "bench_engine: %s\n", error->message);
	return 1;
}

int main(int count, char **arguments)
{
	bool profiled = count > 1 && strcmp(arguments[1], "profiled") == 0;
	uint64_t iterations = count > 2 ? strtoull(arguments[2], NULL, 10) : 100000;
	struct dwell_ignite_data data = { "numbers", iterations, next, NULL, NULL };
	struct dwell_ignite_profiler *profiler = NULL;
	struct dwell_ignite_engine *engine;
	struct dwell_error error;
	double start_s, time_s;
	long before_kb;

	if (dwell_ignite_engine_create(&engine, "bench", process, NULL, &error))
		return fail(&error);
	for (int i = 0; i < 8; i++)
		if (dwell_ignite_engine_on(engine, "ITERATION_COMPLETED", handler, NULL, &error))
			return fail(&error);
	if (profiled && dwell_ignite_profiler_attach(&profiler, engine, false, &error))
		return fail(&error);
	left = iterations;
	before_kb = peak_kb();
	start_s = now_s();
	if (dwell_ignite_engine_run(engine, &data, NULL, &error))
		return fail(&error);
	time_s = now_s() - start_s;
	if (profiled && dwell_ignite_profiler_handlers(profiler, &error)->handlers[7].stat.count != iterations)
		return 1;
	printf("%.0f iterations/s, %ld KB more\n", (double)iterations / time_s, peak_kb() - before_kb);
	dwell_ignite_profiler_destroy(profiler);
	dwell_ignite_engine_destroy(engine);
	return 0;
}
