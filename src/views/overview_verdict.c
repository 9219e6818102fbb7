/*
 * An overview's verdict: what to look at first, its share of a step, what to try.
 *
 * Each check finds how much of the steps one cause takes. Causes that are no work on
 * the model (waiting, Python, the collector, small calls) come before an operator,
 * which may be just that work and is named where nothing else is found; memory that grows comes before all, since it ends the
 * run. Where the process uses a device whose time was not recorded, an operator's time
 * is that of its launch or of a wait, so nothing is said of operators.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/memory.h"
#include "views/advice.h"
#include "views/overview.h"

/*
 * Shares of a step from which on a cause is worth a verdict. Waiting (0.10) can be
 * removed whole, a collector can be kept out of steps for nothing (0.05). Python
 * between operators is 10 to 25% of a step of ordinary networks on a CPU and is hard
 * to remove, so only more than that is a finding (0.30); the same holds of time in
 * which nothing runs (0.30). An operator is a finding when it is more than all the
 * rest (0.50).
 */
#define COLLECTOR_SHARE 0.05
#define PYTHON_SHARE 0.30
#define SMALL_SHARE 0.50
#define IDLE_SHARE 0.30
#define OPERATOR_SHARE 0.50
#define NAMELESS_SHARE 0.30

/* A call of an operator costs some microseconds before it computes anything; below this
 * mean time most of a call is that. Python between such calls is counted with them up to
 * as much again. */
#define SMALL_CALL_NS 10e3
#define SMALL_OWN_SHARE 0.15  /* that the small operators themselves must have */

/* Growth: more than caches and fragments do. */
#define GROWTH_STEPS 8u
#define GROWTH_BYTES (8.0 * 1024 * 1024)
#define GROWTH_SHARE 0.10     /* of what was there before */

#define MOST_VERDICTS 2u

struct cause {
	double share; /* of the loop; 0: not found */
	void (*say)(struct dw_table *table, const struct dw_overview *overview,
	            const struct cause *cause);
	double calls, ns, bytes; /* what its sentence needs, a step */
	const char *name;
};

/* What a loop does between its steps is as much a cost of each as what it does in them;
 * where not all steps are recorded, nothing is known of it. */
static double between_ns(const struct dw_overview *overview, const char *name)
{
	const struct dw_steps *steps = overview->steps;

	for (size_t i = 0; i < steps->beside_count && steps->recorded_count == steps->count; i++)
		if (strcmp(steps->besides[i].name, name) == 0)
			return (double)steps->besides[i].ns;
	return 0;
}

/* All of the loop but evaluation and checkpoints. */
static double loop_ns(const struct dw_overview *overview)
{
	static const char *const names[] = { "data", "collector", "communication", "device", "profiler",
		"other" };
	double ns = (double)overview->steps->recorded_ns;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ns += between_ns(overview, names[i]);
	return ns;
}

static double share_of(const struct dw_overview *overview, enum dw_share share)
{
	return ((double)overview->steps->share_ns[share] +
	        between_ns(overview, dw_view_share(share))) / loop_ns(overview);
}

/* From one step to the next. */
static double step_ns(const struct dw_overview *overview)
{
	return loop_ns(overview) / (double)overview->steps->recorded_count;
}

/* Where most of a cause lies between the steps, its share cannot be found in the
 * breakdown below: that is said. */
static const char *said_between(const struct dw_overview *overview, const char *name,
                                const struct cause *cause)
{
	return between_ns(overview, name) > cause->share * loop_ns(overview) / 2
	           ? " and the time before it" : "";
}

static bool in_python(const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;

	return source->processes[source->threads[overview->steps->threads[0]].process].flags &
	       DW_PROCESS_PYTHON;
}

bool dw_overview_blind(const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;

	if (dw_model_categories(overview->model) & DW_VIEW_CATEGORY(DEVICE))
		return false;
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, "torch.cuda") == 0)
			return true;
	return false;
}

/* ---- sentences --------------------------------------------------------------------------- */

static void say_data(struct dw_table *table, const struct dw_overview *overview,
                     const struct cause *cause)
{
	const struct dw_loading *loading = dw_model_loading(overview->model, NULL);

	if (loading)
		dw_view_advise_data(table, overview->model, overview->steps, loading);
}

static void say_communication(struct dw_table *table, const struct dw_overview *overview,
                              const struct cause *cause)
{
	dw_table_head(table, "Communication takes %.0f%% of each step.", cause->share * 100);
}

