/* Signal stacks, coroutines, and threads with small stacks. */
#define _GNU_SOURCE
#include "harm.h"
#include <limits.h>
#include <ucontext.h>

#define MORE 1024 /* bytes of a stack that dwell may use in addition */

/* ---- sigaltstack() ---- */

static void alternate_say(const char *what)
{
	stack_t now = { 0 };
	int result = sigaltstack(NULL, &now);
	harm_say("%s: %d, flags %x, size %zu, %s\n", what, result, (unsigned)now.ss_flags,
	         now.ss_flags & SS_DISABLE ? (size_t)0 : now.ss_size, now.ss_sp ? "somewhere" : "nowhere");
}

static void *alternate_thread(void *value UNUSED)
{
	alternate_say("a thread");
	harm_compute(TICKS);
	alternate_say("a thread later");
	return NULL;
}

static void alternate_first(long value UNUSED)
{
	alternate_say("main");
	harm_compute(TICKS);
	alternate_say("main later");
	harm_thread(alternate_thread, NULL, NULL);
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		alternate_thread(NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	harm_execute("state", ".stack");
}

static void alternate_handler(int number UNUSED)
{
	alternate_say("handler");
	stack_t other = { .ss_flags = SS_DISABLE };
	harm_result("sigaltstack in the handler", sigaltstack(&other, NULL));
}

/* Sets a stack of `size` bytes, computes, and looks whether memory below it is as it was. */
static void alternate_compute(size_t size, int flags)
{
	char *memory = malloc(300000);
	memset(memory, 0xa5, 300000);
	stack_t own = { .ss_sp = memory + 150000, .ss_size = size, .ss_flags = flags }, old = { 0 };
	harm_result("sigaltstack", sigaltstack(&own, &old));
	harm_say("before: flags %x\n", (unsigned)old.ss_flags);
	alternate_say("set");
	harm_compute(TICKS);
	for (int i = 0; i < 10; i++)
		usleep(1000);
	alternate_say("later");
	size_t below = 0, inside = 0;
	while (below < 150000 && memory[149999 - below] == (char)0xa5)
		below++;
	for (size_t i = 0; i < size; i++)
		inside += memory[150000 + i] != (char)0xa5;
	harm_say("memory below it is untouched: %d\n", below == 150000);
	harm_about("bytes of it that were written", (long)inside, size >= 16384 ? 16384 : 0);
	own.ss_flags = SS_DISABLE;
	harm_result("SS_DISABLE", sigaltstack(&own, NULL));
	alternate_say("disabled");
	free(memory);
}

static void *alternate_sized_thread(void *value)
{
	alternate_compute((size_t)value, 0);
	return NULL;
}

static void alternate_sized(long value)
{
	alternate_compute((size_t)value, 0);
	harm_thread(alternate_sized_thread, (void *)value, NULL);
}

static void alternate_disarm(long value)
{
	char *low = harm_painted((size_t)value);
	stack_t own = { .ss_sp = low, .ss_size = (size_t)value, .ss_flags = (int)(1u << 31) };
	harm_result("sigaltstack", sigaltstack(&own, NULL));
	alternate_say("SS_AUTODISARM");
	struct sigaction action = { .sa_handler = alternate_handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGUSR1, &action, NULL);
	harm_compute(TICKS);
	raise(SIGUSR1);
	alternate_say("after");
}

static void alternate_on_it(long value)
{
	stack_t own = { .ss_sp = harm_painted((size_t)value), .ss_size = (size_t)value };
	harm_result("sigaltstack", sigaltstack(&own, NULL));
	struct sigaction action = { .sa_handler = alternate_handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGUSR1, &action, NULL);
	harm_compute(TICKS);
	raise(SIGUSR1);
	alternate_say("after");
}

static void crash_handler(int number UNUSED)
{
	pid_t pid = fork();
	if (!pid) {
		usleep(30000);
		_exit(4);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	usleep(1000);
	_exit(WEXITSTATUS(status));
}

/* A handler that waits for a child on the program's own stack of `value` bytes; a negative one: at once. */
static void crash_main(long value)
{
	size_t size = (size_t)labs(value);
	stack_t own = { .ss_sp = harm_painted(size), .ss_size = size };
	harm_result("sigaltstack", sigaltstack(&own, NULL));
	struct sigaction action = { .sa_handler = crash_handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGSEGV, &action, NULL);
	if (value > 0)
		harm_compute(TICKS);
	*(volatile int *)NULL = 1;
}

/* A handler on the program's own stack: how many bytes of that are used. */
static void used_handler(int number UNUSED)
{
	usleep(1000);
	free(malloc(100000));
}

static void used_main(long value)
{
	char *low = harm_painted((size_t)value);
	stack_t own = { .ss_sp = low, .ss_size = (size_t)value };
	sigaltstack(&own, NULL);
	struct sigaction action = { .sa_handler = used_handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	harm_about("bytes of the signal stack", (long)harm_used(low, (size_t)value), MORE);
}

/* ---- what runs on a small stack ---- */

enum { COMPUTE, ALLOCATE, SLEEP, READ, LOCK, OPEN, ALL, NOTHING_SET = 8 };
static int pipes[2];

static NOINLINE void work_do(int work)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char byte;
	if (work == COMPUTE || work == ALL)
		harm_compute(TICKS / 4);
	if (work == ALLOCATE || work == ALL)
		for (int i = 0; i < 20; i++) {
			void *block = malloc(300000);
			if (block)
				*(volatile char *)block = 1;
			free(block);
		}
	if (work == SLEEP || work == ALL)
		usleep(3000);
	if (work == READ || work == ALL)
		if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &byte, 1) != 1)
			abort();
	if (work == LOCK || work == ALL) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	if (work == OPEN || work == ALL)
		close(open("/dev/null", O_RDONLY));
}

