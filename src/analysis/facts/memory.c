/*
 * Facts of memory: the peak and who owns it, growth from step to step, temporaries.
 *
 * They cover the pool with the largest peak in the loop's process. Memory grows if both the mean and
 * the least of each quarter of the loop's steady part exceed those of the quarter before it, the least by
 * half as much as the mean: larger inputs raise the mean only. The least of few moments varies by chance:
 * so what a tenth of the moments is below counts as well.
 */
#include <math.h>
#include <stdio.h>

#include "base/numbers.h"
#include "base/order.h"
#include "facts/work.h"
#include "format/keys.h"
#include "model/memory/memory.h"
#include "model/samples/samples.h"

#define GROWTH_STEPS 12u
#define GRADIENTS_STAY 0.75 /* of the most gradients: if less stays, a step frees them */
#define NO_MEMORY "no allocations were recorded: record with dwell run, without --no-memory"

static const struct dw_memory_pool *memory_find_pool(const struct dw_facts_work *work, const struct dw_memory *memory)
{
	uint32_t process = work->source->threads[work->loop->thread].process;

	for (size_t i = 0; i < memory->pool_count; i++)
		if (memory->pools[i].process == process && memory->pools[i].all.at_peak_bytes)
			return &memory->pools[i];
	return NULL;
}

static double memory_bytes_of(const struct dw_memory_point *point)
{
	double bytes = 0;

	for (unsigned i = 0; i < DW_MEMORY_KIND_COUNT; i++)
		bytes += (double)point->bytes[i];
	return bytes;
}

/* Memory in use in the four quarters of a time: its mean, the least, and what a tenth of the points is below. */
struct quarters {
	double means[4], least[4], low[4];
};

/* `space` is for a number for each point. False: a quarter has no point. */
static bool memory_quarters(const struct dw_memory_pool *pool, double from_ns, double to_ns, struct quarters *found, double *space)
{
	for (unsigned quarter = 0; quarter < 4; quarter++) {
		double sum = 0;
		size_t count = 0;

		for (size_t i = 0; i < pool->point_count; i++) {
			double of = ((double)pool->points[i].ns - from_ns) / (to_ns - from_ns) * 4;

			if (of < quarter || of >= quarter + 1)
				continue;
			space[count] = memory_bytes_of(&pool->points[i]);
			sum += space[count++];
		}
		if (!count)
			return false;
		dw_median(space, count); /* sorts */
		found->means[quarter] = sum / (double)count;
		found->least[quarter] = space[0];
		found->low[quarter] = space[count / 10];
	}
	return true;
}

/* The growth from the first to the last moment, by figures of the four quarters; 0 unless each is more
 * than the one before. */
static double memory_growth(const double quarters[4])
{
	double growth = fmax(0, (quarters[3] - quarters[0]) * 4 / 3); /* they are three quarters apart */

	for (unsigned i = 0; i < 3; i++)
		if (quarters[i + 1] - quarters[i] < growth / 12)
			growth = 0;
	return growth;
}

/* Whether less was in use at some moment of the first half than at any of the second one, by a part of the
 * growth: what is kept is in use at all moments, and larger inputs only within steps. */
static bool memory_keeps(const double least[4], double growth)
{
	return fmin(least[2], least[3]) - fmin(least[0], least[1]) >= growth / 6; /* half, if it is steady */
}

/* The name that owns most bytes at the peak, or most of the bytes that are left at the end. */
static uint32_t memory_find_owner(const struct dw_memory_pool *pool, bool live, double *bytes)
{
	uint32_t symbol = DW_NO_INDEX;

	*bytes = 0;
	for (size_t i = 0; i < pool->owner_count; i++) {
		const struct dw_memory_use *use = &pool->owners[i].use;
		double has = (double)(live ? use->live_bytes : use->at_peak_bytes);

		if (pool->owners[i].symbol == DW_NO_INDEX || has <= *bytes)
			continue;
		*bytes = has;
		symbol = pool->owners[i].symbol;
	}
	return symbol;
}

