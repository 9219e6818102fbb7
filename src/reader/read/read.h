/*
 * The parts of opening a source, only for the files of this module.
 *
 *   file     one file: mapped, recognised, imported (src/reader/import), or refused with a reason
 *   pack     stored traces (pack.h), of which each block is unpacked when it is needed
 *   chunks   its blocks: chunk headers, checked and sorted; later the streams of all files
 *   journal  its entries: the dictionary, processes, threads, steps, clocks
 *   times    STEP and PROFILE entries that a reader of one profile does not need
 *   withdraw steps that turned out to be none
 *   iterations which of the steps that a probe found are an iteration
 *   clock    its ticks on the run's common time line
 *   index    ids looked up in a table
 *   gather   files of the same run in the same folder; whether a writer is alive
 *   source   combines these as struct dw_source, with the help of
 *   source_files  the files and their dictionaries
 *   processes     processes and threads
 *   stacks   frames with their functions
 *   devices  devices, their queues, clocks and chunks
 *   steps    steps, metadata, ends
 *
 * The structures here use the file's own ids and ticks. source_open.c converts them to indices and ns
 * when all files are read.
 *
 * Another process may write to a file while it is read. So everything that decides about memory
 * is copied out of the map first (dw_copy_shared()), then checked, and only the copy is used. Only
 * the records of chunks are read from the map; the decoder loads each of their words once.
 *
 * A file may be made to harm its reader. So memory is at most a small multiple of the file's size,
 * and so is the number of iterations of every loop: ids are looked up in tables, and a text that
 * many items share is cut.
 */
#pragma once

#include "base/foreign.h"
#include "base/map.h"
#include "base/system/host.h"
#include "read/pack.h"
#include "read/source.h"

/* A checked chunk header, and where the chunk is. */
struct dw_read_chunk {
	const struct dw_chunk *header; /* in the map; NULL: see `place` */
	const struct dw_pack_place *place; /* in a stored trace; otherwise NULL */
	uint64_t number, base_ticks, end_ticks;
	uint32_t type, process, stream, thread, block;
	uint32_t data_bytes;  /* data that is present, with the header */
	uint32_t next;        /* block of the stream's next chunk, or 0 */
	uint32_t clock;       /* of device chunks */
	uint32_t record_bytes; /* of these, and of journal chunks of times */
	bool open;            /* its end was not written, or the file ends before it */
};

struct dw_read_process {
	uint32_t id, parent;  /* PROCESS ids */
	uint32_t pid, ppid;
	int32_t rank, local_rank, world_size;
	uint32_t flags, name, command, job;
	uint64_t start_ticks;
	uint32_t index;       /* in the source */
	uint64_t pid_namespace, birth; /* 0 in older traces */
};

struct dw_read_thread {
	uint32_t id, process; /* THREAD and PROCESS ids */
	uint32_t tid, stream;
	uint64_t start_ticks, lost[DW_LOSS_SLOTS];
	uint64_t cpu_ns, sampled_cpu_ns, sample_weight; /* 0 in older traces, as `end` */
	uint32_t end, lived;
	const char *name;
	uint32_t index;
};

struct dw_read_step {
	uint32_t thread;      /* THREAD id */
	bool recorded, reduced, brief, tentative;
	uint32_t what;        /* DWELL_STEP_*; 0: it is an iteration as it is */
	uint64_t number, start_ticks, end_ticks, cpu_ns;
};

/* Steps that were summarised, as stored in the file. */
struct dw_read_summary {
	uint32_t thread;      /* THREAD id */
	uint64_t first_number, start_ticks, end_ticks, step_ticks, cpu_ns, cpu_count;
	uint64_t shortest_ticks, longest_ticks, recorded, count;
	bool tentative;
	uint32_t *durations;  /* DW_STEPS_BUCKETS, in the arena */
};

/* A USAGE entry. */
struct dw_read_usage {
	uint32_t thread;      /* THREAD id */
	bool delay_known;
	uint64_t start_ticks, end_ticks, cpu_ns, delay_ns, process_cpu_ns;
	uint32_t waits, preemptions, minor_faults, major_faults;
	bool counters_known;
	uint64_t cycles, instructions, cache_misses;
};

struct dw_read_machine {
	uint64_t start_ticks, end_ticks, busy_ns, own_ns, program;
	uint32_t looks, at_lock, at_file, asleep, crowd_looks, crowded, blocked, stolen_us;
	bool knows_stolen;
};

struct dw_read_profile {
	uint32_t id, thread, name, mask; /* PROFILE and THREAD ids, STRING */
	uint64_t cycle, start_ticks, end_ticks;
};

struct dw_read_meta {
	uint32_t process, key, value; /* PROCESS id, STRINGs */
	bool json;
};

struct dw_read_op {
	uint32_t id, category, name, detail, shapes, file, line, frame;
};

