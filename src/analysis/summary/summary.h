/*
 * Summaries: what the steps of each rank took, in a file of bounded size.
 *
 * A trace of a rank may have gigabytes. Its summary has at most 256 KB, for a run of any length:
 * steps are summed in at most DW_SUMMARY_SPANS spans of equal numbers of steps, durations are
 * counted in fixed logarithmic buckets, and of operators and layers the largest ones are kept. Summaries
 * of ranks are merged into one. All sums are integers, ranks and names are sorted, and how coarse a
 * summary is depends on nothing but the number of its ranks. So merging in any order gives the same
 * bytes.
 *
 *     traces -> dw_summary_add_model() -> dw_summary_finish() -> dw_summary_encode() -> file
 *     files -> dw_summary_decode() -> dw_summary_add() -> dw_summary_finish() -> src/analysis/ranks
 *
 * doc/reference/summary.md specifies the file. A summary belongs to one thread; its texts and arrays are in
 * its arena.
 */
#pragma once

#include "base/arena.h"
#include "base/proto.h"
#include "facts/parts.h"
#include "read/unrecorded.h"

#define DW_SUMMARY_VERSION 4u
#define DW_SUMMARY_SPANS 1024u             /* most spans of a rank, if the summary has few ranks */
#define DW_SUMMARY_ALONE 16u               /* most steps of a rank that are kept alone: the longest ones */
#define DW_SUMMARY_NAMES 256u              /* most names of a rank, if the summary has few ranks */
#define DW_SUMMARY_LAYERS 64u              /* most layers of a rank, if the summary has few ranks */
#define DW_SUMMARY_COLLECTIVES 32u         /* most rows of collectives of a rank */
#define DW_SUMMARY_ARRIVALS 2048u          /* most arrivals of a rank, if the summary has few ranks */
#define DW_SUMMARY_RANKS ((size_t)1 << 20) /* most ranks of a file */
#define DW_SUMMARY_PLACES 4u               /* most places of a rank: the largest ones */
#define DW_SUMMARY_FUNCTIONS 8u            /* most functions of a rank, and most that wait: the largest ones */
#define DW_SUMMARY_OPEN 8u                 /* most open ranges of a rank: the outermost ones */
#define DW_SUMMARY_SIGNAL 256u
#define DW_SUMMARY_BUCKETS 200u /* bucket i counts durations from 2^(8 + i/4) ns */

/* Steps of about the same length. */
struct dw_summary_bucket {
	uint32_t bucket;
	uint64_t steps;
};

/* Steps with numbers from index << span_log2 to before (index + 1) << span_log2. */
struct dw_summary_span {
	uint64_t index;
	uint64_t steps; /* counted steps of these numbers, at least 1 */
	uint64_t ns;    /* sum of their lengths */
	uint64_t longest_ns;
	uint64_t longest;                /* number of the longest step */
	uint64_t part_ns[DW_PART_COUNT]; /* sum to ns */
	uint64_t between_ns;             /* from the end of the step before each of them, without communication; not in
	                                  * ns */
};

/* An operator or a named range of usual steps; or a layer, whose name is its path. */
struct dw_summary_name {
	const char *name;
	bool communication; /* a collective, or another range of communication */
	uint64_t calls;
	uint64_t self_ns; /* of a layer: without the layers in it, but with its operators of the
	                   * backward pass */
};

/* A range that had not ended when the recording ended. */
struct dw_summary_open {
	const char *name;
	bool communication;
	uint64_t ns; /* from its begin to the end of the recording */
	enum dw_summary_pause {
		DW_PAUSE_NONE,
		DW_PAUSE_EVALUATION,
		DW_PAUSE_CHECKPOINT
	} pause; /* long work that is no step */
};

/* When a rank entered and left a collective. */
struct dw_summary_arrival {
	uint64_t sequence;   /* number in the group */
	uint64_t enter_ns;   /* since 1970 by the clock of the rank's machine */
	uint64_t flight_ns;  /* until it left */
	uint64_t blocked_ns; /* of that: inside calls, at the end of the flight */
};

/* The collectives of a group of ranks with one operation; or point-to-point communication, whose
 * sequence numbers are 0. Sums are of the loop. */
struct dw_summary_collective {
	const char *group, *operation;
	uint64_t count, bytes, flight_ns, blocked_ns;
	uint64_t last_sequence; /* of the whole recording */
	bool open;              /* the last one had not ended */
	/* By sequence: those of the loop whose sequence is a multiple of 1 << arrival_log2. */
	struct dw_summary_arrival *arrivals;
	size_t arrival_count;
};

