/*
 * The importer of Chrome traces: structures and functions that its files share.
 *
 *   chrome_file.c         recognises a file, reads its members and its events, makes the image
 *   chrome_window.c  what of the file lies in memory
 *   chrome_event.c   one event: from text to struct chrome_event
 *   chrome_names.c   names, shapes and operators, each written once
 *   chrome_owners.c  processes and threads
 *   chrome_host.c    converts events of the host to items of the sorted list
 *   chrome_counters.c names of counters
 *   chrome_clocks.c  the times of processes with clocks of their own
 *   chrome_device.c  converts events of devices to records
 *   chrome_write.c   writes the sorted events of each thread as records
 *   chrome_vendors.c makes such events of those of unitrace and rocprof
 *   chrome_graphs.h  which launch of a capture each kernel of a graph is
 *   rocprof.h        makes such events of the records of rocprofv3's JSON
 *   otlp.h           and of spans of OpenTelemetry
 *   rows.h           makes such events from the rows of a database (nsight.c, nvprof.c)
 *
 * A Chrome trace is JSON: an object with an array `traceEvents`, or the array alone. Kineto, the
 * library behind torch.profiler, writes this form with categories and arguments of its own. Events
 * are in no order. Members that describe the file may follow the events.
 *
 * The file is read once, a window at a time. An event of the host becomes an item of a sorted list
 * (sort.h). Names and events of devices need no order, so they are written to the image at once. So
 * memory consists of the window, the sorter's buffer and the names; it does not grow with the
 * number of events.
 */
#pragma once

#include "base/map.h"
#include "format/encode.h"
#include "import/input.h"
#include "import/json.h"
#include "import/ranges.h"
#include "import/sort.h"

/* ---- one event --------------------------------------------------------------------------- */

/* X(NAME, text): members of `args` that dwell understands. */
#define CHROME_ARGS(X)                                                                     \
	X(EXTERNAL_ID, "External id") X(CORRELATION, "correlation")                            \
	X(SEQUENCE, "Sequence number") X(FORWARD_THREAD, "Fwd thread id")                      \
	X(DIMS, "Input Dims") X(TYPES, "Input type") X(VALUES, "Concrete Inputs")              \
	X(DEVICE, "device") X(STREAM, "stream") X(CONTEXT, "context") X(BYTES, "bytes")        \
	X(GRID, "grid") X(BLOCK, "block") X(REGISTERS, "registers per thread")                 \
	X(SHARED, "shared memory") X(SYNC_KIND, "cuda_sync_kind")                              \
	X(WAIT_STREAM, "wait_on_stream") X(WAIT_EVENT, "wait_on_cuda_event_id")                \
	X(WAIT_CORRELATION, "wait_on_cuda_event_record_corr_id")                               \
	X(ADDRESS, "Addr") X(MEMORY_BYTES, "Bytes") X(DEVICE_TYPE, "Device Type")              \
	X(DEVICE_ID, "Device Id") X(NAME, "name") X(KIND, "kind")                               \
	X(COLLECTIVE, "Collective name")                                                       \
	X(GRAPH_NODE, "graph node id") X(GRAPH, "graph id") X(KERNEL, "kernel")                \
	X(OP_NAME, "op_name") X(SYNC_ID, "sync_id") X(ISSUE_TS, "issue_ts")
enum chrome_arg {
#define X(name, text) CHROME_##name,
	CHROME_ARGS(X)
#undef X
	CHROME_ARG_COUNT
};

/* A pid, a tid or an id of an event: a number or a text. */
struct chrome_id {
	bool given, is_text;
	int64_t number;
	struct dw_json_string text;
};

struct chrome_value {
	enum { CHROME_OTHER, CHROME_NUMBER, CHROME_TEXT } kind;
	struct dw_json_number number;
	struct dw_json_string text; /* of OTHER: the whole value as JSON */
};

