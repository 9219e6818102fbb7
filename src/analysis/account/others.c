/*
 * Waits for other threads of the program.
 *
 * For as long as they work, a wait for them is their work: the kernel says for how long they ran, and samples say what they did. A wait
 * that would be shorter if all threads had equal work stays one. So does a wait for a descriptor, unless threads that use
 * descriptors run for about as long.
 *
 * A pool of processes is the same: forks of the program that work while it waits for them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/look.h"
#include "account/making.h"
#include "model/samples/cpu_account.h"
#include "model/steps/usage.h"

#define OF_DESCRIPTORS (DW_ACTIVITY_SET(DESCRIPTOR) | DW_ACTIVITY_SET(SOCKET))

/* How sure it is that a wait is one for another thread of the program: it is; it is not known what it is for; it is for a
 * descriptor, at whose other end a thread may be. Or it is one for other processes. */
enum others_wait { OTHERS_FOR_THREADS, OTHERS_FOR_UNKNOWN, OTHERS_FOR_DESCRIPTOR, OTHERS_FOR_PROCESSES };

static bool others_is_for(const struct dw_account_cell *cell, enum others_wait kind)
{
	switch (kind) {
	case OTHERS_FOR_THREADS:
		return cell->state == DW_ACCOUNT_SPINS || dw_making_joins(cell->state, cell->activity);
	case OTHERS_FOR_UNKNOWN:
		return cell->state == DW_ACCOUNT_WAITS && cell->activity == DW_ACTIVITY_UNKNOWN;
	case OTHERS_FOR_PROCESSES: return cell->state == DW_ACCOUNT_WAITS && cell->activity == DW_ACTIVITY_CHILD;
	default:
		return cell->state == DW_ACCOUNT_WAITS && dw_activity_in(cell->activity, OF_DESCRIPTORS);
	}
}

/* Links the cells of each part. Later ones are not in a list. */
static bool others_link_cells(struct dw_making *making)
{
	const struct dw_account *to = making->to;

	making->first = malloc((making->parts.count + 1) * sizeof *making->first);
	making->next = malloc((to->count + 1) * sizeof *making->next);
	if (!making->first || !making->next)
		return false;
	memset(making->first, 0xff, (making->parts.count + 1) * sizeof *making->first);
	for (uint32_t i = 0; i < to->count; i++) {
		uint32_t part = dw_account_part_index(&making->parts, &to->cells[i]);

		making->next[i] = making->first[part];
		making->first[part] = i;
	}
	return true;
}

static double others_waits_for(const struct dw_making *making, uint32_t part, enum others_wait kind)
{
	double ns = 0;

	for (uint32_t i = making->first[part]; i != DW_NO_INDEX; i = making->next[i])
		if (others_is_for(&making->to->cells[i], kind))
			ns += making->to->cells[i].ns;
	return ns;
}

static double others_spins_ns(const struct dw_making *making, uint32_t part)
{
	double ns = 0;

	for (uint32_t i = making->first[part]; i != DW_NO_INDEX; i = making->next[i])
		if (making->to->cells[i].state == DW_ACCOUNT_SPINS)
			ns += making->to->cells[i].ns;
	return ns;
}

/* Takes up to `ns` from a part's waits of a kind. Returns how much. */
static double others_take_waits(struct dw_making *making, uint32_t part, enum others_wait kind, double ns)
{
	struct dw_account *to = making->to;
	double waits_ns = others_waits_for(making, part, kind), taken_ns = fmin(waits_ns, ns);

	for (uint32_t i = making->first[part]; i != DW_NO_INDEX && taken_ns > 0; i = making->next[i]) {
		enum dw_account_state state = to->cells[i].state == DW_ACCOUNT_SPINS ? DW_ACCOUNT_RUNS : to->cells[i].state;
		double own_ns = to->cells[i].ns * taken_ns / waits_ns;

		if (!others_is_for(&to->cells[i], kind))
			continue;
		making->parts.at[part].state_ns[state] -= own_ns;
		to->state_ns[state] -= own_ns;
		dw_cells_scale(&making->cells, i, 1 - taken_ns / waits_ns);
	}
	return taken_ns;
}

/* By thread: whether it reads or writes descriptors, so that it may be at the other end of one. NULL: out of memory. */
static bool *others_find_talkers(const struct dw_making *making)
{
	const struct dw_samples *const all[] = { making->team, making->waits };
	bool *talks = calloc(making->source->thread_count + 1, sizeof *talks);

	for (size_t k = 0; talks && k < sizeof all / sizeof *all; k++)
		for (size_t i = 0; i < all[k]->count; i++)
			talks[all[k]->rows[i].thread] |= dw_activity_in(all[k]->rows[i].activity, OF_DESCRIPTORS);
	return talks;
}

