/*
 * Property: whatever bytes a client sends, in whatever pieces, the connection ends or goes
 * on without a fault; a request that is taken has a duration of 1 ms to an hour and a
 * session's name that is a text; no more is held than the bounds of serve/http.c.
 *
 * An input is its first byte, then bytes. 0: a ProfileRequest. 1: a TerminateRequest.
 * Others: what a socket receives, in pieces of that many bytes, behind the preface when the
 * byte is odd. No trace is behind it: a capture that was understood answers that the
 * program has ended.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounds.h"
#include "serve/inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_session(const char session[DW_SERVE_MOST_SESSION])
{
	demand(memchr(session, '\0', DW_SERVE_MOST_SESSION) != NULL);
}

static void read_profile(const uint8_t *data, size_t size)
{
	struct dw_serve_request request;
	char message[160];

	if (dw_serve_read_profile(&request, data, size, message, sizeof message) == DW_GRPC_OK)
		demand(request.duration_ms >= 1 && request.duration_ms <= DW_SERVE_MOST_MS);
	else
		demand(memchr(message, '\0', sizeof message) && *message);
	check_session(request.session);
}

static void read_terminate(const uint8_t *data, size_t size)
{
	char session[DW_SERVE_MOST_SESSION];

	dw_serve_read_terminate(session, data, size);
	check_session(session);
}

static void check_bounds(const struct dw_serve_connection *connection)
{
	size_t streams = 0;

	for (const struct dw_serve_stream *stream = connection->streams; stream; stream = stream->next) {
		demand(stream->in_size <= 64u << 10);
		streams++;
	}
	demand(streams <= 64);
}

/* What we say is read and thrown away, or the socket would fill. */
static void drain(int socket)
{
	char bytes[4096];

	while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
}

static void receive(const uint8_t *data, size_t size, size_t piece, bool preface)
{
	static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
	static struct dw_head head; /* of a run that nobody is in */
	static struct dw_control page;
	static const struct dw_serve_options options = { .trace = "none" };
	struct dw_serve serve = { .calls = &dw_capture_calls, .options = &options, .control = { .head = &head, .page = &page },
		.limits = { 1000, 1000, 1000 },
		.listener = -1 };
	struct dw_serve_connection *connection;
	bool goes_on = true;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
		return;
	connection = dw_serve_connect(&serve, ends[0]);
	demand(connection != NULL);
	if (preface)
		goes_on = write(ends[1], hello, sizeof hello) > 0 && dw_serve_receive(connection) &&
		          dw_serve_send(connection);
	while (goes_on && size) {
		size_t length = piece < size ? piece : size;

		if (write(ends[1], data, length) != (ssize_t)length)
			break;
		goes_on = dw_serve_receive(connection) && dw_serve_send(connection);
		check_bounds(connection);
		drain(ends[1]);
		data += length;
		size -= length;
	}
	dw_serve_disconnect(connection);
	demand(serve.capture.phase == DW_CAPTURE_NONE);
	close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	bounds_begin();
	if (data[0] == 0)
		read_profile(data + 1, size - 1);
	else if (data[0] == 1)
		read_terminate(data + 1, size - 1);
	else
		receive(data + 1, size - 1, data[0] < 128 ? data[0] : 16384, data[0] & 1);
	bounds_end(data, size, size);
	return 0;
}
