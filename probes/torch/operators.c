/*
 * Operators: a range for each RecordFunction, in every thread.
 *
 * PyTorch calls a start function and operator_end() around each operator, mostly without the
 * interpreter's lock. There is a start function for each kind of RecordFunction. The
 * callbacks return no context, because a context would have to be a C++ object. Instead each thread
 * has a stack of its open operators, in which operator_end() finds the operator.
 * If another thread ends a RecordFunction, it marks the frame in the stack of the thread
 * that began it, and that thread ends the range at its next operator.
 *
 * Invariant: no exception and no error leaves a callback.
 */
#include "core.h"
#include "format/arguments.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_DEPTH 512u
#define MOST_SCRIPT_FRAMES 64u /* the innermost */
#define CACHE 512u
#define SITES 16384u
#define NO_SEQUENCE DWP_ABI_NO_SEQUENCE

struct frame {
	const char *function; /* the RecordFunction; NULL: another thread has ended it */
	uint64_t sequence;    /* for a link at the end; NO_SEQUENCE: none */
	uint64_t ticks;       /* when it began, if it did */
	unsigned began;
	uint8_t scope; /* enum torch_scope */
	bool called;   /* the program itself calls it, so it has a line */
	bool emitted;  /* its range is open in NVTX; another thread may not end it there */
};

/* An entry of a thread's cache of names. It is one line of the processor's cache, because between
 * two operators PyTorch uses most of the other lines. */
struct known_name {
	struct dwell_site *site;
	uint32_t id; /* 0: not known yet */
	uint8_t category;
	bool has_integers; /* which FLOPs need */
	uint16_t length;   /* of the name; 0: operator_same_text() cannot compare it */
	char text[48];     /* "": it is longer; compare the site's name */
};
_Static_assert(sizeof(struct known_name) == 64, "one line of the processor's cache");

/* The memory of a thread. It is never unmapped: a later thread reuses that of an ended one, and
 * other threads search it for frames that they end. */
struct thread {
	uint32_t depth;       /* number of frames; other threads read it with the lock */
	uint32_t strays;      /* atomic: number of frames that other threads have ended */
	uint32_t lock;        /* atomic: held while frames move, and while other threads search them */
	uint32_t tid;         /* atomic: id of the thread */
	uint64_t begun;       /* atomic: number of operators and zones; other threads read it */
	struct thread *next;  /* in `threads` */
	struct frame frames[MOST_DEPTH];
	_Alignas(64) struct known_name cache[CACHE];
	struct torch_shapes shapes[TORCH_SHAPES];
};

static __thread struct thread *this_thread __attribute__((tls_model("initial-exec")));

/* ---- memory of threads --------------------------------------------------------------- */

#define LOOKS 16u /* most entries that a new thread examines to find an ended thread */

static struct thread *threads;      /* atomic; a list that only grows at its head */
static struct thread *look_next;    /* atomic: where the last search stopped */
static uint32_t threads_process;    /* id of the process to which the thread ids belong */

