/* Steps of which only begin and end are recorded. See brief.h. */
#include "brief.h"

#include <string.h>

#include "loop_threads.h"
#include "loops.h"

#define MOST_CALLS 64u /* of an iteration */
#define MOST_KEPT 64u  /* steps that the recorder does not have yet */
#define MOST_KEPT_MS 20u

/* A hooked call of an iteration, or a batch that it asks for. Compared as bytes. */
struct brief_call {
	const struct dwp_hook *hook; /* NULL: a batch */
	const PyObject *self;        /* only compared */
	uint64_t place;              /* in a loop that loops.c follows; 0: in another */
	bool grad, training;
	bool ends_before; /* a step ends when the call begins, */
	bool starts;      /* one begins then, */
	bool ends;        /* one ends when the call ends */
	bool tentative;   /* the one that ends */
	uint32_t what;    /* of that one: DWELL_STEP_* */
	struct steps_state begun, ended; /* the machine after its begin and its end */
};

struct brief_iteration {
	uint32_t count;
	struct brief_call calls[MOST_CALLS];
};

static struct {
	enum { BRIEF_OFF, BRIEF_NOTES, BRIEF_STARTS, BRIEF_RUNS } state;
	struct loop_thread *thread;
	/* BRIEF_NOTES */
	bool valid;     /* `noted` has all since the iteration began */
	bool in_call, has_begun;
	bool kept;      /* in it a step has a begin that no action took yet */
	bool boundary, wanted; /* by bound.c: an iteration ends with this event; the next one may be brief */
	bool known;     /* the last two noted iterations were the same */
	bool follows;   /* the loop is one that loops.c follows */
	/* BRIEF_RUNS */
	uint32_t at;    /* the call that comes next, or is open */
	struct dwp_call *open;
	uint64_t start, last_end; /* of the current step; of the last call */
	bool whole;     /* the current step's begin was recorded with what is in it */
	uint64_t number; /* of the step that comes next */
	uint32_t count;
	uint64_t kept_since;
	struct brief_step {
		uint64_t start, end;
		uint32_t what;
		bool tentative;
	} steps[MOST_KEPT];
} brief;

static struct brief_iteration noted, expected;
static struct dwp_brief_asks ask;
static const struct dwp_hook *module_hook;
static void (*module_reenter)(void);

/* ---- steps ----------------------------------------------------------------------------------- */

static void brief_flush(void)
{
	for (uint32_t i = 0; i < brief.count; i++) {
		const struct brief_step *step = &brief.steps[i];

		(step->tentative ? dwell_step_begin_tentative : dwell_step_begin_at)(step->start);
		if (step->what)
			dwell_step_is(step->what);
		dwell_step_end_at(step->end);
	}
	if (brief.count)
		dwp_bound_briefly(brief.count);
	brief.count = 0;
}

static void brief_commit(const struct brief_call *call, uint64_t end)
{
	if (!brief.count)
		brief.kept_since = brief.start;
	brief.steps[brief.count++] = (struct brief_step){ brief.start, end, call->what | (brief.whole ? 0 : DWELL_STEP_BRIEF),
		                                              call->tentative };
	brief.number++;
	brief.whole = false;
	if (brief.count == MOST_KEPT || end - brief.kept_since > MOST_KEPT_MS * dwell_ticks_of_ms())
		brief_flush();
}

/* ---- an iteration is noted ------------------------------------------------------------------- */

static void brief_note_nothing(void)
{
	brief.valid = brief.in_call = brief.known = false;
	brief.state = brief.state == BRIEF_OFF ? BRIEF_OFF : BRIEF_NOTES;
}

static struct brief_call *brief_add_call(const struct dwp_hook *hook, const PyObject *self)
{
	struct brief_call *call;

