/*
 * Verdicts: what makes a step longer than necessary, the share of each cause, and what to try.
 *
 * A cause is reported if its share of the mean step reaches a threshold. Operators are the work of
 * a step; they are reported only if one of them dominates or if there are very many small ones. If
 * no other cause was found and operators take more than half of a step, a verdict reports that. A
 * verdict on growing memory comes first, because growing memory ends the run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/loader.h"
#include "views/overview.h"

/* Thresholds, as shares of a mean step. A pause or a wait that is removed makes all steps faster by
 * its share. For operators the thresholds are higher. */
#define WAIT_SHARE 0.10
#define IDLE_SHARE 0.20       /* other programs on the machine may also be the cause */
#define MOST_WORKERS 16u
#define COLLECTOR_SHARE 0.05
#define NAMELESS_SHARE 0.30   /* of a program without Python: it need not name all of its work */
#define ONE_SHARE 0.40
/* Calling an operator from Python costs about 2 to 10 us in addition to its work. If operators are
 * shorter than this and close to each other, the calls take most of the time. */
#define SMALL_NS 20e3
#define SMALL_GAP_NS 40e3
#define SMALL_COUNT 100
#define SMALL_SHARE 0.30

struct step {
	double ns, whole_ns;             /* of the mean step, of all steps */
	double share[DW_SHARE_COUNT];
	double between;                  /* share without operators and without waits that have a
	                                  * name */
	double idle;                     /* part of `between` in which no thread of the process ran */
	double python_beside, collector_beside; /* outside any step, relative to the time of the
	                                         * steps */
	bool python, device_unseen;
	bool shapes, layers, functions;  /* whether they were recorded */
	double operators, operators_share, mean_ns; /* number per step, share of a step, mean self
	                                             * time */
	const struct dw_flat_row *largest;          /* by self time; may be NULL */
};

struct list {
	struct dw_verdict *verdicts;
	int count;
};

static struct dw_verdict *verdict_add(struct list *list, const char *kind, double share)
{
	struct dw_verdict *verdict = &list->verdicts[list->count++];

	*verdict = (struct dw_verdict){ .kind = kind, .share = share };
	return verdict;
}

static double verdict_percent(double share)
{
	return round(share * 100);
}

/* ---- data ------------------------------------------------------------------------------- */

static void verdict_say_workers(struct dw_verdict *verdict, const struct step *step,
                                const struct dw_loader *loader, const char *save)
{
	double made_ns = loader->made ? (double)loader->making_ns / (double)loader->made : 0;
	double work_ns = step->ns * (1 - step->share[DW_SHARE_DATA]);
	char queue[64] = "";
	unsigned wanted = 0;

	if (loader->queued)
		snprintf(queue, sizeof queue, " (queue empty at %.0f%% of steps)",
		         100 * (double)loader->empty / (double)loader->queued);
	snprintf(verdict->what, sizeof verdict->what,
	         "Waiting for data takes %.0f%% of each step: %u loader worker%s cannot keep up%s.",
	         verdict_percent(verdict->share), loader->workers, dw_text_plural(loader->workers),
	         queue);
	if (work_ns > 0)
		wanted = (unsigned)ceil(made_ns / work_ns);
	if (wanted > MOST_WORKERS)
		snprintf(verdict->hint, sizeof verdict->hint,
		         "a worker takes %s for a batch and a step %s: cheaper samples (decoded once, cached) "
		         "help more than workers", dw_text_ns(made_ns, " ").at, dw_text_ns(work_ns,
		                                                                           " ").at);
	else if (wanted > loader->workers)
		snprintf(verdict->hint, sizeof verdict->hint,
		         "try %u workers (num_workers=%u): up to %s a step by the batches' measured time, if "
		         "%u more core%s free", wanted, wanted, save, wanted - loader->workers,
		         wanted - loader->workers == 1 ? " is" : "s are");
	else
		snprintf(verdict->hint, sizeof verdict->hint,
		         "batches made ready earlier (a longer queue) would save up to %s a step", save);
}

