/*
 * What the probe macros expand to, and calls for probes that attach to frameworks.
 *
 * A program includes <dwell/probe.h>, which includes this header. Nothing here needs to be
 * called by a program that puts probes into its own code.
 *
 * The header has two parts with different stability:
 *
 *   - "Inline code": structures, variables and functions that are compiled into programs. A
 *     program that was built with this version runs with every later libdwell.so.0: none of
 *     them is changed or removed (ABI 1).
 *   - "For authors of probes": out of line calls for probes that are built and shipped
 *     together with one version of dwell, as those of Python and PyTorch are. They may change
 *     with any minor version; CHANGELOG.md says so.
 *
 * All functions may be called from any thread and from signal handlers, unless they say
 * otherwise. They never fail, allocate through malloc(), or change errno; while nothing is
 * recorded they do nothing.
 */
#ifndef DWELL_PROBE_ABI_H
#define DWELL_PROBE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwell/dwell.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dwell_tensor;

/* ---- inline code: frozen as ABI 1 ------------------------------------------------------ */

/*
 * One call site of a probe: a static variable, constant except for `id`. `id` is 0 until the
 * first record. It is atomic: several threads may find it 0, intern the same content and
 * store the same id.
 */
struct dwell_site {
	const char *name;
	const char *detail; /* unit of a counter, device of an allocation, or NULL */
	const char *file;
	uint32_t line;
	uint32_t category;  /* enum dwell_category */
	uint32_t id;
};

/* The gate of this process: the mask of what is recorded now. NULL if no session runs. */
struct dwell_gate_word {
	uint32_t mask;
};
extern DWELL_API const struct dwell_gate_word *dwell_gate;

/*
 * Where the calling thread writes its next record. In a forked child this memory is zero, so
 * that the child takes the slow path like a new thread. limit - cursor is at most a chunk;
 * dwell_has_space() finds every other case (no chunk, a full one, one of the parent process)
 * with one comparison.
 */
struct dwell_stream {
	char *cursor;         /* next free byte */
	char *limit;          /* no record begins here or after; also written by dwell_stop() */
	uint64_t last_ticks;  /* time of the previous record */
	uint32_t busy;        /* a record is being written: signal handlers must not write here */
};
#define DWELL_CHUNK_BYTES 65536u

extern DWELL_API __thread struct dwell_stream *dwell_this_stream
    __attribute__((__tls_model__("initial-exec")));

/* Out of line: everything except the common case. */
DWELL_API void dwell_slow_begin(uint32_t id);
DWELL_API void dwell_slow_end(uint64_t ticks);
DWELL_API void dwell_slow_put(uint32_t word1, const uint32_t *payload, unsigned words);
/* Interns the content of the site and stores its id there. */
DWELL_API uint32_t dwell_slow_site(struct dwell_site *site);
/* Begin and end of a range while stacks, functions or only some layers are recorded: an
 * outermost operator gets the caller's stack, ranges end by name, and a layer that is not
 * chosen is not begun. Pass the result of the first function to the second. */
DWELL_API unsigned dwell_slow_range(uint32_t id, uint32_t category);
DWELL_API void dwell_slow_range_end(unsigned began);
/* Begins an operator with a name that is made at run time, for DWELL_OP_WORK(). `flops` and `bytes`
 * are DWELL_NOT_GIVEN if the program does not say. Pass the result to dwell_end(). */
DWELL_API unsigned dwell_op_begin_named(const char *name, const struct dwell_tensor *tensors,
                                        unsigned count, uint64_t flops, uint64_t bytes);
/* For DWELL_TEAM() and DWELL_WORKER(). Pass the result of the second function to dwell_end(). */
DWELL_API uint64_t dwell_team(void);
DWELL_API unsigned dwell_worker_begin(uint64_t team);
/* Begins and ends a step that is a block of the program; for DWELL_STEP(). `scope` is the
 * address of a variable of that block. Ranges of this thread that began inside the block and
 * are still open at its end, because longjmp() skipped their ends, end with it. A block that
 * longjmp() left is ended by the next such step of the thread. */
DWELL_API void dwell_step_scope_begin(const void *scope);
DWELL_API void dwell_step_scope_end(const void *scope);

/* Always inlined: out of line, a probe that is not recorded costs four times as much, and a
 * range a quarter more. Excluded from -finstrument-functions: otherwise instrumenting these
 * inline functions would unbalance the ranges they record. Attributes are spelled with
 * underscores because programs define macros such as `unused`. */
