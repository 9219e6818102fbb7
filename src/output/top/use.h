/* What the kernel says about a process; from /proc. */
#pragma once

#include "top/top.h"

/* Adds a process. Does nothing if it has ended. */
void dw_top_use_add(struct dw_top_use *use, uint32_t pid);
/* The parent of a process; 0: it has ended. */
uint32_t dw_top_use_parent(uint32_t pid);
/* Whether it is the process that `dwell run` has beside itself. */
bool dw_top_use_is_witness(uint32_t pid);
