/*
 * dwell: where a neural network's training time and memory go.
 *
 * This header is the session: start and stop recording, steps, names, facts,
 * errors. Put probes into your code with <dwell/probe.h>; read a trace with
 * <dwell/trace.h>.
 *
 * A program started by `dwell run` (or `dwell ./app`) is recorded without any
 * call of this header. Without `dwell run` nothing is recorded until
 * dwell_start(). Every function here may be called from any thread at any time
 * unless it says otherwise; those that may be called from a signal handler say
 * so. None of them prints or exits.
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

#if defined(__GNUC__)
#define DWELL_API __attribute__((visibility("default")))
#else
#define DWELL_API
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
 * The caller's, filled when a function fails; every function takes NULL for
 * "I do not want to know more than the code". `message` names the file, the
 * place and the remedy and is NUL-terminated, without a newline.
 */
struct dwell_error {
	int code;
	char message[512];
};

/* The short text of a code, static; "unknown error" for a code that is none. */
DWELL_API const char *dwell_error_text(int code);

/* The library's version, "MAJOR.MINOR.PATCH", static. */
DWELL_API const char *dwell_version(void);

/* ---- the session --------------------------------------------------------- */

enum dwell_keep {
	DWELL_KEEP_BOTH = 0,   /* half the room for the beginning, then the newest */
	DWELL_KEEP_OLDEST = 1, /* stop when full */
	DWELL_KEEP_NEWEST = 2, /* overwrite the oldest */
};

/*
 * A schedule as torch.profiler.schedule means it: the first skip_first steps
 * are not recorded, then cycles of wait + warmup steps not recorded and active
 * steps recorded, `repeat` times (0: for ever). active == 0: no schedule.
 */
struct dwell_schedule {
	uint32_t skip_first;
	uint32_t skip_first_wait; /* non-zero: the first cycle has no wait */
	uint32_t wait;
	uint32_t warmup;
	uint32_t active;
	uint32_t repeat;
};

/* What is done with a step. The values are torch.profiler.ProfilerAction's. */
enum dwell_action {
	DWELL_ACTION_NONE = 0,
	DWELL_ACTION_WARMUP = 1,
	DWELL_ACTION_RECORD = 2,
	DWELL_ACTION_RECORD_AND_SAVE = 3, /* the last of a cycle: its result is handed out */
};

/* The action of step `step`, from 0. No schedule: RECORD always. */
DWELL_API enum dwell_action dwell_schedule_action(const struct dwell_schedule *schedule,
                                                  uint64_t step);

/* DWELL_E_ARGUMENT when it is one that can never record, or a number is negative. */
DWELL_API int dwell_schedule_check(const struct dwell_schedule *schedule,
                                   struct dwell_error *error);

struct dwell_options {
	size_t size;             /* sizeof this structure: later versions add at the end */
	const char *path;        /* the trace; NULL: PROGRAM-PID.dwell in the current folder */
	bool overwrite;          /* replace an existing file at `path` */
	enum dwell_keep keep;
	uint64_t max_size_bytes; /* 0: 2 GiB; never over a tenth of the free space */
	uint32_t categories;     /* mask of 1 << enum dwell_category and DWELL_DETAIL_*; 0: the default;
	                          * DWELL_MASK_NONE: only what profiles and captures ask for */
	uint64_t steps_from;     /* record only steps from..to, counted from 0 */
	uint64_t steps_to;       /* UINT64_MAX: no end */
	struct dwell_schedule schedule;
	const char *layers;      /* record only these layers, see dwell_layers_only(); NULL: all */
};

#define DWELL_OPTIONS_INIT                                                             \
	{ sizeof(struct dwell_options), NULL, false, DWELL_KEEP_BOTH, 0, 0, 0, UINT64_MAX, \
	  { 0, 0, 0, 0, 0, 0 }, NULL }

/*
 * Starts recording this process and the children it forks. Under `dwell run`
 * the run's own session goes on and `options` is not used. options NULL: the
 * defaults. Errors: DWELL_E_STATE when a session runs that dwell_start()
 * started, DWELL_E_EXISTS, DWELL_E_IO, DWELL_E_NOSPACE, DWELL_E_ARGUMENT.
 */
DWELL_API int dwell_start(const struct dwell_options *options, struct dwell_error *error);

/*
 * Ends the session that dwell_start() started and trims the file; under
 * `dwell run` it does nothing. Records of other threads that are under way are
 * counted as lost. A program that ends without it loses nothing but the trim.
 */
