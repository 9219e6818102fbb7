/*
 * Call stacks of code without frame pointers, and on stacks that are not the thread's own.
 *
 * Every call path has a unique name, so that a path recorded with the stack of another one is
 * noticed. Coroutines, handlers on alternate stacks and threads with small stacks record while the
 * frame pointer's register contains arbitrary values: nothing may crash.
 */
#include "stress.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

/* ---- call paths --------------------------------------------------------------------- */

#define DEEPEST_PATH 14

static char path_name[DEEPEST_PATH + 2];
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static __attribute__((noinline)) void record_operator(void)
{
	uint32_t id = dwell_intern(DWELL_CATEGORY_OPERATOR, path_name, NULL);

	DWELL_SCOPE_ID(DWELL_CATEGORY_OPERATOR, id);
	__asm__ volatile("" ::: "memory");
}

static void walk_a(int depth), walk_b(int depth), walk_c(int depth);

static __attribute__((noinline)) void walk_on(int depth)
{
	if (!depth)
		record_operator();
	else if (depth % 3 == 0)
		walk_a(depth);
	else if (next_random() & 1)
		walk_b(depth);
	else
		walk_c(depth);
	__asm__ volatile("" ::: "memory");
}

/* All frames have one size, so that return addresses of different paths lie at the same places. */
#define WALKER(name, letter)                                   \
	static __attribute__((noinline)) void name(int depth)      \
	{                                                          \
		path_name[strlen(path_name)] = letter;                 \
		walk_on(depth - 1);                                    \
		__asm__ volatile("" ::: "memory");                     \
	}
WALKER(walk_a, 'a')
WALKER(walk_b, 'b')
WALKER(walk_c, 'c')

static struct dwell_options with_stacks(void)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;

	options.categories = DWELL_MASK_DEFAULT | DWELL_DETAIL_STACKS;
	return options;
}

static void record_paths(void *path)
{
	struct dwell_options options = with_stacks();

	stress_start(path, &options);
	for (int i = 0; i < 6000; i++) {
		memset(path_name, 0, sizeof path_name);
		path_name[0] = 'a';
		walk_on((int)(next_random() % DEEPEST_PATH));
	}
}

/* By the name's number: the stack that it was recorded with. */
struct paths {
	struct {
		char name[DEEPEST_PATH + 2];
		uint32_t id, stack;
	} known[16384];
	const struct trace *trace;
	uint32_t begun, count;
	uint64_t changed, with_stack, operators;
};

/* Ends as a path of calls does in the trace: how many frames there are, at least. */
static uint32_t frames_of(const struct trace *trace, uint32_t stack)
{
	return stack < trace->id_count && trace->entries[stack] ? trace->entries[stack]->aux : 0;
}

static void see_path(void *context, const struct trace_record *record)
{
	struct paths *paths = context;

	if (record->kind == DW_BEGIN && strspn(record->name, "abc") == strlen(record->name)) {
		paths->operators++;
		for (paths->begun = 0; paths->begun < paths->count; paths->begun++)
			if (strcmp(paths->known[paths->begun].name, record->name) == 0)
				break;
		if (paths->begun == paths->count && paths->count < 16384)
			snprintf(paths->known[paths->count++].name, DEEPEST_PATH + 2, "%s", record->name);
	} else if (record->kind == DW_STACK && paths->begun < paths->count) {
		paths->with_stack++;
		if (!paths->known[paths->begun].stack)
			paths->known[paths->begun].stack = record->id;
		paths->changed += paths->known[paths->begun].stack != record->id;
	}
}

static int compare_stacks(const void *left, const void *right)
{
	uint32_t a = ((const struct paths *)left)->known[0].stack;
	uint32_t b = ((const struct paths *)right)->known[0].stack;

	return a < b ? -1 : a > b;
}

static void stacks_callers(void)
{
	struct paths *paths = stress_shared(sizeof *paths);
	uint64_t shared = 0, shallow = 0;
	struct trace trace;

	CHECK_EXITED(stress_child(record_paths, (void *)(uintptr_t) "paths.dwell"), 0);
	if (!stress_read(&trace, "paths.dwell"))
		return;
	paths->trace = &trace;
	trace_walk(&trace, see_path, paths);
	CHECK_U64(paths->operators, 6000);
	CHECK(paths->count > 100);
	CHECK_U64(paths->with_stack, 6000);
	for (uint32_t i = 0; i < paths->count; i++)
		shallow += frames_of(&trace, paths->known[i].stack) < strlen(paths->known[i].name);
	qsort(paths->known, paths->count, sizeof *paths->known, compare_stacks);
	for (uint32_t i = 1; i < paths->count; i++)
		shared += paths->known[i].stack == paths->known[i - 1].stack;
	if (paths->changed || shared || shallow)
		FAIL("of %u paths %llu share a stack with another, %llu stacks are too short, and %llu of "
		     "6,000 records have another stack than the path's first",
		     paths->count, (unsigned long long)shared, (unsigned long long)shallow,
		     (unsigned long long)paths->changed);
	trace_close(&trace);
}

