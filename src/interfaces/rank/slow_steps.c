/* Keeps what was recorded around slow steps; see slow_steps.h. */
#include "rank/slow_steps.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pack_part.h"
#include "say/say.h"
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

static int64_t slow_age(const char *path, uint64_t *bytes)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return 0;
	*bytes = (uint64_t)status.st_size;
	return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
}

/* Removes the oldest ones until all take at most so many bytes. */
static void slow_limit(const char *pattern, uint64_t most_bytes)
{
	glob_t found;
	uint64_t all = 0, bytes;

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
	uint64_t from_ns = step->start_ns > DW_SLOW_WINDOW_NS ? step->start_ns - DW_SLOW_WINDOW_NS : 0;
	struct dw_pack_window window = { .from_ticks = dw_source_ticks(&source->files[0].clock, from_ns),
		.to_ticks = step->end_ticks };
	struct dwell_error error = { 0, "" };
	char word[40], path[4200], pattern[4200];

	snprintf(word, sizeof word, "slow-%llu", (unsigned long long)step->number);
	dw_pack_part_path(trace, word, ".dwell", path, sizeof path);
	dw_pack_part_path(trace, "slow-*", ".dwell", pattern, sizeof pattern);
	umask(0077);
	if (dw_pack_store_part(source, &window, path, &error))
		slow_limit(pattern, most_bytes);
	else
		dw_say_error(&error, error.code);
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
