/* The comparison as tables: the verdict in sentences, then parts, operators and runs. */
#include <math.h>
#include <stdio.h>

#include "diff/diff.h"

enum {
	VERDICT,
	CHANGE,
	CHANGE_LOW,
	CHANGE_HIGH,
	DETECTABLE,
	BEFORE,
	AFTER,
	BEFORE_RUNS,
	AFTER_RUNS,
	REASONS,
	BY,
	FAST_CHANGE,
	FAST_LOW,
	FAST_HIGH,
	FAST_BEFORE,
	FAST_AFTER,
	CPU_CHANGE,
	CPU_LOW,
	CPU_HIGH,
	CPU_BEFORE,
	CPU_AFTER,
	VERDICT_COLUMNS
};
static const struct dw_column verdict_columns[] = {
	[VERDICT] = DW_COLUMN("verdict", "verdict", NONE, TEXT),
	[CHANGE] = DW_COLUMN("change", "change", RATIO, REAL, .of = "the time before"),
	[CHANGE_LOW] = DW_COLUMN("change_low", "low", RATIO, REAL, .of = "the time before"),
	[CHANGE_HIGH] = DW_COLUMN("change_high", "high", RATIO, REAL, .of = "the time before"),
	[DETECTABLE] = DW_COLUMN("detectable", "smallest detectable change", RATIO, REAL, .of = "the time before"),
	[BEFORE] = DW_COLUMN("before_ns", "before", NS, REAL),
	[AFTER] = DW_COLUMN("after_ns", "after", NS, REAL),
	[BEFORE_RUNS] = DW_COLUMN("before_runs", "runs before", COUNT, INT),
	[AFTER_RUNS] = DW_COLUMN("after_runs", "runs after", COUNT, INT),
	[REASONS] = DW_COLUMN("reasons", "why not comparable", NONE, TEXT),
	[BY] = DW_COLUMN("by", "verdict by", NONE, TEXT),
	[FAST_CHANGE] = DW_COLUMN("fast_change", "change of fast steps", RATIO, REAL, .of = "the fast step before"),
	[FAST_LOW] = DW_COLUMN("fast_low", "low", RATIO, REAL, .of = "the fast step before"),
	[FAST_HIGH] = DW_COLUMN("fast_high", "high", RATIO, REAL, .of = "the fast step before"),
	[FAST_BEFORE] = DW_COLUMN("fast_before_ns", "fast step before", NS, REAL),
	[FAST_AFTER] = DW_COLUMN("fast_after_ns", "fast step after", NS, REAL),
	[CPU_CHANGE] = DW_COLUMN("cpu_change", "change of CPU time", RATIO, REAL, .of = "the CPU time before"),
	[CPU_LOW] = DW_COLUMN("cpu_low", "low", RATIO, REAL, .of = "the CPU time before"),
	[CPU_HIGH] = DW_COLUMN("cpu_high", "high", RATIO, REAL, .of = "the CPU time before"),
	[CPU_BEFORE] = DW_COLUMN("cpu_before_ns", "CPU time before", NS, REAL),
	[CPU_AFTER] = DW_COLUMN("cpu_after_ns", "CPU time after", NS, REAL),
};

enum {
	ROW_NAME,
	ROW_BEFORE,
	ROW_AFTER,
	ROW_DIFFERENCE,
	ROW_OF_STEP,
	ROW_LOW,
	ROW_HIGH,
	ROW_COLUMNS,
	ROW_CALLS_BEFORE = ROW_COLUMNS,
	ROW_CALLS_AFTER,
	ROW_ALL_COLUMNS
};
#define TABLE_ROWS(label, hides_interval) \
	[ROW_NAME] = DW_COLUMN("name", label, NONE, TEXT), \
	[ROW_BEFORE] = DW_COLUMN("before_ns", "before", NS, REAL, .one_unit = true), \
	[ROW_AFTER] = DW_COLUMN("after_ns", "after", NS, REAL, .one_unit = true, .unit_of_left = true), \
	[ROW_DIFFERENCE] = DW_COLUMN("difference_ns", "difference", NS, REAL), \
	[ROW_OF_STEP] = DW_COLUMN("change_of_whole", "of the whole", RATIO, REAL), \
	[ROW_LOW] = DW_COLUMN("low_ns", "low", NS, REAL, .wide_only = hides_interval), \
	[ROW_HIGH] = DW_COLUMN("high_ns", "high", NS, REAL, .wide_only = hides_interval)
