/*
 * One connection: HTTP/2 by nghttp2; the frames and status of gRPC are handled here.
 *
 * Called by serve.c when a socket is ready, and by capture.c with answers. A call is a stream with
 * one message in each direction. A client can make the server hold only a bounded number of
 * streams and of bytes of a request. Of an answer only a file descriptor is held.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/proto.h"
#include "base/system/clock.h"
#include "serve/inside.h"

#define MOST_STREAMS 16u
#define MOST_REQUEST (64u << 10)
#define SLOWEST 64u /* bytes per millisecond: the rate of the slowest client that is tolerated */
#define FRAME_HEADER 5u /* whether it is compressed, then the length, big-endian */
#define SERVICE "/tensorflow.ProfilerService/"

#define FIELD(name, value) \
	{ (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), strlen(name), strlen(value), 0 }

/* ---- answers ------------------------------------------------------------------------ */

/* Answers without a message: the headers are also the trailers. */
static void http_submit_error(struct dw_serve_stream *stream)
{
	char status[12];
	const nghttp2_nv headers[] = { FIELD(":status", "200"),
		FIELD("content-type", "application/grpc"),
		FIELD("grpc-status", (snprintf(status, sizeof status, "%d", (int)stream->status), status)),
		FIELD("grpc-message", stream->message) };

	nghttp2_submit_response(stream->connection->session, stream->id, headers, 4, NULL);
}

static ssize_t http_next_bytes(struct dw_serve_stream *stream, uint8_t *to, size_t room)
{
	size_t left = stream->out_length - stream->out_at;
	ssize_t got;

	if (left) {
		left = left < room ? left : room;
		memcpy(to, stream->out + stream->out_at, left);
		stream->out_at += left;
		return (ssize_t)left;
	}
	if (stream->file_at == stream->file_bytes)
		return 0;
	if (room > stream->file_bytes - stream->file_at)
		room = (size_t)(stream->file_bytes - stream->file_at);
	got = pread(stream->file, to, room, (off_t)stream->file_at);
	if (got <= 0)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	stream->file_at += (uint64_t)got;
	return got;
}

static ssize_t http_read_answer(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                                uint32_t *flags, nghttp2_data_source *source, void *context)
{
	static const nghttp2_nv trailers[] = { { (uint8_t *)(uintptr_t) "grpc-status",
		                                     (uint8_t *)(uintptr_t) "0", 11, 1, 0 } };
	struct dw_serve_stream *stream = source->ptr;
	ssize_t got = http_next_bytes(stream, to, room);

	if (got >= 0 && stream->out_at == stream->out_length && stream->file_at == stream->file_bytes) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		nghttp2_submit_trailer(session, id, trailers, 1);
	}
	return got;
}

static void http_submit_message(struct dw_serve_stream *stream)
{
	const nghttp2_nv headers[] = { FIELD(":status", "200"),
		FIELD("content-type", "application/grpc") };
	nghttp2_data_provider provider = { .source.ptr = stream, .read_callback = http_read_answer };

	nghttp2_submit_response(stream->connection->session, stream->id, headers, 2, &provider);
}

void dw_serve_answer(struct dw_serve_stream *stream, enum dw_grpc status, const char *message)
{
	stream->status = status;
	stream->answered_ms = dw_clock_monotonic_ms();
	snprintf(stream->message, sizeof stream->message, "%s", message);
	for (char *at = stream->message; *at; at++) /* it becomes the value of a header */
		if (*at < ' ' || *at > '~' || *at == '%')
			*at = '?';
	if (status == DW_GRPC_OK) {
		stream->out_length = FRAME_HEADER;
		http_submit_message(stream);
	} else {
		http_submit_error(stream);
	}
}

/*
 * ProfileResponse: xspace (8), or tool_data (6) with a name (1) and data (2). The file is the last
 * part of both, so only the bytes before it are made here.
 */
void dw_serve_answer_file(struct dw_serve_stream *stream, int file, uint64_t bytes, bool as_xspace)
{
	static const char name[] = "\x0a\x09xplane.pb\x12";
	unsigned char inner[32], *to = stream->out + FRAME_HEADER;
	size_t inner_length = 0;
	uint64_t total;

	stream->file = file;
	if (!as_xspace) {
		memcpy(inner, name, sizeof name - 1);
		inner_length = sizeof name - 1;
		inner_length += dw_proto_put_varint(inner + inner_length, bytes);
	}
	*to++ = as_xspace ? 8 << 3 | 2 : 6 << 3 | 2;
	to += dw_proto_put_varint(to, inner_length + bytes);
	memcpy(to, inner, inner_length);
	to += inner_length;
	total = (uint64_t)(to - stream->out) - FRAME_HEADER + bytes;
	if (total > INT32_MAX) {
		dw_serve_answer(stream, DW_GRPC_RESOURCE_EXHAUSTED,
		                "the capture is over 2 GiB, which gRPC cannot carry; ask for a shorter one");
		return;
	}
	for (unsigned i = 0; i < 4; i++)
		stream->out[1 + i] = (unsigned char)(total >> (24 - 8 * i));
	stream->out_length = (size_t)(to - stream->out);
	stream->file_bytes = bytes;
	stream->answered_ms = dw_clock_monotonic_ms();
	http_submit_message(stream);
}

