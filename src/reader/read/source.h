/*
 * A source: one run, ready for analysis, independent of its files.
 *
 * A source offers the dictionary (arrays by id), the streams (each a list of chunks of native
 * records in order) and a list of what was repaired. It may come from a trace file, a live one, an
 * incomplete one, or several files of one run. A foreign format is imported here too: its importer
 * writes chunks and entries into memory with format/encode.h and fills the same structure. Other
 * modules do not notice the difference.
 *
 * Chunk data is mapped, not copied; the dictionary is in the source's arena. After
 * dw_source_open() everything is const and may be read by any thread. No file can make a reader
 * crash or hang: sizes, ids and offsets are checked here once, and records when they are decoded.
 */
#pragma once

#include "base/code/activity.h"
#include "base/code/code_loop.h"
#include "dwell/dwell.h"
#include "format/layout.h"

#define DW_NO_INDEX UINT32_MAX

/* The name of a record, resolved. Ids of different files are different symbols; the model merges
 * symbols of the same content. */
struct dw_symbol {
	const char *name;   /* NULL only in a file's table, where the id is no OP: pages that nobody wrote need no memory */
	const char *detail; /* or NULL */
	const char *file;   /* or NULL */
	uint32_t line;
	uint32_t category;                    /* enum dw_category, or an unknown value */
	const struct dw_entry_shapes *shapes; /* or NULL; checked against its size */
};

struct dw_source_process {
	uint32_t file;   /* index of its file */
	uint32_t id;     /* PROCESS id in its file */
	uint32_t parent; /* index, or DW_NO_INDEX */
	uint32_t pid, ppid;
	int32_t rank, local_rank, world_size;
	uint32_t flags;                   /* DW_PROCESS_* */
	const char *name, *command, *job; /* never NULL; "" when not known */
	const char *label;                /* a short name: train.py, resnet18 */
	uint64_t start_ns;
	uint64_t end_ns; /* of its last record or entry; the trace's end while it is alive */
	bool alive;      /* it is running on this machine now */
	bool may_write;  /* alive, or not visible from this pid namespace */
};

struct dw_source_thread {
	uint32_t process; /* index */
	uint32_t id;      /* THREAD id in its file */
	uint32_t tid;
	uint32_t stream;  /* number of its first stream */
	const char *name; /* the last one that it had; never NULL */
	uint64_t start_ns, lost[DW_LOSS_SLOTS];
	uint64_t cpu_ns;         /* CPU time by the kernel's account, as far as it is known; 0: not known */
	uint64_t sampled_cpu_ns; /* the same at its last sample; 0: it has none, or the trace is older */
	uint64_t lived_ns;       /* from start_ns to its end; 0: not known, as in older traces */
	uint64_t sample_weight;  /* of all its samples, also of those that were overwritten */
	uint32_t end;            /* DW_THREAD_* */
};

struct dw_source_step {
	uint32_t thread; /* index */
	bool recorded;   /* the gate was open */
	bool reduced;    /* it was, except for operators and layers; then `recorded` is not set */
	bool brief;      /* and except for phases */
	bool open;       /* it never ended: end_ns is the trace's end */
	uint64_t number, start_ns, end_ns;
	uint64_t start_ticks, end_ticks; /* the same in ticks of its file's clock, exactly */
	uint64_t cpu_ns;
};

/*
 * Consecutive steps of one thread of which the file has only sums, because its space for single
 * steps was full. The first of them has the number `first_number`. The summaries of a thread follow
 * each other. Its single steps are older than the first of them, or, in a file that keeps the newest
 * records, newer than the last of them. An open step is newer.
 */