static const struct dw_column part_columns[] = { TABLE_ROWS("time per step", true) };
static const struct dw_column run_part_columns[] = { TABLE_ROWS("time of the run", false) };
static const struct dw_column sampled_columns[] = { TABLE_ROWS("functions by CPU time", false) };
static const struct dw_column fast_columns[] = { TABLE_ROWS("fast step by name", false) };
static const struct dw_column operator_columns[] = {
	TABLE_ROWS("operators by self time", true),
	[ROW_CALLS_BEFORE] = DW_COLUMN("calls_before", "calls before", COUNT, REAL, .wide_only = true),
	[ROW_CALLS_AFTER] = DW_COLUMN("calls_after", "calls after", COUNT, REAL, .wide_only = true),
};

enum { RUN_SIDE, RUN_PACE, RUN_STEP, RUN_OUTSIDE, RUN_STEPS, RUN_CPU, RUN_DELAY, RUN_OTHERS, RUN_FAST, RUN_PATH };
static const struct dw_column run_columns[] = {
	[RUN_SIDE] = DW_COLUMN("side", "run", NONE, TEXT),
	[RUN_PACE] = DW_COLUMN("ns", "per step", NS, REAL),
	[RUN_STEP] = DW_COLUMN("step_ns", "in the step", NS, REAL, .data_only = true),
	[RUN_OUTSIDE] = DW_COLUMN("outside_ns", "outside", NS, REAL, .data_only = true),
	[RUN_STEPS] = DW_COLUMN("steps", "steps", COUNT, INT),
	[RUN_CPU] = DW_COLUMN("cpu_ns", "CPU time", NS, REAL),
	[RUN_DELAY] = DW_COLUMN("delay", "without a CPU", RATIO, REAL, .of = "the time per step"),
	[RUN_OTHERS] = DW_COLUMN("others", "CPUs of others", RATIO, REAL, .of = "the machine's CPUs"),
	[RUN_FAST] = DW_COLUMN("fast_ns", "fast step", NS, REAL),
	[RUN_PATH] = DW_COLUMN("trace", "trace", NONE, TEXT),
};

#define TABLE_RAN 0.98        /* of the time per step: less shows that CPUs were missing */
#define TABLE_EXPLAINS 0.5    /* of the difference */
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

/* "10.2 ms before, 4.41 ms after (95% interval -60.1% to -50.3%; 5 runs before, 5 after)" */
static const char *table_write_estimate(const struct dw_diff *diff, const struct dw_diff_estimate *of, char *text,
                                        size_t size)
{
	snprintf(text, size, "%s before, %s after (95%% interval %s to %s; %s)", dw_text_ns(of->before, " ").at,
	         dw_text_ns(of->after, " ").at, table_signed(of->low / of->before).at,
	         table_signed(of->high / of->before).at, table_counts(diff).at);
	return text;
}

/* What a verdict that is none needs. */
static const char *table_proof(const struct dw_diff *diff)
{
	return diff->verdict == DW_DIFF_NOT_PROVEN
	           ? " The interval holds both no change and a large one: more runs, or a quieter machine, will show which it is."
	           : "";
}

static const char table_fast_meaning[] =
	"A fast step is the sum of its pieces between begins and ends of ranges, each as "
	"fast as its fastest hundredth; the runs that were disturbed least are compared.";

