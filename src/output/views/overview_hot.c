/*
 * What an overview says from samples, where no step is marked: who used the CPU, and in which
 * functions.
 *
 * A share is named only if its interval keeps it above the least share of the sentence.
 */
#include <stdlib.h>

#include "base/code/activity.h"
#include "base/code/demangle.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/samples/cpu_account.h"
#include "model/samples/hot.h"
#include "model/samples/tasks.h"
#include "model/steps/usage.h"
#include "rules/rules.h"
#include "views/columns.h"
#include "views/overview_parts.h"

#define LARGE_SHARE DW_RULE_LARGE   /* of the CPU time: a thread worth a sentence */
#define ONE_THREAD 0.9     /* of the CPU time, by one thread of a machine with several CPUs */
#define SPIN_SHARE 0.95    /* of a thread's CPU time, in one loop */
#define LOCK_SHARE DW_RULE_DEADBAND /* of the run: waits of all threads for locks that are worth a sentence */
#define LEAST_WAITS 5u
#define CHAIN_SHARE 0.3    /* of the busiest thread's CPU time: functions that may be a step */
#define MOST_CANDIDATES 3u

/* ---- sums ------------------------------------------------------------------------------------ */

/* By thread: its share of the CPU time. NULL: out of memory. The caller frees it. */
static double *hot_thread_shares(const struct dw_samples *samples, const struct dw_source *source)
{
	double *shares = calloc(source->thread_count + 1, sizeof *shares);

	for (size_t i = 0; shares && i < samples->count; i++)
		shares[samples->rows[i].thread] += (double)samples->rows[i].weight / (double)samples->weight;
	return shares;
}

static uint32_t hot_busiest_thread(const double *shares, const struct dw_source *source)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < source->thread_count; i++)
		best = shares[i] > shares[best] ? i : best;
	return best;
}

/* Of a Python program, the functions of Python are shown. */
static unsigned hot_python(const struct dw_source *source)
{
	return dw_view_is_python(source) ? DW_HOT_PYTHON : 0;
}

/* CPU time that stands in no sample. */
static uint64_t hot_missing_ns(const struct dw_overview *overview)
{
	const struct dw_cpu_account *account = dw_model_is_partial(overview->model) ? NULL : dw_model_cpu_account(overview->model, NULL);

	return account ? account->missing_ns : 0;
}

/* ---- sentences ------------------------------------------------------------------------------- */

static const char *hot_short_name(const char *name, char text[400])
{
	dw_name_short(text, 400, name);
	return text;
}

/* "gemm (matmul.c:88)" */
static void hot_write_function(char *to, size_t size, const struct dw_hot_row *row)
{
	char place[200], name[400], nameless[256];

	dw_hot_place(row, place, sizeof place);
	snprintf(to, size, "%.200s%s%s%s", dw_view_function_name(hot_short_name(row->name, name), nameless), *place ? " (" : "", place,
	         *place ? ")" : "");
}

/* The same of code that may be in no function of Python. */
static void hot_write_user(char *to, size_t size, const struct dw_hot_row *row)
{
	if (dw_hot_is_function(row))
		hot_write_function(to, size, row);
	else
		dw_hot_name(row, to, size);
}

struct hot_spin {
	const struct dw_source *source;
	uint32_t thread;
	const struct dw_source_frame *most; /* the place with most samples */
	uint64_t at_most, near, all, squares;
};

/* Whether `a` is native code that spins, or the same line of Python as `b`. Of a line of Python only its time is known. */
static bool hot_may_spin(const struct dw_source_frame *a, const struct dw_source_frame *b)
{
	return a->loop == DW_CODE_SPINS || (!a->module && !b->module && a->count && b->count && a->functions->line == b->functions->line &&
	                    strcmp(a->functions->name, b->functions->name) == 0);
}

