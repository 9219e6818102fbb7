/*
 * The roles of steps and the classes of iterations, by their lengths.
 *
 * A length is long if it exceeds both 1.4 times the median and the median plus six deviations. The median and the
 * deviation (median absolute deviation) are those of the later three quarters of the run, so that slow first steps do
 * not raise them. Long ones at the beginning are the warm-up. Later ones are outliers, unless more than a fifth are
 * long: then there are two usual lengths. If more than one in twenty is an outlier, outliers recur: the time that they
 * take is part of every epoch, and they are also steady.
 *
 * A step has a role by its own length. An iteration, from its begin to the next one, has a class by its length: what it
 * does between its step and the next one may make it slow. The time for which the thread had no CPU is no part of
 * either.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/core/model.h"

/* A step may have several. */
enum { DW_ROLE_WARM_UP = 1, DW_ROLE_OUTLIER = 2, DW_ROLE_STEADY = 4 };

/* Sets the roles by lengths in ns. `first`: the first length is that of the loop's first step. `space` is scratch
 * memory for `count` numbers. */
void dw_steps_find_roles(const double *lengths, size_t count, bool first, uint8_t *roles, double *space);

enum dw_iteration_class {
	DW_ITERATION_STEADY, /* also what is in no iteration, and a run without any */
	DW_ITERATION_WARM_UP,
	DW_ITERATION_SLOW,
	DW_ITERATION_CLASSES,
};

/* "steady", "warm-up", "slow" */
const char *dw_iteration_class_name(enum dw_iteration_class class);

/* By index of the source's steps: the class of the iteration that the step begins, and the step's own roles. Steps that
 * are not in scope are steady, and have no role. NULL with `error`: out of memory. */
struct dw_step_classes {
	uint8_t *at, *roles;
};
const struct dw_step_classes *dw_model_step_classes(struct dw_model *model, struct dwell_error *error);
