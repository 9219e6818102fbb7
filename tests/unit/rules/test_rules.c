/*
 * Rules: each on facts made by hand. It fires, it does not fire just below its threshold, it
 * abstains without evidence, and it is not deceived by what looks alike.
 */
#include "made_facts.h"

/* ---- each rule ------------------------------------------------------------------------------- */

struct setting {
	enum dw_fact_id id;
	double value;
};

/* Facts under which a rule fires, set in those of a healthy loop (made_facts.h). Together they must
 * be possible: if small calls increase, so do all calls. */
static const struct trial {
	const char *id;
	double below;               /* the rule is silent if settings[0] has this value */
	struct setting other;       /* it is silent with this too, which looks alike; or NO_OTHER */
	struct setting settings[8]; /* the first is the one whose value decides */
} trials[] = {
#define S(id, value) \
	{ \
		DW_FACT_##id, value \
	}
#define NO_OTHER \
	{ \
		DW_FACT_COUNT, 0 \
	}
	{ "loader-restart",
	  0.04,
	  S(LOADER_WORKERS_STARTED, 2),
	  { S(LOADER_START_SHARE, 0.4), S(LOADER_EPOCHS, 3), S(LOADER_WORKERS_STARTED, 6), S(LOADER_WORKERS, 2),
	    S(LOADER_START, 100e6) } },
	{ "loader-one-slow-worker",
	  1.2,
	  S(STEP_DATA, 0.05),
	  { S(LOADER_SLOWEST, 3), S(STEP_DATA, 0.3), S(LOADER_WORKERS, 4) } },
	{ "loader-handover",
	  0.1,
	  S(LOADER_EMPTY, 0.9),
	  { S(LOADER_HAND_OVER, 0.4), S(STEP_DATA, 0.5), S(LOADER_WORKERS, 2), S(LOADER_EMPTY, 0.02),
	    S(LOADER_STARVED, 0.05), S(LOADER_READY, 3.8), S(LOADER_HAND_OVER_NS, 4e6) } },
	{ "loader-shallow-queue",
	  1.2,
	  S(LOADER_PRODUCTION, 40e6),
	  { S(LOADER_VARIATION, 5), S(STEP_DATA, 0.3), S(LOADER_WORKERS, 2), S(LOADER_PRODUCTION, 5e6),
	    S(LOADER_EMPTY, 0.3) } },
	{ "loader-slow-workers",
	  0.05,
	  S(LOADER_WORKERS, 0),
	  { S(STEP_DATA, 0.3), S(LOADER_WORKERS, 2), S(LOADER_PRODUCTION, 20e6), S(LOADER_EMPTY, 0.9) } },
	{ "loader-in-process",
	  0.09,
	  S(LOADER_WORKERS, 2),
	  { S(STEP_DATA, 0.3), S(LOADER_IN_PROCESS, 0.3), S(LOADER_PRODUCTION, 3e6) } },
	{ "loader-part", 0.4, S(STEP_DATA, 0.06), { S(LOADER_PART, 0.8), S(STEP_DATA, 0.3) } },
	{ "communication", 0.06, S(COMM_MESSAGES, 0.8), { S(STEP_COMMUNICATION, 0.3), S(COMM_MESSAGES, 0.2) } },
	{ "messages", 0.06, S(COMM_MESSAGES, 0.2), { S(STEP_COMMUNICATION, 0.3), S(COMM_MESSAGES, 0.8) } },
	{ "rank-waits",
	  0.05,
	  S(COMM_EXPOSED, 0.9),
	  { S(COMM_WAIT, 0.3), S(RUN_RANKS, 2), S(COMM_EXPOSED, 0.35), S(COMM_LAST_RANK, 1), S(COMM_LAST_RANK_SHARE, 0.95),
	    S(STEP_COMMUNICATION, 0.35) } },
	{ "checkpoint", 0.04, NO_OTHER, { S(LOOP_CHECKPOINT_ALL, 0.45), S(LOOP_STEPS, 0.5) } },
	{ "logging", 0.04, NO_OTHER, { S(LOOP_LOGGING_ALL, 0.3), S(LOOP_STEPS, 0.6) } },
	{ "evaluation", 0.06, NO_OTHER, { S(LOOP_EVALUATION_ALL, 0.5), S(LOOP_STEPS, 0.45) } },
	{ "evaluation-graphs",
	  0.02,
	  S(LOOP_EVALUATION, 0.03),
	  { S(EVALUATION_GRAPHS, 1), S(LOOP_EVALUATION, 0.3), S(LOOP_EVALUATION_ALL, 0.3), S(LOOP_STEPS, 0.6) } },
	{ "between-steps", 0.05, NO_OTHER, { S(LOOP_OPERATORS, 0.3), S(LOOP_STEPS, 0.6) } },
	{ "after-steps", 0.05, NO_OTHER, { S(RUN_AFTER, 0.6) } },
	{ "unused-gradients", 0.4, S(STEP_BACKWARD, 0.05), { S(GRADIENTS_UNUSED, 0.9), S(GRADIENTS_UNUSED_COUNT, 1e6) } },
	{ "padding",
	  0.3,
	  S(STEP_OPTIMIZER, 0.7),
	  { S(DATA_PADDING, 0.9), S(OPERATORS_SHARE, 0.9), S(DATA_LONGEST, 0.3) } },
	{ "change-point", 0.05, S(STEP_STEADY, 30), { S(DRIFT_CHANGE, 0.4), S(DRIFT_CHANGE_STEP, 31) } },
	{ "drift", 0.05, S(STEP_STEADY, 30), { S(DRIFT_SLOPE, 0.4) } },
	{ "input-size-variance",
	  0.03,
	  S(INPUT_VARIATION, 0.6),
	  { S(STEP_EXCESS, 0.3), S(INPUT_VARIATION, 0.8), S(STEP_SPREAD, 0.6) } },
	{ "input-extended", 0.06, S(INPUT_GROWS, 0.74), { S(STEP_FORWARD, 0.8), S(STEP_BACKWARD, 0), S(INPUT_GROWS, 0.98) } },
	{ "collector", 0.06, NO_OTHER, { S(LOOP_COLLECTOR_ALL, 0.2) } },
	{ "synchronising-call",
	  0.03,
	  S(OPERATORS_SYNCHRONISING_COUNT, 0),
	  { S(OPERATORS_SYNCHRONISING, 0.3), S(OPERATORS_SYNCHRONISING_COUNT, 5) } },
	{ "compilation", 0.03, NO_OTHER, { S(OPERATORS_COMPILATION, 0.3), S(OPERATORS_COMPILATIONS, 3) } },
	{ "first-shapes", 0.03, NO_OTHER, { S(OPERATORS_FIRST_SHAPES, 0.3), S(OPERATORS_NEW_SHAPES, 3) } },
	{ "graph-breaks",
	  0,
	  S(STEP_PYTHON, 0.03),
	  { S(OPERATORS_GRAPH_BREAKS, 2), S(STEP_PYTHON, 0.2), S(OPERATORS_COMPILED, 6) } },
	{ "small-operators",
	  0.02,
	  S(OPTIMIZER_COUNT, 1500),
	  { S(OPERATORS_SMALL, 0.5), S(OPERATORS_SMALL_COUNT, 1500), S(OPERATORS_SMALL_MEAN, 2.6e3),
	    S(OPERATORS_COUNT, 1560), S(STEP_PYTHON, 0.05) } },
	{ "python", 0.06, NO_OTHER, { S(LOOP_PYTHON, 0.35) } },
	{ "optimizer-unfused",
	  0.12,
	  S(OPTIMIZER_FOREACH, 1),
	  { S(STEP_OPTIMIZER, 0.3), S(OPTIMIZER_COUNT, 420), S(OPTIMIZER_FUSED, 0), S(OPTIMIZER_FOREACH, 0) } },
	{ "optimizer-dominates", 0.15, NO_OTHER, { S(STEP_OPTIMIZER, 0.66) } },
	{ "layout-copies", 0.02, NO_OTHER, { S(OPERATORS_LAYOUT, 0.3), S(OPERATORS_COPIES, 0.02) } },
	{ "one-operator", 0.38, S(TRACE_DEVICE_UNSEEN, 1), { S(OPERATORS_LARGEST, 0.7) } },
	{ "memory-bound-chain", 0.25, S(OPERATORS_COMPILED, 3), { S(OPERATORS_ELEMENTWISE, 0.7) } },
	{ "roofline", 0.30, S(FLOPS_SLOW_SHARE, 0.9), { S(FLOPS_SLOW, 0.7), S(FLOPS_SLOW_SHARE, 0.1) } },
	{ "precision", 0.15, S(TRACE_DEVICE_UNSEEN, 1), { S(OPERATORS_FLOAT64, 0.7) } },
	{ "half-precision", 0.30, NO_OTHER, { S(OPERATORS_FLOAT32, 0.7) } },
	{ "named-part", 0.15, S(TRACE_DEVICE_UNSEEN, 1), { S(STEP_NAMED_LARGEST, 0.55) } },
	{ "nameless", 0.06, NO_OTHER, { S(STEP_UNNAMED, 0.5), S(TRACE_PYTHON, 0) } },
	{ "compute", 0, S(TRACE_DEVICE_UNSEEN, 1), { S(STEP_FORWARD, 0.5), S(STEP_OPTIMIZER, 0) } },
	{ "memory-growth",
	  0.05,
	  S(MEMORY_GROWTH, 1000),
	  { S(MEMORY_GROWTH_SHARE, 0.5), S(MEMORY_GROWTH, 4e6), S(MEMORY_PEAK, 1e8) } },
	{ "memory-kept",
	  0.05,
	  S(STEP_BACKWARD, 0.4),
	  { S(MEMORY_GROWTH_SHARE, 0.5), S(MEMORY_GROWTH, 4e6), S(MEMORY_PEAK, 1e8), S(STEP_BACKWARD, 0), S(STEP_OPTIMIZER, 0) } },
	{ "memory-limit", 0.85, NO_OTHER, { S(MEMORY_PEAK_SHARE, 0.95), S(MEMORY_PEAK, 15e9), S(MEMORY_CAPACITY, 16e9) } },
	{ "memory-owners", 0.10, S(MEMORY_PEAK, 1e6), { S(MEMORY_GRADIENTS_KEPT, 0.3), S(MEMORY_PEAK, 1e8) } },
	{ "memory-room", 0.60, NO_OTHER, { S(MEMORY_PEAK_SHARE, 0.2), S(MEMORY_PEAK, 3e9), S(MEMORY_CAPACITY, 16e9) } },
	{ "memory-temporaries", 0.20, S(MEMORY_PEAK, 1e6), { S(MEMORY_TEMPORARIES_SHARE, 0.7), S(MEMORY_PEAK, 3e9) } },
	{ "oversubscribed",
	  0.06,
	  S(CPU_OTHERS, 0.7),
	  { S(CPU_DELAY, 0.4), S(CPU_THREADS, 16), S(CPU_CPUS, 2), S(CPU_OTHERS, 0.02) } },
	{ "thread-count", 7, S(CPU_OPERATOR_THREADS, 2), { S(CPU_BUSY, 1.2), S(CPU_OPERATOR_THREADS, 8), S(CPU_CPUS, 8) } },
	{ "page-faults", 0.06, NO_OTHER, { S(CPU_FAULTS_MINOR, 0.4) } },
	{ "profiler-cost", 0.03, NO_OTHER, { S(RUN_PROFILER, 0.27) } },
	{ "device-host-late",
	  0.08,
	  NO_OTHER,
	  { S(DEVICE_HOST_LATE, 0.35), S(DEVICE_BUSY, 0.6), S(DEVICE_COMPUTE, 0.4), S(STEP_PYTHON, 0.5) } },
	{ "device-host-elsewhere",
	  0.08,
	  S(DEVICE_LATE_LONG, 0.2),
	  { S(DEVICE_HOST_LATE, 0.35), S(DEVICE_LATE_LONG, 0.9), S(DEVICE_BUSY, 0.6), S(DEVICE_COMPUTE, 0.4) } },
	{ "device-sync", 0.03, NO_OTHER, { S(DEVICE_SYNC, 0.3), S(DEVICE_BUSY, 0.6), S(STEP_IDLE, 0.5) } },
	{ "device-communication",
	  0.08,
	  NO_OTHER,
	  { S(DEVICE_COMMUNICATION, 0.3), S(DEVICE_BUSY, 0.9), S(STEP_COMMUNICATION, 0.5) } },
	{ "device-pageable",
	  0.3,
	  S(DEVICE_COPY, 0.03),
	  { S(DEVICE_PAGEABLE, 0.9), S(DEVICE_COPY, 0.2), S(DEVICE_BUSY, 0.9) } },
	{ "device-copies", 0.08, NO_OTHER, { S(DEVICE_COPY, 0.2), S(DEVICE_BUSY, 0.9) } },
	{ "device-streams", 0.08, NO_OTHER, { S(DEVICE_WAIT, 0.2), S(DEVICE_BUSY, 0.7) } },
	{ "device-first-calls",
	  0.08,
	  NO_OTHER,
	  { S(DEVICE_FIRST, 0.7), S(DEVICE_HOST_LATE, 0.2), S(DEVICE_BUSY, 0.1), S(DEVICE_STEP, 1e8) } },
	{ "device-start", 0.4, NO_OTHER, { S(DEVICE_START, 0.6), S(DEVICE_BUSY, 0.3) } },
	{ "device-end", 0.4, NO_OTHER, { S(DEVICE_NOTHING, 0.6), S(DEVICE_BUSY, 0.3) } },
	{ "device-queued", 0.08, NO_OTHER, { S(DEVICE_QUEUED, 0.3), S(DEVICE_BUSY, 0.6), S(DEVICE_LATENCY, 0.1) } },
	{ "device-unknown", 0.08, NO_OTHER, { S(DEVICE_UNKNOWN, 0.3), S(DEVICE_BUSY, 0.6) } },
	{ "device-latency", 0.08, NO_OTHER, { S(DEVICE_LATENCY, 0.2), S(DEVICE_BUSY, 0.7) } },
	{ "device-compute", 0.4, S(DEVICE_SYNC, 0.2), { S(DEVICE_COMPUTE, 0.9), S(DEVICE_BUSY, 0.95) } },
};

