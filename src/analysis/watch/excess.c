/* See excess.h. */
#include "watch/excess.h"

#include <math.h>

#include "base/median.h"

#define LOOKS 32u
#define FIRST_NOISE 0.03
#define FIRST_WEIGHT 8.0
#define MOST_OF_A_LOOK 7.0 /* of the score */
#define MOST_DEVIATIONS 5.0
#define SIGMA 1.4826 /* of a normal distribution, from the median absolute deviation */

bool dw_excess_take(struct dw_excess *excess, double x, double *difference)
{
	excess->before = excess->x;
	excess->x = x;
	excess->looks++;
	excess->mean += (x - excess->mean) / (excess->looks < LOOKS ? excess->looks : LOOKS);
	*difference = x - excess->before;
	return excess->looks > 1;
}

void dw_excess_take_noise(struct dw_excess_noise *noise, double *differences, size_t count)
{
	double most, squares = 0;

	for (size_t i = 0; i < count; i++)
		differences[i] = fabs(differences[i]);
	if (!count)
		return;
	most = MOST_DEVIATIONS * SIGMA * dw_median(differences, count);
	for (size_t i = 0; i < count; i++)
		squares += pow(fmin(differences[i], most), 2) / 2;
	noise->squares += squares - noise->squares / LOOKS;
	noise->weight += (double)count - noise->weight / LOOKS;
}

bool dw_excess_judge(struct dw_excess *excess, const struct dw_excess_noise *noise, double spread, bool slow)
{
	double square = (FIRST_WEIGHT * FIRST_NOISE * FIRST_NOISE + noise->squares) / (FIRST_WEIGHT + noise->weight);
	double more = DW_EXCESS_LEAST / square * (excess->x - DW_EXCESS_LEAST / 2);

	excess->score += fmax(-MOST_OF_A_LOOK, fmin(more, MOST_OF_A_LOOK));
	excess->score = fmin(excess->score, DW_EXCESS_SCORE);
	if (excess->score <= 0) {
		excess->score = excess->sum = 0;
		excess->since = 0;
		return false;
	}
	excess->sum += excess->x;
	excess->since++;
	return slow || (excess->score >= DW_EXCESS_SCORE && dw_excess_mean(excess) >= DW_EXCESS_SPREADS * spread);
}

double dw_excess_mean(const struct dw_excess *excess)
{
	return excess->since ? excess->sum / excess->since : 0;
}

double dw_excess_spread(double *values, size_t count)
{
	double median = dw_median(values, count);

	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - median);
	return SIGMA * dw_median(values, count);
}
