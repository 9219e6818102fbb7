/* Divides the time of the loop's thread into cells; see account.h. */
#include "account/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/calls.h"
#include "account/follow.h"
#include "account/look.h"
#include "account/make.h"
#include "account/margins.h"
#include "base/free.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/core/product.h"
#include "model/steps/iterations.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

/* ---- the kernel's account -------------------------------------------------------------------------------- */

#define LEAST_KNOWN DW_ACCOUNT_MOST /* of the loop's time, covered by the kernel's readings */

/* Whether the kernel says that what the thread did not run, it waited: how long it had no CPU is known, and it gave up
 * its CPU, if the kernel counts how often. */
static bool account_knows_waits(const struct dw_usage_of *usage)
{
	return usage->delay_known && (usage->waits > 0 || !(usage->preemptions > 0));
}

/* Without the kernel's account of the thread, that of its process is known for each step: if no more than one thread
 * can have run, it is this one. Between the steps nothing is known. */
static void account_put_steps(struct dw_account *to, const struct dw_steps *steps, const struct dw_loop *loop)
{
	double cpu_ns = 0, steps_ns = 0;

	for (size_t i = 0; i < loop->count; i++) {
		const struct dw_step *step = &steps->steps[loop->first_step + i];

		cpu_ns += (double)step->cpu_ns;
		steps_ns += (double)(step->end_ns - step->start_ns);
	}
	to->known = cpu_ns > 0 && cpu_ns <= steps_ns;
	to->state_ns[DW_ACCOUNT_RUNS] = to->known ? cpu_ns + fmax(0, to->wall_ns - steps_ns) : 0;
	to->state_ns[DW_ACCOUNT_UNKNOWN] = to->wall_ns - to->state_ns[DW_ACCOUNT_RUNS];
}

/* Sets for how long the thread was in each state. What a hypervisor takes, the kernel counts neither as CPU time nor as
 * a wait. */
#define FAULT_NS 1000.0 /* without input, if it was not measured: 500 on physical machines, 3000 in virtual ones */
#define INPUT_NS 100e3  /* with input: it waits for a disk */

/* For how long the thread ran in page faults: so many, as the kernel counts, of the length that was measured. They pass
 * in the kernel. */
static double account_faults_ns(const struct dw_making *making, const struct dw_usage_of *usage)
{
	uint32_t process = making->source->threads[making->to->thread].process;
	const char *measured = dw_source_meta(making->source, process, DW_KEY_FAULT_NS);
	double ns = measured ? strtod(measured, NULL) : 0;

	ns = usage->minor_faults * (ns > 0 ? ns : FAULT_NS) + usage->major_faults * INPUT_NS;
	return fmin(ns, usage->system_ns > 0 ? usage->system_ns : usage->cpu_ns);
}

static void account_put_states(struct dw_making *making, const struct dw_steps *steps, const struct dw_loop *loop)
{
	struct dw_account *to = making->to;
	const struct dw_source *source = making->source;
	const struct dw_source_clock *clock =
		&source->files[source->processes[source->threads[to->thread].process].file].clock;
	struct dw_usage_of usage = dw_usage_between(making->model, to->thread, dw_source_ticks(clock, loop->start_ns),
	                                            dw_source_ticks(clock, loop->end_ns));
	struct dw_machine_of machine = dw_machine_between(making->model, loop->start_ns, loop->end_ns);
	double scale, taken_ns;

	to->known = usage.known >= LEAST_KNOWN && usage.wall_ns > 0;
	to->own_ns = to->wall_ns;
	if (!to->known) {
		account_put_steps(to, steps, loop);
		return;
	}
	scale = to->wall_ns / usage.wall_ns;
	to->state_ns[DW_ACCOUNT_RUNS] = fmin(to->wall_ns, usage.cpu_ns * scale);
	taken_ns = usage.cpu_ns * (dw_machine_per_cpu(&machine) - 1);
	to->state_ns[DW_ACCOUNT_NO_CPU] =
		fmin(to->wall_ns - to->state_ns[DW_ACCOUNT_RUNS], (usage.delay_ns + taken_ns) * scale);
	to->waits_known = account_knows_waits(&usage);
	to->state_ns[to->waits_known ? DW_ACCOUNT_WAITS : DW_ACCOUNT_UNKNOWN] =
		to->wall_ns - to->state_ns[DW_ACCOUNT_RUNS] - to->state_ns[DW_ACCOUNT_NO_CPU];
	to->system_ns = usage.system_ns * scale;
	making->faults_ns = account_faults_ns(making, &usage) * scale;
	to->others_cpu_ns = fmax(0, usage.process_cpu_ns - usage.cpu_ns) * scale;
	/* They wait for CPUs of the same machine. */
	to->others_ns = to->others_cpu_ns * (1 + (usage.delay_known ? usage.delay_ns / fmax(1, usage.cpu_ns) : 0));
	dw_account_find_margins(making->model, to, steps, loop, dw_machine_per_cpu(&machine), making->margins);
}

