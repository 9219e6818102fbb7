/*
 * Facts of the loop: its wall time, divided into its steps and the parts of the time between them.
 *
 * The division is that of the model (struct dw_loop). In a Python program the time between steps
 * that no range explains is the interpreter's.
 */
#include <math.h>
#include <string.h>

#include "facts/parts.h"
#include "facts/work.h"
#include "format/keys.h"
#include "model/steps/loop_phases.h"
#include "model/time/outermost.h"

/* Divides the named ranges between the steps into those of logging and others, and names the
 * largest of each and of the operators. */
static void outside_put_names(struct dw_facts_work *work, double named_ns)
{
	const struct dw_loop *loop = work->loop;
	uint32_t largest_name = DW_NO_INDEX, largest_log = DW_NO_INDEX, largest_op = DW_NO_INDEX;
	double logging_ns = 0;
	struct dw_fact *fact;

	for (size_t i = 0; i < loop->outside_row_count; i++) {
		uint32_t symbol = loop->outside_rows[i].symbol;
		bool is_operator = work->symbols[symbol].category == DWELL_CATEGORY_OPERATOR;
		bool is_logging = !is_operator && dw_name_is_logging(work->symbols[symbol].name);
		uint32_t *largest = is_operator  ? &largest_op
		                    : is_logging ? &largest_log
		                                 : &largest_name;

		if (is_logging)
			logging_ns += (double)loop->outside_rows[i].ns;
		if (*largest == DW_NO_INDEX)
			*largest = symbol;
	}
	fact = dw_fact_set_share(work, DW_FACT_LOOP_OPERATORS,
	                         (double)loop->outside_ns[DW_SHARE_OPERATORS], work->loop_ns, 1);
	dw_fact_name(work, fact, largest_op);
	fact = dw_fact_set_share(work, DW_FACT_LOOP_NAMED, named_ns - logging_ns, work->loop_ns, 1);
	dw_fact_name(work, fact, largest_name);
	if (largest_log == DW_NO_INDEX) {
		dw_fact_miss(work, DW_FACT_LOOP_LOGGING, "no range is named log or logging");
		return;
	}
	fact = dw_fact_set_share(work, DW_FACT_LOOP_LOGGING, logging_ns, work->loop_ns, 1);
	dw_fact_name(work, fact, largest_log);
}

/* Sets a fact for a share's time both in and outside the steps. Collections of the warm-up do not count: imports
 * and compilation make them, and they do not come again. */
static void outside_put_all(struct dw_facts_work *work, enum dw_fact_id id, enum dw_share share)
{
	double ns = (double)work->loop->outside_ns[share];

	for (size_t i = 0; i < work->loop->count; i++)
		if (share != DW_SHARE_COLLECTOR || work->roles[i] != DW_ROLE_WARM_UP)
			ns += (double)work->all[i].share_ns[share];
	dw_fact_set_share(work, id, ns, work->loop_ns, work->loop->count);
}

enum outside_calls { OUTSIDE_TRAINED, OUTSIDE_INFERENCE, OUTSIDE_GRAPHS, OUTSIDE_CALLS };

static enum outside_calls outside_calls_of(const struct dw_symbol *symbol)
{
	if (strcmp(symbol->name, DW_NAME_EVALUATION_GRADIENTS) == 0)
		return OUTSIDE_GRAPHS;
	return strcmp(symbol->name, DW_NAME_INFERENCE) == 0 ? OUTSIDE_INFERENCE : OUTSIDE_TRAINED;
}

/* How much of the evaluation each kind of call takes. PyTorch's probe gives each kind a name; if only one
 * occurs, it takes all, and the records need not be walked. */
