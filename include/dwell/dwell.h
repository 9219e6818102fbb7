/*
 * dwell: where a neural network's training time and memory go.
 *
 * This header is the session: start and stop recording, steps, names, metadata,
 * errors. Put probes into your code with <dwell/probe.h>; read a trace with
 * <dwell/trace.h>.
 *
 * A program started by `dwell run` (or `dwell ./app`) is recorded without any
 * call of this header. Without `dwell run` nothing is recorded until
 * dwell_start(). Every function here may be called from any thread at any time
 * unless it says otherwise; those that may be called from a signal handler say
 * so. None of them prints or exits. What must point to something and is NULL is
 * an error, DWELL_E_ARGUMENT; a function that returns no error then does nothing.
 *
 * DWELL_API says who sees the functions of this library. Define it before this
 * header to change that. In the two-file amalgamation it is empty, so that
 * -fvisibility=hidden keeps a copy of the recorder private to a plugin.
 */
#ifndef DWELL_DWELL_H
#define DWELL_DWELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DWELL_VERSION_MAJOR 0
#define DWELL_VERSION_MINOR 1
#define DWELL_VERSION_PATCH 0
#define DWELL_VERSION "0.1.0"

#ifndef DWELL_API
#define DWELL_API __attribute__((__visibility__("default")))
#endif

#define DWELL_JOIN_(a, b) a##b
#define DWELL_JOIN(a, b) DWELL_JOIN_(a, b)

/* For the inline code of these headers: casts that neither language's compilers warn about. */
#ifdef __cplusplus
#define DWELL_CAST(type, value) static_cast<type>(value)
#define DWELL_ADDRESS(pointer) reinterpret_cast<uintptr_t>(pointer)
#else
#define DWELL_CAST(type, value) ((type)(value))
#define DWELL_ADDRESS(pointer) ((uintptr_t)(pointer))
#endif

/* ---- errors -------------------------------------------------------------- */

/*
 * Functions that can fail return 0 or one of these, negative. X(name, value,
 * text): the values never change meaning.
 */
#define DWELL_ERRORS(X)                                                          \
	X(DWELL_E_NOMEM, -1, "out of memory")                                        \
	X(DWELL_E_IO, -2, "input or output failed")                                  \
	X(DWELL_E_EXISTS, -3, "the file exists")                                     \
	X(DWELL_E_NOT_TRACE, -4, "not a dwell trace")                                \
	X(DWELL_E_VERSION, -5, "written by a newer dwell")                           \
	X(DWELL_E_CORRUPT, -6, "damaged beyond use")                                 \
	X(DWELL_E_ARGUMENT, -7, "an argument is not valid")                          \
	X(DWELL_E_NAME, -8, "no such view, column, format or option")                \
	X(DWELL_E_NO_DATA, -9, "the trace does not hold what was asked for")         \
	X(DWELL_E_STATE, -10, "not possible in this state")                          \
	X(DWELL_E_UNSUPPORTED, -11, "not supported here")                            \
	X(DWELL_E_NOSPACE, -12, "no space left")

enum dwell_error_code {
#define DWELL_ERROR_ENUM(name, value, text) name = value,
	DWELL_ERRORS(DWELL_ERROR_ENUM)
#undef DWELL_ERROR_ENUM
	DWELL_OK = 0
};

/*
 * Filled when a function fails. It belongs to the caller; every function accepts NULL, and
 * then only its result tells the cause. `message` names the file, the place and the remedy.
 * It is NUL-terminated and has no newline.
 */
struct dwell_error {
	int code;
	char message[512];
};

/* The short text of a code; "unknown error" for any other number. The text is static. */
DWELL_API const char *dwell_error_text(int code);

/* The version of the loaded library, "MAJOR.MINOR.PATCH". The text is static. */
DWELL_API const char *dwell_version(void);

/* ---- the session --------------------------------------------------------- */

enum dwell_keep {
	DWELL_KEEP_BOTH = 0,   /* half the size for the beginning, half for the newest records */
	DWELL_KEEP_OLDEST = 1, /* stop when full */
	DWELL_KEEP_NEWEST = 2, /* overwrite the oldest */
};

/*
 * A schedule as in torch.profiler.schedule: the first skip_first steps are not recorded.
 * Cycles follow: wait + warmup steps that are not recorded, then active steps that are;
 * `repeat` cycles, or without end if `repeat` is 0. There is no schedule if `active` is 0.
 */
struct dwell_schedule {
	uint32_t skip_first;
	uint32_t skip_first_wait; /* non-zero: the first cycle has no wait */
	uint32_t wait;
	uint32_t warmup;
	uint32_t active;
	uint32_t repeat;
};

