/*
 * The output of a report. A regular file is written under a temporary name in the same folder and
 * renamed when it is complete. Devices, pipes and links are written in place and never removed.
 */
#pragma once

#include "export/out.h"
#include "render/render.h"

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
/* The exit status after printing to `file`, of which `code` and `error` tell. */
int dw_output_status(FILE *file, int code, const struct dwell_error *error);
/* From now on, tables have at most so many bytes: the last rows of the longest are left out, and their number is said. */
void dw_output_limit(size_t bytes);
/* Prints tables; returns the exit status. */
int dw_output_tables(FILE *file, const struct dw_renderer *renderer, struct dwell_table *const *tables, size_t count,
                     const struct dwell_print_options *print);
/* The path that an option -o names; NULL: standard output. */
const char *dw_output_path(const char *option);
/* dw_output_close() for what was written through dw_out_open(), of which `code` and `error` tell. */
int dw_output_close_page(struct dw_writer_out *out, int code, const struct dwell_error *error);
/* Writes all bytes to a descriptor. False with errno if not all could be written. */
bool dw_output_write(int fd, const void *bytes, size_t length);
/* Opens a regular file for reading. NULL: there is no such file, it is not a regular file, or it cannot be read.
 * Whoever can write to the folder of a job can make a FIFO there, and fopen() would wait until somebody writes to it. */
FILE *dw_regular_open(const char *path);