/* X(NAME, text): what an event is, by its `cat`. */
#define CHROME_CATEGORIES(X)                                                               \
	X(OPERATOR, "cpu_op") X(OPERATOR, "Operator") X(OPERATOR, "operator")                  \
	X(ANNOTATION, "user_annotation") X(PYTHON, "python_function")                          \
	X(RUNTIME, "cuda_runtime") X(RUNTIME, "cuda_driver") X(RUNTIME, "Runtime")             \
	X(RUNTIME, "runtime") X(RUNTIME, "hip_runtime") X(RUNTIME, "xpu_runtime")              \
	X(RUNTIME, "mtia_runtime") X(RUNTIME, "privateuse1_runtime")                           \
	X(RUNTIME, "privateuse1_driver") X(RUNTIME, "glow_runtime")                            \
	X(KERNEL, "kernel") X(KERNEL, "Kernel")                                                \
	X(COPY, "gpu_memcpy") X(COPY, "Memcpy") X(COPY, "memcpy")                              \
	X(SET, "gpu_memset") X(SET, "Memset") X(SET, "memset") X(SYNC, "cuda_sync")            \
	X(DEVICE_ANNOTATION, "gpu_user_annotation") X(OVERHEAD, "overhead")                    \
	X(LAUNCH_FLOW, "ac2g") X(LAUNCH_FLOW, "async_cpu_to_gpu") X(LAUNCH_FLOW, "async_gpu")  \
	X(BACKWARD_FLOW, "fwdbwd") X(BACKWARD_FLOW, "forward_backward")                        \
	X(INSTANT, "cpu_instant_event") X(SPAN, "Trace")                                       \
	X(SPAN, "cuda_profiler_range") X(KERNEL, "xpu_kernel")                                 \
	X(NODE, "Node") X(SESSION, "Session") X(COMMUNICATION, "communication") /* dwell writes it */
enum chrome_category {
	CHROME_UNKNOWN, /* of another writer: the phase of the event decides what it is */
	CHROME_IS_OPERATOR, CHROME_IS_ANNOTATION, CHROME_IS_PYTHON, CHROME_IS_RUNTIME, CHROME_IS_KERNEL,
	CHROME_IS_COPY, CHROME_IS_SET, CHROME_IS_SYNC, CHROME_IS_DEVICE_ANNOTATION, CHROME_IS_OVERHEAD,
	CHROME_IS_LAUNCH_FLOW, CHROME_IS_BACKWARD_FLOW, CHROME_IS_INSTANT, CHROME_IS_SPAN,
	CHROME_IS_NODE, CHROME_IS_SESSION, /* of ONNX Runtime */
	CHROME_IS_COMMUNICATION,
	CHROME_IS_GRAPH, /* of databases alone */
	CHROME_IS_LAUNCH_NUMBER, /* made by chrome_vendors.c: the number of what the innermost range launched */
};

struct chrome_event {
	char phase;           /* `ph`; 0: none */
	enum chrome_category category;
	struct dw_json_string cat, name;
	bool has_start, has_length, wrong_type, negative_length, has_stack;
	int64_t start_ns, length_ns;
	struct dw_json_string args; /* the whole object with its braces; length 0: none */
	uint32_t has;         /* bits: 1 << enum chrome_arg, set if values[] has the argument */
	const struct dw_launch_shape *shape; /* of a kernel from a database; NULL: in `values` */
	struct chrome_id pid, tid, id;
	struct chrome_value values[CHROME_ARG_COUNT];
};

/* A key with its quotes and colon, or a text with its quotes, and which of the known words it is. */
struct chrome_guess {
	uint64_t text[3], mask[3];
	uint8_t length, value;
};
#define CHROME_GUESSES 16u
struct chrome_guesses {
	struct chrome_guess members[CHROME_IS_GRAPH][CHROME_GUESSES], args[CHROME_IS_GRAPH][CHROME_GUESSES], category;
};

/* Reads the object at `at` and returns the place behind it, or NULL with the reason in json->why.
 * Strings of the event point into the window. */
const char *chrome_read_event(struct chrome_guesses *guesses, struct dw_json *json, const char *at,
                              struct chrome_event *event);

/* Enforces the limits on times, and takes a negative length as 0. */
void chrome_limit_times(struct chrome_event *event);

static inline bool chrome_has(const struct chrome_event *event, enum chrome_arg arg)
{
	return event->has >> arg & 1;
}
/* The integer value of an argument. `fallback` if the event does not have it, or if it does not fit
 * in 64 bits. */