/* The place of the code that lets the heap grow most; NULL: none does, or the heap was not recorded. */
static const struct dw_memory_place *memory_find_place(const struct dw_memory *memory, uint32_t process)
{
	const struct dw_memory_place *most = NULL;

	for (size_t i = 0; i < memory->pool_count; i++)
		for (size_t n = 0; memory->pools[i].process == process && n < memory->pools[i].place_count; n++) {
			const struct dw_memory_place *place = &memory->pools[i].places[n];

			if (place->grows && (!most || place->growth_bytes > most->growth_bytes))
				most = place;
		}
	return most;
}

static void memory_put_place(struct dw_facts_work *work, struct dw_fact *fact, const struct dw_memory_place *place)
{
	const char *file = place ? place->function->file : NULL, *slash = file ? strrchr(file, '/') : NULL;
	char text[300];

	if (!file)
		return;
	snprintf(text, sizeof text, "%.250s:%u", slash ? slash + 1 : file, place->function->line);
	fact->where = dw_facts_text(work, text, strlen(text));
}

/* Growth of the heap: of the places of the code that let it grow. */
static void memory_put_heap_growth(struct dw_facts_work *work, const struct dw_memory_pool *pool,
                                   const struct dw_memory_place *most)
{
	struct dw_fact *fact;
	double growth = 0;

	for (size_t i = 0; i < pool->place_count; i++)
		growth += pool->places[i].grows ? pool->places[i].growth_bytes : 0;
	fact = dw_fact_set(work, DW_FACT_MEMORY_GROWTH, growth / (double)pool->growth_steps, pool->growth_steps);
	fact->name = most && !dw_code_is_nameless(most->function->name) ? most->function->name : NULL;
	memory_put_place(work, fact, most);
	dw_fact_set_share(work, DW_FACT_MEMORY_GROWTH_SHARE, growth, (double)pool->all.at_peak_bytes, pool->growth_steps);
}

static void memory_put_growth(struct dw_facts_work *work, const struct dw_memory_pool *pool,
                              const struct dw_memory_place *place)
{
	/* The first steps allocate memory that stays: gradients and the optimizer's state. */
	size_t count = work->loop->count, first = count / 10 + 2;
	struct quarters quarters;
	double growth, bytes, peak = (double)pool->all.at_peak_bytes;
	double *space = calloc(pool->point_count + 1, sizeof *space);
	bool known = space && count >= GROWTH_STEPS &&
	             memory_quarters(pool, (double)work->all[first].start_ns,
	                             (double)work->all[count - 1].end_ns, &quarters, space);
	struct dw_fact *fact;

	work->failed |= !space;
	free(space);
	if (pool->growth_steps) {
		memory_put_heap_growth(work, pool, place);
		return;
	}
	if (!known) {
		dw_fact_miss(work, DW_FACT_MEMORY_GROWTH, "there are too few steps");
		dw_fact_miss(work, DW_FACT_MEMORY_GROWTH_SHARE, "there are too few steps");
		return;
	}
	growth = memory_growth(quarters.means);
	if (fmax(memory_growth(quarters.least), memory_growth(quarters.low)) < growth / 2 ||
	    !memory_keeps(quarters.least, growth))
		growth = 0;
	fact = dw_fact_set(work, DW_FACT_MEMORY_GROWTH, growth / (double)(count - first), count - first);
	if (growth > 0)
		dw_fact_name(work, fact, memory_find_owner(pool, true, &bytes));
	if (growth > 0)
		memory_put_place(work, fact, place);
	dw_fact_set_share(work, DW_FACT_MEMORY_GROWTH_SHARE, growth, peak, count - first);
}

/* The part of the memory without a kind that each step makes anew: at most what it allocates. */
static double memory_remade(const struct dw_facts_work *work, const struct dw_memory_pool *pool)
{
	const struct dw_memory_use *other = &pool->kinds[DW_MEMORY_OTHER];

	return fmin((double)other->at_peak_bytes, (double)other->allocated_bytes / (double)work->loop->count);
}

/* The least memory of gradients in the later half of the loop. If a step frees them, it is little at
 * some time of the step (0, unless a library keeps a buffer of a parameter's size): there are several points a
 * step, or the intervals have whole steps, whose moment with most memory may have gradients. Then the fact is not
 * known. */
