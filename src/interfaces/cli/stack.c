/* A stack that is large enough; see stack.h. */
#include "cli/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define STACK_LEAST_BYTES ((size_t)2 << 20) /* that this command is content with */
#define STACK_BYTES ((size_t)8 << 20)       /* as most systems give a program; only used pages take memory */
#define STACK_GUARD_BYTES ((size_t)64 << 10)

static struct {
	int (*work)(int count, char **arguments);
	int count, result;
	char **arguments;
} stack;

static void stack_work(void)
{
	stack.result = stack.work(stack.count, stack.arguments);
}

/* Threads get as much as the limit is where no size is set. */
static void stack_set_for_threads(void)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, STACK_LEAST_BYTES) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int dw_on_large_stack(int (*work)(int count, char **arguments), int count, char **arguments)
{
	ucontext_t here, there;
	struct rlimit limit;
	char *memory;

	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST_BYTES)
		return work(count, arguments);
	stack_set_for_threads();
	memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED || getcontext(&there) != 0)
		return work(count, arguments);
	mprotect(memory, STACK_GUARD_BYTES, PROT_NONE);
	stack.work = work;
	stack.count = count;
	stack.arguments = arguments;
	there.uc_stack.ss_sp = memory;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = &here;
	makecontext(&there, stack_work, 0);
	swapcontext(&here, &there);
	return stack.result;
}
