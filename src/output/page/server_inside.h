/* The internal interfaces of the server of `dwell view`; see server.h. */
#pragma once

#include <sys/stat.h>

#include "page/put.h"
#include "page/server.h"
#include "page/span.h"

#define DW_VIEW_SECRET 33u         /* bytes of a token in hexadecimal, with NUL */
#define DW_VIEW_MOST_REQUEST 16384u

/* One state of the trace. */
struct dw_view_trace {
	struct dw_source *source;
	struct dw_model *model;
	struct dw_page_spans *spans;
	off_t size_bytes;            /* of the first file */
	uint64_t opened_ms, read_ms; /* when it was opened, and how long reading took */
	bool complete;
	struct dw_view_report *report; /* server_report.c; NULL: nobody has asked for it */
};

/* What a request asks for. Texts point into the connection's buffer. */
struct dw_view_request {
	const char *method, *path, *query; /* path and query as sent; query "" if there is none */
	const char *host, *origin, *cookie, *site; /* headers, or NULL */
	bool last;                         /* the client closes the connection after it */
};

struct dw_view_connection {
	int socket;
	char in[DW_VIEW_MOST_REQUEST + 1];
	size_t in_length;
	struct dw_writer_out out; /* in memory: answers */
	size_t out_at;
	uint64_t last_ms;         /* when something was received or sent */
	bool ends;                /* it is closed when the answer has been sent */
};

struct dw_view {
	const struct dw_view_options *options;
	int listener;
	unsigned port;
	char token[DW_VIEW_SECRET], session[DW_VIEW_SECRET];
	struct dw_view_trace shown, fresh; /* fresh: a newer state that is being read */
	bool has_fresh;
	uint64_t version;
	struct stat file;                  /* of the first path when it was opened */
};

/* ---- server_trace.c ------------------------------------------------------------------------------ */

int dw_view_open_trace(const struct dw_view_options *options, struct dw_view_trace *trace, struct dwell_error *error);
void dw_view_close_trace(struct dw_view_trace *trace);
/* Reads the trace, or its newer state, and shows that when all of it has been read. */
int dw_view_go_on(struct dw_view *view, struct dwell_error *error);
/* Whether a newer state of a running program's trace should be opened, and does it. */
void dw_view_refresh(struct dw_view *view);
/* Whether the trace is no longer where it was. */
bool dw_view_is_gone(const struct dw_view *view);

/* ---- server_http.c ------------------------------------------------------------------------------- */

struct dw_view_connection *dw_view_connect(int socket);
void dw_view_disconnect(struct dw_view_connection *connection);
/* What answers a request. */
typedef void dw_view_answer_function(struct dw_view *view, struct dw_view_connection *connection,
                                     const struct dw_view_request *request);
/* Receives, and calls `answer` for each complete request. False: the connection has ended. */
bool dw_view_receive(struct dw_view *view, struct dw_view_connection *connection, dw_view_answer_function *answer);
bool dw_view_send(struct dw_view_connection *connection);
static inline bool dw_view_has_output(const struct dw_view_connection *connection)
{
	return connection->out_at < connection->out.used;
}

/* An answer. `headers`: further ones, each with its line end; or NULL. */
void dw_view_put(struct dw_view_connection *connection, const struct dw_view_request *request,
                 const char *status, const char *type, const char *headers, const char *body, size_t length);
/* The same with another Content-Security-Policy, a whole line. */
void dw_view_put_with(struct dw_view_connection *connection, const struct dw_view_request *request,
                      const char *status, const char *policy, const char *type,
                      const char *headers, const char *body, size_t length);
/* An answer of one line of text. */
void dw_view_refuse(struct dw_view_connection *connection, const struct dw_view_request *request,
                    const char *status, const char *text);

/* ---- server_answer.c ------------------------------------------------------------------------------- */

dw_view_answer_function dw_view_answer;

/* ---- server_report.c ------------------------------------------------------------------------------- */

/* The report as a page, or its data alone; makes it if nobody has asked for it before. */
void dw_view_answer_report(struct dw_view *view, struct dw_view_connection *connection,
                           const struct dw_view_request *request, bool page);
/* False: it is being made, and the trace must stay open. */
bool dw_view_report_ended(const struct dw_view_trace *trace);
/* Stops the report if no browser waits for it any more. */
void dw_view_report_look(struct dw_view_trace *trace);
/* Waits until it has ended. */
void dw_view_report_destroy(struct dw_view_trace *trace);

/* ---- made at build from web/src/timeline (tools/make/embed) -------------------------------------------- */

struct dw_view_file {
	const char *name;
	const unsigned char *bytes;
	size_t length;
};
extern const struct dw_view_file dw_view_files[]; /* ends with a name NULL */
