/*
 * One look at a trace that is being written: figures of its last seconds, and a view of them.
 *
 * The trace is opened anew for each look. Only chunks of the window are decoded, so the cost does not
 * grow with the run, except for the lists of its chunks, names and steps.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/system/clock.h"
#include "facts/facts.h"
#include "model/core/open.h"
#include "read/unrecorded.h"
#include "top/use.h"
#include "views/common.h"

#define LOOK_LEAST_STEPS 3u              /* that a window covers, if the run has them */
#define LOOK_MOST_WINDOW_NS 3600000000000u
#define LOOK_SILENT_NS 2000000000u       /* from here on the open ranges are worth a walk */
#define LOOK_OPEN 8u

struct look {
	const struct dw_top_request *request;
	const struct dw_top_look *before;
	struct dw_top_look *look;
	struct dw_source *source;
	uint64_t now_ns;       /* on the run's time line */
};

/* ---- the run ------------------------------------------------------------------------------------- */

/* The process that the screen is named after: that of the steps, or the first one that is not `dwell
 * run`. `thread`: with the steps, or DW_NO_INDEX. */
static const struct dw_source_process *look_main(const struct dw_source *source, uint32_t thread)
{
	if (thread != DW_NO_INDEX)
		return &source->processes[source->threads[thread].process];
	for (size_t i = 0; i < source->process_count; i++)
		if (!(source->processes[i].flags & DW_PROCESS_RUNNER))
			return &source->processes[i];
	return source->process_count ? &source->processes[0] : NULL;
}

static uint32_t look_main_thread(const struct dw_source *source)
{
	const struct dw_source_process *process = look_main(source, DW_NO_INDEX);

	for (uint32_t i = 0; i < source->thread_count; i++)
		if (&source->processes[source->threads[i].process] == process && source->threads[i].tid == process->pid)
			return i;
	return 0;
}

static void look_name(struct look *at, uint32_t thread)
{
	const struct dw_source_process *process = look_main(at->source, thread);
	char rank[48] = "", others[48] = "";
	size_t count = 0;

	if (!process)
		return;
	for (size_t i = 0; i < at->source->process_count; i++)
		count += !(at->source->processes[i].flags & DW_PROCESS_RUNNER);
	if (process->rank >= 0 && process->world_size > 1)
		snprintf(rank, sizeof rank, "rank %d of %d, ", process->rank, process->world_size);
	if (count > 1)
		snprintf(others, sizeof others, " and %zu more process%s", count - 1, count == 2 ? "" : "es");
	snprintf(at->look->program, sizeof at->look->program, "%s", process->label);
	snprintf(at->look->where, sizeof at->look->where, "%spid %u%s", rank, process->pid, others);
}

/* Whether `dwell run` alone has written yet: its program starts, or waits before its first record. */
static bool look_begins(const struct dw_source *source)
{
	bool lives = false;

	for (size_t i = 0; i < source->process_count; i++) {
		if (!(source->processes[i].flags & DW_PROCESS_RUNNER))
			return false;
		lives |= kill((pid_t)source->processes[i].pid, 0) == 0 || errno == EPERM;
	}
	return lives;
}

static void look_time(struct look *at)
{
	const struct dw_source *source = at->source;
	const struct dw_source_file *file = &source->files[0];
	struct dw_top_look *look = at->look;

	look->begins = look_begins(source);
	look->live = source->live || look->begins;
	look->last_ns = source->end_ns;
	at->now_ns = source->end_ns;
	/* A live trace is of this machine, so its clock can be read here. */
	if (look->live) {
		uint64_t now_ns = dw_source_ns(&file->clock, dw_clock_read(file->head->clock_kind));

		at->now_ns = now_ns > at->now_ns ? now_ns : at->now_ns;
		look->silent_ns = at->now_ns - source->end_ns;
	}
	look->run_ns = at->now_ns;
	look->machine_ns = dw_clock_monotonic_ns();
	for (size_t i = 0; i < source->file_count; i++)
		look->size_bytes += source->files[i].size_bytes;
}

static void look_losses(struct look *at)
{
	uint64_t most = 0;

	for (size_t i = 0; i < DW_LOSS_COUNT; i++) {
		uint64_t lost = at->source->lost[i];

		at->look->lost += lost;
		if (lost > most) {
			most = lost;
			at->look->lost_cause = dw_loss_text(i);
		}
	}
}

