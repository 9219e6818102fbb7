/*
 * The parts of opening a source, for the files of this room only.
 *
 *   file     one trace file: mapped, recognised, refused with a reason
 *   xspace   a file of XLA's profiler, translated into a trace in memory (xspace.h)
 *   chunks   its blocks: chunk headers checked, put in order
 *   journal  its entries: the dictionary, processes, threads, steps, clocks
 *   clock    its ticks on the run's common time line
 *   gather   files of the same run that lie beside it; whether a writer lives
 *   source   all of it together as struct dw_source, by way of
 *   people   files, names, processes, threads
 *   stacks   frames with their functions
 *   streams  chunks in order
 *   steps    steps, facts, ends
 *
 * What is found is kept in the file's own terms (ids, ticks) here and becomes
 * indices and ns in source.c, when all files are known.
 */
#ifndef DW_READ_READ_H
#define DW_READ_READ_H

#include "base/arena.h"
#include "read/source.h"

/* A chunk header that was checked, and its place. */
struct dw_read_chunk {
	const struct dw_chunk *header; /* in the map */
	uint64_t number;
	uint64_t base_ticks, end_ticks;
	uint32_t type, process, stream, thread;
	uint32_t block;
	uint32_t data_bytes;  /* of the chunk that are there, header included */
	bool open;            /* no end was written, or the file ends before it */
};

struct dw_read_process {
	uint32_t id, parent;  /* PROCESS ids */
	uint32_t pid, ppid;
	int32_t rank, local_rank, world_size;
	uint32_t flags, name, command, job;
	uint64_t start_ticks;
	uint32_t index;       /* in the source */
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

struct dw_read_file {
	const char *path;
	int descriptor;
	const char *data;
	size_t size_bytes;
	const struct dw_head *head;
	bool side;                 /* gathered, not named */
	bool torn;                 /* ends before a chunk does */
	bool foreign;              /* another profiler's, translated */
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
	struct dw_read_profile *profiles;
	size_t profile_count, profile_capacity;
	struct dw_read_meta *metas;
	size_t meta_count, meta_capacity;
	struct dw_read_op *ops;
	size_t op_count, op_capacity;
	const struct dw_entry_frame **frame_entries; /* in the map, as are the next */
	size_t frame_count, frame_capacity;
	const struct dw_entry_module **modules;
	size_t module_count, module_capacity;
	struct dw_read_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct dw_source_stack *stacks; /* by id; NULL: there are none */
	/* the earliest and latest pairing, and the least exact one's error */
	struct dw_read_clock first_clock, last_clock;

	const char **strings;      /* by id */
	const struct dw_entry_shapes **shapes; /* by id */
	uint32_t id_count;         /* of both; ids from here on are unknown */
	uint32_t *thread_by_id;    /* index into threads, or DW_NO_INDEX */

	double ns_per_tick;
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
/* gunzip.c: `out` is the caller's to free(). */
int dw_read_gunzip(const char *path, const void *bytes, size_t size, unsigned char **out,
                   size_t *out_size, struct dwell_error *error);

/* chunks.c: fills `chunks`, sorted by type, process, stream, number. */
int dw_read_chunks(struct dw_read_file *file, struct dwell_error *error);

/* journal.c: fills what entries say. */
int dw_read_journals(struct dw_read_file *file, struct dw_arena *arena, struct dwell_error *error);
/* NULL for ids that are no STRING. */
const char *dw_read_string(const struct dw_read_file *file, uint32_t id);

/* label.c: NULL without memory. */
const char *dw_read_label(struct dw_arena *arena, const struct dw_source_process *process);

/* clock.c: rates and places of all files. Returns the wall clock of ns 0. */
uint64_t dw_read_clocks(struct dw_read_file *files, size_t count);

/* gather.c: paths of files of the same run beside `file`; the list is the
 * arena's. And whether one of the file's processes is alive on this machine. */
int dw_read_gather(const struct dw_read_file *file, struct dw_arena *arena, const char ***paths,
                   size_t *count, struct dwell_error *error);
bool dw_read_process_alive(const struct dw_read_file *file, const struct dw_read_process *process);

#endif
