/*
 * Where the steps of a training loop begin and end: a state machine.
 *
 * The caller reports what a thread does, one event at a time, and gets back what to do with
 * the thread's step. A `steps_state` follows one thread; what all threads of a process have in
 * common is in one `steps_rules`. Nothing here knows Python, PyTorch, the recorder or a clock,
 * and nothing is global, so that tests can replay what a script does.
 *
 * What counts as a step:
 *   - With an optimizer: from the first sign of the step (a batch, zero_grad, a call of a model
 *     in training) to the end of the optimizer's step(). Of several optimizers the one that an
 *     iteration steps last ends it (`steps_pace`).
 *   - With gradients but no optimizer: from the call of a model that has a backward to the next
 *     sign after that backward.
 *   - With neither: each call of a model. That is inference, unless the process turns out to train:
 *     then the calls before were evaluation, and the machine withdraws their steps.
 *   - Evaluation is no step: a call without gradients, or of a model in evaluation mode, in a
 *     program that trains.
 *   - If the user named what makes a step (--step-on), only that does. If the program says its
 *     steps itself (dwell.step()), only that does from then on.
 *
 * A batch or zero_grad alone does not show that a step begins: an evaluation may follow. The
 * machine asks the caller to keep the moment, and begins the step at that moment later.
 *
 * Not thread-safe: the caller calls it with the interpreter's lock. Only
 * STEPS_THREAD_ENDS may come without it.
 */
#ifndef DWP_TORCH_STEPS_STATE_H
#define DWP_TORCH_STEPS_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* What a thread does. */
enum steps_event {
	STEPS_LOADER,            /* a data loader is asked for an iterator */
	STEPS_BATCH,             /* a batch is asked for */
	STEPS_ZERO_GRAD,         /* an optimizer clears gradients */
	STEPS_FORWARD_BEGINS,    /* a module is called that no other module called */
	STEPS_FORWARD_ENDS,      /* it returns */
	STEPS_FORWARD_FAILS,     /* an exception leaves it */
	STEPS_BACKWARD_BEGINS,   /* a backward from Python; they nest */
	STEPS_BACKWARD_ENDS,     /* it returns, or an exception leaves it */
	STEPS_OPTIMIZER_MADE,
	STEPS_OPTIMIZER_GONE,    /* report it to every thread's state */
	STEPS_OPTIMIZER_BEGINS,  /* step() of an optimizer; they nest */
	STEPS_OPTIMIZER_ENDS,
	STEPS_OPTIMIZER_FAILS,
	STEPS_SCALER_BEGINS,     /* a GradScaler decides whether the optimizer steps */
	STEPS_SCALER_ENDS,
	STEPS_MODEL_SHARED,      /* a model's memory is shared: other processes train it */
	STEPS_CHECKPOINT,        /* something is saved or loaded */
	STEPS_FUNCTION_BEGINS,   /* a function that the user named; calls nest */
	STEPS_FUNCTION_ENDS,
	STEPS_MODULE_BEGINS,     /* a call of a module that the user named */
	STEPS_MODULE_ENDS,
	STEPS_PROGRAM_BEGINS,    /* the program says that a step begins, which ends the one before */
	STEPS_PROGRAM_ENDS,      /* the program says that its step ends */
	STEPS_THREAD_ENDS,
	STEPS_EXIT,              /* the program ends, in this thread */
	STEPS_EVENTS
};

/* An event and what the machine asks about it. Fields that an event does not have are 0. */
struct steps_input {
	enum steps_event event;
	const void *optimizer; /* OPTIMIZER_*, SCALER_*: which one; only compared */
	bool named;            /* OPTIMIZER_*: the user named this optimizer */
	bool grad;             /* LOADER, BATCH, FORWARD_BEGINS: gradients are enabled */
	bool training;         /* FORWARD_BEGINS: the module is in training mode */
	bool has_parameters;   /* FORWARD_BEGINS: a loss or an activation alone has none */
	bool accumulates;      /* BACKWARD_BEGINS: into .grad; autograd.grad() does not */
};

/* What to do with the thread's step. */
enum steps_action {
	STEPS_DO_NOTHING,
	STEPS_DO_KEEP,      /* keep this moment: the next step may have begun at it */
	STEPS_DO_FORGET,    /* forget the kept moment */
	STEPS_DO_BEGIN,     /* begin a step at the kept moment, or now if there is none; forget it */
	STEPS_DO_INFER,     /* the same, but the step may be withdrawn */
	STEPS_DO_END,       /* end the step now */
	STEPS_DO_NOTE,      /* keep this moment: the step may have ended at it */
	STEPS_DO_END_NOTED, /* end the step at the noted moment */
	STEPS_DO_CANCEL,    /* the step was none; its time is outside any step */
};