struct dw_source_step_summary {
	uint32_t thread; /* index */
	uint64_t first_number;
	uint64_t count;                  /* steps, at least 1 */
	uint64_t recorded;               /* of these, steps during which the gate was open */
	uint64_t start_ns, end_ns;       /* begin of the first, end of the last */
	uint64_t start_ticks, end_ticks; /* the same in ticks of its file's clock, exactly */
	uint64_t step_ns;                /* sum of the steps' durations */
	uint64_t cpu_ns;                 /* sum of their CPU times, where they were read */
	uint64_t cpu_count;              /* steps whose CPU time was read */
	uint64_t shortest_ns, longest_ns;
	double ns_per_tick;        /* of its file, for the bounds of the buckets */
	const uint32_t *durations; /* DW_STEPS_BUCKETS counts of steps, by duration in ticks: bucket i
	                              begins at 2^(8 + i/4) ticks (format/steps.h) */
};

/* What a thread with steps used between two moments, by the kernel's account. The usages of a
 * thread do not overlap and are sorted by time. */
struct dw_source_usage {
	uint32_t thread;                             /* index */
	bool delay_known;                            /* otherwise delay_ns is 0 */
	uint64_t start_ticks, end_ticks;             /* of its file's clock; end > start */
	uint64_t cpu_ns;                             /* the thread ran */
	uint64_t delay_ns;                           /* the thread was ready to run and waited for a CPU */
	uint64_t process_cpu_ns;                     /* all threads of the process ran */
	uint64_t system_ns;                          /* of cpu_ns, in the kernel; 0: not known */
	uint32_t waits, preemptions;                 /* voluntary and involuntary context switches of the thread */
	uint32_t minor_faults, major_faults;         /* of the thread: without and with reading from a disk */
	bool counters_known;                         /* otherwise the following are 0 */
	uint64_t cycles, instructions, cache_misses; /* of the thread in user space */
};

/* The sum of a thread's times that belong to the same lines of the program; see DW_PLACE_*. Only
 * times of at least a millisecond count. */
struct dw_source_place {
	uint32_t thread;                            /* index */
	uint32_t kind;                              /* DW_PLACE_* */
	const struct dw_source_function *from, *to; /* NULL: not known */
	uint32_t op;                                /* OP id in its file, of a DW_PLACE_OPERATOR */
	uint64_t count;
	uint64_t step_ns, other_ns; /* in steps, and outside any step */
	uint64_t longest_ns;
	uint64_t cpu_ns;      /* the thread ran, in those times whose CPU time was read; */
	uint64_t cpu_wall_ns; /* their length */
};

/* How much all processors of a file's machine ran between two moments. Sorted by file and time. */
struct dw_source_machine {
	uint32_t file;                   /* index */
	uint64_t start_ticks, end_ticks; /* of its clock; end > start */
	uint64_t busy_ns;                /* all programs */
	uint64_t own_ns;                 /* the program that `dwell run` started, with its child processes */
	uint64_t program;                /* its process id; 0: not known */
	/* How often the program's main thread was looked up, and was blocked by a lock, by a file, a
	 * pipe or a socket, or slept. */
	uint32_t looks, at_lock, at_file, asleep;
	uint32_t crowd_looks, crowded, blocked, stolen_us; /* see struct dw_entry_machine */
	bool knows_stolen;
};

/* A range for which a result was requested: a cycle of a profile object. */
struct dw_source_profile {
	uint32_t file;   /* index */
	uint32_t id;     /* in that file */
	uint32_t thread; /* index; the thread that has the profile */
	const char *name;
	uint32_t mask; /* the categories and details that it requested */
	bool open;     /* it never ended: end_ns is its process's end */
	uint64_t cycle, start_ns, end_ns;
	uint64_t start_ticks, end_ticks; /* the same in ticks of its file's clock, exactly */
};

/* One place in a program. */
struct dw_source_function {
	const char *name; /* demangled; never NULL: "libx.so+0x12f0" or "[jit]" if there is no symbol */
	const char *file; /* or NULL */
	uint32_t line;    /* or 0 */
};

