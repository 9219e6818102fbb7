/* The exported functions of probe.h, on top of stream.c. Each leaves errno unchanged. */
#include <string.h>

#include "base/system/host.h"
#include "format/keys.h"
#include "record/about_process.h"
#include "record/chunks.h"
#include "record/ids.h"
#include "record/layer_paths.h"
#include "record/process_state.h"
#include "record/record.h"
#include "format/sampler_calls.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/stacks.h"
#include "record/streams.h"
#include "record/thread.h"

_Static_assert(DW_WORD_ALLOC == (uint32_t)DW_ALLOC << DW_KIND_SHIFT && DW_WORD_FREE == (uint32_t)DW_FREE << DW_KIND_SHIFT,
               "what probes write without a call");

static void probe_put(uint32_t kind, uint32_t id, const void *payload, unsigned words)
{
	DW_KEEP_ERRNO;
	struct dwell_stream *stream = dw_stream_enter();

	if (stream) {
		dw_stream_put(stream, dw_now(), kind << DW_KIND_SHIFT | id, payload, words);
		dw_stream_leave(stream);
	}
}

/* Writes a record with payload inline while the chunk has space. */
static __attribute__((noinline)) void probe_put_fast(uint32_t kind, uint32_t id, const void *payload, unsigned words)
{
	dwell_put_words(kind << DW_KIND_SHIFT | id, payload, words);
}

/* Writes an extension record: its time in two words, and then `rest`. */
static void probe_put_timed(enum dw_ext type, const uint32_t *rest, unsigned words)
{
	uint32_t payload[DW_ANSWERED_WORDS]; /* the longest */
	DW_KEEP_ERRNO;
	bool aside = type == DW_EXT_SAMPLE || type == DW_EXT_WAIT || type == DW_EXT_HEAP;
	struct dwell_stream *stream = aside ? dw_stream_enter_aside() : dw_stream_enter();

	if (stream) {
		uint64_t ticks = dw_now();

		ticks = ticks < stream->last_ticks ? stream->last_ticks : ticks;
		payload[0] = (uint32_t)ticks;
		payload[1] = (uint32_t)(ticks >> 32);
		memcpy(payload + 2, rest, words * sizeof *rest);
		dw_stream_put(stream, ticks,
		              (uint32_t)DW_EXT << DW_KIND_SHIFT | (uint32_t)type << DW_EXT_TYPE_SHIFT | (words + 2), payload,
		              words + 2);
		dw_stream_leave(stream);
	}
}

void dwell_slow_begin(uint32_t id)
{
	probe_put(DW_BEGIN, id, NULL, 0);
}

void dwell_slow_end(uint64_t ticks)
{
	DW_KEEP_ERRNO;
	struct dwell_stream *stream;

	if (!dw_session_inline())
		ticks = dw_now();
	stream = dw_stream_enter();
	if (stream) {
		dw_stream_put_end(stream, ticks);
		dw_stream_leave(stream);
	}
}

void dwell_slow_put(uint32_t word1, const uint32_t *payload, unsigned words)
{
	probe_put(word1 >> DW_KIND_SHIFT, word1 & DW_ID_MASK, payload, words);
}

/* ---- what happened before ---------------------------------------------------------- */

bool dwell_late_begin(void)
{
	struct dw_slot *slot = dwell_wants(1u << DWELL_CATEGORY_OPERATOR) ? dw_slot_here(NULL) : NULL;

	if (slot)
		DW_STORE(slot->late, true);
	return slot != NULL;
}

void dwell_late_put(uint32_t id, uint64_t moment)
{
	DW_KEEP_ERRNO;
	struct dwell_stream *stream = dw_stream_enter();
	struct dw_writer *writer;

	if (!stream)
		return;
	dw_slot_of(stream, &writer);
	writer->slow_end = 0; /* a new chunk took its time now, not at that moment */
	if (id)
		dw_stream_put(stream, moment, (uint32_t)DW_BEGIN << DW_KIND_SHIFT | id, NULL, 0);
	else
		dw_stream_put_end(stream, moment);
	dw_stream_leave(stream);
}

void dwell_late_end(void)
{
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot)
		DW_STORE(slot->late, false);
}

uint32_t dwell_operator_probes;

