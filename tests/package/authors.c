/*
 * What an engine does: names made at run time, work that it knows, steps that are callbacks, a team of
 * threads; with the argument `names`, a million names. tests/package/authors compiles this file as C and as C++.
 */
#include <dwell/probe.h>

#include <pthread.h>
#include <stdio.h>

enum { STEPS = 20, WORKERS = 3, LAYERS = 2 };

static int evaluated;
static volatile double sink;

static void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink = sink * 0.5 + i;
}

/* Counts how often arguments of a macro are evaluated. */
static const char *name_of(const char *name)
{
	evaluated++;
	return name;
}

struct job {
	uint64_t team;
	int number;
};

static void *work(void *argument)
{
	const struct job *job = DWELL_CAST(const struct job *, argument);

	dwell_thread_number("worker", job->number);
	{
		DWELL_WORKER(job->team);
		spin(20000);
	}
	return NULL;
}

static void multiply(int layer)
{
	const int64_t sizes[2] = { 64, 32 + layer };
	const struct dwell_tensor tensors[1] = { { sizes, 2, DWELL_FLOAT32 } };
	struct job jobs[WORKERS];
	pthread_t threads[WORKERS];
	char name[32];

	snprintf(name, sizeof name, "gemm%d", layer);
	DWELL_OP_WORK(name_of(name), tensors, 1, 1000 * (layer + 1), 4096);
	const uint64_t team = DWELL_TEAM();
	{
		DWELL_OP_SHAPES("with shapes", tensors, (evaluated++, 1u));
	}
	for (int i = 0; i < WORKERS; i++) {
		jobs[i].team = team;
		jobs[i].number = i;
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	}
	{
		DWELL_WORKER(team);
		spin(20000);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

static void forward(void)
{
	char path[32];

	for (int layer = 0; layer < LAYERS; layer++) {
		snprintf(path, sizeof path, "Net.block.%d", layer);
		DWELL_LAYER_NAMED(name_of(path), "Block", NULL, 0);
		multiply(layer);
	}
}

static void before_step(void)
{
	DWELL_STEP_BEGIN();
}

static void after_step(void)
{
	DWELL_STEP_END();
}

static void evaluate(const char *what)
{
	DWELL_SCOPE_NAMED(DWELL_CATEGORY_PHASE, name_of(what));
	spin(10000);
}

static void name_without_bound(void)
{
	char name[32];

	for (int i = 0; i < 1000000; i++) {
		snprintf(name, sizeof name, "operator %d", i);
		DWELL_OP_NAMED(name, NULL, 0);
	}
}

int main(int count, char **words)
{
	if (count > 1 && words[1][0] == 'n') {
		name_without_bound();
		return 0;
	}
	for (int step = 0; step < STEPS; step++) {
		before_step();
		forward();
		evaluate(step % 2 ? "odd" : "even");
		after_step();
		spin(1000);
	}
	printf("%d\n", evaluated);
	return sink < 0;
}