/* ---- any value in the frame pointer's register -------------------------------------------- */

#if defined(__x86_64__)
#define HAVE_REGISTER 1
/* As code does that has no frame pointers: the register is saved and then holds data. Its
 * unwinding information is right. */
__asm__(".text\n"
        ".type stress_call_with, @function\n"
        "stress_call_with:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset rbp, 0\n"
        "mov %rdi, %rbp\n"
        "call *%rsi\n"
        "pop %rbp\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_restore rbp\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stress_call_with, .-stress_call_with\n"
        /* and without any, as code that a program made itself */
        ".type stress_call_plainly, @function\n"
        "stress_call_plainly:\n"
        "push %rbp\n"
        "mov %rdi, %rbp\n"
        "call *%rsi\n"
        "pop %rbp\n"
        "ret\n"
        ".size stress_call_plainly, .-stress_call_plainly\n"
        /* changes the stack without unwinding information: the unwinder takes the last word of the
         * new stack for a return address */
        ".type stress_run_on, @function\n"
        "stress_run_on:\n"
        ".cfi_startproc\n"
        "push %rbx\n"
        "mov %rsp, %rbx\n"
        "mov %rdi, %rsp\n"
        "call *%rsi\n"
        "mov %rbx, %rsp\n"
        "pop %rbx\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stress_run_on, .-stress_run_on\n"
        ".previous\n");
#define HAVE_RUN_ON 1
void stress_run_on(void *end, void (*function)(void));
#elif defined(__aarch64__)
#define HAVE_REGISTER 1
__asm__(".text\n"
        ".type stress_call_with, %function\n"
        "stress_call_with:\n"
        ".cfi_startproc\n"
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 29, -16\n"
        ".cfi_offset 30, -8\n"
        "mov x29, x0\n"
        "blr x1\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        ".cfi_def_cfa_offset 0\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stress_call_with, .-stress_call_with\n"
        ".set stress_call_plainly, stress_call_with\n"
        ".previous\n");
#endif

#ifdef HAVE_REGISTER
void stress_call_with(uintptr_t value, void (*function)(void));
void stress_call_plainly(uintptr_t value, void (*function)(void));
#endif

static char *no_access; /* 1 MiB without permissions */
static char *gone;      /* 1 MiB that is unmapped most of the time */

static uintptr_t any_value(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t offset = (uintptr_t)next_random();

	switch (next_random() % 10) {
	case 0: return offset;
	case 1: return offset % 4096;
	case 2: return here + offset % 4096 / 8 * 8;
	case 3: return here + (offset % ((uintptr_t)1 << 20)) / 8 * 8;
	case 4: return here + (offset % ((uintptr_t)1 << 44)) / 8 * 8;
	case 5: return here - (offset % ((uintptr_t)1 << 20)) / 8 * 8;
	case 6: return (uintptr_t)no_access + (offset % ((uintptr_t)1 << 20)) / 8 * 8;
	case 7: return (uintptr_t)gone + (offset % ((uintptr_t)1 << 20)) / 8 * 8;
	case 8: return (uintptr_t)-(intptr_t)(offset % 64); /* its end is beyond all addresses */
	default: return (offset % ((uintptr_t)1 << 47)) / 8 * 8;
	}
}

static void operate(void)
{
	DWELL_OP("operator");
	__asm__ volatile("" ::: "memory");
}

static void operate_with_any_value(void)
{
#ifdef HAVE_REGISTER
	if (next_random() & 1)
		stress_call_with(any_value(), operate);
	else
		stress_call_plainly(any_value(), operate);
#else
	operate();
#endif
}

static void operate_often(void)
{
	for (int i = 0; i < 4; i++) {
		operate();
		operate_with_any_value();
	}
}

#define OPERATORS_OFTEN 8u

/* ---- other stacks ----------------------------------------------------------------------------- */

static ucontext_t main_context, coroutine_context;
static volatile sig_atomic_t handled;

static void run_coroutine(char *stack, size_t bytes)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = stack;
	coroutine_context.uc_stack.ss_size = bytes;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, operate_often, 0);
	swapcontext(&main_context, &coroutine_context);
}

static void run_endless(char *stack, size_t bytes)
{
#ifdef HAVE_RUN_ON
	uintptr_t *end = (uintptr_t *)(void *)(stack + bytes) - 8;

	for (int i = 0; i < 8; i++)
		end[i] = i & 1 ? any_value() : 0xdeaddeaddeaddeadu;
	stress_run_on(end, operate_often);
#else
	(void)stack;
	(void)bytes;
	operate_often();
#endif
}