/* A pairing of the three clocks. */
struct dw_read_clock {
	uint64_t ticks, monotonic_ns, realtime_ns, error_ns;
};

struct dw_read_symbol {
	uint32_t frame, nesting, function, file, line, loop;
};

struct dw_read_frame {
	uint32_t id, module;      /* FRAME and MODULE ids */
	uint64_t offset;
	uint32_t function, file;  /* STRINGs */
	uint32_t line, process;   /* PROCESS id, of code made at run time */
	uint32_t order;           /* position in the file */
};

struct dw_read_module {
	uint32_t id, path;        /* MODULE id, STRING */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	struct dw_library library; /* what is known of it by its path */
};

/* What devices.c reads of the journals: copies of entries. */
struct dw_read_device_parts {
	struct dw_entry_device *devices;
	size_t device_count, device_capacity;
	struct dw_entry_queue *queues;
	size_t queue_count, queue_capacity;
	struct dw_entry_launch *launches;
	size_t launch_count, launch_capacity;
	struct dw_entry_device_clock *clocks;
	size_t clock_count, clock_capacity;
};

/* Ids to places in an array. A random seed prevents a file from choosing ids that collide. */
struct dw_read_index {
	struct dw_read_item { uint32_t id, place; } *items; /* place: from 1; 0 means not set yet */
	size_t count, capacity;
	struct dw_map by_id;
	uint64_t seed;
};

struct dw_read_file {
	const char *path;
	int descriptor;
	const char *data;
	size_t data_bytes;         /* of `data` */
	size_t size_bytes;         /* of the trace */
	const struct dw_head *head; /* a copy, made when the file was opened */
	uint64_t missing_bytes;    /* see struct dw_source_file */
	bool side;                 /* found by gather.c, not named by the caller */
	uint32_t wanted_profile;   /* the only PROFILE that is asked for, with what it may overlap; 0: all are */
	bool torn;                 /* the file ends within a chunk */
	bool foreign;              /* written by another profiler and translated */
	bool unbacked;             /* `data` is no file's */
	const char *entry;         /* of the journal, which is read now, in `data`; NULL: it is not there */
	struct dw_pack_trace pack; /* of a stored trace, of which `data` has the first block only */
	unsigned scans_left;       /* for dw_process_lives() */
	size_t damaged;            /* blocks and entries that are invalid */
	const char *note;          /* what a translation left out, or NULL */

	struct dw_read_chunk *chunks;
	size_t chunk_count, chunk_capacity;
	struct dw_read_process *processes;
	size_t process_count, process_capacity;
	struct dw_read_thread *threads;
	size_t thread_count, thread_capacity;
	struct dw_read_step *steps;
	size_t step_count, step_capacity;
	struct dw_read_summary *summaries;
	size_t summary_count, summary_capacity;
	struct dw_read_usage *usages;
	size_t usage_count, usage_capacity;
	struct dw_read_machine *machines;
	size_t machine_count, machine_capacity;
	struct dw_entry_place *places;
	size_t place_count, place_capacity;
	struct dw_entry_withdrawal *withdrawals;
	size_t withdrawal_count, withdrawal_capacity;
	struct dw_read_profile *profiles;
	size_t profile_count, profile_capacity;
	struct dw_read_meta *metas;
	size_t meta_count, meta_capacity;
	struct dw_read_op *ops;
	size_t op_count, op_capacity;
	struct dw_read_frame *frames;
	size_t frame_count, frame_capacity;
	struct dw_read_module *modules;
	size_t module_count, module_capacity;
	struct dw_read_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct dw_source_stack *stacks; /* by id; NULL: none */
	struct dw_read_device_parts device_parts;
	/* the earliest and the latest pairing, and the error of the least exact one */
	struct dw_read_clock first_clock, last_clock;
	struct dw_read_clock *clocks; /* all */
	size_t clock_count, clock_capacity;

	const char **strings;      /* by id */
	const struct dw_entry_shapes **shapes; /* by id */
	uint32_t id_count;         /* of both; ids from here on are unknown */
	uint32_t *thread_by_id;    /* index into threads, or DW_NO_INDEX */
	struct dw_read_index process_places; /* in processes, by id */

	double ns_per_tick;
	/* If one rate is not enough: from clock.c, with ns counted from head.start_ticks. */
	struct dw_source_clock_piece *pieces;
	size_t piece_count;
	uint32_t clock_jumps;
	uint64_t clock_jump_ns;    /* the largest */
	double start_ns;           /* of head.start_ticks on the common line, may be negative */
	uint64_t error_ns;
};

/* A source that is being made. `source` comes first, because callers have a pointer to it. */
struct dw_reader {
	struct dw_source source;
	struct dw_arena arena;
	struct dw_read_file *files;
	size_t file_count, file_capacity, repair_capacity;
};

