/*
 * Rules about a device: why it was idle, and what it did instead of computing.
 *
 * The device's division of a step is a second view of the same time. While a device works, the
 * host's time is hidden: so rules about the host's operators, Python and waits say nothing where the
 * work of a device was recorded (judge.c), and these rules take their place.
 */

#include "rules/case.h"

static bool device_copies_are_pageable(const struct dw_rule_case *at)
{
	return dw_case_value(at, DW_FACT_DEVICE_PAGEABLE) >= DW_ACCOUNT_MOST;
}

static bool device_copies_are_pinned(const struct dw_rule_case *at)
{
	return !device_copies_are_pageable(at);
}

static bool device_host_works(const struct dw_rule_case *at)
{
	return !(dw_case_part(at, DW_FACT_STEP_DATA) * dw_case_value(at, DW_FACT_STEP_WALL) >
	         DW_ACCOUNT_MOST * dw_case_value(at, DW_FACT_DEVICE_HOST_LATE) * dw_case_value(at, DW_FACT_DEVICE_STEP));
}

static bool device_host_does_else(const struct dw_rule_case *at)
{
	return device_host_works(at) && dw_case_value(at, DW_FACT_DEVICE_LATE_LONG) >= DW_ACCOUNT_MOST;
}

static bool device_host_submits(const struct dw_rule_case *at)
{
	return device_host_works(at) && !device_host_does_else(at);
}

/* Without waits, or with what the host does elsewhere in another thread, both work at the same time. */
static double device_gain_overlap(const struct dw_rule_case *at, double time_ns)
{
	return fmin(time_ns, dw_case_part(at, DW_FACT_DEVICE_BUSY) * dw_case_part(at, DW_FACT_DEVICE_STEP));
}

static bool device_sync_matters(const struct dw_rule_case *at)
{
	return !(dw_case_value(at, DW_FACT_DEVICE_BUSY) < DW_RULE_DEADBAND);
}

/* What a thread repeats may be a small part of a run in which no steps are marked: then the rest has what stands out. */
static bool device_iterates(const struct dw_rule_case *at)
{
	double ns = dw_case_value(at, DW_FACT_STEP_COUNT) * dw_case_value(at, DW_FACT_DEVICE_STEP);

	return at->facts->iterations != DW_ITERATIONS_PERIOD || !(ns < DW_ACCOUNT_MOST * dw_case_value(at, DW_FACT_RUN_WALL));
}

