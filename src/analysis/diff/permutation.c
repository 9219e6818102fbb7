/*
 * A test for times that other programs and other guests of the machine can only lengthen.
 *
 * Runs have a floor, which they reach when nobody disturbs them, and many are above it. The mean of
 * such runs varies with the disturbances; the lowest of them do not. So the level of a side is the
 * mean of the lowest quarter of its runs, of logarithms, because a slow machine multiplies times.
 * No formula has the distribution of this level, so the test divides the runs into two sides in
 * every other way (or in many ways, drawn always alike): if the sides do not differ, every division
 * is as likely as the real one. The interval has those ratios between the sides that the test does
 * not refuse.
 */
#include <math.h>
#include <string.h>

#include "base/free.h"
#include "diff/diff.h"

#define PERMUTATION_MOST 4000   /* divisions; with more runs they are drawn */
#define PERMUTATION_LEVEL 0.05
#define PERMUTATION_ROUNDS 40   /* of bisection */

struct permutation {
	const double *before, *after; /* logarithms */
	size_t n, m, divisions;
	uint8_t *is_after;      /* of each division, n + m; the first one is the real one */
	double *values;         /* n + m, shifted */
	size_t *order;          /* of values, ascending */
};

static size_t permutation_count_divisions(size_t n, size_t m)
{
	double ways = 1;

	for (size_t i = 1; i <= n && ways <= PERMUTATION_MOST; i++)
		ways = ways * (double)(m + i) / (double)i;
	return ways <= PERMUTATION_MOST ? (size_t)(ways + 0.5) : PERMUTATION_MOST;
}

bool dw_diff_can_permute(size_t n, size_t m)
{
	/* The real division and its opposite, which is one of the others if n equals m. */
	return n && m && (n == m ? 2.0 : 1.0) <= PERMUTATION_LEVEL * (double)permutation_count_divisions(n, m);
}

static size_t permutation_lowest(size_t count)
{
	return (count + 3) / 4;
}

/* The next subset of m of the runs in lexicographic order, from the real one: n zeros, m ones. */
static void permutation_next(uint8_t *set, size_t count)
{
	size_t from = count - 1, last = count - 1, left, right;

	while (from && set[from - 1] >= set[from])
		from--;
	if (!from)
		return;
	while (set[last] <= set[from - 1])
		last--;
	set[from - 1] = 1;
	set[last] = 0;
	for (left = from, right = count - 1; left < right; left++, right--) {
		uint8_t kept = set[left];

		set[left] = set[right];
		set[right] = kept;
	}
}

static void permutation_divide(struct permutation *at)
{
	size_t count = at->n + at->m;
	uint64_t state = 88172645463325252u;
	bool all = at->divisions < PERMUTATION_MOST;

	for (size_t i = 0; i < count; i++)
		at->is_after[i] = i >= at->n;
	for (size_t d = 1; d < at->divisions; d++) {
		uint8_t *set = at->is_after + d * count;

		memcpy(set, set - count, count);
		if (all)
			permutation_next(set, count);
		for (size_t i = count - 1; i > 0 && !all; i--) {
			size_t other;
			uint8_t kept = set[i];

			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			other = (size_t)(state >> 11) % (i + 1);
			set[i] = set[other];
			set[other] = kept;
		}
	}
}

/* The level after, less the level before, in one division. */
static double permutation_difference(const struct permutation *at, const uint8_t *is_after)
{
	size_t most[2] = { permutation_lowest(at->n), permutation_lowest(at->m) }, seen[2] = { 0, 0 };
	double sums[2] = { 0, 0 };

	for (size_t i = 0; seen[0] < most[0] || seen[1] < most[1]; i++) {
		unsigned side = is_after[at->order[i]];

		if (seen[side] < most[side]) {
			sums[side] += at->values[at->order[i]];
			seen[side]++;
		}
	}
	return sums[1] / (double)most[1] - sums[0] / (double)most[0];
}

static void permutation_shift(struct permutation *at, double shift)
{
	size_t count = at->n + at->m;

	for (size_t i = 0; i < count; i++) {
		double value = i < at->n ? at->before[i] : at->after[i - at->n] - shift;
		size_t place = i;

		at->values[i] = value;
		for (; place && at->values[at->order[place - 1]] > value; place--)
			at->order[place] = at->order[place - 1];
		at->order[place] = i;
	}
}

/* Whether the runs after differ from those before times exp(shift). */
static bool permutation_refuses(struct permutation *at, double shift)
{
	size_t count = at->n + at->m, extreme = 0;
	double real;

	permutation_shift(at, shift);
	real = fabs(permutation_difference(at, at->is_after)) - 1e-12;
	for (size_t d = 0; d < at->divisions; d++) {
		extreme += fabs(permutation_difference(at, at->is_after + d * count)) >= real;
		if ((double)extreme > PERMUTATION_LEVEL * (double)at->divisions)
			return false;
	}
	return true;
}

/* The end of the interval between a shift that is not refused and one that is. */
static double permutation_end(struct permutation *at, double accepted, double refused)
{
	for (int i = 0; i < PERMUTATION_ROUNDS; i++) {
		double middle = (accepted + refused) / 2;

		if (permutation_refuses(at, middle))
			refused = middle;
		else
			accepted = middle;
	}
	return accepted;
}

static double permutation_mean_lowest(const struct permutation *at, bool after)
{
	size_t count = after ? at->m : at->n, most = permutation_lowest(count), seen = 0;
	double sum = 0;

	for (size_t i = 0; seen < most; i++)
		if ((at->order[i] >= at->n) == after) {
			sum += at->values[at->order[i]];
			seen++;
		}
	return sum / (double)most;
}

static void permutation_estimate(struct permutation *at, bool interval, struct dw_diff_estimate *to)
{
	size_t count = at->n + at->m;
	double low, high, real, span;

	permutation_shift(at, 0);
	low = permutation_mean_lowest(at, false);
	high = permutation_mean_lowest(at, true);
	span = at->values[at->order[count - 1]] - at->values[at->order[0]];
	real = high - low;
	to->before = exp(low);
	to->after = exp(high);
	to->difference = to->after - to->before;
	if (!interval || !dw_diff_can_permute(at->n, at->m))
		return;
	permutation_divide(at);
	/* Beyond twice the span the sides are apart, so the test refuses there. */
	to->low = to->before * expm1(permutation_end(at, real, real - 2 * span - 1e-9));
	to->high = to->before * expm1(permutation_end(at, real, real + 2 * span + 1e-9));
}

bool dw_diff_estimate_lowest(const double *before, size_t n, const double *after, size_t m, bool interval,
                             struct dw_diff_estimate *to)
{
	size_t count = n + m;
	double *logs = malloc(2 * count * sizeof *logs);
	struct permutation at = { logs, NULL, n, m, permutation_count_divisions(n, m), NULL, NULL,
		                      malloc(count * sizeof *at.order) };

	*to = (struct dw_diff_estimate){ NAN, NAN, NAN, NAN, NAN, NAN };
	at.is_after = malloc(at.divisions * count);
	if (logs && at.order && at.is_after) {
		at.after = logs + n;
		at.values = logs + count;
		for (size_t i = 0; i < count; i++)
			logs[i] = log(i < n ? before[i] : after[i - n]);
		permutation_estimate(&at, interval, to);
	}
	DW_FREE(at.is_after, at.order, logs);
	return logs && at.order && at.is_after;
}
