/*
 * The summary of a report: what `dwell report --summary` prints for programs and for pull requests.
 *
 *     views, rules, facts, metadata -> struct dw_report_summary -> JSON or Markdown
 *
 * It holds the verdicts with their evidence, the parts of a step, the largest operators and
 * kernels, what was not measured and why, losses, the machine and versions. Every list and every
 * text is bounded, so that a summary of any trace has at most DW_REPORT_SUMMARY_BYTES; what was
 * left out is counted. doc/reference/machine-summary.md describes the keys; a key does not change its meaning
 * within one DW_REPORT_SUMMARY_VERSION.
 *
 * src/analysis/summary is something else: what the steps of a rank took, for `dwell ranks`.
 */
#pragma once

#include "model/steps/steps.h"
#include "read/unrecorded.h"
#include "rules/rules.h"
#include "table/table.h"

#define DW_REPORT_SUMMARY_VERSION 1
#define DW_REPORT_SUMMARY_BYTES 65536u
#define DW_REPORT_SUMMARY_ROWS 20u /* most entries of a list */

/* A kind of data that the trace does not have, with the remedy of the view that shows it. */
struct dw_report_summary_lack {
	const char *view, *why;
};

/* A version or a quantity of the machine, from the metadata. */
struct dw_report_summary_entry {
	const char *key, *value;
};

struct dw_report_summary {
	struct dw_arena arena;
	struct dw_model *model;
	const struct dw_facts *facts;
	const struct dw_steps *steps;   /* `count` is 0 if the trace has no steps */
	const struct dw_steady *steady;    /* how many steps are steady */
	const struct dw_loop_parts *parts; /* where the time of the loop goes */
	struct dw_verdicts verdicts;
	/* Answers of views. The overview also states scope, coverage and losses. The others have at
	 * most DW_REPORT_SUMMARY_ROWS rows; NULL: the trace has no such data. */
	struct dwell_table *overview, *operators, *kernels;
	struct dw_report_summary_lack lacks[2];
	size_t lack_count;
	struct dw_unrecorded unrecorded[DW_UNRECORDED_MOST]; /* libraries that the program used */
	size_t unrecorded_count;
	const char *cpu, *cpus, *memory, *kernel, *architecture; /* of the machine; NULL: not known */
	struct dw_report_summary_entry versions[DW_REPORT_SUMMARY_ROWS];
	size_t version_count;
	const char *const *repairs;     /* sentences about damage of the trace */
	size_t repair_count;
};

/* `form` is "json" or "md". Errors: DWELL_E_NAME, DWELL_E_NOMEM, DWELL_E_IO, DWELL_E_NOSPACE. */
int dw_report_summary(struct dw_model *model, const char *form, FILE *file, struct dwell_error *error);

/* ---- for the files of this folder ---------------------------------------------------------- */

/* The part of a view with this name; NULL if `table` is. */
const struct dwell_table *dw_report_summary_part(const struct dwell_table *table, const char *part);
/* The row's cell of the column with this name, which the table must have; NULL if it is empty. */
const struct dw_cell *dw_report_summary_cell(const struct dwell_table *table, size_t row, const char *column);
/* A copy of the text of at most `most` bytes, with "..." at its end if it was cut. `cost` tells how
 * many bytes a code point takes in the output. */
const char *dw_report_summary_cut(const char *text, size_t most, unsigned (*cost)(uint32_t code),
                                  char *to, size_t size);
/* "loader wait, train.py:41": what belongs to a fact; "" if nothing does. */
const char *dw_report_summary_what(const struct dw_fact *fact, char *to, size_t size);
/* Both write to `file`; the caller checks it for errors. False: out of memory. */
bool dw_report_summary_json(const struct dw_report_summary *summary, FILE *file);
bool dw_report_summary_markdown(const struct dw_report_summary *summary, FILE *file);
