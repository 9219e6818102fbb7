/*
 * The state machine of steps_state.h: what an event means, and a table of what to do.
 *
 * An event alone is not enough: a call of a model may train, evaluate or infer, and an optimizer's
 * step may be one of several in an iteration. So steps_read_event() first converts each event to a
 * `meaning`, which depends on what the thread has done so far. The table then has the actions and
 * the next state for each state and meaning. If the table has no entry, nothing changes.
 */
#include "steps_state.h"

#include <stddef.h>

/* An event as the table sees it. */
enum meaning {
	NO_MEANING,
	MARK,            /* a step may begin here */
	CLEAR,           /* the same, but a step that may already have begun can also continue */
	CALL_LEARN,      /* a model is called in training; an optimizer will end the step */
	CALL_UNKNOWN,    /* a model is called with gradients; it may be training or inference */
	CALL_MANUAL,     /* a model is called in training, in a thread that trains without optimizer */
	CALL_INFER,      /* a model is called without gradients, and nothing has shown training */
	CALL_EVALUATE,   /* a model is called for evaluation, without gradients */
	CALL_EVALUATE_GRAD, /* with gradients: it may be training in evaluation mode */
	CALL_LOOP,       /* a model is called in a loop whose iterations are steps; or gradients are computed */
	LOOP_EVALUATE,   /* a model is called for evaluation after such a loop computed its gradients */
	LOOP_ITERATES,
	LOOP_ITERATES_EMPTY, /* the iteration before is no step */
	LOOP_LEFT,
	LOOP_LEFT_EMPTY,
	LOOP_WIDENS,
	CALL_ENDS,
	CALL_FAILS,
	BACKWARD,        /* an outermost backward begins, and there is no optimizer */
	BACKWARD_LEARN,  /* an outermost backward begins in a thread that has an optimizer */
	BACKWARD_ENDS,
	OPTIMIZER_MADE,
	LAST_STEP,       /* the optimizer that ends steps has stepped */
	MISPLACED_STEP,  /* another optimizer has stepped: the step before ended too early */
	CHECKPOINT,
	FUNCTION_BEGINS,
	FUNCTION_ENDS,
	MODULE_BEGINS,
	MODULE_ENDS,
	PROGRAM_BEGINS,
	PROGRAM_ENDS,
	PROGRAM_ELSEWHERE, /* the program marks its steps, in another thread */
	PROGRAM_LEAVES,  /* the program marks no more steps */
	PROGRAM_EMPTY,   /* the program ends, and no optimizer has stepped in its last step */
	THREAD_ENDS,
	EXIT,
	MEANINGS
};

struct cell {
	enum steps_action actions[STEPS_ACTIONS];
	enum steps_name next;
};

#define DO(...) { { __VA_ARGS__ }, STEPS_IN_NONE }
#define GO(next, ...) { { __VA_ARGS__ }, STEPS_IN_##next }
#define NOTHING STEPS_DO_NOTHING
#define KEEP STEPS_DO_KEEP
#define FORGET STEPS_DO_FORGET
#define BEGIN STEPS_DO_BEGIN
#define INFER STEPS_DO_INFER
#define END STEPS_DO_END
#define NOTE STEPS_DO_NOTE
#define END_NOTED STEPS_DO_END_NOTED
#define CANCEL STEPS_DO_CANCEL

/* A begin that the user named or the program marked ends a step that is open. */
#define NO_STEP_SAID                                \
	[FUNCTION_BEGINS] = GO(FUNCTION, BEGIN),        \
	[MODULE_BEGINS] = GO(MODULE, BEGIN),            \
	[PROGRAM_BEGINS] = GO(PROGRAM, FORGET, BEGIN),  \
	[PROGRAM_ENDS] = GO(SILENT, FORGET),            \
	[PROGRAM_ELSEWHERE] = GO(SILENT, FORGET)
#define STEP_SAID                                   \
	[FUNCTION_BEGINS] = GO(FUNCTION, END, BEGIN),   \
	[MODULE_BEGINS] = GO(MODULE, END, BEGIN),       \
	[PROGRAM_BEGINS] = GO(PROGRAM, END, BEGIN),     \
	[PROGRAM_ENDS] = GO(SILENT, END),               \
	[PROGRAM_ELSEWHERE] = GO(SILENT, CANCEL)