static uint32_t operator_own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* False: the lock was not free in time; then the caller leaves the frames as they are. */
static bool operator_lock_frames(struct thread *thread)
{
	for (unsigned tries = 0; tries < 10000; tries++) {
		uint32_t free_now = 0;

		/* Acquire pairs with the release of operator_unlock_frames(). */
		if (__atomic_compare_exchange_n(&thread->lock, &free_now, 1, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void operator_unlock_frames(struct thread *thread)
{
	__atomic_store_n(&thread->lock, 0, __ATOMIC_RELEASE);
}

/* Takes the memory of an ended thread. Its frames are removed; their ranges end where its records
 * end. Its cached names and shapes remain, because they are valid for the whole process. */
static bool operator_take_over(struct thread *thread, uint32_t self)
{
	uint32_t owner = __atomic_load_n(&thread->tid, __ATOMIC_RELAXED);

	if (owner != self && !(syscall(SYS_tgkill, getpid(), owner, 0) != 0 && errno == ESRCH))
		return false;
	/* Acquire: the kernel's end of the thread released what it wrote last. */
	if (!__atomic_compare_exchange_n(&thread->tid, &owner, self, false, __ATOMIC_ACQUIRE,
	                                 __ATOMIC_RELAXED))
		return false;
	if (thread->depth)
		dwell_probe_lost(thread->depth);
	operator_lock_frames(thread); /* fails if the thread ended while it held the lock */
	thread->depth = 0;
	__atomic_store_n(&thread->strays, 0, __ATOMIC_RELAXED);
	operator_unlock_frames(thread);
	return true;
}

static struct thread *operator_find_dead(uint32_t self)
{
	struct thread *thread = __atomic_load_n(&look_next, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < LOOKS; i++) {
		if (!thread && !(thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE)))
			return NULL;
		__atomic_store_n(&look_next, thread->next, __ATOMIC_RELAXED);
		if (operator_take_over(thread, self))
			return thread;
		thread = thread->next;
	}
	return NULL;
}

/* In a child process: its only thread is the one that called fork(), which now has another id. */
static void operator_after_fork(void)
{
	if (this_thread)
		__atomic_store_n(&this_thread->tid, operator_own_tid(), __ATOMIC_RELAXED);
	for (struct thread *thread = threads; thread; thread = thread->next)
		__atomic_store_n(&thread->lock, 0, __ATOMIC_RELAXED);
	threads_process = (uint32_t)getpid();
}

/* Uses mmap(), because its pages cost nothing until they are written; calloc() may write them all. */
static __attribute__((noinline)) struct thread *operator_new_thread(void)
{
	int saved = errno;
	uint32_t self = operator_own_tid();
	/* In a child made without fork()'s handlers, the list still has the parent's thread ids. */
	struct thread *thread = threads_process == (uint32_t)getpid() ? operator_find_dead(self) : NULL;

	if (!thread) {
		thread = mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (thread == MAP_FAILED) {
			errno = saved;
			return NULL;
		}
		thread->tid = self;
		thread->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
		/* Release: a thread that finds it in the list also sees its content. */
		while (!__atomic_compare_exchange_n(&threads, &thread->next, thread, true, __ATOMIC_RELEASE,
		                                    __ATOMIC_RELAXED))
			;
	}
	errno = saved;
	dwp_torch_places_thread();
	return this_thread = thread;
}

static void operator_follow_forks(void)
{
	threads_process = (uint32_t)getpid();
	pthread_atfork(NULL, NULL, operator_after_fork);
}

/* ---- threads ------------------------------------------------------------------------ */

/* PyTorch numbers its threads from 1, and a backward operator has the number of its forward's thread.
 * This table has the recorder's id of each. It is set at each link, because the id changes in a child
 * process. */
#define THREADS 1024u
static uint32_t link_threads[THREADS]; /* atomic */

static void operator_link_forward(const struct frame *frame)
{
	if (dwp_abi_has_threads()) {
		uint64_t number = dwp_abi_thread(frame->function);

		__atomic_store_n(&link_threads[number % THREADS], dwell_link_thread(), __ATOMIC_RELAXED);
	}
	dwell_link(frame->sequence, 0);
}

static void operator_link_backward(const struct frame *frame)
{
	uint64_t number = dwp_abi_has_threads() ? dwp_abi_forward_thread(frame->function) : 0;

	dwell_link(frame->sequence,
	           number ? __atomic_load_n(&link_threads[number % THREADS], __ATOMIC_RELAXED) : 0);
}

/* ---- names -------------------------------------------------------------------------- */

/* Found by name and category. They exist until the process ends. */
static struct dwell_site *sites[SITES];
static uint32_t site_count;
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dwell_site other_names = { "(other names)", NULL, NULL, 0, DWELL_CATEGORY_ZONE, 0 };

static struct dwell_site *operator_new_site(const char *name, uint32_t category)
{
	struct dwell_site *site = calloc(1, sizeof *site);

	if (!site || !(site->name = strdup(name))) {
		free(site);
		return &other_names;
	}
	site->category = category;
	site_count++;
	return site;
}

static struct dwell_site *operator_find_site(const char *name, uint32_t category)
{
	struct dwell_site *site;
	uint32_t at = category;

	for (const char *c = name; *c; c++)
		at = (at ^ (unsigned char)*c) * 0x01000193u;
	pthread_mutex_lock(&sites_lock);
	for (at %= SITES; (site = sites[at]) != NULL; at = (at + 1) % SITES)
		if (site->category == category && strcmp(site->name, name) == 0)
			break;
	if (!site)
		site = site_count < SITES / 2 ? sites[at] = operator_new_site(name, category)
		                              : &other_names;
	pthread_mutex_unlock(&sites_lock);
	return site;
}

static __attribute__((noinline)) void
operator_learn_name(struct known_name *known, const char *name, size_t length, uint32_t category)
{
	known->site = operator_find_site(name, category);
	known->id = dwell_site_id(known->site);
	known->category = (uint8_t)category;
	known->has_integers = dw_operator_has_integers(name, length);
	/* The texts are compared 8 bytes at a time. */
	known->length = length >= 7 && length < UINT16_MAX && known->site != &other_names ? (uint16_t)length : 0;
	memset(known->text, 0, sizeof known->text);
	if (length < sizeof known->text)
		memcpy(known->text, name, length);
}

static inline uint64_t operator_word_at(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return word;
}

/* Compares texts of at least 8 bytes. A call of memcmp() would cost more than the comparison. */
static inline bool operator_same_text(const char *a, const char *b, size_t bytes)
{
	for (size_t i = 0; i + 8 < bytes; i += 8)
		if (operator_word_at(a + i) != operator_word_at(b + i))
			return false;
	return operator_word_at(a + bytes - 8) == operator_word_at(b + bytes - 8);
}

/* Compares the text, because names that a program makes reuse addresses. */
static inline bool operator_is_named(const struct known_name *known, const char *name,
                                     size_t length)
{
	const char *text = DWELL_LIKELY(*known->text) ? known->text : known->site->name;

	if (DWELL_LIKELY(known->length))
		return length == known->length && operator_same_text(text, name, length + 1);
	return strcmp(text, name) == 0;
}

static inline struct known_name *known_at(struct thread *thread, uint64_t hash, const char *name,
                                          size_t length, uint32_t category)
{
	struct known_name *known = &thread->cache[(uint32_t)(hash * 0x9e3779b97f4a7c15u >> 55) % CACHE];

	if (DWELL_UNLIKELY(known->category != category || !known->id ||
	                   !operator_is_named(known, name, length)))
		operator_learn_name(known, name, length, category);
	return known;
}

/* For a name that was made for one call. Its address differs each time, so its entry in the cache
 * follows from its text. */
static __attribute__((noinline)) struct known_name *
operator_make_name(struct thread *thread, const char *name, uint32_t category)
{
	size_t length = strlen(name);
	uint64_t hash = length;

	for (size_t i = 0; i + 8 <= length; i += 8)
		hash = (hash ^ operator_word_at(name + i)) * 0x9e3779b97f4a7c15u;
	if (length >= 8)
		hash ^= operator_word_at(name + length - 8);
	else
		for (size_t i = 0; i < length; i++)
			hash = hash << 8 | (unsigned char)name[i];
	return known_at(thread, hash ^ hash >> 32, name, length, category);
}

static inline struct known_name *name_of(struct thread *thread, const char *function, uint32_t category)
{
	size_t length;
	const char *name = dwp_abi_static_name(function, &length);

	if (DWELL_LIKELY(name != NULL))
		return known_at(thread, (uintptr_t)name >> 4, name, length, category);
	return operator_make_name(thread, dwp_abi_name(function), category);
}

/* ---- NVTX ---------------------------------------------------------------------------------- */

/* For dwell.emit_nvtx: what begins and ends a range in NVTX; NULL: nothing is emitted. */
static void (*emit_push)(const char *name); /* atomic */
static void (*emit_pop)(void);

/* ---- ends from other threads -------------------------------------------------------------- */

/* Needs the lock, because frames move. */
static void operator_end_frame(struct thread *thread, uint32_t at)
{
	uint32_t inner = thread->depth - 1 - at, open = 0;

	for (uint32_t i = at + 1; i < thread->depth; i++)
		open += thread->frames[i].began != DWELL_NOT_BEGUN;
	if (thread->frames[at].began == DWELL_BEGUN && open)
		dwell_end_of(open);
	else
		dwell_end(thread->frames[at].began); /* innermost, or a range that is ended by its name */
	if (thread->frames[at].emitted)
		emit_pop();
	memmove(&thread->frames[at], &thread->frames[at + 1], inner * sizeof thread->frames[0]);
	thread->depth--;
}

static __attribute__((noinline)) void operator_end_strays(struct thread *thread)
{
	if (!operator_lock_frames(thread))
		return; /* the next operator tries again */
	dwp_torch_places_forget();
	for (uint32_t at = thread->depth; at-- > 0;)
		if (!thread->frames[at].function)
			operator_end_frame(thread, at);
	__atomic_store_n(&thread->strays, 0, __ATOMIC_RELAXED);
	operator_unlock_frames(thread);
}

/*
 * Marks the frame of a RecordFunction that began in another thread. That thread may push and pop
 * other frames at the same time, but it pops this one only when its RecordFunction ends, which
 * happens here. Frames move only with the lock, which the caller has.
 */
static bool operator_mark_stray(struct thread *thread, const char *function)
{
	uint32_t at = __atomic_load_n(&thread->depth, __ATOMIC_RELAXED);

	for (at = at < MOST_DEPTH ? at : MOST_DEPTH; at-- > 0;) {
		struct frame *frame = &thread->frames[at];
		const char *there = function;

		if (__atomic_compare_exchange_n(&frame->function, &there, NULL, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&thread->strays, 1, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

/* Finds the thread in which a RecordFunction began, and marks its frame there. If no thread has it,
 * it was nested too deeply and was counted as lost when it began. */
static void operator_leave_stray(const struct thread *self, const char *function)
{
	struct thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);

	for (bool found = false; thread && !found; thread = thread->next) {
		if (thread == self)
			continue;
		if (!operator_lock_frames(thread)) {
			dwell_probe_lost(1); /* the end; the range lasts until the range around it ends */
			continue;
		}
		found = operator_mark_stray(thread, function);
		operator_unlock_frames(thread);
	}
}

/* ---- the callbacks ------------------------------------------------------------------------- */

/* Returns the stack id for the innermost frame; 0: none. Only an operator that the program or a
 * script calls has a stack of its own; an operator within another one shares that one's stack. After
 * a wait a script may continue in another thread, where no frame is around its calls. */
static uint32_t operator_stack(const struct thread *thread)
{
	uint32_t frames[MOST_SCRIPT_FRAMES], at = thread->depth - 1;

	while (at > 0 && thread->frames[at - 1].scope == TORCH_USER)
		at--;
	if (at && thread->frames[at - 1].scope != TORCH_SCRIPT)
		return 0;
	return dwp_python_stack(frames, dwp_abi_script_frames(frames, MOST_SCRIPT_FRAMES));
}

/* Bits of the gate that request more than a range. */
#define MORE (DWELL_DETAIL_SHAPES | DWELL_DETAIL_STACKS | DWELL_DETAIL_LAYERS | 1u << DWELL_CATEGORY_FUNCTION)

static __attribute__((noinline)) unsigned operator_begin_with_stack(const struct thread *thread, const char *function,
                                                                    const struct known_name *known, bool shapes)
{
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];
	int64_t integers[TORCH_MOST_INTEGERS];
	unsigned count = shapes ? dwp_abi_inputs(function, tensors, known->has_integers ? integers : NULL) : 0;
	uint32_t stack = operator_stack(thread);

	return stack ? dwell_op_begin_from(known->site, tensors, count, stack)
	             : dwell_op_begin(known->site, tensors, count);
}

static __attribute__((noinline)) unsigned operator_begin_more(struct thread *thread, const char *function,
                                                              const struct known_name *known)
{
	bool shapes = dwp_abi_has_inputs() && dwell_wants(DWELL_DETAIL_SHAPES);
	uint32_t id = 0;

	if (known->site->category != DWELL_CATEGORY_OPERATOR)
		return dwell_begin(known->site);
	if (dwell_wants(DWELL_DETAIL_STACKS))
		return operator_begin_with_stack(thread, function, known, shapes);
	if (shapes)
		id = dwp_shapes_id(thread->shapes, function, known->site, known->has_integers);
	if (!id)
		return dwell_begin(known->site);
	dwell_put_begin(id);
	return DWELL_BEGUN;
}

static inline unsigned operator_begin(struct thread *thread, const char *function,
                                      uint32_t category)
{
	const struct known_name *known = name_of(thread, function, category);

	if (DWELL_UNLIKELY(!dwell_wants(1u << category)))
		return DWELL_NOT_BEGUN;
	if (DWELL_UNLIKELY(dwell_wants(MORE)))
		return operator_begin_more(thread, function, known);
	dwell_put_begin(known->id);
	return DWELL_BEGUN;
}

static __attribute__((noinline)) void operator_attend(struct thread *thread, struct frame *frame,
                                                      const char *function, uint32_t category)
{
	void (*push)(const char *) = __atomic_load_n(&emit_push, __ATOMIC_ACQUIRE);

	if (dwp_torch_places.watched && frame->scope != TORCH_USER &&
	    (frame == thread->frames || frame[-1].scope == TORCH_USER))
		dwp_loop_operator();
	if (push) {
		frame->emitted = true;
		push(name_of(thread, function, category)->site->name);
	}
}

static inline __attribute__((always_inline)) void
operator_start(const char *function, enum torch_scope scope, uint32_t category)
{
	struct thread *thread = this_thread;

	if (DWELL_UNLIKELY(!thread) && !(thread = operator_new_thread())) {
		dwell_probe_lost(1);
		return;
	}
	/* Acquire pairs with the release of operator_mark_stray(): the mark is seen with the count. */
	if (DWELL_UNLIKELY(__atomic_load_n(&thread->strays, __ATOMIC_ACQUIRE)))
		operator_end_strays(thread);
	if (DWELL_UNLIKELY(thread->depth >= MOST_DEPTH)) {
		dwell_probe_lost(1);
		return;
	}
	struct frame *frame = &thread->frames[thread->depth];
	__atomic_store_n(&frame->function, function, __ATOMIC_RELAXED);
	frame->scope = (uint8_t)scope;
	frame->sequence = scope != TORCH_USER ? dwp_abi_sequence(function) : NO_SEQUENCE;
	thread->depth++;
	__atomic_store_n(&thread->begun, thread->begun + 1, __ATOMIC_RELAXED);
	frame->emitted = false;
	if (DWELL_UNLIKELY(__atomic_load_n(&dwp_torch_attention, __ATOMIC_RELAXED)))
		operator_attend(thread, frame, function, category);
	frame->began = operator_begin(thread, function, category);
	frame->called = scope != TORCH_USER && frame->began &&
	                (frame == thread->frames || frame[-1].scope == TORCH_USER);
	frame->ticks = dwell_this_stream->last_ticks;
	if (frame->called)
		dwp_torch_places_begin(frame->ticks);
	if (scope == TORCH_BACKWARD) {
		if (frame->began && frame->sequence != NO_SEQUENCE)
			operator_link_backward(frame);
		frame->sequence = NO_SEQUENCE;
	}
}

TORCH_START(on_function, operator_start_function)

static void operator_start_function(const char *function)
{
	operator_start(function, TORCH_FUNCTION, DWELL_CATEGORY_OPERATOR);
}

TORCH_START(on_backward, operator_start_backward)

static void operator_start_backward(const char *function)
{
	operator_start(function, TORCH_BACKWARD, DWELL_CATEGORY_OPERATOR);
}

TORCH_START(on_script, operator_start_script)

static void operator_start_script(const char *function)
{
	operator_start(function, TORCH_SCRIPT, DWELL_CATEGORY_OPERATOR);
}

TORCH_START(on_user, operator_start_user)

static void operator_start_user(const char *function)
{
	operator_start(function, TORCH_USER, DWELL_CATEGORY_ZONE);
}

/* Ends an operator that is not the innermost one, or that began in another thread. */
static __attribute__((noinline)) void operator_end_other(struct thread *thread,
                                                         const char *function)
{
	uint32_t at;

	dwp_torch_places_forget();
	if (thread && __atomic_load_n(&thread->strays, __ATOMIC_ACQUIRE))
		operator_end_strays(thread);
	at = thread ? thread->depth : 0;
	while (at > 0 && thread->frames[at - 1].function != function)
		at--;
	if (!at)
		operator_leave_stray(thread, function);
	else if (operator_lock_frames(thread)) {
		operator_end_frame(thread, at - 1);
		operator_unlock_frames(thread);
	} else {
		/* A marked frame is ended at the next operator. */
		__atomic_store_n(&thread->frames[at - 1].function, NULL, __ATOMIC_RELAXED);
		__atomic_fetch_add(&thread->strays, 1, __ATOMIC_RELEASE);
	}
}

/* A forward operator gets its link at its end, and only if it created a node of the graph: otherwise
 * no backward has its sequence number. */
static void operator_end(const char *function, void *context)
{
	struct thread *thread = this_thread;
	struct frame *frame;

	if (DWELL_UNLIKELY(!thread || !thread->depth ||
	                   thread->frames[thread->depth - 1].function != function)) {
		operator_end_other(thread, function);
		return;
	}
	frame = &thread->frames[thread->depth - 1];
	if (frame->sequence != NO_SEQUENCE && frame->began &&
	    dwp_abi_made_node(frame->sequence))
		operator_link_forward(frame);
	dwell_end(frame->began);
	if (DWELL_UNLIKELY(dwp_torch_places_end(frame->ticks, frame->called)) && frame->began &&
	    frame->scope != TORCH_USER)
		dwp_torch_places_long(&dwp_torch_places, frame->ticks, frame->called,
		                      name_of(thread, function, DWELL_CATEGORY_OPERATOR)->id);
	if (DWELL_UNLIKELY(frame->emitted))
		emit_pop();
	/* The address may be used again at once: operator_mark_stray() must not find it here. */
	__atomic_store_n(&frame->function, NULL, __ATOMIC_RELAXED);
	thread->depth--;
}

/* ---- the gate ------------------------------------------------------------------------------ */

/* A start function for each kind, so that the probe need not read the kind from the object; see
 * abi/abi.h. */
static const struct {
	enum torch_scope scope;
	torch_start *start;
} kinds[] = {
	{ TORCH_FUNCTION, (torch_start *)on_function },
	{ TORCH_BACKWARD, (torch_start *)on_backward },
	{ TORCH_SCRIPT, (torch_start *)on_script },
	{ TORCH_USER, (torch_start *)on_user },
};
#define KINDS (sizeof kinds / sizeof *kinds)

static uint64_t handles[KINDS];

/* What the callbacks in PyTorch are for. Zones have callbacks of their own, which cost nothing where the program
 * has none, so that they stay while operators are left out. */
enum { ARMED_ZONES = 1, ARMED_OPERATORS = 2, ARMED_SHAPES = 4, ARMED_STACKS = 8 };
static unsigned armed;

/* Why this kind of RecordFunction has a callback; 0: it has none. */
static unsigned operator_kind_needs(unsigned kind, unsigned what)
{
	if (kinds[kind].scope == TORCH_USER)
		return what & ARMED_ZONES;
	return what & ARMED_OPERATORS ? what & ~(unsigned)ARMED_ZONES : 0;
}

/* Changes only the callbacks that differ: each change makes every thread copy its list of them. */
static uint64_t switches;

static void operator_rearm(unsigned before, unsigned what)
{
	static bool follows_forks;

	switches++;
	if (!follows_forks)
		operator_follow_forks();
	follows_forks = true;
	dwp_torch_places_restart();
	for (unsigned i = 0; i < KINDS; i++) {
		unsigned old = operator_kind_needs(i, before), needs = operator_kind_needs(i, what);

		if (old && old != needs)
			dwp_abi_remove_callback(handles[i]);
		if (needs && old != needs)
			handles[i] = dwp_abi_add_callback(kinds[i].start, operator_end, 1u << kinds[i].scope,
			                                  what & ARMED_SHAPES);
	}
	dwp_abi_skip_states(what);
	__atomic_fetch_add(&dwell_operator_probes, (what & ARMED_OPERATORS) / ARMED_OPERATORS -
	                   (before & ARMED_OPERATORS) / ARMED_OPERATORS, __ATOMIC_RELAXED);
}

static unsigned operators_wanted(void)
{
	unsigned what = 0;

	if (emit_push || dwell_wants(1u << DWELL_CATEGORY_ZONE))
		what |= ARMED_ZONES;
	if (emit_push || dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		what |= ARMED_OPERATORS;
	if (what & ARMED_OPERATORS && dwell_wants(DWELL_DETAIL_SHAPES) && dwp_abi_has_inputs())
		what |= ARMED_SHAPES;
	if (what & ARMED_OPERATORS && dwell_wants(DWELL_DETAIL_STACKS))
		what |= ARMED_STACKS;
	return what;
}

void dwp_operators_follow_gate(void)
{
	unsigned what = operators_wanted();

	if (!dwp_abi_has_operators() || armed == what)
		return;
	if (what & ARMED_STACKS)
		dwp_abi_find_script();
	operator_rearm(armed, what);
	armed = what;
}

uint64_t dwp_operators_switches(void)
{
	return switches;
}

uint64_t dwp_operators_begun(void)
{
	uint64_t begun = 0;

	for (struct thread *thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE); thread; thread = thread->next)
		begun += __atomic_load_n(&thread->begun, __ATOMIC_RELAXED);
	return begun;
}

/* `push` and `pop` are NULL where nothing is to be emitted any more. An operator that is open then is
 * still popped at its end, so `pop` stays. */
DWELL_API void dwp_python_emit(void (*push)(const char *name), void (*pop)(void));

void dwp_python_emit(void (*push)(const char *name), void (*pop)(void))
{
	if (push)
		emit_pop = pop;
	__atomic_store_n(&emit_push, push, __ATOMIC_RELEASE);
	dwp_torch_attend(TORCH_ATTENTION_EMIT, push != NULL);
	dwp_operators_follow_gate();
}
