/*
 * The facade from inside: what include/dwell/trace.h hides, for the command, which
 * asks the model more than the public functions do.
 */
#ifndef DW_TRACE_TRACE_H
#define DW_TRACE_TRACE_H

#include "dwell/trace.h"
#include "model/model.h"

struct dw_source *dw_trace_source(struct dwell_trace *trace);
struct dw_model *dw_trace_model(struct dwell_trace *trace);

#endif
