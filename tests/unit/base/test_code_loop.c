/* Loops that spin and loops that work, as compilers make them. */
#include "../check.h"

#include "base/spin_loop.h"

#if defined(__x86_64__)

#define CODE(...) { { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }) }

struct code {
	uint8_t bytes[40];
	size_t count;
};

/* Whether the loop spins at this byte of the code. */
static bool spins(const struct code *code, size_t start)
{
	uint8_t bytes[3 * DW_SPIN_BYTES] = { 0 };

	memcpy(bytes + DW_SPIN_BYTES, code->bytes, code->count);
	return dw_spin_loop(bytes, sizeof bytes, DW_SPIN_BYTES + start);
}

TEST(a_loop_that_reads_and_compares_spins)
{
	static const struct code codes[] = {
		CODE(0x8b, 0x05, 1, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf6),                         /* while (!flag) */
		CODE(0x8b, 0x05, 1, 0, 0, 0, 0x39, 0xf8, 0x7d, 10, 0x8b, 0x05, 1, 0, 0, 0, 0x85, 0xc0, 0x74, 0xec), /* (a < n && !b) */
		CODE(0xf3, 0x90, 0x8b, 0x05, 1, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf4),             /* with PAUSE */
		CODE(0xff, 0xc9, 0x74, 9, 0xf3, 0x90, 0x8b, 0x03, 0x85, 0xc0, 0x74, 0xf4),    /* with PAUSE, n times */
		CODE(0xb0, 1, 0x86, 0x07, 0xa8, 1, 0x75, 0xf8),                               /* test and set */
		CODE(0x89, 0xc8, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8),                         /* compare and swap */
		CODE(0x8b, 0x05, 1, 0, 0, 0, 0x2b, 0x05, 1, 0, 0, 0, 0x83, 0xf8, 7, 0x77, 0xef), /* a ring that is full */
		CODE(0x48, 0x8b, 0x07, 0x8b, 0x00, 0x85, 0xc0, 0x74, 0xf7),                   /* while (!**p) */
		CODE(0x66, 0x81, 0x3f, 5, 0, 0x75, 0xf9),                                     /* a constant of two bytes */
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		CHECK_EQ(spins(&codes[i], 0) ? i : 100, i);
	CHECK(spins(&codes[0], 6));
	CHECK(!spins(&codes[0], 7)); /* within an instruction */
}

/* for (; round == now;) for (volatile int pause = 0; pause < 30; pause++); */
TEST(a_loop_with_a_pause_that_counts_spins)
{
	static const struct code codes[] = {
		CODE(0xc7, 0x44, 0x24, 0xfc, 0, 0, 0, 0, 0x8b, 0x44, 0x24, 0xfc, 0x83, 0xc0, 1, 0x89, 0x44, 0x24, 0xfc, /* 8: the pause */
		     0x83, 0xf8, 0x1d, 0x7e, 0xf0, 0x8b, 0x05, 1, 0, 0, 0, 0x39, 0xf8, 0x74, 0xde),
		CODE(0xc7, 0x04, 0x24, 0, 0, 0, 0, 0x83, 0x04, 0x24, 1, 0x83, 0x3c, 0x24, 0x1d, 0x7e, 0xf6, /* 7: the pause */
		     0x8b, 0x05, 1, 0, 0, 0, 0x39, 0xf8, 0x74, 0xe5),
	};

	CHECK(spins(&codes[0], 0) && spins(&codes[0], 8) && spins(&codes[0], 15) && spins(&codes[0], 24));
	CHECK(spins(&codes[1], 0) && spins(&codes[1], 7) && spins(&codes[1], 11) && spins(&codes[1], 17));
}

TEST(a_loop_whose_passes_differ_does_not_spin)
{
	static const struct code codes[] = {
		CODE(0x48, 0x8b, 0x3f, 0x39, 0x77, 8, 0x75, 0xf8),             /* a list */
		CODE(0x48, 0xff, 0xc0, 0x80, 0x3c, 0x07, 0, 0x75, 0xf7),       /* the length of a text */
		CODE(0x03, 0x07, 0x48, 0x83, 0xc7, 4, 0x48, 0x39, 0xf7, 0x75, 0xf5), /* a sum */
		CODE(0xff, 0xcf, 0x75, 0xfc),                                  /* a countdown */
		CODE(0xc7, 0x07, 1, 0, 0, 0, 0x83, 0x3e, 0, 0x74, 0xf5),       /* it stores */
		CODE(0xff, 0xd3, 0x83, 0x3e, 0, 0x74, 0xf9),                   /* it calls */
		CODE(0xf3, 0x0f, 0x10, 0x07, 0x74, 0xfa),                      /* not known */
		CODE(0x8b, 0x07, 0x85, 0xc0, 0x74, 2),                         /* no loop */
		CODE(0x83, 0x44, 0x24, 4, 1, 0x83, 0x7c, 0x24, 4, 9, 0x7e, 0xf4), /* a count on the stack */
		CODE(0xc7, 0x45, 0xfc, 0, 0, 0, 0, 0x83, 0x3e, 0, 0x74, 0xf4), /* it stores, perhaps on the stack */
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		CHECK_EQ(spins(&codes[i], 0) ? 100 : i, i);
}

TEST(code_that_ends_is_no_loop)
{
	static const struct code code = CODE(0x8b, 0x05, 1, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf6);

	for (size_t bytes = 0; bytes < 20; bytes++)
		CHECK(!dw_spin_loop(code.bytes, bytes, 0));
}

#elif defined(__aarch64__)

static bool spins(const uint32_t *code, size_t count, size_t start)
{
	uint32_t words[3 * DW_SPIN_BYTES / 4] = { 0 };

	memcpy(words + DW_SPIN_BYTES / 4, code, count * sizeof *code);
	return dw_spin_loop((const uint8_t *)words, sizeof words, DW_SPIN_BYTES + 4 * start);
}

TEST(a_loop_with_a_pause_that_counts_spins)
{
	static const uint32_t code[] = { 0xb9000fff, 0xb9400fe1, 0x71018c3f, 0x540000ec, 0xb9400fe1, 0x11000421, /* 4: the pause */
		0xb9000fe1, 0xb9400fe1, 0x71018c3f, 0x54ffff6d, 0xb9400041, 0x6b00003f, 0x54fffe8b };

	for (size_t i = 0; i < sizeof code / sizeof *code; i++)
		CHECK(spins(code, sizeof code / sizeof *code, i));
	CHECK(!spins(code, 10, 4)); /* the pause alone */
}

#endif

CHECK_MAIN
