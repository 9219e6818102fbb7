/* Apache SINGA. */
#pragma once

#include "frameworks/frameworks.h"

extern const struct dw_framework dw_framework_singa;
