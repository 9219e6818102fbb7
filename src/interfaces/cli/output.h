/*
 * The output of a report. A regular file is written under a temporary name in the same folder and
 * renamed when it is complete. Devices, pipes and links are written in place and never removed.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "export/out.h"

struct dw_output {
	FILE *file;
	const char *path;     /* NULL: standard output */
	char temporary[4096]; /* its temporary name, or "" */
};

/* NULL and "-" mean standard output. Returns 0, or an exit status after an error message. */
int dw_output_open(struct dw_output *output, const char *path);
/* `status` is the report's: the file is renamed only if it is 0. Returns the exit status. */
int dw_output_close(struct dw_output *output, int status);
/* Whether the reader of a pipe has closed it, which is not an error. */
bool dw_output_left(FILE *file);
/* dw_output_close() for what was written through dw_out_open(), of which `code` and `error` tell. */
int dw_output_close_page(struct dw_writer_out *out, int code, const struct dwell_error *error);
/* Opens a regular file for reading. NULL: there is no such file, it is not a regular file, or it cannot be read.
 * Whoever can write to the folder of a job can make a FIFO there, and fopen() would wait until somebody writes to it. */
FILE *dw_regular_open(const char *path);
