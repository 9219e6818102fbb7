/*
 * The lines of a program between which an operator is missing.
 *
 * For each operator that the program calls, the probe keeps the line that called it, and when it
 * began and ended. If the next one begins a millisecond later or more, both lines are stored with
 * the time between them; so is the line of an operator that takes that long. A hook reports its
 * range as a moment at its begin and at its end. Names of lines are looked up only for what is
 * stored.
 *
 * Only the main thread has lines; see ../python/places.h.
 */
#pragma once

#include "../python/places.h"

#define TORCH_PLACES_STARTERS 16u

struct torch_places {
	const char *thread;     /* Python's thread state; NULL: no lines are known */
	struct dwp_place place; /* of the last operator */
	uint32_t inner;         /* id of the innermost operator that takes most of it; 0: itself */
	uint64_t inner_least;   /* ticks; a longer operator within it replaces `inner` */
	uint64_t look_least;    /* ticks; the end of a longer operator is looked at */
	uint64_t ended;         /* 0: none since recording began */
	uint64_t long_ticks;    /* shorter times are not stored */
	uint64_t cpu_ns;        /* CPU time of the thread at the time `cpu_ticks` */
	uint64_t cpu_ticks;
	uint32_t generation;    /* of recording; see dwp_torch_places_restart() */
	uint32_t loading;       /* open ranges of data loading; */
	uint32_t hidden;        /* of others that explain their time, as checkpoints */
	bool watched;           /* see dwp_loop_operator() */
	bool needed;            /* with `watched`: nothing else shows which loop's iterations are steps, or when one begins */
	/* Instructions after whose operators a time was stored before: there CPU time is read. */
	uint64_t starter_bits; /* the bit of each, by dwp_torch_places_bit() */
	const char *starters[TORCH_PLACES_STARTERS];
	uint8_t tries[TORCH_PLACES_STARTERS]; /* readings left until another such time is stored */
};

extern __thread struct torch_places dwp_torch_places __attribute__((tls_model("initial-exec")));

static inline uint32_t dwp_torch_places_starter(const char *at)
{
	return (uint32_t)((uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15u >> 60);
}

static inline uint64_t dwp_torch_places_bit(const char *at)
{
	return UINT64_C(1) << ((uintptr_t)at >> 1 & 63); /* instructions have two bytes */
}

/* Out of line: what is rare. */
void dwp_torch_places_between(struct torch_places *my, struct dwp_place here, uint64_t now);
void dwp_torch_places_read_cpu(struct torch_places *my); /* if the last operator's line is a starter */
void dwp_torch_places_long(struct torch_places *my, uint64_t began, bool called, uint32_t op);
void dwp_torch_places_forget(void); /* an operator did not end as the innermost one */

/* After the begin of an operator that the program calls was recorded, at the time `now`. */
static inline void dwp_torch_places_begin(uint64_t now)
{
	struct torch_places *my = &dwp_torch_places;
	struct dwp_place here;

	if (!my->thread)
		return;
	here = dwp_places_walk(my->thread, my->place.code);
	if (DWELL_UNLIKELY(now - my->ended > my->long_ticks))
		dwp_torch_places_between(my, here, now);
	my->place = here;
}

/* After the end of an operator was recorded; `called`: the program called it. True: call
 * dwp_torch_places_long(), because it was long. */
static inline bool dwp_torch_places_end(uint64_t began, bool called)
{
	struct torch_places *my = &dwp_torch_places;
	uint64_t now;

	if (!my->thread)
		return false;
	now = dwell_this_stream->last_ticks;
	if (called) {
		my->ended = now;
		if (DWELL_UNLIKELY(my->starter_bits & dwp_torch_places_bit(my->place.at)))
			dwp_torch_places_read_cpu(my);
	}
	return now - began > my->look_least;
}

/* Called when the probe attaches, with the interpreter's lock; and in a new thread. */
void dwp_torch_places_attach(void);
void dwp_torch_places_thread(void);
/* Recording begins: a time that is open now is not stored. */
void dwp_torch_places_restart(void);

/* What operators.c does before each operator, besides a record. Atomic: one test for all of it. */
extern uint32_t dwp_torch_attention;
enum { TORCH_ATTENTION_EMIT = 1, TORCH_ATTENTION_LOOP = 2 /* the main thread's loop is followed */ };
void dwp_torch_attend(uint32_t bit, bool wanted);

/* A hook's range begins or has ended. TORCH_PLACES_DATA: it loads data; _HIDDEN: it explains the
 * time in it; _OPEN: the program's lines go on in it. */
enum torch_places_range { TORCH_PLACES_OPEN, TORCH_PLACES_DATA, TORCH_PLACES_HIDDEN };
void dwp_torch_places_enter(enum torch_places_range range);
void dwp_torch_places_leave(enum torch_places_range range);
