/* Rules about the loader: each below, at and above its threshold, with what looks alike, and without
 * evidence. */
#include "trials.h"

/* Two workers that do not keep up. */
#define SLOW                                                                                  \
	{ DW_FACT_STEP_DATA, 0.3 }, { DW_FACT_LOADER_WORKERS, 2 }, { DW_FACT_LOADER_STARVED, 0.28 }, \
	    { DW_FACT_LOADER_HAND_OVER, 0.02 }, { DW_FACT_LOADER_PRODUCTION, 40e6 },                 \
	    { DW_FACT_LOADER_EMPTY, 0.9 }, { DW_FACT_LOADER_READY, 0.1 },                            \
	    { DW_FACT_LOADER_BUSY, 0.98 }, { DW_FACT_LOADER_EPOCHS, 1 },                             \
	    { DW_FACT_LOADER_WORKERS_STARTED, 2 }

TEST(slow_workers_from_seven_percent_on)
{
	struct made at;

	made_begin(&at, MADE(SLOW));
	CHECK(!made_fires(&at, "loader-slow-workers", DW_FACT_STEP_DATA, 0.06));
	CHECK(made_fires(&at, "loader-slow-workers", DW_FACT_STEP_DATA, 0.07));
	CHECK(made_fires(&at, "loader-slow-workers", DW_FACT_STEP_DATA, 0.5));
	CHECK(!made_fires(&at, "loader-slow-workers", DW_FACT_LOADER_WORKERS, 0));
	CHECK(made_fires(&at, "loader-in-process", DW_FACT_LOADER_WORKERS, 0));
	CHECK_EQ(made_without(&at, "loader-slow-workers", DW_FACT_LOADER_WORKERS), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(workers_without_a_pause_do_not_wait_for_the_hand_over)
{
	struct made at;

	/* A batch is ready at most requests, but only just: the worker never pauses. */
	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.13 }, { DW_FACT_LOADER_WORKERS, 1 },
	                     { DW_FACT_LOADER_HAND_OVER, 0.12 }, { DW_FACT_LOADER_STARVED, 0.01 },
	                     { DW_FACT_LOADER_HAND_OVER_NS, 2.4e6 },
	                     { DW_FACT_LOADER_READY, 1.7 }, { DW_FACT_LOADER_EMPTY, 0.1 },
	                     { DW_FACT_LOADER_BUSY, 0.98 }));
	CHECK(!made_fires(&at, "loader-handover", DW_FACT_LOADER_BUSY, 0.98));
	CHECK(made_fires(&at, "loader-slow-workers", DW_FACT_LOADER_BUSY, 0.98));
	CHECK(made_fires(&at, "loader-handover", DW_FACT_LOADER_BUSY, 0.3));
	CHECK_EQ(made_without(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER), DW_RULE_NOT_MEASURED);
	/* Any exchange with a process takes as long, and so do workers that were just started. */
	made_set(&at, DW_FACT_LOADER_BUSY, 0.3);
	CHECK(!made_fires(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER_NS, 1.9e6));
	CHECK(!made_fires(&at, "loader-slow-workers", DW_FACT_LOADER_HAND_OVER_NS, 1.9e6));
	CHECK(!made_fires(&at, "loader-handover", DW_FACT_LOADER_START_SHARE, 0.2));
	/* So does one without a CPU: of 2.4 ms, 1.9 ms are left. */
	CHECK(!made_fires(&at, "loader-handover", DW_FACT_CPU_DELAY, 0.2));
	CHECK(made_fires(&at, "loader-handover", DW_FACT_CPU_DELAY, 0.1));
	/* Of a short step it is much. */
	made_set(&at, DW_FACT_STEP_WALL, 2.3e6);
	made_set(&at, DW_FACT_STEP_DATA, 0.31);
	made_set(&at, DW_FACT_LOADER_HAND_OVER, 0.3);
	CHECK(made_fires(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER_NS, 0.7e6));
	made_end(&at);
}

TEST(a_hand_over_has_its_collections)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.06 }, { DW_FACT_LOADER_WORKERS, 2 },
	                     { DW_FACT_LOADER_HAND_OVER_NS, 2.4e6 }, { DW_FACT_LOADER_READY, 4 },
	                     { DW_FACT_LOADER_EMPTY, 0 }, { DW_FACT_LOADER_STARVED, 0 },
	                     { DW_FACT_LOADER_COLLECTOR, 0.02 }));
	CHECK(made_fires(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER, 0.08));
	CHECK(!made_fires(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER, 0.06));
	made_end(&at);
}

