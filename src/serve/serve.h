/*
 * The capture service: what XLA's profiler server offers, over a trace that is being
 * written.
 *
 * `dwell serve` runs it, in a process of its own. It speaks gRPC over cleartext HTTP/2:
 * tensorflow.ProfilerService with Profile and Terminate. A Profile sets the control
 * page's mask for its duration and is answered with that window as XSpace. One thread
 * and a poll(); the answer is made in a forked child, so that the server stays small and
 * hears a Terminate meanwhile. Nothing that a client sends reaches the program but the
 * mask, and a file system path from a client is never used.
 */
#ifndef DW_SERVE_SERVE_H
#define DW_SERVE_SERVE_H

#include "dwell/dwell.h"

struct dw_serve_options {
	const char *trace;
	const char *host;  /* NULL: 127.0.0.1; another one needs a token */
	unsigned port;     /* 0: any that is free */
	bool inherited;    /* standard input is the socket that listens already, standard output a
	                    * channel: its other end closed means stop */
	const char *token; /* clients send "authorization: Bearer TOKEN"; NULL: none is asked for */
	/* Called when it listens. */
	void (*ready)(void *context, const char *host, unsigned port);
	void *context;
};

/* Until `*stop` is set (a signal handler may, and wakes poll()) or the run has ended.
 * Errors: those of opening a trace; DWELL_E_ARGUMENT, DWELL_E_IO for the address. */
int dw_serve_run(const struct dw_serve_options *options, const volatile int *stop,
                 struct dwell_error *error);

#endif
