/*
 * The results of a profiler, as structures and as Ignite's files.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compat/ignite/profile.h"
#include "ignite_results/results.h"
#include "ignite_results/rows.h"

static int results_check(const struct dwell_ignite_profiler *profiler, struct dwell_error *error)
{
	if (!profiler->ran)
		return dw_error_set(error, DWELL_E_STATE, "the profiler has no results yet: run its engine first");
	if (profiler->no_memory)
		return dw_error_set(error, DWELL_E_NOMEM, "memory ran out in the run: the results are not whole");
	return 0;
}

static int results_no_memory(struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOMEM, "no memory for the profiler's results");
}

/* ---- structures ----------------------------------------------------------------------- */

const struct dwell_ignite_basic_results *dwell_ignite_profiler_basic(struct dwell_ignite_profiler *profiler,
                                                                     struct dwell_error *error)
{
	struct dwell_ignite_basic_results *results = &profiler->basic;
	double unit_s = dw_profile_unit_s(profiler);
	const char **names;

	if (results_check(profiler, error))
		return NULL;
	/* The lists of names follow one another, each ended by NULL. */
	names = calloc(profiler->handler_count + DWELL_IGNITE_EVENT_COUNT, sizeof *names);
	if (!names) {
		results_no_memory(error);
		return NULL;
	}
	free(profiler->names);
	profiler->names = names;
	results->processing = dw_ignite_time_stat(&profiler->processing, unit_s);
	results->dataflow = dw_ignite_time_stat(&profiler->dataflow, unit_s);
	for (unsigned e = 0; e < DWELL_IGNITE_EVENT_COUNT; e++) {
		results->events[e] = dw_ignite_time_stat(&profiler->events[e].stat, unit_s);
		results->handlers[e] = names;
		for (unsigned i = 0; i < profiler->handler_count; i++)
			if (profiler->handlers[i].event == e)
				*names++ = profiler->handlers[i].name;
		names++;
	}
	return results;
}

const struct dwell_ignite_handlers_results *dwell_ignite_profiler_handlers(struct dwell_ignite_profiler *profiler,
                                                                           struct dwell_error *error)
{
	struct dwell_ignite_handlers_results *results = &profiler->by_handler;
	double unit_s = dw_profile_unit_s(profiler);
	struct dwell_ignite_handler_time *row;

	if (results_check(profiler, error))
		return NULL;
	row = calloc(profiler->handler_count + 1, sizeof *row);
	if (!row) {
		results_no_memory(error);
		return NULL;
	}
	free(profiler->rows);
	profiler->rows = row;
	*results = (struct dwell_ignite_handlers_results){ dw_ignite_time_stat(&profiler->processing, unit_s),
		                                        dw_ignite_time_stat(&profiler->dataflow, unit_s), row,
		                                        profiler->handler_count };
	for (unsigned e = 0; e < profiler->event_count; e++)
		for (unsigned i = 0; i < profiler->handler_count; i++)
			if (profiler->handlers[i].event == e)
				*row++ = (struct dwell_ignite_handler_time){
					profiler->handlers[i].name, profiler->events[e].name,
					dw_ignite_time_stat(&profiler->handlers[i].stat, unit_s) };
	return results;
}

void dwell_ignite_basic_results_print(const struct dwell_ignite_basic_results *results, FILE *out)
{
	dw_ignite_print_basic(results, out);
}

void dwell_ignite_handlers_results_print(const struct dwell_ignite_handlers_results *results, FILE *out)
{
	dw_ignite_print_handlers(results, out);
}

/* ---- files ---------------------------------------------------------------------------- */

/* Calls `take` with each duration of the file, in seconds and in order. */
static int results_read_times(struct dwell_ignite_profiler *profiler,
                              int (*take)(void *, const struct dw_profile_time *), void *context,
                              struct dwell_error *error)
{
	double unit_s = dw_profile_unit_s(profiler);
	struct dw_profile_time time;
	long end = ftell(profiler->times);
	int result = 0;

	rewind(profiler->times);
	for (long at = 0; at < end && !result; at += (long)sizeof time) {
		bool read = fread(&time, sizeof time, 1, profiler->times) == 1;

		time.time *= unit_s;
		if (!read)
			result = dw_error_set(error, DWELL_E_IO, "the profiler's times cannot be read: %s", strerror(errno));
		else if (take(context, &time))
			result = results_no_memory(error);
	}
	if (fseek(profiler->times, end, SEEK_SET) != 0 && !result)
		result = dw_error_set(error, DWELL_E_IO, "the profiler's times cannot be kept: %s", strerror(errno));
	return result;
}

static int results_open_file(struct dwell_ignite_profiler *profiler, const char *path, FILE **file,
                             struct dwell_error *error)
{
	int result = results_check(profiler, error);

	if (result)
		return result;
	if (!profiler->times)
		return dw_error_set(error, DWELL_E_STATE, "times were not kept: attach the profiler with keep_times");
	if (fflush(profiler->times) != 0 || ferror(profiler->times))
		return dw_error_set(error, DWELL_E_NOSPACE, "the temporary file for the profiler's times is not whole: %s",
		                    strerror(errno));
	*file = fopen(path, "we");
	if (!*file)
		return dw_error_set(error, DWELL_E_IO, "cannot write %.200s: %s", path, strerror(errno));
	return 0;
}

