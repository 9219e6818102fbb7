/*
 * hot: which functions use the CPU? The view waits has the same table.
 *
 * From samples of call stacks. Self is a function's own CPU time, total includes what it calls.
 * Shares are of the CPU time that was sampled in scope. Their interval is for independent samples:
 * few samples have wide ones. Samples are no ranges: times of other views do not contain them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/code/activity.h"
#include "base/code/code_names.h"
#include "base/error.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/samples/cpu_account.h"
#include "model/samples/hot.h"
#include "views/columns.h"

#define LEAST_UNSEEN 0.05    /* of the run: less is not worth a sentence, */
#define LEAST_UNSEEN_NS 50e6 /* nor is a shorter time */

struct hot_row {
	const char *short_name, *name, *place, *file, *module, *thread, *phase, *range, *holder;
	struct dw_cell self_ns, self_share, self_error, total_ns, total_share, samples, line;
};

#define BY(groups) ((unsigned)(groups)*DW_HAS_OWN) /* enum dw_hot_by as what a table has */

static const struct dw_column columns[] = {
	DW_FIELD(struct hot_row, short_name, "function", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct hot_row, name, "whole name", NONE, TEXT, .data_only = true, .total_text = "all"),
	DW_FIELD(struct hot_row, place, "line", NONE, TEXT),
	DW_FIELD(struct hot_row, self_ns, "self", NS, INT, .not_narrow = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct hot_row, self_share, "self share", RATIO, REAL, .bar = true, .sums = "self_ns"),
	DW_FIELD(struct hot_row, self_error, "+-", RATIO, REAL, .of = "the CPU time in scope"),
	DW_FIELD(struct hot_row, total_ns, "total", NS, INT, .not_narrow = true),
	DW_FIELD(struct hot_row, total_share, "total share", RATIO, REAL, .sums = "total_ns"),
	DW_FIELD(struct hot_row, samples, "samples", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct hot_row, file, "file", NONE, TEXT, .data_only = true),
	DW_FIELD(struct hot_row, line, "line", NONE, INT, .data_only = true),
	DW_FIELD(struct hot_row, module, "library", NONE, TEXT, .data_only = true),
	DW_FIELD(struct hot_row, thread, "thread", NONE, TEXT, .only = BY(DW_HOT_THREADS)),
	DW_FIELD(struct hot_row, phase, "phase", NONE, TEXT, .only = BY(DW_HOT_PHASES)),
	DW_FIELD(struct hot_row, range, "in range", NONE, TEXT, .only = BY(DW_HOT_RANGES)),
	DW_FIELD(struct hot_row, holder, "held by", NONE, TEXT, .only = BY(DW_HOT_HOLDERS)),
};
const struct dw_column_list dw_view_sampled_columns = DW_COLUMN_LIST(columns);

static const struct {
	const char *name;
	enum dw_hot_by by;
} groups[] = {
	{ "line", DW_HOT_LINES },   { "thread", DW_HOT_THREADS }, { "phase", DW_HOT_PHASES },
	{ "range", DW_HOT_RANGES }, { "python", DW_HOT_PYTHON },  { "holder", DW_HOT_HOLDERS },
};
#define GROUPS (sizeof groups / sizeof *groups)

/* --group-by: a list of names of groups. */
static int hot_parse_groups(const char *list, unsigned *by, struct dwell_error *error)
{
	*by = 0;
	for (const char *at = list; at && *at; at += *at == ',') {
		size_t length = strcspn(at, ","), i = 0;

		while (i < GROUPS && (strlen(groups[i].name) != length || strncmp(groups[i].name, at, length) != 0))
			i++;
		if (i == GROUPS)
			return dw_error_set(error, DWELL_E_NAME,
			                    "this view has no group '%.*s'; there are: line, thread, phase, range, python, holder",
			                    length < 60 ? (int)length : 60, at);
		*by |= groups[i].by;
		at += length;
	}
	return 0;
}

/* "forward", "between steps: data" */
static const char *hot_phase(struct dw_model *model, const struct dw_sample_row *place, char text[300])
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const char *name = place->named != DW_NO_INDEX ? symbols[place->named].name : dw_share_label(place->share);

	snprintf(text, 300, "%s%.250s",
	         place->where == DW_SAMPLE_IN_STEP || !dw_model_source(model)->step_count ? ""
	         : place->where == DW_SAMPLE_BETWEEN                                      ? "between steps: "
	         : place->where == DW_SAMPLE_AFTER                                        ? "end: "
	                                                                                  : "outside: ",
	         name);
	return text;
}

