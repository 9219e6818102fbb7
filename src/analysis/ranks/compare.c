/*
 * Compares the ranks of a summary; see ranks.h.
 *
 * A cell is what one rank did in one span. All numbers of a cell are means of a step, so that spans
 * with few counted steps compare with others.
 */
#include <math.h>

#include "base/error.h"
#include "base/free.h"
#include "base/numbers.h"
#include "base/order.h"
#include "ranks/ranks.h"

#define FEW_STEPS 20
#define MOST_NAMED 64u /* slow ranks whose operator and layer are searched */

struct comparison {
	struct dw_ranks *ranks;
	const struct dw_summary_span **cells; /* by result, then span; NULL: the rank has none */
	double *works;                        /* the same: work of the mean step */
	double *medians;                      /* by span: of all ranks; NaN: the span is not compared */
	double *space;                        /* scratch: as many numbers as cells */
	uint64_t first;                       /* index of the first span */
};

static double *ranks_cell_work(struct comparison *with, size_t result, size_t span)
{
	return &with->works[result * with->ranks->span_count + span];
}

static const struct dw_summary_span *ranks_cell_span(const struct comparison *with, size_t result, size_t span)
{
	return with->cells[result * with->ranks->span_count + span];
}

static double span_length(const struct dw_summary_span *span)
{
	return (double)span->ns + (double)span->between_ns;
}

/* Without its communication, if that is known in all ranks. */
static double span_work(const struct dw_ranks *ranks, const struct dw_summary_span *span)
{
	double communication_ns = ranks->waits_known ? (double)span->part_ns[DW_PART_COMMUNICATION] : 0;

	return (span_length(span) - communication_ns) / (double)span->steps;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool ranks_place_cells(struct comparison *with, struct dw_summary *summary)
{
	struct dw_ranks *ranks = with->ranks;
	uint64_t first = UINT64_MAX, last = 0, most;
	size_t cells;

	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].rank->span_log2 > ranks->span_log2)
			ranks->span_log2 = ranks->results[i].rank->span_log2;
	for (size_t i = 0; i < summary->count; i++)
		if (summary->ranks[i].span_count)
			dw_summary_coarsen(&summary->ranks[i], ranks->span_log2);
	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;

		first = rank->spans[0].index < first ? rank->spans[0].index : first;
		if (rank->spans[rank->span_count - 1].index > last)
			last = rank->spans[rank->span_count - 1].index;
	}
	/* Ranks with unlike numbers of steps: no more is compared than twice what a summary of so many ranks
	 * holds of each. */
	most = 2 * dw_summary_share_spans(ranks->count);
	if (last - first >= most)
		last = first + most - 1;
	with->first = first;
	ranks->first_step = first << ranks->span_log2;
	ranks->span_count = (size_t)(last - first + 1);
	cells = ranks->count * ranks->span_count;
	ranks->excess = dw_arena_alloc(&ranks->arena, (cells + 1) * sizeof *ranks->excess);
	if (!ranks->excess || !DW_NEW(&with->cells, cells + 1) || !DW_NEW(&with->works, cells + 1) ||
	    !DW_NEW(&with->space, ranks->count + ranks->span_count + 1) || !DW_NEW(&with->medians, ranks->span_count + 1))
		return false;
	for (size_t i = 0; i < ranks->count; i++)
		for (size_t s = 0; s < ranks->results[i].rank->span_count; s++) {
			const struct dw_summary_span *span = &ranks->results[i].rank->spans[s];

			if (span->index > last)
				break;
			with->cells[i * ranks->span_count + (size_t)(span->index - first)] = span;
			*ranks_cell_work(with, i, (size_t)(span->index - first)) = span_work(ranks, span);
		}
	return true;
}

/* The work of the median rank in each span that at least half of the ranks have. */
static void ranks_find_medians(struct comparison *with)
{
	struct dw_ranks *ranks = with->ranks;

	for (size_t s = 0; s < ranks->span_count; s++) {
		size_t present = 0;
		double median;

		for (size_t i = 0; i < ranks->count; i++)
			if (ranks_cell_span(with, i, s))
				with->space[present++] = *ranks_cell_work(with, i, s);
		median = dw_ranks_middle(with->space, present);
		with->medians[s] = present >= 2 && 2 * present >= ranks->count && median > 0 ? median : NAN;
		for (size_t i = 0; i < ranks->count; i++)
			ranks->excess[i * ranks->span_count + s] =
				ranks_cell_span(with, i, s) && !isnan(with->medians[s])
					? *ranks_cell_work(with, i, s) / with->medians[s] - 1 : NAN;
	}
}

