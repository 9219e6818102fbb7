/*
 * The inside of the facade, which include/dwell/trace.h hides. The command uses it, because it
 * needs more of the model than the public functions offer.
 */
#pragma once

#include "dwell/trace.h"
#include "model/model.h"

struct dw_source *dw_trace_source(struct dwell_trace *trace);
struct dw_model *dw_trace_model(struct dwell_trace *trace);

/* dwell_trace_open() of one trace, whose steps stay as they were recorded: of one that is looked at again and again
 * while it is written. What the reader decides of all of a run could differ from what was said before. */
int dw_trace_open_as_recorded(struct dwell_trace **trace, const char *path, const struct dwell_scope *scope,
                              struct dwell_error *error);

/* Ends a function that returns a code if an argument is NULL. */
#define DW_TRACE_NEEDS(argument) \
	do { \
		if (!(argument)) \
			return dw_trace_refuse(__func__, #argument, error); \
	} while (0)
int dw_trace_refuse(const char *function, const char *argument, struct dwell_error *error);
