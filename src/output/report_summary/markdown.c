/*
 * The summary as Markdown, for the comment on a pull request: the verdicts with their evidence, the
 * parts of a step, the largest operators, what was not measured, losses, machine and versions.
 *
 * GitHub takes at most 65,536 characters in a comment. Every list and every text is bounded.
 */
#include <math.h>

#include "base/text.h"
#include "render/render.h"
#include "report_summary/report_summary.h"
#include "views/common.h"
#include "views/overview_parts.h"

#define MARKDOWN_TEXT 300u     /* most bytes of a text */
#define MARKDOWN_ROWS 10u      /* most rows of a list */
#define MARKDOWN_EVIDENCE 6u   /* most facts of a verdict */

/* Most bytes that dw_render_markdown_text() writes for a code point: some have a "\" before. */
static unsigned markdown_cost(uint32_t code)
{
	return code < 0x80 ? 2 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

static void markdown_put(FILE *file, const char *text)
{
	char short_text[MARKDOWN_TEXT * 2 + 8];

	dw_render_markdown_text(file, dw_report_summary_cut(text, MARKDOWN_TEXT * 2, markdown_cost,
	                                                    short_text, sizeof short_text));
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* "`loop.gc` 6.9% of the loop (6.1% to 7.2%; 15 samples), train.py:41" */
static void markdown_put_fact(FILE *file, enum dw_fact_id id, const struct dw_fact *fact)
{
	const struct dw_fact_kind *kind = dw_fact_kind(id);
	char value[48], low[48], high[48], what[400];

	dw_view_fact_text(value, sizeof value, kind->unit, fact->value);
	fprintf(file, "`%s` %s", kind->name, value);
	if (*kind->denominator)
		fprintf(file, " %s %s", kind->unit == DW_FACT_RATIO ? "of" : "per",
		        kind->unit != DW_FACT_RATIO && strncmp(kind->denominator, "a ", 2) == 0
		            ? kind->denominator + 2
		            : kind->denominator);
	if (fact->low < fact->value || fact->high > fact->value) {
		dw_view_fact_text(low, sizeof low, kind->unit, fact->low);
		dw_view_fact_text(high, sizeof high, kind->unit, fact->high);
		fprintf(file, " (%s to %s; %zu sample%s)", low, high, fact->samples, dw_text_plural(fact->samples));
	}
	dw_report_summary_what(fact, what, sizeof what);
	if (*what) {
		fputs(", ", file);
		markdown_put(file, what);
	}
}

static void markdown_put_evidence(const struct dw_report_summary *summary, FILE *file, const struct dw_verdict *verdict)
{
	unsigned count = 0;

	for (const enum dw_fact_id *need = verdict->rule->needs; *need != DW_FACT_COUNT; need++) {
		if (!summary->facts->at[*need].measured || count == MARKDOWN_EVIDENCE)
			continue;
		fputs(count++ ? "; " : "  \n  Evidence: ", file);
		markdown_put_fact(file, *need, &summary->facts->at[*need]);
	}
	fputs("\n", file);
}

static void markdown_put_verdicts(const struct dw_report_summary *summary, FILE *file)
{
	const struct dw_verdicts *verdicts = &summary->verdicts;

	for (size_t i = 0; i < verdicts->fired && i < MARKDOWN_ROWS; i++) {
		const struct dw_verdict *verdict = &verdicts->at[i];

		fputs("- **", file);
		markdown_put(file, verdict->statement);
		fputs("**", file);
		if (*verdict->hint) {
			fputs("  \n  ", file);
			markdown_put(file, verdict->hint);
		}
		markdown_put_evidence(summary, file, verdict);
	}
	if (verdicts->fired > MARKDOWN_ROWS)
		fprintf(file, "- %zu more: `dwell report --view verdict`\n", verdicts->fired - MARKDOWN_ROWS);
	if (!verdicts->fired)
		fputs(summary->steps->count ? "No rule says anything about these steps.\n"
		                            : "No rule says anything about this run.\n",
		      file);
	if (!isnan(verdicts->combined_ns))
		fprintf(file, "\nAll of this together: at most %s %s.\n", dw_text_ns(verdicts->combined_ns, " ").at,
		        dw_rule_each(verdicts->facts));
	fputs("\n", file);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void markdown_put_part(FILE *file, const char *name, double ns, const char *share)
{
	fputs("| ", file);
	markdown_put(file, name);
	fprintf(file, " | %s | %s |\n", dw_text_ns(ns, " ").at, share);
}

static void markdown_put_parts(const struct dw_loop_parts *parts, enum dw_iteration_kind iterations, FILE *file)
{
	bool run = iterations == DW_ITERATIONS_RUN;
	double whole_ns = parts->ns - parts->no_cpu_ns;

	if (!parts->part_count)
		return;
	fprintf(file, "| part of %s | time | of %s |\n| :--- | ---: | ---: |\n", run ? "the run" : "a step", run ? "the run" : "the loop");
	for (size_t i = 0; i < parts->part_count && i < MARKDOWN_ROWS; i++)
		markdown_put_part(file, parts->parts[i].name, parts->parts[i].ns, dw_text_percent(parts->parts[i].ns / whole_ns).at);
	if (parts->part_count > MARKDOWN_ROWS)
		fprintf(file, "| %zu more | | |\n", parts->part_count - MARKDOWN_ROWS);
	if (parts->no_cpu_ns > 0)
		markdown_put_part(file, dw_account_state_name(DW_ACCOUNT_NO_CPU), parts->no_cpu_ns, "");
	fputs("\n", file);
}

static double markdown_number(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_REAL ? cell->real : (double)cell->integer;
}

/* A count, or a mean of counts. */
static struct dw_text markdown_count(const struct dw_cell *cell)
{
	return cell->type == DW_CELL_REAL ? dw_text_number(cell->real) : dw_text_count(cell->integer);
}

/* The overview's operators of the loop; NULL: it has none. */
static const struct dwell_table *markdown_find_operators(const struct dwell_table *overview)
{
	while (overview && !(overview->part && strcmp(overview->part, "operators") == 0))
		overview = overview->next;
	return overview;
}

/* The first rows of a table: a name, a count, a time and a share. Rows without a share are of other threads. */
static void markdown_put_rows(const struct dwell_table *table, FILE *file, const char *title,
                              const char *const columns[4], const char *share)
{
	size_t count = table ? table->row_count : 0, all = count + (table ? table->rows_cut : 0);

	if (!count)
		return;
	fprintf(file, "| %s | times | time | %s |\n| :--- | ---: | ---: | ---: |\n", title, share);
	for (size_t row = 0; row < count && row < MARKDOWN_ROWS; row++) {
		const struct dw_cell *cells[4];

		for (size_t i = 0; i < 4; i++)
			cells[i] = dw_report_summary_cell(table, row, columns[i]);
		fputs("| ", file);
		markdown_put(file, cells[0] ? cells[0]->text : "");
		fprintf(file, " | %s | %s | %s |\n", cells[1] ? markdown_count(cells[1]).at : "",
		        cells[2] ? dw_text_ns(markdown_number(cells[2]), " ").at : "",
		        cells[3] ? dw_text_percent(cells[3]->real).at : "");
	}
	if (all > MARKDOWN_ROWS)
		fprintf(file, "| %s more | | | |\n", dw_text_count((int64_t)(all - MARKDOWN_ROWS)).at);
	fputs("\n", file);
}

static void markdown_put_tables(const struct dw_report_summary *summary, FILE *file)
{
	markdown_put_parts(summary->parts, summary->facts->iterations, file);
	if (summary->steps->count)
		markdown_put_rows(markdown_find_operators(summary->overview), file, "operator (self time in a step)",
		                  (const char *const[]){ "name", "calls_per_step", "self_per_step_ns", "share" }, "of the loop");
	else
		markdown_put_rows(summary->operators, file, "operator (self time)",
		                  (const char *const[]){ "name", "calls", "self_ns", "share" }, "of operators");
	markdown_put_rows(dw_report_summary_part(summary->kernels, "names"), file, "kernel or copy",
	                  (const char *const[]){ "short_name", "calls", "total_ns", "share" }, "share");
}

/* ---- what the figures are based on ------------------------------------------------------------- */

static void markdown_put_missing(const struct dw_report_summary *summary, FILE *file)
{
	const struct dw_verdicts *verdicts = &summary->verdicts;
	unsigned facts = 0, rules = 0, reasons = 0;

	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		facts += !summary->facts->at[id].measured;
	for (size_t i = 0; i < verdicts->count; i++)
		rules += verdicts->at[i].state == DW_RULE_NOT_MEASURED;
	fprintf(file, "<details><summary>Not measured: %u of %zu rules, %u of %u facts</summary>\n\n", rules,
	        verdicts->count, facts, (unsigned)DW_FACT_COUNT);
	for (size_t i = 0; i < verdicts->count; i++) {
		const char *missing = verdicts->at[i].missing;
		bool said = verdicts->at[i].state != DW_RULE_NOT_MEASURED;

		for (size_t n = 0; n < i && !said; n++)
			said = verdicts->at[n].state == DW_RULE_NOT_MEASURED && strcmp(verdicts->at[n].missing, missing) == 0;
		if (said)
			continue;
		fputs(reasons++ ? "; " : "Rules: ", file);
		for (size_t n = i, any = 0; n < verdicts->count; n++)
			if (verdicts->at[n].state == DW_RULE_NOT_MEASURED && strcmp(verdicts->at[n].missing, missing) == 0)
				fprintf(file, "%s`%s`", any++ ? ", " : "", verdicts->at[n].rule->id);
		fputs(" (", file);
		markdown_put(file, missing);
		fputs(")", file);
	}
	fprintf(file, "%sFacts: `dwell report --view facts` lists them with the reason.\n\n</details>\n\n",
	        reasons ? ". " : "");
}

static void markdown_put_line(void *file, const char *text)
{
	markdown_put(file, text);
	fputs("\n\n", file);
}

static void markdown_put_machine(const struct dw_report_summary *summary, FILE *file)
{
	const struct dw_source *source = dw_model_source(summary->model);
	const char *texts[] = { summary->cpu, summary->architecture, summary->kernel };
	char text[80];

	snprintf(text, sizeof text, "%.63s", source->file_count ? source->files[0].head->hostname : "");
	fputs("Machine: ", file);
	markdown_put(file, *text ? text : "unknown");
	for (size_t i = 0; i < 3; i++)
		if (texts[i]) {
			fputs(i == 2 ? ", Linux " : ", ", file);
			markdown_put(file, texts[i]);
		}
	if (summary->cpus) {
		fputs(", CPUs: ", file);
		markdown_put(file, summary->cpus);
	}
	for (size_t i = 0; i < summary->version_count && i < MARKDOWN_ROWS; i++) {
		fputs(", ", file);
		markdown_put(file, summary->versions[i].key);
		fputs(" ", file);
		markdown_put(file, summary->versions[i].value);
	}
	fprintf(file, ", dwell %s. Trace: ", DWELL_VERSION);
	for (size_t i = 0; i < source->file_count && i < MARKDOWN_ROWS; i++) {
		fputs(i ? ", " : "", file);
		markdown_put(file, source->files[i].path);
	}
	if (source->file_count > MARKDOWN_ROWS)
		fprintf(file, " and %zu more", source->file_count - MARKDOWN_ROWS);
	fputs("\n", file);
}

/* Whether a sentence of the overview is advice, or stands in the list of verdicts below. */
static bool markdown_follows(const struct dw_report_summary *summary, const struct dw_line *line)
{
	bool listed = line->label == DW_LABEL_TRY || line->label == DW_LABEL_LOOK || line->label == DW_LABEL_ALL ||
	              line->label == DW_LABEL_REST;

	for (size_t i = 0; i < summary->verdicts.fired; i++)
		listed |= strcmp(line->text, summary->verdicts.at[i].statement) == 0;
	return listed;
}

bool dw_report_summary_markdown(const struct dw_report_summary *summary, FILE *file)
{
	const struct dwell_table *overview = summary->overview;
	char scope[200];

	fputs("### dwell\n\n", file);
	if (dw_display_scope(overview, scope, sizeof scope))
		markdown_put_line(file, scope);
	for (size_t i = 0; i < overview->head_count; i++)
		if (!markdown_follows(summary, &overview->heads[i]))
			markdown_put_line(file, overview->heads[i].text);
	markdown_put_verdicts(summary, file);
	markdown_put_tables(summary, file);
	markdown_put_missing(summary, file);
	for (size_t i = 0; i < summary->unrecorded_count; i++) {
		char text[512];

		dw_unrecorded_text(&summary->unrecorded[i], text, sizeof text);
		markdown_put_line(file, text);
	}
	for (size_t i = 0; i < summary->repair_count && i < MARKDOWN_ROWS; i++)
		markdown_put_line(file, summary->repairs[i]);
	for (size_t i = 0; i < overview->gap_count; i++) {
		fputs("Not recorded: ", file);
		markdown_put_line(file, overview->gaps[i]);
	}
	if (!overview->loss_count && !overview->gap_count)
		fputs("Lost: nothing.\n\n", file);
	for (size_t i = 0; i < overview->loss_count; i++) {
		fprintf(file, "Lost: %s records: ", dw_text_count((int64_t)overview->losses[i].records).at);
		markdown_put_line(file, overview->losses[i].why);
	}
	if (overview->coverage < 0.9995)
		fprintf(file, "Recorded: %s of this time.\n\n", dw_text_percent(overview->coverage).at);
	markdown_put_machine(summary, file);
	return true;
}
