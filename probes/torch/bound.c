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
 * In steps of a fraction of a millisecond the hooks alone cost more than the bound allows. Then most steps, after the first
 * BRIEF_FROM, are brief (brief.h): which, depends on the step's number as above, and on a level, so that a program without hooks of
 * Python has none. What hooks cost is processor time, measured once (../python/hooked.c): if other programs run, nothing changes.
 *
 * Where several optimizers step, an iteration has several steps, and which is for the reader to say. So a choice holds until
 * the optimizer has stepped after which a batch is asked for. Where there are no batches it holds until the one that was made
 * last has stepped twice, so that a whole iteration is among these steps.
 *
 * All steps are recorded while only operators show what a step is (loops.c), and where several threads have steps:
 * a gate opens for a whole process. A worker of a loader has no steps and is recorded whole.
 */
#include "held_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/keys.h"

#define WHOLE_STEPS 8u
#define LEAST_WHOLE 2u /* however much they cost */
#define BRIEF_FROM 256u /* steps before the first brief one */
#define MOST_LEVEL 8u
#define MOST_HELD 16u /* steps that one choice is for */
#define LATELY 256u   /* updates */
#define LAST 31u
#define MEDIAN_EVERY 16u
#define REMEMBERED 64.0 /* recorded steps, after which older ones count half */
#define MOST_FACTOR 4.0
#define LOOK_EVERY 16u /* steps */
#define RECKON_EVERY 16u /* steps that are not chosen, from one reckoning to the next at most */
#define MOST_BRIEFS 64u /* brief steps from one reckoning to the next; */
#define BRIEFS_NS 20e6  /* and what they take */
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
	uint32_t passed;              /* steps since the last reckoning, for which its choice was kept */
	double timed_ns;              /* when the last of RECKON_EVERY such steps began */
	double note_steps;            /* reduced steps at which the costs are stored next */
	double odds;                  /* that a step is recorded with operators */
	uint32_t level;               /* of brief steps: one iteration of 2^level is none */
	void (*offer)(bool wanted, bool notes); /* NULL: no step can be brief */
	bool briefly;                 /* steps are brief now; */
	uint32_t briefs;              /* how many are not added to `brief` yet */
	double earned_ns, spent_ns;   /* what recorded steps may have cost so far, and did */
	double early_ns;              /* what they did before it was known how much more that is than the sum of the parts */
	struct bound_kind {
		double steps, cost_ns;      /* recent ones count more */
		double all_steps, all_ns, all_fixed_ns;
		size_t added;           /* steps that have passed */
		double times[LAST];     /* of the last ones, in ns, with what came after each */
		double usual_ns;        /* their median */
	} recorded, reduced, brief;
} bound;

#define MOST_SOURCES 10u

/* What recording does in a step, with the cost of each time. What a step cost is the sum of all. */
static struct bound_source {
	uint64_t (*count)(void);
	double ns;
	bool fixed;    /* steps of each kind have this cost */
	uint64_t last; /* the count at the last decision */
} sources[MOST_SOURCES];
static size_t source_count;

static __thread char here;
static void (*follow_gate)(void);

static void bound_add_source(uint64_t (*count)(void), double ns, bool fixed)
{
	if (source_count < MOST_SOURCES)
		sources[source_count++] = (struct bound_source){ count, ns, fixed, 0 };
}

void dwp_bound_count(uint64_t (*count)(void), double ns)
{
	bound_add_source(count, ns, false);
}

void dwp_bound_count_fixed(uint64_t (*count)(void), double ns)
{
	bound_add_source(count, ns, true);
}

static double bound_since(struct bound_source *source)
{
	uint64_t before = source->last;

	source->last = source->count();
	return (double)(source->last - before) * source->ns;
}

struct bound_cost {
	double ns, fixed_ns;
};

static struct bound_cost bound_cost(void)
{
	struct bound_cost cost = { 0, 0 };

	for (struct bound_source *source = sources; source < sources + source_count; source++)
		*(source->fixed ? &cost.fixed_ns : &cost.ns) += bound_since(source);
	return cost;
}

