/*
 * Rules about waits that are not for data: files, locks and other threads, and what the program waits for otherwise.
 */
#include <string.h>

#include "rules/case.h"

/* What slow steps that recur take beyond usual ones, as a part of the loop, if most of it lies in
 * `part`: it is in the steady steps' shares, and slow-steps reports it. */
double dw_case_in_slow_steps(const struct dw_rule_case *at, const char *part)
{
	const struct dw_fact *excess = dw_case_fact(at, DW_FACT_STEP_OUTLIERS_EXCESS);
	bool recur = dw_case_part(at, DW_FACT_STEP_STEADY) + dw_case_part(at, DW_FACT_STEP_WARM_UP) +
	                 dw_case_part(at, DW_FACT_STEP_OUTLIERS) > dw_case_part(at, DW_FACT_STEP_COUNT);

	if (!recur || !excess->measured || excess->value < DW_RULE_DEADBAND || !excess->note ||
	    strcmp(excess->note, part) != 0)
		return 0;
	return excess->value * dw_case_part(at, DW_FACT_STEP_OUTLIERS_PART);
}

#define WAITS_LEAST 0.33 /* of the time between two lines */

/* Where the thread waits for a third of the time between two lines, it calls the system there: what it runs
 * is the kernel's work for that wait. */
double dw_case_work_for_waits(const struct dw_rule_case *at)
{
	double running = dw_case_value(at, DW_FACT_PLACES_LARGEST_RUNNING);

	return running <= 1 - WAITS_LEAST ? dw_case_part(at, DW_FACT_PLACES_LARGEST) * running : 0;
}

/* The work for the waits between two lines is that of waiting for files, if these are the lines. */
static double waits_work_for_files(const struct dw_rule_case *at)
{
	const struct dw_fact *file = dw_case_fact(at, DW_FACT_WAIT_FILE);
	const struct dw_fact *place = dw_case_fact(at, DW_FACT_PLACES_LARGEST);

	if (dw_case_has(at, DW_FACT_TRACE_FUNCTIONS) || dw_case_files_of_checkpoints(at) > 0 || !file->where || !place->where ||
	    strcmp(file->where, place->where) != 0)
		return 0;
	return dw_case_work_for_waits(at) * (1 - dw_case_part(at, DW_FACT_CPU_DELAY));
}

static struct dw_amount waits_share_file(const struct dw_rule_case *at)
{
	double work = waits_work_for_files(at);

	return dw_amount_less(dw_amount_plus(dw_case_amount(at, DW_FACT_WAIT_FILE),
	                                     (struct dw_amount){ work, work, work }),
	                      dw_case_files_of_checkpoints(at));
}

#define WAITS_OF_CROWD 2 /* threads that have no CPU make others wait for about as long as this times the mean */

/* Threads that share work wait for each other at its end. Where there are more of them than CPUs, this says
 * nothing of the program's locks. */
static bool waits_for_lock(const struct dw_rule_case *at)
{
	if (dw_case_has(at, DW_FACT_TRACE_FUNCTIONS))
		return true;
	if (at->facts->framework == DW_FACTS_JAX && !dw_case_fact(at, DW_FACT_WAIT_LOCK)->name)
		return false; /* for the threads in which XLA computes */
	if (dw_case_fact(at, DW_FACT_CPU_CROWDED)->measured)
		return dw_case_value(at, DW_FACT_WAIT_LOCK) > WAITS_OF_CROWD * dw_case_crowded(at);
	return !(dw_case_value(at, DW_FACT_CPU_THREADS) > dw_case_value(at, DW_FACT_CPU_CPUS) &&
	         dw_case_value(at, DW_FACT_CPU_DELAY) >= DW_RULE_NAMED);
}

static enum dw_rule_whole waits_whole_idle(const struct dw_rule_case *at)
{
	return dw_case_whole_of(dw_case_part(at, DW_FACT_LOOP_WAITING));
}

/* Idle time within the steps: in no range, and in ranges that do not say that they wait. */
static struct dw_amount waits_idle_in_steps(const struct dw_rule_case *at)
{
	return dw_amount_plus(dw_case_amount(at, DW_FACT_STEP_IDLE), dw_case_amount(at, DW_FACT_STEP_IDLE_NAMED));
}

/* Other programs make the idle time of single steps uneven. How often the thread was seen asleep, or blocked by another
 * program, says for sure how much of the loop it was. */
static struct dw_amount waits_surely_idle(const struct dw_rule_case *at, enum dw_rule_whole whole, struct dw_amount share)
{
	double low = 0;

	for (unsigned id = DW_FACT_WAIT_SLEEP; id <= DW_FACT_WAIT_OTHER; id++)
		if (dw_case_fact(at, (enum dw_fact_id)id)->measured)
			low += dw_case_fact(at, (enum dw_fact_id)id)->low;
	share.low = fmax(share.low, fmin(share.value, dw_case_of_whole(at, whole, low)));
	return share;
}

static struct dw_amount waits_share_idle(const struct dw_rule_case *at)
{
	enum dw_rule_whole whole = waits_whole_idle(at);
	struct dw_amount share = waits_idle_in_steps(at);
	double other = dw_case_files_of_checkpoints(at); /* what is reported otherwise */

