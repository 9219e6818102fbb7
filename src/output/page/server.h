/*
 * The local server of `dwell view`: the page, and the events of a trace by span.
 *
 * One thread with poll(). It answers at 127.0.0.1 only. A client needs the token of the address that
 * the command prints; the first answer moves it into a cookie and out of the address. Requests with
 * a foreign Host or Origin are refused, so that no web site can use a browser to reach the server. The
 * trace is read between requests. If its program is still running, the trace is opened again from
 * time to time, and replaced when the new state has been read.
 *
 *   server.c         the trace, the socket, the loop
 *   server_http.c    one connection: requests and answers of HTTP/1.1
 *   server_answer.c  what is answered
 *   server_report.c  the report, made in the background
 *
 *   GET /?token=T               sets the cookie, leads to /
 *   GET /                       the page
 *   GET /timeline/NAME          its parts
 *   GET /report                 the page of the report; until it is made, one that asks again
 *   GET /api/timeline[?bytes=N] tracks and names (span.h); with N the spans that a file would have
 *   GET /api/span?begin=NS&end=NS&pixels=N[&tracks=ID,ID][&flows=1]
 *   GET /api/totals?begin=NS&end=NS[&tracks=ID,ID]
 *   GET /api/event?track=ID&row=N&begin=NS
 *   GET /api/find?text=T&ns=NS[&backward=1]
 *   GET /api/live               {"version","read_ns","end_ns","complete","live","gone","path"}
 *   GET /api/report             the report's data; 503 until it is made
 *
 * What changes with a new state of the trace has a new version.
 */
#pragma once

#include "export/out.h"
#include "model/model.h"

struct dw_view_options {
	const char *const *paths;
	size_t path_count;
	unsigned port;   /* 0 means any free port */
	/* Called when the server listens, with the address to open. */
	void (*ready)(void *context, const char *address, unsigned port, bool live);
	void *context;
};

/* Runs until *stop is set (a signal handler may set it and wake poll()). Errors: those of opening a
 * trace; DWELL_E_IO if it cannot listen. */
int dw_view_serve(const struct dw_view_options *options, const volatile int *stop, struct dwell_error *error);
