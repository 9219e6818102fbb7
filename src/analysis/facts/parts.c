/*
 * Divides a step into parts: the model's shares, and the rest, which is interpreter or idle time.
 *
 * In a Python program the rest is what no operator, wait or name explains: time in a phase outside
 * its operators, in layers and functions, and in no range. It is the interpreter's time unless the
 * thread used no CPU and did not wait for one. CPU times cover whole steps: the idle time of a step
 * is known, but not its place in the step. So idle time is first assigned to the waits that have a
 * name (data, communication, device, backward waiting for another thread). What remains, at most
 * the rest, is `idle`.
 */
#include <math.h>

#include "base/numbers.h"
#include "base/text.h"
#include "facts/parts.h"
#include "facts/work.h"

static const struct {
	enum dw_share from;
	enum dw_part to;
} same[] = {
	{ DW_SHARE_PROFILER, DW_PART_PROFILER },
	{ DW_SHARE_COLLECTOR, DW_PART_COLLECTOR },
	{ DW_SHARE_DATA, DW_PART_DATA },
	{ DW_SHARE_COMMUNICATION, DW_PART_COMMUNICATION },
	{ DW_SHARE_DEVICE, DW_PART_DEVICE },
	{ DW_SHARE_CHECKPOINT, DW_PART_CHECKPOINT },
	{ DW_SHARE_EVALUATION, DW_PART_EVALUATION },
	{ DW_SHARE_OPTIMIZER, DW_PART_OPTIMIZER },
	{ DW_SHARE_BACKWARD, DW_PART_BACKWARD },
	{ DW_SHARE_FORWARD, DW_PART_FORWARD },
	{ DW_SHARE_OPERATORS, DW_PART_OPERATORS },
	{ DW_SHARE_NAMED, DW_PART_NAMED },
};

/* Moves CPU time to or from a step's waits for a CPU. */
static void parts_set_delay(struct dw_usage_of *usage, double delay_ns)
{
	double cpu_ns = fmax(0, usage->cpu_ns + usage->delay_ns - delay_ns);

	usage->delay_ns = delay_ns;
	usage->process_cpu_ns += cpu_ns - usage->cpu_ns;
	usage->cpu_ns = cpu_ns;
}

/* A thread loses its CPU for some milliseconds at once, in few of the steps that share a reading: the delay of the
 * reading belongs to the steps that take longer than usual ones, as far as they do; what is left to all. */
static void parts_correct_shared(struct dw_facts_work *work, size_t from, size_t to, double usual_ns)
{
	double delay = 0, beyond = 0, wall = 0, first;

	for (size_t i = from; i < to; i++) {
		delay += work->usages[i].delay_ns;
		wall += work->usages[i].wall_ns;
		beyond += fmax(0, work->usages[i].wall_ns - usual_ns);
	}
	first = fmin(delay, beyond);
	for (size_t i = from; i < to; i++) {
		struct dw_usage_of *usage = &work->usages[i];
		double own = beyond > 0 ? first * fmax(0, usage->wall_ns - usual_ns) / beyond : 0;

		parts_set_delay(usage, fmin(usage->cpu_ns + usage->delay_ns, own + (delay - first) * usage->wall_ns / wall));
	}
}

void dw_facts_correct_usages(struct dw_facts_work *work)
{
	size_t count = work->usages ? work->loop->count : 0, from = 0;
	double *lengths = malloc((count + 1) * sizeof *lengths), usual_ns;

	work->failed |= !lengths;
	for (size_t i = 0; lengths && i < count; i++)
		lengths[i] = work->usages[i].wall_ns;
	if (lengths)
		dw_sort_numbers(lengths, count);
	usual_ns = lengths && count ? lengths[count / 4] : 0;
	free(lengths);
	for (size_t i = 0; i < count; i++) {
		struct dw_usage_of *usage = &work->usages[i];
		bool alone = usage->delay_known &&
		             dw_usage_take_cpu(usage, work->all[i].cpu_ns, work->all[i].end_ns - work->all[i].start_ns);
		bool shares = !alone && usage->delay_known && usage->wall_ns > 0;

		if (i > from && (!shares || usage->reading != work->usages[from].reading)) {
			parts_correct_shared(work, from, i, usual_ns);
			from = i;
		}
		if (!shares)
			from = i + 1;
	}
	if (count > from)
		parts_correct_shared(work, from, count, usual_ns);
}

