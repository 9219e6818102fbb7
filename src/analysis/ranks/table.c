/* The comparison of ranks as tables: sentences and a row for each rank, then single slow steps. */
#include <math.h>

#include "base/numbers.h"
#include "base/text.h"
#include "ranks/ranks.h"

#define MOST_OF 0.5 /* of a part: the function says what most of it is */

enum {
	RANK, HOST, STEPS, STEP, WORK, COMMUNICATION, WAIT, EXCESS, EXCESS_ERROR, LAST, DELAY, SLOW, PART,
	MAY, PART_EXCESS, NAME, FUNCTION, LAYER, HIDDEN, MEMORY, INPUT, ALLOCATED, LOST
};
static const struct dw_column columns[] = {
	[RANK] = DW_COLUMN("rank", "rank", NONE, INT),
	[HOST] = DW_COLUMN("host", "host", NONE, TEXT),
	[STEPS] = DW_COLUMN("steps", "steps", COUNT, INT, .wide_only = true),
	[STEP] = DW_COLUMN("step_ns", "step", NS, REAL),
	[WORK] = DW_COLUMN("work_ns", "work", NS, REAL),
	[COMMUNICATION] = DW_COLUMN("communication_ns", "communication", NS, REAL),
	[WAIT] = DW_COLUMN("wait_ns", "of it waits", NS, REAL),
	[EXCESS] = DW_COLUMN("excess", "excess", RATIO, REAL, .of = "the work of the median rank"),
	[EXCESS_ERROR] = DW_COLUMN("excess_error", "+-", RATIO, REAL, .of = "the work of the median rank", .data_only = true),
	[LAST] = DW_COLUMN("last", "last in", RATIO, REAL, .of = "the steps"),
	[DELAY] = DW_COLUMN("delay_ns", "delays by", NS, REAL, .wide_only = true),
	[SLOW] = DW_COLUMN("slow", "slow", NONE, INT, .data_only = true),
	[MAY] = DW_COLUMN("may_be_slow", "may be slow", NONE, INT, .data_only = true),
	[PART] = DW_COLUMN("part", "most in", NONE, TEXT),
	[PART_EXCESS] = DW_COLUMN("part_excess_ns", "excess there", NS, REAL, .wide_only = true),
	[NAME] = DW_COLUMN("name", "operator", NONE, TEXT, .wide_only = true),
	[FUNCTION] = DW_COLUMN("function", "function", NONE, TEXT, .wide_only = true),
	[LAYER] = DW_COLUMN("layer", "layer", NONE, TEXT, .wide_only = true),
	[HIDDEN] = DW_COLUMN("hidden_ns", "hidden", NS, REAL, .wide_only = true),
	[MEMORY] = DW_COLUMN("memory_peak_bytes", "peak memory", BYTES, INT, .wide_only = true),
	[INPUT] = DW_COLUMN("input_bytes", "inputs/step", BYTES, REAL, .wide_only = true),
	[ALLOCATED] = DW_COLUMN("allocated_bytes", "allocated/step", BYTES, REAL, .data_only = true),
	[LOST] = DW_COLUMN("lost", "lost", COUNT, INT, .wide_only = true),
};

enum { SLOW_RANK, SLOW_STEP, SLOW_LENGTH, SLOW_EXCESS, SLOW_PART };
static const struct dw_column slow_columns[] = {
	[SLOW_RANK] = DW_COLUMN("rank", "rank", NONE, INT),
	[SLOW_STEP] = DW_COLUMN("step", "step", NONE, INT),
	[SLOW_LENGTH] = DW_COLUMN("ns", "length", NS, INT),
	[SLOW_EXCESS] = DW_COLUMN("excess_ns", "excess", NS, REAL),
	[SLOW_PART] = DW_COLUMN("part", "most in", NONE, TEXT),
};

