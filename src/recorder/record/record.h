/*
 * The recorder's files and what they share.
 *
 *   file      creates a trace file, joins one, trims it at the end of the run
 *   session   which file this process writes to; start, stop
 *   join      the run that a process belongs to
 *   process   what all files share: the state that is wiped on fork, the lock, lost records
 *   hold      how locks are taken, and how long a thread waits for one
 *   side      the file of a process that cannot write to its run's file
 *   register  a process's first entry
 *   memory    memory that is never released
 *   fault     memory of the trace that was taken away
 *   window    blocks of the file: claimed, reserved, mapped, handed out, recycled
 *   journal   entries: appended by any thread without a lock
 *   intern    names to ids, for the life of the process
 *   named     names that the program makes at run time, of which a process keeps a limited number
 *   open      which ranges of a thread are open
 *   team      which range of a thread other threads work for
 *   layers    which layers are recorded
 *   slot      one for each live thread, with its streams
 *   chunk     a stream's next piece of the file: a new one or its own oldest
 *   busy      whether a stream is in use; records that were left unfinished
 *   stream    the slow half of writing a record
 *   probe     the exported functions of probe.h on top of stream
 *   operators operators with shapes, which threads cache
 *   device    events of devices, which drivers report late
 *   places    sums of times by the lines of the program
 *   step      steps and the gate that follows them
 *   scope     steps that are blocks of the program
 *   summary   steps that are summarised, when the file is nearly full
 *   schedule  the action for a step, by its number
 *   profile   profile objects: ranges for which a program asks for results
 *   serve     starts the capture service of this program
 *   account   processor time of the process and its threads, by the kernel's count
 *   metadata  what is known about a process: its name, rank, command, and what it reports
 *
 * Rules for all of these files. Probes run in signal handlers and in children of fork. So no code
 * here may end the program or print an error, allocate from the heap, wait for another thread
 * without bound, or change errno in a probe. What is not recorded is counted by cause. Memory comes
 * from mmap and is never unmapped, because another thread may be reading it.
 *
 * Tables are one of two kinds: caches of fixed size per thread, in which entries replace each
 * other, or chains that are extended by compare-and-swap and never shortened. base/map.h can be
 * neither: it allocates from the heap and moves its slots when it grows, and a signal handler or a
 * child of fork could find it half moved.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/system.h"
#include "dwell/dwell.h"
#include "dwell/probe.h"
#include "format/layout.h"

/* Words that threads share without ordering other memory: each access is atomic and relaxed. */
#define DW_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define DW_STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)

/* In front of the other declarations of a function: errno is at its end, wherever that is, what it is here. */
#define DW_KEEP_ERRNO int kept_errno __attribute__((cleanup(dw_put_errno), unused)) = errno
static inline void dw_put_errno(const int *kept)
{
	errno = *kept;
}

/* ---- session: kept across fork ---------------------------------------------- */

struct dw_session {
	struct dw_head *head;       /* atomic; NULL: no session */
	struct dw_head *map;        /* atomic; the last session's head, which stays mapped */
	struct dw_control *control; /* atomic */
	uint32_t generation;        /* atomic; counts the sessions of this process and its ancestors */
	uint32_t clock_kind;        /* atomic */
	uint64_t tick_offset;       /* atomic; added to the counter after it was reset; see journal.c */
	int fd;                     /* atomic; -1: none is kept. The program may have closed it: see dw_window_file() */
	dev_t device;
	ino_t inode;
	uint8_t run_id[16];
	bool runner;             /* this is `dwell run` itself */
	bool started_here;       /* by dwell_start(), not by `dwell run` */
	bool side;               /* a file that this process made because it cannot join the run's */
	bool awaits;             /* that file is made before the first record: the head is in memory */
	pid_t starter;           /* the process that ends the run when it ends, if started_here */
	uint32_t parent_process; /* PROCESS id of the last process to register: a child's parent */
	void (*before_stop)(void); /* NULL: nothing; see serve.c */
	char path[4096];
	char final_path[4096]; /* where a spilled trace is moved at the end; otherwise "" */
};
extern struct dw_session dw_session;

static inline struct dw_head *dw_session_map(void)
{
	/* Pairs with the release store of a new session: the contents of the head are visible. */
	return __atomic_load_n(&dw_session.map, __ATOMIC_ACQUIRE);
}

/* NULL: nothing is recorded. Pairs with the release store of a new session: a thread that sees the
 * head also sees the other fields of dw_session. */
static inline struct dw_head *dw_session_head(void)
{
	return __atomic_load_n(&dw_session.head, __ATOMIC_ACQUIRE);
}

