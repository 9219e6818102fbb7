/*
 * The 95% interval of a sum of cells.
 *
 * Records and the kernel say exactly how long a slice is, and for how long the thread runs, in all. What it runs in a
 * slice, its samples show, and how much of the time in which it runs is in the slice, all samples do. So the variance
 * of a sum has three parts:
 *
 *  - within a slice: as of a share of its own samples, however many others there are;
 *  - of slices without samples, which have the mean of others by expectation: they may have all or nothing of it, and
 *    the mean itself is known as well as the slices with samples are many;
 *  - between slices: how much of the running time is in each. Where the thread runs all the time, that is known
 * exactly.
 *
 * The interval is Wilson's for as many independent samples as would have this variance, because few samples are not
 * distributed normally. A share that no or all samples show is counted as if a sample more showed the mean.
 */
#include <math.h>

#include "account/slices.h"
#include "base/numbers.h"


struct interval {
	const struct dw_account *account;
	const struct dw_account_select *select;
	double ns;      /* for which the thread runs */
	double samples; /* independent ones of that */
	double mean;    /* the part of the samples that the selection has, of slices that it has cells of */
	double sampled_slices;
	/* Of the selection: its time, with what is not certain; what no sample shows; the most that its slices can have. */
	double selected_ns, smooth_ns, unsampled_ns, most_ns;
	double variance;
	double free, free_part,
		free_square; /* sums over the slices, of the variances of their running times, with the part selected */
};

static double interval_square(double number)
{
	return number * number;
}

static bool interval_runs(const struct dw_account_cell *cell)
{
	return cell->state == DW_ACCOUNT_RUNS || cell->state == DW_ACCOUNT_SPINS;
}

/* The time that the selection has of what the thread runs in a slice. */
static double interval_of_slice(const struct interval *at, const struct dw_account_slice *slice)
{
	double ns = 0;

	for (size_t i = slice->first; i < slice->first + slice->count; i++) {
		const struct dw_account_cell *cell = &at->account->cells[at->account->by_slice[i]];

		if (interval_runs(cell))
			ns += cell->ns * dw_account_part_selected(at->account, at->select, cell);
	}
	return ns;
}

/* Whether the selection has all that the thread runs in the slice, or nothing, by what it is. */
static bool interval_is_sure(const struct interval *at, const struct dw_account_slice *slice)
{
	bool explained = DW_ACCOUNT_EXPLAINED >> slice->share & 1;

	if (!dw_account_selects_slice(at->select, slice))
		return true;
	if (explained && !(at->select->explained >> slice->share & 1))
		return !dw_activity_in(DW_ACTIVITY_IMPORTS, at->select->activities[DW_ACCOUNT_RUNS]);
	return dw_account_selects_state(at->select, slice, DW_ACCOUNT_RUNS) &&
	       dw_account_selects_state(at->select, slice, DW_ACCOUNT_SPINS);
}

/* Whether it has all time of the slice in which the thread has a CPU or waits: records say how long that is. */
static bool interval_is_whole(const struct interval *at, const struct dw_account_slice *slice)
{
	bool whole = dw_account_selects_slice(at->select, slice);

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT && whole; state++)
		whole = state == DW_ACCOUNT_NO_CPU || dw_account_selects_state(at->select, slice, (enum dw_account_state)state);
	return whole;
}

/* How far the running time of a slice is from the middle between the least and the most that its length and the loop's
 * allow. */
static double interval_room(const struct interval *at, const struct dw_account_slice *slice)
{
	double waits_ns = fmax(0, at->account->wall_ns - at->ns);

	return fmax(0, fmin(slice->ns, at->ns) - fmax(0, slice->ns - waits_ns)) / 2;
}

/* The samples of slices that the selection has cells of: how many are its own. */
static void interval_find_mean(struct interval *at)
{
	double samples = 0, own = 0;

	for (size_t i = 0; i < at->account->slice_count; i++) {
		const struct dw_account_slice *slice = &at->account->slices[i];

		at->ns += slice->runs_ns;
		if (interval_is_sure(at, slice) || !(slice->samples > 0) || !(slice->runs_ns > 0))
			continue;
		samples += slice->samples;
		own += slice->samples * fmin(1, fabs(interval_of_slice(at, slice)) / slice->runs_ns);
		at->sampled_slices++;
	}
	at->mean = (own + 1) / (samples + 2);
}

static void interval_add_slice(struct interval *at, const struct dw_account_slice *slice)
{
	double ns = interval_of_slice(at, slice), runs_ns = slice->runs_ns, part, free;
	double sign = ns < 0 ? -1 : 1, weight = 1;

	if (!(runs_ns > 0) || interval_is_whole(at, slice))
		return;
	at->selected_ns += ns;
	if (at->select->beyond && slice->class == DW_ITERATION_STEADY &&
	    !(at->select->classes & 1u << DW_ITERATION_STEADY)) {
		sign = -1; /* as many of them as of the others */
		weight = (double)dw_account_iterations(at->account, at->select->classes) /
		         fmax(1, (double)at->account->classes[DW_ITERATION_STEADY].count);
	}
	part = fmin(1, fabs(ns) / (runs_ns * weight));
	if (!interval_is_sure(at, slice)) {
		part = (slice->samples * part + at->mean) / (slice->samples + 1);
		at->variance += interval_square(weight * runs_ns) *
		                (slice->samples > 0 ? part * (1 - part) / slice->samples : at->mean * (1 - at->mean));
		at->unsampled_ns += slice->samples > 0 ? 0 : weight * runs_ns;
	}
	part *= sign * weight;
	free = fmin(fmax(runs_ns, at->ns / at->samples) * at->ns / at->samples, interval_square(interval_room(at, slice)));
	at->free += free;
	at->free_part += free * part;
	at->free_square += free * part * part;
	at->smooth_ns += part * runs_ns;
	if (dw_account_selects_slice(at->select, slice))
		at->most_ns += fmax(0, sign) * fmin(slice->ns, at->ns);
}

