/*
 * Rules about the input: why the loop waits for data.
 *
 * A worker makes a batch in time p. A step takes time T, of which W is waiting for data. Then
 * n' = p / (T - W) workers are enough, and a step takes T - W with them.
 */
#include "rules/case.h"

#define LOADER_SHARE DW_RULE_NAMED
#define LOADER_MOST_WORKERS 16

/* The time of all starts of workers, the first one too, as a part of the loop. */
static double loader_starts(const struct dw_rule_case *at)
{
	double starts = dw_case_part(at, DW_FACT_LOADER_START) * dw_case_part(at, DW_FACT_LOADER_EPOCHS) /
	                dw_case_value(at, DW_FACT_LOOP_WALL);

	return fmax(isnan(starts) ? 0 : starts, dw_case_part(at, DW_FACT_LOADER_START_SHARE));
}

/* Includes waits of the loop outside steps, except for the start of workers; and collections while it
 * waits. */
static double loader_outside(const struct dw_rule_case *at)
{
	return fmax(0, dw_case_part(at, DW_FACT_LOOP_DATA_ALL) +
	                   dw_case_part(at, DW_FACT_LOADER_COLLECTOR) - loader_starts(at));
}

/* The whole is the loop if it waits longer than the steady steps show: there are bursts, which a
 * median does not show, or requests outside steps. */
static enum dw_rule_whole loader_whole(const struct dw_rule_case *at)
{
	double steps = dw_case_part(at, DW_FACT_STEP_DATA) * dw_case_part(at, DW_FACT_LOOP_STEPS);

	return loader_outside(at) > 1.25 * steps + 0.05 ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

/* What the waits of the steady steps have of starts of workers in later epochs: loader-restart
 * reports them. At most what no other request explains. */
static double loader_starts_in_steps(const struct dw_rule_case *at)
{
	double usual = dw_case_part(at, DW_FACT_LOADER_STARVED) + dw_case_part(at, DW_FACT_LOADER_HAND_OVER);
	double starts = dw_case_part(at, DW_FACT_LOADER_START_SHARE) / fmax(0.01, dw_case_part(at, DW_FACT_LOOP_STEPS));

	return fmax(0, fmin(starts, dw_case_part(at, DW_FACT_STEP_DATA) - usual));
}

static struct dw_amount loader_share(const struct dw_rule_case *at)
{
	double loop = loader_outside(at);

	if (loader_whole(at) == DW_RULE_OF_LOOP)
		return (struct dw_amount){ loop, loop, loop };
	return dw_amount_less(dw_case_amount(at, DW_FACT_STEP_DATA), loader_starts_in_steps(at));
}

/* Workers that stay make batches ahead while the loop does something else. */
static double loader_rest_of_waits(const struct dw_rule_case *at)
{
	double all = dw_case_part(at, DW_FACT_LOOP_DATA_ALL) + dw_case_part(at, DW_FACT_LOADER_COLLECTOR);

	return fmax(0, all - dw_case_part(at, DW_FACT_LOADER_START_SHARE)) * dw_case_whole_ns(at, DW_RULE_OF_LOOP);
}

/* The part of a step that is not spent waiting for data. */
static double loader_work_ns(const struct dw_rule_case *at)
{
	return dw_case_whole_ns(at, loader_whole(at)) * (1 - loader_share(at).value);
}

static bool loader_has_workers(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_LOADER_WORKERS);
}

/* Threads of the program make the batches, without ranges of their own. */
static bool loader_waits_for_threads(const struct dw_rule_case *at)
{
	double data = dw_case_part(at, DW_FACT_STEP_DATA) * dw_case_part(at, DW_FACT_LOOP_STEPS);

	return dw_case_value(at, DW_FACT_LOADER_WORKERS) == 0 && dw_case_has(at, DW_FACT_LOADER_THREADS) &&
	       2 * dw_case_part(at, DW_FACT_LOADER_THREADS) >= data;
}

static bool loader_has_none(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_WORKERS) == 0 && !loader_waits_for_threads(at);
}

/* The shortest time of a step for which there are CPUs if workers make the batches: the CPU time of the step's other work and
 * of a batch, by the number of CPUs. While the loop does not wait for data, it has as many as it uses then, whatever other
 * programs take. 0: not known, or batches take no CPU time. */
