/*
 * Call stacks: where an operator was called from.
 *
 * The frame pointers are walked, each checked to lie on this thread's stack
 * before it is read, so that code built without them can end the walk but never
 * break it. A walk that did not come down to the thread's start was misled by such
 * code, and libc's unwinder is asked instead: slower, and not to be called in a
 * signal handler that interrupted it, which is why it is second. A stack is
 * remembered by the hash of its addresses; only new ones are looked up and interned.
 */
#include "record/record.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEEPEST 128

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

static int walk(const struct frame *frame, uintptr_t high, void **addresses)
{
	uintptr_t low = (uintptr_t)frame;
	int count = 0;

	while (count < DEEPEST) {
		uintptr_t at = (uintptr_t)frame;

		if (at < low || at + sizeof *frame > high || at % sizeof(uintptr_t))
			break;
		if (!frame->return_address)
			break;
		addresses[count++] = (void *)frame->return_address;
		low = at + sizeof *frame;
		frame = frame->caller;
	}
	return count;
}

/* Four sums side by side: one after the other would wait for each multiplication. */
static uint64_t hash_addresses(void *const *addresses, int count)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t sums[4] = { 1, 2, 3, (uint64_t)count };
	int i = 0;

	for (; i + 4 <= count; i += 4)
		for (int lane = 0; lane < 4; lane++)
			sums[lane] = (sums[lane] ^ (uintptr_t)addresses[i + lane]) * odd;
	for (; i < count; i++)
		sums[0] = (sums[0] ^ (uintptr_t)addresses[i]) * odd;
	return dw_hash(sums, sizeof sums, odd);
}

/* ---- interning ------------------------------------------------------------------ */

static uint32_t intern_stack(void *const *addresses, int count)
{
	union {
		struct dw_entry_stack entry;
		char room[sizeof(struct dw_entry) + (DEEPEST + 1) * 4];
	} image;
	size_t bytes = (sizeof image.entry + (size_t)count * 4 + 7) & ~(size_t)7;

	memset(&image, 0, bytes);
	/* A return address may be the first of the next function: the call is before it. */
	for (int i = 0; i < count; i++)
		image.entry.frames[i] = dw_module_frame((uintptr_t)addresses[i] - 1);
	image.entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_STACK);
	image.entry.entry.bytes = (uint32_t)bytes;
	image.entry.entry.aux = (uint32_t)count;
	return dw_intern(&image.entry.entry);
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

/* Our own frames are innermost; the caller's return address ends them. */
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

__attribute__((noinline)) uint32_t dw_stack_here(struct dw_slot *slot, const void *caller)
{
	const struct frame *frame = __builtin_frame_address(0);
	void *addresses[DEEPEST];
	uint64_t hash;
	int count, own;

	if (!slot->stack_high)
		slot->stack_high = stack_high((uintptr_t)frame);
	count = walk(frame, slot->stack_high, addresses);
	own = own_frames(addresses, count, caller);
	if (own == count)
		return 0;
	count -= own;
	hash = hash_addresses(addresses + own, count);
	if (slot->stacks[(uint32_t)hash % DW_STACK_CACHE].hash == hash &&
	    slot->stacks[(uint32_t)hash % DW_STACK_CACHE].id)
		return slot->stacks[(uint32_t)hash % DW_STACK_CACHE].id;
	return new_stack(slot, hash, addresses + own, count);
}