uint64_t dwp_bound_steps(void)
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
void dwp_bound_operators(uint64_t (*begun)(void), double operator_ns, void (*follow)(void))
{
	const char *options = getenv("DWELL_OPTIONS"), *run = getenv("DWELL_RUN");

	follow_gate = follow;
	dwp_bound_count(begun, operator_ns * (dwell_wants(DWELL_DETAIL_SHAPES) ? SHAPES_COST : 1));
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

static double bound_mean(const struct bound_kind *kind)
{
	return kind->steps > 0 ? kind->cost_ns / kind->steps : 0;
}

/* What a step without operators costs: if brief ones are among them, in the mean. */
static double bound_fixed(void)
{
	double whole = bound.level && bound.brief.steps > 0 ? ldexp(1, -(int)bound.level) : 1;

	return bound_mean(&bound.reduced) * whole + bound_mean(&bound.brief) * (1 - whole);
}

/* What recording operators may cost in a step of this length. What each step costs anyway is a part of the bound, but some
 * steps are recorded always. */
static double bound_allowed(double took)
{
	double fixed = bound_fixed(), allowed = bound.share * took;

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
	bound_note(DW_KEY_TORCH_RECORDED_NS, &bound.recorded, bound_spent() + bound.recorded.all_fixed_ns);
	bound_note(DW_KEY_TORCH_REDUCED_NS, &bound.reduced, bound.reduced.all_fixed_ns + bound.reduced.all_ns);
	bound_note(DW_KEY_TORCH_BRIEF_NS, &bound.brief, bound.brief.all_fixed_ns + bound.brief.all_ns);
}

static void bound_look(double now, double used)
{
	bound.looked_ns = now;
	bound.used_ns = used;
	bound.looked_steps = bound.steps;
}

/* Hooks may take half of the bound: what brief steps leave of it, but a quarter of it in any case, is for what others cost beyond.
 * The level is by the processor time of a step, and it changes by one at a time, downwards only where much is left, so that most steps of
 * all ranks of a job are of the same kind. */
static void bound_set_level(double took)
{
	double most = (1 - SAVED) * bound.share * took / 2, brief = bound_mean(&bound.brief);
	double left = most - brief > most / 4 ? most - brief : most / 4;
	double hooks = ldexp(bound_mean(&bound.reduced) - brief, -(int)bound.level);

	if (!bound.offer || bound.steps < BRIEF_FROM)
		return;
	if (hooks > left && bound.level < MOST_LEVEL)
		bound.level++;
	else if (bound.level && 4 * hooks < left)
		bound.level--;
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
	bound_set_level(took / (double)steps);
	bound_look(now, used);
}

static void bound_add_steps(struct bound_kind *kind, double steps, struct bound_cost cost, double counted_ns)
{
	kind->all_steps += steps;
	kind->all_ns += cost.ns;
	kind->all_fixed_ns += cost.fixed_ns;
	kind->steps += steps;
	kind->cost_ns += counted_ns;
	if (kind->steps >= REMEMBERED) {
		kind->steps /= 2;
		kind->cost_ns /= 2;
	}
}

/* Adds what happened since the last reckoning: steps of one kind, and what came after each. How long one took is known of a single
 * one, or of the last one of RECKON_EVERY. */
static void bound_add(double now, struct bound_cost cost)
{
	struct bound_kind *kind = bound.reduces ? &bound.reduced : &bound.recorded;
	uint32_t steps = 1 + bound.passed;

	if (bound.passed == 0 || bound.passed == RECKON_EVERY)
		bound_add_time(kind, now - (bound.passed ? bound.timed_ns : bound.last_ns));
	bound_earn(now);
	if (!bound.reduces && bound_knows_factor())
		bound.spent_ns += cost.ns * bound_factor();
	else if (!bound.reduces)
		bound.early_ns += cost.ns;
	bound_add_steps(kind, steps, cost, bound.reduces ? cost.ns + cost.fixed_ns : cost.ns);
	bound.passed = 0;
	/* Now and then, because the program may be killed. */
	if (bound.reduces && kind->all_steps >= bound.note_steps) {
		bound.note_steps = 2 * kind->all_steps;
		bound_note_costs();
	}
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

static bool bound_must_be_whole(void)
{
	return bound.steps <= LEAST_WHOLE || dwp_torch_places.needed || dwell_device_in_burst();
}

void dwp_bound_offer(void (*offer)(bool wanted, bool notes))
{
	bound.offer = offer;
}

/* The steps that are not brief at one level are among those at each lower one: so ranks of a job share those of the highest. */
bool dwp_bound_is_brief(uint64_t step)
{
	return bound.share > 0 && bound.level && bound_draw(step) > ldexp(1, -(int)bound.level);
}

/* Adds the steps without operators that no reckoning has added. */
static void bound_add_briefs(void)
{
	double now = bound_now_ns(CLOCK_MONOTONIC);
	struct bound_cost cost = bound_cost();

	if (bound.briefs)
		bound_add_steps(&bound.brief, bound.briefs, cost, cost.ns + cost.fixed_ns);
	else if (bound.passed)
		bound_add_steps(&bound.reduced, bound.passed, cost, cost.ns + cost.fixed_ns);
	bound.steps += bound.briefs;
	if (bound.briefs)
		bound_earn(now);
	bound.passed = bound.briefs = 0;
	bound.last_ns = now;
}

void dwp_bound_briefly(bool begins)
{
	bound_add_briefs();
	bound.briefly = begins;
}

static void bound_count_brief(void)
{
	bound.chosen = true;
	if (++bound.briefs == MOST_BRIEFS || bound.briefs * bound.usual_ns > BRIEFS_NS)
		bound_add_briefs();
}

/* Whether the next step is recorded without operators. */
static bool bound_reduces(bool holds)
{
	double cost, most;

	bound.odds = 1;
	if (bound_must_be_whole())
		return false;
	if (holds)
		return bound.reduces;
	if (dwp_bound_is_brief(dwell_steps_begun()))
		return true;
	cost = bound_factor() * bound.recorded.cost_ns / bound.recorded.steps;
	most = cost * bound.held.before;
	if (bound_spent() + most > bound.earned_ns && bound.steps <= WHOLE_STEPS)
		return true;
	if (bound.steps <= WHOLE_STEPS)
		return false;
	bound_limit(most);
	if (cost > 0)
		bound.odds = (1 - SAVED) * bound_allowed(bound.usual_ns) / cost;
	return bound_spent() + most > bound.earned_ns || bound_draw(dwell_steps_begun()) > bound.odds;
}

/* Whether the last choice is kept without a reckoning, which costs as much as several records: the step is not chosen, whatever
 * was earned meanwhile. */
static bool bound_passes(bool holds)
{
	if (!bound.reduces || bound.passed == RECKON_EVERY || bound.reduced.added < LAST || bound_must_be_whole())
		return false;
	if (!holds && bound_draw(dwell_steps_begun()) <= bound.odds)
		return false;
	if (++bound.passed == RECKON_EVERY)
		bound.timed_ns = bound_now_ns(CLOCK_MONOTONIC);
	return true;
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

static void bound_reckon(bool holds)
{
	double now = bound_now_ns(CLOCK_MONOTONIC);
	struct bound_cost cost = bound_cost();
	uint32_t level = bound.level;

	if (bound.steps > 1)
		bound_add(now, cost);
	else
		bound_start(now);
	bound.last_ns = now;
	bound_set(bound_reduces(holds));
	if (level && !bound.level)
		bound.offer(false, false);
}

void dwp_bound_choose(void)
{
	bool holds;

	if (!(bound.share > 0) || bound.chosen)
		return;
	if (!bound.briefly) /* a burst of devices begins with a step whose operators are recorded */
		dwell_device_between_steps();
	if (!bound.thread)
		bound.thread = &here;
	if (bound.thread != &here) {
		bound.share = 0;
		bound_set(false);
		return;
	}
	if (bound.briefly) {
		bound_count_brief();
		return;
	}
	bound.chosen = true;
	holds = bound.steps++ >= LEAST_WHOLE && bound_holds();
	if (!bound_passes(holds))
		bound_reckon(holds);
	if (!holds && bound.level)
		bound.offer(bound.reduces && dwp_bound_is_brief(dwell_steps_begun()), true);
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
	bound.passed = 0;
	bound.note_steps = 0;
	bound.chosen = false;
	memset(&bound.held, 0, sizeof bound.held);
	bound.earned_ns = bound.spent_ns = bound.early_ns = 0;
	bound.recorded = bound.reduced = bound.brief = (struct bound_kind){ .added = 0 };
	bound.level = bound.briefs = 0;
	bound.briefly = false;
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