/* Of these the first sentence is another rule's: what contains them. */
static bool trial_is_detail(const struct trial *trial)
{
	return strcmp(trial->id, "loader-part") == 0;
}

static const struct trial *trial_find(const char *id)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
		if (strcmp(trials[i].id, id) == 0)
			return &trials[i];
	abort();
}

/* Sets what decides whether the rule fires. Some shares are those of cells. */
static void trial_set(const struct trial *trial, struct judged *at, double value)
{
	const struct {
		enum dw_fact_id id;
		struct made_cell cell;
	} cells[] = {
		{ DW_FACT_LOOP_CHECKPOINT_ALL, CELL(RUNS, DISK, value, .share = DW_SHARE_CHECKPOINT) },
		{ DW_FACT_LOOP_EVALUATION_ALL, CELL(RUNS, OWN, value, .share = DW_SHARE_EVALUATION) },
		{ DW_FACT_STEP_NAMED_LARGEST, CELL(RUNS, OWN, value, .range = "metrics") },
		{ DW_FACT_LOOP_COLLECTOR_ALL, CELL(RUNS, COLLECTOR, value, .share = DW_SHARE_COLLECTOR) },
		{ DW_FACT_LOOP_PYTHON, CELL(RUNS, INTERPRETER, value) },
		{ DW_FACT_CPU_FAULTS_MINOR, CELL(RUNS, FAULT, value) },
	};

	set(at, trial->settings[0].id, value);
	if (trial->settings[0].id == DW_FACT_STEP_NAMED_LARGEST)
		made_largest_range(&at->account, &at->facts, "metrics", value);
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		if (cells[i].id == trial->settings[0].id)
			set_cells(at, (const struct made_cell[]){ cells[i].cell, CELL(RUNS, OWN, 0) });
}