/* A program that records operators itself is a probe of them: what a library announces of its
 * primitives is inside these operators, and would be counted twice. Sites without a file are those of
 * probes. */
void dw_probe_note_operators(uint32_t category)
{
	static uint32_t noted;

	if (category == DWELL_CATEGORY_OPERATOR && !DW_LOAD(noted) &&
	    !__atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
		__atomic_fetch_add(&dwell_operator_probes, 1, __ATOMIC_RELAXED);
}

uint32_t dwell_slow_site(struct dwell_site *site)
{
	DW_KEEP_ERRNO;
	uint32_t id;

	dw_hold_enter();
	id = dw_intern_op(site->category, site->name, site->detail, 0, site->file, site->line);

	if (site->file)
		dw_probe_note_operators(site->category);
	/* Relaxed: other threads use only the id; its meaning is in the file. */
	__atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
	return id;
}

/* ---- operators with stacks, ranges among functions ------------------------------- */

/* The two lowest bits of what dwell_begin() returns; the other bits are the id of the range. */
enum { WITH_STACK = 2, BY_NAME = 3 };

/* Inner operators use the outermost operator's stack, because theirs would repeat its callers. */
unsigned dw_begin_with_stack(uint32_t id, const void *caller, uint32_t stack)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot && slot->operators++ == 0 && !stack)
		stack = dw_stack_here(slot, caller);
	dwell_put_begin(id);
	if (stack)
		probe_put_fast(DW_STACK, stack, NULL, 0);
	return WITH_STACK;
}

/* A function that begins a range and returns leaves the range open. So where functions are ranges
 * too, ranges are not nested, and an end without a name would end another range. Operators are
 * always nested. Inline, because each frame of the recorder is one that a walk of the stack has to skip. */
DWELL_INLINE unsigned probe_begin_among(uint32_t id, uint32_t category, const void *caller)
{
	if (category == DWELL_CATEGORY_OPERATOR && dwell_wants(DWELL_DETAIL_STACKS))
		return dw_begin_with_stack(id, caller, 0);
	dwell_put_begin(id);
	if (category == DWELL_CATEGORY_OPERATOR || !dwell_wants(1u << DWELL_CATEGORY_FUNCTION))
		return DWELL_BEGUN;
	return id << 2 | BY_NAME;
}

/* Whether the layer is recorded while a list selects layers. */
static inline bool probe_chooses_layer(uint32_t id)
{
	struct dw_control *control = DW_LOAD(dw_session.control);
	struct dw_layer *layer = dw_layer_find(id);

	if (!layer || !control)
		return true;
	/* Pairs with the release of the list's writer: the whole list of this generation is visible. */
	uint32_t generation = __atomic_load_n(&control->layers_generation, __ATOMIC_ACQUIRE);
	uint64_t known = (uint64_t)DW_LOAD(dw_session.generation) << 32 | generation;
	uint64_t decision = DW_LOAD(layer->decision);

	if ((decision & ~(uint64_t)1) == known)
		return decision & 1;
	return dw_layer_decide(layer, control, generation);
}

/* A layer that a list leaves out. */
static inline bool probe_leaves_out(uint32_t id, uint32_t category)
{
	return category == DWELL_CATEGORY_LAYER && dwell_wants(DWELL_DETAIL_LAYERS) &&
	       !probe_chooses_layer(id);
}

unsigned dwell_slow_range(uint32_t id, uint32_t category)
{
	if (probe_leaves_out(id, category))
		return DWELL_NOT_BEGUN;
	return probe_begin_among(id, category, __builtin_return_address(0));
}

void dwell_slow_range_end(unsigned began)
{

	if ((began & 3) == BY_NAME) {
		dwell_end_named(began >> 2);
		return;
	}
	dwell_put_end();
	struct dw_slot *slot = dw_slot_here(NULL);
	if (slot && slot->operators)
		slot->operators--;
}

/* ---- names made at run time ------------------------------------------------------ */

unsigned dwell_begin_id(uint32_t id, enum dwell_category category)
{
	if (!dwell_wants(1u << category))
		return DWELL_NOT_BEGUN;
	if (probe_leaves_out(id, category))
		return DWELL_NOT_BEGUN;
	if (dwell_wants(DWELL_DETAIL_STACKS | 1u << DWELL_CATEGORY_FUNCTION))
		return probe_begin_among(id, category, __builtin_return_address(0));
	dwell_put_begin(id);
	return DWELL_BEGUN;
}

