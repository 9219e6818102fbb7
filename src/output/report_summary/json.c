/*
 * The summary as JSON: one object, whose keys doc/reference/machine-summary.md describes and
 * doc/reference/machine-summary.schema.json checks.
 *
 * It is written to memory first. If it is too long, it is written again with shorter texts, shorter
 * lists and fewer facts. The last of these levels is short enough for any trace: every text and
 * every list is bounded there. `omitted` counts what was left out.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "render/json_writer.h"
#include "report_summary/report_summary.h"

struct json_level {
	size_t text, rows; /* most bytes of a text; most entries of a list */
	bool all_facts;    /* otherwise only those that verdicts are based on */
};

static const struct json_level levels[] = {
	{ 400, DW_REPORT_SUMMARY_ROWS, true },
	{ 160, DW_REPORT_SUMMARY_ROWS, true },
	{ 100, 10, true },
	{ 60, 5, false },
};
#define LEVELS (sizeof levels / sizeof *levels)

enum json_list { TRACES, REPAIRS, SENTENCES, VERDICTS, PARTS, ACCOUNT, OPERATORS, KERNELS, FACTS, LISTS };
static const char *const lists[LISTS] = { "traces", "repairs", "sentences", "verdicts", "parts", "account",
	                                      "operators", "kernels", "facts" };

struct json {
	struct dw_json to;
	const struct json_level *level;
	size_t omitted[LISTS]; /* entries */
	size_t cut;            /* texts */
};

/* ---- values ------------------------------------------------------------------------------ */