static void look_unrecorded(struct look *at)
{
	struct dw_unrecorded list[DW_UNRECORDED_MOST];
	size_t count = dw_source_unrecorded(at->source, DW_NO_INDEX, list), used = 0;
	struct dw_top_look *look = at->look;

	for (size_t i = 0; i < count && used < sizeof look->unrecorded; i++)
		used += (size_t)snprintf(look->unrecorded + used, sizeof look->unrecorded - used, "%s%s", i ? ", " : "",
		                         list[i].label);
}

static void look_use(struct look *at)
{
	struct dw_top_look *look = at->look;
	const struct dw_top_look *before = at->before;

	look->cpus = -1; /* not known */
	for (size_t i = 0; i < at->source->process_count; i++) {
		const struct dw_source_process *process = &at->source->processes[i];

		if (process->alive && !(process->flags & DW_PROCESS_RUNNER))
			dw_top_use_add(&look->use, process->pid);
	}
	if (before && before->use.processes && look->use.cpu_ns >= before->use.cpu_ns &&
	    look->machine_ns > before->machine_ns)
		look->cpus = (double)(look->use.cpu_ns - before->use.cpu_ns) / (double)(look->machine_ns - before->machine_ns);
	else if (!before && look->run_ns)
		look->cpus = (double)look->use.cpu_ns / (double)look->run_ns;
}

/* ---- its steps ----------------------------------------------------------------------------------- */

/* The thread whose steps are counted: the one with the most. DW_NO_INDEX: the run has no steps. */
static uint32_t look_step_thread(const struct dw_source *source, uint64_t *count)
{
	uint64_t *counts = calloc(source->thread_count + 1, sizeof *counts);
	uint32_t best = DW_NO_INDEX;

	*count = 0;
	for (size_t i = 0; counts && i < source->step_count; i++)
		counts[source->steps[i].thread]++;
	for (size_t i = 0; counts && i < source->step_summary_count; i++)
		counts[source->step_summaries[i].thread] += source->step_summaries[i].count;
	for (uint32_t i = 0; counts && i < source->thread_count; i++) {
		if (counts[i] <= *count)
			continue;
		*count = counts[i];
		best = i;
	}
	free(counts);
	return best;
}

/* Makes the window long enough for the last few steps. */
static uint64_t look_window(const struct look *at, uint32_t thread)
{
	uint64_t window_ns = at->request->window_ns, starts[LOOK_LEAST_STEPS] = { 0 };
	unsigned found = 0;

	if (!window_ns)
		return at->now_ns;
	for (size_t i = at->source->step_count; thread != DW_NO_INDEX && i-- && found < LOOK_LEAST_STEPS;)
		if (at->source->steps[i].thread == thread && !at->source->steps[i].open)
			starts[found++] = at->source->steps[i].start_ns;
	if (found == LOOK_LEAST_STEPS && at->now_ns - starts[found - 1] > window_ns)
		window_ns = at->now_ns - starts[found - 1] + 1;
	if (window_ns > LOOK_MOST_WINDOW_NS)
		window_ns = LOOK_MOST_WINDOW_NS;
	return window_ns < at->now_ns ? window_ns : at->now_ns;
}

/* The least length that a part `q` of the steps do not exceed, as in reports. */
static uint64_t look_quantile(const uint64_t *sorted, size_t count, double q)
{
	return sorted[(size_t)fmax(1, ceil(q * (double)count)) - 1];
}

/* Rate, mean and quantiles of the steps that ended in the window, from their entries alone. A step takes until the next one begins,
 * the last one until its end; that is in no quantile. */
