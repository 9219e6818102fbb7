/* Shared parts of the views: names, columns, and the model of the counted steps; see common.h. */
#include <math.h>
#include <stdlib.h>

#include "base/code/activity.h"
#include "base/error.h"
#include "base/text.h"
#include "format/keys.h"
#include "views/common.h"

struct dwell_table *dw_view_table(const char *view, const struct dw_column *columns, size_t count,
                                  struct dwell_error *error)
{
	struct dwell_table *table = dw_table_create(view, columns, count);

	if (!table)
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the %s view", view);
	return table;
}

struct dwell_table *dw_view_chain(struct dwell_table *first, struct dwell_table *next)
{
	struct dwell_table *last = first;

	while (last && last->next)
		last = last->next;
	if (last && next) {
		last->next = next;
		return first;
	}
	dw_table_destroy(first);
	dw_table_destroy(next);
	return NULL;
}

/* ---- names ----------------------------------------------------------------------------- */

const char *dw_view_trace_name(const struct dw_model *model, char buffer[256])
{
	const struct dw_source *source = dw_model_source(model);

	if (source->file_count == 1)
		return source->files[0].path;
	snprintf(buffer, 256, "%.200s and %zu more", source->files[0].path, source->file_count - 1);
	return buffer;
}

const char *dw_view_thread_name(const struct dw_model *model, uint32_t thread, bool nested, char buffer[256])
{
	char name[224];

	dw_model_thread_name(model, thread, name, sizeof name);
	snprintf(buffer, 256, "%s%s", name, nested ? ", in signal handlers" : "");
	return buffer;
}

const char *dw_view_function_name(const char *name, char buffer[256])
{
	if (!dw_code_is_nameless(name))
		return name;
	snprintf(buffer, 256, "code without a name in %.*s", (int)strcspn(name, "+"), name);
	return buffer;
}

const char *dw_view_category(uint32_t category)
{
	return dw_category_name(category) ? dw_category_name(category) : "unknown";
}

size_t dw_view_parts(const struct dw_step_part *parts, size_t part_count, const uint64_t *share_ns,
                     const struct dw_symbol *symbols, struct dw_view_part *to)
{
	size_t count = 0;

	for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
		if (i != DW_SHARE_NAMED && i != DW_SHARE_OTHER && share_ns[i])
			to[count++] = (struct dw_view_part){ dw_share_label((enum dw_share)i), share_ns[i],
			                                     false };
	for (size_t i = 0; i < part_count; i++)
		if (parts[i].ns)
			to[count++] = (struct dw_view_part){ symbols[parts[i].symbol].name, parts[i].ns, true };
	for (size_t i = 1; i < count; i++)
		for (size_t at = i; at && to[at].ns > to[at - 1].ns; at--) {
			struct dw_view_part part = to[at];

			to[at] = to[at - 1];
			to[at - 1] = part;
		}
	if (share_ns[DW_SHARE_OTHER])
		to[count++] = (struct dw_view_part){ dw_share_label(DW_SHARE_OTHER),
			                                 share_ns[DW_SHARE_OTHER], false };
	return count;
}


/* ---- what a trace says of itself --------------------------------------------------------- */

const char *dw_view_meta(const struct dw_source *source, const char *key)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, key) == 0)
			return source->metas[i].value;
	return NULL;
}

/* The last value of a key that one process alone has; else NULL. */
static const char *view_only_meta(const struct dw_source *source, const char *key)
{
	const struct dw_source_meta *found = NULL;

	for (size_t i = 0; i < source->meta_count; i++) {
		if (strcmp(source->metas[i].key, key) != 0)
			continue;
		if (found && found->process != source->metas[i].process)
			return NULL;
		found = &source->metas[i];
	}
	return found ? found->value : NULL;
}

