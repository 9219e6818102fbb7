/*
 * The pieces of a training loop, as they happen.
 *
 * The caller reports what a thread does, one event at a time. The answer says what to do with the thread's open step.
 * A step that is found here is a piece: it begins with the first sign of one (a batch, zero_grad, a call of a model)
 * and ends with the first of these:
 *
 *     an update       step() of an optimizer returns, whichever it is
 *     a backward      where there is no optimizer; the next sign ends the piece, so that it has an update by hand
 *     an iteration    of a loop that loops.h follows, where nothing of this shows that the process trains
 *     a call          of a model elsewhere
 *
 * Nothing is taken back and nothing is guessed: each piece says what ended it (DWELL_STEP_KIND), and the reader decides
 * with hindsight which pieces are an iteration, and which are none, because the process trained later
 * (src/reader/read/iterations.c). The program counts pieces: --steps, captures and --cost.
 *
 * What the user named (--step-on) and what the program marks (dwell.step()) are steps as they are; then nothing else
 * makes one. Evaluation is no step: in a process that trains, a call without gradients or in evaluation mode.
 *
 * A batch or zero_grad alone does not show that a step begins: an evaluation may follow. So the caller keeps the
 * moment, and the step may begin at it.
 *
 * This file knows neither Python nor PyTorch, neither the recorder nor a clock, and has no global state. So tests can
 * replay what a script does. Not thread-safe: the caller holds the interpreter's lock. Only STEPS_THREAD_ENDS may be
 * reported without it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a thread does. */
enum steps_event {
	STEPS_LOADER,          /* a data loader is asked for an iterator */
	STEPS_BATCH,           /* a batch is asked for */
	STEPS_ZERO_GRAD,       /* an optimizer clears gradients */
	STEPS_FORWARD_BEGINS,  /* a call of a module begins, outside the calls of other modules */
	STEPS_FORWARD_ENDS,    /* it returns */
	STEPS_FORWARD_FAILS,   /* an exception leaves it */
	STEPS_BACKWARD_BEGINS, /* Python calls a backward; such calls nest */
	STEPS_BACKWARD_ENDS,   /* it returns, or an exception leaves it */
	STEPS_OPTIMIZER_MADE,
	STEPS_OPTIMIZER_BEGINS, /* step() of an optimizer is called; such calls nest */
	STEPS_OPTIMIZER_ENDS,
	STEPS_OPTIMIZER_FAILS,
	STEPS_SCALER_BEGINS, /* a GradScaler decides whether the optimizer steps */
	STEPS_SCALER_ENDS,
	STEPS_MODEL_SHARED,    /* a model is moved to shared memory: other processes train it */
	STEPS_CHECKPOINT,      /* something is saved or loaded */
	STEPS_FUNCTION_BEGINS, /* a function that the user named; calls nest */
	STEPS_FUNCTION_ENDS,
	STEPS_MODULE_BEGINS, /* a call of a module that the user named */
	STEPS_MODULE_ENDS,
	STEPS_PROGRAM_BEGINS, /* the program marks the begin of a step; the step before ends */
	STEPS_PROGRAM_ENDS,   /* the program marks the end of its step */
	STEPS_PROGRAM_LEAVES, /* the program marks no more steps: they are found again */
	STEPS_LOOP_ITERATES,  /* an iteration begins of the loop whose iterations are steps (loops.h) */
	STEPS_LOOP_LEFT,      /* that loop has ended */
	STEPS_LOOP_WIDENS,    /* its iterations were parts of one of a loop around it, which began at the kept moment */
	STEPS_THREAD_ENDS,
	STEPS_EXIT, /* the program ends, in this thread */
	STEPS_EVENTS
};

/* An event, and what must be known about it. Fields that do not belong to the event are 0. */
struct steps_input {
	enum steps_event event;
	const void *optimizer; /* OPTIMIZER_*, SCALER_*: identifies it to the caller */
	uint32_t number;       /* OPTIMIZER_ENDS, SCALER_ENDS: the optimizer's, from 0 */
	bool named;            /* OPTIMIZER_*: the user named this optimizer */
	bool grad;             /* LOADER, BATCH, FORWARD_BEGINS: gradients are enabled */
	bool training;         /* FORWARD_BEGINS: the module is in training mode */
	bool has_parameters;   /* FORWARD_BEGINS: false for a loss or an activation alone */
	bool accumulates;      /* BACKWARD_BEGINS: it adds to .grad, which autograd.grad() does not */
	bool loop;             /* FORWARD_BEGINS, BACKWARD_BEGINS: within a loop that loops.h follows */
	bool goes_on;          /* FORWARD_BEGINS: the program goes on where the call before ended (dwp_loops_goes_on()) */
	bool transformed;      /* FORWARD_BEGINS: within a function transform, as torch.func.grad */
};

