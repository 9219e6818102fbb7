/* Apache SINGA; see frameworks.h. */
#include "frameworks/singa.h"

#include <stddef.h>

/* The node of SINGA's graph that waits for another stream. */
static const char *const waits[] = { "Waiting", NULL };

const struct dw_framework dw_framework_singa = { .name = "singa", .waits = waits };
