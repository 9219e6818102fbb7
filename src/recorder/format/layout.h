/*
 * The format of trace files: every structure, constant and limit.
 *
 * doc/reference/format.md is the specification. This header states the same in C; no other source file
 * repeats the numbers. The recorder writes these structures into a mapped file and the reader reads
 * them from one. Everything is little-endian. A field never gets another meaning: a new meaning
 * uses a reserved field or a new type, which older readers skip.
 *
 *   file    | block 0: head | block 1: chunk | block 2: chunk | ...   64 KiB each
 *   head    | identity | clock | allocation | losses |  4096: control page |
 *   chunk   | 64 byte header | records (a stream) or entries (a journal) | 0
 *
 * A window is a run of blocks that one process claimed by advancing head.next_block once. Only the
 * recorder knows windows; a reader sees blocks.
 */
#pragma once

#include <stdint.h>

#define DW_MAGIC "\x89" "DWELL\r\n"    /* 8 bytes; detects copies in text mode */
#define DW_PACK_MAGIC "\x89" "DWPAK\r\n" /* of a stored trace: format/pack.h */
#define DW_VERSION_MAJOR 1              /* readers reject a newer major version */
#define DW_VERSION_MINOR 0              /* readers accept a newer minor version */
#define DW_BYTE_ORDER 0x01020304u

#define DW_BLOCK_BYTES 65536u
#define DW_CHUNK_HEADER_BYTES 64u
#define DW_CHUNK_TAIL_BYTES 64u         /* space for the longest hot record and a zero word */
#define DW_WINDOW_BLOCKS 64u            /* 4 MiB */
#define DW_CONTROL_OFFSET 4096u
#define DW_GATES 2048u
#define DW_LAYERS_BYTES 2048u           /* the list of layers that are recorded, with its NUL */

/* ---- the head: block 0 ------------------------------------------------- */

enum dw_clock_kind {
	DW_CLOCK_MONOTONIC = 1, /* clock_gettime(CLOCK_MONOTONIC), 1 tick = 1 ns */
	DW_CLOCK_TSC = 2,       /* x86-64 time stamp counter */
	DW_CLOCK_CNTVCT = 3,    /* aarch64 virtual counter */
};

enum dw_keep { DW_KEEP_BOTH = 0, DW_KEEP_OLDEST = 1, DW_KEEP_NEWEST = 2 };

/* Why a record was lost. The order is on disk: append only. */
#define DW_LOSS_CAUSES(X)                                                              \
	X(FULL, "full", "the trace reached --max-size")                                    \
	X(DISK, "disk", "the disk was full")                                               \
	X(LIMIT, "limit", "RLIMIT_FSIZE was reached")                                      \
	X(DICTIONARY, "dictionary", "the part of the file that holds names and steps was full")                      \
	X(BUSY, "busy", "a signal handler interrupted the recorder twice")                 \
	X(MEMORY, "memory", "the kernel refused memory or a mapping")                      \
	X(THREADS, "threads", "more threads at once than the recorder has slots")          \
	X(RECYCLED, "recycled", "the middle was overwritten to stay within --max-size")    \
	X(STOPPED, "stopped", "the record came while the session was being stopped")           \
	X(FOREIGN, "foreign", "a process that shares another's memory (vfork) made the record")   \
	X(PROBE, "probe", "ranges were nested deeper than a probe follows, or their end was not seen") \
	X(DEVICE, "device", "a device's driver dropped records because its buffers were full, or gave no times or no threads") \
	X(NAMES, "names", "too many names were made at run time: these ranges are called (other names)")                       \
	X(SANDBOX, "sandbox", "the program had given up system calls (seccomp), without which there is no more space") \
	X(IMPORT, "import", "events of the imported file could not be read")

enum dw_loss {
#define X(name, label, text) DW_LOSS_##name,
	DW_LOSS_CAUSES(X)
#undef X
	DW_LOSS_COUNT
};
#define DW_LOSS_SLOTS 16u /* space on disk for more causes */