	if (!waits_for_lock(at))
		other += dw_case_part(at, DW_FACT_WAIT_LOCK);
	if (whole == DW_RULE_OF_LOOP)
		share = dw_amount_plus(dw_case_amount(at, DW_FACT_LOOP_WAITING),
		                       dw_amount_times(share, dw_case_part(at, DW_FACT_LOOP_STEPS)));
	if (dw_case_waits_in_all_steps(at))
		share = dw_amount_plus(share, dw_amount_times(dw_case_amount(at, DW_FACT_STEP_IDLE_SLOW),
		                                              dw_case_of_whole(at, whole, 1)));
	else
		other += dw_case_in_slow_steps(at, "idle");
	return waits_surely_idle(at, whole, dw_amount_less(share, dw_case_of_whole(at, whole, other)));
}

#define WAITS_BUSY_CPUS 1.05 /* CPUs: with more, other threads of the process work */

#define WAITS_UNSURE 0.30    /* of a step; if a wait for a CPU is not known, less may be one */

/* If the delay of each step is not known, a wait for a CPU cannot be distinguished from a sleep. */
static bool waits_is_idle(const struct dw_rule_case *at)
{
	return dw_case_fact(at, DW_FACT_CPU_DELAY)->measured ||
	       (waits_share_idle(at).value >= fmax(WAITS_UNSURE, dw_case_part(at, DW_FACT_RUN_DELAY)) &&
	        !(dw_case_value(at, DW_FACT_CPU_BUSY) > WAITS_BUSY_CPUS));
}

const struct dw_rule dw_rules_waits[] = {
	{
		.id = "waiting-file",
		.marked = true,
		.question = "Does the loop wait for files?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_IDLE,
		.part = DW_RULE_PART_IDLE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_WAIT_FILE),
		.share = waits_share_file,
		.threshold = 0.05,
		.reason = "Time in functions that read, write and flush, if functions were recorded, or in "
		          "which a file blocked the main thread; in C and C++ also CPU time of the C library's calls for files, such as fprintf and fgets. If the thread waits for a third of the time between two lines of "
		          "the program, all of the time between these lines counts: it prepares the wait. Checkpoints do not count. A pipe or a socket is the answer of another "
		          "program: then the program is idle.",
		.statement = "Reading or writing files {takes} {share} {of}[, most of it in {wait.file:name}]"
		             "{wait.file:where}[, in the range {step.named_waiting:name}{step.named_part:where}].",
		.remedy = { [DW_WORDS_ANY] = "read and write in another thread, in larger pieces, and flush less often" },
		DW_CASE_FUNCTIONS,
	},
	{
		.id = "waiting-lock",
		.marked = true,
		.question = "Does the loop wait for a lock or another thread?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_IDLE,
		.part = DW_RULE_PART_IDLE,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_WAIT_LOCK),
		.threshold = 0.05,
		.applies = waits_for_lock,
		.reason = "Time in functions that acquire locks, join threads or get from queues, if functions "
		          "were recorded, or in which a lock blocked the main thread; CPU time in loops that only another "
		          "thread can end; from 12% of the loop on also waits for a team in "
		          "OpenMP's runtime, from 20% on at barriers; while other programs use a quarter of the CPUs, at most what another thread "
		          "of the team certainly works longer. Not while more threads than CPUs want to run: then a thread of operators waits for the others. Not in JAX, whose main thread waits for those of XLA, if no function is known.",
		.statement = "Waiting for a lock or another thread {takes} {share} {of}"
		             "[, most of it in {wait.lock:name}]{wait.lock:where}[, in the range {step.named_waiting:name}"
		             "{step.named_part:where}].",
		.remedy = {
			[DW_WORDS_ANY] = "hold the lock for less time, or exchange through a queue that has entries ready; give a team of threads "
			                 "equal parts, as schedule(dynamic) does",
		},
		DW_CASE_FUNCTIONS,
	},
	{
		.id = "idle",
		.marked = true,
		.question = "Does the program wait without using a CPU?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_IDLE,
		.part = DW_RULE_PART_IDLE,
		.whole_of = waits_whole_idle,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_IDLE),
		.share = waits_share_idle,
		.threshold = 0.07,
		.reason = "No thread of the process used a CPU, and none waited for one, or a file, a sleep or another "
		          "program blocked the thread; in no range, or in a range that does not say that it waits. If that wait is known for the whole run "
		          "only, the share must exceed it, and 30%. Long waits of single steps are included "
		          "if all steps wait. Time in which a hypervisor ran another machine is left out.",
		.applies = waits_is_idle,
		.statement = "The program is idle for {share} {of}{step.idle:where}[, in the range {step.named_waiting:name}{step.named_part:where}]"
		             ": it waits, but not for data"
		             "[?wait.sleep: ; it sleeps for {wait.sleep} of the loop][; most of it in {wait.other:name}]{wait.other:where}.",
		.remedy = {
			[DW_WORDS_ANY] = "find the sleep, the lock, the file or the answer of another program that it waits for",
		},
		DW_CASE_FUNCTIONS,
	},
	{ 0 },
};
