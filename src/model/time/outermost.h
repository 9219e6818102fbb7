/*
 * The outermost ranges: what each thread did, one level deep.
 *
 * The same figures as the upper two levels of the call tree (profiles.h), without its cost: no call
 * path is looked up. Of ranges that overlap, the one that began first has the time in which several are open, so that
 * no thread is in ranges for longer than it lived. An overview of a run without steps shows them.
 */
#pragma once

#include "model/time/profiles.h"

/* The roots of the tree and their children; of a child's figures only count and total are set. */
const struct dw_tree *dw_model_outermost(struct dw_model *model, struct dwell_error *error);
