/*
 * The recorder's files and what they share.
 *
 *   file      creates a trace file, joins one, trims it when the run is over
 *   session   which file this process writes to; start, stop, joining
 *   process   what is wiped on fork: registration, windows, journal, slots
 *   window    blocks of the file: claimed, reserved, mapped, handed out, recycled
 *   journal   entries: appended by any thread without a lock
 *   intern    names to ids, for the life of the process
 *   layers    which layers are recorded
 *   slot      a place for each live thread, with its streams
 *   chunk     a stream's next piece of the file, fresh or its own oldest
 *   stream    the slow half of writing a record
 *   probe     the exported functions of probe.h on top of stream
 *   operators operators with shapes, which threads remember
 *   step      steps and the gate that follows them
 *   scope     steps that are blocks of the program
 *   summary   steps that are summarised, when the file is nearly full
 *   schedule  what is done with a step, by its number
 *   profile   profile objects: ranges whose results a program asks for
 *   serve     starts the capture service beside this program
 *   facts     what is known about a process: its name, rank, command, metadata
 *
 * Rules for all of these files. Nothing here may fail loudly, allocate from the heap, wait
 * for another thread without bound or change errno on the way out of a probe, because
 * probes run in signal handlers and in children of fork. What is not recorded is counted
 * by cause. Memory comes from mmap and is never given back, because another thread may be
 * reading it.
 *
 * Tables are caches of fixed size per thread, in which an entry replaces another, or chains
 * that a compare-and-swap extends and nothing ever leaves. base/map.h serves neither: it
 * allocates from the heap and moves its slots when it grows, and a signal handler or a child
 * of fork may find it at that moment.
 */
#ifndef DW_RECORD_RECORD_H
#define DW_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/host.h"
#include "dwell/dwell.h"
#include "dwell/probe.h"
#include "format/layout.h"

/* Words that threads share without an order of their own: each access is whole. */
#define DW_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define DW_STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)

/* ---- session: survives fork ------------------------------------------------ */

struct dw_session {
	struct dw_head *head;       /* atomic; NULL: no session */
	struct dw_head *map;        /* atomic; the last session's head, which stays mapped: for code under way */
	struct dw_control *control; /* atomic */
	uint32_t generation;        /* atomic; counts the sessions of this process and its ancestors */
	uint32_t clock_kind;        /* atomic */
	uint64_t tick_offset;       /* atomic; added to the counter since it was reset; see journal.c */
	int fd;                     /* may have been closed behind our back: see dw_file_valid() */
	dev_t device;
	ino_t inode;
	bool runner;                /* this is `dwell run` itself */
	bool started_here;          /* by dwell_start(), not by `dwell run` */
	bool side;                  /* a file that this process made because it cannot join the run's */
	pid_t starter;              /* the process whose end is the run's end, if started_here */
	uint32_t parent_process;    /* PROCESS id of the last process that registered: a child's parent */
	char path[4096];
	char final_path[4096];      /* where a spilled trace goes at the end; else "" */
};
extern struct dw_session dw_session;

static inline struct dw_head *dw_session_map(void)
{
	/* Pairs with the release store of a new session: what the head holds is seen. */
	return __atomic_load_n(&dw_session.map, __ATOMIC_ACQUIRE);
}

/* NULL: nothing is recorded. Pairs with the release store of a new session: a thread that
 * sees the head sees the rest of dw_session. */
static inline struct dw_head *dw_session_head(void)
{
	return __atomic_load_n(&dw_session.head, __ATOMIC_ACQUIRE);
}

/* Adopts an open trace file: maps its head and opens the gate. */
int dw_session_adopt(int fd, const char *path, bool started_here, struct dwell_error *error);
uint64_t dw_now(void);
/* Whether probes may read the counter by themselves: it is the run's clock. */
static inline bool dw_session_inline(void)
{
	return DW_LOAD(dw_session.clock_kind) != DW_CLOCK_MONOTONIC && !DW_LOAD(dw_session.tick_offset);
}

/* ---- process: zero in a child ----------------------------------------------- */

#define DW_MAX_WINDOWS 65536u
#define DW_RESIDENT_WINDOWS 8u /* windows, of 4 MiB, whose pages may stay in memory */
#define DW_MAX_SLOTS 16384u
#define DW_SHAPE_CACHE 128u
#define DW_STACK_CACHE 256u
#define DW_STACK_DEEPEST 128

