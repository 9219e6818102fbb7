/*
 * The words of tests/data/steps, as events of probes/torch/steps.h. For tests that replay these files; each
 * includes this once.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "steps.h"

/* Words with an end of their own, and what ends them. */
static const struct {
	const char *word;
	enum steps_event event;
	enum steps_event ends; /* the word says both; the same event: it has no end */
} script_words[] = {
	{ "loader", STEPS_LOADER, STEPS_LOADER },
	{ "batch", STEPS_BATCH, STEPS_BATCH },
	{ "zero_grad", STEPS_ZERO_GRAD, STEPS_ZERO_GRAD },
	{ "forward", STEPS_FORWARD_BEGINS, STEPS_FORWARD_ENDS },
	{ "forward-begins", STEPS_FORWARD_BEGINS, STEPS_FORWARD_BEGINS },
	{ "forward-ends", STEPS_FORWARD_ENDS, STEPS_FORWARD_ENDS },
	{ "forward-fails", STEPS_FORWARD_BEGINS, STEPS_FORWARD_FAILS },
	{ "backward", STEPS_BACKWARD_BEGINS, STEPS_BACKWARD_ENDS },
	{ "grad", STEPS_BACKWARD_BEGINS, STEPS_BACKWARD_ENDS },
	{ "backward-begins", STEPS_BACKWARD_BEGINS, STEPS_BACKWARD_BEGINS },
	{ "backward-ends", STEPS_BACKWARD_ENDS, STEPS_BACKWARD_ENDS },
	{ "make", STEPS_OPTIMIZER_MADE, STEPS_OPTIMIZER_MADE },
	{ "step", STEPS_OPTIMIZER_BEGINS, STEPS_OPTIMIZER_ENDS },
	{ "step-begins", STEPS_OPTIMIZER_BEGINS, STEPS_OPTIMIZER_BEGINS },
	{ "step-ends", STEPS_OPTIMIZER_ENDS, STEPS_OPTIMIZER_ENDS },
	{ "step-fails", STEPS_OPTIMIZER_BEGINS, STEPS_OPTIMIZER_FAILS },
	{ "scaler-begins", STEPS_SCALER_BEGINS, STEPS_SCALER_BEGINS },
	{ "scaler-ends", STEPS_SCALER_ENDS, STEPS_SCALER_ENDS },
	{ "share", STEPS_MODEL_SHARED, STEPS_MODEL_SHARED },
	{ "checkpoint", STEPS_CHECKPOINT, STEPS_CHECKPOINT },
	{ "function-begins", STEPS_FUNCTION_BEGINS, STEPS_FUNCTION_BEGINS },
	{ "function-ends", STEPS_FUNCTION_ENDS, STEPS_FUNCTION_ENDS },
	{ "module-begins", STEPS_MODULE_BEGINS, STEPS_MODULE_BEGINS },
	{ "module-ends", STEPS_MODULE_ENDS, STEPS_MODULE_ENDS },
	{ "program-step", STEPS_PROGRAM_BEGINS, STEPS_PROGRAM_BEGINS },
	{ "program-step-ends", STEPS_PROGRAM_ENDS, STEPS_PROGRAM_ENDS },
	{ "program-leaves", STEPS_PROGRAM_LEAVES, STEPS_PROGRAM_LEAVES },
	{ "iterates", STEPS_LOOP_ITERATES, STEPS_LOOP_ITERATES },
	{ "left", STEPS_LOOP_LEFT, STEPS_LOOP_LEFT },
	{ "widens", STEPS_LOOP_WIDENS, STEPS_LOOP_WIDENS },
	{ "thread-ends", STEPS_THREAD_ENDS, STEPS_THREAD_ENDS },
	{ "exit", STEPS_EXIT, STEPS_EXIT },
};

/* A line: a word, which is copied, and its qualities; a letter is an optimizer. */
static inline struct steps_input script_read(const char *line, char word[32])
{
	static const char optimizers[128];
	struct steps_input input = { .grad = true, .training = true, .has_parameters = true };
	char text[128], *rest = text, *quality;

	snprintf(text, sizeof text, "%s", line);
	snprintf(word, 32, "%s", strsep(&rest, " "));
	while ((quality = strsep(&rest, " ")) != NULL) {
		input.grad &= strcmp(quality, "no_grad") != 0;
		input.training &= strcmp(quality, "eval") != 0;
		input.has_parameters &= strcmp(quality, "bare") != 0;
		input.named |= strcmp(quality, "named") == 0;
		input.loop |= strcmp(quality, "loop") == 0;
		input.transformed |= strcmp(quality, "transformed") == 0;
		if (quality[0] && !quality[1])
			input.optimizer = &optimizers[(unsigned char)*quality & 127];
	}
	input.accumulates = strcmp(word, "grad") != 0;
	return input;
}
