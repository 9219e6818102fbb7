/* What several rules compute from facts. */
#include <string.h>

#include "rules/case.h"

double dw_case_whole_ns(const struct dw_rule_case *at, enum dw_rule_whole whole)
{
	if (whole == DW_RULE_OF_STEP)
		return dw_case_value(at, DW_FACT_STEP_WALL);
	if (whole == DW_RULE_OF_LOOP)
		return dw_case_value(at, DW_FACT_LOOP_WALL) / dw_case_value(at, DW_FACT_STEP_COUNT);
	return NAN;
}

#define CASE_AS_OFTEN 0.1 /* difference of two numbers of times; and 2 of a few */

double dw_case_files_of_checkpoints(const struct dw_rule_case *at)
{
	const struct dw_fact *file = dw_case_fact(at, DW_FACT_WAIT_FILE);
	const struct dw_fact *place = dw_case_fact(at, DW_FACT_PLACES_LARGEST);
	double times = dw_case_value(at, DW_FACT_PLACES_LARGEST_COUNT);
	double checkpoints = dw_case_value(at, DW_FACT_LOOP_CHECKPOINTS);

	if (!file->measured || !place->measured || !file->where || !place->where ||
	    strcmp(file->where, place->where) != 0 || !(fabs(times - checkpoints) <= fmax(2, CASE_AS_OFTEN * checkpoints)))
		return 0;
	return fmin(file->value, place->value);
}
