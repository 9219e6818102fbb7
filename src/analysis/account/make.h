/* An account while it is made: of the loop (make.c), and of the time before and after it (ends.c). Only for this
 * folder. */
#pragma once

#include "account/making.h"

/* The loop of the account. NULL: there is none. */
const struct dw_loop *dw_making_loop(const struct dw_steps *steps);
/* Sets `making` for an account of the thread's time, without its parts and states. False: out of memory. */
bool dw_making_begin(struct dw_making *making, struct dw_model *model, struct dw_account *to, uint32_t thread,
                     double wall_ns, uint32_t wheres);
/* Divides the account's parts and states into cells. */
void dw_making_divide(struct dw_making *making);
/* Frees what the making took. In any case; false: memory ran out at some point. */
bool dw_making_end(struct dw_making *making);
