/*
 * Translates files of other tools into traces of dwell.
 *
 *   import_any.c      finds the importer for a file, by its content
 *   chrome*.c     JSON of Kineto (torch.profiler) and other Chrome traces (chrome.h)
 *   rocprof.c     JSON of rocprofv3 (rocprof.h)
 *   otlp.c        spans of OpenTelemetry as JSON (otlp.h)
 *   nsight.c      SQLite exports of Nsight Systems; rows.c makes events of their rows
 *   nvprof.c      SQLite files of nvprof
 *   database.c    reads tables of SQLite files
 *   xspace*.c     XSpace, the file of XLA's profiler (xspace.h)
 *   input.c       reads a file, plain or compressed, a window at a time
 *   json.c        scans JSON in such windows
 *   sort.c        sorts events by thread and time in bounded memory
 *   ranges.c      writes the ends of a thread's ranges as records
 *   gunzip.c      decompresses a whole file
 *   forms.c       says what a file is that no importer reads
 *   losses.c      writes what was left out into the image
 *
 * An importer translates a file into an image: the bytes of a trace file, mapped. The rest of dwell
 * does not know that the trace was imported. A file may have been made to harm its reader: an
 * importer reads only the bytes of the file, and its memory is bounded by a multiple of their
 * number.
 */
#pragma once

#include "base/arena.h"
#include "base/foreign.h"
#include "dwell/dwell.h"

/* A file that is mapped. Another process may change its bytes while they are read. */
struct dw_import_file {
	const char *path, *data;
	size_t size_bytes;
};

/* The result of a translation. */
struct dw_import_result {
	void *image;        /* the caller unmaps it */
	size_t image_bytes;
	bool in_file;       /* the image is the file that the caller named */
	bool backed;        /* the image is a file, named or not: its pages may be released */
	const char *note;   /* text for the user about what was left out; in the arena, or NULL */
};

/*
 * Translates the file. Returns 0, or a negative DWELL_E_* with `error`. If no importer knows the
 * format, returns 0 and sets `result->image` to NULL. A large image lies in a temporary file
 * without a name (in TMPDIR, or /var/tmp), so that its pages need not stay in memory.
 */
int dw_import_open(const struct dw_import_file *file, struct dw_arena *arena,
                   struct dw_import_result *result, struct dwell_error *error);

/*
 * The same for `count` files. Several files must be Chrome traces: the ranks of one run become one
 * trace on a common time line. If the importer can write its image to a file, it uses `image_fd`
 * and sets `result->in_file`; -1: there is no such file.
 */
int dw_import_files(const struct dw_import_file *files, size_t count, int image_fd,
                    struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error);

struct dw_encode_process;
/* losses.c: writes into the image how many events of the file were left out and why, and what else of it is not as it should
 * be, so that the trace says the same when it is read again. The texts may be NULL. */
void dw_import_put_losses(struct dw_encode_process *journal, uint64_t lost, const char *left_out, const char *other);

/* forms.c: what a file is that no importer reads, and what to do about it: a phrase without an end, or "". */
#define DW_FORM_TEXT 320
void dw_form_guess(const struct dw_import_file *file, char text[DW_FORM_TEXT]);
/* The same of a file that was given where something else is expected. "": it cannot be opened, or nothing is known of it. */
void dw_form_of_path(const char *path, char text[DW_FORM_TEXT]);
/* Whether the bytes are the begin of a trace of Perfetto, which has the form of an XSpace, too. */
bool dw_form_is_perfetto(const void *bytes, size_t size);

/* Appends "COUNT WHAT" to the note, unless the count is 0. */
static inline void dw_import_note(struct dw_import_result *result, struct dw_arena *arena, size_t count,
                    const char *what)
{
	if (count)
		result->note = dw_arena_printf(arena, "%s%s%zu %s", result->note ? result->note : "",
		                               result->note ? "; " : "", count, what);
}

/* chrome_file.c, xspace_planes.c; the same contract as dw_import_open(). */
int dw_import_chrome(const struct dw_import_file *files, size_t count, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error);
int dw_import_xspace(const struct dw_import_file *file, struct dw_arena *arena,
                     struct dw_import_result *result, struct dwell_error *error);

struct dw_database;
/* nsight.c, nvprof.c; the database is open. */
int dw_import_nsight(struct dw_database *database, const struct dw_import_file *file, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error);

int dw_import_nvprof(struct dw_database *database, const struct dw_import_file *file, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error);

/* gunzip.c: decompresses `bytes`. The caller frees *out. The output may have at most
 * DW_GUNZIP_SPARE bytes plus DW_GUNZIP_RATIO times `size`; more is an error. `path` is for
 * messages. */
#define DW_GUNZIP_SPARE ((size_t)32 << 20)
#define DW_GUNZIP_RATIO ((size_t)128)
int dw_import_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                     size_t *out_size, struct dwell_error *error);
