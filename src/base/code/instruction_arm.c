/* Reads one instruction of aarch64; see instruction_arm.h. */
#include "base/code/instruction_arm.h"

enum dw_arm_kind dw_arm_kind(uint32_t word)
{
	static const struct {
		uint32_t mask, value;
		enum dw_arm_kind kind;
	} kinds[] = {
		{ 0xfc000000, 0x14000000, DW_ARM_BRANCH },      { 0xfc000000, 0x94000000, DW_ARM_CALL },
		{ 0xff000000, 0x54000000, DW_ARM_CONDITIONAL }, { 0x7e000000, 0x34000000, DW_ARM_CONDITIONAL },
		{ 0x7e000000, 0x36000000, DW_ARM_TEST },        { 0x1f000000, 0x10000000, DW_ARM_ADDRESS },
		{ 0x3b000000, 0x18000000, DW_ARM_LOAD },        { 0xfffffc1f, 0xd63f0000, DW_ARM_CALL_INDIRECT },
		{ 0xfee00000, 0xd6200000, DW_ARM_UNKNOWN }, /* a call of a signed address */
		{ 0xff000000, 0xd4000000, DW_ARM_SPECIAL },     { 0xffff0000, 0x00000000, DW_ARM_SPECIAL },
		{ 0x3b200c00, 0x19000400, DW_ARM_UNKNOWN }, /* one of three that must follow each other: memcpy, memset */
	};

	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((word & kinds[i].mask) == kinds[i].value)
			return kinds[i].kind;
	return DW_ARM_PLAIN;
}

/* A field of a number of bits as a distance in bytes. */
static int64_t arm_distance(uint32_t word, unsigned from, unsigned bits)
{
	return ((int64_t)((uint64_t)word << (64 - from - bits)) >> (64 - bits)) * 4;
}

uint64_t dw_arm_target(uint64_t here, uint32_t word)
{
	switch (dw_arm_kind(word)) {
	case DW_ARM_BRANCH:
	case DW_ARM_CALL:
		return here + (uint64_t)arm_distance(word, 0, 26);
	case DW_ARM_TEST:
		return here + (uint64_t)arm_distance(word, 5, 14);
	case DW_ARM_ADDRESS: {
		int64_t number = arm_distance(word, 5, 19) + (word >> 29 & 3);

		return word >> 31 ? (here & ~(uint64_t)4095) + (uint64_t)number * 4096 : here + (uint64_t)number;
	}
	default:
		return here + (uint64_t)arm_distance(word, 5, 19);
	}
}
