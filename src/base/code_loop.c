/* See spin_loop.h. A loop is what lies between a jump back and its target. */
#include "base/spin_loop.h"

#include <string.h>

/* An instruction that such loops have. Registers are bits, and so are variables on the stack, as a pause that counts has one. */
struct spin {
	size_t bytes;   /* 0: it is none of them */
	bool pauses, jumps;
	int64_t target; /* of a jump, from the begin of the instruction */
	uint64_t reads, writes;
};

#define FIRST_SLOT 32u /* the bit of the first variable on the stack; those below are registers */

#if defined(__x86_64__)

enum spin_form {
	MODRM = 1 << 0,    /* has the byte ModRM: a register, and a register or memory ("rm") */
	BYTE = 1 << 1,     /* ends with a constant or distance of one byte */
	WORD = 1 << 2,     /* of four; of two with the prefix 66 */
	JUMPS = 1 << 3,
	TO_REG = 1 << 4,   /* writes the register */
	TO_RM = 1 << 5,
	TO_CODE = 1 << 6,  /* writes the register whose number is in the code of the instruction */
	TO_AX = 1 << 7,
	FRESH = 1 << 8,    /* the former value of what it writes is not used */
	CLEARS = 1 << 9,   /* FRESH, if both registers are the same */
	ARITHMETIC = 1 << 10, /* the number in the register's place says what it does: 7 compares */
	TESTS = 1 << 11,   /* the same: 0 compares, the others are not known here */
	COUNTS = 1 << 12,  /* the same: 0 and 1 count */
	GROUP = ARITHMETIC | TESTS | COUNTS,
};

/* By code; 0x100 more: after the byte 0F. */
static const struct {
	uint16_t first, last, form;
} spin_forms[] = {
	{ 0x01, 0x01, MODRM | TO_RM }, { 0x03, 0x03, MODRM | TO_REG }, { 0x21, 0x21, MODRM | TO_RM }, { 0x23, 0x23, MODRM | TO_REG }, /* add, and */
	{ 0x29, 0x29, MODRM | TO_RM }, { 0x2b, 0x2b, MODRM | TO_REG }, /* sub */
	{ 0x31, 0x31, MODRM | TO_RM | CLEARS }, { 0x33, 0x33, MODRM | TO_REG | CLEARS }, /* xor */
	{ 0x38, 0x3b, MODRM }, { 0x3c, 0x3c, BYTE }, { 0x3d, 0x3d, WORD }, /* cmp */
	{ 0x63, 0x63, MODRM | TO_REG | FRESH }, { 0x70, 0x7f, JUMPS | BYTE },
	{ 0x80, 0x80, MODRM | ARITHMETIC | BYTE }, { 0x81, 0x81, MODRM | ARITHMETIC | WORD }, { 0x83, 0x83, MODRM | ARITHMETIC | BYTE },
	{ 0x84, 0x85, MODRM },          /* test */
	{ 0x86, 0x87, MODRM | TO_REG }, /* xchg: all threads that wait write the same */
	{ 0x88, 0x89, MODRM | TO_RM | FRESH }, { 0x8a, 0x8b, MODRM | TO_REG | FRESH }, { 0x8d, 0x8d, MODRM | TO_REG | FRESH }, /* mov, lea */
	{ 0x90, 0x90, 0 }, { 0xa8, 0xa8, BYTE }, { 0xa9, 0xa9, WORD }, { 0xb0, 0xb7, TO_CODE | BYTE }, { 0xb8, 0xbf, TO_CODE | WORD },
	{ 0xc7, 0xc7, MODRM | TO_RM | FRESH | TESTS | WORD }, /* mov of a constant */
	{ 0xe9, 0xe9, JUMPS | WORD }, { 0xeb, 0xeb, JUMPS | BYTE },
	{ 0xf6, 0xf6, MODRM | TESTS | BYTE }, { 0xf7, 0xf7, MODRM | TESTS | WORD }, { 0xff, 0xff, MODRM | COUNTS },
	{ 0x11f, 0x11f, MODRM }, { 0x180, 0x18f, JUMPS | WORD }, { 0x190, 0x19f, MODRM | TO_RM | FRESH },
	{ 0x1b0, 0x1b1, MODRM | TO_AX }, /* cmpxchg, as xchg */
	{ 0x1b6, 0x1b7, MODRM | TO_REG | FRESH }, { 0x1be, 0x1bf, MODRM | TO_REG | FRESH },
};

static int64_t spin_distance(const uint8_t *from, size_t bytes)
{
	int8_t near;
	int32_t far;

	memcpy(&near, from, sizeof near);
	if (bytes == 1)
		return near;
	memcpy(&far, from, sizeof far);
	return far;
}

#define SLOTS 32 /* variables of four bytes; half of them lies below the stack's pointer */

