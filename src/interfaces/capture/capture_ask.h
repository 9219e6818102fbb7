/*
 * What `dwell capture` and the `dwell run` of each rank write for each other, in the folder of the traces.
 *
 *     dwell capture FOLDER (capture_job)       dwell run of each rank (run_summary, capture_answer)
 *     writes TRACE.ask, and looks for     ->   looks once a second; records some steps,
 *     TRACE.answer                        <-   stores them in TRACE's folder, and writes TRACE.answer
 *
 * Nothing else connects the two, so that a shared folder is enough, also one whose files different machines cannot map
 * at the same time. A file is written under another name and renamed when it is complete.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file is one line: "dwell-capture 1", then the fields in this order. */
struct dw_capture_ask {
	char id[64];          /* of the capture; part of the names of its files */
	unsigned steps;       /* of each process; 0: record for duration_ms */
	unsigned duration_ms; /* at most */
	unsigned what;        /* DW_CAPTURE_FUNCTIONS, DW_CAPTURE_STACKS */
};
#define DW_CAPTURE_FUNCTIONS 1u /* record functions of the program's language too */
#define DW_CAPTURE_STACKS 2u    /* record nothing: store the stacks of all threads, as dwell stacks prints them */

#define DW_CAPTURE_ASK "dwell-capture 1 %s %u %u %u\n"
#define DW_CAPTURE_ASK_READ "dwell-capture 1 %63[A-Za-z0-9-] %u %u %u"

enum dw_capture_state {
	DW_CAPTURE_DONE = 0,
	DW_CAPTURE_PART = 1,   /* not as many steps ended in time as were asked for; what was recorded is stored */
	DW_CAPTURE_FAILED = 2, /* `text` says why */
};

struct dw_capture_answer {
	char id[64];
	unsigned state;                 /* enum dw_capture_state */
	uint64_t first_step, last_step; /* those of all processes; last < first: no step ended */
	uint64_t bytes;                 /* of the stored part */
	char text[400];
};
#define DW_CAPTURE_ANSWER "dwell-capture 1 %s %u %llu %llu %llu %s\n"
#define DW_CAPTURE_ANSWER_READ "dwell-capture 1 %63[A-Za-z0-9-] %u %llu %llu %llu %399[^\n]"

#define DW_CAPTURE_PATH 4200

/* "job.ID.dwell" for the trace "job.dwell", and "job.ID.stacks". */
void dw_capture_part_path(const char *trace, const struct dw_capture_ask *ask, char path[DW_CAPTURE_PATH]);
/* Writes a file of one line: `trace` with a suffix, readable for its owner only. False after setting errno. */
bool dw_capture_write(const char *trace, const char *suffix, const char *line);

/* For dwell run: what was asked for last. Zero at first. */
struct dw_capture_seen {
	bool looked;
	ino_t file;
	int64_t seconds, nanoseconds; /* of its last change */
};
/* Whether somebody asked since the last call; not what was there at the first one. */
bool dw_capture_is_asked(const char *trace, struct dw_capture_seen *seen);