/* ---- samples ------------------------------------------------------------------------------------------ */

/* Adds the samples' time of a state to the parts. Returns the sum. */
static double account_sum_samples(struct dw_making *making, const struct dw_samples *samples,
                                  enum dw_account_state state)
{
	struct dw_account_basis *basis = &making->to->basis[state];
	struct dw_account_part *part;
	double ns = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (!dw_making_wants(making, row, state == DW_ACCOUNT_OTHERS) || !dw_making_counts(making, row, state))
			continue;
		ns += (double)row->cpu_ns;
		basis->samples += row->count;
		basis->weight += row->weight;
		basis->squares += row->squares;
		part = dw_account_part_of(&making->parts, row);
		part->sampled_ns[state] += (double)row->cpu_ns;
	}
	return ns;
}

/* What touches memory takes page faults. The stack of none says that it is in one: where the kernel's code is not seen,
 * the time seems to be that of the code that touches a page first. */
#define TOUCHES (DW_ACTIVITIES_OF_COPIES | DW_ACTIVITY_SET(OWN) | DW_ACTIVITY_SET(ALGEBRA) | DW_ACTIVITY_SET(UNKNOWN))

/* Looks at a sample, in the calls that the account tells apart. */
static void account_look(struct dw_making *making, struct dw_look *look, const struct dw_sample_row *row, enum dw_account_state state,
                         const struct dw_account_part *part)
{
	making->failed |= !dw_look_at(look, making->source, row, state == DW_ACCOUNT_WAITS);
	if (!making->failed && !(DW_ACCOUNT_EXPLAINED >> part->share & 1))
		dw_called_take(making->to, look);
}

/* Finds which part of what touches memory are page faults. Parts without samples touch as much of it as others. */
static void account_find_faults(struct dw_making *making)
{
	struct dw_look look = { .native = making->native };
	double touches_ns = 0, faults_ns = 0, sampled_ns = 0;

	for (size_t i = 0; i < making->samples->count && !making->failed && making->faults_ns > 0; i++) {
		const struct dw_sample_row *row = &making->samples->rows[i];
		const struct dw_account_part *part;
		double ns;

		if (!dw_making_wants(making, row, false) || dw_making_spins(making, row))
			continue;
		part = dw_account_part_of(&making->parts, row);
		account_look(making, &look, row, DW_ACCOUNT_RUNS, part);
		ns = (double)row->cpu_ns * (part->sampled_ns[DW_ACCOUNT_RUNS] > 0
		                                ? part->state_ns[DW_ACCOUNT_RUNS] / part->sampled_ns[DW_ACCOUNT_RUNS]
		                                : 0);
		touches_ns += dw_activity_in(look.activity, TOUCHES) ? ns : 0;
		faults_ns += look.activity == DW_ACTIVITY_FAULT ? ns : 0;
	}
	dw_look_reset(&look);
	for (size_t i = 0; i < making->parts.count; i++)
		if (making->parts.at[i].sampled_ns[DW_ACCOUNT_RUNS] > 0)
			sampled_ns += making->parts.at[i].state_ns[DW_ACCOUNT_RUNS];
	sampled_ns /= fmax(1, making->to->state_ns[DW_ACCOUNT_RUNS]);
	making->faults = 0;
	if (touches_ns > 0)
		making->faults = fmin(1, fmax(0, making->faults_ns * sampled_ns - faults_ns) / touches_ns);
}