static const struct cell table[STEPS_IN_COUNT][MEANINGS] = {
	[STEPS_IN_IDLE] = {
		NO_STEP_SAID,
		[CALL_LOOP] = GO(CALLED, KEEP),
		[LOOP_ITERATES] = GO(MARKED, KEEP),
		[LOOP_ITERATES_EMPTY] = GO(MARKED, KEEP),
		[LOOP_WIDENS] = GO(CALLED, KEEP),
		[MARK] = GO(MARKED, KEEP),
		[CLEAR] = GO(MARKED, KEEP),
		[CALL_LEARN] = GO(OPEN, BEGIN),
		[CALL_UNKNOWN] = GO(CALLED, KEEP),
		[CALL_MANUAL] = GO(MANUAL, BEGIN),
		[CALL_INFER] = GO(INFERRING, INFER),
		[BACKWARD] = GO(BARE, BEGIN),
		[BACKWARD_LEARN] = GO(OPEN, BEGIN),
		[LAST_STEP] = DO(BEGIN, END),
	},
	[STEPS_IN_MARKED] = {
		NO_STEP_SAID,
		[CALL_LOOP] = GO(CALLED, NOTHING),
		[LOOP_ITERATES] = DO(KEEP),
		[LOOP_ITERATES_EMPTY] = DO(KEEP),
		[LOOP_LEFT] = GO(IDLE, FORGET),
		[LOOP_LEFT_EMPTY] = GO(IDLE, FORGET),
		[LOOP_WIDENS] = GO(CALLED, KEEP),
		[CALL_LEARN] = GO(OPEN, BEGIN),
		[CALL_UNKNOWN] = GO(CALLED, NOTHING),
		[CALL_MANUAL] = GO(MANUAL, BEGIN),
		[CALL_INFER] = GO(INFERRING, INFER),
		[CALL_EVALUATE] = GO(IDLE, FORGET),
		[CALL_EVALUATE_GRAD] = GO(EVALUATED, NOTHING),
		[BACKWARD] = GO(UPDATED, BEGIN),
		[BACKWARD_LEARN] = GO(OPEN, BEGIN),
		[LAST_STEP] = GO(IDLE, BEGIN, END),
		[MISPLACED_STEP] = GO(IDLE, FORGET),
	},
	/* A second call shows that the first was inference: its step ended at the noted moment. */
	[STEPS_IN_CALLED] = {
		NO_STEP_SAID,
		[LOOP_EVALUATE] = GO(IDLE, INFER, END),
		[LOOP_ITERATES] = GO(MARKED, INFER, END, KEEP),
		[LOOP_ITERATES_EMPTY] = GO(MARKED, KEEP),
		[LOOP_LEFT] = GO(IDLE, INFER, END_NOTED),
		[LOOP_LEFT_EMPTY] = GO(IDLE, FORGET),
		[LOOP_WIDENS] = DO(KEEP),
		[MARK] = GO(MARKED, INFER, END_NOTED, KEEP),
		[CALL_LEARN] = GO(OPEN, FORGET, BEGIN),
		[CALL_UNKNOWN] = DO(INFER, END_NOTED, KEEP),
		[CALL_INFER] = GO(INFERRING, INFER, END_NOTED, INFER),
		[CALL_EVALUATE] = GO(IDLE, FORGET),
		[CALL_EVALUATE_GRAD] = GO(IDLE, FORGET),
		[CALL_ENDS] = DO(NOTE),
		[BACKWARD_ENDS] = DO(NOTE),
		[CALL_FAILS] = GO(MARKED, NOTHING),
		[BACKWARD] = GO(UPDATED, BEGIN),
		[BACKWARD_LEARN] = GO(OPEN, BEGIN),
		[OPTIMIZER_MADE] = GO(IDLE, FORGET),
		[LAST_STEP] = GO(IDLE, BEGIN, END),
		[MISPLACED_STEP] = GO(IDLE, FORGET),
		[THREAD_ENDS] = GO(IDLE, FORGET),
		[EXIT] = GO(IDLE, INFER, END_NOTED),
	},
	[STEPS_IN_EVALUATED] = {
		NO_STEP_SAID,
		[CALL_LOOP] = GO(CALLED, NOTHING),
		[LOOP_ITERATES] = GO(MARKED, KEEP),
		[LOOP_ITERATES_EMPTY] = GO(MARKED, KEEP),
		[MARK] = GO(MARKED, KEEP),
		[CLEAR] = GO(MARKED, KEEP),
		[CALL_LEARN] = GO(OPEN, BEGIN),
		[CALL_UNKNOWN] = GO(CALLED, NOTHING),
		[CALL_MANUAL] = GO(MANUAL, BEGIN),
		[CALL_EVALUATE] = GO(IDLE, FORGET),
		[BACKWARD] = GO(UPDATED, BEGIN),
		[BACKWARD_LEARN] = GO(OPEN, BEGIN),
		[LAST_STEP] = GO(IDLE, BEGIN, END),
		[MISPLACED_STEP] = GO(IDLE, FORGET),
	},
	[STEPS_IN_OPEN] = {
		STEP_SAID,
		[LAST_STEP] = GO(IDLE, END),
		[MISPLACED_STEP] = GO(IDLE, CANCEL),
		[THREAD_ENDS] = GO(IDLE, CANCEL),
		[EXIT] = GO(IDLE, CANCEL),
	},
	[STEPS_IN_MANUAL] = {
		STEP_SAID,
		[CALL_LEARN] = GO(OPEN, NOTHING),
		[BACKWARD] = GO(UPDATED, NOTHING),
		[BACKWARD_LEARN] = GO(OPEN, NOTHING),
		[LAST_STEP] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, CANCEL),
		[EXIT] = GO(IDLE, CANCEL),
	},
	[STEPS_IN_UPDATED] = {
		STEP_SAID,
		[MARK] = GO(MARKED, END, KEEP),
		[CLEAR] = GO(MARKED, END, KEEP),
		[CALL_LEARN] = GO(OPEN, END, BEGIN),
		[CALL_MANUAL] = GO(MANUAL, END, BEGIN),
		[CALL_EVALUATE] = GO(IDLE, END),
		[CALL_EVALUATE_GRAD] = GO(IDLE, END),
		[BACKWARD_LEARN] = GO(OPEN, NOTHING),
		[BACKWARD_ENDS] = DO(NOTE),
		[OPTIMIZER_MADE] = GO(IDLE, END),
		[LAST_STEP] = GO(IDLE, END),
		[CHECKPOINT] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, END_NOTED),
		[EXIT] = GO(IDLE, END_NOTED),
	},
	[STEPS_IN_BARE] = {
		STEP_SAID,
		[MARK] = GO(MARKED, END, KEEP),
		[CLEAR] = GO(MARKED, END, KEEP),
		[CALL_LEARN] = GO(OPEN, END, BEGIN),
		[CALL_MANUAL] = GO(MANUAL, END, BEGIN),
		[CALL_EVALUATE] = GO(IDLE, END),
		[CALL_EVALUATE_GRAD] = GO(IDLE, END),
		[BACKWARD] = DO(END, BEGIN),
		[BACKWARD_LEARN] = GO(OPEN, END, BEGIN),
		[BACKWARD_ENDS] = DO(NOTE),
		[OPTIMIZER_MADE] = GO(IDLE, END),
		[LAST_STEP] = GO(IDLE, END),
		[CHECKPOINT] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, END_NOTED),
		[EXIT] = GO(IDLE, END_NOTED),
	},
	[STEPS_IN_INFERRING] = {
		STEP_SAID,
		[CALL_ENDS] = GO(IDLE, END),
		[CALL_FAILS] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, END),
		[EXIT] = GO(IDLE, END),
	},
	[STEPS_IN_FUNCTION] = {
		STEP_SAID,
		[FUNCTION_ENDS] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, CANCEL),
		[EXIT] = GO(IDLE, CANCEL),
	},
	[STEPS_IN_MODULE] = {
		STEP_SAID,
		[MODULE_ENDS] = GO(IDLE, END),
		[LAST_STEP] = GO(IDLE, END),
		[THREAD_ENDS] = GO(IDLE, CANCEL),
		[EXIT] = GO(IDLE, CANCEL),
	},
	[STEPS_IN_PROGRAM] = {
		[PROGRAM_BEGINS] = DO(END, BEGIN),
		[PROGRAM_ENDS] = GO(SILENT, END),
		[PROGRAM_LEAVES] = GO(IDLE, CANCEL),
		[THREAD_ENDS] = GO(SILENT, END),
		[PROGRAM_EMPTY] = GO(SILENT, CANCEL),
		[EXIT] = GO(SILENT, END),
	},
	[STEPS_IN_SILENT] = {
		[PROGRAM_BEGINS] = GO(PROGRAM, BEGIN),
		[PROGRAM_LEAVES] = GO(IDLE),
	},
};