/* ---- figures of a rank -------------------------------------------------------------------------
 */

static void ranks_result_add_spans(struct comparison *with, size_t i)
{
	struct dw_ranks *ranks = with->ranks;
	struct dw_rank_result *result = &ranks->results[i];
	size_t spans = 0;

	for (size_t s = 0; s < ranks->span_count; s++) {
		const struct dw_summary_span *cell = ranks_cell_span(with, i, s);
		double steps;

		if (!cell || isnan(with->medians[s]))
			continue;
		steps = (double)cell->steps;
		result->steps += steps;
		result->step_ns += span_length(cell);
		result->communication_ns += (double)cell->part_ns[DW_PART_COMMUNICATION];
		result->work_ns += steps * *ranks_cell_work(with, i, s);
		with->space[spans++] = ranks->excess[i * ranks->span_count + s];
	}
	if (result->steps > 0) {
		result->step_ns /= result->steps;
		result->communication_ns /= result->steps;
		result->work_ns /= result->steps;
	}
	result->excess_error = dw_ranks_median_error(with->space, spans, &result->excess);
}

/* Adds who was last in each span, and how long the others waited. */
static void ranks_add_waits(struct comparison *with)
{
	struct dw_ranks *ranks = with->ranks;
	double delay = 0, length = 0;

	for (size_t s = 0; s < ranks->span_count; s++) {
		size_t last = ranks->count;

		if (isnan(with->medians[s]))
			continue;
		for (size_t i = 0; i < ranks->count; i++)
			if (ranks_cell_span(with, i, s) &&
			    (last == ranks->count || *ranks_cell_work(with, i, s) > *ranks_cell_work(with, last, s)))
				last = i;
		for (size_t i = 0; i < ranks->count; i++) {
			const struct dw_summary_span *cell = ranks_cell_span(with, i, s);
			double wait = cell ? *ranks_cell_work(with, last, s) - *ranks_cell_work(with, i, s) : 0;

			if (!cell)
				continue;
			ranks->results[i].wait_ns += fmin(wait * (double)cell->steps, (double)cell->part_ns[DW_PART_COMMUNICATION]);
			if (i != last)
				continue;
			ranks->results[i].last += (double)cell->steps;
			ranks->results[i].delay_ns += (*ranks_cell_work(with, i, s) - with->medians[s]) * (double)cell->steps;
			delay += (*ranks_cell_work(with, i, s) - with->medians[s]) * (double)cell->steps;
			length += span_length(cell);
			ranks->steps += (double)cell->steps;
		}
	}
	for (size_t i = 0; i < ranks->count && ranks->steps > 0; i++) {
		struct dw_rank_result *result = &ranks->results[i];

		result->last /= ranks->steps;
		result->delay_ns /= ranks->steps;
		result->wait_ns /= result->steps > 0 ? result->steps : 1;
	}
	ranks->step_ns = ranks->steps > 0 ? length / ranks->steps : 0;
	ranks->gain = length > 0 ? delay / length : 0;
}

/* ---- why
 * ------------------------------------------------------------------------------------------ */

/* By rank and part: the time in its mean step, NaN without steps; and the median over ranks. */
struct part_table {
	double *means, medians[DW_RANKS_PARTS];
};

static void part_table_add_rank(const struct comparison *with, size_t i, size_t from, size_t to, double *means)
{
	double steps = 0;

	for (unsigned part = 0; part < DW_RANKS_PARTS; part++)
		means[part] = 0;
	for (size_t s = from; s < to; s++) {
		const struct dw_summary_span *cell = ranks_cell_span(with, i, s);

		if (!cell || isnan(with->medians[s]))
			continue;
		steps += (double)cell->steps;
		for (unsigned part = 0; part < DW_RANKS_PARTS; part++)
			means[part] += part == DW_RANKS_BETWEEN ? (double)cell->between_ns : (double)cell->part_ns[part];
	}
	for (unsigned part = 0; part < DW_RANKS_PARTS; part++)
		means[part] = steps > 0 ? means[part] / steps : NAN;
}

