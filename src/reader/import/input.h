/*
 * Reads a file, plain or compressed, a window at a time. A plain file in UTF-16 with a mark at its begin becomes UTF-8.
 *
 * Importers of text use it. The window has the bytes that were not consumed yet, and a NUL behind
 * them. So a scanner needs no test for the end at each byte: it stops at a NUL and compares its
 * place with `end`. To get more bytes, the caller sets `at` to the first byte that it still needs
 * and calls dw_input_more(). This may move the window: pointers into it are invalid then.
 *
 * Only the window takes memory. Pages of the file that were read are released, because the file may
 * be larger than memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/import.h"

#define DW_INPUT_MOST_BYTES ((size_t)16 << 20) /* of a window, and so of one event */

struct dw_input {
	const char *at, *end;  /* not consumed yet; *end is NUL */
	bool last;             /* nothing follows `end` */
	bool cut;              /* the compressed data are damaged or end too early */
	bool bomb;             /* the file decompresses to more bytes than a trace of its size can have */
	bool failed;           /* out of memory */
	/* private */
	const struct dw_import_file *file;
	char *buffer;
	size_t capacity;
	size_t taken;          /* bytes of the file that were read */
	size_t given_back;     /* of these, bytes whose pages were released */
	uint64_t offset;       /* of the buffer's first byte in the text */
	uint64_t lines;        /* line ends before the buffer */
	uint64_t line_offset;  /* offset of the last of these line ends, + 1 */
	void *inflater;        /* NULL: not compressed */
	unsigned wide;         /* the file is UTF-16, which becomes UTF-8: which byte of two is the low one, + 1; 0: it is not */
};

/* Makes the first window. Returns 0, or a negative DWELL_E_* with `error`: out of memory, or the
 * file is compressed and dwell was built without zlib. `file` must live until dw_input_close(). */
int dw_input_open(struct dw_input *input, const struct dw_import_file *file, struct dwell_error *error);
void dw_input_close(struct dw_input *input);

/* Appends bytes to the window. False if the file has no more bytes, if the window would become
 * larger than DW_INPUT_MOST_BYTES, or on one of the errors in `input`. */
bool dw_input_more(struct dw_input *input);

/* The line and column of a byte of the window, counted from 1. */
void dw_input_place(const struct dw_input *input, const char *at, uint64_t *line, uint64_t *column);
/* The offset in the (decompressed) text of a byte of the window. */
uint64_t dw_input_offset(const struct dw_input *input, const char *at);