struct dw_head {
	/* identity, written once by the creator */
	char magic[8];
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t block_bytes;
	uint32_t byte_order;
	uint32_t flags;               /* atomic: DW_HEAD_* */
	uint8_t run_id[16];           /* the same in all files of one run */
	uint8_t boot_id[16];          /* of the creator's machine; zero when unknown */
	char hostname[64];            /* NUL-terminated */
	char writer[32];              /* "dwell 0.1.0" */
	/* clock, written once by the creator; CLOCK entries refine it */
	uint32_t clock_kind;          /* enum dw_clock_kind */
	uint32_t creator_pid;
	uint64_t ticks_per_second;    /* the creator's estimate */
	uint64_t start_ticks;
	uint64_t start_monotonic_ns;
	uint64_t start_realtime_ns;
	uint64_t time_namespace;      /* inode of the creator's time namespace; 0 means not known */
	/* with creator_pid the creator's identity, as in a PROCESS entry; 0 means not known */
	uint64_t creator_pid_namespace;
	uint64_t creator_birth;
	uint8_t reserved0[256 - 224];
	/* allocation, changed by every process of the run */
	__attribute__((__aligned__(64))) uint32_t next_block;  /* atomic: first unclaimed block */
	uint32_t max_blocks;               /* the budget, block 0 included */
	uint32_t reserve_blocks;           /* the budget's last part, for journals and first chunks */
	uint32_t keep_blocks;              /* stream chunks below this block are never recycled */
	uint32_t next_id;                  /* atomic: next dictionary id */
	uint32_t keep;                     /* enum dw_keep */
	uint32_t next_gate;                /* atomic: next gate that no process has taken */
	uint32_t end_blocks;               /* blocks of the finished file; 0 while it is recorded */
	uint32_t last_profile;             /* atomic: id of the last PROFILE entry; 0 in older files, where next_id counts these */
	uint32_t reserved1[7];
	/* records lost by threads that have no THREAD entry, by enum dw_loss; atomic */
	__attribute__((__aligned__(64))) uint64_t lost[DW_LOSS_SLOTS];
};

/* Some ends have the id of their range (END_OF with an id, EXT BY_NAME), so a reader must know
 * which ranges are open. Set before the first such record. */
#define DW_HEAD_NAMED_ENDS 1u
/* A file's owner removes its unused blocks once. FINISHING is set during that, and a process that
 * is about to join must not write. Afterwards FINISHED replaces it. */
#define DW_HEAD_FINISHING 2u
#define DW_HEAD_FINISHED 4u
/* Some ranges are collectives (EXT COLLECTIVE). Without it nobody needs to look for them. */
#define DW_HEAD_COLLECTIVES 8u
/* Threads with steps read the processor's counters, if the kernel permits it (--counters). */
#define DW_HEAD_COUNTERS 16u
#define DW_HEAD_FAILED_ALLOC 32u /* there may be EXT ALLOC_FAILED */

/* ---- the control page: at byte 4096 of the head ------------------------- */

/*
 * The only way to control the recorder. `mask` has one bit for each category (1 << enum
 * dw_category). A controller changes it, adds one to `generation` and then computes the mask of
 * each gate. A gate's mask also contains what the gate's profiles and a capture want: see
 * format/control.h. A probe reads only the gate of its process.
 */
struct dw_gate {
	uint32_t mask;    /* atomic: categories recorded now; 0 when closed */
	uint32_t open;    /* atomic: 0 the process's schedule closes it, 1 open, 2 open except for operators and layers */
	uint32_t pid;     /* the process that steps it; 0 means none */
	uint32_t profiles; /* atomic: what the process's open profiles want in addition to the mask */
	uint64_t step;    /* atomic: steps begun by this process */
};

struct dw_control {
	uint32_t mask;          /* atomic: categories wanted */
	uint32_t generation;    /* atomic: counts changes of this page */
	uint32_t gated;         /* 1: gates start closed and follow steps or schedule */
	uint32_t reserved0;
	uint64_t steps_from;    /* first step recorded, from 0 */
	uint64_t steps_to;      /* last step recorded; UINT64_MAX: no end */
	/* PyTorch's schedule; active == 0: none */
	uint32_t skip_first;
	uint32_t skip_first_wait;
	uint32_t wait;
	uint32_t warmup;
	uint32_t active;
	uint32_t repeat;        /* 0 means for ever */
	uint64_t capture;       /* atomic: a capture under way, see format/control.h; 0 means none */
	/* What recording did where threads, children and programs began and ended: how many began, and for how long in ns. Older
	 * files have 0. */
	uint64_t begins;        /* atomic */
	uint64_t begins_ns;     /* atomic */
	uint8_t reserved1[168];
	struct dw_gate gates[DW_GATES]; /* gate 0: all processes that never step */
	/* Which LAYER ranges are recorded while the mask contains DWELL_DETAIL_LAYERS. */
	uint32_t layers_generation;     /* atomic: counts lists by 2; odd while one is written */
	uint32_t reserved2;
	char layers[DW_LAYERS_BYTES];   /* atomic: paths and patterns, commas between, NUL-terminated */
	/* For each gate, when the process that steps it began: the low half of a PROCESS entry's birth,
	 * if the process is in the creator's pid namespace; 0 means not known. */
	uint32_t gate_births[DW_GATES]; /* atomic */
};

/* ---- a chunk ------------------------------------------------------------ */

#define DW_CHUNK_MAGIC 0x48435744u /* "DWCH" */

enum dw_chunk_type { DW_CHUNK_STREAM = 1, DW_CHUNK_JOURNAL = 2, DW_CHUNK_DEVICE = 3 };

#define DW_STREAM_NESTED 0x80000000u /* bit in chunk.stream: the stream of signal handlers */