/* The bit of a variable on the stack, from ModRM on; 0: it is another place in memory, or too far from the pointer. */
static uint64_t spin_slot(const uint8_t *at, unsigned rex)
{
	int64_t place = at[0] >> 6 == 1 ? spin_distance(at + 2, 1) : 0;

	if (at[0] >> 6 > 1 || (at[0] & 7) != 4 || at[1] != 0x24 || rex & 3 || place % 4 || place < -2 * SLOTS || place >= 2 * SLOTS)
		return 0;
	return 1ull << (FIRST_SLOT + (unsigned)(place / 4 + SLOTS / 2));
}

/* ModRM and what belongs to it. Returns its bytes; 0: the instruction is none of these. */
static size_t spin_take_operands(struct spin *spin, unsigned form, const uint8_t *at, unsigned rex)
{
	unsigned mod = at[0] >> 6, place = at[0] >> 3 & 7, rm = (at[0] & 7) | (rex << 3 & 8);
	bool memory = mod != 3, scaled = memory && (at[0] & 7) == 4, fresh;
	uint64_t reg = 1ull << (place | (rex << 1 & 8)), slot = memory ? spin_slot(at, rex) : 0, to, from;

	if (scaled) {
		unsigned index = (at[1] >> 3 & 7) | (rex << 2 & 8);

		spin->reads |= index != 4 ? 1ull << index : 0;
		rm = (at[1] & 7) | (rex << 3 & 8);
	}
	if (memory && ((rm & 7) != 5 || mod))
		spin->reads |= 1ull << rm;
	from = memory ? slot : 1ull << rm;
	if (form & ARITHMETIC && place != 7)
		form |= TO_RM;
	if (form & COUNTS)
		form |= TO_RM;
	if ((form & TO_RM && !from) || (form & TESTS && place) || (form & COUNTS && place > 1))
		return 0;
	fresh = form & FRESH || (form & CLEARS && reg == from);
	to = form & TO_REG ? reg : form & TO_RM ? from : form & TO_AX ? 1 : 0;
	spin->writes |= to;
	spin->reads |= ((form & GROUP ? 0 : reg) | from | to) & ~(fresh ? to : 0);
	return 1u + scaled + (mod == 1 ? 1 : mod == 2 || (!mod && (rm & 7) == 5) ? 4 : 0);
}

/* `code` has more bytes than an instruction can have. */
static struct spin spin_at(const uint8_t *code)
{
	struct spin spin = { 0 };
	bool word = false;
	unsigned rex = 0, number;
	size_t at = 0;

	if (code[0] == 0xf3 && code[1] == 0x90)
		return (struct spin){ .bytes = 2, .pauses = true };
	for (; at < 4 && (code[at] == 0x66 || code[at] == 0xf0 || code[at] == 0x2e || code[at] == 0x64); at++) /* lock, segments */
		word |= code[at] == 0x66;
	if ((code[at] & 0xf0) == 0x40)
		rex = code[at++];
	number = code[at++];
	if (number == 0x0f)
		number = 0x100u | code[at++];
	for (size_t i = 0; i < sizeof spin_forms / sizeof *spin_forms; i++) {
		unsigned form = spin_forms[i].form;
		size_t operands, constant = form & BYTE ? 1 : !(form & WORD) ? 0 : word ? 2 : 4;

		if (number < spin_forms[i].first || number > spin_forms[i].last)
			continue;
		operands = form & MODRM ? spin_take_operands(&spin, form, code + at, rex) : 0;
		if ((form & MODRM && !operands) || (form & TO_CODE && form & WORD && rex & 8) || (form & JUMPS && word))
			return spin;
		spin.writes |= form & TO_CODE ? 1ull << ((number & 7) | (rex << 3 & 8)) : 0;
		spin.reads |= number >= 0x3c && number <= 0xa9 && !(form & (MODRM | JUMPS)) && constant ? 1 : 0; /* ax */
		spin.bytes = at + operands + constant;
		spin.jumps = form & JUMPS;
		spin.target = spin.jumps ? (int64_t)spin.bytes + spin_distance(code + at, constant) : 0;
	}
	return spin;
}

#elif defined(__aarch64__)

static int64_t spin_distance(uint32_t code, unsigned from, unsigned bits)
{
	return (int64_t)((uint64_t)(code >> from) << (64 - bits)) >> (64 - bits) << 2;
}