/* ---- coroutines ---- */

static ucontext_t caller, callee;
static int coroutine_work;
static void *switch_caller, *switch_callee;

static void coroutine_begin(void)
{
	for (;;) {
		work_do(coroutine_work);
		swapcontext(&callee, &caller);
	}
}

/* VALUE: bytes of the stack, and the work. */
static void coroutine_main(long value)
{
	size_t size = (size_t)value / 16 * 1024;
	coroutine_work = (int)(value % 8);
	char *low = harm_painted(size);
	if (pipe(pipes))
		return;
	if (value % 16 & NOTHING_SET) {
		stack_t none = { .ss_flags = SS_DISABLE };
		sigaltstack(&none, NULL);
	}
	getcontext(&callee);
	callee.uc_stack.ss_sp = low;
	callee.uc_stack.ss_size = size;
	callee.uc_link = &caller;
	makecontext(&callee, coroutine_begin, 0);
	for (int i = 0; i < 10; i++) {
		swapcontext(&caller, &callee);
		harm_compute(.002);
	}
	harm_about("bytes of the coroutine's stack", (long)harm_used(low, size), MORE);
}

/* Saves the registers of the caller on its stack, stores that in *from, and goes on with what `to` has. */
void switch_stack(void **from, void *to);
__asm__(".text\n.globl switch_stack\n.type switch_stack, @function\nswitch_stack:\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size switch_stack, .-switch_stack\n");

static void switch_begin(void)
{
	for (;;) {
		work_do(coroutine_work);
		switch_stack(&switch_callee, switch_caller);
	}
}

static void *switch_rounds(void *value)
{
	size_t size = (size_t)(long)value / 16 * 1024;
	char *low = harm_painted(size);
	void **top = (void **)(low + size);
	*--top = NULL;
	*--top = (void *)switch_begin;
	top -= 6;
	memset(top, 0, 6 * sizeof *top);
	switch_callee = top;
	for (int i = 0; i < 10; i++) {
		switch_stack(&switch_caller, switch_callee);
		harm_compute(.002);
	}
	harm_about("bytes of the other stack", (long)harm_used(low, size), MORE);
	return NULL;
}

static void switch_main(long value)
{
	coroutine_work = (int)(value % 8);
	if (pipe(pipes))
		return;
	if (value % 16 & NOTHING_SET)
		harm_thread(switch_rounds, (void *)value, NULL);
	else
		switch_rounds((void *)value);
}

/* ---- deep stacks ---- */

static NOINLINE long deep_fall(long depth)
{
	volatile char frame[32];
	frame[0] = (char)depth;
	if (!depth) {
		harm_compute(TICKS);
		usleep(1000);
		return 0;
	}
	return deep_fall(depth - 1) + frame[0] % 2;
}

static void *deep_begin(void *value)
{
	harm_say("deep %ld\n", deep_fall((long)value));
	return NULL;
}

static void deep_main(long depth)
{
	deep_begin((void *)depth);
	harm_thread(deep_begin, (void *)depth, NULL);
}

/* ---- threads ---- */

static void *thread_begin(void *value)
{
	for (int i = 0; i < 4; i++)
		work_do((int)((long)value % 8));
	return NULL;
}

static NOINLINE void *thread_large(void *value)
{
	volatile char local[6000];
	local[0] = 1;
	return thread_begin(value) ? (void *)&local : NULL;
}

