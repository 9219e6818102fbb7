/* Periods of kept traces of real programs, against the steps that are marked in them, or the loop that they are known
 * to have. */
#include <fcntl.h>

#include "check.h"

#include "model/model.h"
#include "model/steps/periods.h"

/* Traces with at least as many marked steps as a period needs. */
static const char *const marked[] = { "1.0-program.dwell",
	                                  "gpu/compute.dwell",
	                                  "gpu/loader.dwell",
	                                  "gpu/pageable.dwell",
	                                  "gpu/sync.dwell",
	                                  "kineto/diff_control_a100.json.gz",
	                                  "kineto/diff_test_v100.json.gz",
	                                  "kineto/train_v100_rank1.json.gz" };

/* Traces in which no step is marked, or not each of those that were recorded. */
static const struct {
	const char *file;
	size_t count;
	const char *begins; /* NULL: not said */
} loops[] = {
	{ "gpu/kineto.json.gz", 10, NULL },           /* steps of a ResNet-50 */
	{ "gpu/sync-bursts.dwell", 138, "backward" }, /* from the middle of a step on; operators of parts of the time */
	{ "kineto/alexnet_a100.json.gz", 0, NULL },   /* the model runs twice */
#ifdef DW_HAVE_SQLITE
	{ "nsight/2022.2-saxpy.sqlite", 5, "MPI_Send" },
	{ "nsight/2024.5-cloverleaf.sqlite", 0, NULL }, /* two steps */
#endif
};

struct kept {
	struct dw_source *source;
	struct dw_model *model;
	const struct dw_period *period;
};

static bool kept_open(struct kept *kept, const char *file)
{
	const char *folder = getenv("DWELL_DATA");
	char path[4096];
	const char *const paths[] = { path };
	struct dwell_error error;

	*kept = (struct kept){ NULL, NULL, NULL };
	snprintf(path, sizeof path, "%s/%s", folder ? folder : "tests/data", file);
	if (dw_source_open(&kept->source, paths, 1, &error) == 0 &&
	    dw_model_create(&kept->model, kept->source, NULL, &error) == 0)
		kept->period = dw_model_period(kept->model, &error);
	if (!kept->period)
		CHECK_FAIL("%s: %s", path, error.message);
	return kept->period != NULL;
}

static void kept_close(struct kept *kept)
{
	dw_model_destroy(kept->model);
	dw_source_close(kept->source);
}

/* Each iteration begins where a step does. The first one may begin later: the step has more before it, as what reads
 * the first data. */
static void check_begins(const char *file, const struct kept *kept)
{
	const struct dw_period *period = kept->period;
	size_t found = 1;

	for (size_t s = 0; s < kept->source->step_count && found < period->count; s++) {
		const struct dw_source_step *step = &kept->source->steps[s], *at = &period->steps[found];
		uint64_t apart = step->start_ns > at->start_ns ? step->start_ns - at->start_ns : at->start_ns - step->start_ns;

		found += step->thread == period->thread && apart * 50 < at->end_ns - at->start_ns;
	}
	if (period->count != kept->source->step_count || found < period->count)
		CHECK_FAIL("%s: %zu iterations begin with \"%s\", %zu of them where one of %zu steps does", file, period->count,
		           period->name, found, kept->source->step_count);
}

TEST(iterations_are_the_steps_that_are_marked)
{
	for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
		struct kept kept;

		if (kept_open(&kept, marked[i]))
			check_begins(marked[i], &kept);
		kept_close(&kept);
	}
}

TEST(iterations_of_traces_without_steps)
{
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		struct kept kept;

		if (kept_open(&kept, loops[i].file)) {
			if (kept.period->count != loops[i].count)
				CHECK_FAIL("%s: %zu iterations, not %zu", loops[i].file, kept.period->count, loops[i].count);
			if (loops[i].begins)
				CHECK_STR(kept.period->name, loops[i].begins);
		}
		kept_close(&kept);
	}
}

CHECK_MAIN