static double loader_cpus_ns(const struct dw_rule_case *at)
{
	double left = dw_case_value(at, DW_FACT_CPU_LEFT), other = left - dw_case_value(at, DW_FACT_LOADER_SPARE);
	double other_ns = fmax(0, other * dw_case_whole_ns(at, loader_whole(at)));
	double batch_ns = dw_case_value(at, DW_FACT_LOADER_RUNS) * dw_case_value(at, DW_FACT_LOADER_PRODUCTION);

	return batch_ns > 0 ? (other_ns + batch_ns) / fmax(left, other_ns / loader_work_ns(at)) : 0;
}

/* The time of a step with n workers, of which a batch is ready every p / n. */
static double loader_step_ns(const struct dw_rule_case *at)
{
	return fmax(fmax(loader_work_ns(at), loader_cpus_ns(at)), dw_case_value(at, DW_FACT_LOADER_PRODUCTION) / LOADER_MOST_WORKERS);
}

/* The number of workers that are enough. 0: no CPU is there for more. NaN if there are already as many, or if the number is
 * too large. */
static double loader_workers(const struct dw_rule_case *at)
{
	double now_ns = dw_case_whole_ns(at, loader_whole(at)), bound_ns = loader_cpus_ns(at), work_ns = loader_work_ns(at);
	double wanted = ceil(dw_case_value(at, DW_FACT_LOADER_PRODUCTION) / fmax(work_ns, bound_ns));

	if (wanted < 1)
		wanted = 1;
	if (bound_ns > work_ns && !(bound_ns <= (1 - DW_RULE_DEADBAND) * now_ns && wanted > dw_case_value(at, DW_FACT_LOADER_WORKERS)))
		return 0;
	return wanted > dw_case_value(at, DW_FACT_LOADER_WORKERS) && wanted <= LOADER_MOST_WORKERS ? wanted : NAN;
}

/* What more workers save; where there is no CPU for them, what samples save that take no time. */
static double loader_gain_workers(const struct dw_rule_case *at, double share_ns)
{
	double now_ns = dw_case_whole_ns(at, loader_whole(at));

	if (!(dw_case_value(at, DW_FACT_LOADER_PRODUCTION) > 0) || loader_workers(at) == 0)
		return share_ns;
	/* The part of the wait that goes: of the time for which the thread has a CPU or waits, as of that by the clock. */
	return share_ns * (now_ns - loader_step_ns(at)) / (now_ns - loader_work_ns(at));
}

static bool loader_restarts(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_EPOCHS) > 1 &&
	       dw_case_value(at, DW_FACT_LOADER_WORKERS_STARTED) > dw_case_value(at, DW_FACT_LOADER_WORKERS);
}

#define LOADER_OF_USUAL 2.0 /* the mean hand-over by the median one; beyond it, single requests waited for
                             * a batch that was not the ready one */

/* Requests while a batch was ready. Batches come in order: while the next one is being made, later ones may
 * be ready. Such a request takes far longer than a usual one, and its wait is one for production. */
static double loader_hand_over(const struct dw_rule_case *at)
{
	double hand_over = dw_case_value(at, DW_FACT_LOADER_HAND_OVER);
	double usual = dw_case_value(at, DW_FACT_LOADER_HAND_OVER_NS) * (1 - dw_case_part(at, DW_FACT_CPU_DELAY)) *
	               fmax(1, dw_case_part(at, DW_FACT_LOADER_BATCHES) /
	                           dw_case_value(at, DW_FACT_STEP_COUNT)) / dw_case_whole_ns(at, DW_RULE_OF_STEP);

	return hand_over > LOADER_OF_USUAL * usual ? usual : hand_over;
}

static double loader_production(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_STARVED) + dw_case_value(at, DW_FACT_LOADER_HAND_OVER) -
	       loader_hand_over(at);
}

#define LOADER_BUSY 0.9 /* of the workers' time: they make batches without a pause */

static bool loader_workers_are_busy(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_BUSY) >= LOADER_BUSY;
}