struct dw_chunk {
	uint32_t magic;       /* written last when the chunk is new: 0 means unused */
	uint32_t type;        /* enum dw_chunk_type */
	uint32_t process;     /* id of the PROCESS entry */
	uint32_t stream;      /* number of the stream within its process */
	uint64_t number;      /* position in its stream, from 1; 0 while it is recycled; atomic */
	uint64_t base_ticks;  /* the time to which the first record's delta is added */
	uint64_t end_ticks;   /* time of the last record; 0 while the chunk is open */
	uint32_t end_bytes;   /* offset of the first unused byte; 0 while the chunk is open */
	uint32_t thread;      /* id of the THREAD entry that has the stream at the start */
	uint32_t next;        /* block of the stream's next chunk; 0 means none yet */
	uint32_t clock;       /* of device chunks: DEVICE_CLOCK of its times; 0 means the file's clock */
	/* Of device chunks: the size of each record, a multiple of 8, at least 32. Of a journal chunk of times: DW_TIMES_BYTES.
	 * It has STEP and PROFILE entries alone. Its end_ticks may be 0 for ever; otherwise all of them have ended, the last one
	 * then. Otherwise 0 */
	uint32_t record_bytes;
	/* How many of its records are being counted as lost, because it is recycled; otherwise 0. If `number` is not 0, the process
	 * was killed in between: the records are there, and may be counted as lost too. */
	uint32_t recycling;
};

/* ---- records of a stream ------------------------------------------------- */

/*
 *  word 0   31                                2   1     0
 *           | ticks since the record before    | end | 1 |    0: no more data
 *  word 1   31   28 27                                  0
 *           | kind | id                                 |    absent when end = 1
 *  payload  0 to 4095 words, by kind
 */
#define DW_WORD_PRESENT 1u
#define DW_WORD_END 2u
#define DW_DELTA_SHIFT 2
#define DW_DELTA_BITS 30
#define DW_KIND_SHIFT 28
#define DW_ID_MASK 0x0fffffffu

enum dw_kind {
	DW_BEGIN = 0,       /* id: OP                                               */
	DW_MARK = 1,        /* id: OP                                               */
	DW_COUNTER = 2,     /* id: OP; f64 value                                    */
	DW_ALLOC = 3,       /* id: OP (name: memory category, detail: device); u64 address, u64 bytes */
	DW_FREE = 4,        /* id: OP; u64 address                                  */
	DW_THREAD = 5,      /* id: THREAD; records from here on are that thread's   */
	DW_ASYNC_BEGIN = 6, /* id: OP; u64 handle                                   */
	DW_ASYNC_END = 7,   /* id: OP; u64 handle                                   */
	DW_FLOW_OUT = 8,    /* id: OP; u64 handle                                   */
	DW_FLOW_IN = 9,     /* id: OP; u64 handle                                   */
	DW_LINK = 10,       /* u64 sequence number, u32 forward thread; of the innermost open range */
	DW_STACK = 11,      /* id: STACK; of the record before                      */
	DW_ARGS = 12,       /* id: STRING; of the innermost open range              */
	DW_END_OF = 13,     /* id: 0; u32 n: ends the n-th open range, innermost = 0;
	                       id: OP; u32 n: ends the n-th open range of that OP       */
	DW_LOSS = 14,       /* id: enum dw_loss; u64 records lost here              */
	DW_EXT = 15,        /* id: type << 12 | words; u64 ticks, then words - 2 more */
};

/* Number of words after word 1, by kind; EXT has its own number. */
#define DW_PAYLOAD_WORDS { 0, 0, 2, 4, 2, 0, 2, 2, 2, 2, 3, 0, 0, 1, 2, 0 }

