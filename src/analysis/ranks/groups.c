/*
 * The table of many ranks for people: ranks that are alike are one row.
 *
 * A slow rank has a row of its own, or, if many are slow, its host has one. Of the other ranks those are alike whose
 * excesses have no gap: none differs from the next one by GAP or more and by DW_RANKS_LEAST_ERRORS standard errors.
 */
#include <math.h>

#include "base/free.h"
#include "base/numbers.h"
#include "base/order.h"
#include "base/text.h"
#include "ranks/ranks.h"

#define MOST_RANKS 16u  /* slow ranks with a row each; of more, their hosts have rows */
#define MOST_GROUPS 16u /* rows of slow hosts, and of other ranks */
#define GAP 0.05

enum { COUNT, RANKS, HOST, STEP, WORK, COMMUNICATION, WAIT, EXCESS, LAST, DELAY, PART, PART_EXCESS, SINCE };
static const struct dw_column columns[] = {
	[COUNT] = DW_COLUMN("count", "ranks", COUNT, INT),
	[RANKS] = DW_COLUMN("ranks", "numbers", NONE, TEXT),
	[HOST] = DW_COLUMN("host", "host", NONE, TEXT),
	[STEP] = DW_COLUMN("step_ns", "step", NS, REAL, .wide_only = true),
	[WORK] = DW_COLUMN("work_ns", "work", NS, REAL),
	[COMMUNICATION] = DW_COLUMN("communication_ns", "communication", NS, REAL, .wide_only = true),
	[WAIT] = DW_COLUMN("wait_ns", "of it waits", NS, REAL, .wide_only = true),
	[EXCESS] = DW_COLUMN("excess", "excess", RATIO, REAL, .of = "the work of the median rank"),
	[LAST] = DW_COLUMN("last", "last in", RATIO, REAL, .of = "the steps"),
	[DELAY] = DW_COLUMN("delay_ns", "delays by", NS, REAL, .wide_only = true),
	[PART] = DW_COLUMN("part", "most in", NONE, TEXT),
	[PART_EXCESS] = DW_COLUMN("part_excess_ns", "excess there", NS, REAL, .wide_only = true),
	[SINCE] = DW_COLUMN("since_step", "since step", COUNT, INT),
};

/* Results in the order of the rows, and the scratch of medians. */
struct groups {
	const struct dw_ranks *ranks;
	struct dwell_table *table;
	const struct dw_rank_result **sorted;
	double *space;
};

DW_ORDER_OF_POINTERS(groups_by_excess, struct dw_rank_result, DW_DOWN(slow) DW_DOWN(excess) DW_UP_PLACE)
DW_ORDER_OF_POINTERS(groups_by_place, struct dw_rank_result, DW_UP_PLACE)

static double groups_median(const struct groups *groups, size_t from, size_t to, size_t member)
{
	for (size_t i = from; i < to; i++)
		memcpy(&groups->space[i - from], (const char *)groups->sorted[i] + member, sizeof(double));
	return dw_median(groups->space, to - from);
}
#define GROUPS_MEDIAN(member) DW_REAL(groups_median(groups, from, to, offsetof(struct dw_rank_result, member)))

static double groups_sum(const struct groups *groups, size_t from, size_t to, bool last)
{
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += last ? groups->sorted[i]->last : groups->sorted[i]->delay_ns;
	return sum;
}

static int groups_number(const struct groups *groups, size_t i)
{
	return dw_ranks_number(groups->ranks, (size_t)(groups->sorted[i] - groups->ranks->results));
}

/* "0-135, 144-9999". The row's ranks are sorted by place before. */
static void groups_list(const struct groups *groups, size_t from, size_t to, char *text, size_t size)
{
	size_t length = 0;

	for (size_t i = from, end; i < to; i = end) {
		for (end = i + 1; end < to && groups_number(groups, end) == groups_number(groups, end - 1) + 1;)
			end++;
		if (length > 14) {
			snprintf(text + length, size - length, ", ...");
			return;
		}
		length += (size_t)snprintf(text + length, size - length, "%s%d", length ? ", " : "", groups_number(groups, i));
		if (end > i + 1)
			length += (size_t)snprintf(text + length, size - length, "%s%d", end > i + 2 ? "-" : ", ",
			                           groups_number(groups, end - 1));
	}
}

static void groups_hosts(const struct groups *groups, size_t from, size_t to, char *text, size_t size)
{
	size_t hosts = 1;

	/* Ranks of a host are usually next to each other. If not, hosts count as often as they begin anew. */
	for (size_t i = from + 1; i < to; i++)
		hosts += strcmp(groups->sorted[i]->rank->host, groups->sorted[i - 1]->rank->host) != 0;
	if (hosts == 1)
		snprintf(text, size, "%.100s", groups->sorted[from]->rank->host);
	else if (hosts <= groups->ranks->place.hosts)
		snprintf(text, size, "%s hosts", dw_text_count((int64_t)hosts).at);
	else
		snprintf(text, size, "several");
}

/* The mean excess of the row's ranks in a span; NaN: none has it. */
static double groups_span_excess(const struct groups *groups, size_t from, size_t to, size_t span)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = from; i < to; i++) {
		double excess = groups->ranks->excess[(size_t)(groups->sorted[i] - groups->ranks->results) * groups->ranks->span_count +
		                                      span];

		if (isnan(excess))
			continue;
		sum += excess;
		count++;
	}
	return count ? sum / (double)count : NAN;
}