/* Most bytes that dw_json_text() writes for a code point. */
static unsigned json_cost(uint32_t code)
{
	if (code == '"' || code == '\\' || code == '\n' || code == '\t')
		return 2;
	return dw_utf8_steers(code) ? 6 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* NULL is null. */
static void json_text(struct json *out, const char *key, const char *text)
{
	char short_text[512];

	if (text) {
		dw_report_summary_cut(text, out->level->text, json_cost, short_text, sizeof short_text);
		out->cut += strcmp(short_text, text) != 0;
	}
	dw_json_put_text(&out->to, key, text ? short_text : NULL);
}

/* A member of an entry, and the name of the view's column that it is. */
struct json_column {
	const char *key, *column;
	bool with_steps; /* the view has the column if there are steps; otherwise the member is null */
};

static void json_cell(struct json *out, const struct dwell_table *table, size_t row, const struct json_column *column)
{
	bool there = !column->with_steps || dw_table_column(table, column->column) >= 0;
	const struct dw_cell *cell = there ? dw_report_summary_cell(table, row, column->column) : NULL;

	if (cell && cell->type == DW_CELL_TEXT)
		json_text(out, column->key, cell->text);
	else
		dw_json_put_real(&out->to, column->key,
		                 !cell ? NAN : cell->type == DW_CELL_INT ? (double)cell->integer : cell->real);
}

/* How many of `count` entries a list has; counts the others as omitted. */
static size_t json_rows(struct json *out, enum json_list list, size_t count)
{
	size_t rows = count < out->level->rows ? count : out->level->rows;

	out->omitted[list] += count - rows;
	return rows;
}

/* ---- the run ----------------------------------------------------------------------------- */

static void json_put_traces(struct json *out, const struct dw_source *source)
{
	size_t rows = json_rows(out, TRACES, source->file_count);

	dw_json_open(&out->to, "traces", '[');
	for (size_t i = 0; i < rows; i++) {
		const struct dw_source_file *file = &source->files[i];
		const struct dw_head *head = file->head;
		time_t start = (time_t)(head->start_realtime_ns / 1000000000u);
		char text[64] = "";
		struct tm when;

		dw_json_open(&out->to, NULL, '{');
		json_text(out, "path", file->path);
		dw_json_put_whole(&out->to, "bytes", file->size_bytes);
		snprintf(text, sizeof text, "%.63s", head->hostname);
		json_text(out, "host", *text ? text : NULL);
		snprintf(text, sizeof text, "%.32s", head->writer);
		json_text(out, "written_by", text);
		snprintf(text, sizeof text, "%u.%u", head->version_major, head->version_minor);
		json_text(out, "format", text);
		json_text(out, "began", start && gmtime_r(&start, &when) &&
		          strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when) ? text : NULL);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
}

static void json_put_state(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_source *source = dw_model_source(summary->model);
	size_t rows = json_rows(out, REPAIRS, summary->repair_count);

	json_text(out, "state", source->live ? "live" : summary->repair_count ? "repaired" : "complete");
	dw_json_open(&out->to, "repairs", '[');
	for (size_t i = 0; i < rows; i++)
		json_text(out, NULL, summary->repairs[i]);
	dw_json_close(&out->to, ']');
}

static void json_put_scope(struct json *out, const struct dwell_table *table)
{
	dw_json_open(&out->to, "scope", '{');
	json_text(out, "steps", table->steps);
	json_text(out, "time", table->time);
	json_text(out, "thread", table->thread);
	json_text(out, "profile", table->profile);
	json_text(out, "action", table->action);
	dw_json_close(&out->to, '}');
}

static void json_put_machine(struct json *out, const struct dw_report_summary *summary)
{
	const char *const numbers[][2] = { { "cpus", summary->cpus }, { "memory_bytes", summary->memory } };

	dw_json_open(&out->to, "machine", '{');
	json_text(out, "cpu", summary->cpu);
	for (size_t i = 0; i < 2; i++) {
		char *end = NULL;
		double value = numbers[i][1] ? strtod(numbers[i][1], &end) : NAN;

		dw_json_put_real(&out->to, numbers[i][0], end && end != numbers[i][1] ? value : NAN);
	}
	json_text(out, "kernel", summary->kernel);
	json_text(out, "architecture", summary->architecture);
	dw_json_close(&out->to, '}');
	dw_json_open(&out->to, "versions", '[');
	for (size_t i = 0; i < summary->version_count && i < out->level->rows; i++) {
		dw_json_open(&out->to, NULL, '{');
		json_text(out, "key", summary->versions[i].key);
		json_text(out, "value", summary->versions[i].value);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
	json_text(out, "framework", dw_facts_framework_name(summary->facts->framework));
}

static void json_put_steps(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_steps *steps = summary->steps;
	const struct dw_iteration_times *times = &steps->iterations;

	if (!steps->count) {
		json_text(out, "steps", NULL);
		return;
	}
	dw_json_open(&out->to, "steps", '{');
	dw_json_put_whole(&out->to, "count", steps->count);
	dw_json_put_whole(&out->to, "summarised", steps->summed_count);
	dw_json_put_whole(&out->to, "ended", steps->ended_count);
	dw_json_put_whole(&out->to, "loops", steps->thread_count);
	dw_json_put_whole(&out->to, "ranks", steps->process_count);
	dw_json_put_whole(&out->to, "loops_ns", times->loop_ns);
	dw_json_put_whole(&out->to, "mean_ns", times->mean_ns);
	dw_json_put_whole(&out->to, "p50_ns", times->p50_ns);
	dw_json_put_whole(&out->to, "p95_ns", times->p95_ns);
	dw_json_put_whole(&out->to, "p99_ns", times->p99_ns);
	dw_json_put_whole(&out->to, "steady", summary->steady->steps);
	dw_json_put_whole(&out->to, "warm_up", summary->steady->warm_up);
	dw_json_put_whole(&out->to, "outliers", summary->steady->outliers);
	dw_json_put_real(&out->to, "steady_mean_ns", summary->steady->steps ? summary->steady->ns : NAN);
	dw_json_close(&out->to, '}');
}

/* ---- verdicts and facts ---------------------------------------------------------------------- */

/* The rows of the account that a verdict's share is the sum of, or its range; or the class of the iterations whose cells it is. */
static void json_put_cells(struct json *out, const struct dw_account *account, const struct dw_account_select *cells)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	uint32_t classes = cells ? cells->classes : 0;
	size_t count = account && cells && !classes ? dw_account_rows(account, rows) : 0;
	char label[64];

	json_text(out, "class", classes ? dw_iteration_class_name((enum dw_iteration_class)__builtin_ctz(classes)) : "");
	dw_json_open(&out->to, "cells", '[');
	if (cells && cells->by_name)
		json_text(out, NULL, account->symbols[cells->named].name);
	for (size_t i = 0; i < count && !cells->by_name; i++)
		if (dw_account_selects(cells, &rows[i]))
			json_text(out, NULL, dw_account_label(&rows[i], label));
	dw_json_close(&out->to, ']');
}

static void json_put_verdict(struct json *out, const struct dw_report_summary *summary,
                             const struct dw_verdict *verdict)
{
	const enum dw_fact_id *need = verdict->rule->needs;

	dw_json_open(&out->to, NULL, '{');
	json_text(out, "rule", verdict->rule->id);
	json_text(out, "question", verdict->rule->question);
	json_text(out, "statement", verdict->statement);
	json_text(out, "hint", verdict->hint);
	dw_json_put_flag(&out->to, "firm", verdict->firm);
	dw_json_put_real(&out->to, "share", verdict->share.value);
	dw_json_put_real(&out->to, "low", verdict->share.low);
	dw_json_put_real(&out->to, "high", verdict->share.high);
	json_text(out, "of", dw_rule_whole_text(verdict->whole, summary->facts));
	dw_json_put_real(&out->to, "gain_ns", verdict->gain_ns);
	dw_json_open(&out->to, "evidence", '[');
	for (; *need != DW_FACT_COUNT; need++)
		if (summary->facts->at[*need].measured)
			json_text(out, NULL, dw_fact_kind(*need)->name);
	dw_json_close(&out->to, ']');
	json_put_cells(out, summary->facts->account, verdict->has_cells ? &verdict->cells : NULL);
	dw_json_open(&out->to, "rows", '[');
	for (size_t i = 0; i < verdict->rows.count; i++)
		json_text(out, NULL, verdict->rows.names[i]);
	dw_json_close(&out->to, ']');
	dw_json_close(&out->to, '}');
}

static void json_put_rules(struct json *out, const char *key, const struct dw_verdicts *verdicts,
                           enum dw_rule_state state)
{
	dw_json_open(&out->to, key, '[');
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->at[i].state == state)
			json_text(out, NULL, verdicts->at[i].rule->id);
	dw_json_close(&out->to, ']');
}

