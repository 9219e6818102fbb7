/* Facts made by hand, and trials of a rule: what it says if a fact has another value, or none. A test adds
 * what it needs to a healthy loop. */
#pragma once

#include "check.h"
#include "made_cells.h"
#include "rules/rules.h"

struct made {
	struct dw_facts facts;
	struct dw_arena arena;
	struct dw_verdicts verdicts;
	struct made_account account; /* of made_cells() */
};

struct made_fact {
	enum dw_fact_id id;
	double value;
};

#define MADE(...) (const struct made_fact[]){ __VA_ARGS__, { DW_FACT_COUNT, 0 } }

static inline void made_set(struct made *at, enum dw_fact_id id, double value)
{
	const char *note = at->facts.at[id].note, *name = at->facts.at[id].name;

	at->facts.at[id] = (struct dw_fact){ .measured = true, .value = value, .low = value,
		.high = value, .samples = 60, .symbol = DW_NO_INDEX, .note = note, .name = name };
}

/* A healthy loop of 60 PyTorch steps of 20 ms, and further facts. */
static inline void made_begin(struct made *at, const struct made_fact *more)
{
	static const struct made_fact healthy[] = {
		{ DW_FACT_TRACE_PYTHON, 1 }, { DW_FACT_TRACE_FUNCTIONS, 0 }, { DW_FACT_TRACE_DEVICE_UNSEEN, 0 },
		{ DW_FACT_RUN_RANKS, 1 }, { DW_FACT_RUN_WALL, 60 * 20e6 }, { DW_FACT_LOOP_WALL, 60 * 20e6 }, { DW_FACT_LOOP_STEPS, 1 },
		{ DW_FACT_LOOP_WAITING, 0 }, { DW_FACT_LOOP_PYTHON, 0 }, { DW_FACT_LOOP_OPERATORS, 0 },
		{ DW_FACT_STEP_COUNT, 60 }, { DW_FACT_STEP_STEADY, 60 }, { DW_FACT_STEP_WALL, 20e6 },
		{ DW_FACT_STEP_FORWARD, 0.40 }, { DW_FACT_STEP_BACKWARD, 0.50 }, { DW_FACT_STEP_OPTIMIZER, 0.02 },
		{ DW_FACT_STEP_OPERATORS, 0 }, { DW_FACT_STEP_PYTHON, 0.05 }, { DW_FACT_STEP_IDLE, 0 },
		{ DW_FACT_STEP_DATA, 0 }, { DW_FACT_STEP_COMMUNICATION, 0 }, { DW_FACT_STEP_COLLECTOR, 0 },
		{ DW_FACT_OPERATORS_SHARE, 0.9 }, { DW_FACT_OPERATORS_COUNT, 400 }, { DW_FACT_COUNT, 0 },
	};

	*at = (struct made){ 0 };
	dw_facts_init(&at->facts);
	at->facts.framework = DW_FACTS_PYTORCH;
	for (const struct made_fact *fact = healthy; fact->id != DW_FACT_COUNT; fact++)
		made_set(at, fact->id, fact->value);
	for (; more->id != DW_FACT_COUNT; more++)
		made_set(at, more->id, more->value);
}

/* Gives the loop an account with these cells. */
static inline void made_cells(struct made *at, const struct made_cell *cells)
{
	made_account_of(&at->account, &at->facts, cells);
}

/* Makes a range the largest that the program named. */
static inline void made_range(struct made *at, const char *name, double part)
{
	made_largest_range(&at->account, &at->facts, name, part);
}

static inline void made_judge(struct made *at)
{
	dw_arena_reset(&at->arena);
	if (dw_rules_judge(&at->facts, &at->arena, &at->verdicts))
		abort();
}

static inline const struct dw_verdict *made_find(const struct made *at, const char *id)
{
	for (size_t i = 0; i < at->verdicts.count; i++)
		if (strcmp(at->verdicts.at[i].rule->id, id) == 0)
			return &at->verdicts.at[i];
	abort();
}

/* Whether the rule fires if a fact has this value beside those that were made. */
static inline bool made_fires(struct made *at, const char *id, enum dw_fact_id fact, double value)
{
	struct dw_fact before = at->facts.at[fact];
	bool fires;

	made_set(at, fact, value);
	made_judge(at);
	fires = made_find(at, id)->state == DW_RULE_FIRED;
	at->facts.at[fact] = before;
	return fires;
}

/* Whether the rule fires with an account of these cells. It stays. */
static inline bool made_fires_of(struct made *at, const char *id, const struct made_cell *cells)
{
	made_cells(at, cells);
	made_judge(at);
	return made_find(at, id)->state == DW_RULE_FIRED;
}

static inline bool made_first_is(const struct made *at, const char *id)
{
	return at->verdicts.fired && strcmp(at->verdicts.at[0].rule->id, id) == 0;
}

/* The rule's state without a fact. */
static inline enum dw_rule_state made_without(struct made *at, const char *id, enum dw_fact_id fact)
{
	struct dw_fact before = at->facts.at[fact];
	enum dw_rule_state state;

	at->facts.at[fact] = (struct dw_fact){ .missing = "record it" };
	made_judge(at);
	state = made_find(at, id)->state;
	at->facts.at[fact] = before;
	return state;
}

static inline void made_end(struct made *at)
{
	dw_arena_reset(&at->arena);
}
