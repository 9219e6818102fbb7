/* What the kernel says about a process; from /proc. */
#pragma once

#include "top/top.h"

/* Adds a process. Does nothing if it has ended. */
void dw_top_use_add(struct dw_top_use *use, uint32_t pid);
