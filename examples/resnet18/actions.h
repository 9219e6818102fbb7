/*
 * actions.h - the fit as a stage of a profiler.
 */
#ifndef RESNET18_ACTIONS_H
#define RESNET18_ACTIONS_H

#include <dwell/profiler.h>

/* "simple", "advanced", ...; ends the program when there is none of that name. */
struct dwell_actions *actions_begin_fit(const char *profiler);
/* Prints the report. NULL is nothing. */
void actions_end_fit(struct dwell_actions *actions);

#endif
