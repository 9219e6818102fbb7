/* See code_loop.h. A loop is what lies between a jump back and its target. */
#include "base/code/code_loop.h"

#include <string.h>

#define MOST_SPIN 64u /* bytes of a loop that spins */

/* An instruction that such loops have. Registers are bits, and so are variables on the stack, as a pause that counts has one. */
struct instruction {
	size_t bytes;      /* 0: it is none of them */
	bool pauses, jumps;
	bool always;       /* it jumps without a condition */
	bool moves;        /* what it writes is what it reads, perhaps in another order, or a constant */
	bool loads, stores; /* memory, except variables that have a bit */
	bool on_stack;     /* this memory belongs to the function */
	bool vector;
	int64_t target;    /* of a jump, from the begin of the instruction */
	uint64_t reads, writes;
	uint64_t addresses; /* what is read to find a place in memory */
	uint64_t advances;  /* the same, if it is moved on afterwards */
};

#define FIRST_SLOT 32u /* the bit of the first variable on the stack; those below are registers */

#if defined(__x86_64__)

#define FIRST_VECTOR 16u /* the bit of the first vector register */

enum code_form {
	MODRM = 1 << 0,    /* has the byte ModRM: a register, and a register or memory ("rm") */
	BYTE = 1 << 1,     /* ends with a constant or distance of one byte */
	WORD = 1 << 2,     /* of four; of two with the prefix 66 */
	JUMPS = 1 << 3,
	TO_REG = 1 << 4,   /* writes the register */
	TO_RM = 1 << 5,
	TO_CODE = 1 << 6,  /* writes the register whose number is in the code of the instruction */
	TO_AX = 1 << 7,
	FRESH = 1 << 8,    /* the former value of what it writes is not used */
	CLEARS = 1 << 9,   /* FRESH, and a constant, if both registers are the same */
	ARITHMETIC = 1 << 10, /* ModRM has a number in place of the register, which says what it does: 7 compares */
	TESTS = 1 << 11,   /* such a number: 0 compares or moves, the others are not known here */
	COUNTS = 1 << 12,  /* such a number: 0 adds one, 1 subtracts one, the others are not known here */
	SHIFTS = 1 << 13,  /* such a number: each shifts or rotates, in its own way */
	MOVES = 1 << 14,   /* writes what it reads, unchanged */
	VECTOR = 1 << 15,  /* both registers are vectors */
	GENERAL = 1 << 16, /* of VECTOR: rm is a general register */
	PLACE = 1 << 17,   /* rm is a place in memory that is not read */
	GROUP = ARITHMETIC | TESTS | COUNTS | SHIFTS,
	LOADS_VECTOR = MODRM | TO_REG | FRESH | MOVES | VECTOR,
	STORES_VECTOR = MODRM | TO_RM | FRESH | MOVES | VECTOR,
	MIXES_VECTORS = MODRM | TO_REG | MOVES | VECTOR, /* parts of both, in another order */
};

