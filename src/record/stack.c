/*
 * Call stacks: where an operator was called from.
 *
 * The frame pointers are walked, each checked to lie on this thread's stack
 * before it is read, so that code built without them can end the walk but never
 * break it. A walk that did not come down to the thread's start was misled by such
 * code, and libc's unwinder is asked instead: slower, and not to be called in a
 * signal handler that interrupted it, which is why it is second. A stack is
 * remembered by the hash of its addresses; only new ones are looked up and interned.
 *
 * Following frame pointers waits for memory at each step. So each thread remembers its
 * last walk: where a walk meets a frame of that one, the rest is compared with what was
 * remembered, all loads at once. It is a walk all the same: each frame must still say
 * what it said, caller and return address, up to the last. A signal handler that comes
 * while a walk is under way goes frame by frame and remembers nothing.
 */
#include "record/record.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEEPEST DW_STACK_DEEPEST
#define MOST_OWN 8 /* frames of the recorder around a walk */

struct frame {
	const struct frame *caller;
	uintptr_t return_address;
};

/* ---- the walk ------------------------------------------------------------------- */

static uintptr_t hex(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* The end of the mapping that the stack pointer is in: all below it can be read. */
static uintptr_t stack_high(uintptr_t here)
{
	char buffer[4096];
	size_t held = 0;
	ssize_t got;
	uintptr_t result = here;
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return here;
	while ((got = read(file, buffer + held, sizeof buffer - 1 - held)) > 0) {
		char *line = buffer, *end;

		held += (size_t)got;
		buffer[held] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			const char *at = line;
			uintptr_t low = hex(&at), high = (at++, hex(&at));

			if (here >= low && here < high)
				result = high;
		}
		held -= (size_t)(line - buffer);
		memmove(buffer, line, held);
		if (result != here || held >= sizeof buffer - 1)
			break;
	}
	close(file);
	return result;
}

static bool readable(uintptr_t at, uintptr_t low, uintptr_t high)
{
	return at >= low && at + sizeof(struct frame) <= high && at % sizeof(uintptr_t) == 0;
}

/* From the outermost frame in, so that what lies around a frame has a hash of its own. */
static uint64_t hash_on(uint64_t hash, uintptr_t return_address)
{
	hash = (hash ^ return_address) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Frames of one walk, innermost first. */
struct way {
	uintptr_t frames[DEEPEST], addresses[DEEPEST];
	int count;      /* walked frame by frame */
	uint32_t known; /* and then so many of the last walk */
	uintptr_t end;  /* what the last one of them all says called it */
};

/* How many of the outermost `count` frames of the last walk are left when the inner ones
 * that say what they said are taken off: 0, all do. No branch within: it would make each
 * load wait for the one before. */
static uint32_t changed(const struct dw_walked *walked, uint32_t count)
{
	uintptr_t caller = walked->end;
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = (const struct frame *)walked->at[i].frame;
		uintptr_t differs = ((uintptr_t)frame->caller ^ caller) |
		                    (frame->return_address ^ walked->at[i].return_address);

		left = differs ? i + 1 : left;
		caller = (uintptr_t)frame;
	}
	return left;
}

static void push(struct way *way, uintptr_t frame, uintptr_t return_address)
{
	way->frames[way->count] = frame;
	way->addresses[way->count++] = return_address;
}

/* At a frame that the last walk met too. Goes over those that are as they were: all, and
 * the walk is done, or some, and it goes on at `at`. */
static bool compare(struct way *way, uintptr_t *at, const struct dw_walked *walked, uint32_t *known)
{
	uint32_t left;

	if (way->count + (int)*known >= DEEPEST) {
		*known = 0;
		return false;
	}
	left = changed(walked, *known);
	if (!left) {
		way->known = *known;
		return true;
	}
	for (; *known > left; --*known)
		push(way, walked->at[*known - 1].frame, walked->at[*known - 1].return_address);
	*at = walked->at[left - 1].frame;
	*known = left - 1; /* that one is another one now */
	return false;
}

/* From the frame at `at` on. A frame without a return address ends it, and is remembered
 * with the others: it may have one next time. */