/* The facts of a trial, and the words that some rules need. */
static void trial_prepare(const struct trial *trial, struct judged *at)
{
	healthy(at);
	for (size_t i = 0; i < 8 && (i == 0 || trial->settings[i].id); i++)
		set(at, trial->settings[i].id, trial->settings[i].value);
	trial_set(trial, at, trial->settings[0].value);
	at->facts.at[DW_FACT_MEMORY_PEAK].note = "cuda:0";
	at->facts.at[DW_FACT_LOADER_PART].name = "decode";
}

/* The rule that is reported in place of a covered one, for messages: the rules of a group explain
 * the same time. "" if the rule is not covered. */
static const char *covered_by(const struct judged *at, const struct dw_verdict *covered)
{
	for (size_t i = 0; i < at->verdicts.fired && covered->state == DW_RULE_COVERED; i++)
		if (at->verdicts.at[i].rule->group == covered->rule->group)
			return at->verdicts.at[i].rule->id;
	return "";
}

static void check_fires(const struct judged *at, const char *id)
{
	static const char *const states[] = {
		[DW_RULE_FIRED] = "fires",
		[DW_RULE_COVERED] = "is covered by ",
		[DW_RULE_QUIET] = "is silent: its condition does not hold",
		[DW_RULE_NOT_MEASURED] = "is silent: a fact that it needs is not measured",
	};
	const struct dw_verdict *verdict = found(at, id);

	if (verdict->state != DW_RULE_FIRED)
		CHECK_FAIL("%s %s%s", id, states[verdict->state], covered_by(at, verdict));
}