/* Since which span the ranks are slow; 0: from the begin, or it is not clear. */
static size_t groups_since(const struct groups *groups, size_t from, size_t to)
{
	size_t count = groups->ranks->span_count, found = 0;
	double *excess = calloc(count + 1, sizeof *excess);

	for (size_t s = 0; excess && s < count; s++)
		excess[s] = groups_span_excess(groups, from, to, s);
	if (excess)
		found = dw_ranks_slow_since(excess, count);
	free(excess);
	return found;
}

/* A row of the ranks sorted[from] to before sorted[to]. */
static void groups_add(const struct groups *groups, size_t from, size_t to)
{
	const struct dw_ranks *ranks = groups->ranks;
	const struct dw_rank_result *first = groups->sorted[from];
	struct dw_cell *row = dw_table_row(groups->table, 0);
	char numbers[64] = "", host[128];
	bool one_part = true;
	size_t since;

	qsort(groups->sorted + from, to - from, sizeof *groups->sorted, groups_by_place);
	groups_list(groups, from, to, numbers, sizeof numbers);
	groups_hosts(groups, from, to, host, sizeof host);
	row[COUNT] = DW_INT(to - from);
	dw_cell_text(groups->table, &row[RANKS], numbers);
	dw_cell_text(groups->table, &row[HOST], host);
	row[STEP] = GROUPS_MEDIAN(step_ns);
	row[EXCESS] = GROUPS_MEDIAN(excess);
	if (ranks->waits_known) {
		row[WORK] = GROUPS_MEDIAN(work_ns);
		row[COMMUNICATION] = GROUPS_MEDIAN(communication_ns);
		row[WAIT] = GROUPS_MEDIAN(wait_ns);
		row[LAST] = DW_REAL(groups_sum(groups, from, to, true));
		row[DELAY] = DW_REAL(groups_sum(groups, from, to, false));
	}
	if (!first->slow)
		return;
	for (size_t i = from; i < to; i++)
		one_part &= groups->sorted[i]->part == first->part;
	if (one_part && first->part != DW_RANKS_NO_PART) {
		dw_cell_text(groups->table, &row[PART], dw_ranks_part_name(first->part));
		row[PART_EXCESS] = GROUPS_MEDIAN(part_ns);
	}
	since = groups_since(groups, from, to);
	if (since)
		row[SINCE] = DW_INT(ranks->first_step + ((uint64_t)since << ranks->span_log2));
}

static bool groups_apart(const struct dw_rank_result *more, const struct dw_rank_result *less)
{
	double gap = more->excess - less->excess;

	return gap >= GAP && gap >= DW_RANKS_LEAST_ERRORS * fmax(more->excess_error, less->excess_error);
}

/* Rows of slow ranks: one for each, or for the ranks of each host. */
static void groups_add_slow(struct groups *groups, size_t slow)
{
	size_t rows = 0;

	for (size_t from = 0, to; from < slow; from = to) {
		const char *host = groups->sorted[from]->rank->host;

		to = from + 1;
		/* The other ranks of its host are moved behind the slowest one. */
		for (size_t i = to; slow > MOST_RANKS && i < slow; i++)
			if (strcmp(groups->sorted[i]->rank->host, host) == 0) {
				const struct dw_rank_result *other = groups->sorted[i];

				memmove(groups->sorted + to + 1, groups->sorted + to, (i - to) * sizeof *groups->sorted);
				groups->sorted[to++] = other;
			}
		if (++rows == MOST_GROUPS)
			to = slow;
		groups_add(groups, from, to);
	}
}

struct dwell_table *dw_ranks_table_of_groups(const struct dw_ranks *ranks)
{
	struct groups groups = { .ranks = ranks, .table = dw_table_create("ranks", columns, sizeof columns / sizeof *columns),
		.sorted = calloc(ranks->count + 1, sizeof *groups.sorted), .space = calloc(ranks->count + 1, sizeof *groups.space) };
	size_t rows = 0;

	if (groups.table && groups.sorted && groups.space) {
		groups.table->part = "groups";
		groups.table->summary = true;
		groups.table->coverage = 1;
		for (size_t i = 0; i < ranks->count; i++)
			groups.sorted[i] = &ranks->results[i];
		qsort(groups.sorted, ranks->count, sizeof *groups.sorted, groups_by_excess);
		groups_add_slow(&groups, ranks->place.slow);
		for (size_t from = ranks->place.slow, to; from < ranks->count; from = to) {
			rows++;
			for (to = from + 1;
			     to < ranks->count && (rows == MOST_GROUPS || !groups_apart(groups.sorted[to - 1], groups.sorted[to]));)
				to++;
			groups_add(&groups, from, to);
		}
		dw_table_note(groups.table,
		              "A row has ranks that are alike: medians of them, and the sums of \"last in\" and \"delays by\". "
		              "--format csv has each rank.");
	} else {
		dw_table_destroy(groups.table);
		groups.table = NULL;
	}
	DW_FREE(groups.sorted, groups.space);
	return groups.table;
}