/* "in data", "between steps", "outside of any range". */
static struct dw_text table_in_part(unsigned part)
{
	bool outside = part == DW_PART_IDLE || part == DW_PART_UNNAMED;
	struct dw_text text;

	snprintf(text.at, sizeof text.at, "%s%s%s", part == DW_RANKS_BETWEEN || outside ? "" : "in ",
	         outside ? "" : dw_ranks_part_name(part), part == DW_PART_NAMED ? " ranges" : "");
	if (outside)
		snprintf(text.at, sizeof text.at, "%soutside of any range", part == DW_PART_IDLE ? "in waits " : "");
	return text;
}

/* "in forward at net.c:31 and waits for a CPU", "waiting in load at net.c:20"; "" where samples do not say it. */
static void table_in_function(const struct dw_rank_result *result, char text[300])
{
	bool more = !result->function_waits && result->function_ns < MOST_OF * result->part_ns;

	if (result->place) { /* its lines say more */
		snprintf(text, 300, "%s", result->function_waits ? "waiting" : "");
		return;
	}
	snprintf(text, 300, "%sin %.255s%s", result->function_waits ? "waiting " : "", result->function ? result->function : "",
	         !more                                ? ""
	         : result->part == DW_PART_UNNAMED ? ", with waits for a CPU"
	         : result->part == DW_PART_IDLE    ? " and in waits"
	                                           : "");
	if (!result->function)
		*text = '\0';
}

/* Bytes of a mean step; 0 leaves the cell empty. */
static void table_put_bytes(struct dw_cell *cell, const struct dw_summary_rank *rank, uint64_t bytes)
{
	uint64_t steps = dw_summary_steps(rank);

	if (bytes && steps)
		dw_cell_real(cell, (double)bytes / (double)steps);
}

/* Without known waits, what rests on them stays empty: it was not measured. */
static void table_add_rank(struct dwell_table *table, const struct dw_rank_result *result, size_t number,
                           bool waits_known)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_int(&row[RANK], result->rank->rank >= 0 ? result->rank->rank : (int64_t)number);
	dw_cell_text(table, &row[HOST], result->rank->host);
	dw_cell_int(&row[STEPS], dw_whole_signed(result->steps));
	dw_cell_real(&row[STEP], result->step_ns);
	if (waits_known) {
		dw_cell_real(&row[WORK], result->work_ns);
		dw_cell_real(&row[WAIT], result->wait_ns);
		dw_cell_real(&row[LAST], result->last);
		dw_cell_real(&row[DELAY], result->delay_ns);
	}
	if (waits_known || result->communication_ns > 0)
		dw_cell_real(&row[COMMUNICATION], result->communication_ns);
	dw_cell_real(&row[EXCESS], result->excess);
	dw_cell_real(&row[EXCESS_ERROR], result->excess_error);
	dw_cell_int(&row[SLOW], result->slow);
	dw_cell_int(&row[MAY], result->may);
	if ((result->slow || result->may) && result->part != DW_RANKS_NO_PART) {
		dw_cell_text(table, &row[PART], dw_ranks_part_name(result->part));
		dw_cell_real(&row[PART_EXCESS], result->part_ns);
	}
	if (result->name)
		dw_cell_text(table, &row[NAME], result->name);
	if (result->function)
		dw_cell_text(table, &row[FUNCTION], result->function);
	if (result->layer)
		dw_cell_text(table, &row[LAYER], result->layer);
	if (!isnan(result->hidden_ns))
		dw_cell_real(&row[HIDDEN], result->hidden_ns);
	if (result->rank->memory_peak_bytes)
		dw_cell_int(&row[MEMORY], (int64_t)result->rank->memory_peak_bytes);
	table_put_bytes(&row[INPUT], result->rank, result->rank->input_bytes);
	table_put_bytes(&row[ALLOCATED], result->rank, result->rank->allocated_bytes);
	dw_cell_int(&row[LOST], (int64_t)dw_ranks_lost(result->rank));
}

/* ---- sentences --------------------------------------------------------------------------------
 */