struct dw_window {
	char *base;       /* address of its first block */
	uint32_t first;   /* block */
	uint32_t count;
	uint32_t closed;  /* atomic; how many of its chunks have been closed while it was fresh */
	uint32_t resident; /* atomic; 1: its pages may stay in memory, see window.c */
};

/* One stream as its writer sees it. */
struct dw_writer {
	struct dw_chunk *chunk;   /* the open one, or NULL */
	uint32_t block;           /* of `chunk` */
	uint32_t oldest;          /* first block this stream may recycle, or 0 */
	uint64_t number;          /* of `chunk` */
	uint32_t stream;
	uint32_t thread;          /* THREAD id that the stream is known to hold */
	uint64_t slow_start;      /* a new chunk took from here to slow_end, not yet recorded; */
	uint64_t slow_end;        /* 0: nothing */
	uint64_t lost;            /* records lost since the last one written, for a LOSS record */
	uint32_t lost_cause;      /* of the last of them */
	/* For a record that a signal handler left by siglongjmp(); see stream.c. */
	uintptr_t seen_frame;     /* of the first function that found `busy` set, */
	const char *seen_cursor;  /* how far the stream was then, */
	uint64_t seen_ticks;      /* when that was looked at last, */
	uint32_t seen_weight;     /* and the evidence since, see stream_is_abandoned() */
	bool closes;              /* the open chunk takes no more records */
};

/* A thread's last walk of its stack, outermost frame first; see stack.c. */
struct dw_walked {
	bool busy;                   /* a signal handler must leave it alone */
	uint32_t count;
	uintptr_t end;               /* what the outermost frame says called it */
	struct {
		uintptr_t frame, return_address;
		uint64_t hash;           /* of this and all before it */
	} at[DW_STACK_DEEPEST];
};

/* One thread's place. `main` comes first: dwell_this_stream points there. */
struct dw_slot {
	struct dwell_stream main;
	struct dwell_stream nested;  /* for handlers that interrupt a record of `main` */
	struct dw_writer writers[2];
	uint32_t tid;                /* atomic; 0: free */
	uint32_t generation;         /* of the session that the rest belongs to */
	uint32_t thread;             /* THREAD id */
	uint32_t process;            /* PROCESS id */
	uint64_t blocked_signals;    /* of the thread where it registered */
	struct dw_entry_thread *entry;
	struct dw_entry_step *step;  /* the open one */
	bool summarises;             /* this thread's steps are summarised from now on */
	struct dw_entry_step *reused_step; /* the open step's entry then; NULL: none yet */
	struct dw_entry_step hidden_step;  /* in its place where the file has no space for it */
	struct dw_entry_steps *summary;    /* the entry that collects steps; NULL: none yet */
	uint64_t summary_end;        /* steps after which another entry is reserved */
	const void *scope;           /* the variable of the open scoped step, if one is in the trace */
	uintptr_t scope_frame;       /* where the stack was when it began */
	uint32_t scope_operators;    /* `operators` at that moment */
	bool marks_steps;            /* the program itself has begun one in this thread */
	const void *stepper;         /* the profile that marks them for it; NULL: none */
	uint64_t step_cpu_ns;        /* of the process at the step's begin; 0: not read */
	uint64_t moment_cpu_ns;      /* the same at the last dwell_step_now(); 0: not read */
	uint64_t step_ticks;         /* how long this thread's last step took */
	uint64_t retry_ticks;        /* after a refused claim: not before this time */
	uint32_t refusal;            /* enum dw_loss of that claim */
	uint32_t operators;          /* open ones, while stacks are recorded */
	uintptr_t stack_low;         /* the thread's own stack, as far as it was found to be there; */
	uintptr_t stack_high;        /* 0: not known yet */
	uintptr_t stack_floor;       /* what lies below is not of that stack */
	uint32_t code_generation;    /* dwell_code_generation when what follows was empty */
	struct dw_unwound *unwound;  /* stacks without frame pointers; NULL: none yet; see stack.c */
	struct { uint64_t hash; uint32_t id; } shapes[DW_SHAPE_CACHE];
	struct { uint64_t hash; uint32_t id; } stacks[DW_STACK_CACHE];
	struct dw_walked walked;
};

