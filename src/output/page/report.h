/*
 * The HTML report: one file that holds the page and all of its data.
 *
 * `dwell report --format html` writes it. The page (web/, bundled in bundle.html) draws what the data
 * says; it computes no figures of a profile itself. The data is JSON:
 *
 *   {"version":1,"dwell":"0.1.0","trace":{"paths","bytes","created_s","end_ns","live"},
 *    "tables":[a table of each view that the trace has data for],
 *    "steps":{...},"flames":[...],"memory":[...],"environment":[...],"timeline":{...}}
 *
 *   report.c         the file, the list of views
 *   report_table.c   tables
 *   report_series.c  steps, memory over time
 *   report_flame.c   call paths
 *
 * The size of the file is bounded: tables have their first rows, long texts are cut, steps and paths
 * are merged. No text of a trace can end the element that holds the data.
 */
#pragma once

#include "model/model.h"
#include "page/put.h"
#include "table/table.h"

/* Errors of `out` are its own. */
int dw_page_report(struct dw_model *model, struct dw_writer_out *out, struct dwell_error *error);

/* How far a report is, for another thread, which may set `stop`: then the report ends with an error
 * when the panel that is being made is done. All members are atomic. */
struct dw_page_progress {
	unsigned done; /* of DW_PAGE_PROGRESS_ALL */
	bool stop;
};
#define DW_PAGE_PROGRESS_ALL 100u

/* The data alone. `progress` may be NULL. */
int dw_page_report_data(struct dw_model *model, struct dw_page_progress *progress,
                        struct dw_writer_out *out, struct dwell_error *error);

/* ---- the parts of the data; each writes one value of JSON ---------------------------------- */

#define DW_PAGE_MOST_STEPS 2500u
#define DW_PAGE_MOST_PATHS 6000u

/* `title` tells apart tables of one view: "by shape"; or NULL. */
void dw_page_put_table(struct dw_writer_out *out, const struct dwell_table *table, const char *title);
/* Shares and named parts of each step; of runs of neighbours the longest, if there are too many. */
int dw_page_put_steps(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);
int dw_page_put_memory(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);
int dw_page_put_flame(struct dw_writer_out *out, struct dw_model *model, struct dwell_error *error);

extern const char dw_page_bundle[];      /* bundle.html */
extern const char dw_page_script_hash[]; /* of its script: "sha256-..." */
#define DW_PAGE_DATA_MARK "@DWELL_DATA@" /* in its place the data is written */