static void verdict_rate_data(struct list *list, const struct step *step,
                              const struct dw_loader *loader)
{
	struct dw_text save = dw_text_ns(step->share[DW_SHARE_DATA] * step->ns, " ");
	struct dw_verdict *verdict;

	if (step->share[DW_SHARE_DATA] < WAIT_SHARE)
		return;
	verdict = verdict_add(list, "data", step->share[DW_SHARE_DATA]);
	if (loader->workers) {
		verdict_say_workers(verdict, step, loader, save.at);
		return;
	}
	snprintf(verdict->what, sizeof verdict->what, "Waiting for data takes %.0f%% of each step%s",
	         verdict_percent(verdict->share), loader->own_ns
	       ? ": the loop loads its batches itself." : ".");
	if (loader->own_ns && step->python)
		snprintf(verdict->hint, sizeof verdict->hint,
		         "try DataLoader(..., num_workers=%.0f): up to %s a step, if cores are free",
		         fmax(1, ceil(step->share[DW_SHARE_DATA] / fmax(0.02,
		                                                        1 - step->share[DW_SHARE_DATA]))),
		         save.at);
	else
		snprintf(verdict->hint, sizeof verdict->hint,
		         "batches made ready while a step computes would save up to %s a step", save.at);
}

/* ---- other waits ----------------------------------------------------------------------------- */

static void verdict_rate_waits(struct list *list, const struct step *step)
{
	struct dw_verdict *verdict;
	double collector;

	if (step->share[DW_SHARE_COMMUNICATION] >= WAIT_SHARE) {
		verdict = verdict_add(list, "communication", step->share[DW_SHARE_COMMUNICATION]);
		snprintf(verdict->what, sizeof verdict->what, "Communication takes %.0f%% of each step.",
		         verdict_percent(verdict->share));
		snprintf(verdict->hint, sizeof verdict->hint,
		         "ranks wait for the slowest one: dwell report --view steps shows what each does; larger "
		         "batches or sums over several save transfers");
	}
	collector = step->share[DW_SHARE_COLLECTOR] + step->collector_beside;
	if (collector >= COLLECTOR_SHARE) {
		verdict = verdict_add(list, "collector", collector / (1 + step->collector_beside));
		snprintf(verdict->what, sizeof verdict->what,
		         "Garbage collection takes %.0f%% of each step%s.",
		         verdict_percent(verdict->share), step->collector_beside > 0
		       ? " and the time to the next" : "");
		if (step->python)
			snprintf(verdict->hint, sizeof verdict->hint,
			         "gc.freeze() once the model and the data are made, or gc.disable() and a "
			         "gc.collect() now and then (dwell report --view gc)");
	}
	if (step->idle >= IDLE_SHARE) {
		verdict = verdict_add(list, "idle", step->idle);
		snprintf(verdict->what, sizeof verdict->what,
		         "The program is idle for %.0f%% of each step: it waits, not for data, or has no CPU.",
		         verdict_percent(verdict->share));
		snprintf(verdict->hint, sizeof verdict->hint,
		         "a sleep, a lock, a file or a network: dwell report --view tree shows what it is within%s",
		         step->functions  ? ", --view functions which function"
		         : step->python ? ", --functions which function"
		                        : "");
	}
}

/* ---- the interpreter and operators ----------------------------------------------------------- */

static void verdict_rate_small(struct list *list, const struct step *step)
{
	double share = step->operators_share + step->between - step->idle;
	struct dw_verdict *verdict = verdict_add(list, "small operators", share);

	snprintf(verdict->what, sizeof verdict->what,
	         "%s operators a step at %s each: calling them takes more than their work (with it, %.0f%% "
	         "of each step).", dw_text_count((int64_t)llround(step->operators)).at,
	         dw_text_ns(step->mean_ns, " ").at, verdict_percent(share));
	snprintf(verdict->hint, sizeof verdict->hint,
	         "fewer and larger ones: whole tensors in place of loops over rows, larger batches, "
	         "foreach or fused optimizers, torch.compile");
}