static void memory_put_kept(struct dw_facts_work *work, const struct dw_memory_pool *pool)
{
	const struct dw_loop *loop = work->loop;
	uint64_t from_ns = work->all[loop->count / 2].start_ns;
	double least = INFINITY, most = 0;
	size_t points = 0;

	for (size_t i = 0; i < pool->point_count; i++) {
		if (pool->points[i].ns < from_ns || pool->points[i].ns >= loop->end_ns)
			continue;
		least = fmin(least, (double)pool->points[i].bytes[DW_MEMORY_GRADIENT]);
		most = fmax(most, (double)pool->points[i].bytes[DW_MEMORY_GRADIENT]);
		points++;
	}
	if (points < 2 * (loop->count - loop->count / 2)) {
		dw_fact_miss(work, DW_FACT_MEMORY_GRADIENTS_KEPT, "there are too many steps: report some of them with --steps");
		return;
	}
	dw_fact_set_share(work, DW_FACT_MEMORY_GRADIENTS_KEPT, least >= GRADIENTS_STAY * most ? least : 0,
	                  (double)pool->all.at_peak_bytes, points);
}

static void memory_put_kinds(struct dw_facts_work *work, const struct dw_memory_pool *pool)
{
	static const struct {
		enum dw_fact_id id;
		enum dw_memory_kind kind;
	} kinds[] = {
		{ DW_FACT_MEMORY_GRADIENTS, DW_MEMORY_GRADIENT },
		{ DW_FACT_MEMORY_ACTIVATIONS, DW_MEMORY_ACTIVATION },
		{ DW_FACT_MEMORY_PARAMETERS, DW_MEMORY_PARAMETER },
		{ DW_FACT_MEMORY_OPTIMIZER_STATE, DW_MEMORY_OPTIMIZER_STATE },
		{ DW_FACT_MEMORY_INPUTS, DW_MEMORY_INPUT },
	};
	double peak = (double)pool->all.at_peak_bytes, bytes;
	struct dw_fact *fact;
	uint32_t owner = memory_find_owner(pool, false, &bytes);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		dw_fact_set_share(work, kinds[i].id, (double)pool->kinds[kinds[i].kind].at_peak_bytes, peak, 1);
	dw_fact_set_share(work, DW_FACT_MEMORY_TEMPORARIES_SHARE,
	                  (double)pool->kinds[DW_MEMORY_TEMPORARY].at_peak_bytes + memory_remade(work, pool), peak, 1);
	fact = dw_fact_set_share(work, DW_FACT_MEMORY_OWNER, bytes, peak, 1);
	dw_fact_name(work, fact, owner);
}

static void memory_put_peak(struct dw_facts_work *work, const struct dw_memory_pool *pool)
{
	const char *allowed = dw_facts_meta(work, DW_KEY_MEMORY_ALLOWED);
	const char *capacity = allowed ? allowed : dw_facts_meta(work, "host.memory");
	double peak = (double)pool->all.at_peak_bytes;
	struct dw_fact *fact = dw_fact_set(work, DW_FACT_MEMORY_PEAK, peak, 1);

	fact->note = pool->device;
	if (strncmp(pool->device, "cpu", 3) != 0 || !capacity || !(strtod(capacity, NULL) > 0)) {
		dw_fact_miss(work, DW_FACT_MEMORY_CAPACITY, capacity ? "the device's capacity is not in the "
		                                                       "trace" : "record with dwell run");
		dw_fact_miss(work, DW_FACT_MEMORY_PEAK_SHARE, "the capacity is not known");
		return;
	}
	dw_fact_set(work, DW_FACT_MEMORY_CAPACITY, strtod(capacity, NULL), 1);
	dw_fact_set_share(work, DW_FACT_MEMORY_PEAK_SHARE, peak, strtod(capacity, NULL), 1);
}

/* ---- the size of the input ------------------------------------------------------------------ */

#define LEAST_SIZED 20u   /* steps */
#define LEAST_SPREAD 0.2  /* of the largest activation, from small to large steps */

struct sized {
	double bytes, ns;
	double distance; /* from the line through all of them */
};