/* Fills the table for the spans from `from` to before `to`. */
static void part_table_fill(struct comparison *with, struct part_table *table, size_t from, size_t to)
{
	size_t ranks = with->ranks->count;

	for (size_t i = 0; i < ranks; i++)
		part_table_add_rank(with, i, from, to, &table->means[i * DW_RANKS_PARTS]);
	for (unsigned part = 0; part < DW_RANKS_PARTS; part++) {
		size_t count = 0;

		for (size_t i = 0; i < ranks; i++)
			if (!isnan(table->means[i * DW_RANKS_PARTS + part]))
				with->space[count++] = table->means[i * DW_RANKS_PARTS + part];
		table->medians[part] = dw_ranks_middle(with->space, count);
	}
}

/* The part by which a rank exceeds the median rank most. */
static unsigned part_table_find(const struct part_table *table, size_t i, double *excess)
{
	unsigned found = DW_RANKS_NO_PART;

	*excess = 0;
	for (unsigned part = 0; part < DW_RANKS_PARTS; part++) {
		double more = table->means[i * DW_RANKS_PARTS + part] - table->medians[part];

		if (part != DW_PART_COMMUNICATION && more > *excess) {
			*excess = more;
			found = part;
		}
	}
	return found;
}

/* Names the operator and the layer of the slowest ranks. Each of them takes a search in all ranks. */
static void ranks_name_slow(struct comparison *with, size_t slow)
{
	struct dw_ranks *ranks = with->ranks;
	double least = -INFINITY;
	size_t count = 0;

	for (size_t i = 0; slow > MOST_NAMED && i < ranks->count; i++)
		if (ranks->results[i].slow)
			with->space[count++] = ranks->results[i].excess;
	if (count) {
		dw_sort_numbers(with->space, count);
		least = with->space[count - MOST_NAMED];
	}
	count = 0;
	for (size_t i = 0; i < ranks->count && count < MOST_NAMED; i++)
		if (ranks->results[i].slow && ranks->results[i].excess >= least) {
			dw_ranks_find_names(ranks, &ranks->results[i], with->space);
			count++;
		}
}

size_t dw_ranks_slow_since(const double *excess, size_t count)
{
	double all = 0, before = 0, most = 0;
	size_t found = 0;

	for (size_t s = 0; s < count; s++)
		all += isnan(excess[s]) ? 0 : excess[s];
	for (size_t s = 1; s + 1 < count; s++) {
		double earlier, later, weight;

		before += isnan(excess[s - 1]) ? 0 : excess[s - 1];
		earlier = before / (double)s;
		later = (all - before) / (double)(count - s);
		weight = (later - earlier) * (later - earlier) * (double)s * (double)(count - s);
		if (later >= DW_RANKS_LEAST_EXCESS && earlier < later / 2 && weight > most) {
			most = weight;
			found = s;
		}
	}
	return found;
}

/* The standard error of the median excess of a rank from a span on. */
static double ranks_excess_from(struct comparison *with, size_t i, size_t from, double *median)
{
	const double *excess = &with->ranks->excess[i * with->ranks->span_count];
	size_t count = 0;

	for (size_t s = from; s < with->ranks->span_count; s++)
		if (!isnan(excess[s]))
			with->space[count++] = excess[s];
	return dw_ranks_median_error(with->space, count, median);
}

