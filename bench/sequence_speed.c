/*
 * The speed of aligning iterations: the sequence of 10,000 steps of 2,000 operators.
 *
 *     sequence_speed [STEPS [OPERATORS [FILE]]]     default 10000 2000, a file in /tmp
 *
 * Writes a synthetic trace (blocks of 25 operators with 40 names, each with its own pauses and
 * lognormal noise; every hundredth step takes a branch, and the duration of one operator drifts).
 * Then reads it in a new process for each case: `flat` decodes it and computes sums by name,
 * `sequence` computes the product, `view` the whole answer. The process is pinned to one core, and
 * CPU time is measured. Prints the best of five in seconds, opening included.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/tools/encode_records.h"
#include "model/sequence/sequence.h"
#include "views/views.h"

#define NAMES 40

static uint64_t state = 88172645463325252u;
static double noise[4096];

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t duration_of(unsigned op, unsigned step, unsigned steps)
{
	double base = 2000 + 500 * (op % 25);

	if (op == 77)
		base *= 1 + (double)step / steps;
	return (uint64_t)(base * noise[(uint64_t)(uniform() * 4096) & 4095]);
}

static void put_step(struct dw_encode_stream *stream, uint64_t *ticks, const uint32_t *ops,
                     const unsigned *shape)
{
	unsigned steps = shape[0], operators = shape[1], step = shape[2];

	for (unsigned op = 0; op < operators; op++) {
		if (op == 100 && step % 100 == 99)
			op += 3; /* the branch omits three operators */
		dw_encode_begin(stream, *ticks += 300, ops[(op % 25 + op / 250) % NAMES]);
		dw_encode_end(stream, *ticks += duration_of(op, step, steps));
	}
}

static size_t make(const char *path, unsigned steps, unsigned operators)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint32_t ops[NAMES], thread;
	uint64_t ticks = (uint64_t)1 << 40;
	FILE *file;

	for (unsigned i = 0; i < 4096; i++)
		noise[i] = exp(0.1 * sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()));
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	thread = dw_encode_thread(&process, 1, 0, ticks, "main");
	dw_encode_stream_init(&stream, &process, 0, thread);
	dw_encode_head(&encode)->start_ticks = ticks;
	for (unsigned i = 0; i < NAMES; i++) {
		char name[32];

		snprintf(name, sizeof name, "aten::op_%u", i);
		ops[i] = dw_encode_op(&process, DWELL_CATEGORY_OPERATOR, name, NULL, 0, NULL, 0);
	}
	for (unsigned step = 0; step < steps; step++) {
		uint64_t start = ticks += 1000;
		unsigned shape[3] = { steps, operators, step };

		put_step(&stream, &ticks, ops, shape);
		dw_encode_step(&process, thread, step, start, ticks += 500, 0, DW_STEP_RECORDED);
	}
	dw_encode_close(&stream);
	file = fopen(path, "wb");
	if (!file || encode.failed || fwrite(encode.image, dw_encode_bytes(&encode), 1, file) != 1 ||
	    fclose(file)) {
		fprintf(stderr, "sequence_speed: cannot write %s\n", path);
		exit(1);
	}
	size_t bytes = dw_encode_bytes(&encode);
	dw_encode_reset(&encode);
	return bytes;
}

static bool answer(struct dw_model *model, const char *way, struct dwell_error *error)
{
	struct dw_sequence_ask ask = { 0 };
	struct dwell_view_options options = { .limit = SIZE_MAX };
	struct dwell_table *table = NULL;

	if (!strcmp(way, "flat"))
		return dw_model_flat(model, UINT32_MAX, error);
	if (!strcmp(way, "sequence"))
		return dw_model_sequence(model, &ask, error);
	if (dw_view_run(dw_view_find("sequence", error), model, &options, &table, error))
		return false;
	dw_table_destroy(table);
	return true;
}

static void measure(const char *path, const char *way)
{
	double best = 1e9;

	for (int round = 0; round < 5; round++) {
		struct dwell_error error = { 0, "" };
		struct dw_source *source;
		struct dw_model *model;
		double start = now_s();

		if (dw_source_open(&source, &path, 1, &error) ||
		    dw_model_create(&model, source, NULL, &error) || !answer(model, way, &error)) {
			fprintf(stderr, "sequence_speed: %s\n", error.message);
			exit(1);
		}
		best = fmin(best, now_s() - start);
		dw_model_destroy(model);
		dw_source_close(source);
	}
	printf("%-8s %.3f s\n", way, best);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "flat", "sequence", "view" };
	unsigned steps = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;
	unsigned operators = argc > 2 ? (unsigned)atoi(argv[2]) : 2000;
	const char *path = argc > 3 ? argv[3] : "/tmp/dwell-sequence-speed.dwell";
	cpu_set_t set;
	pid_t child = fork();

	if (child == 0) {
		printf("%u steps of %u operators, %.1f MB\n", steps, operators,
		       (double)make(path, steps, operators) / 1e6);
		exit(0);
	}
	waitpid(child, NULL, 0);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof set, &set);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		fflush(stdout);
		child = fork();
		if (child == 0) {
			measure(path, ways[i]);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (argc <= 3)
		unlink(path);
	return 0;
}