#define LOADER_EXCHANGE_NS 2e6 /* any batch of another process takes up to so long to arrive */
#define LOADER_EXCHANGE_OF 0.25 /* of a step: then it is too long for such steps */

static bool loader_hands_over(const struct dw_rule_case *at)
{
	double hand_over = loader_hand_over(at), collector = dw_case_part(at, DW_FACT_LOADER_COLLECTOR);
	bool usual = dw_case_value(at, DW_FACT_LOADER_HAND_OVER_NS) * (1 - dw_case_part(at, DW_FACT_CPU_DELAY)) < LOADER_EXCHANGE_NS &&
	             !(hand_over >= LOADER_EXCHANGE_OF);
	bool ready = dw_case_fact(at, DW_FACT_LOADER_READY)->measured || dw_case_fact(at, DW_FACT_LOADER_EMPTY)->measured;

	return ready && loader_has_workers(at) && hand_over + collector >= loader_share(at).value / 2 &&
	       !usual && !(dw_case_value(at, DW_FACT_LOADER_START_SHARE) > hand_over) &&
	       !(dw_case_value(at, DW_FACT_LOADER_READY) < 0.8) && !loader_workers_are_busy(at) &&
	       !(loader_production(at) > hand_over) && !(dw_case_value(at, DW_FACT_LOADER_EMPTY) > 0.5);
}

/* With the collections that the hand-over causes. */
static struct dw_amount loader_share_hand_over(const struct dw_rule_case *at)
{
	struct dw_amount share = loader_share(at), whole = dw_case_amount(at, DW_FACT_LOADER_HAND_OVER);

	return loader_whole(at) == DW_RULE_OF_STEP && whole.value > share.value ? whole : share;
}

/* Whether the loop waits for batches that are not made yet, rather than for their hand-over. True
 * if it is not known. */
static bool loader_waits_for_production(const struct dw_rule_case *at)
{
	return loader_workers_are_busy(at) || !(loader_production(at) < loader_hand_over(at));
}

static bool loader_workers_are_slow(const struct dw_rule_case *at)
{
	return loader_waits_for_threads(at) || (loader_has_workers(at) && loader_waits_for_production(at));
}

static bool loader_has_slow_one(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_WORKERS) >= 2 &&
	       dw_case_value(at, DW_FACT_LOADER_SLOWEST) >= 1.5 && loader_waits_for_production(at);
}

/* Production is fast enough on average, but the queue becomes empty: single batches take longer
 * than a step does without them, so that a batch that is ready does not hide them. */
static bool loader_is_bursty(const struct dw_rule_case *at)
{
	double production_ns = dw_case_value(at, DW_FACT_LOADER_PRODUCTION);
	double variation = dw_case_value(at, DW_FACT_LOADER_VARIATION);

	return production_ns / dw_case_value(at, DW_FACT_LOADER_WORKERS) < 0.8 * loader_work_ns(at) &&
	       variation >= 2 && production_ns * variation > loader_work_ns(at) && loader_waits_for_production(at);
}

static struct dw_amount loader_share_part(const struct dw_rule_case *at)
{
	return dw_amount_times(loader_share(at), dw_case_value(at, DW_FACT_LOADER_PART));
}

static bool loader_part_dominates(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOADER_PART) >= 0.6 && !loader_hands_over(at) &&
	       loader_share(at).value >= LOADER_SHARE &&
	       dw_case_fact(at, DW_FACT_LOADER_PART)->name &&
	       !dw_case_fact(at, DW_FACT_LOADER_PART)->note; /* code without a name of its own */
}

static void loader_rows(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "data", rows);
}

/* Samples that take no time save the whole wait, which more workers do not where there are too few CPUs for them. */
static double loader_rest_of_samples(const struct dw_rule_case *at)
{
	struct dw_rule_rows rows = { .count = 0 };

	loader_rows(at, &rows);
	return fmax(0, (rows.ns > 0 ? rows.ns : at->verdict->time_ns) - at->verdict->gain_ns);
}

/* Parts of remedies. `number` is 0 where no CPU is there for more workers. */
#define NO_CPU "[!number: no CPU is free for more workers: ]"
#define IF_FREE "[-loader.runs:  if CPUs are free]"
#define BESIDE(words) NO_CPU "[!number: make batches once and keep them, or make them of cheaper samples]" \
	"[?number: " words "][-number: " words "]"