static void json_put_verdicts(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_verdicts *verdicts = &summary->verdicts;
	size_t rows = json_rows(out, VERDICTS, verdicts->fired);

	dw_json_open(&out->to, "verdicts", '[');
	for (size_t i = 0; i < rows; i++)
		json_put_verdict(out, summary, &verdicts->at[i]);
	dw_json_close(&out->to, ']');
	dw_json_put_real(&out->to, "combined_gain_ns", verdicts->combined_ns);
	dw_json_put_real(&out->to, "loop_ns", summary->steps->count ? verdicts->loop_ns : NAN);
	json_put_rules(out, "covered_rules", verdicts, DW_RULE_COVERED);
	json_put_rules(out, "quiet_rules", verdicts, DW_RULE_QUIET);
}

static bool json_wants_fact(const struct json *out, const struct dw_report_summary *summary, enum dw_fact_id id)
{
	size_t rows = summary->verdicts.fired < out->level->rows ? summary->verdicts.fired : out->level->rows;

	if (out->level->all_facts)
		return true;
	for (size_t i = 0; i < rows; i++)
		for (const enum dw_fact_id *need = summary->verdicts.at[i].rule->needs; *need != DW_FACT_COUNT; need++)
			if (*need == id)
				return true;
	return false;
}

static void json_put_facts(struct json *out, const struct dw_report_summary *summary)
{
	dw_json_open(&out->to, "facts", '{');
	for (unsigned id = 0; id < DW_FACT_COUNT; id++) {
		const struct dw_fact *fact = &summary->facts->at[id];
		const struct dw_fact_kind *kind = dw_fact_kind((enum dw_fact_id)id);
		char what[400];

		if (!fact->measured)
			continue;
		if (!json_wants_fact(out, summary, (enum dw_fact_id)id)) {
			out->omitted[FACTS]++;
			continue;
		}
		dw_json_open(&out->to, kind->name, '{');
		dw_json_put_real(&out->to, "value", fact->value);
		dw_json_put_real(&out->to, "low", fact->low);
		dw_json_put_real(&out->to, "high", fact->high);
		json_text(out, "unit", dw_fact_unit_name(kind->unit));
		json_text(out, "of", kind->denominator);
		dw_json_put_whole(&out->to, "samples", fact->samples);
		dw_report_summary_what(fact, what, sizeof what);
		json_text(out, "what", *what ? what : NULL);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, '}');
}