/* Adopts a file of the run, whose head is mapped. */
int dw_session_adopt_head(struct dw_head *head, int fd, const char *path, struct dwell_error *error);
/* Adopts an open trace file: maps its head and opens the gate. */
int dw_session_adopt(int fd, const char *path, bool started_here, struct dwell_error *error);
/*
 * A session without a file, for side.c: the head is in private memory. The first entry makes the file: dw_side_is_ready(),
 * under the lock, does that and calls dw_session_move(). False: there is no file to record to.
 */
bool dw_session_await(struct dw_head *head);
bool dw_session_move(int fd, const char *path);
/* Prepares a side file. `run` is the head of the run's file, or NULL if it cannot be read. */
bool dw_side_begin(const struct dw_head *run);
bool dw_side_is_ready(void);
/* Ends recording at once, in this process: the file is no longer what was written. For signal handlers. */
void dw_session_abandon(void);
/* Whether the file still has this session's head. If not, recording ends. */
bool dw_session_is_whole(void);
/* Handles faults in the trace's memory from now on, unless it does already (fault.c). */
void dw_fault_watch(void);
/* The time now, in ticks of the run's clock. */
static inline uint64_t dw_now(void)
{
	return dw_clock_read(DW_LOAD(dw_session.clock_kind)) + DW_LOAD(dw_session.tick_offset);
}
/* Whether probes may read the counter inline: it is the run's clock. */
static inline bool dw_session_inline(void)
{
	return DW_LOAD(dw_session.clock_kind) != DW_CLOCK_MONOTONIC && !DW_LOAD(dw_session.tick_offset);
}

/* ---- the kernel ---------------------------------------------------------------- */

/*
 * Whether the recorder may call the kernel. A program that gives up system calls (seccomp) is ended by one that it did not
 * expect. From then on records are written to the space that is there, and the others are lost. At the end of a process that
 * did not start its session nothing needs the kernel, and it may be in such a sandbox without dwell's knowledge.
 */
extern bool dw_sandboxed; /* atomic; see dwell_sandbox() */
extern __thread bool dw_quiet __attribute__((tls_model("initial-exec"))); /* the calling thread makes no calls now */
/* System calls without libc's caches. */
static inline pid_t dw_gettid(void)
{
	return (pid_t)dw_call(SYS_gettid);
}
static inline pid_t dw_getpid(void)
{
	return (pid_t)dw_call(SYS_getpid);
}
static inline bool dw_may_call(void)
{
	return !DW_LOAD(dw_sandboxed) && !DW_LOAD(dw_quiet);
}

/* ---- process: zero in a child of fork ---------------------------------------- */

#define DW_MAX_WINDOWS 65536u
#define DW_RESIDENT_WINDOWS 8u /* windows, of 4 MiB each, whose pages may stay in memory */
#define DW_MAX_SLOTS 16384u
#define DW_SHAPE_CACHE 128u
#define DW_STACK_CACHE 256u
#define DW_STACK_DEEPEST 128

struct dw_window {
	char *base;     /* address of its first block */
	uint32_t first; /* block */
	uint32_t count;
	uint32_t closed;   /* atomic; how many of its chunks were closed while it was fresh */
	uint32_t resident; /* atomic; 1: its pages may stay in memory, see window.c */
};

/* A stream's state that only its writer uses. */
struct dw_writer {
	struct dw_chunk *chunk; /* the open chunk, or NULL */
	uint32_t block;         /* of `chunk` */
	uint32_t oldest;        /* first block this stream may recycle, or 0 */
	uint64_t number;        /* of `chunk` */
	uint32_t stream;
	uint32_t thread;     /* THREAD id of the last thread that the stream noted */
	uint64_t slow_start; /* from when to when a new chunk was sought, if that is */
	uint64_t slow_end;   /* not recorded yet; 0 means nothing is to be recorded */
	uint64_t lost;       /* records lost since the last one written, for a LOSS record */
	uint32_t lost_cause; /* cause of the last lost record */
	/* To detect a record that a signal handler left by siglongjmp(); see stream.c. */
	uintptr_t seen_frame;    /* frame of the first function that found `busy` set */
	const char *seen_cursor; /* the stream's cursor at that time */
	uint64_t seen_ticks;     /* when it was checked last */
	uint32_t seen_weight;    /* the evidence since then, see stream_is_abandoned() */
	bool closes;             /* the open chunk takes no more records */
};

/* A thread's last stack walk, outermost frame first; see stack.c. */
struct dw_walked {
	bool busy; /* in use: a signal handler must not use it */
	uint32_t count;
	uintptr_t end; /* caller's frame, as stored in the outermost frame */
	struct {
		uintptr_t frame, return_address;
		uint64_t hash; /* of this frame and all outer ones */
	} at[DW_STACK_DEEPEST];
};

