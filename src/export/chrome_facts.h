/* What stands above the events of a Chrome trace; see chrome_facts.c. */
#ifndef DW_EXPORT_CHROME_FACTS_H
#define DW_EXPORT_CHROME_FACTS_H

#include "export/timeline.h"

/* Every member of the document before "traceEvents". Sets timeline->failed when out of
 * memory. */
void dw_chrome_put_facts(struct dw_timeline *timeline);

#endif