static void outside_put_calls(struct dw_facts_work *work)
{
	double ns[OUTSIDE_CALLS] = { 0 }, all_ns = 0;
	const struct dw_tree *tree = NULL;
	bool is_there = false, others = false;
	size_t count;

	dw_model_symbols(work->model, &count);
	for (size_t i = 0; i < count; i++) {
		bool evaluates = work->symbols[i].category == DWELL_CATEGORY_EVALUATION;

		is_there |= evaluates;
		others |= evaluates && outside_calls_of(&work->symbols[i]) != OUTSIDE_TRAINED;
	}
	if (others) {
		tree = dw_model_outermost(work->model, NULL);
		work->failed |= !tree;
	} else if (is_there) {
		ns[OUTSIDE_TRAINED] = all_ns = 1;
	}
	for (size_t i = 0; tree && i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX || node->thread != work->loop->thread ||
		    work->symbols[node->symbol].category != DWELL_CATEGORY_EVALUATION)
			continue;
		all_ns += (double)node->stat.total_ns;
		ns[outside_calls_of(&work->symbols[node->symbol])] += (double)node->stat.total_ns;
	}
	if (dw_facts_meta(work, DW_KEY_TORCH_GRADIENTS))
		dw_fact_set_share(work, DW_FACT_EVALUATION_GRAPHS, ns[OUTSIDE_GRAPHS], fmax(1, all_ns), 1);
	else
		dw_fact_miss(work, DW_FACT_EVALUATION_GRAPHS, "whether gradients are enabled is not in the trace");
	if (dw_facts_meta(work, DW_KEY_TORCH_INFERENCE))
		dw_fact_set_share(work, DW_FACT_EVALUATION_TRAINED, ns[OUTSIDE_TRAINED], fmax(1, all_ns), 1);
	else
		dw_fact_miss(work, DW_FACT_EVALUATION_TRAINED, "whether the model is trained is not in the trace");
}

/* How many evaluations the run has: one may have many batches. */
static void outside_put_times(struct dw_facts_work *work, uint64_t calls)
{
	const struct dw_loop_phases *phases = calls ? dw_model_loop_phases(work->model, NULL) : NULL;

	work->failed |= calls && !phases;
	if (phases && phases->phases[DW_PHASE_EVALUATION].all.times)
		dw_fact_set(work, DW_FACT_EVALUATION_TIMES, (double)phases->phases[DW_PHASE_EVALUATION].all.times, 1);
}

/* The time between steps in which the thread waited for a CPU, of the loop's `delay_ns`. */
static double outside_delay(const struct dw_facts_work *work, double delay_ns)
{
	for (size_t i = 0; i < work->loop->count; i++) {
		const struct dw_usage_of *usage = &work->usages[i];
		double length = (double)(work->all[i].end_ns - work->all[i].start_ns);

		if (usage->wall_ns > 0)
			delay_ns -= usage->delay_ns * length / usage->wall_ns;
	}
	return fmax(0, delay_ns);
}

/* The part of the loop's waits for a CPU in which its thread lost the CPU while it worked, and did not get it back after
 * another wait. 0: not known. */
static double outside_preempted(const struct dw_facts_work *work, const struct dw_usage_of *usage)
{
	return work->switches_known ? usage->preemptions / fmax(1, usage->waits + usage->preemptions) : 0;
}

/* What samples show of a state in the rest of the time between the steps. -1: nothing, as nobody sampled it. */
static double outside_sampled(const struct dw_facts_work *work, enum dw_account_state state)
{
	const struct dw_account *account = work->facts->account;
	double ns = 0;

	if (account->thread != work->loop->thread || !account->basis[state].samples)
		return -1;
	for (size_t i = 0; i < account->count; i++) {
		const struct dw_account_cell *cell = &account->cells[i];

		if (cell->where == DW_SAMPLE_BETWEEN && cell->share == DW_SHARE_OTHER && cell->state == state && cell->basis.samples)
			ns += cell->ns;
	}
	return ns;
}

