/* Why a rank is slow: the operator, the layer or the function with most of its excess, and the sizes of inputs. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "ranks/ranks.h"

#define GOOD_PART 0.3    /* of the excess of the part: a name that has less does not explain it */
#define SAMPLED_ERRORS 3.0 /* standard errors of a function's samples that are more than the median rank's */
#define MUCH_MEMORY 0.1  /* peak of a rank beyond the median rank's that is named */
#define MUCH_INPUT 0.05  /* the same for its inputs */

enum why_kind { WHY_OPERATORS, WHY_LAYERS, WHY_PLACES, WHY_FUNCTIONS, WHY_WAITS };

/* Operators, layers, places or functions of a rank. */
struct why_names {
	const struct dw_summary_name *names;
	size_t count;
	uint64_t steps, other_ns;
	bool all; /* a rank without names has no time in any; otherwise nothing is known of it */
};

static struct why_names why_names_of(const struct dw_summary_rank *rank, enum why_kind kind)
{
	if (kind == WHY_PLACES)
		return (struct why_names){ rank->places, rank->place_count, dw_summary_steps(rank),
			                       rank->place_count < DW_SUMMARY_PLACES ? 0 : UINT64_MAX, true };
	if (kind == WHY_FUNCTIONS || kind == WHY_WAITS)
		return kind == WHY_WAITS ? (struct why_names){ rank->waits, rank->wait_count, rank->function_steps,
			                                           rank->wait_count < DW_SUMMARY_FUNCTIONS ? 0 : UINT64_MAX, true }
		                         : (struct why_names){ rank->functions, rank->function_count, rank->function_steps,
			                                           rank->function_count < DW_SUMMARY_FUNCTIONS ? 0 : UINT64_MAX, true };
	if (kind == WHY_LAYERS)
		return (struct why_names){ rank->layers, rank->layer_count, rank->layer_steps, rank->other_layers_ns, false };
	return (struct why_names){ rank->names, rank->name_count, rank->named_steps, rank->other_ns, false };
}

/* Time in the mean step. A name that was left out has at most the time of the smallest one that was
 * kept; if nothing was left out, it has none. NaN: the rank has no such names. */
static double why_mean(const struct why_names *own, const char *name)
{
	double most;

	if (!own->steps || (!own->count && !own->all))
		return NAN;
	for (size_t n = 0; n < own->count; n++)
		if (strcmp(own->names[n].name, name) == 0)
			return (double)own->names[n].self_ns / (double)own->steps;
	if (!own->count)
		return 0;
	most = fmin((double)own->other_ns, (double)own->names[own->count - 1].self_ns);
	return most / (double)own->steps;
}

/* The time that the median rank has in a name. */
static double why_median(const struct dw_ranks *ranks, const char *name, enum why_kind kind, double *space)
{
	size_t known = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		struct why_names names = why_names_of(ranks->results[i].rank, kind);
		double mean = why_mean(&names, name);

		if (!isnan(mean))
			space[known++] = mean;
	}
	return dw_ranks_middle(space, known);
}

/* The name in which the rank exceeds the median rank most; NULL: none explains the excess. */
static const char *why_find_name(const struct dw_ranks *ranks, const struct dw_rank_result *result,
                                 enum why_kind kind, double *excess_ns, double *space)
{
	struct why_names own = why_names_of(result->rank, kind);
	const char *found = NULL;

	*excess_ns = 0;
	for (size_t n = 0; n < own.count && own.steps; n++) {
		double mean = (double)own.names[n].self_ns / (double)own.steps, excess;

		if (own.names[n].communication || mean <= *excess_ns)
			continue;
		excess = mean - why_median(ranks, own.names[n].name, kind, space);
		if (excess > *excess_ns) {
			*excess_ns = excess;
			found = own.names[n].name;
		}
	}
	return *excess_ns >= GOOD_PART * result->part_ns ? found : NULL;
}

/* The function in which the rank has certainly more samples than the median rank, and most time. It may have less than half of the
 * part's time: where CPUs are few, a rank that computes more also waits longer for a CPU. */
static const char *why_find_sampled(const struct dw_ranks *ranks, const struct dw_rank_result *result, enum why_kind kind,
                                    double *excess_ns, double *space)
{
	struct why_names own = why_names_of(result->rank, kind);
	const char *found = NULL;

	*excess_ns = 0;
	for (size_t n = 0; n < own.count && own.steps; n++) {
		double mean = (double)own.names[n].self_ns / (double)own.steps, median = why_median(ranks, own.names[n].name, kind, space);
		double excess = mean - median, samples = (double)own.names[n].calls / mean; /* of a ns in each step */

		if (excess > *excess_ns && excess * samples > SAMPLED_ERRORS * sqrt(fmax(1, median * samples))) {
			*excess_ns = excess;
			found = own.names[n].name;
		}
	}
	return found;
}