/* Finds what the threads do, for how the work is shared. */
static void others_find_team(struct dw_making *making)
{
	const struct dw_source *source = making->source;
	struct dw_look look = { .native = making->native };
	bool *talks = others_find_talkers(making);

	making->failed |= !talks;

	for (size_t i = 0; i < making->samples->count && !making->failed; i++) {
		const struct dw_sample_row *row = &making->samples->rows[i];

		if (!dw_making_wants(making, row, false) || dw_making_spins(making, row))
			continue;
		making->failed |= !dw_look_at(&look, source, row, false);
		dw_team_add_own(&making->work, &look);
	}
	for (size_t i = 0; i < making->team->count && !making->failed; i++) {
		const struct dw_sample_row *row = &making->team->rows[i];
		struct dw_account_part *part;

		if (!dw_making_wants(making, row, true) || !dw_making_counts(making, row, DW_ACCOUNT_OTHERS))
			continue;
		making->failed |= !dw_look_at(&look, source, row, false);
		part = dw_account_part_of(&making->parts, row);
		part->answers_ns += talks[row->thread] ? (double)row->cpu_ns : 0;
		dw_team_add(&making->work, (uint32_t)(part - making->parts.at), row->thread, &look, (double)row->cpu_ns);
	}
	dw_team_merge(&making->work);
	dw_look_reset(&look);
	free(talks);
}

#define MOST_WITHOUT 0.2 /* of the loop without a CPU: with more, the other threads may have had none */

static bool others_lack_cpus(const struct dw_account *account)
{
	return account->state_ns[DW_ACCOUNT_NO_CPU] > MOST_WITHOUT * account->wall_ns;
}

static void others_add(struct dw_making *making, uint32_t index, double ns)
{
	making->parts.at[index].state_ns[DW_ACCOUNT_OTHERS] += ns;
	making->to->state_ns[DW_ACCOUNT_OTHERS] += ns;
}

/* In a part, waits for other threads of the program are what these did meanwhile, as far as they did something, and as
 * the wait does not go with equal work of all of them. `sampled_ns`: their samples' in the loop. */
static void others_divide(struct dw_making *making, uint32_t index, double sampled_ns)
{
	struct dw_account *to = making->to;
	struct dw_account_part *part = &making->parts.at[index];
	double waits_ns = others_waits_for(making, index, OTHERS_FOR_THREADS), uneven = 0;

	if (!others_lack_cpus(to))
		uneven = dw_team_uneven(&making->work, &making->parts, index, to->others_cpu_ns / sampled_ns, waits_ns,
		                        dw_making_is_python(making)
		                            ? 1
		                            : dw_machine_cpus(making->source)); /* an interpreter runs one thread at a time */
	part->joins_ns = waits_ns;
	part->work_ns = waits_ns * (1 - uneven);
	others_add(making, index,
	           others_take_waits(making, index, OTHERS_FOR_THREADS,
	                             fmin(part->sampled_ns[DW_ACCOUNT_OTHERS] * to->others_cpu_ns / sampled_ns, part->work_ns)));
}

/* Takes from the waits that are left the time for which other threads were ready to run and had no CPU. That time is only estimated. Of
 * waits whose object is unknown, and of waits for descriptors, it takes as much as other threads worked beyond the first kind. */
static void others_divide_rest(struct dw_making *making, uint32_t index, double sampled_ns)
{
	struct dw_account *to = making->to;
	struct dw_account_part *part = &making->parts.at[index];
	double ns = part->sampled_ns[DW_ACCOUNT_OTHERS] * to->others_ns / sampled_ns, taken_ns, left_ns;

	if (others_lack_cpus(to))
		/* whoever it spins for may have no CPU */
		ns = fmax(ns, part->state_ns[DW_ACCOUNT_OTHERS] + others_spins_ns(making, index));
	taken_ns = others_take_waits(making, index, OTHERS_FOR_THREADS,
	                             fmax(0, fmin(ns, part->work_ns) - part->state_ns[DW_ACCOUNT_OTHERS]));
	left_ns = fmax(0, ns - part->joins_ns);
	others_add(making, index, taken_ns);
	taken_ns = others_take_waits(making, index, OTHERS_FOR_UNKNOWN, left_ns);
	left_ns = (left_ns - taken_ns) * part->answers_ns / fmax(1, part->sampled_ns[DW_ACCOUNT_OTHERS]);
	/* Threads that use descriptors, too, and run for as long as this one waits, make the answers. */
	if (left_ns >= (1 - DW_SAMPLES_NAMED) * others_waits_for(making, index, OTHERS_FOR_DESCRIPTOR))
		taken_ns += others_take_waits(making, index, OTHERS_FOR_DESCRIPTOR, left_ns);
	others_add(making, index, taken_ns);
}

/* Whether most of the other threads' CPU time is that of threads which end before they have a sample: what single samples say is not
 * what all of them do. */
