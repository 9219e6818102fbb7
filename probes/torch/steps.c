/* The pieces of a training loop; see steps.h. */
#include "steps.h"

#include <dwell/probe.h>

/* ---- what happened ------------------------------------------------------------------------- */

static bool steps_is_inside(const struct steps_state *steps)
{
	return steps->forwards || steps->backwards || steps->optimizers;
}

/* Whether the process, or another one that shares its model, has been seen to train. */
static bool steps_trains(const struct steps_rules *rules)
{
	return rules->optimizers || rules->shared || rules->trained;
}

/* Whether the thread is in a loop whose iterations are steps: nothing else makes any. */
static bool steps_follows_loop(const struct steps_state *steps, const struct steps_input *input)
{
	return input->loop && !steps_trains(steps->rules);
}

/* If the user named a function or a module, nothing else makes a step. */
static bool steps_are_found(const struct steps_state *steps)
{
	return (!steps->rules->named || steps->rules->by_optimizer) && !steps->rules->by_program;
}

/* ---- begins and ends ----------------------------------------------------------------------- */

static void steps_do(struct steps_answer *answer, enum steps_action action)
{
	if (answer->count < STEPS_ACTIONS)
		answer->actions[answer->count++] = action;
}

static void steps_keep(struct steps_state *steps, struct steps_answer *answer)
{
	steps_do(answer, STEPS_DO_KEEP);
	steps->kept = true;
	steps->evaluated = false;
}

static void steps_forget(struct steps_state *steps, struct steps_answer *answer)
{
	if (steps->kept)
		steps_do(answer, STEPS_DO_FORGET);
	steps->kept = steps->evaluated = steps->called = false;
}

static void steps_begin(struct steps_state *steps, struct steps_answer *answer, enum steps_open open)
{
	steps_do(answer, open == STEPS_OPEN_CALL ? STEPS_DO_TRY : STEPS_DO_BEGIN);
	steps->open = open;
	steps->kept = steps->evaluated = steps->called = steps->updates = steps->bare = steps->looped = false;
}

static void steps_end_at(struct steps_state *steps, struct steps_answer *answer, uint32_t kind, enum steps_action end)
{
	steps_do(answer, end);
	answer->what = kind ? kind | steps->what : 0;
	steps->open = STEPS_OPEN_NONE;
	steps->updates = false;
	steps->what = 0;
}

static void steps_end(struct steps_state *steps, struct steps_answer *answer, uint32_t kind)
{
	steps_end_at(steps, answer, kind, STEPS_DO_END);
}

static void steps_cancel(struct steps_state *steps, struct steps_answer *answer)
{
	steps_do(answer, STEPS_DO_CANCEL);
	steps->open = STEPS_OPEN_NONE;
	steps->updates = false;
}

/* What follows a backward where there is no optimizer: the parameters have been updated by hand. */
static void steps_end_updates(struct steps_state *steps, struct steps_answer *answer)
{
	if (steps->updates)
		steps_end(steps, answer, DWELL_STEP_BACKWARD);
}

/* A step that the user named or the program marked. */
static void steps_begin_said(struct steps_state *steps, struct steps_answer *answer, enum steps_open open)
{
	if (steps->open)
		steps_end(steps, answer, 0);
	steps_begin(steps, answer, open);
}

/* ---- loops --------------------------------------------------------------------------------- */

/* An iteration of a known loop ends. It is written as a step; in a program that trains, only if gradients were computed in it. */
static void steps_end_iteration(struct steps_state *steps, struct steps_answer *answer, enum steps_action end)
{
	bool is_step = steps->looped && (steps->gradients || !steps->rules->functional) && steps_are_found(steps);
	uint32_t kind = steps->gradients ? DWELL_STEP_GRADIENTS : DWELL_STEP_LOOP;

	steps->looped = steps->gradients = false;
	if (!is_step)
		return;
	steps_begin(steps, answer, kind == DWELL_STEP_LOOP ? STEPS_OPEN_CALL : STEPS_OPEN_PIECE);
	steps_end_at(steps, answer, kind, end);
}

static void steps_call_in_loop(struct steps_state *steps, struct steps_answer *answer)
{
	if (steps->open)
		return;
	steps->looped = true;
	if (!steps->kept)
		steps_keep(steps, answer);
}

