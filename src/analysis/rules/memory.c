/* Rules about memory. Growth and limits can end a run; the others are possible improvements. */
#include <string.h>

#include "rules/case.h"

#define MEMORY_GROWTH_BYTES (1 << 20) /* in all steps */
#define MEMORY_PEAK_BYTES (64 << 20)  /* any machine that trains has more than that to spare */

static bool memory_grows_much(const struct dw_rule_case *at)
{
	return !dw_case_drifts(at) && dw_case_value(at, DW_FACT_MEMORY_GROWTH) * dw_case_value(at, DW_FACT_STEP_COUNT) >=
	       MEMORY_GROWTH_BYTES;
}

/* A program of PyTorch that learns nothing makes something of each input, and may well keep it. */
static bool memory_keeps_results(const struct dw_rule_case *at)
{
	return dw_case_has(at, DW_FACT_TRACE_TORCH) && !dw_case_has(at, DW_FACT_STEP_BACKWARD_ALL) &&
	       !dw_case_has(at, DW_FACT_STEP_BACKWARD) && !dw_case_has(at, DW_FACT_STEP_OPTIMIZER);
}

/* What makes the steps slower as it grows is reported by its time. */
static bool memory_grows(const struct dw_rule_case *at)
{
	return memory_grows_much(at) && !memory_keeps_results(at);
}

static bool memory_is_kept(const struct dw_rule_case *at)
{
	return memory_grows_much(at) && memory_keeps_results(at);
}

/* On a host, what memory is free is no reason for what a step takes: it comes after the answer. */
static bool memory_is_the_hosts(const struct dw_rule_case *at)
{
	const char *note = dw_case_fact(at, DW_FACT_MEMORY_PEAK)->note;

	return note && strncmp(note, "cpu", 3) == 0;
}

/* Memory of a device belongs to the program. A host always has memory. */
static bool memory_has_room(const struct dw_rule_case *at)
{
	const struct dw_fact *peak = dw_case_fact(at, DW_FACT_MEMORY_PEAK);

	return peak->note && !memory_is_the_hosts(at);
}

static struct dw_amount memory_room(const struct dw_rule_case *at)
{
	double room = 1 - dw_case_value(at, DW_FACT_MEMORY_PEAK_SHARE);

	return (struct dw_amount){ room, room, room };
}

/* Memory of a host is there for all: what the program uses of it matters if that is most of it. */
static bool memory_is_scarce(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_MEMORY_PEAK) >= MEMORY_PEAK_BYTES &&
	       (!memory_is_the_hosts(at) || dw_case_value(at, DW_FACT_MEMORY_PEAK_SHARE) >= DW_ACCOUNT_MOST);
}

static bool memory_peak_counts(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_MEMORY_PEAK) >= MEMORY_PEAK_BYTES;
}