struct dw_process {
	uint32_t pid;             /* atomic; 0: new since fork */
	uint32_t generation;      /* atomic; of the session it is registered with */
	uint32_t id;              /* atomic; PROCESS id, 0: not registered */
	uint32_t new_id;          /* the same from the moment registration begins */
	struct dw_identity identity; /* pid 0: not read yet; under the lock */
	uint32_t registering;     /* atomic; tid of the thread that writes the PROCESS entry */
	uint64_t retry_ticks;     /* atomic; after a failed registration: not before this time */
	uint32_t refusal;         /* atomic; enum dw_loss of the last block that was not to be had */
	uint32_t lock;            /* atomic; tid of the thread that claims or registers */
	uint64_t lock_seen_ticks; /* atomic; when its own holder was refused it first; 0: it was not */
	uintptr_t lock_frame;     /* atomic; of dw_process_lock() when that thread took it */
	uint32_t session_lock;    /* atomic; tid of the thread that starts or stops a session */
	uint64_t window;          /* index << 32 | next block of it; index from 1; under the lock */
	uint64_t journal;         /* atomic; where the next entry goes, see journal.c */
	uint64_t journal_number;
	uint64_t journal_retry_ticks; /* atomic; after a refused block: not before this time */
	uint32_t resident[DW_RESIDENT_WINDOWS]; /* atomic; index of a window from 1, or 0 */
	uint32_t resident_next;   /* atomic; counts the windows that became resident */
	bool clock_due;           /* atomic; a window was claimed since the last CLOCK entry */
	uint64_t last_clock_ticks, last_clock_ns; /* of the last CLOCK entry */
	uint64_t clock_ticks;     /* atomic; no CLOCK entry before this time unless one is due */
	uint32_t window_count;    /* atomic; only grows: earlier sessions' stay mapped and known */
	uint32_t slot_count;      /* atomic */
	uint32_t open_slots;      /* atomic; how many may be written to, see process.c */
	uint32_t slot_look;       /* atomic; where to look for a dead thread's slot next */
	uint32_t stream_count;    /* atomic */
	uint64_t steps;           /* atomic; begun */
	uint64_t summary_steps;   /* atomic; steps that a new STEPS entry collects; see summary.c */
	uint32_t summary_left;    /* atomic; blocks left for such entries when that was last doubled */
	uint32_t summary_generation; /* atomic; session that these two belong to */
	uint32_t gate;            /* index of the gate this process steps; see step.c */
	bool has_gate;            /* atomic */
	uint32_t maps_reader;     /* atomic; tid of who reads /proc/self/maps */
	uint64_t maps_absent_until; /* atomic; an address that no mapping held is not looked for before */
	uint64_t maps_made_until; /* atomic; nor is code without a file looked at again */
	bool forked;              /* atomic; a child may follow this process's gate */
	uint32_t wants[32];       /* atomic; by bit of the mask: open profiles that want it */
	struct dw_window windows[DW_MAX_WINDOWS];
	struct dw_slot slots[DW_MAX_SLOTS];
};
extern struct dw_process *dw_process; /* NULL until the first session */

/* Makes memory of the slot of this index; false when there is none. */
bool dw_process_open_slot(uint32_t index);
/* Maps dw_process, wiped on fork. */
int dw_process_prepare(void);
/* Whether this process may write: its PROCESS entry stands. Registers it; `cause`
 * says why not. */
bool dw_process_ready(enum dw_loss *cause);
/* False in a child of vfork, which runs on its parent's memory. */
bool dw_process_own_memory(void);
/* False when the lock is the caller's own (a signal handler) or is not to be had. */
bool dw_process_lock(void);
void dw_process_unlock(void);
/*
 * Whether code that ran in the frame `then` of this thread can no longer go on, seen from the
 * frame `now`: a live caller's frame lies above, and two live frames never share an address.
 * Signal handlers leave code so by siglongjmp(). False on an alternate signal stack, whose
 * addresses say nothing.
 */
bool dw_process_jumped(uintptr_t then, uintptr_t now);
/* The signals that the calling thread blocks, a bit each from signal 1 on. A handler's thread
 * blocks more than it does elsewhere, unless the handler was set up with SA_NODEFER. */
uint64_t dw_process_blocked_signals(void);
/* Whether a thread of this process has ended. */
bool dw_process_thread_dead(uint32_t tid);
/* Why the caller just got no space for an entry. */
enum dw_loss dw_process_refusal(void);

/* ---- windows ----------------------------------------------------------------- */

enum dw_claim { DW_CLAIM_STREAM, DW_CLAIM_RESERVED };