/* Ranks that are not slow in most steps, but in the last half of them: something began to slow them during the run. */
static void ranks_find_late(struct comparison *with, struct part_table *parts, double *medians, double *errors)
{
	struct dw_ranks *ranks = with->ranks;
	size_t half = ranks->span_count / 2, late = 0;
	struct dw_ranks_limit limit;

	if (ranks->steps < 2 * FEW_STEPS)
		return;
	for (size_t i = 0; i < ranks->count; i++)
		errors[i] = ranks_excess_from(with, i, half, &medians[i]);
	limit = dw_ranks_find_limit(medians, errors, ranks->count, with->space);
	for (size_t i = 0; i < ranks->count; i++) {
		struct dw_rank_result *result = &ranks->results[i];
		size_t since = dw_ranks_slow_since(&ranks->excess[i * ranks->span_count], ranks->span_count);

		if (result->slow || !since || !dw_ranks_exceeds(&limit, medians[i], errors[i]))
			continue;
		result->slow = true;
		result->since = ranks->first_step + ((uint64_t)since << ranks->span_log2);
		result->excess_error = ranks_excess_from(with, i, since, &result->excess);
		result->by_part = false;
		late++;
	}
	if (late)
		part_table_fill(with, parts, half, ranks->span_count);
	for (size_t i = 0; late && i < ranks->count; i++)
		ranks->results[i].may = false;
	for (size_t i = 0; late && i < ranks->count; i++)
		if (ranks->results[i].since)
			ranks->results[i].part = part_table_find(parts, i, &ranks->results[i].part_ns);
}

static bool ranks_find_slow(struct comparison *with, struct part_table *parts)
{
	struct dw_ranks *ranks = with->ranks;
	double *numbers = calloc(2 * ranks->count + 1, sizeof *numbers);
	struct dw_ranks_limit limit;
	size_t slow = 0;

	if (!numbers)
		return false;
	for (size_t i = 0; i < ranks->count; i++) {
		numbers[i] = ranks->results[i].excess;
		numbers[ranks->count + i] = ranks->results[i].excess_error;
	}
	limit = dw_ranks_find_limit(numbers, numbers + ranks->count, ranks->count, with->space);
	for (size_t i = 0; i < ranks->count; i++) {
		struct dw_rank_result *result = &ranks->results[i];

		result->slow = dw_ranks_exceeds(&limit, result->excess, result->excess_error);
		result->part = part_table_find(parts, i, &result->part_ns);
	}
	if (!dw_ranks_find_slow_parts(ranks, &limit)) {
		free(numbers);
		return false;
	}
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].slow && !ranks->results[i].by_part && ranks->results[i].part != DW_RANKS_NO_PART)
			ranks->results[i].part_ns = parts->means[i * DW_RANKS_PARTS + ranks->results[i].part] -
			                            parts->medians[ranks->results[i].part];
	ranks_find_late(with, parts, numbers, numbers + ranks->count);
	free(numbers);
	for (size_t i = 0; i < ranks->count; i++)
		slow += ranks->results[i].slow;
	ranks_name_slow(with, slow);
	return true;
}

/* ---- single steps
 * --------------------------------------------------------------------------------- */

static void ranks_add_slow_step(struct comparison *with, size_t i, size_t s)
{
	const struct dw_summary_span *cell = ranks_cell_span(with, i, s);
	struct dw_slow_step found = { i, cell->longest, cell->longest_ns,
		                          (*ranks_cell_work(with, i, s) - with->medians[s]) * (double)cell->steps,
		                          s, DW_RANKS_NO_PART };

	dw_ranks_put_slow_step(with->ranks, &found);
}

static bool ranks_find_slow_steps(struct comparison *with, struct part_table *parts)
{
	struct dw_ranks *ranks = with->ranks;

	for (size_t i = 0; i < ranks->count; i++) {
		const double *excess = &ranks->excess[i * ranks->span_count];
		size_t count = 0;
		double spread;

		for (size_t s = 0; s < ranks->span_count; s++)
			if (!isnan(excess[s]))
				with->space[count++] = excess[s];
		spread = dw_ranks_spread(with->space, count, ranks->results[i].excess);
		for (size_t s = 0; s < ranks->span_count; s++)
			if (!isnan(excess[s]) && dw_ranks_is_slow_step(ranks, i, excess[s], spread, with->medians[s]))
				ranks_add_slow_step(with, i, s);
	}
	if (!dw_ranks_add_alone(ranks, with->space))
		return false;
	for (size_t k = 0; k < ranks->slow_step_count; k++) {
		struct dw_slow_step *step = &ranks->slow_steps[k];
		double excess;

		if (step->span == DW_RANKS_NONE)
			continue;
		part_table_fill(with, parts, step->span, step->span + 1);
		step->part = part_table_find(parts, step->result, &excess);
	}
	return true;
}

/*
 * Finds a host whose ranks all work longer than any rank of other hosts. If half of the ranks are
 * on it, the median rank is between the two groups and no rank is slow by itself.
 */
