/*
 * Rules about a device: why it was idle, and what it did instead of computing.
 *
 * The device's division of a step is a second view of the same time. While a device works, the
 * host's time is hidden: so rules about the host's operators, Python and waits say nothing where the
 * work of a device was recorded (judge.c), and these rules take their place.
 */

#include "rules/case.h"

#define DEVICE_PAGEABLE 0.5   /* of the copies' time */
#define DEVICE_MOSTLY 0.5     /* of the time in which the host is late */
#define DEVICE_SYNC_GAIN 0.05 /* of a step */

static bool device_copies_are_pageable(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_DEVICE_PAGEABLE) >= DEVICE_PAGEABLE;
}

static bool device_copies_are_pinned(const struct dw_rule_case *at)
{
	return !device_copies_are_pageable(at);
}

static bool device_host_works(const struct dw_rule_case *at)
{
	return !(dw_case_part(at, DW_FACT_STEP_DATA) * dw_case_value(at, DW_FACT_STEP_WALL) >
	         DEVICE_MOSTLY * dw_case_value(at, DW_FACT_DEVICE_HOST_LATE) * dw_case_value(at, DW_FACT_DEVICE_STEP));
}

/* Without waits, the host works while the device does. */
static double device_gain_sync(const struct dw_rule_case *at, double time_ns)
{
	return fmin(time_ns, dw_case_part(at, DW_FACT_DEVICE_BUSY) * dw_case_part(at, DW_FACT_DEVICE_STEP));
}

static bool device_sync_matters(const struct dw_rule_case *at)
{
	return !(dw_case_value(at, DW_FACT_DEVICE_BUSY) < DEVICE_SYNC_GAIN);
}

const struct dw_rule dw_rules_device[] = {
	{
		.id = "device-host-late",
		.question = "Does the device wait for the host to submit work?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_HOST_LATE),
		.threshold = 0.10,
		.applies = device_host_works,
		.reason = "The device had finished all that was submitted, and the call that submitted its "
		          "next work had not begun. It does not fire if the host mostly waited for data: the rules about loading report that.",
		.statement = "The device is idle for {share} {of} because the host submits its work too late (it is busy for "
		             "{device.busy})[; the largest part of the host's step is {device.host_late:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "fewer and larger kernels, larger batches, or graphs that are submitted at once",
			[DW_WORDS_PYTORCH] = "torch.compile(mode=\"reduce-overhead\") or CUDA graphs, a fused "
			                     "optimizer, larger batches: each saves calls of the host",
		},
		.look = "dwell report --view device",
	},
	{
		.id = "device-sync",
		.question = "Does a call of the host wait for the device, so that it runs out of work?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_SYNC),
		.threshold = 0.05,
		.applies = device_sync_matters,
		.gain_ns = device_gain_sync,
		.reason = "A call that waits for the device lets nothing be submitted meanwhile; the device "
		          "is idle from its end to the next work. Without the call, the work of the host and of the "
		          "device can overlap, which gains no more than the time in which the device is busy.",
		.statement = "The device is idle for {share} {of} after calls that wait for it[, most of it "
		             "after {device.sync:name}][ in {device.sync:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "ask for results later or more rarely, so that work is queued meanwhile",
			[DW_WORDS_PYTORCH] = "no .item(), .cpu(), nonzero() or printing of tensors in every step; "
			                     "non_blocking=True copies from pinned memory",
		},
		.look = "dwell report --view device",
	},
	{
		.id = "device-communication",
		.question = "Does a step wait for communication that no computation hides?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_COMMUNICATION),
		.threshold = 0.10,
		.reason = "Only communication during which the device computed nothing counts.",
		.statement = "Communication that no computation hides {takes} {share} {of} on the device.",
		.remedy = {
			[DW_WORDS_ANY] = "start it earlier, in its own stream, or send less",
			[DW_WORDS_PYTORCH] = "larger batches or no_sync() for several batches; other bucket sizes "
			                     "(bucket_cap_mb); gradients in bfloat16",
		},
		.look = "dwell report --view device",
	},
	{
		.id = "device-pageable",
		.question = "Do copies use memory that is not pinned?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_COPY, DW_FACT_DEVICE_PAGEABLE),
		.threshold = 0.05,
		.reason = "Copies that nothing hides, at least half of whose time is between a device and "
		          "pageable memory. The driver copies such memory twice, and the host waits.",
		.applies = device_copies_are_pageable,
		.statement = "Copies that no computation hides {take} {share} {of}, {device.pageable} of "
		             "their time from or to pageable memory.",
		.remedy = {
			[DW_WORDS_ANY] = "pinned memory, and copies that do not wait",
			[DW_WORDS_PYTORCH] = "DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
		},
		.look = "dwell report --view device",
	},
	{
		.id = "device-copies",
		.question = "Does a step wait for copies that no computation hides?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_COPY),
		.threshold = 0.10,
		.reason = "Only copies during which the device computed nothing count.",
		.applies = device_copies_are_pinned,
		.statement = "Copies that no computation hides {take} {share} {of} on the device.",
		.remedy = {
			[DW_WORDS_ANY] = "copy the next batch in another stream while this one is computed; keep "
			                 "data on the device",
		},
		.look = "dwell report --view kernels",
	},
	{
		.id = "device-streams",
		.question = "Do streams of the device wait for one another?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_WAIT),
		.threshold = 0.10,
		.reason = "The device was idle although work was submitted, because its stream waited for "
		          "an event of another one.",
		.statement = "The device is idle for {share} {of} while a stream waits for an event of another one.",
		.remedy = { [DW_WORDS_ANY] = "fewer events between streams, or the work of both in one stream" },
		.look = "dwell report --view streams",
	},
	{
		.id = "device-latency",
		.question = "Does the device lose time between short kernels?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_LATENCY),
		.threshold = 0.10,
		.reason = "The work was submitted in time and began some microseconds after the work before it ended.",
		.statement = "The device is idle for {share} {of} between pieces of work that were submitted "
		             "in time: its kernels are short.",
		.remedy = {
			[DW_WORDS_ANY] = "fewer and larger kernels, or graphs",
			[DW_WORDS_PYTORCH] = "torch.compile, which merges kernels, CUDA graphs, larger batches",
		},
		.look = "dwell report --view kernels",
	},
	{
		.id = "device-compute",
		.question = "Does the device compute most of the time?",
		.kind = DW_RULE_ANSWER,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_COMPUTE),
		.threshold = 0.5,
		.reason = "The device computes for more than half of a step, and no other rule says anything.",
		.no_gain = true,
		.statement = "The device computes for {share} {of}, and no wait or overhead stands out.",
		.look = "dwell report --view kernels",
	},
	{ 0 },
};
