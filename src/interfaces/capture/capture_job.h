/* `dwell capture FOLDER`: some steps, or the stacks, of the ranks of a running job. */
#pragma once

#include <stddef.h>

#include "capture/capture_ask.h"

/* Asks for captures, waits for the answers, and prints a line for each. `ranks`: NULL (all), or numbers and "slowest",
 * with commas between. Returns an exit status. */
int dw_capture_job(const struct dw_capture_ask *ask, const char *ranks, char **operands, size_t count);
