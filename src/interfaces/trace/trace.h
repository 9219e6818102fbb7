/*
 * The inside of the facade, which include/dwell/trace.h hides. The command uses it, because it
 * needs more of the model than the public functions offer.
 */
#pragma once

#include "dwell/trace.h"
#include "model/model.h"

struct dw_source *dw_trace_source(struct dwell_trace *trace);
struct dw_model *dw_trace_model(struct dwell_trace *trace);