/* A thread with a stack that the program gives. */
static void thread_main(long value)
{
	size_t size = (size_t)value / 16 * 1024;
	char *low = harm_painted(size);
	pthread_attr_t attributes;
	if (pipe(pipes))
		return;
	pthread_attr_init(&attributes);
	int error = pthread_attr_setstack(&attributes, low, size);
	harm_say("pthread_attr_setstack: %d\n", error);
	harm_thread(value % 16 & NOTHING_SET ? thread_large : thread_begin, (void *)value, &attributes);
	harm_about("bytes of the thread's stack", (long)harm_used(low, size), MORE);
}

/* A thread with the least stack that libc permits. */
static void thread_least(long value)
{
	pthread_attr_t attributes;
	if (pipe(pipes))
		return;
	pthread_attr_init(&attributes);
	harm_say("pthread_attr_setstacksize: %d\n", pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN));
	harm_thread(thread_begin, (void *)value, &attributes);
}

#define SIX(kind, text, run, kib) \
	{ kind, text " compute", run, (kib)*16 + COMPUTE }, { kind, text " malloc", run, (kib)*16 + ALLOCATE }, \
		{ kind, text " usleep", run, (kib)*16 + SLEEP }, { kind, text " read", run, (kib)*16 + READ }, \
		{ kind, text " lock", run, (kib)*16 + LOCK }, \
	{ \
		kind, text " open", run, (kib)*16 + OPEN \
	}
#define SIZED(name, size) \
	{ \
		"signal stack", name, alternate_sized, size \
	}

const struct harm_program harm_stacks[] = {
	{ "signal stack", "none set", alternate_first, 0 },
	SIZED("1000 bytes", 1000),
	SIZED("2048 bytes", 2048),
	SIZED("2900 bytes", 2900),
	SIZED("3150 bytes", 3150),
	SIZED("4096 bytes", 4096),
	SIZED("8192 bytes", 8192),
	SIZED("16384 bytes", 16384),
	SIZED("65536 bytes", 65536),
	{ "signal stack", "SS_AUTODISARM", alternate_disarm, 65536 },
	{ "signal stack", "changed while it is used", alternate_on_it, 65536 },
	{ "signal stack", "changed while it is used, 8192", alternate_on_it, 8192 },
	{ "handler on a stack", "waits for a child, 8192 bytes", crash_main, 8192 },
	{ "handler on a stack", "waits for a child, 12288 bytes", crash_main, 12288 },
	{ "handler on a stack", "waits for a child, 65536 bytes", crash_main, 65536 },
	{ "handler on a stack", "waits for a child at once, 8192 bytes", crash_main, -8192 },
	{ "handler on a stack", "waits for a child at once, 12288 bytes", crash_main, -12288 },
	{ "handler on a stack", "waits for a child at once, 65536 bytes", crash_main, -65536 },
	{ "handler on a stack", "bytes used of 8192", used_main, 8192 },
	{ "handler on a stack", "bytes used of 16384", used_main, 16384 },
	{ "handler on a stack", "bytes used of 65536", used_main, 65536 },
	SIX("coroutine (ucontext)", "4 KiB", coroutine_main, 4),
	SIX("coroutine (ucontext)", "8 KiB", coroutine_main, 8),
	SIX("coroutine (ucontext)", "16 KiB", coroutine_main, 16),
	{ "coroutine (ucontext)", "8 KiB compute, SS_DISABLE", coroutine_main, 8 * 16 + NOTHING_SET + COMPUTE },
	{ "coroutine (ucontext)", "8 KiB all, SS_DISABLE", coroutine_main, 8 * 16 + NOTHING_SET + ALL },
	SIX("coroutine (own switch)", "4 KiB", switch_main, 4),
	SIX("coroutine (own switch)", "8 KiB", switch_main, 8),
	SIX("coroutine (own switch)", "16 KiB", switch_main, 16),
	{ "coroutine (own switch)", "8 KiB all, in a thread", switch_main, 8 * 16 + NOTHING_SET + ALL },
	SIX("thread's stack", "16 KiB", thread_main, 16),
	SIX("thread's stack", "20 KiB", thread_main, 20),
	SIX("thread's stack", "64 KiB", thread_main, 64),
	{ "deep stack", "1,000 frames", deep_main, 1000 },
	{ "deep stack", "60,000 frames", deep_main, 60000 },
	{ "thread's stack", "20 KiB with 6 KB of locals, all", thread_main, 20 * 16 + NOTHING_SET + ALL },
	{ "thread's stack", "20 KiB with 6 KB of locals, usleep", thread_main, 20 * 16 + NOTHING_SET + SLEEP },
	{ "thread's stack", "PTHREAD_STACK_MIN compute", thread_least, COMPUTE },
	{ "thread's stack", "PTHREAD_STACK_MIN usleep", thread_least, SLEEP },
	{ "thread's stack", "PTHREAD_STACK_MIN all", thread_least, ALL },
	{ NULL, NULL, NULL, 0 },
};
