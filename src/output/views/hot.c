/*
 * hot: which functions use the CPU? The view waits has the same table.
 *
 * From samples of call stacks. Self is a function's own CPU time, total includes what it calls.
 * Shares are of the CPU time that was sampled in scope. Their interval is for independent samples:
 * few samples have wide ones. Samples are no ranges: times of other views do not contain them.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/samples/cpu_account.h"
#include "model/samples/hot.h"
#include "views/common.h"

static const struct dw_column columns[] = {
	DW_COLUMN("short_name", "function", NONE, TEXT),
	DW_COLUMN("name", "whole name", NONE, TEXT, .data_only = true),
	DW_COLUMN("place", "line", NONE, TEXT),
	DW_COLUMN("self_ns", "self", NS, INT, .not_narrow = true),
	DW_COLUMN("self_share", "self share", RATIO, REAL, .bar = true),
	DW_COLUMN("self_error", "+-", RATIO, REAL),
	DW_COLUMN("total_ns", "total", NS, INT, .not_narrow = true),
	DW_COLUMN("total_share", "total share", RATIO, REAL),
	DW_COLUMN("samples", "samples", COUNT, INT),
	DW_COLUMN("file", "file", NONE, TEXT, .data_only = true),
	DW_COLUMN("line", "line", NONE, INT, .data_only = true),
	DW_COLUMN("module", "library", NONE, TEXT, .data_only = true),
};
#define LEAST_UNSEEN 0.05    /* of the run: less is not worth a sentence, */
#define LEAST_UNSEEN_NS 50e6 /* nor is a shorter time */
#define COLUMNS (sizeof columns / sizeof *columns)

static const struct { const char *name; enum dw_hot_by by; struct dw_column column; } groups[] = {
	{ "line", DW_HOT_LINES, { .name = NULL } },
	{ "thread", DW_HOT_THREADS, DW_COLUMN("thread", "thread", NONE, TEXT) },
	{ "phase", DW_HOT_PHASES, DW_COLUMN("phase", "phase", NONE, TEXT) },
	{ "range", DW_HOT_RANGES, DW_COLUMN("range", "in range", NONE, TEXT) },
	{ "python", DW_HOT_PYTHON, { .name = NULL } },
	{ "holder", DW_HOT_HOLDERS, DW_COLUMN("holder", "held by", NONE, TEXT) },
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
static void hot_put_phase(struct dwell_table *table, struct dw_cell *cell, const struct dw_model *model,
                          const struct dw_sample_row *place)
{
	const struct dw_symbol *symbols = dw_model_symbols((struct dw_model *)(uintptr_t)model, NULL);
	const char *name = place->named != DW_NO_INDEX ? symbols[place->named].name : dw_share_label(place->share);
	char text[300];

	snprintf(text, sizeof text, "%s%.250s",
	         place->where == DW_SAMPLE_IN_STEP || !dw_model_source(model)->step_count ? ""
	         : place->where == DW_SAMPLE_BETWEEN ? "between steps: " : "outside: ", name);
	dw_cell_text(table, cell, text);
}

static void hot_put_groups(struct dwell_table *table, struct dw_cell *row, struct dw_model *model,
                           const struct dw_sample_row *place, unsigned by)
{
	char name[256];
	unsigned at = COLUMNS;

	if (by & DW_HOT_THREADS)
		dw_cell_text(table, &row[at++], dw_view_thread_name(model, place->thread, false, name));
	if (by & DW_HOT_PHASES)
		hot_put_phase(table, &row[at++], model, place);
	if (by & DW_HOT_RANGES)
		dw_cell_text(table, &row[at++], place->range == DW_NO_INDEX ? "(in no range)"
		                                : dw_model_symbols(model, NULL)[place->range].name);
	if (by & DW_HOT_HOLDERS)
		dw_cell_text(table, &row[at++], place->holder == DW_NO_INDEX
		                                    ? "" : dw_view_thread_name(model, place->holder, false, name));
}

static void hot_fill_row(struct dwell_table *table, struct dw_model *model, const struct dw_hot *hot,
                         const struct dw_hot_row *from, unsigned by)
{
	double share = hot->weight ? (double)from->self / (double)hot->weight : 0;
	char place[300], name[500];

	dw_hot_place(from, place, sizeof place);
	DW_TABLE_ROW(table, 0, DW_STRING(dw_hot_name(from, name, sizeof name)), DW_STRING(from->name), DW_STRING(*place ? place : NULL),
	             hot->cpu_ns ? DW_INT(from->self_ns) : DW_EMPTY, DW_REAL(share),
	             DW_REAL(dw_samples_error(share, hot->weight, hot->squares)),
	             hot->cpu_ns ? DW_INT(from->total_ns) : DW_EMPTY, DW_PART(from->total, hot->weight),
	             DW_INT(from->samples), DW_STRING(from->file), from->line ? DW_INT(from->line) : DW_EMPTY, DW_STRING(from->module));
	hot_put_groups(table, dw_table_at(table, table->row_count - 1), model, &from->place, by);
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
		table = dw_view_table(waits ? "waits" : "hot", columns, COLUMNS, error);
	}
	for (size_t i = 0; table && i < GROUPS; i++)
		if (ask.by & groups[i].by && groups[i].column.name)
			dw_table_add_columns(table, &groups[i].column, 1);
	for (size_t i = 0; table && i < hot.count; i++)
		hot_fill_row(table, model, &hot, &hot.rows[i], ask.by);
	if (table) {
		if (!waits)
			hot_add_account(table, model, error);
		DW_TABLE_TOTALS(table, DW_STRING("all"), DW_STRING("all"), DW_EMPTY, hot.cpu_ns ? DW_INT(hot.cpu_ns) : DW_EMPTY, DW_EMPTY, DW_EMPTY,
		                DW_EMPTY, DW_EMPTY, DW_INT(hot.samples));
		dw_table_note(table, "%s by %s samples%s%s; +- is half of the 95%% interval of self share.",
		              waits ? "Time of waiting in functions of libc" : "CPU time", dw_text_count((int64_t)hot.samples).at,
		              method ? ", taken by " : "", method ? method : "");
		if (hot.spun_samples)
			dw_table_note(table, "%s of it by %s samples is CPU time of threads that spin until other threads are ready.",
			              dw_text_ns((double)hot.spun_ns, " ").at, dw_text_count((int64_t)hot.spun_samples).at);
		hot_note_holder(table, model, samples);
		if (waits)
			hot_note_unseen(table, model, samples);
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
	.needs_samples = true, .needs = "samples of call stacks", .remedy = "record with dwell run --sample 100",
};
