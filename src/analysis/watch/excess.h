/*
 * Which ranks work longer than the median rank, over many looks: a sequential test (CUSUM).
 *
 * At each look that has news of a rank, x is its work in a step beyond the median rank's, as a share of that. A score of
 * a rank is the logarithm of how much likelier its looks are if it is slower by `more` than if it is not, since the score
 * was last 0: each look adds more / noise^2 * (x - more / 2), and it never falls below 0. A rank has a score for each of
 * several `more`, from DW_EXCESS_LEAST on, by a factor of 2: where the machine is busy and the noise large, the score for a
 * small one grows slowly, also of a rank that takes twice as long. A rank is slow when a score comes to DW_EXCESS_SCORE,
 * until that is 0 again. A look changes a score by at most 7, so that one long step does not make a slow rank.
 *
 * The noise is the deviation of x from look to look: the root of the mean square of the differences, divided by the root of
 * 2, where a difference counts as at most five deviations: of the others at this look, or, if these are few, of those before.
 * So a rank that was stopped, and writes its file alone, makes no noise. Earlier looks count less and less, 32 of them in all. At the begin
 * the noise is 3%, as if measured with 8 ranks. Ranks also differ by what is no fault, as the place in the machine: a slow
 * rank's mean x must be five times the deviation of the ranks' means.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DW_EXCESS_LEAST 0.05
#define DW_EXCESS_SCORE 21.0
#define DW_EXCESS_SPREADS 5.0
#define DW_EXCESS_SCORES 5u /* for 5%, 10%, 20%, 40%, 80% more */

struct dw_excess_score {
	double score, sum; /* sum of x since the score was 0 */
	unsigned since;    /* looks of `sum` */
};

/* Of a rank. Zeroed at the begin. */
struct dw_excess {
	double x, before;   /* at this look and at the one before */
	double mean;        /* of up to 32 looks */
	struct dw_excess_score scores[DW_EXCESS_SCORES];
	unsigned looks; /* that had news */
	unsigned by;    /* the score that says that it is slow, from 1; 0: it is not */
};

struct dw_excess_noise {
	double squares, weight;
};

/* Takes the excess of a rank at this look. Returns whether *difference is one to the look before. */
bool dw_excess_take(struct dw_excess *excess, double x, double *difference);
/* Takes the differences of a look, whose signs and order are lost. */
void dw_excess_take_noise(struct dw_excess_noise *noise, double *differences, size_t count);
/* Adds the look to the scores. Returns whether the rank is slow. `spread`: of the ranks' means, 0 if there are few. */
bool dw_excess_judge(struct dw_excess *excess, const struct dw_excess_noise *noise, double spread);
/* Of a slow rank: the mean excess since its score was 0, in that many looks. */
double dw_excess_mean(const struct dw_excess *excess, unsigned *looks);
/* The deviation of values, by the median; changes them. */
double dw_excess_spread(double *values, size_t count);
