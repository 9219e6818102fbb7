/* What is said first of a run that did not end as it should, or stands still. */
#pragma once

#include "views/common.h"

/* Whether the program stands still at the end of the recording: what follows its last step then is no work, and how much of the run the
 * other parts are says only when somebody looked. */
bool dw_view_stands_still(struct dw_model *model);

void dw_view_head_stop(struct dwell_table *table, struct dw_model *model);
