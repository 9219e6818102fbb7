/* What a sampled stack says: what the code does there, and which functions of the program are on it. */
#pragma once

#include "base/code/activity.h"
#include "model/samples/samples.h"

struct dw_look_function {
	const struct dw_source_function *function;
	const char *module;
	bool root; /* starts the program */
};

/* All zero is empty; the memory is used again by the next look. */
struct dw_look {
	enum dw_activity activity;
	bool library;        /* it is code of a library, and no row says what that does */
	const char *package; /* of DW_ACTIVITY_IMPORTS: whose import it is, of package_length characters; NULL: not known */
	size_t package_length;
	const char *from; /* the file of the outermost library that the program calls there; NULL: none */
	/* What the program's innermost function calls there: the outermost function that is not the program's, if its name is one that
	 * programs call. NULL: nothing. Not of frameworks, whose calls start other code before they do anything. */
	const struct dw_source_function *callee;
	enum dw_activity inner; /* what the innermost function does of which that is known; not of waits */
	enum dw_activity called; /* what the callee does, by its own name */
	uint32_t call; /* of the account, from 1; 0: none. Set by dw_called_take() */
	/* Native frames are read, too: a stack of Python alone is that of native code which could not be read. Set by the caller, stays. */
	bool native;
	struct dw_look_function *functions; /* the program's, innermost first */
	size_t count, capacity;
};

/* What the outermost import does, that the program's innermost function began, is that import's, also a wait.
 * `waits`: the innermost function is the one in which the thread waits. False: out of memory. */
bool dw_look_at(struct dw_look *look, const struct dw_source *source, const struct dw_sample_row *row, bool waits);
/* Whether the sample's stack has a frame that is not Python's. */
bool dw_look_reads_native(const struct dw_source *source, const struct dw_sample_row *row);
void dw_look_reset(struct dw_look *look);
