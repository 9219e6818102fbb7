/* timing.c - see timing.h. Called by main.c before the training and at the end of the program. */
#include "timing.h"

#include <stdio.h>
#include <time.h>

#include <dwell/compat/singa.h>

#include "dnn.h"

double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void timing_begin(const struct options *options)
{
	struct dwell_error error;

	dwell_singa_set_skip_iteration((uint64_t)options->skip_iteration);
	if (dwell_singa_set_verbosity(options->verbosity, &error))
		die("%s", error.message);
}

void timing_print(void)
{
	struct dwell_error error = { 0, "" };

	if (dwell_singa_print_time_profiling(stdout, &error))
		die("%s", error.message);
	if (error.message[0])
		fprintf(stderr, "resnet18: %s\n", error.message);
}
