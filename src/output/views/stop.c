/* What is said first of a run that did not end as it should: ranks that wait for one that does not come, a rank that failed, a
 * program that stood still. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ranks/ranks.h"
#include "format/keys.h"
#include "model/core/product.h"
#include "views/stop.h"

#define LEAST_OPEN_NS 1000000000u
#define LEAST_SILENT_NS 10e9 /* and LEAST_SILENT_STEPS, as for dwell watch */
#define LEAST_SILENT_STEPS 20.0

/* Whether it is worth a walk over the records: a step did not end for long, or a process failed. */
static bool stop_may_be(const struct dw_source *source)
{
	for (size_t i = 0; i < source->step_count; i++)
		if (source->steps[i].open && source->steps[i].end_ns - source->steps[i].start_ns >= LEAST_OPEN_NS)
			return true;
	for (size_t i = 0; i < source->meta_count; i++) {
		unsigned status;

		if (strcmp(source->metas[i].key, DW_KEY_STATUS) == 0 &&
		    (sscanf(source->metas[i].value, "{\"exit\":%u", &status) != 1 || status))
			return true;
	}
	return false;
}

/* For how long nothing was recorded at the end, if that is long for steps of this length; or 0. */
static double stop_silent_ns(const struct dw_summary_rank *rank)
{
	double step_ns = rank->steps ? (double)rank->ns / (double)rank->steps : 0;
	double silent_ns = rank->where_known ? (double)rank->silent_ns : 0;

	return rank->well || !step_ns || silent_ns < fmax(LEAST_SILENT_NS, LEAST_SILENT_STEPS * step_ns) ? 0 : silent_ns;
}

/* Where the ranks of the run were when it ended. */
struct stop {
	struct dw_summary summary; /* empty: nothing shows that it did not end as it should */
	struct dw_ranks ranks;
	bool compared; /* there are several */
	bool stands;   /* the program or a rank of it waits for what does not come */
};

static bool stop_compute(struct dw_model *model, const void *request, void *result)
{
	struct stop *stop = result;

	if (!stop_may_be(dw_model_source(model)))
		return true;
	if (!dw_summary_add_model(&stop->summary, model, NULL) || !dw_summary_finish(&stop->summary, NULL))
		return false;
	if (stop->summary.count > 1) {
		stop->compared = dw_ranks_compare(&stop->ranks, &stop->summary, NULL);
		stop->stands = stop->compared && stop->ranks.hang.found;
	} else if (stop->summary.count) {
		stop->stands = stop_silent_ns(&stop->summary.ranks[0]) > 0;
	}
	return true;
}

static void stop_free(void *result)
{
	struct stop *stop = result;

	dw_ranks_reset(&stop->ranks);
	dw_summary_reset(&stop->summary);
}

static const struct stop *stop_of(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct stop), .compute = stop_compute, .free = stop_free };

	return dw_product_get(model, &product, 0, NULL, error);
}

bool dw_view_stands_still(struct dw_model *model)
{
	const struct stop *stop = stop_of(model, NULL);

	return stop && stop->stands;
}

/* A program with one loop. */
static void stop_head_alone(struct dwell_table *table, const struct dw_summary_rank *rank, const char *uncaught)
{
	const struct dw_summary_open *open = rank->open_count ? &rank->open[rank->open_count - 1] : NULL;
	double silent_ns = stop_silent_ns(rank);

	if (rank->failed)
		dw_table_say(table, DW_LABEL_STOP, "The program ended %s step %llu%s%s%s.", rank->last_open ? "within" : "after",
		              (unsigned long long)rank->last_step, dw_summary_failure(rank->failed).at,
		              *uncaught ? ", by the exception " : "", uncaught);
	if (!(silent_ns > 0))
		return;
	dw_table_say(table, DW_LABEL_STOP, "It stood still%s: nothing was recorded for the last %s, %s step %llu%s%.120s; a step takes %s.",
	              rank->failed ? " before" : "", dw_text_ns(silent_ns, " ").at, rank->last_open ? "in" : "after",
	              (unsigned long long)rank->last_step, open ? ", in " : "", open ? open->name : "",
	              dw_text_ns((double)rank->ns / (double)rank->steps, " ").at);
	dw_table_say(table, DW_LABEL_TRY, "while it runs, dwell stacks PID shows where each thread is and what it waits for");
}

static void stop_head_ranks(struct dwell_table *table, const struct dw_ranks *ranks)
{
	size_t first = table->head_count;

	dw_ranks_put_hang(table, ranks);
	for (size_t i = first; i < table->head_count; i++)
		table->heads[i].label = i == first ? DW_LABEL_STOP : DW_LABEL_REST;
}

void dw_view_head_stop(struct dwell_table *table, struct dw_model *model)
{
	const struct stop *stop = stop_of(model, NULL);

	if (stop && stop->compared)
		stop_head_ranks(table, &stop->ranks);
	else if (stop && stop->summary.count == 1)
		stop_head_alone(table, &stop->summary.ranks[0], dw_view_uncaught(dw_model_source(model)));
}
