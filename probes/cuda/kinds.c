/*
 * What is recorded: kinds of CUPTI's records and CUDA's calls, by tier, on and off.
 *
 * A record costs the thread that launches: CUPTI makes it there. So the tier LIGHT has no kind and no call that is not needed to tell
 * how busy a device was, for whom it worked, and what the host waited for. What is missing then is written into the trace.
 *
 * CUPTI's attributes and its hardware trace are for the whole process, and are set before a kind is enabled and before CUDA has a
 * context. Hardware trace stays on until the program ends, also for other tools.
 */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"

#define BUFFERS_BEFORE 8u /* of a device, of 3 MB each; CUPTI's own choice is 3 */
#define CALLS_ARE_CHOSEN (dwc_cupti.subscriber ? !!dwc_cupti.call.cuptiActivityEnableRuntimeApi_v2 \
	                                           : !!dwc_cupti.call.cuptiActivityEnableRuntimeApi)

/* Devices, contexts and streams first: the others name them. Graphs are recorded by their kernels, which
 * KIND_GRAPH would replace. NONE: the tier LIGHT lacks it. */
#define NONE (DWC_ALL + 1)
static const struct { int kind; unsigned full, light; } kinds_all[] = {
	{ KIND_DEVICE, DWC_QUIET, DWC_QUIET }, { KIND_CONTEXT, DWC_QUIET, DWC_QUIET }, { KIND_STREAM, DWC_QUIET, NONE },
	{ KIND_MEMORY, DWC_QUIET, NONE }, { KIND_POOL, DWC_QUIET, NONE }, { KIND_RUNTIME_CALL, DWC_ALL, NONE },
	{ KIND_DRIVER_CALL, DWC_ALL, NONE }, { KIND_COPY, DWC_ALL, DWC_ALL }, { KIND_PEER_COPY, DWC_ALL, DWC_ALL },
	{ KIND_SET, DWC_ALL, DWC_ALL }, { KIND_SYNC, DWC_ALL, NONE }, { KIND_EVENT, DWC_ALL, NONE },
	{ KIND_OVERHEAD, DWC_ALL, NONE }, { KIND_KERNEL, DWC_ALL, DWC_ALL },
};
#define KINDS (sizeof kinds_all / sizeof *kinds_all)

static struct {
	enum dwc_tier tier;
	bool is_on[KINDS];
	bool calls_are_on, by_callbacks;
	bool hardware;       /* kernels have their times from the device */
	char no_hardware[64]; /* why not */
	bool buffers_before; /* CUPTI has taken the attributes */
} kinds;

/* ---- before a kind is enabled ------------------------------------------------------------------------------- */

static void kinds_read_tier(void)
{
	const char *tier = getenv("DWELL_CUDA");

	if (tier && strcmp(tier, "light") == 0)
		kinds.tier = DWC_LIGHT;
	else if (tier && strcmp(tier, "light-callbacks") == 0)
		kinds.tier = DWC_LIGHT_CALLBACKS;
	else
		kinds.tier = DWC_FULL;
}

static void kinds_ask_for_hardware(void)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	int result;

	if (dwc_cupti.subscriber) {
		kinds.hardware = dwc_cupti_set_attribute(ATTRIBUTE_HARDWARE, 1, 1);
		if (!kinds.hardware)
			snprintf(kinds.no_hardware, sizeof kinds.no_hardware, "CUPTI refuses it to one of several tools");
	} else if (!call->cuptiActivityEnableHWTrace) {
		snprintf(kinds.no_hardware, sizeof kinds.no_hardware, "this CUPTI has none");
	} else {
		result = call->cuptiActivityEnableHWTrace(1);
		kinds.hardware = result == CUPTI_OK;
		if (!kinds.hardware)
			snprintf(kinds.no_hardware, sizeof kinds.no_hardware, "CUPTI refuses it, error %d", result);
	}
}

bool dwc_kinds_prepare(void)
{
	kinds_read_tier();
	if (kinds.tier == DWC_FULL)
		return false;
	kinds.by_callbacks = kinds.tier == DWC_LIGHT_CALLBACKS && dwc_cupti_caller();
	kinds.buffers_before = dwc_cupti_set_attribute(ATTRIBUTE_BUFFERS_BEFORE, sizeof(size_t), BUFFERS_BEFORE) &&
	                       dwc_cupti_set_attribute(ATTRIBUTE_CLEARED_BUFFERS, 1, 1);
	kinds_ask_for_hardware();
	return true;
}

void dwc_kinds_take_state(const void *data)
{
	const struct cupti_state *state = data;

	if (!kinds.hardware || !state->result)
		return;
	kinds.hardware = false;
	snprintf(kinds.no_hardware, sizeof kinds.no_hardware, "CUPTI says later: %.40s", state->message ? state->message : "an error");
}

void dwc_kinds_text(char *to, size_t size)
{
	to[0] = '\0';
	if (kinds.tier == DWC_FULL)
		return;
	snprintf(to, size, ", light%s, %s%s%s%s",
	         kinds.by_callbacks ? " by callbacks" : kinds.tier == DWC_LIGHT ? "" : " without callbacks",
	         kinds.hardware ? "hardware trace" : "no hardware trace (", kinds.no_hardware, kinds.hardware ? "" : ")",
	         kinds.buffers_before ? "" : ", buffers as CUPTI chooses");
}