void dwell_end_id(unsigned began)
{
	dwell_end(began);
}

uint32_t dwell_intern(enum dwell_category category, const char *name, const char *detail)
{
	DW_KEEP_ERRNO;
	uint32_t id;

	dw_hold_enter();
	id = dw_session_head() ? dw_intern_made(category, name, detail, 0) : 0;

	dw_probe_note_operators(category);
	return id;
}

uint32_t dwell_intern_function(const void *address)
{
	DW_KEEP_ERRNO;

	return dw_session_head() ? dw_intern_function((uintptr_t)address) : 0;
}

uint32_t dwell_intern_args(const char *json)
{
	DW_KEEP_ERRNO;

	return dw_session_head() ? dw_intern_text(json) : 0;
}

/* Whether the caller interrupted the recorder where nothing can be added, and would be counted as lost. */
static bool probe_interrupts_recorder(void)
{
	const struct dwell_stream *stream = DW_LOAD(dwell_this_stream);
	const struct dw_slot *slot = (const struct dw_slot *)(const void *)stream;

	return dw_process_is_locked_here() ||
	       (stream != &dw_slot_none && DW_LOAD(slot->main.busy) && DW_LOAD(slot->nested.busy));
}

/* Samplers name frames in signal handlers, and try again at the next sample. */
uint32_t dwell_intern_frame(const char *function, const char *file, uint32_t line)
{
	DW_KEEP_ERRNO;

	return dw_session_head() && !probe_interrupts_recorder() ? dw_intern_frame(function, file, line) : 0;
}

uint32_t dwell_intern_stack(const uint32_t *frames, unsigned count)
{
	DW_KEEP_ERRNO;

	return count && dw_session_head() && !probe_interrupts_recorder() ? dw_intern_stack(frames, count) : 0;
}

bool dwell_intern_code(void *const *addresses, unsigned count, uint32_t *frames)
{
	DW_KEEP_ERRNO;

	return count && !probe_interrupts_recorder() && dw_module_frames(addresses, (int)count, true, frames);
}

bool dwell_sample(uint32_t frame, uint32_t stack, uint32_t weight)
{
	if (probe_interrupts_recorder())
		return false;
	if (dwell_wants(UINT32_MAX)) {
		probe_put_timed(DW_EXT_SAMPLE, (uint32_t[]){ frame, stack, weight }, DW_SAMPLE_WORDS - 2);
		dw_account_sample(weight);
	}
	return true;
}

void dwell_waited(uint32_t frame, uint32_t stack, uint32_t weight, uint32_t holder)
{
	/* In the recorder it is a wait for its own file. */
	if (dwell_wants(UINT32_MAX) && !probe_interrupts_recorder())
		probe_put_timed(DW_EXT_WAIT, (uint32_t[]){ frame, stack, weight, holder }, DW_WAIT_WORDS - 2);
}

/* Of devices, whose allocators have limits of their own, the process's address space says nothing. */
static __attribute__((noinline, cold)) void probe_put_failed(struct dwell_site *site, uint64_t bytes)
{
	struct dw_head *head = dw_session_head();
	uint64_t used = 0, limit = 0;
	DW_KEEP_ERRNO;

	if (!head)
		return;
	__atomic_fetch_or(&head->flags, DW_HEAD_FAILED_ALLOC, __ATOMIC_RELAXED);
	if (dw_may_call() && (!site->detail || strncmp(site->detail, "cpu", 3) == 0))
		dw_host_address_space(&used, &limit);
	probe_put_timed(DW_EXT_ALLOC_FAILED,
	                (uint32_t[]){ (uint32_t)bytes, (uint32_t)(bytes >> 32), (uint32_t)used, (uint32_t)(used >> 32),
	                              (uint32_t)limit, (uint32_t)(limit >> 32), dwell_site_id(site) },
	                DW_ALLOC_FAILED_WORDS - 2);
}

