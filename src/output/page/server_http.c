/*
 * One connection of `dwell view`: requests and answers of HTTP/1.1.
 *
 * Only what browsers send is accepted: GET without a body, a bounded head. A client that asks faster
 * than it reads is not read from until it has read the answers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "page/server_inside.h"

/* Scripts and styles come from this server alone, and nothing else is loaded. */
#define POLICY \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; " \
	"connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; " \
	"frame-ancestors 'none'\r\n"
#define OTHERS \
	"Cache-Control: no-store\r\n" \
	"Cross-Origin-Opener-Policy: same-origin\r\n" \
	"Cross-Origin-Resource-Policy: same-origin\r\n" \
	"Referrer-Policy: no-referrer\r\n" \
	"X-Content-Type-Options: nosniff\r\n"

struct dw_view_connection *dw_view_connect(int socket)
{
	struct dw_view_connection *connection = calloc(1, sizeof *connection);

	if (!connection) {
		close(socket);
		return NULL;
	}
	connection->socket = socket;
	connection->last_ms = dw_clock_monotonic_ms();
	dw_out_init_memory(&connection->out);
	return connection;
}

void dw_view_disconnect(struct dw_view_connection *connection)
{
	close(connection->socket);
	dw_out_reset(&connection->out);
	free(connection);
}

/* ---- answers ------------------------------------------------------------------------------------- */

void dw_view_put_with(struct dw_view_connection *connection, const struct dw_view_request *request,
                      const char *status, const char *policy, const char *type,
                      const char *headers, const char *body, size_t length)
{
	struct dw_writer_out *out = &connection->out;

	connection->ends |= request->last;
	dw_out_text(out, "HTTP/1.1 ");
	dw_out_text(out, status);
	dw_out_text(out, "\r\n" OTHERS);
	dw_out_text(out, policy);
	dw_out_text(out, "Content-Type: ");
	dw_out_text(out, type);
	dw_out_text(out, "\r\nContent-Length: ");
	dw_out_u64(out, length);
	dw_out_text(out, connection->ends ? "\r\nConnection: close\r\n" : "\r\n");
	dw_out_text(out, headers ? headers : "");
	dw_out_text(out, "\r\n");
	if (strcmp(request->method, "HEAD") != 0)
		dw_out_bytes(out, body, length);
}

void dw_view_put(struct dw_view_connection *connection, const struct dw_view_request *request,
                 const char *status, const char *type, const char *headers, const char *body, size_t length)
{
	dw_view_put_with(connection, request, status, POLICY, type, headers, body, length);
}

void dw_view_refuse(struct dw_view_connection *connection, const struct dw_view_request *request,
                    const char *status, const char *text)
{
	char body[512];
	int length = snprintf(body, sizeof body, "%s\n", text);

	dw_view_put(connection, request, status, "text/plain; charset=utf-8", NULL, body,
	            (size_t)(length < (int)sizeof body ? length : (int)sizeof body - 1));
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* Stores the value of a header that matters. False: this request cannot be answered safely. */
static bool http_take_header(struct dw_view_request *request, char *name, char *value)
{
	char *end = value + strlen(value);

	value += strspn(value, " \t");
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	if (strcasecmp(name, "host") == 0) {
		if (request->host)
			return false; /* two: which one did somebody check? */
		request->host = value;
	} else if (strcasecmp(name, "origin") == 0) {
		request->origin = value;
	} else if (strcasecmp(name, "cookie") == 0) {
		request->cookie = value;
	} else if (strcasecmp(name, "sec-fetch-site") == 0) {
		request->site = value;
	} else if (strcasecmp(name, "connection") == 0) {
		request->last |= strcasestr(value, "close") != NULL;
	} else if (strcasecmp(name, "transfer-encoding") == 0) {
		return false;
	} else if (strcasecmp(name, "content-length") == 0) {
		return strcmp(value, "0") == 0;
	}
	return true;
}

/* Splits the head in place. NULL: it is well formed; otherwise what is wrong with it. */
static const char *http_parse(char *head, struct dw_view_request *request)
{
	char *line = head, *next = strstr(head, "\r\n"), *target, *version, *query;

	*next = '\0';
	request->method = line;
	target = strchr(line, ' ');
	version = target ? strchr(target + 1, ' ') : NULL;
	if (!version || strchr(version + 1, ' ') || target[1] != '/' || strncmp(version + 1, "HTTP/1.", 7) != 0)
		return "this is not a request of HTTP/1.1";
	*target++ = *version++ = '\0';
	request->last = strcmp(version, "HTTP/1.1") != 0;
	query = strchr(target, '?');
	if (query)
		*query++ = '\0';
	request->path = target;
	request->query = query ? query : "";
	for (line = next + 2; *line; line = next + 2) {
		char *value = strchr(line, ':');

		next = strstr(line, "\r\n");
		if (!next)
			break;
		*next = '\0';
		if (!value || value > next || value == line || strchr(" \t", *line) || value[-1] == ' ')
			return "a header is not well formed";
		*value++ = '\0';
		if (!http_take_header(request, line, value))
			return "requests have one Host and no body";
	}
	return NULL;
}

/* Answers the request at the start of the buffer. False: it is not complete. */
static bool http_answer_one(struct dw_view *view, struct dw_view_connection *connection,
                            dw_view_answer_function *answer)
{
	struct dw_view_request request = { .method = "GET", .path = "", .query = "" };
	char *end;
	const char *wrong;
	size_t length;

	connection->in[connection->in_length] = '\0';
	end = memmem(connection->in, connection->in_length, "\r\n\r\n", 4);
	if (!end && connection->in_length < DW_VIEW_MOST_REQUEST)
		return false;
	if (!end) {
		request.last = true;
		dw_view_refuse(connection, &request, "431 Request Header Fields Too Large",
		               "the head of a request has at most 16 KiB");
		return false;
	}
	length = (size_t)(end + 4 - connection->in);
	end[2] = '\0';
	wrong = memchr(connection->in, '\0', length - 4) ? "a request has no NUL" : http_parse(connection->in, &request);
	if (wrong) {
		request.last = true;
		request.method = "GET";
		dw_view_refuse(connection, &request, "400 Bad Request", wrong);
	} else {
		answer(view, connection, &request);
	}
	memmove(connection->in, connection->in + length, connection->in_length - length);
	connection->in_length -= length;
	return !connection->ends;
}

bool dw_view_receive(struct dw_view *view, struct dw_view_connection *connection, dw_view_answer_function *answer)
{
	ssize_t got = recv(connection->socket, connection->in + connection->in_length,
	                   DW_VIEW_MOST_REQUEST - connection->in_length, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!got)
		return false;
	connection->last_ms = dw_clock_monotonic_ms();
	connection->in_length += (size_t)got;
	while (!connection->ends && http_answer_one(view, connection, answer))
		;
	return true;
}

bool dw_view_send(struct dw_view_connection *connection)
{
	struct dw_writer_out *out = &connection->out;

	while (dw_view_has_output(connection)) {
		ssize_t sent = send(connection->socket, out->buffer + connection->out_at,
		                    out->used - connection->out_at, MSG_NOSIGNAL);

		if (sent < 0)
			return errno == EAGAIN || errno == EINTR;
		connection->out_at += (size_t)sent;
		connection->last_ms = dw_clock_monotonic_ms();
	}
	if (out->error || connection->ends)
		return false;
	if (out->size > 1u << 20) { /* gives the memory of a large answer back */
		dw_out_reset(out);
		dw_out_init_memory(out);
	}
	out->used = connection->out_at = 0;
	return true;
}
