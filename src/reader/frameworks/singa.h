/* Apache SINGA. */
#ifndef DW_FRAMEWORKS_SINGA_H
#define DW_FRAMEWORKS_SINGA_H

#include "frameworks/frameworks.h"

extern const struct dw_framework dw_framework_singa;

#endif
