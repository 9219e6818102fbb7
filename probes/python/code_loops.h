/*
 * The loops of a Python function: which of its instructions lie in which loop.
 *
 * Found once for a code object, from its instructions, and kept together with a reference to it.
 * Offsets are in bytes from the first instruction, as in struct dwp_place.
 */
#pragma once

#include "python.h"

struct dwp_code_loop {
	uint32_t from, to; /* the first instruction that is repeated, and the first one behind the loop */
	bool expression;   /* a comprehension or a generator expression */
};

struct dwp_code_loops {
	const char *code;
	bool transforms; /* the function belongs to PyTorch's function transforms: grad, vmap, jvp */
	uint32_t count;
	struct dwp_code_loop loops[]; /* a loop comes before the loops in it */
};

/* NULL: not known yet. Needs no lock, only for the thread that calls dwp_code_loops(). */
const struct dwp_code_loops *dwp_code_loops_known(const char *code);
/* Needs the interpreter's lock. NULL: it cannot be found. */
const struct dwp_code_loops *dwp_code_loops(const char *code);
/* Whether a function can get from one of its instructions to a later one without a jump back: not from a branch of an `if` to the
 * other one. Needs the interpreter's lock. */
bool dwp_code_reaches(const char *code, uint32_t from, uint32_t to);
