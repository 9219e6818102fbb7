/*
 * Whether machine code spins: whether a place lies in a short loop that reads memory, compares and jumps, and in which
 * nothing that one pass leaves behind is used by the next. Such a loop ends only if another thread writes what it reads,
 * so its time is a wait.
 *
 * For x86-64 and aarch64, as compilers write such loops with optimization. A loop that counts, stores, calls or follows
 * pointers does not spin, except if it has the instruction PAUSE (YIELD or WFE of aarch64), by which its author says that
 * it does. A loop that counts in a variable on the stack, as a volatile one is, may be the pause within one that spins. A loop with an instruction that is not known here does not spin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DW_SPIN_BYTES 64u /* of the longest loop: as many are wanted before the place and behind it */

/* `code` has `bytes` bytes; `at` is the place, where an instruction begins. Thread-safe. */
bool dw_spin_loop(const uint8_t *code, size_t bytes, size_t at);
