/*
 * The parts of opening a source, for the files of this room only.
 *
 *   file     one trace file: mapped, recognised, refused with a reason
 *   xspace   a file of XLA's profiler, translated into a trace in memory (xspace.h)
 *   chunks   its blocks: chunk headers checked, put in order
 *   journal  its entries: the dictionary, processes, threads, steps, clocks
 *   clock    its ticks on the run's common time line
 *   index    ids looked up in a table
 *   gather   files of the same run that lie beside it; whether a writer lives
 *   source   all of it together as struct dw_source, by way of
 *   people   files, names, processes, threads
 *   stacks   frames with their functions
 *   streams  chunks in order
 *   steps    steps, facts, ends
 *
 * What is found is kept in the file's own terms (ids, ticks) here and becomes
 * indices and ns in source.c, when all files are known.
 *
 * Another process may write to a file while it is read. So whatever decides about
 * memory is copied out of the map first (dw_read_copy()), then checked, and only the
 * copy is used. Nothing points into the map but the records of chunks, and the decoder
 * loads each of their words once.
 *
 * A file may be made to hurt its reader. What is held is at most some times the file's
 * bytes, and no loop is longer than a constant times the bytes: ids are looked up in
 * tables, and a text that is repeated for each of many things is cut.
 */
#ifndef DW_READ_READ_H
#define DW_READ_READ_H

#include <string.h>

#include "base/arena.h"
#include "base/host.h"
#include "base/map.h"
#include "read/source.h"

/* A chunk header that was checked, and its place. */
struct dw_read_chunk {
	const struct dw_chunk *header; /* in the map */
	uint64_t number;
	uint64_t base_ticks, end_ticks;
	uint32_t type, process, stream, thread;
	uint32_t block;
	uint32_t data_bytes;  /* of the chunk that are there, header included */
	uint32_t next;        /* block of the stream's next chunk, or 0 */
	bool open;            /* no end was written, or the file ends before it */
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
	uint64_t start_ticks;
	uint64_t lost[DW_LOSS_SLOTS];
	const char *name;
	uint32_t index;
};

struct dw_read_step {
	uint32_t thread;      /* THREAD id */
	bool recorded;
	uint64_t number, start_ticks, end_ticks, cpu_ns;
};

/* Steps that were summarised, as they stand in the file. */
struct dw_read_summary {
	uint32_t thread;      /* THREAD id */
	uint64_t first_number, start_ticks, end_ticks, step_ticks, cpu_ns, cpu_count;
	uint64_t shortest_ticks, longest_ticks, recorded, count;
	uint32_t *durations;  /* DW_STEPS_BUCKETS, in the arena */
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
	uint32_t frame, nesting, function, file, line;
};

struct dw_read_frame {
	uint32_t id, module;      /* FRAME and MODULE ids */
	uint64_t offset;
	uint32_t function, file;  /* STRINGs */
	uint32_t line;
	uint32_t order;           /* in the file */
};

struct dw_read_module {
	uint32_t id, path;        /* MODULE id, STRING */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
};

/* Ids to places in an array. The seed keeps a file from choosing ids that collide. */
struct dw_read_index {
	struct dw_read_item { uint32_t id, place; } *items; /* place: from 1; 0: not set yet */
	size_t count, capacity;
	struct dw_map by_id;
	uint64_t seed;
};

struct dw_read_file {
	const char *path;
	int descriptor;
	const char *data;
	size_t size_bytes;
	const struct dw_head *head; /* a copy, made when the file was opened */
	uint64_t missing_bytes;    /* see struct dw_source_file */
	bool side;                 /* gathered, not named */
	bool torn;                 /* ends before a chunk does */
	bool foreign;              /* another profiler's, translated */
	unsigned scans_left;       /* for dw_process_lives() */
	size_t damaged;            /* blocks and entries that made no sense */
	const char *note;          /* what a translation could not keep, or NULL */

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
	struct dw_source_stack *stacks; /* by id; NULL: there are none */
	/* the earliest and latest pairing, and the least exact one's error */
	struct dw_read_clock first_clock, last_clock;
	struct dw_read_clock *clocks; /* all */
	size_t clock_count, clock_capacity;

