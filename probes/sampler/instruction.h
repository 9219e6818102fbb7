/* One instruction of x86-64: how long it is, and what in it depends on where it is. */
#ifndef DWS_SAMPLER_INSTRUCTION_H
#define DWS_SAMPLER_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#define DWS_INSTRUCTION_MOST 15u

enum dws_instruction_kind {
	DWS_PLAIN,
	DWS_JUMP,   /* to an address relative to it */
	DWS_BRANCH, /* the same, if a condition holds */
	DWS_LOOP,   /* the same by a count in a register; it reaches 128 bytes */
	DWS_CALL,   /* of an address relative to it */
	DWS_JUMP_INDIRECT,
	DWS_CALL_INDIRECT,
	DWS_RETURN,
	DWS_SPECIAL, /* what it does shows its own address: traps and system calls */
};

struct dws_instruction {
	unsigned bytes;
	enum dws_instruction_kind kind;
	unsigned opcode; /* where its opcode is */
	unsigned
		distance_at; /* where the 32-bit distance of an operand is that is relative to the instruction's end; 0: none */
	int32_t distance; /* of that operand, or of a jump */
	bool on_stack;    /* its operand is relative to the stack pointer */
};

/* Reads the instruction at `code`, of which `size` bytes may be read. False: it is not known. */
bool dws_instruction_read(const uint8_t *code, unsigned size, struct dws_instruction *to);

#endif
