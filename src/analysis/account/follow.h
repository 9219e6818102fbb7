/* The loop's thread waits for other threads, and they wait for locks; see follow.c. Only for this folder. */
#pragma once

#include "account/making.h"

/* Turns waits for other threads into waits for the locks that those threads wait for. The cells are linked by part. */
void dw_making_follow_locks(struct dw_making *making);
