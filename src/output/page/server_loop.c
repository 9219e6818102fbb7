/* The socket and the loop of `dwell view`; see server.h. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/system/listen.h"
#include "page/server_inside.h"

#define MOST_CONNECTIONS 64u
#define TICK_MS 1000
#define SILENT_MS 120000u   /* a connection without a request, or whose answer nobody reads */

struct server_loop {
	struct dw_view view;
	struct dw_view_connection *connections[MOST_CONNECTIONS];
	struct pollfd polled[1 + MOST_CONNECTIONS];
};

/* ---- the socket ------------------------------------------------------------------------------------- */

static int server_make_secret(char secret[DW_VIEW_SECRET], struct dwell_error *error)
{
	unsigned char bytes[(DW_VIEW_SECRET - 1) / 2];

	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return dw_error_set(error, DWELL_E_IO, "cannot make a token: %s", strerror(errno));
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(secret + i * 2, 3, "%02x", bytes[i]);
	return 0;
}

static int server_listen(struct dw_view *view, struct dwell_error *error)
{
	view->port = view->options->port;
	view->listener = dw_listen(DW_LISTEN_HERE, &view->port, error);
	return view->listener < 0 ? DWELL_E_IO : 0;
}

/* A place for a connection. If all are used, closes the one that was silent for longest. */
static size_t server_free_place(struct server_loop *loop)
{
	size_t oldest = 0;

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		if (!loop->connections[i])
			return i;
		if (loop->connections[i]->last_ms < loop->connections[oldest]->last_ms)
			oldest = i;
	}
	dw_view_disconnect(loop->connections[oldest]);
	loop->connections[oldest] = NULL;
	return oldest;
}

static void server_accept(struct server_loop *loop)
{
	int on = 1, socket = accept4(loop->view.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (socket < 0)
		return;
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	loop->connections[server_free_place(loop)] = dw_view_connect(socket);
}

/* ---- the loop ----------------------------------------------------------------------------------------- */

static void server_set_polled(struct server_loop *loop)
{
	loop->polled[0] = (struct pollfd){ loop->view.listener, POLLIN, 0 };
	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		const struct dw_view_connection *connection = loop->connections[i];

		loop->polled[1 + i] = (struct pollfd){ connection ? connection->socket : -1, POLLIN, 0 };
		if (connection && dw_view_has_output(connection))
			loop->polled[1 + i].events = POLLOUT;
	}
}

static void server_answer_connections(struct server_loop *loop)
{
	uint64_t now = dw_clock_monotonic_ms();

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		struct dw_view_connection *connection = loop->connections[i];
		short ready = loop->polled[1 + i].revents;
		bool goes_on = true;

		if (!connection || loop->polled[1 + i].fd != connection->socket)
			continue;
		if (ready & (POLLERR | POLLNVAL))
			goes_on = false;
		else if (ready & (POLLIN | POLLHUP) && !dw_view_has_output(connection))
			goes_on = dw_view_receive(&loop->view, connection, dw_view_answer);
		goes_on = goes_on && dw_view_send(connection) && now < connection->last_ms + SILENT_MS;
		if (!goes_on) {
			dw_view_disconnect(connection);
			loop->connections[i] = NULL;
		}
	}
}

static int server_loop(struct server_loop *loop, const volatile int *stop, struct dwell_error *error)
{
	int result = 0;

	while (!*stop && !result) {
		bool busy = !loop->view.shown.complete || loop->view.has_fresh;

		server_set_polled(loop);
		if (poll(loop->polled, 1 + MOST_CONNECTIONS, busy ? 0 : TICK_MS) < 0)
			continue; /* interrupted by a signal: `revents` is not valid */
		server_answer_connections(loop);
		if (loop->polled[0].revents & POLLIN)
			server_accept(loop);
		dw_view_report_look(&loop->view.shown);
		result = dw_view_go_on(&loop->view, error);
	}
	return result;
}

static int server_start(struct dw_view *view, struct dwell_error *error)
{
	int result = dw_view_open_trace(view->options, &view->shown, error);
	char address[128];

	if (!result && stat(view->options->paths[0], &view->file) != 0)
		result = dw_error_set(error, DWELL_E_IO, "cannot look at %s: %s", view->options->paths[0], strerror(errno));
	if (!result)
		result = server_make_secret(view->token, error);
	if (!result)
		result = server_make_secret(view->session, error);
	if (!result)
		result = server_listen(view, error);
	if (result)
		return result;
	snprintf(address, sizeof address, "http://127.0.0.1:%u/?token=%s", view->port, view->token);
	view->options->ready(view->options->context, address, view->port, view->shown.source->live);
	return 0;
}

int dw_view_serve(const struct dw_view_options *options, const volatile int *stop, struct dwell_error *error)
{
	struct server_loop *loop = calloc(1, sizeof *loop);
	int result;

	if (!loop)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	loop->view = (struct dw_view){ .options = options, .listener = -1, .version = 1 };
	result = server_start(&loop->view, error);
	if (!result)
		result = server_loop(loop, stop, error);
	for (size_t i = 0; i < MOST_CONNECTIONS; i++)
		if (loop->connections[i])
			dw_view_disconnect(loop->connections[i]);
	if (loop->view.listener >= 0)
		close(loop->view.listener);
	dw_view_close_trace(&loop->view.fresh);
	if (!dw_view_report_ended(&loop->view.shown))
		return result; /* the process ends now; what the report's thread reads stays */
	dw_view_close_trace(&loop->view.shown);
	free(loop);
	return result;
}
