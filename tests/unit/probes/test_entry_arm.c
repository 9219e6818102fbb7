/* Moving the first instruction of a function of aarch64 (probes/sampler/entry_move.h), and what is kept meanwhile
 * (entry_save.h). */
#include "../check.h"

#include <string.h>
#include <sys/mman.h>

#include "entry_move.h"

/* ---- on any processor --------------------------------------------------------------------------- */

static uint32_t text[64] __attribute__((aligned(4096))), page[64];
static struct dws_arm_move move;

#define NOP 0xd503201fu
#define CODE 16 /* where the function is */

static const char *choose(unsigned count, const uint32_t *words, uint64_t size)
{
	const struct dws_move_file file = { 1, { { (const uint8_t *)text, sizeof text, true, false } } };

	for (unsigned i = 0; i < 64; i++)
		text[i] = NOP;
	memcpy(text + CODE, words, count * sizeof *words);
	return dws_arm_choose(&move, &file, (const uint8_t *)(text + CODE), size);
}
#define CHOOSE(size, ...) \
	choose(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ }, size)

static uint64_t address(unsigned number)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)page + 64 + number * 8, sizeof value);
	return value;
}

/* How many words behind the function the branch at a word of the copy leads. */
static int64_t leads_to(unsigned word)
{
	uintptr_t target = (uintptr_t)(page + word) + (uintptr_t)(int64_t)((int32_t)(page[word] << 6) >> 6) * 4;

	return (int64_t)(target - (uintptr_t)(text + CODE)) / 4;
}

static void write_copy(uint32_t word)
{
	memset(page, 0, sizeof page);
	CHECK(!CHOOSE(40, word));
	CHECK(move.code == (const uint8_t *)(text + CODE));
	CHECK(dws_arm_write(&move, (uint8_t *)page, 0x1234567800));
	CHECK_EQ(page[0], 0x58000210); /* ldr x16, its first address */
	CHECK_EQ(page[1], 0x10000051); /* adr x17, .+8 */
	CHECK_EQ(page[2], 0xd61f0200); /* br x16 */
	CHECK_EQ(address(0), 0x1234567800);
}

TEST(what_does_not_depend_on_its_place_is_copied)
{
	write_copy(0xa9be7bfd); /* stp x29, x30, [sp, #-32]! */
	CHECK_EQ(page[3], 0xa9be7bfd);
	CHECK_EQ(page[4] >> 26, 5);
	CHECK_EQ(leads_to(4), 1);
	write_copy(0xd65f03c0); /* ret */
	CHECK_EQ(page[3], 0xd65f03c0);
	write_copy(0xd61f0000); /* br x0 */
	CHECK_EQ(page[3], 0xd61f0000);
}

TEST(branches_lead_where_they_led)
{
	write_copy(0x14000008); /* b .+32 */
	CHECK_EQ(leads_to(3), 8);
	write_copy(0x17fffffe); /* b .-8 */
	CHECK_EQ(leads_to(3), -2);
	write_copy(0x54000101); /* b.ne .+32 */
	CHECK_EQ(page[3], 0x54000041);
	CHECK_EQ(page[4], 0x14000002);
	CHECK_EQ(leads_to(5), 8);
	CHECK_EQ(leads_to(6), 1);
	write_copy(0xb5ffffc3); /* cbnz x3, .-8 */
	CHECK_EQ(page[3], 0xb5000043);
	CHECK_EQ(leads_to(5), -2);
	write_copy(0xb7ffffc2); /* tbnz x2, #63, .-8 */
	CHECK_EQ(page[3], 0xb7f80042);
	CHECK_EQ(leads_to(5), -2);
}

