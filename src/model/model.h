/*
 * The model: what happened, in the field's terms. This header is what most views need of it.
 *
 * Between a source (records) and a view (a question) stand products, each computed once, when
 * first asked for, by a pass over the chunks that the scope touches, streams side by side on all
 * cores. Memory grows with what the product holds (names, tree nodes, steps), never with the
 * number of records. A product is NULL, with `error` filled, when memory ran out.
 *
 *   core/model.h      a model: a run in a scope; its merged symbols
 *   core/events.h     every event in order, for exporters
 *   time/profiles.h   calls, self and total time by name, by call path; what was repaired
 *   time/threads.h    records, covered time and losses by thread
 *   steps/steps.h     each step with its breakdown; what lies outside them; the recorded share
 *
 * More products have headers of their own: time/calls.h, time/functions.h, time/flops.h,
 * time/loading.h, memory/memory.h, layers/layers.h, sequence/sequence.h, engine/engine.h.
 */
#ifndef DW_MODEL_MODEL_H
#define DW_MODEL_MODEL_H

#include "model/core/events.h"
#include "model/core/model.h"
#include "model/steps/steps.h"
#include "model/time/grouping.h"
#include "model/time/profiles.h"
#include "model/time/threads.h"

#endif
