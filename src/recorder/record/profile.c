/*
 * Profile objects: ranges of time for which a program asks for results.
 *
 * A profile stores no events. While it records, it asks for the gate to be open (step.c), and a
 * PROFILE entry in the journal marks the range, by which a reader finds this part of the trace.
 * Unlike probes, these functions may allocate and wait: they are called at most a few times a step.
 *
 * Invariant: `open` is set, and the profile's mask is part of the gate's, exactly while the action
 * is RECORD or RECORD_AND_SAVE. In a child of fork, the parent's profiles do nothing.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/steps.h"
#include "record/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"

struct dwell_profile {
	struct dwell_profile_options options;
	uint32_t pid;
	uint32_t name;                  /* a STRING id */
	uint32_t mask;

	bool started, stepped;
	bool open;                      /* it is recording */
	enum dwell_action action;
	uint64_t step_num, cycle;
	uint64_t start_ticks;           /* start of the first step, until that step is written */
	uint64_t steps_before;          /* the process's steps at the profile's start */
	struct dw_entry_profile *entry; /* of the open range; NULL: the file had no space for it */

	bool has_result;
	struct dwell_profile_result result;

	pthread_t worker;               /* runs on_trace_ready */
	bool working;
	struct dwell_profile_result handed;
};

static bool profile_records(enum dwell_action action)
{
	return action >= DWELL_ACTION_RECORD;
}

/* ---- creating ------------------------------------------------------------------- */

static uint32_t profile_mask_of(const struct dwell_profile_options *options)
{
	uint32_t device = 1u << DWELL_CATEGORY_DEVICE, mask = 0;
	unsigned activities = options->activities;

	if (!activities)
		activities = DWELL_ACTIVITY_CPU | DWELL_ACTIVITY_CUDA;
	if (activities & DWELL_ACTIVITY_CPU)
		mask = DWELL_MASK_DEFAULT & ~device & ~(1u << DWELL_CATEGORY_ALLOCATION);
	if (activities & DWELL_ACTIVITY_CUDA)
		mask |= device;
	if (options->profile_memory)
		mask |= 1u << DWELL_CATEGORY_ALLOCATION;
	if (options->categories)
		mask = options->categories;
	if (options->record_shapes || options->with_flops)
		mask |= DWELL_DETAIL_SHAPES;
	if (options->with_stack)
		mask |= DWELL_DETAIL_STACKS;
	if (options->with_flops)
		mask |= DWELL_DETAIL_FLOPS;
	if (options->with_functions)
		mask |= 1u << DWELL_CATEGORY_FUNCTION | DWELL_DETAIL_C_FUNCTIONS;
	return mask;
}

static int profile_check(const struct dwell_profile_options *options, struct dwell_error *error)
{
	const struct dwell_schedule *schedule = &options->schedule;

	if (options->size != sizeof *options)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "dwell_profile_options.size is %zu, not %zu: use "
		                    "DWELL_PROFILE_OPTIONS_INIT", options->size, sizeof *options);
	if (options->activities & ~(DWELL_ACTIVITY_CPU | DWELL_ACTIVITY_CUDA))
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "dwell_profile_options.activities holds bits that are none: use "
		                    "DWELL_ACTIVITY_CPU and DWELL_ACTIVITY_CUDA");
	if (options->categories >> DWELL_CATEGORY_COUNT)
		return dw_error_set(error, DWELL_E_ARGUMENT,
		                    "dwell_profile_options.categories is 0x%x: bits are 1 << enum "
		                    "dwell_category", options->categories);
	if (schedule->active || schedule->wait || schedule->warmup || schedule->repeat ||
	    schedule->skip_first)
		return dwell_schedule_check(schedule, error);
	return 0;
}