enum dw_ext {
	DW_EXT_TIME = 1,    /* nothing but the time */
	DW_EXT_BY_NAME = 2, /* no words: only an END_OF with its id ends the innermost open range */
	DW_EXT_ALLOC_IS = 3, /* u64 ticks, u64 address, u32 OP: the block that is live there is of the
	                        OP's category, since its allocation */
	DW_EXT_SCOPE_BEGIN = 4, /* no words: a block-structured step (DWELL_STEP) begins here */
	DW_EXT_SCOPE_END = 5,   /* no words: it ends. Ranges that began after the matching SCOPE_BEGIN
	                           and are still open end here as cut: a longjmp() skipped their ends */
	DW_EXT_CORRELATION = 6, /* u32: the innermost open range is the call that devices' records name
	                           by this number. One word, so that it has no time */
	DW_EXT_EXTERNAL = 7,    /* u64 ticks, u64: the innermost open range is the call that wide records
	                           of devices name by this number as `external` */
	DW_EXT_COLLECTIVE = 8,  /* u64 ticks, u32 STRING, u64 sequence, u64 bytes: the innermost open range
	                           belongs to this collective of the group */
	DW_EXT_ARGS_NEXT = 9,   /* u64 ticks, u32 STRING, u32 OP: arguments of the next MARK or ASYNC_BEGIN of this
	                           OP in the stream */
	DW_EXT_SAMPLE = 10,     /* u64 ticks, u32 FRAME, u32 STACK, u32 weight: the stream's thread was found at this frame,
	                           called from this stack, and used the CPU for `weight` periods since its last sample.
	                           0: unknown */
	DW_EXT_WAIT = 11,       /* u64 ticks, u32 FRAME, u32 STACK, u32 weight, u32 kernel's thread id: the thread waited in
	                           this function, called from this stack, until now. Of its time of waiting the wait stands
	                           for `weight` periods. The id: of the thread that had the lock; 0: unknown, or no lock */
	DW_EXT_HEAP = 12,       /* u64 ticks, u64 address, u64 bytes, u32 OP, u32 STACK: a block of the heap was allocated, and
	                           sampled by its size; with 4 words, u64 ticks, u64 address: such a block was freed */
	DW_EXT_ALLOC_FAILED = 13, /* u64 ticks, u64 bytes, u64 used, u64 limit, u32 OP: an allocation of so many bytes failed,
	                           while the process used so much of its limited address space; zeros: no limit, not known */
	DW_EXT_TOKENS = 14,     /* u64 ticks, u64 handle, u32 OP, u32 count: the request that is open with this handle has given
	                           so many tokens, or other pieces of its answer, whose name is the OP's */
	DW_EXT_ANSWERED = 15,   /* u64 ticks, u64 handle, u64 begin, u64 first, u64 last, u32 OP, u32 sends: a request that came
	                           over a connection. Ticks: when its first bytes had been read (begin), when the first and the last call
	                           that sends the answer returned; `sends` is the number of these calls */
};
#define DW_ALLOC_IS_WORDS 5u
#define DW_CORRELATION_WORDS 1u
#define DW_EXTERNAL_WORDS 4u
#define DW_COLLECTIVE_WORDS 7u
#define DW_ARGS_NEXT_WORDS 4u
#define DW_SAMPLE_WORDS 5u
#define DW_WAIT_WORDS 6u
#define DW_HEAP_WORDS 8u
#define DW_HEAP_FREE_WORDS 4u
#define DW_ALLOC_FAILED_WORDS 9u
#define DW_TOKENS_WORDS 6u
#define DW_ANSWERED_WORDS 12u
#define DW_EXT_WORDS_MASK 0xfffu
#define DW_EXT_TYPE_SHIFT 12

/* ---- records of a device chunk -------------------------------------------- */

/*
 * What the devices of a process did, in any order: drivers report late, and events of different
 * queues overlap. A device chunk's `stream` numbers the writers of its process, and its base_ticks
 * is 0. The records are of one size, from byte 64; `what` is written last, and a `what` of 0 ends the
 * data.
 */
enum dw_device_kind {
	DW_DEVICE_KERNEL = 1,   /* name */
	DW_DEVICE_COPY = 2,     /* bytes; detail: memories and DW_COPY_* */
	DW_DEVICE_SET = 3,      /* bytes; detail: memories, of which the destination counts */
	DW_DEVICE_SYNC = 4,     /* wait; detail: enum dw_device_sync */
	DW_DEVICE_GRAPH = 5,    /* name: all of a graph's kernels, as one event */
	DW_DEVICE_MEMORY = 6,   /* bytes; detail: enum dw_device_change, | memory << 4 */
	DW_DEVICE_OVERHEAD = 7, /* name: time that recording took */
	DW_DEVICE_RANGE = 8,    /* name: what a program's range covers on the device; overlaps others */
	DW_DEVICE_RECORD = 9,   /* wait.event: the queue reached it here, and later waits are for this */
	DW_DEVICE_CALL = 10,    /* name: a runtime call that the driver reported late; `what` has the
	                           THREAD instead of a QUEUE. With `external`: the node of a graph was made when it
	                           ended, while a stream was captured since it began */
	DW_DEVICE_GAP = 11,     /* events that were submitted in this time are not recorded; of length 0: from
	                           then on. A later GAP of the process with the same start replaces it */
};

struct dw_device_record {
	uint64_t start_ticks;
	uint64_t length;      /* bits 0 to 47: duration in ticks; bits 48 to 63: detail, by kind */
	__extension__ union { /* unnamed, which C99 does not have */
		struct {
			uint32_t id;      /* LAUNCH or OP */
			uint32_t node;    /* of a graph; 0 means none */
		} name;
		uint64_t bytes;
		struct {
			uint32_t event;   /* the program's number of it */
			uint32_t queue;   /* QUEUE that is waited for; 0 means none, or unknown */
		} wait;
	};
	uint32_t what;        /* kind << 28 | QUEUE; written last, release */
	uint32_t correlation; /* number of the call that caused it, in its process; 0 means unknown */
};