/* What a profiler does with a step. The values are torch.profiler.ProfilerAction's. */
enum dwell_action {
	DWELL_ACTION_NONE = 0,
	DWELL_ACTION_WARMUP = 1,
	DWELL_ACTION_RECORD = 2,
	DWELL_ACTION_RECORD_AND_SAVE = 3, /* the last step of a cycle: its result is ready then */
};

/* The action of the step with this number, counted from 0. RECORD if `schedule` is NULL or holds
 * no schedule. */
DWELL_API enum dwell_action dwell_schedule_action(const struct dwell_schedule *schedule,
                                                  uint64_t step_num);

/* Returns 0, or DWELL_E_ARGUMENT if the schedule can never record or a number of it is negative. */
DWELL_API int dwell_schedule_check(const struct dwell_schedule *schedule,
                                   struct dwell_error *error);

struct dwell_options {
	size_t size;             /* sizeof this structure: later versions add at the end */
	const char *path;        /* the trace; NULL means PROGRAM-PID.dwell in the current folder */
	bool overwrite;          /* replace an existing trace at `path`, but never another file */
	enum dwell_keep keep;
	uint64_t max_size_bytes; /* 0 means 2 GiB; at most a tenth of the free space is used */
	uint32_t categories;     /* mask of 1 << enum dwell_category and DWELL_DETAIL_*; 0 means the
	                          * default, DWELL_MASK_NONE only what profiles and captures ask for */
	uint64_t steps_from;     /* record only steps from..to, counted from 0 */
	uint64_t steps_to;       /* inclusive; UINT64_MAX means without end */
	struct dwell_schedule schedule;
	const char *layers;      /* record only these layers, see dwell_layers_only(); NULL means all */
};

#define DWELL_OPTIONS_INIT                                                             \
	{ sizeof(struct dwell_options), NULL, false, DWELL_KEEP_BOTH, 0, 0, 0, UINT64_MAX, \
	  { 0, 0, 0, 0, 0, 0 }, NULL }

/*
 * Starts recording this process and the children it forks. Under `dwell run` the run's own
 * session continues and `options` is not used. If `options` is NULL, the defaults hold.
 * Errors: DWELL_E_STATE if a session runs that dwell_start() started, DWELL_E_EXISTS,
 * DWELL_E_IO, DWELL_E_NOSPACE, DWELL_E_ARGUMENT.
 */
DWELL_API int dwell_start(const struct dwell_options *options, struct dwell_error *error);

/*
 * Ends the session that dwell_start() started and trims the file; under `dwell run` it does
 * nothing. Records that other threads are writing at that moment are counted as lost. A
 * program that ends without it has a longer file, and loses no records.
 */
DWELL_API int dwell_stop(struct dwell_error *error);

/* Whether a session runs. It is true also while --steps or a schedule pauses the recording. */
DWELL_API bool dwell_active(void);

/* The path of the trace that is being written, or NULL if no session runs. The text belongs to the
 * library and is valid until the next dwell_start(). */
DWELL_API const char *dwell_trace_path(void);

/* ---- steps --------------------------------------------------------------- */

/*
 * A step is one iteration of training or inference. Mark steps in one of two ways:
 * DWELL_STEP() in <dwell/probe.h>, for a step that is a block; or dwell_step() at the start
 * of each iteration, which also ends the previous step. A step belongs to the thread that began
 * it. Each process counts its steps from 0. The last step of dwell_step() ends with
 * dwell_step_end(), dwell_stop() or the process. While no session runs, these do nothing.
 */
DWELL_API void dwell_step(void);
/* The same as dwell_step(), for loops that also call dwell_step_end(): the time between an end
 * and the next begin is outside any step. */
DWELL_API void dwell_step_begin(void);
/* Ends the open step of this thread. Ignored if none is open. */
DWELL_API void dwell_step_end(void);

/* The number of steps that this process began; 0 if no session runs. */
DWELL_API uint64_t dwell_steps_begun(void);

/* ---- layers -------------------------------------------------------------- */

/*
 * Records only these layers from now on, in all processes of the run. `list` holds paths and
 * patterns with * and ?, separated by commas ("Net.stem,Net.block.*"); NULL or "" means all
 * layers. The time of a layer that is left out counts for the recorded layer around it. A
 * layer that is already open is not affected. Errors: DWELL_E_STATE if no session runs,
 * DWELL_E_ARGUMENT for a list that names nothing or is longer than 2047 bytes.
 */
DWELL_API int dwell_layers_only(const char *list, struct dwell_error *error);

/* ---- profiles ------------------------------------------------------------ */

