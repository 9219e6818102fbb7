/*
 * The PyTorch probe and its parts.
 *
 *   torch       attaching when torch has been imported
 *   abi/        what is asked of PyTorch's objects, and all that is assumed about them
 *   operators   ranges of operators from RecordFunction, in every thread
 *   shapes      ids of operators with the shapes of their inputs
 *   cost        what a recorded operator and a recorded layer cost
 *   memory      allocations and frees of the CPU
 *   layers      calls of nn.Module, by their path in the model
 *   parameters  a module's own parameters
 *   blocks      which allocations are parameters, which an optimizer's state
 *   loop        steps and phases, from what a training loop calls
 *   steps_state where steps begin and end, a state machine without Python
 *   collectives waits for other ranks
 *   data        batches and samples, checkpoints
 *   step_on     what makes a step if the user names it
 *
 * While recording is paused, no callback is registered in PyTorch.
 */
#ifndef DWP_TORCH_H
#define DWP_TORCH_H

#include "../python/python.h"
#include "abi/abi.h"

/* Called with the module torch when its import is done. */
void dwp_torch_attach(PyObject *torch);

/* ---- operators, memory, layers, loop ------------------------------------------------- */

/* Callbacks stand in PyTorch exactly while operators are wanted; called where the gate
 * may have changed. */
void dwp_operators_follow_gate(void);

/* shapes.c: the ids that a thread has seen, zeroed at first. Returns the id of an operator with its
 * inputs' shapes; 0: nothing is being recorded. */
struct torch_shapes {
	uint64_t hash;
	uint32_t id;
};
#define TORCH_SHAPES 1024u
uint32_t dwp_shapes_id(struct torch_shapes *known, const char *function, const struct dwell_site *site);

/* cost.c: what a recorded operator and a recorded layer cost, stored with the trace; before
 * anything is recorded or hooked. */
void dwp_cost_measure(PyObject *torch);

void dwp_memory_attach(void);
void dwp_layers_attach(PyObject *torch);
/* Its id, with its class and, by its first path, its own parameters (parameters.c); 0: no
 * session. */
uint32_t dwp_layer_id(PyObject *module, const char *path, bool first);
/* blocks.c: a module's own parameters and buffers; an optimizer's parameters, its state. */
void dwp_blocks_of_module(PyObject *module);
void dwp_blocks_of_groups(PyObject *optimizer);
void dwp_blocks_of_state(PyObject *optimizer);
void dwp_blocks_of_first_step(PyObject *optimizer);
void dwp_loop_attach(PyObject *torch);
void dwp_data_attach(PyObject *torch);
void dwp_collectives_attach(PyObject *torch);

/* From layers to loop: a module is called that no other module called; the phase's range, which
 * the end wants back. `failed`: an exception leaves it. */
unsigned dwp_loop_forward(PyObject *module, bool has_parameters);
void dwp_loop_forward_end(unsigned began, bool failed);

/* From data to loop: a batch is asked for, a loader's iterator, something is saved or loaded. */
void dwp_loop_batch(void);
void dwp_loop_data(void);
void dwp_loop_checkpoint(void);

/* ---- step_on, and what it asks of loop ------------------------------------------------ */

/* Whether the user named what makes a step; then nothing else does. */
bool dwp_step_on_given(void);
/* Whether it is the name of this class, or this path of a module. */
bool dwp_step_on_is(const char *text);
/* A name that would do: the first dozen are stored, for who named another. */
void dwp_step_on_could(const char *text);
/* What the user named is there; `called`: it begins or ends a step. */
void dwp_step_on_seen(bool called);
/* Hooks the function of that name, if there is one by now. */
void dwp_step_on_look(void);

/* A call of the function, or of a module, that the user named begins or has returned. */
void dwp_loop_function(bool begins);
void dwp_loop_module(bool begins);

#endif
