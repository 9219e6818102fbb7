/*
 * Trace files: created, opened, trimmed.
 *
 * Used by dwell_start() and by `dwell run`, which owns the file of a run. None
 * of this is on the way of a probe but dw_file_valid().
 */
#ifndef DW_RECORD_FILE_H
#define DW_RECORD_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "dwell/dwell.h"
#include "format/layout.h"

/* The least budget: the head, a few chunks and what is kept for names. */
#define DW_FILE_LEAST_BYTES (16u * DW_BLOCK_BYTES)

/*
 * Creates a trace at `path` with options (path excepted) and returns its open
 * file, or a negative DWELL_E*. `run_id` NULL: a new one. When the folder's file
 * system refuses fallocate or a shared mapping, the trace is created in
 * `spill_folder` (NULL: TMPDIR or /tmp) and the path written to `actual_path`
 * (4096 bytes) is not `path`: copy it at the end with dw_file_finish().
 */
int dw_file_create(const char *path, const struct dwell_options *options, const uint8_t *run_id,
                   const char *spill_folder, char *actual_path, struct dwell_error *error);

/* Opens an existing trace for writing and maps its head; negative DWELL_E*. */
int dw_file_open(const char *path, struct dw_head **head, struct dwell_error *error);

struct dw_finish {
	const char *path;      /* where the trace is now: one of the two given */
	uint64_t size_bytes;   /* apparent size at the end */
	uint32_t alive;        /* other processes that still write: nothing was removed */
	uint32_t unknown;      /* processes of other pid namespaces that may still write: the same */
};

/*
 * Gives back what was reserved and not used, once in a file's life. Removes nothing from a
 * file that other processes than `process` (a PROCESS id) write to or may write to.
 * final_path non-empty: moves the spilled trace there, unless something has that name or
 * others still write.
 */
int dw_file_finish(int fd, const char *path, const char *final_path, uint32_t process,
                   struct dw_finish *finish, struct dwell_error *error);

/* How many processes other than `process` are known to write to the file now. */
uint32_t dw_file_writers(int fd, uint32_t process);

#endif