/* Finds the calls that take more than any one thing that is done in them. Not in programs of Python, whose callees have other
 * names than the functions of libraries that they lead to. */
static void account_find_calls(struct dw_making *making)
{
	const struct dw_samples *const all[] = { [DW_ACCOUNT_RUNS] = making->samples, [DW_ACCOUNT_OTHERS] = making->team };
	struct dw_look look = { .native = making->native };
	struct dw_called calls = { .faults = making->faults };

	for (unsigned state = 0; state <= DW_ACCOUNT_OTHERS && !dw_making_is_python(making); state++)
		for (size_t i = 0; all[state] && i < all[state]->count && !making->failed; i++) {
			const struct dw_sample_row *row = &all[state]->rows[i];
			const struct dw_account_part *part;

			if (!dw_making_wants(making, row, state == DW_ACCOUNT_OTHERS) || dw_making_spins(making, row))
				continue;
			part = dw_account_part_of(&making->parts, row);
			account_look(making, &look, row, (enum dw_account_state)state, part);
			if (!(DW_ACCOUNT_EXPLAINED >> part->share & 1))
				dw_called_add(&calls, &look, (double)row->cpu_ns);
		}
	making->failed |= calls.failed;
	if (!making->failed)
		dw_called_choose(&calls, making->to);
	dw_called_reset(&calls);
	dw_look_reset(&look);
}

/* Adds a sample as a cell; page faults take their part of it. */
static void account_add_sample(struct dw_making *making, const struct dw_account_part *part, struct dw_look *look,
                               enum dw_account_state state, const struct dw_sample_row *row, double ns)
{
	double faults = state == DW_ACCOUNT_RUNS && dw_activity_in(look->activity, TOUCHES) ? making->faults : 0;

	dw_cells_add_sample(&making->cells, part, look, state, row, ns * (1 - faults));
	look->activity = DW_ACTIVITY_FAULT;
	if (faults > 0)
		dw_cells_add_sample(&making->cells, part, look, state, row, ns * faults);
}

/* Another thread that is in no function of the program works for the place where this one waits for it: a pool's threads run code
 * of libraries alone. */
static void account_look_at_joins(struct dw_making *making, struct dw_look *look, const struct dw_account_part *part)
{
	struct dw_look other = *look;

	making->failed |= !dw_look_at(look, making->source, part->joins, true);
	look->activity = other.activity;
	look->from = other.from;
	look->package = other.package;
	look->package_length = other.package_length;
}

/* Adds the samples of a state as cells. A ns of theirs is as much of the state's time in its part as these say; with
 * `all`, they stand for all of it. */
static void account_add_samples(struct dw_making *making, const struct dw_samples *samples, enum dw_account_state state,
                                bool all)
{
	struct dw_look look = { .native = making->native };

	for (size_t i = 0; i < samples->count && !making->failed; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct dw_account_part *part;
		enum dw_account_state as = state;
		double scale;

		if (!dw_making_wants(making, row, state == DW_ACCOUNT_OTHERS) || !dw_making_counts(making, row, state))
			continue;
		part = dw_account_part_of(&making->parts, row);
		scale = part->sampled_ns[state] > 0 ? part->state_ns[state] / part->sampled_ns[state] : 0;
		account_look(making, &look, row, state, part);
		if (dw_making_joins(state, look.activity) && (!part->joins || row->cpu_ns > part->joins->cpu_ns))
			part->joins = row;
		if (state == DW_ACCOUNT_OTHERS && !look.count && part->joins && !making->failed)
			account_look_at_joins(making, &look, part);
		if (state == DW_ACCOUNT_RUNS && dw_making_spins(making, row))
			as = DW_ACCOUNT_SPINS;
		account_add_sample(making, part, &look, as, row, (double)row->cpu_ns * (all ? scale : fmin(1, scale)));
	}
	dw_look_reset(&look);
}