/* What the kernel has counted for a thread since its start; see usage.c. */
struct dw_usage {
	uint64_t ticks; /* when it was read; 0 means not yet */
	uint64_t cpu_ns, delay_ns, process_cpu_ns;
	uint32_t waits, preemptions, minor_faults, major_faults;
	bool delay_known; /* and cpu_ns is from the same account */
	bool counters_known;
	uint64_t counted_ns; /* time for which the counters counted; less than the next one if the kernel */
	uint64_t running_ns; /* divides the processor's counters among programs */
	uint64_t cycles, instructions, cache_misses;
};

/* The processor's counters of one thread (counters.c). */
#define DW_COUNTERS 3u
struct dw_counters {
	int fd[DW_COUNTERS];      /* one more than the descriptor; 0: none */
	uint64_t id[DW_COUNTERS]; /* the kernel's number of each, by which its descriptor is recognised */
	bool tried;               /* the kernel was asked for them */
};

/* Entries of steps that are used again and again, the oldest one first; see summary.c. */
#define DW_STEP_SEGMENTS 256u
struct dw_step_ring {
	uint32_t count;       /* of segments */
	uint32_t segment, at; /* the entry to use next */
	struct dw_entry_step *segments[DW_STEP_SEGMENTS];
};

/* What belongs to one thread. `main` comes first: dwell_this_stream points to it. */
struct dw_slot {
	struct dwell_stream main;
	struct dwell_stream nested; /* for handlers that interrupt a record of `main` */
	struct dw_writer writers[2];
	uint32_t tid;             /* atomic; 0 means free */
	uint32_t generation;      /* of the session that the other fields belong to */
	uint32_t thread;          /* THREAD id */
	uint32_t process;         /* PROCESS id */
	uint64_t blocked_signals; /* of the thread when it registered */
	struct dw_entry_thread *entry;
	struct dw_entry_step *step;         /* the open step */
	struct dw_entry_step *reserved;     /* entries for the next steps: the first one, */
	struct dw_entry_step *reserved_end; /* and the end */
	bool reserving;                     /* atomic; the two fields above are being changed */
	bool summarises;                    /* this thread's steps are summarised from now on */
	struct dw_entry_step hidden_step;   /* for the open step, if the file has no space for a ring */
	struct dw_entry_steps *summary;     /* the entry that collects steps; NULL: none yet */
	uint64_t summary_end;               /* number of steps after which another entry is reserved */
	const void *scope;                  /* variable of the open scoped step, if in the trace */
	uintptr_t scope_frame;              /* frame address at its begin */
	uint32_t scope_operators;           /* `operators` at its begin */
	bool late;                          /* between dwell_late_begin() and dwell_late_end() */
	bool marks_steps;                   /* the program itself has begun a step in this thread */
	const void *stepper;                /* the profile that marks this thread's steps; NULL: none */
	uint64_t step_cpu_ns;               /* of the process at the begin of the step; 0 means not read */
	uint64_t moment_cpu_ns;             /* the same at the last dwell_step_now(); 0 means not read */
	uint64_t step_ticks;                /* duration of this thread's last step */
	uint64_t usage_due;                 /* no reading of the usage before this time */
	uint64_t usage_cost;                /* duration of the last reading; 0: none yet */
	struct dw_usage usage;              /* the last reading */
	struct dw_counters counters;
	uint64_t ended_start;               /* the last step that ended */
	uint64_t ended_end;                 /* 0: none yet */
	struct dw_places *places;           /* NULL: none yet; see places.c */
	struct dw_open *open;               /* NULL: none yet; see open.c */
	uint64_t retry_ticks;               /* after a refused claim: no claim before this time */
	uint32_t refusal;                   /* enum dw_loss of the refused claim */
	uint32_t operators;                 /* open operators, while stacks are recorded */
	uintptr_t stack_low;                /* the part of the thread's stack that can be read; */
	uintptr_t stack_high;               /* 0 means not known yet */
	uintptr_t stack_floor;              /* addresses below this are not on that stack */
	uint32_t code_generation;   /* dwell_code_generation when the caches below were emptied */
	struct dw_unwound *unwound; /* stacks without frame pointers; NULL: none yet; see stack.c */
	struct {
		uint64_t hash;
		uint32_t id;
	} shapes[DW_SHAPE_CACHE];
	struct {
		uint64_t hash;
		uint32_t id;
	} stacks[DW_STACK_CACHE];
	struct dw_walked walked;
	struct dw_step_ring ring; /* the entries of its newest steps, if it summarises */
};

/* Whether a probe of this process has asked whether devices are recorded: it records them then. */
bool dw_device_has_probe(void);