/* The reason why rule or fact number `index` was not measured: rules come first. NULL: it was. */
static const char *json_missing(const struct dw_report_summary *summary, size_t index)
{
	const struct dw_verdicts *verdicts = &summary->verdicts;

	if (index < verdicts->count)
		return verdicts->at[index].state == DW_RULE_NOT_MEASURED ? verdicts->at[index].missing : NULL;
	return summary->facts->at[index - verdicts->count].measured
	           ? NULL
	           : summary->facts->at[index - verdicts->count].missing;
}

/* Rules and facts with the same reason are one entry. */
static void json_put_reason(struct json *out, const struct dw_report_summary *summary, size_t first, const char *why)
{
	size_t rules = summary->verdicts.count;

	dw_json_open(&out->to, NULL, '{');
	json_text(out, "why", why);
	dw_json_open(&out->to, "rules", '[');
	for (size_t i = first; i < rules; i++)
		if (json_missing(summary, i) && strcmp(json_missing(summary, i), why) == 0)
			json_text(out, NULL, summary->verdicts.at[i].rule->id);
	dw_json_close(&out->to, ']');
	dw_json_open(&out->to, "facts", '[');
	for (size_t i = first < rules ? rules : first; i < rules + DW_FACT_COUNT; i++)
		if (json_missing(summary, i) && strcmp(json_missing(summary, i), why) == 0)
			json_text(out, NULL, dw_fact_kind((enum dw_fact_id)(i - rules))->name);
	dw_json_close(&out->to, ']');
	dw_json_open(&out->to, "views", '[');
	dw_json_close(&out->to, ']');
	dw_json_close(&out->to, '}');
}

