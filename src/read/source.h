/*
 * A source: one run, ready to be analysed, whatever it came from.
 *
 * A source offers three things: the dictionary (arrays by id), the streams (each
 * a list of chunks of native records in order) and what it had to repair. A
 * trace file, a live one, a torn one and several files of one run all come to
 * this. A foreign format enters here too: its importer writes chunks and entries
 * as format/encode.h makes them into memory and fills the same structure;
 * nothing above this room knows the difference.
 *
 * Chunk data is mapped, not copied; the dictionary lives in the source's arena.
 * Everything is const after dw_source_open() and may be read by any thread.
 * Nothing in a file can make a reader crash or hang: sizes, ids and offsets are
 * checked here once, records when they are decoded.
 */
#ifndef DW_READ_SOURCE_H
#define DW_READ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwell/dwell.h"
#include "format/layout.h"

#define DW_NO_INDEX UINT32_MAX

/* A name as records carry it, resolved. Ids of different files are different
 * symbols; the model merges them by content. */
struct dw_symbol {
	const char *name;   /* never NULL */
	const char *detail; /* or NULL */
	const char *file;   /* or NULL */
	uint32_t line;
	uint32_t category;  /* enum dwell_category; unknown ones as found */
	const struct dw_entry_shapes *shapes; /* or NULL; checked against its size */
};

struct dw_source_process {
	uint32_t file;        /* index of its file */
	uint32_t id;          /* PROCESS id in its file */
	uint32_t parent;      /* index, or DW_NO_INDEX */
	uint32_t pid, ppid;
	int32_t rank, local_rank, world_size;
	uint32_t flags;       /* DW_PROCESS_* */
	const char *name, *command, *job; /* never NULL; "" when not known */
	const char *label;    /* what people call it: train.py, resnet18 */
	uint64_t start_ns;
	uint64_t end_ns;      /* of the last thing it wrote; while it lives, the trace's end */
	bool alive;           /* on this machine, now */
	bool may_write;       /* alive, or it cannot be known from this pid namespace */
};

struct dw_source_thread {
	uint32_t process;     /* index */
	uint32_t id;          /* THREAD id in its file */
	uint32_t tid;
	uint32_t stream;      /* number of the stream it was given first */
	const char *name;     /* the last one it had; never NULL */
	uint64_t start_ns;
	uint64_t lost[DW_LOSS_SLOTS];
};

struct dw_source_step {
	uint32_t thread;      /* index */
	bool recorded;        /* its gate was open */
	bool open;            /* never ended: end_ns is the trace's end */
	uint64_t number;
	uint64_t start_ns, end_ns;
	uint64_t start_ticks, end_ticks; /* the same by its file's clock, exactly */
	uint64_t cpu_ns;
};

/*
 * Consecutive steps of one thread of which only sums are in the file, because its part for
 * single steps was full: the first is number `first_number`. A thread has one summary after
 * the other, and no single step after the first of them but perhaps an open one.
 */
struct dw_source_step_summary {
	uint32_t thread;       /* index */
	uint64_t first_number;
	uint64_t count;        /* steps, at least 1 */
	uint64_t recorded;     /* of these, steps during which the gate was open */
	uint64_t start_ns, end_ns;       /* begin of the first, end of the last */
	uint64_t start_ticks, end_ticks; /* the same by its file's clock, exactly */
	uint64_t step_ns;      /* sum of the steps' durations */
	uint64_t cpu_ns;       /* sum of their CPU times, where they were read */
	uint64_t cpu_count;    /* steps whose CPU time was read */
	uint64_t shortest_ns, longest_ns;
	double ns_per_tick;    /* of its file, for the bounds of the buckets */
	const uint32_t *durations; /* DW_STEPS_BUCKETS counts of steps, by duration in ticks: bucket i
	                              begins at 2^(8 + i/4) ticks (format/steps.h) */
};

/* A stretch that somebody wants a result of: a cycle of a profile object. */
struct dw_source_profile {
	uint32_t file;        /* index */
	uint32_t id;          /* in that file */
	uint32_t thread;      /* index; whose profile it is */
	const char *name;
	uint32_t mask;        /* what it asked for */
	bool open;            /* it never ended: end_ns is its process's end */
	uint64_t cycle;
	uint64_t start_ns, end_ns;
	uint64_t start_ticks, end_ticks; /* the same by its file's clock, exactly */
};

/* One place in a program. */
struct dw_source_function {
	const char *name; /* demangled; never NULL: "libx.so+0x12f0" where it has no symbol */
	const char *file; /* or NULL */
	uint32_t line;    /* or 0 */
};

/* A frame with what was inlined there: `count` functions, at least 1, innermost first. */
struct dw_source_frame {
	const struct dw_source_function *functions;
	uint32_t count;
	const char *module; /* path, or NULL: code that lies in no file */
	uint64_t offset;    /* into the module */
	bool found;         /* the name is not in the trace: it comes from the module on this machine */
};

