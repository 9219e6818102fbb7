/*
 * Stacks for signals, as the program sees them and as the kernel does.
 *
 * The kernel puts the frame of a tick on the thread's stack for signals. The program's own may be smaller than such a
 * frame, and a coroutine's stack, too. So each thread that is sampled has a stack of this library for the kernel.
 * The program does not see it: sigaltstack() stores and answers what the program set, and a handler with SA_ONSTACK,
 * which the kernel starts on this library's stack, goes to where it would have run: to the program's stack for signals,
 * or to the interrupted stack if the thread has none.
 *
 * While the program's handler runs, the kernel's frame and the caller's variables lie on this library's stack. A free part
 * of it is the kernel's stack for signals meanwhile, so that signals in between cannot reach them. It is set from the
 * program's stack, with all signals blocked: the kernel does not let a thread change a stack that it uses.
 * (SS_AUTODISARM would permit that, but runtimes such as Go's see it, and end the program.)
 *
 * Programs that use the system calls themselves see what the kernel knows.
 */
#include "sampler.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/system/system.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT
#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))
#define STACK_BYTES ((size_t)64 << 10)
#define SPARE_STACKS 8u
#define SIGNALS 64
#define MOST_NOTES 8u
#define NOTE_MOST 4096u
#define RED_ZONE 128u          /* below the stack pointer, where a function may keep variables */
#define HANDLER_BYTES 4096u    /* of this library's stack that a handler needs below the kernel's frame */
#define AUTODISARM (1u << 31)  /* SS_AUTODISARM, of the program; older headers lack it */
#define FRAME_BYTES 3072u      /* of the kernel, where it does not say */
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* A handler of the program that runs elsewhere than where the kernel began it. */
struct delivery {
	uintptr_t top, bottom;  /* the stack on which it runs, from where it began down */
	struct delivery *outer; /* of the same thread */
};

THREAD_LOCAL struct {
	char *stack;     /* of this library; NULL: the thread has none */
	stack_t program; /* what the program set */
	stack_t kernels; /* what the kernel had before dws_signals_show() */
	struct delivery *innermost;
} mine;

/* What the program asked for, of signals whose handler runs with SA_ONSTACK. */
static struct {
	uint32_t version; /* atomic; odd while the action is being changed */
	struct sigaction action;
} handlers[SIGNALS + 1];

static struct dws_wrapped next_sigaction DWS_WRAPPED = { "sigaction", NULL, NULL, 0 };

/* What the kernel does at a signal. For SIGBUS the recorder has a handler, which passes on to the action behind it. */
static int signals_next(int number, const struct sigaction *action, struct sigaction *before)
{
	int (*next)(int, const struct sigaction *, struct sigaction *);

	if (number == SIGBUS && dws_recorder->bus_action && dws_recorder->bus_action(action, before))
		return 0;
	*(void **)&next = dws_target(&next_sigaction);
	return next(number, action, before);
}

static long signals_set_stack(const stack_t *stack, stack_t *before)
{
	return dw_system(SYS_sigaltstack, (long)(uintptr_t)stack, (long)(uintptr_t)before, 0, 0, 0, 0);
}

static uint64_t signals_block(uint64_t blocked)
{
	uint64_t before = 0;

	dw_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)(uintptr_t)&blocked, (long)(uintptr_t)&before, 8, 0, 0);
	return before;
}

/* ---- a thread's stack ------------------------------------------------------------------------- */

/* Stacks of threads that have ended, for the next ones: mapping and unmapping one costs more than starting a short thread,
 * because the kernel interrupts the other CPUs. Atomic. */
static char *spare_stacks[SPARE_STACKS];

/* NULL: there is no memory. */
static char *signals_take_stack(void)
{
	long memory;

	for (size_t i = 0; i < SPARE_STACKS; i++) {
		char *spare = NULL;

		if (__atomic_load_n(&spare_stacks[i], __ATOMIC_RELAXED))
			spare = __atomic_exchange_n(&spare_stacks[i], NULL, __ATOMIC_ACQUIRE);
		if (spare)
			return spare;
	}
	memory = dw_own_map(STACK_BYTES);
	return dw_system_failed(memory) ? NULL : (char *)memory;
}

