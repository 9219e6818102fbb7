/*
 * Intervals of sums of cells: how often the truth lies in them.
 *
 * A loop is made at random: what it does in each part, and for how much of it it runs. Then samples are taken, and the
 * account is made of them as of a run's. So the truth is known, and a 95% interval must have it nearly as often.
 */
#include <math.h>
#include <string.h>

#include "account/cells.h"
#include "account/parts.h"
#include "base/grow.h"
#include "check.h"

#define MOST_PARTS 20u
#define KINDS 4u
#define TIMES 500u /* accounts of each form */
#define LEAST 0.90 /* of them whose interval has the truth */
#define SECOND 1e9

static const enum dw_activity kinds[KINDS] = { DW_ACTIVITY_OWN, DW_ACTIVITY_TEXT, DW_ACTIVITY_ALGEBRA,
	                                           DW_ACTIVITY_ALLOCATES };

/* ---- random numbers ----------------------------------------------------------------------------------- */

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

/* Parts of one, the more unequal the smaller `even` is. */
static void divide(double *parts, size_t count, double even)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += parts[i] = pow(uniform(), 1 / even) + 1e-12;
	for (size_t i = 0; i < count; i++)
		parts[i] /= sum;
}

static size_t choose(const double *parts, size_t count)
{
	double at = uniform();
	size_t i = 0;

	while (i + 1 < count && at >= parts[i])
		at -= parts[i++];
	return i;
}

/* ---- the truth ------------------------------------------------------------------------------------------ */

static struct {
	size_t parts;
	double of_loop[MOST_PARTS], runs_ns[MOST_PARTS], does[MOST_PARTS][KINDS];
	double all_runs_ns;
	unsigned sampled[MOST_PARTS][KINDS];
} truth;

/* A part does what all do, or something of its own. */
static void make_truth(size_t parts, bool always_runs)
{
	double usual[KINDS], own[KINDS];

	memset(&truth, 0, sizeof truth);
	truth.parts = parts;
	divide(truth.of_loop, parts, 0.7);
	divide(usual, KINDS, 0.5);
	for (size_t i = 0; i < parts; i++) {
		double same = uniform() < 0.5 ? uniform() : 0.9;

		divide(own, KINDS, 0.2);
		for (size_t k = 0; k < KINDS; k++)
			truth.does[i][k] = same * usual[k] + (1 - same) * own[k];
		truth.runs_ns[i] = truth.of_loop[i] * SECOND * (always_runs || uniform() < 0.5 ? 1 : uniform());
		truth.all_runs_ns += truth.runs_ns[i];
	}
}

static void take_samples(unsigned count)
{
	double of_runs[MOST_PARTS];

	for (size_t i = 0; i < truth.parts; i++)
		of_runs[i] = truth.runs_ns[i] / truth.all_runs_ns;
	for (unsigned n = 0; n < count; n++) {
		size_t part = choose(of_runs, truth.parts);

		truth.sampled[part][choose(truth.does[part], KINDS)]++;
	}
}

static double true_ns(dw_activity_set activities)
{
	double ns = 0;

	for (size_t i = 0; i < truth.parts; i++)
		for (size_t k = 0; k < KINDS; k++)
			ns += dw_activity_in(kinds[k], activities) ? truth.runs_ns[i] * truth.does[i][k] : 0;
	return ns;
}

/* ---- the account ------------------------------------------------------------------------------------------ */

static struct dw_account account;
static struct dw_account_parts parts;
static struct dw_cells cells;
static struct dw_arena arena;

static struct dw_sample_row row_of(size_t part, unsigned count)
{
	return (struct dw_sample_row){ .where = DW_SAMPLE_IN_STEP,
		                           .share = DW_SHARE_NAMED,
		                           .named = (uint32_t)part,
		                           .count = count,
		                           .weight = count,
		                           .squares = count };
}

static void make_parts(unsigned count)
{
	for (size_t i = 0; i < truth.parts; i++) {
		struct dw_account_part *part = DW_GROW(&parts.at, &parts.capacity, parts.count);
		unsigned sampled = 0;

		for (size_t k = 0; k < KINDS; k++)
			sampled += truth.sampled[i][k];
		*part = (struct dw_account_part){
			.where = DW_SAMPLE_IN_STEP, .share = DW_SHARE_NAMED, .named = (uint32_t)i, .ns = truth.of_loop[i] * SECOND
		};
		part->sampled_ns[DW_ACCOUNT_RUNS] = count ? truth.all_runs_ns * sampled / count : 0;
		parts.count++;
	}
	dw_account_parts_fit(&parts, account.state_ns, NULL, count);
}

/* As make.c does: what samples show of each part, and in parts without any the mean of the others. */
static void make_cells(unsigned count)
{
	double of_kind[KINDS] = { 0 }, all_ns = 0;

	for (size_t i = 0; i < truth.parts; i++) {
		const struct dw_account_part *part = &parts.at[i];
		double ns = part->state_ns[DW_ACCOUNT_RUNS], sampled_ns = part->sampled_ns[DW_ACCOUNT_RUNS];

		for (size_t k = 0; k < KINDS && sampled_ns > 0; k++) {
			const struct dw_look look = { .activity = kinds[k] };
			const struct dw_sample_row row = row_of(i, truth.sampled[i][k]);
			double of_part = truth.all_runs_ns * row.count / count / sampled_ns * ns;

			if (row.count)
				dw_cells_add_sample(&cells, part, &look, DW_ACCOUNT_RUNS, &row, of_part);
			of_kind[k] += of_part;
			all_ns += of_part;
		}
		dw_cells_add_rest(&cells, part, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN, part->state_ns[DW_ACCOUNT_WAITS]);
	}
	for (size_t i = 0; i < truth.parts; i++) {
		const struct dw_account_part *part = &parts.at[i];
		double ns = part->state_ns[DW_ACCOUNT_RUNS];

		for (size_t k = 0; k < KINDS && all_ns > 0 && !(part->sampled_ns[DW_ACCOUNT_RUNS] > 0); k++)
			dw_cells_add_rest(&cells, part, DW_ACCOUNT_RUNS, kinds[k], ns * of_kind[k] / all_ns);
		if (!(all_ns > 0))
			dw_cells_add_rest(&cells, part, DW_ACCOUNT_RUNS, DW_ACTIVITY_UNKNOWN, ns);
	}
	dw_cells_finish(&cells);
}

