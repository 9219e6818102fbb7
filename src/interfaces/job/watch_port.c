/* A server of one text; see watch_port.h. One request a connection, and one connection at a time. */
#include "job/watch_port.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"

#define MOST_REQUEST 8192u
#define MOST_MS 2000u /* that a client may take, so that slow ones do not keep the watch from its job */

/* Whether the client can be read or written before that time. */
static bool watch_is_ready(int client, short events, uint64_t until_ms)
{
	struct pollfd polled = { client, events, 0 };
	uint64_t now_ms = dw_clock_monotonic_ms();

	return now_ms < until_ms && poll(&polled, 1, (int)(until_ms - now_ms)) > 0;
}

static void watch_send(int client, const char *bytes, size_t length, uint64_t until_ms)
{
	while (length && watch_is_ready(client, POLLOUT, until_ms)) {
		ssize_t sent = send(client, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent <= 0)
			return;
		bytes += sent;
		length -= (size_t)sent;
	}
}

/* Whether the head of a request arrived whole. It is stored as text. */
static bool watch_receive(int client, char request[MOST_REQUEST], uint64_t until_ms)
{
	size_t length = 0;

	while (length < MOST_REQUEST - 1 && watch_is_ready(client, POLLIN, until_ms)) {
		ssize_t got = recv(client, request + length, MOST_REQUEST - 1 - length, MSG_DONTWAIT);

		if (got <= 0)
			return false;
		length += (size_t)got;
		request[length] = '\0';
		if (strstr(request, "\r\n\r\n"))
			return true;
	}
	return false;
}

/* Whether the request has one Host, and that is this machine with the port where the client connected. A web site that
 * lets its name point here cannot change the Host, and so reads nothing through a browser. */
static bool watch_is_here(int client, const char *request)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	struct sockaddr_in address;
	socklen_t length = sizeof address;
	const char *line = request;
	unsigned hosts = 0;
	bool here = false;

	if (getsockname(client, (struct sockaddr *)&address, &length) != 0)
		return false;
	while ((line = strstr(line, "\r\n")) && *(line += 2)) {
		const char *value = line + 5;
		size_t size;

		if (strncasecmp(line, "Host:", 5) != 0)
			continue;
		hosts++;
		value += strspn(value, " \t");
		size = strcspn(value, " \t\r");
		for (size_t i = 0; i < 2; i++) {
			char wanted[32];
			int wanted_size = snprintf(wanted, sizeof wanted, "%s:%u", names[i], ntohs(address.sin_port));

			here |= size == (size_t)wanted_size && strncasecmp(value, wanted, size) == 0;
		}
	}
	return here && hosts == 1;
}

static void watch_answer(int client, const char *text, size_t length)
{
	uint64_t until_ms = dw_clock_monotonic_ms() + MOST_MS;
	char request[MOST_REQUEST], head[200];
	const char *status = "200 OK";

	if (!watch_receive(client, request, until_ms))
		return;
	if (!watch_is_here(client, request)) {
		status = "403 Forbidden";
		text = "ask for 127.0.0.1 or localhost with the port of dwell watch\n";
		length = strlen(text);
	} else if (strncmp(request, "GET /metrics ", 13) != 0 && strncmp(request, "GET /metrics?", 13) != 0) {
		status = "404 Not Found";
		text = "only GET /metrics is answered\n";
		length = strlen(text);
	}
	snprintf(head, sizeof head,
	         "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
	         "Connection: close\r\n\r\n", status, length);
	watch_send(client, head, strlen(head), until_ms);
	watch_send(client, text, length, until_ms);
}

void dw_watch_serve(int listener, const char *text, size_t length, int ms)
{
	uint64_t until_ms = dw_clock_monotonic_ms() + (uint64_t)ms, now_ms;

	while ((now_ms = dw_clock_monotonic_ms()) < until_ms) {
		struct pollfd polled = { listener, POLLIN, 0 };
		int ready = poll(&polled, 1, (int)(until_ms - now_ms)), client;

		if (ready <= 0)
			return;
		client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0) {
			watch_answer(client, text, length);
			close(client);
		}
	}
}
