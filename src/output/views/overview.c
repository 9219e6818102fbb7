/*
 * overview: where does the time go?
 *
 * The overview shows the steps and the time outside them, the parts of a mean step, the names that
 * take most of it, the slowest step, lost records and the cost of recording. All sentences are
 * derived from the trace. The rules of src/analysis/rules find what takes longer than necessary.
 */
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/joint/joint.h"
#include "model/memory/memory.h"
#include "model/samples/samples.h"
#include "model/steps/usage.h"
#include "rules/rules.h"
#include "views/columns.h"
#include "views/ends.h"
#include "views/memory_failure.h"
#include "views/overview_parts.h"
#include "views/requests_served.h"
#include "views/stop.h"

#define MOST_VERDICTS 5u      /* the view verdict has the rest */
#define BEHIND_SHARE DW_RULE_DEADBAND /* of the loop on the device: least time after the last step that is named */
#define NAMELESS_SHARE DW_RULE_MOST /* of a run without steps; the sentence then says what to record */
#define ALONE_SHARE 0.98      /* the same; then samples alone say what ran */

/* ---- the first sentence ------------------------------------------------------------------ */

/* "train.py: ", or "" if the trace does not say what ran. */
static void overview_write_program(const struct dw_overview *overview, char *to, size_t size)
{
	const char *program = dw_view_program(overview->model);

	snprintf(to, size, "%.200s%s", program, *program ? ": " : "");
}

static void overview_head_steps(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_account_run *run = dw_account_of_run(overview->model, NULL);
	bool most = !run || dw_account_main_phase(run) == DW_ACCOUNT_LOOP;
	char program[256];

	overview_write_program(overview, program, sizeof program);
	dw_view_head_steps(table, overview->steps, program, dw_overview_like(overview),
	                   most ? 0 : run->phases[DW_ACCOUNT_LOOP]->own_ns / dw_account_run_own_ns(run));
	dw_overview_head_bursts(table, overview);
}

/* The functions probe was called, and functions were not to be recorded. */
static bool overview_has_functions(const struct dw_source *source)
{
	return dw_view_meta(source, DW_KEY_FUNCTIONS) != NULL;
}

static bool overview_has_calls(const struct dw_overview *overview)
{
	size_t count;

	dw_model_symbols(overview->model, &count);
	for (size_t i = 0; i < count; i++)
		if (overview->symbols[i].category == DWELL_CATEGORY_FUNCTION)
			return true;
	return false;
}

/* Most of the main thread's time has no name, so that the tables below cannot say what takes it. Another profiler
 * wrote what it could. */
static void overview_head_nameless(struct dwell_table *table, const struct dw_overview *overview)
{
	bool python = dw_view_is_python(overview->source);

	dw_table_say(table, DW_LABEL_NOTE, "For %s of it no range of the main thread is open: what it does then was not recorded.",
	              dw_text_percent(overview->nameless_share).at);
	if (overview->source->files[0].foreign || overview_has_calls(overview) || dw_source_has_samples(overview->source))
		return;
	dw_table_say(table, DW_LABEL_TRY, "%s", python ? "dwell run --functions records which functions take the time"
	              : overview_has_functions(overview->source)
	                  ? "the program was compiled with -finstrument-functions: 'dwell run --functions' records its "
	                    "functions"
	                  : "DWELL_ZONE(\"name\") around its parts names them; gcc -finstrument-functions and dwell run "
	                    "--functions record all functions");
}

/* How to get steps. */
static void overview_note_advice(struct dwell_table *table, const struct dw_overview *overview)
{
	const char *names = overview->step_candidates, *range = overview->step_range;
	bool is_python = !overview->source->files[0].foreign && dw_view_is_python(overview->source);

	const char *module = range && strncmp(range, "XlaModule ", 10) == 0 ? range + 10 : NULL;
	char recurs[500] = "";

	if (overview->facts->iterations == DW_ITERATIONS_PERIOD)
		return;
	if (range && !overview->source->files[0].foreign)
		snprintf(recurs, sizeof recurs, "; the range %.200s, which occurs %s times, may be one%s%.200s%s", range,
		         dw_text_count((int64_t)overview->step_range_count).at, module ? ": --step-on 'XlaModule:*=" : "",
		         module ? module : "", module ? ",*'" : "");
	else if (names)
		snprintf(recurs, sizeof recurs, "; %s may be one: %s", strchr(names, ',') ? "these functions" : "this function",
		         names);
	dw_table_say_below(table, DW_LABEL_TRY, "%s shows what a step takes%s",
	              overview->source->files[0].foreign
	                  ? "the other profiler's step marker (prof.step() in PyTorch)"
	              : is_python ? "dwell.step() at an iteration's end, or dwell run --step-on NAME,"
	              : names     ? "DWELL_STEP() around an iteration, or dwell run --step-on FUNCTION,"
	                          : "DWELL_STEP() around an iteration",
	              recurs);
}