TEST(addresses_are_those_of_the_original)
{
	write_copy(0x70000043); /* adr x3, .+11 */
	CHECK_EQ(page[3] & 0xff00001f, 0x58000003);
	CHECK_EQ(address(1), (uintptr_t)(text + CODE) + 11);
	write_copy(0x90000010); /* adrp x16, this page */
	CHECK_EQ(address(1), (uintptr_t)text & ~(uintptr_t)4095);
	write_copy(0xf0ffffe5); /* adrp x5, the page before it */
	CHECK_EQ(address(1), ((uintptr_t)text & ~(uintptr_t)4095) - 4096);
	write_copy(0x5c000104); /* ldr d4, .+32 */
	CHECK_EQ(page[3] & 0xff00001f, 0x58000010);
	CHECK_EQ(page[4], 0xfd400204); /* ldr d4, [x16] */
	CHECK_EQ(address(1), (uintptr_t)(text + CODE + 8));
}

TEST(calls_return_to_the_original)
{
	write_copy(0x94000008); /* bl .+32 */
	CHECK(move.pushes_return);
	CHECK_EQ(page[3] & 0xff00001f, 0x5800001e); /* ldr x30, ... */
	CHECK_EQ(address(2), (uintptr_t)(text + CODE + 1));
	CHECK_EQ(leads_to(4), 8);
	write_copy(0xd63f0060);        /* blr x3 */
	CHECK_EQ(page[3], 0xaa0303f0); /* mov x16, x3 */
	CHECK_EQ(page[5], 0xd61f0200);
	CHECK_EQ(address(2), (uintptr_t)(text + CODE + 1));
}

TEST(marks_of_entries_stay)
{
	CHECK(!CHOOSE(40, 0xd503245f, NOP)); /* bti c */
	CHECK(move.code == (const uint8_t *)(text + CODE + 1));
	CHECK(!CHOOSE(40, 0xd503245f, 0xd503233f, 0xa9be7bfd)); /* bti c; paciasp */
	CHECK(move.code == (const uint8_t *)(text + CODE + 2));
	CHECK(!CHOOSE(40, 0xd503237f, 0xa9be7bfd)); /* pacibsp */
	CHECK(move.code == (const uint8_t *)(text + CODE + 1));
	CHECK(CHOOSE(40, 0xd503245f, 0xd2800000, 0x17ffffff)); /* a jump behind the mark is no call */
	CHECK(!CHOOSE(40, 0xd503245f, 0xd2800000, 0x17fffffe));
}

TEST(what_cannot_be_moved_is_refused)
{
	CHECK_STR(CHOOSE(40, 0xd4200000), "its first instruction is a trap or a system call"); /* brk */
	CHECK_STR(CHOOSE(40, 0xd4000001), "its first instruction is a trap or a system call"); /* svc */
	CHECK_STR(CHOOSE(40, 0x00000000), "its first instruction is a trap or a system call"); /* udf */
	CHECK_STR(CHOOSE(40, 0xd73f0801), "its first instruction is not known");               /* blraa x0, x1 */
	CHECK_STR(CHOOSE(40, 0x19010440), "its first instruction is not known");               /* cpyfp */
	CHECK_STR(CHOOSE(40, 0xf1000400, 0x54ffffe1), "a jump of the function leads to its first instruction");
	CHECK(!CHOOSE(40, 0xa9be7bfd, 0xa8c27bfd, 0x17fffffe)); /* it makes a frame: it calls itself */
	CHECK(!CHOOSE(40, 0xf81f0ffe, 0xf84107fe, 0x17fffffe)); /* str x30, [sp, #-16]! */
	CHECK(!CHOOSE(40, 0xd10083ff, 0x910083ff, 0x17fffffe)); /* sub sp, sp, #32 */
	CHECK_STR(CHOOSE(0, NOP), "it is shorter than a jump");
	CHECK_STR(CHOOSE(4000, NOP), "its symbol is outside the code of the file");
}

