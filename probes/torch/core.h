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
/* How many operators began in this process while they were recorded. */
uint64_t dwp_operators_begun(void);

/* shapes.c: the ids that a thread has seen, zeroed at first. Returns the id of an operator with its
 * inputs' shapes; 0: nothing is being recorded. */
struct torch_shapes {
	uint64_t hash;
	uint32_t id;
};
#define TORCH_SHAPES 1024u
uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site);

void dwp_memory_attach(void);

/* bound.c: keeps what recording costs below --cost. dwp_bound_choose() decides, between two steps, whether the
 * next one is recorded with operators; dwp_bound_begun(): it has begun. `operator_ns`: what an operator costs. */
void dwp_bound_attach(uint64_t (*begun)(void), void (*follow)(void));
void dwp_bound_operators(double operator_ns);
void dwp_bound_choose(void);
void dwp_bound_begun(void);
/* In a child of fork; and in a process that makes batches for another one. */
void dwp_bound_forked(void);
void dwp_bound_worker(void);
/* The program ends. */
void dwp_bound_end(void);

/* ---- what the program around them answers ---------------------------------------------------- */

/* The STACK id of `count` frames of another language, innermost first, and of the program's functions
 * around them. 0: there are none. */
uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count);

/* Called before an operator that the program calls, while the thread's places are `watched`. Needs no lock. */
void dwp_loop_operator(void);
