/*
 * Arguments of operators that are no tensors: how they are stored, and of which operators they are recorded.
 *
 * The FLOPs of most operators follow from the sizes of their tensors. Those listed here need integers too. Integers
 * of other operators are not recorded: a position or a seed is a new one at each call, and each would be a new name.
 *
 * The recorder, the readers of other tools' files and the probe for PyTorch include this header.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "dwell/probe.h"
#include "format/layout.h"

/* Operators of PyTorch, without "aten::", whose integers the formulas of model/time/flops.h use. */
#define DW_OPERATORS_WITH_INTEGERS(X) \
	X("conv1d") \
	X("conv2d") X("conv3d") X("convolution") X("_convolution") X("convolution_backward") X("batch_norm") \
		X("native_batch_norm") X("cudnn_batch_norm") X("_batch_norm_impl_index") X("max_pool1d") X("max_pool2d") \
			X("max_pool3d") X("max_pool2d_with_indices") X("max_pool3d_with_indices") X("avg_pool1d") X("avg_pool2d") \
				X("avg_pool3d") X("avg_pool2d_backward") X("avg_pool3d_backward")

/* Not used in the two files for engines. */
static inline __attribute__((unused)) bool dw_operator_has_integers(const char *name, size_t length)
{
	static const char *const names[] = {
#define X(name) name,
		DW_OPERATORS_WITH_INTEGERS(X)
#undef X
	};

	if (length < 7 || memcmp(name, "aten::", 6) != 0)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(names[i], name + 6, length - 6) == 0 && !names[i][length - 6])
			return true;
	return false;
}

/* Stores the type and the number of sizes: the first 8 bytes of an argument in a SHAPES entry. All integers have the
 * type DWELL_ARG_INTS, which readers have always known; dw_shapes_type() reads it. */
static inline void dw_argument_put(char at[8], const struct dwell_tensor *argument)
{
	uint8_t type = argument->dtype;
	uint8_t flags = (uint8_t)((type == DWELL_ARG_INT || type == DWELL_ARG_BOOL ? DW_ARGUMENT_SINGLE : 0) |
	                          (type == DWELL_ARG_BOOL || type == DWELL_ARG_BOOLS ? DW_ARGUMENT_TRUTH : 0));

	memset(at, 0, 8);
	at[0] = (char)(flags ? DWELL_ARG_INTS : type);
	at[1] = (char)argument->dimensions;
	at[2] = (char)flags;
}
