/*
 * What the functions of a rule are called with, and the arithmetic that the tables of rules share.
 * Only for this folder.
 */
#pragma once

#include <math.h>

#include "rules/rules.h"

struct dw_rule_case {
	const struct dw_facts *facts;
	const struct dw_rule *rule;
	bool unexplained; /* steps are marked, and no other rule says anything of them */
	/* The rule's verdict, for the words. Set when the rule's share is known. */
	const struct dw_verdict *verdict;
};

/* Tables of rules, each ending with an entry without an id. judge.c has their order. */
extern const struct dw_rule dw_rules_memory[], dw_rules_loader[], dw_rules_ranks[], dw_rules_loop[],
    dw_rules_host[], dw_rules_operators[], dw_rules_machine[], dw_rules_device[], dw_rules_cells[];

static inline const struct dw_fact *dw_case_fact(const struct dw_rule_case *at, enum dw_fact_id id)
{
	return &at->facts->at[id];
}

/* The value of a fact; NaN if it was not measured. Each comparison with NaN is false, so that the
 * rule does not fire. */
static inline double dw_case_value(const struct dw_rule_case *at, enum dw_fact_id id)
{
	return dw_case_fact(at, id)->measured ? dw_case_fact(at, id)->value : NAN;
}

/* The value of a fact; 0 if it was not measured. For a part that is added to a measured
 * quantity. */
static inline double dw_case_part(const struct dw_rule_case *at, enum dw_fact_id id)
{
	return dw_case_fact(at, id)->measured ? dw_case_fact(at, id)->value : 0;
}

static inline struct dw_amount dw_case_amount(const struct dw_rule_case *at, enum dw_fact_id id)
{
	const struct dw_fact *fact = dw_case_fact(at, id);

	return fact->measured ? (struct dw_amount){ fact->value, fact->low, fact->high }
	                      : (struct dw_amount){ NAN, NAN, NAN };
}

/* Whether a fact is measured and more than 0. */
static inline bool dw_case_has(const struct dw_rule_case *at, enum dw_fact_id id)
{
	return dw_case_fact(at, id)->measured && dw_case_fact(at, id)->value > 0;
}

/* The program's work in the steps has names: ranges, operators, or functions of the interpreter. */
static inline bool dw_case_is_named(const struct dw_rule_case *at)
{
	bool named = dw_case_has(at, DW_FACT_TRACE_PYTHON);

	for (int id = DW_FACT_STEP_OPTIMIZER; id <= DW_FACT_STEP_NAMED && !named; id++)
		named = dw_case_has(at, (enum dw_fact_id)id);
	return named;
}

/* The amount times a factor. */
static inline struct dw_amount dw_amount_times(struct dw_amount amount, double factor)
{
	return (struct dw_amount){ amount.value * factor, amount.low * factor, amount.high * factor };
}

/* The sum of amounts of which the second one may be missing. */
static inline struct dw_amount dw_amount_plus(struct dw_amount amount, struct dw_amount more)
{
	if (isnan(more.value))
		return amount;
	return (struct dw_amount){ amount.value + more.value, amount.low + more.low, amount.high + more.high };
}

/* The amount less a value, at least 0. */
static inline struct dw_amount dw_amount_less(struct dw_amount amount, double less)
{
	return (struct dw_amount){ fmax(0, amount.value - less), fmax(0, amount.low - less), fmax(0, amount.high - less) };
}

/* The time of the whole in ns per step, for shares of time; NaN for shares of memory. */
double dw_case_whole_ns(const struct dw_rule_case *at, enum dw_rule_whole whole);
/* The part of the loop in which its thread waits, or does, one of these activities: bits of enum dw_activity. Without parts that
 * records explain. 0: not known. */
double dw_case_waits(const struct dw_rule_case *at, dw_activity_set activities);
double dw_case_runs(const struct dw_rule_case *at, dw_activity_set activities);

/* The part of a step without waits for a CPU that other programs had, as 0.8. Such waits make a step longer, and so they make the
 * shares of its other parts, as a sleep, smaller. */
double dw_case_with_cpu(const struct dw_rule_case *at);

/* Whether the verdict's cells are those of one function or range, or most of the loop. Others may be anything's. True without
 * samples: records do not say where. */
bool dw_case_has_place(const struct dw_rule_case *at);

/* The whole is the loop if the time outside steps is at least a twentieth of the loop. */
static inline enum dw_rule_whole dw_case_whole_of(double outside)
{
	return outside >= DW_RULE_DEADBAND ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

/* The steps' part of the loop. Where only some steps are in scope, there is no other time. */
static inline double dw_case_steps(const struct dw_rule_case *at)
{
	return dw_case_fact(at, DW_FACT_LOOP_STEPS)->measured ? dw_case_value(at, DW_FACT_LOOP_STEPS) : 1;
}

/* A part of the loop as a part of the whole. */
static inline double dw_case_of_whole(const struct dw_rule_case *at, enum dw_rule_whole whole, double share)
{
	return whole == DW_RULE_OF_STEP ? share / fmax(0.01, dw_case_part(at, DW_FACT_LOOP_STEPS)) : share;
}

/* Adds a row of the loop's parts, by its name, or of its operators: the symbol of a fact. Nothing if there is none. */
void dw_case_add_row(const struct dw_rule_case *at, const char *name, struct dw_rule_rows *rows);
void dw_case_add_operator(const struct dw_rule_case *at, enum dw_fact_id id, struct dw_rule_rows *rows);

/* loop.c: whether steps get slower as the run goes on; whether the size of the input makes steps long. */
bool dw_case_drifts(const struct dw_rule_case *at);
bool dw_case_sizes_vary(const struct dw_rule_case *at);

/* machine.c: the part of the loop in which the program's threads wait for each other's CPUs; 0 if that may be
 * chance or was not measured. */
double dw_case_crowded(const struct dw_rule_case *at);

static inline bool dw_verdict_is_cause(const struct dw_verdict *verdict)
{
	return verdict->state == DW_RULE_FIRED &&
	       (verdict->rule->kind == DW_RULE_CAUSE || verdict->rule->kind == DW_RULE_WORK);
}

/* gains.c: sets how much a verdict that fired can save at most. `sum` is that of its cells; without cells it is empty. */
void dw_gains_find(const struct dw_rule_case *at, struct dw_verdict *verdict);
/* What the bound has besides the share's time: "the rest of read_frame"; "": nothing. The text lives in `arena`. NULL: out of memory. */
const char *dw_gains_rest(const struct dw_rule_case *at, const struct dw_verdict *verdict, struct dw_arena *arena);
/* In a run of several processes, the tables have means over them. Makes the gains those of the tables. */
void dw_gains_of_rows(const struct dw_rule_case *at, struct dw_verdicts *verdicts);
/* Sets how much all verdicts together can save at most. Their gains do not simply add: gains of one part of the time, as data or
 * computation, are at most that part. A step also stays as long as the loader's workers need for a batch, unless a verdict is about
 * waiting for data. */
void dw_gains_combine(const struct dw_rule_case *at, struct dw_verdicts *verdicts);

/* sentence.c: fills in a template. The text lives in `arena`. NULL: out of memory. */
const char *dw_rule_sentence(const struct dw_rule_case *at, const char *text, struct dw_arena *arena);
