/*
 * Wait and transfer in collectives, from when each rank arrived.
 *
 * A rank that is blocked in a collective waits until the last rank of the group has entered it; what
 * remains is transfer. Ranks of one host have one clock. The clocks of hosts are aligned by common
 * leaves: a collective ends at nearly the same time in all ranks, so the median difference between
 * the leaves of two hosts is the difference of their clocks, and the spread of these differences is
 * the error.
 */
#include <math.h>

#include "base/free.h"
#include "base/map.h"
#include "base/numbers.h"
#include "base/order.h"
#include "ranks/ranks.h"

#define MOST_LASTS ((size_t)1 << 22)
#define MOST_ROUNDS 32u /* hosts between two others whose clocks are aligned through them */

struct arrival {
	const struct dw_summary_arrival *at;
	size_t result; /* index of the rank */
	size_t row;    /* index of dw_ranks.collectives */
	uint32_t group, host;
};

/* Different texts, numbered in the order in which they came. */
struct numbered {
	const char **texts;
	uint32_t count;
	struct dw_map map;
};

struct arrivals {
	struct dw_ranks *ranks;
	struct arrival *all; /* by group, sequence, rank */
	size_t count;
	struct numbered groups, hosts;
	struct dw_map rows; /* of dw_ranks.collectives, by group and operation */
	bool failed;        /* out of memory */
	double *offsets;   /* by host: what its clock is ahead of the first host's; NaN: unknown */
	uint32_t *last_counts; /* by row, then rank: in how many collectives it arrived last; NULL: there are
	                        * too many ranks and rows */
};

/* ---- rows ---------------------------------------------------------------------------------------- */

static uint32_t collectives_hash(uint32_t seed, const char *text)
{
	return dw_map_hash_bytes(seed, text, strlen(text));
}

static size_t collectives_row(struct arrivals *arrivals, const struct dw_summary_collective *from)
{
	struct dw_ranks *ranks = arrivals->ranks;
	uint32_t hash = collectives_hash(collectives_hash(0, from->group), from->operation);
	uint32_t found = DW_MAP_FIND(&arrivals->rows, hash, i,
	                             strcmp(ranks->collectives[i].group, from->group) == 0 &&
	                                 strcmp(ranks->collectives[i].operation, from->operation) == 0);

	if (found != DW_MAP_NONE)
		return found;
	if (!dw_map_add(&arrivals->rows, hash, (uint32_t)ranks->collective_count))
		arrivals->failed = true;
	ranks->collectives[ranks->collective_count] =
		(struct dw_collective_result){ .group = from->group, .operation = from->operation };
	return ranks->collective_count++;
}

/* Equal texts get one number. */
static uint32_t collectives_number(struct arrivals *arrivals, struct numbered *numbered, const char *text)
{
	uint32_t hash = collectives_hash(0, text);
	uint32_t found = DW_MAP_FIND(&numbered->map, hash, i, strcmp(numbered->texts[i], text) == 0);

	if (found != DW_MAP_NONE)
		return found;
	if (!dw_map_add(&numbered->map, hash, numbered->count))
		arrivals->failed = true;
	numbered->texts[numbered->count] = text;
	return numbered->count++;
}

static void collectives_add_rank(struct arrivals *arrivals, size_t i, unsigned arrival_log2)
{
	const struct dw_summary_rank *rank = arrivals->ranks->results[i].rank;
	uint32_t host = collectives_number(arrivals, &arrivals->hosts, rank->host);

	for (size_t c = 0; c < rank->collective_count; c++) {
		const struct dw_summary_collective *from = &rank->collectives[c];
		size_t at = collectives_row(arrivals, from);
		struct dw_collective_result *row = &arrivals->ranks->collectives[at];
		uint32_t group = collectives_number(arrivals, &arrivals->groups, from->group);

		row->ranks++;
		row->count += (double)from->count;
		row->bytes += (double)from->bytes;
		row->blocked_ns += (double)from->blocked_ns;
		for (size_t a = 0; a < from->arrival_count; a++)
			if (!(from->arrivals[a].sequence & (((uint64_t)1 << arrival_log2) - 1)))
				arrivals->all[arrivals->count++] = (struct arrival){ &from->arrivals[a], i, at, group, host };
	}
}

DW_ORDER(collectives_compare, struct arrival, DW_UP(group) DW_UP(at->sequence) DW_UP(result))

/* The number of arrivals from `from` on that are of one collective. */
static size_t collectives_same(const struct arrivals *arrivals, size_t from)
{
	size_t to = from + 1;

	while (to < arrivals->count && arrivals->all[to].group == arrivals->all[from].group &&
	       arrivals->all[to].at->sequence == arrivals->all[from].at->sequence)
		to++;
	return to - from;
}

/* ---- clocks -------------------------------------------------------------------------------------- */

/* How much later a host left a collective than one whose clock is known. */
struct difference {
	uint32_t host;
	double ns;
};

DW_ORDER(collectives_compare_differences, struct difference, DW_UP(host) DW_UP(ns))

