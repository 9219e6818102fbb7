/*
 * Operators: a range for each RecordFunction, in every thread.
 *
 * PyTorch calls on_start() and on_end() around each operator, mostly without the
 * interpreter's lock. The callbacks are built by hand (torch.h) and return no
 * context: a context would have to be a C++ object. Which call an end belongs to,
 * each thread knows from a stack of its own; a RecordFunction that another thread
 * ends is left in a list, and its own thread takes it off when it comes by.
 *
 * Invariant: no exception and no error leaves a callback.
 */
#include "torch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 512u
#define MOST_SCRIPT_FRAMES 64u /* the innermost */
#define CACHE 512u
#define SITES 16384u
#define NO_SEQUENCE UINT64_MAX

struct frame {
	const char *function; /* the RecordFunction */
	uint64_t sequence;    /* to be linked at the end; NO_SEQUENCE: it is not */
	unsigned began;
	uint8_t scope; /* enum torch_scope */
};

/* A name that came last from this address: one line of the processor's cache, since between
 * two operators PyTorch has used most of the others. */
struct known_name {
	const char *name;
	struct dwell_site *site;
	uint32_t id; /* 0: not known yet */
	uint16_t category;
	uint16_t length; /* of text, if same_text() can compare it; else 0 */
	char text[40];   /* "": longer, look at the site */
};

struct thread {
	uint32_t depth; /* may pass MOST_DEPTH: what lies deeper is not recorded */
	struct frame frames[MOST_DEPTH];
	_Alignas(64) struct known_name cache[CACHE];
	struct torch_shapes shapes[TORCH_SHAPES];
};

static __thread struct thread *this_thread __attribute__((tls_model("initial-exec")));

/* ---- threads ------------------------------------------------------------------------ */

/* PyTorch counts its threads from 1; a backward operator names its forward's. What the
 * recorder knows them by is told anew with each link: it changes in a child of fork. */
#define THREADS 1024u
static uint32_t link_threads[THREADS]; /* atomic */

static void link_forward(const struct frame *frame)
{
	uint32_t self = dwell_link_thread();
	uint64_t number = TORCH_WORD(frame->function, TORCH_THIS_THREAD);

	__atomic_store_n(&link_threads[number % THREADS], self, __ATOMIC_RELAXED);
	dwell_link(frame->sequence, 0);
}

static void link_backward(const struct frame *frame)
{
	uint32_t offset = dwell_torch_layout.forward_thread;
	uint64_t number = offset ? TORCH_WORD(frame->function, offset) : 0;

	dwell_link(frame->sequence,
	           number ? __atomic_load_n(&link_threads[number % THREADS], __ATOMIC_RELAXED) : 0);
}

/* ---- names -------------------------------------------------------------------------- */

/* By content and category, for the life of the process. */
static struct dwell_site *sites[SITES];
static uint32_t site_count;
static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static struct dwell_site other_names = { "(other names)", NULL, NULL, 0, DWELL_CATEGORY_ZONE, 0 };

static struct dwell_site *new_site(const char *name, uint32_t category)
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

static struct dwell_site *find_site(const char *name, uint32_t category)
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
		site = site_count < SITES / 2 ? sites[at] = new_site(name, category) : &other_names;
	pthread_mutex_unlock(&sites_lock);
	return site;
}

static __attribute__((noinline)) void learn_name(struct known_name *known, const char *name,
                                                 uint32_t category)
{
	size_t length = strlen(name);

	known->name = name;
	known->site = find_site(name, category);
	known->id = dwell_site_id(known->site);
	known->category = (uint16_t)category;
	known->length = length >= 7 && length < sizeof known->text ? (uint16_t)length : 0;
	memset(known->text, 0, sizeof known->text);
	if (length < sizeof known->text)
		memcpy(known->text, name, length);
}

static inline uint64_t word_at(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return word;
}

/* Of at least 8 bytes; a call of libc costs more than the comparison. */
static inline bool same_text(const char *a, const char *b, size_t bytes)
{
	for (size_t i = 0; i + 8 < bytes; i += 8)
		if (word_at(a + i) != word_at(b + i))
			return false;
	return word_at(a + bytes - 8) == word_at(b + bytes - 8);
}

static inline bool is_named(const struct known_name *known, const char *name, size_t length)
{
	if (DWELL_LIKELY(length && length == known->length))
		return same_text(known->text, name, length + 1);
	return strcmp(*known->text ? known->text : known->site->name, name) == 0;
}

