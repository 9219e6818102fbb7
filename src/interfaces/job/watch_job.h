/*
 * `dwell watch`: looks at the summaries of running jobs again and again, and reports what begins and what is over.
 *
 * What a hang, a lost or a slow rank is, watch/watch.h decides. Here files are read, events are printed, commands of the user
 * are started, and figures are served.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/watch.h"

#define DW_WATCH_EVERY_MS 5000u /* half of the shortest hang limit */
#define DW_WATCH_COMMANDS 16u   /* at most */

struct dw_watch_request {
	uint64_t every_ms;
	bool once, json, has_mpi;
	const char *metrics; /* the file, or NULL */
	bool has_port;
	unsigned port;
	struct { enum dw_watch_kind kind; const char *command; } commands[DW_WATCH_COMMANDS];
	size_t command_count;
	char **paths; /* folders, summaries and traces */
	size_t path_count;
};

/* Watches until the job has ended or a signal comes. Returns an exit status. */
int dw_watch_job(struct dw_watch_request *request);
