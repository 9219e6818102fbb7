/*
 * The products of an overview, computed together in one walk over the records.
 *
 * They are the same products as those of profiles.h and threads.h: a later request for one of them
 * returns the stored result. Separate requests would walk the records once for each.
 */
#ifndef DW_MODEL_TIME_JOINT_H
#define DW_MODEL_TIME_JOINT_H

#include "model/core/model.h"

#define DW_JOINT_MOST 3u

/*
 * Computes the profiles by name of `count` models of one source, at most DW_JOINT_MOST, and the
 * threads of the first model, whose scope must include the scopes of the others. A model may occur
 * twice. Does nothing if it would not save a walk: the profile of the first model exists already,
 * or its scope has only part of the time, so that a pass can skip chunks. Error: DWELL_E_NOMEM.
 */
int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error);

#endif