/* ---- calls -------------------------------------------------------------------------- */

static void http_terminate(struct dw_serve_stream *stream, const unsigned char *message, size_t length)
{
	char session[DW_SERVE_MOST_SESSION];

	if (!dw_serve_read_terminate(session, message, length)) {
		dw_serve_answer(stream, DW_GRPC_INVALID_ARGUMENT, "the TerminateRequest is damaged");
		return;
	}
	stream->connection->serve->calls->terminate(stream->connection->serve, session);
	dw_serve_answer(stream, DW_GRPC_OK, "");
}

/* If a token is set, it decides; otherwise the user of the client process does. */
static bool http_is_authorized(struct dw_serve_stream *stream)
{
	struct dw_serve_connection *connection = stream->connection;

	if (connection->serve->options->token)
		return stream->authorized;
	if (connection->peer == DW_PEER_UNKNOWN)
		connection->peer = dw_serve_is_ours(connection->socket) ? DW_PEER_OURS : DW_PEER_OTHER;
	return connection->peer == DW_PEER_OURS;
}

static void http_dispatch(struct dw_serve_stream *stream)
{
	const unsigned char *in = stream->in;
	const char *method = stream->path + strlen(SERVICE);
	bool ours = strncmp(stream->path, SERVICE, strlen(SERVICE)) == 0;

	stream->asked = true;
	stream->connection->last_ms = dw_clock_monotonic_ms();
	if (!stream->grpc)
		dw_serve_answer(stream, DW_GRPC_INVALID_ARGUMENT, "this is gRPC: application/grpc");
	else if (!http_is_authorized(stream))
		dw_serve_answer(stream, DW_GRPC_UNAUTHENTICATED,
		                stream->connection->serve->options->token
		                    ? "send the server's token as authorization: Bearer TOKEN"
		                    : "the program is another user's; who serves it can set DWELL_TOKEN for both");
	else if (!ours || (strcmp(method, "Profile") != 0 && strcmp(method, "Terminate") != 0))
		dw_serve_answer(stream, DW_GRPC_UNIMPLEMENTED, "there are Profile and Terminate");
	else if (stream->in_length > MOST_REQUEST)
		dw_serve_answer(stream, DW_GRPC_RESOURCE_EXHAUSTED, "the request is over 64 KiB");
	else if (stream->in_length < FRAME_HEADER || ((uint64_t)in[1] << 24 | in[2] << 16 | in[3] << 8 | in[4]) !=
	         stream->in_length - FRAME_HEADER)
		dw_serve_answer(stream, DW_GRPC_INTERNAL, "the request is not one gRPC message");
	else if (in[0])
		dw_serve_answer(stream, DW_GRPC_UNIMPLEMENTED, "compressed requests are not taken");
	else if (strcmp(method, "Terminate") == 0)
		http_terminate(stream, in + FRAME_HEADER, stream->in_length - FRAME_HEADER);
	else
		stream->connection->serve->calls->start(stream->connection->serve, stream);
}

/* ---- callbacks of nghttp2 ----------------------------------------------------------- */

static int http_on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct dw_serve_connection *connection = context;
	struct dw_serve_stream *stream;

	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	stream = calloc(1, sizeof *stream);
	if (!stream)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	stream->connection = connection;
	stream->id = frame->hd.stream_id;
	stream->file = -1;
	stream->began_ms = dw_clock_monotonic_ms();
	stream->next = connection->streams;
	connection->streams = stream;
	nghttp2_session_set_stream_user_data(session, stream->id, stream);
	return 0;
}

/* Compares tokens of the right length in constant time. */
static bool http_is_token(const char *token, const uint8_t *value, size_t length)
{
	static const char scheme[] = "Bearer ";
	size_t skip = sizeof scheme - 1;
	unsigned different = 0;

	if (length != skip + strlen(token) || memcmp(value, scheme, skip) != 0)
		return false;
	for (size_t i = skip; i < length; i++)
		different |= value[i] ^ (unsigned char)token[i - skip];
	return !different;
}

static int http_on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                          size_t name_length, const uint8_t *value, size_t length, uint8_t flags, void *context)
{
	static const char grpc[] = "application/grpc";
	struct dw_serve_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	const char *token;

	if (!stream)
		return 0;
	token = stream->connection->serve->options->token;
	if (name_length == 5 && memcmp(name, ":path", 5) == 0 && length < sizeof stream->path) {
		memcpy(stream->path, value, length);
		stream->path[length] = '\0';
	} else if (name_length == 12 && memcmp(name, "content-type", 12) == 0) {
		stream->grpc = length >= sizeof grpc - 1 && memcmp(value, grpc, sizeof grpc - 1) == 0;
	} else if (token && name_length == 13 && memcmp(name, "authorization", 13) == 0) {
		stream->authorized = http_is_token(token, value, length);
	}
	return 0;
}

