/*
 * What convolutions and pools cost.
 *
 * The positions of a window are computed as PyTorch does if strides are given; otherwise they come from the output's
 * shape.
 */
#include "model/time/flops_args.h"

struct window {
	int64_t size, stride, padding, dilation;
	bool ceil; /* a window that begins inside may end outside */
};

static uint64_t flops_places(int64_t in, const struct window *window)
{
	const int64_t most = 1 << 30;
	int64_t reach, room;

	if (in < 0 || in > most || window->size < 1 || window->size > most || window->stride < 1 ||
	    window->stride > most || window->padding < 0 || window->padding > most ||
	    window->dilation < 1 || window->dilation > most)
		return UNKNOWN;
	reach = window->dilation * (window->size - 1) + 1;
	room = in + 2 * window->padding - reach;
	if (room < 0)
		return UNKNOWN;
	int64_t out = (room + (window->ceil ? window->stride - 1 : 0)) / window->stride + 1;
	/* PyTorch omits a window that would begin in the padding after the input. */
	if (window->ceil && (out - 1) * window->stride >= in + window->padding)
		out--;
	return (uint64_t)out;
}

/* 2 x batch x places x weight. Places are those of `tensor` [batch, channels, ...]; with one
 * dimension less there is no batch. */
static uint64_t flops_conv_over(const struct arg *tensor, const struct arg *weight, unsigned places_dims)
{
	if (!flops_is_tensor(tensor) || !flops_is_tensor(weight) || tensor->dims < places_dims + 1u ||
	    tensor->dims > places_dims + 2u)
		return UNKNOWN;
	return flops_times(flops_times(2, flops_elements(weight)),
	                   flops_times(tensor->dims == places_dims + 2u ? flops_dim(tensor, 0) : 1,
	                               flops_span(tensor, tensor->dims - places_dims, tensor->dims)));
}

/* PyTorch's: (input, weight, bias, stride, padding, dilation, ...). */
static uint64_t flops_conv_by_ints(const struct args *args, const struct arg *input, const struct arg *weight)
{
	unsigned count = weight->dims - 2u;
	uint64_t out = 1;

	if (input->dims < count + 1 || input->dims > count + 2)
		return UNKNOWN;
	for (unsigned i = 3; i < 6; i++)
		if (!flops_has_ints(flops_arg(args, i), count))
			return UNKNOWN;
	for (unsigned i = 0; i < count; i++) {
		struct window window = { flops_size(weight, i + 2), flops_int(flops_arg(args, 3), i),
			                     flops_int(flops_arg(args, 4), i), flops_int(flops_arg(args, 5), i), false };

		out = flops_times(out, flops_places(flops_size(input, input->dims - count + i), &window));
	}
	return flops_times(flops_times(2, flops_elements(weight)),
	                   flops_times(input->dims == count + 2 ? flops_dim(input, 0) : 1, out));
}

/* Whether the input's channels are those of the weight [out, in / groups, ...], or transposed [in, out / groups, ...]. */
static bool flops_conv_fits(const struct arg *input, const struct arg *weight, const struct arg *groups, bool transposed)
{
	unsigned count = weight->dims - 2u;
	uint64_t channels = weight->dims > 2 && input->dims > count ? flops_dim(input, input->dims - count - 1) : UNKNOWN;

	if (channels == UNKNOWN || !flops_is_flag(groups) || flops_int(groups, 0) < 1)
		return false;
	return channels == (transposed ? flops_dim(weight, 0) : flops_times(flops_dim(weight, 1), (uint64_t)flops_int(groups, 0)));
}

/* PyTorch's, whose flag for transposed is the argument `from`, if there is one; groups are two arguments behind it, or behind
 * the dilation. */
static uint64_t flops_conv_of_torch(const struct args *args, unsigned from)
{
	const struct arg *input = flops_arg(args, 0), *weight = flops_arg(args, 1), *flag = flops_arg(args, from);
	bool transposed = from && flops_is_flag(flag) && flops_int(flag, 0);

	if ((from && !flops_is_flag(flag)) || !flops_conv_fits(input, weight, flops_arg(args, from ? from + 2 : 6), transposed))
		return UNKNOWN;
	return transposed ? flops_conv_over(input, weight, weight->dims - 2u) : flops_conv_by_ints(args, input, weight);
}

/* `from`: the argument with PyTorch's flag for transposed; 0: it has none. */
uint64_t dw_flops_conv(const struct args *args, const struct rule *rule)
{
	const struct arg *input = flops_arg(args, 0), *weight = flops_arg(args, 1);

	if (!flops_is_tensor(input) || !flops_is_tensor(weight))
		return UNKNOWN;
	if (args->aten)
		return flops_conv_of_torch(args, rule->from);
	for (unsigned i = args->count; i-- > 2;) /* the output is the last tensor */
		if (flops_is_tensor(flops_arg(args, i)) && flops_arg(args, i)->dims == input->dims && input->dims > 2)
			return flops_conv_over(flops_arg(args, i), weight, input->dims - 2u);
	return UNKNOWN;
}