const struct dw_rule dw_rules_loader[] = {
	{
		.id = "loader-restart",
		.question = "Are the loader's workers started anew in each epoch?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DATA,
		.whole = DW_RULE_OF_LOOP,
		.needs = DW_RULE_NEEDS(DW_FACT_LOADER_START_SHARE, DW_FACT_LOADER_EPOCHS,
		                       DW_FACT_LOADER_WORKERS_STARTED, DW_FACT_LOADER_WORKERS),
		.threshold = DW_RULE_DEADBAND,
		.reason = "The first start is necessary, and is not counted. To start and end workers takes "
		          "as long whatever the samples cost, so that it is reported apart from them.",
		.applies = loader_restarts,
		.rest_ns = loader_rest_of_waits,
		.rest = "the rest of the waits for data",
		.statement = "Starting and ending {loader.workers} loader worker{loader.workers:s} in each of "
		             "{loader.epochs} epochs {takes} {share} {of}[: {loader.start} an epoch].",
		.remedy = {
			[DW_WORDS_ANY] = "keep the workers from one epoch to the next",
			[DW_WORDS_PYTORCH] = "DataLoader(..., persistent_workers=True)",
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-one-slow-worker",
		.question = "Is one of the loader's workers slower than the others?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_DATA,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.waits = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_DATA, DW_FACT_LOADER_WORKERS, DW_FACT_LOADER_SLOWEST),
		.share = loader_share,
		.rows = loader_rows,
		.threshold = DW_RULE_NAMED,
		.reason = "A loader returns batches in order, so that all wait for the slowest worker. "
		          "Usual differences of workers are below a half. The loop waits for batches that "
		          "are being made, and not for their hand-over.",
		.applies = loader_has_slow_one,
		.statement = "Waiting for data {takes} {share} {of}: one of {loader.workers} loader workers"
		             "[ ({loader.slowest:note})] takes {loader.slowest} times as long for a batch as "
		             "the median worker.",
		.remedy = { [DW_WORDS_ANY] = "find what this worker reads or computes that the others do not" },
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-handover",
		.question = "Do batches wait ready, and takes handing them to the loop long?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_DATA,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_DATA, DW_FACT_LOADER_WORKERS, DW_FACT_LOADER_HAND_OVER),
		.share = loader_share_hand_over,
		.rows = loader_rows,
		.threshold = DW_RULE_NAMED,
		.reason = "At least half of the wait passes while a batch is ready, and workers pause for a "
		          "tenth of their time: more of them cannot shorten it. A usual request takes 2 ms or "
		          "more without waits for a CPU, with the collections in it, or a quarter of a step: to exchange any "
		"batch with another process takes up to 2 ms. Starts of "
		          "workers in later epochs take less time than it.",
		.applies = loader_hands_over,
		.statement = "Getting data {takes} {share} {of} although batches are ready"
		             "[ ({loader.ready} of them on average)]: most of it is handing them over"
		             "[, {loader.hand_over_ns} a batch][?loader.collector: , and the collector, which looks at "
		             "the objects that this makes, {loader.collector} of the loop].",
		.remedy = {
			[DW_WORDS_ANY] = "hand over fewer and larger objects",
			[DW_WORDS_PYTORCH] = "fewer, larger tensors in a batch (a collate_fn that stacks) in place of lists and "
			                     "objects; with samples this cheap num_workers=0 may be faster",
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-shallow-queue",
		.question = "Is the queue too short for batches of different cost?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_DATA,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.waits = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_DATA, DW_FACT_LOADER_WORKERS,
		                       DW_FACT_LOADER_PRODUCTION, DW_FACT_LOADER_VARIATION),
		.share = loader_share,
		.rows = loader_rows,
		.threshold = DW_RULE_NAMED,
		.reason = "The workers make a batch in 80% of the time that a step takes for it, so that they suffice on "
		          "average, and the slowest hundredth of the batches takes twice the median or more, and longer than "
		          "a step computes: a longer queue evens that out. Not if most of the wait is the hand-over.",
		.applies = loader_is_bursty,
		.statement = "Waiting for data {takes} {share} {of}, although {loader.workers} "
		             "worker{loader.workers:s} can make batches fast enough on average: single ones take "
		             "{loader.variation} times the usual {loader.production}.",
		.remedy = {
			[DW_WORDS_ANY] = "a longer queue of batches",
			[DW_WORDS_PYTORCH] = "DataLoader(..., prefetch_factor=8), or samples of more equal cost in each batch",
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-slow-workers",
		.question = "Do the loader's workers make batches too slowly?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_DATA,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.waits = true,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_DATA, DW_FACT_LOADER_WORKERS),
		.share = loader_share,
		.rows = loader_rows,
		.threshold = DW_RULE_NAMED,
		.reason = "Waits that are removed make every step faster by their share. Below, the order of the batches and "
		          "other programs change as much. Workers make batches without a pause, or most of the wait is for a "
		          "batch that is being made. Starts of workers in later epochs are not counted. Threads of the "
		          "program are such workers if half of the wait is one for a lock or another thread.",
		.applies = loader_workers_are_slow,
		.gain_ns = loader_gain_workers,
		.rest_ns = loader_rest_of_samples,
		.rest = "the work for samples",
		.number = loader_workers,
		.statement = "Waiting for data {takes} {share} {of}: [?loader.workers: {loader.workers} loader "
		             "worker{loader.workers:s}][!loader.workers: the threads that make it] cannot keep up[ (queue empty "
		"at {loader.empty} of "
		             "requests)][; the work is in {loader.runs:note}].",
		.remedy = {
			[DW_WORDS_ANY] = NO_CPU "[-number: more workers if CPUs are free, or ][?number: {number} workers" IF_FREE
			                 ", or ]cheaper samples[; one takes {loader.sample}]",
			[DW_WORDS_PYTORCH] = NO_CPU "[?number: num_workers={number}" IF_FREE ", or ]samples that are decoded "
			                     "once and cached[; a worker takes {loader.production} for a batch]",
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-in-process",
		.place = &(const struct dw_account_select){ .explained = 1u << DW_SHARE_DATA },
		.question = "Does the loop load its batches itself?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_DATA,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_DATA, DW_FACT_LOADER_WORKERS),
		.share = loader_share,
		.rows = loader_rows,
		.threshold = 0.11,
		.reason = "Waits that are removed make every step faster by their share. To collect samples that "
		          "are in memory takes up to a tenth of short steps. Starts of workers in later epochs "
		          "are not counted. Not if half of the wait is one for a lock or another thread.",
		.applies = loader_has_none,
		.number = loader_workers,
		.statement = "Waiting for data {takes} {share} {of}[, most of it in {cells:most}]"
		             "[?loader.in_process: : the loop loads its batches itself].",
		.remedy = {
			[DW_WORDS_ANY] = BESIDE("make batches ready in another thread while a step computes"),
			[DW_WORDS_PYTORCH] = NO_CPU "[?number: DataLoader(..., num_workers={number})" IF_FREE ", or ]samples "
			                     "that are decoded once and cached",
			[DW_WORDS_JAX] = BESIDE("make batches ready in another thread or process while a step computes "
			                        "(grain, tf.data with prefetch)"),
		},
		.look = "dwell report --view dataloader",
	},
	{
		.id = "loader-part",
		.question = "Which part of making a batch takes most of it?",
		.kind = DW_RULE_WORK,
		.part = DW_RULE_PART_DATA,
		.whole_of = loader_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_LOADER_PART, DW_FACT_STEP_DATA),
		.share = loader_share_part,
		.threshold = DW_RULE_DEADBAND,
		.reason = "The loop waits for data in at least 7% of its time, and one named part has 60% of what a batch "
		          "costs: making that part cheaper helps more than anything else in the data set.",
		.applies = loader_part_dominates,
		.statement = "{loader.part:name} {takes} {loader.part} of the time for a batch"
		             "[ ({loader.production})] that the loop waits for.",
		.remedy = { [DW_WORDS_ANY] = "do this part once and store the result, or use a faster library for it" },
		.look = "dwell report --view dataloader",
	},
	{ 0 },
};
