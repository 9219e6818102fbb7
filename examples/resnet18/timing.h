/*
 * timing.h - what the training's iterations take, printed at the end as SINGA prints
 * it: dwell/compat/singa.h for the options --verbosity and --skip-iteration.
 */
#pragma once

#include "options.h"

/* Monotonic. */
double now_s(void);

/* In each process: the verbosity is its own. Without a session one begins. */
void timing_begin(const struct options *options);
/* To standard output; ends the program where there is nothing to print. */
void timing_print(void);
