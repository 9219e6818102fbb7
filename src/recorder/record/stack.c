/*
 * Call stacks: where an operator was called from.
 *
 * On the thread's own stack the recorder follows frame pointers. In code that was built without
 * frame pointers, a frame pointer may have any value. So a frame is read only if it is between
 * the stack pointer and the end of the stack, and only after each page in between was found to
 * be readable. The bounds of any other stack (a coroutine's, a signal handler's) are unknown.
 * There the kernel copies each frame, and the walk ends at the first return address that is not
 * in code. Libc's unwinder is not used on such stacks: it trusts the return address of a
 * coroutine's first frame, which may be any number.
 *
 * A walk is identified by the hash of its return addresses. The first walk with a hash is
 * compared with the unwinder's result. If both agree, the hash identifies the stack from then
 * on. If they differ, code without frame pointers hides some callers, and different stacks may
 * have the same hash. Such a stack is identified by the words of stack memory that hold its
 * return addresses: while they are unchanged, the stack is the same. If they changed, the
 * unwinder is called again, which is correct but slow.
 *
 * Each step along the frame pointers waits for a load from memory. So each thread remembers its
 * last walk. When a new walk reaches a frame of the last walk, the remaining frames are compared
 * with the remembered ones, and the processor does these loads in parallel. The result is still
 * exact, because caller and return address of every frame are compared. All these frames can be
 * read: they are on the thread's own stack, above the frame that was reached. A signal handler
 * that interrupts a walk goes frame by frame and remembers nothing.
 */
#include "record/ids.h"
#include "record/record.h"
#include "record/stacks.h"
#include "record/thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/system/system.h"

/* Declared in <execinfo.h>, which other C libraries do not have. */
#ifdef __GLIBC__
extern int backtrace(void **addresses, int most) __attribute__((__visibility__("default")));
#else
/* Without an unwinder, a stack ends where the frame pointers end. */
static __attribute__((__noinline__)) int backtrace(void **addresses, int most)
{
	addresses[0] = NULL;
	__asm__ volatile("" : : "r"(addresses), "r"(most) : "memory");
	return 0;
}
#endif

#define DEEPEST DW_STACK_DEEPEST
#define MOST_OWN 8 /* the most frames that the recorder itself has on the stack */

#define LEAST_PAGE 4096u
#define MOST_STACK_BYTES ((uintptr_t)64 << 20) /* a deeper stack is left to the unwinder */
#define LONGEST_STEP ((uintptr_t)1 << 20) /* to a caller's frame, on other stacks */
#define NEW_STACK_BYTES 16384u /* what the lookup of a new stack may need below the current frame */

/* The initial hash of stacks that are not the thread's own. */
#define OTHER_STACK 0x6f74686572u

/* A flag in the cached id: the walk missed frames, so several stacks may have this hash. */
#define NOT_WHOLE (1u << 31)

struct frame {
	const struct frame *caller;
	uintptr_t return_address;
};

/* ---- the thread's own stack ------------------------------------------------------------ */

/* Whether the word at an address can be read. The system call has an invalid `how`. The kernel
 * copies the word before it rejects `how`, so EFAULT means that the word cannot be read. */
static bool stack_kernel_reads(uintptr_t at)
{
	return dw_may_call() && dw_call(SYS_rt_sigprocmask, -1, at & ~(uintptr_t)7, NULL, 8) != -EFAULT;
}

static bool stack_can_read(uintptr_t at)
{
	static int8_t reliable; /* atomic; 0 means not known, -1 that all addresses seem readable */

	if (!DW_LOAD(reliable) && dw_may_call())
		DW_STORE(reliable, (int8_t)(stack_kernel_reads(8) ? -1 : 1));
	return DW_LOAD(reliable) > 0 && stack_kernel_reads(at);
}

/* The end of the thread's own stack: an address above all of its frames, up to which the stack
 * can be read. libc keeps its data about a thread at the end of the thread's stack. At the end
 * of the first thread's stack the kernel stores random bytes. */
static uintptr_t stack_end(void)
{
	bool first = dw_gettid() == dw_getpid();

	return first ? (uintptr_t)getauxval(AT_RANDOM) & ~(uintptr_t)15 : (uintptr_t)pthread_self();
}

/* Whether `here` is on the thread's own stack. It is if all pages from it to the stack's end can
 * be read: between any other stack and that end is a guard page or an unmapped page. */
