/*
 * The internal interfaces of the capture service.
 *
 *   loop.c     the socket, the loop
 *   http.c     one connection: HTTP/2 and gRPC's frames
 *   peer.c     which user a client belongs to
 *   request.c  reads the messages
 *   capture.c  one capture after the other: delay, window, answer
 *   control.c  the trace's control page (control.h)
 */
#pragma once

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include "serve/control.h"
#include "serve/serve.h"

/* gRPC's status codes. */
enum dw_grpc {
	DW_GRPC_OK = 0, DW_GRPC_INVALID_ARGUMENT = 3, DW_GRPC_ALREADY_EXISTS = 6,
	DW_GRPC_RESOURCE_EXHAUSTED = 8, DW_GRPC_FAILED_PRECONDITION = 9, DW_GRPC_ABORTED = 10,
	DW_GRPC_UNIMPLEMENTED = 12, DW_GRPC_INTERNAL = 13, DW_GRPC_UNAUTHENTICATED = 16
};

/* ---- request.c ---------------------------------------------------------------------- */

#define DW_SERVE_MOST_SESSION 256u
#define DW_SERVE_MOST_MS 3600000u

struct dw_serve_request {
	uint64_t duration_ms, start_ns; /* start_ns: wall clock; 0 means now */
	bool functions;                 /* also the functions of the language */
	bool emit_xspace;               /* answer in `xspace`, not as a tool's file */
	char session[DW_SERVE_MOST_SESSION];
};

/* INVALID_ARGUMENT, with a message of at most `room` bytes, if the request is not valid. */
enum dw_grpc dw_serve_read_profile(struct dw_serve_request *request, const unsigned char *bytes,
                                   size_t length, char *message, size_t room);
bool dw_serve_read_terminate(char session[DW_SERVE_MOST_SESSION], const unsigned char *bytes, size_t length);

/* ---- peer.c ------------------------------------------------------------------------- */

/* Whether the client of a local connection belongs to this process's user or to root. */
bool dw_serve_is_ours(int socket);

/* ---- http.c ------------------------------------------------------------------------- */

#define DW_SERVE_MOST_HEADER 64u

struct dw_serve;

struct dw_serve_stream {
	struct dw_serve_stream *next;
	struct dw_serve_connection *connection;
	int32_t id;
	char path[96];
	bool grpc, authorized, asked;
	unsigned char *in;
	size_t in_length, in_size;
	/* the answer: a few bytes, then a file */
	unsigned char out[DW_SERVE_MOST_HEADER];
	size_t out_length, out_at;
	int file; /* -1: none */
	uint64_t file_bytes, file_at;
	enum dw_grpc status;
	char message[256];
	uint64_t began_ms, answered_ms; /* answered_ms: when the answer was ready; 0 means not yet */
};

struct dw_serve_connection {
	struct dw_serve *serve;
	int socket;
	nghttp2_session *session;
	struct dw_serve_stream *streams;
	uint64_t last_ms; /* when it began or a request was complete */
	enum { DW_PEER_UNKNOWN, DW_PEER_OURS, DW_PEER_OTHER } peer;
};

struct dw_serve_connection *dw_serve_connect(struct dw_serve *serve, int socket);
void dw_serve_disconnect(struct dw_serve_connection *connection);
/* False: the connection has ended. */
bool dw_serve_receive(struct dw_serve_connection *connection);
bool dw_serve_send(struct dw_serve_connection *connection);
/* Whether the client has exceeded the time limits. A running capture has no limit. */
bool dw_serve_is_overdue(const struct dw_serve_connection *connection, uint64_t now_ms);
/* Whether it has a capture that is running or being sent. */
bool dw_serve_is_served(const struct dw_serve_connection *connection);
/* Ends a call; without a file the message is empty. The file descriptor is closed with the call. */
void dw_serve_answer(struct dw_serve_stream *stream, enum dw_grpc status, const char *message);
void dw_serve_answer_file(struct dw_serve_stream *stream, int file, uint64_t bytes, bool as_xspace);

/* ---- capture.c ---------------------------------------------------------------------- */

struct dw_serve_capture {
	enum { DW_CAPTURE_NONE, DW_CAPTURE_WAITS, DW_CAPTURE_RECORDS, DW_CAPTURE_WRITES } phase;
	struct dw_serve_stream *stream;
	struct dw_serve_request request;
	uint64_t until_ms; /* on the monotonic clock; while it WAITS or RECORDS */
	uint64_t from_ticks, to_ticks;
	pid_t child;
	int done;          /* becomes readable when the child has ended */
	char path[64];
};

/* How long a client may keep a connection open; see loop.c. */
struct dw_serve_limits {
	uint64_t request_ms, silent_ms, unread_ms;
};

/* What a connection does with requests. */
struct dw_serve_calls {
	void (*start)(struct dw_serve *serve, struct dw_serve_stream *stream);
	void (*terminate)(struct dw_serve *serve, const char *session);
	void (*cancel)(struct dw_serve *serve, const struct dw_serve_stream *stream); /* the client has disconnected */
};

struct dw_serve {
	const struct dw_serve_calls *calls;
	const struct dw_serve_options *options;
	struct dw_serve_control control;
	struct dw_serve_capture capture;
	struct dw_serve_limits limits;
	int listener;
};

extern const struct dw_serve_calls dw_capture_calls;
/* Ends the capture; what was recorded so far is the answer. */
void dw_capture_finish(struct dw_serve *serve);
/* Does what is due. Called whenever poll() returns. */
void dw_capture_step(struct dw_serve *serve, bool child_done);
void dw_capture_stop(struct dw_serve *serve);