int64_t chrome_integer(const struct chrome_event *event, enum chrome_arg arg, int64_t fallback);
uint64_t chrome_unsigned(const struct chrome_event *event, enum chrome_arg arg, uint64_t fallback);

/* ---- names --------------------------------------------------------------------------------- */

struct chrome_text {
	const char *bytes; /* as in the file, with escapes */
	uint32_t length;
	uint32_t string;   /* STRING id */
	bool begins;       /* an event B of the file has this name */
};

struct chrome_op {
	uint32_t category, name, detail, shapes, file, line; /* texts: indices + 1, or 0 */
	uint32_t id;
};

struct chrome_shapes {
	const char *bytes; /* the texts of "Input Dims", "Input type" and "Concrete Inputs", one behind the other */
	uint32_t lengths[3];
	uint32_t id;
};

struct chrome_names {
	struct dw_arena arena;
	struct chrome_text *texts;
	struct chrome_op *ops;
	struct chrome_shapes *shapes;
	size_t text_count, text_capacity, op_count, op_capacity, shapes_count, shapes_capacity;
	struct dw_map texts_by_bytes, ops_by_key, shapes_by_bytes;
	uint64_t seed, bytes;
	char *plain;       /* buffer for a text without its escapes */
	size_t plain_capacity;
};

/* ---- counters ------------------------------------------------------------------------------- */

/* A series of a counter, by its texts (index + 1; 0: none). `member` 0: the counter itself, with the member that has its
 * name alone in place of `op`, or UINT32_MAX: none. */
struct chrome_series {
	uint32_t name, id, member;
	uint32_t op;
};

struct chrome_counters {
	struct chrome_series *series;
	size_t count, capacity;
	struct dw_map by_key;
};

/* ---- owners --------------------------------------------------------------------------------- */

struct chrome_process {
	uint64_t key;
	struct dw_encode_process journal;
	uint32_t pid, file;
	uint32_t name;        /* text index + 1; 0: none */
	uint32_t streams;
	uint64_t calls;       /* number of its runtime calls */
	int64_t first_ns;     /* of the starts of its host's events; INT64_MAX: it has none */
	int64_t moved_ns;     /* from its clock to the file's (chrome_clocks.c) */
};

/* A moment that two tracers noted, as one of them has it. */
#define CHROME_CLOCK_MARKS 64u
struct chrome_clock_mark {
	uint64_t id, process; /* the moment's, a hash; the key of the process */
	int64_t middle_ns, length_ns; /* between question and answer */
	int64_t moved_ns;     /* from its clock to the file's, if it is known */
	bool asked, known;
};

struct chrome_thread {
	uint64_t key;
	uint32_t process;     /* index */
	uint32_t tid;
	uint32_t id, number;  /* THREAD id, and number of its stream; set when they are written */
	uint32_t name;        /* text index + 1; 0: none */
};

/* A name that a metadata event gives to a process or a thread. The thread may have no events. */
struct chrome_label {
	uint64_t process, thread; /* keys; thread 0: the process itself */
	uint32_t name;
};

/* ---- devices -------------------------------------------------------------------------------- */

struct chrome_device {
	uint32_t number, id; /* DEVICE id */
};

struct chrome_queue {
	uint32_t device;     /* number */
	int64_t stream;      /* negative: none */
	uint32_t id;         /* QUEUE id */
};

struct chrome_launch {
	uint32_t op;
	struct dw_launch_shape shape;
	uint32_t id;         /* LAUNCH id */
};

struct chrome_devices {
	struct chrome_device *devices;
	struct chrome_queue *queues;
	struct chrome_launch *launches;
	size_t count, capacity, queue_count, queue_capacity, launch_count, launch_capacity;
	struct dw_map queues_by_key, launches_by_key;
	uint32_t clock;                    /* DEVICE_CLOCK id; 0: the times are the trace's */
	struct dw_encode_events events[2]; /* writers of short and of long records; `encode` is NULL
	                                    * until a writer is used */
	const char *properties;            /* deviceProperties, in the arena of names; or NULL */
	size_t properties_length;
	bool hip;
};

/* ---- profilers of other vendors ---------------------------------------------------------------- */

#define CHROME_VENDOR_DEVICES 64u
#define CHROME_VENDOR_QUEUES 256u

