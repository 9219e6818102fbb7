/*
 * Creates, opens and trims trace files.
 *
 * Used by dwell_start() and by `dwell run`, which owns the file of a run. Probes call none of
 * these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dwell/dwell.h"
#include "format/layout.h"

/* The smallest budget: the head, a few chunks and the reserve for names. */
#define DW_FILE_LEAST_BYTES (16u * DW_BLOCK_BYTES)

/*
 * Creates a trace at `path` with the options, of which the path is ignored. Returns the open file
 * descriptor or a negative DWELL_E*. `run_id` NULL: a new run id. If the folder's file system does
 * not support fallocate or a shared mapping, the trace is created in `spill_folder` (NULL: TMPDIR
 * or /tmp). Then `actual_path` (4,096 bytes), which receives the path of the trace, differs from
 * `path`: copy the trace at the end with dw_file_finish().
 */
int dw_file_create(const char *path, const struct dwell_options *options, const uint8_t *run_id,
                   const char *spill_folder, char *actual_path, struct dwell_error *error);

/* Fills in a head that no file has yet, but for its magic and what depends on the file. */
void dw_file_fill_head(struct dw_head *head, const struct dwell_options *options, const uint8_t *run_id);
/* Creates a trace with such a head. Returns the open file descriptor or a negative errno. For signal handlers. */
int dw_file_create_like(const char *path, const struct dw_head *like, const struct dwell_options *options);

/* A new trace has a rate of the clock that is exact to 10^-3. Replaces it by one that is exact to 10^-4, a millisecond
 * after the trace was created: whoever has other work can do that before. */
void dw_file_measure_clock(struct dw_head *head);

/* Opens an existing trace for writing and maps its head. Errors are a negative DWELL_E*. */
int dw_file_open(const char *path, struct dw_head **head, struct dwell_error *error);

struct dw_finish {
	const char *path;      /* where the trace is now: one of the two paths */
	uint64_t size_bytes;   /* apparent size at the end */
	uint32_t alive;        /* other processes that still write; if any, nothing was removed */
	uint32_t unknown;      /* processes of other pid namespaces that may still write; the same */
};

/*
 * Releases the space that was reserved and not used, once in a file's life. Removes nothing if
 * processes other than `process` (a PROCESS id) write to the file or may write to it. If
 * final_path is not empty, moves the spilled trace there, unless a file of that name exists or
 * other processes still write.
 */
int dw_file_finish(int fd, const char *path, const char *final_path, uint32_t process,
                   struct dw_finish *finish, struct dwell_error *error);

/* How many processes other than `process` are known to be writing to the file. */
uint32_t dw_file_writers(int fd, uint32_t process);

/* What became of a trace's file while it was recorded. */
enum dw_file_fate {
	DW_FILE_THERE,    /* the path names it, and it is as it was written */
	DW_FILE_MOVED,    /* the path does not name it; it has another name */
	DW_FILE_REMOVED,  /* it has no name any more, nor is there another file at the path */
	DW_FILE_REPLACED, /* it has no name any more, and another file is at the path */
	DW_FILE_CUT,      /* it was truncated, or another program wrote over it */
};

/*
 * Compares the open trace with what is at `path`. `expected_bytes`: the size that it has at least, 0 if not known. `now_at`
 * receives where the file is, "" if that is not known. A file that was cut and moved is CUT, with `now_at`.
 */
enum dw_file_fate dw_file_fate(int fd, const char *path, uint64_t expected_bytes, char now_at[4096]);
