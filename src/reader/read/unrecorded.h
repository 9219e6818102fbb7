/*
 * What a program used and the trace does not have: libraries whose probe was absent, refused, or of another version.
 * src/format/libraries.h has the table of libraries, and says how processes and probes state what they know.
 */
#pragma once

#include "read/source.h"

#define DW_UNRECORDED_MOST 8u /* libraries */

/* A library that is not recorded, or not all of it. Texts live as long as the source. */
struct dw_unrecorded {
	const char *id, *label; /* "mpi", "MPI" */
	char file[64];          /* "libmpi.so.40"; "" if it is not known */
	bool partly;            /* something of it is recorded */
	const char *why;        /* and how to record it */
	const char *missing;    /* what the trace does not have: "its collectives, and ..." */
	uint32_t process;       /* the first one, an index */
	size_t processes;       /* how many processes */
};

/* Finds what a process did not record, or, with DW_NO_INDEX, what any process did not: one entry for each library.
 * Returns the number. */
size_t dw_source_unrecorded(const struct dw_source *source, uint32_t process,
                            struct dw_unrecorded list[DW_UNRECORDED_MOST]);
/* Fills in what the table has of a library. False: there is none with this id. */
bool dw_unrecorded_of(const char *id, struct dw_unrecorded *what);
/* Whether ranks communicate by it, so that without it their waits for each other are not known. */
bool dw_unrecorded_is_of_ranks(const struct dw_unrecorded *what);
/* Other things that a process did not record, or not all of it, as it or `dwell run` says: metadata whose key begins with
 * DW_KEY_GAP, and DW_KEY_APART. Returns the next text, a clause for behind "Not recorded: ", or NULL; *at begins with 0. */
const char *dw_source_next_gap(const struct dw_source *source, size_t *at);
/* "MPI is not recorded (libmpi.so.40, 4 processes): ... Missing: ...", "PyTorch is recorded in part: ..." */
void dw_unrecorded_text(const struct dw_unrecorded *what, char *to, size_t size);