/* The writer of device chunks; see device.c. */
struct dw_device_writer {
	uint32_t lock;       /* atomic; 1: a thread writes */
	uint32_t generation; /* of the session that the other fields belong to */
	struct dw_chunk *chunk; /* the open chunk, or NULL */
	uint32_t block;         /* of `chunk` */
	uint32_t oldest;        /* first block that may be recycled, or 0 */
	uint64_t number;        /* of `chunk` */
	uint32_t clock;         /* of `chunk` */
	uint32_t at_bytes;      /* of the next record in `chunk` */
	uint64_t end_ticks;     /* latest end in `chunk` */
};

#define DW_TIMES_FULL 4u

/* A full chunk of STEP and PROFILE entries; see journal.c. */
struct dw_times_chunk {
	struct dw_chunk *chunk; /* NULL: none */
	uint32_t bytes;         /* to the end of its last entry */
};

struct dw_process {
	uint32_t pid;                /* atomic; 0 means not stored yet since fork */
	uint32_t generation;         /* atomic; of the session it is registered with */
	uint32_t id;                 /* atomic; PROCESS id, 0: not registered */
	uint32_t new_id;             /* the same, set when registration begins */
	struct dw_identity identity; /* pid 0: not read yet; under the lock */
	uint32_t registering;        /* atomic; tid of the thread that writes the PROCESS entry */
	uint64_t retry_ticks;     /* atomic; after a failed registration: no attempt before this time */
	bool replay_due;          /* atomic; names of earlier sessions are not in the file yet */
	uint32_t refusal;         /* atomic; enum dw_loss of the last refused block */
	uint32_t lock;            /* dw_process_hold(): the thread that claims or registers */
	uint64_t lock_seen_ticks; /* atomic; when its own holder was first refused it; 0 means never */
	uintptr_t lock_frame;     /* atomic; frame of dw_process_lock() when it was taken */
	uint32_t session_lock;    /* atomic; tid of the thread that starts or stops a session */
	uint64_t window;          /* index << 32 | next block of it; index from 1; under the lock */
	uint64_t journal;         /* atomic; position of the next entry, see journal.c */
	uint64_t journal_number;
	uint64_t times;           /* atomic; the same as `journal`, for STEP and PROFILE entries */
	struct dw_times_chunk times_full[DW_TIMES_FULL]; /* not all of their entries had ended; under the lock */
	uint32_t times_next;      /* the place in `times_full` for the next one; under the lock */
	uint32_t times_tries;     /* atomic; how often these are looked at before the next one is full */
	uint64_t journal_retry_ticks; /* atomic; after a refused block: no attempt before this time */
	uint32_t resident[DW_RESIDENT_WINDOWS]; /* atomic; index of a window from 1, or 0 */
	uint32_t resident_next;                 /* atomic; counts the windows that became resident */
	bool clock_due; /* atomic; a window was claimed since the last CLOCK entry */
	uint64_t last_clock_ticks, last_clock_ns; /* of the last CLOCK entry */
	uint64_t clock_ticks;     /* atomic; no CLOCK entry before this time unless clock_due */
	uint32_t window_count;    /* atomic; never decreases: windows of earlier sessions stay mapped */
	uint32_t slot_count;      /* atomic */
	uint32_t slot_look;       /* atomic; where the next search for a dead thread's slot begins */
	uint32_t stream_count;    /* atomic */
	uint64_t steps;           /* atomic; steps begun */
	uint64_t tentative_steps; /* atomic; of these, steps that may be withdrawn */
	uint64_t summary_steps;   /* atomic; steps that a new STEPS entry collects; see summary.c */
	uint32_t summary_left;    /* atomic; blocks left for such entries when it doubled */
	uint32_t summary_generation; /* atomic; the session of the two fields above */
	bool has_gate;               /* atomic */
	bool reduced;                /* atomic; see dwell_steps_reduce() */
	bool device_burst;           /* atomic; see dwell_device_burst() */
	uint32_t maps_reader;        /* dw_process_hold(): the thread that reads /proc/self/maps */
	uint64_t maps_absent_until; /* atomic; an address in no mapping is not looked up again before */
	uint64_t maps_made_until;   /* atomic; code without a file is not looked up again before */
	bool forked;                /* atomic; a child of fork may use this process's gate */
	uint64_t unseen_threads, unseen_cpu_ns; /* atomic; threads that ended without an entry, and their CPU time */
	struct dw_device_writer device;
	uint32_t wants[32];         /* atomic; by bit of the mask: how many open profiles want it */
	struct dw_window windows[DW_MAX_WINDOWS];
};
extern struct dw_process *dw_process; /* NULL until the first session */