/* A frame and the functions inlined there: `count` functions, at least 1, innermost first. */
struct dw_source_frame {
	const struct dw_source_function *functions;
	uint32_t count;
	const char *module;        /* path, or NULL: the code is in no file; DW_KERNEL: it is the kernel's */
	uint64_t offset;           /* into the module; in no file the address, or 0 */
	uint32_t process;          /* PROCESS id of code that was made at run time, or of the kernel's; otherwise 0 */
	bool nameless;             /* the module has no symbol there: the name is a place, as "libx.so+0x12f0" */
	bool found;                /* the name comes from the module on this machine, not from the trace */
	enum dw_code_loop loop;    /* what the code there does, if it is a loop */
	enum dw_library_role role; /* of the module; of Python code, of its file */
	enum dw_activity activity; /* of the innermost function */
};

/* Frame ids, innermost first, in the file: another process may change them. So each is loaded once, then checked. */
struct dw_source_stack {
	const uint32_t *frames;
	uint32_t count;
};

struct dw_source_meta {
	uint32_t process; /* index */
	const char *key, *value;
	bool json;
};

/* Consecutive records of one writer: `words` up to `word_count` or to the first zero word. */
struct dw_source_chunk {
	const uint32_t *words; /* NULL in a stored trace */
	uint32_t word_count;
	uint32_t thread; /* index of the thread at the start, or of a placeholder */
	uint64_t base_ticks;
	uint64_t end_ticks;                /* of the last record */
	uint64_t number;                   /* chunks of a stream are consecutive unless some were recycled */
	bool gap_before;                   /* chunks before this one were recycled */
	const struct dw_chunk *header;     /* in a live file: see dw_source_borrow(); otherwise NULL */
	const struct dw_pack_place *place; /* in a stored trace (pack.h); otherwise NULL */
};

/* ---- devices; a trace without them has none of this ---- */

struct dw_source_device {
	uint32_t process;      /* index */
	uint32_t id;           /* DEVICE id in its file; 0 means a placeholder */
	uint32_t number;       /* as the process numbers its devices */
	uint32_t api;          /* enum dw_device_api, or an unknown value */
	uint32_t processors;   /* 0 means unknown */
	uint64_t memory_bytes; /* 0 means unknown */
	const char *name;      /* never NULL; "" when not known */
};

/* What runs its work in order: a stream of CUDA or HIP. */
struct dw_source_queue {
	uint32_t device; /* index */
	uint32_t id;     /* QUEUE id in its file; 0 means a placeholder for events without a queue */
	uint64_t number; /* DW_QUEUE_NONE: its events are in no stream */
	uint32_t context;
	int32_t priority;
	uint32_t flags;   /* DW_QUEUE_* */
	const char *name; /* or NULL */
};

/* A device's clock and the file's, read together: device ticks become ticks of the file. */
struct dw_source_pairing {
	uint64_t device_ticks, ticks;
	double ticks_per_device_tick; /* from here to the next pairing, or beyond the last one */
};

struct dw_source_device_clock {
	const struct dw_source_pairing *pairings; /* ascending */
	size_t pairing_count;                     /* 0 means the clock is the file's */
	uint64_t error_ns;                        /* of the least exact pairing */
};

/* Events of devices in any order: chunk.words are records of record_bytes each (format/device.h). */
struct dw_source_events {
	struct dw_source_chunk chunk; /* see dw_source_borrow() */
	uint32_t file, process;       /* index */
	uint32_t record_bytes;
	struct dw_source_device_clock clock;
};

struct dw_source_stream {
	uint32_t file;    /* index */
	uint32_t process; /* index */
	uint32_t stream;  /* as in the chunks */
	bool nested;      /* written by signal handlers */
	struct dw_source_chunk *chunks;
	size_t chunk_count;
};

/* Valid from `ticks` to the start of the next piece. */
struct dw_source_clock_piece {
	uint64_t ticks;
	double ns; /* on the run's common time line */
	double ns_per_tick;
};

