/*
 * The speed of the exports: bytes of output per second, before compression.
 *
 *     export_speed TRACE [FORMAT...]     default: all formats
 *
 * TRACE is any trace; `reader_speed RANGES FILE` writes one of a known size. The output is
 * /dev/null, so that no disk is measured. The process is pinned to one core, and CPU time is
 * measured. Prints the best of three rounds.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "export/export.h"
#include "export/out.h"

static double now_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void print_machine(void)
{
	char line[256];
	FILE *file = fopen("/proc/cpuinfo", "r");

	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, "model name", 10) != 0 || !strchr(line, ':'))
			continue;
		printf("one core of%s", strchr(line, ':') + 1);
		break;
	}
	if (file)
		fclose(file);
}

/* Exports once with a new model. Returns seconds, or a negative number after an error. */
static double export_once(const struct dw_source *source, const struct dw_export_format *format,
                          uint64_t *bytes, struct dwell_error *error)
{
	const struct dw_scope scope = { 0 };
	const struct dwell_export_options options = { 0 };
	struct dw_writer_out out;
	struct dw_model *model;
	double start;

	if (dw_model_create(&model, source, &scope, error))
		return -1;
	start = now_s();
	if (dw_out_open(&out, "/dev/null", error) || format->write(model, &options, &out, error))
		return -1;
	*bytes = out.bytes + out.used;
	dw_out_close(&out, true, error);
	dw_model_destroy(model);
	return now_s() - start;
}

static int measure(const struct dw_source *source, const struct dw_export_format *format)
{
	struct dwell_error error = { 0 };
	double best = 1e9, took;
	uint64_t bytes = 0;

	for (int round = 0; round < 3; round++) {
		took = export_once(source, format, &bytes, &error);
		if (took < 0) {
			printf("%-12s %s\n", format->name, error.message);
			return error.code != DWELL_E_NO_DATA;
		}
		best = took < best ? took : best;
	}
	printf("%-12s %12.1f MB in %6.3f s %8.0f MB/s\n", format->name, (double)bytes / 1e6, best,
	       (double)bytes / best / 1e6);
	return 0;
}

static bool wanted(const char *name, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

int main(int argc, char **argv)
{
	const struct dw_export_format *format;
	struct dwell_error error = { 0 };
	struct dw_source *source;
	const char *path = argv[1];
	cpu_set_t one;
	int failed = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: export_speed TRACE [FORMAT...]\n");
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	if (dw_source_open(&source, &path, 1, &error)) {
		fprintf(stderr, "export_speed: %s\n", error.message);
		return 1;
	}
	print_machine();
	for (size_t i = 0; (format = dw_export_at(i)); i++)
		if (format->write && wanted(format->name, argv + 2, argc - 2))
			failed |= measure(source, format);
	dw_source_close(source);
	return failed;
}
