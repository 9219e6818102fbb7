/* One instruction of aarch64: what in it depends on where it is. */
#pragma once

#include <stdint.h>

enum dw_arm_kind {
	DW_ARM_PLAIN,
	DW_ARM_BRANCH,
	DW_ARM_CALL,
	DW_ARM_CONDITIONAL, /* b.cond, cbz, cbnz */
	DW_ARM_TEST,        /* tbz, tbnz */
	DW_ARM_ADDRESS,     /* adr, adrp */
	DW_ARM_LOAD,        /* ldr of an address that is relative to it */
	DW_ARM_CALL_INDIRECT,
	DW_ARM_SPECIAL, /* traps and system calls */
	DW_ARM_UNKNOWN, /* it may depend on its place */
};

enum dw_arm_kind dw_arm_kind(uint32_t word);
/* The address to which the instruction at `here` refers. Only of a branch, a direct call, an address and a load. */
uint64_t dw_arm_target(uint64_t here, uint32_t word);
