/* See excess.h. */
#include "watch/excess.h"

#include <math.h>

#include "base/numbers.h"

#define LOOKS 32u
#define FIRST_NOISE 0.03
#define FIRST_WEIGHT 8.0
#define MOST_OF_A_LOOK 7.0 /* of the score */
#define MOST_DEVIATIONS 5.0
#define ENOUGH 4u /* differences of a look whose median is not that of one rank with a fault */
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

/* The square of the noise. */
static double excess_square(const struct dw_excess_noise *noise)
{
	return (FIRST_WEIGHT * FIRST_NOISE * FIRST_NOISE + noise->squares) / (FIRST_WEIGHT + noise->weight);
}

void dw_excess_take_noise(struct dw_excess_noise *noise, double *differences, size_t count)
{
	double most, squares = 0;

	for (size_t i = 0; i < count; i++)
		differences[i] = fabs(differences[i]);
	if (!count)
		return;
	most = MOST_DEVIATIONS * (count < ENOUGH ? sqrt(2 * excess_square(noise)) : SIGMA * dw_median(differences, count));
	for (size_t i = 0; i < count; i++)
		squares += pow(fmin(differences[i], most), 2) / 2;
	noise->squares += squares - noise->squares / LOOKS;
	noise->weight += (double)count - noise->weight / LOOKS;
}

static void excess_add(struct dw_excess_score *score, double x, double more, double square)
{
	double change = more / square * (x - more / 2);

	score->score += fmax(-MOST_OF_A_LOOK, fmin(change, MOST_OF_A_LOOK));
	score->score = fmin(score->score, DW_EXCESS_SCORE);
	if (score->score <= 0) {
		*score = (struct dw_excess_score){ 0 };
		return;
	}
	score->sum += x;
	score->since++;
}

bool dw_excess_judge(struct dw_excess *excess, const struct dw_excess_noise *noise, double spread)
{
	double square = excess_square(noise);
	unsigned found = 0;

	for (unsigned i = 0; i < DW_EXCESS_SCORES; i++) {
		struct dw_excess_score *score = &excess->scores[i];

		excess_add(score, excess->x, ldexp(DW_EXCESS_LEAST, (int)i), square);
		if (score->score >= DW_EXCESS_SCORE && score->sum >= DW_EXCESS_SPREADS * spread * score->since)
			found = i + 1;
	}
	if (!excess->by || !excess->scores[excess->by - 1].since)
		excess->by = found;
	return excess->by > 0;
}

double dw_excess_mean(const struct dw_excess *excess, unsigned *looks)
{
	const struct dw_excess_score *score = &excess->scores[excess->by ? excess->by - 1 : 0];

	*looks = score->since;
	return score->since ? score->sum / score->since : 0;
}

double dw_excess_spread(double *values, size_t count)
{
	double median = dw_median(values, count);

	for (size_t i = 0; i < count; i++)
		values[i] = fabs(values[i] - median);
	return SIGMA * dw_median(values, count);
}
