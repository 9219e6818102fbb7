/*
 * FLOPs from inside: an operator's arguments, and arithmetic that does not trust them.
 *
 * Shared by flops.c (names, products, what is done by element) and flops_window.c
 * (convolutions and pools). Shapes come from a file: a size that is negative or
 * missing and a product that overflows are UNKNOWN, which spreads to the result.
 */
#ifndef DW_MODEL_TIME_FLOPS_FORMULAS_H
#define DW_MODEL_TIME_FLOPS_FORMULAS_H

#include <string.h>

#include "model/time/flops.h"

#define MOST_ARGS 16u
#define UNKNOWN UINT64_MAX /* what a formula gives when the arguments do not say */

struct arg {
	uint8_t type;
	uint8_t dims;
	const uint8_t *sizes;
};

struct args {
	struct arg at[MOST_ARGS];
	unsigned count;
	bool aten; /* PyTorch's own: the order is that of its signature */
};

struct rule {
	const char *name;
	uint64_t (*formula)(const struct args *args, const struct rule *rule);
	unsigned each; /* a number for the formula: most often operations an element */
	unsigned from; /* the argument that it begins with */
};

/* ---- arguments ----------------------------------------------------------------------------- */

static inline const struct arg *arg_at(const struct args *args, unsigned index)
{
	static const struct arg none = { DWELL_DTYPE_NONE, 0, NULL };

	return index < args->count ? &args->at[index] : &none;
}

static inline bool is_ints(const struct arg *arg)
{
	return arg->type == DWELL_ARG_INTS;
}

static inline bool is_tensor(const struct arg *arg)
{
	return arg->type < DWELL_ARG_INTS;
}

static inline int64_t size_at(const struct arg *arg, unsigned index)
{
	int64_t size;

	memcpy(&size, arg->sizes + (size_t)index * 8, sizeof size);
	return size;
}

/* The integer for a place; one integer stands for all places. */
static inline int64_t int_at(const struct arg *arg, unsigned index)
{
	return size_at(arg, index < arg->dims ? index : arg->dims - 1u);
}

/* ---- arithmetic that does not trust its numbers -------------------------------------------- */

static inline uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	if (a == UNKNOWN || b == UNKNOWN || __builtin_mul_overflow(a, b, &product))
		return UNKNOWN;
	return product;
}

static inline uint64_t plus(uint64_t a, uint64_t b)
{
	return a == UNKNOWN || b == UNKNOWN || a > UNKNOWN - b ? UNKNOWN : a + b;
}

static inline uint64_t size_of(const struct arg *arg, unsigned index)
{
	int64_t size = index < arg->dims ? size_at(arg, index) : -1;

	return size < 0 ? UNKNOWN : (uint64_t)size;
}

/* Elements of the dimensions from `first` to before `end`. */
static inline uint64_t span(const struct arg *arg, unsigned first, unsigned end)
{
	uint64_t elements = 1;

	if (!is_tensor(arg))
		return UNKNOWN;
	for (unsigned i = first; i < end; i++)
		elements = times(elements, size_of(arg, i));
	return elements;
}

static inline uint64_t elements_of(const struct arg *arg)
{
	return span(arg, 0, arg->dims);
}

/* ---- formulas of flops_window.c ------------------------------------------------------------ */

uint64_t dw_flops_conv(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_transpose(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward_data(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward_weights(const struct args *args, const struct rule *rule);
uint64_t dw_flops_pool(const struct args *args, const struct rule *rule);
uint64_t dw_flops_plain_pool(const struct args *args, const struct rule *rule);
uint64_t dw_flops_avg_pool_backward(const struct args *args, const struct rule *rule);

#endif
