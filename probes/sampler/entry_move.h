/* Which first instructions of a function make place for a jump, and their copy elsewhere: of x86-64 in entry_move.c, of
 * aarch64 in entry_move_arm.c. Each is tested on any processor. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code/instruction.h"

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

/* The part of the file that contains the address, or NULL. */
static inline const struct dws_move_part *dws_move_part(const struct dws_move_file *file, const uint8_t *at)
{
	for (unsigned i = 0; i < file->count; i++)
		if (at >= file->parts[i].code && at < file->parts[i].code + file->parts[i].bytes)
			return &file->parts[i];
	return NULL;
}

struct dws_move {
	const uint8_t *code; /* the function; or behind its endbr64, which stays where it is */
	unsigned bytes;      /* of the instructions that are moved */
	unsigned count;
	struct dw_instruction all[DWS_MOVE_JUMP];
	bool makes_frame;   /* the first one takes place on the stack: a jump to it is a call */
	bool is_writable;   /* the program may write to this code */
	bool pushes_return; /* the copy stores a return address that it does not call with; a shadow stack has none */
	unsigned replaced;  /* bytes of the function that no jump may lead to: those of the jump */
};

/* Chooses what is moved. Returns why nothing can be, or NULL. */
const char *dws_move_choose(struct dws_move *move, const struct dws_move_file *file, const uint8_t *code,
                            uint64_t size);
/* Whether the begin of a function is executed once for each call: no jump of the function leads there. For breakpoints, where nothing
 * is moved. False also if that is not known. */
bool dws_move_begins_once(const struct dws_move_file *file, const uint8_t *code, uint64_t size);
/* Writes the code that the jump leads to into memory of DWS_MOVE_COPY bytes: it calls `first`, executes the
 * instructions, and goes on behind them. False: something that they refer to is too far away. */
bool dws_move_write(const struct dws_move *move, uint8_t *to, uintptr_t first);

/* ---- aarch64 ------------------------------------------------------------------------------------ */

struct dws_arm_move {
	const uint8_t *code;             /* the instruction that is replaced */
	uint32_t word;                   /* the instruction */
	bool is_writable, pushes_return; /* as above */
};

const char *dws_arm_choose(struct dws_arm_move *move, const struct dws_move_file *file, const uint8_t *code,
                           uint64_t size);
bool dws_arm_write(const struct dws_arm_move *move, uint8_t *to, uintptr_t first);
/* The branch that replaces it. False: `to` is too far away. */
bool dws_arm_branch(const uint8_t *from, const uint8_t *to, uint32_t *word);