/* Whether a thread does nothing else. */
static bool hot_spins(const struct dw_samples *samples, struct hot_spin *spin)
{
	double share;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < samples->count; i++) {
			const struct dw_sample_row *row = &samples->rows[i];
			const struct dw_sample_stack stack = dw_sample_stack_of(spin->source, row);
			const struct dw_source_frame *frame = dw_sample_stack_at(&stack, 0);

			if (row->thread != spin->thread)
				continue;
			if (!pass && frame && row->weight > spin->at_most) {
				spin->at_most = row->weight;
				spin->most = frame;
			}
			if (!pass)
				continue;
			spin->all += row->weight;
			spin->squares += row->squares;
			if (frame && row->range == DW_NO_INDEX && hot_may_spin(frame, spin->most))
				spin->near += row->weight;
		}
	share = spin->all ? (double)spin->near / (double)spin->all : 0;
	return spin->most && spin->most->count && share >= SPIN_SHARE &&
	       share - dw_samples_error(share, spin->all, spin->squares) >= SPIN_SHARE - DW_RULE_DEADBAND;
}

static void hot_head_threads(struct dwell_table *table, const struct dw_overview *overview,
                             const struct dw_samples *samples, const double *shares, uint32_t busiest)
{
	const struct dw_source *source = overview->source;
	long cpus = dw_machine_cpus(source);
	char name[256];

	if (samples->has_periods && cpus > 1 && shares[busiest] >= ONE_THREAD &&
	    (double)samples->cpu_ns > 0.5 * (double)overview->wall_ns)
		dw_table_say(table, DW_LABEL_ALSO, "One thread does the work: %s used %.0f%% of the CPU time, and there are %ld CPUs.",
		              dw_view_thread_name(overview->model, busiest, false, name), shares[busiest] * 100, cpus);
	for (uint32_t thread = 0; thread < source->thread_count; thread++) {
		struct hot_spin spin = { .source = source, .thread = thread };
		char function[420];

		/* A program's main thread works. */
		if (shares[thread] < LARGE_SHARE ||
		    source->threads[thread].tid == source->processes[source->threads[thread].process].pid || !hot_spins(samples, &spin))
			continue;
		hot_write_function(function, sizeof function,
		                   &(struct dw_hot_row){ .name = spin.most->functions->name, .file = spin.most->functions->file,
		                                         .line = spin.most->functions->line });
		dw_table_say(table, DW_LABEL_ALSO, "The CPU time of thread %s is all in one loop, %s: it %s.",
		              dw_view_thread_name(overview->model, thread, false, name), function,
		              spin.most->loop == DW_CODE_SPINS ? "spins until another thread writes what it reads"
		                                               : "may spin while it waits");
	}
}

static bool hot_is_lock(void *context, const struct dw_sample_row *row)
{
	return row->activity == DW_ACTIVITY_LOCK;
}

/* Waits of all threads for locks: the function with most of them, and the thread that held the locks, if one held them for most of
 * the time. */
static void hot_head_locks(struct dwell_table *table, const struct dw_overview *overview)
{
	struct dw_hot_ask ask = { .waits = true, .by = DW_HOT_OWN, .wants = hot_is_lock };
	struct dw_hot_ask by_holder = { .waits = true, .by = DW_HOT_OWN | DW_HOT_HOLDERS, .wants = hot_is_lock };
	struct dw_hot hot = { .rows = NULL }, held = { .rows = NULL };
	char function[420], name[256], holder[300] = "";

	if (dw_hot_make(&hot, overview->model, &ask) && hot.samples >= LEAST_WAITS &&
	    (double)hot.cpu_ns >= LOCK_SHARE * (double)overview->wall_ns && dw_hot_make(&held, overview->model, &by_holder)) {
		if (held.rows[0].place.holder != DW_NO_INDEX && held.rows[0].self * 2 > held.weight)
			snprintf(holder, sizeof holder, ", mostly while thread %s had the lock",
			         dw_view_thread_name(overview->model, held.rows[0].place.holder, false, name));
		hot_write_function(function, sizeof function, &hot.rows[0]);
		dw_table_say(table, DW_LABEL_ALSO, "Threads waited for locks for %s in all, %.0f%% of it in %s%s (--view waits).",
		              dw_text_ns((double)hot.cpu_ns, " ").at, 100 * (double)hot.rows[0].self / (double)hot.weight,
		              function, holder);
	}
	dw_hot_reset(&hot);
	dw_hot_reset(&held);
}

