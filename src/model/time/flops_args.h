/*
 * The arguments of an operator's call, and arithmetic on their sizes, for the formulas of FLOPs.
 *
 * Shapes come from a file and are not trusted: a size that is negative or missing, and a product that overflows, are
 * UNKNOWN, which makes the result UNKNOWN.
 */
#pragma once

#include <string.h>

#include "model/time/flops.h"

#define MOST_ARGS 16u
#define UNKNOWN UINT64_MAX /* result of a formula if the arguments are not enough */

struct arg {
	uint8_t type, dims;
	const uint8_t *sizes;
};

struct args {
	struct arg at[MOST_ARGS];
	unsigned count;
	bool aten; /* a PyTorch operator: the arguments are in the order of its signature */
};

struct rule {
	const char *name;
	uint64_t (*formula)(const struct args *args, const struct rule *rule);
	unsigned each; /* a number for the formula, mostly operations for each element */
	unsigned from; /* index of the first argument that the formula uses */
};

/* ---- arguments ----------------------------------------------------------------------------- */

static inline const struct arg *flops_arg(const struct args *args, unsigned index)
{
	static const struct arg none = { DWELL_DTYPE_NONE, 0, NULL };

	return index < args->count ? &args->at[index] : &none;
}

static inline bool flops_is_ints(const struct arg *arg)
{
	return arg->type == DWELL_ARG_INTS;
}

static inline bool flops_is_tensor(const struct arg *arg)
{
	return arg->type < DWELL_ARG_WORK;
}

static inline int64_t flops_size(const struct arg *arg, unsigned index)
{
	int64_t size;

	memcpy(&size, arg->sizes + (size_t)index * 8, sizeof size);
	return size;
}

/* The integer for dimension `index`; a single integer applies to all dimensions. */
static inline int64_t flops_int(const struct arg *arg, unsigned index)
{
	return flops_size(arg, index < arg->dims ? index : arg->dims - 1u);
}

/* Whether there is an integer for each of `dims` dimensions: one for all of them, or as many. */
static inline bool flops_has_ints(const struct arg *arg, unsigned dims)
{
	return flops_is_ints(arg) && (arg->dims == 1 || (arg->dims && arg->dims == dims));
}

/* Whether it is a truth value, or an integer for one. */
static inline bool flops_is_flag(const struct arg *arg)
{
	return flops_has_ints(arg, 1);
}

/* ---- arithmetic that checks for overflow --------------------------------------------------- */

static inline uint64_t flops_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	if (a == UNKNOWN || b == UNKNOWN || __builtin_mul_overflow(a, b, &product))
		return UNKNOWN;
	return product;
}

static inline uint64_t flops_plus(uint64_t a, uint64_t b)
{
	return a == UNKNOWN || b == UNKNOWN || a > UNKNOWN - b ? UNKNOWN : a + b;
}

static inline uint64_t flops_dim(const struct arg *arg, unsigned index)
{
	int64_t size = index < arg->dims ? flops_size(arg, index) : -1;

	return size < 0 ? UNKNOWN : (uint64_t)size;
}

/* Number of elements of the dimensions from `first` to before `end`. */
static inline uint64_t flops_span(const struct arg *arg, unsigned first, unsigned end)
{
	uint64_t elements = 1;

	if (!flops_is_tensor(arg))
		return UNKNOWN;
	for (unsigned i = first; i < end; i++)
		elements = flops_times(elements, flops_dim(arg, i));
	return elements;
}

static inline uint64_t flops_elements(const struct arg *arg)
{
	return flops_span(arg, 0, arg->dims);
}

/* The size of a dimension if two sizes broadcast to each other. */
static inline uint64_t flops_broad(uint64_t a, uint64_t b)
{
	return a == b || b == 1 ? a : a == 1 ? b : UNKNOWN;
}

/* Number of elements of two shapes that broadcast, without their last `skip` dimensions. */
static inline uint64_t flops_broadcast(const struct arg *a, const struct arg *b, unsigned skip)
{
	unsigned dims = a->dims > b->dims ? a->dims : b->dims;
	uint64_t elements = 1;

	for (unsigned i = skip + 1; i <= dims; i++)
		elements = flops_times(elements, flops_broad(i <= a->dims ? flops_dim(a, a->dims - i) : 1,
		                                             i <= b->dims ? flops_dim(b, b->dims - i) : 1));
	return elements;
}

/* ---- formulas of flops_windows.c -------------------------------------------------------------- */

uint64_t dw_flops_conv(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_transpose(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward_data(const struct args *args, const struct rule *rule);
uint64_t dw_flops_conv_backward_weights(const struct args *args, const struct rule *rule);
uint64_t dw_flops_pool(const struct args *args, const struct rule *rule);
uint64_t dw_flops_plain_pool(const struct args *args, const struct rule *rule);
uint64_t dw_flops_avg_pool_backward(const struct args *args, const struct rule *rule);
