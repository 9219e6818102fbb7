/*
 * The sampler: at each period of CPU time of a thread, a signal handler records where the thread is.
 *
 *   process  what the other files share
 *   wrapped  the functions that this library is in front of (wrapped.h)
 *   prepare  what walks need of the process
 *   apart    stacks of this library, for work that the program's stacks have no space for
 *   timers   a timer for each thread, and the signal
 *   signals  the program's stacks for signals, and handlers that run there
 *   threads  begin and end of the program's threads
 *   own      how long this library works at begins and ends of threads and processes
 *   exec     no tick may be left for the next program
 *   unload   what is known of addresses ends with their library
 *   sandbox  where a program gives up system calls, samples end
 *   perf     an event of the kernel in place of a timer, with the kernel's functions
 *   users    a program that changes its user has timers again
 *   sample   the handler: native frames, frames of Python between them, and their ids
 *   cfi      how to get from a place in code to its caller: the unwind tables that code carries
 *   python   frames of Python 3.9 to 3.15, read from the interpreter's memory
 *   waits    functions of libc in which threads wait: how long, and who called them
 *   requests connections that the program accepts, whose turns are requests
 *
 * `dwell run` preloads it. It links libc and the recorder alone. The handler allocates nothing, takes no lock, keeps
 * errno, and enters the kernel by base/system/system.h, not by libc. What it needs to know (where the tables lie, the
 * interpreter's layout) it reads from memory that the process has mapped anyway. The functions of libc that this library is
 * in front of are found before main(): looking for one later would wait for the loader's lock, and clear dlerror().
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "dwell/probe.h"
#include "format/sampler_calls.h"

/* Functions that call the program, or are in front of a function that it calls: what they call is the program's, and all other
 * calls of this library are its own. */
#define DWS_FRONT __attribute__((section("dws_fronts")))

#define DWS_FRAMES 128u /* most frames of a stored stack; of a deeper one both ends are kept */
#define DWS_WALKED 1024u /* most frames of each kind that are looked at */

/* ---- process.c ------------------------------------------------------------------------- */

extern struct dws_process {
	long period_ns;    /* of CPU time between two samples of a thread; 0: this process is not sampled */
	int pid;           /* the process that is sampled */
	const char *lacks; /* why there are no samples, or none of Python; NULL: nothing lacks */
	bool has_tables;   /* of unwinding */
	bool has_perf;     /* events of the kernel are in place of timers */
	bool is_program;   /* `dwell run` started this process itself */
	bool in_sandbox;   /* system calls may end it */
	bool has_counter;  /* the processor's counter is the run's clock */
	int noted;         /* atomic; the trace says how samples are taken */
} dws_process;

/* The recorder of the program: its own copy if it has one. Set before main(); where nothing is recorded, its gate is closed
 * and it has no functions. */
extern const struct dw_sampler_calls *dws_recorder;

/* As dwell_wants(UINT32_MAX), of that recorder. */
static inline bool dws_sampler_records(void)
{
	const struct dwell_gate_word *gate = __atomic_load_n(dws_recorder->gate, __ATOMIC_RELAXED);

	return gate && __atomic_load_n(&gate->mask, __ATOMIC_RELAXED) != 0;
}

/* Addresses: the part of a thread's stack that may be read, because it is mapped; a library. */
struct dws_stack {
	uintptr_t low, high;
};

/* The calling thread's own stack, after one of the two functions below. */
const struct dws_stack *dws_own_stack(void);
void dws_take_first_stack(void); /* in the first thread, whose stack grows: its end and its limit are known */
void dws_take_stack(uintptr_t low, uintptr_t high);

/*
 * Memory that a walk reads: the part of the thread's own stack that is in use, and pages elsewhere of which the kernel says
 * once that they are mapped. A walk follows what the interrupted thread alone changes, and so nobody unmaps it meanwhile.
 * All else is copied by the kernel (dws_copy), which refuses where nothing is mapped: copies of all pages would take the
 * threefold time of a sample.
 */
#define DWS_PAGE ((uintptr_t)4096)
#define DWS_PAGES 8u
struct dws_memory {
	uintptr_t low, high;        /* of the stack; both 0: none */
	uintptr_t pages[DWS_PAGES]; /* that are mapped; 0: none */
	unsigned next;
};
/* The aligned word at `at`, or NULL: nothing is mapped there. */
const void *dws_word(struct dws_memory *memory, uintptr_t at);
/* Whether the page of `at` is mapped now. */
bool dws_can_read(uintptr_t at);
/* Copies memory up to the first page that cannot be read. Returns how many bytes it copied. */
size_t dws_copy(void *to, uintptr_t from, size_t bytes);
uint64_t dws_now_ns(void);
/* Fills memory with zeros. Words that are zero already are not written: in a child of fork the kernel copies each page that is
 * written. `bytes` is a multiple of 8. */
