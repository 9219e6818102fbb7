/* Which of two rules reports a time: the one that says why it passes. On facts made by hand. */
#include "trials.h"

/* Adam over tensors of some hundred thousand numbers writes new memory for each; so do elementwise operators. */
TEST(page_faults_of_operators_are_page_faults)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_OPTIMIZER, 0.25 }, { DW_FACT_STEP_OPTIMIZER_ALL, 0.27 }));
	CHECK(made_fires_of(&at, "optimizer-dominates", MADE_CELLS(CELL(RUNS, OWN, 0.24, .share = DW_SHARE_OPTIMIZER),
	                                                           CELL(RUNS, FAULT, 0.01, .share = DW_SHARE_OPTIMIZER))));
	CHECK(!made_fires_of(&at, "optimizer-dominates", MADE_CELLS(CELL(RUNS, OWN, 0.12, .share = DW_SHARE_OPTIMIZER),
	                                                            CELL(RUNS, FAULT, 0.13, .share = DW_SHARE_OPTIMIZER))));
	CHECK_EQ(made_find(&at, "page-faults")->state, DW_RULE_FIRED);
	CHECK(!made_fires_of(&at, "optimizer-dominates", MADE_CELLS(CELL(WAITS, LOCK, 0.25, .share = DW_SHARE_OPTIMIZER))));
	CHECK_EQ(made_find(&at, "waiting-lock")->state, DW_RULE_FIRED);
	made_end(&at);
	made_begin(&at, MADE({ DW_FACT_OPERATORS_ELEMENTWISE, 0.36 }));
	CHECK(made_fires_of(&at, "memory-bound-chain", MADE_CELLS(CELL(RUNS, FAULT, 0.01))));
	CHECK(!made_fires_of(&at, "memory-bound-chain", MADE_CELLS(CELL(RUNS, FAULT, 0.05))));
	made_end(&at);
}

TEST(a_range_that_logs_is_logging)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_TRACE_PYTHON, 0 }, { DW_FACT_STEP_NAMED, 0.5 },
	                     { DW_FACT_STEP_BACKWARD, 0.2 }, { DW_FACT_STEP_FORWARD, 0.2 }, { DW_FACT_OPERATORS_SHARE, 0.4 }));
	at.facts.framework = DW_FACTS_C;
	made_range(&at, "logging", 0.5);
	made_cells(&at, MADE_CELLS(CELL(RUNS, OWN, 0.5, .range = "logging")));
	made_judge(&at);
	CHECK_EQ(made_find(&at, "named-part")->state, DW_RULE_FIRED);
	made_set(&at, DW_FACT_LOOP_LOGGING_ALL, 0.5);
	at.facts.at[DW_FACT_LOOP_LOGGING_ALL].name = "logging";
	made_judge(&at);
	CHECK_STR(at.verdicts.at[0].rule->id, "logging");
	CHECK(made_find(&at, "named-part")->state != DW_RULE_FIRED);
	made_end(&at);
}

/* Other programs make single steps long: the share is over its threshold by a few of them. */
TEST(a_share_that_other_programs_make_uneven_is_no_cause)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_OPTIMIZER, 0.25 }, { DW_FACT_STEP_OPTIMIZER_ALL, 0.25 }, { DW_FACT_CPU_OTHERS, 0.8 },
	                     { DW_FACT_CPU_DELAY, 0 }));
	at.facts.at[DW_FACT_STEP_OPTIMIZER].low = 0.1;
	CHECK(made_fires(&at, "optimizer-dominates", DW_FACT_CPU_DELAY, 0));
	CHECK(!made_fires(&at, "optimizer-dominates", DW_FACT_CPU_DELAY, 0.6));
	at.facts.at[DW_FACT_STEP_OPTIMIZER].low = 0.2;
	CHECK(made_fires(&at, "optimizer-dominates", DW_FACT_CPU_DELAY, 0.6));
	made_end(&at);
}

CHECK_MAIN
