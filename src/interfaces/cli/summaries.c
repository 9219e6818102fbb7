/* Reads traces and summaries into one summary. */
#include "cli/summaries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "trace/trace.h"

#define MOST_BYTES ((size_t)4 << 30)
#define PART ((size_t)128) /* files that are read before they are merged */

/* The rest of a file whose first bytes were read. NULL after an error message. */
static unsigned char *summaries_read_rest(const char *path, FILE *file, const unsigned char *first,
                                          size_t *length)
{
	size_t capacity = *length;
	unsigned char *bytes = NULL;

	for (;;) {
		size_t read;

		if (!bytes || *length == capacity) {
			unsigned char *grown =
				capacity < MOST_BYTES ? realloc(bytes, capacity + 65536 + capacity / 2) : NULL;

			if (!grown) {
				dw_say("%s: no memory for the summary", path);
				free(bytes);
				return NULL;
			}
			if (!bytes)
				memcpy(grown, first, *length);
			bytes = grown;
			capacity += 65536 + capacity / 2;
		}
		read = fread(bytes + *length, 1, capacity - *length, file);
		*length += read;
		if (!read)
			return bytes;
	}
}

/* Adds the file if it is a summary. Returns 1 if it is something else, 0 if it was added, or -1
 * after an error message. */
static int summaries_try_summary(struct dw_summary *summary, const char *path)
{
	unsigned char first[8], *bytes;
	struct dwell_error error = { 0, "" };
	FILE *file = dw_regular_open(path);
	size_t length;
	int result = 1;

	if (!file)
		return 1; /* opening it as a trace says why */
	length = fread(first, 1, sizeof first, file);
	if (dw_summary_is(first, length)) {
		bytes = summaries_read_rest(path, file, first, &length);
		result = bytes && !dw_summary_decode(summary, path, bytes, length, &error) ? 0 : -1;
		if (error.code)
			dw_say_error(&error, error.code);
		free(bytes);
	}
	fclose(file);
	return result;
}

/* Notes the memory of the processes of a live trace, which are the summary's ranks from the first one. */
static void summaries_note_memory(struct dw_summary *summary, size_t first)
{
	char host[64] = "";
	uint64_t used = 0;

	gethostname(host, sizeof host - 1);
	for (size_t i = first; i < summary->count; i++)
		if (strcmp(summary->ranks[i].host, host) == 0) {
			summary->ranks[i].resident_bytes = dw_limits_resident(summary->ranks[i].pid);
			used += summary->ranks[i].resident_bytes;
		}
	for (size_t i = first; i < summary->count; i++)
		if (summary->ranks[i].resident_bytes)
			summary->ranks[i].left_bytes = dw_limits_left(used);
}

/* Opens a trace for a summary: of a run that was summarised before, only the steps that are new. If there are
 * none, where the ranks are now is of interest still. */
static int summaries_open(struct dwell_trace **trace, const char *path, const struct dw_summary *before,
                          struct dwell_error *error)
{
	struct dwell_scope later = { .size = sizeof later, .has_steps = true, .steps_from = UINT64_MAX, .steps_to = UINT64_MAX };
	int code;

	for (size_t i = 0; before && i < before->count; i++)
		if (dw_summary_next_step(&before->ranks[i]) < later.steps_from)
			later.steps_from = dw_summary_next_step(&before->ranks[i]);
	if (later.steps_from && later.steps_from != UINT64_MAX) {
		code = dwell_trace_open(trace, &path, 1, &later, error);
		if (code != DWELL_E_NAME && code != DWELL_E_NO_DATA)
			return code;
		*error = (struct dwell_error){ 0, "" };
	}
	return dwell_trace_open(trace, &path, 1, NULL, error);
}

/* With `is_live` nothing is printed, because the caller looks at the trace again and again. */
static int summaries_add_trace(struct dw_summary *summary, const char *path, bool *is_live)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	size_t before = summary->count;
	int code, status = 0;

	if (!is_live)
		dw_say_progress(path);
	code = summaries_open(&trace, path, summary->before, &error);
	if (code) {
		dw_say_progress(NULL);
		return dw_say_error(&error, code);
	}
	if (is_live)
		*is_live = dw_trace_source(trace)->live;
	else
		dw_say_state(trace);
	if (!dw_summary_add_model(summary, dw_trace_model(trace), &error))
		status = dw_say_error(&error, error.code);
	else if (dw_trace_source(trace)->live)
		summaries_note_memory(summary, before);
	dw_say_progress(NULL);
	dwell_trace_close(trace);
	return status;
}