void dws_clear(void *memory, size_t bytes);
/* Says once in the trace how samples are taken. False: nothing can be recorded now, or nothing of this process is in the
 * trace yet, and it is not worth a place there: it has used no CPU, as shells and launchers that wait. The program that
 * `dwell run` started always is. */
bool dws_note(bool has_sample);
/* Whether the process has used the CPU for as long as so many samples stand for. */
bool dws_has_worked(long periods);
/* Says in the trace why threads have no samples. */
void dws_lack(const char *why);

/* ---- cfi.c --------------------------------------------------------------------------- */

enum dws_frame_end {
	DWS_END_UNKNOWN,   /* no table says it */
	DWS_END_SP,        /* stack pointer + offset */
	DWS_END_FP,        /* frame pointer + offset */
	DWS_END_AT_FP,     /* the word at frame pointer + offset */
	DWS_END_OUTERMOST, /* there is no caller */
};

/* The caller of a function at one place of its code. The frame's end is the value of the stack pointer in the
 * caller. Offsets are in bytes. */
struct dws_rule {
	uint8_t end;             /* enum dws_frame_end */
	bool saves_fp;           /* the caller's frame pointer is in memory: */
	bool fp_at_fp;           /* at frame pointer + fp_offset, and not at the frame's end + fp_offset */
	bool returns_in_register; /* the return address is in its register (aarch64), and not in memory */
	int32_t end_offset;
	int16_t fp_offset, return_offset; /* of the return address, from the frame's end */
};

/* The rule at `pc`, an address of code. Reads tables of the module that contains it. */
struct dws_rule dws_cfi_find(uintptr_t pc);
/* Forgets what it remembers of the tables: a module was unloaded. */
void dws_cfi_forget(void);
/* How many bytes of code a function has that begins at `pc`, which no thread unloads now; 0: none begins there. */
uint64_t dws_cfi_function(uintptr_t pc);
/* The memory of the library or program at an address. */
bool dws_cfi_module(uintptr_t address, struct dws_stack *range);
/* Whether the C library can say where the tables are; else frames are found by frame pointers. */
bool dws_cfi_prepare(void);

/* ---- python.c -------------------------------------------------------------------------- */

/* Frames that one call of the interpreter's loop executes end with `last`. */
struct dws_python_frame {
	uintptr_t code;        /* the code object */
	uintptr_t instruction; /* its address; before 3.11 the instruction's number */
	uintptr_t loop;        /* of the last frame: an address in the native frame of the loop, or 0 */
	bool last;
};

/* Finds the interpreter, if the process has one. Sets *lacks to a reason if frames of this one cannot be read. */
void dws_python_prepare(const char **lacks);
/* The frames of the calling thread, innermost first. Returns how many there are. */
unsigned dws_python_walk(struct dws_memory *memory, struct dws_python_frame frames[DWS_WALKED]);
/* The memory of the file with the interpreter; nothing if there is none. */
void dws_python_module(struct dws_stack *range);
/* Identifies the frame's place in code, also after the code was freed and its memory is other code's. */
uint64_t dws_python_key(const struct dws_python_frame *frame);
/* Whether the function at a native frame's `pc` is the interpreter's loop, where frames have no `loop`. */
bool dws_python_is_loop(uintptr_t pc);
/* The FRAME id; 0: nothing is recorded now. */
uint32_t dws_python_intern(const struct dws_python_frame *frame);

/* ---- apart.c --------------------------------------------------------------------------- */

#define DWS_APART_BYTES ((size_t)192 << 10)

/* The kernel's set of all signals but SIGBUS: the recorder handles faults in its file. */
#define DWS_ALL_SIGNALS (UINT64_MAX & ~((uint64_t)1 << (SIGBUS - 1)))
/* Calls a function on a stack of this library, with these signals blocked. False: no stack is free, or signals cannot be
 * blocked; the function was not called. Needs some 200 bytes of the caller's stack. */