DW_ORDER(memory_compare_sized, struct sized, DW_UP(bytes))

/* The squared correlation of the sizes and durations. `line`: the line through them. */
static double memory_correlation(const struct sized *sized, size_t count, double line[2])
{
	double n = (double)count, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (size_t i = 0; i < count; i++) {
		x += sized[i].bytes / n;
		y += sized[i].ns / n;
	}
	for (size_t i = 0; i < count; i++) {
		double dx = sized[i].bytes - x, dy = sized[i].ns - y;

		xx += dx * dx;
		yy += dy * dy;
		xy += dx * dy;
	}
	line[1] = xx > 0 ? xy / xx : 0;
	line[0] = y - line[1] * x;
	return xx > 0 && yy > 0 && xy > 0 ? xy * xy / (xx * yy) : 0;
}

static int memory_compare_distances(const void *left, const void *right)
{
	const struct sized *a = left, *b = right;

	return (a->distance > b->distance) - (a->distance < b->distance);
}

/* The same without the steps, one in fifty, that are farthest from the line: the first step with a larger input
 * takes longer than others of its size. Changes the order of the steps. */
static double memory_correlation_of_most(struct sized *sized, size_t count)
{
	double line[2], all = memory_correlation(sized, count, line);

	for (size_t i = 0; i < count; i++)
		sized[i].distance = fabs(sized[i].ns - line[0] - line[1] * sized[i].bytes);
	qsort(sized, count, sizeof *sized, memory_compare_distances);
	return fmax(all, memory_correlation(sized, count - count / 50 - 1, line));
}

/* A step's duration without waits for a CPU: these do not come from its input. */
static double memory_length(const struct dw_facts_work *work, size_t s)
{
	const struct dw_usage_of *usage = &work->usages[s];
	double length = (double)(work->all[s].end_ns - work->all[s].start_ns);

	if (!work->delay_known || !(usage->wall_ns > 0))
		return length;
	return length * fmax(0, 1 - usage->delay_ns / usage->wall_ns);
}

/* The largest activation of each step, with the step's duration. It grows with the input; what a step
 * computes twice, or once in a while, makes more of them and no larger ones. Warm-up steps are left out. */
static size_t memory_size_steps(struct dw_facts_work *work, const struct dw_memory *memory, struct sized *sized)
{
	size_t count = 0, at = 0;

	for (size_t s = 0; s < work->loop->count; s++) {
		const struct dw_step *step = &work->all[s];
		const struct dw_memory_of_step *of;

		while (at < memory->step_count && (memory->steps[at].thread != step->thread ||
		                                   memory->steps[at].start_ns < step->start_ns))
			at++;
		of = memory->steps + at;
		if (at < memory->step_count && of->start_ns == step->start_ns && of->largest_bytes > 0 &&
		    work->roles[s] & (DW_ROLE_STEADY | DW_ROLE_OUTLIER))
			sized[count++] = (struct sized){ (double)of->largest_bytes, memory_length(work, s), 0 };
	}
	return count;
}

/* The sum of squared deviations of `count` sizes from their mean, by the sums of them and of their squares. */
static double memory_scatter(double sum, double squares, double count)
{
	return fmax(0, squares - sum * sum / count);
}

/* The least sum of squared deviations from two levels, before and after a step. */
static double memory_scatter_of_levels(const struct sized *sized, size_t count, double sum, double squares)
{
	double before = 0, before_squares = 0, least = INFINITY;

	for (size_t i = 0; i + 1 < count; i++) {
		before += sized[i].bytes;
		before_squares += sized[i].bytes * sized[i].bytes;
		least = fmin(least, memory_scatter(before, before_squares, (double)(i + 1)) +
		                        memory_scatter(sum - before, squares - before_squares, (double)(count - i - 1)));
	}
	return least;
}

#define LEAST_LINEAR 0.8  /* of the variance of the sizes: they lie on a line */

/* By how much the sizes grow from the first step to the last, if they grow from step to step: they lie on a
 * line, and closer to it than to two levels. A part of their mean. */