/* What to do with the thread's step. */
enum steps_action {
	STEPS_DO_KEEP,      /* keep this moment: the next step may begin at it */
	STEPS_DO_FORGET,    /* forget the kept moment */
	STEPS_DO_NOTE,      /* note this moment: the step may end at it */
	STEPS_DO_BEGIN,     /* begin a step at the kept moment, or now if there is none; forget it */
	STEPS_DO_TRY,       /* the same; it is none if the process trains later */
	STEPS_DO_END,       /* end the step now */
	STEPS_DO_END_NOTED, /* end the step at the noted moment */
	STEPS_DO_CANCEL,    /* cancel the step; its time counts as outside any step */
};

/* The phase that FORWARD_BEGINS begins. TENTATIVE: forward, unless the process trains later: then the reader may know
 * it as evaluation. */
enum steps_phase { STEPS_PHASE_NONE, STEPS_PHASE_FORWARD, STEPS_PHASE_EVALUATION, STEPS_PHASE_TENTATIVE };

#define STEPS_ACTIONS 6u
struct steps_answer {
	enum steps_action actions[STEPS_ACTIONS]; /* do these, in this order */
	uint32_t count;
	uint32_t what; /* of the step that ends: DWELL_STEP_*; 0: it was named or marked */
	enum steps_phase phase;
	bool trains;  /* the process has shown for the first time that it trains */
	bool forward; /* with `trains`: its tentative phases were forward, because it trains a model in evaluation mode */
};

/* What all threads of a process have in common. Zero-initialise it. */
struct steps_rules {
	bool optimizers;   /* one has been made */
	bool shared;       /* other processes train a model of this one */
	bool trained;      /* a thread had a backward without an optimizer */
	bool functional;   /* gradients are computed in a loop without backward() */
	bool shown;        /* steps_answer.trains has been set */
	bool named;        /* set by the caller: the user named what makes a step */
	bool by_optimizer; /* the user named an optimizer: only that one ends steps */
	bool by_program;   /* the program marks its steps */
};

enum steps_open {
	STEPS_OPEN_NONE,
	STEPS_OPEN_PIECE,    /* an update or a backward ends it */
	STEPS_OPEN_CALL,     /* a call of a model, in a process that has not trained yet */
	STEPS_OPEN_FUNCTION, /* a call of the function that the user named */
	STEPS_OPEN_MODULE,   /* it began with the module that the user named */
	STEPS_OPEN_PROGRAM   /* the program marked its begin */
};

/* One thread. Initialize it with dwp_steps_init(). */
struct steps_state {
	struct steps_rules *rules; /* borrowed */
	enum steps_open open;
	uint32_t what; /* of the coming or open step: what has happened since the one before */
	uint32_t forwards, backwards, optimizers, functions; /* numbers of nested calls */
	bool kept;                                           /* a moment is kept */
	bool evaluated;                                      /* with `kept`: a model was evaluated with gradients since */
	bool called;            /* the step before was a call with gradients, and nothing has happened since */
	bool updates;           /* the piece has had a backward, and there was no optimizer: the next sign ends it */
	bool bare;              /* of such a piece: the backward began it, so the next backward ends it, too */
	bool trainer;           /* the thread made an optimizer or stepped one */
	bool trains_without;    /* the thread had a backward while there was no optimizer */
	bool evaluation_trains; /* the thread trains a model in evaluation mode */
	bool called_training;   /* since the last backward, a model was called in training mode */
	bool called_evaluation; /* since then, one was called in evaluation mode with gradients */
	bool stepped_inside;    /* an optimizer stepped within the current backward */
	uint32_t inside;        /* which one */
	bool scaler_stepped;    /* an optimizer stepped within the scaler's call */
	bool looped;            /* something was called in this iteration of a known loop */
	bool gradients;         /* gradients were computed in it */
	bool program_trains;    /* an optimizer stepped in the program's current step */
	bool program_trained;   /* an optimizer stepped in an earlier step of the program */
};

void dwp_steps_init(struct steps_state *steps, struct steps_rules *rules);
struct steps_answer dwp_steps_event(struct steps_state *steps, const struct steps_input *input);
/* Whether the last step was a call of a model and nothing has happened since: then the next call may belong to that step, too. */
bool dwp_steps_may_go_on(const struct steps_state *steps);
/* Call it in the child process after fork: an open step belongs to the parent process. */
void dwp_steps_leave(struct steps_state *steps);
/* Whether iterations of a loop may be steps here: nothing else makes any, and no call is open. */
bool dwp_steps_may_follow_loop(const struct steps_state *steps);