/* Slots are in segments, which children find filled with zeros too. */
#define DW_SEGMENT_SLOTS 64u
#define DW_SLOT_SEGMENTS (DW_MAX_SLOTS / DW_SEGMENT_SLOTS)
extern struct dw_slot *dw_process_segments[DW_SLOT_SEGMENTS]; /* atomic; NULL: not mapped yet */
/* Maps the segment of this slot; false if there is no memory for it. */
bool dw_process_open_slot(uint32_t index);
/* A slot below slot_count, or one that dw_process_open_slot() has opened. */
static inline struct dw_slot *dw_process_slot(uint32_t index)
{
	/* The segment is mapped: whoever advanced slot_count, with release, has opened it. */
	return &DW_LOAD(dw_process_segments[index / DW_SEGMENT_SLOTS])[index % DW_SEGMENT_SLOTS];
}
/* What process.c calls, so that it knows neither journals nor names: register.c has both. */
struct dw_process_calls {
	bool (*enroll)(void); /* registers the process, under the lock; false: there is no space */
	void (*replay)(void); /* writes the names of earlier sessions */
};
extern const struct dw_process_calls dw_register_calls;
/* Maps dw_process, wiped on fork. The calls are always the same. */
int dw_process_prepare(const struct dw_process_calls *calls);
/* Whether this process may write, which needs its PROCESS entry. Registers it if necessary. False
 * with the cause. */
bool dw_process_ready(enum dw_loss *cause);
/* False in a child of vfork, which runs on its parent's memory. */
bool dw_process_own_memory(void);
enum dw_hold {
	DW_HOLD_NONE,  /* another thread has the lock, and the caller has waited as long as it may */
	DW_HOLD_HERE,  /* the calling thread has it already: the caller is a signal handler */
	DW_HOLD_TAKEN,
};
/* A lock whose word is the holder's tid, with a bit for threads that wait; 0: it is free. */
enum dw_hold dw_process_hold(uint32_t *word);
/* The same for what starts or ends a session: it may wait for a second. */
enum dw_hold dw_process_hold_to_start(uint32_t *word);
void dw_process_release(uint32_t *word);
/* Whether a thread of this process has ended. */
bool dw_process_thread_dead(uint32_t tid);
/* A new entry into the recorder begins: it may wait as long as any. */
void dw_hold_enter(void);
/* Whether the calling thread has the lock. */
bool dw_process_holds(const uint32_t *word);
/* Why a lock was refused. */
static inline enum dw_loss dw_process_lock_loss(void)
{
	return DW_LOAD(dw_sandboxed) ? DW_LOSS_SANDBOX : DW_LOSS_BUSY;
}
/* False if the caller holds the lock already (a signal handler), or if waiting took too long. */
bool dw_process_lock(void);
bool dw_process_lock_to_start(void);
void dw_process_unlock(void);
/* Whether the calling thread has it: the caller is a signal handler that interrupted the recorder. */
bool dw_process_is_locked_here(void);
/*
 * Whether code that ran in the frame `then` of this thread can no longer continue, as seen from
 * the frame `now`. A live caller's frame is above, and two live frames never have the same address.
 * Signal handlers that call siglongjmp() leave code this way. False on an alternate signal stack,
 * whose addresses prove nothing.
 */
bool dw_process_jumped(uintptr_t then, uintptr_t now);
/* The signals that the calling thread blocks, one bit each from signal 1 on. In a signal handler a
 * thread blocks more signals than elsewhere, unless the handler was installed with SA_NODEFER. */
uint64_t dw_process_blocked_signals(void);
/* Makes all streams of this process take the slow path at their next record. */
void dw_process_halt(void);
/* Why the caller got no space for an entry just now. */
enum dw_loss dw_process_refusal(void);

/* ---- windows ----------------------------------------------------------------- */

enum dw_claim { DW_CLAIM_STREAM, DW_CLAIM_RESERVED };

/* A fresh block, zeroed and mapped; 0 with the cause if there is none. Call it under the lock. */
uint32_t dw_window_take(enum dw_claim claim, char **address, enum dw_loss *cause);
/* Where a block is mapped; NULL if it is not one of this process. */
char *dw_window_address(uint32_t block);
/* A descriptor of the trace, for the caller alone, who closes it; -1: the trace cannot be opened. */
int dw_window_file(void);
/* Closes the session's descriptor, if it is still the trace's. */
void dw_window_forget_file(void);
/* Fetches the pages of a chunk before it is used, so that no probe has to. False if the chunk
 * cannot be written. */
bool dw_window_fetch(uint32_t block, char *chunk);
/* After a chunk was closed: its pages may be dropped from the process's memory. */
void dw_window_drop(uint32_t block);

/* ---- journal ------------------------------------------------------------------ */

/*
 * Reserves space for an entry of `bytes` (rounded up to 8). It is zero except for its field
 * `bytes`. NULL, counted as lost, if there is no space. dw_journal_commit() makes it part of the
 * file. Only fields that are documented as changed in place may change later.
 */
