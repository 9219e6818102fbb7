/* Keeps what was recorded around slow steps; see slow_steps.h. */
#include "cli/slow_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "read/pack.h"
#include "read/source.h"
#include "watch/slow.h"

static double slow_length(const struct dw_source_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

/* The slowest of the steps that ended since then, if it is slow; or NULL. Steps of a thread are in order of time. */
static const struct dw_source_step *slow_find(const struct dw_source *source, uint64_t since_ns)
{
	const struct dw_source_step *slowest = NULL;
	double before[DW_SLOW_BEFORE];

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		size_t count = 0;

		if (step->open || source->realtime_start_ns + step->end_ns < since_ns ||
		    (slowest && slow_length(step) <= slow_length(slowest)))
			continue;
		for (size_t at = i; at && count < DW_SLOW_BEFORE; at--)
			if (source->steps[at - 1].thread == step->thread && !source->steps[at - 1].open)
				before[count++] = slow_length(&source->steps[at - 1]);
		if (dw_slow_is(slow_length(step), before, count))
			slowest = step;
	}
	return slowest;
}

/* "job.slow-" for "job.dwell". */
static void slow_prefix(const char *trace, char *prefix, size_t size)
{
	size_t length = strlen(trace);
	bool has_end = length > 6 && strcmp(trace + length - 6, ".dwell") == 0;

	snprintf(prefix, size, "%.*s.slow-", (int)(has_end ? length - 6 : length), trace);
}

static int64_t slow_age(const char *path, uint64_t *bytes)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	*bytes = (uint64_t)status.st_size;
	return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

/* Removes the oldest ones until all take at most so many bytes. */
static void slow_limit(const char *prefix, uint64_t most_bytes)
{
	char pattern[4200];
	glob_t found;
	uint64_t all = 0, bytes;

	snprintf(pattern, sizeof pattern, "%s*.dwell", prefix);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		all += slow_age(found.gl_pathv[i], &bytes) ? bytes : 0;
	for (size_t left = found.gl_pathc; left && all > most_bytes; left--) {
		size_t oldest = 0;

		for (size_t i = 1; i < left; i++)
			if (slow_age(found.gl_pathv[i], &bytes) < slow_age(found.gl_pathv[oldest], &bytes))
				oldest = i;
		if (!slow_age(found.gl_pathv[oldest], &bytes) || unlink(found.gl_pathv[oldest]) != 0)
			break;
		all -= bytes;
		char *last = found.gl_pathv[left - 1];
		found.gl_pathv[left - 1] = found.gl_pathv[oldest];
		found.gl_pathv[oldest] = last;
	}
	globfree(&found);
}

static void slow_store_step(const char *trace, const struct dw_source *source, const struct dw_source_step *step,
                            uint64_t most_bytes)
{
	const struct dw_source_clock *clock = &source->files[0].clock;
	uint64_t from_ns = step->start_ns > DW_SLOW_WINDOW_NS ? step->start_ns - DW_SLOW_WINDOW_NS : 0;
	struct dw_pack_window window = { .from_ticks = dw_source_ticks(clock, from_ns), .to_ticks = step->end_ticks,
		.blocks = (uint32_t)((source->files[0].size_bytes + DW_BLOCK_BYTES - 1) / DW_BLOCK_BYTES) };
	struct dwell_error error = { 0, "" };
	struct dw_output out;
	char prefix[4100], path[4200];
	int from = open(trace, O_RDONLY | O_CLOEXEC), code;

	dw_pack_see_source(&window, source);
	slow_prefix(trace, prefix, sizeof prefix);
	snprintf(path, sizeof path, "%s%llu.dwell", prefix, (unsigned long long)step->number);
	if (from < 0 || dw_output_open(&out, path)) {
		if (from >= 0)
			close(from);
		return;
	}
	fchmod(fileno(out.file), 0600); /* while it is empty */
	code = dw_pack_write(from, trace, out.file, &window, &error);
	if (code)
		dw_say_error(&error, code);
	close(from);
	if (dw_output_close(&out, code ? DW_EXIT_BAD_INPUT : 0) == 0)
		slow_limit(prefix, most_bytes);
}

void dw_slow_steps_store(const char *trace, uint64_t since_ns, uint64_t most_bytes)
{
	struct dwell_error error = { 0, "" };
	const struct dw_source_step *step;
	struct dw_source *source;
	int code = dw_source_open(&source, &trace, 1, &error);

	if (code) {
		dw_say_error(&error, code);
		return;
	}
	step = slow_find(source, since_ns);
	if (step && source->file_count == 1)
		slow_store_step(trace, source, step, most_bytes);
	dw_source_close(source);
}
