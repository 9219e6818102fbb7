/*
 * Of the view requests, what marked requests have (model/serving/serving.h): their stages and tokens by quantile, the slowest of
 * them, and the batches that the engine made of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/free.h"
#include "base/order.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/serving/serving.h"
#include "views/columns.h"
#include "views/requests_served.h"

#define USUAL_ROWS 10u

/* ---- rows of stages in the first table -------------------------------------------------------------------- */

/* What a request is asked for; UINT64_MAX: it has none. */
enum served_what { SERVED_FIRST, SERVED_EACH, SERVED_QUEUE, SERVED_STAGE };

static uint64_t served_ns(const struct dw_serving *serving, const struct dw_served *request, enum served_what what, uint32_t name)
{
	uint64_t ns = 0;
	bool has = false;

	switch (what) {
	case SERVED_FIRST: return request->first_ns ? request->first_ns - request->start_ns : UINT64_MAX;
	case SERVED_EACH:
		return request->tokens > 1 ? (request->last_ns - request->first_ns) / (request->tokens - 1) : UINT64_MAX;
	case SERVED_QUEUE: return serving->stage_count ? dw_served_queue_ns(serving, request) : UINT64_MAX;
	default: break;
	}
	for (uint32_t i = 0; i < request->stage_count; i++) {
		const struct dw_served_stage *stage = &serving->stages[request->first_stage + i];

		ns += stage->name == name ? stage->end_ns - stage->start_ns : 0;
		has |= stage->name == name;
	}
	return has ? ns : UINT64_MAX;
}

static void served_add_row(struct dwell_table *table, const struct dw_serving *serving, const struct dw_requests_kind *of,
                           enum served_what what, uint32_t stage, uint64_t *ns)
{
	char noun[64], name[100];
	struct dw_requests_times times;
	size_t count = 0;

	for (size_t i = 0; i < serving->count; i++) {
		const struct dw_served *request = &serving->requests[i];
		uint64_t one = dw_requests_has(of, request) ? served_ns(serving, request, what, stage) : UINT64_MAX;

		if (one != UINT64_MAX)
			ns[count++] = one;
	}
	if (!count)
		return;
	snprintf(noun, sizeof noun, "%s", serving->token_name ? serving->token_name : "");
	if (*noun && noun[strlen(noun) - 1] == 's')
		noun[strlen(noun) - 1] = '\0';
	snprintf(name, sizeof name, "%s%s", what == SERVED_FIRST ? "to the first " : what == SERVED_EACH ? "a further " :
	         "waits for its first stage", what == SERVED_QUEUE ? "" : noun);
	times = dw_requests_times_of(ns, count);
	dw_requests_put(table, what == SERVED_STAGE ? serving->stage_names[stage] : name, &times,
	                what == SERVED_FIRST || what == SERVED_EACH ? 0 : of->sum_ns);
}

void dw_requests_put_stages(struct dwell_table *table, const struct dw_serving *serving, const struct dw_requests_kind *of)
{
	uint64_t *ns = malloc((serving->count + 1) * sizeof *ns);

	table->failed |= !ns;
	if (ns && serving->count) {
		served_add_row(table, serving, of, SERVED_QUEUE, 0, ns);
		for (uint32_t i = 0; i < serving->stage_name_count; i++)
			served_add_row(table, serving, of, SERVED_STAGE, i, ns);
		served_add_row(table, serving, of, SERVED_FIRST, 0, ns);
		served_add_row(table, serving, of, SERVED_EACH, 0, ns);
	}
	free(ns);
}

/* Calls the column what the pieces of answers are: "chunks". */
static void served_name_tokens(struct dwell_table *table, const struct dw_serving *serving)
{
	const char *name = serving->token_name ? dw_arena_text(&table->arena, serving->token_name, strlen(serving->token_name)) : NULL;

	if (name)
		dw_table_named(table, "tokens")->label = name;
}

/* ---- tokens --------------------------------------------------------------------------------------------------- */

struct served_tokens_row {
	const char *name;
	uint64_t requests, tokens;
	double each, rate, p50_rate, p10_rate, p1_rate;
};

static const struct dw_column tokens_columns[] = {
	DW_FIELD(struct served_tokens_row, name, "answers", NONE, TEXT),
	DW_FIELD(struct served_tokens_row, requests, "requests", COUNT, INT),
	DW_FIELD(struct served_tokens_row, tokens, "tokens", COUNT, INT),
	DW_FIELD(struct served_tokens_row, each, "a request", NONE, REAL),
	DW_FIELD(struct served_tokens_row, rate, "all together", PER_SECOND, REAL),
	DW_FIELD(struct served_tokens_row, p50_rate, "one: p50", PER_SECOND, REAL),
	DW_FIELD(struct served_tokens_row, p10_rate, "p10", PER_SECOND, REAL),
	DW_FIELD(struct served_tokens_row, p1_rate, "p1", PER_SECOND, REAL),
};
const struct dw_column_list dw_requests_tokens_columns = DW_COLUMN_LIST(tokens_columns);