/* Converts ticks to ns since the run's start. One for each file: hosts have their own clocks. */
struct dw_source_clock {
	uint64_t start_ticks;
	uint64_t start_ns; /* start_ticks on the run's common time line */
	double ns_per_tick;
	uint64_t error_ns; /* how far this file's times may differ from the others' */
	/* Parts with different rates, because the machine slept or a virtual machine was paused and
	 * the clocks diverged; sorted by ticks. Durations use ns_per_tick there too. */
	const struct dw_source_clock_piece *pieces;
	size_t piece_count; /* 0 means one rate is valid for the whole file */
};

struct dw_source_file {
	const char *path;
	uint64_t size_bytes;
	const struct dw_head *head;
	struct dw_source_clock clock;
	const struct dw_symbol *symbols;               /* by id; unknown ids are "(unknown)" */
	uint32_t symbol_count;                         /* length of the arrays by id */
	const char *const *strings;                    /* by id, NULL if the id is not a STRING */
	const struct dw_source_stack *stacks;          /* by id, count 0 if it is no STACK; NULL: no stacks */
	const struct dw_source_frame *const *frames;   /* by id, NULL if it is no FRAME; NULL: none */
	const uint32_t *queue_by_id;                   /* by id: index of the queue, of a placeholder if the id is not
	                                                * a QUEUE; NULL: the file has no events of devices */
	const struct dw_entry_launch *const *launches; /* by id, NULL if it is no LAUNCH; NULL: none */
	const uint32_t *thread_by_id;                  /* by id: index of the thread, or DW_NO_INDEX */
	uint32_t clock_jumps;                          /* times that its clock jumped: see struct dw_source_clock */
	uint64_t clock_jump_ns;                        /* by how much, at most */
	bool foreign;                                  /* written by another profiler: an XSpace */
	bool large;                                    /* walks return the pages that they have read: see
	                                                * dw_source_release_chunks() */
	bool torn;                                     /* the file ends within a chunk */
	/* How many bytes a copy that was cut short lacks; 0 means it is complete, or that cannot be
	 * found out. */
	uint64_t missing_bytes;
	bool waits;         /* recording waits for steps: --steps or a schedule */
	bool named_ends;    /* some ends have the id of their range */
	const char *layers; /* only layers in this list are recorded; NULL: all */
};

struct dw_source {
	struct dw_source_file *files;
	size_t file_count;
	struct dw_source_process *processes;
	size_t process_count;
	struct dw_source_thread *threads;
	size_t thread_count;
	struct dw_source_stream *streams;
	size_t stream_count;
	struct dw_source_device *devices;
	size_t device_count;
	struct dw_source_queue *queues;
	size_t queue_count;
	struct dw_source_events *events; /* device chunks, by process */
	size_t events_count;
	struct dw_source_step *steps; /* by process, then start */
	size_t step_count;
	const struct dw_iterated *iterated; /* of a copy whose steps are iterations: which (model/steps/iterations.h); else NULL */
	struct dw_source_step_summary *step_summaries; /* by process, then start */
	size_t step_summary_count;
	struct dw_source_usage *usages; /* by thread, then start */
	size_t usage_count;
	struct dw_source_place *places; /* by file, in no order */
	size_t place_count;
	struct dw_source_machine *machines; /* by file, then start */
	size_t machine_count;
	struct dw_source_profile *profiles; /* in the order of the files' journals */
	size_t profile_count;
	struct dw_source_meta *metas;
	size_t meta_count;
	uint64_t lost[DW_LOSS_SLOTS]; /* all files and threads */
	uint64_t begins, begins_ns;   /* threads, children and programs that began, and what recording did there and at their ends */
	uint64_t end_ns;              /* of the last thing in any file */
	uint64_t realtime_start_ns;   /* wall clock of ns 0 */
	const char **repairs;         /* sentences: what was damaged and what was recovered */
	size_t repair_count;
	bool live; /* some writer is still running */
	void *private_data;
};

/*
 * Opens the traces at `paths` as runs that share one time line. Also opens the files that other
 * processes of the same runs wrote in the same folders (NAME.HOST.PID.RANDOM.dwell with the same
 * run id).
 */