void dwell_heap(struct dwell_site *site, const void *address, uint64_t size_bytes, uint32_t stack)
{
	uint64_t at = (uintptr_t)address;
	uint32_t words[] = { (uint32_t)at, (uint32_t)(at >> 32), (uint32_t)size_bytes, (uint32_t)(size_bytes >> 32), 0, stack };

	if (!dwell_wants(1u << DWELL_CATEGORY_ALLOCATION) || probe_interrupts_recorder())
		return;
	if (!address) {
		probe_put_failed(site, size_bytes);
		return;
	}
	if (size_bytes)
		words[4] = dwell_site_id(site);
	probe_put_timed(DW_EXT_HEAP, words, size_bytes ? DW_HEAP_WORDS - 2 : DW_HEAP_FREE_WORDS - 2);
}

uint32_t dwell_intern_op(const char *name, const char *detail, const struct dwell_tensor *tensors,
                         unsigned count)
{
	DW_KEEP_ERRNO;

	return dw_session_head() ? dw_intern_made(DWELL_CATEGORY_OPERATOR, name, detail,
	                                           dw_intern_shapes(tensors, tensors ? count : 0)) : 0;
}

uint32_t dwell_intern_layer(const char *path, const char *type,
                            const struct dwell_tensor *parameters, unsigned count)
{
	DW_KEEP_ERRNO;

	if (!dw_session_head())
		return 0;
	return dw_intern_made(DWELL_CATEGORY_LAYER, path, type, parameters && count ? dw_intern_parameters(parameters, count) : 0);
}

/* ---- other records ---------------------------------------------------------------- */

static void probe_put_handle(uint32_t kind, struct dwell_site *site, uint64_t handle)
{
	if (dwell_wants(1u << site->category))
		probe_put_fast(kind, dwell_site_id(site), &handle, 2);
}

void dwell_async_begin(struct dwell_site *site, uint64_t handle)
{
	probe_put_handle(DW_ASYNC_BEGIN, site, handle);
}

void dwell_async_end(struct dwell_site *site, uint64_t handle)
{
	probe_put_handle(DW_ASYNC_END, site, handle);
}

void dwell_tokens(struct dwell_site *site, uint64_t handle, uint32_t count)
{
	if (dwell_wants(1u << site->category))
		probe_put_timed(DW_EXT_TOKENS, (uint32_t[]){ (uint32_t)handle, (uint32_t)(handle >> 32), dwell_site_id(site), count },
		                DW_TOKENS_WORDS - 2);
}

void dw_probe_answered(const char *name, uint64_t handle, const uint64_t at_ns[3], uint32_t sends)
{
	const struct dw_head *head = dw_session_head();
	uint32_t words[DW_ANSWERED_WORDS - 2] = { (uint32_t)handle, (uint32_t)(handle >> 32) };
	struct dw_clock_sample now;
	DW_KEEP_ERRNO;

	if (!head || !dwell_wants(1u << DWELL_CATEGORY_ZONE) || probe_interrupts_recorder())
		return;
	dw_clock_sample(DW_LOAD(dw_session.clock_kind), &now);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t at = now.ticks + DW_LOAD(dw_session.tick_offset) -
		              (uint64_t)((double)(now.monotonic_ns - at_ns[i]) * 1e-9 * (double)head->ticks_per_second);

		words[2 + 2 * i] = (uint32_t)at;
		words[3 + 2 * i] = (uint32_t)(at >> 32);
	}
	words[8] = dw_intern_made(DWELL_CATEGORY_ZONE, name, DW_DETAIL_ANSWERED, 0);
	words[9] = sends;
	probe_put_timed(DW_EXT_ANSWERED, words, DW_ANSWERED_WORDS - 2);
}

void dwell_flow_out(struct dwell_site *site, uint64_t handle)
{
	probe_put_handle(DW_FLOW_OUT, site, handle);
}

void dwell_flow_in(struct dwell_site *site, uint64_t handle)
{
	probe_put_handle(DW_FLOW_IN, site, handle);
}

void dwell_free(struct dwell_site *site, const void *address)
{
	probe_put_handle(DW_FREE, site, (uint64_t)(uintptr_t)address);
}

void dwell_alloc(struct dwell_site *site, const void *address, uint64_t size_bytes)
{
	uint64_t payload[2] = { (uint64_t)(uintptr_t)address, size_bytes };

	if (!dwell_wants(1u << site->category))
		return;
	if (DWELL_UNLIKELY(!address && size_bytes))
		probe_put_failed(site, size_bytes);
	else
		dwell_put_words(DW_WORD_ALLOC | dwell_site_id(site), payload, 4);
}