TEST(a_failure_names_the_rule_that_covers)
{
	struct judged at;

	trial_prepare(trial_find("small-operators"), &at);
	set(&at, DW_FACT_OPERATORS_COMPILATION, 0.5);
	set(&at, DW_FACT_OPERATORS_COMPILATIONS, 3);
	judge(&at);
	CHECK_EQ(found(&at, "small-operators")->state, DW_RULE_COVERED);
	CHECK_STR(covered_by(&at, found(&at, "small-operators")), "compilation");
	CHECK_STR(covered_by(&at, found(&at, "compilation")), "");
	done(&at);
}

TEST(each_rule_fires)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		struct judged at;

		trial_prepare(&trials[i], &at);
		judge(&at);
		REQUIRE(found(&at, trials[i].id));
		check_fires(&at, trials[i].id);
		if (!*found(&at, trials[i].id)->statement)
			CHECK_FAIL("%s says nothing", trials[i].id);
		done(&at);
	}
}

TEST(each_rule_is_first_if_it_is_alone)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		struct judged at;

		trial_prepare(&trials[i], &at);
		judge(&at);
		if (found(&at, trials[i].id)->rule->kind <= DW_RULE_WORK && !trial_is_detail(&trials[i]) &&
		    strcmp(first(&at), trials[i].id) != 0)
			CHECK_FAIL("%s: the first sentence is of %s", trials[i].id, first(&at));
		done(&at);
	}
}

