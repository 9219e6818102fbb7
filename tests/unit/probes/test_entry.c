/* Reading and moving instructions of x86-64 (probes/sampler/instruction.h, entry_move.h). */
#include "../check.h"

#include <string.h>
#include <sys/mman.h>

#include "entry_move.h"

/* ---- one instruction ---------------------------------------------------------------------------- */

static struct dw_instruction read_one(const char *bytes, size_t count)
{
	struct dw_instruction got;
	uint8_t code[32];

	memset(code, 0x90, sizeof code);
	memcpy(code, bytes, count);
	if (!dw_instruction_read(code, sizeof code, &got))
		got.bytes = 0;
	return got;
}
#define READ(literal) read_one(literal, sizeof literal - 1)
#define CHECK_LENGTH(literal) CHECK_EQ(READ(literal).bytes, sizeof literal - 1)

TEST(each_kind_of_encoding_has_its_length)
{
	CHECK_LENGTH("\xf3\x0f\x1e\xfa");                             /* endbr64 */
	CHECK_LENGTH("\x48\x81\xec\x88\x00\x00\x00");                 /* sub $136,%rsp */
	CHECK_LENGTH("\x64\x48\x8b\x04\x25\x28\x00\x00\x00");         /* mov %fs:40,%rax */
	CHECK_LENGTH("\x66\x41\xb8\x01\x02");                         /* mov $513,%r8w */
	CHECK_LENGTH("\x49\xb8\x01\x02\x03\x04\x05\x06\x07\x08");     /* movabs */
	CHECK_LENGTH("\xf6\x44\x24\x08\x01");                         /* testb $1,8(%rsp) */
	CHECK_LENGTH("\xf7\xd8");                                     /* neg %eax */
	CHECK_LENGTH("\xf7\xc7\x01\x00\x00\x00");                     /* test $1,%edi */
	CHECK_LENGTH("\xc5\xf8\x77");                                 /* vzeroupper */
	CHECK_LENGTH("\xc5\xfa\x59\xc1");                             /* vmulss */
	CHECK_LENGTH("\xc4\xe3\x7d\x19\xc1\x01");                     /* vextractf128 $1 */
	CHECK_LENGTH("\xc4\xe2\x7d\x18\x05\x01\x02\x03\x04");         /* vbroadcastss (%rip) */
	CHECK_LENGTH("\x62\xf1\x7c\x48\x10\x84\x24\x01\x02\x03\x04"); /* vmovups 0x...(%rsp),%zmm0 */
	CHECK_LENGTH("\x62\xf3\x7d\x48\x39\xc1\x01");                 /* vextracti32x8 */
	CHECK_LENGTH("\x66\x0f\x3a\x0f\xc1\x08");                     /* palignr */
	CHECK_LENGTH("\x66\x0f\x38\x00\xc1");                         /* pshufb */
	CHECK_LENGTH("\xc8\x10\x00\x00");                             /* enter */
	CHECK_LENGTH("\x66\x66\x48\xe8\x01\x02\x03\x04");             /* call, as of thread-local variables */
	CHECK_LENGTH("\x8d\x04\x8d\x01\x02\x03\x04");                 /* lea 0x...(,%rcx,4),%eax */
}

TEST(what_depends_on_the_place_is_found)
{
	struct dw_instruction got = READ("\x48\xc7\x05\x10\x00\x00\x00\x07\x00\x00\x00"); /* movq $7,16(%rip) */

	CHECK_EQ(got.distance_at, 3);
	CHECK_EQ(got.distance, 16);
	CHECK_EQ(got.bytes, 11);
	CHECK_EQ(READ("\x7e\xf0").kind, DW_X86_BRANCH);
	CHECK_EQ(READ("\x7e\xf0").distance, -16);
	CHECK_EQ(READ("\x0f\x84\x01\x00\x00\x00").kind, DW_X86_BRANCH);
	CHECK_EQ(READ("\xeb\x01").kind, DW_X86_JUMP);
	CHECK_EQ(READ("\xe3\x01").kind, DW_X86_LOOP);
	CHECK_EQ(READ("\xe8\x01\x00\x00\x00").kind, DW_X86_CALL);
	CHECK_EQ(READ("\xff\x15\x01\x00\x00\x00").kind, DW_X86_CALL_INDIRECT);
	CHECK_EQ(READ("\xff\xe0").kind, DW_X86_JUMP_INDIRECT);
	CHECK(READ("\xff\x54\x24\x08").on_stack);
	CHECK_EQ(READ("\xc3").kind, DW_X86_RETURN);
	CHECK_EQ(READ("\x0f\x05").kind, DW_X86_SPECIAL);
	CHECK_EQ(READ("\x0f\x0b").kind, DW_X86_SPECIAL);
}

