/*
 * The other end of a capture: asks a profiler server for one.
 *
 * `dwell capture` calls it. It speaks to our own server and to XLA's (JAX, TensorFlow,
 * torch_xla): tensorflow.ProfilerService/Profile over gRPC on cleartext HTTP/2, in one
 * thread with a poll(). Nothing is written here: the answer is the caller's.
 */
#ifndef DW_SERVE_CLIENT_H
#define DW_SERVE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/dwell.h"

struct dw_client_options {
	const char *address;     /* HOST:PORT */
	const char *session;     /* the capture's name */
	const char *repository;  /* a server that stores captures itself does so under this folder */
	const char *token;       /* NULL: none */
	uint64_t duration_ms, delay_ms;
	bool functions;          /* the program's language's too */
};

struct dw_client_answer {
	unsigned char *message; /* the ProfileResponse; to be freed */
	size_t length;
	const unsigned char *xspace; /* in it, or NULL: the server did not send the capture */
	size_t xspace_bytes;
	bool empty;             /* the server says that it recorded nothing */
};

/*
 * Waits for the answer; when `*stop` becomes 1 the capture is ended early, at 2 it is given
 * up. Errors: DWELL_E_ARGUMENT for the address, DWELL_E_IO with what went wrong and what
 * to do, DWELL_E_STATE when a capture is going on already, DWELL_E_NOMEM.
 */
int dw_client_profile(const struct dw_client_options *options, const volatile int *stop,
                      struct dw_client_answer *answer, struct dwell_error *error);

#endif