static void steps_read_loop(struct steps_state *steps, enum steps_event event, struct steps_answer *answer)
{
	if (steps->open)
		return;
	if (event == STEPS_LOOP_WIDENS) {
		steps_keep(steps, answer);
		steps->looped = true;
		steps->gradients = steps->rules->functional;
		return;
	}
	steps_end_iteration(steps, answer, event == STEPS_LOOP_LEFT ? STEPS_DO_END_NOTED : STEPS_DO_END);
	if (event == STEPS_LOOP_ITERATES)
		steps_keep(steps, answer);
	else
		steps_forget(steps, answer);
}

/* ---- signs, calls -------------------------------------------------------------------------- */

/* A step may begin here. zero_grad (`clears`) may also be a part of one that a call has begun. A loader within an
 * iteration of a known loop begins nothing. */
static void steps_read_sign(struct steps_state *steps, struct steps_answer *answer, bool clears)
{
	steps_end_updates(steps, answer);
	if (steps->open || steps->looped || steps->rules->by_program)
		return;
	steps->called &= clears;
	if (!steps->kept || steps->evaluated)
		steps_keep(steps, answer);
}

static void steps_read_batch(struct steps_state *steps, const struct steps_input *input, struct steps_answer *answer)
{
	if (!input->grad || steps_is_inside(steps))
		return;
	steps_read_sign(steps, answer, false);
	steps->what |= input->event == STEPS_BATCH ? DWELL_STEP_BATCH : DWELL_STEP_LOADER;
}

/* A model is called, or a backward begins, and an update or a backward will end the step. */
static void steps_lead(struct steps_state *steps, struct steps_answer *answer)
{
	bool joins = steps->called;

	if (steps->open || !steps_are_found(steps))
		return;
	steps_begin(steps, answer, STEPS_OPEN_PIECE);
	steps->what |= joins ? DWELL_STEP_JOINS : 0;
}

static void steps_call_learns(struct steps_state *steps, struct steps_answer *answer)
{
	steps_end_updates(steps, answer);
	steps->called = false;
	steps_lead(steps, answer);
}

static void steps_call_infers(struct steps_state *steps, bool goes_on, struct steps_answer *answer)
{
	bool joins = steps->called && goes_on;

	if (steps->open || !steps_are_found(steps))
		return;
	if (!steps_trains(steps->rules)) {
		steps_begin(steps, answer, STEPS_OPEN_CALL);
		steps->what |= joins ? DWELL_STEP_JOINS : 0;
		return;
	}
	if (!steps->kept || steps->evaluated) /* a backward of this thread may follow */
		steps_keep(steps, answer);
	steps->evaluated = true;
}

static void steps_call_evaluates(struct steps_state *steps, struct steps_answer *answer, bool grad)
{
	steps_end_updates(steps, answer);
	if (steps->open)
		return;
	if (grad)
		steps->evaluated = steps->kept; /* it may be training, if a backward follows */
	else
		steps_forget(steps, answer);
}

/* A call of a model in a known loop. A call without gradients of a model in training mode is a part of the iteration: a
 * target, a teacher. */
static enum steps_phase steps_read_loop_call(struct steps_state *steps, const struct steps_input *input,
                                             struct steps_answer *answer)
{
	bool training = input->training || steps->evaluation_trains;
	bool learns = input->transformed || (input->grad && training);

	if (steps->rules->functional && !learns) {
		if (!training && steps->gradients)
			steps_end_iteration(steps, answer, STEPS_DO_END);
		return STEPS_PHASE_EVALUATION;
	}
	if (input->has_parameters)
		steps_call_in_loop(steps, answer);
	return learns ? STEPS_PHASE_FORWARD : STEPS_PHASE_TENTATIVE;
}

/* A call of a module that may train: gradients are enabled. A module without parameters, such as a loss, means nothing.
 * A thread that never steps an optimizer computes a part for one that does. */
static void steps_read_training_call(struct steps_state *steps, const struct steps_input *input,
                                     struct steps_answer *answer)
{
	const struct steps_rules *rules = steps->rules;