struct chrome_vendor {
	enum { CHROME_VENDOR_NONE, CHROME_VENDOR_UNITRACE, CHROME_VENDOR_ROCPROF } kind;
	/* unitrace: which device a process is, and which queue a thread */
	struct { uint64_t pid; uint32_t number; } devices[CHROME_VENDOR_DEVICES];
	uint64_t queues[CHROME_VENDOR_QUEUES];
	uint32_t device_count, queue_count;
	uint64_t waits;            /* how many calls that wait got a number */
	/* rocprof: the process, from microseconds to the exact times, the begin of the last arrow */
	int64_t pid, offset_ns, flow_id, flow_ns;
	struct chrome_id flow_tid;
	/* of the current event: its shape and its name */
	struct dw_launch_shape shape;
	char text[64];
};

/* ---- all ------------------------------------------------------------------------------------ */

/* A kind of fault in the file: how often it occurred, and where it occurred first. */
struct chrome_fault {
	uint64_t count, line, column;
	const char *table; /* of a database: then `line` is the number of the row; NULL: text */
};

/* `kind` of struct dw_sort_event, and what its other members contain. */
enum chrome_kind {
	/* For the ranges, `more` is the STRING id of the arguments, or 0. */
	CHROME_RANGE,       /* value: sequence number + 1 or 0; extra: PyTorch's number of the thread */
	CHROME_CALL,        /* a runtime call; value: correlation id */
	CHROME_BEGIN,       /* a range whose end is an event of its own; extra: its name, a text's index + 1 */
	CHROME_END,         /* extra: the name of the range, or 0: the innermost one */
	CHROME_STEP,        /* value: its number; op: used if it lies in a step, as an ordinary range */
	CHROME_MARK,
	CHROME_COUNTER,     /* value: bits of the f64 */
	CHROME_ALLOC,       /* value: address, more: bytes */
	CHROME_FREE,        /* value: address */
	CHROME_FLOW_OUT, CHROME_FLOW_IN, CHROME_ASYNC_BEGIN, CHROME_ASYNC_END, /* value: handle */
	CHROME_TOKENS,      /* value: handle; more: count */
	CHROME_LAUNCHED,    /* value: the number by which an event of a device names the innermost range */
};

/* Limit of the start of an event (in the year 2043) and of the length of a range. */
#define CHROME_LATEST_NS ((int64_t)1 << 61)

#define CHROME_VOTES 65536u
#define CHROME_FORWARD_THREADS 256u

struct chrome {
	const struct dw_import_file *file;
	struct dw_arena *arena;   /* for messages; borrowed */
	struct dw_input input;
	struct dw_json json;
	struct chrome_guesses guesses; /* the keys of the events before */
	struct dw_encode encode;
	struct dw_sort sort;
	struct chrome_names names;
	struct chrome_counters counters;
	struct chrome_devices devices;
	struct chrome_process *processes;
	struct chrome_thread *threads;
	struct chrome_label *labels;
	size_t process_count, process_capacity, thread_count, thread_capacity;
	size_t label_count, label_capacity;
	struct dw_map processes_by_key, threads_by_key, labels_by_key;
	uint32_t last_thread;     /* index of the thread of the event before */
	uint64_t last_process_key, last_thread_key;
	struct dw_ranges ranges;
	struct chrome_graphs *graphs; /* of the current file; NULL: of a database */
	/* of all files together */
	const struct dw_import_file *files;
	size_t file_count;
	int image_fd, temporary_fd; /* files of the image; -1: none */
	bool process_used;        /* the first process, whose journal has the dictionary, is in use */
	uint64_t start_ns;        /* of the earliest event, on the common time line */
	uint64_t lost;            /* events that were left out, and the notes on them and on the rest; or NULL */
	const char *lost_notes, *other_notes;
	const char *writer;       /* of a file that is no plain Chrome trace; NULL: not known */
	const char *table;        /* of a database, with the number of the current row; NULL: text */
	uint64_t row;
	/* ---- from here on: of one file ---- */
	size_t first_process;     /* index of its first process */
	uint32_t first_block;
	uint64_t offset_ns;       /* from its times to the common time line */
	/* members that describe the file */
	int64_t base_ns, rank, world_size;
	bool has_events;
	bool other_file;          /* another file is read, which may have captures of its graphs */
	/* PyTorch numbers its threads. Which thread has a number is found with the sequence numbers
	 * that a forward and a backward operator share (chrome_host.c). */
	struct chrome_vote { uint64_t sequence; uint32_t thread, number; } *votes;
	struct { uint32_t thread, count; } forward[CHROME_FORWARD_THREADS];
	int64_t first_ns, last_ns; /* of starts; first_ns is INT64_MAX if there are no events */
	/* counted for the note on the file */
	uint64_t events, args_count;
	struct chrome_fault damaged, repaired, wrong, negative, before_zero, cut_texts, names_dropped;
	struct chrome_fault unknown_phase, threads_dropped, timeless, endless, nameless;
	struct chrome_fault unread; /* records of kinds that a trace has no place for */
	const char *unread_kinds;
	struct chrome_fault stacks, clocks;
	struct chrome_clock_mark clock_marks[CHROME_CLOCK_MARKS];
	size_t clock_mark_count;
	uint64_t clocks_tied, clockless; /* processes whose times are moved; and that have no such moment, if others are */
	char phases[64];          /* those of unknown_phase, each once */
	const char *other_form;   /* what the file is if it has no events; NULL: not known */
	struct chrome_vendor vendor;
	uint64_t unmatched_begins, unmatched_ends, args_dropped;
	/* Of ONNX Runtime: its runs, its events, and those of them behind the last run that ended. */
	uint64_t runs, runtime_events, nodes_after_run;
	bool truncated;
	bool lines;           /* other objects of the same kind may follow the file's */
	bool failed;              /* out of memory */
};