const struct dw_rule dw_rules_device[] = {
	{
		.id = "device-host-elsewhere",
		.question = "Does the host do something else while the device has nothing to do?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_HOST_LATE, DW_FACT_DEVICE_LATE_LONG),
		.threshold = DW_RULE_LARGE,
		.applies = device_host_does_else,
		.gain_ns = device_gain_overlap,
		.reason = "As device-host-late, and at least half of that time is in idle times of more than 1 ms, in which a "
			"host makes a hundred "
		          "launches. Beside the work of the device, the host's can be done for as long as the device is busy.",
		.statement = "The device is idle for {device.idle} {of}, for {share} because the host submits nothing meanwhile[; most of "
		             "that time the host is in {device.host_late:note}].",
		.remedy = {
			[DW_WORDS_ANY] = "do that earlier, or in another thread, while the device works",
			[DW_WORDS_PYTORCH] = "prepare the next batch while the device works: a DataLoader with workers, and "
				"non_blocking copies",
		},
		.look = "dwell report --view device",
	},
	{
		.id = "device-host-late",
		.question = "Does the device wait for the host to submit work?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_HOST_LATE),
		.threshold = DW_RULE_LARGE,
		.applies = device_host_submits,
		.reason = "The device had finished all that was submitted, and the call that submitted its next work had not "
			"begun, or took "
		          "longer than a launch. It does not fire if the host mostly waited for data: the rules about loading report that.",
		.statement = "The device is idle for {device.idle} {of}, for {share} because the host submits its work too late[; most of "
		             "that time the host is in {device.host_late:note}].",
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
		.threshold = DW_RULE_DEADBAND,
		.applies = device_sync_matters,
		.gain_ns = device_gain_overlap,
		.reason = "A call that waits for the device submits nothing meanwhile: the device is then idle until the host "
			"submits its next "
		          "work. Of that idle time, the part counts that is no longer than the call waited. Without the call, "
		"host and device can "
		          "work at the same time, which gains no more than the time in which the device is busy.",
		.statement = "The device is idle for {device.idle} {of}, for {share} because calls of the host wait for it[, most of it "
		             "because of {device.sync:name}][ in {device.sync:note}].",
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
		.threshold = DW_RULE_LARGE,
		.reason = "Only communication during which the device computed nothing counts.",
		.statement = "Communication that no computation hides {takes} {share} {of} on the device[; its largest part is "
		             "{device.communication:note}].",
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
		.threshold = DW_RULE_DEADBAND,
		.reason = "Copies that nothing hides, at least half of whose time is between a device and "
		          "pageable memory. The driver copies such memory twice, and the host waits.",
		.applies = device_copies_are_pageable,
		.statement = "Copies that no computation hides {take} {share} {of}, {device.pageable} of "
		             "their time from or to pageable memory[; their largest part is {device.copy:note}].",
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
		.threshold = DW_RULE_LARGE,
		.reason = "Only copies during which the device computed nothing count.",
		.applies = device_copies_are_pinned,
		.statement = "Copies that no computation hides {take} {share} {of} on the device[; their largest part is "
			"{device.copy:note}].",
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
		.threshold = DW_RULE_LARGE,
		.reason = "The device was idle although work was submitted, because its stream waited for "
		          "an event of another one.",
		.statement = "The device is idle for {device.idle} {of}, for {share} while a stream waits for an event of another one.",
		.remedy = { [DW_WORDS_ANY] = "fewer events between streams, or the work of both in one stream" },
		.look = "dwell report --view streams",
	},
	{
		.id = "device-first-calls",
		.question = "Does the device wait for calls that load code or set it up?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_FIRST),
		.threshold = DW_RULE_LARGE,
		.reason = "The host was in the first call of a function of the device's runtime, or in the first one that "
			"launches some kernel, "
		          "and it took longer than a launch. It does not recur: a longer run has it once.",
		.no_gain = true,
		.statement = "The device is idle for {device.idle} {of}, for {share} during first calls, which load code and set up the "
		             "device[: most of it in {device.first:note}].",
		.remedy = { [DW_WORDS_ANY] = "a profile that begins some steps later shows the usual ones" },
		.look = "dwell report --view device",
	},
	{
		.id = "device-start",
		.question = "Does the device wait long for its first work?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_START),
		.threshold = DW_RULE_MOST,
		.reason = "The device had no work yet. Each run begins so, and how much of this time a longer run would have is "
			"not known: so it "
		          "is reported only if it is most of the time.",
		.no_gain = true,
		.statement = "The device is idle for {device.idle} {of}, for {share} before its first work[; most of that time the host is "
		             "in {device.start:note}].",
		.look = "dwell report --view device",
	},
	{
		.id = "device-end",
		.question = "Does the run go on long after the device's last work?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_NOTHING),
		.threshold = DW_RULE_MOST,
		.reason = "No work was submitted any more. As device-start, it is reported only if it is most of the time.",
		.no_gain = true,
		.statement = "The device is idle for {device.idle} {of}, for {share} after its last work[; most of that time the host is "
		             "in {device.nothing:note}].",
		.look = "dwell report --view device",
	},
	{
		.id = "device-queued",
		.question = "Does work that was submitted wait for what is not recorded?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_QUEUED),
		.threshold = DW_RULE_LARGE,
		.reason = "The call that submitted the work had ended, and the work began later than a launch allows.",
		.no_gain = true,
		.statement = "The device is idle for {device.idle} {of}, for {share} although work is in its queue, for longer than "
		             "launches take; what the work waits for is not recorded[; most of that time the host is in "
		             "{device.queued:note}].",
		.look = "dwell report --view streams",
	},
	{
		.id = "device-unknown",
		.question = "Is the device idle, and it is not known why?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_UNKNOWN),
		.threshold = DW_RULE_LARGE,
		.reason = "The calls that submitted the work are not recorded: it is not known whether the host was late.",
		.no_gain = true,
		.statement = "The device is idle for {device.idle} {of}, for {share} it is not known why: the calls that submitted its "
		             "work are not recorded.",
		.look = "dwell report --view device",
	},
	{
		.id = "device-latency",
		.question = "Does the device lose time between short kernels?",
		.kind = DW_RULE_CAUSE,
		.part = DW_RULE_PART_DEVICE,
		.whole = DW_RULE_OF_STEP,
		.needs = DW_RULE_NEEDS(DW_FACT_DEVICE_LATENCY),
		.threshold = DW_RULE_LARGE,
		.reason = "The work was submitted in time and began as soon as a launch allows, some microseconds after the "
			"work before it ended.",
		.statement = "The device is idle for {device.idle} {of}, for {share} between pieces of work that were submitted in time: "
		             "its kernels are short.",
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
		.threshold = DW_RULE_MOST,
		.applies = device_iterates,
		.reason = "The device computes for more than half of a step, and no other rule says anything. Iterations that nobody "
		          "marked must be most of the run.",
		.no_gain = true,
		.statement = "The device computes for {share} {of}, and no wait or overhead stands out[; its largest part is "
		             "{device.compute:note}].",
		.look = "dwell report --view kernels",
	},
	{ 0 },
};
