/* Rules about several ranks: communication, and waiting for the last rank. */
#include <math.h>

#include "rules/case.h"

#define RANKS_OFTEN 0.6   /* part of the steps in which the same rank is the last one */

/* Facts of several ranks are about steps with the time before them. */
static enum dw_rule_whole ranks_whole(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_LOOP_STEPS) < 1 - DW_RULE_DEADBAND ? DW_RULE_OF_LOOP : DW_RULE_OF_STEP;
}

static struct dw_amount ranks_exposed(const struct dw_rule_case *at)
{
	struct dw_amount exposed = dw_case_amount(at, DW_FACT_COMM_EXPOSED);
	struct dw_amount own = dw_case_amount(at, DW_FACT_STEP_COMMUNICATION);

	if (ranks_whole(at) == DW_RULE_OF_LOOP)
		own = dw_case_amount(at, DW_FACT_LOOP_COMMUNICATION_ALL);
	return isnan(own.value) || exposed.value > own.value ? exposed : own;
}

/* The time that this loop's rank waits. If it is the last rank itself: the time that the others
 * wait for it. */
static struct dw_amount ranks_share_wait(const struct dw_rule_case *at)
{
	struct dw_amount wait = dw_case_amount(at, DW_FACT_COMM_WAIT);
	struct dw_amount excess = dw_case_amount(at, DW_FACT_COMM_LAST_RANK_EXCESS);

	if (dw_case_value(at, DW_FACT_COMM_LAST_RANK_SHARE) >= RANKS_OFTEN && excess.value > wait.value)
		return excess;
	return wait;
}

/* Ranks that exchange messages are stages, or servers and clients: they have other work by design, and wait for one rank each. */
static bool ranks_send_messages(const struct dw_rule_case *at)
{
	return 2 * dw_case_value(at, DW_FACT_COMM_MESSAGES) > 1;
}

static bool ranks_call_collectives(const struct dw_rule_case *at)
{
	return !ranks_send_messages(at);
}

/* Processes that exchange nothing do not wait for each other. */
static bool ranks_wait_dominates(const struct dw_rule_case *at)
{
	return ranks_call_collectives(at) && ranks_exposed(at).value > 0 && !(ranks_share_wait(at).value < ranks_exposed(at).value / 2) &&
	       dw_case_value(at, DW_FACT_RUN_RANKS) > 1;
}

/* The gain is at most the time that the last rank takes beyond the median rank. */
static double ranks_gain_wait(const struct dw_rule_case *at, double share_ns)
{
	double excess = dw_case_value(at, DW_FACT_COMM_LAST_RANK_EXCESS);
	double most_ns = excess * dw_case_whole_ns(at, ranks_whole(at));

	return most_ns > 0 && most_ns < share_ns ? most_ns : share_ns;
}

static void ranks_rows(const struct dw_rule_case *at, struct dw_rule_rows *rows)
{
	dw_case_add_row(at, "communication", rows);
}

const struct dw_rule dw_rules_ranks[] = {
	{
		.id = "rank-waits",
		.question = "Do ranks wait for the slowest one?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_RANKS,
		.part = DW_RULE_PART_COMMUNICATION,
		.whole_of = ranks_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_COMM_WAIT, DW_FACT_RUN_RANKS),
		.share = ranks_share_wait,
		.threshold = DW_RULE_NAMED,
		.reason = "At least half of the communication is waiting for a rank that comes later. A "
		          "faster network cannot shorten it.",
		.applies = ranks_wait_dominates,
		.gain_ns = ranks_gain_wait,
		.statement = "Waiting for the last rank {takes} {share} {of}[: rank {comm.last_rank} is last in "
		             "{comm.last_rank_share} of the steps][, longest in {comm.last_rank:part}].",
		.remedy = {
			[DW_WORDS_ANY] = "find what this rank does longer than the others: its data, its CPUs, its device",
		},
		.look = "dwell report --view stragglers",
	},
	{
		.id = "messages",
		.question = "Does a step wait for messages of other ranks?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_RANKS,
		.part = DW_RULE_PART_COMMUNICATION,
		.whole_of = ranks_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_COMMUNICATION, DW_FACT_COMM_MESSAGES),
		.share = ranks_exposed,
		.rows = ranks_rows,
		.threshold = 0.07,
		.reason = "More than half of the communication is in messages of two ranks: what helps collectives does not help them.",
		.applies = ranks_send_messages,
		.statement = "Messages between ranks {take} {share} {of}[, most of it in {comm.count:name}].",
		.remedy = {
			[DW_WORDS_ANY] = "more and smaller parts of a batch, and stages of equal work, shorten the time in which a rank "
			                 "has nothing to do; messages that are started before they are needed cost no time",
		},
		.look = "dwell ranks tells how long each rank waits, and which works longest",
	},
	{
		.id = "communication",
		.question = "Does a step wait for communication?",
		.kind = DW_RULE_CAUSE,
		.group = DW_RULE_RANKS,
		.part = DW_RULE_PART_COMMUNICATION,
		.whole_of = ranks_whole,
		.needs = DW_RULE_NEEDS(DW_FACT_STEP_COMMUNICATION),
		.share = ranks_exposed,
		.rows = ranks_rows,
		.threshold = DW_RULE_NAMED,
		.reason = "A collective of a few percent belongs to any run with several ranks.",
		.applies = ranks_call_collectives,
		.statement = "Communication {takes} {share} {of}[, most of it in {comm.count:name}].",
		.remedy = {
			[DW_WORDS_ANY] = "larger batches, or sums over several steps, save transfers",
			[DW_WORDS_PYTORCH] = "larger batches, or several batches a step under no_sync(), save "
			                     "transfers; larger buckets (bucket_cap_mb) save calls",
			[DW_WORDS_LIGHTNING] = "larger batches or accumulate_grad_batches save transfers; larger "
			                       "buckets (DDPStrategy(bucket_cap_mb=...)) save calls",
		},
		.look = "dwell report --view steps shows what each rank does",
	},
	{ 0 },
};