/* "5.1% longer than" or "2.4 times as long as". */
static void table_excess_text(double excess, char text[64])
{
	if (excess < 1)
		snprintf(text, 64, "%s longer than", dw_text_percent(excess).at);
	else
		snprintf(text, 64, "%s times as long as", dw_text_number(1 + excess).at);
}

static void head_of_slow_rank(struct dwell_table *table, const struct dw_ranks *ranks, size_t i)
{
	const struct dw_rank_result *result = &ranks->results[i];
	/* A function says more than that the time lies in no range, and less than other parts. */
	bool outside = result->part == DW_PART_IDLE || result->part == DW_PART_UNNAMED;
	char where[1460] = "", excess[64], since[40] = "", function[300];

	table_in_function(result, function);
	if (result->by_part) {
		dw_table_head(table, "Rank %d takes %s a step longer than the median rank %s (%s of a step)%s%s%s%.255s%s%.255s.",
		              dw_ranks_number(ranks, i), dw_text_ns(result->part_ns, " ").at, table_in_part(result->part).at,
		              dw_text_percent(result->part_excess).at, *function ? ", mostly " : "", function,
		              result->layer ? ", layer " : "", result->layer ? result->layer : "",
		              result->name ? ", mostly in " : "", result->name ? result->name : "");
		return;
	}
	if (result->part != DW_RANKS_NO_PART)
		snprintf(where, sizeof where, ", most of it %s (%s a step more)%s%s%s%.390s%s%.255s%s%.255s",
		         outside && *function ? function : table_in_part(result->part).at, dw_text_ns(result->part_ns, " ").at,
		         *function && !outside && !result->place ? ", " : "", outside || result->place ? "" : function,
		         !result->place ? "" : strstr(result->place, " and ") ? ", between " : ", at ",
		         result->place ? result->place : "", result->layer ? ", layer " : "", result->layer ? result->layer : "",
		         result->name ? ", operator " : "", result->name ? result->name : "");
	table_excess_text(result->excess, excess);
	if (result->since)
		snprintf(since, sizeof since, " since step %llu", (unsigned long long)result->since);
	dw_table_head(table, "Rank %d is slow%s: it works %s the median rank%s.", dw_ranks_number(ranks, i), since, excess, where);
}

/* A rank that may be slow, and what it costs if it is. */
static void head_of_doubtful_rank(struct dwell_table *table, const struct dw_ranks *ranks, size_t i)
{
	const struct dw_rank_result *result = &ranks->results[i];
	double share = result->by_part ? result->part_excess : result->excess * result->work_ns / result->step_ns;
	double error = result->by_part ? result->part_error : result->excess_error * result->work_ns / result->step_ns;

	dw_table_head(table, "Rank %d may be slow%s%s: it takes %s a step longer than the median rank (%s of a step, +- %s). "
	              "It varies so much that more steps are needed to be certain.", dw_ranks_number(ranks, i),
	              result->by_part ? " " : "", result->by_part ? table_in_part(result->part).at : "",
	              dw_text_ns(share * ranks->step_ns, " ").at, dw_text_percent(share).at, dw_text_percent(2 * error).at);
}

/* How ranks are compared where it is not known how long they wait for each other. */
static void table_head_of_waits(struct dwell_table *table, const struct dw_ranks *ranks)
{
	bool some = false;

	for (size_t i = 0; i < ranks->count; i++)
		some |= ranks->results[i].communication_ns > 0;
	dw_table_head(table,
	              "How long ranks wait for each other was not measured%s: their waits are in no range of communication. So "
	              "whole steps are compared, and each named part by itself.",
	              some ? " in all ranks" : "");
}