/* Compared by content: names that a program makes reuse addresses. */
static inline struct known_name *name_of(struct thread *thread, const char *function, uint32_t category)
{
	const struct torch_layout *layout = &dwell_torch_layout;
	size_t length = 0; /* not known */
	const char *name;

	if (DWELL_LIKELY(layout->schema && TORCH_HAS_SCHEMA(function, layout->schema))) {
		const char *schema = TORCH_POINTER(function, layout->schema);

		name = TORCH_POINTER(schema, 0);
		length = TORCH_WORD(schema, 8);
	} else {
		name = layout->name(function);
	}
	uint32_t at = (uint32_t)(((uintptr_t)name >> 4) * 0x9e3779b1u) >> 23;
	struct known_name *known = &thread->cache[at % CACHE];

	if (DWELL_UNLIKELY(known->name != name || known->category != category || !known->id ||
	                   !is_named(known, name, length)))
		learn_name(known, name, category);
	return known;
}

/* ---- ends from other threads -------------------------------------------------------------- */

#define MOST_STRAYS 64u
static const char *strays[MOST_STRAYS]; /* atomic */
static uint32_t stray_count;            /* atomic */

static void leave_stray(const char *function)
{
	for (uint32_t i = 0; i < MOST_STRAYS; i++) {
		const char *none = NULL;

		if (__atomic_compare_exchange_n(&strays[i], &none, function, false, __ATOMIC_RELEASE,
		                                __ATOMIC_RELAXED)) {
			__atomic_fetch_add(&stray_count, 1, __ATOMIC_RELEASE);
			return;
		}
	}
}

static void end_frame(struct thread *thread, uint32_t at)
{
	uint32_t inner = thread->depth - 1 - at, open = 0;

	for (uint32_t i = at + 1; i < thread->depth; i++)
		open += thread->frames[i].began != DWELL_NOT_BEGUN;
	if (thread->frames[at].began == DWELL_BEGUN && open)
		dwell_end_of(open);
	else
		dwell_end(thread->frames[at].began); /* with a name it finds its range itself */
	memmove(&thread->frames[at], &thread->frames[at + 1], inner * sizeof thread->frames[0]);
	thread->depth--;
}

static void take_strays(struct thread *thread)
{
	for (uint32_t i = 0; i < MOST_STRAYS; i++) {
		const char *function = __atomic_load_n(&strays[i], __ATOMIC_ACQUIRE);

		for (uint32_t at = thread->depth; function && at-- > 0;)
			if (at < MOST_DEPTH && thread->frames[at].function == function) {
				end_frame(thread, at);
				__atomic_store_n(&strays[i], NULL, __ATOMIC_RELEASE);
				__atomic_fetch_sub(&stray_count, 1, __ATOMIC_RELAXED);
				break;
			}
	}
}

/* ---- the callbacks ------------------------------------------------------------------------- */

/* The stack of the innermost frame, if it is the program's or a script's call; 0: none. What
 * operators call has their caller's. A script goes on in a pool's thread after a wait: there
 * nothing lies around its calls. */
static uint32_t stack_of(const struct thread *thread)
{
	uint32_t frames[MOST_SCRIPT_FRAMES], at = thread->depth - 1;

	while (at > 0 && thread->frames[at - 1].scope == TORCH_USER)
		at--;
	if (at && thread->frames[at - 1].scope != TORCH_SCRIPT)
		return 0;
	return dwell_python_stack(frames, dwell_script_frames(frames, MOST_SCRIPT_FRAMES));
}

/* Bits of the gate that ask for more than a range. */
#define MORE (DWELL_DETAIL_SHAPES | DWELL_DETAIL_STACKS | DWELL_DETAIL_LAYERS | 1u << DWELL_CATEGORY_FUNCTION)

static __attribute__((noinline)) unsigned begin_with_stack(const struct thread *thread,
                                                           const char *function, struct dwell_site *site,
                                                           bool shapes)
{
	struct dwell_tensor tensors[TORCH_MOST_TENSORS];
	unsigned count = shapes ? dwell_shapes_of(function, tensors) : 0;
	uint32_t stack = stack_of(thread);

	return stack ? dwell_op_begin_from(site, tensors, count, stack) : dwell_op_begin(site, tensors, count);
}

static __attribute__((noinline)) unsigned begin_more(struct thread *thread, const char *function,
                                                     struct dwell_site *site)
{
	bool shapes = dwell_torch_layout.inputs && dwell_wants(DWELL_DETAIL_SHAPES);
	uint32_t id = 0;