static void hot_fill_row(struct dwell_table *table, struct dw_model *model, const struct dw_hot *hot,
                         const struct dw_hot_row *from, unsigned by)
{
	bool by_ns = hot->waits && hot->cpu_ns;
	double whole = by_ns ? (double)hot->cpu_ns : (double)hot->weight;
	double share = whole > 0 ? (double)(by_ns ? from->self_ns : from->self) / whole : 0;
	const struct dw_sample_row *at = &from->place;
	char place[300], name[500], thread[256], phase[300], holder[256];
	struct hot_row row = { .short_name = dw_hot_name(from, name, sizeof name),
		                   .name = from->name,
		                   .file = from->file,
		                   .module = from->module,
		                   .self_share = DW_REAL(share),
		                   .samples = DW_INT(from->samples),
		                   .self_error = DW_REAL(dw_samples_error(share, hot->weight, hot->squares)),
		                   .total_share = DW_PART(by_ns ? from->total_ns : from->total, by_ns ? hot->cpu_ns : hot->weight),
		                   .line = from->line ? DW_INT(from->line) : DW_EMPTY };

	dw_hot_place(from, place, sizeof place);
	row.place = *place ? place : NULL;
	if (hot->cpu_ns) {
		row.self_ns = DW_INT(from->self_ns);
		row.total_ns = DW_INT(from->total_ns);
	}
	if (by & DW_HOT_THREADS)
		row.thread = dw_view_thread_name(model, at->thread, false, thread);
	if (by & DW_HOT_PHASES)
		row.phase = hot_phase(model, at, phase);
	if (by & DW_HOT_RANGES)
		row.range = at->range == DW_NO_INDEX ? "(in no range)" : dw_model_symbols(model, NULL)[at->range].name;
	if (by & DW_HOT_HOLDERS)
		row.holder = at->holder == DW_NO_INDEX ? "" : dw_view_thread_name(model, at->holder, false, holder);
	dw_table_put(table, 0, &row, sizeof row);
}

/* The thread that had the locks for most of the time that others waited for them. */
static void hot_note_holder(struct dwell_table *table, struct dw_model *model, const struct dw_samples *samples)
{
	const struct dw_source *source = dw_model_source(model);
	uint64_t *held = calloc(source->thread_count + 1, sizeof *held), all = 0;
	uint32_t most = 0;
	char name[256];

	for (size_t i = 0; held && i < samples->count; i++)
		if (samples->rows[i].holder != DW_NO_INDEX) {
			held[samples->rows[i].holder] += samples->rows[i].cpu_ns;
			all += samples->rows[i].cpu_ns;
		}
	for (uint32_t i = 0; held && i < source->thread_count; i++)
		most = held[i] > held[most] ? i : most;
	if (all)
		dw_table_note(table, "%s of waiting was for locks that another thread had, %s of it for %s: --group-by holder.",
		              dw_text_ns((double)all, " ").at, dw_text_percent((double)held[most] / (double)all).at,
		              dw_view_thread_name(model, most, false, name));
	free(held);
}

static void hot_note_lacks(struct dwell_table *table, const struct dw_model *model, const struct dw_samples *samples, bool waits)
{
	const struct dw_source *source = dw_model_source(model);

	if (samples->unread)
		dw_table_note(table, "%s of the samples had a stack that could not be read.",
		              dw_text_percent((double)samples->unread / (double)samples->samples).at);
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, DW_KEY_SAMPLE_KERNEL_LACKS) == 0)
			dw_table_note(table, "Functions of the kernel: %s.", source->metas[i].value);
		else if (waits && strcmp(source->metas[i].key, DW_KEY_SAMPLE_LACKS) == 0)
			dw_table_note(table, "Process %u: %s.", source->processes[source->metas[i].process].pid,
			              source->metas[i].value);
		else if (strcmp(source->metas[i].key, DW_KEY_SAMPLE_NAMES_LACK) == 0)
			dw_table_note(table, "Names of code made at run time: %s.", source->metas[i].value);
}

/* Code that the program made at run time, and did not name. */
static void hot_note_made(struct dwell_table *table, const struct dw_hot *hot)
{
	for (size_t i = 0; i < hot->count; i++)
		if (hot->rows[i].self && dw_code_is_made(hot->rows[i].name)) {
			dw_table_note(table, "[jit] is code that the program made at run time. It has names if the program writes them to "
			                     "/tmp/perf-PID.map or jit-PID.dump, as node --perf-basic-prof does, and leaves the file until "
			                     "the run has ended.");
			return;
		}
}

/* Functions within the C library that are in no table of its file, as those that malloc() calls. */
static void hot_note_nameless(struct dwell_table *table, const struct dw_hot *hot)
{
	for (size_t i = 0; i < hot->count; i++)
		if (hot->rows[i].self && hot->rows[i].module && dw_code_is_nameless(hot->rows[i].name) &&
		    dw_library_role_of(hot->rows[i].module) == DW_LIBRARY_SYSTEM) {
			dw_table_note(table, "Functions of the C library as %s have names where its debug symbols are installed before "
			                     "the run (Debian: libc6-dbg; Fedora: glibc-debuginfo).", hot->rows[i].name);
			return;
		}
}

/* The first thread of the program that `dwell run` started, if it has ended and its CPU time is known. */
static const struct dw_source_thread *hot_main_thread(const struct dw_source *source)
{
	const struct dw_source_thread *found = NULL;

	for (size_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];
		const struct dw_source_process *process = &source->processes[thread->process];

		if (thread->tid == process->pid && thread->cpu_ns && thread->end &&
		    (!found || process->start_ns < source->processes[found->process].start_ns))
			found = thread;
	}
	return found;
}