/* How much slower the slow ranks are: "; they work 9.8% to 12.1% longer than the median rank". */
static void table_excess_range(const struct dw_ranks *ranks, char *text, size_t size)
{
	double least = INFINITY, most = 0;

	*text = '\0';
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].slow) {
			least = fmin(least, ranks->results[i].excess);
			most = fmax(most, ranks->results[i].excess);
		}
	if (ranks->waits_known && most < 1)
		snprintf(text, size, "; they work %s to %s longer than the median rank", dw_text_percent(least).at,
		         dw_text_percent(most).at);
}

/* "8 slow ranks, all on gpu-r03-n17; ..." */
static void table_head_of_place(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_ranks_place *place = &ranks->place;
	char excess[160], inside[64] = "all";

	table_excess_range(ranks, excess, sizeof excess);
	if (place->inside < place->slow)
		snprintf(inside, sizeof inside, "%zu of them", place->inside);
	if (*place->name)
		dw_table_head(table, "%zu slow ranks, %s on %s%s%s%s.", place->slow, inside, place->host ? "" : "hosts ", place->name,
		              place->inside == place->ranks ? " (all ranks there)" : "", excess);
	else
		dw_table_head(table, "%zu slow ranks, on %zu of %zu hosts. No host, and no part of the hosts' names, has more of them "
		              "than chance explains%s.", place->slow, place->slow_hosts, place->hosts, excess);
}

static void table_add_host(struct dwell_table *table, const struct dw_ranks *ranks)
{
	size_t on_host = 0;

	if (!ranks->slow_host || (ranks->place.host && strcmp(ranks->place.name, ranks->slow_host) == 0))
		return;
	for (size_t i = 0; i < ranks->count; i++)
		on_host += strcmp(ranks->results[i].rank->host, ranks->slow_host) == 0;
	dw_table_head(table,
	              "All %zu ranks of host %s work at least %s longer than the ranks of other hosts: look at the host.",
	              on_host, ranks->slow_host, dw_text_percent(ranks->slow_host_excess).at);
}

/* The first slow ranks; where they have a place in common, the slowest one. */
static void table_add_slow(struct dwell_table *table, const struct dw_ranks *ranks)
{
	size_t slow = ranks->place.slow, slowest = ranks->count;

	if (slow > 5 || *ranks->place.name)
		table_head_of_place(table, ranks);
	for (size_t i = 0, shown = 0; i < ranks->count && shown < 5; i++) {
		const struct dw_rank_result *result = &ranks->results[i];

		if (result->slow && (slowest == ranks->count || result->excess > ranks->results[slowest].excess))
			slowest = i;
		if (result->slow && slow <= 5 && !*ranks->place.name) {
			head_of_slow_rank(table, ranks, i);
			shown++;
		}
	}
	if (slowest < ranks->count && (slow > 5 || *ranks->place.name))
		head_of_slow_rank(table, ranks, slowest);
}

/* Of a pipeline: how long each stage waits for its neighbours, and what would shorten that. */
static void table_head_of_pipeline(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_rank_result *longest = &ranks->results[ranks->longest_stage];
	char list[256] = "";

	if (!ranks->pipeline)
		return;
	for (size_t i = 0; i < ranks->count && strlen(list) + 16 < sizeof list; i++)
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
		         dw_text_percent(ranks->results[i].message_ns / ranks->results[i].step_ns).at);
	dw_table_head(table,
	              "The ranks are stages of a pipeline: they send and wait for messages of the stage before and after them for %s of "
	              "a step.", list);
	dw_table_head(table,
	              "Stage %d works longest, for %s of a step. If all stages worked equally long, a step would be at most %s shorter. "
	              "More and smaller parts of a batch shorten the time in which stages wait at the begin and the end of a step.",
	              dw_ranks_number(ranks, ranks->longest_stage), dw_text_percent(longest->work_ns / longest->step_ns).at,
	              dw_text_percent(ranks->pipeline_gain).at);
}

