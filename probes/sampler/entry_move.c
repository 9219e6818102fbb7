/*
 * Moves the first instructions of a function elsewhere, so that a jump has place there; see entry.c.
 *
 * The copy does what the original does: distances to data and code are computed anew, a short jump becomes a long one,
 * and a call stores the address behind the original, so that the callee, its caller and exceptions see no copy.
 *
 * No jump may lead between the instructions that are replaced, and none from the function itself to its begin: that
 * would be counted as a call. It is one if the begin makes a frame: the function calls itself as its last act. All
 * jumps of the function and its jump tables are looked at for that, and in the rest of the file each byte that could
 * begin a jump, because the compiler puts unlikely parts of a function elsewhere.
 */
#include "entry_move.h"

#include <stddef.h>
#include <string.h>

#define TABLE_MOST 4096u /* entries of a jump table that are looked at */
#define ADDRESSES 96u    /* in the copy: of the function that it calls first, and what a call returns to */

/* ---- the choice --------------------------------------------------------------------------------- */

static bool move_has_target(const struct dw_instruction *instruction)
{
	return instruction->kind == DW_X86_JUMP || instruction->kind == DW_X86_BRANCH || instruction->kind == DW_X86_LOOP ||
	       instruction->kind == DW_X86_CALL;
}

/* Whether something that is not moved and leads to this address is in the way. */
static bool move_is_hit(const struct dws_move *move, const uint8_t *target, bool own)
{
	return target < move->code + move->replaced &&
	       (own && !move->makes_frame ? target >= move->code : target > move->code);
}

/* Whether one of the bytes could be a long jump or call between the instructions. Each is taken for the begin of one,
 * so none is missed, and one may be seen that is none. */
static bool move_may_be_hit(const struct dws_move *move, const uint8_t *from, const uint8_t *end)
{
	for (; end - from >= 6; from++) {
		bool two = from[0] == 0x0f && (from[1] & 0xf0) == 0x80;
		int32_t distance;

		if (!two && (from[0] & 0xfe) != 0xe8)
			continue;
		memcpy(&distance, from + 1 + two, sizeof distance);
		if (move_is_hit(move, from + 5 + two + distance, false))
			return true;
	}
	return false;
}

/* Whether entries of a jump table lead there: distances from the table, or addresses. */
static bool move_table_hits(const struct dws_move *move, const struct dws_move_file *file, const uint8_t *table,
                            bool is_addresses)
{
	const struct dws_move_part *part = dws_move_part(file, table);
	unsigned bytes = is_addresses ? 8 : 4;

	for (unsigned i = 0; part && i < TABLE_MOST && (uint64_t)(table - part->code) + (i + 1) * bytes <= part->bytes;
	     i++) {
		const uint8_t *target = table;
		int32_t distance;

		if (is_addresses) {
			memcpy(&target, table + (size_t)i * 8, sizeof target);
		} else {
			memcpy(&distance, table + (size_t)i * 4, sizeof distance);
			target = table + distance;
		}
		if (!dws_move_part(file, target) || !dws_move_part(file, target)->executable)
			return false;
		if (move_is_hit(move, target, true))
			return true;
	}
	return false;
}

/* What could be jump tables of the function are the addresses that it loads and the tables that it jumps by. */
static bool move_tables_hit(const struct dws_move *move, const struct dws_move_file *file, const uint8_t *end)
{
	struct dw_instruction next;
	bool hits = false;

	for (const uint8_t *at = move->code; !hits && at < end && dw_instruction_read(at, (unsigned)(end - at), &next);
	     at += next.bytes) {
		uint32_t address;

		if (next.distance_at && at[next.opcode] == 0x8d) {
			hits = move_table_hits(move, file, at + next.bytes + next.distance, false);
		} else if (next.kind == DW_X86_JUMP_INDIRECT && at[next.opcode + 1] == 0x24 && (at[next.opcode + 2] & 7) == 5) {
			memcpy(&address, at + next.opcode + 3, sizeof address);
			hits = move_table_hits(move, file, (const uint8_t *)(uintptr_t)address, true);
		}
	}
	return hits;
}

/* Whether a jump of the function, which is not moved itself, leads to one of the bytes that are replaced. */
static bool move_function_hits(const struct dws_move *move, const struct dws_move_file *file, const uint8_t *end)
{
	const uint8_t *at = move->code + move->bytes;
	struct dw_instruction next;
	bool switches = false;

	for (; at < end && dw_instruction_read(at, (unsigned)(end - at), &next); at += next.bytes) {
		if (move_has_target(&next) && next.kind != DW_X86_CALL &&
		    move_is_hit(move, at + next.bytes + next.distance, true))
			return true;
		switches |= next.kind == DW_X86_JUMP_INDIRECT;
	}
	return at < end ? true : switches && move_tables_hit(move, file, end);
}

