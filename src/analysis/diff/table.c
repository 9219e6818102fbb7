/* The comparison as tables: the verdict in sentences, then parts, operators and runs. */
#include <math.h>
#include <stdio.h>

#include "diff/diff.h"

enum { VERDICT, CHANGE, CHANGE_LOW, CHANGE_HIGH, DETECTABLE, BEFORE, AFTER, BEFORE_RUNS, AFTER_RUNS,
       REASONS, BY, FAST_CHANGE, FAST_LOW, FAST_HIGH, FAST_BEFORE, FAST_AFTER, VERDICT_COLUMNS };
static const struct dw_column verdict_columns[] = {
	[VERDICT] = DW_COLUMN("verdict", "verdict", NONE, TEXT),
	[CHANGE] = DW_COLUMN("change", "change", RATIO, REAL),
	[CHANGE_LOW] = DW_COLUMN("change_low", "low", RATIO, REAL),
	[CHANGE_HIGH] = DW_COLUMN("change_high", "high", RATIO, REAL),
	[DETECTABLE] = DW_COLUMN("detectable", "smallest detectable change", RATIO, REAL),
	[BEFORE] = DW_COLUMN("before_ns", "before", NS, REAL),
	[AFTER] = DW_COLUMN("after_ns", "after", NS, REAL),
	[BEFORE_RUNS] = DW_COLUMN("before_runs", "runs before", COUNT, INT),
	[AFTER_RUNS] = DW_COLUMN("after_runs", "runs after", COUNT, INT),
	[REASONS] = DW_COLUMN("reasons", "why not comparable", NONE, TEXT),
	[BY] = DW_COLUMN("by", "verdict by", NONE, TEXT),
	[FAST_CHANGE] = DW_COLUMN("fast_change", "change of fast steps", RATIO, REAL),
	[FAST_LOW] = DW_COLUMN("fast_low", "low", RATIO, REAL),
	[FAST_HIGH] = DW_COLUMN("fast_high", "high", RATIO, REAL),
	[FAST_BEFORE] = DW_COLUMN("fast_before_ns", "fast step before", NS, REAL),
	[FAST_AFTER] = DW_COLUMN("fast_after_ns", "fast step after", NS, REAL),
};

enum { ROW_NAME, ROW_WHERE, ROW_BEFORE, ROW_AFTER, ROW_DIFFERENCE, ROW_OF_STEP, ROW_LOW, ROW_HIGH,
       ROW_COLUMNS, ROW_CALLS_BEFORE = ROW_COLUMNS, ROW_CALLS_AFTER, ROW_ALL_COLUMNS };
#define TABLE_ROWS(label, hides_interval)                                                    \
	[ROW_NAME] = DW_COLUMN("name", label, NONE, TEXT),                                       \
	[ROW_WHERE] = DW_COLUMN("where", "where", NONE, TEXT, .data_only = true),                \
	[ROW_BEFORE] = DW_COLUMN("before_ns", "before", NS, REAL, .one_unit = true),             \
	[ROW_AFTER] = DW_COLUMN("after_ns", "after", NS, REAL, .one_unit = true),                \
	[ROW_DIFFERENCE] = DW_COLUMN("difference_ns", "difference", NS, REAL),                    \
	[ROW_OF_STEP] = DW_COLUMN("change_of_whole", "of the whole", RATIO, REAL),               \
	[ROW_LOW] = DW_COLUMN("low_ns", "low", NS, REAL, .wide_only = hides_interval),            \
	[ROW_HIGH] = DW_COLUMN("high_ns", "high", NS, REAL, .wide_only = hides_interval)
static const struct dw_column part_columns[] = { TABLE_ROWS("time per step", true) };
static const struct dw_column fast_columns[] = { TABLE_ROWS("fast step by name", false) };
static const struct dw_column operator_columns[] = {
	TABLE_ROWS("operators by self time", true),
	[ROW_CALLS_BEFORE] = DW_COLUMN("calls_before", "calls before", COUNT, REAL, .wide_only = true),
	[ROW_CALLS_AFTER] = DW_COLUMN("calls_after", "calls after", COUNT, REAL, .wide_only = true),
};

