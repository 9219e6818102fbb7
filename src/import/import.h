/*
 * Files of other tools become traces of dwell.
 *
 *   import.c      which importer a file belongs to, by its content; where the image lies
 *   chrome*.c     JSON of Kineto (torch.profiler) and other Chrome traces (chrome.h)
 *   xspace*.c     XSpace, the file of XLA's profiler (xspace.h)
 *   input.c       the bytes of a file, plain or compressed, a window at a time
 *   json.c        a scanner of JSON in such windows
 *   sort.c        events in order of thread and time, in bounded memory
 *   ranges.c      events of one thread in order, as records of its stream
 *   gunzip.c      a whole compressed file
 *
 * An importer translates a file into an image: the bytes of a trace file, mapped. The rest of dwell
 * does not notice the difference. A file may be made to harm its reader: an importer reads only the
 * bytes it is given, and its memory is bounded by a multiple of their number.
 */
#ifndef DW_IMPORT_IMPORT_H
#define DW_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/foreign.h"
#include "dwell/dwell.h"

/* A file that is mapped. Another process may change its bytes while they are read. */
struct dw_import_file {
	const char *path;
	const char *data;
	size_t size_bytes;
};

/* What a translation makes. */
struct dw_import_result {
	void *image;        /* the caller unmaps it */
	size_t image_bytes;
	bool in_file;       /* the image is the file that the caller named */
	const char *note;   /* what was left out, for people; in the arena, or NULL */
};

/*
 * Translates the file. `result->image` is NULL, and the result 0, if the file belongs to no importer:
 * the caller then says what it looks like. A large image lies in a temporary file without a name
 * (in TMPDIR, or /var/tmp), so that its pages need not stay in memory.
 */
int dw_import_open(const struct dw_import_file *file, struct dw_arena *arena,
                   struct dw_import_result *result, struct dwell_error *error);

/*
 * The same for several files, which must be Chrome traces then: the ranks of one run become one trace,
 * on a common time line. The image is made in the file `image_fd` if its importer can do so.
 */
int dw_import_files(const struct dw_import_file *files, size_t count, int image_fd,
                    struct dw_arena *arena, struct dw_import_result *result,
                    struct dwell_error *error);

/* Appends "COUNT WHAT" to the note, unless the count is 0. */
void dw_import_note(struct dw_import_result *result, struct dw_arena *arena, size_t count,
                    const char *what);

/* chrome.c, xspace.c; the same contract as dw_import_open(). */
int dw_import_chrome(const struct dw_import_file *files, size_t count, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result,
                     struct dwell_error *error);
int dw_import_xspace(const struct dw_import_file *file, struct dw_arena *arena,
                     struct dw_import_result *result, struct dwell_error *error);

/* gunzip.c: the caller frees `out`. The output has at most DW_GUNZIP_SPARE bytes and
 * DW_GUNZIP_RATIO times the size. */
#define DW_GUNZIP_SPARE ((size_t)32 << 20)
#define DW_GUNZIP_RATIO ((size_t)128)
int dw_import_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                     size_t *out_size, struct dwell_error *error);

#endif