static void look_steps(struct look *at, uint32_t thread)
{
	struct dw_top_look *look = at->look;
	uint64_t from_ns = at->now_ns - look->window_ns, first_ns = UINT64_MAX, end_ns = 0, last_ns = 0, *lengths;
	size_t count = 0;

	lengths = malloc((at->source->step_count + 1) * sizeof *lengths);
	for (size_t i = 0; lengths && i < at->source->step_count; i++) {
		const struct dw_source_step *step = &at->source->steps[i];

		if (step->thread == thread && !step->open && look->live && step->end_ns < at->now_ns)
			look->since_step_ns = at->now_ns - step->end_ns;
		if (step->thread != thread || step->open || step->end_ns < from_ns || step->start_ns < from_ns)
			continue;
		if (count && step->start_ns > last_ns)
			lengths[count - 1] = step->start_ns - last_ns;
		last_ns = step->start_ns;
		first_ns = step->start_ns < first_ns ? step->start_ns : first_ns;
		end_ns = step->end_ns > end_ns ? step->end_ns : end_ns;
		lengths[count++] = step->end_ns - step->start_ns;
	}
	if (count) {
		size_t known = count > 1 ? count - 1 : 1;

		for (size_t i = 0; i < count; i++)
			look->mean_ns += (double)lengths[i] / (double)count;
		qsort(lengths, known, sizeof *lengths, dw_compare_u64);
		look->p50_ns = look_quantile(lengths, known, 0.5);
		look->p95_ns = look_quantile(lengths, known, 0.95);
		if (end_ns > first_ns)
			look->steps_per_s = (double)count * 1e9 / (double)(end_ns - first_ns);
		/* Steps that stopped coming slow the rate down. */
		if (look->live && at->now_ns - end_ns > 2 * lengths[known - 1])
			look->steps_per_s = (double)count * 1e9 / (double)(at->now_ns - first_ns);
	}
	look->window_steps = count;
	free(lengths);
	/* The file may have only sums of the latest steps. */
	if (!count && at->before && look->step_count > at->before->step_count &&
	    look->machine_ns > at->before->machine_ns) {
		look->window_steps = look->step_count - at->before->step_count;
		look->steps_per_s = (double)look->window_steps * 1e9 / (double)(look->machine_ns - at->before->machine_ns);
	}
}

static int look_parts(struct look *at, struct dw_model *within, struct dwell_error *error)
{
	const struct dw_loop_parts *parts = dw_facts_loop_parts(within, error);
	struct dw_top_look *look = at->look;
	double whole_ns;

	if (!parts)
		return DWELL_E_NOMEM;
	whole_ns = parts->ns - parts->no_cpu_ns;
	if (!parts->steps || !(whole_ns > 0))
		return 0;
	for (size_t i = 0; i < parts->part_count; i++) {
		double share = parts->parts[i].ns / whole_ns;
		bool rest = look->part_count == DW_TOP_MOST_PARTS;
		struct dw_top_part *part = &look->parts[rest ? DW_TOP_MOST_PARTS - 1 : look->part_count];

		if (share <= 0)
			continue;
		snprintf(part->name, sizeof part->name, "%s", rest ? "smaller ones" : parts->parts[i].name);
		part->share = rest ? part->share + share : share;
		look->part_count += !rest;
	}
	return 0;
}

/* ---- where it is, if nothing is recorded ---------------------------------------------------------- */

/* Walks the whole trace, so it is done once for a silence. */
static int look_inside(struct look *at, uint32_t thread, struct dwell_error *error)
{
	const struct dw_top_look *before = at->before;
	struct dw_top_look *look = at->look;
	struct dw_open_range *open = NULL;
	struct dw_model *model;
	size_t used = 0, count = 0, shown = 0;
	int code;

	if (!look->live || look->silent_ns < LOOK_SILENT_NS)
		return 0;
	if (before && before->last_ns == look->last_ns && before->silent_ns >= LOOK_SILENT_NS) {
		memcpy(look->inside, before->inside, sizeof look->inside);
		return 0;
	}
	code = dw_model_create(&model, at->source, NULL, error);
	if (code)
		return code;
	code = dw_model_open_ranges(model, &open, &count, error);
	for (size_t i = 0; i < count && shown < LOOK_OPEN && used < sizeof look->inside; i++)
		if (open[i].thread == thread)
			used += (size_t)snprintf(look->inside + used, sizeof look->inside - used, "%s%s", shown++ ? " > " : "",
			                         dw_model_symbols(model, NULL)[open[i].symbol].name);
	free(open);
	dw_model_destroy(model);
	return code;
}

/* ---- the table ------------------------------------------------------------------------------------ */

/* Keeps the rows of which a text contains the filter, and the parents of rows of a tree. */
static void look_filter(struct dwell_table *table, const char *filter)
{
	bool *keep = calloc(table->row_count + 1, sizeof *keep);

	for (size_t row = 0; keep && row < table->row_count; row++)
		for (size_t i = 0; i < table->column_count; i++) {
			const struct dw_cell *cell = &dw_table_at(table, row)[i];

			keep[row] |= cell->type == DW_CELL_TEXT && strcasestr(cell->text, filter);
		}
	if (keep)
		dw_table_keep(table, keep);
	free(keep);
}

