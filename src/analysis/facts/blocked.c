/*
 * Facts of waits by what blocks the program's main thread.
 *
 * While the program runs, `dwell run` looks up in which function of the kernel its main thread is
 * blocked (USAGE entries of the machine). So the kind of a wait is known without recorded
 * functions, in C too. The looks cover the whole loop: waits that a range explains (data,
 * communication, a device) are subtracted, and the rest divides the time in which the loop's thread
 * neither ran nor waited for a CPU. Only if the loop runs in the main thread of the program that
 * `dwell run` started.
 *
 * Other threads of the program may run in that time, or spin, as a team of OpenMP does. A thread that a file, a
 * sleep or another program blocks does not wait for them. A thread that a lock blocks may: so waits for locks are at
 * most the time in which no thread of the process ran. If samples of waits show more of it at mutexes, it is that: the
 * thread that runs holds the mutex. If they show more of it in fsync(), it is that: the kernel's readings miss waits that are
 * much shorter than the time between them.
 */
#include <math.h>
#include <stdio.h>

#include "facts/parts.h"
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

/* The part of the loop in which its thread neither ran nor waited for a CPU, in no range or in one that does not say
 * that it waits: without the first steps. */
static double blocked_off(const struct dw_facts_work *work)
{
	double ns = 0, delay_ns = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		delay_ns += dw_facts_delay(work, &work->all[i]);
		if (work->roles[i] & ~(unsigned)DW_ROLE_WARM_UP)
			ns += dw_facts_off(work, &work->all[i]);
	}
	return fmin(1, ns / fmax(1, work->loop_ns - delay_ns)) + work->facts->at[DW_FACT_LOOP_WAITING].value;
}

/* The part of the loop in which it waits in ranges that say for what. */
static double blocked_explained(const struct dw_facts *facts)
{
	double steps = facts->at[DW_FACT_LOOP_STEPS].value;

	return fmax(0, facts->at[DW_FACT_LOOP_DATA_ALL].value - facts->at[DW_FACT_LOADER_IN_PROCESS].value * steps) +
	       facts->at[DW_FACT_LOOP_COMMUNICATION_ALL].value + facts->at[DW_FACT_STEP_DEVICE].value * steps +
	       facts->at[DW_FACT_OPERATORS_OTHER_THREADS].value * steps;
}

/* A share of the loop with its 95% interval. */
struct share {
	double value, low, high;
};

#define LEAST_BLOCKED 5

/* The share of a kind of wait: `kind` of `blocked` looks at the blocked thread are at it. How long the thread is
 * idle is known from the kernel's account, so that looks need only divide it, and few of them are enough. */
static struct share blocked_divide(double kind, double blocked, double idle)
{
	const double z = 1.96;
	double ratio = fmin(1, kind / blocked), middle = ratio + z * z / (2 * blocked);
	double deviation = z * sqrt(ratio * (1 - ratio) / blocked + z * z / (4 * blocked * blocked));
	double scale = idle / (1 + z * z / blocked);

	return (struct share){ idle * ratio, fmax(0, middle - deviation) * scale, fmin(idle, (middle + deviation) * scale) };
}

/* The same if few looks saw the thread blocked, or if it was not counted how many did: a share of all looks. */
static struct share blocked_count(double kind, double looks, double idle)
{
	double value = fmin(kind / looks, idle), deviation = 1.96 * sqrt(fmax(0, value * (1 - value)) / looks);

	return (struct share){ value, fmax(0, value - deviation), fmin(1, value + deviation) };
}

/* Sets a fact to a share of the loop, unless functions explain more. Keeps the name that these gave if it explains
 * at least half. */
static void blocked_put(struct dw_facts_work *work, enum dw_fact_id id, struct share share, double looks)
{
	const struct dw_fact before = work->facts->at[id];
	struct dw_fact *fact;

	if (before.measured && before.value >= share.value)
		return;
	fact = dw_fact_set(work, id, share.value, (size_t)looks);
	fact->low = share.low;
	fact->high = share.high;
	if (before.measured && before.value >= share.value / 2)
		dw_fact_name(work, fact, before.symbol);
}

enum { BLOCKED_FILE, BLOCKED_LOCK, BLOCKED_SLEEP, BLOCKED_OTHER, BLOCKED_KINDS };

/* What blocks the thread is no other thread of the program: then this time is idle, whatever other threads do. */
static void blocked_put_idle(struct dw_facts_work *work, const struct share *kinds, double idle)
{
	struct dw_fact *named = &work->facts->at[DW_FACT_STEP_IDLE_NAMED];
	double steps = work->facts->at[DW_FACT_LOOP_STEPS].value, more, surely;

	more = kinds[BLOCKED_FILE].value + kinds[BLOCKED_SLEEP].value + kinds[BLOCKED_OTHER].value - idle;
	surely = kinds[BLOCKED_FILE].low + kinds[BLOCKED_SLEEP].low + kinds[BLOCKED_OTHER].low - idle;
	if (!named->measured || !(steps > 0) || !(more > 0))
		return;
	named->value = fmin(1, named->value + more / steps);
	named->low = fmin(named->value, named->low + fmax(0, surely) / steps);
	named->high = fmin(1, fmax(named->value, named->high + more / steps));
}

