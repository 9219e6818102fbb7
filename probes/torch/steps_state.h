/*
 * A state machine that finds where the steps of a training loop begin and end.
 *
 * The caller reports what a thread does, one event at a time. The machine answers what to do with
 * the thread's step. Each thread has a `steps_state`; all threads of a process share one
 * `steps_rules`. The machine knows neither Python nor PyTorch, neither the recorder nor a clock,
 * and has no global state. So tests can replay what a script does.
 *
 * What counts as a step:
 *   - With an optimizer: from the first sign of the step (a batch, zero_grad, a call of a model
 *     in training) to the end of the optimizer's step(). If an iteration steps several optimizers,
 *     the last one ends the step (`steps_pace`).
 *   - With gradients but no optimizer: from the call of a model that has a backward to the next
 *     sign after that backward.
 *   - With neither, in a loop that loops.h follows: an iteration of the loop. If gradients are
 *     computed in it, the process trains.
 *   - With neither, elsewhere: each call of a model. The machine assumes inference. If the process trains
 *     later, these calls were evaluation, and the machine withdraws their steps.
 *   - Evaluation is no step. In a program that trains, a call is evaluation if gradients are off or
 *     the model is in evaluation mode.
 *   - If the user named what makes a step (--step-on), nothing else makes one. If the program marks
 *     its steps itself (dwell.step()), nothing else makes one from then on.
 *
 * A batch or zero_grad alone does not show that a step begins: an evaluation may follow. So the
 * machine asks the caller to keep the moment, and may begin the step at that moment later.
 *
 * Not thread-safe: the caller holds the interpreter's lock. Only STEPS_THREAD_ENDS may be reported
 * without it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a thread does. */
enum steps_event {
	STEPS_LOADER,            /* a data loader is asked for an iterator */
	STEPS_BATCH,             /* a batch is asked for */
	STEPS_ZERO_GRAD,         /* an optimizer clears gradients */
	STEPS_FORWARD_BEGINS,    /* a call of a module begins, outside the calls of other modules */
	STEPS_FORWARD_ENDS,      /* it returns */
	STEPS_FORWARD_FAILS,     /* an exception leaves it */
	STEPS_BACKWARD_BEGINS,   /* Python calls a backward; such calls nest */
	STEPS_BACKWARD_ENDS,     /* it returns, or an exception leaves it */
	STEPS_OPTIMIZER_MADE,
	STEPS_OPTIMIZER_GONE,    /* an optimizer is freed; report it to the state of every thread */
	STEPS_OPTIMIZER_BEGINS,  /* step() of an optimizer is called; such calls nest */
	STEPS_OPTIMIZER_ENDS,
	STEPS_OPTIMIZER_FAILS,
	STEPS_SCALER_BEGINS,     /* a GradScaler decides whether the optimizer steps */
	STEPS_SCALER_ENDS,
	STEPS_MODEL_SHARED,      /* a model is moved to shared memory: other processes train it */
	STEPS_CHECKPOINT,        /* something is saved or loaded */
	STEPS_FUNCTION_BEGINS,   /* a function that the user named; calls nest */
	STEPS_FUNCTION_ENDS,
	STEPS_MODULE_BEGINS,     /* a call of a module that the user named */
	STEPS_MODULE_ENDS,
	STEPS_PROGRAM_BEGINS,    /* the program marks the begin of a step; the step before ends */
	STEPS_PROGRAM_ENDS,      /* the program marks the end of its step */
	STEPS_PROGRAM_LEAVES,    /* the program marks no more steps: they are found again */
	STEPS_LOOP_ITERATES,     /* an iteration begins of the loop whose iterations are steps (loops.h) */
	STEPS_LOOP_LEFT,         /* that loop has ended */
	STEPS_LOOP_WIDENS,       /* its iterations were parts of a step, which is one of a loop around it */
	STEPS_THREAD_ENDS,
	STEPS_EXIT,              /* the program ends, in this thread */
	STEPS_EVENTS
};

/* An event, and what the machine must know about it. Fields that do not belong to the event are
 * 0. */
struct steps_input {
	enum steps_event event;
	const void *optimizer; /* OPTIMIZER_*, SCALER_*: identifies it; never dereferenced */
	bool named;            /* OPTIMIZER_*: the user named this optimizer */
	bool grad;             /* LOADER, BATCH, FORWARD_BEGINS: gradients are enabled */
	bool training;         /* FORWARD_BEGINS: the module is in training mode */
	bool has_parameters;   /* FORWARD_BEGINS: false for a loss or an activation alone */
	bool accumulates;      /* BACKWARD_BEGINS: it adds to .grad, which autograd.grad() does not */
	bool loop;             /* FORWARD_BEGINS, BACKWARD_BEGINS: within a loop that loops.h follows */
	bool transformed;      /* FORWARD_BEGINS: within a function transform, as torch.func.grad */
	bool provisional;      /* LOOP_ITERATES, LOOP_LEFT, EXIT: the loop may still widen */
};

/* What to do with the thread's step. */
enum steps_action {
	STEPS_DO_NOTHING,
	STEPS_DO_KEEP,      /* keep this moment: the next step may begin at it */
	STEPS_DO_FORGET,    /* forget the kept moment */
	STEPS_DO_BEGIN,     /* begin a step at the kept moment, or now if there is none; forget it */
	STEPS_DO_INFER,     /* the same, but the step may be withdrawn */
	STEPS_DO_TRY,       /* the same; it is a step of a process that trains */
	STEPS_DO_END,       /* end the step now */
	STEPS_DO_NOTE,      /* note this moment: the step may end at it */
	STEPS_DO_END_NOTED, /* end the step at the noted moment */
	STEPS_DO_CANCEL,    /* cancel the step; its time counts as outside any step */
};

