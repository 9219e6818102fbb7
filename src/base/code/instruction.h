/* One instruction of x86-64: how long it is, and what in it depends on where it is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DW_INSTRUCTION_MOST 15u

enum dw_instruction_kind {
	DW_X86_PLAIN,
	DW_X86_JUMP,   /* to an address relative to it */
	DW_X86_BRANCH, /* the same, if a condition holds */
	DW_X86_LOOP,   /* the same by a count in a register; it reaches 128 bytes */
	DW_X86_CALL,   /* of an address relative to it */
	DW_X86_JUMP_INDIRECT,
	DW_X86_CALL_INDIRECT,
	DW_X86_RETURN,
	DW_X86_SPECIAL, /* what it does shows its own address: traps and system calls */
};

struct dw_instruction {
	unsigned bytes;
	enum dw_instruction_kind kind;
	unsigned opcode; /* where its opcode is */
	unsigned
		distance_at; /* where the 32-bit distance of an operand is that is relative to the instruction's end; 0: none */
	int32_t distance; /* of that operand, or of a jump */
	bool on_stack;    /* its operand is relative to the stack pointer */
};

/* Reads the instruction at `code`, of which `size` bytes may be read. False: it is not known. */
bool dw_instruction_read(const uint8_t *code, unsigned size, struct dw_instruction *to);