static bool move_is_hit_anywhere(const struct dws_move *move, const struct dws_move_file *file)
{
	for (unsigned i = 0; i < file->count; i++) {
		const uint8_t *from = file->parts[i].code, *end = from + file->parts[i].bytes;

		if (file->parts[i].executable && move_may_be_hit(move, from, end))
			return true;
	}
	return false;
}

/* How much of the memory behind a function fills the gap to the next one. */
static uint64_t move_gap(const uint8_t *end, const uint8_t *limit)
{
	const uint8_t *at = end;
	struct dw_instruction next;

	while (at < limit && ((uintptr_t)at & 15) && dw_instruction_read(at, (unsigned)(limit - at), &next)) {
		bool empty = (at[next.opcode] == 0x90 && !next.opcode) || at[next.opcode] == 0xcc ||
		             (at[next.opcode] == 0x0f && at[next.opcode + 1] == 0x1f) ||
		             (next.bytes == 2 && at[0] == 0x66 && at[1] == 0x90);

		if (!empty)
			break;
		at += next.bytes;
	}
	return (uint64_t)(at - end);
}

/* Whether the first instruction takes place on the stack: a push, or "sub $..., %rsp". */
static bool move_makes_frame(const struct dws_move *move)
{
	const uint8_t *opcode = move->code + move->all[0].opcode;

	return (*opcode & 0xf8) == 0x50 || ((*opcode == 0x81 || *opcode == 0x83) && opcode[1] == 0xec);
}

/* Reads the instructions that the jump replaces. Returns why they cannot be moved, or NULL. */
static const char *move_read(struct dws_move *move, const uint8_t *end)
{
	while (move->bytes < DWS_MOVE_JUMP) {
		const uint8_t *at = move->code + move->bytes;
		struct dw_instruction *next = &move->all[move->count];

		if (at >= end)
			return "it is shorter than a jump";
		if (!dw_instruction_read(at, end - at > 64 ? 64 : (unsigned)(end - at), next))
			return "one of its first instructions is not known";
		if (next->kind == DW_X86_SPECIAL && *at != 0xcc)
			return "one of its first instructions is a trap or a system call";
		move->bytes += next->bytes;
		move->count++;
		if (next->kind == DW_X86_CALL || next->kind == DW_X86_CALL_INDIRECT) {
			move->pushes_return = true;
			if (next->on_stack || move->bytes < DWS_MOVE_JUMP)
				return "one of its first instructions calls a function by an address in memory";
		}
	}
	return NULL;
}

const char *dws_move_choose(struct dws_move *move, const struct dws_move_file *file, const uint8_t *code, uint64_t size)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct dws_move_part *part = dws_move_part(file, code);
	const uint8_t *limit, *end;
	const char *problem;

	*move = (struct dws_move){ .code = code, .replaced = DWS_MOVE_JUMP };
	if (!part || !part->executable || size > part->bytes - (uint64_t)(code - part->code))
		return "its symbol is outside the code of the file";
	move->is_writable = part->writable;
	limit = part->code + part->bytes;
	end = code + size;
	if (*code == 0xcc)
		return "it begins with a breakpoint";
	if (size >= sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0)
		move->code += sizeof endbr64;
	problem = move_read(move, end + move_gap(end, limit));
	if (problem)
		return problem;
	move->makes_frame = move_makes_frame(move);
	if (move_function_hits(move, file, end))
		return "a jump of the function leads to its first instructions";
	return move->all[0].bytes < DWS_MOVE_JUMP && move_is_hit_anywhere(move, file)
	           ? "code elsewhere may jump between its first instructions"
	           : NULL;
}

bool dws_move_begins_once(const struct dws_move_file *file, const uint8_t *code, uint64_t size)
{
	const struct dws_move_part *part = dws_move_part(file, code);
	struct dws_move move = { .code = code, .replaced = 1 };

	if (!part || !part->executable || !size || size > part->bytes - (uint64_t)(code - part->code) || *code == 0xcc ||
	    !dw_instruction_read(code, size > 64 ? 64 : (unsigned)size, &move.all[0]))
		return false;
	move.makes_frame = move_makes_frame(&move);
	return !move_function_hits(&move, file, code + size);
}

/* ---- the copy ----------------------------------------------------------------------------------- */

struct copy {
	const struct dws_move *move;
	uint8_t *begin, *at;
	const uint8_t *places[DWS_MOVE_JUMP + 1]; /* of the instructions */
	bool far;                                 /* a distance does not fit */
};

