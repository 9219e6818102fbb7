/*
 * The report in `dwell view`: the page of `dwell report --format html`, made when it is asked for.
 *
 * A thread of its own with a model of its own makes it, so that the timeline is answered meanwhile.
 * Until it is there, a small page says so and asks again. The trace that is shown is not replaced by a
 * newer state while its report is being made. A report that was made is answered once after that.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "page/report.h"
#include "page/server_inside.h"

/* The script of the page is known by its hash. Its styles are also attributes, which have none. */
#define POLICY_FORM \
	"Content-Security-Policy: default-src 'none'; script-src '%s'; style-src 'unsafe-inline'; " \
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"

struct dw_view_report {
	const struct dw_source *source;
	pthread_t thread;
	uint64_t began_ms, version; /* of the state that it is about */
	bool ended; /* atomic: the members below are set */
	int result;
	struct dwell_error error;
	struct dw_writer_out page;
	size_t data_at, data_bytes; /* where the page has its data */
};

static void *report_make(void *argument)
{
	struct dw_view_report *report = argument;
	const char *data = strstr(dw_page_bundle, DW_PAGE_DATA_MARK);
	struct dw_model *model;

	report->result = dw_model_create(&model, report->source, NULL, &report->error);
	if (!report->result) {
		dw_out_bytes(&report->page, dw_page_bundle, (size_t)(data - dw_page_bundle));
		report->data_at = report->page.used;
		report->result = dw_page_report_data(model, &report->page, &report->error);
		report->data_bytes = report->page.used - report->data_at;
		dw_out_text(&report->page, data + strlen(DW_PAGE_DATA_MARK));
		dw_model_destroy(model);
	}
	if (!report->result && report->page.error)
		report->result = dw_error_set(&report->error, DWELL_E_NOMEM, "out of memory making the report");
	/* Pairs with the load in dw_view_report_ended(). */
	__atomic_store_n(&report->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void report_start(struct dw_view_trace *trace, uint64_t version)
{
	struct dw_view_report *report = calloc(1, sizeof *report);
	sigset_t all, old;

	if (!report)
		return;
	report->source = trace->source;
	report->began_ms = dw_view_now_ms();
	report->version = version;
	dw_out_init_memory(&report->page);
	/* The command's handlers of signals must wake the loop, and not this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (pthread_create(&report->thread, NULL, report_make, report) == 0)
		trace->report = report;
	else
		free(report);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool dw_view_report_ended(const struct dw_view_trace *trace)
{
	return !trace->report || __atomic_load_n(&trace->report->ended, __ATOMIC_ACQUIRE);
}

void dw_view_report_destroy(struct dw_view_trace *trace)
{
	if (!trace->report)
		return;
	pthread_join(trace->report->thread, NULL);
	dw_out_reset(&trace->report->page);
	free(trace->report);
	trace->report = NULL;
}

static void report_wait(struct dw_view_connection *connection, const struct dw_view_request *request,
                        const struct dw_view_report *report, bool page)
{
	unsigned long long seconds = (unsigned long long)(dw_view_now_ms() - report->began_ms) / 1000;
	char body[512];
	int length;

	if (!page) {
		dw_view_put(connection, request, "503 Service Unavailable", "text/plain; charset=utf-8",
		            "Retry-After: 1\r\n", "the report is being made\n", 25);
		return;
	}
	length = snprintf(body, sizeof body,
	                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                  "<meta http-equiv=\"refresh\" content=\"1\">\n<title>dwell report</title>\n"
	                  "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/timeline/view.css\">\n</head>\n<body>\n"
	                  "<header><h1>dwell</h1><p id=\"notice\" role=\"status\">The report is being made: "
	                  "%llu s so far.</p></header>\n</body>\n</html>\n", seconds);
	dw_view_put(connection, request, "200 OK", "text/html; charset=utf-8", NULL, body, (size_t)length);
}

void dw_view_answer_report(struct dw_view *view, struct dw_view_connection *connection,
                           const struct dw_view_request *request, bool page)
{
	struct dw_view_report *report;
	char policy[512];

	dw_view_refresh(view);
	if (!view->shown.report)
		report_start(&view->shown, view->version);
	report = view->shown.report;
	if (!report) {
		dw_view_refuse(connection, request, "500 Internal Server Error",
		               "no memory or thread for the report");
	} else if (!dw_view_report_ended(&view->shown)) {
		report_wait(connection, request, report, page);
	} else if (report->result) {
		dw_view_refuse(connection, request, "500 Internal Server Error",
		               report->error.message[0] ? report->error.message
		                                        : dwell_error_text(report->result));
	} else if (page) {
		snprintf(policy, sizeof policy, POLICY_FORM, dw_page_script_hash);
		dw_view_put_with(connection, request, "200 OK", policy, "text/html; charset=utf-8", NULL,
		                 report->page.buffer, report->page.used);
	} else {
		dw_view_put(connection, request, "200 OK", "application/json", NULL,
		            report->page.buffer + report->data_at, report->data_bytes);
	}
	/* Who asks again gets a report of the newer state. */
	if (report && report->version != view->version && dw_view_report_ended(&view->shown))
		dw_view_report_destroy(&view->shown);
}