#define DWELL_UNSEEN __attribute__((__no_instrument_function__))
#define DWELL_INLINE static inline __attribute__((__always_inline__)) DWELL_UNSEEN
#define DWELL_LIKELY(x) __builtin_expect(!!(x), 1)
#define DWELL_UNLIKELY(x) __builtin_expect(!!(x), 0)

DWELL_INLINE uint64_t dwell_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0; /* no stream has a limit here, so that every record takes the slow path */
#endif
}

/* Whether the next record fits into the stream's chunk. */
DWELL_INLINE bool dwell_has_space(const struct dwell_stream *stream, const char *cursor)
{
	const char *limit = __atomic_load_n(&stream->limit, __ATOMIC_RELAXED);

	return DWELL_ADDRESS(limit) - DWELL_ADDRESS(cursor) - 1 < DWELL_CHUNK_BYTES;
}

/*
 * Writes one record: its payload first, its first word last. The release store pairs
 * with the acquire load of a reader of the live file, so that a reader that sees the
 * first word sees the rest. `busy` orders against signal handlers of the same thread
 * only; a compiler fence is enough for that.
 */
DWELL_INLINE void dwell_put_begin(uint32_t id)
{
	struct dwell_stream *stream = dwell_this_stream;

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_begin(id);
		return;
	}
	__atomic_store_n(&stream->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t ticks = dwell_ticks();
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_has_space(stream, cursor) || delta >> 30)) {
		__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
		dwell_slow_begin(id);
		return;
	}
	stream->last_ticks = ticks;
	void *place = cursor;
	uint32_t *words = DWELL_CAST(uint32_t *, place);
	__atomic_store_n(words + 1, id, __ATOMIC_RELAXED);
	__atomic_store_n(words, DWELL_CAST(uint32_t, delta) << 2 | 1u, __ATOMIC_RELEASE);
	stream->cursor = cursor + 8;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
}

DWELL_INLINE void dwell_put_end(void)
{
	struct dwell_stream *stream = dwell_this_stream;
	uint64_t ticks = dwell_ticks();

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_end(ticks);
		return;
	}
	__atomic_store_n(&stream->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_has_space(stream, cursor) || delta >> 30)) {
		__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
		dwell_slow_end(ticks);
		return;
	}
	stream->last_ticks = ticks;
	void *place = cursor;
	__atomic_store_n(DWELL_CAST(uint32_t *, place), DWELL_CAST(uint32_t, delta) << 2 | 3u,
	                 __ATOMIC_RELEASE);
	stream->cursor = cursor + 4;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
}

/* A record with `words` words of payload, a constant; `word1` has its kind and its id. */
DWELL_INLINE void dwell_put_words(uint32_t word1, const void *payload, unsigned words)
{
	struct dwell_stream *stream = dwell_this_stream;

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_put(word1, DWELL_CAST(const uint32_t *, payload), words);
		return;
	}
	__atomic_store_n(&stream->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t ticks = dwell_ticks();
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_has_space(stream, cursor) || delta >> 30)) {
		__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
		dwell_slow_put(word1, DWELL_CAST(const uint32_t *, payload), words);
		return;
	}
	stream->last_ticks = ticks;
	void *place = cursor;
	if (words)
		__builtin_memcpy(cursor + 8, payload, words * 4);
	__atomic_store_n(DWELL_CAST(uint32_t *, place) + 1, word1, __ATOMIC_RELAXED);
	__atomic_store_n(DWELL_CAST(uint32_t *, place), DWELL_CAST(uint32_t, delta) << 2 | 1u, __ATOMIC_RELEASE);
	stream->cursor = cursor + 8 + words * 4;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
}

DWELL_INLINE uint32_t dwell_site_id(struct dwell_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	return DWELL_LIKELY(id != 0) ? id : dwell_slow_site(site);
}

/* What a begin returns for its end. Other values than these are for dwell_slow_range_end(). */
enum dwell_began {
	DWELL_NOT_BEGUN = 0,
	DWELL_BEGUN = 1,
};

#if !defined(__cplusplus) && !defined(DWELL_DISABLE)
/*
 * The variable of a scope in C. gcc runs its cleanup also when a goto jumped past its
 * initialisation; it then holds whatever the stack held before. So a scope that began
 * something proves itself with its own address. `word` is
 *
 *     0                                     nothing began
 *     address + 1                           DWELL_BEGUN, the common case
 *     lower half of the address, result     another result of the begin
 *
 * (The address itself may lie there as the head of an empty list.) Leaving clears it, so
 * that a later call which uses the same memory finds no proof there. clang rejects such a
 * goto and needs no proof.
 */