bool dws_apart(void (*function)(void *), void *argument);
/* The same where all signals are blocked already. */
bool dws_apart_masked(void (*function)(void *), void *argument);
/* Whether the caller runs on such a stack. */
bool dws_is_apart(void);
void dws_apart_forked(void);
/* Calls function(a, b, c) with the stack pointer at `top`, a multiple of 16. */
void dws_call_on(char *top, void *function, long a, long b, long c);

/* ---- signals.c ------------------------------------------------------------------------- */

/* The calling thread's stack for the kernel's frames of signals. */
void dws_signals_begin(void);
void dws_signals_end(void);
/* Before another program begins, the kernel gets the program's stack for signals; if that fails, this library's again. */
void dws_signals_show(bool show);
/* In work of a handler that runs apart: a fault in the trace's file begins its handler there, and not on the thread's stack for
 * signals, over the frames of the tick. The kernel takes that stack back when the tick's handler returns. */
void dws_signals_end_stack(void);
/* At a tick: what handlers used that the program has left by a jump is free again. */
void dws_signals_mend(ucontext_t *context);

/* ---- own.c ------------------------------------------------------------------------------ */

/* This library has worked since `began_ns` (dws_now_ns()), because a thread or process began or ended. */
void dws_own_add(uint64_t began_ns, bool begins_something);
/* Adds the sum to the trace, and begins a new one. Only on a stack of this library (dws_apart()). */
void dws_own_write(void);
/* In a child of fork: forgets the sum, which its parent writes. */
void dws_own_forked(void);

/* ---- timers.c -------------------------------------------------------------------------- */

/* Starts the calling thread's timer; `function` is the one that the thread executes, which begins now if `is_new`. */
void dws_timers_start(uintptr_t function, bool is_new);
bool dws_timers_run(void);
/* The timer of the calling thread, which begins, ends with it. */
void dws_timers_watch(void);
/* Writes the account of the process, which ends now. */
void dws_timers_end_process(void);
/* The same, of the program that the process executed, before it executes another one. False: it has none. */
bool dws_timers_close_account(void);
/* The other one does not begin: the account goes on. */
void dws_timers_open_account(void);
/* No tick comes between the two. */
void dws_timers_pause(void);
void dws_timers_resume(void);
/* glibc may have replaced the signal's handler when it created a thread: takes it back. */
void dws_timers_keep(void);
/* From now on threads have timers and no events: the calling thread, and others when they are told. */
void dws_timers_without_perf(void);
/* Ends the samples of this process, because it begins a sandbox; the trace says so. Returns the period. */
long dws_timers_leave(void);
/* The sandbox was refused: the calling thread, and others that had a timer, are sampled again. */
void dws_timers_return(long period_ns);

/* The kernel's structure, because libc's differ between C libraries. */
struct dws_kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void (*restorer)(void); /* x86-64 needs one; other processors return by the kernel's own code */
	uint64_t mask;
};
/* Whether it is a function. */
bool dws_is_handler(const struct dws_kernel_action *action);
/* The handler of one of glibc's own signals, with all signals blocked. *before is the one that was there, if it is another. */
bool dws_signal_install(int number, void (*handler)(int, siginfo_t *, void *), struct dws_kernel_action *before);

/* ---- exec.c ---------------------------------------------------------------------------- */

/* syscall(): whether it begins another program, and that call. The result is the kernel's. */
bool dws_exec_is(long number);
long dws_exec_call(long number, long a, long b, long c, long d, long e);

/* ---- perf.c ---------------------------------------------------------------------------- */

#define DWS_KERNEL_FRAMES 64u

/* Functions of the kernel that a thread was in, innermost first; none: it was in user space. */
struct dws_kernel {
	unsigned count;
	uintptr_t places[DWS_KERNEL_FRAMES];
};

#define DWS_SIGNAL 33 /* SIGSETXID */

/* What the kernel and a thread share of an event: the first of two pages, with positions in the second one. */
struct dws_ring {
	uint64_t unused[128];
	uint64_t head, tail;
};