struct dw_summary_rank {
	const char *job; /* identifier of the job, from the launcher; "" if it is not known */
	const char *host, *command;
	int32_t rank, local_rank, world_size; /* -1: not known */
	uint32_t pid;
	uint64_t round_collectives; /* where no step is marked, its steps are rounds of so many collectives; 0: they are marked */
	uint64_t start_ns;    /* when the process began, in ns since 1970 */
	uint64_t wall_ns;     /* of the loop, from the begin of its first step */
	uint64_t loop_end_ns; /* end of its last step, in ns since 1970; 0: not known */
	uint64_t steps;       /* counted steps: recorded, complete and ended; without the warm-up */
	uint64_t ns;          /* sum of their lengths */
	uint64_t warm_up_steps, warm_up_ns;
	uint64_t missing_steps;              /* steps of the loop that are not counted */
	uint64_t last_step;                  /* number of the last step that began */
	bool last_open;                      /* it did not end */
	struct dw_summary_bucket *durations; /* counted steps by length, ascending */
	size_t duration_count;
	unsigned span_log2;
	struct dw_summary_span *spans; /* by index */
	size_t span_count;
	struct dw_summary_span *alone; /* the longest steps without operators, which are in no span; by number, which is the index */
	size_t alone_count;            /* at most DW_SUMMARY_ALONE */
	uint64_t named_steps;          /* usual steps of which the names below are sums */
	struct dw_summary_name *names; /* by self_ns, descending, then by name */
	size_t name_count;
	uint64_t other_ns;              /* self time of the names that were left out */
	uint64_t layer_steps;           /* counted steps of which the layers below are sums */
	struct dw_summary_name *layers; /* in the order of names */
	size_t layer_count;
	uint64_t other_layers_ns;
	/* Pairs of lines, with the time between the operators that they call, of the whole run: of times of a
	 * millisecond or more (PLACE in doc/reference/format.md). By time, descending. */
	struct dw_summary_name *places;
	size_t place_count;
	/* By samples: functions of the program, with the CPU time that its steps spend there in no range, and how long they wait there.
	 * By time, descending. */
	uint64_t function_steps; /* steps of which they are sums; 0: there are no samples, or their functions have no names */
	struct dw_summary_name *functions, *waits;
	size_t function_count, wait_count;
	uint64_t lost[DW_LOSS_SLOTS]; /* records of its process, by enum dw_loss */
	uint64_t memory_peak_bytes;   /* of all devices together at most; 0: not recorded */
	/* Of the whole recording, 0: not recorded. Inputs are what data loading left allocated. */
	uint64_t allocated_bytes, input_bytes;
	/* When the summary was made of a process that lived: its memory on the host, and what it could still get there. 0:
	 * not known. */
	uint64_t resident_bytes, left_bytes;
	uint64_t cpu_ns; /* the CPU time of that process until then, and for how long its main thread waited for a CPU; 0:
	                    not known */
	/* The exit status of the process that dwell run started, or DW_SUMMARY_SIGNAL plus the signal that ended it. 0: it
	 * did not fail, or is not known. */
	uint32_t failed;
	/* Whether it is known that it did not fail: it ended with status 0, or the launcher that dwell run started did. A launcher
	 * that failed does not say which of its processes did. */
	enum dw_summary_well { DW_WELL_UNKNOWN, DW_WELL_ITSELF, DW_WELL_LAUNCHER, DW_WELL_LAUNCHER_FAILED } well;
	struct dw_summary_collective *collectives; /* by group, then operation */
	size_t collective_count;                   /* at most DW_SUMMARY_COLLECTIVES */
	unsigned arrival_log2;
	uint64_t in_flight_ns;            /* of the loop: time in which a collective was under way */
	struct dw_unrecorded *unrecorded; /* libraries that the process used and the trace does not have */
	size_t unrecorded_count;          /* at most DW_UNRECORDED_MOST */
	/* Where the thread of its steps was at the end of the recording. Known only if a step of the
	 * run did not end: the job was killed, or hangs. */
	bool where_known;
	uint64_t end_ns;              /* of the recording, in ns since 1970 */
	bool followed;                /* dwell run recorded that the machine ran, until then */
	uint64_t communications;      /* ranges of communication that the thread began */
	uint64_t silent_ns;           /* from its last record to the end of the recording */
	struct dw_summary_open *open; /* outermost first */
	size_t open_count;            /* at most DW_SUMMARY_OPEN */
};

struct dw_summary {
	struct dw_arena arena;
	struct dw_summary_rank *ranks; /* sorted after dw_summary_finish() */
	size_t count, capacity;
	/* Or NULL: an earlier summary of the same trace. dw_summary_add_model() then counts only steps that began after
	 * those of it. Must live as long as models are added. */
	const struct dw_summary *before;
	size_t expected; /* ranks that the summary which it becomes part of has at least */
	bool failed;     /* memory ran out */
};

/* Frees what it holds. A zeroed structure is an empty summary. */
void dw_summary_reset(struct dw_summary *summary);
/* Adds each process of a run that has steps. False with `error` if memory ran out. */
bool dw_summary_add_model(struct dw_summary *summary, struct dw_model *model, struct dwell_error *error);
/* A copy of a text, of at most `length` bytes, in which what is not UTF-8 is replaced: the same text as in a
 * file. "" if memory ran out. */
