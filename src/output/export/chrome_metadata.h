/* The members of a Chrome trace before its events; see chrome_metadata.c. */
#pragma once

#include "export/timeline.h"

/* Writes all members of the document before "traceEvents". Sets timeline->failed if out of
 * memory. */
void dw_chrome_put_metadata(struct dw_timeline *timeline);