void *dw_journal_reserve(size_t bytes);
/* The same, but the caller counts the loss; `cause` receives why there is no space. */
void *dw_journal_try(size_t bytes, enum dw_loss *cause);
/* The same for entries of times, STEP and PROFILE, which have chunks of their own. `bytes`: some DW_TIMES_BYTES. */
void *dw_journal_try_times(size_t bytes, enum dw_loss *cause);
void dw_journal_look_times(void); /* a profile has ended: chunks of such entries may be complete now */
/* The loss cause of a name or step whose entry failed because of `cause`. */
enum dw_loss dw_journal_loss(enum dw_loss cause);
static inline void dw_journal_commit(void *entry, enum dw_entry_type type)
{
	/* Pairs with a reader's acquire of the tag: the entry is complete. */
	__atomic_store_n(&((struct dw_entry *)entry)->tag, DW_ENTRY_TAG(type), __ATOMIC_RELEASE);
}
void dw_journal_clock(void);
/* Corrects the clock after the counter was reset, which some machines do when they wake up. `last`
 * is the time of a record, which is later than the counter's time now. */
void dw_journal_rebase(uint64_t last);
/* Opens the first chunk of a process; `self` identifies the process. Call it under the lock. */
bool dw_journal_open(const struct dw_entry_process *self);

/* ---- intern -------------------------------------------------------------------- */

uint32_t dw_new_id(void); /* 0 means no ids are left */
uint32_t dw_new_profile_id(void); /* the same; PROFILE entries count apart */
uint32_t dw_intern_string(const char *text, size_t length);
uint32_t dw_intern_text(const char *text); /* NULL: 0 */
uint32_t dw_intern_op(uint32_t category, const char *name, const char *detail, uint32_t shapes,
                      const char *file, uint32_t line);
/* The same with a name whose id is known. */
uint32_t dw_intern_op_of(uint32_t category, const char *name, uint32_t name_id, const char *detail,
                         uint32_t shapes, const char *file, uint32_t line);
/* The same with a name that the program made at run time; see named.c. */
uint32_t dw_intern_made(uint32_t category, const char *name, const char *detail, uint32_t shapes);
/* A function by its address; its name is a FRAME. */
uint32_t dw_intern_function(uintptr_t address);
uint32_t dw_intern_frame(const char *function, const char *file, uint32_t line);
uint32_t dw_intern_stack(const uint32_t *frames, uint32_t count); /* FRAME ids, innermost first */
uint32_t dw_intern_shapes(const struct dwell_tensor *tensors, unsigned count);
/* The same with a call's FLOPs and bytes, DWELL_NOT_GIVEN if unknown, as a first argument of type DWELL_ARG_WORK. */
uint32_t dw_intern_shapes_work(const struct dwell_tensor *tensors, unsigned count, uint64_t flops,
                               uint64_t bytes);
/* The same for a layer's parameters. More than 16 are stored as one number of elements per data
 * type, so that none is cut off. */
uint32_t dw_intern_parameters(const struct dwell_tensor *tensors, unsigned count);
uint64_t dw_hash(const void *data, size_t bytes, uint64_t seed);
/* The id of an entry, which is complete except for its id. Its size is a multiple of 8. */
uint32_t dw_intern(struct dw_entry *entry);
/* The same if it is known already; 0: it is not. */
uint32_t dw_intern_find(const struct dw_entry *entry);
/* A string whose entry `intern` interns. */
uint32_t dw_intern_string_by(const char *text, size_t length, uint32_t (*intern)(struct dw_entry *));
/* Copies the entry of an operator or of another range. False: `id` is none, or not in the table. Slow: it searches. */
bool dw_intern_op_entry(uint32_t id, struct dw_entry_op *op);
/* Writes all entries that this process knows to a new file's journal, with the same ids. */
void dw_intern_replay(void);

/* Zeroed memory that is never released; NULL if there is none. */
void *dw_intern_memory(size_t bytes);

/* ---- layers ---------------------------------------------------------------------- */

/* Stores the path of the layer with this id. */
void dw_layers_remember(uint32_t id, const char *path);
/* A layer's path, and whether the current list selects it. */
#define DW_LAYER_CHAINS 4096u
struct dw_layer {
	struct dw_layer *next;
	uint32_t id;
	/* atomic, relaxed: it refers to no other memory. Session << 32 | generation | wanted; a list's
	 * generation is even. */
	uint64_t decision;
	char path[];
};
/* Pushed with a compare-and-swap, never removed from. */
extern struct dw_layer *dw_layer_chains[DW_LAYER_CHAINS];
static inline struct dw_layer *dw_layer_find(uint32_t id)
{
	/* Pairs with the release in dw_layers_remember(): layers are complete. */
	struct dw_layer *layer =
		__atomic_load_n(&dw_layer_chains[id % DW_LAYER_CHAINS], __ATOMIC_ACQUIRE);

	while (layer && layer->id != id)
		layer = layer->next;
	return layer;
}
/* Decides by the list of this generation, and stores the decision. */
bool dw_layer_decide(struct dw_layer *layer, struct dw_control *control, uint32_t generation);
/* Whether a list of layers can be set; if not, `error` says why. */
bool dw_layers_fit(const char *list, struct dwell_error *error);
/* Sets the list in a control page that no other process has mapped yet. */
void dw_layers_fill(struct dw_control *control, const char *list);