/* Ranges take next to nothing of the run, so samples say what ran. */
static bool overview_is_sampled_alone(const struct dw_overview *overview)
{
	return dw_source_has_samples(overview->source) && !overview->steps &&
	       (!overview->flat->ranges || overview->nameless_share >= ALONE_SHARE);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The host's steps say little if it only fills the device's queue. */
static void overview_head_behind(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_facts *facts = dw_facts(overview->model, NULL);
	double share, loop_ns;

	if (!facts || !facts->at[DW_FACT_DEVICE_BEHIND].measured || !facts->at[DW_FACT_LOOP_WALL].measured)
		return;
	share = facts->at[DW_FACT_DEVICE_BEHIND].value;
	loop_ns = facts->at[DW_FACT_LOOP_WALL].value;
	if (share < BEHIND_SHARE)
		return;
	if (!overview->steps) {
		dw_table_say(table, DW_LABEL_NOTE, "The host runs ahead: the device ends its work %s after the last that is known of the "
		              "host.",
		              dw_text_ns(loop_ns * share / (1 - share), " ").at);
		return;
	}
	dw_table_say(table, DW_LABEL_NOTE, "The host runs ahead: the device ends its work %s after the last step, and needs %s a step.",
	              dw_text_ns(loop_ns * share / (1 - share), " ").at,
	              dw_text_ns(facts->at[DW_FACT_DEVICE_STEP].value, " ").at);
}

static void overview_head_verdicts(struct dwell_table *table, const struct dw_overview *overview)
{
	/* The framework's probe records which device it uses; see "facts" in doc/reference/format.md. */
	double unseen = overview->facts->at[DW_FACT_TRACE_DEVICE_UNSEEN].value;

	overview_head_behind(table, overview);
	if (unseen >= 1)
		dw_table_say(table, DW_LABEL_NOTE, "Device time not recorded: operator times are launch and wait times.");
	else if (unseen > 0)
		dw_table_say(table, DW_LABEL_NOTE,
		             "Device time not recorded in the last %s of the loop: operator times are launch and wait times.",
		              dw_text_percent(unseen).at);
	dw_view_head_verdicts(table, &overview->verdicts, MOST_VERDICTS, dw_overview_like(overview));
}

/* Whether a sentence is about what the thread does. Parts of the loop are rows of another table. */
static bool overview_is_of_cells(const struct dw_verdict *verdict)
{
	bool any = false;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT && verdict->has_cells; state++)
		any |= !verdict->cells.by_name && !verdict->cells.classes && verdict->cells.activities[state];
	return any;
}

/* Then there is the table with its rows. */
static bool overview_says_cells(const struct dw_overview *overview)
{
	const struct dw_verdicts *verdicts = &overview->verdicts;
	bool any = false;

	for (size_t i = 0; i < verdicts->fired && i < MOST_VERDICTS; i++)
		any |= overview_is_of_cells(&verdicts->at[i]);
	return any;
}

/* How often the name begins anywhere in the scope: workers of a pool each have iterations. */
static uint64_t overview_calls_of(const struct dw_overview *overview, const char *name)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < overview->flat->count; i++)
		if (strcmp(overview->symbols[overview->flat->rows[i].symbol].name, name) == 0)
			calls += overview->flat->rows[i].stat.count;
	return calls;
}

/* What the shares of the verdicts are of. */
static void overview_head_iterations(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_fact *mean = &overview->facts->at[DW_FACT_STEP_MEAN],
						 *count = &overview->facts->at[DW_FACT_STEP_COUNT];
	char others[64] = "";
	uint64_t calls;

	if (overview->facts->iterations != DW_ITERATIONS_PERIOD || !mean->measured)
		return;
	calls = overview_calls_of(overview, overview->facts->iteration_name);
	if (calls > (uint64_t)count->value)
		snprintf(others, sizeof others, ", of %s calls in the run", dw_text_count((int64_t)calls).at);
	dw_table_say(table, DW_LABEL_NOTE, "%.200s recurs: it begins %s iterations of %s on average%s.", overview->facts->iteration_name,
	             dw_text_count((int64_t)count->value).at, dw_text_ns(mean->value, " ").at, others);
}