#define LEAST_NOTED 0.01 /* of the loop */

/* "files 50%, sleeps 3% of the loop", as the note of the thread's waits. */
static void blocked_put_note(struct dw_facts_work *work, const struct share *kinds)
{
	static const char *const names[BLOCKED_KINDS] = { "files", "locks and threads", "sleeps", "pipes, sockets and others" };
	struct dw_fact *waiting = &work->facts->at[DW_FACT_CPU_WAITING];
	char text[200] = "";
	int used = 0;

	for (unsigned kind = 0; kind < BLOCKED_KINDS; kind++)
		if (kinds[kind].value >= LEAST_NOTED)
			used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %.0f%%", used ? ", " : "",
			                 names[kind], kinds[kind].value * 100);
	if (!waiting->measured || !used)
		return;
	used += snprintf(text + used, sizeof text - (size_t)used, " of the loop");
	waiting->note = dw_facts_text(work, text, (size_t)used);
}

static struct share blocked_share(double kind, double blocked, double looks, double idle)
{
	return blocked >= LEAST_BLOCKED ? blocked_divide(kind, blocked, idle) : blocked_count(kind, looks, idle);
}

static void blocked_put_all(struct dw_facts_work *work, const struct dw_machine_of *machine)
{
	const enum dw_fact_id ids[BLOCKED_KINDS] = { DW_FACT_WAIT_FILE, DW_FACT_WAIT_LOCK, DW_FACT_WAIT_SLEEP,
		                                         DW_FACT_WAIT_OTHER };
	const double looks[BLOCKED_KINDS] = { machine->at_file, machine->at_lock, machine->asleep,
		machine->blocked - machine->at_file - machine->at_lock - machine->asleep };
	double idle = blocked_idle(work->facts), explained = blocked_explained(work->facts) * machine->looks;
	double blocked = machine->blocked - explained, off = fmax(idle, blocked_off(work)), most, mutex, mutex_low, disk, disk_low;
	struct share kinds[BLOCKED_KINDS];

	for (unsigned kind = 0; kind < BLOCKED_KINDS; kind++)
		kinds[kind] = blocked_share(fmax(0, looks[kind] - explained), blocked, machine->looks, off);
	disk = dw_facts_waited_for_disks(work, &disk_low);
	kinds[BLOCKED_FILE].value = fmax(kinds[BLOCKED_FILE].value, disk);
	kinds[BLOCKED_FILE].low = fmax(kinds[BLOCKED_FILE].low, disk_low);
	kinds[BLOCKED_FILE].high = fmax(kinds[BLOCKED_FILE].high, disk);
	most = off > idle ? fmax(0, idle - kinds[BLOCKED_FILE].value - kinds[BLOCKED_SLEEP].value -
	                                kinds[BLOCKED_OTHER].value) : idle;
	mutex = dw_facts_waited_for_locks(work, &mutex_low);
	kinds[BLOCKED_LOCK].value = fmax(fmin(kinds[BLOCKED_LOCK].value, most), mutex);
	kinds[BLOCKED_LOCK].low = fmax(fmin(kinds[BLOCKED_LOCK].low, most), mutex_low);
	kinds[BLOCKED_LOCK].high = fmax(kinds[BLOCKED_LOCK].high, kinds[BLOCKED_LOCK].value);
	for (unsigned kind = 0; kind < BLOCKED_KINDS; kind++)
		blocked_put(work, ids[kind], kinds[kind], machine->looks);
	if (!(machine->blocked > 0))
		dw_fact_miss(work, DW_FACT_WAIT_OTHER, "nothing blocked the thread when it was looked up, or an older version did that");
	blocked_put_idle(work, kinds, idle);
	blocked_put_note(work, kinds);
}

void dw_facts_of_blocked(struct dw_facts_work *work)
{
	struct dw_machine_of machine = dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);

	if (work->loop_ns > 0 && work->cpu_known && blocked_is_main(work, machine.program) &&
	    machine.known >= 0.5 && machine.looks >= LEAST_SAMPLES) {
		blocked_put_all(work, &machine);
		return;
	}
	for (unsigned id = DW_FACT_WAIT_SLEEP; id <= DW_FACT_WAIT_OTHER; id++)
		dw_fact_miss(work, (enum dw_fact_id)id, "record with dwell run; the loop must last a second "
		                                        "and run in the main thread");
}