static void say_collector(struct dw_table *table, const struct dw_overview *overview,
                          const struct cause *cause)
{
	dw_table_head(table, "Garbage collection takes %.0f%% of each step%s.", cause->share * 100,
	              said_between(overview, "collector", cause));
	if (in_python(overview))
		dw_table_head(table, "  -> try gc.freeze() before the loop, or gc.disable() in it and "
		                     "gc.collect() between epochs: up to %s a step",
		              dw_text_ns(cause->ns, " ").at);
}

static void say_python(struct dw_table *table, const struct dw_overview *overview,
                       const struct cause *cause)
{
	dw_table_head(table, "Python between operators takes %.0f%% of each step%s, %s.",
	              cause->share * 100, said_between(overview, "other", cause),
	              dw_text_ns(cause->ns, " ").at);
	if (dw_model_categories(overview->model) & DW_VIEW_CATEGORY(FUNCTION))
		dw_table_head(table, "  -> dwell report --view functions tells which; try operators on "
		                     "whole tensors in place of loops");
	else
		dw_table_head(table, "  -> dwell run --functions tells which functions; try operators on "
		                     "whole tensors in place of loops");
}

static void say_small(struct dw_table *table, const struct dw_overview *overview,
                      const struct cause *cause)
{
	dw_table_head(table, "%s small operators a step, %s each, and what calls them take %.0f%% of it.",
	              dw_text_count((int64_t)(cause->calls + 0.5)).at, dw_text_ns(cause->ns, " ").at,
	              cause->share * 100);
	if (in_python(overview))
		dw_table_head(table, "  -> try fewer and larger ones: a larger batch, foreach=True or "
		                     "fused=True for the optimizer, torch.compile");
	else
		dw_table_head(table, "  -> try fewer and larger ones: a larger batch, calls put together");
}

static void say_idle(struct dw_table *table, const struct dw_overview *overview,
                     const struct cause *cause)
{
	dw_table_head(table, "Nothing runs in %.0f%% of each step, %s, and no wait is named there.",
	              cause->share * 100, dw_text_ns(cause->ns, " ").at);
	dw_table_head(table, "  -> look for sleeps, locks, files and other programs that it waits for");
}

static void say_operator(struct dw_table *table, const struct dw_overview *overview,
                         const struct cause *cause)
{
	dw_table_head(table, "%s takes %.0f%% of each step: %s call%s, %s each.", cause->name,
	              cause->share * 100, dw_text_number(cause->calls).at,
	              cause->calls == 1 ? "" : "s", dw_text_ns(cause->ns, " ").at);
	dw_table_head(table, "  -> which shapes: dwell run --shapes, then dwell report --view operators "
	                     "--group-by shape");
}

static void say_growth(struct dw_table *table, const struct dw_overview *overview,
                       const struct cause *cause)
{
	dw_table_head(table, "Memory grows by %s a step and is not given back: %s more at the last step%s%s.",
	              dw_text_bytes(cause->bytes, " ").at, dw_text_bytes(cause->ns, " ").at,
	              cause->name ? ", most of it from " : "", cause->name ? cause->name : "");
	if (in_python(overview))
		dw_table_head(table, "  -> let what outlives a step hold numbers, not tensors with their "
		                     "graph: loss.item() in place of loss");
	else
		dw_table_head(table, "  -> dwell report --view memory tells who holds it");
}

/* ---- causes --------------------------------------------------------------------------------- */

static struct cause find_share(const struct dw_overview *overview, enum dw_share share, double bar,
                               void (*say)(struct dw_table *, const struct dw_overview *,
                                           const struct cause *))
{
	double inside = (double)overview->steps->share_ns[share] / (double)overview->steps->recorded_ns;
	double found = share_of(overview, share);
	bool between = found > inside; /* else the share is the one in the breakdown below */

	return (struct cause){ .share = fmax(found, inside) >= bar ? fmax(found, inside) : 0, .say = say,
		.ns = between ? found * step_ns(overview)
		              : inside * (double)overview->steps->recorded_ns /
		                    (double)overview->steps->recorded_count };
}

/* The share of its main thread's time that the system gave to other programs. */
static double delay_share(const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, "dwell.delay_ns") == 0 && overview->flat->wall_ns)
			return strtod(source->metas[i].value, NULL) / (double)overview->flat->wall_ns;
	return 0;
}