int dw_summaries_read_one(struct dw_summary *summary, const char *path, bool *is_live)
{
	struct dwell_error error = { 0, "" };
	int kind = summaries_try_summary(summary, path);
	int status = kind > 0 ? summaries_add_trace(summary, path, is_live) : kind < 0 ? DW_EXIT_BAD_INPUT : 0;

	if (status)
		return status;
	return dw_summary_finish(summary, &error) ? 0 : dw_say_error(&error, error.code);
}

int dw_summaries_continue(struct dw_summary *summary, const char *trace, struct dw_summary *before, const char *path)
{
	struct dwell_error error = { 0, "" };
	int status = 0;

	if (access(path, F_OK) == 0 && summaries_try_summary(before, path)) {
		dw_say("%s is no summary that can be read: it is made anew, of what the trace has still", path);
		dw_summary_reset(before);
	}
	summary->before = before;
	status = summaries_add_trace(summary, trace, NULL);
	if (status)
		return status;
	if (!dw_summary_continue(summary, before, &error) || !dw_summary_finish(summary, &error))
		return dw_say_error(&error, error.code);
	return 0;
}

/* Reads some files into an empty summary. */
static int summaries_read_part(struct dw_summary *summary, char **paths, size_t count)
{
	struct dwell_error error = { 0, "" };

	for (size_t i = 0; i < count; i++) {
		int kind = summaries_try_summary(summary, paths[i]);
		int status = kind > 0 ? summaries_add_trace(summary, paths[i], NULL) : 0;

		if (kind < 0)
			return DW_EXIT_BAD_INPUT;
		if (status)
			return status;
	}
	return dw_summary_finish(summary, &error) ? 0 : dw_say_error(&error, error.code);
}

/* Replaces two summaries by their merge, which has only what fits a summary of so many ranks. */
static int summaries_merge(struct dw_summary *into, struct dw_summary *from)
{
	struct dwell_error error = { 0, "" };
	struct dw_summary both = { .ranks = NULL };
	bool good;

	dw_summary_add(&both, into);
	dw_summary_add(&both, from);
	dw_summary_reset(into);
	dw_summary_reset(from);
	good = dw_summary_finish(&both, &error);
	/* What was left out is still in the memory of `both`. */
	if (good)
		dw_summary_add(into, &both);
	dw_summary_reset(&both);
	good = good && dw_summary_finish(into, &error);
	return good ? 0 : dw_say_error(&error, error.code);
}

/* Files are read in parts of equal size, and two merges of equal size are merged again. So memory holds
 * few summaries at a time, and each rank is copied a few times. */
int dw_summaries_read(struct dw_summary *summary, char **paths, size_t count)
{
	struct dw_summary waiting[64] = { { .ranks = NULL } }; /* [i]: of PART << i files, or empty */
	int status = 0;

	for (size_t i = 0; !status && i < count; i += PART) {
		struct dw_summary part = { .ranks = NULL };
		unsigned level = 0;

		status = summaries_read_part(&part, paths + i, count - i < PART ? count - i : PART);
		for (; !status && part.count && waiting[level].count; level++)
			status = summaries_merge(&part, &waiting[level]);
		if (status || !part.count)
			dw_summary_reset(&part);
		else
			waiting[level] = part;
	}
	for (unsigned level = 0; level < 64; level++) {
		if (!status && waiting[level].count && summary->count)
			status = summaries_merge(summary, &waiting[level]);
		else if (!status && waiting[level].count)
			*summary = waiting[level];
		else
			dw_summary_reset(&waiting[level]);
	}
	return status;
}

int dw_summaries_write(const struct dw_summary *summary, const char *path)
{
	struct dw_proto proto = { .bytes = NULL };
	struct dw_output output;
	int status = dw_output_open(&output, path);

	if (status)
		return status;
	dw_summary_encode(summary, &proto);
	if (proto.failed) {
		dw_say("%s: no memory for the summary", path);
		status = DW_EXIT_BAD_INPUT;
	} else if (fwrite(proto.bytes, 1, proto.used, output.file) != proto.used) {
		dw_say("cannot write %s: %s", path, strerror(errno));
		status = DW_EXIT_BAD_INPUT;
	}
	dw_proto_reset(&proto);
	return dw_output_close(&output, status);
}
