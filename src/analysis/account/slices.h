/*
 * Which cells a selection has, and the slices of an account: cells that records tell apart from others. Only for this
 * folder.
 */
#pragma once

#include "account/account.h"

/* The part of a cell's time that a selection counts: 1 if it selects the cell, otherwise 0. A selection of slow iterations
 * may count only what they take longer than steady ones (`beyond`): then the part of steady cells is less than 0. */
double dw_account_part_selected(const struct dw_account *account, const struct dw_account_select *select,
                                const struct dw_account_cell *cell);
/* Whether a selection has cells of such a slice, whatever they do. */
bool dw_account_selects_slice(const struct dw_account_select *select, const struct dw_account_slice *slice);
/* Whether it has all cells of the slice in a state, by what the slice is and not by what the cells do. */
bool dw_account_selects_state(const struct dw_account_select *select, const struct dw_account_slice *slice,
                              enum dw_account_state state);

/* Sets the 95% interval of a sum; see interval.c. */
void dw_account_find_interval(const struct dw_account *account, const struct dw_account_select *select,
                              struct dw_account_sum *sum);
