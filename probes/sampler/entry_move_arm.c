/*
 * Moves the first instruction of a function of aarch64 elsewhere, so that a branch has place there; see entry_move.h.
 *
 * One instruction is replaced, so nothing can jump between those that are. What signs the return address or marks a
 * place where indirect calls may arrive stays where it is: a branch there would be no such place.
 *
 * The copy may use x16 and x17, which nobody keeps over a call: the linker's own code changes them.
 */
#include "entry_move.h"

#include <string.h>

#include "base/code/instruction_arm.h"

#define ADDRESSES 64u /* in the copy: of the function that it calls first, and of what the instruction refers to */
#define BRANCH_MOST ((int64_t)1 << 27)

#define LOAD_16 0x58000010u /* ldr x16, ... */
#define LOAD_30 0x5800001eu
#define RETURN_17 0x10000051u /* adr x17, behind the next instruction */
#define BRANCH_16 0xd61f0200u
#define BRANCH 0x14000000u

static uint32_t arm_read(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

/* ---- the choice --------------------------------------------------------------------------------- */

/* "bti", "paciasp" and "pacibsp". */
static bool arm_stays(uint32_t word)
{
	return (word & 0xffffff3f) == 0xd503241f || (word & 0xffffffbf) == 0xd503233f;
}

/* "stp ..., [sp, -...]!", "str ..., [sp, -...]!" and "sub sp, sp, ...": a jump of the function there is a call of
 * itself. */
static bool arm_makes_frame(uint32_t word)
{
	return (word & 0xffc003e0) == 0xa98003e0 || (word & 0xffe00fe0) == 0xf8000fe0 || (word & 0xff8003ff) == 0xd10003ff;
}

/* Whether a jump of the function leads to what is replaced. */
static bool arm_is_hit(const struct dws_arm_move *move, const uint8_t *begin, const uint8_t *end)
{
	for (const uint8_t *at = begin; at + 4 <= end; at += 4) {
		uint32_t word = arm_read(at);
		enum dw_arm_kind kind = dw_arm_kind(word);

		if ((kind == DW_ARM_BRANCH || kind == DW_ARM_CONDITIONAL || kind == DW_ARM_TEST) && at != move->code &&
		    dw_arm_target((uintptr_t)at, word) == (uintptr_t)move->code)
			return true;
	}
	return false;
}

const char *dws_arm_choose(struct dws_arm_move *move, const struct dws_move_file *file, const uint8_t *code,
                           uint64_t size)
{
	const struct dws_move_part *part = dws_move_part(file, code);

	*move = (struct dws_arm_move){ .code = code };
	if (!part || !part->executable || size > part->bytes - (uint64_t)(code - part->code))
		return "its symbol is outside the code of the file";
	move->is_writable = part->writable;
	while (size - (uint64_t)(move->code - code) >= 8 && arm_stays(arm_read(move->code)))
		move->code += 4;
	if (size - (uint64_t)(move->code - code) < 4)
		return "it is shorter than a jump";
	move->word = arm_read(move->code);
	switch (dw_arm_kind(move->word)) {
	case DW_ARM_SPECIAL:
		return "its first instruction is a trap or a system call";
	case DW_ARM_UNKNOWN:
		return "its first instruction is not known";
	case DW_ARM_CALL:
	case DW_ARM_CALL_INDIRECT:
		move->pushes_return = true;
		break;
	default:
		break;
	}
	if (move->code == code && arm_makes_frame(move->word))
		return NULL;
	return arm_is_hit(move, code, code + size) ? "a jump of the function leads to its first instruction" : NULL;
}

/* ---- the copy ----------------------------------------------------------------------------------- */

struct copy {
	uint8_t *begin, *at;
	bool far; /* a distance does not fit */
};

static void copy_put(struct copy *copy, uint32_t word)
{
	memcpy(copy->at, &word, sizeof word);
	copy->at += sizeof word;
}

static void copy_put_branch(struct copy *copy, uint64_t target)
{
	int64_t distance = (int64_t)(target - (uintptr_t)copy->at);

	copy->far |= distance < -BRANCH_MOST || distance >= BRANCH_MOST;
	copy_put(copy, BRANCH | ((uint32_t)((uint64_t)distance >> 2) & 0x3ffffff));
}

/* Loads one of the copy's addresses. */
static void copy_put_load(struct copy *copy, uint32_t load, unsigned address)
{
	uint32_t words = (uint32_t)(copy->begin + ADDRESSES + (size_t)address * 8 - copy->at) / 4;

	copy_put(copy, load | words << 5);
}

/* Over a branch that is over a branch. */
static void copy_put_condition(struct copy *copy, uint32_t word, uint32_t field, uint64_t target)
{
	copy_put(copy, (word & ~field) | 2 << 5);
	copy_put(copy, BRANCH | 2);
	copy_put_branch(copy, target);
}

/* A load from the address in x16. */
static uint32_t arm_load_at(uint32_t word)
{
	static const uint32_t loads[2][4] = { { 0xb9400000, 0xf9400000, 0xb9800000, 0xf9800000 },
		                                  { 0xbd400000, 0xfd400000, 0x3dc00000, 0 } };

	return loads[word >> 26 & 1][word >> 30] | 16 << 5 | (word & 31);
}

static void copy_instruction(struct copy *copy, uint32_t word, uint64_t target)
{
	switch (dw_arm_kind(word)) {
	case DW_ARM_BRANCH:
		copy_put_branch(copy, target);
		return;
	case DW_ARM_CALL:
		copy_put_load(copy, LOAD_30, 2);
		copy_put_branch(copy, target);
		return;
	case DW_ARM_CALL_INDIRECT:
		copy_put(copy, 0xaa0003f0 | (word >> 5 & 31) << 16); /* mov x16, ... */
		copy_put_load(copy, LOAD_30, 2);
		copy_put(copy, BRANCH_16);
		return;
	case DW_ARM_CONDITIONAL:
		copy_put_condition(copy, word, 0x7ffffu << 5, target);
		return;
	case DW_ARM_TEST:
		copy_put_condition(copy, word, 0x3fffu << 5, target);
		return;
	case DW_ARM_ADDRESS:
		copy_put_load(copy, (LOAD_16 & ~31u) | (word & 31), 1);
		return;
	case DW_ARM_LOAD:
		copy_put_load(copy, LOAD_16, 1);
		copy_put(copy, arm_load_at(word));
		return;
	default:
		copy_put(copy, word);
		return;
	}
}

bool dws_arm_write(const struct dws_arm_move *move, uint8_t *to, uintptr_t first)
{
	const uint64_t target = dw_arm_target((uintptr_t)move->code, move->word);
	const uint64_t addresses[3] = { first, target, (uintptr_t)move->code + 4 };
	struct copy copy = { .begin = to, .at = to };

	copy_put_load(&copy, LOAD_16, 0);
	copy_put(&copy, RETURN_17);
	copy_put(&copy, BRANCH_16);
	copy_instruction(&copy, move->word, target);
	copy_put_branch(&copy, (uintptr_t)move->code + 4);
	memcpy(to + ADDRESSES, addresses, sizeof addresses);
	return !copy.far;
}

bool dws_arm_branch(const uint8_t *from, const uint8_t *to, uint32_t *word)
{
	struct copy copy = { .begin = (uint8_t *)word, .at = (uint8_t *)word };
	int64_t distance = (int64_t)((uintptr_t)to - (uintptr_t)from);

	copy_put_branch(&copy, (uintptr_t)copy.at + (uint64_t)distance);
	return !copy.far;
}