/* Of the steps. Waits that have a name are no idleness. */
static double idle_share(const struct dw_overview *overview)
{
	static const enum dw_share named[] = { DW_SHARE_DATA, DW_SHARE_COMMUNICATION, DW_SHARE_DEVICE,
		DW_SHARE_CHECKPOINT };
	const struct dw_steps *steps = overview->steps;
	double wall_ns = 0, cpu_ns = 0, share;

	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];

		if (!step->recorded || step->open || !step->cpu_ns)
			continue;
		wall_ns += (double)(step->end_ns - step->start_ns);
		cpu_ns += (double)step->cpu_ns;
		for (size_t j = 0; j < sizeof named / sizeof *named; j++)
			cpu_ns += (double)step->share_ns[named[j]];
	}
	share = wall_ns > 0 ? 1 - cpu_ns / wall_ns - delay_share(overview) : 0;
	return fmax(share, 0) * (double)steps->recorded_ns / loop_ns(overview);
}

/* The operators of the thread that steps: those of pools run beside it. */
static struct dw_model *own_thread(const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;
	struct dw_scope scope = *dw_model_scope(overview->inside);
	struct dw_model *own = NULL;
	char tid[16];

	if (overview->steps->thread_count != 1 || scope.thread)
		return overview->inside;
	snprintf(tid, sizeof tid, "%u", source->threads[overview->steps->threads[0]].tid);
	scope.thread = tid;
	return dw_model_create(&own, source, &scope, NULL) == 0 ? own : overview->inside;
}

struct operators {
	double all_ns, calls;           /* a step */
	double small_ns, small_calls;
	struct cause most;
};

static struct operators sum_operators(const struct dw_overview *overview)
{
	double steps = (double)overview->steps->recorded_count;
	struct dw_model *own = own_thread(overview);
	const struct dw_flat *flat = dw_model_flat(own, DW_VIEW_CATEGORY(OPERATOR), NULL);
	struct operators sum = { 0 };

	for (size_t i = 0; flat && i < flat->count; i++) {
		const struct dw_stat *stat = &flat->rows[i].stat;
		double self_ns = (double)stat->self_ns, calls = (double)stat->count;

		sum.all_ns += self_ns / steps;
		sum.calls += calls / steps;
		if (calls > 0 && self_ns / calls < SMALL_CALL_NS) {
			sum.small_ns += self_ns / steps;
			sum.small_calls += calls / steps;
		}
		if (i == 0) /* rows are by self time; names live as long as the source */
			sum.most = (struct cause){ .say = say_operator, .calls = calls / steps,
				.ns = self_ns / calls, .share = self_ns / steps / step_ns(overview),
				.name = dw_model_symbols(own, NULL)[flat->rows[i].symbol].name };
	}
	dw_view_inside_done(overview->inside, own);
	return sum;
}

/* Time of the steps in which Python runs and no operator does. */
static double between_share(const struct dw_overview *overview, const struct operators *sum,
                            double idle)
{
	static const enum dw_share apart[] = { DW_SHARE_PROFILER, DW_SHARE_COLLECTOR, DW_SHARE_DATA,
		DW_SHARE_COMMUNICATION, DW_SHARE_DEVICE, DW_SHARE_CHECKPOINT };
	double share = 1 - sum->all_ns / step_ns(overview) - idle;

	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
		share -= share_of(overview, apart[i]);
	return fmax(share, 0);
}

static void find_operators(const struct dw_overview *overview, double idle, struct cause *python,
                           struct cause *small, struct cause *most)
{
	struct operators sum = sum_operators(overview);
	double mean_ns = step_ns(overview), own = sum.small_ns / mean_ns, between = 0;

	if (in_python(overview))
		between = between_share(overview, &sum, idle);
	if (sum.small_calls > 0 && own >= SMALL_OWN_SHARE &&
	    own + fmin(between, own) >= SMALL_SHARE) {
		*small = (struct cause){ .share = own + fmin(between, own), .say = say_small,
			.calls = sum.small_calls, .ns = sum.small_ns / sum.small_calls };
		between = fmax(between - own, 0);
	}
	if (between >= PYTHON_SHARE)
		*python = (struct cause){ .share = between, .say = say_python, .ns = between * mean_ns };
	if (sum.most.share >= OPERATOR_SHARE)
		*most = sum.most;
	if (dw_overview_blind(overview))
		small->share = most->share = 0;
}

/* ---- growth ------------------------------------------------------------------------------------- */

/* The lowest and the highest level of a quarter of the steps' time. */
struct quarter {
	double low, high;
	bool seen;
};

static double bytes_at(const struct dw_memory_point *point)
{
	double sum = 0;

	for (unsigned kind = 0; kind < DW_MEMORY_KIND_COUNT; kind++)
		sum += (double)point->bytes[kind];
	return sum;
}

static const char *holder(const struct dw_overview *overview, const struct dw_memory_pool *pool)
{
	const struct dw_memory_owner *most = NULL;

	for (size_t i = 0; i < pool->owner_count; i++)
		if (!most || pool->owners[i].use.live_bytes > most->use.live_bytes)
			most = &pool->owners[i];
	return most && most->symbol != DW_NO_INDEX ? overview->symbols[most->symbol].name : NULL;
}