/* Why there is nothing, and what records something. */
static void overview_head_nothing(struct dwell_table *table, const struct dw_overview *overview)
{
	dw_table_head(table, "Nothing was recorded.");
	dw_overview_head_lacks(table, overview);
	if (dw_view_meta(overview->source, DW_KEY_APART)) {
		dw_table_say(table, DW_LABEL_LOOK,
		             "which processes ran, and why they are not in the trace, is below at \"Not recorded\"");
		return;
	}
	if (dw_view_is_python(overview->source)) {
		dw_table_say(table, DW_LABEL_TRY, "dwell run --functions records which functions take the time");
		return;
	}
	if (overview_has_functions(overview->source)) {
		dw_table_say(table, DW_LABEL_TRY, "the program was compiled with -finstrument-functions: record its "
		                     "functions with 'dwell run --functions'");
		return;
	}
	dw_table_say(table, DW_LABEL_TRY,
	             "a program says what it does with the probes of "
	              "<dwell/probe.h>, or through a library that has them%s",
	              overview->source->files[0].foreign
	                  ? ""
	                  : "; compiled with -finstrument-functions, dwell run --functions records its functions");
}

static void overview_head_failed(struct dwell_table *table, const struct dw_overview *overview)
{
	dw_view_head_memory_failure(table, overview->model);
	dw_overview_head_failed(table, overview);
}

static void overview_head_run(struct dwell_table *table, struct dw_overview *overview)
{
	const struct dw_flat *flat = overview->flat;
	bool sampled = dw_source_has_samples(overview->source), alone = overview_is_sampled_alone(overview);
	struct dw_text wall = dw_text_ns((double)overview->wall_ns, " ");
	bool has_cause = overview->verdicts.fired && overview->verdicts.at[0].rule->kind <= DW_RULE_CAUSE;
	char program[256], cpus[64], ranges[64] = "";

	overview_write_program(overview, program, sizeof program);
	dw_overview_write_cpus(overview, cpus, sizeof cpus);
	if (!alone && !flat->records && overview->source->files[0].waits) {
		dw_table_head(table, "Nothing was recorded: it was to follow the program's steps, and the "
		                     "program marked none.");
		dw_table_say(table, DW_LABEL_TRY, "mark each iteration with %s, or record without --steps and --schedule",
		              dw_view_is_python(overview->source) ? "dwell.step()" : "DWELL_STEP() or dwell_step()");
		return;
	}
	if (!alone && !flat->records && dw_model_source(overview->model)->events_count) {
		dw_table_head(table, "%s%s. Only the work of devices was recorded.", program, wall.at);
		overview_head_failed(table, overview);
		dw_overview_head_devices(table, overview);
		return;
	}
	if (!alone && !flat->records) {
		overview_head_nothing(table, overview);
		overview_head_failed(table, overview);
		return;
	}
	if (!alone)
		snprintf(ranges, sizeof ranges, ", %s range%s", dw_text_count((int64_t)flat->ranges).at, dw_text_plural(flat->ranges));
	dw_table_head(table, "%s%s%s%s. No steps are marked.", program, wall.at, cpus, ranges);
	overview_head_failed(table, overview);
	if (!alone && overview->nameless_share >= NAMELESS_SHARE && overview->facts->iterations != DW_ITERATIONS_PERIOD)
		overview_head_nameless(table, overview);
	overview_head_iterations(table, overview);
	if ((alone || sampled) && !has_cause)
		dw_overview_head_teams(table, overview);
	overview_head_verdicts(table, overview);
	dw_overview_head_devices(table, overview);
	dw_view_head_requests(table, overview->model, false);
	if ((alone || sampled) && has_cause)
		dw_overview_head_teams(table, overview);
	if (alone || sampled)
		dw_overview_head_hot(table, overview);
}

/* ---- the whole --------------------------------------------------------------------------- */

struct overview_run {
	struct dw_cell wall_ns, records, ranges, cost_share, steps, steps_recorded, steps_ns, loops_ns, mean_ns, p50_ns,
		p95_ns, p99_ns, slowest_step, slowest_ns, verdict, verdict_share;
};