/* ---- several optimizers -------------------------------------------------------------------- */

#define MOST_RIVAL_STEPS 8u /* after so many steps of the rival alone, the rival ends steps */

static void steps_choose_pace(struct steps_pace *pace, const void *optimizer)
{
	*pace = (struct steps_pace){ .optimizer = optimizer };
}

static void steps_forget_pace(struct steps_pace *pace, const void *optimizer)
{
	if (pace->optimizer == optimizer)
		pace->optimizer = NULL;
	if (pace->rival == optimizer)
		pace->rival = NULL;
}

/* Counts the step of another optimizer. Returns whether that optimizer ends steps from now on. */
static bool steps_outruns_pace(struct steps_pace *pace, const void *optimizer)
{
	if (!pace->rival) {
		pace->rival = optimizer;
		pace->rival_steps = 0;
	}
	pace->rival_steps += pace->rival == optimizer;
	return pace->rival_steps >= MOST_RIVAL_STEPS;
}

/*
 * The meaning of an optimizer's step, if no other optimizer's step encloses it.
 *
 * Another optimizer replaces the assumed one in three cases: the assumed one steps within the
 * other's step; the assumed one does not step any more; or the other one steps after it without a
 * batch in between. In the last case the assumed one ended its first step too early. The other's
 * step is then the rest of that iteration and ends no step of its own.
 */