static bool others_are_short(const struct dw_making *making)
{
	const struct dw_cpu_account *cpu = dw_model_cpu_account(making->model, NULL);
	double short_ns = 0;

	for (size_t i = 0; cpu && i < cpu->count; i++)
		if (cpu->rows[i].process == making->source->threads[making->to->thread].process && cpu->rows[i].why == DW_CPU_SHORT_THREADS)
			short_ns += (double)cpu->rows[i].kernel_ns;
	return short_ns >= DW_ACCOUNT_MOST * making->to->others_cpu_ns;
}

/* If a thread starts short threads again and again, its wait for them counts as the cost of starting them. */
static void others_begin(struct dw_making *making, uint32_t part)
{
	double begins_ns = 0;

	for (uint32_t i = making->first[part]; i != DW_NO_INDEX; i = making->next[i])
		begins_ns += making->to->cells[i].activity == DW_ACTIVITY_BEGINS ? making->to->cells[i].ns : 0;
	for (uint32_t i = making->first[part]; i != DW_NO_INDEX && begins_ns > 0; i = making->next[i]) {
		struct dw_account_cell *cell = &making->to->cells[i];

		if (cell->state == DW_ACCOUNT_WAITS && others_is_for(cell, OTHERS_FOR_THREADS))
			cell->activity = DW_ACTIVITY_BEGINS;
	}
}

void dw_making_divide_waits(struct dw_making *making, double sampled_ns)
{
	others_find_team(making);
	if (!others_link_cells(making)) {
		making->failed = true;
		return;
	}
	if (!(making->to->others_cpu_ns > 0))
		return;
	making->others_are_short = others_are_short(making);
	for (uint32_t i = 0; i < making->parts.count; i++)
		if (making->others_are_short)
			others_begin(making, i);
		else
			others_divide(making, i, sampled_ns);
}

void dw_making_divide_rest(struct dw_making *making, double sampled_ns)
{
	for (uint32_t i = 0; i < making->parts.count && !making->failed; i++)
		if (making->to->others_cpu_ns > 0 && !making->others_are_short)
			others_divide_rest(making, i, sampled_ns);
}

/* ---- processes ---------------------------------------------------------------------------------------------- */

/* How much of the waits for them goes with equal work of all forks. */
static double others_uneven_forks(const struct dw_making *making, const double *by_thread, double waits_ns)
{
	double most_ns = 0, all_ns = 0, forks = 0;

	for (size_t i = 0; i < making->source->thread_count; i++) {
		most_ns = fmax(most_ns, by_thread[i]);
		all_ns += by_thread[i];
	}
	for (size_t i = 0; i < making->source->thread_count; i++)
		forks += by_thread[i] > 0 && by_thread[i] >= DW_TEAM_LEAST * most_ns;
	forks = fmin(forks, (double)dw_machine_cpus(making->source));
	return forks > 1 ? fmax(0, 1 - fmax(1, all_ns / fmax(1, waits_ns)) / forks) : 0;
}

/* Adds up the samples of forks, by part and by thread. */
static void others_sum_forks(struct dw_making *making, double *by_thread)
{
	for (size_t i = 0; i < making->team->count; i++) {
		const struct dw_sample_row *row = &making->team->rows[i];
		struct dw_account_part *part;

		if (!dw_making_wants_fork(making, row) || !dw_making_counts(making, row, DW_ACCOUNT_OTHERS))
			continue;
		part = dw_account_part_of(&making->parts, row);
		if (DW_ACCOUNT_EXPLAINED >> part->share & 1)
			continue;
		part->forks_ns += (double)row->cpu_ns;
		by_thread[row->thread] += (double)row->cpu_ns;
	}
}

void dw_making_divide_forks(struct dw_making *making)
{
	struct dw_account *to = making->to;
	double *by_thread = calloc(making->source->thread_count + 1, sizeof *by_thread), waits_ns = 0, uneven;
	/* They wait for CPUs of the same machine. */
	double longer = to->others_cpu_ns > 0 ? to->others_ns / to->others_cpu_ns : 1;

	making->failed |= !by_thread;
	if (making->failed) {
		free(by_thread);
		return;
	}
	others_sum_forks(making, by_thread);
	for (uint32_t i = 0; i < making->parts.count; i++)
		waits_ns += making->parts.at[i].forks_ns > 0 ? others_waits_for(making, i, OTHERS_FOR_PROCESSES) : 0;
	uneven = others_uneven_forks(making, by_thread, waits_ns / longer);
	for (uint32_t i = 0; i < making->parts.count; i++) {
		struct dw_account_part *part = &making->parts.at[i];
		double most_ns = (1 - uneven) * others_waits_for(making, i, OTHERS_FOR_PROCESSES);

		part->joined_ns = others_take_waits(making, i, OTHERS_FOR_PROCESSES, fmin(part->forks_ns * longer, most_ns));
		part->state_ns[DW_ACCOUNT_OTHERS] += part->joined_ns;
		to->state_ns[DW_ACCOUNT_OTHERS] += part->joined_ns;
	}
	free(by_thread);
}
