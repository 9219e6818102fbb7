/* The loop's thread waits for other threads, and they wait, too; see follow.c. Only for this folder. */
#pragma once

#include "account/making.h"

/* Turns waits for other threads into waits for what those threads wait for: locks, and messages that TCP holds back. The cells are
 * linked by part. */
void dw_making_follow_waits(struct dw_making *making);
