/* Steps that are longer than their neighbours; see slow.h. */
#include "watch/slow.h"

#include <math.h>

#include "base/numbers.h"

bool dw_slow_is(double length, double *before, size_t count)
{
	double median, deviation;

	if (count < DW_SLOW_LEAST)
		return false;
	median = dw_median(before, count);
	for (size_t i = 0; i < count; i++)
		before[i] = fabs(before[i] - median);
	deviation = 1.48 * dw_median(before, count);
	return length >= DW_SLOW_RATIO * median && length - median >= DW_SLOW_SPREADS * deviation;
}
