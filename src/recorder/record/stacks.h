/* Stacks, and the code that addresses are in. */
#pragma once

#include "record/thread.h"

/* If `mask` asks for stacks, loads what the first stack would otherwise load: the first stack may
 * be recorded in a signal handler. */
void dw_stack_prepare(uint32_t mask);
/* The id of the current stack, from the frame that `caller` returns to; 0 means none was found. */
uint32_t dw_stack_here(struct dw_slot *slot, const void *caller);
/* Begins an operator with a stack; 0 means the stack of the caller, if the operator is outermost.
 * Pass the result to dwell_end(). */
unsigned dw_begin_with_stack(uint32_t id, const void *caller, uint32_t stack);
/* Copies memory that may not be mapped or may be unmapped meanwhile. Returns the bytes copied. */
size_t dw_read_memory(void *to, uintptr_t from, size_t bytes);
/* The FRAME id of a code address in this process; 0 means it cannot be found out now. */
uint32_t dw_module_frame(uintptr_t address);
/* The FRAME ids of a stack's return addresses. The call is before its return address, which may
 * already be in the next function. False if some cannot be found out. `lately`: a module that was in place less than
 * 1/16 s ago counts as still there. */
bool dw_module_frames(void *const *addresses, int count, bool lately, uint32_t *frames);
/* Calls `see` for the file of each executable mapping. False: another thread does not finish reading them. */
bool dw_module_each_file(void (*see)(const char *path, void *context), void *context);
/* Whether the address is in the code of a file. */
bool dw_module_is_code(uintptr_t address);
bool dw_module_is_libc(uintptr_t address);