/* An EXT record with words has the full time, which is not before the last record's. */
void dwell_alloc_is(struct dwell_site *site, const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address;

	if (dwell_wants(1u << site->category))
		probe_put_timed(DW_EXT_ALLOC_IS, (uint32_t[]){ (uint32_t)at, (uint32_t)(at >> 32), dwell_site_id(site) },
		                DW_ALLOC_IS_WORDS - 2);
}

void dwell_counter(struct dwell_site *site, double value)
{
	if (dwell_wants(1u << site->category))
		probe_put_fast(DW_COUNTER, dwell_site_id(site), &value, 2);
}

void dwell_mark(struct dwell_site *site)
{
	if (dwell_wants(1u << site->category))
		probe_put_fast(DW_MARK, dwell_site_id(site), NULL, 0);
}

void dwell_end_of(uint32_t n)
{
	if (dw_session_head())
		probe_put_fast(DW_END_OF, 0, &n, 1);
}

void dwell_args(uint32_t text)
{
	if (text && dw_session_head())
		probe_put_fast(DW_ARGS, text, NULL, 0);
}

void dwell_args_next(struct dwell_site *site, uint32_t text)
{
	if (text && dwell_wants(1u << site->category))
		probe_put_timed(DW_EXT_ARGS_NEXT, (uint32_t[]){ text, dwell_site_id(site) }, DW_ARGS_NEXT_WORDS - 2);
}

uint32_t dwell_intern_group(const char *name)
{
	return dwell_intern_args(name);
}

void dwell_collective(uint32_t group, uint64_t sequence, uint64_t bytes)
{
	struct dw_head *head = dw_session_head();

	if (!head)
		return;
	/* Readers look for collectives only if the head has this flag. */
	if (DWELL_UNLIKELY(!(DW_LOAD(head->flags) & DW_HEAD_COLLECTIVES)))
		__atomic_fetch_or(&head->flags, DW_HEAD_COLLECTIVES, __ATOMIC_RELAXED);
	probe_put_timed(DW_EXT_COLLECTIVE,
	                (uint32_t[]){ group, (uint32_t)sequence, (uint32_t)(sequence >> 32), (uint32_t)bytes,
	                              (uint32_t)(bytes >> 32) },
	                DW_COLLECTIVE_WORDS - 2);
}

/* Readers search for ends by name only if the head has this flag. */
static void probe_note_named_ends(void)
{
	struct dw_head *head = dw_session_head();

	if (head && DWELL_UNLIKELY(!(DW_LOAD(head->flags) & DW_HEAD_NAMED_ENDS)))
		__atomic_fetch_or(&head->flags, DW_HEAD_NAMED_ENDS, __ATOMIC_RELAXED);
}

unsigned dwell_begin_named(uint32_t id, enum dwell_category category)
{
	if (!id || !dwell_wants(1u << category))
		return DWELL_NOT_BEGUN;
	probe_note_named_ends();
	dwell_put_begin(id);
	probe_put_fast(DW_EXT, DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT, NULL, 0);
	return id << 2 | BY_NAME;
}

void dwell_end_named(uint32_t id)
{
	dwell_end_named_of(id, 0);
}

void dwell_end_named_of(uint32_t id, uint32_t n)
{
	if (!id || !dw_session_head())
		return;
	probe_note_named_ends();
	probe_put_fast(DW_END_OF, id, &n, 1);
}

/* ---- autograd ----------------------------------------------------------------------- */

uint32_t dwell_link_thread(void)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	return slot ? slot->thread : 0;
}

void dwell_link(uint64_t sequence_number, uint32_t forward_thread)
{
	uint32_t payload[3] = { (uint32_t)sequence_number, (uint32_t)(sequence_number >> 32),
		                    forward_thread };

	if (dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		probe_put_fast(DW_LINK, 0, payload, 3);
}

void dwell_probe_lost(uint64_t records)
{
	DW_KEEP_ERRNO;

	if (dw_session_head())
		dw_slot_lost(dw_slot_here(NULL), DW_LOSS_PROBE, records);
}
