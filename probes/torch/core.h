/*
 * The parts of the PyTorch probe that need no Python: operators, their shapes, memory. They are part of the
 * probe for Python and of the one for programs of C++ alone (native/).
 *
 * At the end is what these parts ask of the program around them. Python and C++ answer it differently.
 */
#pragma once

#include "abi/abi.h"
#include "places.h"

/* As DWELL_SITE(), without a place: a file of dwell's is no place in the user's program. */
#define DWP_SITE(variable, category, name, detail) static struct dwell_site variable = { name, detail, NULL, 0, category, 0 }

/* Registers or removes the callbacks in PyTorch, which are registered exactly while operators are
 * recorded. Called whenever the gate may have changed. */
void dwp_operators_follow_gate(void);
/* How many operators began in this process while they were recorded. */
uint64_t dwp_operators_begun(void);
/* How often callbacks were added or removed. */
uint64_t dwp_operators_switches(void);

/* shapes.c: the ids that a thread has seen, zeroed at first. Returns the id of an operator with its
 * inputs' shapes, and its integers if `has_integers`; 0: nothing is being recorded. */
struct torch_shapes {
	uint64_t hash;
	uint32_t id;
};
#define TORCH_SHAPES 1024u
uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site,
                       bool has_integers);

/* types.c: notes in the trace which operators compute in 64-bit floating point. Called when a step has begun; in a child of fork. */
void dwp_types_step(void);
void dwp_types_forked(void);

void dwp_memory_attach(void);

/* bound.c: keeps what recording costs below --cost. dwp_bound_choose() decides, between two steps, whether the
 * next one is recorded with operators; dwp_bound_begun(): it has begun. `operator_ns`: what an operator costs; `begun`
 * counts operators. */
void dwp_bound_operators(uint64_t (*begun)(void), double operator_ns, void (*follow)(void));
/* A source of cost: `count` grows by one each time, and each costs `ns`. */
void dwp_bound_count(uint64_t (*count)(void), double ns);
/* The same, of what is done in steps of each kind. */
void dwp_bound_count_fixed(uint64_t (*count)(void), double ns);
/* How many steps there were. */
uint64_t dwp_bound_steps(void);
void dwp_bound_choose(void);
void dwp_bound_begun(void);
/* brief.c: `offer` is called when an iteration ends, once some steps are to be brief. `wanted`: the next iteration is; `notes`: false
 * if none is any more. */
void dwp_bound_offer(void (*offer)(bool wanted, bool notes));
/* Whether the iteration that begins with this step is to be brief. */
bool dwp_bound_is_brief(uint64_t step);
/* From now on steps are brief, and the bound only counts them; or they are no longer. */
void dwp_bound_briefly(bool begins);
/* The step ends with an update of this optimizer, from 0; with `batch`, a batch was asked for since the step before. */
void dwp_bound_updated(uint32_t optimizer, bool batch);
/* In a child of fork; and in a process that makes batches for another one. */
void dwp_bound_forked(void);
void dwp_bound_worker(void);
/* The program ends. */
void dwp_bound_end(void);

/* loop_threads.c: how many events were reported to the machines of threads. */
uint64_t dwp_loop_events(void);
/* memory.c: how many allocations and frees of this thread were recorded, and how many held back. */
uint64_t dwp_memory_recorded(void);
uint64_t dwp_memory_held(void);

/* ---- what the program around them answers ---------------------------------------------------- */

/* The STACK id of `count` frames of another language, innermost first, and of the program's functions
 * around them. 0: there are none. */
uint32_t dwp_python_stack(const uint32_t *inner, uint32_t count);

/* Called before an operator that the program calls, while the thread's places are `watched`. Needs no lock. */
void dwp_loop_operator(void);