/* By code; 0x100 more: after the byte 0F; 0x200: after 0F 38; 0x300: after 0F 3A. */
static const struct {
	uint16_t first, last;
	uint32_t form;
} code_forms[] = {
	{ 0x01, 0x01, MODRM | TO_RM }, { 0x03, 0x03, MODRM | TO_REG }, { 0x09, 0x09, MODRM | TO_RM }, { 0x0b, 0x0b, MODRM | TO_REG }, /* add, or */
	{ 0x21, 0x21, MODRM | TO_RM }, { 0x23, 0x23, MODRM | TO_REG }, { 0x29, 0x29, MODRM | TO_RM }, { 0x2b, 0x2b, MODRM | TO_REG }, /* and, sub */
	{ 0x31, 0x31, MODRM | TO_RM | CLEARS }, { 0x33, 0x33, MODRM | TO_REG | CLEARS }, /* xor */
	{ 0x05, 0x05, TO_AX | WORD }, { 0x25, 0x25, TO_AX | WORD }, { 0x2d, 0x2d, TO_AX | WORD }, /* add, and, sub of a constant */
	{ 0x38, 0x3b, MODRM }, { 0x3c, 0x3c, BYTE }, { 0x3d, 0x3d, WORD }, /* cmp */
	{ 0x63, 0x63, MODRM | TO_REG | FRESH | MOVES }, { 0x69, 0x69, MODRM | TO_REG | FRESH | WORD }, { 0x6b, 0x6b, MODRM | TO_REG | FRESH | BYTE }, /* movslq, imul */
	{ 0x70, 0x7f, JUMPS | BYTE },
	{ 0x80, 0x80, MODRM | ARITHMETIC | BYTE }, { 0x81, 0x81, MODRM | ARITHMETIC | WORD }, { 0x83, 0x83, MODRM | ARITHMETIC | BYTE },
	{ 0x84, 0x85, MODRM },          /* test */
	{ 0x86, 0x87, MODRM | TO_REG }, /* xchg: all threads that wait write the same */
	{ 0x88, 0x89, MODRM | TO_RM | FRESH | MOVES }, { 0x8a, 0x8b, MODRM | TO_REG | FRESH | MOVES }, { 0x8d, 0x8d, MODRM | TO_REG | FRESH | PLACE }, /* mov, lea */
	{ 0x90, 0x90, 0 }, { 0x98, 0x98, TO_AX }, /* cltq */ { 0xa8, 0xa8, BYTE }, { 0xa9, 0xa9, WORD }, { 0xb0, 0xb7, TO_CODE | BYTE | MOVES }, { 0xb8, 0xbf, TO_CODE | WORD | MOVES },
	{ 0xc1, 0xc1, MODRM | SHIFTS | BYTE },
	{ 0xc6, 0xc6, MODRM | TO_RM | FRESH | TESTS | BYTE | MOVES }, { 0xc7, 0xc7, MODRM | TO_RM | FRESH | TESTS | WORD | MOVES }, /* mov of a constant */
	{ 0xd1, 0xd1, MODRM | SHIFTS },
	{ 0xe9, 0xe9, JUMPS | WORD }, { 0xeb, 0xeb, JUMPS | BYTE },
	{ 0xf6, 0xf6, MODRM | TESTS | BYTE }, { 0xf7, 0xf7, MODRM | TESTS | WORD }, { 0xff, 0xff, MODRM | COUNTS },
	{ 0x110, 0x110, LOADS_VECTOR }, { 0x111, 0x111, STORES_VECTOR }, { 0x112, 0x112, MIXES_VECTORS }, { 0x113, 0x113, STORES_VECTOR },
	{ 0x114, 0x116, MIXES_VECTORS }, { 0x117, 0x117, STORES_VECTOR }, { 0x128, 0x128, LOADS_VECTOR }, { 0x129, 0x129, STORES_VECTOR },
	{ 0x12b, 0x12b, STORES_VECTOR }, { 0x157, 0x157, MODRM | TO_REG | CLEARS | VECTOR }, { 0x160, 0x162, MIXES_VECTORS },
	{ 0x168, 0x16a, MIXES_VECTORS }, { 0x16c, 0x16d, MIXES_VECTORS }, { 0x16e, 0x16e, LOADS_VECTOR | GENERAL }, { 0x16f, 0x16f, LOADS_VECTOR },
	{ 0x170, 0x170, LOADS_VECTOR | BYTE }, { 0x17e, 0x17e, STORES_VECTOR | GENERAL }, { 0x17f, 0x17f, STORES_VECTOR },
	{ 0x1c4, 0x1c4, MIXES_VECTORS | GENERAL | BYTE }, { 0x1c6, 0x1c6, MIXES_VECTORS | BYTE }, { 0x1d6, 0x1d6, STORES_VECTOR },
	{ 0x1e7, 0x1e7, STORES_VECTOR }, { 0x1ef, 0x1ef, MODRM | TO_REG | CLEARS | VECTOR },
	{ 0x218, 0x21a, LOADS_VECTOR }, { 0x258, 0x25a, LOADS_VECTOR }, { 0x278, 0x279, LOADS_VECTOR }, { 0x216, 0x216, MIXES_VECTORS }, { 0x236, 0x236, MIXES_VECTORS },
	{ 0x300, 0x301, LOADS_VECTOR | BYTE }, { 0x304, 0x305, LOADS_VECTOR | BYTE }, { 0x306, 0x306, MIXES_VECTORS | BYTE }, { 0x30f, 0x30f, MIXES_VECTORS | BYTE },
	{ 0x316, 0x316, STORES_VECTOR | GENERAL | BYTE }, { 0x317, 0x317, STORES_VECTOR | GENERAL | BYTE }, { 0x318, 0x318, MIXES_VECTORS | BYTE },
	{ 0x319, 0x319, STORES_VECTOR | BYTE }, { 0x321, 0x321, MIXES_VECTORS | BYTE }, { 0x322, 0x322, MIXES_VECTORS | GENERAL | BYTE },
	{ 0x338, 0x338, MIXES_VECTORS | BYTE }, { 0x339, 0x339, STORES_VECTOR | BYTE }, { 0x346, 0x346, MIXES_VECTORS | BYTE },
	{ 0x11f, 0x11f, MODRM | PLACE }, { 0x180, 0x18f, JUMPS | WORD }, { 0x190, 0x19f, MODRM | TO_RM | FRESH }, { 0x1af, 0x1af, MODRM | TO_REG },
	{ 0x1b0, 0x1b1, MODRM | TO_AX }, /* cmpxchg, as xchg */
	{ 0x1b6, 0x1b7, MODRM | TO_REG | FRESH | MOVES }, { 0x1be, 0x1bf, MODRM | TO_REG | FRESH | MOVES },
};

