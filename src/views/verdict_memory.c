/* The verdict on growing memory: if memory keeps growing, the run will end when it is full. */
#include <stdio.h>

#include "base/text.h"
#include "model/memory/memory.h"
#include "views/overview.h"

/* Memory grows if each quarter of the run has more than the one before. The first steps are left
 * out, because they allocate what stays: gradients and optimizer state. */
#define GROWTH_STEPS 12
#define GROWTH_SHARE 0.10
#define GROWTH_BYTES (1 << 20)

static uint64_t verdict_bytes_of(const struct dw_memory_point *point)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < DW_MEMORY_KIND_COUNT; i++)
		bytes += point->bytes[i];
	return bytes;
}

/* Computes the means of the four quarters of from..to. Returns false if a quarter has no point. */
static bool verdict_quarters(const struct dw_memory_pool *pool, uint64_t from_ns, uint64_t to_ns,
                             double means[4])
{
	double sums[4] = { 0 }, counts[4] = { 0 };

	for (size_t i = 0; i < pool->point_count; i++) {
		uint64_t ns = pool->points[i].ns;

		if (ns < from_ns || ns >= to_ns)
			continue;
		unsigned quarter = (unsigned)((double)(ns - from_ns) / (double)(to_ns - from_ns) * 4);
		sums[quarter & 3] += (double)verdict_bytes_of(&pool->points[i]);
		counts[quarter & 3]++;
	}
	for (unsigned i = 0; i < 4; i++) {
		means[i] = sums[i] / counts[i];
		if (!(counts[i] > 0))
			return false;
	}
	return true;
}

static const char *verdict_find_keeper(const struct dw_memory_pool *pool,
                                       const struct dw_symbol *symbols)
{
	const struct dw_memory_owner *most = NULL;

	for (size_t i = 0; i < pool->owner_count; i++)
		if (pool->owners[i].symbol != DW_NO_INDEX &&
		    (!most || pool->owners[i].use.live_bytes > most->use.live_bytes))
			most = &pool->owners[i];
	return most && most->use.live_bytes ? symbols[most->symbol].name : NULL;
}

int dw_verdict_memory(const struct dw_overview *overview, bool python, struct dw_verdict *verdict,
                      struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	size_t first = steps->count / 10 + 2;
	const struct dw_memory *memory;

	if (steps->count < GROWTH_STEPS || steps->thread_count != 1 ||
	    !(dw_model_categories(overview->model) & DW_VIEW_CATEGORY(ALLOCATION)))
		return 0;
	memory = dw_model_memory(overview->model, error);
	if (!memory)
		return -1;
	for (size_t i = 0; i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];
		double means[4], growth, peak = (double)pool->all.at_peak_bytes;
		const char *by;

		if (!verdict_quarters(pool, steps->steps[first].start_ns,
		                      steps->steps[steps->count - 1].end_ns, means))
			continue;
		growth = (means[3] - means[0]) * 4 / 3; /* extrapolated from the means of the quarters to
		                                         * the whole run */
		if (growth < GROWTH_BYTES || growth < GROWTH_SHARE * peak ||
		    means[1] - means[0] < growth / 12 || means[2] - means[1] < growth / 12 ||
		    means[3] - means[2] < growth / 12)
			continue;
		by = verdict_find_keeper(pool, overview->symbols);
		*verdict = (struct dw_verdict){ .kind = "memory growth", .share = growth / peak };
		snprintf(verdict->what, sizeof verdict->what,
		         "Memory grows by %s with each step, %s so far on %.40s%s%.60s.",
		         dw_text_bytes(growth / (double)(steps->count - first), " ").at,
		         dw_text_bytes(growth, " ").at, pool->device, by ? ", most of it made by " : "",
		         by ? by : "");
		snprintf(verdict->hint, sizeof verdict->hint, "%s",
		         python
		       ? "something keeps what each step made: losses kept with their graphs are the "
		                  "usual cause; keep loss.item() or loss.detach()"
		                : "dwell report --view memory shows what is left at the end");
		return 1;
	}
	return 0;
}