static enum meaning steps_read_pace(struct steps_pace *pace, const void *optimizer)
{
	bool misplaced;

	if (pace->optimizer == optimizer) {
		pace->settled |= pace->rival != NULL;
		pace->alone = pace->rival ? 1 : pace->alone + 1;
	} else if (!pace->optimizer || pace->nested) {
		steps_choose_pace(pace, optimizer);
	} else if (pace->stepped && !pace->settled && !pace->fetched) {
		misplaced = pace->alone == 1;
		steps_choose_pace(pace, optimizer);
		pace->settled = pace->stepped = true;
		pace->alone = 1;
		return misplaced ? MISPLACED_STEP : LAST_STEP;
	} else if (steps_outruns_pace(pace, optimizer)) {
		steps_choose_pace(pace, optimizer);
	} else {
		return NO_MEANING;
	}
	pace->alone += !pace->alone;
	pace->stepped = true;
	pace->fetched = false;
	pace->rival = NULL;
	return LAST_STEP;
}

static enum meaning read_step(struct steps_state *steps, const struct steps_input *input)
{
	if (steps->rules->by_optimizer)
		return input->named ? LAST_STEP : NO_MEANING;
	return steps_read_pace(&steps->pace, input->optimizer);
}

/* ---- what an event means here -------------------------------------------------------------- */

static bool steps_is_inside(const struct steps_state *steps)
{
	return steps->forwards || steps->backwards || steps->optimizers;
}

/* Whether the thread is in a loop whose iterations are steps: nothing else makes any. */
static bool steps_follows_loop(const struct steps_state *steps, const struct steps_input *input)
{
	return input->loop && !steps->rules->optimizers && !steps->rules->trained && !steps->rules->shared;
}

static enum meaning steps_read_made(struct steps_state *steps, const struct steps_input *input)
{
	steps->rules->optimizers = true;
	steps->rules->by_optimizer |= input->named;
	steps->trainer = true;
	steps->looped = false;
	steps_choose_pace(&steps->pace, input->optimizer);
	return OPTIMIZER_MADE;
}

