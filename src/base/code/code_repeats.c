/* See code_repeats.h. Jumps by tables are not looked at: a loop has a jump of its own. */
#include "base/code/code_repeats.h"

#include <string.h>

#include "base/code/instruction.h"

#if defined(__x86_64__)

bool dw_code_repeats(const uint8_t *code, size_t bytes, size_t at)
{
	struct dw_instruction next;

	for (size_t from = 0; from < bytes; from += next.bytes) {
		unsigned left = bytes - from < DW_INSTRUCTION_MOST ? (unsigned)(bytes - from) : DW_INSTRUCTION_MOST;
		int64_t target;

		if (!dw_instruction_read(code + from, left, &next))
			return false;
		target = (int64_t)(from + next.bytes) + next.distance;
		if (from >= at && (next.kind == DW_X86_JUMP || next.kind == DW_X86_BRANCH || next.kind == DW_X86_LOOP) && target >= 0 &&
		    target <= (int64_t)at)
			return true;
	}
	return false;
}

#else

/* How far a jump of aarch64 leads, in bytes; 0: it is none. */
static int64_t repeats_distance(uint32_t word)
{
	int64_t words = 0;

	if ((word & 0xfc000000) == 0x14000000) /* b */
		words = (int32_t)(word << 6) >> 6;
	else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) /* b.cond, cbz, cbnz */
		words = (int32_t)(word << 8) >> 13;
	else if ((word & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		words = (int32_t)(word << 13) >> 18;
	return words * 4;
}

bool dw_code_repeats(const uint8_t *code, size_t bytes, size_t at)
{
	for (size_t from = at & ~(size_t)3; from + 4 <= bytes; from += 4) {
		uint32_t word;
		int64_t target;

		memcpy(&word, code + from, sizeof word);
		target = (int64_t)from + repeats_distance(word);
		if (target < (int64_t)from && target >= 0 && target <= (int64_t)at)
			return true;
	}
	return false;
}

#endif
