/*
 * Names for functions of a library that are not in its symbol table: the variants that it chooses for the processor, and what its
 * short functions jump to.
 *
 * The C library has several forms of strlen(), memcpy() and the like, and takes one when a program is loaded. Their
 * names are in no table of a library that was stripped: only the function that chooses is there (an indirect function).
 * In the process of `dwell run` the same library was loaded on the same processor, so that its choice is that of the
 * program. In the same way vsnprintf() sets one argument and jumps to a function that is in no table: only that one is
 * on the stack.
 */
#pragma once

#include <stdint.h>

/* The name of the function that begins at this offset of a file, as "strlen"; NULL: this process has not loaded the
 * file, or nothing that it chose begins there. One thread at a time. */
const char *dw_chosen_name(const char *module, uint64_t offset);
