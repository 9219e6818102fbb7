/*
 * The shares into which the time of a step is divided (data, backward ...), and which share a range
 * belongs to.
 */
#pragma once

#include "read/source.h"

/*
 * Each instant belongs to one share. Up to PYTHON, the order of the list is the precedence: if
 * several shares are open, the first one gets the time. If none is, the time is NAMED after a phase
 * or an outermost range of the program. Without such a range it is OPERATORS, LAYERS or FUNCTIONS;
 * otherwise OTHER: outside all ranges of the thread.
 */
#define DW_SHARES(X)                                                                   \
	X(PROFILER, "profiler") X(COLLECTOR, "collector") X(DATA, "data")                  \
	X(COMMUNICATION, "communication") X(DEVICE, "device") X(CHECKPOINT, "checkpoint")  \
	X(EVALUATION, "evaluation") X(OPTIMIZER, "optimizer") X(BACKWARD, "backward")      \
	X(FORWARD, "forward") X(PYTHON, "python") X(OPERATORS, "operators")                \
	X(LAYERS, "layers") X(FUNCTIONS, "functions") X(NAMED, "named") X(OTHER, "other")
enum dw_share {
#define X(name, label) DW_SHARE_##name,
	DW_SHARES(X)
#undef X
	DW_SHARE_COUNT
};

/* "data", "forward" */
const char *dw_share_label(enum dw_share share);
/* The share of a range with this symbol; DW_SHARE_COUNT: none. */
enum dw_share dw_share_of(const struct dw_symbol *symbol);
/* Whether a range has a name by which a program says that it logs: "log" or "logging", of which there is no share. */
bool dw_name_is_logging(const char *name);