TEST(each_rule_is_silent_below_its_threshold)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		struct judged at;

		trial_prepare(&trials[i], &at);
		trial_set(&trials[i], &at, trials[i].below);
		judge(&at);
		if (found(&at, trials[i].id)->state == DW_RULE_FIRED)
			CHECK_FAIL("%s fires", trials[i].id);
		done(&at);
	}
}

TEST(each_rule_is_silent_about_what_looks_alike)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		struct judged at;

		if (trials[i].other.id == DW_FACT_COUNT)
			continue;
		trial_prepare(&trials[i], &at);
		set(&at, trials[i].other.id, trials[i].other.value);
		judge(&at);
		if (found(&at, trials[i].id)->state == DW_RULE_FIRED)
			CHECK_FAIL("%s fires", trials[i].id);
		done(&at);
	}
}

/* ---- beside a device ------------------------------------------------------------------------- */

/* What is true while a device computes all of the time: it is of memory, of the time between steps, or of the device.
 */
static const char *const of_any_program[] = {
	"checkpoint",        "logging",
	"evaluation-graphs", "evaluation",
	"between-steps",     "memory-growth",
	"after-steps",       "memory-kept",
	"memory-limit",      "memory-owners",
	"memory-room",       "memory-temporaries",
	"device-host-late",  "device-host-elsewhere",
	"device-sync",       "device-communication",
	"device-pageable",   "device-copies",
	"device-streams",    "device-first-calls",
	"device-start",      "device-end",
	"device-queued",     "device-unknown",
	"device-latency",    "device-compute",
};
/* And if it is idle: the host makes it wait. */
static const char *const of_a_late_host[] = {
	"loader-restart",
	"loader-one-slow-worker",
	"loader-handover",
	"loader-shallow-queue",
	"loader-slow-workers",
	"loader-in-process",
	"loader-part",
	"change-point",
	"drift",
	"input-size-variance",
	"collector",
	"oversubscribed",
	"python",
	"page-faults",
	"profiler-cost",
};