TEST(what_is_not_known_has_no_length)
{
	CHECK_EQ(READ("\x06").bytes, 0);
	CHECK_EQ(READ("\xea").bytes, 0);
	CHECK_EQ(READ("\x66\xe9\x01\x00\x00\x00").bytes, 0);
	CHECK_EQ(READ("\xc7\xf8\x00\x00\x00\x00").bytes, 0); /* xbegin */
	CHECK_EQ(READ("\x8f\xe8\x78\xc2\xec\x0e").bytes, 0); /* XOP */
	CHECK_EQ(READ("\x67\x8b\x05\x01\x02\x03\x04").bytes, 0);
	CHECK(!dw_instruction_read((const uint8_t *)"\x48\x81\xec\x88", 4, &(struct dw_instruction){ 0 })); /* it is cut */
}

/* ---- the choice --------------------------------------------------------------------------------- */

static uint8_t text[512] __attribute__((aligned(64)));
static struct dws_move move;

/* A function of `size` bytes at text + 64, between bytes that are no jumps. */
static const char *choose(const char *bytes, size_t count, size_t size)
{
	const struct dws_move_file file = { 1, { { text, sizeof text, true, false } } };

	memcpy(text + 64, bytes, count);
	return dws_move_choose(&move, &file, text + 64, size);
}

static void clear(void)
{
	memset(text, 0x90, sizeof text);
}
#define CHOOSE(literal, size) choose(literal, sizeof literal - 1, size)

TEST(as_much_is_moved_as_a_jump_takes)
{
	clear();
	CHECK(!CHOOSE("\x55\x48\x89\xe5\x41\x57", 100)); /* push %rbp; mov %rsp,%rbp; push %r15 */
	CHECK_EQ(move.bytes, 6);
	CHECK_EQ(move.count, 3);
	CHECK(!CHOOSE("\xf3\x0f\x1e\xfa\x48\x81\xec\x88\x00\x00\x00", 100)); /* endbr64 stays */
	CHECK(move.code == text + 68);
	CHECK_EQ(move.bytes, 7);
	clear();
	CHECK(!CHOOSE("\x31\xc0\xc3", 3)); /* xor; ret; what fills the gap to the next function */
	CHECK_EQ(move.bytes, 5);
	text[67] = 0x55;
	CHECK_STR(CHOOSE("\x31\xc0\xc3", 3), "it is shorter than a jump");
	CHECK_STR(CHOOSE("\xcc\x31\xc0\x31\xc0", 100), "it begins with a breakpoint");
	CHECK_STR(CHOOSE("\x31\xc0\x0f\x0b\x90", 100), "one of its first instructions is a trap or a system call");
	CHECK_STR(CHOOSE("\x31\xc0\xff\xd0\x90", 100),
	          "one of its first instructions calls a function by an address in memory");
}

TEST(jumps_to_what_is_replaced_are_seen)
{
	clear();
	CHECK(!CHOOSE("\x31\xc0\x31\xc9\x31\xd2\x90\xeb\xfd", 100));                 /* behind it */
	CHECK(CHOOSE("\x31\xc0\x31\xc9\x31\xd2\x90\xeb\xf9", 100));                  /* between */
	CHECK(CHOOSE("\x31\xc0\x31\xc9\x31\xd2\x90\xeb\xf7", 100));                  /* to the begin, which would count */
	CHECK(!CHOOSE("\xf3\x0f\x1e\xfa\x31\xc0\x31\xc9\x31\xd2\x90\xeb\xf3", 100)); /* to the endbr64: a call */
	CHECK(!CHOOSE("\x55\x31\xc0\x31\xc9\x5d\xeb\xf8", 100)); /* push, ..., pop, to the begin: it calls itself */
	CHECK(CHOOSE("\x55\x31\xc0\x31\xc9\x5d\xeb\xf9", 100));
	CHECK(!CHOOSE("\x48\x83\xec\x18\x31\xc0\xeb\xf8", 100)); /* sub $24, %rsp */
	clear();
	CHECK(!CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 20));
	memcpy(text + 400, "\x0f\x84\xac\xfe\xff\xff", 6); /* from elsewhere: to 406 - 340 = 66 */
	CHECK(CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 20));
	text[402] = 0xaa; /* to the begin: a call */
	CHECK(!CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 20));
	text[402] = 0xac;
	CHECK(!CHOOSE("\x48\x81\xec\x88\x00\x00\x00", 20)); /* nothing is between */
}

TEST(jump_tables_are_read)
{
	int32_t entries[4] = { 64 + 30 - 256, 64 + 40 - 256, 64 + 4 - 256, 0x7000000 };

	clear();
	memcpy(text + 80, "\x48\x8d\x05\xa9\x00\x00\x00\xff\xe0", 9); /* lea 169(%rip),%rax: text + 256; jmp *%rax */
	memcpy(text + 256, entries, sizeof entries);
	CHECK(CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 60));
	entries[2] = 64 + 8 - 256;
	memcpy(text + 256, entries, sizeof entries);
	CHECK(!CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 60));
}

