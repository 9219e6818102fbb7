/*
 * The capture service: the functions of XLA's profiler server for a trace that is being written.
 *
 * `dwell serve` runs it, in a process of its own. It uses gRPC over cleartext HTTP/2:
 * tensorflow.ProfilerService with Profile and Terminate. A Profile sets a capture in the control
 * page for its duration; the answer is that window as XSpace. The server is one thread with poll().
 * A forked child process makes the answer, so that the server stays small and can receive a
 * Terminate meanwhile. Of what a client sends only the mask of the capture reaches the program. A
 * file system path from a client is never used.
 */
#pragma once

#include "dwell/dwell.h"

struct dw_serve_options {
	const char *trace;
	const char *host;  /* NULL: 127.0.0.1; any other needs a token */
	unsigned port;     /* 0 means any free port */
	bool inherited;    /* a program started the server: standard input is a socket that already
	                    * listens, and the server ends when standard output is closed */
	const char *token; /* clients send "authorization: Bearer TOKEN"; NULL: no token is required */
	/* Called when the server listens. */
	void (*ready)(void *context, const char *host, unsigned port);
	void *context;
};

/* Runs until `*stop` is set (a signal handler may set it and wake poll()) or the run has ended.
 * Errors: those of opening a trace; DWELL_E_ARGUMENT or DWELL_E_IO for the address. */
int dw_serve_run(const struct dw_serve_options *options, const volatile int *stop, struct dwell_error *error);