static int64_t code_distance(const uint8_t *from, size_t bytes)
{
	int8_t near;
	int32_t far;

	memcpy(&near, from, sizeof near);
	if (bytes == 1)
		return near;
	memcpy(&far, from, sizeof far);
	return far;
}

/* The prefixes of an instruction. */
struct code_prefix {
	unsigned rex;    /* the bits W, R, X and B */
	bool word;       /* 66 */
	unsigned repeat; /* F2, F3 or 0 */
	bool vex;
	uint64_t second; /* of VEX: the bit of the first source; 0: it has none */
	unsigned page;   /* 0x100: the code comes after the byte 0F, and so on */
};

#define SLOTS 32 /* variables of four bytes; half of them lies below the stack's pointer */

/* The bit of a variable on the stack, from ModRM on; 0: it is another place in memory, or too far from the pointer. */
static uint64_t code_slot(const uint8_t *at, unsigned rex)
{
	int64_t place = at[0] >> 6 == 1 ? code_distance(at + 2, 1) : 0;

	if (at[0] >> 6 > 1 || (at[0] & 7) != 4 || at[1] != 0x24 || rex & 3 || place % 4 || place < -2 * SLOTS || place >= 2 * SLOTS)
		return 0;
	return 1ull << (FIRST_SLOT + (unsigned)(place / 4 + SLOTS / 2));
}

/* Whether a place in memory is relative to the stack's pointer, or below that of the frame. */
static bool code_is_on_stack(const uint8_t *at, unsigned rex)
{
	unsigned mod = at[0] >> 6;

	if ((at[0] & 7) == 4)
		return at[1] == 0x24 && !(rex & 3);
	return (at[0] & 7) == 5 && mod && !(rex & 1) && code_distance(at + 1, mod == 1 ? 1 : 4) < 0;
}