static int served_compare_rates(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static void served_put_tokens(struct dwell_table *table, const struct dw_serving *serving, const struct dw_requests_kind *of,
                              double *rates)
{
	struct served_tokens_row row = { .name = of->name };
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	size_t count = 0;

	for (size_t i = 0; i < serving->count; i++) {
		const struct dw_served *request = &serving->requests[i];

		if (!dw_requests_has(of, request) || !request->tokens)
			continue;
		row.requests++;
		row.tokens += request->tokens;
		first_ns = request->start_ns < first_ns ? request->start_ns : first_ns;
		last_ns = request->end_ns > last_ns ? request->end_ns : last_ns;
		if (request->end_ns > request->start_ns)
			rates[count++] = (double)request->tokens * 1e9 / (double)(request->end_ns - request->start_ns);
	}
	if (!count)
		return;
	qsort(rates, count, sizeof *rates, served_compare_rates);
	row.each = (double)row.tokens / (double)row.requests;
	row.rate = (double)row.tokens * 1e9 / (double)(last_ns - first_ns);
	row.p50_rate = rates[count / 2];
	row.p10_rate = rates[count / 10];
	row.p1_rate = rates[count / 100];
	dw_table_put(table, 0, &row, sizeof row);
}

struct dwell_table *dw_requests_tokens(const struct dw_serving *serving, const struct dw_requests_kind *kinds, size_t count)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("requests", tokens_columns, 0, NULL);
	double *rates = malloc((serving->count + 1) * sizeof *rates);

	if (table) {
		table->part = "tokens";
		served_name_tokens(table, serving);
		table->failed |= !rates;
		for (size_t i = 0; rates && i < count; i++)
			served_put_tokens(table, serving, &kinds[i], rates);
		dw_table_note(table, "What a request gets a second is by its whole time; p10: one in ten gets less.");
	}
	free(rates);
	return table;
}

/* ---- the slowest --------------------------------------------------------------------------------------------- */

struct served_slow_row {
	const char *name, *stages, *thread;
	uint64_t start_ns, ns, first_ns, each_ns, tokens;
};

static const struct dw_column slow_columns[] = {
	DW_FIELD(struct served_slow_row, name, "the slowest", NONE, TEXT),
	DW_FIELD_AS(struct served_slow_row, start_ns, "start_ns", "at", NS, INT),
	DW_FIELD_AS(struct served_slow_row, ns, "duration_ns", "took", NS, INT),
	DW_FIELD_AS(struct served_slow_row, first_ns, "first_ns", "to the first", NS, INT),
	DW_FIELD_AS(struct served_slow_row, each_ns, "each_ns", "a further one", NS, INT, .not_narrow = true),
	DW_FIELD(struct served_slow_row, tokens, "tokens", COUNT, INT),
	DW_FIELD(struct served_slow_row, stages, "stages", NONE, TEXT),
	DW_FIELD(struct served_slow_row, thread, "thread", NONE, TEXT, .wide_only = true),
};
const struct dw_column_list dw_requests_slow_columns = DW_COLUMN_LIST(slow_columns);

/* "waits 2.0 ms, prefill 3.0 ms, decode 9.0 ms" */
static void served_write_stages(const struct dw_serving *serving, const struct dw_served *request, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	if (request->stage_count)
		used = (size_t)snprintf(to, size, "waits %s", dw_text_ns((double)dw_served_queue_ns(serving, request), " ").at);
	for (uint32_t i = 0; i < request->stage_count && used < size; i++) {
		const struct dw_served_stage *stage = &serving->stages[request->first_stage + i];

		used += (size_t)snprintf(to + used, size - used, ", %.60s %s", serving->stage_names[stage->name],
		                         dw_text_ns((double)(stage->end_ns - stage->start_ns), " ").at);
	}
}

static uint64_t served_known(uint64_t ns)
{
	return ns == UINT64_MAX ? DW_NO_NUMBER : ns;
}

static void served_put_request(struct dwell_table *table, struct dw_model *model, const struct dw_serving *serving,
                               const struct dw_served *request)
{
	char stages[400], thread[256];

	served_write_stages(serving, request, stages, sizeof stages);
	DW_TABLE_PUT(table, 0, struct served_slow_row, .name = dw_model_symbols(model, NULL)[request->symbol].name,
	             .start_ns = request->start_ns, .ns = request->end_ns - request->start_ns,
	             .first_ns = served_known(served_ns(serving, request, SERVED_FIRST, 0)),
	             .each_ns = served_known(served_ns(serving, request, SERVED_EACH, 0)),
	             .tokens = request->tokens ? request->tokens : DW_NO_NUMBER, .stages = *stages ? stages : NULL,
	             .thread = dw_view_thread_name(model, request->thread, false, thread));
}

