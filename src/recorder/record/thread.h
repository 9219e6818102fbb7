/* What belongs to one thread. */
#pragma once

#include "record/record.h"

#define DW_SHAPE_CACHE 128u
#define DW_STACK_CACHE 256u
#define DW_STACK_DEEPEST 128

struct dw_open;
struct dw_places;
struct dw_unwound;

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
	/* The last step that it has, which another optimizer's update may join: how short the others are. */
	struct {
		uint64_t start, ticks, shortest;
		uint32_t optimizers; /* bits of those that have stepped in it */
	} summed;
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
	uint64_t cpu_due;                   /* no reading at the begin of a step before this time */
	uint64_t cpu_cost;                  /* what the last such reading took */
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