/* Frame ids, innermost first; they may name frames that the file does not hold. */
struct dw_source_stack {
	const uint32_t *frames;
	uint32_t count;
};

struct dw_source_meta {
	uint32_t process;     /* index */
	const char *key, *value;
	bool json;
};

/* Records of one writer in one go: `words` up to `word_count`, or to the first
 * zero word, whichever comes first. */
struct dw_source_chunk {
	const uint32_t *words;
	uint32_t word_count;
	uint32_t thread;      /* index of the thread at the start; made up when its entry is lost */
	uint64_t base_ticks;
	uint64_t end_ticks;   /* of the last record */
	uint64_t number;      /* chunks of a stream are consecutive unless some were recycled */
	bool gap_before;      /* chunks before this one were recycled */
	const struct dw_chunk *header; /* of a live file: see dw_source_borrow(); else NULL */
};

struct dw_source_stream {
	uint32_t file;        /* index */
	uint32_t process;     /* index */
	uint32_t stream;      /* as in the chunks */
	bool nested;          /* written by signal handlers */
	struct dw_source_chunk *chunks;
	size_t chunk_count;
};

/* From `ticks` to the next piece's. */
struct dw_source_clock_piece {
	uint64_t ticks;
	double ns;            /* on the run's common time line */
	double ns_per_tick;
};

/* Ticks to ns since the run's start. One a file: hosts have clocks of their own. */
struct dw_source_clock {
	uint64_t start_ticks;
	uint64_t start_ns;    /* where start_ticks lies on the run's common time line */
	double ns_per_tick;
	uint64_t error_ns;    /* how far this file's times may be off against the others' */
	/* Where ticks and the monotonic clock went apart, because the machine slept or a virtual
	 * machine was paused: in order of ticks. Spans have ns_per_tick also there. */
	const struct dw_source_clock_piece *pieces;
	size_t piece_count;   /* 0: one rate holds for the whole file */
};

struct dw_source_file {
	const char *path;
	uint64_t size_bytes;
	const struct dw_head *head;
	struct dw_source_clock clock;
	const struct dw_symbol *symbols; /* by id; ids nobody wrote are "(unknown)" */
	uint32_t symbol_count;           /* length of the arrays by id */
	const char *const *strings;      /* by id, NULL where the id is none */
	const struct dw_source_stack *stacks; /* by id, count 0 where the id is none; NULL: no stacks */
	const struct dw_source_frame *const *frames; /* by id, NULL where the id is none; NULL: none */
	const uint32_t *thread_by_id;    /* by id: index of the thread, or DW_NO_INDEX */
	uint32_t clock_jumps;            /* times that its clock jumped: see struct dw_source_clock */
	uint64_t clock_jump_ns;          /* by how much at most */
	bool foreign;                    /* another profiler wrote it: an XSpace */
	bool torn;                       /* it ends before a chunk does */
	/* A copy that was cut short lacks so many bytes of what was recorded; 0: it is whole,
	 * or nothing shows that it is not. */
	uint64_t missing_bytes;
	bool waits;                      /* recording waits for steps: --steps or a schedule */
	bool named_ends;                 /* some ends name their range */
	const char *layers;              /* of layers only these are recorded, as it stands; NULL: all */
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
	struct dw_source_step *steps;  /* by process, then start */
	size_t step_count;
	struct dw_source_step_summary *step_summaries; /* by process, then start */
	size_t step_summary_count;
	struct dw_source_profile *profiles; /* in the order of the files' journals */
	size_t profile_count;
	struct dw_source_meta *metas;
	size_t meta_count;
	uint64_t lost[DW_LOSS_SLOTS];  /* all files and threads */
	uint64_t end_ns;               /* of the last thing that any file knows of */
	uint64_t realtime_start_ns;    /* wall clock of ns 0 */
	const char **repairs;          /* sentences: what was torn and what was recovered */
	size_t repair_count;
	bool live;                     /* some writer still runs */
	void *private_data;
};

/*
 * Opens the traces at `paths` as one run each sharing one time line. Beside each
 * it gathers the files that processes of the same run wrote elsewhere
 * (NAME.HOST.PID.RANDOM.dwell with the same run id).
 */
int dw_source_open(struct dw_source **source, const char *const *paths, size_t count,
                   struct dwell_error *error);
void dw_source_close(struct dw_source *source);

/* ns on the run's time line; clamped at 0. */
uint64_t dw_source_ns(const struct dw_source_clock *clock, uint64_t ticks);
/* The length of a span of ticks. */
uint64_t dw_source_span_ns(const struct dw_source_clock *clock, uint64_t ticks);
/* The tick at or after `ns` on the run's time line. */
uint64_t dw_source_ticks(const struct dw_source_clock *clock, uint64_t ns);

/*
 * The chunk's words, to be read now. A chunk of a live file may be recycled at
 * any moment: it is copied into `buffer` (DW_BLOCK_BYTES) and NULL says that it
 * was recycled meanwhile. Of any other it is the map itself.
 */
const uint32_t *dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer);

#endif