/* Stores the metadata that PyTorch's profiler stores with a trace. */
static void profile_store_metadata(const struct dwell_profile_options *options)
{
	const struct { const char *key; bool value; } flags[] = {
		{ "record_shapes", options->record_shapes || options->with_flops },
		{ "profile_memory", options->profile_memory },
		{ "with_stack", options->with_stack },
		{ "with_flops", options->with_flops },
	};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (flags[i].value)
			dwell_meta_json(flags[i].key, "1");
}

struct dwell_profile *dwell_profile_create(const struct dwell_profile_options *options,
                                           struct dwell_error *error)
{
	static const struct dwell_profile_options defaults = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_options session = DWELL_OPTIONS_INIT;
	struct dwell_profile *profile;
	enum dw_loss cause;

	if (!options)
		options = &defaults;
	session.categories = DWELL_MASK_NONE;
	if (profile_check(options, error) || (!dwell_active() && dwell_start(&session, error)))
		return NULL;
	profile = calloc(1, sizeof *profile);
	if (!profile || !dw_slot_here(&cause)) {
		dw_error_set(error, DWELL_E_NOMEM, "no memory for a profile");
		free(profile);
		return NULL;
	}
	profile->options = *options;
	profile->pid = DW_LOAD(dw_process->pid);
	profile->mask = profile_mask_of(options);
	profile->name = dw_intern_text(options->name ? options->name : "profile");
	profile_store_metadata(options);
	return profile;
}

void dwell_profile_destroy(struct dwell_profile *profile)
{
	if (!profile)
		return;
	if (profile->started)
		dwell_profile_stop(profile, NULL);
	free(profile);
}

/* ---- results -------------------------------------------------------------------- */

static void profile_wait_for_worker(struct dwell_profile *profile)
{
	if (profile->working)
		pthread_join(profile->worker, NULL);
	profile->working = false;
}

static void *profile_work(void *pointer)
{
	struct dwell_profile *profile = pointer;

	profile->options.on_trace_ready(profile, &profile->handed, profile->options.context);
	return NULL;
}

/* The worker blocks all signals: the program's own threads handle them. */
static bool profile_work_in_background(struct dwell_profile *profile)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* the recorder handles faults in its file */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	profile->working = pthread_create(&profile->worker, NULL, profile_work, profile) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return profile->working;
}

static void profile_export(struct dwell_profile *profile)
{
	if (!profile->options.on_trace_ready || !profile->has_result)
		return;
	profile_wait_for_worker(profile);
	profile->handed = profile->result;
	if (!profile->options.background || !profile_work_in_background(profile))
		profile_work(profile);
}

/* ---- recording ------------------------------------------------------------------ */

/* Returns a time that is later than that of any range before it. Some machines' counters stay the
 * same for a while: a range that began in the same tick would be on both sides of the boundary. */
static uint64_t profile_boundary(void)
{
	uint64_t before = dw_now(), now = before;

	for (unsigned i = 0; now == before && i < 1000000; i++)
		now = dw_now();
	return now;
}

static void profile_begin_cycle(struct dwell_profile *profile, const struct dw_slot *slot)
{
	struct dw_entry_profile *entry;
	enum dw_loss cause;

	profile->open = true;
	dw_step_want(profile->mask, true);
	entry = dw_journal_try_times(sizeof *entry, &cause);
	profile->entry = entry;
	if (!entry) {
		dw_slot_lost(NULL, dw_journal_loss(cause), 1);
		return;
	}
	entry->entry.id = dw_new_profile_id();
	entry->entry.aux = slot->thread;
	entry->name = profile->name;
	entry->mask = profile->mask;
	entry->cycle = profile->cycle;
	entry->start_ticks = profile_boundary();
	dw_journal_commit(entry, DW_ENTRY_PROFILE);
}

