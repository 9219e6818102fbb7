/*
 * The capture service's socket and loop; see serve.h.
 *
 * Connections are few and small, and one poll() waits for all of them. A client without a capture
 * cannot keep a connection for long: a request must be complete after REQUEST_MS; an answer must be
 * read within UNREAD_MS and the time that a slow line needs; and between calls at most SILENT_MS
 * may pass. If all connections are in use, a new one replaces the one that was idle for longest.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/listen.h"
#include "serve/inside.h"

#define MOST_CONNECTIONS 64u
#define REQUEST_MS 10000u
#define SILENT_MS 120000u
#define UNREAD_MS 180000u
#define TICK_MS 1000u
#define FIXED 3u
#define OVER_MS 10000u /* for the last answer */

struct loop {
	struct dw_serve serve;
	struct dw_serve_connection *connections[MOST_CONNECTIONS];
	uint64_t over_ms; /* when it was asked to end; 0 means not yet */
	struct pollfd polled[FIXED + MOST_CONNECTIONS]; /* listener, child, channel, connections */
	bool closed;      /* the channel was closed */
};

static int serve_check_host(const struct dw_serve_options *options, struct in_addr *address, struct dwell_error *error)
{
	const char *host = options->host ? options->host : "127.0.0.1";

	if (options->port > 65535)
		return dw_error_set(error, DWELL_E_ARGUMENT, "no port %u: they go from 0 to 65535", options->port);
	if (inet_pton(AF_INET, host, address) != 1)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "%.100s is no address to listen at; give one of this machine's, as 10.0.0.5", host);
	if (ntohl(address->s_addr) >> 24 != 127 && !(options->token && *options->token))
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "listening at %.100s lets others in: set DWELL_TOKEN to what they must send", host);
	return 0;
}

static int serve_listen_at(struct dw_serve *serve, struct dwell_error *error)
{
	const struct dw_serve_options *options = serve->options;
	struct in_addr address;
	unsigned port = options->port;
	int result = serve_check_host(options, &address, error);

	if (options->inherited) {
		serve->listener = STDIN_FILENO;
		options->ready(options->context, "", 0);
		return 0;
	}
	if (result)
		return result;
	serve->listener = dw_listen(ntohl(address.s_addr), &port, error);
	if (serve->listener < 0)
		return DWELL_E_IO;
	if (options->ready)
		options->ready(options->context, options->host ? options->host : "127.0.0.1", port);
	return 0;
}

/* A place for a connection. If all are used, closes the one that was idle for longest;
 * MOST_CONNECTIONS: all have captures. */
static size_t serve_free_place(struct loop *loop)
{
	size_t oldest = MOST_CONNECTIONS;

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		const struct dw_serve_connection *connection = loop->connections[i];

		if (!connection)
			return i;
		if (!dw_serve_is_served(connection) &&
		    (oldest == MOST_CONNECTIONS || connection->last_ms < loop->connections[oldest]->last_ms))
			oldest = i;
	}
	if (oldest < MOST_CONNECTIONS) {
		dw_serve_disconnect(loop->connections[oldest]);
		loop->connections[oldest] = NULL;
	}
	return oldest;
}

static void serve_accept(struct loop *loop)
{
	int on = 1, socket = accept4(loop->serve.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	size_t at;

	if (socket < 0)
		return;
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	at = serve_free_place(loop);
	if (at < MOST_CONNECTIONS)
		loop->connections[at] = dw_serve_connect(&loop->serve, socket);
	else
		close(socket);
}

static int serve_wait_ms(const struct dw_serve *serve)
{
	const struct dw_serve_capture *capture = &serve->capture;
	uint64_t now = dw_clock_monotonic_ms(), wait = TICK_MS;

	if (capture->phase == DW_CAPTURE_WAITS || capture->phase == DW_CAPTURE_RECORDS)
		wait = capture->until_ms > now ? capture->until_ms - now : 0;
	return (int)(wait < TICK_MS ? wait : TICK_MS);
}

static void serve_set_polled(struct loop *loop)
{
	const struct dw_serve_capture *capture = &loop->serve.capture;

	loop->polled[0] = (struct pollfd){ loop->serve.listener, POLLIN, 0 };
	loop->polled[1] = (struct pollfd){ capture->phase == DW_CAPTURE_WRITES ? capture->done : -1, POLLIN, 0 };
	loop->polled[2] = (struct pollfd){ loop->serve.options->inherited && !loop->closed ? STDOUT_FILENO : -1, POLLIN, 0 };
	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		const struct dw_serve_connection *connection = loop->connections[i];

		loop->polled[FIXED + i] = (struct pollfd){ connection ? connection->socket : -1, POLLIN, 0 };
		if (connection && nghttp2_session_want_write(connection->session))
			loop->polled[FIXED + i].events |= POLLOUT;
	}
}