/* A call begins: step() of an optimizer, or a scaler that may call step(). */
static enum meaning read_step_begins(struct steps_state *steps)
{
	steps->trainer = true;
	return steps_is_inside(steps) ? NO_MEANING : MARK;
}

static enum meaning read_step_ends(struct steps_state *steps, const struct steps_input *input)
{
	if (steps->optimizers) {
		steps->pace.nested |= steps->pace.optimizer == input->optimizer;
		return NO_MEANING;
	}
	if (steps->backwards) { /* a gradient's hook calls step(): the step ends with the backward */
		steps->stepped_inside = true;
		return NO_MEANING;
	}
	return read_step(steps, input);
}

static enum meaning steps_read_backward_begins(struct steps_state *steps,
                                               const struct steps_input *input)
{
	bool outermost = !steps_is_inside(steps);

	steps->backwards++;
	if (!outermost || (!input->accumulates && !steps_follows_loop(steps, input)))
		return NO_MEANING;
	if (steps->called_training || steps->called_evaluation)
		steps->evaluation_trains = !steps->called_training;
	steps->called_training = steps->called_evaluation = false;
	if (!input->accumulates) {
		steps->rules->functional = steps->gradients = steps->looped = true;
		return CALL_LOOP;
	}
	if (steps->rules->optimizers)
		return steps->trainer ? BACKWARD_LEARN : NO_MEANING;
	steps->trains_without = steps->rules->trained = true;
	return BACKWARD;
}

static enum meaning steps_read_backward_ends(struct steps_state *steps)
{
	bool stepped = steps->stepped_inside;

	if (--steps->backwards || steps_is_inside(steps))
		return NO_MEANING;
	steps->stepped_inside = false;
	return stepped ? LAST_STEP : BACKWARD_ENDS;
}

/* Whether the process, or another one that shares its model, has been seen to train. */
static bool steps_trains(const struct steps_rules *rules)
{
	return rules->optimizers || rules->shared || rules->trained;
}

/* A call of a model in such a loop. A call without gradients of a model in training mode is a part of
 * the iteration: a target, a teacher. */
static enum meaning steps_read_loop_call(struct steps_state *steps, const struct steps_input *input,
                                         enum steps_phase *phase)
{
	bool training = input->training || steps->evaluation_trains;

	*phase = input->transformed || (input->grad && training) ? STEPS_PHASE_FORWARD : STEPS_PHASE_TENTATIVE;
	if (steps->rules->functional && *phase == STEPS_PHASE_TENTATIVE) {
		*phase = STEPS_PHASE_EVALUATION;
		return !training && steps->gradients ? LOOP_EVALUATE : NO_MEANING;
	}
	if (!input->has_parameters)
		return NO_MEANING;
	steps->looped = true;
	return CALL_LOOP;
}

/* A call of a module that may train: gradients are enabled. A module without parameters, such as a
 * loss, means nothing. */
static enum meaning steps_read_training_call(const struct steps_state *steps,
                                             const struct steps_input *input)
{
	if (!input->has_parameters)
		return NO_MEANING;
	if (steps->rules->functional && !steps_trains(steps->rules))
		return MARK; /* outside the loops that compute gradients: no step, unless a backward follows */
	if (!steps->rules->optimizers)
		return steps->trains_without ? CALL_MANUAL : CALL_UNKNOWN;
	/* A thread that never steps an optimizer computes a part for one that does. */
	return steps->trainer ? CALL_LEARN : MARK;
}

static enum meaning steps_read_call(struct steps_state *steps, const struct steps_input *input,
                                    enum steps_phase *phase)
{
	bool known = steps_trains(steps->rules) || steps->rules->functional;
	bool training = input->training || steps->evaluation_trains || !known;