enum { RUN_SIDE, RUN_PACE, RUN_STEP, RUN_OUTSIDE, RUN_STEPS, RUN_DELAY, RUN_OTHERS, RUN_FAST,
       RUN_PATH };
static const struct dw_column run_columns[] = {
	[RUN_SIDE] = DW_COLUMN("side", "run", NONE, TEXT),
	[RUN_PACE] = DW_COLUMN("ns", "per step", NS, REAL),
	[RUN_STEP] = DW_COLUMN("step_ns", "in the step", NS, REAL, .data_only = true),
	[RUN_OUTSIDE] = DW_COLUMN("outside_ns", "outside", NS, REAL, .data_only = true),
	[RUN_STEPS] = DW_COLUMN("steps", "steps", COUNT, INT),
	[RUN_DELAY] = DW_COLUMN("delay", "without a CPU", RATIO, REAL),
	[RUN_OTHERS] = DW_COLUMN("others", "CPUs of others", RATIO, REAL),
	[RUN_FAST] = DW_COLUMN("fast_ns", "fast step", NS, REAL),
	[RUN_PATH] = DW_COLUMN("trace", "trace", NONE, TEXT),
};

#define TABLE_RAN 0.98        /* of the time per step: less shows that CPUs were missing */
#define TABLE_CONTENTION 1e-3 /* of the time per step: waits that differ by less are not mentioned */

static void table_put_real(struct dw_cell *cell, double value)
{
	if (isfinite(value))
		dw_cell_real(cell, value);
}

/* "+5.2%", "-0.4%" */
static struct dw_text table_signed(double ratio)
{
	struct dw_text text;

	snprintf(text.at, sizeof text.at, "%+.*f%%", fabs(ratio) < 0.0995 ? 2 : 1, 100 * ratio);
	return text;
}

static void table_list_reasons(const struct dw_diff *diff, bool names_only, const char *gap, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned i = 0; i < DW_DIFF_REASON_COUNT && used < size; i++)
		if (diff->reasons[i])
			used += (size_t)snprintf(text + used, size - used, "%s%s%s%s%s", used ? gap : "",
			                         dw_diff_reason_name((enum dw_diff_reason)i),
			                         names_only ? "" : " (", names_only ? "" : diff->reasons[i], names_only ? "" : ")");
}

/* "5 runs before, 4 after" */
static struct dw_text table_counts(const struct dw_diff *diff)
{
	size_t before = diff->sides[DW_DIFF_BEFORE].count;
	struct dw_text text;

	snprintf(text.at, sizeof text.at, "%zu run%s before, %zu after", before, dw_text_plural(before),
	         diff->sides[DW_DIFF_AFTER].count);
	return text;
}

/* The verdict by fast steps, and that the time per step has no verdict then. */
static void table_head_by_fast(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *fast = &diff->fast, *pace = &diff->pace;
	const char *word = diff->verdict == DW_DIFF_NONE     ? "No difference of fast steps at this sample"
	                   : diff->verdict == DW_DIFF_SLOWER ? "Slower"
	                                                     : "Faster";

	dw_table_head(table, "%s: fast steps %s, %s before, %s after (95%% interval %s to %s; %s).", word,
	              table_signed(fast->difference / fast->before).at, dw_text_ns(fast->before, " ").at,
	              dw_text_ns(fast->after, " ").at, table_signed(fast->low / fast->before).at,
	              table_signed(fast->high / fast->before).at, table_counts(diff).at);
	dw_table_head(table, "A fast step is the sum of its pieces between begins and ends of ranges, each as fast as its "
	                     "fastest hundredth; the runs that were disturbed least are compared. The time per "
	                     "step, with all that disturbed it: %s (%s to %s).",
	              table_signed(pace->difference / pace->before).at,
	              table_signed(pace->low / pace->before).at, table_signed(pace->high / pace->before).at);
}