/*
 * A profile is a part of the program's run that gets a result of its own, with the details
 * that it asks for. It opens the gate of the session for these details and marks in the trace
 * where it begins and ends. Its result is that part of the trace: <dwell/trace.h> reads it,
 * and `dwell report --profile NAME` after the program has ended.
 *
 *     struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
 *     options.record_shapes = true;
 *     struct dwell_profile *profile = dwell_profile_create(&options, &error);
 *     dwell_profile_start(profile, NULL);
 *     ...
 *     dwell_profile_stop(profile, NULL);
 *
 * Profiles may nest, overlap and run in several threads. Each sees the ranges that begin
 * while it is open: those of its own thread, and those of every other thread that has no
 * profile of its own open at that time. One profile belongs to one thread; different profiles
 * may be used at the same time.
 *
 * If no session runs, dwell_profile_create() starts one that records only what profiles ask
 * for. Under `dwell run`, or after dwell_start(), the session's own recording continues.
 */
struct dwell_profile;

/* Part of a trace: one cycle of one profile. */
struct dwell_profile_result {
	const char *path;     /* of the trace; valid until the next dwell_start() */
	uint32_t id;          /* of the PROFILE entry in the trace */
	uint64_t cycle;       /* from 0 */
	uint64_t step_num;    /* of the profile, when the cycle ended */
};

/* Mask for dwell_profile_options.activities. */
#define DWELL_ACTIVITY_CPU 1u
#define DWELL_ACTIVITY_CUDA 2u /* valid without a device: see dwell_profile_warning() */

struct dwell_profile_options {
	size_t size;             /* sizeof this structure */
	const char *name;        /* in the trace, for --profile NAME; NULL means "profile" */
	unsigned activities;     /* 0 means all that are available */
	bool record_shapes;
	bool profile_memory;
	bool with_stack;
	bool with_flops;         /* includes shapes */
	bool with_functions;     /* needs the functions probe (libdwell-functions) */
	struct dwell_schedule schedule; /* `active` 0 means that everything from start to stop is recorded */
	/* Optional; overrides `schedule`: returns the action of each step, counted from 0. */
	enum dwell_action (*action)(uint64_t step_num, void *context);
	/*
	 * Optional; called with the result of each complete cycle, and with that of a cycle
	 * which dwell_profile_stop() ends early. It may read the trace. The program's other
	 * threads and other profiles continue meanwhile. It runs in the thread of the profile,
	 * or with `background` in a thread of its own, one call after the other;
	 * dwell_profile_stop() waits for the last call.
	 */
	void (*on_trace_ready)(struct dwell_profile *profile,
	                       const struct dwell_profile_result *result, void *context);
	bool background;
	void *context;           /* for both functions */
	uint32_t categories;     /* mask of 1 << enum dwell_category. If non-zero, overrides
	                          * `activities`: only these categories are recorded. */
};

#define DWELL_PROFILE_OPTIONS_INIT                                                     \
	{ sizeof(struct dwell_profile_options), NULL, 0, false, false, false, false, false,    \
	  { 0, 0, 0, 0, 0, 0 }, NULL, NULL, false, NULL, 0 }

/*
 * Creates a profile, which the caller destroys. If `options` is NULL, the defaults hold. The
 * texts are copied. Returns NULL on failure: DWELL_E_ARGUMENT for a schedule that can never
 * record, DWELL_E_NOMEM, or an error of dwell_start().
 */
DWELL_API struct dwell_profile *dwell_profile_create(const struct dwell_profile_options *options,
                                                     struct dwell_error *error);
/* Stops the profile and frees it. NULL is ignored. */
DWELL_API void dwell_profile_destroy(struct dwell_profile *profile);

/* Begins to record. A profile may be started again after a stop. Errors: DWELL_E_STATE if it is
 * already started or no session runs. */
DWELL_API int dwell_profile_start(struct dwell_profile *profile, struct dwell_error *error);

/*
 * Ends a step of the profile and begins the next. If the program marks no steps of its own in this thread,
 * these are the trace's steps. Errors: DWELL_E_STATE if the profile is not started;
 * DWELL_E_ARGUMENT if the `action` function leaves a warm-up or a cycle without an end (the
 * profile continues and its records are kept).
 */
DWELL_API int dwell_profile_step(struct dwell_profile *profile, struct dwell_error *error);

/*
 * Ends the recording and the cycle. Errors: DWELL_E_STATE if the profile is not started, or if it
 * has a schedule and dwell_profile_step() was never called, so that it recorded at most its
 * first step; it is stopped even then.
 */
DWELL_API int dwell_profile_stop(struct dwell_profile *profile, struct dwell_error *error);

/* The number of calls of dwell_profile_step() since the start. */
DWELL_API uint64_t dwell_profile_step_num(const struct dwell_profile *profile);
/* The action of the current step; NONE if the profile is not started. */
DWELL_API enum dwell_action dwell_profile_action(const struct dwell_profile *profile);

/* Stores the last complete result. Its texts belong to the library. Errors: DWELL_E_NO_DATA if there
 * is none yet. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* g++: a structure has the same name */
