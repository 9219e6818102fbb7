/*
 * Most products of an overview, computed together in one walk over the records.
 *
 * They are the same products as those of profiles.h, outermost.h, threads.h and steps.h. A later
 * request for one of them returns the stored result. Separate requests would walk the records once
 * for each product.
 */
#ifndef DW_MODEL_JOINT_JOINT_H
#define DW_MODEL_JOINT_JOINT_H

#include "model/core/model.h"

#define DW_JOINT_MOST 3u

/*
 * Computes the profile by name of each of `count` models, and the outermost ranges, the threads and
 * the steps of the first model. All models have the same source, `count` is at most DW_JOINT_MOST,
 * and the scope of the first model must include the scopes of the others. A model may occur twice.
 *
 * Threads and steps are left out if records are missing. Steps are also left out if only a part of
 * the run is in scope. A later request then computes them by a walk of its own.
 *
 * Two walks are enough for these products: the first finds the segments, the second computes. If
 * the run has steps and allocations, the first walk also computes the memory of the first model.
 * A stream that threads with and without steps hand on to each other is walked once more.
 *
 * An overview also needs products that are not computed here. The facts of a run with steps walk
 * the records once more for each of these: data loading (dw_model_loading_all(), if the trace has
 * ranges or counters of data loading), FLOPs (if recorded with --flops), waits (if functions were
 * recorded) and device work (if the trace has device events).
 *
 * Does nothing if the profile of the first model exists already, because no walk would be saved.
 * Does nothing either if the scope of the first model has only part of the time: separate passes
 * skip chunks then. Returns 0, or DWELL_E_NOMEM.
 */
int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error);

#endif
