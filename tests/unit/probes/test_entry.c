/* Which first instructions of a function may be moved (probes/sampler/sampler_entry.h). */
#include "../check.h"

#include <string.h>

#include "sampler_entry.h"

/* The bytes that may be moved of code that goes on with nops; negative if it is not certain that nothing jumps between them. */
static int movable(const char *bytes, size_t count)
{
	uint8_t code[64];
	bool certain;
	unsigned got;

	memset(code, 0xcc, sizeof code); /* int3: may not be moved */
	memcpy(code, bytes, count);
	got = dws_entry_movable(code, sizeof code, &certain);
	return certain ? (int)got : -(int)got;
}
#define MOVABLE(bytes) movable(bytes, sizeof bytes - 1)

TEST(begins_of_functions_are_moved_up_to_where_the_stack_pointer_moves)
{
	CHECK_EQ(MOVABLE("\xf3\x0f\x1e\xfa\x55"), 5);                         /* endbr64; push %rbp */
	CHECK_EQ(MOVABLE("\x55\x48\x89\xe5\x41\x57"), 6);                     /* push %rbp; mov %rsp,%rbp; push %r15 */
	CHECK_EQ(MOVABLE("\x55\x53\x48\x83\xec\x08"), 6);                     /* push; push; sub $8,%rsp */
	CHECK_EQ(MOVABLE("\x48\x81\xec\x88\x00\x00\x00"), 7);                 /* sub $136,%rsp */
	CHECK_EQ(MOVABLE("\x41\x54\x49\x89\xfc\x55\x53"), 6);                 /* push %r12; mov %rdi,%r12; push %rbp */
	CHECK_EQ(MOVABLE("\x41\x54\x64\x48\x8b\x04\x25\x28\x00\x00\x00\x55"), 12); /* mov %fs:40,%rax between */
}

TEST(without_a_move_of_the_stack_pointer_it_is_not_certain)
{
	CHECK_EQ(MOVABLE("\x48\x83\xec\x08\x0f\x28\xd9\xe8"), -7); /* sub $8,%rsp; movaps; call */
	CHECK_EQ(MOVABLE("\x31\xc0\x48\x8d\x14\x37"), -6);         /* xor %eax,%eax; lea (%rdi,%rsi),%rdx */
	CHECK_EQ(MOVABLE("\xb8\x01\x00\x00\x00"), -5);             /* mov $1,%eax */
}

TEST(jumps_calls_and_addresses_that_are_relative_stay)
{
	CHECK_EQ(MOVABLE("\x85\xff\x7e\x10"), 0);                 /* test %edi,%edi; jle */
	CHECK_EQ(MOVABLE("\x48\x8b\x05\x10\x00\x00\x00\x55"), 0); /* mov 16(%rip),%rax; push */
	CHECK_EQ(MOVABLE("\xc3"), 0);
	CHECK_EQ(MOVABLE("\xc5\xf8\x77"), 0);                     /* vzeroupper: not known */
}

TEST(a_call_may_be_the_last_one)
{
	CHECK_EQ(MOVABLE("\x55\xe8\x01\x02\x03\x04\x55"), -6);             /* push; call */
	CHECK_EQ(MOVABLE("\x48\x83\xec\x08\xe8\x01\x02\x03\x04\x55"), -9); /* sub $8,%rsp; call */
	CHECK_EQ(MOVABLE("\xe8\x01\x02\x03\x04\x55"), -5);
	CHECK(dws_entry_ends_with_call((const uint8_t *)"\x55\xe8\x01\x02\x03\x04\x55", 6));
	CHECK(dws_entry_ends_with_call((const uint8_t *)"\xe8\x01\x02\x03\x04\x55", 5));
	CHECK(!dws_entry_ends_with_call((const uint8_t *)"\x48\x81\xec\xe8\x00\x00\x00\x55", 7)); /* sub $232,%rsp */
	CHECK_EQ(MOVABLE("\x55\x48\x89\xe5\x53\xe8\x01\x02\x03\x04"), 5); /* push; mov; push; call */
}

TEST(a_function_that_ends_too_early_stays)
{
	const uint8_t code[32] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57 };
	bool certain;

	CHECK_EQ(dws_entry_movable(code, 6, &certain), 0);
	CHECK_EQ(dws_entry_movable(code, 32, &certain), 6);
}

TEST(jumps_between_the_instructions_are_seen)
{
	uint8_t text[200];
	const uint8_t *code = text + 100;

	memset(text, 0x90, sizeof text);
	CHECK(!dws_entry_is_target(text, sizeof text, code, 7));
	text[150] = 0xeb; /* to 152 - 48 = 104 */
	text[151] = (uint8_t)-48;
	CHECK(dws_entry_is_target(text, sizeof text, code, 7));
	text[151] = (uint8_t)-52; /* to the begin, which is the entry */
	CHECK(!dws_entry_is_target(text, sizeof text, code, 7));
	memcpy(text + 10, "\x0f\x84\x56\x00\x00\x00", 6); /* to 16 + 86 = 102 */
	CHECK(dws_entry_is_target(text, sizeof text, code, 7));
}

CHECK_MAIN