const char *dw_view_loss_text(const struct dw_source *source, size_t cause)
{
	const char *said = cause == DW_LOSS_IMPORT ? dw_view_meta(source, DW_KEY_IMPORT_LOST)
	                   : cause == DW_LOSS_DEVICE ? view_only_meta(source, DW_KEY_CUDA_LOST) : NULL;

	if (said)
		return said;
	return dw_loss_text(cause) ? dw_loss_text(cause) : "a cause that this version does not know";
}

double dw_view_meta_number(const struct dw_source *source, const char *key)
{
	double number = NAN;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, key) == 0)
			number = strtod(source->metas[i].value, NULL);
	return number;
}

bool dw_view_is_python(const struct dw_source *source)
{
	for (size_t i = 0; i < source->process_count; i++)
		if (source->processes[i].flags & DW_PROCESS_PYTHON)
			return true;
	return false;
}

/* ---- a sentence on steps ----------------------------------------------------------------- */

void dw_view_write_where(const struct dw_steps *steps, char *to, size_t size)
{
	to[0] = '\0';
	if (steps->thread_count > steps->process_count && steps->process_count > 1)
		snprintf(to, size, " of %zu threads in %zu processes", steps->thread_count, steps->process_count);
	else if (steps->thread_count > steps->process_count)
		snprintf(to, size, " of %zu threads", steps->thread_count);
	else if (steps->thread_count > 1)
		snprintf(to, size, " of %zu processes", steps->thread_count);
}

/* Adds a sentence on which steps the figures per step are about, unless they are about all. */
static void view_head_counted(struct dwell_table *table, const struct dw_steps *steps)
{
	bool some = steps->recorded_count > 0, one = steps->recorded_count == 1;
	bool newest = steps->count && steps->summed_from < steps->steps[0].number;
	uint64_t single = newest ? steps->steps[0].number : steps->summed_from ? steps->summed_from - 1 : 0;

	if (steps->open_count == steps->count)
		dw_table_say(table, DW_LABEL_NOTE, "No step ended: the figures are of the recorded part of %s.",
		              steps->count == 1 ? "it" : "them");
	else if (steps->open_count)
		dw_table_say(table, DW_LABEL_NOTE, "%s more step%s did not end and %s not counted.",
		              dw_text_count((int64_t)steps->open_count).at, dw_text_plural(steps->open_count),
		              steps->open_count == 1 ? "is" : "are");
	if (steps->summed_count)
		dw_table_say(table, DW_LABEL_NOTE, "The trace holds single steps %s step %llu and summaries of those "
		                     "%s it; percentiles and figures per step are of the single steps.",
		              newest ? "from" : "up to", (unsigned long long)single, newest ? "before" : "after");
	if (steps->cut_count && some)
		dw_table_say(table, DW_LABEL_NOTE, "Records are missing in %s step%s; the figures are of the %s step%s "
		              "without missing records.",
		              dw_text_count((int64_t)steps->cut_count).at, dw_text_plural(steps->cut_count),
		              dw_text_count((int64_t)steps->recorded_count).at, one ? "" : "s");
	else if (steps->cut_count)
		dw_table_say(table, DW_LABEL_NOTE, "Records are missing in %s: there are no figures per step.",
		              steps->count == 1 ? "it" : "all of them");
	else if (steps->reduced_count)
		dw_table_say(table, DW_LABEL_NOTE, "Operators and layers were recorded in %s of the steps, chosen at random so that "
		                     "recording costs little (--cost full: in all); the figures are of these.",
		              dw_text_count((int64_t)steps->recorded_count).at);
	else if (steps->recorded_count < steps->ended_count)
		dw_table_say(table, DW_LABEL_NOTE, "%s of the steps %s recorded; the figures are of %s.",
		              dw_text_count((int64_t)steps->recorded_count).at, one ? "was" : "were", one ? "it" : "them");
}