	if (!input->has_parameters)
		return;
	if (rules->optimizers ? !steps->trainer : rules->functional && !steps_trains(rules))
		steps_read_sign(steps, answer, false);
	else if (rules->optimizers || steps->trains_without)
		steps_call_learns(steps, answer);
	else
		steps_call_infers(steps, input->goes_on, answer);
}

static enum steps_phase steps_read_call(struct steps_state *steps, const struct steps_input *input,
                                        struct steps_answer *answer)
{
	bool known = steps_trains(steps->rules) || steps->rules->functional;
	bool training = input->training || steps->evaluation_trains || !known;
	enum steps_phase phase = known || (input->grad && input->training) ? STEPS_PHASE_FORWARD : STEPS_PHASE_TENTATIVE;

	if (input->grad && input->has_parameters) {
		steps->called_training |= input->training;
		steps->called_evaluation |= !input->training;
	}
	if (steps_follows_loop(steps, input))
		return steps_read_loop_call(steps, input, answer);
	steps_end_iteration(steps, answer, STEPS_DO_END_NOTED);
	if (training && input->grad) {
		steps_read_training_call(steps, input, answer);
	} else if (!known) {
		if (input->has_parameters)
			steps_call_infers(steps, input->goes_on, answer);
	} else if (!(input->training && steps->open)) {
		steps_call_evaluates(steps, answer, input->grad);
		phase = STEPS_PHASE_EVALUATION;
	}
	return phase;
}

static enum steps_phase steps_read_forward_begins(struct steps_state *steps, const struct steps_input *input,
                                                  struct steps_answer *answer)
{
	bool inside = steps_is_inside(steps);

	steps->forwards++;
	if (!inside)
		return steps_read_call(steps, input, answer);
	if (steps->backwards) /* recomputation within a backward is a part of the backward */
		return STEPS_PHASE_NONE;
	if (steps->optimizers && input->grad) /* within an optimizer's closure */
		steps_call_learns(steps, answer);
	return STEPS_PHASE_FORWARD;
}

static void steps_read_forward_ends(struct steps_state *steps, struct steps_answer *answer)
{
	steps->forwards--;
	if (steps_is_inside(steps))
		return;
	if (steps->looped)
		steps_do(answer, STEPS_DO_NOTE);
	if (steps->open != STEPS_OPEN_CALL)
		return;
	steps_end(steps, answer, DWELL_STEP_CALL);
	steps->called = true;
}

/* ---- backwards and updates ----------------------------------------------------------------- */

static void steps_read_gradients(struct steps_state *steps, const struct steps_input *input,
                                 struct steps_answer *answer)
{
	struct steps_rules *rules = steps->rules;
	bool begins;

	if (steps->called_training || steps->called_evaluation)
		steps->evaluation_trains = !steps->called_training;
	steps->called_training = steps->called_evaluation = false;
	if (!input->accumulates) {
		rules->functional = steps->gradients = true;
		steps_call_in_loop(steps, answer);
		return;
	}
	if (rules->optimizers && !steps->trainer)
		return;
	if (!rules->optimizers)
		steps->trains_without = rules->trained = true;
	steps->looped = false;
	if (steps->bare)
		steps_end_updates(steps, answer);
	begins = !steps->open && !steps->kept && !steps->called;
	steps_lead(steps, answer);
	steps->updates = !rules->optimizers && steps->open == STEPS_OPEN_PIECE;
	steps->bare |= begins;
}

static void steps_read_backward_begins(struct steps_state *steps, const struct steps_input *input,
                                       struct steps_answer *answer)
{
	bool inside = steps_is_inside(steps);

	steps->backwards++;
	if (!inside && (input->accumulates || steps_follows_loop(steps, input)))
		steps_read_gradients(steps, input, answer);
}

/* An optimizer has stepped, and no other one's step is open. */
static void steps_update(struct steps_state *steps, uint32_t number, bool named, struct steps_answer *answer)
{
	bool by_optimizer = steps->rules->by_optimizer;

	if (steps->open == STEPS_OPEN_MODULE) {
		steps_end(steps, answer, 0);
		return;
	}
	if ((by_optimizer && !named) || steps->open > STEPS_OPEN_CALL || !steps_are_found(steps))
		return;
	steps_lead(steps, answer);
	steps_end(steps, answer, by_optimizer ? 0 : DWELL_STEP_UPDATE | DWELL_STEP_OPTIMIZER(number));
}

