/*
 * Reads one instruction of x86-64; see instruction.h.
 *
 * Two tables say for each opcode what follows it:
 *   .  nothing          m  an operand (ModRM)         B  an operand and 8 bits    I  an operand and 32 bits
 *   b  8 bits           i  32 bits                    v  32 or 64 bits            w  16 bits     e  24 bits
 *   j  a distance of 8 bits      J  of 32 bits        q  an address
 *   g  an operand, and 8 bits if it is a test         G  the same with 32 bits
 *   p  it is a prefix   R  REX   V  VEX or EVEX       2  the opcode is longer     -  there is no such instruction
 * 32 bits are 16 after the prefix 66.
 */
#include "base/code/instruction.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const char one[257] =
	"mmmmbi--mmmmbi-2" "mmmmbi--mmmmbi--" "mmmmbip-mmmmbip-" "mmmmbip-mmmmbip-"
	"RRRRRRRRRRRRRRRR" "................" "--VmppppiIbB...." "jjjjjjjjjjjjjjjj"
	"BI-Bmmmmmmmmmmmm" "..........-....." "qqqq....bi......" "bbbbbbbbvvvvvvvv"
	"BBw.VVBIe.w..b-." "mmmm---.mmmmmmmm" "jjjjbbbbJJ-j...." "p.pp..gG......mm";
/* after 0f */
static const char two[257] =
	"mmmm-.....-.-m.-" "mmmmmmmmmmmmmmmm" "mmmm----mmmmmmmm" "......-.2-2-----"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm"
	"JJJJJJJJJJJJJJJJ" "mmmmmmmmmmmmmmmm" "...mBm--...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";
/* clang-format on */

struct reader {
	const uint8_t *code;
	unsigned size, at;
	bool halved, wide, narrow; /* the prefixes 66, REX.W and 67 */
	bool vector;               /* VEX or EVEX */
	uint8_t map;               /* 1: the opcode was after 0f, 2: 0f 38, 3: 0f 3a */
	uint8_t opcode, operand;   /* the first byte of the operand */
};

static uint8_t instruction_next(struct reader *reader)
{
	return reader->at < reader->size ? reader->code[reader->at++] : 0;
}

static void instruction_read_prefixes(struct reader *reader)
{
	while (reader->at < reader->size && one[reader->code[reader->at]] == 'p') {
		reader->halved |= reader->code[reader->at] == 0x66;
		reader->narrow |= reader->code[reader->at] == 0x67;
		reader->at++;
	}
	if (reader->at < reader->size && one[reader->code[reader->at]] == 'R')
		reader->wide = reader->code[reader->at++] >> 3 & 1;
}

/* What follows the opcode, by the tables' letters; '-': it is not known. */
static char instruction_read_vector(struct reader *reader)
{
	uint8_t first = reader->code[reader->at - 1], fields = instruction_next(reader);

	reader->vector = true;
	reader->map = 1;
	if (first == 0xc4) {
		reader->map = fields & 31;
		reader->wide = instruction_next(reader) >> 7;
	} else if (first == 0x62) {
		reader->map = fields & 7;
		reader->at += 2;
	}
	reader->opcode = instruction_next(reader);
	if (reader->map == 2 || (first == 0x62 && (reader->map == 5 || reader->map == 6)))
		return 'm';
	if (reader->map == 3)
		return 'B';
	return reader->map == 1 && strchr("mB.", two[reader->opcode]) ? two[reader->opcode] : '-';
}

static char instruction_read_opcode(struct reader *reader)
{
	char follows;

	reader->opcode = instruction_next(reader);
	follows = one[reader->opcode];
	if (follows == 'V')
		return instruction_read_vector(reader);
	if (follows != '2')
		return follows;
	reader->map = 1;
	reader->opcode = instruction_next(reader);
	follows = two[reader->opcode];
	if (follows != '2')
		return follows;
	reader->map = reader->opcode == 0x38 ? 2 : 3;
	reader->opcode = instruction_next(reader);
	return reader->map == 2 ? 'm' : 'B';
}