	if (!brief.valid) /* only a call that shows that an iteration begins matters */
		noted.count = 0;
	if (noted.count == MOST_CALLS) {
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

/* Of a backward the first argument is a tensor, which is another one each time. */
static const PyObject *brief_object(const struct dwp_call *call)
{
	return call->hook == ask.backward ? NULL : call->self;
}

/* A module within another one is a part of that call. */
static void brief_note_call(const struct dwp_call *call)
{
	const struct brief_call *open = brief.valid && brief.in_call ? &noted.calls[noted.count - 1] : NULL;

	if (!open)
		brief_add_call(call->hook, brief_object(call));
	else if (open->hook != call->hook)
		brief_note_nothing();
}

void dwp_brief_note_forward(bool grad, bool training, bool follows)
{
	struct brief_call *call = brief.valid && brief.in_call ? &noted.calls[noted.count - 1] : NULL;

	if (!call || brief.thread != dwp_loop_current || brief.state == BRIEF_RUNS)
		return;
	call->grad = grad;
	call->training = training;
	call->place = follows ? dwp_loops_place() : 0;
}

static bool brief_is_begin(enum steps_event event)
{
	return event == STEPS_BATCH || event == STEPS_ZERO_GRAD || event == STEPS_FORWARD_BEGINS || event == STEPS_BACKWARD_BEGINS ||
	       event == STEPS_OPTIMIZER_BEGINS;
}

static bool brief_is_end(enum steps_event event)
{
	return event == STEPS_FORWARD_ENDS || event == STEPS_BACKWARD_ENDS || event == STEPS_OPTIMIZER_ENDS;
}

/* False: the action is none that a brief step has. */
static bool brief_note_action(struct brief_call *call, enum steps_action action, uint32_t what, bool at_end)
{
	switch (action) {
	case STEPS_DO_KEEP:
		call->starts |= !at_end;
		brief.kept = true;
		return !at_end;
	case STEPS_DO_BEGIN:
	case STEPS_DO_TRY:
		call->starts |= !brief.kept;
		call->tentative |= action == STEPS_DO_TRY;
		brief.kept = false;
		return !at_end;
	case STEPS_DO_END:
		if (call->ends || call->ends_before)
			return false;
		call->ends = at_end;
		call->ends_before = !at_end;
		call->what = what;
		return true;
	default:
		return action == STEPS_DO_NOTE;
	}
}

static bool brief_note_event(const struct loop_thread *thread, const struct steps_input *input, const struct steps_answer *answer)
{
	struct brief_call *call = brief.in_call ? &noted.calls[noted.count - 1] : NULL;
	bool begins = brief_is_begin(input->event), ends = brief_is_end(input->event), good = true;

	if (input->event == STEPS_BATCH && !call) {
		call = brief_add_call(NULL, NULL);
		if (call)
			call->grad = input->grad;
	}
	if (!call || answer->trains || (begins || input->event == STEPS_LOOP_ITERATES ? brief.has_begun : !ends || !brief.has_begun))
		return false;
	for (uint32_t i = 0; i < answer->count; i++)
		good &= brief_note_action(call, answer->actions[i], answer->what, ends);
	if (begins) {
		brief.has_begun = true;
		call->begun = call->ended = thread->steps;
		good &= thread->steps.kept || thread->steps.open;
	}
	if (ends)
		call->ended = thread->steps;
	brief.in_call = !ends && input->event != STEPS_BATCH && input->event != STEPS_ZERO_GRAD;
	return good;
}

/* ---- an iteration ends ----------------------------------------------------------------------- */

/* Neither --steps nor a profile or a capture says now what is recorded. */
static bool brief_may_be(void)
{
	return dwell_wants(1u << DWELL_CATEGORY_PHASE) && !dwell_wants(1u << DWELL_CATEGORY_OPERATOR);
}

static void brief_start(const struct loop_thread *thread, bool in_call)
{
	brief.at = in_call ? 1 % expected.count : 0;
	brief.start = thread->kept;
	brief.whole = in_call;
	brief.number = dwell_steps_begun();
	brief.state = in_call ? BRIEF_STARTS : BRIEF_RUNS;
	dwp_bound_briefly(0);
}

/* In a loop that is followed the call that shows the next iteration is the first one in it. */
static void brief_end_iteration(struct loop_thread *thread, bool in_call)
{
	struct brief_call first = { .hook = NULL };
	bool same;
	uint32_t count;

	if (in_call && !(noted.count && brief.in_call && !brief.has_begun)) {
		brief_note_nothing();
		return;
	}
	count = noted.count - in_call;
	if (in_call)
		first = noted.calls[count];
	same = brief.valid && count && count == expected.count && brief.follows == in_call &&
	       memcmp(noted.calls, expected.calls, count * sizeof *noted.calls) == 0;
	if (!same && brief.valid) {
		expected.count = count;
		memcpy(expected.calls, noted.calls, count * sizeof *noted.calls);
		brief.follows = in_call;
	}
	brief.known = same;
	brief.thread = thread;
	brief.valid = true;
	noted.count = 0;
	brief.kept = in_call;
	if (in_call)
		noted.calls[noted.count++] = first;
	brief.in_call = in_call;
	if (brief.known && brief.wanted && brief_may_be())
		brief_start(thread, in_call);
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
	brief.open = NULL;
	thread->steps = open ? call->begun : call->ended;
	thread->kept = 0;
	thread->noted = brief.last_end;
	brief_flush();
	if (thread->steps.open) {
		(thread->steps.open == STEPS_OPEN_CALL ? dwell_step_begin_tentative : dwell_step_begin_at)(brief.start);
		dwp_bound_begun();
	} else if (thread->steps.kept) {
		thread->kept = brief.start;
	}
	thread->brief = (thread->steps.open || thread->steps.kept) && !brief.whole;
	if (!open)
		return;
	open->began = DWELL_NOT_BEGUN;
	if (open->hook == module_hook)
		module_reenter();
}

static bool brief_is_expected(const struct brief_call *next, const struct dwp_call *call)
{
	if (next->hook != call->hook || next->self != brief_object(call))
		return false;
	if (call->hook != module_hook)
		return true;
	return ask.grad() == next->grad && ask.training(call->self) == next->training &&
	       (!brief.follows || dwp_loops_place() == next->place);
}

/* Whether the step that begins now is brief, too. */
static bool brief_goes_on(uint64_t number)
{
	return dwp_bound_is_brief(number) && brief_may_be();
}

static void brief_enter(const struct brief_call *next)
{
	uint64_t now = next->ends_before || next->starts ? dwell_ticks() : 0;

	if (next->ends_before)
		brief_commit(next, now);
	if (next->starts)
		brief.start = now;
}

/* The bound chooses anew after the last call of an iteration, or before the first one where that one shows it. */
static void brief_exit(const struct brief_call *call)
{
	bool last = ++brief.at == expected.count;

	brief.last_end = call->ends || brief.follows ? dwell_ticks() : 0;
	if (call->ends)
		brief_commit(call, brief.last_end);
	if (!last)
		return;
	brief.at = 0;
	if (brief.follows || brief_goes_on(brief.number))
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
	if (brief.open || !brief_is_expected(next, call) || (next->ends_before && !brief_goes_on(brief.number + 1))) {
		brief_leave();
		brief_note_call(call);
		return false;
	}
	brief_enter(next);
	brief.open = call;
	return true;
}

void dwp_brief_foreseen(struct dwp_call *call, PyObject *result)
{
	if (brief.open == call && !result)
		brief_leave();
	if (brief.open != call) {
		call->hook->after(call, result);
		return;
	}
	brief.open = NULL;
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
	if (input->event == STEPS_BATCH && !brief.open && !next->hook && next->grad == input->grad) {
		brief_enter(next);
		brief_exit(next);
		return true;
	}
	brief_leave();
	return false;
}

static void brief_after(struct loop_thread *thread, const struct steps_input *input, const struct steps_answer *answer)
{
	if (brief.state == BRIEF_OFF || brief.thread != thread)
		return;
	if (brief.valid && !brief_note_event(thread, input, answer))
		brief_note_nothing();
	if (brief.boundary)
		brief_end_iteration(thread, input->event == STEPS_LOOP_ITERATES);
	else if (brief.state == BRIEF_STARTS && input->event == STEPS_FORWARD_ENDS)
		brief.state = BRIEF_RUNS;
}

void dwp_brief_of_modules(const struct dwp_hook *hook, void (*reenter)(void))
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
	brief.open = NULL;
	brief.count = 0;
}