/* ModRM and what belongs to it. Returns its bytes; 0: the instruction is none of these. */
static size_t code_take_operands(struct instruction *code, uint32_t form, const uint8_t *at, const struct code_prefix *prefix)
{
	unsigned mod = at[0] >> 6, place = at[0] >> 3 & 7, rm = (at[0] & 7) | (prefix->rex << 3 & 8), first = form & VECTOR ? FIRST_VECTOR : 0;
	bool memory = mod != 3, scaled = memory && (at[0] & 7) == 4, clears;
	uint64_t reg = 1ull << (first + (place | (prefix->rex << 1 & 8))), slot = memory && !first ? code_slot(at, prefix->rex) : 0;
	uint64_t from = memory ? slot : 1ull << ((form & GENERAL ? 0 : first) + rm), to;

	if (form & (TESTS | COUNTS) && place > (form & COUNTS ? 1 : 0))
		return 0;
	if (form & (COUNTS | SHIFTS) || (form & ARITHMETIC && place != 7))
		form |= TO_RM;
	if (scaled) {
		unsigned index = (at[1] >> 3 & 7) | (prefix->rex << 2 & 8);

		code->addresses |= index != 4 ? 1ull << index : 0;
		rm = (at[1] & 7) | (prefix->rex << 3 & 8);
	}
	if (memory && ((rm & 7) != 5 || mod))
		code->addresses |= 1ull << rm;
	clears = form & CLEARS && from == (prefix->vex ? prefix->second : reg);
	to = form & TO_REG ? reg : form & TO_RM ? from : form & TO_AX ? 1 : 0;
	code->writes |= to;
	if (prefix->vex && !(form & TO_RM))
		code->reads |= clears ? 0 : prefix->second | from;
	else
		code->reads |= ((form & GROUP ? 0 : reg) | from | to) & ~(form & FRESH || clears ? to : 0);
	code->moves = form & MOVES || clears;
	code->on_stack = memory && code_is_on_stack(at, prefix->rex);
	code->stores = memory && form & TO_RM && !slot;
	code->loads = memory && !(form & (TO_RM | PLACE)) && !slot;
	return 1u + scaled + (mod == 1 ? 1 : mod == 2 || (!mod && (rm & 7) == 5) ? 4 : 0);
}

/* Returns the bytes before the code. */
static size_t code_take_prefix(const uint8_t *code, struct code_prefix *prefix)
{
	size_t at = 0;

	for (; at < 4 && (code[at] == 0x66 || code[at] == 0xf0 || code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x2e || code[at] == 0x64); at++) {
		prefix->word |= code[at] == 0x66;
		prefix->repeat = (code[at] & 0xfe) == 0xf2 ? code[at] : prefix->repeat;
	}
	if (code[at] == 0xc4 || code[at] == 0xc5) {
		const uint8_t *last = code + at + (code[at] == 0xc4 ? 2 : 1);

		prefix->vex = true;
		prefix->rex = (~code[at + 1] >> 5 & (code[at] == 0xc4 ? 7 : 4)) | (code[at] == 0xc4 ? *last >> 4 & 8 : 0);
		prefix->page = code[at] == 0xc4 ? (code[at + 1] & 3u) << 8 : 0x100;
		prefix->second = (*last >> 3 & 15) == 15 ? 0 : 1ull << (FIRST_VECTOR + (~*last >> 3 & 15u));
		prefix->repeat = (*last & 3) == 2 ? 0xf3 : (*last & 3) == 3 ? 0xf2 : 0;
		return (size_t)(last + 1 - code);
	}
	if ((code[at] & 0xf0) == 0x40)
		prefix->rex = code[at++];
	if (code[at] != 0x0f)
		return at;
	prefix->page = code[at + 1] == 0x38 ? 0x200 : code[at + 1] == 0x3a ? 0x300 : 0x100;
	return at + (prefix->page == 0x100 ? 1 : 2);
}

/* `code` has more bytes than an instruction can have. */
static struct instruction code_at(const uint8_t *code)
{
	struct instruction found = { 0 };
	struct code_prefix prefix = { 0 };
	size_t at = code_take_prefix(code, &prefix);
	unsigned number = prefix.page | code[at++];

