/*
 * Another tool of the program takes CUPTI: torch.profiler, say, which a training script starts.
 *
 * Before 13.1 a process has one set of kinds, buffers and clocks. What dwell has enabled then destroys the
 * other tool's records: CUPTI returns dwell's buffers to the other's function, which does not know them, and
 * kernels have times of neither clock if a clock is registered while kinds are enabled. So dwell must have left
 * CUPTI before. These functions take the place of those by which a tool begins, and then call CUPTI's own.
 *
 * A tool takes CUPTI when it enables a kind: torch.profiler subscribes and registers its functions also where it
 * records the host alone. Until then its registrations are kept here and dwell records on.
 *
 * Why dwell does not come back when the other tool has ended: torch.profiler leaves its own clock behind, and
 * each further change of the clock has CUPTI return kernels of the next profile with wrong times.
 */
#include "cuda.h"

static struct dwc_handover handover;
static struct { cupti_request_function request; cupti_complete_function complete; void *clock; } waiting;

/* Passes on what the other tool has registered. */
static void handover_register(void)
{
	const struct dwc_functions *call = &dwc_cupti.call;

	if (waiting.clock)
		call->cuptiActivityRegisterTimestampCallback(waiting.clock);
	if (waiting.request)
		call->cuptiActivityRegisterCallbacks(waiting.request, waiting.complete);
	waiting.clock = NULL;
	waiting.request = NULL;
}

#define HANDOVER(name, arguments, pass)                           \
	static int handover_##name arguments                          \
	{                                                             \
		enum dwc_owner owner = handover.enter(true);              \
		int result;                                               \
                                                                  \
		handover_register();                                      \
		result = dwc_cupti.call.name pass;                        \
		handover.leave(owner);                                    \
		return result;                                            \
	}
HANDOVER(cuptiActivityEnable, (int kind), (kind))
HANDOVER(cuptiActivityEnableContext, (void *context, int kind), (context, kind))
HANDOVER(cuptiActivityEnableAndDump, (int kind), (kind))
HANDOVER(cuptiFinalize, (void), ()) /* disables everything */

/* What it disables is dwell's, as long as it has enabled nothing. */
static int handover_cuptiActivityDisable(int kind)
{
	enum dwc_owner owner = handover.enter(false);
	int result = owner == DWC_OWNER_DWELL ? CUPTI_OK : dwc_cupti.call.cuptiActivityDisable(kind);

	handover.leave(owner);
	return result;
}

static int handover_cuptiActivityRegisterCallbacks(cupti_request_function request, cupti_complete_function complete)
{
	enum dwc_owner owner = handover.enter(false);
	int result = CUPTI_OK;

	if (owner == DWC_OWNER_DWELL && request && complete) {
		waiting.request = request;
		waiting.complete = complete;
	} else {
		result = dwc_cupti.call.cuptiActivityRegisterCallbacks(request, complete);
	}
	handover.leave(owner);
	return result;
}

static int handover_cuptiActivityRegisterTimestampCallback(void *clock)
{
	enum dwc_owner owner = handover.enter(false);
	int result = CUPTI_OK;

	if (owner == DWC_OWNER_DWELL && clock)
		waiting.clock = clock;
	else
		result = dwc_cupti.call.cuptiActivityRegisterTimestampCallback(clock);
	handover.leave(owner);
	return result;
}

static void handover_make_room(void)
{
	dwc_cupti_make_room();
	dwc_kinds_lose_callbacks();
}

/* As long as dwell is one of several, CUPTI refuses a subscriber that does not share. */
static int handover_cuptiSubscribe(void **subscriber, void *callback, void *user)
{
	enum dwc_owner owner = handover.enter(dwc_cupti.subscriber);
	int result;

	handover_make_room();
	result = dwc_cupti.call.cuptiSubscribe(subscriber, callback, user);

	dwc_cupti.seen |= result == CUPTI_OK;
	handover.leave(owner);
	return result;
}

static int handover_cuptiSubscribe_v2(void **subscriber, void *callback, void *user, struct cupti_subscriber *ask)
{
	bool shares = ask && ask->size > offsetof(struct cupti_subscriber, several) && ask->several;
	/* Alone since 13.1, dwell does not see what one of several enables. */
	bool leaves = dwc_cupti.subscriber ? !shares : shares && dwc_cupti.version >= CUPTI_SEVERAL;
	enum dwc_owner owner = handover.enter(leaves);
	int result;

	handover_make_room();
	result = dwc_cupti.call.cuptiSubscribe_v2(subscriber, callback, user, ask);

	dwc_cupti.seen |= result == CUPTI_OK;
	handover.leave(owner);
	return result;
}

void dwc_handover_watch(const struct dwc_handover *functions)
{
	const struct dwc_functions *call = &dwc_cupti.call;
#define X(name) { #name, (void *)(uintptr_t)call->name, (void *)(uintptr_t)handover_##name }
	const struct dwc_replacement all[] = {
		X(cuptiSubscribe), X(cuptiSubscribe_v2), X(cuptiActivityRegisterCallbacks),
		X(cuptiActivityRegisterTimestampCallback), X(cuptiActivityEnable), X(cuptiActivityEnableContext),
		X(cuptiActivityEnableAndDump), X(cuptiActivityDisable), X(cuptiFinalize),
	};
#undef X

	if (handover.enter)
		return; /* done before, by this process or by its parent */
	handover = *functions;
	dwc_redirect(all, sizeof all / sizeof *all);
}
