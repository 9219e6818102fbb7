/* Where a function is, and which instructions at the begin of one of x86-64 may be moved; see entry.c. */
#ifndef DWS_SAMPLER_ENTRY_H
#define DWS_SAMPLER_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#define DWS_ENTRY_LEAST 5u /* bytes that a jump takes */
#define DWS_ENTRY_MOST 32u

/* ---- entry_library.c ---- */

#define DWS_ENTRY_COPIES 8u

/* Code of a function in libraries. */
struct dws_entry_found {
	const char *wanted;
	unsigned rank;      /* of the best match until now, by dw_symbol_matches() */
	bool several;       /* different functions match equally well, or there are too many copies */
	unsigned count;
	struct {
		uint8_t *code;
		uint64_t size;
	} at[DWS_ENTRY_COPIES]; /* copies that the compiler made, and parts of several libraries */
	char symbol[512];   /* without a mark of the compiler, as ".constprop.0" */
};

/* Looks for found->wanted in libraries that were loaded since the last call. Adds to what was found. */
void dws_entry_find(struct dws_entry_found *found);

/* ---- instructions ---- */

/* The bytes of a ModRM operand with what follows it; 0: relative to the instruction. */
static inline unsigned dws_entry_operand(const uint8_t *at)
{
	unsigned mod = at[0] >> 6, rm = at[0] & 7, bytes = 1;

	if (mod == 3)
		return 1;
	if (rm == 4) {
		bytes++;
		if (mod == 0 && (at[1] & 7) == 5)
			return bytes + 4;
	}
	if (mod == 0 && rm == 5)
		return 0;
	return bytes + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Opcodes with an operand and nothing more, that neither jump nor trap. */
static inline bool dws_entry_is_plain(uint8_t opcode, bool two)
{
	static const uint8_t one[] = { 0x01, 0x03, 0x09, 0x0b, 0x21, 0x23, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b, 0x63, 0x85, 0x88,
		0x89, 0x8a, 0x8b, 0x8d };
	static const uint8_t after_0f[] = { 0x10, 0x11, 0x14, 0x16, 0x1f, 0x28, 0x29, 0x57, 0x6e, 0x6f, 0x7e, 0x7f, 0xaf, 0xb6, 0xb7,
		0xbe, 0xbf, 0xd6, 0xef };
	const uint8_t *list = two ? after_0f : one;
	unsigned count = two ? sizeof after_0f : sizeof one;

	for (unsigned i = 0; i < count; i++)
		if (list[i] == opcode)
			return true;
	return false;
}

/* The length of one instruction, which may be moved; 0: it may not, or is not known. *stack: it moves the stack pointer. */
static inline unsigned dws_entry_instruction(const uint8_t *code, bool *stack)
{
	const uint8_t *at = code;
	unsigned operand;
	bool wide = false, halved = false;

	*stack = false;
	if (at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e && at[3] == 0xfa)
		return 4; /* endbr64 */
	while (*at == 0x66 || *at == 0xf2 || *at == 0xf3 || *at == 0x64)
		halved |= *at++ == 0x66;
	if ((*at & 0xf0) == 0x40)
		wide = *at++ >> 3 & 1;
	if ((*at & 0xf8) == 0x50) { /* push */
		*stack = true;
		return (unsigned)(at - code) + 1;
	}
	if ((*at & 0xf8) == 0xb8)
		return halved ? 0 : (unsigned)(at - code) + (wide ? 9 : 5);
	if (*at == 0x83 || *at == 0x81 || *at == 0xc7) {
		if (halved)
			return 0;
		*stack = *at != 0xc7 && at[1] == 0xec && wide && !(at[-1] & 1); /* sub $n, %rsp */
		operand = dws_entry_operand(at + 1);
		return operand ? (unsigned)(at - code) + 1 + operand + (*at == 0x83 ? 1 : 4) : 0;
	}
	if (*at == 0x0f ? !dws_entry_is_plain(at[1], true) : !dws_entry_is_plain(*at, false))
		return 0;
	at += *at == 0x0f;
	operand = dws_entry_operand(at + 1);
	return operand ? (unsigned)(at - code) + 1 + operand : 0;
}

#define DWS_ENTRY_CALL 5u

/* How many bytes at the begin of a function of `size` bytes may be moved as one: at least those of a jump; 0: none. The last
 * instruction may be a call.
 * *certain: the last instruction moves the stack pointer, so that no compiler has made a jump between them. Reads 16 bytes
 * beyond them at most. */
static inline unsigned dws_entry_movable(const uint8_t *code, uint64_t size, bool *certain)
{
	unsigned at = 0, least = 0;

	*certain = false;
	while (!*certain && at + 16 <= size && at < DWS_ENTRY_MOST) {
		bool stack;
		unsigned bytes = dws_entry_instruction(code + at, &stack);

		if (code[at] == 0xe8 && !least)
			least = at + DWS_ENTRY_CALL;
		if (!bytes)
			break;
		at += bytes;
		if (at >= DWS_ENTRY_LEAST && (stack || !least))
			least = at;
		*certain = least == at && stack;
	}
	return least;
}

/* Whether the last one of the instructions that may be moved is a call. */
static inline bool dws_entry_ends_with_call(const uint8_t *code, unsigned bytes)
{
	unsigned at = 0;
	bool stack;

	while (at + DWS_ENTRY_CALL < bytes)
		at += dws_entry_instruction(code + at, &stack);
	return at + DWS_ENTRY_CALL == bytes && code[at] == 0xe8;
}

/* Whether bytes of `text` could be a jump between the first `bytes` bytes of `code`. Each position is taken for the begin of an
 * instruction, so a jump is never missed, and one may be seen that is none. */
static inline bool dws_entry_is_target(const uint8_t *text, uint64_t text_bytes, const uint8_t *code, unsigned bytes)
{
	for (uint64_t i = 0; i + 6 <= text_bytes; i++) {
		const uint8_t *at = text + i, *to = code;
		bool two = at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
		int32_t far;

		if ((at[0] & 0xf0) == 0x70 || at[0] == 0xeb || (at[0] & 0xfc) == 0xe0) {
			to = at + 2 + (int8_t)at[1];
		} else if (two || at[0] == 0xe9 || at[0] == 0xe8) {
			__builtin_memcpy(&far, at + 1 + two, sizeof far);
			to = at + 5 + two + far;
		}
		if (to > code && to < code + bytes)
			return true;
	}
	return false;
}

#endif
