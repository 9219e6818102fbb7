/*
 * The summary as JSON: one object, whose keys doc/reference/machine-summary.md describes and
 * doc/reference/machine-summary.schema.json checks.
 *
 * It is written to memory first. If it is too long, it is written again with shorter texts, shorter
 * lists and fewer facts. The last of these levels is short enough for any trace: every text and
 * every list is bounded there. `omitted` counts what was left out.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "render/render.h"
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
	FILE *file;
	const struct json_level *level;
	bool more;             /* something stands before in this object or list */
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

/* `key` is NULL in a list. */
static void json_key(struct json *out, const char *key)
{
	fputs(out->more ? "," : "", out->file);
	if (key)
		fprintf(out->file, "\"%s\":", key);
	out->more = true;
}

static void json_open(struct json *out, const char *key, char bracket)
{
	json_key(out, key);
	fputc(bracket, out->file);
	out->more = false;
}

static void json_close(struct json *out, char bracket)
{
	fputc(bracket, out->file);
	out->more = true;
}

/* NULL is null. */
static void json_text(struct json *out, const char *key, const char *text)
{
	char short_text[512];

	json_key(out, key);
	if (!text) {
		fputs("null", out->file);
		return;
	}
	dw_report_summary_cut(text, out->level->text, json_cost, short_text, sizeof short_text);
	out->cut += strcmp(short_text, text) != 0;
	dw_json_text(dw_render_put, out->file, short_text);
}

static void json_whole(struct json *out, const char *key, uint64_t value)
{
	json_key(out, key);
	fprintf(out->file, "%" PRIu64, value);
}

/* NaN and infinities are null. The program's locale may have another decimal point. */
static void json_number(struct json *out, const char *key, double value)
{
	char text[40] = "null";

	json_key(out, key);
	if (isfinite(value))
		snprintf(text, sizeof text, "%.9g", value);
	for (char *at = text; *at; at++)
		*at = *at == ',' ? '.' : *at;
	fputs(text, out->file);
}

static void json_flag(struct json *out, const char *key, bool value)
{
	json_key(out, key);
	fputs(value ? "true" : "false", out->file);
}

static void json_cell(struct json *out, const char *key, const struct dwell_table *table, size_t row,
                      const char *column)
{
	const struct dw_cell *cell = dw_report_summary_cell(table, row, column);

	if (cell && cell->type == DW_CELL_TEXT)
		json_text(out, key, cell->text);
	else
		json_number(out, key, !cell ? NAN : cell->type == DW_CELL_INT ? (double)cell->integer : cell->real);
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

	json_open(out, "traces", '[');
	for (size_t i = 0; i < rows; i++) {
		const struct dw_source_file *file = &source->files[i];
		const struct dw_head *head = file->head;
		time_t start = (time_t)(head->start_realtime_ns / 1000000000u);
		char text[64] = "";
		struct tm when;

		json_open(out, NULL, '{');
		json_text(out, "path", file->path);
		json_whole(out, "bytes", file->size_bytes);
		snprintf(text, sizeof text, "%.63s", head->hostname);
		json_text(out, "host", *text ? text : NULL);
		snprintf(text, sizeof text, "%.32s", head->writer);
		json_text(out, "written_by", text);
		snprintf(text, sizeof text, "%u.%u", head->version_major, head->version_minor);
		json_text(out, "format", text);
		json_text(out, "began", start && gmtime_r(&start, &when) &&
		          strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when) ? text : NULL);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void json_put_state(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_source *source = dw_model_source(summary->model);
	size_t rows = json_rows(out, REPAIRS, summary->repair_count);

	json_text(out, "state", source->live ? "live" : summary->repair_count ? "repaired" : "complete");
	json_open(out, "repairs", '[');
	for (size_t i = 0; i < rows; i++)
		json_text(out, NULL, summary->repairs[i]);
	json_close(out, ']');
}

static void json_put_scope(struct json *out, const struct dwell_table *table)
{
	json_open(out, "scope", '{');
	json_text(out, "steps", table->steps);
	json_text(out, "time", table->time);
	json_text(out, "thread", table->thread);
	json_text(out, "profile", table->profile);
	json_text(out, "action", table->action);
	json_close(out, '}');
}

static void json_put_machine(struct json *out, const struct dw_report_summary *summary)
{
	const char *const numbers[][2] = { { "cpus", summary->cpus }, { "memory_bytes", summary->memory } };

	json_open(out, "machine", '{');
	json_text(out, "cpu", summary->cpu);
	for (size_t i = 0; i < 2; i++) {
		char *end = NULL;
		double value = numbers[i][1] ? strtod(numbers[i][1], &end) : NAN;

		json_number(out, numbers[i][0], end && end != numbers[i][1] ? value : NAN);
	}
	json_text(out, "kernel", summary->kernel);
	json_text(out, "architecture", summary->architecture);
	json_close(out, '}');
	json_open(out, "versions", '[');
	for (size_t i = 0; i < summary->version_count && i < out->level->rows; i++) {
		json_open(out, NULL, '{');
		json_text(out, "key", summary->versions[i].key);
		json_text(out, "value", summary->versions[i].value);
		json_close(out, '}');
	}
	json_close(out, ']');
	json_text(out, "framework", dw_facts_framework_name(summary->facts->framework));
}

static void json_put_steps(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_steps *steps = summary->steps;

	if (!steps->count) {
		json_text(out, "steps", NULL);
		return;
	}
	json_open(out, "steps", '{');
	json_whole(out, "count", steps->count);
	json_whole(out, "summarised", steps->summed_count);
	json_whole(out, "ended", steps->ended_count);
	json_whole(out, "loops", steps->thread_count);
	json_whole(out, "ranks", steps->process_count);
	json_whole(out, "mean_ns", steps->mean_ns);
	json_whole(out, "p50_ns", steps->p50_ns);
	json_whole(out, "p95_ns", steps->p95_ns);
	json_whole(out, "p99_ns", steps->p99_ns);
	json_whole(out, "steady", summary->steady->steps);
	json_whole(out, "warm_up", summary->steady->warm_up);
	json_whole(out, "outliers", summary->steady->outliers);
	json_number(out, "steady_mean_ns", summary->steady->steps ? summary->steady->ns : NAN);
	json_close(out, '}');
}

/* ---- verdicts and facts ---------------------------------------------------------------------- */

/* The rows of the account that a verdict's share is the sum of, or its range. */
static void json_put_cells(struct json *out, const struct dw_account *account, const struct dw_account_select *cells)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	size_t count = account && cells ? dw_account_rows(account, rows) : 0;
	char label[64];

	json_open(out, "cells", '[');
	if (cells && cells->by_name)
		json_text(out, NULL, account->symbols[cells->named].name);
	for (size_t i = 0; i < count && !cells->by_name; i++)
		if (dw_account_selects(cells, &rows[i]))
			json_text(out, NULL, dw_account_label(&rows[i], label));
	json_close(out, ']');
}

