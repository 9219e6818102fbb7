/*
 * FLOPs: what an operator's call costs in arithmetic, from its name and shapes, and
 * the sums of a run.
 *
 * An operator is known by PyTorch's name ("aten::conv2d", "add_") or by a plain one
 * ("convolution_backward_data"); "aten::" and a trailing "_" do not matter. Its
 * arguments are an array of struct dwell_tensor: tensors in the order of PyTorch's
 * signature, or, for plain names, what it reads and then what it writes. Where
 * shapes say too little (strides, whether a convolution is transposed) integers are
 * given as an argument of type DWELL_ARG_INTS, whose `sizes` are the integers; an
 * argument that is neither keeps its place as DWELL_DTYPE_NONE.
 *
 * A multiplication and an addition are two; comparing, exp, sqrt count as one; biases
 * of products are not counted. [f] torch.utils.flop_counter, [p] torch.profiler's
 * with_flops (where both know an operator they agree), [d] dwell's own: operations of
 * the textbook formula for each element.
 *
 *   convN, convolution               [f p] 2 x batch x output places x elements of the weight
 *   conv_transposeN, deconvolution   [f] 2 x batch x input places x elements of the weight
 *   convolution_backward             [f] the same for each of the gradients of input and weight
 *   convolution_backward_data, _weights  [f] the same, one of them
 *   mm addmm bmm baddbmm matmul mv dot   [f p] 2 x batch x rows x inner x columns
 *   linear, linear_backward_data, _weights   [f] the same
 *   scaled_dot_product_attention and those it calls   [f] QK' and PV: 2 BHLS (E + Ev)
 *   ..._backward                     [f] recomputes QK': 2 BHLS (3 E + 2 Ev)
 *   add sub mul div ..., one or two operands   [p for mul, add] 1 an element of the result
 *   sum, mean, relu, sqrt, exp, ...  [d] 1 an element of the first argument
 *   softmax, log_softmax             [d] 5: largest, minus, exp, sum, over; backward 4
 *   cross_entropy                    [d] 5, its backward 2
 *   batch_norm                       [d] 8: mean 1, variance 3, 2 to normalise, 2 to scale and
 *                                    shift; 2 with fixed statistics; backward 9
 *   layer_norm, group_norm           [d] 8; backward 13
 *   rms_norm                         [d] 4
 *   max_poolN, avg_poolN             [d] results x places of the window; max backward 1 a result
 *   adaptive_avg_poolN               [d] 1 an element of the input
 *   views, copies, gathers, reorder  0: no arithmetic
 *
 * Known differences: torch.profiler counts mul and add by the first operand, here it
 * is the result, which a broadcast makes larger. Adaptive windows may overlap.
 */
#ifndef DW_MODEL_TIME_FLOPS_H
#define DW_MODEL_TIME_FLOPS_H

#include "model/core/model.h"

enum dw_flops_why {
	DW_FLOPS_COUNTED,
	DW_FLOPS_NO_FORMULA, /* nothing is known of an operator of this name */
	DW_FLOPS_NO_SHAPES,  /* the formula needs shapes and none were recorded */
	DW_FLOPS_NOT_ENOUGH, /* the arguments do not say it all, or do not fit together */
};

/* FLOPs of one call; `why` is never NULL. 0 when it is not DW_FLOPS_COUNTED. */
uint64_t dw_flops(const char *name, const struct dw_entry_shapes *shapes, enum dw_flops_why *why);

/*
 * A call counts when no operator around it does: aten::conv2d counts, the
 * aten::convolution that it calls does not count again. What was not counted is told
 * by its self time. So counted_ns + missed_ns is the time of all operators.
 */
struct dw_flops_row {
	uint32_t symbol;                  /* the first of its name */
	uint64_t flops;                   /* saturates */
	uint64_t calls, ns;               /* of calls that count: with all they call */
	uint64_t missed_calls, missed_ns; /* of calls that do not count, nor lie in one that does */
	enum dw_flops_why why;            /* of the missed ones */
};

struct dw_flops_sum {
	struct dw_flops_row *rows; /* by FLOPs, descending; only operators that have either */
	size_t count;
	uint64_t flops, counted_ns, missed_ns;
};

/* NULL with `error` when out of memory. */
const struct dw_flops_sum *dw_model_flops(struct dw_model *model, struct dwell_error *error);

#endif
