/*
 * The speed of the reader in events per second, and the memory that it uses.
 *
 *     reader_speed [RANGES [FILE [THREADS [STEPS]]]]
 *
 * Default: 20,000,000 ranges, a file in /tmp, one thread, no steps. Writes a synthetic trace (512
 * names by Zipf, depth up to 8, lognormal pauses with a median of 2 us; the first thread has the
 * steps), prints what two readings of the clock take, then reads it in a new process for each product and prints events per second (a
 * begin and an end are two events) and RssAnon. The process is pinned to one core, and CPU time is
 * measured.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "../tests/tools/encode_records.h"
#include "model/model.h"

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t pause_ticks(void)
{
	double z = sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform());

	return (uint64_t)(2000 * exp(1.2 * z)) + 20;
}

static double now_s(void)
{
	struct timespec time;

	/* CPU time of this process: the machine may be shared, and one worker does all the work */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct size {
	uint64_t ranges;
	uint32_t threads;
	uint64_t steps;
};

/* Writes the ranges of a thread. Returns the time of the last record. */
static uint64_t make_thread(struct dw_encode_process *process, uint32_t number, uint32_t thread,
                            const uint32_t *ops, uint64_t ranges)
{
	struct dw_encode_stream stream;
	uint64_t ticks = (uint64_t)1 << 40, begun = 0;
	int depth = 0;

	dw_encode_stream_init(&stream, process, number, thread);
	while (begun < ranges || depth > 0) {
		ticks += pause_ticks();
		if (begun < ranges && (depth == 0 || (depth < 8 && uniform() < 0.5))) {
			dw_encode_begin(&stream, ticks, ops[(uint32_t)exp(uniform() * log(512.0)) & 511]);
			depth++;
			begun++;
		} else {
			dw_encode_end(&stream, ticks);
			depth--;
		}
	}
	dw_encode_close(&stream);
	return ticks;
}

static size_t make(const char *path, const struct size *size)
{
	const uint64_t start = (uint64_t)1 << 40;
	struct dw_encode encode;
	struct dw_encode_process process;
	uint32_t ops[512], first = 0;
	uint64_t end = start;
	FILE *file;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0)->pid = 0x7ffffffe;
	dw_encode_head(&encode)->start_ticks = start;
	for (int i = 0; i < 512; i++) {
		char name[32];

		snprintf(name, sizeof name, "aten::op_%d", i);
		ops[i] = dw_encode_op(&process, DWELL_CATEGORY_OPERATOR, name, NULL, 0, NULL, 0);
	}
	for (uint32_t i = 0; i < size->threads; i++) {
		uint32_t thread = dw_encode_thread(&process, 1 + i, i, start, i ? "helper" : "main");
		uint64_t last = make_thread(&process, i, thread, ops, size->ranges / size->threads);

		first = i ? first : thread;
		end = i ? end : last;
	}
	for (uint64_t i = 0; i < size->steps; i++)
		dw_encode_step(&process, first, i, start + (end - start) / size->steps * i,
		               start + (end - start) / size->steps * (i + 1), 0, DW_STEP_RECORDED);
	file = fopen(path, "wb");
	if (!file || encode.failed || fwrite(encode.image, dw_encode_bytes(&encode), 1, file) != 1 ||
	    fclose(file)) {
		fprintf(stderr, "reader_speed: cannot write %s\n", path);
		exit(1);
	}
	size_t bytes = dw_encode_bytes(&encode);
	dw_encode_reset(&encode);
	return bytes;
}

/* The unit of other figures: the same processor takes this long to read its counter twice. */
static double two_readings_ns(void)
{
	enum { ROUNDS = 10000000 };
	const uint32_t kind = dw_clock_pick(NULL);
	double best = 1e9;

	for (int round = 0; round < 5; round++) {
		double begun = now_s();

		for (int i = 0; i < ROUNDS; i++) {
			dw_clock_read(kind);
			dw_clock_read(kind);
		}
		best = fmin(best, (now_s() - begun) * 1e9 / ROUNDS);
	}
	return best;
}

static long rss_anon_kib(void)
{
	char line[256];
	long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static int count_event(void *context, const struct dw_event *event)
{
	++*(uint64_t *)context;
	return 0;
}

static void product(struct dw_model *model, const char *name)
{
	uint64_t events = 0;

	if (!strcmp(name, "flat"))
		dw_model_flat(model, UINT32_MAX, NULL);
	else if (!strcmp(name, "tree"))
		dw_model_tree(model, NULL);
	else if (!strcmp(name, "threads"))
		dw_model_threads(model, NULL);
	else
		dw_model_events(model, count_event, &events, NULL);
}

static void measure(const char *path, uint64_t ranges, const char *name)
{
	double best = 1e9, opening = 1e9;

	for (int round = 0; round < 5; round++) {
		struct dwell_error error;
		struct dw_source *source;
		struct dw_model *model;
		double start = now_s(), opened;

		if (dw_source_open(&source, &path, 1, &error) ||
		    dw_model_create(&model, source, NULL, &error)) {
			fprintf(stderr, "reader_speed: %s\n", error.message);
			exit(1);
		}
		opened = now_s();
		product(model, name);
		best = fmin(best, now_s() - opened);
		opening = fmin(opening, opened - start);
		if (round == 4)
			printf("%-8s %7.1f million events/s, opening %.1f ms, RssAnon %.1f MiB\n", name,
			       (double)ranges * 2 / best / 1e6, opening * 1e3, (double)rss_anon_kib() / 1024);
		dw_model_destroy(model);
		dw_source_close(source);
	}
}

int main(int argc, char **argv)
{
	static const char *const products[] = { "flat", "tree", "threads", "events" };
	const struct size size = { argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000,
		argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1,
		argc > 4 ? strtoull(argv[4], NULL, 10) : 0 };
	const uint64_t ranges = size.ranges;
	const char *path = argc > 2 ? argv[2] : "/tmp/dwell-reader-speed.dwell";
	cpu_set_t set;
	pid_t child = fork();

	if (child == 0) {
		size_t bytes = make(path, &size);

		printf("%llu ranges, %.1f MB, %.2f bytes/range\n", (unsigned long long)ranges,
		       (double)bytes / 1e6, (double)bytes / (double)ranges);
		exit(0);
	}
	waitpid(child, NULL, 0);
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof set, &set);
	printf("two readings of the clock: %.1f ns\n", two_readings_ns());
	for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
		fflush(stdout);
		child = fork();
		if (child == 0) {
			measure(path, ranges, products[i]);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (argc <= 2)
		unlink(path);
	return 0;
}