/* The further fields of records of 48 bytes or more. */
struct dw_device_record_wide {
	struct dw_device_record record;
	uint64_t external;    /* id that the program gave; MEMORY: the address; beside a correlation, or of a CALL
	                         without one, the node of a graph; 0 means none */
	uint32_t name;        /* OP: the event's name; 0 means its kind and detail give it */
	uint32_t recorded_by; /* SYNC: correlation of the call that recorded the event; 0 means unknown */
};

#define DW_DEVICE_LENGTH_BITS 48
#define DW_DEVICE_LENGTH_MASK (((uint64_t)1 << DW_DEVICE_LENGTH_BITS) - 1)
#define DW_DEVICE_RECORD_BYTES 32u
#define DW_DEVICE_WIDE_BYTES 48u

/* Memories of a copy: source | destination << 4. */
enum dw_device_memory {
	DW_MEMORY_UNKNOWN = 0, DW_MEMORY_PAGEABLE = 1, DW_MEMORY_PINNED = 2, DW_MEMORY_DEVICE = 3,
	DW_MEMORY_ARRAY = 4, DW_MEMORY_MANAGED = 5, DW_MEMORY_DEVICE_STATIC = 6,
	DW_MEMORY_MANAGED_STATIC = 7, DW_MEMORY_HOST = 8, /* pageable or pinned */
};
#define DW_COPY_ASYNC 0x100u
#define DW_COPY_PEER 0x200u   /* between two devices */

enum dw_device_sync {
	DW_SYNC_EVENT = 1,        /* the host waits for an event */
	DW_SYNC_QUEUE_WAIT = 2,   /* the queue waits for an event of another queue */
	DW_SYNC_QUEUE = 3,        /* the host waits for the queue */
	DW_SYNC_CONTEXT = 4,      /* the host waits for all queues of the context */
	DW_SYNC_DEVICE = 5,
};

enum dw_device_change {
	DW_CHANGE_ALLOCATED = 1,
	DW_CHANGE_FREED = 2,
	DW_CHANGE_POOL_CREATED = 3, /* bytes: the pool's size; `external`: its address */
	DW_CHANGE_POOL_DESTROYED = 4,
	DW_CHANGE_POOL_TRIMMED = 5,
};

/* ---- entries of a journal ------------------------------------------------ */

/*
 * Entries are aligned to 8 bytes. `tag` is written last (release). A process that was killed
 * between reserving and tagging leaves a hole of zeros or untagged bytes; a reader continues at the
 * next multiple of 8 bytes that has a valid tag and size.
 */
#define DW_ENTRY_MAGIC 0x4457u /* "WD" in the upper half of tag */
#define DW_ENTRY_TAG(type) ((uint32_t)DW_ENTRY_MAGIC << 16 | (uint32_t)(type))
#define DW_ENTRY_MAX_BYTES 32768u /* longer text is cut and marked with DW_TEXT_CUT */

enum dw_entry_type {
	DW_ENTRY_PROCESS = 1,
	DW_ENTRY_THREAD = 2,
	DW_ENTRY_STRING = 3,
	DW_ENTRY_OP = 4,
	DW_ENTRY_SHAPES = 5,
	DW_ENTRY_FRAME = 6,
	DW_ENTRY_STACK = 7,
	DW_ENTRY_MODULE = 8,
	DW_ENTRY_SYMBOL = 9,
	DW_ENTRY_CLOCK = 10,
	DW_ENTRY_META = 11,
	DW_ENTRY_STEP = 12,
	DW_ENTRY_THREAD_NAME = 13,
	DW_ENTRY_PROFILE = 14,
	DW_ENTRY_STEPS = 15,
	DW_ENTRY_DEVICE = 16,
	DW_ENTRY_QUEUE = 17,
	DW_ENTRY_LAUNCH = 18,
	DW_ENTRY_DEVICE_CLOCK = 19,
	DW_ENTRY_USAGE = 20,
	DW_ENTRY_WITHDRAWAL = 21,
	DW_ENTRY_PLACE = 22,
};

struct dw_entry {
	uint32_t tag;   /* DW_ENTRY_TAG(type) */
	uint32_t bytes; /* size of the whole entry with this header, a multiple of 8 */
	uint32_t id;    /* dictionary id, or as the type defines it */
	uint32_t aux;   /* as the type defines it, otherwise 0 */
};

/* id: its own; aux: id of the PROCESS entry it was forked from, or 0. A process may have several,
 * because its threads may register it at the same time: the one that chunks refer to counts. */
struct dw_entry_process {
	struct dw_entry entry;
	uint32_t pid, ppid;
	uint64_t start_ticks;    /* when it joined the run */
	int32_t rank, local_rank, world_size;  /* -1: not given */
	uint32_t flags;          /* DW_PROCESS_* */
	uint32_t name;           /* STRING: the program's path */
	uint32_t command;        /* STRING: its arguments, redacted */
	uint32_t job;            /* STRING: the job's id, or 0 */
	uint32_t gate;           /* the gate it uses */
	/* Both are 0 if not known, and missing in older traces. They tell a live process from a later
	 * one with the same pid, also in different pid namespaces. */
	uint64_t pid_namespace;  /* inode of the pid namespace in which `pid` is its id */
	uint64_t birth;          /* field 22 of /proc/self/stat: its start, in kernel clock ticks */
};
#define DW_PROCESS_PYTHON 1u /* the process runs a Python interpreter */
#define DW_PROCESS_RUNNER 2u /* `dwell run` itself, which is not part of the profiled program */