static const struct dw_column run_columns[] = {
	DW_FIELD(struct overview_run, wall_ns, "wall", NS, INT),
	DW_FIELD(struct overview_run, records, "records", COUNT, INT),
	DW_FIELD(struct overview_run, ranges, "ranges", COUNT, INT),
	DW_FIELD(struct overview_run, cost_share, "profiling", RATIO, REAL, .of = "the recorded time"),
	DW_FIELD(struct overview_run, steps, "steps", COUNT, INT),
	DW_FIELD(struct overview_run, steps_recorded, "steps recorded", COUNT, INT),
	DW_FIELD(struct overview_run, steps_ns, "in steps", NS, INT),
	DW_FIELD(struct overview_run, loops_ns, "loops", NS, INT),
	DW_FIELD(struct overview_run, mean_ns, "a step", NS, INT),
	DW_FIELD(struct overview_run, p50_ns, "p50", NS, INT),
	DW_FIELD(struct overview_run, p95_ns, "p95", NS, INT),
	DW_FIELD(struct overview_run, p99_ns, "p99", NS, INT),
	DW_FIELD(struct overview_run, slowest_step, "slowest step", NONE, INT),
	DW_FIELD(struct overview_run, slowest_ns, "slowest", NS, INT),
	DW_FIELD(struct overview_run, verdict, "verdict", NONE, TEXT),
	DW_FIELD(struct overview_run, verdict_share, "its share", RATIO, REAL, .of = "what the verdict names"),
};

static void overview_put_steps(struct overview_run *row, const struct dw_overview *overview)
{
	const struct dw_steps *steps = overview->steps;
	const struct dw_iteration_times *times = &steps->iterations;
	const struct dw_step *slowest = dw_overview_slowest_step(steps);

	row->steps = DW_INT((steps->ended_count ? steps->ended_count : steps->count) + steps->summed_count);
	row->steps_recorded = DW_INT(steps->recorded_count);
	row->steps_ns = DW_INT(steps->steps_ns + steps->summed_ns);
	row->loops_ns = DW_INT(times->loop_ns);
	row->mean_ns = DW_INT(times->mean_ns);
	row->p50_ns = DW_INT(times->p50_ns);
	row->p95_ns = DW_INT(times->p95_ns);
	row->p99_ns = DW_INT(times->p99_ns);
	if (slowest) {
		row->slowest_step = DW_INT(slowest->number);
		row->slowest_ns = DW_INT(slowest->end_ns - slowest->start_ns);
	}
	if (overview->verdicts.fired) {
		row->verdict = DW_STRING(overview->verdicts.at[0].rule->id);
		row->verdict_share = DW_REAL(overview->verdicts.at[0].share.value);
	}
}

/* For JSON and CSV; in text the sentences above the tables contain these figures. */
static struct dwell_table *overview_run_table(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	struct dwell_table *table = DW_VIEW_CHOOSE("overview", run_columns, 0, error);
	struct overview_run row;

	if (!table)
		return NULL;
	table->part = "run";
	table->heads_only = true;
	row = (struct overview_run){
		.wall_ns = DW_INT(overview->wall_ns),
		.records = DW_INT(overview->flat->records),
		.ranges = DW_INT(overview->flat->ranges),
		.cost_share = DW_REAL(overview->cost.share),
	};
	if (steps)
		overview_put_steps(&row, overview);
	dw_table_put(table, 0, &row, sizeof row);
	return table;
}

/* A number of `dwell run`, or 0. */
static double overview_number(const struct dw_source *source, const char *key)
{
	return fmax(0, dw_view_meta_number(source, key));
}

/* Returns the wall time: how long the program ran, by `dwell run`, however little it recorded. If records are missing
 * at the end of a process, the process may have continued; then the wall time includes the interval of the missing
 * records. */
static uint64_t overview_wall_ns(struct dw_model *model, uint64_t recorded_ns, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_threads *threads = dw_model_threads(model, error);
	uint64_t start_ns = UINT64_MAX, end_ns = 0, run_ns = (uint64_t)overview_number(source, DW_KEY_WALL_NS);

	if (!dw_model_is_partial(model) && run_ns > recorded_ns)
		recorded_ns = run_ns;
	for (size_t i = 0; i < source->process_count; i++)
		if (!(source->processes[i].flags & DW_PROCESS_RUNNER) && source->processes[i].start_ns < start_ns)
			start_ns = source->processes[i].start_ns;
	for (uint32_t p = 0; threads && !dw_model_is_partial(model) && p < source->process_count; p++) {
		const struct dw_interval *at = threads->process_missing[p];

		for (; at->start_ticks != UINT64_MAX; at++)
			if (dw_source_ns(&source->files[source->processes[p].file].clock, at->end_ticks) > end_ns)
				end_ns = dw_source_ns(&source->files[source->processes[p].file].clock, at->end_ticks);
	}
	return end_ns > start_ns && end_ns - start_ns > recorded_ns ? end_ns - start_ns : recorded_ns;
}

