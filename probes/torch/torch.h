/*
 * The PyTorch probe and its parts.
 *
 *   attach      attaches when torch has been imported
 *   abi/        what is asked of PyTorch's objects, and all that is assumed about them
 *   operators   ranges of operators from RecordFunction, in every thread
 *   places      the lines of the program between which an operator is missing
 *   shapes      ids of operators with the shapes of their inputs
 *   cost        what a recorded operator and a recorded layer cost
 *   bound       in which steps operators are recorded, so that recording costs little
 *   memory      allocations and frees of the CPU and of devices
 *   layers      calls of nn.Module, by their path in the model
 *   parameters  a module's own parameters
 *   blocks      which allocations are parameters, which an optimizer's state
 *   gradients   parameters whose gradients no optimizer uses
 *   loop        steps and phases, from what a training loop calls
 *   steps       the pieces of a training loop, without Python
 *   loops       the loop of the program whose iterations are steps
 *   recompiled  why torch.compile compiled functions again
 *   collectives collectives of ranks, and waits for other ranks
 *   data        batches and samples, checkpoints
 *   step_on     what makes a step if the user names it
 *
 * While recording is paused, no callback is registered in PyTorch.
 */
#pragma once

#include "../python/python.h"
#include "core.h"

/* Called with the module torch when its import is done. */
void dwp_torch_attach(PyObject *torch);
/* abi/work_python.c: the library for dwp_abi_attach(). NULL: it is not loaded. Call it first. */
void *dwp_abi_open_extension(PyObject *torch);

/* ---- memory, layers, loop -------------------------------------------------------------- */

/* cost_layer.c: measures what a recorded operator and a recorded layer cost, and stores it in the trace.
 * Called before anything is recorded or hooked. */
void dwp_cost_measure(PyObject *torch);

void dwp_layers_attach(PyObject *torch);
/* parameters.c: returns the id of a layer, stored with its class. With `first`, the first path of
 * the module, also with its own parameters. 0: no session is running. */
uint32_t dwp_layer_id(PyObject *module, const char *path, bool first);
/* blocks.c: report the blocks of a module's own parameters and buffers, of an optimizer's
 * parameters, of its state. */
void dwp_blocks_of_module(PyObject *module);
void dwp_blocks_of_groups(PyObject *optimizer);
void dwp_blocks_of_state(PyObject *optimizer);
void dwp_blocks_of_first_step(PyObject *optimizer);
/* gradients.c: notes how many parameters get gradients that no optimizer uses. Called before an optimizer steps, with a set of weak
 * references to all that live. `modules` calls a function with each module that was called or is in one that was. */
typedef void dwp_each_module(void (*visit)(PyObject *module, const char *path, void *context), void *context);
void dwp_gradients_attach(dwp_each_module *modules);
void dwp_gradients_look(PyObject *optimizers);
void dwp_recompiled_attach(void);
/* `follow` is called whenever a step may have changed the gate. */
void dwp_loop_attach(PyObject *torch, void (*follow)(void));
void dwp_data_attach(PyObject *torch);
/* padding.c: after each batch that a loader gives, and before a model is called. */
void dwp_padding_batch(PyObject *iterator, PyObject *batch);
void dwp_padding_input(PyObject *input);
/* Called with the module of a framework's trainer when it has been imported. */
void dwp_data_attach_trainer(PyObject *module);
void dwp_collectives_attach(PyObject *torch);

/* Called by layers.c when a module is called that is not within another module, and when the call
 * ends. The first returns the phase's range, an argument of the second. `result` is NULL if the call ended
 * with an exception. */
unsigned dwp_loop_forward(PyObject *module, PyObject *input, bool has_parameters);
void dwp_loop_forward_end(unsigned began, PyObject *result);

/* Called by data.c when the program requests a batch, requests a loader's iterator, saves or loads a
 * file. */
void dwp_loop_batch(void);
void dwp_loop_data(void);
void dwp_loop_checkpoint(void);

/* A call of the module NAME begins or has returned. */
void dwp_loop_module(bool begins);