uint64_t dw_flops_conv_transpose(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 1);

	return weight->dims < 3 ? UNKNOWN : flops_conv_over(flops_arg(args, 0), weight, weight->dims - 2u);
}

/* PyTorch's: (gradient, input, weight, bias sizes, stride, padding, dilation, transposed,
 * output padding, groups, which gradients are wanted). */
uint64_t dw_flops_conv_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 2), *wanted = flops_arg(args, 10);
	uint64_t one;

	if (!flops_is_tensor(weight) || weight->dims < 3 || !flops_is_flag(flops_arg(args, 7)) ||
	    !flops_is_ints(wanted) || wanted->dims != 3)
		return UNKNOWN;
	one = flops_conv_over(flops_arg(args, flops_int(flops_arg(args, 7), 0) ? 1 : 0), weight, weight->dims - 2u);
	return flops_times(one, (uint64_t)(flops_size(wanted, 0) != 0) + (uint64_t)(flops_size(wanted, 1) != 0));
}

/* (weight, gradient of the output) */
uint64_t dw_flops_conv_backward_data(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 1);

	return gradient->dims < 3 ? UNKNOWN : flops_conv_over(gradient, flops_arg(args, 0), gradient->dims - 2u);
}

/* (input, gradient of the output, ..., gradient of the weight) */
uint64_t dw_flops_conv_backward_weights(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 1);

	for (unsigned i = args->count; i-- > 2;) /* grouped weights have one dimension more */
		if (flops_is_tensor(flops_arg(args, i)) && gradient->dims > 2 && flops_arg(args, i)->dims >= gradient->dims)
			return flops_conv_over(gradient, flops_arg(args, i), gradient->dims - 2u);
	return UNKNOWN;
}

/* Number of elements in a window whose sizes are given as integers. */
static uint64_t flops_window_area(const struct arg *kernel, unsigned dims)
{
	uint64_t area = 1;

	if (!flops_has_ints(kernel, dims))
		return UNKNOWN;
	for (unsigned i = 0; i < dims; i++)
		area = flops_times(area, flops_int(kernel, i) < 1 ? UNKNOWN : (uint64_t)flops_int(kernel, i));
	return area;
}

/* PyTorch's: (input, kernel, stride, padding, dilation, ceil mode); an average has no dilation.
 * `each`: number of window dimensions; `from`: the argument with the ceil mode. */
uint64_t dw_flops_pool(const struct args *args, const struct rule *rule)
{
	const struct arg *input = flops_arg(args, 0), *kernel = flops_arg(args, 1);
	const struct arg *stride = flops_arg(args, 2), *ceil = flops_arg(args, rule->from);
	unsigned dims = rule->each;
	uint64_t out;

	if (!flops_is_tensor(input) || input->dims < dims || !flops_has_ints(kernel, dims) ||
	    !flops_has_ints(flops_arg(args, 3), dims) || !flops_is_flag(ceil) ||
	    (rule->from == 5 && !flops_has_ints(flops_arg(args, 4), dims)))
		return UNKNOWN;
	/* Without strides a window begins where the last one ended. */
	if (stride->type == DWELL_DTYPE_NONE || (flops_is_ints(stride) && !stride->dims))
		stride = kernel;
	if (!flops_has_ints(stride, dims))
		return UNKNOWN;
	out = flops_span(input, 0, input->dims - dims);
	for (unsigned i = 0; i < dims; i++) {
		struct window window = { flops_int(kernel, i), flops_int(stride, i), flops_int(flops_arg(args, 3), i), 1,
			                     flops_int(ceil, 0) != 0 };

		if (rule->from == 5)
			window.dilation = flops_int(flops_arg(args, 4), i);
		out = flops_times(out, flops_places(flops_size(input, input->dims - dims + i), &window));
	}
	return flops_times(out, flops_window_area(kernel, dims));
}

/* Plain: (input, output, ...) and the window as a later argument; a global average has no
 * window. */
uint64_t dw_flops_plain_pool(const struct args *args, const struct rule *rule)
{
	const struct arg *input = flops_arg(args, 0), *output = flops_arg(args, 1);

	if (!flops_is_tensor(input) || !flops_is_tensor(output) || output->dims != input->dims || input->dims < 3)
		return UNKNOWN;
	for (unsigned i = 2; i < args->count; i++)
		if (flops_is_ints(flops_arg(args, i)))
			return flops_times(flops_elements(output), flops_window_area(flops_arg(args, i), input->dims - 2u));
	return flops_span(output, 2, output->dims) == 1 ? flops_elements(input) : UNKNOWN;
}

/* PyTorch's: (gradient, input, kernel, ...); plain, for a global average: (gradient, gradient of
 * the input). */
uint64_t dw_flops_avg_pool_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 0), *input = flops_arg(args, 1);

	if (flops_is_ints(flops_arg(args, 2)))
		return flops_times(flops_elements(gradient), flops_window_area(flops_arg(args, 2), rule->each));
	if (args->aten || !flops_is_tensor(gradient) || gradient->dims < 3 || flops_span(gradient, 2, gradient->dims) != 1)
		return UNKNOWN;
	return flops_elements(input);
}