static bool is_in(const char *id, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(id, list[i]) == 0)
			return true;
	return false;
}

TEST(no_rule_takes_operators_that_launch_work_of_a_device_for_work_of_the_host)
{
	for (size_t i = 0; i < 3 * (sizeof trials / sizeof *trials); i++) {
		const struct trial *trial = &trials[i / 3];
		bool busy = i % 3 == 0, idle = i % 3 == 1, holds;
		struct judged at;

		trial_prepare(trial, &at);
		if (i % 3 < 2)
			set(&at, DW_FACT_DEVICE_BUSY, busy ? 0.99 : 0.05);
		else if (!is_in(trial->id,
		                (const char *[]){ "thread-count", "precision", "half-precision", "compute", "one-operator",
		                                  "roofline", "named-part" },
		                7))
			continue;
		else
			set(&at, DW_FACT_TRACE_DEVICE_UNSEEN, 1);
		holds =
			i % 3 < 2 && (is_in(trial->id, of_any_program, sizeof of_any_program / sizeof *of_any_program) ||
		                  (idle && is_in(trial->id, of_a_late_host, sizeof of_a_late_host / sizeof *of_a_late_host)));
		judge(&at);
		if ((found(&at, trial->id)->state == DW_RULE_FIRED) != holds)
			CHECK_FAIL("%s %s although a device %s: %s", trial->id, holds ? "is silent" : "fires",
			           busy ? "is busy" : idle ? "is idle" : "was used and not recorded",
			           holds ? "it is in of_any_program or of_a_late_host of this file"
			                 : "set .host_times in its entry, or, if it is true then too, add it to of_any_program or of_a_late_host of this file");
		done(&at);
	}
}

/* fsync runs on a CPU, or waits: neither is Python. */
TEST(python_contains_no_files)
{
	struct judged at;

	healthy(&at);
	set_cells(&at, MADE_CELLS(CELL(RUNS, DISK, 0.30), CELL(RUNS, INTERPRETER, 0.05)));
	judge(&at);
	CHECK_STR(first(&at), "waiting-file");
	CHECK(found(&at, "python")->state != DW_RULE_FIRED);
	done(&at);
	set_cells(&at, MADE_CELLS(CELL(WAITS, DISK, 0.30), CELL(RUNS, INTERPRETER, 0.35)));
	judge(&at);
	CHECK_EQ(found(&at, "waiting-file")->state, DW_RULE_FIRED);
	CHECK_EQ(found(&at, "python")->state, DW_RULE_FIRED);
	CHECK_STR(found(&at, "python")->statement, "The interpreter of Python takes 35% of the loop.");
	done(&at);
}

TEST(calls_of_an_optimizer_are_the_optimizers)
{
	struct judged at;

	trial_prepare(trial_find("small-operators"), &at);
	set(&at, DW_FACT_STEP_OPTIMIZER, 0.4);
	set(&at, DW_FACT_OPTIMIZER_COUNT, 1300);
	set(&at, DW_FACT_OPTIMIZER_FUSED, 0);
	set(&at, DW_FACT_OPTIMIZER_FOREACH, 0);
	judge(&at);
	CHECK_STR(first(&at), "optimizer-unfused");
	CHECK(found(&at, "small-operators")->state != DW_RULE_FIRED);
	done(&at);
}

TEST(each_rule_abstains_without_evidence)
{
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		const struct dw_rule *rule = dw_rule_at(0);

		for (size_t n = 0; rule && strcmp(rule->id, trials[i].id) != 0;)
			rule = dw_rule_at(++n);
		REQUIRE(rule);
		for (const enum dw_fact_id *id = rule->needs; *id != DW_FACT_COUNT; id++) {
			struct judged at;

			trial_prepare(&trials[i], &at);
			at.facts.at[*id] = (struct dw_fact){ .missing = "record with dwell run --more", .symbol = DW_NO_INDEX };
			judge(&at);
			CHECK_EQ(found(&at, trials[i].id)->state, DW_RULE_NOT_MEASURED);
			CHECK_STR(found(&at, trials[i].id)->missing, "record with dwell run --more");
			done(&at);
		}
	}
}

