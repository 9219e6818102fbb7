/*
 * Loops as PyTorch's probe records them: phases with their lengths, one after the other, and steps around them. For
 * tests of what the reader finds in them; each includes this once.
 */
#pragma once

#include "made.h"

static struct made made;
static uint64_t now_us;
static uint64_t step_number, step_began;
static uint32_t data, loader, forward, backward, optimizer, update, clear, evaluation, inference, save;

static inline void begin_trace(void)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	now_us = 1000;
	step_number = 0;
	data = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__next__");
	loader = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__iter__");
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	optimizer = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");
	update = made_op(&made, DWELL_CATEGORY_ZONE, "Optimizer.step#Adam.step");
	clear = made_op(&made, DWELL_CATEGORY_ZONE, "Optimizer.zero_grad#Adam.zero_grad");
	evaluation = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation");
	inference = made_op(&made, DWELL_CATEGORY_EVALUATION, "inference");
	save = made_op(&made, DWELL_CATEGORY_CHECKPOINT, "torch.save");
}

static inline void begin(uint32_t op)
{
	dw_encode_begin(&made.stream, now_us * 1000, op);
}

static inline void end(void)
{
	dw_encode_end(&made.stream, now_us * 1000);
}

static inline void pass(uint64_t us)
{
	now_us += us;
}

static inline void range(uint32_t op, uint64_t us)
{
	begin(op);
	pass(us);
	end();
}

static inline void step_begins(void)
{
	step_began = now_us;
}

static inline void step_ends(void)
{
	dw_encode_step(&made.process, made.thread, step_number++, step_began * 1000, now_us * 1000, 1000, DW_STEP_RECORDED);
}

/* zero_grad() of 10 us, and step() of 100 us. */
static inline void clear_gradients(void)
{
	begin(optimizer);
	range(clear, 10);
	end();
}

static inline void update_parameters(void)
{
	begin(optimizer);
	range(update, 100);
	end();
}

/* 1,110 us: 400 forward, 600 backward, 110 optimizer. */
static inline void learn(void)
{
	clear_gradients();
	range(forward, 400);
	range(backward, 600);
	update_parameters();
}

static inline void learn_step(void)
{
	step_begins();
	learn();
	step_ends();
}