/* A fresh, zeroed, mapped block; 0 with the cause when there is none. Under the lock. */
uint32_t dw_window_take(enum dw_claim claim, char **address, enum dw_loss *cause);
/* Where a block of this process is mapped; NULL when it is not ours. */
char *dw_window_address(uint32_t block);
/* The trace's descriptor, proven to be the trace's still, or opened again; -1. */
int dw_window_file(void);
/* A chunk is about to be written: fetches its pages, so that no probe has to. False when it
 * cannot be written. */
bool dw_window_fetch(uint32_t block, char *chunk);
/* A chunk is closed: its pages may be dropped from the process's memory. */
void dw_window_drop(uint32_t block);

/* ---- journal ------------------------------------------------------------------ */

/*
 * Space for an entry of `bytes` (rounded up to 8), zeroed but for `bytes`; NULL
 * (counted) when there is none. dw_journal_commit() makes it part of the file;
 * fields that are documented as changed in place may change later.
 */
void *dw_journal_reserve(size_t bytes);
/* The same, but the caller counts the loss; `cause` is why there is no space. */
void *dw_journal_try(size_t bytes, enum dw_loss *cause);
/* The cause that a lost name or step is counted under, where an entry failed by `cause`. */
enum dw_loss dw_journal_loss(enum dw_loss cause);
void dw_journal_commit(void *entry, enum dw_entry_type type);
void dw_journal_clock(void);
/* Writes a CLOCK entry if one is due: called where recording takes a slow path. */
void dw_journal_look(uint64_t now);
/* The counter was reset (some machines do that when they wake up): `last` is the time of a
 * record and lies in the future now. Puts the clock back where it should be. */
void dw_journal_rebase(uint64_t last);
/* The first chunk of a process, whose identity `self` holds; under the lock. */
bool dw_journal_open(const struct dw_entry_process *self);

/* ---- intern -------------------------------------------------------------------- */

uint32_t dw_new_id(void); /* 0: used up */
uint32_t dw_intern_string(const char *text, size_t length);
uint32_t dw_intern_text(const char *text); /* NULL: 0 */
uint32_t dw_intern_op(uint32_t category, const char *name, const char *detail, uint32_t shapes,
                      const char *file, uint32_t line);
/* A function by its address: a FRAME is its name. */
uint32_t dw_intern_function(uintptr_t address);
uint32_t dw_intern_frame(const char *function, const char *file, uint32_t line);
uint32_t dw_intern_stack(const uint32_t *frames, uint32_t count); /* FRAME ids, innermost first */
uint32_t dw_intern_shapes(const struct dwell_tensor *tensors, unsigned count);
/* The same of a layer's parameters, of which none may be cut off: many are one a type. */
uint32_t dw_intern_parameters(const struct dwell_tensor *tensors, unsigned count);
uint64_t dw_hash(const void *data, size_t bytes, uint64_t seed);
/* Writes all that this process knows into a new file's journal, with the same ids. */
uint32_t dw_intern(struct dw_entry *entry); /* whole but for its id; bytes a multiple of 8 */
void dw_intern_replay(void);

/* Zeroed memory that is never given back; NULL when there is none. */
void *dw_intern_memory(size_t bytes);

/* ---- layers ---------------------------------------------------------------------- */

/* What the layer of an id is called. */
void dw_layers_remember(uint32_t id, const char *path);
/* Whether a layer is recorded while only some are. */
bool dw_layer_chosen(uint32_t id);
/* Whether a list of layers can be set; says why not. */
bool dw_layers_fit(const char *list, struct dwell_error *error);
/* Of a control page that nobody else sees yet. */
void dw_layers_fill(struct dw_control *control, const char *list);

/* ---- slots and chunks ------------------------------------------------------------ */

/* The calling thread's, registered; NULL with the cause. */
struct dw_slot *dw_slot_here(enum dw_loss *cause);
/* Whose stream it is (the calling thread's) and the writer of it. */
struct dw_slot *dw_slot_of(struct dwell_stream *stream, struct dw_writer **writer);
/* Sets a stream's place and time to what stands in its open chunk, which alone is true. */
void dw_slot_resume(struct dwell_stream *stream, const struct dw_chunk *chunk);
/* `slot` NULL: a thread that has none. */
void dw_slot_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records);

/* A new chunk for the stream; false with the cause. */
bool dw_chunk_next(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                   enum dw_loss *cause);
/* Atomic: id of the range that says what a new chunk cost; not counted when lost. */
extern uint32_t dw_chunk_own_range;