struct dwell_block {
	uint64_t word;
};

DWELL_INLINE struct dwell_block dwell_block_enter(struct dwell_block *block, unsigned began)
{
	struct dwell_block entered = { 0 };

	if (DWELL_LIKELY(began == DWELL_BEGUN))
		entered.word = (uintptr_t)block + 1;
	else if (began)
		entered.word = (uint64_t)(uint32_t)(uintptr_t)block << 32 | began;
	return entered;
}

/* What the begin returned; DWELL_NOT_BEGUN if the scope was never entered. */
DWELL_INLINE unsigned dwell_block_close(struct dwell_block *block)
{
	uint64_t word;
	unsigned began = DWELL_NOT_BEGUN;

#ifndef __clang__
	/* Makes the compiler read the memory. It may otherwise assume that a variable which is
	 * initialised on one path only has that value on every path. */
	__asm__("" : "+m"(block->word));
#endif
	word = block->word;
	if (DWELL_LIKELY(word == 0))
		return DWELL_NOT_BEGUN;
#ifndef __clang__
	block->word = 0;
	__asm__ volatile("" : : "m"(block->word)); /* keeps the store: the variable ends here */
#endif
	if (DWELL_LIKELY(word == (uintptr_t)block + 1))
		began = DWELL_BEGUN;
	else if ((uint32_t)(word >> 32) == (uint32_t)(uintptr_t)block)
		began = (uint32_t)word;
	return began;
}
#endif

/* ---- for authors of probes: may change with a minor version ------------------------------ */

/* The id of a function (DWELL_CATEGORY_FUNCTION) from its address; the reader finds its name. */
DWELL_API uint32_t dwell_intern_function(const void *address);

/* Changes when code was unloaded: ids of addresses must then be asked for again. Add 1 after a
 * loading or an unloading that the recorder may not see: nothing more is needed, also in a signal handler. Atomic. */
extern DWELL_API uint32_t dwell_code_generation;

/* The id of a place in code that is not machine code (Python, a graph). The texts are copied.
 * `file` may be NULL and `line` 0 where they are unknown. */
DWELL_API uint32_t dwell_intern_frame(const char *function, const char *file, uint32_t line);
/* The id of a call stack: `frames` holds `count` ids of dwell_intern_frame(), innermost first.
 * For dwell_op_begin_from(). */
DWELL_API uint32_t dwell_intern_stack(const uint32_t *frames, unsigned count);
/* The ids of the frames of machine code at these return addresses, for dwell_intern_stack(). False: nothing is
 * recorded, or a module could not be looked up now. May be called in signal handlers. */
DWELL_API bool dwell_intern_code(void *const *addresses, unsigned count, uint32_t *frames);
/* Records that the calling thread was found at `frame`, called from `stack` (0: unknown), after it had used the CPU
 * for `weight` periods of the sampler. For signal handlers of a timer. False: the thread was writing a record in a signal
 * handler; the weight belongs to the next sample. */
DWELL_API bool dwell_sample(uint32_t frame, uint32_t stack, uint32_t weight);
/* The sampler's account. The calling thread ends; `blocked`: it blocks the sampler's signal. Returns the CPU time in ns that the
 * thread has used; 0: it was not read. */
DWELL_API uint64_t dwell_thread_leave(bool blocked);
/* The process ends, or begins a sandbox: its account is written, and no clock of the kernel is read from now on. false: the
 * sandbox was refused. */
DWELL_API void dwell_account_close(bool close);
/* As dwell_meta() and dwell_meta_json(). False: it is not in the trace, because nothing is recorded, or a signal handler
 * interrupted the recorder where nothing can be added. */
DWELL_API bool dwell_meta_try(const char *key, const char *value, bool json);
/* Records that the calling thread waited in the function `frame`, called from `stack`, until now, and that this stands
 * for `weight` periods of waiting. `holder` is the kernel's id of the thread that had the lock, or 0. */
DWELL_API void dwell_waited(uint32_t frame, uint32_t stack, uint32_t weight, uint32_t holder);

/* Begins and ends what the calling thread records in a signal handler. In between, it waits for other threads for 5 ms at
 * most in all, and elsewhere for 100 ms. What then cannot be stored is counted as lost, or is not named this time. */