/* Adds what forks of the process did while the thread waited for them. */
static void account_add_forks(struct dw_making *making)
{
	struct dw_look look = { .native = making->native };
	struct dw_account_basis *basis = &making->to->basis[DW_ACCOUNT_OTHERS];

	for (size_t i = 0; i < making->team->count && !making->failed; i++) {
		const struct dw_sample_row *row = &making->team->rows[i];
		const struct dw_account_part *part;

		if (!dw_making_wants_fork(making, row) || !dw_making_counts(making, row, DW_ACCOUNT_OTHERS))
			continue;
		part = dw_account_part_of(&making->parts, row);
		if (!(part->joined_ns > 0))
			continue;
		account_look(making, &look, row, DW_ACCOUNT_OTHERS, part);
		account_add_sample(making, part, &look, DW_ACCOUNT_OTHERS, row, (double)row->cpu_ns * part->joined_ns / part->forks_ns);
		basis->samples += row->count;
		basis->weight += row->weight;
		basis->squares += row->squares;
	}
	dw_look_reset(&look);
}

/* Whether children of the process used the CPU for longer than its other threads. */
static bool account_children_work(const struct dw_making *making)
{
	const struct dw_source *source = making->source;
	uint32_t process = source->threads[making->to->thread].process;
	double ns = 0;

	for (uint32_t p = 0; p < source->process_count; p++)
		ns += p != process && source->processes[p].parent == process ? dw_process_cpu_ns(source, p) : 0;
	return ns > making->to->others_cpu_ns;
}

/* A pool of Python's has threads that wait for its processes. So a wait for such a thread is one for another process, unless it is in
 * code of an installed library, which may have threads of its own. What the threads did meanwhile was taken from the wait before. */
static void account_wait_for_children(struct dw_making *making)
{
	bool work = dw_making_is_python(making) && account_children_work(making);

	for (size_t i = 0; i < making->to->count && work; i++) {
		struct dw_account_cell *cell = &making->to->cells[i];

		if (cell->state == DW_ACCOUNT_WAITS && cell->activity == DW_ACTIVITY_THREAD && !cell->library)
			cell->activity = DW_ACTIVITY_CHILD;
	}
}

/* Adds what the samples of waits leave of them in each part, and the states that no sample divides. */
static void account_add_rests(struct dw_making *making, enum dw_account_state state)
{
	for (size_t i = 0; i < making->parts.count; i++) {
		const struct dw_account_part *part = &making->parts.at[i];

		dw_cells_add_rest(&making->cells, part, state, DW_ACTIVITY_UNKNOWN,
		                  part->state_ns[state] - part->sampled_ns[state]);
	}
}

/* What the thread runs in a part if no sample says it: where operators were recorded, Python calls them. */
static enum dw_activity account_by_records(const struct dw_making *making, const struct dw_account_part *part)
{
	bool operators = false;

	for (size_t i = 0; i < making->parts.count; i++)
		operators |= DW_PARTS_OF_OPERATORS >> making->parts.at[i].share & 1;
	return part->share == DW_SHARE_OTHER && operators && dw_making_is_python(making) ? DW_ACTIVITY_INTERPRETER
	                                                                                 : DW_ACTIVITY_UNKNOWN;
}

/* What samples show that the thread runs, by activity, in what is like a part. */
struct account_mean {
	double of_activity[DW_ACTIVITY_COUNT], ns;
};

