/* Which first instructions of a function of x86-64 make place for a jump, and their copy elsewhere; see entry_move.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/instruction.h"

#define DWS_MOVE_JUMP 5u   /* bytes of the jump */
#define DWS_MOVE_COPY 128u /* bytes that a copy takes at most */

/* Parts of a file that are in memory. */
#define DWS_MOVE_PARTS 16u
struct dws_move_file {
	unsigned count;
	struct dws_move_part {
		const uint8_t *code;
		uint64_t bytes;
		bool executable, writable;
	} parts[DWS_MOVE_PARTS];
};

struct dws_move {
	const uint8_t *code; /* the function; or behind its endbr64, which stays where it is */
	unsigned bytes;      /* of the instructions that are moved */
	unsigned count;
	struct dw_instruction all[DWS_MOVE_JUMP];
	bool is_writable;    /* the program may write to this code */
	bool pushes_return; /* the copy stores a return address that it does not call with; a shadow stack has none */
};

/* Chooses what is moved. Returns why nothing can be, or NULL. */
const char *dws_move_choose(struct dws_move *move, const struct dws_move_file *file, const uint8_t *code,
                            uint64_t size);
/* Writes the code that the jump leads to into memory of DWS_MOVE_COPY bytes: it calls `first`, executes the
 * instructions, and goes on behind them. False: something that they refer to is too far away. */
bool dws_move_write(const struct dws_move *move, uint8_t *to, uintptr_t first);