static bool overview_has_shapes(const struct dw_model *model, const struct dw_symbol *symbols)
{
	size_t count;

	dw_model_symbols((struct dw_model *)(uintptr_t)model, &count);
	for (size_t i = 0; i < count; i++)
		if (symbols[i].category == DWELL_CATEGORY_OPERATOR && symbols[i].shapes)
			return true;
	return false;
}

/* Creates the models of the counted steps, and all profiles by name in one pass: that of the loop
 * too, which facts need if functions were recorded. */
static int overview_look_inside(struct dw_overview *overview, struct dwell_error *error)
{
	struct dw_model *models[DW_JOINT_MOST] = { overview->model };
	const struct dw_step_outline *steps = NULL;
	unsigned count = 1;

	if (overview->source->step_count) {
		steps = dw_model_step_outline(overview->model, error);
		if (!steps)
			return -1;
	}
	if (steps && steps->count) {
		overview->inside = dw_model_counted(overview->model, DW_COUNTED_STEP_THREADS, error);
		overview->inside_all = dw_model_counted(overview->model, DW_COUNTED_ALL_THREADS, error);
		if (!overview->inside || !overview->inside_all)
			return -1;
		models[count++] = overview->inside;
		models[count++] = overview->inside_all;
	}
	if (steps && steps->count && overview_has_calls(overview) && !dw_model_is_partial(overview->model)) {
		models[count] = dw_facts_loop_model(overview->model, steps->loop_start_ns, steps->loop_end_ns, error);
		if (!models[count++])
			return -1;
	}
	return dw_model_compute_together(models, count, true, error);
}

static bool overview_find_cost(struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_facts_cost *cost = overview->steps ? dw_facts_cost(overview->model, error) : NULL;

	if (overview->steps && !cost)
		return false;
	overview->cost = cost ? *cost : dw_facts_cost_of_run(overview->model, (double)overview->wall_ns, error);
	return true;
}

static int overview_prepare(struct dw_overview *overview, struct dw_model *model, struct dwell_error *error)
{
	overview->model = model;
	overview->source = dw_model_source(model);
	overview->symbols = dw_model_symbols(model, NULL);
	overview->has_shapes = overview_has_shapes(model, overview->symbols);
	overview->delay_known = overview->source->end_ns && !isnan(dw_view_meta_number(overview->source, DW_KEY_DELAY_NS));
	if (overview->source->end_ns)
		overview->delay_share =
			fmin(1, overview_number(overview->source, DW_KEY_DELAY_NS) / (double)overview->source->end_ns);
	if (overview_look_inside(overview, error))
		return -1;
	overview->flat = dw_model_flat(model, UINT32_MAX, error);
	if (!overview->flat)
		return -1;
	overview->wall_ns = overview_wall_ns(model, overview->flat->wall_ns, error);
	if (overview->source->step_count) {
		overview->steps = dw_model_steps(model, error);
		if (!overview->steps)
			return -1;
		if (!overview->steps->count) /* none in this scope */
			overview->steps = NULL;
	}
	overview->facts = dw_facts(model, error);
	if (!overview->facts || dw_view_judge(model, &overview->texts, &overview->verdicts, error))
		return -1;
	return overview_find_cost(overview, error) ? 0 : -1;
}

static struct dwell_table *overview_append(struct dwell_table *last, struct dwell_table *part)
{
	last->next = part;
	return part ? part : last;
}

/* Whether a sentence is about what the account alone divides. */
static bool overview_is_of_states(const struct dw_verdict *verdict)
{
	return overview_is_of_cells(verdict) && (verdict->rule->part == DW_RULE_PART_NONE || verdict->rule->part == DW_RULE_PART_COMPUTE);
}

/* Text has one table of what the main thread did: the one with the rows that the first sentence is about, or else the parts of the
 * step or of the run, unless these have no names. The other table is only in JSON. */
static void overview_choose_parts(const struct dw_overview *overview, struct dwell_table *parts, struct dwell_table *account)
{
	const struct dw_verdicts *verdicts = &overview->verdicts;
	const struct dw_steps *steps = overview->steps;
	double nameless = overview->nameless_share;

	if (!parts || !account)
		return;
	if (steps)
		nameless = (double)steps->share_ns[DW_SHARE_OTHER] / fmax(1, (double)steps->recorded_ns);
	if (nameless >= NAMELESS_SHARE || (verdicts->fired && overview_is_of_states(&verdicts->at[0])))
		parts->heads_only = true;
	else
		account->heads_only = true;
}