const char *dw_summary_text(struct dw_summary *summary, const char *text, size_t length);
/* By step of a divided loop of a process, adds the time since the step before, without communication. The
 * times are 0 before. For dw_summary_add_model(). */
bool dw_summary_find_between(struct dw_model *model, uint32_t process, const struct dw_divided_loop *divided,
                             const struct dw_step *all, uint64_t *between_ns, struct dwell_error *error);
/* Finds where the threads were at the end of the recording. `ranks`: the rank of each thread of the
 * source, or DW_NO_INDEX. For dw_summary_add_model(). */
bool dw_summary_add_where(struct dw_summary *summary, struct dw_model *model, const uint32_t *ranks,
                          struct dwell_error *error);
/* Adds the collectives of a process, `loop` of it. For dw_summary_add_model(). */
bool dw_summary_add_collectives(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_model *model,
                                uint32_t process, const struct dw_loop *loop, struct dwell_error *error);
/* Whether a group is a pair of a rank that sends messages and one that receives them. Sets their numbers, where the pointers are
 * not NULL. */
bool dw_summary_is_pair(const char *group, int *from, int *to);
/* Adds the layers of a process, from at most 128 of its counted steps. For dw_summary_add_model(). */
bool dw_summary_add_layers(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_model *model,
                           const struct dw_divided_loop *divided, struct dwell_error *error);
/* Adds the functions of a process, by samples. For dw_summary_add_model(). */
bool dw_summary_add_functions(struct dw_summary *summary, struct dw_summary_rank *rank, struct dw_model *model,
                              const struct dw_loop *loop, struct dwell_error *error);
/* Keeps every other arrival, as often as necessary, so that there are at most `most`. */
void dw_summary_thin_arrivals(struct dw_summary_rank *rank, size_t most);
/* Keeps the arrivals whose sequence is a multiple of 1 << arrival_log2. */
void dw_summary_thin_arrivals_to(struct dw_summary_rank *rank, unsigned arrival_log2);
/* Adds an earlier summary to one that has only later steps (`before`). Changes both; `before` must live until
 * the summary is reset. False with `error` if memory ran out. dw_summary_finish() must follow. */
bool dw_summary_continue(struct dw_summary *summary, struct dw_summary *before, struct dwell_error *error);
/* The rank of the same process in another summary, which may be NULL; or NULL. */
const struct dw_summary_rank *dw_summary_before(const struct dw_summary *before, const struct dw_summary_rank *rank);
bool dw_summary_same_rank(const struct dw_summary_rank *a, const struct dw_summary_rank *b);
/* The number of the first step that a later summary has to count. */
uint64_t dw_summary_next_step(const struct dw_summary_rank *rank);
/* Adds the ranks of another summary, which may be reset afterwards. */
void dw_summary_add(struct dw_summary *summary, const struct dw_summary *other);
/* Sorts the ranks, drops ranks that occur twice, and makes them as coarse as their number, or `expected`, requires.
 * False with `error` if memory ran out. */
bool dw_summary_finish(struct dw_summary *summary, struct dwell_error *error);
/* The most spans of each rank in a summary of so many ranks. */
size_t dw_summary_share_spans(size_t ranks);
/* How a process ended (`failed` of a rank), as the end of a sentence; or "". */
struct dw_summary_failure {
	char at[80];
};
struct dw_summary_failure dw_summary_failure(uint32_t failed);

/*
 * Of ranks that failed, which kind failed first: 0 a signal, 1 an exit status, 2 SIGTERM. A launcher ends the other ranks by
 * SIGTERM, and ranks that lose their connection to one that failed end with an exit status.
 */
unsigned dw_summary_failure_order(uint32_t failed);
/* The steps of its loop, counted or not. */
uint64_t dw_summary_steps(const struct dw_summary_rank *rank);
/* Leaves the longest steps of those that are kept alone. */
void dw_summary_thin_alone(struct dw_summary_rank *rank);
void dw_summary_merge_span(struct dw_summary_span *into, const struct dw_summary_span *from);
/* Sums spans so that each has 1 << span_log2 steps, at least as many as before. */
void dw_summary_coarsen(struct dw_summary_rank *rank, unsigned span_log2);

/* Whether a file with these first bytes is a summary. */
bool dw_summary_is(const void *bytes, size_t length);
/* Appends the file's bytes. proto->failed is set if memory ran out. */
void dw_summary_encode(const struct dw_summary *summary, struct dw_proto *proto);
/* Adds the ranks of a file to a summary. DWELL_E_FORMAT: it is damaged or of a newer version; then
 * no rank is added, and the message names `path` and the place. */
int dw_summary_decode(struct dw_summary *summary, const char *path, const void *bytes, size_t length,
                      struct dwell_error *error);