DWELL_API void dwell_hurry(bool begins);

/* The program gives up system calls (seccomp), or could not. From then on the recorder makes none: it writes to the space
 * that it has, and what does not fit is counted as lost. For whoever is in front of prctl() and syscall(). */
DWELL_API void dwell_sandbox(bool begins);

/* Gets and sets the program's own action for SIGBUS, which the recorder's handler for its file is in front of, as sigaction()
 * does. False: the recorder has no handler, and the action is the kernel's. For whoever is in front of sigaction(). */
struct sigaction;
DWELL_API bool dwell_bus_action(const struct sigaction *set, struct sigaction *get);

/* Records that a block of `size_bytes` was allocated, and chosen by a sampling that chooses a block of size s with the
 * probability 1 - exp(-s / m); m is the metadata heap.period_bytes of the process. `size_bytes` 0: such a block was freed.
 * `address` NULL: an allocation of so many bytes failed. */
DWELL_API void dwell_heap(struct dwell_site *site, const void *address, uint64_t size_bytes, uint32_t stack);

/* As dwell_op_begin(), but while stacks are recorded the operator gets `stack`, even inside
 * another operator. If `stack` is 0, an outermost operator gets the caller's stack. */
DWELL_API unsigned dwell_op_begin_from(struct dwell_site *site, const struct dwell_tensor *tensors,
                                       unsigned count, uint32_t stack);

/* Ends the n-th open range of this thread, counted from the innermost = 0. */
DWELL_API void dwell_end_of(uint32_t n);
/* Ends the n-th of the open ranges of this thread that began with this id, counted from the innermost = 0. */
DWELL_API void dwell_end_named_of(uint32_t id, uint32_t n);

/* For operators of autograd: gives the innermost open range of this thread the sequence number
 * that forward and backward share, and the thread that ran the forward (a number of
 * dwell_link_thread(), or 0 if it is unknown). */
DWELL_API void dwell_link(uint64_t sequence_number, uint32_t forward_thread);
/* The calling thread's number for dwell_link(), or 0 if the thread cannot be recorded. */
DWELL_API uint32_t dwell_link_thread(void);

/* For probes that detect a step late: dwell_step_now() returns a timestamp, in clock ticks (and
 * opens the gate if the coming step is to be recorded); pass it later to dwell_step_begin_at() to
 * backdate the step. It must be after the previous step's end; 0 means now. Call both in the
 * same thread. */
DWELL_API uint64_t dwell_step_now(void);
DWELL_API void dwell_step_begin_at(uint64_t moment);
/* For probes that detect late that a step has ended: ends the open step of this thread at
 * `moment`, a dwell_ticks() taken in the step. A moment outside the step, or 0, means now. */
DWELL_API void dwell_step_end_at(uint64_t moment);
/* Cancels the open step of this thread: its time counts as outside any step, and its number
 * is reused. */
DWELL_API void dwell_step_cancel(void);
/* For probes that learn late which program they are in, such as one that evaluates before it trains.
 * As dwell_step_begin_at(), but the step is one only until dwell_steps_withdraw(). */
DWELL_API void dwell_step_begin_tentative(uint64_t moment);
/* The tentative steps of this process so far were none: their time counts as outside any step, and
 * if it had no others, its next step has the number 0. If `site` is not NULL, its ranges in the
 * trace are those of `as`. */
DWELL_API void dwell_steps_withdraw(struct dwell_site *site, struct dwell_site *as);
/* For probes that see what a program does, but not what an iteration of it is: such a step is a piece, and the reader
 * decides which pieces are an iteration. Says what the open step of this thread is, before it ends: a kind, and bits of
 * what happened in it. */
#define DWELL_STEP_CALL (1u << 8)      /* a call of a model; the step is tentative */
#define DWELL_STEP_LOOP (2u << 8)      /* an iteration of a loop that calls models; the step is tentative. Steps that began
                                        * and ended within it are parts of it */