static void json_put_missing(struct json *out, const struct dw_report_summary *summary)
{
	size_t all = summary->verdicts.count + DW_FACT_COUNT;

	dw_json_open(&out->to, "not_measured", '[');
	for (size_t i = 0; i < all; i++) {
		const char *why = json_missing(summary, i);
		bool said = !why;

		for (size_t before = 0; before < i && !said; before++)
			said = json_missing(summary, before) && strcmp(json_missing(summary, before), why) == 0;
		if (!said)
			json_put_reason(out, summary, i, why);
	}
	for (size_t i = 0; i < summary->lack_count; i++) {
		dw_json_open(&out->to, NULL, '{');
		json_text(out, "why", summary->lacks[i].why);
		dw_json_open(&out->to, "rules", '[');
		dw_json_close(&out->to, ']');
		dw_json_open(&out->to, "facts", '[');
		dw_json_close(&out->to, ']');
		dw_json_open(&out->to, "views", '[');
		json_text(out, NULL, summary->lacks[i].view);
		dw_json_close(&out->to, ']');
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
}

static void json_put_unrecorded(struct json *out, const struct dw_report_summary *summary)
{
	dw_json_open(&out->to, "unrecorded", '[');
	for (size_t i = 0; i < summary->unrecorded_count; i++) {
		const struct dw_unrecorded *what = &summary->unrecorded[i];

		dw_json_open(&out->to, NULL, '{');
		json_text(out, "id", what->id);
		json_text(out, "name", what->label);
		json_text(out, "file", *what->file ? what->file : NULL);
		json_text(out, "state", what->partly ? "partly" : "no");
		json_text(out, "why", what->why);
		json_text(out, "missing", what->missing);
		dw_json_put_whole(&out->to, "processes", what->processes);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
}

/* ---- where the time goes ----------------------------------------------------------------------- */

static void json_put_sentences(struct json *out, const struct dwell_table *table)
{
	size_t rows = json_rows(out, SENTENCES, table->head_count);

	dw_json_open(&out->to, "sentences", '[');
	for (size_t i = 0; i < rows; i++)
		json_text(out, NULL, table->heads[i].text + strspn(table->heads[i].text, " "));
	dw_json_close(&out->to, ']');
}

static void json_put_part(struct json *out, const char *name, double ns, double share, bool own)
{
	dw_json_open(&out->to, NULL, '{');
	json_text(out, "name", name);
	dw_json_put_real(&out->to, "ns", ns);
	dw_json_put_real(&out->to, "share", share);
	dw_json_put_flag(&out->to, "own", own);
	dw_json_close(&out->to, '}');
}

/* The time in which the thread had no CPU is no share of what shares are of. */
static void json_put_parts(struct json *out, const struct dw_loop_parts *parts)
{
	size_t rows = json_rows(out, PARTS, parts->part_count + (parts->no_cpu_ns > 0));
	double whole_ns = parts->ns - parts->no_cpu_ns;

	dw_json_open(&out->to, "parts", '[');
	for (size_t i = 0; i < rows && i < parts->part_count; i++)
		json_put_part(out, parts->parts[i].name, parts->parts[i].ns, whole_ns > 0 ? parts->parts[i].ns / whole_ns : NAN,
		              parts->parts[i].own);
	if (rows > parts->part_count)
		json_put_part(out, dw_account_state_name(DW_ACCOUNT_NO_CPU), parts->no_cpu_ns, NAN, false);
	dw_json_close(&out->to, ']');
}

static void json_put_account_row(struct json *out, const struct dw_account *account, const struct dw_account_row *row)
{
	bool counted = row->share != DW_SHARE_COUNT || row->state != DW_ACCOUNT_NO_CPU;
	char label[64];

	dw_json_open(&out->to, NULL, '{');
	json_text(out, "name", dw_account_label(row, label));
	dw_json_put_real(&out->to, "ns", row->sum.ns);
	dw_json_put_real(&out->to, "share", counted ? row->sum.ns / account->own_ns : NAN);
	dw_json_put_real(&out->to, "low", counted ? row->sum.low_ns / account->own_ns : NAN);
	dw_json_put_real(&out->to, "high", counted ? row->sum.high_ns / account->own_ns : NAN);
	json_text(out, "function", row->sum.function ? row->sum.function->name : "");
	dw_json_close(&out->to, '}');
}

static void json_put_class(struct json *out, const struct dw_account *account, enum dw_iteration_class class)
{
	if (!account->classes[class].count)
		return;
	dw_json_open(&out->to, NULL, '{');
	json_text(out, "class", dw_iteration_class_name(class));
	dw_json_put_whole(&out->to, "iterations", account->classes[class].count);
	dw_json_put_real(&out->to, "ns", account->classes[class].ns);
	dw_json_close(&out->to, '}');
}

#define MOST_RANGES 16u

/* Shares are of own_ns. */
static void json_put_account(struct json *out, const struct dw_account *account)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	struct dw_account_range ranges[MOST_RANGES];
	size_t count = account ? json_rows(out, ACCOUNT, dw_account_rows(account, rows)) : 0;

	dw_json_open(&out->to, "account", '{');
	dw_json_put_real(&out->to, "wall_ns", account ? account->wall_ns : NAN);
	dw_json_put_real(&out->to, "own_ns", account ? account->own_ns : NAN);
	dw_json_open(&out->to, "classes", '[');
	for (unsigned class = 0; class < DW_ITERATION_CLASSES && account; class++)
		json_put_class(out, account, (enum dw_iteration_class)class);
	dw_json_close(&out->to, ']');
	dw_json_open(&out->to, "rows", '[');
	for (size_t i = 0; i < count; i++)
		json_put_account_row(out, account, &rows[i]);
	dw_json_close(&out->to, ']');
	dw_json_open(&out->to, "ranges", '[');
	count = account ? dw_account_ranges(account, ranges, MOST_RANGES) : 0;
	for (size_t i = 0; i < count; i++) {
		dw_json_open(&out->to, NULL, '{');
		json_text(out, "name", ranges[i].range->name);
		dw_json_put_real(&out->to, "ns", ranges[i].ns);
		dw_json_put_real(&out->to, "share", ranges[i].ns / account->own_ns);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
	dw_json_close(&out->to, '}');
}

/* Writes a list of the rows of a table. */
static void json_put_rows(struct json *out, enum json_list list, const struct dwell_table *table,
                          const struct json_column *columns)
{
	size_t rows = table ? json_rows(out, list, table->row_count) : 0;

	out->omitted[list] += table ? table->rows_cut : 0;
	dw_json_open(&out->to, lists[list], '[');
	for (size_t row = 0; row < rows; row++) {
		dw_json_open(&out->to, NULL, '{');
		for (size_t i = 0; columns[i].key; i++)
			json_cell(out, table, row, &columns[i]);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
}

static void json_put_times(struct json *out, const struct dw_report_summary *summary)
{
	static const struct json_column operators[] = {
		{ .key = "name", .column = "name" },
		{ .key = "calls", .column = "calls" },
		{ .key = "self_ns", .column = "self_ns" },
		{ .key = "share", .column = "share" },
		{ .key = "self_per_step_ns", .column = "self_per_step_ns", .with_steps = true },
		{ .key = "loop_share", .column = "loop_share", .with_steps = true },
		{ .key = NULL },
	};
	static const struct json_column kernels[] = {
		{ .key = "name", .column = "name" },
		{ .key = "family", .column = "family" },
		{ .key = "events", .column = "calls" },
		{ .key = "total_ns", .column = "total_ns" },
		{ .key = "share", .column = "share" },
		{ .key = "operator", .column = "operator" },
		{ .key = NULL },
	};

	json_put_sentences(out, summary->overview);
	json_put_parts(out, summary->parts);
	json_put_account(out, summary->facts->account);
	json_put_rows(out, OPERATORS, summary->operators, operators);
	json_put_rows(out, KERNELS, dw_report_summary_part(summary->kernels, "names"), kernels);
}

static void json_put_losses(struct json *out, const struct dwell_table *table)
{
	dw_json_put_real(&out->to, "coverage", table->coverage);
	dw_json_open(&out->to, "losses", '[');
	for (size_t i = 0; i < table->loss_count; i++) {
		dw_json_open(&out->to, NULL, '{');
		json_text(out, "cause", table->losses[i].cause);
		dw_json_put_whole(&out->to, "records", table->losses[i].records);
		json_text(out, "why", table->losses[i].why);
		dw_json_close(&out->to, '}');
	}
	dw_json_close(&out->to, ']');
	dw_json_open(&out->to, "gaps", '[');
	for (size_t i = 0; i < table->gap_count && i < DW_REPORT_SUMMARY_ROWS; i++)
		json_text(out, NULL, table->gaps[i]);
	dw_json_close(&out->to, ']');
}

/* ---- the document ------------------------------------------------------------------------------ */

/* A line for each member, so that two summaries can be compared line by line. */
static void json_line(struct json *out)
{
	dw_json_line(&out->to, "\n ");
}

static void json_put_document(struct json *out, const struct dw_report_summary *summary)
{
	fputs("{", out->to.file);
	dw_json_put_whole(&out->to, "dwell_summary", DW_REPORT_SUMMARY_VERSION);
	json_text(out, "dwell", DWELL_VERSION);
	json_line(out);
	json_put_traces(out, dw_model_source(summary->model));
	json_line(out);
	json_put_state(out, summary);
	json_line(out);
	json_put_scope(out, summary->overview);
	json_line(out);
	json_put_machine(out, summary);
	json_line(out);
	json_put_steps(out, summary);
	json_line(out);
	json_put_verdicts(out, summary);
	json_line(out);
	json_put_times(out, summary);
	json_line(out);
	json_put_facts(out, summary);
	json_line(out);
	json_put_missing(out, summary);
	json_line(out);
	json_put_unrecorded(out, summary);
	json_line(out);
	json_put_losses(out, summary->overview);
	json_line(out);
	dw_json_open(&out->to, "omitted", '{');
	for (size_t i = 0; i < LISTS; i++)
		dw_json_put_whole(&out->to, lists[i], out->omitted[i]);
	dw_json_put_whole(&out->to, "texts_cut", out->cut);
	dw_json_close(&out->to, '}');
	fputs("}\n", out->to.file);
}

bool dw_report_summary_json(const struct dw_report_summary *summary, FILE *file)
{
	for (size_t i = 0; i < LEVELS; i++) {
		struct json out = { .level = &levels[i] };
		char *text = NULL;
		size_t length = 0;
		bool good;

		out.to.file = open_memstream(&text, &length);
		if (out.to.file)
			json_put_document(&out, summary);
		good = out.to.file && fclose(out.to.file) == 0;
		/* the last level is short enough by its bounds */
		if (good && (length <= DW_REPORT_SUMMARY_BYTES || i + 1 == LEVELS))
			fwrite(text, 1, length, file);
		free(text);
		if (!good || length <= DW_REPORT_SUMMARY_BYTES)
			return good;
	}
	return true;
}
