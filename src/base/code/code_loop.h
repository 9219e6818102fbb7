/*
 * What a loop of machine code does, for x86-64 and aarch64, as compilers write such loops with optimization. A loop with an
 * instruction that is not known here, or with a call, is any other.
 *
 * A loop spins if it is short, reads memory, compares and jumps, and nothing that one pass leaves behind is used by the next. It ends
 * only if another thread writes what it reads, so its time is a wait. A loop that counts, stores or follows pointers does not spin,
 * except if it has the instruction PAUSE (YIELD or WFE of aarch64), by which its author says that it does. A loop that counts in a
 * variable on the stack, as a volatile one is, may be the pause within one that spins.
 *
 * A loop moves data if it stores what it has loaded, with other addresses or in another order, and stores no result of a calculation.
 * It only calculates addresses, and whether it goes on depends on no data. Loops that change the layout of data are such, and those that
 * copy or look up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Traces have these numbers. DW_CODE_REPEATS: any other loop, also one with calls (code_repeats.h). */
enum dw_code_loop { DW_CODE_OTHER, DW_CODE_SPINS, DW_CODE_MOVES, DW_CODE_REPEATS };

#define DW_CODE_LOOP 256u /* bytes of the longest loop: as many are wanted before the place and behind it */

/* `code` has `bytes` bytes; `at` is the place, where an instruction begins. Thread-safe. */
enum dw_code_loop dw_code_loop(const uint8_t *code, size_t bytes, size_t at);