	if (code[0] == 0xf3 && code[1] == 0x90)
		return (struct instruction){ .bytes = 2, .pauses = true };
	for (size_t i = 0; i < sizeof code_forms / sizeof *code_forms; i++) {
		uint32_t form = code_forms[i].form;
		size_t operands, constant = form & BYTE ? 1 : !(form & WORD) ? 0 : prefix.word ? 2 : 4;

		if (number < code_forms[i].first || number > code_forms[i].last)
			continue;
		if (number == 0x17e && prefix.repeat)
			form = LOADS_VECTOR;
		if (!(form & VECTOR) && (prefix.repeat || prefix.vex))
			return found;
		operands = form & MODRM ? code_take_operands(&found, form, code + at, &prefix) : 0;
		if ((form & MODRM && !operands) || (form & TO_CODE && form & WORD && prefix.rex & 8) || (form & JUMPS && prefix.word))
			return found;
		found.vector = form & VECTOR;
		found.moves |= (form & MOVES) != 0;
		found.writes |= form & TO_CODE ? 1ull << ((number & 7) | (prefix.rex << 3 & 8)) : 0;
		if (form & TO_AX && !(form & MODRM))
			found.writes = found.reads = 1;
		found.reads |= number >= 0x3c && number <= 0xa9 && !(form & (MODRM | JUMPS)) && constant ? 1 : 0; /* ax */
		found.bytes = at + operands + constant;
		found.jumps = form & JUMPS;
		found.always = found.jumps && number >= 0xe9 && number <= 0xeb;
		found.target = found.jumps ? (int64_t)found.bytes + code_distance(code + at, constant) : 0;
	}
	return found;
}

#elif defined(__aarch64__)

static int64_t code_distance(uint32_t code, unsigned from, unsigned bits)
{
	return (int64_t)((uint64_t)(code >> from) << (64 - bits)) >> (64 - bits) << 2;
}

#define FIRST_VECTOR 32u
#define ZERO (1ull << 31) /* no register, or the stack's pointer */

/* Loads and stores of one or two registers. */
static struct instruction code_of_memory(uint32_t code)
{
	bool pair = (code & 0x3a000000) == 0x28000000, near = (code & 0x3b200000) == 0x38000000, indexed = (code & 0x3b200c00) == 0x38200800;
	bool vector = code & 1u << 26, stores = pair || vector ? !(code & 1u << 22) : !(code & 3u << 22);
	uint64_t reg = 1ull << (code & 31) | (pair ? 1ull << (code >> 10 & 31) : 0), base = 1ull << (code >> 5 & 31);

	if ((!pair && !near && !indexed && (code & 0x3b000000) != 0x39000000) || (code & 0xc4c00000) == 0xc0800000) /* no prefetch */
		return (struct instruction){ 0 };
	reg = vector ? reg << FIRST_VECTOR : reg & ~ZERO;
	return (struct instruction){ .bytes = 4, .moves = true, .loads = !stores, .stores = stores, .vector = vector, .on_stack = base == ZERO,
		.reads = stores ? reg : 0, .writes = stores ? 0 : reg,
		.addresses = (base | (indexed ? 1ull << (code >> 16 & 31) : 0)) & ~ZERO,
		.advances = (pair && code & 1u << 23) || (near && code & 1u << 10) ? base & ~ZERO : 0 };
}

