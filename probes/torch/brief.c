/* Steps of which only begin and end are recorded. See brief.h. */
#include "brief.h"

#include <stdlib.h>
#include <string.h>

#include "loop_threads.h"
#include "loops.h"

#define MOST_CALLS 4096u /* of an iteration */

/* A hooked call of an iteration, or a moment in it that is no call: a batch is asked for, the program marks a step. Compared as bytes. */
struct brief_call {
	const struct dwp_hook *hook; /* NULL: a moment */
	const void *self;            /* only compared; of a moment the optimizer */
	enum steps_event moment;
	uint64_t place;              /* in a loop that loops.c follows; 0: in another */
	bool around;                 /* the call of an optimizer's step(closure): what the closure calls follows, then its end, a moment */
	struct dwell_site *range;    /* a call between steps is recorded as this; NULL: it is not */
	bool grad, training;
	struct steps_answer before, after; /* what the machine answered when the call began, and when it ended */
	struct steps_state begun, ended;   /* and what it was then */
};

struct brief_iteration {
	uint32_t count, capacity;
	struct brief_call *calls;
};

static struct {
	enum { BRIEF_OFF, BRIEF_NOTES, BRIEF_STARTS, BRIEF_RUNS } state;
	struct loop_thread *thread;
	/* BRIEF_NOTES */
	bool valid;     /* `noted` has all since the iteration began */
	bool in_call, has_begun;
	bool around;    /* a closure runs: the call around it is noted, and its end is not yet */
	bool boundary, wanted; /* by bound.c: an iteration ends with this event; the next one may be brief */
	bool known;     /* the last two noted iterations were the same */
	bool early;     /* the first call of an iteration ends the one before */
	/* BRIEF_RUNS */
	uint32_t at;    /* the call that comes next, or is open */
	struct dwp_call *open, *closure; /* the call that is open; the step(closure) around it */
	bool whole;     /* all of the current step was recorded */
} brief;

static struct brief_iteration noted, expected;
static struct dwp_brief_asks ask;
static const struct dwp_hook *module_hook;
static void (*module_reenter)(unsigned began);

/* ---- an iteration is noted ------------------------------------------------------------------- */

static void brief_note_nothing(void)
{
	brief.valid = brief.in_call = brief.known = brief.around = false;
	brief.state = brief.state == BRIEF_OFF ? BRIEF_OFF : BRIEF_NOTES;
}

/* Both have the same capacity. */
static bool brief_has_space(void)
{
	uint32_t capacity = noted.capacity ? 2 * noted.capacity : 16;
	struct brief_call *first, *second;

	if (noted.count < noted.capacity)
		return true;
	if (capacity > MOST_CALLS)
		return false;
	first = realloc(noted.calls, capacity * sizeof *first);
	noted.calls = first ? first : noted.calls;
	second = first ? realloc(expected.calls, capacity * sizeof *second) : NULL;
	expected.calls = second ? second : expected.calls;
	noted.capacity = second ? capacity : noted.capacity;
	return second;
}

static struct brief_call *brief_add_call(const struct dwp_hook *hook, const void *self)
{
	struct brief_call *call;

	if (!brief.valid) /* only a call that shows that an iteration begins matters */
		noted.count = 0;
	if (!brief_has_space()) {
		brief_note_nothing();
		return NULL;
	}
	call = &noted.calls[noted.count++];
	memset(call, 0, sizeof *call);
	call->hook = hook;
	call->self = self;
	brief.in_call = true;
	brief.has_begun = false;
	return call;
}

/* Of backward() and autograd.grad() the first argument is a tensor, which is another one each time. */
static const void *brief_object(const struct dwp_call *call)
{
	return call->hook == ask.backward || call->hook == ask.gradient ? NULL : call->self;
}

/* The call that is open while an iteration is noted; NULL: none, or none is noted. */
static struct brief_call *brief_noted_call(void)
{
	return brief.valid && brief.in_call ? &noted.calls[noted.count - 1] : NULL;
}

/* A call within a closure of step(), which has begun. */
static bool brief_is_closure(const struct brief_call *open)
{
	return open->begun.optimizers == 1 && brief.has_begun && !brief.around && open->hook != module_hook && open->hook != ask.backward;
}