static bool stack_reaches_end(struct dw_slot *slot, uintptr_t here)
{
	uintptr_t page;

	if (!dw_may_call())
		return false;
	if (!slot->stack_high) {
		slot->stack_high = stack_end();
		slot->stack_low = slot->stack_high;
		slot->stack_floor = 0;
		slot->walked.count = 0;
	}
	if (here >= slot->stack_high || here < slot->stack_floor ||
	    slot->stack_high - here > MOST_STACK_BYTES)
		return false;
	for (page = slot->stack_low & ~(uintptr_t)(LEAST_PAGE - 1); page > here; page -= LEAST_PAGE)
		if (!stack_can_read(page - LEAST_PAGE)) {
			slot->stack_floor = page;
			return false;
		}
	slot->stack_low = page;
	return true;
}

static inline bool on_own_stack(struct dw_slot *slot, uintptr_t here)
{
	return (here >= slot->stack_low && here < slot->stack_high) || stack_reaches_end(slot, here);
}

/* Whether the current stack has enough space below for the lookup of a new call stack. */
static bool stack_has_space(uintptr_t here)
{
	for (uintptr_t below = LEAST_PAGE; below <= NEW_STACK_BYTES; below += LEAST_PAGE)
		if (!stack_can_read(here - below))
			return false;
	return true;
}

/* ---- the walk ------------------------------------------------------------------- */

static bool stack_is_readable(uintptr_t at, uintptr_t low, uintptr_t high)
{
	return at >= low && at <= high - sizeof(struct frame) && at % sizeof(uintptr_t) == 0;
}