/* The fast steps where the verdict is that of the time per step. */
static void table_head_fast(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *fast = &diff->fast;

	if (diff->by_fast || !isfinite(fast->low) || !(fast->before > 1))
		return;
	dw_table_head(table, "Fast steps, which other programs disturbed least: %s, %s before, %s after (95%% "
	                     "interval %s to %s). With --by fast they decide the verdict.",
	              table_signed(fast->difference / fast->before).at, dw_text_ns(fast->before, " ").at,
	              dw_text_ns(fast->after, " ").at, table_signed(fast->low / fast->before).at,
	              table_signed(fast->high / fast->before).at);
}

static void table_head_comparable(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *pace = &diff->pace;
	double whole = pace->before;

	if (diff->by_fast) {
		table_head_by_fast(table, diff);
		return;
	}
	if (diff->verdict == DW_DIFF_TWO_RUNS) {
		dw_table_head(table, "These two runs differ by %s of the time per step: %s before, %s after.",
		              table_signed(pace->difference / whole).at, dw_text_ns(whole, " ").at,
		              dw_text_ns(pace->after, " ").at);
		dw_table_head(table, "Two runs of one program differ too, so this shows no cause. Record several "
		                     "runs a side, in turn, for a verdict.");
		return;
	}
	if (diff->verdict == DW_DIFF_NONE)
		dw_table_head(table, "No difference at this sample: %s per step (95%% interval %s to %s; %s).",
		              table_signed(pace->difference / whole).at, table_signed(pace->low / whole).at,
		              table_signed(pace->high / whole).at, table_counts(diff).at);
	else
		dw_table_head(table, "%s: %s per step, %s before, %s after (95%% interval %s to %s; %s).",
		              diff->verdict == DW_DIFF_SLOWER ? "Slower" : "Faster",
		              table_signed(pace->difference / whole).at, dw_text_ns(whole, " ").at,
		              dw_text_ns(pace->after, " ").at, table_signed(pace->low / whole).at,
		              table_signed(pace->high / whole).at, table_counts(diff).at);
	dw_table_head(table, "With runs that vary like these, a change of %s is found 95 times of 100.",
	              dw_text_percent(pace->detectable / whole).at);
}

/* What the waits for a CPU can be of the difference, if that is not negligible. */
static void table_head_contention(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *pace = &diff->pace, *ran = &diff->ran;

	if (diff->by_fast || !(fabs(diff->contention) > TABLE_CONTENTION * pace->before) ||
	    diff->reasons[DW_DIFF_CONTENTION])
		return;
	dw_table_head(table, "The steps waited for a CPU for %s before and %s after. Of the difference, %s can be these "
	                     "waits%s.",
	              dw_text_ns(pace->before - ran->before, " ").at, dw_text_ns(pace->after - ran->after, " ").at,
	              table_signed(diff->contention / pace->before).at,
	              isnan(pace->low)                             ? ""
	              : diff->accepted >> DW_DIFF_CONTENTION & 1 ? "; the interval makes no allowance for them"
	                                                           : "; the interval allows for that");
}

/* What changed apart from waits for a CPU, if these are a part of the time. */
static void table_head_ran(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *ran = &diff->ran;
	char interval[128] = "";

	if (isnan(ran->difference) ||
	    (ran->before > TABLE_RAN * diff->pace.before && ran->after > TABLE_RAN * diff->pace.after))
		return;
	if (isfinite(ran->low))
		snprintf(interval, sizeof interval, " (95%% interval %s to %s)",
		         table_signed(ran->low / ran->before).at, table_signed(ran->high / ran->before).at);
	dw_table_head(table, "Without the steps' waits for a CPU: %s per step, %s before, %s after%s. Other "
	                     "programs or threads had the CPUs.",
	              table_signed(ran->difference / ran->before).at, dw_text_ns(ran->before, " ").at,
	              dw_text_ns(ran->after, " ").at, interval);
}

static void table_head_refused(struct dwell_table *table, const struct dw_diff *diff)
{
	char text[2048];

	table_list_reasons(diff, false, "; ", text, sizeof text);
	dw_table_head(table, "Not comparable: %s.", text);
	table_list_reasons(diff, true, ",", text, sizeof text);
	dw_table_head(table, "The times per step are %s before and %s after (%s); --accept %s compares them nevertheless.",
	              dw_text_ns(diff->pace.before, " ").at, dw_text_ns(diff->pace.after, " ").at,
	              table_counts(diff).at, text);
}