static void steps_read_backward_ends(struct steps_state *steps, struct steps_answer *answer)
{
	bool stepped = steps->stepped_inside;

	if (--steps->backwards || steps_is_inside(steps))
		return;
	steps->stepped_inside = false;
	if (stepped)
		steps_update(steps, steps->inside, false, answer);
	else if (steps->updates || steps->looped)
		steps_do(answer, STEPS_DO_NOTE);
}

static void steps_read_made(struct steps_state *steps, const struct steps_input *input, struct steps_answer *answer)
{
	steps->rules->optimizers = true;
	steps->rules->by_optimizer |= input->named;
	steps->trainer = true;
	steps->called = false;
	steps_end_updates(steps, answer);
	if (steps->looped)
		steps_forget(steps, answer);
	steps->looped = false;
}

/* A call begins: step() of an optimizer, or a scaler that may call step(). */
static void steps_read_update_begins(struct steps_state *steps, struct steps_answer *answer)
{
	steps->trainer = steps->rules->optimizers = true;
	steps->updates = false;
	if (!steps_is_inside(steps))
		steps_read_sign(steps, answer, true);
}

static void steps_read_update_ends(struct steps_state *steps, const struct steps_input *input,
                                   struct steps_answer *answer)
{
	if (steps->optimizers)
		return;
	if (!steps->backwards) {
		steps_update(steps, input->number, input->named, answer);
		return;
	}
	steps->stepped_inside = true; /* a gradient's hook calls step(): the step ends with the backward */
	steps->inside = input->number;
}

/* ---- said, ends ---------------------------------------------------------------------------- */

static void steps_read_program(struct steps_state *steps, enum steps_event event, struct steps_answer *answer)
{
	steps->program_trained |= steps->program_trains;
	steps->program_trains = false;
	steps->rules->by_program = event != STEPS_PROGRAM_LEAVES;
	if (event == STEPS_PROGRAM_LEAVES) {
		if (steps->open == STEPS_OPEN_PROGRAM)
			steps_cancel(steps, answer);
		return;
	}
	steps_forget(steps, answer);
	if (event == STEPS_PROGRAM_BEGINS)
		steps_begin_said(steps, answer, STEPS_OPEN_PROGRAM);
	else if (steps->open)
		steps_end(steps, answer, 0);
}

/* Another thread marks the steps. */
static void steps_leave_program(struct steps_state *steps, struct steps_answer *answer)
{
	if (steps->open)
		steps_cancel(steps, answer);
	steps_forget(steps, answer);
	steps->looped = false;
}

/* If the program calls dwell.step() at the end of each iteration, the last step is empty. */
static void steps_read_end(struct steps_state *steps, enum steps_event event, struct steps_answer *answer)
{
	bool empty = event == STEPS_EXIT && steps->program_trained && !steps->program_trains;

	if (steps->looped && !steps->open)
		steps_end_iteration(steps, answer, STEPS_DO_END_NOTED);
	if (steps->updates)
		steps_end_at(steps, answer, DWELL_STEP_BACKWARD, STEPS_DO_END_NOTED);
	else if (steps->open == STEPS_OPEN_CALL)
		steps_end(steps, answer, DWELL_STEP_CALL);
	else if (steps->open == STEPS_OPEN_PROGRAM && !empty)
		steps_end(steps, answer, 0);
	else if (steps->open)
		steps_cancel(steps, answer);
}