static void serve_connections(struct loop *loop)
{
	uint64_t now = dw_clock_monotonic_ms();

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		struct dw_serve_connection *connection = loop->connections[i];
		bool goes_on = true;

		if (!connection)
			continue;
		if (loop->polled[FIXED + i].fd == connection->socket &&
		    loop->polled[FIXED + i].revents & (POLLIN | POLLHUP | POLLERR))
			goes_on = dw_serve_receive(connection);
		goes_on = goes_on && dw_serve_send(connection) && !dw_serve_is_overdue(connection, now);
		if (!goes_on) {
			dw_serve_disconnect(connection);
			loop->connections[i] = NULL;
			malloc_trim(0); /* keeps this process small between captures */
		}
	}
}

/* Whether a call is in progress. Connections without a call do not keep the server running. */
static bool serve_is_answering(const struct loop *loop)
{
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (loop->connections[i] && loop->connections[i]->streams)
			return true;
	return false;
}

/* Whether the server should end: it was asked to stop, or the run has ended. Before that, it
 * finishes calls in progress, for at most OVER_MS. */
static bool serve_is_over(struct loop *loop, bool stop)
{
	struct dw_serve *serve = &loop->serve;

	if (!stop && !loop->closed && dw_serve_is_alive(&serve->control))
		return false;
	if (!loop->over_ms)
		loop->over_ms = dw_clock_monotonic_ms();
	dw_capture_finish(serve);
	return (serve->capture.phase == DW_CAPTURE_NONE && !serve_is_answering(loop)) ||
	       dw_clock_monotonic_ms() > loop->over_ms + OVER_MS;
}

static void serve_run(struct loop *loop, const volatile int *stop)
{
	while (!serve_is_over(loop, *stop)) {
		serve_set_polled(loop);
		if (poll(loop->polled, FIXED + MOST_CONNECTIONS, serve_wait_ms(&loop->serve)) < 0)
			continue; /* interrupted by a signal: `revents` is not valid */
		loop->closed |= loop->polled[2].revents != 0;
		dw_capture_step(&loop->serve, loop->polled[1].revents != 0);
		serve_connections(loop);
		if (loop->polled[0].revents & POLLIN)
			serve_accept(loop);
	}
}

/* Tests cannot wait for minutes: for them DWELL_TEST_SERVE_MS sets the shortest limit. */
static struct dw_serve_limits serve_limits(void)
{
	const char *test = getenv("DWELL_TEST_SERVE_MS");
	uint64_t least = test ? strtoull(test, NULL, 10) : 0;

	if (!least)
		return (struct dw_serve_limits){ REQUEST_MS, SILENT_MS, UNREAD_MS };
	return (struct dw_serve_limits){ least, least * 2, least * 2 };
}

int dw_serve_run(const struct dw_serve_options *options, const volatile int *stop, struct dwell_error *error)
{
	static struct loop loop; /* one per process */
	int result;

	loop = (struct loop){ .serve = { .calls = &dw_capture_calls, .options = options, .limits = serve_limits(), .listener = -1 } };
	result = dw_serve_control_open(&loop.serve.control, options->trace, error);
	if (result == 0)
		result = serve_listen_at(&loop.serve, error);
	if (result == 0)
		serve_run(&loop, stop);
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (loop.connections[i])
			dw_serve_disconnect(loop.connections[i]);
	dw_capture_stop(&loop.serve);
	dw_serve_control_close(&loop.serve.control);
	if (loop.serve.listener >= 0)
		close(loop.serve.listener);
	return result;
}