static bool hot_is_gil(void *context, const struct dw_sample_row *row)
{
	return row->activity == DW_ACTIVITY_GIL;
}

/* Waits of all threads for the lock of Python's interpreter. Who has it is not recorded: it is where Python uses the CPU. */
static void hot_head_gil(struct dwell_table *table, const struct dw_overview *overview)
{
	struct dw_hot_ask ask = { .waits = true, .by = DW_HOT_PYTHON, .wants = hot_is_gil };
	struct dw_hot_ask runs = { .by = DW_HOT_PYTHON };
	struct dw_hot waits = { .rows = NULL }, hot = { .rows = NULL };
	char waiter[420], user[420];

	if (dw_hot_make(&waits, overview->model, &ask) && waits.samples >= LEAST_WAITS &&
	    (double)waits.cpu_ns >= LOCK_SHARE * (double)overview->wall_ns && dw_hot_make(&hot, overview->model, &runs) && hot.count) {
		hot_write_function(waiter, sizeof waiter, &waits.rows[0]);
		hot_write_user(user, sizeof user, &hot.rows[0]);
		dw_table_say(table, DW_LABEL_ALSO,
		             "Threads waited for the interpreter's lock (GIL) for %s in all, %.0f%% of it in %s; %.0f%% of the CPU time is "
		             "in %s (--view waits, --view hot).",
		             dw_text_ns((double)waits.cpu_ns, " ").at, 100 * (double)waits.rows[0].self / (double)waits.weight, waiter,
		             100 * (double)hot.rows[0].self / (double)hot.weight, user);
	}
	dw_hot_reset(&waits);
	dw_hot_reset(&hot);
}

/* Threads that come and go, as a server's for each request, or the tasks of a pool: the kind that took longest in all. */
static void hot_head_tasks(struct dwell_table *table, const struct dw_overview *overview)
{
	struct dw_tasks tasks;
	bool good = dw_tasks_make(&tasks, overview->model);
	const struct dw_task_kind *kind = tasks.kinds;

	table->failed |= !good;
	/* Of other requests it is not known in which threads they were, see dw_view_head_requests(). */
	if (good && tasks.count && (!kind->request || kind->turns != DW_NO_INDEX))
		dw_table_say(table, DW_LABEL_ALSO,
		             "%s %s %s, at most %zu at once: each %s %s (p50 %s, p95 %s). They used the CPU for "
		             "%.0f%% of that time, and waited for other threads or the interpreter's lock for %.0f%% (--view "
		             "requests).",
		             dw_text_count((int64_t)kind->count).at,
		             kind->symbol == DW_NO_INDEX ? "short threads" : kind->request ? "requests" : "tasks", kind->name,
		             kind->at_once, kind->symbol == DW_NO_INDEX ? "lived for" : "took",
		             dw_text_ns((double)kind->sum_ns / (double)kind->count, " ").at,
		             dw_text_ns((double)dw_task_quantile(kind, 0.5), " ").at,
		             dw_text_ns((double)dw_task_quantile(kind, 0.95), " ").at, 100 * (double)kind->cpu_ns / (double)kind->sum_ns,
		             100 * (double)(kind->wait_ns[DW_TASK_GIL] + kind->wait_ns[DW_TASK_THREADS]) / (double)kind->sum_ns);
	dw_tasks_reset(&tasks);
}

/* Whether the function is of a library, an interpreter or a framework, also by its name alone, or calls the program: none of them
 * is an iteration. */
static bool hot_is_machinery(const struct dw_hot_row *row)
{
	const char *from = row->module ? row->module : row->file;
	enum dw_library_role role = dw_library_role_of(from);
	dw_activity_set calls = DW_ACTIVITY_SET(STARTS) | DW_ACTIVITY_SET(DEVICE);

	return role != DW_LIBRARY_OWN || !dw_code_is_own(role, row->name, row->file) || !dw_hot_is_function(row) ||
	       dw_code_is_nameless(row->name) ||
	       dw_activity_of(NULL, row->name, false) != DW_ACTIVITY_UNKNOWN ||
	       dw_activity_in(dw_activity_of(from, row->name, true), calls);
}

