/* The trace, the socket and the loop of `dwell view`; see server.h. */
#include "page/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "page/server_inside.h"

#define MOST_CONNECTIONS 64u
#define SLICE_MS 15u        /* reading between two looks at the sockets */
#define TICK_MS 1000
#define SILENT_MS 120000u   /* a connection without a request, or whose answer nobody reads */
#define REFRESH_MS 1500u    /* least time between two states of a running program's trace */
#define REFRESH_RATIO 10u   /* reading takes at most this part of the time */

struct server_loop {
	struct dw_view view;
	struct dw_view_connection *connections[MOST_CONNECTIONS];
	struct pollfd polled[1 + MOST_CONNECTIONS];
};

uint64_t dw_view_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- the trace ------------------------------------------------------------------------------------- */

static void server_close_trace(struct dw_view_trace *trace)
{
	dw_view_report_destroy(trace);
	dw_page_spans_destroy(trace->spans);
	if (trace->model)
		dw_model_destroy(trace->model);
	if (trace->source)
		dw_source_close(trace->source);
	*trace = (struct dw_view_trace){ 0 };
}

static int server_open_trace(const struct dw_view_options *options, struct dw_view_trace *trace,
                           struct dwell_error *error)
{
	struct stat file = { .st_size = 0 };
	int result;

	*trace = (struct dw_view_trace){ .opened_ms = dw_view_now_ms() };
	if (stat(options->paths[0], &file) == 0)
		trace->size_bytes = file.st_size;
	result = dw_source_open(&trace->source, options->paths, options->path_count, error);
	if (!result)
		result = dw_model_create(&trace->model, trace->source, NULL, error);
	if (!result)
		result = dw_page_spans_create(&trace->spans, trace->model, error);
	if (result)
		server_close_trace(trace);
	return result;
}

/* Reads on for a moment. */
static int server_read(struct dw_view_trace *trace, struct dwell_error *error)
{
	uint64_t from_ms = dw_view_now_ms();
	int result = dw_page_spans_read(trace->spans, SLICE_MS, error);

	trace->complete = result == 1;
	trace->read_ms += dw_view_now_ms() - from_ms;
	return result < 0 ? result : 0;
}

bool dw_view_is_gone(const struct dw_view *view)
{
	struct stat now;

	return stat(view->options->paths[0], &now) != 0 || now.st_ino != view->file.st_ino ||
	       now.st_dev != view->file.st_dev;
}

/* Whether the file has another size than when it was opened: a program that has just started to write
 * it may not have been in it yet. */
static bool server_has_grown(const struct dw_view *view)
{
	struct stat now;

	return stat(view->options->paths[0], &now) == 0 && now.st_size != view->shown.size_bytes;
}

void dw_view_refresh(struct dw_view *view)
{
	struct dwell_error error = { 0, "" };
	uint64_t wait_ms = view->shown.read_ms * REFRESH_RATIO;

	if (view->has_fresh || !view->shown.complete || !dw_view_report_ended(&view->shown) ||
	    dw_view_is_gone(view) ||
	    (!view->shown.source->live && !server_has_grown(view)))
		return;
	wait_ms = wait_ms > REFRESH_MS ? wait_ms : REFRESH_MS;
	if (dw_view_now_ms() < view->shown.opened_ms + wait_ms)
		return;
	/* A file that cannot be opened now stays as it was shown last. */
	view->has_fresh = !server_open_trace(view->options, &view->fresh, &error);
	if (!view->has_fresh)
		view->shown.opened_ms = dw_view_now_ms();
}

/* Reads the trace, or its newer state, and shows that when all of it has been read. */
static int server_go_on(struct dw_view *view, struct dwell_error *error)
{
	int result = 0;

	if (!view->shown.complete)
		return server_read(&view->shown, error);
	if (!view->has_fresh)
		return 0;
	result = server_read(&view->fresh, error);
	if (!result && (!view->fresh.complete || !dw_view_report_ended(&view->shown)))
		return 0;
	view->has_fresh = false;
	if (result) {
		server_close_trace(&view->fresh);
		return result;
	}
	view->fresh.report = view->shown.report;
	view->shown.report = NULL;
	server_close_trace(&view->shown);
	view->shown = view->fresh;
	view->fresh = (struct dw_view_trace){ 0 };
	view->version++;
	return 0;
}

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
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)view->options->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	int on = 1;

	view->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (view->listener < 0)
		return dw_error_set(error, DWELL_E_IO, "cannot make a socket: %s", strerror(errno));
	setsockopt(view->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(view->listener, (const struct sockaddr *)&address, length) != 0 ||
	    listen(view->listener, 64) != 0 ||
	    getsockname(view->listener, (struct sockaddr *)&address, &length) != 0)
		return dw_error_set(error, DWELL_E_IO, "cannot listen at port %u: %s%s", view->options->port,
		                    strerror(errno),
		                    errno == EADDRINUSE ? "; give another with --port, or 0 for any" : "");
	view->port = ntohs(address.sin_port);
	return 0;
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
	uint64_t now = dw_view_now_ms();

	for (size_t i = 0; i < MOST_CONNECTIONS; i++) {
		struct dw_view_connection *connection = loop->connections[i];
		short ready = loop->polled[1 + i].revents;
		bool goes_on = true;

		if (!connection || loop->polled[1 + i].fd != connection->socket)
			continue;
		if (ready & (POLLERR | POLLNVAL))
			goes_on = false;
		else if (ready & (POLLIN | POLLHUP) && !dw_view_has_output(connection))
			goes_on = dw_view_receive(&loop->view, connection);
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
		result = server_go_on(&loop->view, error);
	}
	return result;
}

static int server_start(struct dw_view *view, struct dwell_error *error)
{
	int result = server_open_trace(view->options, &view->shown, error);
	char address[128];

	if (!result && stat(view->options->paths[0], &view->file) != 0)
		result = dw_error_set(error, DWELL_E_IO, "cannot look at %s: %s", view->options->paths[0],
		                      strerror(errno));
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

int dw_view_serve(const struct dw_view_options *options, const volatile int *stop,
                struct dwell_error *error)
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
	server_close_trace(&loop->view.fresh);
	if (!dw_view_report_ended(&loop->view.shown))
		return result; /* the process ends now; what the report's thread reads stays */
	server_close_trace(&loop->view.shown);
	free(loop);
	return result;
}