static double memory_trend(const struct sized *sized, size_t count)
{
	double n = (double)count, sum = 0, squares = 0, along = 0, all, steps, slope, left;

	for (size_t i = 0; i < count; i++) {
		sum += sized[i].bytes;
		squares += sized[i].bytes * sized[i].bytes;
		along += sized[i].bytes * ((double)i - (n - 1) / 2);
	}
	all = memory_scatter(sum, squares, n);
	steps = n * (n * n - 1) / 12;
	slope = along / steps;
	left = all - slope * along;
	if (!(all > 0) || left > (1 - LEAST_LINEAR) * all || left >= memory_scatter_of_levels(sized, count, sum, squares))
		return 0;
	return slope * (n - 1) / (sum / n);
}

/* The part of the steps whose input is larger than that of the step before. A text that is made word by word grows until it ends, and
 * the next one begins: there is no trend over the run. 0: half of them may be larger, as in inputs of any order. */
static double memory_grows(const struct sized *sized, size_t count)
{
	double low, high, part = 0;

	for (size_t i = 1; i < count; i++)
		part += sized[i].bytes > sized[i - 1].bytes ? 1 / (double)(count - 1) : 0;
	dw_samples_interval(part, count - 1, count - 1, &low, &high);
	return 2 * low > 1 ? part : 0;
}

static void memory_put_variation(struct dw_facts_work *work, const struct dw_memory *memory)
{
	struct sized *sized = calloc(work->loop->count + 1, sizeof *sized);
	size_t count = sized ? memory_size_steps(work, memory, sized) : 0;
	double part, trend, bytes = 0;

	work->failed |= !sized;
	if (count < LEAST_SIZED || 2 * count < work->loop->count) {
		for (unsigned id = DW_FACT_INPUT_VARIATION; id <= DW_FACT_INPUT_LARGEST; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, "there are too few steps with activations");
		free(sized);
		return;
	}
	for (size_t i = 0; i < count; i++)
		bytes += sized[i].bytes / (double)count;
	dw_fact_set(work, DW_FACT_INPUT_LARGEST, bytes, count);
	trend = memory_trend(sized, count);
	dw_fact_set(work, DW_FACT_INPUT_GROWS, memory_grows(sized, count), count);
	part = memory_correlation_of_most(sized, count);
	qsort(sized, count, sizeof *sized, memory_compare_sized);
	if (sized[count - 1 - count / 50].bytes < (1 + LEAST_SPREAD) * sized[count / 50].bytes)
		part = 0;
	dw_fact_set_share(work, DW_FACT_INPUT_VARIATION, part, 1, count);
	dw_fact_set(work, DW_FACT_INPUT_TREND, trend, count);
	free(sized);
}

void dw_facts_of_memory(struct dw_facts_work *work)
{
	const struct dw_memory *memory = NULL;
	const struct dw_memory_pool *pool = NULL;
	double steps = (double)work->loop->count;

	if (work->facts->at[DW_FACT_TRACE_MEMORY].value > 0) {
		memory = dw_model_memory(work->model, NULL);
		work->failed |= !memory;
	}
	if (memory)
		pool = memory_find_pool(work, memory);
	if (!pool) {
		for (unsigned id = DW_FACT_MEMORY_PEAK; id <= DW_FACT_MEMORY_INPUTS; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, NO_MEMORY);
		for (unsigned id = DW_FACT_INPUT_VARIATION; id <= DW_FACT_INPUT_LARGEST; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, NO_MEMORY);
		return;
	}
	memory_put_peak(work, pool);
	memory_put_growth(work, pool, memory_find_place(memory, pool->process));
	memory_put_kinds(work, pool);
	memory_put_kept(work, pool);
	memory_put_variation(work, memory);
	dw_fact_set(work, DW_FACT_MEMORY_TEMPORARIES, (double)pool->kinds[DW_MEMORY_TEMPORARY].allocated_bytes / steps, 1);
	dw_fact_set(work, DW_FACT_MEMORY_ALLOCATIONS, (double)pool->all.allocations / steps, 1);
	dw_fact_set(work, DW_FACT_MEMORY_ALLOCATED, (double)pool->all.allocated_bytes / steps, 1);
}
