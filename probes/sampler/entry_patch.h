/* Puts a jump at the begin of a function; see entry_patch.c. */
#pragma once

#include "entry_find.h"

/* Whether the process has one thread. */
bool dws_patch_is_alone(void);
/* Returns why calls of the function cannot begin steps by a jump, or NULL. */
const char *dws_patch(const struct dws_move_file *file, const struct dws_copy *copy, bool is_alone);
/* Whether they can by a breakpoint. */
bool dws_patch_may_trap(const struct dws_move_file *file, const struct dws_copy *copy);
