/*
 * The inside of the facade, which include/dwell/trace.h hides. The command uses it, because it
 * needs more of the model than the public functions offer.
 */
#pragma once

#include "dwell/trace.h"
#include "model/model.h"

struct dw_source *dw_trace_source(struct dwell_trace *trace);
struct dw_model *dw_trace_model(struct dwell_trace *trace);

/* Ends a function that returns a code if an argument is NULL. */
#define DW_TRACE_NEEDS(argument) \
	do { \
		if (!(argument)) \
			return dw_trace_refuse(__func__, #argument, error); \
	} while (0)
int dw_trace_refuse(const char *function, const char *argument, struct dwell_error *error);