/* Python's time between operators, and from the end of a step to the start of the next one. */
static void verdict_rate_python(struct list *list, const struct step *step)
{
	double own = step->between - step->idle, share = own, beside = step->python_beside;
	double gap_ns = step->operators > 0 ? own * step->ns / step->operators : step->ns;
	struct dw_verdict *verdict;

	if (step->operators >= SMALL_COUNT && step->mean_ns < SMALL_NS && gap_ns < SMALL_GAP_NS &&
	    step->operators_share + own >= SMALL_SHARE && !step->device_unseen) {
		verdict_rate_small(list, step);
		own = share = 0;
	}
	if (beside >= WAIT_SHARE)
		share = (own + beside) / (1 + beside);
	if (share < WAIT_SHARE)
		return;
	verdict = verdict_add(list, "python", share);
	snprintf(verdict->what, sizeof verdict->what,
	         "Python between operators takes %.0f%% of each step%s.",
	         verdict_percent(share), beside >= WAIT_SHARE ? " and the time to the next" : "");
	snprintf(verdict->hint, sizeof verdict->hint,
	         "%s shows which functions; tensor operations, or work once instead of in every step, "
	         "save up to %s a step",
	         step->functions ? "dwell report --view functions" : "dwell run --functions",
	         dw_text_ns((own + (beside >= WAIT_SHARE ? beside : 0)) * step->ns, " ").at);
}

static void verdict_rate_operators(struct list *list, const struct step *step,
                                   const struct dw_symbol *symbols)
{
	struct dw_verdict *verdict;
	const char *name;
	double share;

	if (!step->largest || step->device_unseen)
		return;
	name = symbols[step->largest->symbol].name;
	share = (double)step->largest->stat.self_ns / step->whole_ns;
	if (share >= ONE_SHARE) {
		verdict = verdict_add(list, "one operator", share);
		snprintf(verdict->what, sizeof verdict->what,
		         "One operator, %.80s, takes %.0f%% of each step.",
		         name, verdict_percent(share));
		snprintf(verdict->hint, sizeof verdict->hint, "%s shows which calls%s",
		         step->shapes ? "dwell report --view operators --group-by shape"
		                      : "recording with --shapes, then --view operators --group-by shape,",
		         step->layers ? ", --view layers whose" : "");
	} else if (!list->count && step->operators_share > 0.5) {
		verdict = verdict_add(list, "compute", step->operators_share);
		snprintf(verdict->what, sizeof verdict->what,
		         "Operators take %.0f%% of each step and none stands out (%.80s: %.0f%%).",
		         verdict_percent(verdict->share), name, verdict_percent(share));
	}
}

static void verdict_rate_unnamed(struct list *list, const struct step *step)
{
	struct dw_verdict *verdict;

	if (step->share[DW_SHARE_OTHER] < NAMELESS_SHARE)
		return;
	verdict = verdict_add(list, "nameless", step->share[DW_SHARE_OTHER]);
	snprintf(verdict->what, sizeof verdict->what, "%.0f%% of each step lies in no named range.",
	         verdict_percent(verdict->share));
	snprintf(verdict->hint, sizeof verdict->hint,
	         "DWELL_ZONE(\"name\") around its parts shows which");
}

/* ---- all verdicts ---------------------------------------------------------------------------- */

