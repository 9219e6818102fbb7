/*
 * FLOPs: the arithmetic cost of an operator's call, from its name and shapes, and the sums of a
 * run.
 *
 * An operator is identified by PyTorch's name ("aten::conv2d", "add_") or by a plain one
 * ("convolution_backward_data"); "aten::" and a trailing "_" are ignored. Its arguments are an
 * array of struct dwell_tensor: tensors in the order of PyTorch's signature, or for plain names
 * first its inputs and then its outputs. If shapes are not enough (strides, whether a convolution
 * is transposed), integers are passed as an argument of type DWELL_ARG_INTS, whose `sizes` are the
 * integers. An argument of type DWELL_DTYPE_NO_MEMORY makes the call one that is not counted. An argument that is
 * neither is passed as DWELL_DTYPE_NONE.
 *
 * A program may give the FLOPs and bytes of a call (DWELL_OP_WORK). They count before any formula.
 *
 * A multiplication and an addition are two operations. A comparison, exp and sqrt are one each.
 * Biases of products are not counted. [f]: as torch.utils.flop_counter. [p]: as torch.profiler's
 * with_flops (if both know an operator, they agree). [d]: dwell's own, the operations of the
 * textbook formula for each element.
 *
 *   convN, convolution               [f p] 2 x batch x output places x elements of the weight
 *   conv_transposeN, deconvolution   [f] 2 x batch x input places x elements of the weight
 *   convolution_backward             [f] the same for each of the gradients of input and weight
 *   convolution_backward_data, _weights  [f] the same, for one of them
 *   mm addmm bmm baddbmm matmul mv dot   [f p] 2 x batch x rows x inner x columns
 *   linear, linear_backward_data, _weights   [f] the same
 *   scaled_dot_product_attention and those it calls   [f] QK' and PV: 2 BHLS (E + Ev)
 *   ..._backward                     [f] recomputes QK': 2 BHLS (3 E + 2 Ev)
 *   add sub mul div ..., one or two operands   [p for mul, add] 1 for each element of the result
 *   sum, mean, relu, sqrt, exp, ...  [d] 1 for each element of the first argument
 *   softmax, log_softmax             [d] 5: maximum, subtract, exp, sum, divide; backward 4
 *   cross_entropy                    [d] 5, its backward 2
 *   batch_norm                       [d] 8: mean 1, variance 3, 2 to normalise, 2 to scale and
 *                                    shift; 2 with fixed statistics; backward 9
 *   layer_norm, group_norm           [d] 8; backward 13
 *   rms_norm                         [d] 4
 *   scatter_add, index_add, embedding_dense_backward   [d] 1 for each element that is added
 *   max_poolN, avg_poolN             [d] results x places of the window; max backward 1 a result
 *   adaptive_avg_poolN               [d] 1 for each element of the input
 *   views, copies, gathers, reorder  0: no arithmetic
 *
 * Known differences: torch.profiler counts mul and add by the size of the first operand; here it is
 * the size of the result, which a broadcast makes larger. Windows of adaptive pools may overlap.
 */
#pragma once

#include "model/core/model.h"

enum dw_flops_why {
	DW_FLOPS_COUNTED,
	DW_FLOPS_NO_FORMULA, /* no formula for this name */
	DW_FLOPS_NO_SHAPES,  /* the formula needs shapes, but none were recorded */
	DW_FLOPS_NOT_ENOUGH, /* the arguments are not enough, or do not fit together */
	DW_FLOPS_NO_MEMORY,  /* a tensor has no elements of its own: nothing is computed, or other operators do it */
};

/* FLOPs of one call; `why` must not be NULL. 0 unless *why is DW_FLOPS_COUNTED. */
uint64_t dw_flops(const char *name, const struct dw_entry_shapes *shapes, enum dw_flops_why *why);

/* Sums saturate, and a cell of a table shows no more than INT64_MAX. */
static inline uint64_t dw_flops_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
static inline int64_t dw_flops_shown(uint64_t flops)
{
	return flops > INT64_MAX ? INT64_MAX : (int64_t)flops;
}

/* What the program gave for a call; -1: not given. */
struct dw_flops_work {
	int64_t flops, bytes;
};
struct dw_flops_work dw_flops_given(const struct dw_entry_shapes *shapes);

/*
 * The least bytes that one call reads and writes: the tensors among its arguments, and its result. -1: not known. `type` is that of
 * its elements, of the first argument that the formula uses (enum dwell_dtype). What a reduction writes is not counted.
 */
int64_t dw_flops_bytes(const char *name, const struct dw_entry_shapes *shapes, uint8_t *type);

/* Whether the operator computes a product of matrices, a convolution or attention: what a machine
 * can compute near its peak, as other operators cannot, which wait for memory. */
bool dw_flops_is_product(const char *name);

/*
 * A call counts if its FLOPs are known (they may be 0) and no operator around it counts:
 * aten::conv2d counts, and the aten::convolution that it calls does not count again. Calls with
 * unknown FLOPs are reported with their self time. So counted_ns + missed_ns is the time of all
 * operators.
 */
struct dw_flops_row {
	uint32_t symbol;                  /* the first symbol with its name */
	uint64_t flops;                   /* saturates */
	uint64_t bytes, bytes_ns;         /* as the program gave them, and the time of these calls; saturate */
	uint64_t calls, ns;               /* of calls that count, including what they call */
	uint64_t missed_calls, missed_ns; /* of calls that do not count and are not in one that does */
	enum dw_flops_why why;            /* why those do not count */
};

struct dw_flops_sum {
	struct dw_flops_row *rows; /* by FLOPs, descending; only operators with calls */
	size_t count;
	uint64_t flops, counted_ns, missed_ns, bytes, bytes_ns;
};

/* Whether the facts of the run include FLOPs: it was recorded with --flops, which measures the peak
 * of the machine, and has shapes. */
bool dw_flops_are_facts(const struct dw_model *model);
/* NULL with `error` if memory ran out. */
const struct dw_flops_sum *dw_model_flops(struct dw_model *model, struct dwell_error *error);