/* Time off the CPU that no row of waits has. */
static void hot_note_unseen(struct dwell_table *table, struct dw_model *model, const struct dw_samples *samples)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = dw_model_is_partial(model) ? NULL : hot_main_thread(source);
	double wall = dw_view_meta_number(source, DW_KEY_WALL_NS), delay = dw_view_meta_number(source, DW_KEY_DELAY_NS);
	double off, waited = 0;

	if (!thread || !isfinite(wall) || dw_model_scope(model)->thread)
		return;
	off = wall - (double)thread->cpu_ns - (isfinite(delay) ? delay : 0);
	for (size_t i = 0; i < samples->count; i++)
		if (&source->threads[samples->rows[i].thread] == thread)
			waited += (double)samples->rows[i].cpu_ns;
	if (off - waited >= LEAST_UNSEEN * wall && off - waited >= LEAST_UNSEEN_NS)
		dw_table_note(table, "%s of the %s that the main thread waited are in no row: waits for pages of memory, within libc or "
		                     "other libraries that wait without it, and in system calls that the program makes itself.",
		              dw_text_ns(off - waited, " ").at, dw_text_ns(off, " ").at);
}

/* What the rows do not contain. */
static void hot_add_account(struct dwell_table *table, struct dw_model *model, struct dwell_error *error)
{
	dw_view_state_gaps(table, model);
	for (size_t i = 0; i < table->gap_count; i++)
		dw_table_note(table, "Not recorded: %s.", table->gaps[i]);
	if (!dw_model_is_partial(model) && !dw_model_scope(model)->thread)
		table->next = dw_view_cpu_account(model, error);
}

/* Whether the account of CPU time has something to say, also if there are no samples. */
static bool hot_has_account(struct dw_model *model)
{
	const struct dw_cpu_account *account = NULL;

	if (!dw_model_is_partial(model) && !dw_model_scope(model)->thread)
		account = dw_model_cpu_account(model, NULL);
	return account && account->missing_ns;
}

struct dwell_table *dw_view_sampled(struct dw_model *model, const struct dwell_view_options *options, bool waits,
                                    struct dwell_error *error)
{
	const struct dw_samples *samples = waits ? dw_model_wait_samples(model, error) : dw_model_samples(model, error);
	struct dw_hot_ask ask = { .waits = waits };
	const char *method = waits ? NULL : dw_view_meta(dw_model_source(model), DW_KEY_SAMPLE_METHOD);
	struct dwell_table *table = NULL;
	struct dw_hot hot;

	if (!samples || hot_parse_groups(options->group_by, &ask.by, error))
		return NULL;
	if (!dw_hot_make(&hot, model, &ask)) {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	} else if (!hot.count && (waits || !hot_has_account(model))) {
		char name[256];

		dw_error_set(error, DWELL_E_NO_DATA, "%s has no samples%s in these steps, this thread or this time",
		             dw_view_trace_name(model, name), waits ? " of waits" : "");
	} else {
		table = DW_VIEW_CHOOSE(waits ? "waits" : "hot", columns, BY(ask.by), error);
	}
	for (size_t i = 0; table && i < hot.count; i++)
		hot_fill_row(table, model, &hot, &hot.rows[i], ask.by);
	if (table) {
		if (!waits)
			hot_add_account(table, model, error);
		DW_TABLE_PUT_TOTALS(table, struct hot_row, .self_ns = hot.cpu_ns ? DW_INT(hot.cpu_ns) : DW_EMPTY,
		                    .samples = DW_INT(hot.samples));
		dw_table_note(table, "%s by %s samples%s%s; +- is half of the 95%% interval of self share.",
		              waits ? "Time of waiting in functions of libc" : "CPU time", dw_text_count((int64_t)hot.samples).at,
		              method ? ", taken by " : "", method ? method : "");
		if (hot.spun_samples)
			dw_table_note(table, "%s of it by %s samples is CPU time of threads that spin until other threads are ready.",
			              dw_text_ns((double)hot.spun_ns, " ").at, dw_text_count((int64_t)hot.spun_samples).at);
		hot_note_holder(table, model, samples);
		if (waits)
			hot_note_unseen(table, model, samples);
		if (!waits) {
			hot_note_nameless(table, &hot);
			hot_note_made(table, &hot);
		}
		hot_note_lacks(table, model, samples, waits);
	}
	dw_hot_reset(&hot);
	return table;
}

static struct dwell_table *hot_view(struct dw_model *model, const struct dwell_view_options *options,
                                    struct dwell_error *error)
{
	return dw_view_sampled(model, options, false, error);
}

const struct dw_view dw_view_hot = {
	.name = "hot", .question = "which functions use the CPU?",
	.run = hot_view, .takes = DW_VIEW_TAKES(group_by), .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.tables = DW_VIEW_TABLES(&dw_view_sampled_columns, &dw_view_cpu_account_columns),
	.needs_samples = true, .needs = "samples of call stacks", .remedy = "record with dwell run --sample 100",
};