static void make_account(unsigned count)
{
	account = (struct dw_account){
		.known = true,
		.waits_known = true,
		.wall_ns = SECOND,
		.own_ns = SECOND,
		.state_ns = { [DW_ACCOUNT_RUNS] = truth.all_runs_ns, [DW_ACCOUNT_WAITS] = fmax(0, SECOND - truth.all_runs_ns) },
		.basis = { [DW_ACCOUNT_RUNS] = { count, count, count } }
	};
	parts = (struct dw_account_parts){ .count = 0 };
	cells = (struct dw_cells){ .to = &account, .arena = &arena };
	make_parts(count);
	make_cells(count);
	REQUIRE(!cells.failed && account.slice_count == parts.count);
}

static void forget_account(void)
{
	dw_cells_reset(&cells);
	dw_account_parts_reset(&parts);
	free(account.cells);
	dw_arena_reset(&arena);
}

/* Whether the interval of one or two kinds of work has the truth. *width: of the interval, as a part of the loop. */
static bool has_truth(unsigned count, double *width)
{
	dw_activity_set wanted = DW_ACTIVITY_SET(OWN) | (uniform() < 0.4 ? DW_ACTIVITY_SET(TEXT) : 0);
	const struct dw_account_select select = dw_account_select_states(1u << DW_ACCOUNT_RUNS, wanted);
	struct dw_account_sum sum;
	double ns = true_ns(wanted);

	take_samples(count);
	make_account(count);
	sum = dw_account_sum(&account, &select);
	CHECK(sum.low_ns <= sum.ns + 1 && sum.ns <= sum.high_ns + 1);
	*width += (sum.high_ns - sum.low_ns) / SECOND;
	forget_account();
	return sum.low_ns <= ns + 1 && ns <= sum.high_ns + 1;
}

TEST(intervals_have_the_truth)
{
	static const unsigned samples[] = { 0, 1, 2, 3, 10, 100 };
	static const size_t part_counts[] = { 1, 3, 8, MOST_PARTS };
	const unsigned times = check_is_slow() ? TIMES / 5 : TIMES;
	const double least = check_is_slow() ? LEAST - 0.1 : LEAST; /* fewer accounts vary more */

	for (unsigned exact = 0; exact < 2; exact++)
		for (size_t p = 0; p < sizeof part_counts / sizeof *part_counts; p++)
			for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
				unsigned right = 0;
				double width = 0;

				seed = 1 + exact + 2 * p + 10 * s;
				for (unsigned i = 0; i < times; i++) {
					make_truth(part_counts[p], exact);
					right += has_truth(samples[s], &width);
				}
				if (right < least * times)
					printf("%u samples, %zu parts%s: %u of %u, %.2f wide\n", samples[s], part_counts[p],
					       exact ? " in which it runs" : "", right, times, width / times);
				CHECK(right >= least * times);
			}
}

/* All that the thread runs is what the kernel says, whatever samples show of it. */
TEST(what_is_no_choice_is_exact)
{
	const struct dw_account_select runs =
		dw_account_select_states(1u << DW_ACCOUNT_RUNS | 1u << DW_ACCOUNT_SPINS, DW_ACCOUNT_ALL);
	struct dw_account_select named = dw_account_select_states((1u << DW_ACCOUNT_STATE_COUNT) - 1, DW_ACCOUNT_ALL);
	struct dw_account_sum sum;

	seed = 7;
	named.by_name = true;
	named.named = 2;
	make_truth(8, false);
	take_samples(3);
	make_account(3);
	sum = dw_account_sum(&account, &runs);
	CHECK_NEAR(sum.low_ns, truth.all_runs_ns, 1e-3 * SECOND);
	CHECK_NEAR(sum.high_ns, truth.all_runs_ns, 1e-3 * SECOND);
	sum = dw_account_sum(&account, &named);
	CHECK_NEAR(sum.low_ns, truth.of_loop[2] * SECOND, 1e-3 * SECOND);
	CHECK_NEAR(sum.high_ns, truth.of_loop[2] * SECOND, 1e-3 * SECOND);
	forget_account();
}

/* Three samples that all show the same are no proof that nothing else is there. */
TEST(three_samples_do_not_say_much)
{
	const struct dw_account_select text = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACTIVITY_SET(TEXT));
	struct dw_account_sum sum;

	memset(&truth, 0, sizeof truth);
	truth.parts = 2;
	truth.of_loop[0] = 0.77;
	truth.of_loop[1] = 0.23;
	truth.all_runs_ns = SECOND;
	truth.sampled[0][0] = 97;
	truth.sampled[1][1] = 3;
	make_account(100);
	sum = dw_account_sum(&account, &text);
	CHECK_NEAR(sum.ns, 0.23 * SECOND, 1e-3 * SECOND);
	CHECK(sum.low_ns < 0.16 * SECOND);
	forget_account();
}

CHECK_MAIN