static char *map_stack(size_t bytes)
{
	void *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return stack == MAP_FAILED ? NULL : stack;
}

/* Neighbours of one mapping, of which some go away while others are in use. */
static void run_coroutines(int rounds)
{
	enum { STACKS = 4, BYTES = 256 << 10 };
	char *stacks[STACKS];

	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < STACKS; i++)
			stacks[i] = map_stack(BYTES);
		for (int i = 0; i < STACKS; i++)
			if (stacks[i])
				run_coroutine(stacks[i], BYTES);
		run_endless(stacks[1], BYTES);
		for (int i = 0; i < STACKS; i++) {
			munmap(stacks[(i + 1) % STACKS], BYTES);
			if (i + 1 < STACKS - 1)
				run_coroutine(stacks[0], BYTES);
			if (i + 2 >= STACKS)
				break;
		}
		munmap(stacks[0], BYTES);
		operate_often();
	}
}

static void on_signal(int number)
{
	(void)number;
	operate_often();
	handled++;
}

static void run_handlers(int rounds)
{
	stack_t alternate = { .ss_size = 128 << 10 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	alternate.ss_sp = map_stack(alternate.ss_size);
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < rounds; i++) {
		raise(SIGUSR1);
		operate_often();
	}
	alternate.ss_flags = SS_DISABLE;
	sigaltstack(&alternate, NULL);
	munmap(alternate.ss_sp, alternate.ss_size);
}

static void *in_thread(void *rounds)
{
	int count = (int)(intptr_t)rounds;

	for (int i = 0; i < count; i++)
		operate_often();
	STRESS_THREAD_ENDS();
	return NULL;
}

/* As small as libc allows, without a guard of libc's, between mappings that cannot be read. */
static uint64_t run_small_threads(int rounds)
{
	uint64_t started = 0;

	for (int i = 0; i < rounds; i++) {
		size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN) + (size_t)(next_random() % 16) * 4096;
		char *around = mmap(NULL, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_t attributes;
		pthread_t thread;

		mprotect(around + 4096, bytes, PROT_READ | PROT_WRITE);
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, around + 4096, bytes);
		if (pthread_create(&thread, &attributes, in_thread, (void *)(intptr_t)4) == 0) {
			pthread_join(thread, NULL);
			started++;
		}
		pthread_attr_destroy(&attributes);
		munmap(around, bytes + 8192);
	}
	return started;
}

static __attribute__((noinline)) void descend(int depth)
{
	volatile char frame[2000];

	frame[0] = 1;
	operate_with_any_value();
	if (depth)
		descend(depth - 1);
	frame[1999] = frame[0];
}

struct expected {
	uint64_t operators;
	bool quick;
};

static void record_anywhere(void *argument)
{
	struct dwell_options options = with_stacks();
	struct expected *expected = argument;
	int rounds = stress_long ? 3000 : 300;
	pthread_t thread;

	no_access = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gone = map_stack(1 << 20);
	munmap(gone, 1 << 20);
	random_state ^= stress_random() | 1;
	stress_start("anywhere.dwell", &options);
	operate(); /* the main stack is known first, and then others are met */
	run_coroutines(rounds);
	expected->operators += 1 + (uint64_t)rounds * OPERATORS_OFTEN * 8;
	run_handlers(rounds);
	expected->operators += (uint64_t)rounds * 2 * OPERATORS_OFTEN;
	expected->operators += run_small_threads(rounds / 3) * 4 * OPERATORS_OFTEN;
	descend(1500); /* the main stack grows */
	expected->operators += 1501;
	pthread_create(&thread, NULL, in_thread, (void *)(intptr_t)rounds);
	pthread_join(thread, NULL);
	expected->operators += (uint64_t)rounds * OPERATORS_OFTEN;
}

static void stacks_anywhere(void)
{
	struct expected *expected = stress_shared(sizeof *expected);
	struct trace trace;

	/* ASan and TSan do not know of stacks that a program changes to by itself. */
	if (STRESS_SANITIZED)
		stress_skip("sanitizers do not follow a change of stacks");
	CHECK_EXITED(stress_child(record_anywhere, expected), 0);
	if (!stress_read(&trace, "anywhere.dwell"))
		return;
	CHECK_U64(trace_count(&trace, TRACE_END, "operator"), expected->operators);
	CHECK_U64(trace_lost_all(&trace), 0);
	trace_close(&trace);
}

const struct stress_test stack_tests[] = {
	{ "stacks.callers", stacks_callers },
	{ "stacks.anywhere", stacks_anywhere },
	{ NULL, NULL },
};