static struct instruction code_at(const uint8_t *at)
{
	enum { MOVES = 1, VECTOR = 2, LOADS = 4 };
	static const struct {
		uint32_t mask, code;
		uint8_t reads, to, distance, is; /* reads: 1 bits 5 to 9, 2 also bits 16 to 20, 4 bits 0 to 4, 8 bits 10 to 14 */
	} forms[] = {
		{ 0x3ffffc00, 0x08dffc00, 1, 1, 0, MOVES | LOADS }, { 0x3ffffc00, 0x38bfc000, 1, 1, 0, MOVES | LOADS },  /* ldar, ldapr */
		{ 0x3fff7c00, 0x085f7c00, 1, 1, 0, MOVES | LOADS }, { 0x7fe0ffe0, 0x2a0003e0, 2, 1, 0, MOVES },  /* ldxr, mov */
		{ 0x7f80001f, 0x7100001f, 1, 0, 0, 0 }, { 0x7f80001f, 0x7200001f, 1, 0, 0, 0 },  /* cmp, tst with a constant */
		{ 0x7f00001f, 0x6b00001f, 3, 0, 0, 0 }, { 0x7f20001f, 0x6a00001f, 3, 0, 0, 0 },  /* with a register */
		{ 0x1f800000, 0x11000000, 1, 1, 0, 0 }, { 0x1f000000, 0x0b000000, 3, 1, 0, 0 },  /* add, sub */
		{ 0x1f200000, 0x0a000000, 3, 1, 0, 0 }, { 0x7fe00000, 0x1b000000, 11, 1, 0, 0 }, /* and, orr; madd */
		{ 0x5f800000, 0x13000000, 1, 1, 0, 0 }, { 0x5f800000, 0x12800000, 0, 1, 0, MOVES }, /* sbfm, ubfm; a constant */
		{ 0xbf208c00, 0x0e000800, 3, 1, 0, MOVES | VECTOR }, { 0xbfe08400, 0x2e000000, 3, 1, 0, MOVES | VECTOR }, /* zip, uzp, trn; ext */
		{ 0xbfe0fc00, 0x0e000400, 1, 1, 0, MOVES | VECTOR }, { 0xffe0fc00, 0x5e000400, 1, 1, 0, MOVES | VECTOR }, /* dup */
		{ 0xffe08400, 0x6e000400, 5, 1, 0, MOVES | VECTOR },                                /* ins */
		{ 0xff000010, 0x54000000, 0, 0, 19, 0 }, { 0x7e000000, 0x34000000, 4, 0, 19, 0 }, /* b.cond, cbz */
		{ 0x7e000000, 0x36000000, 4, 0, 14, 0 }, { 0xfc000000, 0x14000000, 0, 0, 26, 0 }, /* tbz, b */
		{ 0xffffffff, 0xd503201f, 0, 0, 0, 0 }, { 0xfffff0ff, 0xd50330bf, 0, 0, 0, 0 },  /* nop, dmb */
	};
	struct instruction found;
	uint32_t code;

	memcpy(&code, at, sizeof code);
	if (code == 0xd503203f || code == 0xd503205f || code == 0xd5033fdf) /* yield, wfe, isb */
		return (struct instruction){ .bytes = 4, .pauses = true };
	if ((code & 0xff8003e0) == 0xb90003e0 && (code >> 10 & 0xfff) < 64 - FIRST_SLOT) { /* ldr and str of a variable on the stack */
		uint64_t slot = 1ull << (FIRST_SLOT + (code >> 10 & 0xfff)), reg = 1ull << (code & 31) & ~ZERO;
		bool loads = code & 1u << 22;

		return (struct instruction){ .bytes = 4, .moves = true, .reads = loads ? slot : reg, .writes = loads ? reg : slot };
	}
	found = code_of_memory(code);
	for (size_t i = 0; i < sizeof forms / sizeof *forms && !found.bytes; i++)
		if ((code & forms[i].mask) == forms[i].code) {
			unsigned first = forms[i].is & VECTOR ? FIRST_VECTOR : 0;

			found.bytes = 4;
			found.moves = forms[i].is & MOVES;
			found.vector = first;
			found.jumps = forms[i].distance;
			found.always = forms[i].distance == 26;
			found.loads = forms[i].is & LOADS;
			found.target = found.jumps ? code_distance(code, forms[i].distance == 26 ? 0 : 5, forms[i].distance) : 0;
			found.writes = forms[i].to ? 1ull << (first + (code & 31)) : 0;
			found.reads = (forms[i].reads & 1 ? 1ull << (first + (code >> 5 & 31)) : 0) | (forms[i].reads & 2 ? 1ull << (first + (code >> 16 & 31)) : 0) |
			              (forms[i].reads & 4 ? 1ull << (first + (code & 31)) : 0) | (forms[i].reads & 8 ? 1ull << (first + (code >> 10 & 31)) : 0);
			found.reads &= first ? ~0ull : ~ZERO;
			found.writes &= first ? ~0ull : ~ZERO;
		}
	return found;
}

#else

static struct instruction code_at(const uint8_t *code)
{
	(void)code;
	return (struct instruction){ 0 };
}

#endif

#define MOST_BYTES 20u /* of an instruction, as code_at() may look at them */