static uint64_t collectives_leave(const struct arrival *arrival)
{
	return arrival->at->enter_ns + arrival->at->flight_ns;
}

/* Differences between hosts whose clocks are not known and one whose clock is, in each collective. */
static size_t collectives_find_differences(const struct arrivals *arrivals, struct difference *found)
{
	size_t count = 0;

	for (size_t i = 0, same; i < arrivals->count; i += same) {
		const struct arrival *first = &arrivals->all[i], *known = NULL;

		same = collectives_same(arrivals, i);
		if (dw_summary_is_pair(arrivals->groups.texts[first->group], NULL, NULL))
			continue; /* its sender may go on before it arrives */
		for (size_t k = 0; k < same && !known; k++)
			if (!isnan(arrivals->offsets[first[k].host]))
				known = &first[k];
		for (size_t k = 0; known && k < same; k++)
			if (isnan(arrivals->offsets[first[k].host]))
				found[count++] = (struct difference){
					first[k].host,
					(double)(int64_t)(collectives_leave(&first[k]) - collectives_leave(known)) +
						arrivals->offsets[known->host]
				};
	}
	return count;
}

/* Sets the clock of a host from its differences, which are sorted. */
static void collectives_set_clock(struct arrivals *arrivals, const struct difference *from, size_t count, double *space)
{
	double median;

	for (size_t i = 0; i < count; i++)
		space[i] = from[i].ns;
	median = dw_median(space, count);
	arrivals->offsets[from->host] = median;
	arrivals->ranks->clock_error_ns = fmax(arrivals->ranks->clock_error_ns, dw_ranks_spread(space, count, median));
	arrivals->ranks->clock_collectives += count;
}

/* Hosts that share no group with the first one are aligned through a third one, in a later round. */
static bool collectives_align(struct arrivals *arrivals, double *space)
{
	struct difference *found = malloc((arrivals->count + 1) * sizeof *found);
	size_t count = 1;
	unsigned rounds = 0;

	for (uint32_t host = 0; host < arrivals->hosts.count; host++)
		arrivals->offsets[host] = host ? NAN : 0;
	while (found && count && rounds++ < MOST_ROUNDS) {
		count = collectives_find_differences(arrivals, found);
		DW_SORT(found, count, collectives_compare_differences);
		for (size_t i = 0, to; i < count; i = to) {
			for (to = i + 1; to < count && found[to].host == found[i].host;)
				to++;
			collectives_set_clock(arrivals, &found[i], to - i, space);
		}
	}
	free(found);
	return found != NULL;
}

/* ---- wait and transfer ---------------------------------------------------------------------------- */

/* Relative to the first arrival of the collective, so that no precision is lost. */
static double collectives_time(const struct arrivals *arrivals, const struct arrival *arrival,
                               uint64_t from, uint64_t add)
{
	return (double)(int64_t)(arrival->at->enter_ns + add - from) - arrivals->offsets[arrival->host];
}

static void collectives_count_last(struct arrivals *arrivals, size_t row, size_t result)
{
	if (arrivals->last_counts)
		arrivals->last_counts[row * arrivals->ranks->count + result]++;
	arrivals->ranks->collectives[row].last_share++;
}

/* The collective of `count` arrivals from `first` on. */
static void collectives_add(struct arrivals *arrivals, const struct arrival *first, size_t count)
{
	uint64_t from = first->at->enter_ns;
	const struct arrival *last = NULL;
	double latest = -INFINITY;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		double enter = collectives_time(arrivals, &first[i], from, 0);

		if (isnan(enter))
			continue;
		known++;
		if (enter > latest) {
			latest = enter;
			last = &first[i];
		}
	}
	if (known < 2)
		return;
	for (size_t i = 0; i < count; i++) {
		struct dw_collective_result *row = &arrivals->ranks->collectives[first[i].row];
		double leave = collectives_time(arrivals, &first[i], from, first[i].at->flight_ns);
		double blocked = (double)first[i].at->blocked_ns, wait;

		if (isnan(leave))
			continue;
		wait = fmin(fmax(latest - (leave - blocked), 0), blocked);
		row->wait_ns += wait;
		row->transfer_ns += blocked - wait;
		row->compared++;
	}
	for (size_t i = 0; i < count; i++)
		if (!i || first[i].row != first[i - 1].row) /* a message has two rows: it is sent, and it is received */
			collectives_count_last(arrivals, first[i].row, last->result);
}

static int collectives_compare_rows(const void *left, const void *right)
{
	const struct dw_collective_result *a = left, *b = right;
	double times[2] = { a->blocked_ns * a->count * (double)a->ranks, b->blocked_ns * b->count * (double)b->ranks };

	return (times[0] < times[1]) - (times[0] > times[1]);
}