static void json_put_verdict(struct json *out, const struct dw_report_summary *summary,
                             const struct dw_verdict *verdict)
{
	const enum dw_fact_id *need = verdict->rule->needs;

	json_open(out, NULL, '{');
	json_text(out, "rule", verdict->rule->id);
	json_text(out, "question", verdict->rule->question);
	json_text(out, "statement", verdict->statement);
	json_text(out, "hint", verdict->hint);
	json_flag(out, "firm", verdict->firm);
	json_number(out, "share", verdict->share.value);
	json_number(out, "low", verdict->share.low);
	json_number(out, "high", verdict->share.high);
	json_text(out, "of", dw_rule_whole_text(verdict->whole, summary->facts->iterations));
	json_number(out, "gain_ns", verdict->gain_ns);
	json_open(out, "evidence", '[');
	for (; *need != DW_FACT_COUNT; need++)
		if (summary->facts->at[*need].measured)
			json_text(out, NULL, dw_fact_kind(*need)->name);
	json_close(out, ']');
	json_put_cells(out, summary->facts->account, verdict->has_cells ? &verdict->cells : NULL);
	json_close(out, '}');
}

static void json_put_rules(struct json *out, const char *key, const struct dw_verdicts *verdicts,
                           enum dw_rule_state state)
{
	json_open(out, key, '[');
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->at[i].state == state)
			json_text(out, NULL, verdicts->at[i].rule->id);
	json_close(out, ']');
}

