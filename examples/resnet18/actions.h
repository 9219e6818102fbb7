/*
 * actions.h - what a trainer of Lightning calls and times, by its names: each hook of the
 * module and the strategy, empty ones too, and the parts of the loop. main.c puts them
 * where they happen; the fit is a stage of a profiler (dwell/compat/lightning.h).
 */
#pragma once

#include <dwell/compat/lightning.h>

#define MODULE "[LightningModule]ResNet18."
#define STRATEGY "[Strategy]SingleDeviceStrategy."

/*
 * X(hook, its name, its name in Lightning 1.6, the callbacks' part of it in 1.6). A hook of
 * the module comes after that of the callbacks, which 1.6 times as one action and 2.2 each
 * on its own; there are none here. NULL: it is no action of that version.
 */
#define MODULE_HOOK(X, hook, name) X(hook, MODULE name, MODULE name, NULL)
#define BOTH_HOOK(X, hook, name) X(hook, MODULE name, MODULE name, name)
#define STRATEGY_HOOK(X, hook, name) X(hook, STRATEGY name, STRATEGY name, NULL)

#define ACTIONS(X)                                                                              \
	MODULE_HOOK(X, CONFIGURE_CALLBACKS, "configure_callbacks")                                  \
	MODULE_HOOK(X, PREPARE_DATA, "prepare_data")                                                \
	BOTH_HOOK(X, SETUP, "setup")                                                                \
	MODULE_HOOK(X, CONFIGURE_OPTIMIZERS, "configure_optimizers")                                \
	BOTH_HOOK(X, ON_FIT_START, "on_fit_start")                                                  \
	BOTH_HOOK(X, ON_TRAIN_START, "on_train_start")                                              \
	STRATEGY_HOOK(X, STRATEGY_ON_TRAIN_START, "on_train_start")                                 \
	BOTH_HOOK(X, ON_TRAIN_EPOCH_START, "on_train_epoch_start")                                  \
	X(RUN_TRAINING_EPOCH, "run_training_epoch", "run_training_epoch", NULL)                     \
	X(TRAIN_NEXT, "[_TrainingEpochLoop].train_dataloader_next", "get_train_batch", NULL)        \
	MODULE_HOOK(X, ON_BEFORE_BATCH_TRANSFER, "on_before_batch_transfer")                        \
	STRATEGY_HOOK(X, BATCH_TO_DEVICE, "batch_to_device")                                        \
	MODULE_HOOK(X, TRANSFER_BATCH_TO_DEVICE, "transfer_batch_to_device")                        \
	MODULE_HOOK(X, ON_AFTER_BATCH_TRANSFER, "on_after_batch_transfer")                          \
	BOTH_HOOK(X, ON_TRAIN_BATCH_START, "on_train_batch_start")                                  \
	STRATEGY_HOOK(X, STRATEGY_ON_TRAIN_BATCH_START, "on_train_batch_start")                     \
	X(RUN_TRAINING_BATCH, "run_training_batch", "run_training_batch", NULL)                     \
	MODULE_HOOK(X, OPTIMIZER_STEP, "optimizer_step")                                            \
	STRATEGY_HOOK(X, TRAINING_STEP, "training_step")                                            \
	BOTH_HOOK(X, ON_BEFORE_ZERO_GRAD, "on_before_zero_grad")                                    \
	MODULE_HOOK(X, OPTIMIZER_ZERO_GRAD, "optimizer_zero_grad")                                  \
	STRATEGY_HOOK(X, BACKWARD, "backward")                                                      \
	BOTH_HOOK(X, ON_BEFORE_BACKWARD, "on_before_backward")                                      \
	BOTH_HOOK(X, ON_AFTER_BACKWARD, "on_after_backward")                                        \
	BOTH_HOOK(X, ON_BEFORE_OPTIMIZER_STEP, "on_before_optimizer_step")                          \
	MODULE_HOOK(X, CONFIGURE_GRADIENT_CLIPPING, "configure_gradient_clipping")                  \
	BOTH_HOOK(X, ON_TRAIN_BATCH_END, "on_train_batch_end")                                      \
	X(RUN_EVALUATION, NULL, "run_validate_evaluation", NULL)                                    \
	MODULE_HOOK(X, ON_VALIDATION_MODEL_ZERO_GRAD, "on_validation_model_zero_grad")              \
	MODULE_HOOK(X, ON_VALIDATION_MODEL_EVAL, "on_validation_model_eval")                        \
	BOTH_HOOK(X, ON_VALIDATION_START, "on_validation_start")                                    \
	STRATEGY_HOOK(X, STRATEGY_ON_VALIDATION_START, "on_validation_start")                       \
	BOTH_HOOK(X, ON_VALIDATION_EPOCH_START, "on_validation_epoch_start")                        \
	X(VALIDATION_NEXT, "[_EvaluationLoop].val_next", "get_validate_batch", NULL)                \
	BOTH_HOOK(X, ON_VALIDATION_BATCH_START, "on_validation_batch_start")                        \
	STRATEGY_HOOK(X, VALIDATION_STEP, "validation_step")                                        \
	BOTH_HOOK(X, ON_VALIDATION_BATCH_END, "on_validation_batch_end")                            \
	BOTH_HOOK(X, ON_VALIDATION_EPOCH_END, "on_validation_epoch_end")                            \
	BOTH_HOOK(X, ON_VALIDATION_END, "on_validation_end")                                        \
	STRATEGY_HOOK(X, STRATEGY_ON_VALIDATION_END, "on_validation_end")                           \
	BOTH_HOOK(X, ON_TRAIN_EPOCH_END, "on_train_epoch_end")                                      \
	BOTH_HOOK(X, ON_TRAIN_END, "on_train_end")                                                  \
	STRATEGY_HOOK(X, STRATEGY_ON_TRAIN_END, "on_train_end")                                     \
	BOTH_HOOK(X, ON_FIT_END, "on_fit_end")                                                      \
	BOTH_HOOK(X, TEARDOWN, "teardown")

enum action {
#define ACTIONS_ENUM(hook, name, name_1_6, callbacks) ACTION_##hook,
	ACTIONS(ACTIONS_ENUM)
#undef ACTIONS_ENUM
	ACTION_COUNT
};

/* "simple", "advanced", ..., NULL: none. Ends the program when there is none of that name.
 * `old_names`: those of Lightning 1.6. */
struct dwell_lightning_profiler *actions_create(const char *profiler, bool old_names);
/* The stage begins; ends with its report. NULL is nothing. */
void actions_begin_fit(struct dwell_lightning_profiler *actions);
void actions_end_fit(struct dwell_lightning_profiler *actions);

/* A hook that does nothing. */
void actions_call(struct dwell_lightning_profiler *actions, enum action action);
/* An action that ends in another handler than it began in. */
void actions_start(struct dwell_lightning_profiler *actions, enum action action);
void actions_stop(struct dwell_lightning_profiler *actions, enum action action);

/* The rest of the block is the action. */
#define ACTION(actions, action)                                                \
	const struct dwell_lightning_scope DWELL_JOIN(action_, __LINE__)              \
		__attribute__((__cleanup__(dwell_lightning_leave), __unused__)) =         \
			actions_enter(actions, ACTION_##action)
struct dwell_lightning_scope actions_enter(struct dwell_lightning_profiler *actions, enum action action);
