/*
 * Threads, their open ranges, and the other records; see table.h.
 *
 * Ranges of other probes may begin inside a range of this library and outlive it. So an end that
 * nothing else was written since (`cursor`) ends the innermost range, and any other names its range.
 * Invariant: the entries of a thread's list with `begun` are, in order, open ranges in that
 * thread's stream; from entry `mixed` on no other range is open.
 *
 * Open ranges that do not nest are in a table of fixed size with slots that are claimed by
 * compare-and-swap.
 */
#include "table.h"

#include <string.h>

#include "format/keys.h"

#define SLOTS 16384u /* a power of two: open ranges that do not nest */
#define PROBES 32u
#define STEP UINT32_MAX /* for dwi_open.began; dwell_begin() returns at most 28 bits and 2 */

/* ---- threads -------------------------------------------------------------------------------------- */

/* Names that a program gave to threads that have announced nothing yet. */
static struct {
	uint32_t thread; /* atomic; 0: free */
	char name[64];
} thread_names[64];

void dwi_thread_name(const char *name)
{
	char text[3 * 64 + 1];

	if (name) {
		dwi_copy_utf8(text, name, strnlen(name, 64));
		dwell_thread_name(text);
	}
}

void dwi_thread_name_of(uint32_t thread, const char *name)
{
	static uint32_t count; /* atomic */
	uint32_t at;

	if (thread == (uint32_t)syscall(SYS_gettid)) {
		dwi_thread_name(name);
		return;
	}
	at = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	if (!name || at >= sizeof thread_names / sizeof *thread_names)
		return;
	memcpy(thread_names[at].name, name, strnlen(name, sizeof thread_names[at].name - 1));
	__atomic_store_n(&thread_names[at].thread, thread, __ATOMIC_RELEASE);
}

/* One word of static TLS, so that a library with ITT or NVTX can be loaded at any time. */
static __thread struct dwi_thread *this_thread __attribute__((tls_model("initial-exec")));
static struct dwp_thread_pool pool;
static bool paused;

