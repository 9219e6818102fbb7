/*
 * What the files of this folder know of each other.
 *
 *   abi.c       finds the libraries and asks each question
 *   layout.c    names, sequences, threads, shapes: finds where they lie
 *   check.c     verifies each answer
 *   inputs.c    reads an operator's inputs
 *   script.c    TorchScript's calls
 *   states.c    a thread's callbacks
 *   redirect.c  replaces a function that a library calls
 *   absent.c    without the files that read PyTorch's memory: layout, check, inputs, script, states
 */
#ifndef DWP_TORCH_ABI_PRIVATE_H
#define DWP_TORCH_ABI_PRIVATE_H

#include "abi.h"

/* Copies memory of this process that may not be mapped; what is not is zeros. Returns the number of
 * bytes that were copied. */
size_t dwp_abi_read(void *to, const void *from, size_t bytes);

/* What PyTorch's objects are asked; abi.c has their names and what is missing without an answer. */
enum dwp_abi_question {
	DWP_ABI_OPERATORS,
	DWP_ABI_NAMES,
	DWP_ABI_SEQUENCES,
	DWP_ABI_THREADS,
	DWP_ABI_SHAPES,
	DWP_ABI_SCRIPT,
	DWP_ABI_STATES,
	DWP_ABI_ALLOCATOR,
	DWP_ABI_REDUCER,
	DWP_ABI_QUESTIONS
};

/* This PyTorch does not answer the question: says so to the user, once. */
void dwp_abi_lacks(enum dwp_abi_question question);
/* In a build for tests, whether the test breaks this answer; otherwise false. */
#ifdef DWP_ABI_BREAK
bool dwp_abi_breaks(enum dwp_abi_question question);
#else
static inline bool dwp_abi_breaks(enum dwp_abi_question question)
{
	return false;
}
#endif

/* Finds where fields lie; `library`: a handle of dlopen(); it or what it needs has the functions. */
void dwp_abi_find_layout(PyObject *torch, void *library);
/* Verifies the answers and takes back what fails. */
void dwp_abi_check(PyObject *torch);
void dwp_abi_prepare_script(PyObject *torch, void *library);
/* `cpu`: the library that calls the function. */
void dwp_abi_find_states(void *library, void *cpu);

/* The pointer through which the library `handle` calls a function; NULL: it does not. */
void **dwp_abi_find_slot(void *handle, const char *function);
/* Replaces the pointer. Another thread may be about to call what it was. */
bool dwp_abi_replace(void **slot, void *to);

#endif