/* id: its own; aux: its PROCESS */
struct dw_entry_thread {
	struct dw_entry entry;
	uint32_t tid;
	uint32_t stream;         /* its first stream */
	uint64_t start_ticks;
	uint64_t lost[DW_LOSS_SLOTS]; /* updated in place by the thread while it runs */
	char name[16];           /* the kernel's, NUL-terminated */
	/* Entries of older versions end here. By the kernel's account, updated in place, each atomic: */
	uint64_t cpu_ns;         /* the thread has used the CPU, as far as it is known; 0: not known */
	uint64_t sampled_cpu_ns; /* the same at its last sample; 0: it has none */
	uint64_t sample_weight;  /* sum of the weights of its samples */
	uint32_t end;            /* DW_THREAD_*; 0: the thread runs, or its end was not seen */
	uint32_t lived;          /* from start_ticks to its end, in units of 1 << DW_LIVED_BITS ticks; 0: not known; UINT32_MAX: longer */
};
#define DW_LIVED_BITS 12u    /* about 2 us */
#define DW_THREAD_ENDED 1u   /* cpu_ns is all that it used */
#define DW_THREAD_BLOCKED 2u /* it blocked the sampler's signal when it ended */

/* id: its own; aux: length in bytes, | DW_TEXT_CUT when cut; the text follows, no NUL */
struct dw_entry_string {
	struct dw_entry entry;
	char text[];
};
#define DW_TEXT_CUT 0x80000000u
#define DW_TEXT_LENGTH_MASK 0x7fffffffu

/* id: its own; aux: enum dw_category */
struct dw_entry_op {
	struct dw_entry entry;
	uint32_t name;     /* STRING */
	uint32_t detail;   /* STRING or 0: ALLOC's device, COUNTER's unit, operator's overload */
	uint32_t shapes;   /* SHAPES or 0: of an operator's arguments or a layer's own parameters */
	uint32_t file;     /* STRING or 0 */
	uint32_t line;
	uint32_t frame;    /* FRAME or 0: of a function, which has its name and place if `name` is 0 */
};

/* id: its own; aux: number of tensors. Each tensor: u8 dtype, u8 ndim, u16 flags,
 * u32 0, then ndim x i64 sizes. */
struct dw_entry_shapes {
	struct dw_entry entry;
	uint8_t tensors[];
};
/* Flags of DWELL_ARG_INTS: a single value, not a list; truth values, not integers. */
#define DW_ARGUMENT_SINGLE 1u
#define DW_ARGUMENT_TRUTH 2u

/* id: its own; aux: MODULE, or 0 for a frame that is known by the name `function` */
struct dw_entry_frame {
	struct dw_entry entry;
	uint64_t offset;   /* into the module; with `process` the address; or 0 */
	uint32_t function; /* STRING or 0 */
	uint32_t file;     /* STRING or 0 */
	uint32_t line;
	uint32_t process;  /* of code in no file, made at run time or the kernel's: its PROCESS; otherwise 0, as in older traces */
};

/* id: its own; aux: number of frames, innermost first */
struct dw_entry_stack {
	struct dw_entry entry;
	uint32_t frames[];
};

/* id: its own; aux: 1 loaded, 0 unloaded */
struct dw_entry_module {
	struct dw_entry entry;
	uint64_t base, bytes;
	uint64_t ticks;
	uint32_t path;     /* STRING */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
};

/* id: the FRAME; aux: nesting of inlined functions, 0 = outermost */
struct dw_entry_symbol {
	struct dw_entry entry;
	uint32_t function, file, line; /* STRING, STRING or 0, line or 0 */
	uint32_t loop; /* what the loop there does: 0 not known, 1 it spins until another thread ends it, 2 it only moves
	                * data, 3 another loop */
};

/* id, aux: 0. The three clocks read together. */
struct dw_entry_clock {
	struct dw_entry entry;
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t error_ns; /* how long the reading took, which limits its precision */
};

/* id: STRING, the key; aux: STRING, the value */
struct dw_entry_meta {
	struct dw_entry entry;
	uint32_t flags;
	uint32_t reserved;
};
#define DW_META_JSON 1u /* the value is JSON, not text */

