/*
 * Bounds what recording costs: dwell run --cost 1%.
 *
 * An operator costs a quarter of a microsecond and more, most of it PyTorch's own. Where a step has many small
 * operators, this is a tenth of the step. Then operators and layers are recorded in some steps only, and in the
 * others no callback stands in PyTorch, and blocks are held back (held.c). Steps, phases, waits and zones are
 * recorded in all steps.
 *
 * The first WHOLE_STEPS steps are recorded whole, or fewer if they cost what PAID_STEPS steps may cost: then the bound
 * holds from about that many steps on. Later ones are chosen at random, because a program may do
 * something in every tenth step. The probability follows from what operators cost in the recorded steps, and from
 * how long a usual step is. It is half of that until the first steps are paid for. The choice depends on the run and on
 * the step's number, so that all ranks of a job choose the same steps: otherwise they would wait for each other.
 *
 * All steps are recorded where operators decide what a step is (loops.c), and where several threads have steps: a
 * gate opens for a whole process. A worker of a loader has no steps and is recorded whole.
 */
#include "held.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WHOLE_STEPS 30u
#define LEAST_WHOLE 8u /* however much they cost */
#define PAID_STEPS 300.0
#define LAST 31u
#define MEDIAN_EVERY 16u
#define REMEMBERED 64.0 /* recorded steps, after which older ones count half */
#define SHAPES_COST 1.8 /* an operator with its shapes, of one without; see doc/measured/costs.md */

static struct {
	double share;       /* the part of the time that recording may take; 0: any */
	double operator_ns; /* what an operator costs */
	uint64_t seed;
	const char *thread; /* `here` of the thread that has steps */
	bool forked, chosen, reduced;
	uint64_t steps;     /* decided so far */
	double last_ns;     /* the last decision, and the operators until then */
	uint64_t last_begun;
	size_t added;                 /* steps that have passed */
	double times[LAST];           /* of the last steps, in ns, with what came after each */
	double usual_ns;              /* their median */
	double run_ns, spent_ns;      /* the time of all steps, at most twice the usual each; cost of recorded ones */
	double recorded, recorded_ns; /* recorded steps, and what they cost; recent ones count more */
} bound;

static __thread char here;
static uint64_t (*count_begun)(void); /* operators */
static void (*follow_gate)(void);

void dwp_bound_attach(uint64_t (*begun)(void), void (*follow)(void))
{
	count_begun = begun;
	follow_gate = follow;
}

static double bound_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* dwell run passes "cost=N" in millionths, before other options. */
void dwp_bound_operators(double operator_ns)
{
	const char *options = getenv("DWELL_OPTIONS"), *run = getenv("DWELL_RUN");

	bound.operator_ns = operator_ns * (dwell_wants(DWELL_DETAIL_SHAPES) ? SHAPES_COST : 1);
	if (options && strncmp(options, "cost=", 5) == 0)
		bound.share = (double)strtoul(options + 5, NULL, 10) / 1e6;
	for (; run && *run; run++)
		bound.seed = (bound.seed ^ (unsigned char)*run) * 0x100000001b3u;
}

/* A number from 0 to 1 that depends on the run and on the step. */
static double bound_draw(uint64_t step)
{
	uint64_t x = bound.seed + step * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) * 0x1p-53;
}

static int bound_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* A median, because single long steps and pauses after steps do not make the others cheaper. */
static void bound_add_time(double took)
{
	double sorted[LAST];
	size_t known = bound.added < LAST ? bound.added + 1 : LAST;

	bound.times[bound.added++ % LAST] = took;
	if (bound.added % MEDIAN_EVERY == 0 || bound.added <= WHOLE_STEPS) {
		memcpy(sorted, bound.times, known * sizeof *sorted);
		qsort(sorted, known, sizeof *sorted, bound_compare);
		bound.usual_ns = sorted[known / 2];
	}
	bound.run_ns += took < 2 * bound.usual_ns ? took : 2 * bound.usual_ns;
}

/* Adds what happened since the last decision: a step, and what came after it. */
static void bound_add(double now, uint64_t begun)
{
	double cost = (double)(begun - bound.last_begun) * bound.operator_ns;

	bound_add_time(now - bound.last_ns);
	if (bound.reduced)
		return;
	bound.spent_ns += cost;
	bound.recorded++;
	bound.recorded_ns += cost;
	if (bound.recorded < REMEMBERED)
		return;
	bound.recorded /= 2;
	bound.recorded_ns /= 2;
}

/* Whether the next step is recorded without operators. */
static bool bound_reduces(void)
{
	double cost, allowed;

	if (bound.steps <= LEAST_WHOLE || dwp_torch_places.watched || dwell_device_in_burst())
		return false;
	if (bound.steps <= WHOLE_STEPS && bound.spent_ns <= PAID_STEPS * bound.share * bound.usual_ns)
		return false;
	cost = bound.recorded_ns / bound.recorded;
	allowed = bound.share * bound.usual_ns;
	if (bound.spent_ns > bound.share * bound.run_ns)
		allowed /= 2;
	return cost * bound_draw(dwell_steps_begun()) > allowed;
}

/* The first decision of a process always reaches the recorder: a child of fork has its parent's. */
static void bound_set(bool reduced)
{
	if (reduced != bound.reduced || bound.steps == 1)
		dwell_steps_reduce(reduced);
	if (reduced != bound.reduced)
		dwp_held_hold(reduced);
	bound.reduced = reduced;
}

void dwp_bound_choose(void)
{
	uint64_t begun;
	double now;

	if (!(bound.share > 0) || bound.chosen)
		return;
	dwell_device_between_steps(); /* a burst of devices begins with a step whose operators are recorded */
	if (!bound.thread)
		bound.thread = &here;
	if (bound.thread != &here) {
		bound.share = 0;
		bound_set(false);
		return;
	}
	now = bound_now_ns();
	begun = count_begun();
	if (bound.steps++)
		bound_add(now, begun);
	bound.last_ns = now;
	bound.last_begun = begun;
	bound.chosen = true;
	bound_set(bound_reduces());
}

void dwp_bound_begun(void)
{
	bound.chosen = false;
}

/* A child begins with steps of its own, and its gate is its parent's until then. */
void dwp_bound_forked(void)
{
	bound.forked = true;
	bound.thread = NULL;
	bound.steps = 0;
	bound.chosen = false;
	bound.added = 0;
	bound.run_ns = bound.spent_ns = 0;
	bound.recorded = bound.recorded_ns = 0;
	dwp_held_forked();
}

void dwp_bound_end(void)
{
	dwp_held_end();
}

void dwp_bound_worker(void)
{
	if (!bound.forked || bound.steps || !(bound.share > 0))
		return;
	bound.share = 0;
	bound.reduced = false;
	dwell_steps_reduce(false);
	follow_gate();
}