TEST(a_ready_batch_may_not_be_the_next_one)
{
	struct made at;

	/* Most requests take 0.2 ms, some wait for the slow worker while batches of others are ready. */
	made_begin(&at, MADE(SLOW, { DW_FACT_LOADER_SLOWEST, 8 }, { DW_FACT_LOADER_BUSY, 0.3 },
	                     { DW_FACT_LOADER_READY, 1.5 }, { DW_FACT_LOADER_EMPTY, 0 },
	                     { DW_FACT_LOADER_STARVED, 0.01 }, { DW_FACT_LOADER_HAND_OVER, 0.29 }));
	CHECK(made_fires(&at, "loader-one-slow-worker", DW_FACT_LOADER_HAND_OVER_NS, 0.2e6));
	CHECK(made_fires(&at, "loader-handover", DW_FACT_LOADER_HAND_OVER_NS, 5e6));
	made_end(&at);
}

TEST(one_slow_worker_is_one_that_the_loop_waits_for)
{
	struct made at;

	made_begin(&at, MADE(SLOW, { DW_FACT_LOADER_SLOWEST, 3 }));
	CHECK(!made_fires(&at, "loader-one-slow-worker", DW_FACT_LOADER_SLOWEST, 1.4));
	CHECK(made_fires(&at, "loader-one-slow-worker", DW_FACT_LOADER_SLOWEST, 1.5));
	/* The batches of the slow one are ready all the same. */
	made_set(&at, DW_FACT_LOADER_BUSY, 0.2);
	made_set(&at, DW_FACT_LOADER_HAND_OVER, 0.25);
	CHECK(!made_fires(&at, "loader-one-slow-worker", DW_FACT_LOADER_STARVED, 0.02));
	CHECK_EQ(made_without(&at, "loader-one-slow-worker", DW_FACT_LOADER_SLOWEST), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(a_shallow_queue_has_batches_that_take_longer_than_a_step)
{
	struct made at;

	/* A step computes for 14 ms. Batches take 2 ms, the slowest ones 20 ms. */
	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.3 }, { DW_FACT_LOADER_WORKERS, 2 },
	                     { DW_FACT_LOADER_PRODUCTION, 2e6 }, { DW_FACT_LOADER_VARIATION, 10 }));
	CHECK(made_fires(&at, "loader-shallow-queue", DW_FACT_LOADER_VARIATION, 10));
	CHECK(!made_fires(&at, "loader-shallow-queue", DW_FACT_LOADER_VARIATION, 6)); /* 12 ms */
	CHECK(!made_fires(&at, "loader-shallow-queue", DW_FACT_LOADER_PRODUCTION, 30e6)); /* too slow */
	CHECK_EQ(made_without(&at, "loader-shallow-queue", DW_FACT_LOADER_VARIATION), DW_RULE_NOT_MEASURED);
	made_set(&at, DW_FACT_LOADER_STARVED, 0.1);
	made_set(&at, DW_FACT_LOADER_HAND_OVER_NS, 4e6);
	CHECK(made_fires(&at, "loader-shallow-queue", DW_FACT_LOADER_HAND_OVER, 0.05));
	CHECK(!made_fires(&at, "loader-shallow-queue", DW_FACT_LOADER_HAND_OVER, 0.2));
	made_end(&at);
}

TEST(starts_of_workers_are_no_waits_for_batches)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.20 }, { DW_FACT_LOADER_WORKERS, 2 },
	                     { DW_FACT_LOADER_WORKERS_STARTED, 20 }, { DW_FACT_LOADER_EPOCHS, 10 },
	                     { DW_FACT_LOADER_START, 20e6 }, { DW_FACT_LOADER_START_SHARE, 0.16 },
	                     { DW_FACT_LOADER_STARVED, 0 }, { DW_FACT_LOADER_HAND_OVER, 0.03 }));
	made_judge(&at);
	CHECK_EQ(made_find(&at, "loader-restart")->state, DW_RULE_FIRED);
	CHECK(made_find(&at, "loader-slow-workers")->state != DW_RULE_FIRED); /* 4% are left */
	CHECK(!made_fires(&at, "loader-restart", DW_FACT_LOADER_START_SHARE, 0.04));
	CHECK(made_fires(&at, "loader-restart", DW_FACT_LOADER_START_SHARE, 0.05));
	CHECK(!made_fires(&at, "loader-restart", DW_FACT_LOADER_WORKERS_STARTED, 2)); /* they stay */
	CHECK_EQ(made_without(&at, "loader-restart", DW_FACT_LOADER_EPOCHS), DW_RULE_NOT_MEASURED);
	made_end(&at);
}

TEST(the_first_start_of_workers_is_no_wait_of_the_loop)
{
	struct made at;

	/* The first batch is 0.6 s late, which is half of the loop; the others wait for nothing. */
	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.04 }, { DW_FACT_LOADER_WORKERS, 2 },
	                     { DW_FACT_LOADER_EPOCHS, 1 }, { DW_FACT_LOADER_START, 600e6 },
	                     { DW_FACT_LOADER_START_SHARE, 0 }, { DW_FACT_LOOP_DATA_ALL, 0.54 }));
	CHECK(!made_fires(&at, "loader-slow-workers", DW_FACT_LOADER_START, 600e6));
	CHECK(made_fires(&at, "loader-slow-workers", DW_FACT_LOADER_START, 10e6)); /* it waits later */
	made_end(&at);
}