static int served_compare_lengths(const void *left, const void *right)
{
	const struct dw_served *a = *(const struct dw_served *const *)left, *b = *(const struct dw_served *const *)right;
	uint64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;

	return a_ns != b_ns ? a_ns < b_ns ? 1 : -1 : a < b ? -1 : 1;
}

struct dwell_table *dw_requests_slowest(struct dw_model *model, const struct dw_serving *serving, size_t most)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("requests", slow_columns, 0, NULL);
	const struct dw_served **order = malloc((serving->count + 1) * sizeof(const struct dw_served *));
	size_t count = 0;

	if (table && order) {
		table->part = "slowest";
		served_name_tokens(table, serving);
		for (size_t i = 0; i < serving->count; i++)
			if (!serving->requests[i].open)
				order[count++] = &serving->requests[i];
		DW_SORT(order, count, served_compare_lengths);
		for (size_t i = 0; i < count && i < (most ? most : USUAL_ROWS); i++)
			served_put_request(table, model, serving, order[i]);
	}
	if (table)
		table->failed |= !order;
	free(order);
	return table;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

struct served_batch_row {
	const char *name;
	uint64_t count, sum_ns, mean_ns, p50_ns, p99_ns;
	double share, tokens, rate, waiting;
};

static const struct dw_column batch_columns[] = {
	DW_FIELD(struct served_batch_row, name, "requests in a batch", NONE, TEXT, .total_text = "all batches"),
	DW_FIELD(struct served_batch_row, count, "batches", COUNT, INT, .total = DW_TOTAL_SUM),
	DW_FIELD_AS(struct served_batch_row, sum_ns, "total_ns", "total", NS, INT, .total = DW_TOTAL_SUM),
	DW_FIELD(struct served_batch_row, share, "share", RATIO, REAL, .bar = true, .sums = "total_ns", .total = DW_TOTAL_OWN),
	DW_FIELD(struct served_batch_row, mean_ns, "mean", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct served_batch_row, p50_ns, "p50", NS, INT, .not_narrow = true),
	DW_FIELD(struct served_batch_row, p99_ns, "p99", NS, INT, .not_narrow = true),
	DW_FIELD(struct served_batch_row, tokens, "tokens each", NONE, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD_AS(struct served_batch_row, rate, "tokens_rate", "tokens", PER_SECOND, REAL, .total = DW_TOTAL_OWN),
	DW_FIELD(struct served_batch_row, waiting, "waiting", NONE, REAL, .total = DW_TOTAL_OWN),
};
const struct dw_column_list dw_requests_batch_columns = DW_COLUMN_LIST(batch_columns);

/* Sums of a kind of batches, and in a sum of all. */
struct served_batches {
	uint64_t sum_ns, tokens, waiting;
	size_t count;
	uint32_t kind;
};

DW_ORDER(served_compare_batches, struct served_batches, DW_DOWN(sum_ns) DW_UP(kind))

static void served_add_batch(struct served_batches *to, const struct dw_batch *batch)
{
	to->count++;
	to->sum_ns += batch->end_ns - batch->start_ns;
	to->tokens += batch->tokens;
	to->waiting += batch->waiting;
}

static struct served_batch_row served_batch_row_of(const struct served_batches *of, uint64_t all_ns)
{
	double count = of->count ? (double)of->count : 1;

	return (struct served_batch_row){ .count = of->count, .sum_ns = of->sum_ns, .mean_ns = (uint64_t)((double)of->sum_ns / count),
		.share = all_ns ? (double)of->sum_ns / (double)all_ns : NAN, .tokens = of->tokens ? (double)of->tokens / count : NAN,
		.rate = of->tokens && of->sum_ns ? (double)of->tokens * 1e9 / (double)of->sum_ns : NAN,
		.waiting = (double)of->waiting / count };
}

static void served_fill_batches(struct dwell_table *table, const struct dw_serving *serving, struct served_batches *kinds,
                                uint64_t *ns, size_t most)
{
	struct served_batches all = { 0 };
	struct served_batch_row total;

	for (size_t i = 0; i < serving->batch_count; i++) {
		served_add_batch(&kinds[serving->batches[i].kind], &serving->batches[i]);
		served_add_batch(&all, &serving->batches[i]);
	}
	for (size_t i = 0; i < serving->kind_count; i++)
		kinds[i].kind = (uint32_t)i;
	DW_SORT(kinds, serving->kind_count, served_compare_batches);
	for (size_t i = 0; i < serving->kind_count && i < (most ? most : 2 * USUAL_ROWS); i++) {
		struct served_batch_row row = served_batch_row_of(&kinds[i], all.sum_ns);
		struct dw_requests_times times;
		char name[400];
		size_t count = 0;

		for (size_t at = 0; at < serving->batch_count; at++)
			if (serving->batches[at].kind == kinds[i].kind)
				ns[count++] = serving->batches[at].end_ns - serving->batches[at].start_ns;
		times = dw_requests_times_of(ns, count);
		dw_batch_write(serving, &serving->kinds[kinds[i].kind], name, sizeof name);
		row.name = name;
		row.p50_ns = times.p50_ns;
		row.p99_ns = times.p99_ns;
		dw_table_put(table, 0, &row, sizeof row);
	}
	total = served_batch_row_of(&all, all.sum_ns);
	dw_table_put_totals(table, &total, sizeof total);
}

struct dwell_table *dw_requests_batches(const struct dw_serving *serving, size_t most)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("requests", batch_columns, 0, NULL);
	struct served_batches *kinds = calloc(serving->kind_count + 1, sizeof *kinds);
	uint64_t *ns = malloc((serving->batch_count + 1) * sizeof *ns);

	if (table) {
		table->part = "batches";
		table->failed |= !kinds || !ns;
		if (!table->failed)
			served_fill_batches(table, serving, kinds, ns, most);
		dw_table_note(table, "A batch is a step of the engine, with what was in flight in its middle, or what its name says. "
		                     "Tokens are those that it makes, and those of prompts if the name says them.");
	}
	DW_FREE(kinds, ns);
	return table;
}

