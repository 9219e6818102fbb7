/* A server of one text; see watch_port.h. One request a connection. A client that says nothing, or does not read, keeps no
 * other from its answer. */
#include "job/watch_port.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"

#define MOST_REQUEST 8192u
#define MOST_MS 2000u /* that a client may take for its request, and for reading the answer */
#define MOST_CLIENTS 64u

struct watch_client {
	int fd;
	uint64_t until_ms; /* it has so long for its request, and as long again to read the answer */
	size_t length;
	char request[MOST_REQUEST]; /* as text */
	char *answer;               /* NULL: the request is not whole yet */
	size_t answer_length, sent;
};

/* In the order in which they came. */
static struct watch_client *clients[MOST_CLIENTS];
static size_t client_count;

static void watch_drop(size_t at)
{
	close(clients[at]->fd);
	free(clients[at]->answer);
	free(clients[at]);
	client_count--;
	memmove(&clients[at], &clients[at + 1], (client_count - at) * sizeof *clients);
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

/* Makes the answer to a whole request. False: out of memory. */
static bool watch_answer(struct watch_client *client, const char *text, size_t length)
{
	const char *status = "200 OK";
	char head[200];
	int size;

	if (!watch_is_here(client->fd, client->request)) {
		status = "403 Forbidden";
		text = "ask for 127.0.0.1 or localhost with the port of dwell watch\n";
		length = strlen(text);
	} else if (strncmp(client->request, "GET /metrics ", 13) != 0 && strncmp(client->request, "GET /metrics?", 13) != 0) {
		status = "404 Not Found";
		text = "only GET /metrics is answered\n";
		length = strlen(text);
	}
	size = snprintf(head, sizeof head,
	                "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: %zu\r\n"
	                "Connection: close\r\n\r\n", status, length);
	client->answer = malloc((size_t)size + length);
	if (!client->answer)
		return false;
	memcpy(client->answer, head, (size_t)size);
	memcpy(client->answer + size, text, length);
	client->answer_length = (size_t)size + length;
	client->until_ms = dw_clock_monotonic_ms() + MOST_MS;
	return true;
}

/* Reads what a client sent, or sends it what is left of the answer. False: it is done. */
static bool watch_go_on(struct watch_client *client, const char *text, size_t length)
{
	ssize_t got;

	if (client->answer) {
		got = send(client->fd, client->answer + client->sent, client->answer_length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		client->sent += got > 0 ? (size_t)got : 0;
		return got > 0 && client->sent < client->answer_length;
	}
	got = recv(client->fd, client->request + client->length, MOST_REQUEST - 1 - client->length, MSG_DONTWAIT);
	if (got <= 0)
		return false;
	client->length += (size_t)got;
	client->request[client->length] = '\0';
	if (strstr(client->request, "\r\n\r\n"))
		return watch_answer(client, text, length);
	return client->length < MOST_REQUEST - 1;
}

/* Where there is no place, the one that has been silent for longest gives way. */
static void watch_accept(int listener)
{
	struct watch_client *client;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (client_count == MOST_CLIENTS)
		watch_drop(0);
	client = calloc(1, sizeof *client);
	if (!client) {
		close(fd);
		return;
	}
	client->fd = fd;
	client->until_ms = dw_clock_monotonic_ms() + MOST_MS;
	clients[client_count++] = client;
}

/* Waits until the listener or a client is ready, or until that time. False: a signal ended the wait. */
static bool watch_poll(int listener, struct pollfd polled[MOST_CLIENTS + 1], uint64_t until_ms)
{
	uint64_t now_ms = dw_clock_monotonic_ms();

	polled[client_count] = (struct pollfd){ listener, POLLIN, 0 };
	for (size_t i = 0; i < client_count; i++) {
		polled[i] = (struct pollfd){ clients[i]->fd, clients[i]->answer ? POLLOUT : POLLIN, 0 };
		until_ms = clients[i]->until_ms < until_ms ? clients[i]->until_ms : until_ms;
	}
	return poll(polled, client_count + 1, until_ms > now_ms ? (int)(until_ms - now_ms) : 0) >= 0;
}

void dw_watch_serve(int listener, const char *text, size_t length, int ms)
{
	uint64_t until_ms = dw_clock_monotonic_ms() + (uint64_t)ms, now_ms;
	struct pollfd polled[MOST_CLIENTS + 1];

	while (dw_clock_monotonic_ms() < until_ms && watch_poll(listener, polled, until_ms)) {
		bool is_new = polled[client_count].revents;

		now_ms = dw_clock_monotonic_ms();
		for (size_t i = client_count; i--;)
			if (polled[i].revents ? !watch_go_on(clients[i], text, length) : now_ms >= clients[i]->until_ms)
				watch_drop(i);
		if (is_new)
			watch_accept(listener);
	}
}