static int http_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                        size_t length, void *context)
{
	struct dw_serve_stream *stream = nghttp2_session_get_stream_user_data(session, id);
	unsigned char *grown;

	if (!stream || stream->asked)
		return 0;
	if (stream->in_length + length > MOST_REQUEST) {
		stream->in_length = MOST_REQUEST + 1;
		http_dispatch(stream); /* refused now, without waiting for the rest */
		return 0;
	}
	if (stream->in_length + length > stream->in_size) {
		grown = realloc(stream->in, stream->in_length + length);
		if (!grown)
			return NGHTTP2_ERR_CALLBACK_FAILURE;
		stream->in = grown;
		stream->in_size = stream->in_length + length;
	}
	memcpy(stream->in + stream->in_length, bytes, length);
	stream->in_length += length;
	return 0;
}

static int http_frame_end(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
	struct dw_serve_stream *stream;

	if ((frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) ||
	    !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (stream && !stream->asked)
		http_dispatch(stream);
	return 0;
}

static void http_drop(struct dw_serve_stream *stream)
{
	struct dw_serve_stream **at = &stream->connection->streams;

	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	if (stream->asked)
		stream->connection->last_ms = dw_clock_monotonic_ms();
	stream->connection->serve->calls->cancel(stream->connection->serve, stream);
	if (stream->file >= 0)
		close(stream->file);
	free(stream->in);
	free(stream);
}

static int http_on_closed(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
	struct dw_serve_stream *stream = nghttp2_session_get_stream_user_data(session, id);

	if (stream)
		http_drop(stream);
	return 0;
}

static ssize_t http_send_bytes(nghttp2_session *session, const uint8_t *bytes, size_t length, int flags, void *context)
{
	const struct dw_serve_connection *connection = context;
	ssize_t sent = send(connection->socket, bytes, length, MSG_NOSIGNAL);

	if (sent >= 0)
		return sent;
	return errno == EAGAIN || errno == EINTR ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
}

/* ---- connections -------------------------------------------------------------------- */

static int http_make_session(struct dw_serve_connection *connection)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MOST_STREAMS }
	};
	nghttp2_session_callbacks *callbacks;
	int result;

	if (nghttp2_session_callbacks_new(&callbacks) != 0)
		return -1;
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, http_on_begin);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, http_on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, http_on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, http_frame_end);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, http_on_closed);
	nghttp2_session_callbacks_set_send_callback(callbacks, http_send_bytes);
	result = nghttp2_session_server_new(&connection->session, callbacks, connection);
	nghttp2_session_callbacks_del(callbacks);
	return result || nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 1);
}

struct dw_serve_connection *dw_serve_connect(struct dw_serve *serve, int socket)
{
	struct dw_serve_connection *connection = calloc(1, sizeof *connection);

	if (connection) {
		connection->serve = serve;
		connection->socket = socket;
		connection->last_ms = dw_clock_monotonic_ms();
	}
	if (!connection || http_make_session(connection) || !dw_serve_send(connection)) {
		if (connection)
			nghttp2_session_del(connection->session);
		free(connection);
		close(socket);
		return NULL;
	}
	return connection;
}

void dw_serve_disconnect(struct dw_serve_connection *connection)
{
	while (connection->streams)
		http_drop(connection->streams);
	nghttp2_session_del(connection->session);
	close(connection->socket);
	free(connection);
}

bool dw_serve_receive(struct dw_serve_connection *connection)
{
	uint8_t bytes[16 << 10];
	ssize_t got = recv(connection->socket, bytes, sizeof bytes, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	return got && nghttp2_session_mem_recv(connection->session, bytes, (size_t)got) >= 0;
}

static bool http_is_captured(const struct dw_serve_stream *stream)
{
	const struct dw_serve_capture *capture = &stream->connection->serve->capture;

	return capture->phase != DW_CAPTURE_NONE && capture->stream == stream;
}

/* An answer may take the time that it needs at SLOWEST bytes per millisecond, plus unread_ms. */
bool dw_serve_is_overdue(const struct dw_serve_connection *connection, uint64_t now_ms)
{
	const struct dw_serve_limits *limits = &connection->serve->limits;

	if (!connection->streams)
		return now_ms > connection->last_ms + limits->silent_ms;
	for (const struct dw_serve_stream *stream = connection->streams; stream; stream = stream->next) {
		if (http_is_captured(stream))
			continue;
		if (!stream->asked ? now_ms > stream->began_ms + limits->request_ms
		                   : now_ms > stream->answered_ms + limits->unread_ms +
		                                  stream->file_bytes / SLOWEST)
			return true;
	}
	return false;
}

bool dw_serve_is_served(const struct dw_serve_connection *connection)
{
	for (const struct dw_serve_stream *stream = connection->streams; stream; stream = stream->next)
		if (http_is_captured(stream) || stream->file >= 0)
			return true;
	return false;
}

bool dw_serve_send(struct dw_serve_connection *connection)
{
	return nghttp2_session_send(connection->session) == 0 && (nghttp2_session_want_read(connection->session) ||
	                                                          nghttp2_session_want_write(connection->session));
}