	const char **strings;      /* by id */
	const struct dw_entry_shapes **shapes; /* by id */
	uint32_t id_count;         /* of both; ids from here on are unknown */
	uint32_t *thread_by_id;    /* index into threads, or DW_NO_INDEX */
	struct dw_read_index process_places; /* in processes, by id */

	double ns_per_tick;
	/* Where one rate will not do: from clock.c, ns counted from head.start_ticks. */
	struct dw_source_clock_piece *pieces;
	size_t piece_count;
	uint32_t clock_jumps;
	uint64_t clock_jump_ns;    /* the largest */
	double start_ns;           /* of head.start_ticks on the common line, may be negative */
	uint64_t error_ns;
};

/* A source being made. `source` first: it is what others hold. */
struct dw_reader {
	struct dw_source source;
	struct dw_arena arena;
	struct dw_read_file *files;
	size_t file_count, file_capacity;
	size_t repair_capacity;
};

static inline void *dw_read_take(struct dw_reader *reader, size_t count, size_t item_bytes)
{
	return dw_arena_alloc(&reader->arena, (count + 1) * item_bytes);
}

/* Copies what another process may change: the copy is made here and now, and nothing the
 * compiler knows about the original holds after it. */
static inline void dw_read_copy(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	__asm__ volatile("" : : : "memory");
}

/* Rounded and held within what ns and ticks may be. */
static inline uint64_t dw_read_u64(double value)
{
	return value <= 0 ? 0 : value < 9e18 ? (uint64_t)(value + 0.5) : (uint64_t)9e18;
}

/* people.c, stacks.c, streams.c, steps.c: in this order; -1 when out of memory. */
int dw_read_fill_people(struct dw_reader *reader);
int dw_read_fill_stacks(struct dw_reader *reader);
int dw_read_fill_streams(struct dw_reader *reader);
int dw_read_fill_steps(struct dw_reader *reader);
/* The index of the process `id` of a file, made up where its entry is lost. */
int dw_read_process_index(struct dw_reader *reader, struct dw_read_file *file, uint32_t id,
                          uint32_t *index);

/* file.c: maps `path`. Afterwards dw_read_file_close() always. */
int dw_read_file_open(struct dw_read_file *file, struct dw_arena *arena, const char *path,
                      struct dwell_error *error);
void dw_read_file_close(struct dw_read_file *file);

/* xspace.c: when the file is an XSpace, a trace of the same takes its place. */
int dw_read_xspace(struct dw_read_file *file, struct dw_arena *arena, bool *taken,
                   struct dwell_error *error);
/* gunzip.c: `out` is the caller's to free(). At most DW_GUNZIP_SPARE bytes and DW_GUNZIP_RATIO
 * times the size come out. */
#define DW_GUNZIP_SPARE ((size_t)32 << 20)
#define DW_GUNZIP_RATIO ((size_t)128)
int dw_read_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error);

/* chunks.c: fills `chunks`, sorted by type, process, stream, number. */
int dw_read_chunks(struct dw_read_file *file, struct dwell_error *error);

/* journal.c: fills what entries say. */
int dw_read_journals(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error);
/* NULL for ids that are no STRING. */
const char *dw_read_string(const struct dw_read_file *file, uint32_t id);

/* index.c: a multiplier that nobody knows before. */
uint64_t dw_read_seed(const void *address);
/* The id's place, 0 when it is new; NULL without memory. */
uint32_t *dw_read_index_at(struct dw_read_index *index, uint32_t id);
/* The place or 0. */
uint32_t dw_read_index_find(const struct dw_read_index *index, uint32_t id);
void dw_read_index_reset(struct dw_read_index *index);

/* label.c: NULL without memory. */
const char *dw_read_label(struct dw_arena *arena, const struct dw_source_process *process);

/* clock.c: rates and places of all files, and the wall clock of ns 0; -1: out of memory. */
int dw_read_clocks(struct dw_read_file *files, size_t count, uint64_t *realtime_ns);

/* gather.c: paths of files of the same run beside `file`; the list is the
 * arena's. And whether one of the file's processes is alive on this machine. */
int dw_read_gather(const struct dw_read_file *file, struct dw_arena *arena, const char ***paths,
                   size_t *count, struct dwell_error *error);
enum dw_alive dw_read_process_alive(struct dw_read_file *file, const struct dw_read_process *process);

#endif
