/*
 * The parts of the PyTorch probe that need no Python: operators, their shapes, memory. They are part of the
 * probe for Python and of the one for programs of C++ alone (native/).
 *
 * At the end is what these parts ask of the program around them. Python and C++ answer it differently.
 */
#pragma once

#include "abi/abi.h"
#include "places.h"

/* Registers or removes the callbacks in PyTorch, which are registered exactly while operators are
 * recorded. Called whenever the gate may have changed. */
void dwp_operators_follow_gate(void);

/* shapes.c: the ids that a thread has seen, zeroed at first. Returns the id of an operator with its
 * inputs' shapes; 0: nothing is being recorded. */
struct torch_shapes {
	uint64_t hash;
	uint32_t id;
};
#define TORCH_SHAPES 1024u
uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site);

void dwp_memory_attach(void);

/* ---- what the program around them answers ---------------------------------------------------- */

/* The STACK id of `count` frames of another language, innermost first, and of the program's functions
 * around them. 0: there are none. */
uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count);

/* Called before an operator that the program calls, while the thread's places are `watched`. Needs no lock. */
void dwp_loop_operator(void);
