/*
 * Creates a trace and runs a program under it: the minimum of what `dwell run` does.
 *
 *     stress_launch TRACE PROGRAM [ARGUMENT ...]
 *
 * With STRESS_STEPS=FROM-TO only these steps are recorded. The tests of the recorder must not
 * depend on the command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/file.h"

int main(int count, char **arguments)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	char actual[4096], absolute[4096], run[33] = "";
	uint8_t run_id[16];
	const char *steps = getenv("STRESS_STEPS");
	unsigned long from, to;
	struct dwell_error error = { 0 };

	if (count < 3)
		return 2;
	if (steps && sscanf(steps, "%lu-%lu", &from, &to) == 2) {
		options.steps_from = from;
		options.steps_to = to;
	}
	for (int i = 0; i < 16; i++) {
		run_id[i] = (uint8_t)(i * 17 + 1);
		snprintf(run + (size_t)i * 2, 3, "%02x", run_id[i]);
	}
	if (dw_file_create(arguments[1], &options, run_id, NULL, actual, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		return 125;
	}
	if (!realpath(actual, absolute))
		return 125;
	setenv("DWELL_TRACE", absolute, 1);
	setenv("DWELL_RUN", run, 1);
	execvp(arguments[2], arguments + 2);
	return 127;
}