/* Counts a fault, and stores its place (the current event) if it is the first of its kind. */
static inline void chrome_count(struct chrome *chrome, struct chrome_fault *fault)
{
	if (fault->count++)
		return;
	fault->table = chrome->table;
	if (chrome->table)
		fault->line = chrome->row;
	else
		dw_input_place(&chrome->input, chrome->input.at, &fault->line, &fault->column);
}

/* The number of bytes of the (decompressed) file that were read; of a database its size. */
static inline uint64_t chrome_bytes_read(const struct chrome *chrome)
{
	return chrome->table ? chrome->file->size_bytes : dw_input_offset(&chrome->input, chrome->input.at);
}

/* The journal that has the dictionary. */
static inline struct dw_encode_process *chrome_journal(struct chrome *chrome)
{
	return &chrome->processes[0].journal;
}

/*
 * A database whose rows become events. `read` calls chrome_take_event() for each row of one of its
 * processes, and may set base_ns, rank and devices.properties.
 */
struct dw_database;
struct chrome_rows {
	const char *writer;       /* name of the program that wrote the file */
	void (*read)(struct chrome *chrome, void *context, size_t process);
	void *context;
	size_t process_count;
	const struct dw_database *database;
	uint64_t dropped;         /* events of processes that are not read */
};
int chrome_import_rows(const struct dw_import_file *file, const struct chrome_rows *rows, int image_fd,
                       struct dw_arena *arena, struct dw_import_result *result,
                       struct dwell_error *error);

#define CHROME_KEY 40u /* bytes of a key that are kept */
/* chrome_window.c: what of the file lies in memory. chrome_peek() returns the next byte that is no white space; 0: the end.
 * chrome_take() skips it if it is `c`. chrome_parse_value() reads more until the value at the start of the window is
 * complete, and returns the place behind it; NULL: it is no value. chrome_consume() continues at a place in the window.
 * chrome_skip() skips a value that may be too large for the window; `depth`: how many objects of it may be so large;
 * *records: how many elements its lists have. chrome_leave_out() counts a value, or its records, as left out. */
bool chrome_more(struct chrome *chrome);
char chrome_peek(struct chrome *chrome);
bool chrome_take(struct chrome *chrome, char c);
const char *chrome_parse_value(struct chrome *chrome);
bool chrome_next_member(struct chrome *chrome, char key[CHROME_KEY], bool *ended);
bool chrome_skip(struct chrome *chrome, unsigned depth, uint64_t *records);
bool chrome_leave_out(struct chrome *chrome, const char *name, bool records);
static inline void chrome_consume(struct chrome *chrome, const char *at)
{
	chrome->input.at = at;
}