static void steps_read_said(struct steps_state *steps, enum steps_event event, struct steps_answer *answer)
{
	if (event == STEPS_FUNCTION_BEGINS && !steps->functions++)
		steps_begin_said(steps, answer, STEPS_OPEN_FUNCTION);
	else if (event == STEPS_FUNCTION_ENDS && !--steps->functions && steps->open == STEPS_OPEN_FUNCTION)
		steps_end(steps, answer, 0);
	else if (event == STEPS_MODULE_BEGINS)
		steps_begin_said(steps, answer, STEPS_OPEN_MODULE);
	else if (event == STEPS_MODULE_ENDS && !steps->rules->optimizers && steps->open == STEPS_OPEN_MODULE)
		steps_end(steps, answer, 0);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Optimizers, and scalers that may call them. */
static void steps_read_optimizer(struct steps_state *steps, const struct steps_input *input,
                                 struct steps_answer *answer)
{
	switch (input->event) {
	case STEPS_OPTIMIZER_MADE:
		steps_read_made(steps, input, answer);
		return;
	case STEPS_OPTIMIZER_BEGINS:
		steps_read_update_begins(steps, answer);
		steps->optimizers++;
		steps->scaler_stepped = steps->program_trains = true;
		return;
	case STEPS_SCALER_BEGINS:
		steps->scaler_stepped = false;
		steps_read_update_begins(steps, answer);
		return;
	case STEPS_SCALER_ENDS:
		if (!steps->scaler_stepped)
			steps_read_update_ends(steps, input, answer);
		return;
	default:
		steps->optimizers--;
		if (input->event == STEPS_OPTIMIZER_ENDS)
			steps_read_update_ends(steps, input, answer);
	}
}

static void steps_read_call_event(struct steps_state *steps, const struct steps_input *input,
                                  struct steps_answer *answer)
{
	if (input->event == STEPS_FORWARD_BEGINS)
		answer->phase = steps_read_forward_begins(steps, input, answer);
	else if (input->event == STEPS_BACKWARD_BEGINS)
		steps_read_backward_begins(steps, input, answer);
	else if (input->event == STEPS_BACKWARD_ENDS)
		steps_read_backward_ends(steps, answer);
	else
		steps_read_forward_ends(steps, answer);
}

static void steps_read_event(struct steps_state *steps, const struct steps_input *input, struct steps_answer *answer)
{
	enum steps_event event = input->event;
	bool inside = steps_is_inside(steps);

	if (event <= STEPS_BATCH)
		steps_read_batch(steps, input, answer);
	else if (event == STEPS_ZERO_GRAD && !inside)
		steps_read_sign(steps, answer, true);
	else if (event >= STEPS_FORWARD_BEGINS && event <= STEPS_BACKWARD_ENDS)
		steps_read_call_event(steps, input, answer);
	else if (event >= STEPS_OPTIMIZER_MADE && event <= STEPS_SCALER_ENDS)
		steps_read_optimizer(steps, input, answer);
	else if (event == STEPS_MODEL_SHARED)
		steps->rules->shared = true;
	else if (event == STEPS_CHECKPOINT && !inside)
		steps_end_updates(steps, answer);
	else if (event >= STEPS_FUNCTION_BEGINS && event <= STEPS_MODULE_ENDS)
		steps_read_said(steps, event, answer);
	else if (event >= STEPS_PROGRAM_BEGINS && event <= STEPS_PROGRAM_LEAVES)
		steps_read_program(steps, event, answer);
	else if (event >= STEPS_LOOP_ITERATES && event <= STEPS_LOOP_WIDENS)
		steps_read_loop(steps, event, answer);
	else if (event >= STEPS_THREAD_ENDS)
		steps_read_end(steps, event, answer);
}

void dwp_steps_init(struct steps_state *steps, struct steps_rules *rules)
{
	*steps = (struct steps_state){ .rules = rules };
}

void dwp_steps_leave(struct steps_state *steps)
{
	steps->open = STEPS_OPEN_NONE;
	steps->kept = steps->called = steps->updates = steps->looped = false;
}

bool dwp_steps_may_go_on(const struct steps_state *steps)
{
	return steps->called && !steps->open;
}

bool dwp_steps_may_follow_loop(const struct steps_state *steps)
{
	const struct steps_rules *rules = steps->rules;

	return !steps_trains(rules) && !rules->named && !rules->by_program && !steps_is_inside(steps);
}

struct steps_answer dwp_steps_event(struct steps_state *steps, const struct steps_input *input)
{
	struct steps_answer answer = { .count = 0 };
	struct steps_rules *rules = steps->rules;

	if (rules->by_program && steps->open != STEPS_OPEN_PROGRAM)
		steps_leave_program(steps, &answer);
	steps_read_event(steps, input, &answer);
	if (!rules->shown && (steps_trains(rules) || rules->functional)) {
		rules->shown = answer.trains = true;
		answer.forward = steps->evaluation_trains;
	}
	return answer;
}