static bool is_of_call(const struct dw_rule *rule)
{
	return rule->cells && rule->cells->call && rule->cells->call != DW_ACCOUNT_NO_CALL;
}

TEST(every_rule_has_a_trial)
{
	for (size_t i = 0; dw_rule_at(i); i++) {
		/* test_cells.c and test_rules_slow.c try them */
		bool tried = made_is_of_activities(dw_rule_at(i)) || is_of_call(dw_rule_at(i)) ||
		             strcmp(dw_rule_at(i)->id, "slow-steps") == 0 ||
		             strcmp(dw_rule_at(i)->id, "warm-up") == 0;

		for (size_t n = 0; n < sizeof trials / sizeof *trials; n++)
			tried |= strcmp(trials[n].id, dw_rule_at(i)->id) == 0;
		if (!tried)
			CHECK_FAIL("%s has no trial: add a line to trials of this file", dw_rule_at(i)->id);
	}
}

/* ---- the table ------------------------------------------------------------------------------- */

/* All {...} of a template are words that sentence.c knows, or facts. */
static void check_template(const char *id, const char *text)
{
	static const char *const words[] = { "share", "of",    "takes", "take",    "is",    "are",
		                                 "has",   "grows", "waits", "slows", "number", "cells", "each", "Steps" };

	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
		char name[80];
		bool known = false;

		snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "}:"), at + 1);
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			known |= strcmp(words[i], name) == 0;
		if (!known && dw_fact_find(name) == DW_FACT_COUNT)
			CHECK_FAIL("%s: {%s} is not a fact", id, name);
	}
	for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
		char name[80];

		if (at[1] != '?' && at[1] != '!' && at[1] != '-')
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 2, ":"), at + 2);
		if (dw_fact_find(name) == DW_FACT_COUNT && strcmp(name, "number") != 0)
			CHECK_FAIL("%s: [?%s is not a fact", id, name);
	}
}

TEST(templates_name_facts)
{
	for (size_t i = 0; dw_rule_at(i); i++) {
		const struct dw_rule *rule = dw_rule_at(i);

		check_template(rule->id, rule->statement);
		for (unsigned words = 0; words < DW_WORDS_COUNT; words++)
			if (rule->remedy[words])
				check_template(rule->id, rule->remedy[words]);
	}
}

TEST(entries_are_whole)
{
	for (size_t i = 0; dw_rule_at(i); i++) {
		const struct dw_rule *rule = dw_rule_at(i);

		CHECK(rule->question && rule->reason && rule->statement && rule->needs);
		CHECK(rule->threshold > 0 && rule->threshold <= 1);
		for (size_t n = 0; n < i; n++)
			if (strcmp(dw_rule_at(n)->id, rule->id) == 0)
				CHECK_FAIL("%s twice", rule->id);
	}
}

/* ---- what earlier versions said wrongly ------------------------------------------------------ */

TEST(workers_with_a_full_queue_are_not_too_slow)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_STEP_DATA, 0.50);
	set(&at, DW_FACT_LOADER_WORKERS, 2);
	set(&at, DW_FACT_LOADER_EMPTY, 0.02);
	set(&at, DW_FACT_LOADER_READY, 3.8);
	set(&at, DW_FACT_LOADER_HAND_OVER, 0.48);
	set(&at, DW_FACT_LOADER_HAND_OVER_NS, 2.45e6);
	set(&at, DW_FACT_LOADER_STARVED, 0.02);
	judge(&at);
	CHECK_STR(first(&at), "loader-handover");
	CHECK(found(&at, "loader-slow-workers")->state != DW_RULE_FIRED);
	done(&at);
}