static void json_put_verdicts(struct json *out, const struct dw_report_summary *summary)
{
	const struct dw_verdicts *verdicts = &summary->verdicts;
	size_t rows = json_rows(out, VERDICTS, verdicts->fired);

	json_open(out, "verdicts", '[');
	for (size_t i = 0; i < rows; i++)
		json_put_verdict(out, summary, &verdicts->at[i]);
	json_close(out, ']');
	json_number(out, "combined_gain_ns", verdicts->combined_ns);
	json_number(out, "loop_ns", summary->steps->count ? verdicts->loop_ns : NAN);
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
	json_open(out, "facts", '{');
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
		json_open(out, kind->name, '{');
		json_number(out, "value", fact->value);
		json_number(out, "low", fact->low);
		json_number(out, "high", fact->high);
		json_text(out, "unit", dw_fact_unit_name(kind->unit));
		json_text(out, "of", kind->denominator);
		json_whole(out, "samples", fact->samples);
		dw_report_summary_what(fact, what, sizeof what);
		json_text(out, "what", *what ? what : NULL);
		json_close(out, '}');
	}
	json_close(out, '}');
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

	json_open(out, NULL, '{');
	json_text(out, "why", why);
	json_open(out, "rules", '[');
	for (size_t i = first; i < rules; i++)
		if (json_missing(summary, i) && strcmp(json_missing(summary, i), why) == 0)
			json_text(out, NULL, summary->verdicts.at[i].rule->id);
	json_close(out, ']');
	json_open(out, "facts", '[');
	for (size_t i = first < rules ? rules : first; i < rules + DW_FACT_COUNT; i++)
		if (json_missing(summary, i) && strcmp(json_missing(summary, i), why) == 0)
			json_text(out, NULL, dw_fact_kind((enum dw_fact_id)(i - rules))->name);
	json_close(out, ']');
	json_open(out, "views", '[');
	json_close(out, ']');
	json_close(out, '}');
}