/* chrome_names.c. The functions for texts return the text's index + 1, or 0 if there is no text or
 * memory ran out. chrome_op_of() returns an OP id. */
uint32_t chrome_text_of(struct chrome *chrome, const struct dw_json_string *string);
uint32_t chrome_text_plain(struct chrome *chrome, const char *text);
/* The STRING id of a piece of JSON, which is stored unchanged. */
uint32_t chrome_json_of(struct chrome *chrome, const struct dw_json_string *json);
uint32_t chrome_string(const struct chrome *chrome, uint32_t text); /* STRING id */
uint32_t chrome_op_of(struct chrome *chrome, uint32_t category, uint32_t name, uint32_t detail,
                      uint32_t shapes, uint32_t file, uint32_t line);
/* chrome_counters.c: the OP of a member of a counter event that has so many numbers. */
uint32_t chrome_counter_op(struct chrome *chrome, const struct chrome_event *event, const struct dw_json_string *member,
                           unsigned members);

/* The SHAPES id for the arguments of an event; 0 if it has no shapes. */
uint32_t chrome_shapes_of(struct chrome *chrome, const struct chrome_event *event);
uint64_t chrome_hash(uint64_t seed, const void *bytes, size_t length);
void chrome_names_reset(struct chrome_names *names);

/* chrome_owners.c */
uint64_t chrome_key_of(const struct chrome *chrome, const struct chrome_id *id);
/* The index of the event's thread. UINT32_MAX: out of memory, or too many threads. */
uint32_t chrome_thread_of(struct chrome *chrome, const struct chrome_event *event);
void chrome_take_metadata(struct chrome *chrome, const struct chrome_event *event);
bool chrome_owners_init(struct chrome *chrome);
/* Adds a process of the file and returns its index. */
uint32_t chrome_add_process(struct chrome *chrome, uint64_t key);
/* Writes names and PROCESS entries. */
void chrome_owners_finish(struct chrome *chrome);
/* Removes the threads and labels of a file that has been read. */
void chrome_owners_end_file(struct chrome *chrome);
void chrome_owners_reset(struct chrome *chrome);

/* chrome_vendors.c: finds out who wrote the file, by a process's name, and makes an event of such a file one as of Kineto.
 * False: the event is left out, because another one stands for it. */
bool chrome_translate(struct chrome *chrome, struct chrome_event *event);

/* chrome_host.c: the begin or the end of an asynchronous range, or tokens, with its handle, at the event's start. `detail` may be NULL. */
void chrome_put_async(struct chrome *chrome, const struct chrome_event *event, uint32_t kind, const struct dw_json_string *name,
                      const char *detail, uint64_t handle, uint32_t count);

/* chrome_event.c: the event's start, at least 0. */
uint64_t chrome_start_ns(struct chrome *chrome, const struct chrome_event *event);

/* chrome_clocks.c: takes an event of phase c; and moves processes to the clock of the file, when all events are read. */
void chrome_take_clock_mark(struct chrome *chrome, const struct chrome_event *event);
void chrome_clocks_finish(struct chrome *chrome);
/* A time of the process by the clock of the file, within the limits of times. */
static inline uint64_t chrome_moved_ns(const struct chrome_process *process, int64_t ns)
{
	ns += process->moved_ns;
	return ns < 0 ? 0 : ns > CHROME_LATEST_NS ? (uint64_t)CHROME_LATEST_NS : (uint64_t)ns;
}

/* chrome_host.c: adds an event to the sorted list, or passes an event of a device on. */
void chrome_take_event(struct chrome *chrome, const struct chrome_event *event);
/* chrome_device.c */
/* Writes DEVICE entries. Call it after the last event of a device. */
void chrome_devices_finish(struct chrome *chrome);
void chrome_devices_reset(struct chrome_devices *devices);
void chrome_take_device(struct chrome *chrome, const struct chrome_event *event);
/* The index of the thread with PyTorch's number; UINT32_MAX if it is unknown. */
uint32_t chrome_forward_thread(const struct chrome *chrome, uint32_t number);

/* chrome_write.c: writes the THREAD entries, because a LINK may name a thread whose events come later; and all sorted events. */
void chrome_write_threads(struct chrome *chrome);
void chrome_write(struct chrome *chrome);