static void profile_end_cycle(struct dwell_profile *profile)
{
	struct dw_entry_profile *entry = profile->entry;

	/* Pairs with a reader's acquire: ranges that began before this are in the profile's range. */
	if (entry)
		__atomic_store_n(&entry->end_ticks, profile_boundary(), __ATOMIC_RELEASE);
	dw_journal_look_times();
	dw_step_want(profile->mask, false);
	profile->open = false;
	profile->entry = NULL;
	profile->has_result = entry != NULL;
	if (entry)
		profile->result = (struct dwell_profile_result){ dw_session.path, entry->entry.id,
			profile->cycle, profile->step_num };
	profile->cycle++;
}

/* Changes the action; `next` is NONE also when the profile stops. */
static int profile_change(struct dwell_profile *profile, enum dwell_action next, bool stopping,
                          const struct dw_slot *slot, struct dwell_error *error)
{
	enum dwell_action before = profile->action;
	bool cut = before == DWELL_ACTION_RECORD && !profile_records(next);
	int result = 0;

	if (profile_records(before) && (before == DWELL_ACTION_RECORD_AND_SAVE || cut)) {
		profile_end_cycle(profile);
		if (before == DWELL_ACTION_RECORD_AND_SAVE || stopping)
			profile_export(profile);
	}
	if (profile_records(next) && !profile->open)
		profile_begin_cycle(profile, slot);
	profile->action = next;
	if (!stopping && (cut || (before == DWELL_ACTION_WARMUP && next == DWELL_ACTION_NONE)))
		result = dw_error_set(error, DWELL_E_ARGUMENT,
		                      "step %llu: the schedule goes from %s to %s, so that its cycle has no "
		                      "result: end cycles with RECORD_AND_SAVE",
		                      (unsigned long long)profile->step_num, cut ? "RECORD" : "WARMUP",
		                      next == DWELL_ACTION_NONE ? "NONE" : "WARMUP");
	return result;
}

static enum dwell_action profile_action_of(const struct dwell_profile *profile)
{
	enum dwell_action action;

	if (!profile->options.action)
		return dwell_schedule_action(&profile->options.schedule, profile->step_num);
	action = profile->options.action(profile->step_num, profile->options.context);
	return action > DWELL_ACTION_RECORD_AND_SAVE ? DWELL_ACTION_NONE : action;
}

/* ---- the program's side ----------------------------------------------------------- */

/* False in a child of fork, where dw_process->pid is wiped. */
static bool profile_is_ours(const struct dwell_profile *profile)
{
	return profile && DW_LOAD(dw_process->pid) == profile->pid;
}

static int profile_refuse(struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_ARGUMENT, "the profile is NULL: dwell_profile_create() makes one");
}

/* The calling thread's slot, in the process that made the profile. */
static struct dw_slot *profile_slot_for(const struct dwell_profile *profile)
{
	return profile_is_ours(profile) && dw_session_head() ? dw_slot_here(NULL) : NULL;
}

int dwell_profile_start(struct dwell_profile *profile, struct dwell_error *error)
{
	struct dw_slot *slot = profile_slot_for(profile);
	DW_KEEP_ERRNO;
	int result;

	if (!profile)
		return profile_refuse(error);
	if (profile->started)
		return dw_error_set(error, DWELL_E_STATE, "the profile is started: stop it first");
	if (!slot)
		return dw_error_set(error, DWELL_E_STATE,
		                    "nothing records in this process: was the session stopped, or is this "
		                    "a child of the process that made the profile?");
	profile->started = true;
	profile->stepped = false;
	profile->step_num = 0;
	profile->cycle = 0;
	profile->has_result = false;
	profile->action = DWELL_ACTION_NONE;
	profile->steps_before = DW_LOAD(dw_process->steps);
	result = profile_change(profile, profile_action_of(profile), false, slot, error);
	profile->start_ticks = dw_now();
	/* A gate that follows steps must know of the first step before it ends. A profile of chosen
	 * categories does not begin that step. */
	if (dw_step_gated() && !profile->options.categories && !slot->marks_steps && !slot->stepper &&
	    !slot->step) {
		slot->stepper = profile;
		dw_step_next(slot);
	}
	return result;
}

