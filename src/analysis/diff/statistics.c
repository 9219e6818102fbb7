/* The difference of two means with its interval; see diff.h. */
#include <math.h>

#include "diff/diff.h"

/* The continued fraction of the incomplete beta function, by the method of Lentz. */
static double statistics_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		change = d * c;
		result *= change;
		if (fabs(change - 1) < 1e-14)
			break;
	}
	return result;
}

/* The regularized incomplete beta function. */
static double statistics_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * statistics_fraction(a, b, x) / a;
	return 1 - front * statistics_fraction(b, a, 1 - x) / b;
}

double dw_diff_student(double tail, double freedom)
{
	double low = 0, high = 1e6;

	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double t = (low + high) / 2;

		if (0.5 * statistics_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) > tail)
			low = t;
		else
			high = t;
	}
	return (low + high) / 2;
}

static double statistics_mean(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* The variance of the values; NaN if there is only one. */
static double statistics_variance(const double *values, size_t count)
{
	double mean = statistics_mean(values, count), sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return count > 1 ? sum / (double)(count - 1) : NAN;
}

struct dw_diff_estimate dw_diff_estimate(const double *before, size_t before_count,
                                         const double *after, size_t after_count)
{
	struct dw_diff_estimate to = { statistics_mean(before, before_count),
		                           statistics_mean(after, after_count), 0, NAN, NAN, NAN };
	double variance = statistics_variance(before, before_count), n = (double)before_count;
	double other = statistics_variance(after, after_count), m = (double)after_count;
	double a, b, freedom, error, width;

	to.difference = to.after - to.before;
	if (before_count + after_count < 3)
		return to;
	if (before_count < 2 || after_count < 2) {
		variance = other = before_count < 2 ? other : variance;
		freedom = n + m - 2;
		error = sqrt(variance / n + other / m);
	} else {
		a = variance / n;
		b = other / m;
		error = sqrt(a + b);
		freedom = a + b > 0 ? (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1)) : n + m - 2;
	}
	width = dw_diff_student(0.025, freedom);
	to.low = fmax(-to.before, to.difference - width * error);
	to.high = to.difference + width * error;
	to.detectable = (width + dw_diff_student(0.05, freedom)) * error;
	return to;
}
