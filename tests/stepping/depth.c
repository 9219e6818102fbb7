/*
 * How much stack a call takes: the stack below it is painted before, and looked at afterwards. depth_test.py runs this
 * program without and with dwell and compares.
 *
 *   depth list               names of the calls
 *   depth NAME coroutine     three calls on a stack of the program's own: the first one, a later one that waits (or is
 * large), depth NAME thread        and one that does not; prints "NAME FIRST LATER SHORT" in bytes. The same on a
 * thread's stack depth constructors       what libraries used of the first thread's stack before main()
 *
 * It is bound when it is loaded (-z now), so that no call takes the stack of the dynamic linker.
 */
#include "depth.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel.h"

#define STACK_BYTES ((size_t)256 << 10)
#define PAINT 0xa5a5a5a5a5a5a5a5u
#define CONSTRUCTORS_BYTES ((size_t)200 << 10)

static uintptr_t first_low, first_high; /* what is painted of the first thread's stack before libraries begin */

/* ---- paint -------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void depth_paint(uintptr_t low, uintptr_t high)
{
	for (volatile uint64_t *at = (volatile uint64_t *)low; (uintptr_t)at < high; at++)
		*at = PAINT;
}

/* The lowest address that has lost its paint. */
static inline __attribute__((always_inline)) uintptr_t depth_find(uintptr_t low, uintptr_t high)
{
	const volatile uint64_t *at = (const volatile uint64_t *)low;

	while ((uintptr_t)at < high && *at == PAINT)
		at++;
	return (uintptr_t)at;
}

static inline __attribute__((always_inline)) uintptr_t depth_pointer(void)
{
	uintptr_t sp;

	__asm__ volatile("movq %%rsp, %0" : "=r"(sp));
	return sp & ~(uintptr_t)7;
}

/* Bytes of stack that a call takes. `low`: where the stack ends. */
static __attribute__((noinline)) long depth_measure(void (*call)(bool waits), bool waits, uintptr_t low)
{
	uintptr_t here = depth_pointer();

	depth_paint(low, here);
	call(waits);
	return (long)(here - depth_find(low, here));
}

/* Before the constructors of all libraries. */
static void depth_paint_first(void)
{
	first_high = depth_pointer() - 256; /* it does not call, and may keep words below the pointer */
	first_low = first_high - CONSTRUCTORS_BYTES;
	depth_paint(first_low, first_high);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = depth_paint_first;

/* ---- stacks -------------------------------------------------------------------------------------- */

static struct {
	const struct depth_call *call;
	uintptr_t low;
	long bytes[3];
} asked;

static void depth_three(void)
{
	for (int i = 0; i < 3; i++) {
		bool waits = i < 2;

		if (asked.call->prepare)
			asked.call->prepare(waits);
		asked.bytes[i] =
			asked.call->measure ? asked.call->measure(waits) : depth_measure(asked.call->call, waits, asked.low);
	}
}

/* Calls a function on another stack, as coroutines do. */
static __attribute__((noinline)) void depth_call_on(uintptr_t top, void (*function)(void))
{
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[function]\n\tmovq %%rbx, %%rsp"
	                 : [function] "+r"(function), [top] "+r"(top)
	                 :
	                 : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void *depth_thread(void *unused)
{
	depth_three();
	return unused;
}

char *depth_stack(void)
{
	char *stack =
		(char *)kernel(SYS_mmap, 0, (long)STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	depth_paint((uintptr_t)stack, (uintptr_t)stack + STACK_BYTES);
	return stack;
}

pthread_t depth_start(char *stack, void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK_BYTES);
	pthread_create(&thread, &attributes, function, NULL);
	pthread_attr_destroy(&attributes);
	return thread;
}

long depth_used(const char *stack)
{
	return (long)((uintptr_t)stack + STACK_BYTES - depth_find((uintptr_t)stack, (uintptr_t)stack + STACK_BYTES));
}

static void depth_run(bool in_thread)
{
	char *stack = depth_stack();

	asked.low = (uintptr_t)stack;
	if (in_thread)
		pthread_join(depth_start(stack, depth_thread), NULL);
	else
		depth_call_on((uintptr_t)stack + STACK_BYTES, depth_three);
	printf("%s %ld %ld %ld\n", asked.call->name, asked.bytes[0], asked.bytes[1], asked.bytes[2]);
}

/* Prints the names, or takes the one that is asked for. */
static void depth_look(const struct depth_call *call, int argc, char **argv)
{
	for (; call->name; call++) {
		if (argc == 2 && !strcmp(argv[1], "list"))
			printf("%s %s\n", call->name, call->kind);
		if (argc == 3 && !strcmp(argv[1], call->name))
			asked.call = call;
	}
}

int main(int argc, char **argv)
{
	long constructors = (long)(first_high - depth_find(first_low, first_high));

	if (argc == 2 && !strcmp(argv[1], "constructors"))
		return printf("constructors %ld\n", constructors) < 0;
	depth_look(depth_calls, argc, argv);
	depth_look(depth_more, argc, argv);
	if (argc == 3 && !asked.call)
		return 2;
	if (argc == 3)
		depth_run(!strcmp(argv[2], "thread"));
	return 0;
}