static struct spin spin_at(const uint8_t *at)
{
	static const struct {
		uint32_t mask, code;
		uint8_t reads, to, distance; /* reads: 1 bits 5 to 9, 2 also bits 16 to 20, 4 bits 0 to 4 */
	} forms[] = {
		{ 0x3fc00000, 0x39400000, 1, 1, 0 }, { 0x3fe00c00, 0x38400000, 1, 1, 0 },  /* ldr, ldur */
		{ 0x3ffffc00, 0x08dffc00, 1, 1, 0 }, { 0x3ffffc00, 0x38bfc000, 1, 1, 0 },  /* ldar, ldapr */
		{ 0x3fff7c00, 0x085f7c00, 1, 1, 0 }, { 0x7fe0ffe0, 0x2a0003e0, 2, 1, 0 },  /* ldxr, mov */
		{ 0x7f80001f, 0x7100001f, 1, 0, 0 }, { 0x7f80001f, 0x7200001f, 1, 0, 0 },  /* cmp, tst with a constant */
		{ 0x7f00001f, 0x6b00001f, 3, 0, 0 }, { 0x7f20001f, 0x6a00001f, 3, 0, 0 },  /* with a register */
		{ 0x7f800000, 0x11000000, 1, 1, 0 },                                       /* add of a constant */
		{ 0xff000010, 0x54000000, 0, 0, 19 }, { 0x7e000000, 0x34000000, 4, 0, 19 }, /* b.cond, cbz */
		{ 0x7e000000, 0x36000000, 4, 0, 14 }, { 0xfc000000, 0x14000000, 0, 0, 26 }, /* tbz, b */
		{ 0xffffffff, 0xd503201f, 0, 0, 0 }, { 0xfffff0ff, 0xd50330bf, 0, 0, 0 },  /* nop, dmb */
	};
	struct spin spin = { 0 };
	uint32_t code;

	memcpy(&code, at, sizeof code);
	if (code == 0xd503203f || code == 0xd503205f || code == 0xd5033fdf) /* yield, wfe, isb */
		return (struct spin){ .bytes = 4, .pauses = true };
	if ((code & 0xff8003e0) == 0xb90003e0 && (code >> 10 & 0xfff) < 64 - FIRST_SLOT) { /* ldr and str of a variable on the stack */
		uint64_t slot = 1ull << (FIRST_SLOT + (code >> 10 & 0xfff)), reg = 1ull << (code & 31) & ~(1ull << 31);
		bool loads = code & 1u << 22;

		return (struct spin){ .bytes = 4, .reads = loads ? slot : reg, .writes = loads ? reg : slot };
	}
	for (size_t i = 0; i < sizeof forms / sizeof *forms && !spin.bytes; i++)
		if ((code & forms[i].mask) == forms[i].code) {
			spin.bytes = 4;
			spin.jumps = forms[i].distance;
			spin.target = spin.jumps ? spin_distance(code, forms[i].distance == 26 ? 0 : 5, forms[i].distance) : 0;
			spin.writes = forms[i].to ? 1u << (code & 31) : 0;
			spin.reads = (forms[i].reads & 1 ? 1u << (code >> 5 & 31) : 0) | (forms[i].reads & 2 ? 1u << (code >> 16 & 31) : 0) |
			             (forms[i].reads & 4 ? 1u << (code & 31) : 0);
			spin.reads &= ~(1u << 31); /* zero */
		}
	return spin;
}

#else

static struct spin spin_at(const uint8_t *code)
{
	(void)code;
	return (struct spin){ 0 };
}

#endif

#define MOST_BYTES 20u /* of an instruction, as spin_at() may look at them */

/* Whether all of a loop is known, `at` is one of its instructions, and it spins. `around`: it lies around another loop. That one
 * counts a pause if it does so in a variable on the stack; a compiler removes one that counts in a register. */
static bool spin_is_loop(const uint8_t *code, size_t begin, size_t end, size_t at, bool around)
{
	uint64_t all = 0, fresh = 0;
	bool pauses = false, carries = false, on_it = false;
	struct spin spin;

	for (size_t place = begin; place < end; place += spin.bytes) {
		spin = spin_at(code + place);
		if (!spin.bytes)
			return false;
		all |= spin.writes;
		pauses |= spin.pauses;
		on_it |= place == at;
	}
	for (size_t place = begin; place < end; place += spin.bytes) {
		spin = spin_at(code + place);
		carries |= (spin.reads & all & ~fresh) != 0;
		fresh |= spin.writes;
	}
	return on_it && (!around || all >> FIRST_SLOT) && (pauses || !carries);
}

bool dw_spin_loop(const uint8_t *code, size_t bytes, size_t at)
{
	bool around = false;
	struct spin spin;

	for (size_t place = at; place < at + DW_SPIN_BYTES && place + MOST_BYTES <= bytes; place += spin.bytes) {
		int64_t begin;

		spin = spin_at(code + place);
		begin = (int64_t)place + spin.target;
		if (!spin.bytes)
			return false;
		if (!spin.jumps || begin > (int64_t)at)
			continue;
		if (begin < 0 || place + spin.bytes - (size_t)begin > DW_SPIN_BYTES)
			return false;
		if (spin_is_loop(code, (size_t)begin, place + spin.bytes, at, around))
			return true;
		around = true;
	}
	return false;
}
