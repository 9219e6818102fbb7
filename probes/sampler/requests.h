/*
 * Requests of servers that mark none: turns of connections that the program has accepted.
 *
 * A request begins when the first of its bytes have been read, and lasts until the last call that sent something before the
 * client's next bytes, or before the connection was closed. That is known only then, so a request is one record, at its end. It
 * belongs to the connection: one thread may read it, and another one answer. The head of an answer of HTTP that is sent alone is
 * not yet a part of it: servers of language models send it before they compute.
 *
 * A connection counts if it begins with a request line of HTTP/1, or with another line of text. What follows in binary, as
 * messages of ranks and of stores do, is no request; bytes of TLS and HTTP/2 do not say where one ends; and what has become a
 * WebSocket takes no turns. A connection that a library closes within libc (fclose()) is forgotten when its descriptor is used
 * again.
 *
 * Of what the client sent the first bytes of a turn are kept until its end: the method and the path name the request. Parts
 * of the path that may identify somebody are left out, as is all behind a question mark.
 *
 * A call costs a look at one byte if its descriptor is no connection, else a reading of the clock. A request costs a
 * record. Nothing is allocated, and nothing locked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dwell/probe.h"

#define DWS_CONNECTIONS 2048u /* descriptors above are not looked at, and the trace says so */

/* By descriptor: what its connection is, one of requests.c's kinds; 0: none that is watched. Atomic. */
extern uint8_t dws_connections[DWS_CONNECTIONS] __attribute__((__visibility__("hidden")));

/* After a call that received or sent `result` bytes. `bytes`: the first of them, at most `room` in one piece; NULL: they cannot be read
 * there, or stay in the socket. Both functions return `result`. */
ssize_t dws_request_received(int file, const char *bytes, size_t room, ssize_t result);
ssize_t dws_request_sent(int file, const char *bytes, size_t room, ssize_t result);
/* After accept() returned a descriptor. Returns it. */
int dws_request_accepted(int file);
/* The descriptor is about to be closed, or belongs to something else by now. */
void dws_request_ended(int file);
/* The process ends, or executes another program. */
void dws_requests_end(void);
/* In a child of fork: requests that are open belong to the parent, until the child reads another one. */
void dws_requests_forked(void);

static inline __attribute__((always_inline)) bool dws_request_connection(int file)
{
	return DWELL_UNLIKELY((unsigned)file < DWS_CONNECTIONS && __atomic_load_n(&dws_connections[file], __ATOMIC_RELAXED));
}

/* Before a descriptor is closed. */
static inline __attribute__((always_inline)) void dws_request_close(int file)
{
	if (dws_request_connection(file))
		dws_request_ended(file);
}