/* id: THREAD; aux: DW_STEP_* */
struct dw_entry_step {
	struct dw_entry entry;
	uint64_t number;      /* from 0, by process */
	uint64_t start_ticks;
	uint64_t end_ticks;   /* 0 while the step is open; written last; atomic */
	uint64_t cpu_ns;      /* CPU time of the process during the step; 0 means open, or not read */
};
#define DW_STEP_RECORDED 1u  /* the gate was open */
#define DW_STEP_CANCELLED 2u /* changed in place: it was not a step; its number may be used again */
#define DW_STEP_TENTATIVE 4u /* a step unless a WITHDRAWAL of its process follows */
/* DW_STEP_RECORDED is not set, and only operators and layers are missing: they are recorded in some steps, which
 * were chosen at random, to bound what recording costs */
#define DW_STEP_REDUCED 8u
#define DW_STEP_WHAT 0xfff00u /* DWELL_STEP_* of dwell/probe_abi.h; see read/iterations.c. 0: an iteration as it is */

/*
 * id: PROCESS; aux: 0. The process trains from `ticks` on. Its tentative steps that began before were none, and its
 * next step may have the number 0. What the ranges of `op` were is only known now: they are `as`.
 */
struct dw_entry_withdrawal {
	struct dw_entry entry;
	uint64_t ticks;
	uint32_t op, as; /* OPs, or 0 */
};

/*
 * id: THREAD; aux: DW_STEP_TENTATIVE or 0. Consecutive steps of one thread that were summarised, because the file's space
 * for entries of single steps is full. Updates of one iteration are one step. The thread updates the entry in place while it
 * collects steps; `count` is written last. If it lacks one of the steps in `durations`, and the step's own entry began before
 * `end_ticks`, the program was killed in between: the step is in the summary.
 */
#define DW_STEPS_BUCKETS 128u
#define DW_STEPS_BUCKETS_PER_OCTAVE 4u
struct dw_entry_steps {
	struct dw_entry entry;
	uint64_t first_number;   /* number of the first of them */
	uint64_t start_ticks;    /* begin of the first */
	uint64_t end_ticks;      /* end of the last */
	uint64_t step_ticks;     /* sum of their durations */
	uint64_t cpu_ns;         /* sum of their CPU times, where they were read */
	uint64_t cpu_count;      /* steps whose CPU time was read */
	uint64_t shortest_ticks, longest_ticks;
	uint64_t recorded;       /* steps during which the gate was open */
	uint64_t count;          /* steps; atomic, written last */
	/* Steps by duration d in ticks: bucket i holds 2^(8 + i/4) <= d < 2^(8 + (i+1)/4). The first
	 * and the last bucket also hold what is below and above. */
	uint32_t durations[DW_STEPS_BUCKETS];
};

/*
 * id: THREAD; aux: DW_USAGE_*. What a thread with steps used between two moments, by the kernel's
 * account. Written at a step's begin or end, if enough time has passed since the last reading. An
 * entry begins where the one before it ended.
 */
struct dw_entry_usage {
	struct dw_entry entry;
	uint64_t start_ticks, end_ticks;
	uint64_t cpu_ns;         /* the thread ran */
	uint64_t delay_ns;       /* the thread was ready to run and waited for a CPU */
	uint64_t process_cpu_ns; /* all threads of the process ran */
	uint32_t waits;          /* voluntary context switches of the thread */
	uint32_t preemptions;    /* involuntary ones */
	uint32_t minor_faults;   /* page faults of the thread without and with reading from a disk */
	uint32_t major_faults;
	/* An entry without DW_USAGE_COUNTERS may end here. What the processor counted while the thread
	 * ran in user space: */
	uint64_t cycles, instructions, cache_misses;
};
#define DW_USAGE_DELAY 1u /* delay_ns is known */
#define DW_USAGE_COUNTERS 4u /* the processor's counters are known */
#define DW_USAGE_MACHINE 2u /* the entry is a struct dw_entry_machine */
#define DW_USAGE_STOLEN 8u /* its stolen_us is known */

/*
 * id: 0; aux: DW_USAGE_MACHINE, DW_USAGE_STOLEN. A USAGE entry of the whole machine: what `dwell run` saw between two moments.
 * "The program" is the one that it started, with its child processes.
 */
struct dw_entry_machine {
	struct dw_entry entry;
	uint64_t start_ticks, end_ticks;
	uint64_t busy_ns;        /* all CPUs ran, for any program */
	uint64_t program;        /* process id; 0 in files of older versions, as are the four looks */
	uint64_t own_ns;         /* of busy_ns, for the program */
	uint32_t looks;          /* how often the program's main thread was looked up, and in how many of these: */
	uint32_t at_lock;        /* a lock blocked it */
	uint32_t at_file;        /* a file did */
	uint32_t asleep;         /* it slept */
	/* Entries of older versions end here, or before `blocked`. */
	uint32_t crowd_looks;    /* how often the program's threads were counted that ran or waited for a CPU */
	uint32_t crowded;        /* the sum of 1000 (1 - c / n) over these: c is the number of CPUs that the program
	                          * may use, n that of the threads, if it is larger */
	uint32_t blocked;        /* looks in which the main thread was blocked, by whatever it was */
	uint32_t stolen_us;      /* time of all CPUs in which they had work and the hypervisor ran other virtual machines
	                          * on them; UINT32_MAX: so much or more */
};