/* What is left of a time between the steps without its waits for a CPU. Between the steps, these are at any place. A
 * thread that loses its CPU while it works loses it in the steps too, whose times are by the clock: so what is left
 * becomes as much longer as everything else in the loop. The kernel's readings are further apart than short steps: while
 * other programs run, the time is at most what samples of the thread's CPU time show there. */
static double outside_with_cpu(const struct dw_facts_work *work, const struct dw_usage_of *usage, double rest_ns,
                               double waiting_ns)
{
	double delay = usage->delay_ns / usage->wall_ns, running_ns = -waiting_ns, without, longer;
	double sampled_ns = work->facts->at[DW_FACT_CPU_OTHERS].value >= DW_FACTS_OTHERS ? outside_sampled(work, DW_ACCOUNT_RUNS) : -1;

	for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
		running_ns += (double)work->loop->outside_ns[share];
	without = outside_delay(work, delay * work->loop_ns) / fmax(1, running_ns);
	longer = 1 / fmax(0.1, 1 - delay * outside_preempted(work, usage));
	rest_ns = fmax(0, rest_ns - waiting_ns) * fmin(1, fmax(0, 1 - without) * longer);
	return sampled_ns < 0 ? rest_ns : fmin(rest_ns, sampled_ns * longer);
}

/* Divides the rest of the time between steps into waiting and the interpreter's (or unnamed) time.
 * The CPU time and the delay outside steps are those of the whole loop less those of its steps. A
 * delay after a wait is neither. The kernel's readings may be further apart than steps are long; then samples of waits may
 * show more of it. A thread that loses its CPU without a wait loses it at any place, so that this delay stays in the parts. */
static void outside_put_rest(struct dw_facts_work *work, double rest_ns)
{
	const struct dw_loop *loop = work->loop;
	uint32_t process = work->source->threads[loop->thread].process;
	const struct dw_source_clock *clock = &work->source->files[work->source->processes[process].file].clock;
	struct dw_usage_of usage = dw_usage_between(work->model, loop->thread, dw_source_ticks(clock, loop->start_ns),
	                                            dw_source_ticks(clock, loop->end_ns));
	double waiting_ns = 0;

	if (dw_usage_is_known(usage.known) && usage.wall_ns > 0) {
		waiting_ns = (usage.wall_ns - usage.cpu_ns * work->per_cpu_ns - usage.delay_ns) * work->loop_ns / usage.wall_ns;
		for (size_t i = 0; i < loop->count; i++)
			waiting_ns -= fmax(0, dw_facts_unused(work, &work->all[i]));
		waiting_ns -= (double)(loop->outside_ns[DW_SHARE_DATA] + loop->outside_ns[DW_SHARE_COMMUNICATION] +
		                       loop->outside_ns[DW_SHARE_DEVICE]);
		waiting_ns = fmax(waiting_ns, outside_sampled(work, DW_ACCOUNT_WAITS));
		waiting_ns = usage.waits > 0 || !work->switches_known ? fmax(0, fmin(waiting_ns, rest_ns)) : 0;
		dw_fact_set_share(work, DW_FACT_LOOP_WAITING, waiting_ns, work->loop_ns, 1);
		rest_ns = outside_with_cpu(work, &usage, rest_ns, waiting_ns);
	} else {
		dw_fact_miss(work, DW_FACT_LOOP_WAITING, "the trace has no readings of the kernel's account between steps");
	}
	dw_fact_set_share(work, work->python ? DW_FACT_LOOP_PYTHON : DW_FACT_LOOP_UNNAMED, rest_ns, work->loop_ns, 1);
	dw_fact_miss(work, work->python ? DW_FACT_LOOP_UNNAMED : DW_FACT_LOOP_PYTHON,
	             work->python ? "in a Python program it is part of loop.python"
	                          : "the program is not a Python program");
}

/* Where other programs have the CPU, an operator that waits for a thread without one takes as long as these like. Then the
 * operators between the steps have at most the part of the loop that lies there in a fast iteration. */