__attribute__((noinline)) static struct dwi_thread *thread_new(void)
{
	struct dwi_thread *thread = dwp_thread_memory(&pool, sizeof *thread);

	uint32_t self = (uint32_t)syscall(SYS_gettid);

	for (size_t i = 0; i < sizeof thread_names / sizeof *thread_names; i++)
		if (__atomic_load_n(&thread_names[i].thread, __ATOMIC_ACQUIRE) == self)
			dwi_thread_name(thread_names[i].name);
	if (thread) {
		/* Ranges of a thread that has ended end where its records end. */
		thread->depth = thread->beyond = thread->mixed = thread->args_depth = 0;
		thread->cursor = NULL;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread = thread;
	return thread;
}

static inline struct dwi_thread *thread_here(void)
{
	struct dwi_thread *thread = this_thread;

	return DWELL_LIKELY(thread != NULL) ? thread : thread_new();
}

struct dwi_thread *dwi_thread_here(void)
{
	return thread_here();
}

struct dwi_name *dwi_name_again(struct dwi_domain *domain, enum dwi_use use, const char *text)
{
	struct dwi_thread *thread = thread_here();
	size_t at = ((uintptr_t)text * 0x9e3779b97f4a7c15u >> 58) % DWI_CACHE;
	struct dwi_name *name;

	if (!thread || !text)
		return dwi_name(domain, use, text);
	name = thread->cache[at].name;
	/* The memory at `text` may hold another text than the last time. */
	if (name && thread->cache[at].text == text && name->domain == domain && name->use == use &&
	    strcmp(name->text, text) == 0)
		return name;
	name = dwi_name(domain, use, text);
	thread->cache[at].name = NULL; /* a signal handler between the stores finds no match */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->cache[at].text = text;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->cache[at].name = name;
	return name;
}

void dwi_pause(bool pause)
{
	__atomic_store_n(&paused, pause, __ATOMIC_RELAXED);
}

static inline bool range_is_paused(void)
{
	return DWELL_UNLIKELY(__atomic_load_n(&paused, __ATOMIC_RELAXED));
}

/* Whether the name's ranges are those of a framework whose own probe records them now, or would if operators were recorded. */
static inline bool range_is_left_out(const struct dwi_name *name)
{
	return name->framework &&
	       (__atomic_load_n(&dwell_operator_probes, __ATOMIC_RELAXED) || !dwell_wants(1u << DWELL_CATEGORY_OPERATOR));
}

/* ---- ranges that nest ----------------------------------------------------------------------------- */

/* Checks whether other records were written since the last one that was made here: their ranges may
 * be open above `depth`. */
static inline void range_look_for_others(struct dwi_thread *thread, uint32_t depth)
{
	const struct dwell_stream *stream = dwell_this_stream;

	if (DWELL_UNLIKELY(stream->cursor != thread->cursor))
		thread->mixed = depth;
}

static inline void range_look_done(struct dwi_thread *thread)
{
	thread->cursor = dwell_this_stream->cursor;
}

struct dwi_open *dwi_innermost(const struct dwi_domain *domain, uint64_t id, struct dwi_thread **thread)
{
	struct dwi_open *open;

	*thread = this_thread;
	if (!*thread || !(*thread)->depth || (*thread)->beyond)
		return NULL;
	open = &(*thread)->open[(*thread)->depth - 1];
	if (open->name->domain != domain || (id && open->id != id))
		return NULL;
	return open;
}

void dwi_recorded(struct dwi_thread *thread, bool before)
{
	if (before)
		range_look_for_others(thread, thread->depth);
	else
		range_look_done(thread);
}

/* `dwell run` warns of a --step-on that made no steps. */
static void range_note_step(void)
{
	static uint32_t noted; /* atomic */

	if (*dwi_step_name() && dwell_active() && !__atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
		dwell_meta(DW_KEY_INJECTED_STEP_ON, "steps");
}

static unsigned range_begin_step(struct dwi_thread *thread, uint32_t depth)
{
	range_note_step();
	range_look_for_others(thread, depth);
	dwell_step_begin();
	range_look_done(thread);
	return STEP;
}

int dwi_begin(struct dwi_name *name, uint64_t id)
{
	struct dwi_thread *thread = thread_here();
	struct dwi_open *open;
	uint32_t depth;

	if (DWELL_UNLIKELY(!thread || !name)) {
		if (dwell_active())
			dwell_probe_lost(1);
		return -1;
	}
	depth = thread->depth;
	if (DWELL_UNLIKELY(depth >= DWI_DEEPEST)) {
		thread->beyond++;
		dwell_probe_lost(1);
		return -1;
	}
	open = &thread->open[depth];
	/* A signal handler that interrupts here adds entries above this one and removes them. */
	open->name = name;
	open->id = id;
	open->began = DWELL_NOT_BEGUN;
	open->args = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->depth = depth + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (range_is_paused() || range_is_left_out(name))
		return (int)depth;
	if (DWELL_UNLIKELY(!name->domain->noted))
		dwi_domain_note(name->domain);
	if (DWELL_UNLIKELY(name->step)) {
		open->began = range_begin_step(thread, depth);
		return (int)depth;
	}
	if (!dwell_wants(1u << name->site.category))
		return (int)depth;
	range_look_for_others(thread, depth);
	open->began = dwell_begin(&name->site);
	range_look_done(thread);
	return (int)depth;
}

/* Ends entry `at`. If it is not the last one, or others have records in it, its range is named. */
static inline void range_end_entry(struct dwi_thread *thread, uint32_t at, bool last)
{
	const struct dwi_open *open = &thread->open[at];

	if (DWELL_UNLIKELY(open->began == STEP))
		dwell_step_end();
	else if (DWELL_LIKELY(open->began == DWELL_BEGUN) && (at < thread->mixed || !last))
		dwell_end_named(open->name->site.id);
	else
		dwell_end(open->began);
	if (thread->mixed > at)
		thread->mixed = at;
	range_look_done(thread);
}

__attribute__((noinline)) static void range_end_below(struct dwi_thread *thread, uint32_t at)
{
	range_look_for_others(thread, thread->depth);
	range_end_entry(thread, at, at + 1 == thread->depth);
	memmove(&thread->open[at], &thread->open[at + 1],
	        (thread->depth - at - 1) * sizeof *thread->open);
	thread->depth--;
	thread->args_depth = 0;
}

int dwi_end(const struct dwi_domain *domain)
{
	struct dwi_thread *thread = this_thread;
	uint32_t depth = thread ? thread->depth : 0;

	if (DWELL_UNLIKELY(!depth))
		return -1;
	if (DWELL_UNLIKELY(thread->beyond)) {
		thread->beyond--;
		return (int)depth;
	}
	if (DWELL_UNLIKELY(thread->open[depth - 1].name->domain != domain)) {
		for (depth--; depth > 0 && thread->open[depth - 1].name->domain != domain;)
			depth--;
		if (depth)
			range_end_below(thread, depth - 1);
		return (int)depth - 1;
	}
	if (thread->open[depth - 1].began) {
		range_look_for_others(thread, depth);
		range_end_entry(thread, depth - 1, true);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->depth = depth - 1;
	return (int)depth - 1;
}

void dwi_end_name(const struct dwi_name *name)
{
	struct dwi_thread *thread = this_thread;
	uint32_t depth = thread ? thread->depth : 0;

	while (depth > 0 && thread->open[depth - 1].name != name)
		depth--;
	if (depth)
		range_end_below(thread, depth - 1);
}

/* ---- ranges that do not nest ----------------------------------------------------------------------- */

static struct slot {
	uint64_t key;          /* atomic; 0: free; BUSY: being filled */
	struct dwi_name *name;
} slots[SLOTS];

#define BUSY UINT64_MAX

static bool range_slot_put(uint64_t key, struct dwi_name *name)
{
	for (uint64_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(key + i) & (SLOTS - 1)];
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&slot->key, &none, BUSY, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED)) {
			slot->name = name;
			__atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

static struct dwi_name *range_slot_take(uint64_t key)
{
	for (uint64_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(key + i) & (SLOTS - 1)];
		uint64_t expected = key;

		if (__atomic_load_n(&slot->key, __ATOMIC_RELAXED) == key &&
		    __atomic_compare_exchange_n(&slot->key, &expected, BUSY, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED)) {
			struct dwi_name *name = slot->name;

			__atomic_store_n(&slot->key, 0, __ATOMIC_RELEASE);
			return name;
		}
	}
	return NULL;
}

bool dwi_wanted(const struct dwi_name *name)
{
	return name && !range_is_paused() && !range_is_left_out(name) && dwell_wants(1u << name->site.category);
}

void dwi_async_begin(struct dwi_name *name, uint64_t key)
{
	key = key == BUSY ? 1 : key;
	if (!dwi_wanted(name))
		return;
	dwi_domain_note(name->domain);
	if (range_slot_put(key, name))
		dwell_async_begin(&name->site, key);
	else
		dwell_probe_lost(1);
}

void dwi_async_end(uint64_t key)
{
	struct dwi_name *name;

	key = key == BUSY ? 1 : key;
	name = range_slot_take(key);
	if (name)
		dwell_async_end(&name->site, key);
}

void dwi_frame_begin(struct dwi_domain *domain, uint64_t key)
{
	if (!domain || range_is_paused())
		return;
	if (domain->flags & DWI_FRAMES_ARE_STEPS) {
		dwi_domain_note(domain);
		range_note_step();
		dwell_step_begin();
	} else {
		dwi_async_begin(dwi_name(domain, DWI_RANGE, domain->name), key);
	}
}

void dwi_frame_end(struct dwi_domain *domain, uint64_t key)
{
	if (domain && domain->flags & DWI_FRAMES_ARE_STEPS)
		dwell_step_end();
	else
		dwi_async_end(key);
}

/* ---- moments and values ----------------------------------------------------------------------------- */

void dwi_mark(struct dwi_name *name)
{
	if (dwi_wanted(name)) {
		dwi_domain_note(name->domain);
		dwell_mark(&name->site);
	}
}

void dwi_counter(struct dwi_name *name, double value)
{
	if (dwi_wanted(name)) {
		dwi_domain_note(name->domain);
		dwell_counter(&name->site, value);
	}
}

void dwi_flow(struct dwi_name *name, uint64_t handle, bool out)
{
	if (!dwi_wanted(name))
		return;
	if (out)
		dwell_flow_out(&name->site, handle);
	else
		dwell_flow_in(&name->site, handle);
}