/* ---- the overview's sentence --------------------------------------------------------------------------------------- */

/* The request whose name most requests have; NULL: there is none that ended. */
static const struct dw_served *served_most_frequent(const struct dw_serving *serving, size_t symbol_count)
{
	size_t *counts = calloc(symbol_count + 1, sizeof *counts);
	const struct dw_served *most = NULL;

	for (size_t i = 0; counts && i < serving->count; i++)
		counts[serving->requests[i].symbol] += !serving->requests[i].open;
	for (size_t i = 0; counts && i < serving->count; i++)
		if (!serving->requests[i].open && (!most || counts[serving->requests[i].symbol] > counts[most->symbol]))
			most = &serving->requests[i];
	free(counts);
	return most;
}

/* Whether threads take turns for requests of this name. */
static bool served_has_turns(const struct dw_symbol *symbols, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (symbols[i].detail && strcmp(symbols[i].detail, DW_DETAIL_TURN) == 0 && strcmp(symbols[i].name, name) == 0)
			return true;
	return false;
}

void dw_view_head_requests(struct dwell_table *table, struct dw_model *model, bool all)
{
	size_t symbol_count, count[2] = { 0, 0 };
	const struct dw_symbol *symbols = dw_model_symbols(model, &symbol_count);
	const struct dw_serving *serving = dw_model_serving(model, NULL);
	const struct dw_served *most = serving ? served_most_frequent(serving, symbol_count) : NULL;
	struct dw_requests_times times, first = { 0 };
	char token[200] = "";
	uint64_t *ns;

	if (!most || (!all && served_has_turns(symbols, symbol_count, symbols[most->symbol].name)))
		return;
	ns = malloc(2 * serving->count * sizeof *ns);
	table->failed |= !ns;
	for (size_t i = 0; ns && i < serving->count; i++) {
		const struct dw_served *request = &serving->requests[i];

		if (request->open || request->symbol != most->symbol)
			continue;
		ns[count[0]++] = request->end_ns - request->start_ns;
		if (request->tokens)
			ns[serving->count + count[1]++] = request->first_ns - request->start_ns;
	}
	if (!ns)
		return;
	times = dw_requests_times_of(ns, count[0]);
	first = dw_requests_times_of(ns + serving->count, count[1]);
	if (count[1])
		snprintf(token, sizeof token, ", the first of its %.60s came after %s (p95 %s)", serving->token_name,
		         dw_text_ns((double)first.p50_ns, " ").at, dw_text_ns((double)first.p95_ns, " ").at);
	dw_table_say(table, DW_LABEL_ALSO, "%s requests %s: each took %s (p50 %s, p95 %s)%s (--view requests).",
	             dw_text_count((int64_t)count[0]).at, symbols[most->symbol].name,
	             dw_text_ns((double)times.sum_ns / (double)count[0], " ").at, dw_text_ns((double)times.p50_ns, " ").at,
	             dw_text_ns((double)times.p95_ns, " ").at, token);
	free(ns);
}