DWELL_API int dwell_stop(struct dwell_error *error);

/* Whether a session runs (its gate may be closed by --steps or a schedule). */
DWELL_API bool dwell_active(void);

/* The path of the trace being written, valid until the next start; NULL: none. */
DWELL_API const char *dwell_trace_path(void);

/* ---- steps --------------------------------------------------------------- */

/*
 * A step is one iteration of training or inference. Say so in one of two ways:
 * DWELL_STEP() in <dwell/probe.h>, for a step that is a block; or dwell_step()
 * at the start of each iteration, which ends the step before. Steps are counted
 * by process from 0. The last step of dwell_step() ends with dwell_step_end(),
 * dwell_stop() or the process.
 */
DWELL_API void dwell_step(void);
DWELL_API void dwell_step_begin(void);
DWELL_API void dwell_step_end(void);

/* Steps begun so far by this process. */
DWELL_API uint64_t dwell_steps_begun(void);

/* ---- layers -------------------------------------------------------------- */

/*
 * From now on only these layers are recorded, in all processes of the run: paths and
 * patterns with * and ?, commas between ("Net.stem,Net.block.*"); NULL or "": all. What
 * lies in a layer that is left out counts for the recorded one around it. A layer that
 * is open goes on. Errors: DWELL_E_STATE when nothing is recorded, DWELL_E_ARGUMENT for
 * a list that names nothing or is too long (2047 bytes).
 */
DWELL_API int dwell_layers_only(const char *list, struct dwell_error *error);

/* ---- profiles ------------------------------------------------------------ */

/*
 * A profile is a stretch of the program that somebody wants a result of, with the
 * details that it needs. It writes nothing of its own: it opens the gate of the
 * session for what it asks, marks where it begins and ends in the trace, and says
 * which part of the file is its result. <dwell/trace.h> reads that, as does
 * `dwell report --profile NAME` after the program is gone.
 *
 *     struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
 *     options.record_shapes = true;
 *     struct dwell_profile *profile = dwell_profile_create(&options, &error);
 *     dwell_profile_start(profile, NULL);
 *     ...
 *     dwell_profile_stop(profile, NULL);
 *
 * Profiles may nest, overlap and run in several threads. Each sees the ranges that
 * begin while it is open: of its own thread, and of every other thread that has no
 * profile of its own open then. One profile belongs to one thread; different ones
 * may be used at the same time.
 *
 * Without a session, dwell_profile_create() starts one that records only what
 * profiles ask for. Under `dwell run`, or after dwell_start(), what the session
 * records goes on beside it.
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
	const char *name;        /* in the trace, for --profile NAME; NULL: "profile" */
	unsigned activities;     /* 0: what there is */
	bool record_shapes;
	bool profile_memory;
	bool with_stack;
	bool with_flops;         /* and shapes, which it needs */
	bool with_functions;     /* where the functions probe records them */
	struct dwell_schedule schedule; /* active == 0: record from start to stop */
	/* In place of `schedule`: the action of each step, from 0. */
	enum dwell_action (*action)(uint64_t step, void *context);
	/*
	 * Called with each cycle's result when it is complete, and once for what was
	 * recorded when the profile is stopped within a cycle. It may read the trace; the
	 * program's other threads go on meanwhile, and so does the recording of other
	 * profiles. In the thread of the profile, or with `background` in one of its own,
	 * one call after the other; dwell_profile_stop() waits for the last.
	 */
	void (*on_trace_ready)(struct dwell_profile *profile,
	                       const struct dwell_profile_result *result, void *context);
	bool background;
	void *context;           /* for both functions */
	uint32_t categories;     /* mask of 1 << enum dwell_category: these alone, in place of what
	                          * `activities` stands for; 0: those */
};

#define DWELL_PROFILE_OPTIONS_INIT                                                     \
	{ sizeof(struct dwell_profile_options), NULL, 0, false, false, false, false, false,    \
	  { 0, 0, 0, 0, 0, 0 }, NULL, NULL, false, NULL, 0 }

/*
 * `options` NULL: the defaults. The texts are copied. NULL with `error`:
 * DWELL_E_ARGUMENT (a schedule that can never record), DWELL_E_NOMEM, and the errors
 * of dwell_start().
 */
DWELL_API struct dwell_profile *dwell_profile_create(const struct dwell_profile_options *options,
                                                     struct dwell_error *error);
