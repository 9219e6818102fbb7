/*
 * export_trace: exports a trace with the functions of src/output/export alone; for tests and measurements.
 *
 *     export_trace FORMAT TRACE OUT
 *
 * Prints the time and the speed of the export to standard error. It is not the command, which
 * tests/cli tests.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "export/export.h"

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	const struct dw_scope scope = { 0 };
	struct dwell_error error = { 0 };
	struct dw_source *source;
	struct dw_model *model;
	struct stat found = { 0 };
	const char *path;
	double start;

	if (argc != 4) {
		fprintf(stderr, "usage: export_trace FORMAT TRACE OUT\n");
		return 2;
	}
	path = argv[2];
	if (dw_source_open(&source, &path, 1, &error) ||
	    dw_model_create(&model, source, &scope, &error)) {
		fprintf(stderr, "export_trace: %s\n", error.message);
		return 1;
	}
	start = now();
	if (dw_export_run(model, argv[1], argv[3], NULL, &error)) {
		fprintf(stderr, "export_trace: %s\n", error.message);
		return 1;
	}
	start = now() - start;
	if (stat(argv[3], &found) == 0 && S_ISREG(found.st_mode))
		fprintf(stderr, "%lld bytes in %.3f s: %.0f MB/s\n", (long long)found.st_size, start,
		        (double)found.st_size / start / 1e6);
	else
		fprintf(stderr, "%.3f s\n", start);
	dw_model_destroy(model);
	dw_source_close(source);
	return 0;
}