/* The verdict by fast steps that the caller asked for, and that the time per step has no verdict then. */
static void table_head_by_fast(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *fast = &diff->fast, *pace = &diff->pace;
	char text[256];

	dw_table_head(table, "%s: fast steps %s, %s.%s", dw_diff_verdict_words(diff),
	              table_signed(fast->difference / fast->before).at,
	              table_write_estimate(diff, fast, text, sizeof text), table_proof(diff));
	dw_table_head(table, "%s The time per step, with all that disturbed it: %s (%s to %s).", table_fast_meaning,
	              table_signed(pace->difference / pace->before).at, table_signed(pace->low / pace->before).at,
	              table_signed(pace->high / pace->before).at);
}

/* The verdict by what other programs hardly change, because the time per step cannot tell. */
static void table_head_chosen(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *by = dw_diff_deciding(diff), *pace = &diff->pace;
	bool fast = diff->by == DW_DIFF_BY_FAST;
	char text[256];

	dw_table_head(table, "%s by %s in %s; %s cannot tell, because other programs had the CPUs.",
	              dw_diff_verdict_words(diff), dw_text_percent(fabs(by->difference / by->before)).at,
	              fast ? "fast steps" : "processor time", fast ? "the mean" : "the wall time");
	dw_table_head(table, "%s: %s, %s.%s%s", fast ? "Fast steps" : "Processor time of a run",
	              table_signed(by->difference / by->before).at, table_write_estimate(diff, by, text, sizeof text),
	              fast ? " " : "", fast ? table_fast_meaning : "");
	dw_table_head(
		table, "%s, with all that disturbed it: %s, %s.", fast ? "The time per step" : "The wall time of a run",
		table_signed(pace->difference / pace->before).at, table_write_estimate(diff, pace, text, sizeof text));
}

/* The fast steps where the verdict is that of the time per step. */
static void table_head_fast(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *fast = &diff->fast;

	if (diff->by != DW_DIFF_BY_PACE || !isfinite(fast->low) || !(fast->before > 1))
		return;
	dw_table_head(table, "Fast steps, which other programs disturbed least: %s, %s before, %s after (95%% "
	                     "interval %s to %s). With --by fast they decide the verdict.",
	              table_signed(fast->difference / fast->before).at, dw_text_ns(fast->before, " ").at,
	              dw_text_ns(fast->after, " ").at, table_signed(fast->low / fast->before).at,
	              table_signed(fast->high / fast->before).at);
}

/* The CPU time of runs without steps, where the verdict is that of their wall time. */
static void table_head_cpu(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *cpu = &diff->cpu;
	char interval[128] = "";

	if (diff->by != DW_DIFF_BY_PACE || diff->iterations != DW_ITERATIONS_RUN || isnan(cpu->difference))
		return;
	if (!isnan(cpu->low))
		snprintf(interval, sizeof interval, " (95%% interval %s to %s)", table_signed(cpu->low / cpu->before).at,
		         table_signed(cpu->high / cpu->before).at);
	dw_table_head(table, "Processor time of a run, of all processes: %s, %s before, %s after%s.",
	              table_signed(cpu->difference / cpu->before).at, dw_text_ns(cpu->before, " ").at,
	              dw_text_ns(cpu->after, " ").at, interval);
}

static void table_head_comparable(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *pace = &diff->pace;
	const char *unit = dw_diff_unit(diff);
	char text[256];

	if (diff->by != DW_DIFF_BY_PACE) {
		if (diff->chosen)
			table_head_chosen(table, diff);
		else
			table_head_by_fast(table, diff);
		return;
	}
	if (diff->verdict == DW_DIFF_TWO_RUNS) {
		dw_table_head(table, "%s by %s of the time per %s: %s before, %s after.", dw_diff_verdict_words(diff),
		              table_signed(pace->difference / pace->before).at, unit, dw_text_ns(pace->before, " ").at,
		              dw_text_ns(pace->after, " ").at);
		dw_table_head(table, "Two runs of one program differ too, so this shows no cause. Record several "
		                     "runs a side, in turn, for a verdict.");
		return;
	}
	dw_table_head(table, "%s: %s per %s, %s.", dw_diff_verdict_words(diff),
	              table_signed(pace->difference / pace->before).at, unit,
	              table_write_estimate(diff, pace, text, sizeof text));
	dw_table_head(table, "With runs that vary like these, a change of %s is found 95 times of 100.%s",
	              dw_text_percent(pace->detectable / pace->before).at, table_proof(diff));
}