static void verdict_measure_step(struct step *step, const struct dw_overview *overview,
                                 const struct dw_flat *operators)
{
	const struct dw_steps *steps = overview->steps;
	double whole = (double)steps->recorded_ns, count = (double)steps->recorded_count;
	double cpu_ns = 0, cpu_wall = 0, self_ns = 0, calls = 0, other = 0;

	step->ns = whole / count;
	step->whole_ns = whole;
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
		step->share[i] = (double)steps->share_ns[i] / whole;
	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *each = &steps->steps[i];

		if (!each->counted || !each->cpu_ns)
			continue;
		cpu_ns += (double)each->cpu_ns;
		cpu_wall += (double)(each->end_ns - each->start_ns);
	}
	for (size_t i = 0; i < operators->count; i++) {
		self_ns += (double)operators->rows[i].stat.self_ns;
		calls += (double)operators->rows[i].stat.count;
	}
	for (unsigned i = 0; i <= DW_SHARE_EVALUATION; i++)
		other += step->share[i];
	other += (double)steps->helped_ns / whole;
	step->between = fmax(0, 1 - self_ns / whole - other);
	if (cpu_wall > 0)
		step->idle = fmin(step->between, fmax(0,
		                                      1 - cpu_ns / cpu_wall - other - overview->delay_share));
	for (size_t i = 0; i < steps->beside_count; i++) {
		double part = (double)steps->besides[i].ns / (double)steps->steps_ns;

		step->python_beside += strcmp(steps->besides[i].name, "other") == 0 ? part : 0;
		step->collector_beside += strcmp(steps->besides[i].name, "collector") == 0 ? part : 0;
	}
	step->operators = calls / count;
	step->operators_share = self_ns / whole;
	step->mean_ns = calls > 0 ? self_ns / calls : 0;
	step->largest = operators->count ? &operators->rows[0] : NULL;
	for (size_t i = 0; i < steps->thread_count; i++) {
		uint32_t process = overview->source->threads[steps->threads[i]].process;

		step->python |= (overview->source->processes[process].flags & DW_PROCESS_PYTHON) != 0;
	}
}

/* Growing memory first, then by share, largest first. */
static int verdict_compare(const void *left, const void *right)
{
	const struct dw_verdict *a = left, *b = right;
	bool grows_a = strcmp(a->kind, "memory growth") == 0, grows_b = strcmp(b->kind,
	                                                                       "memory growth") == 0;

	if (grows_a != grows_b)
		return grows_b - grows_a;
	return (b->share > a->share) - (b->share < a->share);
}

int dw_overview_verdicts(const struct dw_overview *overview,
                         struct dw_verdict verdicts[DW_VERDICTS],
                         struct dwell_error *error)
{
	struct list list = { verdicts, 0 };
	struct dw_model *model = overview->inside ? overview->inside : overview->model;
	const struct dw_flat *operators;
	struct dw_loader *loader;
	struct step step = { 0 };
	int grows;

	if (!overview->steps->recorded_count || !overview->steps->recorded_ns)
		return 0;
	operators = dw_model_flat(model, DW_VIEW_CATEGORY(OPERATOR), error);
	if (!operators)
		return -1;
	step.device_unseen = dw_overview_device_unseen(overview);
	step.shapes = overview->has_shapes;
	step.layers = dw_model_categories(overview->model) & DW_VIEW_CATEGORY(LAYER);
	step.functions = dw_model_categories(overview->model) & DW_VIEW_CATEGORY(FUNCTION);
	verdict_measure_step(&step, overview, operators);
	if (step.share[DW_SHARE_DATA] >= WAIT_SHARE) {
		loader = dw_loader(overview->model, error);
		if (!loader)
			return -1;
		verdict_rate_data(&list, &step, loader);
		dw_loader_done(loader);
	}
	verdict_rate_waits(&list, &step);
	if (step.python)
		verdict_rate_python(&list, &step);
	else
		verdict_rate_unnamed(&list, &step);
	grows = dw_verdict_memory(overview, step.python, &verdicts[list.count], error);
	if (grows < 0)
		return -1;
	list.count += grows;
	verdict_rate_operators(&list, &step, overview->symbols);
	/* Hints explain what to record with dwell. They do not apply to traces of other profilers. */
	for (int i = 0; i < list.count && overview->source->files[0].foreign; i++)
		verdicts[i].hint[0] = '\0';
	qsort(verdicts, (size_t)list.count, sizeof *verdicts, verdict_compare);
	return list.count;
}