/* A module within another one is a part of that call. */
static void brief_note_call(const struct dwp_call *call)
{
	struct brief_call *open = brief_noted_call();

	if (open && open->hook != call->hook && brief_is_closure(open)) {
		open->around = brief.around = true;
		open = NULL;
	}
	if (!open)
		brief_add_call(call->hook, brief_object(call));
	else if (open->hook != call->hook)
		brief_note_nothing();
}

static struct brief_call *brief_noted_forward(void)
{
	return brief.thread == dwp_loop_current && brief.state != BRIEF_RUNS ? brief_noted_call() : NULL;
}

void dwp_brief_note_forward(bool grad, bool training, bool follows)
{
	struct brief_call *call = brief_noted_forward();

	if (!call)
		return;
	call->grad = grad;
	call->training = training;
	call->place = follows ? dwp_loops_place() : 0;
}

void dwp_brief_note_gradient(bool follows)
{
	struct brief_call *call = brief_noted_forward();

	if (call && call->hook == ask.gradient)
		call->place = follows ? dwp_loops_place() : 0;
}

void dwp_brief_note_range(struct dwell_site *site)
{
	struct brief_call *call = brief_noted_forward();

	if (call && !brief.thread->steps.open)
		call->range = site;
}

static bool brief_is_moment(enum steps_event event)
{
	return event == STEPS_BATCH || (event >= STEPS_FUNCTION_BEGINS && event <= STEPS_FUNCTION_ENDS) || event == STEPS_PROGRAM_BEGINS ||
	       event == STEPS_PROGRAM_ENDS || event == STEPS_SCALER_BEGINS || event == STEPS_SCALER_ENDS;
}

static bool brief_is_begin(enum steps_event event)
{
	return event == STEPS_ZERO_GRAD || event == STEPS_FORWARD_BEGINS || event == STEPS_BACKWARD_BEGINS ||
	       event == STEPS_OPTIMIZER_BEGINS;
}

static bool brief_is_end(enum steps_event event)
{
	return event == STEPS_FORWARD_ENDS || event == STEPS_BACKWARD_ENDS || event == STEPS_OPTIMIZER_ENDS;
}

/* Adds what the machine answered to what it has answered in this part of the call. False: a brief step cannot do that. */
static bool brief_note_answer(struct steps_answer *to, const struct steps_answer *answer)
{
	for (uint32_t i = 0; i < answer->count; i++) {
		enum steps_action action = answer->actions[i];

		if (to->count == STEPS_ACTIONS || action == STEPS_DO_CANCEL || (action >= STEPS_DO_END && to->what))
			return false;
		to->actions[to->count++] = action;
		to->what = action >= STEPS_DO_END ? answer->what : to->what;
	}
	return !answer->trains;
}

static bool brief_note_event(const struct loop_thread *thread, const struct steps_input *input, const struct steps_answer *answer)
{
	struct brief_call *call = brief.in_call ? &noted.calls[noted.count - 1] : NULL;
	bool closes = brief.around && !call && input->event == STEPS_OPTIMIZER_ENDS;
	bool moment = brief_is_moment(input->event) || closes, ends = brief_is_end(input->event) && !closes;
	bool begins = moment || brief_is_begin(input->event);

	brief.around &= !closes;
	if (moment && !call) {
		call = brief_add_call(NULL, input->optimizer);
		if (call) {
			call->moment = input->event;
			call->grad = input->grad;
		}
	}
	if (!call || (begins || input->event == STEPS_LOOP_ITERATES ? brief.has_begun : !ends || !brief.has_begun) ||
	    !brief_note_answer(ends ? &call->after : &call->before, answer))
		return false;
	if (begins) {
		brief.has_begun = true;
		call->begun = thread->steps;
	}
	call->ended = thread->steps;
	brief.in_call = !ends && !moment && input->event != STEPS_ZERO_GRAD;
	return true;
}

/* ---- an iteration ends ----------------------------------------------------------------------- */

