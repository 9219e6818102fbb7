/*
 * The products of an overview, computed together in one walk over the records.
 *
 * They are the same products as those of profiles.h, outermost.h, threads.h and steps.h: a later
 * request for one of them returns the stored result. Separate requests would walk the records once
 * for each.
 */
#ifndef DW_MODEL_JOINT_JOINT_H
#define DW_MODEL_JOINT_JOINT_H

#include "model/core/model.h"

#define DW_JOINT_MOST 3u

/*
 * Computes the profiles by name of `count` models of one source, at most DW_JOINT_MOST, and of the
 * first model, whose scope must include the scopes of the others, the outermost ranges, the threads
 * and the steps. Threads and steps are left out if records are missing, and steps if not all threads
 * are in scope; a request computes them then. If the run has steps and allocations, the memory of
 * the first model is computed too, by a walk of its own that also finds the segments. So no chunk is
 * visited more than twice, unless records are missing. A model may occur twice.
 *
 * Does nothing if it would not save a walk: the profile of the first model exists already, or its
 * scope has only part of the time, so that a pass can skip chunks. Error: DWELL_E_NOMEM.
 */
int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error);

#endif
