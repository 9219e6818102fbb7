/*
 * What the files of this folder know of each other.
 *
 *   abi.c       finds the libraries and asks each question
 *   layout.c    operators, static names, sequences, threads, inputs: finds where they lie
 *   inputs.c    reads an operator's inputs
 *   script.c    TorchScript's calls
 *   states.c    a thread's callbacks
 *   redirect.c  replaces a function that a library calls
 */
#ifndef DWP_TORCH_ABI_PRIVATE_H
#define DWP_TORCH_ABI_PRIVATE_H

#include "abi.h"

/* Copies memory of this process that may not be mapped; what is not is zeros. Returns the number of
 * bytes that were copied. */
size_t dwp_abi_read(void *to, const void *from, size_t bytes);

/* `library`: a handle of dlopen(); it or what it needs has the functions. False: operators cannot
 * be recorded. */
bool dwp_abi_find_layout(PyObject *torch, void *library);
void dwp_abi_prepare_script(PyObject *torch, void *library);
/* `cpu`: the library that calls the function. */
void dwp_abi_find_states(void *library, void *cpu);

/* The pointer through which the library `handle` calls a function; NULL: it does not. */
void **dwp_abi_find_slot(void *handle, const char *function);
/* Replaces the pointer. Another thread may be about to call what it was. */
bool dwp_abi_replace(void **slot, void *to);

#endif