static struct dwell_table *table_of_verdict(const struct dw_diff *diff)
{
	static const char *const verdicts[] = {
		[DW_DIFF_TWO_RUNS] = "two runs", [DW_DIFF_FASTER] = "faster", [DW_DIFF_SLOWER] = "slower",
		[DW_DIFF_NONE] = "no difference", [DW_DIFF_NOT_COMPARABLE] = "not comparable" };
	struct dwell_table *table = dw_table_create("diff", verdict_columns, VERDICT_COLUMNS);
	struct dw_cell *row;
	char text[256];

	if (!table)
		return NULL;
	table->part = "verdict";
	table->coverage = 1;
	table->heads_only = table->summary = true;
	if (diff->verdict == DW_DIFF_NOT_COMPARABLE)
		table_head_refused(table, diff);
	else
		table_head_comparable(table, diff);
	table_head_contention(table, diff);
	table_head_ran(table, diff);
	table_head_fast(table, diff);
	row = dw_table_row(table, 0);
	dw_cell_text(table, &row[VERDICT], verdicts[diff->verdict]);
	table_put_real(&row[CHANGE], diff->pace.difference / diff->pace.before);
	table_put_real(&row[CHANGE_LOW], diff->pace.low / diff->pace.before);
	table_put_real(&row[CHANGE_HIGH], diff->pace.high / diff->pace.before);
	table_put_real(&row[DETECTABLE], diff->pace.detectable / diff->pace.before);
	table_put_real(&row[BEFORE], diff->pace.before);
	table_put_real(&row[AFTER], diff->pace.after);
	dw_cell_int(&row[BEFORE_RUNS], (int64_t)diff->sides[DW_DIFF_BEFORE].count);
	dw_cell_int(&row[AFTER_RUNS], (int64_t)diff->sides[DW_DIFF_AFTER].count);
	table_list_reasons(diff, true, ",", text, sizeof text);
	if (*text)
		dw_cell_text(table, &row[REASONS], text);
	dw_cell_text(table, &row[BY], diff->by_fast ? "fast steps" : "time per step");
	table_put_real(&row[FAST_CHANGE], diff->fast.difference / diff->fast.before);
	table_put_real(&row[FAST_LOW], diff->fast.low / diff->fast.before);
	table_put_real(&row[FAST_HIGH], diff->fast.high / diff->fast.before);
	table_put_real(&row[FAST_BEFORE], diff->fast.before);
	table_put_real(&row[FAST_AFTER], diff->fast.after);
	return table;
}

static void table_put_row(struct dwell_table *table, double whole_ns, const struct dw_diff_row *from, bool operators)
{
	struct dw_cell *row = dw_table_row(table, 0);
	char name[512];

	snprintf(name, sizeof name, "%.400s%s", from->name, from->outside ? ", outside the steps" : "");
	dw_cell_text(table, &row[ROW_NAME], name);
	dw_cell_text(table, &row[ROW_WHERE], from->outside ? "outside" : "step");
	dw_cell_real(&row[ROW_BEFORE], from->time.before);
	dw_cell_real(&row[ROW_AFTER], from->time.after);
	dw_cell_real(&row[ROW_DIFFERENCE], from->time.difference);
	table_put_real(&row[ROW_OF_STEP], from->time.difference / whole_ns);
	table_put_real(&row[ROW_LOW], from->time.low);
	table_put_real(&row[ROW_HIGH], from->time.high);
	if (operators) {
		dw_cell_real(&row[ROW_CALLS_BEFORE], from->calls[DW_DIFF_BEFORE]);
		dw_cell_real(&row[ROW_CALLS_AFTER], from->calls[DW_DIFF_AFTER]);
	}
}

static void table_put_totals(struct dwell_table *table, const struct dw_diff_estimate *whole)
{
	struct dw_cell *totals = dw_table_totals(table);

	dw_cell_text(table, &totals[ROW_NAME], "all");
	dw_cell_real(&totals[ROW_BEFORE], whole->before);
	dw_cell_real(&totals[ROW_AFTER], whole->after);
	dw_cell_real(&totals[ROW_DIFFERENCE], whole->difference);
	table_put_real(&totals[ROW_OF_STEP], whole->difference / whole->before);
	table_put_real(&totals[ROW_LOW], whole->low);
	table_put_real(&totals[ROW_HIGH], whole->high);
}