/* The warm-up is part of the mean: a difference that is mostly its own is no difference of later steps. */
static void table_head_warm_up(struct dwell_table *table, const struct dw_diff *diff)
{
	double part = diff->warm_up / diff->pace.difference;

	if (!(part > TABLE_EXPLAINS) || !(fabs(diff->warm_up) > TABLE_CONTENTION * diff->pace.before))
		return;
	dw_table_head(table,
	              "Of the difference, %s is that of first steps, which take longer than later ones: compare without "
	              "them by --steps FIRST..",
	              table_signed(diff->warm_up / diff->pace.before).at);
}

/* What the waits for a CPU can be of the difference, if that is not negligible. */
static void table_head_contention(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *pace = &diff->pace, *ran = &diff->ran;

	if (diff->by != DW_DIFF_BY_PACE || !(fabs(diff->contention) > TABLE_CONTENTION * pace->before) ||
	    diff->reasons[DW_DIFF_CONTENTION])
		return;
	dw_table_head(table,
	              "The %ss waited for a CPU for %s before and %s after. Of the difference, %s can be these "
	              "waits%s.",
	              dw_diff_unit(diff), dw_text_ns(pace->before - ran->before, " ").at,
	              dw_text_ns(pace->after - ran->after, " ").at, table_signed(diff->contention / pace->before).at,
	              isnan(pace->low)                           ? ""
	              : diff->accepted >> DW_DIFF_CONTENTION & 1 ? "; the interval makes no allowance for them"
	                                                         : "; the interval allows for that");
}

/* What changed apart from waits for a CPU, if these are a part of the time. */
static void table_head_ran(struct dwell_table *table, const struct dw_diff *diff)
{
	const struct dw_diff_estimate *ran = &diff->ran;
	const char *unit = dw_diff_unit(diff);
	char interval[128] = "";

	if (isnan(ran->difference) ||
	    (ran->before > TABLE_RAN * diff->pace.before && ran->after > TABLE_RAN * diff->pace.after))
		return;
	if (isfinite(ran->low))
		snprintf(interval, sizeof interval, " (95%% interval %s to %s)",
		         table_signed(ran->low / ran->before).at, table_signed(ran->high / ran->before).at);
	dw_table_head(table,
	              "Without the %ss' waits for a CPU: %s per %s, %s before, %s after%s. Other "
	              "programs or threads had the CPUs.",
	              unit, table_signed(ran->difference / ran->before).at, unit, dw_text_ns(ran->before, " ").at,
	              dw_text_ns(ran->after, " ").at, interval);
}

static void table_head_refused(struct dwell_table *table, const struct dw_diff *diff)
{
	char text[2048];

	table_list_reasons(diff, false, "; ", text, sizeof text);
	dw_table_head(table, "Not comparable: %s.", text);
	table_list_reasons(diff, true, ",", text, sizeof text);
	dw_table_head(table, "The times per %s are %s before and %s after (%s); --accept %s compares them nevertheless.",
	              dw_diff_unit(diff), dw_text_ns(diff->pace.before, " ").at, dw_text_ns(diff->pace.after, " ").at,
	              table_counts(diff).at, text);
}