/* ---- streams -------------------------------------------------------------------- */

/*
 * Enters the recorder out of line: the calling thread's stream with `busy` set
 * and space for a record, or NULL (counted as lost). dw_stream_leave() after it.
 */
struct dwell_stream *dw_stream_enter(void);
void dw_stream_leave(struct dwell_stream *stream);
/* `busy` is set: true if the record that set it was abandoned. Then the stream is usable again. */
bool dw_stream_recover(struct dw_slot *slot, struct dwell_stream *stream, uintptr_t frame,
                       uint64_t now);
/* What `busy` holds: 0 while the stream is free, 1 while inline code writes, and
 * dw_stream_busy() while the function with that frame does. */
#define DW_BUSY_INLINE 1u
#define DW_BUSY_OUT_OF_LINE 2u
uint32_t dw_stream_busy(uintptr_t frame);
void dw_stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                   const uint32_t *payload, unsigned words);
void dw_stream_put_end(struct dwell_stream *stream, uint64_t ticks);
/* All streams of this process take the slow path at their next record. */
void dw_stream_halt(void);

/* ---- stacks -------------------------------------------------------------------- */

/* Loads what the first stack would load, if `mask` asks for stacks: a signal handler may be
 * where that one is. */
void dw_stack_prepare(uint32_t mask);
/* The STACK id of this moment, from the frame that `caller` returns to; 0: none to be had. */
uint32_t dw_stack_here(struct dw_slot *slot, const void *caller);
/* Begins an operator with a stack (0: the caller's, if it is outermost). The result is for
 * dwell_end(). */
unsigned dw_begin_with_stack(uint32_t id, const void *caller, uint32_t stack);
/* Copies memory that may not be mapped, or be unmapped meanwhile; returns the bytes copied. */
size_t dw_read_memory(void *to, uintptr_t from, size_t bytes);
/* The FRAME id of an address of code in this process; 0: that cannot be found out now. */
uint32_t dw_module_frame(uintptr_t address);
/* Of the return addresses of a stack: the call is before what it returns to, which may be the
 * first of the next function. False: not all can be found out. */
bool dw_module_frames(void *const *addresses, int count, uint32_t *frames);
/* Whether a file's code is there. */
bool dw_module_is_code(uintptr_t address);
bool dw_module_is_libc(uintptr_t address);

/* ---- facts, steps ---------------------------------------------------------------- */

void dw_facts_read_environment(void);                     /* at load: getenv is not for handlers */
bool dw_facts_process(struct dw_entry_process *entry);
uint32_t dw_facts_python(void);
void dw_step_join(void);                                  /* takes a gate for a new session */
void dw_step_leave(void);                                 /* gives it back at the process's end */
void dw_step_close(struct dw_slot *slot);                 /* ends the open step; slot may be NULL */
void dw_step_next(struct dw_slot *slot);                  /* ends the open one, begins another */
/* Ends the open one and moves the gate on; when that was, 0: none was open. */
uint64_t dw_step_end(struct dw_slot *slot);
/* Begins one at `ticks` (0: now), after the end of the open one; when that was. */
uint64_t dw_step_begin(struct dw_slot *slot, uint64_t ticks);
void dw_step_cancel(struct dw_slot *slot);                /* the open step was none */
void dw_step_past(struct dw_slot *slot, uint64_t start_ticks); /* one that ends now */
/* Whether the file has no more space for steps one by one. */
bool dw_summary_needed(const struct dw_head *head);
/* Blocks that summaries of steps may still use. */
uint32_t dw_summary_blocks(const struct dw_head *head);
/* Adds a step that ended; false with the cause when there is no entry to add it to. */
bool dw_summary_add(struct dw_slot *slot, const struct dw_entry_step *step, uint64_t end_ticks,
                    uint64_t cpu_ns, enum dw_loss *cause);
void dw_step_look(void);                                  /* ends a capture that is over */
bool dw_step_gated(void);                                 /* the gate follows steps */
/* The control page's mask has changed: the masks of all gates follow. */
void dw_step_compute_all(void);
/* One profile more, or less, wants what `mask` says. */
void dw_step_want(uint32_t mask, bool more);
void dw_meta(const char *key, const char *value, uint32_t flags);

/* The kernel's names, without libc's caches. */
pid_t dw_gettid(void);

#endif