static unsigned move_size(const struct dw_instruction *instruction)
{
	switch (instruction->kind) {
	case DW_X86_BRANCH:
		return 6;
	case DW_X86_JUMP:
		return 5;
	case DW_X86_LOOP:
		return instruction->bytes + 7;
	case DW_X86_CALL:
		return 11;
	case DW_X86_CALL_INDIRECT:
		return instruction->bytes + 6;
	default:
		return instruction->bytes;
	}
}

/* The 32-bit distance from the end of an instruction, which is `more` bytes behind it. */
static void copy_put_distance(struct copy *copy, unsigned more, const uint8_t *target)
{
	int64_t distance = (int64_t)((uintptr_t)target - (uintptr_t)(copy->at + 4 + more));
	int32_t near = (int32_t)distance;

	copy->far |= near != distance;
	memcpy(copy->at, &near, sizeof near);
	copy->at += sizeof near;
}

static void copy_put(struct copy *copy, const uint8_t *bytes, unsigned count)
{
	memcpy(copy->at, bytes, count);
	copy->at += count;
}

/* An instruction of two bytes with one of the copy's addresses as its operand. */
static void copy_put_with(struct copy *copy, uint8_t operation, unsigned address)
{
	copy_put(copy, (const uint8_t[]){ 0xff, operation }, 2);
	copy_put_distance(copy, 0, copy->begin + ADDRESSES + (size_t)address * 8);
}

/* Where a jump of a moved instruction leads: into the copy, if its target was moved. */
static const uint8_t *copy_target(const struct copy *copy, const uint8_t *target)
{
	const uint8_t *at = copy->move->code;

	for (unsigned i = 0; i < copy->move->count; at += copy->move->all[i++].bytes)
		if (at == target)
			return copy->places[i];
	return target;
}

static void copy_instruction(struct copy *copy, const uint8_t *from, const struct dw_instruction *instruction)
{
	const uint8_t *target = from + instruction->bytes + instruction->distance;
	uint8_t *first = copy->at;
	unsigned opcode = instruction->opcode;

	switch (instruction->kind) {
	case DW_X86_BRANCH:
		copy_put(copy,
		         (const uint8_t[]){ 0x0f, (uint8_t)(0x80 | (from[from[opcode] == 0x0f ? opcode + 1 : opcode] & 15)) },
		         2);
		copy_put_distance(copy, 0, copy_target(copy, target));
		return;
	case DW_X86_LOOP: /* over a jump that is over a jump */
		copy_put(copy, from, instruction->bytes - 1);
		copy_put(copy, (const uint8_t[]){ 2, 0xeb, 5 }, 3);
		break;
	case DW_X86_CALL:
		copy_put_with(copy, 0x35, 1); /* push */
		break;
	case DW_X86_CALL_INDIRECT:
		copy_put_with(copy, 0x35, 1);
		first = copy->at;
		break;
	default:
		break;
	}
	if (instruction->kind == DW_X86_LOOP || instruction->kind == DW_X86_CALL || instruction->kind == DW_X86_JUMP) {
		copy_put(copy, (const uint8_t[]){ 0xe9 }, 1);
		copy_put_distance(copy, 0, instruction->kind == DW_X86_CALL ? target : copy_target(copy, target));
		return;
	}
	copy_put(copy, from, instruction->bytes);
	if (instruction->kind == DW_X86_CALL_INDIRECT)
		first[opcode + 1] = (uint8_t)((first[opcode + 1] & 0xc7) | 0x20); /* jmp */
	if (instruction->distance_at) {
		copy->at = first + instruction->distance_at;
		copy_put_distance(copy, instruction->bytes - instruction->distance_at - 4, target);
		copy->at = first + instruction->bytes;
	}
}

bool dws_move_write(const struct dws_move *move, uint8_t *to, uintptr_t first)
{
	const uintptr_t addresses[2] = { first, (uintptr_t)(move->code + move->bytes) };
	struct copy copy = { .move = move, .begin = to, .at = to };
	const uint8_t *from = move->code;

	copy_put_with(&copy, 0x15, 0); /* call */
	copy.places[0] = copy.at;
	for (unsigned i = 0; i < move->count; i++)
		copy.places[i + 1] = copy.places[i] + move_size(&move->all[i]);
	for (unsigned i = 0; i < move->count; from += move->all[i++].bytes)
		copy_instruction(&copy, from, &move->all[i]);
	copy_put(&copy, (const uint8_t[]){ 0xe9 }, 1);
	copy_put_distance(&copy, 0, from);
	memcpy(to + ADDRESSES, addresses, sizeof addresses);
	return !copy.far;
}