/* Hashes from the outermost frame inwards, so that each frame has the hash of its callers. */
static uint64_t stack_hash_on(uint64_t hash, uintptr_t return_address)
{
	hash = (hash ^ return_address) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Frames of one walk, innermost first. */
struct way {
	uintptr_t frames[DEEPEST], addresses[DEEPEST];
	int count;      /* frames that were walked one by one */
	uint32_t known; /* outer frames that are the same as in the last walk */
	uintptr_t end;  /* the caller's frame in the outermost frame */
};

/* 0 if the frame at `i` of the last walk is as it was, called by the frame at `caller`. */
static inline uintptr_t stack_frame_differs(const struct dw_walked *walked, uint32_t i, uintptr_t caller)
{
	const struct frame *frame = (const struct frame *)walked->at[i].frame;

	return ((uintptr_t)frame->caller ^ caller) | (frame->return_address ^ walked->at[i].return_address);
}

/* Whether one of the outermost `count` frames of the last walk differs from the stack as it is now.
 * The loop has no branch, because a branch would make each load wait for the one before. */
static bool stack_differs(const struct dw_walked *walked, uint32_t count)
{
	uintptr_t caller = walked->end, differs = 0;

	for (uint32_t i = 0; i < count; i++) {
		differs |= stack_frame_differs(walked, i, caller);
		caller = walked->at[i].frame;
	}
	return differs != 0;
}

/* The number of frames from the outermost one to the innermost one that changed. */
static uint32_t stack_has_changed(const struct dw_walked *walked, uint32_t count)
{
	while (count > 1 && !stack_frame_differs(walked, count - 1, walked->at[count - 2].frame))
		count--;
	return count;
}

static void stack_push(struct way *way, uintptr_t frame, uintptr_t return_address)
{
	way->frames[way->count] = frame;
	way->addresses[way->count++] = return_address;
}

/* Called at a frame that is also in the last walk. If no frame from there on has changed, the
 * walk is complete: true. Otherwise appends the unchanged inner frames, and the walk goes on at
 * `at`. */
static bool stack_compare(struct way *way, uintptr_t *at, const struct dw_walked *walked,
                          uint32_t *known)
{
	uint32_t left;

	if (way->count + (int)*known >= DEEPEST) {
		*known = 0;
		return false;
	}
	if (DWELL_LIKELY(!stack_differs(walked, *known))) {
		way->known = *known;
		return true;
	}
	left = stack_has_changed(walked, *known);
	for (; *known > left; --*known)
		stack_push(way, walked->at[*known - 1].frame, walked->at[*known - 1].return_address);
	*at = walked->at[left - 1].frame;
	*known = left - 1; /* that frame has changed */
	return false;
}

/* Walks from the frame at `at` outwards. A frame without a return address ends the walk. It is
 * remembered with the others, because it may have a return address at the next walk. */
static void stack_walk(struct way *way, uintptr_t at, uintptr_t high, const struct dw_walked *walked,
                       uint32_t known)
{
	uintptr_t low = at;

	way->count = 0;
	way->known = 0;
	way->end = 0;
	while (way->count < DEEPEST && stack_is_readable(at, low, high)) {
		const struct frame *frame;

		while (known && walked->at[known - 1].frame < at)
			known--;
		frame = (const struct frame *)at;
		if (known && walked->at[known - 1].frame == at) {
			/* the innermost frames often differ, which this comparison shows at once */
			if (frame->return_address != walked->at[known - 1].return_address)
				known--;
			else if (stack_compare(way, &at, walked, &known))
				return;
			frame = (const struct frame *)at;
		}
		stack_push(way, at, frame->return_address);
		low = at + sizeof *frame;
		at = (uintptr_t)frame->caller;
		if (!frame->return_address)
			break;
	}
	way->end = at;
}

/* Computes the walk's hash and remembers the walk. A walk that was cut short is not remembered,
 * because its last frame is not the thread's outermost one. */
static uint64_t stack_keep(struct dw_walked *walked, const struct way *way, bool ours)
{
	bool whole = ours && way->known + (uint32_t)way->count < DEEPEST;
	uint64_t hash = way->known ? walked->at[way->known - 1].hash : 1;
	uint32_t at = way->known;

	for (int i = way->count; i-- > 0; at++) {
		hash = stack_hash_on(hash, way->addresses[i]);
		if (!whole)
			continue;
		walked->at[at].frame = way->frames[i];
		walked->at[at].return_address = way->addresses[i];
		walked->at[at].hash = hash;
	}
	if (whole) {
		walked->count = at;
		walked->end = way->known ? walked->end : way->end;
	}
	return hash;
}

/* All return addresses, innermost first. */
static int stack_list(const struct way *way, const struct dw_walked *walked, void **addresses)
{
	int count = 0;

	for (int i = 0; i < way->count; i++)
		addresses[count++] = (void *)way->addresses[i];
	for (uint32_t i = way->known; i-- > 0;)
		addresses[count++] = (void *)walked->at[i].return_address;
	return count && !addresses[count - 1] ? count - 1 : count;
}

/* ---- interning ------------------------------------------------------------------ */

static uint32_t intern_stack(void *const *addresses, int count)
{
	uint32_t frames[DEEPEST];

	if (!count || !dw_module_frames(addresses, count, false, frames))
		return 0;
	return dw_intern_stack(frames, (uint32_t)count);
}

/* Whether the walk reached the function in which threads start, which is in libc. */
static bool stack_came_down(void *const *addresses, int count)
{
	return count > 0 && dw_module_is_libc((uintptr_t)addresses[count - 1] - 1);
}

static void stack_remember(struct dw_slot *slot, uint64_t hash, uint32_t id)
{
	uint32_t at = (uint32_t)hash % DW_STACK_CACHE;

	slot->stacks[at].id = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->stacks[at].hash = hash;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->stacks[at].id = id;
}

/* The return addresses that the unwinder finds from `caller` outwards; 0 means it finds none. */
__attribute__((noinline)) static int stack_unwind(void **addresses, const void *caller)
{
	int count = backtrace(addresses, DEEPEST), own = 0;

	while (own < count && addresses[own] != caller)
		own++;
	if (own >= count)
		return count; /* the unwinder did not get out of the recorder's own frames */
	for (int i = own; i < count; i++)
		addresses[i - own] = addresses[i];
	return count - own;
}

/* Whether the walk is complete: it agrees with the unwinder on all frames that both found, and
 * it ends where threads start or not before the unwinder's last frame. */
static bool stack_is_whole(void *const *walked, int walked_count, void *const *unwound, int unwound_count)
{
	int both = walked_count < unwound_count ? walked_count : unwound_count;

	if (memcmp(walked, unwound, (size_t)both * sizeof *walked) != 0)
		return false;
	return walked_count >= unwound_count || stack_came_down(walked, walked_count);
}

/* ---- stacks without frame pointers ---------------------------------------------------- */

#define SETS 64u
#define WAYS 4u
#define MOST_WORDS 192u

/* A cache of the call stacks that libc's unwinder found, by hash and frame. `words` are the places
 * in stack memory that held the stack's return addresses, and their values. While these values are
 * unchanged, the call stack is the same. */
struct dw_unwound {
	uint32_t next;
	struct unwound_stack {
		uint64_t key;    /* 0 means the place is empty */
		uint32_t id, count;
		struct {
			uintptr_t place, value;
		} words[MOST_WORDS];
	} stacks[SETS * WAYS];
};

static uint64_t stack_unwound_key(uint64_t hash, uintptr_t frame)
{
	return stack_hash_on(hash, frame) | 1;
}

/* The words may be local variables of any function, which sanitizers guard. */
__attribute__((no_sanitize_address, no_sanitize_thread, noinline)) static bool
is_unchanged(const struct unwound_stack *stack)
{
	uintptr_t differs = 0;

	for (uint32_t i = 0; i < stack->count; i++)
		differs |= *(const volatile uintptr_t *)stack->words[i].place ^ stack->words[i].value;
	return !differs;
}

/* The words can be read: they are between `frame`, a part of the key, and the stack's end. */
static uint32_t stack_find_unwound(const struct dw_unwound *unwound, uint64_t key)
{
	const struct unwound_stack *set = unwound ? &unwound->stacks[key >> 32 & (SETS - 1)] : NULL;

	for (uint32_t way = 0; set && way < WAYS; way++, set += SETS)
		if (set->key == key && is_unchanged(set))
			return set->id;
	return 0;
}

static bool stack_is_one_of(void *const *addresses, int count, uintptr_t word, uint32_t *seen)
{
	bool is = false;

	for (int i = 0; i < count; i++)
		if ((uintptr_t)addresses[i] == word) {
			seen[i / 32] |= 1u << i % 32;
			is = true;
		}
	return is;
}

static uint32_t stack_filter_bit(uintptr_t address)
{
	return (uint32_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 56);
}

/* False if there are too many words, or if no word holds some address because it was signed. */
__attribute__((no_sanitize_address, no_sanitize_thread, noinline)) static bool
find_words(struct unwound_stack *stack, void *const *addresses, int count, uintptr_t low,
           uintptr_t high)
{
	uint32_t filter[8] = { 0 }, seen[(DEEPEST + 31) / 32] = { 0 };

	stack->count = 0;
	for (int i = 0; i < count; i++) {
		uint32_t bit = stack_filter_bit((uintptr_t)addresses[i]);

		filter[bit / 32] |= 1u << bit % 32;
	}
	for (uintptr_t at = low; at < high; at += sizeof(uintptr_t)) {
		uintptr_t word = *(const volatile uintptr_t *)at;
		uint32_t bit = stack_filter_bit(word);

		if (!(filter[bit / 32] >> bit % 32 & 1) || !stack_is_one_of(addresses, count, word, seen))
			continue;
		if (stack->count == MOST_WORDS)
			return false;
		stack->words[stack->count].place = at;
		stack->words[stack->count++].value = word;
	}
	for (int i = 0; i < count; i++)
		if (!(seen[i / 32] >> i % 32 & 1))
			return false;
	return true;
}

/* `frame` is the first frame outside the recorder: it holds the first return address. */
static void stack_remember_unwound(struct dw_slot *slot, uint64_t key, uint32_t id, void *const *addresses,
                                   int count, uintptr_t frame)
{
	struct unwound_stack *stack;

	if (!slot->unwound)
		slot->unwound = dw_intern_memory(sizeof *slot->unwound);
	if (!slot->unwound)
		return;
	stack = &slot->unwound->stacks[(key >> 32 & (SETS - 1)) + SETS * (slot->unwound->next++ % WAYS)];
	stack->key = 0;
	/* In a deep stack the outermost frames are cut off, and so are the words of their addresses. */
	if (!find_words(stack, addresses, count, frame, slot->stack_high))
		return;
	stack->id = id;
	stack->key = key;
}

/* ---- this moment -------------------------------------------------------------------------- */

/* Skips the recorder's own frames, which are innermost; returns `at` if `caller` is not found. */
static uintptr_t stack_beyond_own(uintptr_t at, uintptr_t high, const void *caller)
{
	uintptr_t low = at, own = at;

	for (int i = 0; i < MOST_OWN && stack_is_readable(at, low, high); i++) {
		const struct frame *frame = (const struct frame *)at;

		if (frame->return_address == (uintptr_t)caller)
			return at;
		low = at + sizeof *frame;
		at = (uintptr_t)frame->caller;
	}
	return own;
}

/* Stacks are identified by code addresses, which other code may have after an unloading. */
static void stack_forget_if_unloaded(struct dw_slot *slot)
{
	uint32_t generation = __atomic_load_n(&dwell_code_generation, __ATOMIC_ACQUIRE);

	if (DWELL_LIKELY(slot->code_generation == generation))
		return;
	memset(slot->stacks, 0, sizeof slot->stacks);
	for (uint32_t i = 0; slot->unwound && i < SETS * WAYS; i++)
		slot->unwound->stacks[i].key = 0;
	slot->code_generation = generation;
}

/* The call stack on a stack that is not the thread's own, where only frame pointers are usable. */
__attribute__((noinline)) static uint32_t other_stack(struct dw_slot *slot, uintptr_t at,
                                                      const void *caller, bool ours)
{
	void *addresses[DEEPEST];
	struct frame frame;
	uint64_t hash = OTHER_STACK;
	int own = MOST_OWN, count = 0, code = 0;
	uint32_t id;

	if (ours)
		stack_forget_if_unloaded(slot);
	while (count < DEEPEST && dw_read_memory(&frame, at, sizeof frame) == sizeof frame) {
		uintptr_t next = (uintptr_t)frame.caller;

		if (count || frame.return_address == (uintptr_t)caller) {
			addresses[count++] = (void *)frame.return_address;
			hash = stack_hash_on(hash, frame.return_address);
		} else if (!--own) {
			break;
		}
		if (next <= at || next - at > LONGEST_STEP || next % sizeof(uintptr_t))
			break;
		at = next;
	}
	id = slot->stacks[(uint32_t)hash % DW_STACK_CACHE].id;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (id && slot->stacks[(uint32_t)hash % DW_STACK_CACHE].hash == hash)
		return id;
	if (!stack_has_space((uintptr_t)__builtin_frame_address(0)))
		return 0;
	while (code < count && dw_module_is_code((uintptr_t)addresses[code] - 1))
		code++;
	id = intern_stack(addresses, code);
	if (id)
		stack_remember(slot, hash, id);
	return id;
}

/* For a walk whose hash is new (`known` is 0) or is shared by several stacks. */
__attribute__((noinline)) static uint32_t new_stack(struct dw_slot *slot, uint64_t hash, uint32_t known,
                                                    const struct way *way, const void *caller,
                                                    uintptr_t frame, bool ours)
{
	uint64_t key = stack_unwound_key(hash, frame);
	void *addresses[DEEPEST], *unwound[DEEPEST];
	int count, got;
	uint32_t id = known && ours ? stack_find_unwound(slot->unwound, key) : 0;

	if (id || !stack_has_space((uintptr_t)__builtin_frame_address(0)))
		return id;
	count = stack_list(way, &slot->walked, addresses);
	got = stack_unwind(unwound, caller);
	if (!known && stack_is_whole(addresses, count, unwound, got)) {
		id = intern_stack(addresses, count);
		if (id)
			stack_remember(slot, hash, id);
		return id;
	}
	id = intern_stack(unwound, got);
	if (id && ours) {
		stack_remember(slot, hash, id | NOT_WHOLE);
		stack_remember_unwound(slot, key, id, unwound, got, frame);
	}
	return id;
}

void dw_stack_prepare(uint32_t mask)
{
	static bool prepared;
	void *address;

	if (prepared || mask & DWELL_MASK_NONE || !(mask & DWELL_DETAIL_STACKS))
		return;
	prepared = true;
	(void)backtrace(&address, 1); /* libc loads its unwinder, which allocates */
}

__attribute__((noinline)) uint32_t dw_stack_here(struct dw_slot *slot, const void *caller)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), frame;
	struct dw_walked *walked = &slot->walked;
	bool ours = !walked->busy;
	struct way way;
	uint64_t hash;
	uint32_t at, id;

	if (DWELL_UNLIKELY(!on_own_stack(slot, here)))
		return other_stack(slot, here, caller, ours);
	walked->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ours)
		stack_forget_if_unloaded(slot);
	frame = stack_beyond_own(here, slot->stack_high, caller);
	stack_walk(&way, frame, slot->stack_high, walked, ours ? walked->count : 0);
	hash = stack_keep(walked, &way, ours);
	at = (uint32_t)hash % DW_STACK_CACHE;
	id = slot->stacks[at].id; /* before the hash: a handler may put another stack there */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->stacks[at].hash != hash)
		id = 0;
	if (DWELL_UNLIKELY(!id || id & NOT_WHOLE))
		id = new_stack(slot, hash, id, &way, caller, frame, ours);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	walked->busy = !ours;
	return id;
}