static inline void *dw_read_take(struct dw_reader *reader, size_t count, size_t item_bytes)
{
	return dw_arena_alloc(&reader->arena, (count + 1) * item_bytes);
}

/* The sum of a count over all files; `member` is its offset in struct dw_read_file. */
static inline size_t dw_read_sum(const struct dw_reader *reader, size_t member)
{
	size_t sum = 0;

	for (size_t f = 0; f < reader->file_count; f++)
		sum += *(const size_t *)(const void *)((const char *)&reader->files[f] + member);
	return sum;
}

/* Memory for what all files have of a kind, for the source's list of it. NULL: out of memory. */
#define DW_READ_TAKE_ALL(reader, list, counted)                                                      \
	((reader)->source.list =                                                                         \
	     dw_read_take(reader, dw_read_sum(reader, offsetof(struct dw_read_file, counted)),           \
	                  sizeof *(reader)->source.list))

/* The index of a thread with this id; DW_NO_INDEX: its thread is not known. */
static inline uint32_t dw_read_thread_of(const struct dw_read_file *file, uint32_t id)
{
	return id < file->id_count ? file->thread_by_id[id] : DW_NO_INDEX;
}

/* Rounds a value and limits it to the range of ns and ticks. */
static inline uint64_t dw_read_u64(double value)
{
	return value <= 0 ? 0 : value < 9e18 ? (uint64_t)(value + 0.5) : (uint64_t)9e18;
}

/* withdraw.c: leaves out tentative steps that were none, and names their phases as they are known
 * since. -1 if out of memory. */
int dw_read_withdraw(struct dw_read_file *file);
/* iterations.c: makes iterations of the steps that a probe found. -1 if out of memory. */
int dw_read_decide_iterations(struct dw_read_file *file);

/* source_files.c, processes.c, stacks.c, chunks.c, devices.c, steps.c, places.c: called in this order; -1 if out of memory. */
int dw_read_fill_files(struct dw_reader *reader);
int dw_read_fill_processes(struct dw_reader *reader);
int dw_read_fill_stacks(struct dw_reader *reader);
int dw_read_fill_streams(struct dw_reader *reader);
int dw_read_fill_devices(struct dw_reader *reader);
int dw_read_fill_steps(struct dw_reader *reader);
int dw_read_fill_places(struct dw_reader *reader);
/* The index of the process `id` of a file; a process without an entry is added. */
int dw_read_process_index(struct dw_reader *reader, struct dw_read_file *file, uint32_t id, uint32_t *index);

/* file.c: maps `path`. Always call dw_read_file_close() afterwards. */
int dw_read_file_open(struct dw_read_file *file, struct dw_arena *arena, const char *path, struct dwell_error *error);
void dw_read_file_close(struct dw_read_file *file);
/* Unmaps the pages that were read; the next access maps them again. */
void dw_read_file_release(const struct dw_read_file *file);

/* chunks.c: fills `chunks`, sorted by type, process, stream, number. */
int dw_read_chunks(struct dw_read_file *file, struct dwell_error *error);

/* times.c: of the chunks that have STEP and PROFILE entries alone, leaves out those whose entries all ended before the wanted
 * profile began, or began after it ended. */
void dw_read_choose_times(struct dw_read_file *file);

/* journal.c: reads the contents of all entries. */
int dw_read_journals(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error);
/* devices.c: keeps an entry of a device's type. -1 if out of memory. */
int dw_read_device_entry(struct dw_read_file *file, const struct dw_entry *entry);
void dw_read_device_parts_reset(struct dw_read_device_parts *parts);
/* NULL if the id is not that of a STRING. */
static inline const char *dw_read_string(const struct dw_read_file *file, uint32_t id)
{
	return id < file->id_count ? file->strings[id] : NULL;
}

/* index.c. The id's place, which is 0 if the id is new; NULL if out of memory. */
uint32_t *dw_read_index_at(struct dw_read_index *index, uint32_t id);
/* The place or 0. */
uint32_t dw_read_index_find(const struct dw_read_index *index, uint32_t id);
void dw_read_index_reset(struct dw_read_index *index);

/* label.c: NULL if out of memory. */
const char *dw_read_label(struct dw_arena *arena, const struct dw_source_process *process);

/* clock.c: rates and starts of all files, and the wall clock at ns 0; -1: out of memory. */
int dw_read_clocks(struct dw_read_file *files, size_t count, uint64_t *realtime_ns);

/* gather.c: the paths of files of the same run in the folder of `file`, in the arena; and whether
 * one of the file's processes is alive on this machine. */
int dw_read_gather(const struct dw_read_file *file, struct dw_arena *arena, const char ***paths,
                   size_t *count, struct dwell_error *error);
enum dw_alive dw_read_process_alive(struct dw_read_file *file, const struct dw_read_process *process);
