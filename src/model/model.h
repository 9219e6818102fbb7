/*
 * The model: what happened in a run, in terms of training. Most views need only this header.
 *
 * A source holds records; a view answers a question. Between them, the model computes products.
 * Each product is computed once, when it is first requested, by a pass over the chunks in scope;
 * most passes use all cores. The size of a product grows with what it holds (names, tree nodes,
 * steps), not with the number of records. A product is NULL, with `error` set, if memory ran out.
 *
 *   core/model.h      a model: a run in a scope; its merged symbols
 *   core/events.h     every event, for exporters and for views of single ranges
 *   time/profiles.h   calls, self and total time by name and by call path; repairs
 *   time/threads.h    records, covered time and losses by thread
 *   steps/steps.h     each step with its breakdown; time outside steps; the recorded share
 *
 * Further products have headers of their own: time/calls.h, time/function_calls.h, time/flops.h,
 * time/loading.h, samples/samples.h, samples/hot.h, device/device.h, device/sums.h, device/times.h, memory/memory.h,
 * layers/layers.h, sequence/sequence.h, engine/engine.h, collectives/collectives.h.
 */
#pragma once

#include "model/core/events.h"
#include "model/core/model.h"
#include "model/steps/steps.h"
#include "model/time/grouping.h"
#include "model/time/profiles.h"
#include "model/time/threads.h"
