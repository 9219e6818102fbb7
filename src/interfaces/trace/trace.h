/*
 * The inside of the facade, which include/dwell/trace.h hides. The command uses it, because it
 * needs more of the model than the public functions offer.
 */
#ifndef DW_TRACE_TRACE_H
#define DW_TRACE_TRACE_H

#include "dwell/trace.h"
#include "model/model.h"

struct dw_source *dw_trace_source(struct dwell_trace *trace);
struct dw_model *dw_trace_model(struct dwell_trace *trace);

#endif