/* Whether this profile marks the steps of this thread. */
static bool profile_is_stepper(const struct dwell_profile *profile, struct dw_slot *slot)
{
	if (slot->marks_steps)
		return false;
	if (!slot->stepper)
		slot->stepper = profile;
	return slot->stepper == profile;
}

/* `changes`: the action changes, so the time between this step and the next belongs to neither. */
static void profile_end_step(struct dwell_profile *profile, struct dw_slot *slot, bool changes)
{
	if (slot->step && changes)
		dw_step_end(slot);
	else if (!slot->step && !profile->stepped && DW_LOAD(dw_process->steps) == profile->steps_before)
		dw_step_past(slot, profile->start_ticks);
}

int dwell_profile_step(struct dwell_profile *profile, struct dwell_error *error)
{
	struct dw_slot *slot = profile_slot_for(profile);
	DW_KEEP_ERRNO;
	int result;
	enum dwell_action next;
	bool steps;

	if (!profile)
		return profile_refuse(error);
	if (!profile->started)
		return dw_error_set(error, DWELL_E_STATE, "the profile is not started");
	if (!slot)
		return 0; /* made by the parent process, or in a session that was stopped */
	steps = profile_is_stepper(profile, slot);
	profile->step_num++;
	next = profile_action_of(profile);
	if (steps)
		profile_end_step(profile, slot, next != profile->action || profile_records(next));
	profile->stepped = true;
	result = profile_change(profile, next, false, slot, error);
	if (steps)
		dw_step_next(slot);
	return result;
}

static bool profile_has_schedule(const struct dwell_profile *profile)
{
	return profile->options.action || profile->options.schedule.active;
}

int dwell_profile_stop(struct dwell_profile *profile, struct dwell_error *error)
{
	struct dw_slot *slot = profile_slot_for(profile);
	DW_KEEP_ERRNO;

	if (!profile)
		return profile_refuse(error);
	if (!profile->started)
		return dw_error_set(error, DWELL_E_STATE, "the profile is not started");
	if (slot && slot->stepper == profile) {
		/* steps end with dwell_profile_step(); what comes after the last one is no step */
		dw_step_cancel(slot);
		slot->stepper = NULL;
	}
	if (slot)
		profile_change(profile, DWELL_ACTION_NONE, true, slot, NULL);
	if (profile_is_ours(profile))
		profile_wait_for_worker(profile);
	profile->open = false;
	profile->started = false;
	profile->action = DWELL_ACTION_NONE;
	if (slot && profile_has_schedule(profile) && !profile->stepped)
		return dw_error_set(error, DWELL_E_STATE,
		                    "the profile has a schedule and dwell_profile_step() was never called: "
		                    "call it at the end of each iteration");
	return 0;
}

/* ---- queries ------------------------------------------------------------------------ */

uint64_t dwell_profile_step_num(const struct dwell_profile *profile)
{
	return profile ? profile->step_num : 0;
}

enum dwell_action dwell_profile_action(const struct dwell_profile *profile)
{
	return profile ? profile->action : DWELL_ACTION_NONE;
}

uint32_t dwell_profile_id(const struct dwell_profile *profile)
{
	return profile && profile->open && profile->entry ? profile->entry->entry.id : 0;
}

const char *dwell_profile_warning(const struct dwell_profile *profile)
{
	if (profile && profile->options.activities & DWELL_ACTIVITY_CUDA && !dw_device_has_probe())
		return "CUDA is asked for and nothing records a CUDA device here: there will be no device times";
	return NULL;
}

int dwell_profile_result(const struct dwell_profile *profile, struct dwell_profile_result *result,
                         struct dwell_error *error)
{
	if (!profile)
		return profile_refuse(error);
	if (!profile->has_result)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "the profile has no result yet: %s",
		                    profile->started ? "stop it, or wait for the end of its cycle"
		                                     : "it never recorded a step");
	if (result)
		*result = profile->result;
	return 0;
}
