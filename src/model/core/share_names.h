/*
 * The shares that a step's time is divided into, and which one a range's category and name mean.
 */
#ifndef DW_MODEL_CORE_SHARE_NAMES_H
#define DW_MODEL_CORE_SHARE_NAMES_H

#include "read/source.h"

/*
 * The exclusive breakdown, first match wins. The order is the precedence up to PYTHON. The
 * rest of the time is NAMED after phases and outermost ranges of the program; where there is
 * none it is that of OPERATORS, LAYERS or FUNCTIONS, and OTHER: in no range of the thread.
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

/* The share that a range of this symbol is time of; DW_SHARE_COUNT: none of its own. */
enum dw_share dw_share_of(const struct dw_symbol *symbol);

#endif