int dw_source_open(struct dw_source **source, const char *const *paths, size_t count, struct dwell_error *error);
/* The same for one trace, of which only this profile is asked for (dwell_profile_result.id): other profiles and steps
 * may be left out that ended before it began or began after it ended. */
int dw_source_open_profile(struct dw_source **source, const char *path, uint32_t profile, struct dwell_error *error);
/* From now on this process reads no symbols of program files for the frames of stacks, which takes much longer than
 * reading the trace of a minute. Ranges keep their names. For a process that asks for no stacks. */
void dw_source_leave_stacks_unnamed(void);
/* Whether frames have the names of their functions. */
bool dw_source_names_stacks(const struct dw_source *source);
/* Files without a build-id, as those of Go, are still the ones that ran. Else their frames have no names. */
void dw_source_trust_modules(void);
/* The last value of a key that a process wrote, or with DW_NO_INDEX any process; NULL: there is none. */
const char *dw_source_meta(const struct dw_source *source, uint32_t process, const char *key);
/* The path of a mapped file with this name, of the file `file` of the source; NULL: there is none. */
const char *dw_source_module_named(const struct dw_source *source, size_t file, const char *name);
void dw_source_close(struct dw_source *source);
/* Returns the memory of the files' pages to the kernel, for readers that keep little of what they
 * have read. What is read again is mapped again. */
void dw_source_release(const struct dw_source *source);
/* The same for some chunks of a stream. For walks, which read a large file from its begin to its
 * end: otherwise all of it would stay in memory. */
#define DW_SOURCE_LARGE_BYTES (64u << 20)
#define DW_SOURCE_RELEASE_CHUNKS 32u
void dw_source_release_chunks(const struct dw_source_stream *stream, size_t from, size_t to);

/* Leaves out the chunks that ended before `ns`, as if they had been recycled, so that a reader of the end
 * of a large trace does not walk its begin. A stream keeps at least its last chunk. Only before a
 * model is made. */
void dw_source_keep_since(struct dw_source *source, uint64_t ns);

/* The step of a process that began last before `ns`, if it had not ended; otherwise NULL. *last is
 * the index of the step that was found last, which is tried first; begin with 0. */
const struct dw_source_step *dw_source_step_at(const struct dw_source *source, uint32_t process, uint64_t ns,
                                               size_t *last);

/* ns on the run's time line, at least 0. */
uint64_t dw_source_ns(const struct dw_source_clock *clock, uint64_t ticks);
/* The duration of a number of ticks. */
uint64_t dw_source_span_ns(const struct dw_source_clock *clock, uint64_t ticks);
/* The tick at or after `ns` on the run's time line. */
uint64_t dw_source_ticks(const struct dw_source_clock *clock, uint64_t ns);

/* A time of a device's clock on the clock of its file. */
uint64_t dw_source_device_ticks(const struct dw_source_device_clock *clock, uint64_t device_ticks);

/*
 * The chunk's words, for immediate use. A chunk of a live file may be recycled at any time: its
 * words are copied into `buffer` (DW_BLOCK_BYTES), and the result is NULL if it was recycled
 * during that. A chunk of a stored trace is unpacked into `buffer`. For other files the result points into the map, and
 * `buffer` may be NULL.
 */
static inline bool dw_source_needs_buffer(const struct dw_source_chunk *chunk)
{
	return chunk->header || chunk->place;
}
const uint32_t *dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer);

/* Calls `take` with a copy of each record of devices; what a record lacks of the wide form is 0. Ends at the first false, and
 * returns it; also if out of memory. */
bool dw_source_visit_devices(const struct dw_source *source,
                             bool (*take)(void *context, const struct dw_source_events *chunk, const struct dw_device_record_wide *record),
                             void *context);

/* "operator", NULL: an unknown category. "recycled" and "its chunk was overwritten ..." of a cause of losses, NULL: an
 * unknown one. */
const char *dw_category_name(uint32_t category);
const char *dw_loss_cause(size_t cause);
const char *dw_loss_text(size_t cause);