static void signals_leave_stack(char *stack)
{
	for (size_t i = 0; i < SPARE_STACKS; i++) {
		char *none = NULL;

		if (__atomic_compare_exchange_n(&spare_stacks[i], &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	dw_own_unmap(stack, STACK_BYTES);
}

void dws_signals_begin(void)
{
	stack_t ours = { .ss_size = STACK_BYTES }, now;

	if (mine.stack)
		return;
	ours.ss_sp = signals_take_stack();
	if (!ours.ss_sp)
		return;
	if (dw_system_failed(signals_set_stack(&ours, &now))) { /* the thread is on the program's stack for signals now */
		signals_leave_stack(ours.ss_sp);
		return;
	}
	mine.program = now;
	mine.program.ss_flags &= ~SS_ONSTACK;
	if (now.ss_flags & SS_DISABLE)
		mine.program = (stack_t){ .ss_flags = SS_DISABLE };
	mine.stack = ours.ss_sp;
}

/* Of a stack that is no longer the kernel's it is not known whether the program unmapped it. */
void dws_signals_end(void)
{
	stack_t now;

	if (!mine.stack || dw_system_failed(signals_set_stack(NULL, &now)))
		return;
	if (now.ss_sp >= (void *)mine.stack && now.ss_sp < (void *)(mine.stack + STACK_BYTES)) {
		if (dw_system_failed(signals_set_stack(&mine.program, NULL)))
			return;
	}
	signals_leave_stack(mine.stack);
	mine.stack = NULL;
	mine.innermost = NULL;
}

void dws_signals_end_stack(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };

	signals_set_stack(&none, NULL);
}

void dws_signals_show(bool show)
{
	if (!mine.stack)
		return;
	if (show && dw_system_failed(signals_set_stack(NULL, &mine.kernels)))
		return;
	mine.kernels.ss_flags &= ~SS_ONSTACK;
	signals_set_stack(show ? &mine.program : &mine.kernels, NULL);
}

static bool signals_is_in(const stack_t *stack, uintptr_t at)
{
	return !(stack->ss_flags & SS_DISABLE) && at - (uintptr_t)stack->ss_sp < stack->ss_size;
}

static bool signals_is_ours(uintptr_t at)
{
	return mine.stack && at - (uintptr_t)mine.stack < STACK_BYTES;
}

/* ---- handlers of the program ---------------------------------------------------------------------- */

/* Handlers that were left by a jump are no longer there: the stack pointer is elsewhere. */
static void signals_drop_left(uintptr_t sp)
{
	while (mine.innermost && (sp > mine.innermost->top || sp < mine.innermost->bottom))
		mine.innermost = mine.innermost->outer;
}

/* The kernel's stack from now on: what is free of this library's below this frame, or above the kernel's frame, which
 * began at the end of `before`. Above it there is something free if other handlers were left by a jump. */
static stack_t signals_divide(uintptr_t frame, const stack_t *before)
{
	uintptr_t low = (uintptr_t)mine.stack, upper = (uintptr_t)before->ss_sp + before->ss_size;
	size_t least = getauxval(AT_MINSIGSTKSZ), above = mine.innermost->outer ? 0 : low + STACK_BYTES - upper;
	stack_t part = { .ss_sp = mine.stack };

	part.ss_size = frame > low + 1024 ? (frame - low - 1024) & ~(uintptr_t)63 : 0;
	if (signals_is_ours(upper) && above > part.ss_size) {
		part.ss_sp = (void *)upper;
		part.ss_size = above;
	}
	least = HANDLER_BYTES + (least > FRAME_BYTES ? least : FRAME_BYTES);
	if (part.ss_size < least)
		part = (stack_t){ .ss_flags = SS_DISABLE };
	return part;
}

static uintptr_t signals_sp(const ucontext_t *context)
{
#ifdef __x86_64__
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
	return context->uc_mcontext.sp;
#endif
}

/* A call of a handler on the program's stack. */
struct run {
	const struct sigaction *action;
	siginfo_t *info;
	ucontext_t *context;
	stack_t part;     /* the kernel's stack for signals meanwhile */
	uint64_t blocked; /* signals, when the kernel began the handler */
};

/* Begins and ends with all signals blocked. In a sandbox the kernel's stack stays as it is. */
DWS_FRONT static void signals_run(long number, long given)
{
	struct run *run = (struct run *)given;

	if (!dws_process.in_sandbox) {
		signals_set_stack(&run->part, NULL);
		signals_block(run->blocked);
	}
	run->action->sa_sigaction((int)number, run->info, run->context);
	if (!dws_process.in_sandbox)
		signals_block(DWS_ALL_SIGNALS);
}

/* Runs the handler where the kernel would have run it, had the program's stack been the thread's. */
DWS_FRONT static void signals_deliver_there(const struct sigaction *action, int number, siginfo_t *info, ucontext_t *context)
{
	const stack_t before = context->uc_stack;
	stack_t program = mine.program, kernels = before;
	uintptr_t sp = signals_sp(context), top = (sp - RED_ZONE) & ~(uintptr_t)63;
	struct delivery delivery = { top, top > (8u << 20) ? top - (8u << 20) : 0, NULL };
	struct run run = { .action = action, .info = info, .context = context };

	if (!(program.ss_flags & SS_DISABLE) && action->sa_flags & SA_ONSTACK) {
		if (!signals_is_in(&program, sp) || program.ss_flags & (int)AUTODISARM)
			top = ((uintptr_t)program.ss_sp + program.ss_size) & ~(uintptr_t)63;
		delivery.top = (uintptr_t)program.ss_sp + program.ss_size;
		delivery.bottom = (uintptr_t)program.ss_sp;
		if (program.ss_flags & (int)AUTODISARM)
			mine.program = (stack_t){ .ss_flags = SS_DISABLE };
	}
	signals_drop_left(sp);
	if (!mine.innermost) { /* what a handler had that was left is free again when this one returns */
		kernels.ss_sp = mine.stack;
		kernels.ss_size = STACK_BYTES;
	}
	delivery.outer = mine.innermost;
	mine.innermost = &delivery;
	context->uc_stack = program;
	run.part = signals_divide((uintptr_t)__builtin_frame_address(0), &before);
	if (!dws_process.in_sandbox)
		run.blocked = signals_block(DWS_ALL_SIGNALS);
	dws_call_on((char *)top, (void *)(uintptr_t)signals_run, number, (long)(uintptr_t)&run, 0);
	mine.innermost = delivery.outer;
	mine.program = context->uc_stack; /* the program may have changed it, as the kernel permits */
	context->uc_stack = kernels;
}

void dws_signals_mend(ucontext_t *context)
{
	if (!mine.stack || (context->uc_stack.ss_sp == mine.stack && context->uc_stack.ss_size == STACK_BYTES))
		return;
	signals_drop_left(signals_sp(context));
	if (!mine.innermost && (signals_is_ours((uintptr_t)context->uc_stack.ss_sp) || context->uc_stack.ss_flags & SS_DISABLE))
		context->uc_stack = (stack_t){ .ss_sp = mine.stack, .ss_size = STACK_BYTES };
}

static void signals_read(int number, struct sigaction *action)
{
	uint32_t version;

	do { /* acquire: pairs with the releases in signals_write() */
		version = __atomic_load_n(&handlers[number].version, __ATOMIC_ACQUIRE);
		memcpy(action, &handlers[number].action, sizeof *action);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (version & 1 || version != __atomic_load_n(&handlers[number].version, __ATOMIC_RELAXED));
}

/* All handlers with SA_ONSTACK begin here, and those of SIGBUS. The kernel passes all three arguments to each. */
DWS_FRONT static void signals_deliver(int number, siginfo_t *info, void *context)
{
	struct sigaction action;

	signals_read(number, &action);
	if (signals_is_ours((uintptr_t)__builtin_frame_address(0)))
		signals_deliver_there(&action, number, info, context);
	else
		action.sa_sigaction(number, info, context);
}

/* ---- sigaction() and sigaltstack() --------------------------------------------------------------- */

/* Whether the caller is code of Go, which sets handlers by libc and stacks by system calls: it knows the kernel's stack, takes
 * it for its own, and ends the program if a handler runs elsewhere. Its linker marks each file. */
static bool signals_is_go(const void *caller)
{
	struct dws_stack file = { 0, 0 };
	ElfW(Ehdr) head;
	uint32_t note[4];
	uintptr_t first = UINTPTR_MAX, notes[MOST_NOTES];
	unsigned count = 0;

	if (!dws_cfi_module((uintptr_t)caller, &file) || dws_copy(&head, file.low, sizeof head) < sizeof head ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		ElfW(Phdr) part;

		if (dws_copy(&part, file.low + head.e_phoff + i * sizeof part, sizeof part) < sizeof part)
			return false;
		if (part.p_type == PT_LOAD && part.p_vaddr - part.p_offset < first)
			first = part.p_vaddr - part.p_offset;
		if (part.p_type == PT_NOTE && count < MOST_NOTES)
			notes[count++] = part.p_vaddr;
	}
	while (count-- > 0)
		for (uintptr_t at = file.low - first + notes[count]; dws_copy(note, at, sizeof note) == sizeof note && note[0];) {
			if (note[0] == 4 && memcmp(&note[3], "Go", 3) == 0)
				return true;
			if (note[0] > NOTE_MOST || note[1] > NOTE_MOST)
				break;
			at += 12 + ((note[0] + 3) & ~3u) + ((note[1] + 3) & ~3u);
		}
	return false;
}

static bool signals_wraps(int number, const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
	       (action->sa_flags & SA_ONSTACK || number == SIGBUS);
}

/* What the kernel has, in the program's terms. */
static void signals_answer(int number, struct sigaction *before)
{
	struct sigaction action;
	int flags = before->sa_flags;

	if (before->sa_sigaction != signals_deliver)
		return;
	signals_read(number, &action);
	before->sa_sigaction = action.sa_sigaction;
	before->sa_flags = (flags & ~(SA_SIGINFO | SA_ONSTACK)) | (action.sa_flags & (SA_SIGINFO | SA_ONSTACK));
}

/* Locks a handler's entry, with all signals blocked. The owner of the lock has them blocked, too, and does little. */
static void signals_lock(int number)
{
	uint32_t version = __atomic_load_n(&handlers[number].version, __ATOMIC_RELAXED);

	while (version & 1 || !__atomic_compare_exchange_n(&handlers[number].version, &version, version + 1, false, __ATOMIC_ACQUIRE,
	                                                   __ATOMIC_RELAXED)) {
		dw_system(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		version = __atomic_load_n(&handlers[number].version, __ATOMIC_RELAXED);
	}
}

static void signals_unlock(int number)
{
	__atomic_fetch_add(&handlers[number].version, 1, __ATOMIC_RELEASE);
}

static int signals_change(int number, struct sigaction *action)
{
	int code;

	signals_lock(number);
	handlers[number].action = *action;
	action->sa_sigaction = signals_deliver;
	action->sa_flags |= SA_SIGINFO;
	code = signals_next(number, action, NULL); /* fails for signals that never have a handler */
	signals_unlock(number);
	return code;
}

static int signals_action(int number, const struct sigaction *action, struct sigaction *before, bool wraps)
{
	struct sigaction old, wanted;
	uint64_t blocked;
	int code;

	if (action)
		wanted = *action;
	blocked = signals_block(DWS_ALL_SIGNALS);
	code = signals_next(number, NULL, &old);
	if (!code)
		signals_answer(number, &old);
	if (!code && action)
		code = wraps ? signals_change(number, &wanted) : signals_next(number, &wanted, NULL);
	signals_block(blocked);
	if (!code && before)
		*before = old;
	return code;
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	int code;

	if (!dws_process.pid || number < 1 || number > SIGNALS)
		return signals_next(number, action, before);
	if (!dws_process.in_sandbox)
		return signals_action(number, action, before,
		                      action && signals_wraps(number, action) && !signals_is_go(__builtin_return_address(0)));
	code = signals_next(number, action, before); /* the program's own call alone */
	if (!code && before)
		signals_answer(number, before);
	return code;
}

typedef void (*signals_handler)(int);

/* As libc does it: signal() blocks the signal during its handler. */
__attribute__((noinline)) static signals_handler signals_set_bus(signals_handler handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	if (flags & SA_RESTART)
		sigaddset(&action.sa_mask, SIGBUS);
	return sigaction(SIGBUS, &action, &action) == 0 ? action.sa_handler : SIG_ERR;
}

/* Some headers do not declare it any more. */
signals_handler bsd_signal(int number, signals_handler handler);

/* signal() and its relatives: libc sets the handler, and answers with the kernel's. */
#define SIGNAL_FUNCTION(name, flags)                                                                      \
	PUBLIC signals_handler name(int number, signals_handler handler)                                      \
	{                                                                                                     \
		static struct dws_wrapped wrapped DWS_WRAPPED = { #name, NULL, NULL, 0 };                         \
		struct sigaction action;                                                                          \
		signals_handler (*next)(int, signals_handler), result;                                            \
                                                                                                          \
		*(void **)&next = dws_target(&wrapped);                                                           \
		if (!dws_process.pid || number < 1 || number > SIGNALS || handler == SIG_ERR)                     \
			return next(number, handler);                                                                 \
		if (number == SIGBUS)                                                                             \
			return signals_set_bus(handler, flags);                                                       \
		signals_read(number, &action);                                                                    \
		result = next(number, handler);                                                                   \
		return result == (signals_handler)(void (*)(void))signals_deliver ? action.sa_handler : result;   \
	}

SIGNAL_FUNCTION(signal, SA_RESTART)
SIGNAL_FUNCTION(bsd_signal, SA_RESTART)
SIGNAL_FUNCTION(ssignal, SA_RESTART)
SIGNAL_FUNCTION(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
SIGNAL_FUNCTION(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

/* The kernel checks what the program asks for. Signals are blocked until its own stack is the kernel's again. */
static long signals_try_stack(const stack_t *stack)
{
	uint64_t blocked = signals_block(DWS_ALL_SIGNALS);
	stack_t now;
	long result = signals_set_stack(NULL, &now);

	if (!dw_system_failed(result))
		result = signals_set_stack(stack, NULL);
	if (!dw_system_failed(result)) {
		now.ss_flags &= ~SS_ONSTACK;
		signals_set_stack(&now, NULL);
		mine.program = *stack;
		if (stack->ss_flags & SS_DISABLE)
			mine.program = (stack_t){ .ss_flags = SS_DISABLE };
		mine.program.ss_flags &= ~SS_ONSTACK;
	}
	signals_block(blocked);
	return result;
}

PUBLIC int sigaltstack(const stack_t *stack, stack_t *before)
{
	stack_t old = mine.program;
	bool on = signals_is_in(&old, (uintptr_t)__builtin_frame_address(0)) && !(old.ss_flags & (int)AUTODISARM);
	int saved = errno;

	if (!mine.stack)
		return (int)dw_system_errno(signals_set_stack(stack, before));
	if (stack && on) {
		errno = EPERM;
		return -1;
	}
	if (stack && dw_system_errno(signals_try_stack(stack)) != 0)
		return -1;
	if (before) {
		*before = old;
		before->ss_flags |= on ? SS_ONSTACK : 0;
	}
	errno = saved;
	return 0;
}