/* Neither --steps nor a profile or a capture says now what is recorded. */
static bool brief_may_be(void)
{
	return dwell_wants(1u << DWELL_CATEGORY_PHASE) && !dwell_wants(1u << DWELL_CATEGORY_OPERATOR);
}

static void brief_start(void)
{
	brief.at = brief.early ? 1 % expected.count : 0;
	brief.whole = brief.early && expected.count == 1;
	brief.state = brief.in_call && !(brief.early && expected.calls[0].around) ? BRIEF_STARTS : BRIEF_RUNS;
	dwp_bound_briefly(true);
}

/* `early`: the last noted call has shown that the iteration before it has ended, and is the first one of the next. */
static void brief_end_iteration(struct loop_thread *thread, bool early)
{
	uint32_t count = noted.count - early;
	bool same = brief.valid && count && count == expected.count && brief.early == early &&
	       memcmp(noted.calls, expected.calls, count * sizeof *noted.calls) == 0;
	if (!same && brief.valid) {
		expected.count = count;
		memcpy(expected.calls, noted.calls, count * sizeof *noted.calls);
		brief.early = early;
	}
	brief.known = same;
	brief.thread = thread;
	brief.valid = true;
	brief.in_call &= early;
	if (early)
		noted.calls[0] = noted.calls[count];
	noted.count = early;
	if (brief.known && brief.wanted && brief_may_be())
		brief_start();
}

/* An iteration ends with the event that is reported now; see bound.c. */
static void brief_at_boundary(bool wanted, bool notes)
{
	brief.boundary = true;
	brief.wanted = wanted;
	if (!notes)
		brief.state = BRIEF_OFF;
	else if (brief.state == BRIEF_OFF) {
		brief.state = BRIEF_NOTES;
		brief.thread = dwp_loop_current;
		brief_note_nothing();
	}
}

/* ---- brief iterations ------------------------------------------------------------------------ */

/* From now on the machine is told what happens. */
static void brief_leave(void)
{
	struct loop_thread *thread = brief.thread;
	struct dwp_call *open = brief.open;
	const struct brief_call *call = &expected.calls[open ? brief.at : (brief.at + expected.count - 1) % expected.count];

	brief.state = BRIEF_NOTES;
	brief_note_nothing();
	brief.open = brief.closure = NULL;
	thread->steps = open ? call->begun : call->ended;
	thread->brief = (thread->steps.open || thread->steps.kept) && !brief.whole;
	dwp_bound_briefly(false);
	if (open && open->hook == module_hook)
		module_reenter(open->began);
}

static bool brief_is_expected(const struct brief_call *next, const struct dwp_call *call)
{
	if (next->hook != call->hook || next->self != brief_object(call))
		return false;
	if (call->hook == ask.gradient)
		return !next->place || dwp_loops_place() == next->place;
	if (call->hook != module_hook)
		return true;
	return ask.grad() == next->grad && ask.training(call->self) == next->training && (!next->place || dwp_loops_place() == next->place);
}

/* Whether the iteration that begins with the next step, or with the one after so many others, is brief, too. */
static bool brief_goes_on(uint64_t others)
{
	return dwp_bound_is_brief(dwell_steps_begun() + others) && brief_may_be();
}

/* Whether the first call of an iteration, which ends the one before, may begin another brief one. A step that is known only at its end
 * begins and ends then. */
static bool brief_may_enter(const struct brief_call *next)
{
	uint64_t begun = 0;

	if (brief.at || !brief.early)
		return true;
	for (uint32_t i = 0; i < next->before.count && next->before.actions[i] < STEPS_DO_END; i++)
		begun += next->before.actions[i] == STEPS_DO_BEGIN || next->before.actions[i] == STEPS_DO_TRY;
	return brief_goes_on(begun);
}

/* Does what the machine answered in the iteration that was noted. */
static void brief_do(const struct steps_answer *answer)
{
	if (!answer->count)
		return;
	brief.thread->brief = !brief.whole;
	dwp_loop_do(brief.thread, answer);
	for (uint32_t i = 0; i < answer->count; i++)
		brief.whole &= answer->actions[i] < STEPS_DO_END;
}

