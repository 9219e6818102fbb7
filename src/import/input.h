/*
 * The bytes of a file, plain or compressed, a window at a time.
 *
 * Used by importers of text. The window holds what was not consumed yet and is followed by a NUL, so
 * that a scanner needs no test for the end: it stops at the NUL and then asks whether the NUL lies at
 * `end`. Whoever needs more bytes sets `at` to the first byte that it still wants and calls
 * dw_input_more(), which may move the window: pointers into it are invalid then.
 *
 * Memory is that of the window. Pages of the file that were read are given back, because the file may
 * be larger than memory.
 */
#ifndef DW_IMPORT_INPUT_H
#define DW_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/import.h"

#define DW_INPUT_MOST_BYTES ((size_t)16 << 20) /* of a window: of one event */

struct dw_input {
	const char *at, *end;  /* not consumed yet; *end is NUL */
	bool last;             /* nothing follows `end` */
	bool cut;              /* compressed data that are damaged or end too early */
	bool bomb;             /* more came out than a trace of this size can have */
	bool failed;           /* out of memory */
	/* private */
	const struct dw_import_file *file;
	char *buffer;
	size_t capacity;
	size_t taken;          /* bytes of the file that were read */
	size_t given_back;     /* of these, pages that were given back */
	uint64_t offset;       /* of the buffer's first byte in the text */
	uint64_t lines;        /* line ends before the buffer */
	uint64_t line_offset;  /* of the last of them, + 1 */
	void *inflater;        /* NULL: not compressed */
};

/* Makes the first window. -1 with `error` if out of memory, or if the file is compressed and dwell was
 * built without zlib. */
int dw_input_open(struct dw_input *input, const struct dw_import_file *file, struct dwell_error *error);
void dw_input_close(struct dw_input *input);

/* Appends bytes to the window. False if there are none, or if the window would become larger than
 * DW_INPUT_MOST_BYTES. */
bool dw_input_more(struct dw_input *input);

/* Where a byte of the window is in the text, counted from 1. */
void dw_input_place(const struct dw_input *input, const char *at, uint64_t *line, uint64_t *column);
/* Bytes of the text up to a byte of the window. */
uint64_t dw_input_offset(const struct dw_input *input, const char *at);

#endif