TEST(what_is_too_far_away_is_not_written)
{
	uint8_t *far = mmap((void *)(((uintptr_t)text & ~(uintptr_t)0xffff) + 0x20000000), 4096, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t word;

	CHECK(far != MAP_FAILED);
	CHECK(!CHOOSE(40, NOP));
	CHECK(!dws_arm_write(&move, far, 0));
	CHECK(!dws_arm_branch((const uint8_t *)text, far, &word));
	CHECK(dws_arm_branch((const uint8_t *)text, (const uint8_t *)(uintptr_t)((uintptr_t)text - 8), &word));
	CHECK_EQ(word, 0x17fffffe);
	munmap(far, 4096);
}

/* ---- the copy does what the original does ------------------------------------------------------- */

#ifdef __aarch64__
#include "entry_save.h"

uint32_t dws_entry_taken;
__thread bool dws_entry_steps;
static int calls;

/* Changes what a function may change. */
void dws_entry_called(void)
{
	calls++;
	__asm__ volatile(
		"movi v0.16b, #7\n	movi v5.16b, #7\n	movi v31.16b, #7\n	mov x0, #-1\n	mov x8, #-1\n	mov x15, #-1\n"
		"	cmp x0, x0" ::
			: "v0", "v5", "v31", "x0", "x8", "x15", "cc");
}

/* Each takes a number in w0 and returns one. */
__asm__(
	".text\n.balign 16\n"
	"number: .quad 1000\n"
	"relative: ldr x1, number\n	add w0, w0, w1\n	ret\nrelative_end:\n"
	"near: adr x1, number\n	ldr w1, [x1]\n	add w0, w0, w1\n	ret\nnear_end:\n"
	"paged: adrp x1, number\n	ldr w1, [x1, :lo12:number]\n	add w0, w0, w1\n	ret\npaged_end:\n"
	"branches: cbz w0, 1f\n	mov w0, #7\n	ret\n1:	mov w0, #8\n	ret\nbranches_end:\n"
	"tests: tbnz w0, #1, 1f\n	mov w0, #7\n	ret\n1:	mov w0, #8\n	ret\ntests_end:\n"
	"jumps: b 1f\n	nop\n1:	add w0, w0, #3\n	ret\njumps_end:\n"
	"twice: add w0, w0, w0\n	ret\n"
	"caller: bti c\n	paciasp\n	mov x9, x30\n	bl twice\n	add w0, w0, #1\n	mov x30, x9\n	autiasp\n	ret\ncaller_end:\n"
	"vectors: scvtf d0, w0\n	fcvtzs w0, d0\n	ret\nvectors_end:\n"
	"tail: b twice\ntail_end:\n");
typedef int function(int);
#define MOVED(name) extern __attribute__((visibility("hidden"))) uint8_t name[], name##_end[]
MOVED(relative);
MOVED(near);
MOVED(paged);
MOVED(branches);
MOVED(tests);
MOVED(jumps);
MOVED(caller);
MOVED(vectors);
MOVED(tail);

static uint8_t *make_copy(const uint8_t *code, const uint8_t *end)
{
	struct dws_move_file file = { 1, { { code - 64, (uint64_t)(end - code) + 96, true, false } } };
	uint8_t *copy = mmap((void *)(((uintptr_t)code & ~(uintptr_t)0xffff) - 0x1000000), 4096,
	                     PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(copy != MAP_FAILED);
	CHECK_STR(dws_arm_choose(&move, &file, code, (uint64_t)(end - code)), NULL);
	CHECK(dws_arm_write(&move, copy, (uintptr_t)dws_entry_save));
	__builtin___clear_cache((char *)copy, (char *)copy + DWS_MOVE_COPY);
	return copy;
}

static void check_copy(const uint8_t *code, const uint8_t *end)
{
	uint8_t *copy = make_copy(code, end);

	CHECK(!dws_entry_prepare());
	for (int i = 0; i < 4 && move.code == code; i++) {
		int before = calls;

		CHECK_EQ(((function *)(void *)copy)(i), ((function *)(uintptr_t)code)(i));
		CHECK_EQ(calls, before + 1);
	}
	munmap(copy, 4096);
}
#define CHECK_COPY(name) check_copy(name, name##_end)

TEST(copies_do_what_the_originals_do)
{
	CHECK_COPY(relative);
	CHECK_COPY(near);
	CHECK_COPY(paged);
	CHECK_COPY(branches);
	CHECK_COPY(tests);
	CHECK_COPY(jumps);
	CHECK_COPY(caller);
	CHECK_COPY(vectors);
	CHECK_COPY(tail);
}

TEST(other_threads_go_on_at_once)
{
	uint8_t *copy = make_copy(vectors, vectors_end);
	int before = calls;

	dws_entry_taken = 1;
	CHECK_EQ(((function *)(void *)copy)(5), 5);
	CHECK_EQ(calls, before);
	dws_entry_steps = true;
	CHECK_EQ(((function *)(void *)copy)(5), 5);
	CHECK_EQ(calls, before + 1);
	dws_entry_steps = false;
	dws_entry_taken = 0;
	munmap(copy, 4096);
}

/* Executes the copy with known registers and returns how many are not what they were. */
static uint64_t changed(void *copy)
{
	uint64_t wrong;

	__asm__ volatile(
		"mov x16, %1\n	mov x0, #3\n	mov x8, #11\n	mov x15, #18\n	mov x18, #21\n"
		"	movi v0.16b, #1\n	movi v7.16b, #9\n	movi v31.16b, #33\n	movi v9.16b, #5\n"
		"	str x30, [sp, #-16]!\n	blr x16\n	ldr x30, [sp], #16\n"
		"	sub x1, x0, #3\n	sub x2, x8, #11\n	orr x1, x1, x2\n	sub x2, x15, #18\n	orr x1, x1, x2\n"
		"	sub x2, x18, #21\n	orr x1, x1, x2\n"
		"	movi v1.16b, #1\n	movi v2.16b, #9\n	movi v3.16b, #33\n	movi v4.16b, #5\n"
		"	eor v0.16b, v0.16b, v1.16b\n	eor v7.16b, v7.16b, v2.16b\n	eor v31.16b, v31.16b, v3.16b\n"
		"	eor v9.16b, v9.16b, v4.16b\n	orr v0.16b, v0.16b, v7.16b\n	orr v0.16b, v0.16b, v31.16b\n"
		"	orr v0.16b, v0.16b, v9.16b\n	mov x2, v0.d[0]\n	orr x1, x1, x2\n	mov x2, v0.d[1]\n	orr %0, x1, x2\n"
		: "=r"(wrong)
		: "r"(copy)
		: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
		  "x17", "x18", "x30", "v0", "v1", "v2", "v3", "v4", "v7", "v9", "v31", "cc", "memory");
	return wrong;
}

__asm__(".text\n.balign 16\nnothing: nop\n	ret\nnothing_end:\n");
MOVED(nothing);

TEST(registers_are_kept)
{
	uint8_t *copy = make_copy(nothing, nothing_end);
	int before = calls;

	CHECK(!dws_entry_prepare());
	CHECK_EQ(changed(copy), 0);
	CHECK_EQ(calls, before + 1);
	munmap(copy, 4096);
}

/* All of a scalable register is kept, where there are some. */
TEST(scalable_registers_are_kept)
{
	uint8_t *copy = make_copy(nothing, nothing_end);
	extern uint32_t dws_entry_has_sve;
	uint64_t different = 0;

	CHECK(!dws_entry_prepare());
	if (dws_entry_has_sve)
		__asm__ volatile(
			".arch_extension sve\n	mov x16, %1\n	ptrue p1.b\n	ptrue p7.h\n	index z5.b, #1, #1\n"
			"	str x30, [sp, #-16]!\n	blr x16\n	ldr x30, [sp], #16\n"
			"	ptrue p2.b\n	index z6.b, #1, #1\n	cmpne p3.b, p2/z, z5.b, z6.b\n	cntp x1, p2, p3.b\n"
			"	ptrue p4.h\n	eor p3.b, p2/z, p7.b, p4.b\n	cntp x2, p2, p3.b\n	add x1, x1, x2\n"
			"	eor p3.b, p2/z, p1.b, p2.b\n	cntp x2, p2, p3.b\n	add %0, x1, x2\n	.arch_extension nosve\n"
			: "=r"(different)
			: "r"(copy)
			: "x1", "x2", "x16", "x17", "x30", "v5", "v6", "cc", "memory");
	CHECK_EQ(different, 0);
	munmap(copy, 4096);
}
#endif

CHECK_MAIN