/*
 * id: THREAD; aux: DW_PLACE_*. The sum of a thread's times that belong to the same lines of the
 * program. Only times of at least a millisecond count. Their thread changes the entry in place.
 */
struct dw_entry_place {
	struct dw_entry entry;
	uint32_t from, to;       /* FRAMEs; 0: not known */
	uint32_t op;             /* OP of a DW_PLACE_OPERATOR, else 0 */
	uint32_t reserved;
	uint64_t count;          /* atomic, written last */
	uint64_t step_ticks;     /* the part of these times in steps */
	uint64_t other_ticks;    /* the rest */
	uint64_t longest_ticks;  /* the longest of them */
	uint64_t cpu_ns;         /* for how long the thread ran on a CPU, in those for which that was */
	uint64_t cpu_ticks;      /* read; the length of these */
};
/* From the end of an operator, which `from` called, to the begin of the next one, which `to` called. */
#define DW_PLACE_BETWEEN 1u
#define DW_PLACE_DATA 2u     /* the same while the thread loads data */
/* An operator that `from` called; `op` is the innermost one that took more than half of it. */
#define DW_PLACE_OPERATOR 3u

/* id: THREAD; aux: STRING */
struct dw_entry_thread_name {
	struct dw_entry entry;
};

/* id: its own, apart from those of other entries; aux: THREAD. A range for which a result was requested. */
struct dw_entry_profile {
	struct dw_entry entry;
	uint32_t name;        /* STRING */
	uint32_t mask;        /* the categories and details that it requested */
	uint64_t cycle;       /* from 0, by profile */
	uint64_t start_ticks;
	uint64_t end_ticks;   /* 0 while it is open; written last; atomic */
};

#define DW_TIMES_BYTES ((uint32_t)sizeof(struct dw_entry_profile))

/* id: its own; aux: PROCESS */
struct dw_entry_device {
	struct dw_entry entry;
	uint32_t number;       /* as the process numbers its devices */
	uint32_t name;         /* STRING: "NVIDIA A100-SXM4-40GB", or 0 */
	uint32_t api;          /* enum dw_device_api */
	uint32_t processors;   /* multiprocessors or compute units; 0 means unknown */
	uint64_t memory_bytes; /* 0 means unknown */
	uint8_t uuid[16];      /* zeros: unknown */
};

enum dw_device_api { DW_API_UNKNOWN = 0, DW_API_CUDA = 1, DW_API_HIP = 2, DW_API_TPU = 3 };

/* id: its own; aux: DEVICE. What runs its work in order: a stream of CUDA or HIP. */
struct dw_entry_queue {
	struct dw_entry entry;
	uint64_t number;   /* of the stream; DW_QUEUE_NONE: events that are in no stream */
	uint32_t context;
	uint32_t name;     /* STRING, or 0 */
	int32_t priority;  /* smaller numbers come first */
	uint32_t flags;    /* DW_QUEUE_* */
};
#define DW_QUEUE_NONE UINT64_MAX
#define DW_QUEUE_DEFAULT 1u /* the context's default stream, for which others wait */

/* id: its own; aux: OP, the kernel's name. A kernel with its shape. */
struct dw_entry_launch {
	struct dw_entry entry;
	uint32_t grid[3], block[3];
	uint32_t registers;            /* of each thread */
	uint32_t static_shared_bytes;  /* of each block */
	uint32_t dynamic_shared_bytes;
	uint32_t local_bytes;          /* of each thread */
};

/* id: its own, the same in all pairings of one clock; aux: 0. A device's clock and the file's, read
 * together. Between two pairings, ticks are interpolated. */
struct dw_entry_device_clock {
	struct dw_entry entry;
	uint64_t device_ticks;
	uint64_t ticks;            /* the file's clock */
	uint64_t ticks_per_second; /* of the device's clock, for times beyond the pairings */
	uint64_t error_ns;         /* how far the two may be apart */
};

_Static_assert(sizeof(struct dw_head) <= DW_CONTROL_OFFSET, "the head ends before the control page");
_Static_assert(DW_CONTROL_OFFSET + sizeof(struct dw_control) <= DW_BLOCK_BYTES, "control fits block 0");
_Static_assert(sizeof(struct dw_entry_step) == DW_TIMES_BYTES, "entries of times have one size");
_Static_assert(sizeof(struct dw_chunk) == DW_CHUNK_HEADER_BYTES, "a chunk header is 64 bytes");
_Static_assert(sizeof(struct dw_device_record) == DW_DEVICE_RECORD_BYTES, "a kernel takes 32 bytes");
_Static_assert(sizeof(struct dw_device_record_wide) == DW_DEVICE_WIDE_BYTES, "and 48 with its ids");
_Static_assert(DW_LOSS_COUNT <= DW_LOSS_SLOTS, "room for every cause");
