/*
 * Bounds what recording costs: dwell run --cost 1%.
 *
 * An operator costs a quarter of a microsecond and more, most of it PyTorch's own. Where a step has many small
 * operators, this is a tenth of the step. Then operators and layers are recorded in some steps only, and in the
 * others no callback stands in PyTorch, and blocks are held back (held_blocks.c). Steps, phases, waits and zones are
 * recorded in all steps.
 *
 * The process earns the part of its processor time that recording may take: when steps begin, of what it has computed so far, and
 * then of what it computes. A step is recorded if that pays for it, so that the bound holds at any time; the first LEAST_WHOLE
 * are recorded anyway, because nothing else says what a step costs. The first WHOLE_STEPS steps are recorded as far as
 * they are paid for. After a second, what is earned and not spent is at most worth SAVED of a second, or one step, and
 * SAVED of the part is not earned any more: so the bound holds in each second, unless one step costs more than that.
 * Later steps are chosen at random, because a program may do something in every tenth step. The
 * probability follows from what operators cost in the recorded steps, and from how long a usual step is. The choice
 * depends on the run and on the step's number, so that all ranks of a job choose the same steps: otherwise they would
 * wait for each other.
 *
 * Where several optimizers step, an iteration has several steps, and which is for the reader to say. So a choice holds until
 * the optimizer has stepped after which a batch is asked for. Where there are no batches it holds until the one that was made
 * last has stepped twice, so that a whole iteration is among these steps.
 *
 * All steps are recorded where operators decide what a step is (loops.c), and where several threads have steps: a
 * gate opens for a whole process. A worker of a loader has no steps and is recorded whole.
 */
#include "held_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/keys.h"

#define WHOLE_STEPS 8u
#define LEAST_WHOLE 2u /* however much they cost */
#define MOST_HELD 16u /* steps that one choice is for */
#define LATELY 256u   /* updates */
#define LAST 31u
#define MEDIAN_EVERY 16u
#define REMEMBERED 64.0 /* recorded steps, after which older ones count half */
#define MOST_FACTOR 4.0
#define LOOK_EVERY 16u /* steps */
#define SECOND_NS 1e9
#define SAVED 0.1
#define SHAPES_COST 1.8 /* an operator with its shapes, of one without; see doc/measured/costs.md */

static struct {
	double share; /* the part of the time that recording may take; 0: any */
	uint64_t seed;
	const char *thread; /* `here` of the thread that has steps */
	bool forked, chosen, reduces;
	uint64_t steps;     /* decided so far */
	struct {
		uint32_t optimizers;    /* bits of those that have stepped lately */
		uint32_t updates;       /* of all of these */
		uint32_t latest, last;  /* that has stepped; after which an iteration ends, as far as it is known */
		bool batches;           /* that is known by batches */
		uint32_t steps, ends, before; /* since the last choice; of these, ends of iterations; steps of the choice before */
	} held;
	double last_ns;     /* the last decision */
	double looked_ns, used_ns; /* when the process's CPU time was read, and what it was */
	uint64_t looked_steps;
	double usual_ns;              /* a usual step, with what comes after it */
	double first_ns;              /* the first decision */
	double earned_ns, spent_ns;   /* what recorded steps may have cost so far, and did */
	double early_ns;              /* what they did before it was known how much more that is than the sum of the parts */
	struct bound_kind {
		double steps, cost_ns;      /* recent ones count more */
		double all_steps, all_ns;
		size_t added;           /* steps that have passed */
		double times[LAST];     /* of the last ones, in ns, with what came after each */
		double usual_ns;        /* their median */
	} recorded, reduced;
} bound;

#define MOST_SOURCES 10u

/* What recording does in a step, with the cost of each time. What a step cost is the sum of all. */
static struct bound_source {
	uint64_t (*count)(void);
	double ns;
	uint64_t last; /* the count at the last decision */
} sources[MOST_SOURCES];
static size_t source_count;

static __thread char here;
static void (*follow_gate)(void);

void dwp_bound_count(uint64_t (*count)(void), double ns)
{
	if (source_count < MOST_SOURCES)
		sources[source_count++] = (struct bound_source){ count, ns, 0 };
}

static struct bound_source spared;

void dwp_bound_spared(uint64_t (*count)(void), double ns)
{
	spared = (struct bound_source){ count, ns, 0 };
}

static double bound_since(struct bound_source *source)
{
	uint64_t before = source->last;

	source->last = source->count();
	return (double)(source->last - before) * source->ns;
}

