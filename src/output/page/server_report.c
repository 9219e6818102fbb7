/*
 * The report in `dwell view`: the page of `dwell report --format html`, made when it is asked for.
 *
 * A thread of its own with a model of its own makes it, so that the timeline is answered meanwhile.
 * Until it is there, a small page says so and asks again. The trace that is shown is not replaced by a
 * newer state while its report is being made. If no browser asks for it any more, it is stopped. A report
 * that was made is answered once after that.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "page/report.h"
#include "page/server_inside.h"

/* The script of the page is known by its hash. Its styles are also attributes, which have none. */
#define POLICY_FORM \
	"Content-Security-Policy: default-src 'none'; script-src '%s'; style-src 'unsafe-inline'; " \
	"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"

#define ABANDONED_MS 30000u /* the small page asks every second, in a hidden tab less often */

struct dw_view_report {
	const struct dw_source *source;
	pthread_t thread;
	uint64_t asked_ms;          /* when a browser last asked for it */
	uint64_t version;           /* of the state that it is about */
	struct dw_page_progress progress;
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
		report->result = dw_page_report_data(model, &report->progress, &report->page, &report->error);
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

/* Whether its result is that it was stopped. */
static bool report_was_stopped(const struct dw_view_trace *trace)
{
	return trace->report && dw_view_report_ended(trace) && trace->report->result && trace->report->progress.stop;
}

/* Tests cannot wait as long: for them DWELL_TEST_REPORT_MS is the time. */
static uint64_t report_patience_ms(void)
{
	const char *test = getenv("DWELL_TEST_REPORT_MS");
	uint64_t ms = test ? strtoull(test, NULL, 10) : 0;

	return ms ? ms : ABANDONED_MS;
}

void dw_view_report_look(struct dw_view_trace *trace)
{
	struct dw_view_report *report = trace->report;

	if (report_was_stopped(trace))
		dw_view_report_destroy(trace);
	else if (report && !dw_view_report_ended(trace) &&
	         dw_clock_monotonic_ms() > report->asked_ms + report_patience_ms())
		__atomic_store_n(&report->progress.stop, true, __ATOMIC_RELAXED);
}

static void report_wait(struct dw_view_connection *connection, const struct dw_view_request *request,
                        const struct dw_view_report *report, bool page)
{
	unsigned done = __atomic_load_n(&report->progress.done, __ATOMIC_RELAXED);
	char body[512];
	int length;

	if (!page) {
		dw_view_put(connection, request, "503 Service Unavailable", "text/plain; charset=utf-8",
		            "Retry-After: 1\r\n", "the report is being made\n", 25);
		return;
	}
	length = snprintf(body, sizeof body, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	                  "<meta http-equiv=\"refresh\" content=\"1\">\n<title>dwell report</title>\n"
	                  "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/timeline/view.css\">\n</head>\n<body>\n"
	                  "<header><h1>dwell</h1><p id=\"notice\" role=\"status\">Making the report: "
	                  "%u%%</p></header>\n</body>\n</html>\n", done);
	dw_view_put(connection, request, "200 OK", "text/html; charset=utf-8", NULL, body, (size_t)length);
}

void dw_view_answer_report(struct dw_view *view, struct dw_view_connection *connection,
                           const struct dw_view_request *request, bool page)
{
	struct dw_view_report *report;
	char policy[512];

	if (report_was_stopped(&view->shown))
		dw_view_report_destroy(&view->shown);
	if (!view->shown.report)
		report_start(&view->shown, view->version);
	report = view->shown.report;
	if (report)
		report->asked_ms = dw_clock_monotonic_ms();
	if (!report) {
		dw_view_refuse(connection, request, "500 Internal Server Error", "no memory or thread for the report");
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