/* What a step is where none is marked. */
static void table_head_of_rounds(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_summary_rank *rank = ranks->results[0].rank;
	uint64_t collectives = rank->round_collectives;
	const char *what = "message";
	char next[64] = "the next one";

	if (!collectives)
		return;
	if (collectives > 1)
		snprintf(next, sizeof next, "the one %llu later, as they repeat", (unsigned long long)collectives);
	for (size_t i = 0; i < rank->collective_count; i++)
		what = dw_summary_is_pair(rank->collectives[i].group, NULL, NULL) ? what : "collective";
	dw_table_head(table, "No steps are marked: a step here is what a rank does from a %s to %s.", what, next);
}

#define UNEVEN 0.1     /* of the median rank's work: what the most and the least are apart at least */
#define MOSTLY_LAST 0.5 /* of the steps */

/* Ranks of which none stands out, since each has another share of the work: what differs by rank in all steps is no noise. */
static bool table_head_of_uneven_work(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_rank_result *most = &ranks->results[0], *least = most;

	for (size_t i = 1; i < ranks->count; i++) {
		most = ranks->results[i].excess > most->excess ? &ranks->results[i] : most;
		least = ranks->results[i].excess < least->excess ? &ranks->results[i] : least;
	}
	if (!ranks->waits_known || ranks->pipeline || most->last < MOSTLY_LAST ||
	    most->excess - least->excess < fmax(UNEVEN, DW_RANKS_LEAST_ERRORS * (most->excess_error + least->excess_error)))
		return false;
	dw_table_head(table,
	              "Work is uneven: rank %d works %s longer than the median rank, and is last in %s of the steps; rank %d works %s "
	              "shorter.", dw_ranks_number(ranks, (size_t)(most - ranks->results)), dw_text_percent(most->excess).at,
	              dw_text_percent(most->last).at, dw_ranks_number(ranks, (size_t)(least - ranks->results)),
	              dw_text_percent(-least->excess).at);
	return true;
}

/* Where no rank is slow: the one that may be, or the longest delay of a single step. */
static void table_head_of_no_slow_rank(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_slow_step *step = &ranks->slow_steps[0];

	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].may) {
			head_of_doubtful_rank(table, ranks, i);
			return;
		}
	if (table_head_of_uneven_work(table, ranks))
		return;
	if (ranks->slow_step_count)
		dw_table_head(table, "No rank is slow in most steps. Rank %d delayed step %llu by %s%s%s.",
		              dw_ranks_number(ranks, step->result), (unsigned long long)step->number,
		              dw_text_ns(step->excess_ns, " ").at, step->part == DW_RANKS_NO_PART ? "" : ", ",
		              step->part == DW_RANKS_NO_PART ? "" : table_in_part(step->part).at);
	else
		dw_table_head(table, "No rank stands out.");
}

void dw_ranks_put_heads(struct dwell_table *table, const struct dw_ranks *ranks)
{
	dw_ranks_put_hang(table, ranks);
	table_add_host(table, ranks);
	table_add_slow(table, ranks);
	if (!ranks->place.slow && !ranks->slow_host && !ranks->hang.found)
		table_head_of_no_slow_rank(table, ranks);
	if (!ranks->waits_known) {
		dw_table_head(table, "%zu ranks, %s steps of %s.", ranks->count, dw_text_count(dw_whole_signed(ranks->steps)).at,
		              dw_text_ns(ranks->step_ns, " ").at);
		table_head_of_waits(table, ranks);
	}
	table_head_of_rounds(table, ranks);
	table_head_of_pipeline(table, ranks);
	for (size_t i = 0; i < ranks->unrecorded_count; i++)
		if (ranks->unrecorded[i])
			dw_table_head(table, "%s", ranks->unrecorded[i]);
	if (!ranks->waits_known)
		return;
	dw_table_head(table,
	              "%zu ranks, %s steps of %s. If each rank took as long as the median rank, a step "
	              "would be %s shorter.",
	              ranks->count, dw_text_count(dw_whole_signed(ranks->steps)).at,
	              dw_text_ns(ranks->step_ns, " ").at, dw_text_percent(ranks->gain).at);
	if (ranks->wait_ns + ranks->transfer_ns > 0)
		dw_table_head(table, "In collectives a rank waits for other ranks for %s a step, and transfers for %s.",
		              dw_text_ns(ranks->wait_ns, " ").at, dw_text_ns(ranks->transfer_ns, " ").at);
}