DWELL_API int dwell_profile_result(const struct dwell_profile *profile,
                                   struct dwell_profile_result *result,
                                   struct dwell_error *error);
#pragma GCC diagnostic pop

/* Trace id of the cycle being recorded (see dwell_profile_result.id), or 0 if none. */
DWELL_API uint32_t dwell_profile_id(const struct dwell_profile *profile);

/* A sentence that names what the options ask for and is not available here; NULL if all of it is.
 * The text is static. Devices are available from the program's first use of CUDA on, under `dwell run`. */
DWELL_API const char *dwell_profile_warning(const struct dwell_profile *profile);

/* Starts the profile here and stops it when the block is left, in whatever way. The profile and
 * its result remain. A jump past this line does not start it, as <dwell/probe.h> says at its head
 * for ranges. Errors are not reported: start and stop the profile yourself to see them. */
#ifdef __cplusplus
#define DWELL_PROFILE(profile) \
	const dwell_profile_scope DWELL_JOIN(dwell_profile_, __COUNTER__)(profile)
#else
/* gcc runs a cleanup also when a goto jumped past the initialisation. A variable that holds
 * its own address was initialised; leaving clears it. */
struct dwell_profile_block {
	struct dwell_profile *profile;
	const struct dwell_profile_block *self;
};

static inline void dwell_profile_leave(struct dwell_profile_block *block)
{
	__asm__("" : "+m"(*block)); /* makes the compiler read the memory: see dwell_block_close() */
	if (block->self != block)
		return;
	block->self = NULL;
	__asm__ volatile("" : : "m"(*block));
	dwell_profile_stop(block->profile, NULL);
}

#define DWELL_PROFILE(profile) DWELL_PROFILE_N(profile, __COUNTER__)
#define DWELL_PROFILE_N(profile, n)                                                    \
	struct dwell_profile_block DWELL_JOIN(dwell_profile_, n)                               \
	    __attribute__((__cleanup__(dwell_profile_leave), __unused__)) =                    \
	        { (dwell_profile_start(profile, NULL), (profile)), &DWELL_JOIN(dwell_profile_, n) }
#endif

/* ---- captures ------------------------------------------------------------ */

/*
 * Lets TensorBoard and other clients of XLA's profiler server capture from this program.
 * Starts `dwell serve` at 127.0.0.1:`port` (0 means any free port) in a process of its own,
 * which ends with this process, with dwell_stop() or with dwell_serve_stop(). If a session is
 * already running (including under `dwell run`), captures are taken from it; otherwise a
 * session is started that records only captures. Forked children are captured with their
 * parent. The command is searched next to this library, in its prefix and in PATH.
 *
 * Returns the port. Errors: DWELL_E_IO if the port is in use, DWELL_E_STATE if this program
 * is already served, DWELL_E_UNSUPPORTED if there is no command, DWELL_E_ARGUMENT, and the
 * errors of dwell_start().
 */
DWELL_API int dwell_serve_start(unsigned port, struct dwell_error *error);
/* Ends the server. A running capture is answered with the records so far. The session continues.
 * Ignored if this program is not served. */
DWELL_API void dwell_serve_stop(void);

/* ---- metadata ------------------------------------------------------------ */

/*
 * Stores metadata with the trace: a model's name, a batch size, a commit. The texts are copied.
 * A later value of the same key replaces the earlier one. dwell_meta_json() takes any JSON
 * value; it is stored unchanged, and the reader checks it. Ignored while no session runs.
 */
DWELL_API void dwell_meta(const char *key, const char *value);
DWELL_API void dwell_meta_json(const char *key, const char *json);

/* Names the calling thread in the trace. The text is copied. If never called, the kernel's thread
 * name is used. */
DWELL_API void dwell_thread_name(const char *name);
/* The same for one of several equal threads: "loader 3" for ("loader", 3). If `number` is negative,
 * dwell counts the threads of that name in this process, from 0. Not in signal handlers. */
DWELL_API void dwell_thread_number(const char *name, int number);

/* The place of this process in a distributed run; -1 means not given. Without this call, RANK,
 * LOCAL_RANK and WORLD_SIZE of the environment are used. */
DWELL_API void dwell_rank(int rank, int local_rank, int world_size);

#ifdef __cplusplus
}

struct dwell_profile_scope {
	explicit dwell_profile_scope(struct dwell_profile *started) : profile(started)
	{
		dwell_profile_start(profile, nullptr);
	}
	~dwell_profile_scope() { dwell_profile_stop(profile, nullptr); }
	dwell_profile_scope(const dwell_profile_scope &) = delete;
	dwell_profile_scope &operator=(const dwell_profile_scope &) = delete;
	struct dwell_profile *profile;
};
#endif
#endif