/* Writes into the trace what this tier lacks. Reports print it in their line "Not recorded: ...". */
static void kinds_say_what_is_missing(void)
{
	if (kinds.tier != DWC_FULL)
		dwell_meta(DW_KEY_GAP "cuda", "of devices, by --cuda=light: memory, events and waits of streams, calls that neither "
		           "submit work nor wait for it (--cuda=full)");
}

/* ---- on and off --------------------------------------------------------------------------------------------- */

static bool kinds_set(size_t at, bool on)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	int kind = kinds_all[at].kind;

	if (dwc_cupti.subscriber)
		return (on ? call->cuptiActivityEnable_v2 : call->cuptiActivityDisable_v2)(dwc_cupti.subscriber, kind,
		                                                                           NULL) == CUPTI_OK;
	return (on ? call->cuptiActivityEnable : call->cuptiActivityDisable)(kind) == CUPTI_OK;
}

static void kinds_set_call(bool runtime, uint32_t function, bool on)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	int (*enable)(uint32_t, uint8_t) =
	    runtime ? call->cuptiActivityEnableRuntimeApi : call->cuptiActivityEnableDriverApi;
	int (*enable_v2)(void *, uint32_t, uint8_t) =
	    runtime ? call->cuptiActivityEnableRuntimeApi_v2 : call->cuptiActivityEnableDriverApi_v2;

	if (dwc_cupti.subscriber && enable_v2)
		enable_v2(dwc_cupti.subscriber, function, on);
	else if (!dwc_cupti.subscriber && enable)
		enable(function, on);
}

bool dwc_kinds_has(enum dwc_call does)
{
	return kinds.tier == DWC_FULL ? does != DWC_CALL_ASKS : does == DWC_CALL_SUBMITS || does == DWC_CALL_WAITS;
}

/* Nearly nine of ten records that CUPTI made of ResNet-50's steps were of calls that only ask. A CUPTI without these
 * functions (11.8) records them all, and records.c leaves them out. Enabling the kinds enables these calls again. */
static void kinds_leave_out_questions(void)
{
	for (uint32_t function = 1; function < DWC_FUNCTIONS; function++)
		for (int runtime = 0; runtime <= 1; runtime++)
			if (dwc_cupti_call_of(runtime, function) == DWC_CALL_ASKS)
				kinds_set_call(runtime, function, false);
}

/* The calls of the tier LIGHT, one by one. */
static void kinds_switch_calls(bool on)
{
	void *caller = dwc_cupti_caller();

	if (kinds.calls_are_on == on)
		return;
	kinds.calls_are_on = on;
	if (kinds.by_callbacks)
		dwc_noted_begin();
	for (uint32_t function = 1; function < DWC_FUNCTIONS; function++)
		for (int runtime = 0; runtime <= 1; runtime++) {
			if (!dwc_kinds_has(dwc_cupti_call_of(runtime, function)))
				continue;
			if (kinds.by_callbacks)
				dwc_cupti.call.cuptiEnableCallback(on, caller, runtime ? DOMAIN_RUNTIME : DOMAIN_DRIVER, function);
			else
				kinds_set_call(runtime, function, on);
		}
}

/* The least level at which a kind is on. A CUPTI that cannot choose single calls makes records of all. */
static unsigned kinds_level_of(size_t at)
{
	bool call = kinds_all[at].kind == KIND_RUNTIME_CALL || kinds_all[at].kind == KIND_DRIVER_CALL;

	if (kinds.tier == DWC_FULL)
		return kinds_all[at].full;
	return call && !kinds.by_callbacks && !CALLS_ARE_CHOSEN ? DWC_ALL : kinds_all[at].light;
}

static void kinds_switch_kinds(enum dwc_level level)
{
	for (size_t i = 0; i < KINDS; i++) {
		bool wanted = level >= kinds_level_of(i);

		if (wanted && !kinds.is_on[i])
			kinds.is_on[i] = kinds_set(i, true); /* a kind that this device lacks stays off */
		else if (!wanted && kinds.is_on[i])
			kinds.is_on[i] = !kinds_set(i, false);
	}
}

void dwc_kinds_lose_callbacks(void)
{
	if (!kinds.by_callbacks || dwc_cupti_caller())
		return;
	kinds.by_callbacks = false;
	if (kinds.calls_are_on) {
		kinds.calls_are_on = false; /* those of the subscription that has ended */
		kinds_switch_kinds(DWC_ALL);
		kinds_switch_calls(true);
	}
}

void dwc_kinds_switch(enum dwc_level level)
{
	kinds_switch_kinds(level);
	if (kinds.tier != DWC_FULL)
		kinds_switch_calls(level == DWC_ALL);
	if (level != DWC_ALL)
		return;
	if (kinds.tier == DWC_FULL)
		kinds_leave_out_questions();
	kinds_say_what_is_missing();
	if (!kinds.is_on[KINDS - 1]) {
		snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "CUPTI %u does not record kernels here; the driver may "
		         "allow this to administrators only (NVreg_RestrictProfilingToAdminUsers)", dwc_cupti.version);
	}
}