TEST(an_optimizer_that_calls_forward_is_not_blamed)
{
	struct judged at;

	trial_prepare(trial_find("optimizer-unfused"), &at);
	set(&at, DW_FACT_STEP_OPTIMIZER, 1);
	set(&at, DW_FACT_STEP_OPTIMIZER_ALL, 0.1);
	judge(&at);
	CHECK(found(&at, "optimizer-unfused")->state == DW_RULE_QUIET);
	CHECK(found(&at, "optimizer-dominates")->state == DW_RULE_QUIET);
	done(&at);
}

TEST(a_wait_for_a_cpu_is_not_idle_time)
{
	struct judged at;

	healthy(&at);
	set_cells(&at, MADE_CELLS(CELL(NO_CPU, UNKNOWN, 0.36)));
	judge(&at);
	CHECK_STR(first(&at), "compute");
	done(&at);
	set_cells(&at, MADE_CELLS(CELL(UNKNOWN, UNKNOWN, 0.36))); /* it may be one */
	judge(&at);
	CHECK_STR(first(&at), "not-running");
	done(&at);
	set_cells(&at, MADE_CELLS(CELL(UNKNOWN, UNKNOWN, 0.26))); /* it may be one, and is less than others often take */
	judge(&at);
	CHECK_STR(first(&at), "compute");
	done(&at);
	set_cells(&at, MADE_CELLS(CELL(WAITS, UNKNOWN, 0.36, .function = "ask")));
	judge(&at);
	CHECK_STR(first(&at), "idle");
	done(&at);
}

TEST(a_busy_machine_is_no_drift)
{
	struct judged at;

	trial_prepare(trial_find("drift"), &at);
	set(&at, DW_FACT_DRIFT_OWN, 0.3); /* all parts change */
	set(&at, DW_FACT_DRIFT_SLOPE, 0.3);
	judge(&at);
	CHECK(found(&at, "drift")->state == DW_RULE_QUIET);
	done(&at);
	trial_prepare(trial_find("change-point"), &at);
	set(&at, DW_FACT_DRIFT_OWN, 0.3); /* all parts change */
	set(&at, DW_FACT_DRIFT_CHANGE, 0.3);
	judge(&at);
	CHECK(found(&at, "change-point")->state == DW_RULE_QUIET);
	done(&at);
}

TEST(threads_are_too_many_if_they_want_more_cpus_than_there_are)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_CPU_CPUS, 2);
	set(&at, DW_FACT_CPU_DELAY, 0.3);
	set(&at, DW_FACT_CPU_OTHERS, 0.05);
	set(&at, DW_FACT_CPU_THREADS, 16);
	judge(&at);
	CHECK_STR(
		found(&at, "oversubscribed")->statement,
		"The program runs more threads than there are CPUs for them (16 threads, 2 CPUs): the step's thread waits for a "
		"CPU, or for threads that have none, for 29% of the loop.");
	done(&at);
	set(&at, DW_FACT_CPU_OTHERS, 0.5); /* threads that nobody counted at work */
	judge(&at);
	CHECK(found(&at, "oversubscribed")->state != DW_RULE_FIRED);
	done(&at);
	set(&at, DW_FACT_CPU_CROWDED, 0.2); /* counted: they want more CPUs than there are */
	judge(&at);
	CHECK_EQ(found(&at, "oversubscribed")->state, DW_RULE_FIRED);
	CHECK_NEAR(found(&at, "oversubscribed")->share.value, 0.2 * 0.97,
	           1e-9); /* of the loop; other programs are the rest */
	done(&at);
	set(&at, DW_FACT_CPU_OTHERS, 0.05);
	judge(&at);
	CHECK_NEAR(found(&at, "oversubscribed")->share.value, 0.3 * 0.97, 1e-9);
	done(&at);
	set(&at, DW_FACT_CPU_CROWDED, 0.005);
	judge(&at);
	CHECK(found(&at, "oversubscribed")->state != DW_RULE_FIRED);
	done(&at);
}

TEST(contention_by_other_programs_is_no_verdict)
{
	struct judged at;

	healthy(&at);
	set(&at, DW_FACT_CPU_THREADS, 1);
	set(&at, DW_FACT_CPU_CPUS, 2);
	set(&at, DW_FACT_CPU_DELAY, 0.6);
	set(&at, DW_FACT_CPU_OTHERS, 0.9);
	judge(&at);
	CHECK_STR(first(&at), "compute");
	done(&at);
}

CHECK_MAIN
