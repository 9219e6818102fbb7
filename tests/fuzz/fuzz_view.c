/*
 * Property: whatever bytes a client of `dwell view` sends, in whatever pieces, the connection ends or goes on without a
 * fault. A request that is handed on has a method, a path that begins with a slash, at most one Host, and texts that end
 * within the buffer and hold no end of a line. Each request is answered once, and no more is held than its bounds say.
 *
 * An input is its first byte, then what the socket receives, in pieces of that many bytes; from 128 on in one piece.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounds.h"
#include "page/server_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t handed_on;

static void check_text(const struct dw_view_connection *connection, const char *text)
{
	const char *end = connection->in + sizeof connection->in;

	if (!text || !*text) /* "" need not be in the buffer */
		return;
	demand(text >= connection->in && text < end);
	demand(memchr(text, '\0', (size_t)(end - text)) != NULL && !strstr(text, "\r\n"));
}

static void take_request(struct dw_view *view, struct dw_view_connection *connection, const struct dw_view_request *request)
{
	(void)view;
	handed_on++;
	check_text(connection, request->method);
	check_text(connection, request->path);
	check_text(connection, request->query);
	check_text(connection, request->host);
	check_text(connection, request->origin);
	check_text(connection, request->cookie);
	check_text(connection, request->site);
	demand(request->path[0] == '/' && !strchr(request->path, '?') && !strchr(request->path, ' ') && !strchr(request->method, ' '));
	dw_view_refuse(connection, request, "404 Not Found", request->path);
}

/* What is answered is read and thrown away, or the socket would fill. */
static void drain(int socket)
{
	char bytes[4096];

	while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
}

static void receive(const uint8_t *data, size_t size, size_t piece)
{
	struct dw_view_connection *connection;
	bool goes_on = true;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
		return;
	connection = dw_view_connect(ends[0]);
	demand(connection != NULL);
	while (goes_on && size) {
		size_t length = piece < size ? piece : size, before = handed_on;

		if (write(ends[1], data, length) != (ssize_t)length)
			break;
		goes_on = dw_view_receive(NULL, connection, take_request);
		demand(connection->in_length <= DW_VIEW_MOST_REQUEST);
		demand(handed_on == before || dw_view_has_output(connection));
		while (goes_on && dw_view_has_output(connection)) {
			goes_on = dw_view_send(connection);
			drain(ends[1]);
		}
		data += length;
		size -= length;
	}
	dw_view_disconnect(connection);
	close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || !data[0])
		return 0;
	bounds_begin();
	receive(data + 1, size - 1, data[0] < 128 ? data[0] : 16384);
	bounds_end(data, size, size);
	return 0;
}