#define DWELL_STEP_GRADIENTS (3u << 8) /* such an iteration in which gradients were computed without backward(); not tentative */
#define DWELL_STEP_BACKWARD (4u << 8)  /* it had a backward, and there was no optimizer */
#define DWELL_STEP_UPDATE (5u << 8)    /* an optimizer stepped */
#define DWELL_STEP_KIND (7u << 8)
#define DWELL_STEP_BATCH (1u << 11)    /* a batch was asked for in it, or since the step before */
#define DWELL_STEP_LOADER (1u << 12)   /* a loader was asked for an iterator in it, or since the step before: an epoch begins */
#define DWELL_STEP_JOINS (1u << 13)    /* with the call of a model before it, in its thread, it is one step */
#define DWELL_STEP_BRIEF (1u << 14)    /* of what the program did in it only begin and end are recorded, to bound the cost */
#define DWELL_STEP_OPTIMIZER(number) (((number) & 15u) << 16) /* which one stepped, from 0 */
DWELL_API void dwell_step_is(uint32_t what);
/* For probes that bound what recording costs. With `reduce`, operators and layers of this process are not
 * recorded from now on, and steps that begin are marked so; without it, they are recorded again. Call it
 * between steps. It does nothing to steps that --steps or a schedule chose, and profiles and captures get
 * what they ask for. */
DWELL_API void dwell_steps_reduce(bool reduce);

/* Arguments of the innermost open range of this thread. The text is JSON of at most 2000 bytes, whose
 * id dwell_intern_args() returns (0: unknown); of several texts of one range the last one counts. */
DWELL_API uint32_t dwell_intern_args(const char *json);
DWELL_API void dwell_args(uint32_t text);
/* The same of the next dwell_mark() or dwell_async_begin() of this site in this thread. */
DWELL_API void dwell_args_next(struct dwell_site *site, uint32_t text);

/* For probes that see communication. Says that the innermost open range of this thread, of category
 * DWELL_CATEGORY_COMMUNICATION, belongs to a collective of a group of ranks. `group` is an id of
 * dwell_intern_group() (0: unknown). `sequence` is the number of the collective in its group, from 1,
 * which is the same in all ranks; 0: the range is a message whose number is not known. Numbered messages from rank 0 to
 * rank 1 of "world" have the group "0 -> 1 of world". `bytes` is the larger
 * of what this rank gives and receives, or 0 where another range of the collective says it. A rank enters
 * a collective with the first of its ranges that have the group and the sequence, and leaves it with the
 * end of the last: a probe reports the start of a collective and the wait for it with two ranges. A range
 * may belong to several collectives; call this function for each, last for the one that it waits for
 * longest. */
DWELL_API uint32_t dwell_intern_group(const char *name);
DWELL_API void dwell_collective(uint32_t group, uint64_t sequence, uint64_t bytes);

/* For probes that a library tells after a call what happened in it, with times. Between dwell_late_begin() and
 * dwell_late_end() samples and waits of this thread leave its records' time where it is, so that dwell_late_put() can
 * begin the range `id`, or end the innermost one (0), at an earlier `moment` of dwell_device_ticks(): each after the one
 * before. A moment before the thread's last record is that of this record. False: nothing is recorded. */
DWELL_API bool dwell_late_begin(void);
DWELL_API void dwell_late_put(uint32_t id, uint64_t moment);
DWELL_API void dwell_late_end(void);

/* How many probes of this process record operators; a program that records its own counts as one. What
 * libraries announce of operators and of what runs inside them is then left out. Atomic. */
extern DWELL_API uint32_t dwell_operator_probes;

/* For probes that know the lines of a program which call operators. Adds a time of this thread, if it has
 * begun a step, that ended at `end_ticks` to the sums of its lines, ids of dwell_intern_frame() or 0. `op` is the id of
 * the operator, for DWELL_PLACE_OPERATOR. `cpu_ns`: how long the thread ran in that time, or
 * DWELL_PLACE_NO_CPU. */
enum dwell_place_kind {
	DWELL_PLACE_BETWEEN = 1, /* between two operators */
	DWELL_PLACE_DATA = 2,    /* the same, while the thread loads data */
	DWELL_PLACE_OPERATOR = 3,
};
#define DWELL_PLACE_NO_CPU UINT64_MAX
DWELL_API void dwell_place_add(enum dwell_place_kind kind, uint32_t from, uint32_t to, uint32_t op,
                               uint64_t start_ticks, uint64_t end_ticks, uint64_t cpu_ns);
/* The length of a millisecond in ticks; UINT64_MAX: no session is running. */
DWELL_API uint64_t dwell_ticks_of_ms(void);

/* Counts `records` that the caller could not make, in the calling thread. Reports state them. */
DWELL_API void dwell_probe_lost(uint64_t records);

