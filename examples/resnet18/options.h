/*
 * options.h - the command line.
 */
#pragma once

#include "optim.h"

struct options {
	const char *data_folder; /* NULL: the digits that come with the program */
	int epochs;
	int batch_size;
	int max_steps; /* 0: no limit */
	int threads;   /* of a rank; 0: OpenMP's choice, shared among the ranks */
	int ranks;     /* processes, which share each batch */
	int prefetch;
	int loader_delay_ms;
	bool shuffle;
	bool graph;       /* buffer the operations of the first iteration, replay them */
	bool frozen_norm, sync_norm;
	int verbosity;    /* of the time profiling; 0: none */
	int skip_iteration;
	bool times; /* print what events and handlers took */
	const char *profiler; /* of actions, by name; NULL: none */
	bool old_names;       /* those of Lightning 1.6 */
	uint64_t seed;
	struct optimizer optimizer;
	const char *load_weights, *save_weights, *dump;
};

/* Prints and ends the program for --help (0) and for what it does not take (2). */
void options_parse(struct options *options, int argc, char **argv);
