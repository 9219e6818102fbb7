/* What the summary of a report holds, and the choice of its form; see report_summary.h. */
#include "report_summary/report_summary.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "views/verdict.h"

static bool collect_is_version(const char *key)
{
	size_t length = strlen(key);

	return length > 8 && strcmp(key + length - 8, ".version") == 0;
}

static void collect_versions(struct dw_report_summary *summary, const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++) {
		const char *key = source->metas[i].key;
		bool known = !collect_is_version(key);

		for (size_t k = 0; k < summary->version_count && !known; k++)
			known = strcmp(summary->versions[k].key, key) == 0;
		if (!known && summary->version_count < DW_REPORT_SUMMARY_ROWS)
			summary->versions[summary->version_count++] =
			    (struct dw_report_summary_entry){ key, dw_source_meta(source, DW_NO_INDEX, key) };
	}
}

static void collect_machine(struct dw_report_summary *summary, const struct dw_source *source)
{
	summary->cpu = dw_source_meta(source, DW_NO_INDEX, "host.cpu");
	summary->cpus = dw_source_meta(source, DW_NO_INDEX, "host.cpus");
	summary->memory = dw_source_meta(source, DW_NO_INDEX, "host.memory");
	summary->kernel = dw_source_meta(source, DW_NO_INDEX, "host.kernel");
	summary->architecture = dw_source_meta(source, DW_NO_INDEX, "host.machine");
}

/* Runs a view. *table is NULL if the trace has no data for it; then the view's remedy is noted. */
static int collect_view(struct dw_report_summary *summary, const char *name,
                        struct dwell_table **table, struct dwell_error *error)
{
	struct dwell_view_options options = { .size = sizeof options, .limit = DW_REPORT_SUMMARY_ROWS };
	const struct dw_view *view = dw_view_find(name, error);
	int code = dw_view_run(view, summary->model, &options, table, error);

	if (code != DWELL_E_NO_DATA || !view->needs)
		return code;
	summary->lacks[summary->lack_count++] = (struct dw_report_summary_lack){
		view->name,
		dw_model_is_partial(summary->model) || dw_model_scope(summary->model)->thread
		    ? "none in this part of the trace"
		    : view->remedy,
	};
	return 0;
}

static int collect_all(struct dw_report_summary *summary, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(summary->model);
	int code = collect_view(summary, "overview", &summary->overview, error);

	if (!code)
		code = collect_view(summary, "operators", &summary->operators, error);
	if (!code)
		code = collect_view(summary, "kernels", &summary->kernels, error);
	if (code)
		return code;
	if (!(summary->facts = dw_facts(summary->model, error)) ||
	    !(summary->steps = dw_model_steps(summary->model, error)) ||
	    !(summary->steady = dw_facts_steady(summary->model, error)) ||
	    !(summary->parts = dw_facts_loop_parts(summary->model, error)) ||
	    dw_view_judge(summary->model, &summary->arena, &summary->verdicts, error))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the summary");
	summary->repairs = dw_model_repairs(summary->model, &summary->repair_count);
	summary->unrecorded_count = dw_source_unrecorded(source, DW_NO_INDEX, summary->unrecorded);
	collect_machine(summary, source);
	collect_versions(summary, source);
	return 0;
}

int dw_report_summary(struct dw_model *model, const char *form, FILE *file, struct dwell_error *error)
{
	struct dw_report_summary summary = { .model = model };
	bool is_json = strcmp(form, "json") == 0;
	int code;

	if (!is_json && strcmp(form, "md") != 0)
		return dw_error_set(error, DWELL_E_NAME, "a summary has the formats json and md, not '%s'", form);
	code = collect_all(&summary, error);
	errno = 0;
	if (!code && !(is_json ? dw_report_summary_json(&summary, file) : dw_report_summary_markdown(&summary, file)))
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory for the summary");
	if (!code && (fflush(file) != 0 || ferror(file)))
		code = dw_error_set(error, errno == ENOSPC ? DWELL_E_NOSPACE : DWELL_E_IO,
		                    "cannot write the summary: %s", strerror(errno ? errno : EIO));
	dw_table_destroy(summary.overview);
	dw_table_destroy(summary.operators);
	dw_table_destroy(summary.kernels);
	dw_arena_reset(&summary.arena);
	return code;
}
