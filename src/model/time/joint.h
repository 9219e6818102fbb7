/*
 * Products that an overview asks for, computed together in one walk over the records.
 *
 * They are the same products as those of profiles.h and threads.h: a caller that asks for one of them
 * later finds it. Asking for each alone walks the records once for each.
 */
#ifndef DW_MODEL_TIME_JOINT_H
#define DW_MODEL_TIME_JOINT_H

#include "model/core/model.h"

#define DW_JOINT_MOST 3u

/*
 * Computes the profiles by name of `count` models of one source, at most DW_JOINT_MOST, and
 * the threads of the first, whose scope holds those of the others. A model may occur twice.
 * It does nothing where that would not save a walk: part of the time is in scope of the first
 * model, and chunks are skipped. DWELL_E_NOMEM with `error`.
 */
int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error);

#endif