/* The instruction at a place of a loop. No bytes: the instruction is not known, or it jumps out of the loop without a condition, so
 * that this is no loop. */
static struct instruction loop_at(const uint8_t *code, size_t begin, size_t end, size_t place)
{
	struct instruction here = code_at(code + place);
	int64_t target = (int64_t)place + here.target;

	if (here.always && (target < (int64_t)begin || target >= (int64_t)end))
		here.bytes = 0;
	return here;
}

/* Whether all of a loop is known, `at` is one of its instructions, and it spins. `around`: it lies around another loop. That one
 * counts a pause if it does so in a variable on the stack; a compiler removes one that counts in a register. */
static bool loop_spins(const uint8_t *code, size_t begin, size_t end, size_t at, bool around)
{
	uint64_t all = 0, fresh = 0;
	bool pauses = false, loads = false, carries = false, on_it = false;
	struct instruction here;

	for (size_t place = begin; place < end; place += here.bytes) {
		here = loop_at(code, begin, end, place);
		if (!here.bytes || here.stores || here.vector)
			return false;
		all |= here.writes | here.advances;
		pauses |= here.pauses;
		loads |= here.loads;
		on_it |= place == at;
	}
	for (size_t place = begin; place < end; place += here.bytes) {
		here = code_at(code + place);
		carries |= ((here.reads | here.addresses) & all & ~fresh) != 0;
		fresh |= here.writes;
	}
	return on_it && (!around || all >> FIRST_SLOT) && (pauses || (loads && !carries));
}

/* What one pass through a loop knows of its registers: those that hold what was loaded from memory, and those that hold a result. */
struct loop_values {
	uint64_t loaded, computed;
	bool moved; /* something loaded was stored */
};

/* Follows one instruction. Returns false if the loop does more than to move data. */
static bool loop_follow(struct loop_values *values, const struct instruction *here)
{
	uint64_t loaded = values->loaded & here->reads, computed = values->computed & here->reads;

	if (here->jumps || (!here->writes && !here->stores)) /* compares no data, as a search or a sort does */
		return !loaded && !(here->loads && here->addresses & values->computed);
	values->computed |= here->advances;
	values->loaded &= ~here->advances;
	if (here->stores) {
		values->moved |= loaded && !here->on_stack;
		return here->on_stack || (here->moves && !computed);
	}
	values->loaded &= ~here->writes;
	values->computed &= ~here->writes;
	if (!here->moves || computed)
		values->computed |= here->writes;
	else if (loaded || (here->loads && !here->on_stack))
		values->loaded |= here->writes;
	return true;
}

static bool loop_moves(const uint8_t *code, size_t begin, size_t end, size_t at)
{
	struct loop_values values = { 0 };
	bool on_it = false;
	struct instruction here;

	for (unsigned pass = 0; pass < 2; pass++) /* what is loaded may be stored in the next pass */
		for (size_t place = begin; place < end; place += here.bytes) {
			here = loop_at(code, begin, end, place);
			if (!here.bytes || !loop_follow(&values, &here))
				return false;
			on_it |= place == at;
		}
	return on_it && values.moved;
}

enum dw_code_loop dw_code_loop(const uint8_t *code, size_t bytes, size_t at)
{
	bool around = false;
	struct instruction here;

	for (size_t place = at; place < at + DW_CODE_LOOP && place + MOST_BYTES <= bytes; place += here.bytes) {
		int64_t begin;
		size_t end;

		here = code_at(code + place);
		begin = (int64_t)place + here.target;
		end = place + here.bytes;
		if (!here.bytes)
			return DW_CODE_OTHER;
		if (!here.jumps || begin > (int64_t)at)
			continue;
		if (begin < 0 || end - (size_t)begin > DW_CODE_LOOP)
			return DW_CODE_OTHER;
		if (end - (size_t)begin <= MOST_SPIN && loop_spins(code, (size_t)begin, end, at, around))
			return DW_CODE_SPINS;
		if (loop_moves(code, (size_t)begin, end, at))
			return DW_CODE_MOVES;
		around = true;
	}
	return DW_CODE_OTHER;
}
