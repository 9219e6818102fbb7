/*
 * Faults: the trace was cut while it is mapped.
 *
 * A program that truncates the trace or copies a file over it takes away memory that the recorder writes to, and the
 * kernel sends SIGBUS to the thread that touches it next. So does a file system that has no space for a page, or a disk
 * that fails. The recorder has a handler: if the address is in the trace's head or in a window, it maps private memory
 * from there to the end of the mapping, and the program goes on. Recording ends, because the file no longer is what was
 * written.
 *
 * All other faults are the program's. The handler puts back the action that the program had and returns. A fault then
 * happens again, and a signal that somebody sent is queued again with the same siginfo: the program's handler is called
 * with its flags and its mask on its stack, or the process ends with its status and its core dump. dw_fault_watch(),
 * called at each new window, installs the handler again, unless the program has set another one meanwhile. A process
 * that ignores SIGBUS gets no handler, because a program that it executes ignores it too.
 *
 * A thread that blocks SIGBUS is ended by the kernel. Nothing that a process can do prevents it.
 */
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"

#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/system/system.h"
#include "dwell/probe_abi.h"

/* What rt_sigaction() takes. */
struct fault_action {
	void (*handler)(int number, siginfo_t *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

#ifdef __x86_64__
/* The kernel returns to this from a handler. Unwinders know it by its bytes. */
void dw_fault_restore(void);
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".hidden dw_fault_restore\n"
        ".globl dw_fault_restore\n"
        ".type dw_fault_restore, @function\n"
        "	nop\n"
        "dw_fault_restore:\n"
        "	movq $15, %rax\n"
        "	syscall\n"
        ".size dw_fault_restore, . - dw_fault_restore\n"
        ".popsection");
#define FAULT_RESTORE dw_fault_restore, SA_RESTORER
#else
#define FAULT_RESTORE NULL, 0
#endif

/* The program's own action: one of two copies, so that a handler never finds one half written. */
static struct fault_action fault_programs[2];
static uint32_t fault_current; /* atomic */
static uintptr_t fault_page;   /* atomic; bytes of a page */

static const struct fault_action *fault_program(void)
{
	return &fault_programs[__atomic_load_n(&fault_current, __ATOMIC_ACQUIRE)];
}

static void fault_keep(const struct fault_action *action)
{
	uint32_t next = !DW_LOAD(fault_current);

	fault_programs[next] = *action;
	__atomic_store_n(&fault_current, next, __ATOMIC_RELEASE);
}

static bool fault_action(const struct fault_action *set, struct fault_action *get)
{
	return dw_call(SYS_rt_sigaction, SIGBUS, set, get, sizeof get->mask) == 0;
}

/* ---- the end of recording ----------------------------------------------------------- */

void dw_session_abandon(void)
{
	__atomic_store_n(&dwell_gate, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&dw_session.head, NULL, __ATOMIC_RELEASE);
	dw_process_halt();
}

bool dw_session_is_whole(void)
{
	uint32_t opening = __atomic_load_n(&dw_session.opening, __ATOMIC_ACQUIRE);
	uint64_t run_id[2];

	memcpy(run_id, dw_session_map()->run_id, sizeof run_id);
	if (run_id[0] == __atomic_load_n(&dw_session.run_id[0], __ATOMIC_ACQUIRE) &&
	    run_id[1] == __atomic_load_n(&dw_session.run_id[1], __ATOMIC_ACQUIRE))
		return true;
	/* A record of a session that has ended, while another thread begins the next one, says nothing of that one's file. */
	if (!(opening & 1) && opening == DW_LOAD(dw_session.opening))
		dw_session_abandon();
	return false;
}

/* ---- the trace's memory ------------------------------------------------------------- */

/* The end of the mapping of the trace that an address is in; 0: it is in none. */
static uintptr_t fault_find_end(uintptr_t at)
{
	uintptr_t head = (uintptr_t)dw_session_map();
	uint32_t count = dw_process ? __atomic_load_n(&dw_process->window_count, __ATOMIC_ACQUIRE) : 0;

	if (head && at - head < DW_BLOCK_BYTES)
		return head + DW_BLOCK_BYTES;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t base = (uintptr_t)dw_process->windows[i].base, bytes = dw_process->windows[i].count * (uintptr_t)DW_BLOCK_BYTES;

		if (at - base < bytes)
			return base + bytes;
	}
	return 0;
}

/* A file ends at one place: from the address on, nothing of the mapping is left. */
static bool fault_mend(uintptr_t at)
{
	uintptr_t end = fault_find_end(at), page = at & ~(DW_LOAD(fault_page) - 1);

	if (!end)
		return false;
	dw_session_abandon();
	return dw_call(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE,
	               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == (long)page;
}

/* ---- the signal ----------------------------------------------------------------------- */

/* Whether the instruction that the thread is at causes the signal again. */
static bool fault_repeats(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

static void fault_handle(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (fault_repeats(info) && fault_mend((uintptr_t)info->si_addr))
		return;
	fault_action(fault_program(), NULL);
	if (!fault_repeats(info)) /* delivered when this handler returns */
		dw_call(SYS_rt_tgsigqueueinfo, dw_getpid(), dw_gettid(), number, info);
}

static bool fault_is_watched(struct fault_action *now)
{
	return fault_action(NULL, now) && now->handler == fault_handle;
}

void dw_fault_watch(void)
{
	static const struct { void (*restorer)(void); unsigned long flag; } restore = { FAULT_RESTORE };
	const struct fault_action ours = { fault_handle, SA_SIGINFO | SA_ONSTACK | restore.flag, restore.restorer, 0 };
	static bool installed; /* atomic */
	struct fault_action now = { 0 };

	if (!DW_LOAD(fault_page))
		DW_STORE(fault_page, getauxval(AT_PAGESZ));
	if (fault_is_watched(&now) || (void (*)(int))(uintptr_t)now.handler == SIG_IGN)
		return;
	if (DW_LOAD(installed) && now.handler != fault_program()->handler)
		return; /* the program has replaced the recorder's */
	DW_STORE(installed, true);
	fault_keep(&now);
	fault_action(&ours, NULL);
}

/* ---- what the program sees --------------------------------------------------------------- */

bool dwell_bus_action(const struct sigaction *set, struct sigaction *get)
{
	struct fault_action now = { 0 }, program;

	/* In a child of vfork the action is the child's own, and this memory its parent's. */
	if (!dw_process || DW_LOAD(dw_process->pid) != (uint32_t)dw_getpid() || !fault_is_watched(&now) ||
	    (set && set->sa_handler == SIG_IGN))
		return false;
	program = *fault_program();
	if (set) {
		now.handler = (void (*)(int, siginfo_t *, void *))(uintptr_t)set->sa_handler; /* the same union as sa_sigaction */
		now.flags = (unsigned long)(unsigned)set->sa_flags | (now.flags & SA_RESTORER);
		memcpy(&now.mask, &set->sa_mask, sizeof now.mask);
		fault_keep(&now);
	}
	if (get) {
		memset(&get->sa_mask, 0, sizeof get->sa_mask);
		get->sa_handler = (void (*)(int))(uintptr_t)program.handler;
		get->sa_flags = (int)(program.flags & ~(unsigned long)SA_RESTORER);
		memcpy(&get->sa_mask, &program.mask, sizeof program.mask);
	}
	return true;
}