/* The phase that FORWARD_BEGINS begins. TENTATIVE: forward if the process only infers, evaluation
 * if it trains later. */
enum steps_phase {
	STEPS_PHASE_NONE,
	STEPS_PHASE_FORWARD,
	STEPS_PHASE_EVALUATION,
	STEPS_PHASE_TENTATIVE
};

/* What to withdraw when the process first shows that it trains. */
enum steps_withdrawal {
	STEPS_WITHDRAW_NONE,
	STEPS_WITHDRAW_STEPS,  /* steps of inference; tentative phases are forward, because the process
	                        * trains a model in evaluation mode */
	STEPS_WITHDRAW_PHASES, /* steps of inference; tentative phases are evaluation */
};

#define STEPS_ACTIONS 3u
struct steps_answer {
	enum steps_withdrawal withdrawal;         /* do it first, for all threads */
	enum steps_action actions[STEPS_ACTIONS]; /* then do these, in this order */
	enum steps_phase phase;
};

/* Fewer steps without backward() than these are withdrawn when an optimizer makes its first step: they only looked at gradients
 * before the training. */
#define STEPS_TRIED 16u

/* What all threads of a process have in common. Zero-initialise it. */
struct steps_rules {
	bool optimizers;     /* one has been made; set by the machine */
	bool shared;         /* other processes train a model of this one; set by the machine */
	bool trained;        /* a thread had a backward without an optimizer; set by the machine */
	bool functional;     /* gradients are computed in a loop without backward(); set by the machine */
	unsigned tried;      /* steps without backward(), counted up to STEPS_TRIED; set by the machine */
	bool inferred;       /* steps of inference have begun; set by the machine */
	bool loop_withdrawn; /* steps of inference before that have been withdrawn; set by the machine */
	bool withdrawn;      /* all steps of inference have been withdrawn; set by the machine */
	bool named;          /* the user named what makes a step */
	bool by_optimizer;   /* the user named an optimizer: only that one ends steps */
	bool by_program;     /* the program marks its steps; set by the machine */
};

/*
 * Which of several optimizers ends steps. The machine assumes the one that the thread made last,
 * or, in a thread that made none, the first one that steps. It corrects this when the loop shows
 * that another one does.
 */
struct steps_pace {
	const void *optimizer; /* NULL: not known yet */
	const void *rival;     /* the first other optimizer that stepped since this one stepped */
	uint32_t rival_steps;  /* steps of the rival since then */
	uint32_t alone;        /* consecutive steps of this optimizer without another one's */
	bool stepped;          /* this optimizer has stepped since it was chosen */
	bool settled;          /* the order of the optimizers in an iteration is known */
	bool nested;           /* this optimizer steps within the step of another one */
	bool fetched;          /* a batch was requested since this optimizer stepped */
};

enum steps_name {
	STEPS_IN_NONE,      /* in the table only: the state does not change */
	STEPS_IN_IDLE,      /* no step is open and none may have begun */
	STEPS_IN_MARKED,    /* a batch, zero_grad or the like: a step may have begun */
	STEPS_IN_CALLED,    /* a model was called with gradients, or in a loop: no step yet, or inference */
	STEPS_IN_EVALUATED, /* a model was evaluated since the kept moment */
	STEPS_IN_OPEN,      /* a step is open; an optimizer ends it */
	STEPS_IN_MANUAL,    /* a step is open; there is no optimizer, and no backward in it yet */
	STEPS_IN_UPDATED,   /* the same, and it had a backward: the next sign ends it */
	STEPS_IN_BARE,      /* the same in a loop that calls no model: the next backward ends it */
	STEPS_IN_INFERRING, /* a step is open: a call of a model, without gradients */
	STEPS_IN_FUNCTION,  /* a step is open: a call of the function that the user named */
	STEPS_IN_MODULE,    /* a step is open: it began with the module that the user named */
	STEPS_IN_PROGRAM,   /* a step is open: the program marked its begin */
	STEPS_IN_SILENT,    /* the program marks its steps, and none is open in this thread */
	STEPS_IN_COUNT
};

/* One thread. Initialize it with dwp_steps_init(). */
struct steps_state {
	struct steps_rules *rules; /* borrowed */
	enum steps_name state;
	struct steps_pace pace;
	uint32_t forwards, backwards, optimizers, functions; /* numbers of nested calls */
	bool trainer;            /* the thread made an optimizer or stepped one */
	bool trains_without;     /* the thread had a backward while there was no optimizer */
	bool evaluation_trains;  /* the thread trains a model in evaluation mode */
	bool called_training;    /* since the last backward, a model was called in training mode */
	bool called_evaluation;  /* since then, one was called in evaluation mode with gradients */
	bool stepped_inside;     /* an optimizer stepped within the current backward */
	bool scaler_stepped;     /* an optimizer stepped within the scaler's call */
	bool looped;             /* the calls since the kept moment are in an iteration of a known loop */
	bool widened;            /* the loop widened in this iteration */
	bool gradients;          /* gradients were computed in this iteration */
	bool program_trains;     /* an optimizer stepped in the program's current step */
	bool program_trained;    /* an optimizer stepped in an earlier step of the program */
};

void dwp_steps_init(struct steps_state *steps, struct steps_rules *rules);
struct steps_answer dwp_steps_event(struct steps_state *steps, const struct steps_input *input);
/* Call it in the child process after fork: an open step belongs to the parent process. */
void dwp_steps_leave(struct steps_state *steps);
/* Whether iterations of a loop may be steps here: nothing else makes any, and no call is open. */
bool dwp_steps_may_follow_loop(const struct steps_state *steps);
/* Whether the thread has a step open. */
bool dwp_steps_is_open(const struct steps_state *steps);