/* How much of a part another one is: the same in iterations of another class, another one of the same class, or any. */
enum account_likeness { ACCOUNT_SAME_PLACE, ACCOUNT_SAME_CLASS, ACCOUNT_ANY };

static bool account_is_like(const struct dw_account_part *part, const struct dw_account_cell *cell,
                            enum account_likeness likeness)
{
	switch (likeness) {
	case ACCOUNT_SAME_PLACE:
		return cell->where == part->where && cell->share == part->share && cell->named == part->named;
	case ACCOUNT_SAME_CLASS:
		return cell->class == part->class;
	default:
		return true;
	}
}

/* The mean over the first `count` cells: the later ones have no samples. */
static struct account_mean account_find_mean(const struct dw_account *to, size_t count,
                                             const struct dw_account_part *part)
{
	struct account_mean mean = { .ns = 0 };

	for (unsigned likeness = 0; likeness <= ACCOUNT_ANY && !(mean.ns > 0); likeness++)
		for (size_t i = 0; i < count; i++) {
			const struct dw_account_cell *cell = &to->cells[i];

			if (cell->state != DW_ACCOUNT_RUNS || !account_is_like(part, cell, (enum account_likeness)likeness))
				continue;
			mean.of_activity[cell->activity] += cell->ns;
			mean.ns += cell->ns;
		}
	return mean;
}

/* In parts without a sample of CPU time the thread does by expectation what it does in parts that are like them. */
static void account_add_unsampled(struct dw_making *making)
{
	struct dw_account *to = making->to;
	size_t sampled = to->count;

	for (size_t i = 0; i < making->parts.count; i++) {
		const struct dw_account_part *part = &making->parts.at[i];
		double ns = part->state_ns[DW_ACCOUNT_RUNS];
		struct account_mean mean;

		if (part->sampled_ns[DW_ACCOUNT_RUNS] > 0)
			continue;
		mean = account_find_mean(to, sampled, part);
		for (unsigned activity = 0; mean.ns > 0 && activity < DW_ACTIVITY_COUNT; activity++)
			dw_cells_add_rest(&making->cells, part, DW_ACCOUNT_RUNS, (enum dw_activity)activity,
			                  ns * mean.of_activity[activity] / mean.ns);
		if (!(mean.ns > 0))
			dw_cells_add_rest(&making->cells, part, DW_ACCOUNT_RUNS, account_by_records(making, part), ns);
	}
}

/* What the kernel does not say, samples do: the time that they stand for is known. */
static void account_know(struct dw_account *to, enum dw_account_state state, double sampled_ns)
{
	double ns = fmin(sampled_ns, to->state_ns[DW_ACCOUNT_UNKNOWN]);

	to->state_ns[state] += ns;
	to->state_ns[DW_ACCOUNT_UNKNOWN] -= ns;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

const struct dw_loop *dw_making_loop(const struct dw_steps *steps)
{
	const struct dw_loop *loop = NULL;

	for (size_t i = 0; i < steps->thread_count; i++)
		if (!loop || steps->loops[i].count > loop->count)
			loop = &steps->loops[i];
	return loop && loop->end_ns > loop->start_ns ? loop : NULL;
}

static bool account_get_samples(struct dw_making *making)
{
	making->samples = dw_model_samples(making->model, NULL);
	making->waits = dw_model_wait_samples(making->model, NULL);
	making->team = dw_model_team_samples(making->model, NULL);
	for (size_t i = 0; making->samples && i < making->samples->count && !making->native; i++)
		making->native = dw_making_wants(making, &making->samples->rows[i], false) &&
		                 dw_look_reads_native(making->source, &making->samples->rows[i]);
	return making->samples && making->waits && making->team;
}

/* The account's states are the sums of its parts'. */
static void account_take_states(struct dw_making *making)
{
	struct dw_account *to = making->to;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
		to->state_ns[state] = 0;
		for (size_t i = 0; i < making->parts.count; i++)
			to->state_ns[state] += making->parts.at[i].state_ns[state];
	}
	to->own_ns = to->wall_ns - to->state_ns[DW_ACCOUNT_NO_CPU];
}