const char *dw_view_program(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_steps *steps = source->step_count ? dw_model_steps(model, NULL) : NULL;
	const struct dw_facts *facts = steps && steps->count ? NULL : dw_facts(model, NULL);
	uint32_t thread = steps && steps->count ? steps->threads[0] : facts ? facts->thread : DW_NO_INDEX, process = 0;

	if (thread < source->thread_count)
		process = source->threads[thread].process;
	while (process + 1 < source->process_count && source->processes[process].flags & DW_PROCESS_RUNNER)
		process++;
	return source->process_count ? source->processes[process].label : "";
}

const char *dw_view_uncaught(const struct dw_source *source)
{
	const char *text = dw_source_meta(source, DW_NO_INDEX, DW_KEY_PYTHON_UNCAUGHT);

	return text ? text : "";
}

void dw_view_head_steps(struct dwell_table *table, const struct dw_steps *steps, const char *program, double like_ns, double of_run)
{
	const struct dw_iteration_times *times = &steps->iterations;
	double mean_ns = (double)times->mean_ns;
	size_t threads = steps->thread_count > 1 ? steps->thread_count : 1;
	char where[96], mean[60], p99[60] = "", run[60] = "";

	like_ns = like_ns > 0 ? like_ns : mean_ns;
	dw_view_write_where(steps, where, sizeof where);
	snprintf(mean, sizeof mean, "%s %s", dw_text_ns_like(mean_ns, like_ns).at, dw_text_ns_unit(like_ns));
	snprintf(p99, sizeof p99, ", p99 %s", dw_text_ns_like((double)times->p99_ns, like_ns).at);
	if (of_run > 0)
		snprintf(run, sizeof run, ", %s of the run", dw_text_percent(of_run).at);
	dw_table_head(table, "%s%s step%s%s in %s%s%s, %s a step (p50 %s, p95 %s%s).", program,
	              dw_text_count((int64_t)times->steps).at, dw_text_plural(times->steps), where,
	              dw_text_ns((double)times->loop_ns / (double)threads, " ").at, threads > 1 ? " each" : "", run, mean,
	              dw_text_ns_like((double)times->p50_ns, like_ns).at, dw_text_ns_like((double)times->p95_ns, like_ns).at,
	              *program ? "" : p99);
	view_head_counted(table, steps);
}

/* ---- columns --------------------------------------------------------------------------------- */

uint64_t dw_view_whole(struct dwell_table *table, const char *column, const struct dw_flat *flat, uint64_t wall_ns,
                       bool of_rows)
{
	uint64_t self_ns = 0, most_ns = 0;

	for (size_t i = 0; i < flat->count; i++) {
		uint64_t row_ns = flat->rows[i].stat.self_ns;

		self_ns += row_ns;
		most_ns = row_ns > most_ns ? row_ns : most_ns;
	}
	if ((of_rows ? most_ns : self_ns) <= wall_ns)
		return wall_ns;
	dw_table_named(table, column)->label = "of all";
	return self_ns;
}

void dw_view_note_open(struct dwell_table *table, uint64_t open)
{
	if (open)
		dw_table_note(table, "%s call%s did not end; counted until the end of %s process.",
		              dw_text_count((int64_t)open).at, dw_text_plural(open), open == 1 ? "its" : "their");
}

void dw_view_note_calls(struct dwell_table *table, const struct dw_flat *flat)
{
	uint64_t open = 0, cut = 0;

	for (size_t i = 0; i < flat->count; i++) {
		open += flat->rows[i].stat.open;
		cut += flat->rows[i].stat.cut;
	}
	dw_view_note_open(table, open);
	if (cut)
		dw_table_note(table, "%s call%s ended where the trace was overwritten; counted until there.",
		              dw_text_count((int64_t)cut).at, dw_text_plural(cut));
	if (flat->orphans)
		dw_table_note(table, "%s end%s without a begin, which was overwritten or ended before: not "
		              "counted.", dw_text_count((int64_t)flat->orphans).at, dw_text_plural(flat->orphans));
}
