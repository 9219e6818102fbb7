/*
 * Functions that the files of this folder share.
 *
 *   questions.c what the files share: callbacks, questions without an answer
 *   answers.c   finds the libraries, asks each question, replaces what PyTorch calls
 *   layout.c    finds the offsets of the fields for names, sequences, threads, shapes, integers and elements
 *   check.c     verifies each answer
 *   inputs.c    reads an operator's inputs
 *   script.c    reads the calls that TorchScript is in
 *   states.c    skips changes of a thread's callback state that change nothing
 *   redirect.c  replaces a function that a library calls
 *   work.h      what runs operators whose inputs are known: work_python.c, work_native.c
 *   without.c   replaces layout.c, check.c, inputs.c, script.c and states.c in a build with
 *               torch_abi=disabled
 */
#pragma once

#include <stdio.h>

#include "abi.h"

/* Copies memory of this process that may not be mapped. Bytes that are not mapped become zeros.
 * Returns the number of bytes that were copied. */
size_t dwp_abi_read(void *to, const void *from, size_t bytes);

/* The questions of abi.h. questions.c has their names, and what is missing if one has no answer. */
enum dwp_abi_question {
	DWP_ABI_OPERATORS,
	DWP_ABI_NAMES,
	DWP_ABI_SEQUENCES,
	DWP_ABI_THREADS,
	DWP_ABI_SHAPES,
	DWP_ABI_INTEGERS,
	DWP_ABI_ELEMENTS,
	DWP_ABI_SCRIPT,
	DWP_ABI_STATES,
	DWP_ABI_ALLOCATOR,
	DWP_ABI_DEVICE_ALLOCATOR,
	DWP_ABI_REDUCER,
	DWP_ABI_CALLS,
	DWP_ABI_SECOND,
	DWP_ABI_MODULES,
	DWP_ABI_QUESTIONS
};

/* PyTorch's version, for messages. */
extern char dwp_abi_version[64];
/* Marks the question as one that this PyTorch does not answer, and stores it in the trace. If
 * records are missing because of it, prints a line for the user, once. */
void dwp_abi_lacks(enum dwp_abi_question question);
/* In a build for tests: whether the test wants this answer to be wrong. Otherwise always false. */
#ifdef DWP_ABI_BREAK
bool dwp_abi_breaks(enum dwp_abi_question question);
#else
static inline bool dwp_abi_breaks(enum dwp_abi_question question)
{
	return false;
}
#endif

/* Finds the offsets of fields. */
void dwp_abi_find_layout(void *library);
/* Verifies the answers, and removes those that are wrong. */
void dwp_abi_check(void);
/* Keeps the argument for dwp_abi_find_script(), which is called only if stacks are recorded. */
void dwp_abi_prepare_script(void *library);
/* Verifies the state's layout and replaces the function that sets it. `library` leads to PyTorch's
 * functions as above; `cpu` is the library whose calls are replaced. */
void dwp_abi_find_states(void *library, void *cpu);

/* The slot of the linkage table through which the library `handle` calls a function; NULL if it
 * does not call that function. */
void **dwp_abi_find_slot(void *handle, const char *function);
/* The same; also where the library was built to call functions without a linkage table. */
void **dwp_abi_find_any_slot(void *handle, const char *function);
/* Stores `to` in the slot. Another thread may still call the old function once. Returns false if
 * the slot cannot be made writable. */
bool dwp_abi_replace(void **slot, void *to);
