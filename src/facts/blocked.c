/*
 * Facts of waits by what blocks the program's main thread.
 *
 * While the program runs, `dwell run` looks up in which function of the kernel its main thread is
 * blocked (USAGE entries of the machine). So the kind of an idle time is known without recorded
 * functions, in C too. The looks cover the whole loop: waits that a range explains (data,
 * communication, a device) are subtracted, and no kind is more than the loop's idle time. Only if
 * the loop runs in the main thread of the program that `dwell run` started.
 */
#include <math.h>

#include "facts/work.h"

#define LEAST_SAMPLES 20

static bool blocked_is_main(const struct dw_facts_work *work, uint64_t program)
{
	const struct dw_source_thread *thread = &work->source->threads[work->loop->thread];
	const struct dw_source_process *process = &work->source->processes[thread->process];

	return thread->tid == process->pid && process->pid == program;
}

/* The loop's idle time that no range explains, as a part of the loop. */
static double blocked_idle(const struct dw_facts *facts)
{
	return (facts->at[DW_FACT_STEP_IDLE].value + facts->at[DW_FACT_STEP_IDLE_NAMED].value) *
	           facts->at[DW_FACT_LOOP_STEPS].value +
	       facts->at[DW_FACT_STEP_IDLE_SLOW].value + facts->at[DW_FACT_LOOP_WAITING].value;
}

/* The part of the loop in which it waits in ranges that say for what. */
static double blocked_explained(const struct dw_facts *facts)
{
	double steps = facts->at[DW_FACT_LOOP_STEPS].value;

	return fmax(0, facts->at[DW_FACT_LOOP_DATA_ALL].value -
	                   facts->at[DW_FACT_LOADER_IN_PROCESS].value * steps) +
	       facts->at[DW_FACT_LOOP_COMMUNICATION_ALL].value +
	       facts->at[DW_FACT_STEP_DEVICE].value * steps +
	       facts->at[DW_FACT_OPERATORS_OTHER_THREADS].value * steps;
}

/* Sets a fact to a share of the samples, unless functions explain more. Keeps the name that these
 * gave if it explains at least half. */
static void blocked_put(struct dw_facts_work *work, enum dw_fact_id id, double blocked,
                        double samples, double most)
{
	const struct dw_fact before = work->facts->at[id];
	double share = fmin(blocked / samples, most), deviation;
	struct dw_fact *fact;

	if (before.measured && before.value >= share)
		return;
	deviation = 1.96 * sqrt(fmax(0, share * (1 - share)) / samples);
	fact = dw_fact_set(work, id, share, (size_t)samples);
	fact->low = fmax(0, share - deviation);
	fact->high = fmin(1, share + deviation);
	if (before.measured && before.value >= share / 2)
		dw_fact_name(work, fact, before.symbol);
}

void dw_facts_of_blocked(struct dw_facts_work *work)
{
	struct dw_machine_of machine =
	    dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);
	double idle = blocked_idle(work->facts), explained = blocked_explained(work->facts);

	if (!(work->loop_ns > 0) || !work->cpu_known || !blocked_is_main(work, machine.program) ||
	    machine.known < 0.5 || machine.looks < LEAST_SAMPLES) {
		dw_fact_miss(work, DW_FACT_WAIT_SLEEP, "record with dwell run; the loop must last a second "
		                                       "and run in the main thread");
		return;
	}
	explained *= machine.looks;
	blocked_put(work, DW_FACT_WAIT_FILE, fmax(0, machine.at_file - explained), machine.looks, idle);
	blocked_put(work, DW_FACT_WAIT_LOCK, fmax(0, machine.at_lock - explained), machine.looks, idle);
	blocked_put(work, DW_FACT_WAIT_SLEEP, fmax(0, machine.asleep - explained), machine.looks, idle);
}
