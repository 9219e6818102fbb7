/*
 * The client of a capture: requests one from a profiler server.
 *
 * Used by `dwell capture`, with dwell's own server or XLA's (JAX, TensorFlow, torch_xla). It uses
 * tensorflow.ProfilerService/Profile over gRPC on cleartext HTTP/2, in one thread with poll(). It
 * writes no file: the caller gets the answer.
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
	const char *repository;  /* the folder for a server that stores captures itself */
	const char *token;       /* NULL: none */
	uint64_t duration_ms, delay_ms;
	bool functions;          /* also the functions of the program's language */
};

struct dw_client_answer {
	unsigned char *message; /* the ProfileResponse; the caller frees it */
	size_t length;
	const unsigned char *xspace; /* within the message; NULL: the server did not send it */
	size_t xspace_bytes;
	bool empty;             /* the server reports that it recorded nothing */
};

/*
 * Waits for the answer. When `*stop` becomes 1, ends the capture early; when it becomes 2, gives
 * up. Errors: DWELL_E_ARGUMENT for the address, DWELL_E_IO with the cause and a remedy,
 * DWELL_E_STATE if another capture is running, DWELL_E_NOMEM.
 */
int dw_client_profile(const struct dw_client_options *options, const volatile int *stop,
                      struct dw_client_answer *answer, struct dwell_error *error);

#endif