enum hot_calls { HOT_INLINED, HOT_ONCE, HOT_OFTEN };

/* How often the function is called, as far as it can be seen. --step-on finds no function that is inlined everywhere. It is
 * called often if one of its callers is in a loop. */
static enum hot_calls hot_calls_of(struct dw_model *model, const char *name)
{
	const struct dw_samples *samples = dw_model_samples(model, NULL);
	enum hot_calls calls = HOT_INLINED;

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_stack stack = dw_sample_stack_of(dw_model_source(model), &samples->rows[i]);
		bool inside = false;

		for (uint32_t at = 0; at < stack.count; at++) {
			const struct dw_source_frame *frame = dw_sample_stack_at(&stack, at);

			if (inside && frame && frame->loop == DW_CODE_REPEATS)
				return HOT_OFTEN;
			inside |= frame && frame->count && strcmp(frame->functions[frame->count - 1].name, name) == 0;
		}
		if (inside)
			calls = HOT_ONCE;
	}
	return calls;
}

/* Whether `outer` calls `inner`, also by way of others, in one stack with both. */
static bool hot_is_caller(struct dw_model *model, const char *outer, const char *inner)
{
	const struct dw_samples *samples = dw_model_samples(model, NULL);

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_stack stack = dw_sample_stack_of(dw_model_source(model), &samples->rows[i]);
		bool inside = false, outside = false;

		for (uint32_t at = 0; at < stack.count; at++) {
			const struct dw_source_frame *frame = dw_sample_stack_at(&stack, at);
			const char *name = frame && frame->count ? frame->functions[frame->count - 1].name : "";

			if (inside && strcmp(name, outer) == 0)
				return true;
			outside |= strcmp(name, outer) == 0;
			inside |= strcmp(name, inner) == 0;
		}
		if (inside && outside)
			return false;
	}
	return false;
}

/* Whether the trace says which callers are in a loop: older ones, and those of code without symbols, do not. */
static bool hot_knows_loops(struct dw_model *model)
{
	const struct dw_samples *samples = dw_model_samples(model, NULL);

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_stack stack = dw_sample_stack_of(dw_model_source(model), &samples->rows[i]);

		for (uint32_t at = 0; at < stack.count; at++) {
			const struct dw_source_frame *frame = dw_sample_stack_at(&stack, at);

			if (frame && frame->loop == DW_CODE_REPEATS)
				return true;
		}
	}
	return false;
}

/* A candidate for a script that only calls an installed package, as scikit-learn: the package's innermost method that takes
 * much of the thread's time. --step-on finds it by this name. */
static const struct dw_hot_row *hot_find_method(const struct dw_hot *hot)
{
	const struct dw_hot_row *least = NULL;

	for (size_t i = 0; i < hot->count; i++) {
		const struct dw_hot_row *row = &hot->rows[i];

		if (dw_library_role_of(row->file) == DW_LIBRARY_PACKAGE && strchr(row->name, '.') && !strchr(row->name, '<') &&
		    !strstr(row->name, ".__init__") &&
		    (double)row->total >= CHAIN_SHARE * (double)hot->weight && (!least || row->total < least->total))
			least = row;
	}
	return least;
}

/* Samples of a thread that may be of an iteration: imports happen once. */
struct hot_work {
	const struct dw_source *source;
	uint32_t thread;
};

static bool hot_is_work(void *context, const struct dw_sample_row *row)
{
	const struct hot_work *work = context;
	const struct dw_sample_stack stack = dw_sample_stack_of(work->source, row);

	if (row->thread != work->thread)
		return false;
	for (uint32_t i = 0; i < stack.count; i++) {
		const struct dw_source_frame *frame = dw_sample_stack_at(&stack, i);

		if (frame && frame->activity == DW_ACTIVITY_IMPORTS)
			return false;
	}
	return true;
}

/* Functions on the way to the hottest one of the busiest thread, without main: one of them may be an iteration. The hottest
 * one itself is none in C; in Python it may be, because the time of the libraries that it calls counts as its own. */