static struct cause grown(const struct dw_overview *overview, const struct dw_memory_pool *pool)
{
	const struct dw_steps *steps = overview->steps;
	uint64_t from_ns = steps->steps[0].start_ns, to_ns = steps->steps[steps->count - 1].end_ns;
	struct quarter quarters[4] = { 0 };
	double first, growth;

	for (size_t i = 0; i < pool->point_count; i++) {
		const struct dw_memory_point *point = &pool->points[i];
		double bytes = bytes_at(point);
		struct quarter *at;

		if (point->ns < from_ns || point->ns >= to_ns || to_ns <= from_ns)
			continue;
		at = &quarters[(point->ns - from_ns) * 4 / (to_ns - from_ns)];
		at->low = at->seen ? fmin(at->low, bytes) : bytes;
		at->high = fmax(at->high, bytes);
		at->seen = true;
	}
	/* The first quarter may be start-up; from there on each level must rise like the one
	 * before it. */
	first = quarters[2].high - quarters[1].high;
	growth = quarters[3].high - quarters[1].high;
	if (!quarters[1].seen || first < growth / 4 || first > growth * 3 / 4 ||
	    quarters[2].low <= quarters[1].low || quarters[3].low <= quarters[2].low ||
	    growth < GROWTH_BYTES || growth < GROWTH_SHARE * quarters[1].high)
		return (struct cause){ 0 };
	return (struct cause){ .share = 1, .say = say_growth, .name = holder(overview, pool),
		.bytes = growth * 2 / (double)steps->count, .ns = growth * 2 };
}

static struct cause find_growth(const struct dw_overview *overview)
{
	const struct dw_memory *memory;
	struct cause cause = { 0 };

	if (!(dw_model_categories(overview->model) & DW_VIEW_CATEGORY(ALLOCATION)) ||
	    overview->steps->thread_count != 1 || overview->steps->count < GROWTH_STEPS)
		return cause;
	memory = dw_model_memory(overview->model, NULL);
	for (size_t i = 0; memory && i < memory->pool_count && !cause.share; i++)
		if (memory->pools[i].process ==
		    overview->source->threads[overview->steps->threads[0]].process)
			cause = grown(overview, &memory->pools[i]);
	return cause;
}

/* ---- the verdict -------------------------------------------------------------------------------- */

static int compare_causes(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	return (b->share > a->share) - (b->share < a->share);
}

static void say_nameless(struct dw_table *table, const struct dw_overview *overview)
{
	double other = (double)overview->steps->share_ns[DW_SHARE_OTHER] /
	               (double)overview->steps->recorded_ns;

	if (other < NAMELESS_SHARE || in_python(overview))
		return;
	dw_table_head(table, "%.0f%% of each step lies in no named range.", other * 100);
	dw_table_head(table, "  -> DWELL_ZONE(\"name\") around its parts tells which");
}

void dw_overview_verdict(struct dw_table *table, const struct dw_overview *overview)
{
	struct cause wastes[6] = { 0 }, most = { 0 }, growth;
	double idle;
	unsigned said = 0;

	if (!overview->steps->recorded_count || !overview->steps->recorded_ns)
		return;
	idle = idle_share(overview);
	growth = find_growth(overview);
	wastes[0] = find_share(overview, DW_SHARE_DATA, DW_ADVICE_SHARE, say_data);
	wastes[1] = find_share(overview, DW_SHARE_COMMUNICATION, DW_ADVICE_SHARE, say_communication);
	wastes[2] = find_share(overview, DW_SHARE_COLLECTOR, COLLECTOR_SHARE, say_collector);
	if (idle >= IDLE_SHARE)
		wastes[3] = (struct cause){ .share = idle, .say = say_idle, .ns = idle * step_ns(overview) };
	find_operators(overview, idle, &wastes[4], &wastes[5], &most);
	qsort(wastes, sizeof wastes / sizeof *wastes, sizeof *wastes, compare_causes);
	if (dw_overview_blind(overview))
		dw_table_head(table, "Device time not recorded: operator times are launch and wait times.");
	if (growth.share > 0) {
		growth.say(table, overview, &growth);
		said++;
	}
	for (size_t i = 0; i < sizeof wastes / sizeof *wastes && said < MOST_VERDICTS; i++)
		if (wastes[i].share > 0) {
			wastes[i].say(table, overview, &wastes[i]);
			said++;
		}
	if (most.share > 0 && !said)
		most.say(table, overview, &most);
	say_nameless(table, overview);
}
