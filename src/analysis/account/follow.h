/* Locks that the threads wait for that a loop's thread waits for. Only for this folder. */
#pragma once

#include "account/making.h"

/* Gives the waits for other threads that are left to the locks that these threads wait for. The cells are linked by part. */
void dw_making_follow_locks(struct dw_making *making);