/* Stops it first. NULL is nothing. */
DWELL_API void dwell_profile_destroy(struct dwell_profile *profile);

/* DWELL_E_STATE when it is started. It may be started again after a stop. */
DWELL_API int dwell_profile_start(struct dwell_profile *profile, struct dwell_error *error);

/*
 * The end of a step: what comes is the next. Where the program marks no steps of its
 * own in this thread, these are the trace's steps. Errors: DWELL_E_STATE when it is
 * not started; DWELL_E_ARGUMENT for an `action` function that leaves a warm-up or a
 * cycle without an end (the profile goes on, what was recorded is kept).
 */
DWELL_API int dwell_profile_step(struct dwell_profile *profile, struct dwell_error *error);

/*
 * Ends the range and the cycle. Errors: DWELL_E_STATE when it is not started, or
 * when it has a schedule and dwell_profile_step() was never called, so that it can
 * have recorded only its first step; it is stopped all the same.
 */
DWELL_API int dwell_profile_stop(struct dwell_profile *profile, struct dwell_error *error);

/* Steps so far. */
DWELL_API uint64_t dwell_profile_step_num(const struct dwell_profile *profile);
/* NONE when it is not started. */
DWELL_API enum dwell_action dwell_profile_action(const struct dwell_profile *profile);

/* The last result that is complete; DWELL_E_NO_DATA when there is none yet. */
DWELL_API int dwell_profile_result(const struct dwell_profile *profile,
                                   struct dwell_profile_result *result,
                                   struct dwell_error *error);

/* Of the cycle that is being recorded: its id in the trace, as dwell_profile_result.id;
 * 0: none is. */
DWELL_API uint32_t dwell_profile_id(const struct dwell_profile *profile);

/* What was asked for and cannot be had here, as a sentence (static); NULL: nothing. */
DWELL_API const char *dwell_profile_warning(const struct dwell_profile *profile);

/* For DWELL_PROFILE() below. */
static inline void dwell_profile_leave(struct dwell_profile **profile)
{
	dwell_profile_stop(*profile, NULL);
}

/* The rest of the block is the profile's range: it is started here and stopped
 * however the block is left; the object and its result stay. */
#ifdef __cplusplus
#define DWELL_PROFILE(profile) const dwell_profile_scope dwell_profile_of_this_block(profile)
#else
#define DWELL_PROFILE(profile)                                                         \
	struct dwell_profile *dwell_profile_of_this_block                                  \
	    __attribute__((cleanup(dwell_profile_leave), unused)) =                            \
	        (dwell_profile_start(profile, NULL), (profile))
#endif

/* ---- captures ------------------------------------------------------------ */

/*
 * Lets TensorBoard and other clients of XLA's profiler server capture from this program:
 * `dwell serve` is started at 127.0.0.1:`port` (0: any that is free), in a process of its
 * own that ends with this one, with dwell_stop() or with dwell_serve_stop(). Without a
 * session one is started that records nothing but captures; where one runs, also under
 * `dwell run`, that is captured from. Children of fork are captured with their father.
 * The command is looked for beside this library, in its prefix and in PATH.
 *
 * Returns the port. Errors: DWELL_E_IO when the port is in use, DWELL_E_STATE when this
 * program is served already, DWELL_E_UNSUPPORTED without the command, DWELL_E_ARGUMENT,
 * and those of dwell_start().
 */
DWELL_API int dwell_serve_start(unsigned port, struct dwell_error *error);
/* A capture that is under way is answered with what there is. The session goes on. */
DWELL_API void dwell_serve_stop(void);

/* ---- facts --------------------------------------------------------------- */

/*
 * Stores a fact with the trace: a model's name, a batch size, a commit. The
 * texts are copied. With the same key the last value holds. dwell_meta_json
 * takes any JSON value; it is stored as it is and checked by the reader.
 */
DWELL_API void dwell_meta(const char *key, const char *value);
DWELL_API void dwell_meta_json(const char *key, const char *json);

/* Names the calling thread in the trace (the kernel's name is taken else). */
DWELL_API void dwell_thread_name(const char *name);

/* The process's place in a distributed run; -1: not given. RANK, LOCAL_RANK and
 * WORLD_SIZE of the environment are taken without this call. */
DWELL_API void dwell_rank(int rank, int local_rank, int world_size);

#ifdef __cplusplus
}

struct dwell_profile_scope {
	explicit dwell_profile_scope(struct dwell_profile *profile) : profile(profile)
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