static void collectives_finish_row(struct arrivals *arrivals, size_t at)
{
	struct dw_ranks *ranks = arrivals->ranks;
	struct dw_collective_result *row = &ranks->collectives[at];
	const uint32_t *last = arrivals->last_counts ? &arrivals->last_counts[at * ranks->count] : NULL;
	double lasts = row->last_share, count = row->count;

	for (size_t i = 0; last && i < ranks->count; i++)
		if (last[i] > last[row->last])
			row->last = i;
	row->last_share = last && lasts > 0 ? (double)last[row->last] / lasts : 0;
	if (count > 0) {
		row->bytes /= count;
		row->blocked_ns /= count;
	}
	row->count = count / (double)row->ranks;
	if (row->compared > 0) {
		row->wait_ns /= row->compared;
		row->transfer_ns /= row->compared;
		ranks->wait_ns += row->wait_ns * count;
		ranks->transfer_ns += row->transfer_ns * count;
	}
	row->compared = lasts;
}

/* Exposed communication is that of the steps; what else was under way is hidden behind work. */
static void collectives_find_hidden(struct dw_rank_result *result)
{
	const struct dw_summary_rank *rank = result->rank;
	double blocked = 0;

	result->hidden_ns = NAN;
	if (!rank->collective_count || !rank->steps)
		return;
	for (size_t c = 0; c < rank->collective_count; c++)
		if (rank->collectives[c].last_sequence)
			blocked += (double)rank->collectives[c].blocked_ns;
	result->hidden_ns = fmax((double)rank->in_flight_ns - blocked, 0) /
	                    (double)(rank->steps + rank->warm_up_steps + rank->missing_steps);
}

static bool collectives_run(struct arrivals *arrivals, unsigned arrival_log2, size_t capacity)
{
	struct dw_ranks *ranks = arrivals->ranks;
	double steps = 0, *space = malloc((capacity + 1) * sizeof *space);
	bool good = false;

	if (!space)
		return false;
	for (size_t i = 0; i < ranks->count; i++)
		collectives_add_rank(arrivals, i, arrival_log2);
	arrivals->offsets = malloc((arrivals->hosts.count + 1) * sizeof *arrivals->offsets);
	if (ranks->collective_count * ranks->count <= MOST_LASTS)
		arrivals->last_counts = calloc(ranks->collective_count * ranks->count + 1, sizeof *arrivals->last_counts);
	DW_SORT(arrivals->all, arrivals->count, collectives_compare);
	if (!arrivals->failed && arrivals->offsets && collectives_align(arrivals, space)) {
		good = true;
		for (size_t i = 0, same; i < arrivals->count; i += same) {
			same = collectives_same(arrivals, i);
			collectives_add(arrivals, &arrivals->all[i], same);
		}
		for (size_t i = 0; i < ranks->count; i++)
			steps += (double)(ranks->results[i].rank->steps + ranks->results[i].rank->warm_up_steps +
			                  ranks->results[i].rank->missing_steps);
		for (size_t i = 0; i < ranks->collective_count; i++)
			collectives_finish_row(arrivals, i);
		ranks->wait_ns /= steps > 0 ? steps : 1;
		ranks->transfer_ns /= steps > 0 ? steps : 1;
		DW_SORT(ranks->collectives, ranks->collective_count, collectives_compare_rows);
	}
	free(space);
	return good;
}

bool dw_ranks_add_collectives(struct dw_ranks *ranks)
{
	struct arrivals arrivals = { .ranks = ranks };
	size_t capacity = 0, rows = 0;
	unsigned arrival_log2 = 0;
	bool good;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;

		collectives_find_hidden(&ranks->results[i]);
		rows += rank->collective_count;
		if (rank->collective_count && rank->arrival_log2 > arrival_log2)
			arrival_log2 = rank->arrival_log2;
		for (size_t c = 0; c < rank->collective_count; c++)
			capacity += rank->collectives[c].arrival_count;
	}
	if (!rows)
		return true;
	ranks->collectives = dw_arena_alloc(&ranks->arena, rows * sizeof *ranks->collectives);
	arrivals.groups.texts = dw_arena_alloc(&ranks->arena, rows * sizeof *arrivals.groups.texts);
	arrivals.hosts.texts = dw_arena_alloc(&ranks->arena, ranks->count * sizeof *arrivals.hosts.texts);
	arrivals.all = malloc((capacity + 1) * sizeof *arrivals.all);
	good = ranks->collectives && arrivals.groups.texts && arrivals.hosts.texts && arrivals.all &&
	       collectives_run(&arrivals, arrival_log2, capacity);
	dw_map_reset(&arrivals.groups.map);
	dw_map_reset(&arrivals.hosts.map);
	dw_map_reset(&arrivals.rows);
	DW_FREE(arrivals.all, arrivals.offsets, arrivals.last_counts);
	return good;
}

uint64_t dw_ranks_last_sequence(const struct dw_summary_rank *rank, const char *group)
{
	uint64_t last = 0;

	for (size_t c = 0; c < rank->collective_count; c++)
		if (strcmp(rank->collectives[c].group, group) == 0 && rank->collectives[c].last_sequence > last)
			last = rank->collectives[c].last_sequence;
	return last;
}