/* The bound chooses anew after the last call of an iteration, or before the first one where that one shows it. */
static void brief_exit(const struct brief_call *call)
{
	bool last = ++brief.at == expected.count;

	brief_do(&call->after);
	brief.at = last ? 0 : brief.at;
	if (!last || brief.early || brief_goes_on(0))
		return;
	brief_leave();
	dwp_bound_begun();
	dwp_bound_choose();
	brief_end_iteration(brief.thread, false);
	ask.follow();
}

bool dwp_brief_foresees(struct dwp_call *call)
{
	const struct brief_call *next;

	if (brief.state == BRIEF_OFF || brief.thread != dwp_loop_current)
		return false;
	if (brief.state != BRIEF_RUNS) {
		brief_note_call(call);
		return false;
	}
	next = &expected.calls[brief.at];
	if (brief.open || !brief_is_expected(next, call) || !brief_may_enter(next)) {
		brief_leave();
		brief_note_call(call);
		return false;
	}
	brief_do(&next->before);
	call->began = next->range ? dwell_begin(next->range) : DWELL_NOT_BEGUN;
	if (next->around) {
		brief.closure = call;
		brief_exit(next);
	} else {
		brief.open = call;
	}
	return true;
}

/* step(closure) returns. True: as expected. */
static bool brief_leaves_closure(const struct dwp_call *call, bool returned)
{
	const struct brief_call *next = &expected.calls[brief.at];
	bool expected_now = returned && !next->hook && next->moment == STEPS_OPTIMIZER_ENDS && next->self == call->self;

	brief.closure = NULL;
	if (expected_now) {
		brief_do(&next->before);
		brief_exit(next);
	} else {
		brief_leave();
	}
	return expected_now;
}

void dwp_brief_foreseen(struct dwp_call *call, PyObject *result)
{
	if (brief.closure == call && brief_leaves_closure(call, result != NULL))
		return;
	if (brief.open == call && !result)
		brief_leave();
	if (brief.open != call) {
		call->hook->after(call, result);
		return;
	}
	brief.open = NULL;
	dwell_end(call->began);
	brief_exit(&expected.calls[brief.at]);
}

bool dwp_brief_is_inside(void)
{
	return brief.open && brief.thread == dwp_loop_current;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Before an event is reported. True: it was expected. */
static bool brief_before(struct loop_thread *thread, const struct steps_input *input)
{
	const struct brief_call *next = &expected.calls[brief.at];

	brief.boundary = false;
	if (brief.state != BRIEF_RUNS || brief.thread != thread)
		return false;
	if (brief_is_moment(input->event) && !brief.open && !next->hook && next->moment == input->event && next->grad == input->grad &&
	    next->self == input->optimizer && brief_may_enter(next)) {
		brief_do(&next->before);
		brief_exit(next);
		return true;
	}
	brief_leave();
	return false;
}

static void brief_after(struct loop_thread *thread, const struct steps_input *input, const struct steps_answer *answer)
{
	bool early = brief.boundary && answer->count && answer->actions[answer->count - 1] < STEPS_DO_END, good = true;

	if (brief.state == BRIEF_OFF || brief.thread != thread)
		return;
	if (brief.valid || early) /* not valid: `noted` has only the call that is open */
		good = brief_note_event(thread, input, answer);
	else
		brief.in_call &= !brief_is_end(input->event) && input->event != STEPS_ZERO_GRAD;
	if (!good)
		brief_note_nothing();
	else if (brief.boundary)
		brief_end_iteration(thread, early);
	else if (brief.state == BRIEF_STARTS && !brief.in_call)
		brief.state = BRIEF_RUNS;
}

void dwp_brief_of_modules(const struct dwp_hook *hook, void (*reenter)(unsigned began))
{
	module_hook = hook;
	module_reenter = reenter;
}

void dwp_brief_attach(const struct dwp_brief_asks *asks)
{
	static const struct loop_watch watch = { brief_before, brief_after };

	ask = *asks;
	dwp_loop_watch = &watch;
	dwp_bound_offer(brief_at_boundary);
}

void dwp_brief_forked(void)
{
	brief.state = BRIEF_OFF;
	brief.open = brief.closure = NULL;
}
