/* The lines of a program between which an operator is missing: what is rare. See places.h. */
#include "places.h"

#include "../python/python.h"

#include <time.h>

#define MOST_TRIES 8

__thread struct torch_places dwp_torch_places __attribute__((tls_model("initial-exec")));
uint32_t dwp_torch_attention;

void dwp_torch_attend(uint32_t bit, bool wanted)
{
	if (wanted)
		__atomic_fetch_or(&dwp_torch_attention, bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&dwp_torch_attention, ~bit, __ATOMIC_RELAXED);
}

static uint32_t generation = 1; /* atomic; counts how often recording began */
static struct torch_places *main_places; /* of the main thread */

static uint64_t places_cpu_ns(void)
{
	struct timespec time = { 0, 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void dwp_torch_places_read_cpu(struct torch_places *my)
{
	uint32_t at = dwp_torch_places_starter(my->place.at);

	if (!my->place.at || my->starters[at] != my->place.at)
		return;
	/* A reading takes most of a microsecond. A loop that was interrupted once must not pay for it. */
	if (!my->tries[at]--) {
		my->starters[at] = NULL;
		my->starter_bits = 0;
		for (unsigned i = 0; i < TORCH_PLACES_STARTERS; i++)
			my->starter_bits |= my->starters[i] ? dwp_torch_places_bit(my->starters[i]) : 0;
	}
	my->cpu_ticks = my->ended;
	my->cpu_ns = places_cpu_ns();
}

static uint64_t places_cpu_since(const struct torch_places *my)
{
	uint64_t now;

	if (my->cpu_ticks != my->ended || !my->cpu_ticks)
		return DWELL_PLACE_NO_CPU;
	now = places_cpu_ns();
	return now > my->cpu_ns ? now - my->cpu_ns : 0;
}

static void places_forget_inner(struct torch_places *my)
{
	my->inner = 0;
	my->inner_least = my->look_least = my->long_ticks / 2;
}

/* Also called when nothing ended since recording began. */
__attribute__((noinline)) void dwp_torch_places_between(struct torch_places *my, struct dwp_place here,
                                                        uint64_t now)
{
	enum dwell_place_kind kind = my->loading ? DWELL_PLACE_DATA : DWELL_PLACE_BETWEEN;
	uint32_t current = __atomic_load_n(&generation, __ATOMIC_RELAXED);

	if (my->generation != current) {
		my->generation = current;
		my->long_ticks = dwell_ticks_of_ms();
		places_forget_inner(my);
		return;
	}
	if (!my->ended || now <= my->ended || now - my->ended <= my->long_ticks || my->hidden ||
	    !my->place.code || !here.code)
		return;
	dwell_place_add(kind, dwp_places_frame(my->place), dwp_places_frame(here), 0, my->ended, now,
	                places_cpu_since(my));
	my->starters[dwp_torch_places_starter(my->place.at)] = my->place.at;
	my->starter_bits |= dwp_torch_places_bit(my->place.at);
	my->tries[dwp_torch_places_starter(my->place.at)] = MOST_TRIES;
}

/* The innermost operator that takes more than half of the time is the one that computes. */
__attribute__((noinline)) void dwp_torch_places_long(struct torch_places *my, uint64_t began, bool called,
                                                     uint32_t op)
{
	bool current = my->generation == __atomic_load_n(&generation, __ATOMIC_RELAXED);
	uint64_t length = my->ended - began;
	uint32_t from;

	if (!called) {
		length = dwell_this_stream->last_ticks - began;
		if (length > my->inner_least) {
			my->inner = op;
			my->inner_least = 2 * length;
			my->look_least = length - 1; /* an operator around it takes at least as long */
		}
		return;
	}
	from = current && length > my->long_ticks && my->place.code ? dwp_places_frame(my->place) : 0;
	if (from && my->ended > began)
		dwell_place_add(DWELL_PLACE_OPERATOR, from, 0, my->inner && my->inner_least > length ? my->inner : op,
		                began, my->ended, DWELL_PLACE_NO_CPU);
	places_forget_inner(my);
}

void dwp_torch_places_forget(void)
{
	places_forget_inner(&dwp_torch_places);
}

/* While recording is paused no operator is seen, so the first one is in between() with a new
 * generation: its time since the last one is not stored. */
void dwp_torch_places_restart(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
	if (main_places)
		main_places->ended = 0;
}

static PyObject *places_at_exit(PyObject *self, PyObject *arguments)
{
	if (main_places)
		main_places->thread = NULL;
	Py_RETURN_NONE;
}

static PyMethodDef ender = { "dwell_places_at_exit", places_at_exit, METH_VARARGS, NULL };

void dwp_torch_places_attach(void)
{
	if (dwp_python_at_exit(&ender))
		dwp_torch_places_thread();
}

void dwp_torch_places_thread(void)
{
	struct torch_places *my = &dwp_torch_places;

	if (main_places)
		return;
	my->thread = dwp_places_thread();
	if (my->thread)
		main_places = my;
}

/* ---- ranges of hooks ----------------------------------------------------------------------- */

static void places_moment(struct torch_places *my)
{
	uint64_t now = dwell_this_stream->last_ticks;
	struct dwp_place here;

	if (!dwell_wants(1u << DWELL_CATEGORY_OPERATOR)) { /* operators may lie between two hooks */
		my->ended = 0;
		return;
	}
	here = dwp_places_walk(my->thread, my->place.code);
	if (now - my->ended > my->long_ticks)
		dwp_torch_places_between(my, here, now);
	my->place = here;
	my->ended = now;
	dwp_torch_places_read_cpu(my);
}

void dwp_torch_places_enter(enum torch_places_range range)
{
	struct torch_places *my = &dwp_torch_places;

	if (!my->thread)
		return;
	places_moment(my);
	my->loading += range == TORCH_PLACES_DATA;
	my->hidden += range == TORCH_PLACES_HIDDEN;
}

void dwp_torch_places_leave(enum torch_places_range range)
{
	struct torch_places *my = &dwp_torch_places;

	if (!my->thread)
		return;
	if (range == TORCH_PLACES_DATA && my->loading)
		my->loading--;
	if (range == TORCH_PLACES_HIDDEN && my->hidden)
		my->hidden--;
	/* The end of such a range is not after an operator: what came before is explained. */
	if (range != TORCH_PLACES_OPEN)
		my->ended = 0;
	places_moment(my);
}