/* ---- the copy does what the original does ------------------------------------------------------- */

#ifdef __x86_64__
static int calls;

__attribute__((used, visibility("hidden"))) void count_call(void)
{
	calls++;
}

/* Each takes a number in %edi and returns one. */
__asm__(
	".text\n"
	"save_all: push %rdi\n	push %rax\n	incl calls(%rip)\n	pop %rax\n	pop %rdi\n	ret\n"
	"number: .long 1000\n"
	".balign 16\nrelative: mov number(%rip), %eax\n	add %edi, %eax\n	ret\nrelative_end:\n"
	".balign 16\nbranches: test %edi, %edi\n	jle 1f\n	mov $7, %eax\n	ret\n1:	mov $8, %eax\n	ret\nbranches_end:\n"
	".balign 16\njumps: jmp 1f\n	nop\n	nop\n	nop\n1:	lea 3(%rdi), %eax\n	ret\njumps_end:\n"
	".balign 16\ncounts: mov %edi, %ecx\n	jrcxz 1f\n	nop\n	mov $5, %eax\n	ret\n1:	mov $6, %eax\n	ret\ncounts_end:\n"
	".balign 16\ninside: xor %eax, %eax\n1:	dec %edi\n	jg 1b\n	lea 9(%rdi), %eax\n	ret\ninside_end:\n"
	".balign 16\ntwice: lea (%rdi,%rdi), %eax\n	ret\n"
	".balign 16\ncaller: sub $8, %rsp\n	call twice\n	inc %eax\n	add $8, %rsp\n	ret\ncaller_end:\n"
	"pointer: .quad 0\n"
	".balign 16\nindirect: push %rbx\n	call *pointer(%rip)\n	add $2, %eax\n	pop %rbx\n	ret\nindirect_end:\n"
	".balign 16\nvectors: cvtsi2sd %edi, %xmm0\n	cvttsd2si %xmm0, %eax\n	ret\nvectors_end:\n"
	".balign 16\nshort_one: mov %edi, %eax\n	ret\nshort_one_end:\n	nop\n	nop\n");
extern uint8_t save_all[];
typedef int function(int);
#define MOVED(name) extern uint8_t name[], name##_end[]
MOVED(relative);
MOVED(branches);
MOVED(jumps);
MOVED(counts);
MOVED(inside);
MOVED(caller);
MOVED(indirect);
MOVED(vectors);
MOVED(short_one);
extern uint8_t twice[], pointer[];

static void check_copy(const uint8_t *code, const uint8_t *end)
{
	struct dws_move_file file = { 1, { { code - 64, (uint64_t)(end - code) + 96, true, false } } };
	uint8_t *page = mmap((void *)(((uintptr_t)code & ~(uintptr_t)0xffff) - 0x1000000), 4096,
	                     PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dws_move one;

	CHECK(page != MAP_FAILED);
	CHECK(!dws_move_choose(&one, &file, code, (uint64_t)(end - code)));
	CHECK(dws_move_write(&one, page, (uintptr_t)save_all));
	for (int i = 0; i < 4; i++) {
		int before = calls;

		CHECK_EQ(((function *)(void *)page)(i), ((function *)(uintptr_t)code)(i));
		CHECK_EQ(calls, before + 1);
	}
	munmap(page, 4096);
}
#define CHECK_COPY(name) check_copy(name, name##_end)

TEST(copies_do_what_the_originals_do)
{
	uintptr_t target = (uintptr_t)twice;

	mprotect((void *)((uintptr_t)pointer & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memcpy(pointer, &target, sizeof target);
	CHECK_COPY(relative);
	CHECK_COPY(branches);
	CHECK_COPY(jumps);
	CHECK_COPY(counts);
	CHECK_COPY(inside);
	CHECK_COPY(caller);
	CHECK_COPY(indirect);
	CHECK_COPY(vectors);
	CHECK_COPY(short_one);
}
#endif

TEST(what_is_too_far_away_is_refused)
{
	uint8_t *far = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t near[DWS_MOVE_COPY];

	clear();
	CHECK(!CHOOSE("\x31\xc0\x31\xc9\x31\xd2", 20));
	if (far - text > INT64_C(1) << 31 || text - far > INT64_C(1) << 31)
		CHECK(!dws_move_write(&move, far, 0));
	CHECK(dws_move_write(&move, (uint8_t *)memcpy(near, text, 64), 0) || (uintptr_t)near - (uintptr_t)text > INT32_MAX);
}

CHECK_MAIN