const struct dw_rule dw_rules_memory[] = {
	{
		.id = "memory-growth",
		.question = "Does memory grow with every step?",
		.kind = DW_RULE_RISK,
		.whole = DW_RULE_OF_PEAK,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_GROWTH_SHARE, DW_FACT_MEMORY_GROWTH),
		.threshold = DW_RULE_LARGE,
		.reason = "Growth over the steady steps of a tenth of the peak, and of 1 MiB or more in all. The first steps "
		          "allocate what stays. Not if steps get slower too: drift reports what grows then.",
		.applies = memory_grows,
		.no_gain = true,
		.statement = "Memory grows by {memory.growth} with each step[ on {memory.peak:note}][, most of "
		             "it made by {memory.growth:name}]{memory.growth:where}.",
		.remedy = {
			[DW_WORDS_ANY] = "dwell report --view memory shows what is left at the end",
			[DW_WORDS_PYTORCH] = "something keeps what each step made: losses kept with their graphs "
			                     "are the usual cause; keep loss.item() or loss.detach()",
		},
	},
	{
		.id = "memory-kept",
		.question = "Is something kept of every step of a program that does not train?",
		.kind = DW_RULE_INFORMATION,
		.whole = DW_RULE_OF_PEAK,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_GROWTH_SHARE, DW_FACT_MEMORY_GROWTH),
		.threshold = DW_RULE_LARGE,
		.reason = "As memory-growth. Without gradients and updates, what is kept is usually the result.",
		.applies = memory_is_kept,
		.no_gain = true,
		.statement = "Memory grows by {memory.growth} with each step[ on {memory.peak:note}]: results that are kept, or what "
		             "nobody needs any more.",
		.look = "dwell report --view memory",
	},
	{
		.id = "memory-limit",
		.question = "Is memory nearly full?",
		.kind = DW_RULE_RISK,
		.whole = DW_RULE_OF_CAPACITY,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_PEAK_SHARE, DW_FACT_MEMORY_PEAK, DW_FACT_MEMORY_CAPACITY),
		.threshold = 0.90,
		.reason = "A larger input, or fragments, need the last tenth.",
		.no_gain = true,
		.statement = "The peak of {memory.peak} is {memory.peak_share} of {memory.capacity}"
		             "[ on {memory.peak:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "smaller batches",
			[DW_WORDS_PYTORCH] = "smaller batches with accumulation, activation checkpointing, or "
			                     "zero_grad(set_to_none=True)",
			[DW_WORDS_LIGHTNING] = "smaller batches with accumulate_grad_batches, or activation checkpointing",
		},
		.look = "dwell report --view memory",
	},
	{
		.id = "memory-owners",
		.question = "Do gradients stay in memory where they are not needed?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_PEAK,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_GRADIENTS_KEPT, DW_FACT_MEMORY_PEAK),
		.threshold = 0.15,
		.reason = "Gradients that stay in memory in all phases of all steps, at a peak of 16 MiB or "
		          "more. Freed before the forward, they leave their place to activations.",
		.applies = memory_peak_counts,
		.no_gain = true,
		.statement = "Gradients are never freed and hold {share} {of}.",
		.remedy = {
			[DW_WORDS_ANY] = "free gradients before the forward of the next step",
			[DW_WORDS_PYTORCH] = "zero_grad(set_to_none=True) before forward, unless batches are accumulated",
		},
		.look = "dwell report --view memory",
	},
	{
		.id = "memory-room",
		.question = "Is there memory for larger batches?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_CAPACITY,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_PEAK_SHARE, DW_FACT_MEMORY_PEAK, DW_FACT_MEMORY_CAPACITY),
		.share = memory_room,
		.threshold = DW_RULE_MOST,
		.reason = "Of a device, whose memory the program has for itself. Whether "
		          "larger batches are faster is not known from one size.",
		.applies = memory_has_room,
		.no_gain = true,
		.statement = "The peak of {memory.peak} leaves {share} {of} on {memory.peak:note} free.",
		.remedy = { [DW_WORDS_ANY] = "try larger batches: the calls of operators take as long for them" },
		.look = "dwell report --view memory",
	},
	{
		.id = "memory-temporaries",
		.question = "Are temporaries most of the peak?",
		.kind = DW_RULE_CHANCE,
		.whole = DW_RULE_OF_PEAK,
		.needs = DW_RULE_NEEDS(DW_FACT_MEMORY_TEMPORARIES_SHARE, DW_FACT_MEMORY_PEAK),
		.threshold = 0.25,
		.reason = "What is allocated and freed within one operator, or made anew in each step outside "
		          "its phases, of a peak of 64 MiB or more: to save a part of less helps nobody. On a host only if the peak is "
		          "half of its memory.",
		.applies = memory_is_scarce,
		.no_gain = true,
		.statement = "Temporaries hold {share} {of}.",
		.remedy = { [DW_WORDS_ANY] = "in-place operators or buffers that are used again" },
		.look = "dwell report --view memory",
	},
	{ 0 },
};
