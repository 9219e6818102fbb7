/*
 * Several products computed together in one walk over the records.
 *
 * They are the same products as those of profiles.h, outermost.h, threads.h, steps.h, and of facts:
 * loading.h, flops.h, device.h. A later request for one of them returns the stored result. Separate
 * requests would walk the records once for each product.
 */
#pragma once

#include "model/core/model.h"

#define DW_JOINT_MOST 4u

/*
 * Computes the profile by name of each of `count` models, and the outermost ranges, the threads and
 * the steps of the first model. With `facts` also what the facts of a run with steps need: data
 * loading (if the trace has ranges or counters of it), FLOPs (if recorded with --flops), device work
 * (if the trace has device events) and memory (if it has allocations). All models have the same
 * source, `count` is at most DW_JOINT_MOST, and the scope of the first model must include the scopes
 * of the others. A model may occur twice.
 *
 * Two walks are enough: the first finds the segments, the second computes. Memory takes the place
 * of the first walk. If records are missing, the threads do: the steps need to know where. Whole
 * streams are then walked, as for device work.
 *
 * There is a third walk in three cases: allocations were
 * recorded and records are missing; a process has more allocations than memory's walk can keep
 * (memory_product.c); in a program with a backward phase, threads with and without steps handed a stream on
 * to each other, and only such a stream is walked once more.
 *
 * Where no steps are marked, the steps are the iterations (iterations.h) of the first model, if one thread alone has records. With
 * several it takes a walk to know which of them repeats something, so the iterations are found and divided later.
 *
 * Does nothing if the profile of the first model exists already, because no walk would be saved.
 * Does nothing either if the scope of the first model has only part of the time: separate passes
 * skip chunks then. Returns 0, or DWELL_E_NOMEM.
 */
int dw_model_compute_together(struct dw_model *const *models, unsigned count, bool facts, struct dwell_error *error);

/*
 * Computes the threads, the steps and the collectives of a model in one walk, for summaries of ranks. Does
 * nothing if one of them exists already, if the scope is not the whole run, or if records are missing: the
 * steps need to know where. Returns 0, or DWELL_E_NOMEM.
 */
int dw_model_compute_ranks_together(struct dw_model *model, struct dwell_error *error);
