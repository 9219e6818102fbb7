/*
 * Which line of the program's Python a thread is at, for each operator that it calls.
 *
 * A walk goes from the innermost frame outward to the first one whose code is the program's own:
 * not of an installed package, of Python's library or of dwell. It runs for each operator without
 * the interpreter's lock, reads a few words of each frame and writes nothing. This is safe because a
 * thread that is inside a call of C does not change its own frames, and no other thread does.
 *
 * A code object must be known before a walk can tell whether it is the program's. places.c learns
 * those on the stack with the lock, and keeps a reference to each: so a code object that is known is
 * never freed, and its address is never another's. A walk that meets an unknown one finds no line.
 *
 * Only the main thread is followed: its thread state exists until the interpreter ends.
 */
#pragma once

#include <dwell/probe.h>

/* A line of a script, as a code object whose name and file were read before, and the address of an
 * instruction in it. Both are NULL if the line is not known. */
struct dwp_place {
	const char *code;
	const char *at;
};

/* In bytes; found by places.c, which compares what they lead to with Python's own answers. */
struct dwp_places_layout {
	uint32_t state;        /* in a thread state: pointer to the current frame, or, if `indirect`, */
	bool indirect;         /* to a struct that has that pointer at `current` */
	uint32_t current;
	uint32_t code, previous, instruction; /* in a frame */
	uint32_t first;        /* in a code object: its first instruction */
};
extern struct dwp_places_layout dwp_places_layout;

/* The codes that are known, by dwp_places_slot(). 1 in the lowest bit: the program's own. Atomic. */
#define DWP_PLACES_CODES 4096u
extern uintptr_t dwp_places_codes[DWP_PLACES_CODES];

#define DWP_PLACES_HOPS 64u /* frames that a walk visits at most */

static inline uint32_t dwp_places_slot(uintptr_t code)
{
	return (uint32_t)((uint64_t)code * 0x9e3779b97f4a7c15u >> 52);
}

enum dwp_places_kind { DWP_PLACES_LIBRARY, DWP_PLACES_OWN, DWP_PLACES_UNKNOWN };
/* For a code that is not in its first slot. One that is unknown is learned soon. */
enum dwp_places_kind dwp_places_look(uintptr_t code);

/* The thread state of the calling thread if its lines can be found, or NULL. */
const char *dwp_places_thread(void);
/* That of any thread, if frames can be walked. Needs the interpreter's lock. */
const char *dwp_places_any_thread(void);

#define DWP_PLACES_POINTER(object, offset) (*(const char *const *)(const void *)((object) + (offset)))

/* The code of a frame. From 3.14 on the lowest bits of a reference have marks. */
#define DWP_PLACES_CODE(frame) \
	((const char *)((uintptr_t)DWP_PLACES_POINTER(frame, dwp_places_layout.code) & ~(uintptr_t)7))

/* `thread` is of dwp_places_thread(). `last`: the code of the place found before, or NULL; if the
 * innermost frame has it, it is not looked up again. Call it inside a call of C. */
static inline struct dwp_place dwp_places_walk(const char *thread, const char *last)
{
	const struct dwp_places_layout *layout = &dwp_places_layout;
	const char *frame = DWP_PLACES_POINTER(thread, layout->state);

	if (layout->indirect)
		frame = DWP_PLACES_POINTER(frame, layout->current);
	if (frame && last && DWP_PLACES_CODE(frame) == last)
		return (struct dwp_place){ last, DWP_PLACES_POINTER(frame, layout->instruction) };
	for (unsigned hop = 0; frame && hop < DWP_PLACES_HOPS; hop++) {
		const char *code = DWP_PLACES_CODE(frame);
		/* Acquire pairs with the release of places.c: what is known of the code is visible. */
		uintptr_t known = __atomic_load_n(&dwp_places_codes[dwp_places_slot((uintptr_t)code)],
		                                  __ATOMIC_ACQUIRE);
		enum dwp_places_kind kind = (enum dwp_places_kind)(known & 1);

		if (DWELL_UNLIKELY((known & ~(uintptr_t)1) != (uintptr_t)code))
			kind = dwp_places_look((uintptr_t)code);
		if (kind == DWP_PLACES_OWN)
			return (struct dwp_place){ code, DWP_PLACES_POINTER(frame, layout->instruction) };
		if (kind == DWP_PLACES_UNKNOWN)
			break;
		frame = DWP_PLACES_POINTER(frame, layout->previous);
	}
	return (struct dwp_place){ NULL, NULL };
}

/* Whether a code is the program's own. Needs the interpreter's lock; learns a code that is unknown. */
bool dwp_places_is_own_code(const char *code);

/* The FRAME id of a place; 0: it is not known. Needs no lock. */
uint32_t dwp_places_frame(struct dwp_place place);

/* Called when the probe attaches, with the interpreter's lock. */
void dwp_places_attach(void);
