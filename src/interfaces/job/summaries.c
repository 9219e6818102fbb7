/* Reads traces and summaries into one summary. */
#include "job/summaries.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/system/limits.h"
#include "base/system/proc.h"
#include "say/output.h"
#include "say/say.h"
#include "trace/trace.h"
#include "watch/glance.h"

#define MOST_BYTES ((size_t)4 << 30)
#define PART ((size_t)128) /* files that are read before they are merged */
#define FEW ((size_t)512)  /* files whose ranks need not be counted first: little is left out of so many */

/* The rest of a file whose first bytes were read. NULL after an error message. */
static unsigned char *summaries_read_rest(const char *path, FILE *file, const unsigned char *first, size_t *length)
{
	size_t capacity = *length;
	unsigned char *bytes = NULL;

	for (;;) {
		size_t read;

		if (!bytes || *length == capacity) {
			unsigned char *grown = capacity < MOST_BYTES ? realloc(bytes, capacity + 65536 + capacity / 2) : NULL;

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

/* The CPU time of a process of this machine, and for how long its main thread waited for a CPU; 0: not known. */
static uint64_t summaries_cpu_ns(uint32_t pid)
{
	struct dw_proc_schedule schedule;
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return 0;
	dw_proc_read_schedule(pid, 0, &schedule);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec + schedule.ready_ns;
}

/* Notes the memory and the CPU time of the processes of a live trace, which are the summary's ranks from the first one.
 */
static void summaries_note_memory(struct dw_summary *summary, size_t first)
{
	char host[64] = "";
	uint64_t used = 0;

	gethostname(host, sizeof host - 1);
	for (size_t i = first; i < summary->count; i++)
		if (strcmp(summary->ranks[i].host, host) == 0) {
			summary->ranks[i].resident_bytes = dw_limits_resident(summary->ranks[i].pid);
			summary->ranks[i].cpu_ns = summaries_cpu_ns(summary->ranks[i].pid);
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
	struct dwell_scope later = {
		.size = sizeof later, .has_steps = true, .steps_from = UINT64_MAX, .steps_to = UINT64_MAX
	};
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

/* ---- how many ranks there will be ------------------------------------------------------------------------- */

static void summaries_see(void *context, const struct dw_glance *glance)
{
	struct dw_map *seen = context;
	uint32_t hash = dw_map_hash_bytes(glance->pid, glance->host, strlen(glance->host));

	hash = dw_map_hash_bytes(hash ^ (uint32_t)glance->rank, glance->job, strlen(glance->job));
	if (DW_MAP_FIND(seen, hash, i, i == i) == DW_MAP_NONE)
		dw_map_add(seen, hash, 0);
}

size_t dw_summaries_count_ranks(char **paths, size_t count)
{
	struct dw_glance *glance = count > FEW ? malloc(sizeof *glance) : NULL;
	struct dw_map seen = { .slots = NULL };
	size_t ranks;

	for (size_t i = 0; glance && i < count; i++) {
		FILE *file = dw_regular_open(paths[i]);
		unsigned char first[8], *bytes = NULL;
		size_t length = file ? fread(first, 1, sizeof first, file) : 0;

		if (dw_summary_is(first, length))
			bytes = summaries_read_rest(paths[i], file, first, &length);
		if (bytes)
			dw_glance_read(glance, bytes, length, summaries_see, &seen);
		free(bytes);
		if (file)
			fclose(file);
	}
	ranks = seen.count;
	dw_map_reset(&seen);
	free(glance);
	return ranks;
}

/* ---- all files -------------------------------------------------------------------------------------------- */

/* Frees what was left out. */
static int summaries_compact(struct dw_summary *summary)
{
	struct dw_summary copy = { .expected = summary->expected };
	struct dwell_error error = { 0, "" };

	if (dw_summary_finish(summary, &error))
		dw_summary_add(&copy, summary);
	dw_summary_reset(summary);
	*summary = copy;
	return error.code ? dw_say_error(&error, error.code) : 0;
}

static size_t summaries_share(const struct dw_summary *summary)
{
	return dw_summary_share_spans(summary->count > summary->expected ? summary->count : summary->expected);
}

/* What is left out depends on the number of all ranks. So they are counted first, and each part of the files is added
 * as it will stay. The ranks of traces are not counted: when there are twice as many, what is too much by then is
 * freed. */
int dw_summaries_read(struct dw_summary *summary, char **paths, size_t count)
{
	struct dwell_error error = { 0, "" };
	size_t share;
	int status = 0;

	if (!summary->expected)
		summary->expected = dw_summaries_count_ranks(paths, count);
	share = summaries_share(summary);
	for (size_t i = 0; !status && i < count; i += PART) {
		struct dw_summary part = { .expected = summary->expected };

		status = summaries_read_part(&part, paths + i, count - i < PART ? count - i : PART);
		if (!status)
			dw_summary_add(summary, &part);
		dw_summary_reset(&part);
		if (status || 2 * summaries_share(summary) > share)
			continue;
		status = summaries_compact(summary);
		share = summaries_share(summary);
	}
	return status || dw_summary_finish(summary, &error) ? status : dw_say_error(&error, error.code);
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
