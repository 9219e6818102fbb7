/*
 * What all parts of the command share: exit statuses, dwell's messages on stderr, and what is known of the terminal.
 *
 * Nothing else of dwell prints or exits.
 */
#pragma once

#include "dwell/trace.h"

enum { DW_EXIT_OK = 0, DW_EXIT_BAD_INPUT = 1, DW_EXIT_USAGE = 2, DW_EXIT_SLOWER = 3,
       DW_EXIT_NOT_COMPARABLE = 4, DW_EXIT_EVENT = 5, DW_EXIT_PIPE = 141,
       DW_EXIT_RUN_FAILED = 125, DW_EXIT_CANNOT_RUN = 126, DW_EXIT_NOT_FOUND = 127 }; /* these: of dwell run */

/* Prints a message of dwell, "dwell: ...", to stderr. */
void dw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define DW_QUOTED_BYTES (4 * 4096 + 8)
/* Writes a word, of less than 4096 bytes, as a shell reads it, and returns `quoted`. */
const char *dw_quote(const char *word, char quoted[DW_QUOTED_BYTES]);
bool dw_has_said(void); /* dw_say() printed something */
/* Prints the error's message and returns the exit status for `code`. */
int dw_say_error(const struct dwell_error *error, int code);

/* Shows on a terminal that a large file is being read; NULL removes the message. */
void dw_say_progress(const char *path);
/* Prints which traces are damaged and which are still being written. */
void dw_say_state(struct dwell_trace *trace);
/* The exit status of a command whose status was this: an error, after saying so, if memory ended anywhere. */
int dw_memory_status(int status);

/* Determines how to print to `fd`: its width if it is a terminal, colour, UTF-8. */
void dw_terminal(int fd, struct dwell_print_options *options);
/* What SIGINT and SIGTERM set from now on. */
volatile int *dw_stop_at_signals(void);
