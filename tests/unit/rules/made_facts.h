/*
 * Facts made by hand, for tests of rules and of what judges them: those of a healthy loop, one
 * changed at a time, and what the rules say of them.
 */
#pragma once

#include "check.h"
#include "made_cells.h"
#include "rules/rules.h"

struct judged {
	struct dw_facts facts;
	struct dw_arena arena;
	struct dw_verdicts verdicts;
	struct made_account account; /* of set_cells() */
};

static void set(struct judged *at, enum dw_fact_id id, double value)
{
	at->facts.at[id] = (struct dw_fact){ .measured = true, .value = value, .low = value,
		.high = value, .samples = 60, .symbol = DW_NO_INDEX };
}

/* A healthy loop of 60 PyTorch steps of 10 ms: 40% forward, 45% backward, 10% optimizer. */
static void healthy(struct judged *at)
{
	*at = (struct judged){ 0 };
	dw_facts_init(&at->facts);
	at->facts.framework = DW_FACTS_PYTORCH;
	set(at, DW_FACT_TRACE_PYTHON, 1);
	set(at, DW_FACT_TRACE_TORCH, 1);
	set(at, DW_FACT_TRACE_FUNCTIONS, 0);
	set(at, DW_FACT_TRACE_SHAPES, 0);
	set(at, DW_FACT_TRACE_DEVICE_UNSEEN, 0);
	set(at, DW_FACT_RUN_RANKS, 1);
	set(at, DW_FACT_RUN_DELAY, 0);
	set(at, DW_FACT_RUN_WALL, 62 * 10e6);
	set(at, DW_FACT_LOOP_WALL, 62 * 10e6);
	set(at, DW_FACT_LOOP_STEPS, 0.97);
	set(at, DW_FACT_STEP_COUNT, 62);
	set(at, DW_FACT_STEP_STEADY, 60);
	set(at, DW_FACT_STEP_WALL, 10e6);
	set(at, DW_FACT_STEP_DATA, 0.02);
	set(at, DW_FACT_STEP_FORWARD, 0.40);
	set(at, DW_FACT_STEP_BACKWARD, 0.43);
	set(at, DW_FACT_STEP_OPTIMIZER, 0.10);
	set(at, DW_FACT_STEP_OPERATORS, 0);
	set(at, DW_FACT_STEP_COMMUNICATION, 0);
	set(at, DW_FACT_STEP_COLLECTOR, 0);
	set(at, DW_FACT_STEP_PYTHON, 0.04);
	set(at, DW_FACT_STEP_IDLE, 0.01);
	set(at, DW_FACT_OPERATORS_SHARE, 0.93);
	set(at, DW_FACT_OPERATORS_COUNT, 60);
	set(at, DW_FACT_OPERATORS_LARGEST, 0.30);
	at->facts.at[DW_FACT_OPERATORS_LARGEST].name = "aten::mm";
	set(at, DW_FACT_OPERATORS_LARGEST_COUNT, 6);
	set(at, DW_FACT_LOADER_WORKERS, 0);
	set(at, DW_FACT_LOADER_IN_PROCESS, 0.02);
	set(at, DW_FACT_LOOP_CHECKPOINT_ALL, 0);
	set(at, DW_FACT_LOOP_EVALUATION_ALL, 0);
	set(at, DW_FACT_LOOP_EVALUATION, 0);
	set(at, DW_FACT_LOOP_COLLECTOR_ALL, 0.01);
	set(at, DW_FACT_LOOP_LOGGING, 0);
	set(at, DW_FACT_LOOP_LOGGING_ALL, 0);
	set(at, DW_FACT_LOOP_OPERATORS, 0);
	set(at, DW_FACT_LOOP_PYTHON, 0.01);
	set(at, DW_FACT_LOOP_WAITING, 0);
}

/* Gives the loop an account with these cells. */
static void set_cells(struct judged *at, const struct made_cell *cells)
{
	made_account_of(&at->account, &at->facts, cells);
}

static void judge(struct judged *at)
{
	if (dw_rules_judge(&at->facts, &at->arena, &at->verdicts))
		abort();
}

static void done(struct judged *at)
{
	dw_arena_reset(&at->arena);
}

static const struct dw_verdict *found(const struct judged *at, const char *id)
{
	for (size_t i = 0; i < at->verdicts.count; i++)
		if (strcmp(at->verdicts.at[i].rule->id, id) == 0)
			return &at->verdicts.at[i];
	return NULL;
}

static const char *first(const struct judged *at)
{
	return at->verdicts.fired ? at->verdicts.at[0].rule->id : "";
}
