/*
 * The sampler: at each period of CPU time of a thread, a signal handler records where the thread is.
 *
 *   process  what the other files share
 *   prepare  what walks need of the process
 *   timers   a timer for each thread; the signal, and the program's own use of it
 *   sandbox  where a program gives up system calls, samples end
 *   perf     an event of the kernel in place of a timer, with the kernel's functions
 *   sample   the handler: native frames, frames of Python between them, and their ids
 *   cfi      how to get from a place in code to its caller: the unwind tables that code carries
 *   python   frames of Python 3.9 to 3.15, read from the interpreter's memory
 *   waits    functions of libc in which threads wait: how long, and who called them
 *
 * `dwell run` preloads it. It links libc and the recorder alone. The handler allocates nothing, takes no lock, and
 * keeps errno. What it needs to know (where the tables lie, the interpreter's layout) it reads from memory that the
 * process has mapped anyway; nothing is prepared at the program's start but the timer of the first thread.
 */
#ifndef DWS_SAMPLER_H
#define DWS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "dwell/probe.h"
#include "format/sampler_calls.h"

#define DWS_FRAMES 128u /* most frames of a sample; of a deeper stack the inner ones are kept */

/* ---- process.c ------------------------------------------------------------------------- */

extern struct dws_process {
	long period_ns;    /* of CPU time between two samples of a thread; 0: this process is not sampled */
	int pid;           /* the process that is sampled */
	const char *lacks; /* why there are no samples, or none of Python; NULL: nothing lacks */
	bool has_tables;   /* of unwinding */
	bool has_perf;     /* events of the kernel are in place of timers */
	bool is_program;   /* `dwell run` started this process itself */
	bool in_sandbox;   /* system calls may end it */
	int noted;         /* atomic; the trace says how samples are taken */
} dws_process;

/* The recorder of the program: its own copy if it has one. Set before main(). */
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
void dws_take_stack(void);

/* Memory that a walk reads: the part of the thread's own stack that is in use, and pages that were found readable. */
#define DWS_PAGE ((uintptr_t)4096)
#define DWS_PAGES 8u
struct dws_memory {
	uintptr_t low, high;
	uintptr_t pages[DWS_PAGES];
	unsigned next;
};
/* Whether the aligned word at `at` can be read. */
bool dws_can_read(struct dws_memory *memory, uintptr_t at);
/* Copies memory up to the first page that cannot be read. Returns how many bytes it copied. */
size_t dws_copy(struct dws_memory *memory, void *to, uintptr_t from, size_t bytes);
uint64_t dws_now_ns(void);
/* The function that a function of this library with this name is in front of. */
void *dws_next(const char *name);
/* Says once in the trace how samples are taken. False: nothing of this process is in the trace yet, and it is not worth
 * a place there: it has used no CPU, as shells and launchers that wait. The program that `dwell run` started always is. */
bool dws_note(bool has_sample);
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
unsigned dws_python_walk(struct dws_memory *memory, struct dws_python_frame frames[DWS_FRAMES]);
/* Identifies the frame's place in code, also after the code was freed and its memory is other code's. */
uint64_t dws_python_key(const struct dws_python_frame *frame);
/* Whether the function at a native frame's `pc` is the interpreter's loop, where frames have no `loop`. */
bool dws_python_is_loop(uintptr_t pc);
/* The FRAME id; 0: nothing is recorded now. */
uint32_t dws_python_intern(struct dws_memory *memory, const struct dws_python_frame *frame);

/* ---- timers.c -------------------------------------------------------------------------- */

/* Ends the samples of this process, because it begins a sandbox; the trace says so. Returns the period. */
long dws_timers_leave(void);
/* The sandbox was refused: the calling thread, and others that had a timer, are sampled again. */
void dws_timers_return(long period_ns);

/* ---- perf.c ---------------------------------------------------------------------------- */

#define DWS_KERNEL_FRAMES 64u

/* Functions of the kernel that a thread was in, innermost first; none: it was in user space. */
struct dws_kernel {
	unsigned count;
	uintptr_t places[DWS_KERNEL_FRAMES];
};

/* The events of the calling thread. */
struct dws_perf {
	struct dws_ring *ring; /* NULL: there are none */
	int number;            /* the signal's si_fd + 1 */
};

/* False: they are not permitted, or there are too many. */
bool dws_perf_start(struct dws_perf *perf, long period_ns, int number);
void dws_perf_stop(struct dws_perf *perf);
/* Takes the oldest event. Returns for how many periods it stands; 0: there is none. */
uint32_t dws_perf_next(const struct dws_perf *perf, struct dws_kernel *kernel);

/* ---- sample.c -------------------------------------------------------------------------- */

/* False: no sample could be recorded now; the weight belongs to the next one. */
bool dws_sample(const ucontext_t *context, const struct dws_stack *stack, const struct dws_kernel *kernel, uint32_t weight);
/* In a child of fork: what other threads were using is free. */
void dws_sample_forked(void);
/* The stack of the calling function's caller, whose return address is `caller`; 0: it could not be stored. */
uint32_t dws_stack_here(const struct dws_stack *stack, const void *caller);

/* ---- prepare.c -------------------------------------------------------------------------- */

/* What walks need, for the calling thread, which is the first one. More calls do nothing. */
void dws_prepare(void);

/* ---- waits.c ----------------------------------------------------------------------------- */

void dws_waits_prepare(void); /* after dws_cfi_prepare() */
/* Whether the recorder called, if it is a library of its own. */
bool dws_is_recorder(const void *caller);
/* While paused, functions in which the calling thread waits are not recorded: the recorder itself may call them. */
void dws_waits_pause(bool pause);

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

#endif