static void hot_write_candidates(char *to, size_t size, struct dw_model *model, uint32_t thread)
{
	struct hot_work work = { .source = dw_model_source(model), .thread = thread };
	struct dw_hot_ask ask = { .by = hot_python(work.source), .wants = hot_is_work, .context = &work };
	enum hot_calls least = ask.by || !hot_knows_loops(model) ? HOT_ONCE : HOT_OFTEN; /* loops of Python are not known */
	struct dw_hot hot = { .rows = NULL };
	const struct dw_hot_row *method;
	unsigned found = 0;
	size_t used = 0;
	char name[400];

	to[0] = '\0';
	if (!dw_hot_make(&hot, model, &ask))
		hot.count = 0;
	while (found < MOST_CANDIDATES && used < size) {
		struct dw_hot_row *most = NULL;

		for (size_t i = 0; i < hot.count; i++)
			if ((double)hot.rows[i].total >= CHAIN_SHARE * (double)hot.weight &&
			    (ask.by || hot.rows[i].self * 2 <= hot.rows[i].total) && !hot_is_machinery(&hot.rows[i]) &&
			    (!most || hot.rows[i].total > most->total ||
			     (hot.rows[i].total == most->total && hot_is_caller(model, hot.rows[i].name, most->name))))
				most = &hot.rows[i];
		if (!most)
			break;
		if (hot_calls_of(model, most->name) >= least)
			used += (size_t)snprintf(to + used, size - used, "%s%.80s", found++ ? ", " : "", hot_short_name(most->name, name));
		most->total = 0;
	}
	if (!found && ask.by && (method = hot_find_method(&hot)) != NULL)
		snprintf(to, size, "%.80s", hot_short_name(method->name, name));
	dw_hot_reset(&hot);
}

void dw_overview_write_samples(const struct dw_overview *overview, char *to, size_t size)
{
	const struct dw_samples *samples = overview->steps ? NULL : dw_model_samples(overview->model, NULL);

	to[0] = '\0';
	if (samples && samples->count && samples->has_periods)
		snprintf(to, size, "; %s sample%s stand%s for %s of CPU time", dw_text_count((int64_t)samples->samples).at,
		         dw_text_plural(samples->samples), samples->samples == 1 ? "s" : "", dw_text_ns((double)samples->cpu_ns, " ").at);
}

void dw_overview_write_cpus(const struct dw_overview *overview, char *to, size_t size)
{
	const struct dw_samples *samples = dw_model_samples(overview->model, NULL);
	long allowed = dw_machine_cpus(overview->source);

	to[0] = '\0';
	if (samples && samples->count && samples->has_periods && allowed && overview->wall_ns)
		snprintf(to, size, ", %.1f of %ld CPU%s in use", (double)samples->cpu_ns / (double)overview->wall_ns, allowed,
		         allowed == 1 ? "" : "s");
}

void dw_overview_head_hot(struct dwell_table *table, struct dw_overview *overview)
{
	const struct dw_samples *samples = dw_model_samples(overview->model, NULL);
	uint64_t missing_ns = hot_missing_ns(overview);
	char candidates[300];
	double *shares;
	uint32_t busiest;

	if (!samples || !samples->count) {
		dw_overview_head_unsampled(table, overview);
		return;
	}
	if (missing_ns)
		dw_table_say(table, DW_LABEL_NOTE,
		             "%s of CPU time more stand in no sample, and in no function below: see \"Not recorded\".",
		             dw_text_ns((double)missing_ns, " ").at);
	shares = hot_thread_shares(samples, overview->source);
	table->failed |= !shares;
	if (!shares)
		return;
	busiest = hot_busiest_thread(shares, overview->source);
	hot_head_tasks(table, overview);
	hot_head_gil(table, overview);
	hot_head_locks(table, overview);
	hot_head_threads(table, overview, samples, shares, busiest);
	hot_write_candidates(candidates, sizeof candidates, overview->model, busiest);
	free(shares);
	overview->step_candidates = *candidates ? dw_arena_text(&table->arena, candidates, strlen(candidates)) : NULL;
}