	*phase = known || (input->grad && input->training) ? STEPS_PHASE_FORWARD : STEPS_PHASE_TENTATIVE;
	if (input->grad && input->has_parameters) {
		steps->called_training |= input->training;
		steps->called_evaluation |= !input->training;
	}
	if (steps_follows_loop(steps, input))
		return steps_read_loop_call(steps, input, phase);
	steps->looped = false;
	if (training && input->grad)
		return steps_read_training_call(steps, input);
	if (!known)
		return input->has_parameters ? CALL_INFER : NO_MEANING;
	if (input->training && dwp_steps_is_open(steps))
		return NO_MEANING;
	*phase = STEPS_PHASE_EVALUATION;
	return input->grad ? CALL_EVALUATE_GRAD : CALL_EVALUATE;
}

static enum meaning steps_read_forward_begins(struct steps_state *steps,
                                              const struct steps_input *input,
                                              enum steps_phase *phase)
{
	bool inside = steps_is_inside(steps);

	steps->forwards++;
	if (!inside)
		return steps_read_call(steps, input, phase);
	if (steps->backwards) /* recomputation within a backward is a part of the backward */
		return NO_MEANING;
	*phase = STEPS_PHASE_FORWARD; /* within an optimizer's closure */
	return steps->optimizers && input->grad ? CALL_LEARN : NO_MEANING;
}

static enum meaning steps_read_forward_ends(struct steps_state *steps, enum meaning meaning)
{
	steps->forwards--;
	return steps_is_inside(steps) ? NO_MEANING : meaning;
}

static enum meaning steps_read_program(struct steps_state *steps, enum meaning meaning)
{
	steps->rules->by_program = meaning != PROGRAM_LEAVES;
	steps->program_trained |= steps->program_trains;
	steps->program_trains = false;
	return meaning;
}

/* In a program that trains, an iteration in which no gradients were computed is no step. */
static enum meaning steps_read_loop(struct steps_state *steps, enum meaning meaning, enum meaning empty)
{
	bool is_step = steps->looped && (steps->gradients || !steps->rules->functional);

	steps->looped = steps->gradients = false;
	return is_step ? meaning : empty;
}

/* If the program calls dwell.step() at the end of each iteration, the last step is empty. */
static enum meaning steps_read_exit(struct steps_state *steps)
{
	bool empty = steps->program_trained && !steps->program_trains;

	if (steps->looped && steps->state == STEPS_IN_CALLED)
		return steps_read_loop(steps, LOOP_LEFT, LOOP_LEFT_EMPTY);
	return steps->state == STEPS_IN_PROGRAM && empty ? PROGRAM_EMPTY : EXIT;
}

/* A thread that only called a model in training mode may have computed a part of another thread's
 * step: its call is no inference. */
static enum meaning steps_read_thread_ends(const struct steps_state *steps)
{
	return steps->state == STEPS_IN_CALLED && !steps->called_training ? EXIT : THREAD_ENDS;
}

static enum meaning steps_read_widens(struct steps_state *steps)
{
	steps->looped = steps->widened = true;
	steps->gradients = steps->rules->functional;
	return LOOP_WIDENS;
}

/* A loader within an iteration of a known loop begins nothing. */
static enum meaning steps_read_batch(const struct steps_state *steps, const struct steps_input *input)
{
	bool looped = steps->looped && steps->state == STEPS_IN_CALLED;

	return input->grad && !steps_is_inside(steps) && !looped ? MARK : NO_MEANING;
}