static int results_close_file(FILE *file, const char *path, int result, struct dwell_error *error)
{
	bool failed = ferror(file) != 0;

	failed |= fclose(file) != 0;
	if (result || !failed)
		return result;
	return dw_error_set(error, errno == ENOSPC ? DWELL_E_NOSPACE : DWELL_E_IO,
	                    "cannot write %.200s: %s", path, strerror(errno));
}

static int results_add_iteration(void *context, const struct dw_profile_time *time)
{
	struct dw_moment moment = { 0, time->epoch, time->iteration, time->time };
	int column = -1;

	if (time->what < DW_PROFILE_EVENT)
		column = (int)time->what; /* both enums begin with the same values */
	else if (time->what - DW_PROFILE_EVENT < DWELL_IGNITE_EVENT_COUNT)
		column = dw_iteration_column(dw_ignite_event_names[time->what - DW_PROFILE_EVENT]);
	return column < 0 ? 0 : dw_iterations_add(context, (enum dw_iteration_column)column, &moment);
}
_Static_assert((int)DW_PROFILE_PROCESSING == (int)DW_ITERATION_PROCESSING &&
               (int)DW_PROFILE_DATAFLOW == (int)DW_ITERATION_DATAFLOW, "take_iteration says so");

int dwell_ignite_profiler_write_basic(struct dwell_ignite_profiler *profiler, const char *path,
                                      struct dwell_error *error)
{
	struct dw_iterations all = { 0 };
	FILE *file;
	int result = results_open_file(profiler, path, &file, error);

	if (result)
		return result;
	result = results_read_times(profiler, results_add_iteration, &all, error);
	fputs("epoch,iteration,processing_stats,dataflow_stats", file);
#define X(event) fputs(",Event_" #event, file);
	DW_ITERATION_EVENTS(X)
#undef X
	for (size_t i = 0; i < all.count; i++) {
		const struct dw_iteration *row = &all.rows[i];

		if (!row->happened)
			continue;
		fprintf(file, "\n%llu,%llu", (unsigned long long)row->epoch, (unsigned long long)row->iteration);
		for (int c = 0; c < DW_ITERATION_COLUMNS; c++)
			fprintf(file, ",%.9g", row->times_s[c]);
	}
	fputc('\n', file);
	dw_iterations_reset(&all);
	return results_close_file(file, path, result, error);
}

/* ---- a row a call ---------------------------------------------------------------------- */

struct columns {
	struct dw_calls *calls; /* processing, dataflow, handlers in the order of adding */
};

static int results_add_call(void *context, const struct dw_profile_time *time)
{
	struct columns *columns = context;

	if (time->what < DW_PROFILE_EVENT)
		return dw_calls_add(&columns->calls[time->what], time->time);
	if (time->what >= DW_PROFILE_HANDLER)
		return dw_calls_add(&columns->calls[DW_PROFILE_EVENT + time->what - DW_PROFILE_HANDLER], time->time);
	return 0;
}

/* Writes a column's title, quoted if CSV needs it. */
static void results_put_title(FILE *file, const char *handler, const char *event)
{
	bool quoted = handler[strcspn(handler, ",\"\r\n")];

	fputs(quoted ? ",\"" : ",", file);
	for (const char *at = handler; *at; at++) {
		if (*at == '"')
			fputc('"', file);
		fputc(*at, file);
	}
	fprintf(file, " (%s)%s", event, quoted ? "\"" : "");
}

static void results_put_calls(FILE *file, const struct dwell_ignite_profiler *profiler,
                              const struct dw_calls *calls, const unsigned *order, size_t count)
{
	size_t longest = 0;

	fputs("#,processing_stats,dataflow_stats", file);
	for (size_t c = DW_PROFILE_EVENT; c < count; c++) {
		const struct dw_profile_handler *handler = &profiler->handlers[order[c] - DW_PROFILE_EVENT];

		results_put_title(file, handler->name, profiler->events[handler->event].name);
	}
	for (size_t c = 0; c < count; c++)
		longest = calls[c].count > longest ? calls[c].count : longest;
	for (size_t i = 0; i < longest; i++) {
		fprintf(file, "\n%zu", i + 1);
		for (size_t c = 0; c < count; c++) {
			const struct dw_calls *from = &calls[order[c]];

			fprintf(file, ",%.9g", i < from->count ? from->times_s[i] : 0);
		}
	}
	fputc('\n', file);
}

int dwell_ignite_profiler_write_handlers(struct dwell_ignite_profiler *profiler, const char *path,
                                         struct dwell_error *error)
{
	size_t count = DW_PROFILE_EVENT + profiler->handler_count, at = DW_PROFILE_EVENT;
	struct columns columns;
	unsigned *order;
	FILE *file;
	int result = results_open_file(profiler, path, &file, error);

	if (result)
		return result;
	columns.calls = calloc(count, sizeof *columns.calls);
	order = calloc(count, sizeof *order);
	if (columns.calls && order)
		result = results_read_times(profiler, results_add_call, &columns, error);
	else
		result = results_no_memory(error);
	if (!result) {
		order[DW_PROFILE_DATAFLOW] = DW_PROFILE_DATAFLOW;
		for (unsigned e = 0; e < profiler->event_count; e++)
			for (unsigned i = 0; i < profiler->handler_count; i++)
				if (profiler->handlers[i].event == e)
					order[at++] = DW_PROFILE_EVENT + i;
		results_put_calls(file, profiler, columns.calls, order, count);
	}
	for (size_t c = 0; columns.calls && c < count; c++)
		free(columns.calls[c].times_s);
	free(columns.calls);
	free(order);
	return results_close_file(file, path, result, error);
}