bool dw_overview_head_lacks(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;
	const char *last = "";

	/* A process that executes another program may have a reason for each. */
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, DW_KEY_SAMPLE_LACKS) == 0 && strcmp(source->metas[i].value, last) != 0) {
			last = source->metas[i].value;
			dw_table_say(table, DW_LABEL_NOTE, "Call stacks were not sampled: %s.", last);
		}
	return *last;
}

/* No sample although the program was sampled: it used less than a period, or there is a reason. A program that runs
 * Python may be sampled until it does. */
void dw_overview_head_unsampled(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_source *source = overview->source;

	if (dw_overview_head_lacks(table, overview))
		return;
	if (dw_view_is_python(source))
		dw_table_say(table, DW_LABEL_NOTE, "Functions were not sampled: dwell run --sample 100 does it in Python too.");
	else if (dw_source_has_samples(source))
		dw_table_say(table, DW_LABEL_NOTE, "No sample of its call stacks was taken%s",
		              hot_missing_ns(overview) ? "." : ": it used too little CPU time.");
}

/* ---- the table ------------------------------------------------------------------------------- */

struct overview_function {
	struct dw_cell name, place, self_share, self_error, total_share, samples, self_ns, total_ns;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct overview_function, name, "functions by CPU time", NONE, TEXT),
	DW_FIELD(struct overview_function, place, "line", NONE, TEXT),
	DW_FIELD(struct overview_function, self_share, "self", RATIO, REAL, .bar = true, .sums = "self_ns"),
	DW_FIELD(struct overview_function, self_error, "+-", RATIO, REAL, .of = "the CPU time in scope", .wide_only = true),
	DW_FIELD(struct overview_function, total_share, "total", RATIO, REAL, .sums = "total_ns"),
	DW_FIELD(struct overview_function, samples, "samples", COUNT, INT, .wide_only = true),
	DW_FIELD(struct overview_function, self_ns, "self", NS, INT, .data_only = true),
	DW_FIELD(struct overview_function, total_ns, "total", NS, INT, .data_only = true),
};
const struct dw_column_list dw_overview_hot_columns = DW_COLUMN_LIST(columns);

struct dwell_table *dw_overview_hot(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_samples *samples = dw_model_samples(overview->model, error);
	struct dw_hot_ask ask = { .by = hot_python(overview->source) };
	struct dwell_table *table = NULL;
	struct dw_hot hot;

	if (!samples || !samples->count)
		return NULL;
	if (dw_hot_make(&hot, overview->model, &ask))
		table = DW_VIEW_CHOOSE("overview", columns, 0, error);
	for (size_t i = 0; table && i < hot.count; i++) {
		const struct dw_hot_row *from = &hot.rows[i];
		double share = (double)from->self / (double)hot.weight;
		char place[300], name[400];

		if (!from->self && ((double)from->total > 0.99 * (double)hot.weight || dw_code_is_nameless(from->name) ||
		                    dw_activity_of(from->module, from->name, true) == DW_ACTIVITY_STARTS))
			continue; /* main, what calls it, and what has no name and only calls */
		if (!from->self && (double)from->total < DW_OVERVIEW_NOTHING * (double)hot.weight)
			continue;
		dw_hot_place(from, place, sizeof place);
		DW_TABLE_PUT(table, 0, struct overview_function, .name = DW_STRING(dw_hot_name(from, name, sizeof name)),
		             .place = DW_STRING(*place ? place : NULL), .self_share = DW_REAL(share),
		             .self_error = DW_REAL(dw_samples_error(share, hot.weight, hot.squares)),
		             .total_share = DW_PART(from->total, hot.weight), .samples = DW_INT(from->samples),
		             .self_ns = hot.cpu_ns ? DW_INT(from->self_ns) : DW_EMPTY,
		             .total_ns = hot.cpu_ns ? DW_INT(from->total_ns) : DW_EMPTY);
	}
	if (table) {
		table->part = "hot";
		table->rows_shown = DW_OVERVIEW_ROWS;
	}
	dw_hot_reset(&hot);
	return table;
}
