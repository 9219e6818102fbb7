/* Reads traces and summaries into one summary. */
#include "cli/summaries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "trace/trace.h"

#define MOST_BYTES ((size_t)4 << 30)

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
	FILE *file = fopen(path, "rbe");
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

static int summaries_add_trace(struct dw_summary *summary, const char *path)
{
	struct dwell_error error = { 0, "" };
	struct dwell_trace *trace;
	int code, status = 0;

	dw_say_progress(path);
	code = dwell_trace_open(&trace, &path, 1, NULL, &error);
	if (code) {
		dw_say_progress(NULL);
		return dw_say_error(&error, code);
	}
	dw_say_state(trace);
	if (!dw_summary_add_model(summary, dw_trace_model(trace), &error))
		status = dw_say_error(&error, error.code);
	dw_say_progress(NULL);
	dwell_trace_close(trace);
	return status;
}

int dw_summaries_read(struct dw_summary *summary, char **paths, size_t count)
{
	struct dwell_error error = { 0, "" };

	for (size_t i = 0; i < count; i++) {
		int kind = summaries_try_summary(summary, paths[i]);
		int status = kind > 0 ? summaries_add_trace(summary, paths[i]) : 0;

		if (kind < 0)
			return DW_EXIT_BAD_INPUT;
		if (status)
			return status;
	}
	if (!dw_summary_finish(summary, &error))
		return dw_say_error(&error, error.code);
	return 0;
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