static double bound_cost_ns(void)
{
	double ns = 0, less = spared.count ? bound_since(&spared) : 0;

	for (struct bound_source *source = sources; source < sources + source_count; source++)
		ns += bound_since(source);
	return bound.reduces && ns > less ? ns - less : bound.reduces ? 0 : ns;
}

static uint64_t bound_count_steps(void)
{
	return bound.steps;
}

static double bound_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* dwell run passes "cost=N" in millionths, before other options. */
void dwp_bound_operators(uint64_t (*begun)(void), double operator_ns, double step_ns, void (*follow)(void))
{
	const char *options = getenv("DWELL_OPTIONS"), *run = getenv("DWELL_RUN");

	follow_gate = follow;
	dwp_bound_count(begun, operator_ns * (dwell_wants(DWELL_DETAIL_SHAPES) ? SHAPES_COST : 1));
	dwp_bound_count(bound_count_steps, step_ns);
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
static void bound_add_time(struct bound_kind *kind, double took)
{
	double sorted[LAST];
	size_t known = kind->added < LAST ? kind->added + 1 : LAST;

	kind->times[kind->added++ % LAST] = took;
	if (kind->added % MEDIAN_EVERY == 0 || kind->added <= WHOLE_STEPS || kind == &bound.recorded) {
		memcpy(sorted, kind->times, known * sizeof *sorted);
		qsort(sorted, known, sizeof *sorted, bound_compare);
		kind->usual_ns = sorted[known / 2];
		bound.usual_ns = (bound.reduced.added < MEDIAN_EVERY ? &bound.recorded : &bound.reduced)->usual_ns;
	}
}

/* What recording operators may cost in a step of this length. What each step costs anyway is a part of the bound, but some
 * steps are recorded always. */
static double bound_allowed(double took)
{
	double fixed = bound.reduced.steps > 0 ? bound.reduced.cost_ns / bound.reduced.steps : 0, allowed = bound.share * took;

	return fixed < allowed / 2 ? allowed - fixed : allowed / 2;
}

static bool bound_knows_factor(void)
{
	return bound.reduced.added >= MEDIAN_EVERY;
}

/* A single recorded step between others finds code and data of dwell and of PyTorch's callbacks out of the caches. So it
 * may cost more than its parts do: the times of steps show how much. They differ for other reasons, too. */
static double bound_factor(void)
{
	double counted = bound.recorded.steps > 0 ? bound.recorded.cost_ns / bound.recorded.steps : 0, factor;

	if (!bound_knows_factor() || !(counted > 0))
		return 1;
	factor = (bound.recorded.usual_ns - bound.reduced.usual_ns) / counted;
	return factor < 1 ? 1 : factor > MOST_FACTOR ? MOST_FACTOR : factor;
}

static double bound_spent(void)
{
	return bound.spent_ns + bound_factor() * bound.early_ns;
}

static void bound_note(const char *key, const struct bound_kind *kind, double ns)
{
	char text[32];

	if (!(kind->all_steps > 0))
		return;
	snprintf(text, sizeof text, "%.0f", ns / kind->all_steps);
	dwell_meta_json(key, text);
}

static void bound_note_costs(void)
{
	bound_note(DW_KEY_TORCH_RECORDED_NS, &bound.recorded, bound_spent());
	bound_note(DW_KEY_TORCH_REDUCED_NS, &bound.reduced, bound.reduced.all_ns);
}

static void bound_look(double now, double used)
{
	bound.looked_ns = now;
	bound.used_ns = used;
	bound.looked_steps = bound.steps;
}

/* A process that waits, or gets no CPU, earns nothing meanwhile. The kernel is not asked at each step, because that takes as long
 * as an operator. */
static void bound_earn(double now)
{
	uint64_t steps = bound.steps - bound.looked_steps;
	double used, took;

	if (bound.steps > LOOK_EVERY && steps < LOOK_EVERY && now - bound.looked_ns < SAVED * SECOND_NS)
		return;
	used = bound_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	took = used - bound.used_ns < now - bound.looked_ns ? used - bound.used_ns : now - bound.looked_ns;
	bound.earned_ns += (1 - SAVED) * (double)steps * bound_allowed(took / (double)steps);
	bound_look(now, used);
}

/* Adds what happened since the last decision: a step, and what came after it. */
static void bound_add(double now, double cost)
{
	struct bound_kind *kind = bound.reduces ? &bound.reduced : &bound.recorded;
	double took = now - bound.last_ns;

	bound_add_time(kind, took);
	bound_earn(now);
	if (!bound.reduces && bound_knows_factor())
		bound.spent_ns += cost * bound_factor();
	else if (!bound.reduces)
		bound.early_ns += cost;
	kind->all_steps++;
	kind->all_ns += cost;
	kind->steps++;
	kind->cost_ns += cost;
	if (kind->steps >= REMEMBERED) {
		kind->steps /= 2;
		kind->cost_ns /= 2;
	}
	/* Now and then, because the program may be killed. */
	if (bound.reduces && !((uint64_t)kind->all_steps & ((uint64_t)kind->all_steps - 1)))
		bound_note_costs();
}

void dwp_bound_updated(uint32_t optimizer, bool batch)
{
	if (bound.held.updates++ % LATELY == 0) {
		bound.held.optimizers = bound.held.last = 0;
		bound.held.batches = batch = false;
	}
	if (batch)
		bound.held.last = bound.held.latest;
	else if (!bound.held.batches && optimizer > bound.held.last)
		bound.held.last = optimizer;
	bound.held.batches |= batch;
	bound.held.optimizers |= 1u << optimizer;
	bound.held.latest = optimizer;
	bound.held.ends += optimizer == bound.held.last;
}

/* Whether the last choice holds for the next step, too. */
static bool bound_holds(void)
{
	bool several = bound.held.optimizers & (bound.held.optimizers - 1);

	bound.held.steps++;
	if (several && bound.held.ends < (bound.held.batches ? 1 : 2) && bound.held.steps < MOST_HELD)
		return true;
	bound.held.before = bound.held.steps;
	bound.held.ends = bound.held.steps = 0;
	return false;
}

/* Drops what was earned beyond what the next steps cost, or a part of a second is worth. */
static void bound_limit(double cost)
{
	double part = SAVED * bound.share * SECOND_NS, most = bound_spent() + (cost > part ? cost : part);

	if (bound.last_ns - bound.first_ns > SECOND_NS && bound.earned_ns > most)
		bound.earned_ns = most;
}

/* Whether the next step is recorded without operators. */
static bool bound_reduces(void)
{
	double cost, most;

	if (bound.steps <= LEAST_WHOLE || dwp_torch_places.watched || dwell_device_in_burst())
		return false;
	if (bound_holds())
		return bound.reduces;
	cost = bound_factor() * bound.recorded.cost_ns / bound.recorded.steps;
	most = cost * bound.held.before;
	if (bound_spent() + most > bound.earned_ns)
		return true;
	bound_limit(most);
	if (bound.steps <= WHOLE_STEPS)
		return false;
	if (bound.reduced.steps > 0)
		cost -= bound.reduced.cost_ns / bound.reduced.steps;
	return cost * bound_draw(dwell_steps_begun()) > (1 - SAVED) * bound_allowed(bound.usual_ns);
}

/* The first decision of a process always reaches the recorder: a child of fork has its parent's. */
static void bound_set(bool reduced)
{
	if (reduced != bound.reduces || bound.steps == 1)
		dwell_steps_reduce(reduced);
	if (reduced != bound.reduces)
		dwp_held_hold(reduced);
	bound.reduces = reduced;
}

static void bound_start(double now)
{
	bound.first_ns = now;
	bound_look(now, bound_now_ns(CLOCK_PROCESS_CPUTIME_ID));
	bound.earned_ns = bound.share * bound.used_ns;
}

void dwp_bound_choose(void)
{
	double now, cost;

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
	now = bound_now_ns(CLOCK_MONOTONIC);
	cost = bound_cost_ns();
	if (bound.steps++)
		bound_add(now, cost);
	else
		bound_start(now);
	bound.last_ns = now;
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
	memset(&bound.held, 0, sizeof bound.held);
	bound.earned_ns = bound.spent_ns = bound.early_ns = 0;
	bound.recorded = bound.reduced = (struct bound_kind){ .added = 0 };
	dwp_held_forked();
}

void dwp_bound_end(void)
{
	bound_note_costs();
	dwp_held_end();
}

void dwp_bound_worker(void)
{
	if (!bound.forked || bound.steps || !(bound.share > 0))
		return;
	bound.share = 0;
	bound.reduces = false;
	dwell_steps_reduce(false);
	follow_gate();
}
