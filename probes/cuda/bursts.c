/*
 * Bounds what recording devices costs: dwell run --cost 1%.
 *
 * CUPTI works in the thread that launches, for microseconds a launch. Where the host submits work all the time, this is
 * a third of a step and more. Then devices are recorded in bursts only; in between no kind of record that a launch makes
 * is enabled.
 *
 * Everything is recorded until this has cost what PAID_NS of the run may cost. Then time is divided into slots of the
 * real-time clock, and slots into blocks, of which one slot each is recorded. Which one follows from the run and the
 * block's number, because a program may do something at regular times. All processes of a job choose the same slots:
 * otherwise the ranks would wait for each other's bursts. So lengths and numbers of slots are powers of two. A slot
 * holds several steps.
 */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAUNCH_NS 10000.0 /* of one machine (doc/measured/gpu.md): too much records less. Reports measure it in the run itself */
#define PAID_NS 30e9
#define LOOK_NS 900000000u /* at first: the time between two looks at the cost. CUPTI returns records once a second */
#define SLOT_NS 125000000u /* the shortest slot */
#define MOST_SLOT_NS (SLOT_NS * 128ull)
#define SLOT_STEPS 4u
#define MOST_BITS 12u

static struct {
	double share;          /* the part of the time that recording may take; 0: any */
	double rate;           /* the part that it takes while it goes on */
	uint64_t seed;
	bool known, begun, on;
	uint64_t start_ns, steps; /* when it was first asked, and the steps until then */
	uint64_t look_ns, on_ns;  /* the last look at the cost; how long devices were recorded since */
	uint64_t last_ns, looked_launches;
	uint64_t slot_ns;
	unsigned bits;         /* a block has 1 << bits slots */
} bursts;

static void bursts_read_options(uint64_t now_ns)
{
	const char *options = getenv("DWELL_OPTIONS"), *run = getenv("DWELL_RUN");

	if (options && strncmp(options, "cost=", 5) == 0)
		bursts.share = (double)strtoul(options + 5, NULL, 10) / 1e6;
	for (; run && *run; run++)
		bursts.seed = (bursts.seed ^ (unsigned char)*run) * 0x100000001b3u;
	bursts.start_ns = bursts.look_ns = bursts.last_ns = now_ns;
	bursts.steps = dwell_steps_begun();
	bursts.on = bursts.known = true;
}

static uint64_t bursts_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Adds what the time since the last look has cost. */
static void bursts_look(uint64_t now_ns, uint64_t launches)
{
	double rate = (double)(launches - bursts.looked_launches) * LAUNCH_NS / (double)(bursts.on_ns + 1);

	bursts.rate = bursts.rate > 0 ? (bursts.rate + rate) / 2 : rate;
	bursts.looked_launches = launches;
	bursts.look_ns = now_ns;
	bursts.on_ns = 0;
}

static void bursts_divide_time(uint64_t now_ns)
{
	uint64_t steps = dwell_steps_begun() - bursts.steps;
	uint64_t step_ns = steps ? (now_ns - bursts.start_ns) / steps : 0;

	bursts.slot_ns = SLOT_NS;
	while (bursts.slot_ns < step_ns * SLOT_STEPS && bursts.slot_ns < MOST_SLOT_NS)
		bursts.slot_ns *= 2;
	bursts.bits = 0;
	while (bursts.rate > bursts.share * (double)(1u << bursts.bits) && bursts.bits < MOST_BITS)
		bursts.bits++;
}

static bool bursts_is_chosen(void)
{
	struct timespec now;
	uint64_t slot, block;

	clock_gettime(CLOCK_REALTIME, &now);
	slot = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) / bursts.slot_ns;
	block = slot >> bursts.bits;
	return slot - (block << bursts.bits) == (bursts_mix(bursts.seed + block * 0x9e3779b97f4a7c15u) & ((1u << bursts.bits) - 1));
}

bool dwc_bursts_choose(uint64_t now_ns, uint64_t launches)
{
	bool was_on;

	if (!bursts.known)
		bursts_read_options(now_ns);
	was_on = bursts.on;
	bursts.on_ns += was_on ? now_ns - bursts.last_ns : 0;
	bursts.last_ns = now_ns;
	if (!(bursts.share > 0))
		return true;
	if (!bursts.begun) {
		if (now_ns - bursts.look_ns < LOOK_NS)
			return true;
		bursts_look(now_ns, launches);
		bursts.begun = bursts.rate > bursts.share && (double)launches * LAUNCH_NS > PAID_NS * bursts.share;
		if (!bursts.begun)
			return true;
		bursts_divide_time(now_ns);
	}
	bursts.on = bursts_is_chosen();
	if (bursts.on && !was_on && bursts.on_ns) { /* by now CUPTI has returned the records of the burst before */
		bursts_look(now_ns, launches);
		bursts_divide_time(now_ns);
		bursts.on = bursts_is_chosen();
	}
	return bursts.on;
}

bool dwc_bursts_begun(void)
{
	return bursts.begun;
}