/* What is said of batches that take 15 ms to make, of which their threads run for a part, in steps of 20 ms: `left` CPUs are
 * there, of which the rest of a step uses a quarter of one. */
static const struct dw_verdict *batches_of(struct made *at, double workers, double runs, double left)
{
	made_begin(at, MADE({ DW_FACT_STEP_DATA, 0.75 }, { DW_FACT_LOADER_WORKERS, workers }, { DW_FACT_LOADER_BUSY, 0.98 },
	                    { DW_FACT_LOADER_PRODUCTION, 15e6 * fmax(1, workers) }, { DW_FACT_LOADER_RUNS, runs },
	                    { DW_FACT_CPU_LEFT, left }, { DW_FACT_LOADER_SPARE, left - 0.25 }));
	made_judge(at);
	return made_find(at, workers > 0 ? "loader-slow-workers" : "loader-in-process");
}

TEST(workers_that_compute_are_no_more_than_the_cpus)
{
	const struct dw_verdict *verdict;
	struct made at;

	verdict = batches_of(&at, 0, 1, 64); /* 15 ms beside 5 ms */
	CHECK(strstr(verdict->hint, "num_workers=3)"));
	CHECK(verdict->gain_ns > 14.9e6 && verdict->gain_ns < 15.1e6);
	made_end(&at);
	verdict = batches_of(&at, 0, 1, 2); /* 20 ms of CPU time are 10 ms of two CPUs */
	CHECK(strstr(verdict->hint, "num_workers=2)") && !strstr(verdict->hint, "if CPUs"));
	CHECK(verdict->gain_ns > 14.9e6 && verdict->gain_ns < 15.1e6); /* of samples that are decoded once, which the hint names, too */
	made_end(&at);
	verdict = batches_of(&at, 0, 1, 1);
	CHECK(strstr(verdict->hint, "no CPU is free for more workers: samples that are decoded once"));
	CHECK(verdict->gain_ns > 14.9e6 && verdict->gain_ns < 15.1e6); /* of such samples */
	made_end(&at);
	verdict = batches_of(&at, 2, 1, 2); /* 35 ms of CPU time in 20 ms */
	CHECK(strstr(verdict->hint, "no CPU is free") && !strstr(verdict->hint, "num_workers"));
	made_end(&at);
	verdict = batches_of(&at, 2, 0.6, 8); /* 23 ms of CPU time are 3 ms of eight CPUs */
	CHECK(strstr(verdict->hint, "num_workers=6, or"));
	made_end(&at);
}

TEST(workers_that_wait_need_no_cpu)
{
	const struct dw_verdict *verdict;
	struct made at;

	verdict = batches_of(&at, 0, 0, 1);
	CHECK(strstr(verdict->hint, "num_workers=3)"));
	CHECK(verdict->gain_ns > 14.9e6 && verdict->gain_ns < 15.1e6);
	made_end(&at);
	verdict = batches_of(&at, 0, 0.02, 0.25); /* other programs leave no more than the loop uses */
	CHECK(strstr(verdict->hint, "num_workers=3)"));
	made_end(&at);
	verdict = batches_of(&at, 2, 0, 1);
	CHECK(strstr(verdict->hint, "num_workers=6, or"));
	at.facts.at[DW_FACT_LOADER_RUNS].measured = false;
	made_judge(&at);
	CHECK(strstr(made_find(&at, "loader-slow-workers")->hint, "num_workers=6 if CPUs are free, or"));
	made_end(&at);
}

TEST(a_part_of_a_batch_is_named_if_the_loop_waits_for_it)
{
	struct made at;

	made_begin(&at, MADE({ DW_FACT_STEP_DATA, 0.3 }, { DW_FACT_LOADER_WORKERS, 0 },
	                     { DW_FACT_LOADER_PART, 0.9 }));
	at.facts.at[DW_FACT_LOADER_PART].name = "decode";
	CHECK(!made_fires(&at, "loader-part", DW_FACT_LOADER_PART, 0.59));
	CHECK(made_fires(&at, "loader-part", DW_FACT_LOADER_PART, 0.6));
	CHECK(!made_fires(&at, "loader-part", DW_FACT_STEP_DATA, 0.06));
	CHECK_EQ(made_without(&at, "loader-part", DW_FACT_LOADER_PART), DW_RULE_NOT_MEASURED);
	at.facts.at[DW_FACT_LOADER_PART].note = "the data set's own code, not named";
	CHECK(!made_fires(&at, "loader-part", DW_FACT_LOADER_PART, 0.9));
	made_end(&at);
}

CHECK_MAIN