/* ---- slots and chunks ------------------------------------------------------------ */

extern const struct dwell_stream dw_slot_none; /* dwell_this_stream of threads without a slot */
/* The slot of a stream of the calling thread, and the stream's writer. */
struct dw_slot *dw_slot_of(struct dwell_stream *stream, struct dw_writer **writer);
/* Counts lost records. `slot` NULL: of a thread that has none. */
void dw_slot_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records);

/* Sets a stream's cursor and time from the records in its open chunk. */
void dw_chunk_resume(struct dwell_stream *stream, const struct dw_chunk *chunk);
/* Counts the records of a chunk as lost and empties it, while readers may copy it. `slot`: as for dw_slot_lost(). */
void dw_chunk_recycle(struct dw_chunk *chunk, struct dw_slot *slot, uint64_t records);
/* Gives the stream a new chunk; false with the cause. */
bool dw_chunk_next(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                   enum dw_loss *cause);
/* Atomic: id of the ranges that show what a new chunk cost. They are not counted when lost. */
extern uint32_t dw_chunk_own_range;

/* ---- probes ------------------------------------------------------------------------- */

/* Notes that the program records operators itself; see dwell_operator_probes. */
void dw_probe_note_operators(uint32_t category);

/* ---- open ranges ------------------------------------------------------------------- */

#define DW_OPEN_DEEPEST 64u /* deeper ranges are counted, and their ids are not stored */
struct dw_open {
	bool busy;           /* in use: a signal handler must not use it */
	bool interrupted;    /* by a signal handler, while it was in use */
	uint32_t generation; /* of the session; 0: the list is unknown */
	uint64_t number;     /* of the chunk that is decoded */
	uint32_t at_words;   /* how much of it */
	uint32_t depth;
	uint32_t scope;      /* depth at the begin of the step that is a block */
	uint32_t ids[DW_OPEN_DEEPEST];
};
/* Decodes what the slot's thread has recorded since the last call. Needs slot->open. */
void dw_open_follow(struct dw_slot *slot);

/* ---- streams -------------------------------------------------------------------- */

/*
 * Enters the recorder out of line. Returns the calling thread's stream with `busy` set and space
 * for a record, or NULL (counted as lost). Call dw_stream_leave() after it.
 */
struct dwell_stream *dw_stream_enter(void);
/* The same for samples, which leave the time of the thread's records where it is: see dwell_late_put(). */
struct dwell_stream *dw_stream_enter_aside(void);
void dw_stream_leave(struct dwell_stream *stream);
/* Called when `busy` is set. True if the record that set it was abandoned; the stream is then
 * usable again. */
bool dw_stream_recover(struct dw_slot *slot, struct dwell_stream *stream, uintptr_t frame,
                       uint64_t now);
/* Values of `busy`: 0 while the stream is free, 1 while inline code writes, and dw_stream_busy() of
 * the frame while a function out of line writes. */
#define DW_BUSY_INLINE 1u
#define DW_BUSY_OUT_OF_LINE 2u
uint32_t dw_stream_busy(uintptr_t frame);
void dw_stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                   const uint32_t *payload, unsigned words);
void dw_stream_put_end(struct dwell_stream *stream, uint64_t ticks);

/* ---- stacks -------------------------------------------------------------------- */

/* If `mask` asks for stacks, loads what the first stack would otherwise load: the first stack may
 * be recorded in a signal handler. */
void dw_stack_prepare(uint32_t mask);
/* The id of the current stack, from the frame that `caller` returns to; 0 means none was found. */
uint32_t dw_stack_here(struct dw_slot *slot, const void *caller);
/* Begins an operator with a stack; 0 means the stack of the caller, if the operator is outermost.
 * Pass the result to dwell_end(). */
unsigned dw_begin_with_stack(uint32_t id, const void *caller, uint32_t stack);
/* Copies memory that may not be mapped or may be unmapped meanwhile. Returns the bytes copied. */
size_t dw_read_memory(void *to, uintptr_t from, size_t bytes);
/* The FRAME id of a code address in this process; 0 means it cannot be found out now. */
uint32_t dw_module_frame(uintptr_t address);
/* The FRAME ids of a stack's return addresses. The call is before its return address, which may
 * already be in the next function. False if some cannot be found out. `lately`: a module that was in place less than
 * 1/16 s ago counts as still there. */