static void ranks_try_host(struct comparison *with, const char *host)
{
	struct dw_ranks *ranks = with->ranks;
	double least = INFINITY, most = -INFINITY, error = 0, excess;
	size_t own = 0, others = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_rank_result *result = &ranks->results[i];

		error = fmax(error, result->excess_error);
		if (strcmp(result->rank->host, host) == 0) {
			least = fmin(least, result->excess);
			own++;
		} else {
			most = fmax(most, result->excess);
			with->space[others++] = result->excess;
		}
	}
	if (own < 2 || others < 2 || least - most < DW_RANKS_LEAST_ERRORS * error)
		return;
	excess = (1 + least) / (1 + dw_median(with->space, others)) - 1;
	if (excess >= DW_RANKS_LEAST_EXCESS && excess > ranks->slow_host_excess) {
		ranks->slow_host = host;
		ranks->slow_host_excess = excess;
	}
}

/* Only the host of the rank with the largest excess can be such a host. */
static void ranks_find_host(struct comparison *with)
{
	const struct dw_rank_result *results = with->ranks->results;
	size_t largest = 0;

	for (size_t i = 1; i < with->ranks->count; i++)
		if (results[i].excess > results[largest].excess)
			largest = i;
	if (with->ranks->count)
		ranks_try_host(with, results[largest].rank->host);
}

/* ---- all --------------------------------------------------------------------------------- */

static bool ranks_fail(struct dwell_error *error)
{
	dw_error_set(error, DWELL_E_NOMEM, "no memory to compare ranks");
	return false;
}

static bool ranks_run(struct dw_ranks *ranks, struct dw_summary *summary, struct dwell_error *error)
{
	struct comparison with = { .ranks = ranks };
	struct part_table parts = { .means = calloc(ranks->count * DW_RANKS_PARTS, sizeof *parts.means) };
	bool good = parts.means && ranks_place_cells(&with, summary) && dw_ranks_add_collectives(ranks);

	if (good) {
		ranks_find_medians(&with);
		for (size_t i = 0; i < ranks->count; i++)
			ranks_result_add_spans(&with, i);
		ranks_add_waits(&with);
		part_table_fill(&with, &parts, 0, ranks->span_count);
		good = ranks_find_slow(&with, &parts);
	}
	good = good && ranks_find_slow_steps(&with, &parts);
	if (good) {
		ranks_find_host(&with);
		good = dw_ranks_find_place(ranks);
	}
	if (good) {
		dw_ranks_check_balance(ranks, with.space);
		dw_ranks_find_pipeline(ranks);
		dw_ranks_find_hang(ranks);
		if (ranks->steps > 0 && ranks->steps < FEW_STEPS)
			dw_ranks_note(ranks, "Only %.0f steps are compared. With fewer than %d, differences are uncertain.",
				ranks->steps, FEW_STEPS);
	}
	DW_FREE(with.cells, with.works, with.space, with.medians, parts.means);
	return good || ranks_fail(error);
}

bool dw_ranks_compare(struct dw_ranks *ranks, struct dw_summary *summary, struct dwell_error *error)
{
	*ranks = (struct dw_ranks){ .results = NULL };
	if (!summary->count) {
		dw_error_set(error, DWELL_E_NO_DATA, "there are no ranks: no process of these files has steps");
		return false;
	}
	ranks->results = dw_arena_alloc(&ranks->arena, summary->count * sizeof *ranks->results);
	ranks->slow_steps = dw_arena_alloc(&ranks->arena, DW_RANKS_SLOW_STEPS * sizeof *ranks->slow_steps);
	ranks->notes = dw_arena_alloc(&ranks->arena, 64 * sizeof *ranks->notes);
	if (!ranks->results || !ranks->slow_steps || !ranks->notes)
		return ranks_fail(error);
	dw_ranks_choose(ranks, summary);
	if (ranks->count < 2) {
		dw_error_set(error, DWELL_E_NO_DATA,
			"there is %s: a comparison needs the traces or summaries of at least two ranks",
			ranks->count ? "one rank with steps" : "no rank with steps");
		return false;
	}
	dw_ranks_check_recorded(ranks);
	dw_ranks_check(ranks);
	return ranks_run(ranks, summary, error);
}
