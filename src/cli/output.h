/*
 * The output of a report. A regular file is written under a temporary name in the same folder
 * and renamed when it is complete. Anything else (a device, a pipe, a link) is written in place
 * and never removed.
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

/* NULL and "-" mean standard output. Returns 0, or an exit status after an error message. */
int dw_output_open(struct dw_output *output, const char *path);
/* `status` is that of the report: only a successful one is renamed. Returns the exit status. */
int dw_output_close(struct dw_output *output, int status);
/* Whether the reader of a pipe has closed it, which is no error. */
bool dw_output_left(FILE *file);

#endif