static enum meaning steps_read_event(struct steps_state *steps, const struct steps_input *input,
                                     enum steps_phase *phase)
{
	switch (input->event) {
	case STEPS_LOADER: return steps_read_batch(steps, input);
	case STEPS_BATCH: steps->pace.fetched |= input->grad; return steps_read_batch(steps, input);
	case STEPS_ZERO_GRAD: return steps_is_inside(steps) ? NO_MEANING : CLEAR;
	case STEPS_FORWARD_BEGINS: return steps_read_forward_begins(steps, input, phase);
	case STEPS_FORWARD_ENDS: return steps_read_forward_ends(steps, CALL_ENDS);
	case STEPS_FORWARD_FAILS: return steps_read_forward_ends(steps, CALL_FAILS);
	case STEPS_BACKWARD_BEGINS: return steps_read_backward_begins(steps, input);
	case STEPS_BACKWARD_ENDS: return steps_read_backward_ends(steps);
	case STEPS_OPTIMIZER_MADE: return steps_read_made(steps, input);
	case STEPS_OPTIMIZER_GONE: steps_forget_pace(&steps->pace, input->optimizer); return NO_MEANING;
	case STEPS_OPTIMIZER_BEGINS: {
		enum meaning meaning = read_step_begins(steps);

		steps->optimizers++;
		steps->scaler_stepped = steps->program_trains = true;
		return meaning;
	}
	case STEPS_OPTIMIZER_ENDS: steps->optimizers--; return read_step_ends(steps, input);
	case STEPS_OPTIMIZER_FAILS: steps->optimizers--; return NO_MEANING;
	case STEPS_SCALER_BEGINS: steps->scaler_stepped = false; return read_step_begins(steps);
	case STEPS_SCALER_ENDS:
		return steps->scaler_stepped ? NO_MEANING : read_step_ends(steps, input);
	case STEPS_MODEL_SHARED: steps->rules->shared = true; return NO_MEANING;
	case STEPS_CHECKPOINT: return steps_is_inside(steps) ? NO_MEANING : CHECKPOINT;
	case STEPS_FUNCTION_BEGINS: return steps->functions++ ? NO_MEANING : FUNCTION_BEGINS;
	case STEPS_FUNCTION_ENDS: return --steps->functions ? NO_MEANING : FUNCTION_ENDS;
	case STEPS_MODULE_BEGINS: return MODULE_BEGINS;
	case STEPS_MODULE_ENDS: return steps->rules->optimizers ? NO_MEANING : MODULE_ENDS;
	case STEPS_PROGRAM_BEGINS: return steps_read_program(steps, PROGRAM_BEGINS);
	case STEPS_PROGRAM_ENDS: return steps_read_program(steps, PROGRAM_ENDS);
	case STEPS_PROGRAM_LEAVES: return steps_read_program(steps, PROGRAM_LEAVES);
	case STEPS_LOOP_ITERATES: return steps_read_loop(steps, LOOP_ITERATES, LOOP_ITERATES_EMPTY);
	case STEPS_LOOP_LEFT: return steps_read_loop(steps, LOOP_LEFT, LOOP_LEFT_EMPTY);
	case STEPS_LOOP_WIDENS: return steps_read_widens(steps);
	case STEPS_THREAD_ENDS: return steps_read_thread_ends(steps);
	case STEPS_EXIT: return steps_read_exit(steps);
	case STEPS_EVENTS: break;
	}
	return NO_MEANING;
}

/* If the user named a function or a module, nothing else makes a step. */
static bool steps_is_allowed(const struct steps_state *steps, enum meaning meaning)
{
	if (!steps->rules->named || steps->rules->by_optimizer)
		return true;
	switch (meaning) {
	case CALL_LEARN:
	case CALL_UNKNOWN:
	case CALL_MANUAL:
	case CALL_INFER:
	case CALL_LOOP:
	case BACKWARD:
	case BACKWARD_LEARN: return false;
	case LAST_STEP:
	case MISPLACED_STEP: return steps->state == STEPS_IN_MODULE;
	default: return true;
	}
}

/* ---- the machine ----------------------------------------------------------------------------- */

void dwp_steps_init(struct steps_state *steps, struct steps_rules *rules)
{
	*steps = (struct steps_state){ .rules = rules, .state = STEPS_IN_IDLE };
}

bool dwp_steps_is_open(const struct steps_state *steps)
{
	return steps->state >= STEPS_IN_OPEN && steps->state != STEPS_IN_SILENT;
}

bool dwp_steps_may_follow_loop(const struct steps_state *steps)
{
	const struct steps_rules *rules = steps->rules;

	return !steps_trains(rules) && !rules->named && !rules->by_program && !steps_is_inside(steps);
}

void dwp_steps_leave(struct steps_state *steps)
{
	bool silent = steps->state == STEPS_IN_PROGRAM || steps->state == STEPS_IN_SILENT;

	steps->state = silent ? STEPS_IN_SILENT : STEPS_IN_IDLE;
}

/* What to withdraw if the process has just shown that it trains. If it trains a model in evaluation
 * mode, a tentative phase may have been the first forward and stays. */
