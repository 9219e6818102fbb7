/*
 * Where a report goes. A plain file is written under another name beside it and takes
 * its name when it is whole; what is there and is none (a device, a pipe, a link) is
 * written as it is and never removed.
 */
#ifndef DW_CLI_OUTPUT_H
#define DW_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct dw_output {
	FILE *file;
	const char *path;     /* NULL: standard output */
	char temporary[4096]; /* ours, or "" */
};

/* NULL or "-": standard output. The exit status, after saying what is wrong. */
int dw_output_open(struct dw_output *output, const char *path);
/* `status`: of what was written; only what went well takes the file's name. */
int dw_output_close(struct dw_output *output, int status);
/* Whether the reader of a pipe has closed it: it may have seen enough. */
bool dw_output_left(FILE *file);

#endif