static struct dwell_table *overview_add_steps(struct dwell_table *table, struct dw_overview *overview, struct dwell_error *error)
{
	struct dwell_table *last = table, *ends = NULL, *parts = NULL, *account = NULL;
	enum dw_view_ends says = dw_view_says_ends(overview->model, &overview->verdicts);

	overview_head_steps(table, overview);
	dw_view_head_memory_failure(table, overview->model);
	dw_view_head_stop(table, overview->model);
	dw_view_head_step_on(table, overview->source);
	overview->has_start = dw_view_head_ends(table, overview->model, &overview->verdicts, DW_VIEW_ENDS_FIRST);
	overview_head_verdicts(table, overview);
	dw_view_head_requests(table, overview->model, true);
	overview->has_start |= dw_view_head_ends(table, overview->model, &overview->verdicts, DW_VIEW_ENDS_AFTER);
	if (says != DW_VIEW_ENDS_NOT)
		ends = dw_overview_ends(overview, error);
	overview->has_ends = ends != NULL;
	if (says == DW_VIEW_ENDS_FIRST)
		last = overview_append(last, ends);
	if (overview->steps->recorded_count)
		last = overview_append(last, parts = dw_overview_breakdown(overview, error));
	if (overview_says_cells(overview))
		last = overview_append(last, account = dw_overview_account(overview, error));
	overview_choose_parts(overview, parts, account);
	if (says == DW_VIEW_ENDS_AFTER)
		last = overview_append(last, ends);
	return overview_append(last, dw_overview_device(overview, error));
}

static struct dwell_table *overview_add_run(struct dwell_table *table, struct dw_overview *overview, struct dwell_error *error)
{
	struct dwell_table *last = table, *wall = dw_overview_wall(overview, error), *account = NULL;
	bool divided = overview->facts->account && dw_account_is_divided(overview->facts->account);

	overview_head_run(table, overview);
	dw_view_head_step_on(table, overview->source);
	if (overview_is_sampled_alone(overview)) {
		dw_table_destroy(wall);
		wall = NULL;
	} else {
		last = overview_append(last, wall);
	}
	if (overview_says_cells(overview) || divided)
		last = overview_append(last, account = dw_overview_account(overview, error));
	overview_choose_parts(overview, wall, account);
	last = overview_append(last, dw_overview_kernels(overview, error));
	return overview_append(last, dw_overview_hot(overview, error));
}

static void overview_add_notes(struct dwell_table *last, const struct dwell_table *first, struct dw_overview *overview)
{
	if (overview->steps) {
		if (!overview->has_ends)
			dw_overview_note_outside(last, overview);
		dw_overview_note_phases(last, overview);
		dw_overview_note_slowest(last, overview);
	} else if (overview->flat->records || overview_is_sampled_alone(overview)) {
		overview_note_advice(last, overview);
	}
	dw_overview_note_end(last, overview);
	dw_overview_say_trust(last, first, overview);
	dw_overview_say_next(last, overview);
}

static struct dwell_table *overview_view(struct dw_model *model, const struct dwell_view_options *options,
                                         struct dwell_error *error)
{
	struct dw_overview overview = { .cost.share = NAN };
	struct dwell_table *table = NULL, *last;

	if (overview_prepare(&overview, model, error) == 0)
		table = overview_run_table(&overview, error);
	if (table) {
		dw_view_state_gaps(table, model);
		last = overview.steps ? overview_add_steps(table, &overview, error) : overview_add_run(table, &overview, error);
		if (!overview_is_sampled_alone(&overview))
			last = overview_append(last, dw_overview_names(&overview, error));
		overview_add_notes(last, table, &overview);
		for (struct dwell_table *part = table; part; part = part->next)
			part->screen = true;
	}
	dw_arena_reset(&overview.texts);
	return table;
}

const struct dw_view dw_view_overview = {
	.name = "overview", .question = "where does the time go?",
	.run = overview_view, .limit = 10,
	.tables = DW_VIEW_TABLES(&dw_overview_names_columns, &dw_overview_hot_columns, &dw_overview_kernels_columns,
	                         &dw_overview_breakdown_columns, &dw_overview_wall_columns, &dw_overview_device_columns,
	                         &dw_overview_ends_columns, &dw_overview_account_columns),
};