/* Where the part says neither what the rank does nor where: the function of the program, by samples. */
static void why_find_function(const struct dw_ranks *ranks, struct dw_rank_result *result, double *space)
{
	double ns, wait_ns;
	const char *function = why_find_sampled(ranks, result, WHY_FUNCTIONS, &ns, space);
	const char *wait = why_find_sampled(ranks, result, WHY_WAITS, &wait_ns, space);

	result->function_waits = wait && wait_ns > ns;
	result->function = result->function_waits ? wait : function;
	result->function_ns = result->function_waits ? wait_ns : ns;
}

void dw_ranks_find_names(const struct dw_ranks *ranks, struct dw_rank_result *result, double *space)
{
	double place_ns;

	result->name = why_find_name(ranks, result, WHY_OPERATORS, &result->name_ns, space);
	result->layer = why_find_name(ranks, result, WHY_LAYERS, &result->layer_ns, space);
	if (result->part == DW_RANKS_BETWEEN || result->part == DW_PART_PYTHON || result->part == DW_PART_IDLE)
		result->place = why_find_name(ranks, result, WHY_PLACES, &place_ns, space);
	if (result->part == DW_RANKS_BETWEEN || result->part == DW_PART_PYTHON || result->part == DW_PART_IDLE ||
	    result->part == DW_PART_UNNAMED)
		why_find_function(ranks, result, space);
}

/* ---- memory and inputs -------------------------------------------------------------------------
 */

enum why_bytes { WHY_PEAK, WHY_INPUT, WHY_ALLOCATED };

static double why_bytes_of(const struct dw_summary_rank *rank, enum why_bytes which)
{
	uint64_t steps = dw_summary_steps(rank);

	if (which == WHY_PEAK)
		return (double)rank->memory_peak_bytes;
	return steps ? (double)(which == WHY_INPUT ? rank->input_bytes : rank->allocated_bytes) / (double)steps : 0;
}

/* Finds the rank with the most bytes. Returns by how much it exceeds the median rank, as a ratio;
 * 0: fewer than two ranks are known. */
static double why_imbalance(const struct dw_ranks *ranks, enum why_bytes which, size_t *most, double *space)
{
	size_t known = 0;
	double largest = 0, median;

	for (size_t i = 0; i < ranks->count; i++) {
		double bytes = why_bytes_of(ranks->results[i].rank, which);

		if (bytes <= 0)
			continue;
		space[known++] = bytes;
		if (bytes > largest) {
			largest = bytes;
			*most = i;
		}
	}
	median = dw_ranks_middle(space, known);
	return known >= 2 && median > 0 ? largest / median - 1 : 0;
}

void dw_ranks_check_balance(struct dw_ranks *ranks, double *space)
{
	size_t most = 0;
	double more = why_imbalance(ranks, WHY_PEAK, &most, space);

	if (more > MUCH_MEMORY)
		dw_ranks_note(ranks, "Memory is not balanced: rank %d has %s at its peak, %s more than the median rank.",
		              dw_ranks_number(ranks, most),
		              dw_text_bytes(why_bytes_of(ranks->results[most].rank, WHY_PEAK), " ").at,
		              dw_text_percent(more).at);
	more = why_imbalance(ranks, WHY_INPUT, &most, space);
	if (more > MUCH_INPUT) {
		dw_ranks_note(ranks, "Input sizes are not balanced: rank %d loads %s a step, %s more than the median rank.",
		              dw_ranks_number(ranks, most),
		              dw_text_bytes(why_bytes_of(ranks->results[most].rank, WHY_INPUT), " ").at,
		              dw_text_percent(more).at);
		return;
	}
	more = why_imbalance(ranks, WHY_ALLOCATED, &most, space);
	if (more > MUCH_MEMORY)
		dw_ranks_note(ranks,
			"Rank %d allocates %s in each step, %s more than the median rank: its inputs may be larger.",
			dw_ranks_number(ranks, most), dw_text_bytes(why_bytes_of(ranks->results[most].rank, WHY_ALLOCATED), " ").at,
			dw_text_percent(more).at);
}