static struct dwell_table *table_of_verdict(const struct dw_diff *diff)
{
	static const char *const verdicts[] = {
		[DW_DIFF_TWO_RUNS] = "two runs",     [DW_DIFF_FASTER] = "faster",
		[DW_DIFF_SLOWER] = "slower",         [DW_DIFF_NONE] = "no difference",
		[DW_DIFF_NOT_PROVEN] = "not proven", [DW_DIFF_NOT_COMPARABLE] = "not comparable"
	};
	static const char *const bys[] = {
#define X(name, label) label,
		DW_DIFF_BYS(X)
#undef X
	};
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
	table_head_warm_up(table, diff);
	table_head_fast(table, diff);
	table_head_cpu(table, diff);
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
	dw_cell_text(table, &row[BY], bys[diff->by]);
	table_put_real(&row[FAST_CHANGE], diff->fast.difference / diff->fast.before);
	table_put_real(&row[FAST_LOW], diff->fast.low / diff->fast.before);
	table_put_real(&row[FAST_HIGH], diff->fast.high / diff->fast.before);
	table_put_real(&row[FAST_BEFORE], diff->fast.before);
	table_put_real(&row[FAST_AFTER], diff->fast.after);
	table_put_real(&row[CPU_CHANGE], diff->cpu.difference / diff->cpu.before);
	table_put_real(&row[CPU_LOW], diff->cpu.low / diff->cpu.before);
	table_put_real(&row[CPU_HIGH], diff->cpu.high / diff->cpu.before);
	table_put_real(&row[CPU_BEFORE], diff->cpu.before);
	table_put_real(&row[CPU_AFTER], diff->cpu.after);
	return table;
}

static void table_put_row(struct dwell_table *table, double whole_ns, const struct dw_diff_row *from, bool operators)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_text(table, &row[ROW_NAME], from->name);
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

enum table_rows { TABLE_PARTS, TABLE_RUN, TABLE_OPERATORS, TABLE_SAMPLED };

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

static struct dwell_table *table_of_rows(const struct dw_diff *diff, enum table_rows kind)
{
	const struct dw_diff_row *const lists[] = { diff->parts, diff->parts, diff->operators, diff->sampled_rows };
	const size_t counts[] = { diff->part_count, diff->part_count, diff->operator_count, diff->sampled_count };
	static const struct dw_column *const columns[] = { part_columns, run_part_columns, operator_columns,
		                                               sampled_columns };
	static const char *const parts[] = { "parts", "parts", "operators", "functions" };
	bool operators = kind == TABLE_OPERATORS;
	struct dwell_table *table = dw_table_create("diff", columns[kind], operators ? ROW_ALL_COLUMNS : ROW_COLUMNS);
	const struct dw_diff_estimate *whole = kind == TABLE_SAMPLED ? &diff->cpu : &diff->pace;

	if (!table)
		return NULL;
	table->part = parts[kind];
	table->coverage = 1;
	for (size_t i = 0; i < counts[kind]; i++)
		table_put_row(table, whole->before, &lists[kind][i], operators);
	if (kind == TABLE_PARTS || kind == TABLE_RUN)
		table_put_totals(table, whole);
	if (kind == TABLE_SAMPLED)
		dw_table_note(
			table,
			"CPU time by samples, of all threads of a run; \"of the whole\" is of the CPU time before. From low to "
			"high is the 95%% interval of the difference%s.",
			isnan(diff->pace.low) ? ", as far as samples of these two runs tell" : "");
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
			table_put_real(&row[RUN_CPU], run->cpu_ns > 0 ? run->cpu_ns : NAN);
			table_put_real(&row[RUN_DELAY], run->delay);
			table_put_real(&row[RUN_OTHERS], run->others);
			if (diff->iterations != DW_ITERATIONS_RUN)
				dw_cell_real(&row[RUN_FAST], run->fast_ns);
		}
	dw_table_note(table, diff->iterations == DW_ITERATIONS_RUN
	                         ? "No steps are marked: a step is the whole run."
	                         : "Time per step: that of the loops, divided by the number of steps.");
	return table;
}

struct dwell_table *dw_diff_table(const struct dw_diff *diff)
{
	struct dwell_table *tables[6];
	unsigned count = 0;
	bool failed = false;

	tables[count++] = table_of_verdict(diff);
	if (diff->fast_count)
		tables[count++] = table_of_fast(diff);
	tables[count++] = table_of_rows(diff, diff->iterations == DW_ITERATIONS_RUN ? TABLE_RUN : TABLE_PARTS);
	tables[count++] = table_of_rows(diff, TABLE_OPERATORS);
	if (diff->sampled_count)
		tables[count++] = table_of_rows(diff, TABLE_SAMPLED);
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