	if (site->category != DWELL_CATEGORY_OPERATOR)
		return dwell_begin(site);
	if (dwell_wants(DWELL_DETAIL_STACKS))
		return begin_with_stack(thread, function, site, shapes);
	if (shapes)
		id = dwell_shapes_id(thread->shapes, function, site);
	if (!id)
		return dwell_begin(site);
	dwell_put_begin(id);
	return DWELL_BEGUN;
}

static inline unsigned begin(struct thread *thread, const char *function, uint32_t category)
{
	const struct known_name *known = name_of(thread, function, category);

	if (DWELL_UNLIKELY(!dwell_wants(1u << category)))
		return DWELL_NOT_BEGUN;
	if (DWELL_UNLIKELY(dwell_wants(MORE)))
		return begin_more(thread, function, known->site);
	dwell_put_begin(known->id);
	return DWELL_BEGUN;
}

static struct thread *new_thread(void)
{
	struct thread *thread = aligned_alloc(64, sizeof *thread);

	if (thread)
		memset(thread, 0, sizeof *thread);
	return this_thread = thread;
}

TORCH_START(on_start, start)

static void start(const char *function)
{
	const struct torch_layout *layout = &dwell_torch_layout;
	struct thread *thread = this_thread;
	uint8_t scope = TORCH_SCOPE(function);

	if (DWELL_UNLIKELY(!thread) && !(thread = new_thread()))
		return;
	if (DWELL_UNLIKELY(__atomic_load_n(&stray_count, __ATOMIC_ACQUIRE)) && thread->depth)
		take_strays(thread);
	if (DWELL_UNLIKELY(thread->depth >= MOST_DEPTH))
		return;
	struct frame *frame = &thread->frames[thread->depth++];
	frame->function = function;
	frame->scope = scope;
	frame->sequence = layout->sequence ? TORCH_WORD(function, layout->sequence) : NO_SEQUENCE;
	frame->began = begin(thread, function, scope == TORCH_USER ? DWELL_CATEGORY_ZONE
	                                                           : DWELL_CATEGORY_OPERATOR);
	if (DWELL_UNLIKELY(scope == TORCH_BACKWARD)) {
		if (frame->began && frame->sequence != NO_SEQUENCE)
			link_backward(frame);
		frame->sequence = NO_SEQUENCE;
	}
}

/* Not the innermost, or none of this thread's. */
static __attribute__((noinline)) void end_other(struct thread *thread, const char *function)
{
	uint32_t at = thread ? thread->depth : 0;

	while (at > 0 && thread->frames[at - 1].function != function)
		at--;
	if (at)
		end_frame(thread, at - 1);
	else
		leave_stray(function);
}

/* A forward operator is linked when it has made a node of the graph: only then has
 * its sequence number a backward. */
static void on_end(const char *function, void *context)
{
	struct thread *thread = this_thread;
	struct frame *frame;

	if (DWELL_UNLIKELY(!thread || !thread->depth ||
	                   thread->frames[thread->depth - 1].function != function)) {
		end_other(thread, function);
		return;
	}
	frame = &thread->frames[thread->depth - 1];
	if (frame->sequence != NO_SEQUENCE && frame->began &&
	    dwell_torch_layout.next_sequence() > frame->sequence)
		link_forward(frame);
	dwell_end(frame->began);
	thread->depth--;
}

/* ---- the gate ------------------------------------------------------------------------------ */

static uint64_t handle;
static bool armed, armed_with_shapes, armed_with_stacks;

void dwell_operators_follow_gate(void)
{
	bool wanted = dwell_wants(1u << DWELL_CATEGORY_OPERATOR | 1u << DWELL_CATEGORY_ZONE);
	bool shapes = wanted && dwell_wants(DWELL_DETAIL_SHAPES) && dwell_torch_layout.inputs;
	bool stacks = wanted && dwell_wants(DWELL_DETAIL_STACKS);
	struct torch_callback callback = { (torch_start *)on_start, on_end, 1.0, { 0 }, shapes, 0, 0 };

	if (!dwell_torch_layout.add ||
	    (armed == wanted && armed_with_shapes == shapes && armed_with_stacks == stacks))
		return;
	if (armed)
		dwell_torch_layout.remove(handle);
	if (stacks)
		dwell_script_find();
	callback.scopes[TORCH_FUNCTION] = callback.scopes[TORCH_BACKWARD] = 1;
	callback.scopes[TORCH_SCRIPT] = callback.scopes[TORCH_USER] = 1;
	if (wanted)
		handle = dwell_torch_layout.add(callback);
	armed = wanted;
	armed_with_shapes = shapes;
	armed_with_stacks = stacks;
}