/* The phase that FORWARD_BEGINS begins. TENTATIVE: forward if the process only infers, evaluation if it
 * turns out to train. */
enum steps_phase {
	STEPS_PHASE_NONE,
	STEPS_PHASE_FORWARD,
	STEPS_PHASE_EVALUATION,
	STEPS_PHASE_TENTATIVE
};

/* The process turns out to train. */
enum steps_withdrawal {
	STEPS_WITHDRAW_NONE,
	STEPS_WITHDRAW_STEPS,  /* steps that inferred were none; it trains a model in evaluation mode */
	STEPS_WITHDRAW_PHASES, /* and tentative phases were evaluation */
};

#define STEPS_ACTIONS 3u
struct steps_answer {
	enum steps_withdrawal withdrawal;         /* of all threads; first */
	enum steps_action actions[STEPS_ACTIONS]; /* then these, in this order */
	enum steps_phase phase;
};

/* What all threads of a process have in common. Zeroed at first. */
struct steps_rules {
	bool optimizers;     /* one has been made; set by the machine */
	bool shared;         /* other processes train a model of this one; set by the machine */
	bool trained;        /* a thread had a backward without an optimizer; set by the machine */
	bool withdrawn;      /* what was inference is evaluation; set by the machine */
	bool named;          /* the user named what makes a step */
	bool by_optimizer;   /* and it is an optimizer: only that one ends steps */
	bool by_program;     /* the program says its steps; set by the machine */
};

/*
 * Which of several optimizers ends steps. Assumed to be the one that the thread made last, or
 * the first to step in a thread that made none, until the loop shows otherwise.
 */
struct steps_pace {
	const void *optimizer; /* NULL: not known yet */
	const void *rival;     /* the first other one that stepped since it did */
	uint32_t rival_steps;
	uint32_t alone;        /* its steps without one of another in between */
	bool stepped;          /* it has stepped since it was chosen */
	bool settled;          /* where it stands among the others is known */
	bool nested;           /* it steps within the step of another one */
	bool fetched;          /* a batch was asked for since it stepped */
};

enum steps_name {
	STEPS_IN_NONE,      /* in the table only: the state does not change */
	STEPS_IN_IDLE,      /* no step is open and none may have begun */
	STEPS_IN_MARKED,    /* a batch, zero_grad or the like: a step may have begun */
	STEPS_IN_CALLED,    /* a model was called with gradients: inference, unless a backward follows */
	STEPS_IN_EVALUATED, /* a model was evaluated since the kept moment */
	STEPS_IN_OPEN,      /* a step is open; an optimizer ends it */
	STEPS_IN_MANUAL,    /* a step is open; there is no optimizer, and no backward in it yet */
	STEPS_IN_UPDATED,   /* the same, and it had a backward: the next sign ends it */
	STEPS_IN_BARE,      /* the same in a loop that calls no model: the next backward ends it */
	STEPS_IN_INFERRING, /* a step is open: a call of a model, without gradients */
	STEPS_IN_FUNCTION,  /* a step is open: a call of the function that the user named */
	STEPS_IN_MODULE,    /* a step is open: it began with the module that the user named */
	STEPS_IN_PROGRAM,   /* a step is open that the program said */
	STEPS_IN_SILENT,    /* the program says its steps, and none is open in this thread */
	STEPS_IN_COUNT
};

/* One thread. Initialize it with dwp_steps_init(). */
struct steps_state {
	struct steps_rules *rules; /* borrowed */
	enum steps_name state;
	struct steps_pace pace;
	uint32_t forwards, backwards, optimizers, functions; /* how deep the thread is in them */
	bool trainer;            /* it made an optimizer or stepped one */
	bool trains_without;     /* it had a backward while there was no optimizer */
	bool evaluation_trains;  /* it trains a model in evaluation mode */
	bool called_training;    /* since the last backward a model was called: in training mode */
	bool called_evaluation;  /* ... in evaluation mode, with gradients */
	bool stepped_inside;     /* an optimizer stepped within the backward that goes on */
	bool scaler_stepped;     /* an optimizer stepped within the scaler's call */
	bool program_trains;     /* an optimizer stepped in this step of the program */
	bool program_trained;    /* one did in an earlier step of the program */
};

void dwp_steps_init(struct steps_state *steps, struct steps_rules *rules);
struct steps_answer dwp_steps_event(struct steps_state *steps, const struct steps_input *input);
/* The process is a copy made by fork: an open step is its parent's. */
void dwp_steps_leave(struct steps_state *steps);
/* Whether the thread has a step open. */
bool dwp_steps_is_open(const struct steps_state *steps);

#endif