void dw_making_divide(struct dw_making *making)
{
	struct dw_account *to = making->to;
	double ran_ns = account_sum_samples(making, making->samples, DW_ACCOUNT_RUNS), others_ns;
	double waited_ns = account_sum_samples(making, making->waits, DW_ACCOUNT_WAITS);
	const struct dw_account_basis *basis = &to->basis[DW_ACCOUNT_RUNS];

	if (!to->known)
		account_know(to, DW_ACCOUNT_RUNS, ran_ns);
	if (!to->waits_known)
		account_know(to, DW_ACCOUNT_WAITS, waited_ns);
	others_ns = account_sum_samples(making, making->team, DW_ACCOUNT_OTHERS);
	dw_account_parts_fit(&making->parts, to->state_ns, making->margins,
	                     basis->squares ? (double)basis->weight * (double)basis->weight / (double)basis->squares : 0);
	account_take_states(making);
	account_find_faults(making);
	account_find_calls(making);
	if (making->to->call_count) /* in them, it is known what touches memory */
		account_find_faults(making);
	account_add_samples(making, making->samples, DW_ACCOUNT_RUNS, true);
	account_add_samples(making, making->waits, DW_ACCOUNT_WAITS, false);
	account_add_unsampled(making);
	account_add_rests(making, DW_ACCOUNT_WAITS);
	dw_making_divide_waits(making, fmax(1, others_ns));
	dw_making_follow_waits(making);
	dw_making_divide_rest(making, fmax(1, others_ns));
	account_wait_for_children(making);
	account_add_samples(making, making->team, DW_ACCOUNT_OTHERS, true);
	dw_making_divide_forks(making);
	account_add_forks(making);
	account_add_rests(making, DW_ACCOUNT_NO_CPU);
	account_add_rests(making, DW_ACCOUNT_UNKNOWN);
	dw_cells_finish(&making->cells);
}

bool dw_making_begin(struct dw_making *making, struct dw_model *model, struct dw_account *to, uint32_t thread,
                     double wall_ns, uint32_t wheres)
{
	size_t symbol_count;

	*making = (struct dw_making){ .model = model,
		                          .source = dw_model_source(model),
		                          .to = to,
		                          .wheres = wheres,
		                          .cells = { .to = to, .arena = &model->arena } };
	to->thread = thread;
	to->wall_ns = wall_ns;
	to->symbols = dw_model_symbols(model, &symbol_count);
	making->failed = !account_get_samples(making);
	return !making->failed;
}

bool dw_making_end(struct dw_making *making)
{
	bool failed = making->failed || making->cells.failed || making->parts.failed || making->work.failed;

	dw_team_reset(&making->work);
	DW_FREE(making->first, making->next);
	dw_cells_reset(&making->cells);
	dw_account_parts_reset(&making->parts);
	return !failed;
}

static void account_count_classes(struct dw_making *making, const struct dw_steps *steps, const struct dw_loop *loop)
{
	for (size_t i = 0; i < loop->count; i++)
		making->to->classes[dw_account_parts_class(&making->parts, steps->steps[loop->first_step + i].class)].count++;
	for (size_t i = 0; i < making->parts.count; i++)
		making->to->classes[making->parts.at[i].class].ns += making->parts.at[i].ns;
}

/* Whether samples show that the thread runs in slow iterations for more than these are long, beyond what chance allows.
 * Then samples make iterations slow: they take a few us, as long as short iterations. */