/* Without any sample, what is not known may be the selection's. */
static double interval_unknown(const struct interval *at)
{
	double ns = 0;

	for (size_t i = 0; i < at->account->count; i++) {
		const struct dw_account_cell *cell = &at->account->cells[i];
		struct dw_account_select all = *at->select;

		all.activities[DW_ACCOUNT_RUNS] = DW_ACCOUNT_ALL;
		if (cell->state == DW_ACCOUNT_RUNS && cell->activity == DW_ACTIVITY_UNKNOWN &&
		    at->select->activities[DW_ACCOUNT_RUNS] && !(dw_account_part_selected(at->account, at->select, cell) > 0))
			ns += cell->ns * fmax(0, dw_account_part_selected(at->account, &all, cell));
	}
	return ns;
}

/* The interval of what the thread runs. */
static void interval_of_runs(struct interval *at, struct dw_account_sum *sum)
{
	const struct dw_account_basis *basis = &at->account->basis[DW_ACCOUNT_RUNS];
	double share, part, low, high, deviation;

	at->samples = basis->squares ? (double)basis->weight * (double)basis->weight / (double)basis->squares : 0;
	if (!(at->samples > 0)) {
		sum->high_ns += interval_unknown(at);
		return;
	}
	interval_find_mean(at);
	for (size_t i = 0; i < at->account->slice_count; i++)
		interval_add_slice(at, &at->account->slices[i]);
	if (!(at->ns > 0))
		return;
	part = at->smooth_ns / at->ns;
	at->variance += interval_square(at->unsampled_ns) * at->mean * (1 - at->mean) / fmax(1, at->sampled_slices);
	at->variance += fmax(0, at->free_square - 2 * part * at->free_part + part * part * at->free);
	if (!(at->variance > 0))
		return;
	deviation = sqrt(at->variance);
	share = at->selected_ns / at->ns;
	if (at->select->beyond || !(part > 0) || !(part < 1)) {
		low = at->selected_ns - DW_DEVIATIONS * deviation;
		high = at->selected_ns + DW_DEVIATIONS * deviation;
	} else {
		dw_samples_wilson(fmin(1, fmax(0, share)), part * (1 - part) * interval_square(at->ns / deviation), &low,
		                  &high);
		low *= at->ns;
		high = fmin(high * at->ns, at->most_ns);
	}
	sum->low_ns -= fmax(0, at->selected_ns - low);
	sum->high_ns += fmax(0, high - at->selected_ns);
}

#define MARGIN \
	0.03 /* of the time without a CPU: who waits for something else and then for a CPU seems to wait for it longer */

/* The interval of what the thread waits for, or others do, with so much of the state's time, and so many samples. */
static void interval_of_state(const struct dw_account *account, enum dw_account_state state, double ns,
                              uint64_t samples, struct dw_account_sum *sum)
{
	const struct dw_account_basis *basis = &account->basis[state];
	double state_ns = account->state_ns[state], share = ns / state_ns, low, high;

	if (!basis->weight || !(ns > 0) || !(state_ns > 0))
		return;
	dw_samples_interval(fmin(1, share), basis->weight, basis->squares, &low, &high);
	if (state != DW_ACCOUNT_WAITS)
		low = samples ? low : 0;
	else
		low = fmax(0, low - share * MARGIN * account->state_ns[DW_ACCOUNT_NO_CPU] / state_ns);
	sum->low_ns -= fmax(0, ns - low * state_ns);
	sum->high_ns += fmax(0, high * state_ns - ns);
}

/* The time for which the thread had no CPU in other iterations than those of the classes, if that is not known of each
 * class: what these take longer may be such time. */
static double interval_without_cpu(const struct dw_account *account, uint32_t classes)
{
	double ns = 0;

	for (unsigned class = 0; class < DW_ITERATION_CLASSES; class++)
		if (classes >> class & 1 && account->classes[class].count && account->classes[class].bounded)
			return 0;
	for (size_t i = 0; i < account->count; i++)
		if (account->cells[i].state == DW_ACCOUNT_NO_CPU && !(classes >> account->cells[i].class & 1))
			ns += account->cells[i].ns;
	return ns;
}

void dw_account_find_interval(const struct dw_account *account, const struct dw_account_select *select,
                              struct dw_account_sum *sum)
{
	struct interval at = { .account = account, .select = select };
	double of_ns[DW_ACCOUNT_STATE_COUNT] = { 0 };
	uint64_t samples[DW_ACCOUNT_STATE_COUNT] = { 0 };

	sum->low_ns = sum->high_ns = sum->ns;
	for (size_t i = 0; i < account->slice_count; i++) {
		const struct dw_account_slice *slice = &account->slices[i];

		for (size_t c = slice->first; c < slice->first + slice->count && !interval_is_whole(&at, slice); c++) {
			const struct dw_account_cell *cell = &account->cells[account->by_slice[c]];
			double part = dw_account_part_selected(account, select, cell);

			if (!(part > 0) || interval_runs(cell) || !cell->basis.samples)
				continue;
			of_ns[cell->state] += cell->ns * part;
			samples[cell->state] += cell->basis.samples;
		}
	}
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		interval_of_state(account, (enum dw_account_state)state, of_ns[state], samples[state], sum);
	interval_of_runs(&at, sum);
	if (select->beyond)
		sum->low_ns -= interval_without_cpu(account, select->classes);
	sum->low_ns = fmax(0, sum->low_ns);
	sum->high_ns = fmin(account->wall_ns, sum->high_ns);
}