static void outside_put_fast(struct dw_facts_work *work)
{
	struct dw_fact *fact = &work->facts->at[DW_FACT_LOOP_OPERATORS];
	double gap = fact->value > 0 ? dw_facts_fast_gap(work) : -1;

	if (gap >= 0)
		fact->value = fact->low = fact->high = fmin(fact->value, gap);
}

void dw_facts_of_time_outside(struct dw_facts_work *work)
{
	static const struct {
		enum dw_fact_id id;
		enum dw_share share;
	} parts[] = {
		{ DW_FACT_LOOP_EVALUATION, DW_SHARE_EVALUATION },
		{ DW_FACT_LOOP_CHECKPOINT, DW_SHARE_CHECKPOINT },
		{ DW_FACT_LOOP_DATA, DW_SHARE_DATA },
		{ DW_FACT_LOOP_COLLECTOR, DW_SHARE_COLLECTOR },
		{ DW_FACT_LOOP_COMMUNICATION, DW_SHARE_COMMUNICATION },
		{ DW_FACT_LOOP_DEVICE, DW_SHARE_DEVICE },
		{ DW_FACT_LOOP_PROFILER, DW_SHARE_PROFILER },
	}, all[] = {
		{ DW_FACT_LOOP_EVALUATION_ALL, DW_SHARE_EVALUATION },
		{ DW_FACT_LOOP_CHECKPOINT_ALL, DW_SHARE_CHECKPOINT },
		{ DW_FACT_LOOP_COLLECTOR_ALL, DW_SHARE_COLLECTOR },
		{ DW_FACT_LOOP_DATA_ALL, DW_SHARE_DATA },
		{ DW_FACT_LOOP_COMMUNICATION_ALL, DW_SHARE_COMMUNICATION },
	};
	const uint64_t *ns = work->loop->outside_ns, *counts = work->loop->outside_counts;
	double named_ns, rest_ns, steps_ns = 0;

	if (!(work->loop_ns > 0)) {
		for (unsigned id = DW_FACT_LOOP_WALL; id <= DW_FACT_LOOP_CALLS; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, "only part of the run is in scope");
		return;
	}
	for (size_t i = 0; i < work->loop->count; i++)
		steps_ns += (double)(work->all[i].end_ns - work->all[i].start_ns);
	dw_fact_set(work, DW_FACT_LOOP_WALL, work->loop_ns, 1);
	dw_fact_set_share(work, DW_FACT_LOOP_STEPS, steps_ns, work->loop_ns, work->loop->count);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		dw_fact_set_share(work, parts[i].id, (double)ns[parts[i].share], work->loop_ns, counts[parts[i].share]);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		outside_put_all(work, all[i].id, all[i].share);
	dw_fact_set(work, DW_FACT_LOOP_EVALUATIONS, (double)counts[DW_SHARE_EVALUATION], 1);
	outside_put_times(work, counts[DW_SHARE_EVALUATION]);
	dw_fact_set(work, DW_FACT_LOOP_CHECKPOINTS, (double)counts[DW_SHARE_CHECKPOINT], 1);
	dw_fact_set(work, DW_FACT_LOOP_CALLS, (double)counts[DW_SHARE_OPERATORS] / (double)work->loop->count, 1);
	named_ns = (double)ns[DW_SHARE_NAMED];
	rest_ns = (double)ns[DW_SHARE_OTHER];
	if (!work->python)
		named_ns += (double)(ns[DW_SHARE_FORWARD] + ns[DW_SHARE_BACKWARD] +
		                     ns[DW_SHARE_OPTIMIZER] + ns[DW_SHARE_LAYERS] + ns[DW_SHARE_FUNCTIONS]);
	else
		rest_ns += (double)(ns[DW_SHARE_LAYERS] + ns[DW_SHARE_FUNCTIONS]);
	outside_put_names(work, named_ns);
	outside_put_rest(work, rest_ns);
	outside_put_fast(work);
	outside_put_calls(work);
}