static void instruction_read_operand(struct reader *reader, struct dw_instruction *to)
{
	uint8_t form = instruction_next(reader), mod = form >> 6, base = form & 7;

	reader->operand = form;
	if (mod == 3)
		return;
	if (base == 4) {
		base = instruction_next(reader) & 7;
		to->on_stack = base == 4;
		reader->at += mod == 0 && base == 5 ? 4 : 0;
	} else if (mod == 0 && base == 5) {
		to->distance_at = reader->at;
		reader->at += 4;
	}
	reader->at += mod == 1 ? 1 : mod == 2 ? 4 : 0;
}

static unsigned instruction_constant(const struct reader *reader, char follows)
{
	unsigned full = reader->halved && !reader->wide ? 2 : 4;
	bool tests = (reader->operand >> 3 & 7) < 2;

	switch (follows) {
	case 'b':
	case 'B':
	case 'j':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'i':
	case 'I':
		return full;
	case 'J':
		return 4;
	case 'v':
		return reader->wide ? 8 : full;
	case 'q':
		return reader->narrow ? 4 : 8;
	case 'g':
		return tests ? 1 : 0;
	case 'G':
		return tests ? full : 0;
	default:
		return 0;
	}
}

/* False: what follows is no such instruction, or one that is not known. */
static bool instruction_classify(const struct reader *reader, struct dw_instruction *to)
{
	uint8_t opcode = reader->opcode, more = reader->operand >> 3 & 7;

	if (reader->vector || reader->map > 1)
		return true;
	if (reader->map == 1) {
		if ((opcode & 0xf0) == 0x80)
			to->kind = DW_X86_BRANCH;
		else if (opcode == 0x05 || opcode == 0x07 || opcode == 0x0b || opcode == 0x34 || opcode == 0x35 ||
		         opcode == 0xb9 || opcode == 0xff)
			to->kind = DW_X86_SPECIAL;
		return true;
	}
	if ((opcode & 0xf0) == 0x70)
		to->kind = DW_X86_BRANCH;
	else if ((opcode & 0xfc) == 0xe0)
		to->kind = DW_X86_LOOP;
	else if (opcode == 0xe9 || opcode == 0xeb)
		to->kind = DW_X86_JUMP;
	else if (opcode == 0xe8)
		to->kind = DW_X86_CALL;
	else if (opcode == 0xc2 || opcode == 0xc3 || opcode == 0xca || opcode == 0xcb || opcode == 0xcf)
		to->kind = DW_X86_RETURN;
	else if (opcode == 0xcc || opcode == 0xcd || opcode == 0xf1 || opcode == 0xf4)
		to->kind = DW_X86_SPECIAL;
	else if (opcode == 0xff && (more == 2 || more == 4))
		to->kind = more == 2 ? DW_X86_CALL_INDIRECT : DW_X86_JUMP_INDIRECT;
	/* Far calls; XOP; transactions: what ends them is relative to them. */
	return !(opcode == 0xff && (more == 3 || more == 5 || more == 7)) && !(opcode == 0x8f && more) &&
	       !((opcode == 0xc6 || opcode == 0xc7) && more);
}

bool dw_instruction_read(const uint8_t *code, unsigned size, struct dw_instruction *to)
{
	struct reader reader = { .code = code, .size = size < DW_INSTRUCTION_MOST ? size : DW_INSTRUCTION_MOST };
	unsigned constant;
	char follows;

	*to = (struct dw_instruction){ 0 };
	instruction_read_prefixes(&reader);
	to->opcode = reader.at;
	follows = instruction_read_opcode(&reader);
	if (strchr("-pRV2", follows))
		return false;
	if (strchr("mBIgG", follows))
		instruction_read_operand(&reader, to);
	constant = instruction_constant(&reader, follows);
	to->bytes = reader.at + constant;
	if (to->bytes > reader.size || ((follows == 'J' || follows == 'j') && reader.halved && !reader.wide) ||
	    (to->distance_at && reader.narrow))
		return false;
	if (follows == 'J')
		memcpy(&to->distance, code + reader.at, sizeof to->distance);
	else if (follows == 'j')
		to->distance = (int8_t)code[reader.at];
	else if (to->distance_at)
		memcpy(&to->distance, code + to->distance_at, sizeof to->distance);
	return instruction_classify(&reader, to);
}
