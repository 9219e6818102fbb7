/* Threads that wait for each other in a cycle: each for a lock that the next one holds, or for its end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "process/process.h"

/* The next cycle of waits, as a sentence: from thread *from on, which is set to where the next search begins. False: there is none. */
bool dw_top_deadlock(const struct dw_process *process, size_t *from, char *text, size_t size);