double dw_facts_delay(const struct dw_facts_work *work, const struct dw_step *step)
{
	const struct dw_usage_of *usage = &work->usages[step - work->all];
	double length = (double)(step->end_ns - step->start_ns);

	return usage->wall_ns > 0 && usage->delay_known ? fmin(length, usage->delay_ns * length / usage->wall_ns) : 0;
}

struct dw_fact *dw_fact_set_steps(struct dw_facts_work *work, enum dw_fact_id id)
{
	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];
		double length = (double)(step->end_ns - step->start_ns), delay = dw_facts_delay(work, step);

		work->wholes[i] = fmax(0, length - delay);
		work->values[i] *= length > 0 ? work->wholes[i] / length : 0;
	}
	return dw_fact_set_blocks(work, id, work->steady_count);
}

/*
 * There are two sources. The CPU time of the process is exact for each step, but other threads may
 * run while the step's thread waits. The kernel's count is that of the thread, but several short
 * steps share a reading. So the first source is used if the other threads use almost no CPU.
 * A thread that never gave up its CPU to wait was not idle, whatever is missing in the kernel's sums.
 */
double dw_facts_unused(const struct dw_facts_work *work, const struct dw_step *step)
{
	const struct dw_usage_of *usage = &work->usages[step - work->all];
	double wall = (double)(step->end_ns - step->start_ns), cpu, delay = 0, unused;
	bool alone = true;

	if (dw_usage_is_known(usage->known) && usage->wall_ns > 0) {
		double scale = wall / usage->wall_ns;

		delay = usage->delay_known ? usage->delay_ns * scale : 0;
		cpu = usage->cpu_ns * scale;
		alone = dw_usage_is_alone(&work->usages[step - work->all]);
		if (work->switches_known && !(usage->waits > 0))
			return 0;
		if (alone && step->cpu_ns)
			cpu = (double)step->cpu_ns;
	} else if (step->cpu_ns) {
		cpu = (double)step->cpu_ns;
	} else {
		return -1;
	}
	unused = wall - cpu * work->per_cpu_ns - delay;
	return unused > 0 ? unused : 0;
}

/* The time of the ranges that say for what they wait. */
static double parts_waits(const struct dw_step *step)
{
	return (double)(step->share_ns[DW_SHARE_DATA] + step->share_ns[DW_SHARE_COMMUNICATION] +
	                step->share_ns[DW_SHARE_DEVICE] + step->helped_ns);
}

static double parts_idle(const struct dw_facts_work *work, const struct dw_step *step, double rest)
{
	double idle = dw_facts_unused(work, step) - parts_waits(step);

	if (idle < 0)
		return 0;
	return idle < rest ? idle : rest;
}

void dw_facts_divide(const struct dw_facts_work *work, const struct dw_step *step, double parts[DW_PART_COUNT])
{
	double rest = (double)step->share_ns[DW_SHARE_OTHER];

	for (unsigned i = 0; i < DW_PART_COUNT; i++)
		parts[i] = 0;
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		parts[same[i].to] = (double)step->share_ns[same[i].from];
	if (work->python) {
		rest += (double)(step->share_ns[DW_SHARE_PYTHON] + step->share_ns[DW_SHARE_LAYERS] +
		                 step->share_ns[DW_SHARE_FUNCTIONS]);
	} else {
		parts[DW_PART_LAYERS] = (double)step->share_ns[DW_SHARE_LAYERS];
		parts[DW_PART_FUNCTIONS] = (double)step->share_ns[DW_SHARE_FUNCTIONS];
	}
	parts[DW_PART_IDLE] = parts_idle(work, step, rest);
	parts[work->python ? DW_PART_PYTHON : DW_PART_UNNAMED] = rest - parts[DW_PART_IDLE];
}

double dw_facts_divide_running(const struct dw_facts_work *work, const struct dw_step *step,
                               double parts[DW_PART_COUNT])
{
	double length = (double)(step->end_ns - step->start_ns), left = length - dw_facts_delay(work, step), scale;

	dw_facts_divide(work, step, parts);
	scale = length > parts[DW_PART_IDLE] ? fmax(0, left - parts[DW_PART_IDLE]) / (length - parts[DW_PART_IDLE]) : 0;
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		parts[p] *= p == DW_PART_IDLE ? 1 : scale;
	return left;
}

DW_NAMES(dw_facts_part_name, enum dw_part, DW_PARTS)