static enum steps_withdrawal steps_read_withdrawal(struct steps_state *steps, enum meaning meaning)
{
	struct steps_rules *rules = steps->rules;

	if (meaning == LOOP_WIDENS)
		return STEPS_WITHDRAW_STEPS;
	if (rules->withdrawn || !(steps_trains(rules) || (rules->functional && !rules->loop_withdrawn)))
		return STEPS_WITHDRAW_NONE;
	rules->withdrawn = steps_trains(rules);
	rules->loop_withdrawn = true;
	if (rules->tried >= STEPS_TRIED)
		return STEPS_WITHDRAW_NONE;
	return steps->evaluation_trains ? STEPS_WITHDRAW_STEPS : STEPS_WITHDRAW_PHASES;
}

/* A process that computes gradients in a loop does not infer: its steps are certain, except the first ones, or wait for the
 * loop around theirs. The first step of a loop that widened is certain, because it began before the steps that
 * were withdrawn. */
static void steps_replace_inference(struct steps_state *steps, struct steps_answer *answer, bool provisional)
{
	for (unsigned i = 0; i < STEPS_ACTIONS; i++) {
		if (answer->actions[i] != STEPS_DO_INFER)
			continue;
		steps->rules->inferred |= !steps->rules->functional;
		steps->rules->tried += steps->rules->functional && !provisional && steps->rules->tried < STEPS_TRIED;
		if (steps->widened || (steps->rules->functional && !provisional && steps->rules->tried == STEPS_TRIED))
			answer->actions[i] = STEPS_DO_BEGIN;
		else if (steps->rules->functional)
			answer->actions[i] = STEPS_DO_TRY;
		steps->widened = false;
	}
}

/* Removes steps of inference from the answer: the process trains, so that a call without a backward
 * is no step. */
static void steps_leave_out_inference(struct steps_answer *answer)
{
	for (unsigned i = 0; i < STEPS_ACTIONS; i++)
		if (answer->actions[i] == STEPS_DO_INFER)
			answer->actions[i] = STEPS_DO_FORGET;
		else if ((answer->actions[i] == STEPS_DO_END_NOTED || answer->actions[i] == STEPS_DO_END) && i &&
		         answer->actions[i - 1] == STEPS_DO_FORGET)
			answer->actions[i] = STEPS_DO_NOTHING;
}

static void steps_follow(struct steps_state *steps, enum meaning meaning, struct steps_answer *answer)
{
	const struct cell *cell = &table[steps->state][meaning];

	for (unsigned i = 0; i < STEPS_ACTIONS; i++)
		answer->actions[i] = cell->actions[i];
	if (cell->next != STEPS_IN_NONE)
		steps->state = cell->next;
}

struct steps_answer dwp_steps_event(struct steps_state *steps, const struct steps_input *input)
{
	struct steps_answer answer = { STEPS_WITHDRAW_NONE, { STEPS_DO_NOTHING }, STEPS_PHASE_NONE };
	enum meaning meaning;

	if (steps->state == STEPS_IN_SILENT && !steps->rules->by_program)
		steps->state = STEPS_IN_IDLE; /* another thread marked the steps, until now */
	meaning = steps_read_event(steps, input, &answer.phase);

	if (steps->rules->by_program && steps->state != STEPS_IN_PROGRAM &&
	    steps->state != STEPS_IN_SILENT && meaning != PROGRAM_BEGINS && meaning != PROGRAM_ENDS)
		steps_follow(steps, PROGRAM_ELSEWHERE, &answer);
	else if (meaning != NO_MEANING && steps_is_allowed(steps, meaning))
		steps_follow(steps, meaning, &answer);
	answer.withdrawal = steps_read_withdrawal(steps, meaning);
	if (answer.withdrawal != STEPS_WITHDRAW_NONE && steps->rules->inferred && !steps->rules->withdrawn &&
	    steps->state == STEPS_IN_CALLED)
		answer.actions[0] = STEPS_DO_KEEP; /* the first step may be withdrawn too, so it begins after what is withdrawn now */
	if (steps->rules->withdrawn)
		steps_leave_out_inference(&answer);
	else
		steps_replace_inference(steps, &answer, input->provisional);
	return answer;
}
