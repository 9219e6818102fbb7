/* The trace that `dwell view` shows: opening it, reading on, and its newer state while a program writes it. */
#include "base/system/clock.h"
#include "page/server_inside.h"

#define SLICE_MS 15u      /* reading between two looks at the sockets */
#define REFRESH_MS 1500u  /* least time between two states of a running program's trace */
#define REFRESH_RATIO 10u /* reading takes at most this part of the time */

void dw_view_close_trace(struct dw_view_trace *trace)
{
	dw_view_report_destroy(trace);
	dw_page_spans_destroy(trace->spans);
	if (trace->model)
		dw_model_destroy(trace->model);
	if (trace->source)
		dw_source_close(trace->source);
	*trace = (struct dw_view_trace){ 0 };
}

int dw_view_open_trace(const struct dw_view_options *options, struct dw_view_trace *trace, struct dwell_error *error)
{
	struct stat file = { .st_size = 0 };
	int result;

	*trace = (struct dw_view_trace){ .opened_ms = dw_clock_monotonic_ms() };
	if (stat(options->paths[0], &file) == 0)
		trace->size_bytes = file.st_size;
	result = dw_source_open(&trace->source, options->paths, options->path_count, error);
	if (!result)
		result = dw_model_create(&trace->model, trace->source, NULL, error);
	if (!result)
		result = dw_page_spans_create(&trace->spans, trace->model, error);
	if (result)
		dw_view_close_trace(trace);
	return result;
}

/* Reads on for a moment. */
static int trace_read(struct dw_view_trace *trace, struct dwell_error *error)
{
	uint64_t from_ms = dw_clock_monotonic_ms();
	int result = dw_page_spans_read(trace->spans, SLICE_MS, error);

	trace->complete = result == 1;
	trace->read_ms += dw_clock_monotonic_ms() - from_ms;
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
static bool trace_has_grown(const struct dw_view *view)
{
	struct stat now;

	return stat(view->options->paths[0], &now) == 0 && now.st_size != view->shown.size_bytes;
}

void dw_view_refresh(struct dw_view *view)
{
	struct dwell_error error = { 0, "" };
	uint64_t wait_ms = view->shown.read_ms * REFRESH_RATIO;

	if (view->has_fresh || !view->shown.complete || !dw_view_report_ended(&view->shown) || dw_view_is_gone(view) ||
	    (!view->shown.source->live && !trace_has_grown(view)))
		return;
	wait_ms = wait_ms > REFRESH_MS ? wait_ms : REFRESH_MS;
	if (dw_clock_monotonic_ms() < view->shown.opened_ms + wait_ms)
		return;
	/* A file that cannot be opened now stays as it was shown last. */
	view->has_fresh = !dw_view_open_trace(view->options, &view->fresh, &error);
	if (!view->has_fresh)
		view->shown.opened_ms = dw_clock_monotonic_ms();
}

int dw_view_go_on(struct dw_view *view, struct dwell_error *error)
{
	int result = 0;

	if (!view->shown.complete)
		return trace_read(&view->shown, error);
	if (!view->has_fresh)
		return 0;
	result = trace_read(&view->fresh, error);
	if (!result && (!view->fresh.complete || !dw_view_report_ended(&view->shown)))
		return 0;
	view->has_fresh = false;
	if (result) {
		dw_view_close_trace(&view->fresh);
		return result;
	}
	view->fresh.report = view->shown.report;
	view->shown.report = NULL;
	dw_view_close_trace(&view->shown);
	view->shown = view->fresh;
	view->fresh = (struct dw_view_trace){ 0 };
	view->version++;
	return 0;
}