size_t dws_ring_bytes(void);
/* Pairs with the kernel's order: records are complete up to there. */
static inline uint64_t dws_ring_head(const struct dws_ring *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/* Whether the queue of signals has room for those of events. */
bool dws_perf_has_queue(void);
/* Maps the ring of a thread's event, which sends it the signal from now on, until the ring is unmapped. `is_kept`: no record
 * is written over one that is not read. NULL: refused. */
struct dws_ring *dws_ring_map(int fd, int thread, bool is_kept);
void dws_ring_end(struct dws_ring *ring);

/* The events of the calling thread. */
struct dws_perf {
	struct dws_ring *ring; /* NULL: there are none */
	int number;            /* the signal's si_fd + 1 */
};

/* False: they are not permitted, or there are too many. */
bool dws_perf_start(struct dws_perf *perf, long period_ns);
void dws_perf_stop(struct dws_perf *perf);
/* Takes the oldest event. Returns for how many periods it stands; 0: there is none. */
uint32_t dws_perf_next(const struct dws_perf *perf, struct dws_kernel *kernel);

/* An event's signal may come while its thread is in the kernel, and would end a poll() or a sleep. It is held back
 * meanwhile; the event itself is in the ring. `file` is what the call reads, or one of the two numbers. Returns whether the
 * signal is held, and has to be released. */
#define DWS_NO_FILE (-1)
#define DWS_NOT_HELD (-2) /* the call makes processes, which would inherit the mask; no signal interrupts it */
bool dws_perf_hold(int file);
void dws_perf_release(void);
/* A mask with the signal, in `held`, for a call that has a mask of its own. */
const sigset_t *dws_perf_mask(const sigset_t *mask, sigset_t *held);
/* Takes the signal out of a mask, and out of the one that a call of this thread has now. */
void dws_perf_clear(sigset_t *mask);

/* ---- event_threads.c -------------------------------------------------------------------- */

/* The calling thread has events from now on, and no longer. False: too many threads have some. */
bool dws_event_threads_enter(uint32_t *place);
void dws_event_threads_leave(uint32_t *place);
void dws_event_threads_forked(void);
/* The thread at a place of the table, or 0. */
#define DWS_EVENT_THREADS 4096u
uint32_t dws_event_thread(uint32_t place);

/* ---- sample.c -------------------------------------------------------------------------- */

/* False: no sample could be recorded now; the weight belongs to the next one. */
bool dws_sample(const ucontext_t *context, const struct dws_stack *stack, const struct dws_kernel *kernel, uint32_t weight);
/* Needs 100 KiB of stack, as the next one. */
/* In a child of fork: what other threads were using is free. */
void dws_sample_forked(void);
/* Where a thread is, to be walked from another stack. */
struct dws_here {
	uintptr_t pc, sp, fp;
};
#ifdef __x86_64__
#define DWS_HERE(here) \
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=r"((here)->pc), "=r"((here)->sp), "=r"((here)->fp))
#else
#define DWS_HERE(here) __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=r"((here)->pc), "=r"((here)->sp), "=r"((here)->fp))
#endif
/* The stack from the function that returns to `caller`, which is `here` or one of its callers; 0: it could not be stored. */
uint32_t dws_stack_from(const struct dws_here *here, const struct dws_stack *stack, const void *caller);

/* ---- prepare.c -------------------------------------------------------------------------- */

/* What walks need, for the calling thread, which is the first one. More calls do nothing. */
void dws_prepare(void);

/* ---- waits.c ----------------------------------------------------------------------------- */

void dws_waits_prepare(void); /* after dws_cfi_prepare() */
/* Whether the recorder called, if it is a library of its own. */
bool dws_is_recorder(const void *caller);
void dws_waits_set_period(long period_ns);
void dws_waits_stop(bool stop); /* nothing is measured until it is called with false */
/* How many calls were measured in threads that have ended and in this one, which ends now if `thread_ends`. */
uint64_t dws_waits_calls(bool thread_ends);
/* syscall(): whether it is a wait, and that wait. The result is the kernel's. */
bool dws_waits_is_futex(long number, long operation);
long dws_waits_futex(long a, long b, long c, long d, long e, long f, const void *caller);

/* Two words by which threads share an entry without a lock: `check` is key ^ value. An entry that two threads
 * wrote at once fits no key. */
struct dws_pair {
	uint64_t check, value;
};

static inline uint64_t dws_pair_get(const struct dws_pair *pair, uint64_t key)
{
	uint64_t value = __atomic_load_n(&pair->value, __ATOMIC_RELAXED);

	return (__atomic_load_n(&pair->check, __ATOMIC_RELAXED) ^ value) == key ? value : 0;
}

static inline void dws_pair_set(struct dws_pair *pair, uint64_t key, uint64_t value)
{
	__atomic_store_n(&pair->check, key ^ value, __ATOMIC_RELAXED);
	__atomic_store_n(&pair->value, value, __ATOMIC_RELAXED);
}

static inline uint64_t dws_sampler_hash(uint64_t hash, uint64_t next)
{
	hash = (hash ^ next) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}