static bool account_slows(const struct dw_making *making)
{
	double runs_ns = making->to->state_ns[DW_ACCOUNT_RUNS], low, high;
	uint64_t weight = 0, squares = 0, slow = 0;

	for (size_t i = 0; i < making->samples->count; i++) {
		const struct dw_sample_row *row = &making->samples->rows[i];

		if (!dw_making_wants(making, row, false))
			continue;
		weight += row->weight;
		squares += row->squares;
		slow += row->class == DW_ITERATION_SLOW ? row->weight : 0;
	}
	if (!slow || !making->to->known || !(runs_ns > 0))
		return false;
	dw_samples_interval((double)slow / (double)weight, weight, squares, &low, &high);
	return low * runs_ns > making->to->classes[DW_ITERATION_SLOW].ns;
}

/* The parts of the loop, the iterations of each class, and for how long the thread was in each state. */
static void account_put_parts(struct dw_making *making, const struct dw_steps *steps, const struct dw_loop *loop)
{
	for (;;) {
		dw_account_parts_of(&making->parts, steps, loop, making->to->symbols, dw_making_is_python(making));
		account_count_classes(making, steps, loop);
		account_put_states(making, steps, loop);
		if (making->parts.failed || making->parts.slow_is_steady || !account_slows(making))
			return;
		dw_account_parts_reset(&making->parts);
		making->parts = (struct dw_account_parts){ .slow_is_steady = true };
		memset(making->to->classes, 0, sizeof making->to->classes);
	}
}

static bool account_make(struct dw_model *model, struct dw_account *to, const struct dw_steps *steps,
                         const struct dw_loop *loop)
{
	struct dw_making making;

	if (dw_making_begin(&making, model, to, loop->thread, (double)(loop->end_ns - loop->start_ns),
	                    1u << DW_SAMPLE_IN_STEP | 1u << DW_SAMPLE_BETWEEN)) {
		account_put_parts(&making, steps, loop);
		if (!making.parts.failed)
			dw_making_divide(&making);
	}
	return dw_making_end(&making);
}

static bool account_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_account *account = result;
	const struct dw_iterated *iterated = dw_model_iterated(model, NULL);
	const struct dw_steps *steps;
	const struct dw_loop *loop;

	account->thread = DW_NO_INDEX;
	if (!iterated)
		return false;
	if (!dw_model_source(iterated->model)->step_count)
		return true;
	steps = dw_model_steps(iterated->model, NULL);
	loop = steps ? dw_making_loop(steps) : NULL;
	return steps && (!loop || account_make(iterated->model, account, steps, loop));
}

static void account_free(void *result)
{
	free(((struct dw_account *)result)->cells);
}

const struct dw_account *dw_account_of(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_account),
		                                       .compute = account_compute,
		                                       .free = account_free };

	return dw_product_get(model, &product, 0, NULL, error);
}

const char *dw_account_label(const struct dw_account_row *row, char text[64])
{
	const char *what = row->activity == DW_ACTIVITY_OWN       ? "own code"
	                   : row->activity == DW_ACTIVITY_UNKNOWN ? NULL
	                                                          : dw_activity_name(row->activity);
	char callee[80], library[64];

	if (row->share != DW_SHARE_COUNT)
		snprintf(text, 64, "%s", dw_share_label(row->share));
	else if (row->call && *dw_account_callee(&row->sum, callee))
		snprintf(text, 64, "calls %.57s", callee);
	else if (row->package)
		snprintf(text, 64, "%s: %s %.30s", dw_account_state_name(row->state), what, row->package);
	else if (!what && row->state == DW_ACCOUNT_RUNS && row->sum.samples)
		snprintf(text, 64, "%s: code of %.40s", dw_account_state_name(row->state),
		         row->sum.library ? dw_library_name(row->sum.library, library) : "libraries");
	else if (!what)
		snprintf(text, 64, "%s%s", dw_account_state_name(row->state),
		         row->state == DW_ACCOUNT_WAITS ? ": for what is not known" : "");
	else
		snprintf(text, 64, "%s: %s", dw_account_state_name(row->state), what);
	return text;
}

DW_NAMES(dw_account_state_name, enum dw_account_state, DW_ACCOUNT_STATES)