bool dw_module_frames(void *const *addresses, int count, bool lately, uint32_t *frames);
/* Calls `see` for the file of each executable mapping. False: another thread does not finish reading them. */
bool dw_module_each_file(void (*see)(const char *path, void *context), void *context);
/* Whether the address is in the code of a file. */
bool dw_module_is_code(uintptr_t address);
bool dw_module_is_libc(uintptr_t address);

/* ---- metadata, steps ------------------------------------------------------------- */

void dw_metadata_read_environment(void); /* when the library is loaded */
bool dw_metadata_process(struct dw_entry_process *entry);
void dw_libraries_read_environment(void); /* when the library is loaded */
void dw_libraries_note(void);
void dw_libraries_note_at_end(void); /* when the process or the session ends: asks the loader */
void dw_step_join(void);                  /* takes a gate in a new session */
void dw_step_leave(void);                 /* releases it at process exit */
void dw_step_close(struct dw_slot *slot); /* ends the open step; slot may be NULL */
void dw_step_next(struct dw_slot *slot);  /* and begins another */
/* Ends the open step and sets the gate for the next one. Returns the end; 0 means none was open. */
uint64_t dw_step_end(struct dw_slot *slot);
/* Ends the open step and begins one at `ticks`, not before that end; 0 means now. Returns its
 * begin. */
uint64_t dw_step_begin(struct dw_slot *slot, uint64_t ticks);
void dw_step_cancel(struct dw_slot *slot);                     /* cancels the open step */
void dw_step_past(struct dw_slot *slot, uint64_t start_ticks); /* records a step that ends now */
/* Whether the file has no more space for an entry per step. All processes of the run advance
 * next_block, so the limit applies to all of them together. */
static inline bool dw_step_summary_needed(const struct dw_head *head)
{
	return DW_LOAD(head->next_block) >= head->max_blocks - head->reserve_blocks / 2;
}
/* How many blocks summaries of steps may still use. */
static inline uint32_t dw_step_summary_blocks(const struct dw_head *head)
{
	uint32_t names = head->reserve_blocks / 4 ? head->reserve_blocks / 4 : 1;
	uint32_t end = head->max_blocks - names, next = DW_LOAD(head->next_block);

	return next < end ? end - next : 0;
}
/* The entry for the next step of a thread that summarises. It is cancelled; the step that had it is now in the
 * summary. NULL: the file has no space for a ring. */
struct dw_entry_step *dw_step_ring_take(struct dw_slot *slot);
/* Adds the step of an entry of the ring to the summary, if it ended, and cancels the entry. */
void dw_step_ring_free(struct dw_slot *slot, struct dw_entry_step *entry);
/* Adds a step that ended to the summary; false with the cause if there is no entry for it. */
bool dw_step_summary_add(struct dw_slot *slot, const struct dw_entry_step *step, uint64_t end_ticks,
                         uint64_t cpu_ns, enum dw_loss *cause);
/* Ends a capture whose time has passed: its controller may have been killed. In process.c. */
void dw_step_look(void);
/* Opens the processor's counters for the calling thread. Returns 0, or the errno of the kernel. */
int dw_counters_open(struct dw_counters *counters);
/* Reads them into the usage; leaves counters_known false if they cannot be read. */
void dw_counters_read(struct dw_counters *counters, struct dw_usage *usage);
/* Closes what is open. Preserves errno. */
void dw_counters_close(struct dw_counters *counters);

/* Reads the calling thread's usage and writes what it used since the last reading (usage.c). */
void dw_usage_read(struct dw_slot *slot);
/* A step begins: times since then were counted as outside any step. Needs slot->places. */
void dw_places_step(struct dw_slot *slot, uint64_t start_ticks);
/* Whether one of the next `steps` steps is chosen to be recorded, with something of `mask`. */
bool dw_step_wanted_soon(uint32_t mask, unsigned steps);
/* Whether the user chose the steps, or a profile or a capture wants something of `mask`. */
bool dw_step_asked(uint32_t mask);
bool dw_step_gated(void); /* whether the gate follows steps */
/* Adds (`more`) or removes a profile that wants what `mask` contains. */
void dw_step_want(uint32_t mask, bool more);
/* False: it is not in the trace. */
bool dw_meta(const char *key, const char *value, uint32_t flags);

/* account.c. When the library is loaded; after the process is registered; after a sample. */
void dw_account_begin(void);
void dw_account_register(void);
void dw_account_sample(uint32_t weight);