/* The time before the window counts as overwritten, which is not interesting here. */
static void look_hide_gaps(struct dwell_table *table)
{
	int gap = dw_table_column(table, "gap_ns");

	if (gap >= 0)
		table->columns[gap].data_only = true;
}

/* Why the view has no rows. A program that starts has no steps and no operators yet: that is no fault of its marks. */
static void look_say_missing(struct look *at, int code, const struct dwell_error *error)
{
	const struct dw_view *view = at->request->view;
	struct dw_top_look *look = at->look;
	bool may_come = code == DWELL_E_NO_DATA && view->needs && !dw_view_lacks(view, at->source);

	if (look->begins)
		snprintf(look->message, sizeof look->message, "The program has recorded nothing yet: it starts, or waits.");
	else if (may_come && look->live && !look->step_count)
		snprintf(look->message, sizeof look->message,
		         "No %s yet, and no step has begun. c shows what uses the CPU, w what it waits for.", view->needs);
	else if (may_come && look->window_ns < look->run_ns)
		snprintf(look->message, sizeof look->message, "No %s in this time; + shows a longer one.", view->needs);
	else
		snprintf(look->message, sizeof look->message, "%s", error->message);
}

static int look_table(struct look *at, struct dw_model *within, struct dwell_error *error)
{
	const struct dw_top_request *request = at->request;
	struct dwell_view_options options = { .size = sizeof options, .sort = request->sort,
		.limit = SIZE_MAX };
	struct dw_top_look *look = at->look;
	int code = dw_view_run(request->view, within, &options, &look->table, error);

	/* A view may have other columns than the one before. */
	if (code == DWELL_E_NAME) {
		options.sort = NULL;
		code = dw_view_run(request->view, within, &options, &look->table, error);
	}
	if (code == DWELL_E_NOMEM)
		return code;
	if (code) {
		look_say_missing(at, code, error);
		return 0;
	}
	look_hide_gaps(look->table);
	look->rows = look->table;
	while (look->rows->next && (look->rows->heads_only || look->rows->summary || !look->rows->row_count))
		look->rows = look->rows->next;
	if (*request->filter)
		look_filter(look->rows, request->filter);
	if (!look->rows->row_count)
		snprintf(look->message, sizeof look->message, *request->filter ?
		         "No row contains \"%.200s\"." : "Nothing was recorded in this time.", request->filter);
	return 0;
}

/* What needs no records but the source's own lists. */
static uint32_t look_around(struct look *at)
{
	struct dw_top_look *look = at->look;
	uint32_t thread = look_step_thread(at->source, &look->step_count);

	look_name(at, thread);
	look_time(at);
	look_losses(at);
	look_unrecorded(at);
	look_use(at);
	look->window_ns = look_window(at, thread);
	look_steps(at, thread);
	return thread == DW_NO_INDEX ? look_main_thread(at->source) : thread;
}

/* What is computed from the records of the window. */
static int look_within(struct look *at, struct dwell_error *error)
{
	struct dw_scope scope = { .has_window = at->look->window_ns < at->now_ns, .to_ns = UINT64_MAX };
	struct dw_model *model = NULL, *within;
	int code;

	scope.from_ns = at->now_ns - at->look->window_ns;
	dw_source_keep_since(at->source, scope.from_ns);
	code = dw_model_create(&model, at->source, &scope, error);
	if (!code && at->look->window_steps)
		code = look_parts(at, model, error);
	scope.thread = at->request->thread;
	within = model;
	if (!code && scope.thread)
		code = dw_model_within(model, &scope, &within, error);
	if (!code)
		code = look_table(at, within, error);
	if (model)
		dw_model_destroy(model);
	return code;
}

int dw_top_look(const struct dw_top_request *request, const struct dw_top_look *before,
                struct dw_top_look *look, struct dwell_error *error)
{
	struct look at = { .request = request, .before = before, .look = look };
	int code;

	memset(look, 0, sizeof *look);
	code = dw_source_open(&at.source, &request->path, 1, error);
	if (code)
		return code;
	code = look_inside(&at, look_around(&at), error);
	if (!code)
		code = look_within(&at, error);
	if (code)
		dw_top_look_reset(look);
	dw_source_close(at.source);
	return code;
}

void dw_top_look_reset(struct dw_top_look *look)
{
	dw_table_destroy(look->table);
	look->table = NULL;
}