static void walk(struct way *way, uintptr_t at, uintptr_t high, const struct dw_walked *walked,
                 uint32_t known)
{
	uintptr_t low = at;

	way->count = 0;
	way->known = 0;
	way->end = 0;
	while (way->count < DEEPEST && readable(at, low, high)) {
		const struct frame *frame;

		while (known && walked->at[known - 1].frame < at)
			known--;
		frame = (const struct frame *)at;
		if (known && walked->at[known - 1].frame == at) {
			/* the innermost ones are often others: that is seen at once */
			if (frame->return_address != walked->at[known - 1].return_address)
				known--;
			else if (compare(way, &at, walked, &known))
				return;
			frame = (const struct frame *)at;
		}
		push(way, at, frame->return_address);
		low = at + sizeof *frame;
		at = (uintptr_t)frame->caller;
		if (!frame->return_address)
			break;
	}
	way->end = at;
}

/* The walk's hash; remembers it unless it was cut short: then its last frame is not the
 * thread's outermost one. */
static uint64_t keep(struct dw_walked *walked, const struct way *way, bool ours)
{
	bool whole = ours && way->known + (uint32_t)way->count < DEEPEST;
	uint64_t hash = way->known ? walked->at[way->known - 1].hash : 1;
	uint32_t at = way->known;

	for (int i = way->count; i-- > 0; at++) {
		hash = hash_on(hash, way->addresses[i]);
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
static int list(const struct way *way, const struct dw_walked *walked, void **addresses)
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

	/* A return address may be the first of the next function: the call is before it. */
	for (int i = 0; i < count; i++)
		frames[i] = dw_module_frame((uintptr_t)addresses[i] - 1);
	return dw_intern_stack(frames, (uint32_t)count);
}

/* Whether the walk ended where threads start, which is in libc. */
static bool came_down(void *const *addresses, int count)
{
	return count > 0 && dw_module_is_libc((uintptr_t)addresses[count - 1] - 1);
}

static uint32_t remember(struct dw_slot *slot, uint64_t hash, uint32_t id)
{
	uint32_t at = (uint32_t)hash % DW_STACK_CACHE;

	slot->stacks[at].id = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->stacks[at].hash = hash;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->stacks[at].id = id;
	return id;
}

/* How many of what the unwinder found are our own; the caller's return address ends them. */
static int own_frames(void *const *addresses, int count, const void *caller)
{
	int own = 0;

	while (own < count && addresses[own] != caller)
		own++;
	return own < count ? own : 0;
}

__attribute__((noinline)) static uint32_t new_stack(struct dw_slot *slot, uint64_t hash,
                                                    void **addresses, int count)
{
	void *unwound[DEEPEST];

	if (!came_down(addresses, count)) {
		int got = backtrace(unwound, DEEPEST);
		int own = own_frames(unwound, got, addresses[0]);

		if (got - own > count)
			return remember(slot, hash, intern_stack(unwound + own, got - own));
	}
	return remember(slot, hash, intern_stack(addresses, count));
}

/* Our own frames are innermost: the first one beyond them, or `at` where there is none. */
static uintptr_t beyond_own(uintptr_t at, uintptr_t high, const void *caller)
{
	uintptr_t low = at, own = at;

	for (int i = 0; i < MOST_OWN && readable(at, low, high); i++) {
		const struct frame *frame = (const struct frame *)at;

		if (frame->return_address == (uintptr_t)caller)
			return at;
		low = at + sizeof *frame;
		at = (uintptr_t)frame->caller;
	}
	return own;
}

__attribute__((noinline)) uint32_t dw_stack_here(struct dw_slot *slot, const void *caller)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct dw_walked *walked = &slot->walked;
	bool ours = !walked->busy;
	void *addresses[DEEPEST];
	struct way way;
	uint64_t hash;
	uint32_t at, id;
	int count;

	walked->busy = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!slot->stack_high) {
		slot->stack_high = stack_high(here);
		walked->count = ours ? 0 : walked->count;
	}
	walk(&way, beyond_own(here, slot->stack_high, caller), slot->stack_high, walked,
	     ours ? walked->count : 0);
	hash = keep(walked, &way, ours);
	at = (uint32_t)hash % DW_STACK_CACHE;
	id = slot->stacks[at].id; /* before the hash: a handler may put another stack there */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->stacks[at].hash != hash)
		id = 0;
	count = id ? 0 : list(&way, walked, addresses);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	walked->busy = !ours;
	return count ? new_stack(slot, hash, addresses, count) : id;
}
