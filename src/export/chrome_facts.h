/* The members of a Chrome trace before its events; see chrome_facts.c. */
#ifndef DW_EXPORT_CHROME_FACTS_H
#define DW_EXPORT_CHROME_FACTS_H

#include "export/timeline.h"

/* Writes all members of the document before "traceEvents". Sets timeline->failed if out of
 * memory. */
void dw_chrome_put_facts(struct dw_timeline *timeline);

#endif
