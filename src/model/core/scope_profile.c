/*
 * When profiles are open, by process and thread, for a scope.
 *
 * Called by scope.c. A profile counts for its own thread. It also counts for the other threads of
 * its process and of child processes, while they have no profile of their own open.
 */
#include <string.h>

#include "base/error.h"
#include "base/free.h"
#include "base/nearest.h"
#include "model/core/scope_times.h"

/* Whether the text is a list of ids, "3" or "3,4,5", and the id is among them. */
static bool profile_is_listed(const char *text, uint32_t id)
{
	bool found = false;

	for (;; text++) {
		char *end;

		found |= strtoul(text, &end, 10) == id;
		if (end == text)
			return false;
		text = end;
		if (*text != ',')
			return found && !*text;
	}
}

static bool profile_is_wanted(const struct dw_scope *scope, const struct dw_source_profile *profile)
{
	if (scope->profile_id)
		return profile->file == 0 && profile->id == scope->profile_id; /* ids are of a file, the one that was named */
	return strcmp(profile->name, scope->profile) == 0 || profile_is_listed(scope->profile, profile->id);
}

static int profile_find(struct dw_profile_times *times, const struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct dw_nearest nearest;

	times->within = (struct dw_interval){ UINT64_MAX, 0 };
	for (size_t i = 0; i < source->profile_count; i++) {
		const struct dw_source_profile *profile = &source->profiles[i];

		times->wanted[i] = profile_is_wanted(&model->scope, profile);
		if (times->wanted[i] && profile->start_ns < times->within.start_ticks)
			times->within.start_ticks = profile->start_ns;
		if (times->wanted[i] && profile->end_ns > times->within.end_ticks)
			times->within.end_ticks = profile->end_ns;
	}
	if (times->within.start_ticks != UINT64_MAX)
		return 0;
	dw_nearest_init(&nearest, model->scope.profile ? model->scope.profile : "");
	for (size_t i = 0; i < source->profile_count; i++)
		dw_nearest_try(&nearest, source->profiles[i].name);
	if (!source->profile_count)
		return dw_error_set(error, DWELL_E_NO_DATA, "%s has no profiles: they are made with dwell_profile_create()",
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NAME, "no profile '%.100s' in %s%s (dwell info lists all)",
	                    model->scope.profile ? model->scope.profile : "of that id", source->files[0].path,
	                    dw_nearest_question(&nearest).at);
}

int dw_profile_times_init(struct dw_profile_times *times, const struct dw_model *model, struct dwell_error *error)
{
	size_t count = model->source->profile_count;

	if (!DW_NEW(&times->wanted, count + 1) || !DW_NEW(&times->own, count + 1) || !DW_NEW(&times->others, count + 1) ||
	    !DW_NEW(&times->open, 3 * count + 1))
		return dw_model_no_memory(model, error);
	return profile_find(times, model, error);
}

void dw_profile_times_reset(struct dw_profile_times *times)
{
	DW_FREE(times->wanted, times->own, times->others, times->open);
}

static bool scope_process_descends(const struct dw_source *source, uint32_t process, uint32_t from)
{
	for (size_t hops = 0; process != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (process == from)
			return true;
		process = source->processes[process].parent;
	}
	return false;
}

void dw_profile_times_of(struct dw_profile_times *times, const struct dw_source *source,
                         uint32_t process, uint32_t thread)
{
	size_t others = 0, own = 0, open;

	for (size_t i = 0; i < source->profile_count; i++) {
		const struct dw_source_profile *profile = &source->profiles[i];
		struct dw_interval interval = { profile->start_ns, profile->end_ns };

		/* A program may have made thousands of them. */
		if (profile->start_ns > times->within.end_ticks || profile->end_ns < times->within.start_ticks)
			continue;
		if (profile->thread == thread)
			times->own[own++] = interval;
		else if (times->wanted[i] && scope_process_descends(source, process, source->threads[profile->thread].process))
			times->others[others++] = interval;
	}
	own = dw_intervals_unite(times->own, own);
	others = dw_intervals_unite(times->others, others);
	/* A thread with a profile of its own open counts only for that profile. */
	open = dw_intervals_subtract(times->others, others, times->own, own, times->open);
	for (size_t i = 0; i < source->profile_count; i++)
		if (times->wanted[i] && source->profiles[i].thread == thread)
			times->open[open++] = (struct dw_interval){ source->profiles[i].start_ns, source->profiles[i].end_ns };
	times->open_count = dw_intervals_unite(times->open, open);
}