static struct dwell_table *table_of_rows(const struct dw_diff *diff, bool operators)
{
	struct dwell_table *table =
	    operators ? dw_table_create("diff", operator_columns, ROW_ALL_COLUMNS)
	              : dw_table_create("diff", part_columns, ROW_COLUMNS);
	size_t count = operators ? diff->operator_count : diff->part_count;

	if (!table)
		return NULL;
	table->part = operators ? "operators" : "parts";
	table->coverage = 1;
	for (size_t i = 0; i < count; i++)
		table_put_row(table, diff->pace.before, operators ? &diff->operators[i] : &diff->parts[i], operators);
	if (!operators)
		table_put_totals(table, &diff->pace);
	return table;
}

/* Where the difference of fast steps is. */
static struct dwell_table *table_of_fast(const struct dw_diff *diff)
{
	struct dwell_table *table = dw_table_create("diff", fast_columns, ROW_COLUMNS);

	if (!table)
		return NULL;
	table->part = "fast";
	table->coverage = 1;
	for (size_t i = 0; i < diff->fast_count; i++)
		table_put_row(table, diff->fast.before, &diff->fast_rows[i], false);
	table_put_totals(table, &diff->fast);
	dw_table_note(table, "Self time in the fast step. Each name is compared in the runs in which it was disturbed "
	                     "least; \"everything else\" has smaller names and what that choice leaves. From low to high "
	                     "is the 95%% interval of the difference.");
	return table;
}

static struct dwell_table *table_of_runs(const struct dw_diff *diff)
{
	struct dwell_table *table = dw_table_create("diff", run_columns, sizeof run_columns / sizeof *run_columns);

	if (!table)
		return NULL;
	table->part = "runs";
	table->coverage = 1;
	for (unsigned side = 0; side < DW_DIFF_SIDES; side++)
		for (size_t i = 0; i < diff->sides[side].count; i++) {
			const struct dw_diff_run *run = &diff->sides[side].runs[i];
			struct dw_cell *row = dw_table_row(table, 0);

			dw_cell_text(table, &row[RUN_SIDE], side == DW_DIFF_BEFORE ? "before" : "after");
			dw_cell_text(table, &row[RUN_PATH], run->path);
			dw_cell_real(&row[RUN_PACE], run->pace_ns);
			dw_cell_real(&row[RUN_STEP], run->step_ns);
			dw_cell_real(&row[RUN_OUTSIDE], run->outside_ns);
			dw_cell_int(&row[RUN_STEPS], (int64_t)run->steps);
			table_put_real(&row[RUN_DELAY], run->delay);
			table_put_real(&row[RUN_OTHERS], run->others);
			dw_cell_real(&row[RUN_FAST], run->fast_ns);
		}
	dw_table_note(table, diff->iterations == DW_ITERATIONS_RUN
	                         ? "No steps are marked: a step is the whole run."
	                         : "Time per step: the mean steady step, and the loop's time outside the steps divided by their number.");
	return table;
}

struct dwell_table *dw_diff_table(const struct dw_diff *diff)
{
	struct dwell_table *tables[5];
	unsigned count = 0;
	bool failed = false;

	tables[count++] = table_of_verdict(diff);
	if (diff->fast_count)
		tables[count++] = table_of_fast(diff);
	tables[count++] = table_of_rows(diff, false);
	tables[count++] = table_of_rows(diff, true);
	tables[count++] = table_of_runs(diff);
	for (unsigned i = 0; i < count; i++)
		failed |= !tables[i] || tables[i]->failed;
	for (unsigned i = 0; i < count && failed; i++)
		dw_table_destroy(tables[i]);
	if (failed)
		return NULL;
	for (unsigned i = 0; i + 1 < count; i++)
		tables[i]->next = tables[i + 1];
	return tables[0];
}
