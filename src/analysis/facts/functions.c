/*
 * Facts of functions, if they were recorded: those that log, what recording functions costs, and the function that takes most of
 * making a batch. Their times cover the loop, in the threads with steps.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"
#include "format/keys.h"
#include "model/time/loading.h"
#include "model/time/profiles.h"

#define NO_FUNCTIONS "record with dwell run --functions"

/* What a recorded function does. In Python, functions of C have no file, and names that CPython gives, as "posix.read". */
static enum dw_activity functions_activity(const struct dw_facts_work *work, uint32_t symbol)
{
	const char *file = work->symbols[symbol].file;
	bool own = (file || !work->python) && dw_library_role_of(file) == DW_LIBRARY_OWN;

	return dw_activity_of(work->python ? DW_MODULE_CPYTHON : file, work->symbols[symbol].name, own);
}

/* The time in the steps of ranges that the program named after logging. *largest: the name with the longest one. */
static double functions_named_logging(const struct dw_facts_work *work, uint32_t *largest)
{
	double ns = 0;
	uint64_t largest_ns = 0;

	*largest = DW_NO_INDEX;
	for (size_t i = 0; i < work->loop->count; i++)
		for (uint32_t p = 0; p < work->all[i].part_count; p++) {
			const struct dw_step_part *part = &work->all[i].parts[p];

			if (!dw_name_is_logging(work->symbols[part->symbol].name))
				continue;
			ns += (double)part->ns;
			if (part->ns > largest_ns) {
				largest_ns = part->ns;
				*largest = part->symbol;
			}
		}
	return ns;
}

/* Logging in and outside steps, by the ranges that the program named. */
static void functions_put_named_logging(struct dw_facts_work *work)
{
	const struct dw_fact *outside = &work->facts->at[DW_FACT_LOOP_LOGGING];
	double outside_ns = outside->measured ? outside->value * work->loop_ns : 0;
	uint32_t name;
	double ns = functions_named_logging(work, &name);

	if (outside->measured || name != DW_NO_INDEX)
		dw_fact_name(work, dw_fact_set_share(work, DW_FACT_LOOP_LOGGING_ALL, outside_ns + ns, work->loop_ns, 1),
		             outside_ns > ns ? outside->symbol : name);
	else
		dw_fact_miss(work, DW_FACT_LOOP_LOGGING_ALL, work->python ? NO_FUNCTIONS : "name the ranges that log: \"log\"");
}

/* Logging in and outside steps: of functions, or of the ranges that the program named. */
static void functions_put_logging(struct dw_facts_work *work, const struct dw_flat *flat)
{
	const struct dw_fact *named = &work->facts->at[DW_FACT_LOOP_LOGGING_ALL];
	uint32_t largest = DW_NO_INDEX;
	double ns = 0, largest_ns = 0;

	functions_put_named_logging(work);

	for (size_t i = 0; flat && i < flat->count; i++) {
		double total_ns = (double)flat->rows[i].stat.total_ns;

		if (functions_activity(work, flat->rows[i].symbol) != DW_ACTIVITY_LOGS)
			continue;
		ns += total_ns;
		if (total_ns > largest_ns) {
			largest_ns = total_ns;
			largest = flat->rows[i].symbol;
		}
	}
	if (flat && !(named->measured && ns <= named->value * work->loop_ns))
		dw_fact_name(work, dw_fact_set_share(work, DW_FACT_LOOP_LOGGING_ALL, ns, work->loop_ns *
		                                     (double)work->steps->thread_count, 1), largest);
}

#define MOST_OF_BATCH 0.6 /* of making a batch: a function with so much of it is named */

/* Whether a function was called only while batches were made. */
static bool functions_is_of_loader(const struct dw_facts_work *work, const struct dw_loading_all *loading,
                               const struct dw_flat_row *row)
{
	const char *name = work->symbols[row->symbol].name;

	for (size_t i = 0; i < loading->part_count; i++)
		if (strcmp(work->symbols[loading->parts[i].symbol].name, name) == 0)
			return (double)loading->parts[i].count >= 0.9 * (double)row->stat.count;
	return false;
}

/* If the loop makes its batches itself and no self time is most of a batch: the innermost function
 * that is most of it with what it calls. */
static void functions_put_loader_part(struct dw_facts_work *work, const struct dw_flat *flat)
{
	const struct dw_fact *workers = &work->facts->at[DW_FACT_LOADER_WORKERS];
	const struct dw_fact *part = &work->facts->at[DW_FACT_LOADER_PART];
	const struct dw_loading_all *loading = dw_model_loading_all(work->model, NULL);
	const struct dw_flat_row *found = NULL;
	struct dw_fact *fact;

	if (!loading || !loading->making_ns || !workers->measured || workers->value > 0 ||
	    (part->measured && !part->note && part->value >= MOST_OF_BATCH))
		return;
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *row = &flat->rows[i];

		if ((double)row->stat.total_ns >= MOST_OF_BATCH * (double)loading->making_ns &&
		    (!found || row->stat.total_ns < found->stat.total_ns) && functions_is_of_loader(work, loading, row))
			found = row;
	}
	if (!found)
		return;
	fact = dw_fact_set_share(work, DW_FACT_LOADER_PART, (double)found->stat.total_ns,
	                         (double)loading->making_ns, found->stat.count);
	dw_fact_name(work, fact, found->symbol);
}

struct dw_model *dw_facts_loop_model(struct dw_model *model, uint64_t start_ns, uint64_t end_ns,
                                     struct dwell_error *error)
{
	const struct dw_scope scope = { .has_window = true, .from_ns = start_ns, .to_ns = end_ns, .step_threads = true };
	struct dw_model *loop = NULL;

	return dw_model_within(model, &scope, &loop, error) == 0 ? loop : NULL;
}

void dw_facts_of_functions(struct dw_facts_work *work)
{
	const struct dw_flat *flat = NULL;
	struct dw_model *loop;

	if (!(work->loop_ns > 0))
		return;
	if (work->facts->at[DW_FACT_TRACE_FUNCTIONS].value > 0) {
		loop = dw_facts_loop_model(work->model, work->loop->start_ns, work->loop->end_ns, NULL);
		flat = loop ? dw_model_flat(loop, DW_FACTS_CATEGORY(FUNCTION), NULL) : NULL;
		work->failed |= !flat;
	}
	functions_put_logging(work, flat);
	if (flat)
		functions_put_loader_part(work, flat);
}