static void json_put_missing(struct json *out, const struct dw_report_summary *summary)
{
	size_t all = summary->verdicts.count + DW_FACT_COUNT;

	json_open(out, "not_measured", '[');
	for (size_t i = 0; i < all; i++) {
		const char *why = json_missing(summary, i);
		bool said = !why;

		for (size_t before = 0; before < i && !said; before++)
			said = json_missing(summary, before) && strcmp(json_missing(summary, before), why) == 0;
		if (!said)
			json_put_reason(out, summary, i, why);
	}
	for (size_t i = 0; i < summary->lack_count; i++) {
		json_open(out, NULL, '{');
		json_text(out, "why", summary->lacks[i].why);
		json_open(out, "rules", '[');
		json_close(out, ']');
		json_open(out, "facts", '[');
		json_close(out, ']');
		json_open(out, "views", '[');
		json_text(out, NULL, summary->lacks[i].view);
		json_close(out, ']');
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void json_put_unrecorded(struct json *out, const struct dw_report_summary *summary)
{
	json_open(out, "unrecorded", '[');
	for (size_t i = 0; i < summary->unrecorded_count; i++) {
		const struct dw_unrecorded *what = &summary->unrecorded[i];

		json_open(out, NULL, '{');
		json_text(out, "id", what->id);
		json_text(out, "name", what->label);
		json_text(out, "file", *what->file ? what->file : NULL);
		json_text(out, "state", what->partly ? "partly" : "no");
		json_text(out, "why", what->why);
		json_text(out, "missing", what->missing);
		json_whole(out, "processes", what->processes);
		json_close(out, '}');
	}
	json_close(out, ']');
}

/* ---- where the time goes ----------------------------------------------------------------------- */

static void json_put_sentences(struct json *out, const struct dwell_table *table)
{
	size_t rows = json_rows(out, SENTENCES, table->head_count);

	json_open(out, "sentences", '[');
	for (size_t i = 0; i < rows; i++)
		json_text(out, NULL, table->heads[i] + strspn(table->heads[i], " "));
	json_close(out, ']');
}

static void json_put_parts(struct json *out, const struct dw_steady *steady)
{
	size_t rows = json_rows(out, PARTS, steady->part_count);

	json_open(out, "parts", '[');
	for (size_t i = 0; i < rows; i++) {
		json_open(out, NULL, '{');
		json_text(out, "name", steady->parts[i].name);
		json_number(out, "ns", steady->parts[i].ns);
		json_number(out, "share", steady->ns > 0 ? steady->parts[i].ns / steady->ns : NAN);
		json_flag(out, "own", steady->parts[i].own);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void json_put_account_row(struct json *out, const struct dw_account *account, const struct dw_account_row *row)
{
	bool counted = row->share != DW_SHARE_COUNT || row->state != DW_ACCOUNT_NO_CPU;
	char label[64];

	json_open(out, NULL, '{');
	json_text(out, "name", dw_account_label(row, label));
	json_number(out, "ns", row->sum.ns);
	json_number(out, "share", counted ? row->sum.ns / account->own_ns : NAN);
	json_number(out, "low", counted ? row->sum.low_ns / account->own_ns : NAN);
	json_number(out, "high", counted ? row->sum.high_ns / account->own_ns : NAN);
	json_text(out, "function", row->sum.function ? row->sum.function->name : "");
	json_close(out, '}');
}

#define MOST_RANGES 16u

/* Shares are of own_ns. */
static void json_put_account(struct json *out, const struct dw_account *account)
{
	struct dw_account_row rows[DW_ACCOUNT_ROWS];
	struct dw_account_range ranges[MOST_RANGES];
	size_t count = account ? json_rows(out, ACCOUNT, dw_account_rows(account, rows)) : 0;

	json_open(out, "account", '{');
	json_number(out, "wall_ns", account ? account->wall_ns : NAN);
	json_number(out, "own_ns", account ? account->own_ns : NAN);
	json_open(out, "rows", '[');
	for (size_t i = 0; i < count; i++)
		json_put_account_row(out, account, &rows[i]);
	json_close(out, ']');
	json_open(out, "ranges", '[');
	count = account ? dw_account_ranges(account, ranges, MOST_RANGES) : 0;
	for (size_t i = 0; i < count; i++) {
		json_open(out, NULL, '{');
		json_text(out, "name", ranges[i].range->name);
		json_number(out, "ns", ranges[i].ns);
		json_number(out, "share", ranges[i].ns / account->own_ns);
		json_close(out, '}');
	}
	json_close(out, ']');
	json_close(out, '}');
}

/* Writes a list of the rows of a table: pairs of a key and a column, up to NULL. */
static void json_put_rows(struct json *out, enum json_list list, const struct dwell_table *table,
                          const char *const (*keys)[2])
{
	size_t rows = table ? json_rows(out, list, table->row_count) : 0;

	out->omitted[list] += table ? table->rows_cut : 0;
	json_open(out, lists[list], '[');
	for (size_t row = 0; row < rows; row++) {
		json_open(out, NULL, '{');
		for (size_t i = 0; keys[i][0]; i++)
			json_cell(out, keys[i][0], table, row, keys[i][1]);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void json_put_times(struct json *out, const struct dw_report_summary *summary)
{
	static const char *const operators[][2] = { { "name", "name" }, { "calls", "calls" },
		{ "self_ns", "self_ns" }, { "share", "share" }, { "self_per_step_ns", "self_per_step_ns" },
		{ NULL, NULL } };
	static const char *const kernels[][2] = { { "name", "name" }, { "family", "family" },
		{ "events", "calls" }, { "total_ns", "total_ns" }, { "share", "share" },
		{ "operator", "operator" }, { NULL, NULL } };
	const struct dwell_table *by_name = summary->kernels;

	while (by_name && dw_table_column(by_name, "short_name") < 0)
		by_name = by_name->next;
	json_put_sentences(out, summary->overview);
	json_put_parts(out, summary->steady);
	json_put_account(out, summary->facts->account);
	json_put_rows(out, OPERATORS, summary->operators, operators);
	json_put_rows(out, KERNELS, by_name, kernels);
}

static void json_put_losses(struct json *out, const struct dwell_table *table)
{
	json_number(out, "coverage", table->coverage);
	json_open(out, "losses", '[');
	for (size_t i = 0; i < table->loss_count; i++) {
		json_open(out, NULL, '{');
		json_text(out, "cause", table->losses[i].cause);
		json_whole(out, "records", table->losses[i].records);
		json_text(out, "why", table->losses[i].why);
		json_close(out, '}');
	}
	json_close(out, ']');
	json_open(out, "gaps", '[');
	for (size_t i = 0; i < table->gap_count && i < DW_REPORT_SUMMARY_ROWS; i++)
		json_text(out, NULL, table->gaps[i]);
	json_close(out, ']');
}

/* ---- the document ------------------------------------------------------------------------------ */

/* A line for each member, so that two summaries can be compared line by line. */
static void json_line(struct json *out)
{
	fputs(out->more ? ",\n " : "\n ", out->file);
	out->more = false;
}

static void json_put_document(struct json *out, const struct dw_report_summary *summary)
{
	fputs("{", out->file);
	json_whole(out, "dwell_summary", DW_REPORT_SUMMARY_VERSION);
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
	json_open(out, "omitted", '{');
	for (size_t i = 0; i < LISTS; i++)
		json_whole(out, lists[i], out->omitted[i]);
	json_whole(out, "texts_cut", out->cut);
	json_close(out, '}');
	fputs("}\n", out->file);
}

bool dw_report_summary_json(const struct dw_report_summary *summary, FILE *file)
{
	for (size_t i = 0; i < LEVELS; i++) {
		struct json out = { .level = &levels[i] };
		char *text = NULL;
		size_t length = 0;
		bool good;

		out.file = open_memstream(&text, &length);
		if (out.file)
			json_put_document(&out, summary);
		good = out.file && fclose(out.file) == 0;
		/* the last level is short enough by its bounds */
		if (good && (length <= DW_REPORT_SUMMARY_BYTES || i + 1 == LEVELS))
			fwrite(text, 1, length, file);
		free(text);
		if (!good || length <= DW_REPORT_SUMMARY_BYTES)
			return good;
	}
	return true;
}
