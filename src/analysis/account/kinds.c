/* What is done, in words; see kinds.h. */
#include "account/kinds.h"

#include <string.h>

#define SET(activities, run, call) ^ (activities)
#define OR(activities, run, call) | (activities)
_Static_assert((0 DW_ACCOUNT_KINDS(SET, DW_ACTIVITY_SET)) == (0 DW_ACCOUNT_KINDS(OR, DW_ACTIVITY_SET)), "an activity is in one row");

#define ROW(activities, run, call) { activities, { run, call } },
static const struct {
	dw_activity_set activities;
	const char *words[2]; /* by enum dw_account_words */
} rows[] = { DW_ACCOUNT_KINDS(ROW, DW_ACTIVITY_SET) };

const char *dw_account_kind_words(size_t row, enum dw_account_words of, dw_activity_set *activities)
{
	const char *words = rows[row].words[of];

	*activities = 0;
	for (size_t i = 0; words && i < DW_ACCOUNT_KIND_COUNT; i++) {
		if (!rows[i].words[of] || strcmp(rows[i].words[of], words) != 0)
			continue;
		if (i < row)
			return NULL;
		*activities |= rows[i].activities;
	}
	return words;
}
