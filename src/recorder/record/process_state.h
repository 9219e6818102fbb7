/* What belongs to one process. It is zero in a child of fork. */
#pragma once

#include "record/record.h"
#include "record/thread.h"

#define DW_MAX_WINDOWS 65536u
#define DW_RESIDENT_WINDOWS 8u /* windows, of 4 MiB each, whose pages may stay in memory */
#define DW_MAX_SLOTS 16384u

struct dw_window {
	char *base;     /* address of its first block */
	uint32_t first; /* block */
	uint32_t count;
	uint32_t closed;   /* atomic; how many of its chunks were closed while it was fresh */
	uint32_t resident; /* atomic; 1: its pages may stay in memory, see window.c */
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
	DW_HOLD_NONE,  /* not taken: another thread has the lock for longer than the caller may wait */
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