/* Text leaves out columns that no rank fills. */
static void table_hide_empty_columns(struct dwell_table *table)
{
	for (size_t c = 0; c < table->column_count; c++) {
		bool filled = false;

		for (size_t i = 0; i < table->row_count && !filled; i++) {
			const struct dw_cell *cell = &dw_table_at(table, i)[c];

			filled = cell->type == DW_CELL_TEXT ? *cell->text != '\0'
			         : c == LOST                ? cell->integer != 0
			                                    : cell->type != DW_CELL_NONE;
		}
		table->columns[c].data_only |= !filled;
	}
}

static struct dwell_table *table_of_slow_steps(const struct dw_ranks *ranks)
{
	struct dwell_table *table = dw_table_create("ranks", slow_columns, sizeof slow_columns / sizeof *slow_columns);

	if (!table)
		return NULL;
	table->part = "slow_steps";
	table->coverage = 1;
	dw_table_head(table, "Steps in which a rank took much longer than it usually does");
	for (size_t i = 0; i < ranks->slow_step_count; i++) {
		const struct dw_slow_step *step = &ranks->slow_steps[i];
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_int(&row[SLOW_RANK], dw_ranks_number(ranks, step->result));
		dw_cell_int(&row[SLOW_STEP], (int64_t)step->number);
		dw_cell_int(&row[SLOW_LENGTH], (int64_t)step->ns);
		dw_cell_real(&row[SLOW_EXCESS], step->excess_ns);
		dw_cell_text(table, &row[SLOW_PART], dw_ranks_part_name(step->part));
	}
	return table;
}

/* Above the table of many ranks, which text leaves out: one of ranks that are alike. */
static struct dwell_table *table_put_groups(struct dwell_table *table, const struct dw_ranks *ranks)
{
	struct dwell_table *groups = ranks->count > DW_RANKS_MANY ? dw_ranks_table_of_groups(ranks) : NULL;

	dw_ranks_put_heads(groups ? groups : table, ranks);
	if (!groups)
		return table;
	groups->next = table;
	table->heads_only = true;
	return groups;
}

struct dwell_table *dw_ranks_table(const struct dw_ranks *ranks)
{
	struct dwell_table *table = dw_table_create("ranks", columns, sizeof columns / sizeof *columns);
	struct dwell_table *last, *first;

	if (!table)
		return NULL;
	table->part = "ranks";
	table->coverage = 1;
	first = table_put_groups(table, ranks);
	for (size_t i = 0; i < ranks->count; i++)
		table_add_rank(table, &ranks->results[i], i, ranks->waits_known);
	table_hide_empty_columns(table);
	dw_table_note(table, "%s",
	              ranks->waits_known ? "work: the step without communication. excess: the median over steps of a "
	                    "rank's work beyond the median rank's. last in: the steps in which the rank "
	                    "has the most work, so that others wait for it."
	                  : "excess: the median over steps of what a rank's step, or the part in which it is slow, takes "
	                    "beyond the median rank's, as a share of a step.");
	if (ranks->span_log2)
		dw_table_note(table, "Steps are compared in groups of %llu.", 1ull << ranks->span_log2);
	for (size_t i = 0; i < ranks->note_count; i++)
		if (ranks->notes[i])
			dw_table_note(table, "%s", ranks->notes[i]);
	last = table;
	if (ranks->collective_count)
		last->next = dw_ranks_table_of_collectives(ranks);
	if (last->next)
		last = last->next;
	if (ranks->slow_step_count)
		last->next = table_of_slow_steps(ranks);
	return first;
}