/*
 * What devices did, for probes that learn it from a driver. All functions may be called from any thread
 * except in signal handlers.
 *
 * The ids of devices, queues and launches are those of a session in a process: ask for them again when
 * dwell_device_epoch() has changed. 0 means that nothing is recorded. Equal content has one id.
 */
DWELL_API uint32_t dwell_device_epoch(void);
/* Whether events of devices are recorded now, or in one of the next steps: a driver begins to record late. */
DWELL_API bool dwell_device_wanted(void);
/* Whether --steps, a schedule, a profile or a capture asks for them, so that no bound on the cost applies. */
DWELL_API bool dwell_device_asked(void);
/* For a probe of devices that records in bursts to bound its cost: whether a burst runs. A probe of operators records
 * them in each burst, so that the devices' events have their operators. */
DWELL_API void dwell_device_burst(bool runs);
DWELL_API bool dwell_device_in_burst(void);
/* For a probe of devices that may switch its recording between two steps only: calls `change` once, in the thread of the
 * process that begins its next step, before that step. NULL: not any more. dwell_device_between_steps() does it at once,
 * if something waits: a probe of steps calls it where a step may begin. */
DWELL_API void dwell_device_at_step(void (*change)(void));
DWELL_API void dwell_device_between_steps(void);

struct dwell_device {
	uint32_t number;       /* as the process numbers its devices */
	uint32_t api;          /* 1 CUDA, 2 HIP, 3 TPU */
	const char *name;      /* or NULL */
	uint32_t processors;   /* 0: unknown */
	uint64_t memory_bytes; /* 0: unknown */
	uint8_t uuid[16];      /* zeros: unknown */
};
DWELL_API uint32_t dwell_intern_device(const struct dwell_device *device);
/* `number`: of the stream, or UINT64_MAX for events in no stream. `is_default`: of its context. */
DWELL_API uint32_t dwell_intern_queue(uint32_t device, uint64_t number, uint32_t context, int32_t priority,
                                      bool is_default);
/* A kernel with its shape. `kernel`: its name, an id of dwell_intern() of the category DEVICE. `shape`: grid
 * x, y, z, block x, y, z, registers of a thread, bytes of static and dynamic shared memory of a block,
 * bytes of local memory of a thread. */
DWELL_API uint32_t dwell_intern_launch(uint32_t kernel, const uint32_t shape[10]);

/* The id of a thread of this process that records, by its kernel's number; 0: it has recorded nothing. */
DWELL_API uint32_t dwell_thread_of(uint32_t tid);

/* The time now, in ticks of the trace. */
DWELL_API uint64_t dwell_device_ticks(void);
/* A pairing of a driver's clock, in ns, with the trace's. `clock` 0 makes a clock. Returns its id, 0 if there
 * is none. `error_ticks`: how far the two may be apart. */
DWELL_API uint32_t dwell_device_clock(uint32_t clock, uint64_t device_ns, uint64_t ticks,
                                      uint64_t error_ticks);

/* The kinds and their details are described in doc/reference/format.md. */
enum dwell_device_kind {
	DWELL_DEVICE_KERNEL = 1, DWELL_DEVICE_COPY, DWELL_DEVICE_SET, DWELL_DEVICE_SYNC, DWELL_DEVICE_GRAPH,
	DWELL_DEVICE_MEMORY, DWELL_DEVICE_OVERHEAD, DWELL_DEVICE_RANGE, DWELL_DEVICE_RECORD, DWELL_DEVICE_CALL,
	DWELL_DEVICE_GAP,
};

struct dwell_device_event {
	uint64_t start_ns, length_ns; /* of the driver's clock */
	uint32_t kind, detail;
	uint32_t queue;       /* of a CALL the thread, dwell_thread_of() */
	uint32_t correlation; /* number of the call that caused it; 0: unknown */
	uint64_t value;       /* bytes; or name | graph node << 32; or event | queue waited for << 32 */
	uint64_t external;    /* MEMORY: the address; else the node of a graph, as in doc/reference/format.md; or 0 */
	uint32_t recorded_by; /* SYNC: correlation of the call that recorded the event; 0: unknown */
};

/* Counts records that the driver dropped. Reports state them. */
DWELL_API void dwell_device_lost(uint64_t records);
/* Writes events whose ids are of `epoch`, in any order. What finds no space is counted as lost. */
DWELL_API void dwell_device_events(uint32_t epoch, uint32_t clock, const struct dwell_device_event *events,
                                   unsigned count);

#ifdef __cplusplus
}
#endif
#endif
