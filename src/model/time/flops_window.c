/*
 * FLOPs of what slides a window over places: convolutions and pools.
 *
 * Called by flops.c through its table of names. How often a window fits is PyTorch's
 * arithmetic where strides are given, else the output's shape says it.
 */
#include "model/time/flops_formulas.h"

struct window {
	int64_t size, stride, padding, dilation;
	bool ceil; /* a window may begin inside and end outside */
};

static uint64_t places(int64_t in, const struct window *window)
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
	/* PyTorch leaves out one that would begin in the padding behind. */
	if (window->ceil && (out - 1) * window->stride >= in + window->padding)
		out--;
	return (uint64_t)out;
}

static bool has_ints(const struct args *args, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++)
		if (!is_ints(arg_at(args, i)) || !arg_at(args, i)->dims)
			return false;
	return true;
}

/* 2 x batch x places x weight, the places being those of `tensor` [batch, channels, ...];
 * one dimension less: no batch. */
static uint64_t conv_over(const struct arg *tensor, const struct arg *weight, unsigned places_dims)
{
	if (!is_tensor(tensor) || !is_tensor(weight) || tensor->dims < places_dims + 1u ||
	    tensor->dims > places_dims + 2u)
		return UNKNOWN;
	return times(times(2, elements_of(weight)),
	             times(tensor->dims == places_dims + 2u ? size_of(tensor, 0) : 1,
	                   span(tensor, tensor->dims - places_dims, tensor->dims)));
}

/* PyTorch's: (input, weight, bias, stride, padding, dilation, ...). */
static uint64_t conv_by_ints(const struct args *args, const struct arg *input,
                             const struct arg *weight)
{
	unsigned count = weight->dims - 2u;
	uint64_t out = 1;

	if (weight->dims < 3 || input->dims < count + 1 || input->dims > count + 2)
		return UNKNOWN;
	for (unsigned i = 0; i < count; i++) {
		struct window window = { size_at(weight, i + 2), int_at(arg_at(args, 3), i),
			                     int_at(arg_at(args, 4), i), int_at(arg_at(args, 5), i), false };

		out = times(out, places(size_at(input, input->dims - count + i), &window));
	}
	return times(times(2, elements_of(weight)),
	             times(input->dims == count + 2 ? size_of(input, 0) : 1, out));
}

/* `from`: where PyTorch says whether it is transposed; 0: it is not. */
uint64_t dw_flops_conv(const struct args *args, const struct rule *rule)
{
	const struct arg *input = arg_at(args, 0), *weight = arg_at(args, 1);

	if (!is_tensor(input) || !is_tensor(weight))
		return UNKNOWN;
	if (has_ints(args, 3, 3)) {
		if (rule->from && !has_ints(args, rule->from, 1))
			return UNKNOWN;
		if (rule->from && int_at(arg_at(args, rule->from), 0))
			return weight->dims < 3 ? UNKNOWN : conv_over(input, weight, weight->dims - 2u);
		return conv_by_ints(args, input, weight);
	}
	for (unsigned i = args->count; !args->aten && i-- > 2;) /* what it writes stands last */
		if (is_tensor(arg_at(args, i)) && arg_at(args, i)->dims == input->dims && input->dims > 2)
			return conv_over(arg_at(args, i), weight, input->dims - 2u);
	return UNKNOWN;
}

uint64_t dw_flops_conv_transpose(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = arg_at(args, 1);

	return weight->dims < 3 ? UNKNOWN : conv_over(arg_at(args, 0), weight, weight->dims - 2u);
}

/* PyTorch's: (gradient, input, weight, bias sizes, stride, padding, dilation, transposed,
 * output padding, groups, which gradients are wanted). */
uint64_t dw_flops_conv_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = arg_at(args, 2), *wanted = arg_at(args, 10);
	uint64_t one;

	if (!is_tensor(weight) || weight->dims < 3 || !has_ints(args, 7, 1) || !is_ints(wanted) ||
	    wanted->dims < 2)
		return UNKNOWN;
	one = conv_over(arg_at(args, int_at(arg_at(args, 7), 0) ? 1 : 0), weight, weight->dims - 2u);
	return times(one, (uint64_t)(size_at(wanted, 0) != 0) + (uint64_t)(size_at(wanted, 1) != 0));
}

/* (weight, gradient of the output) */
uint64_t dw_flops_conv_backward_data(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = arg_at(args, 1);

	return gradient->dims < 3 ? UNKNOWN : conv_over(gradient, arg_at(args, 0), gradient->dims - 2u);
}

/* (input, gradient of the output, ..., gradient of the weight) */
uint64_t dw_flops_conv_backward_weights(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = arg_at(args, 1);

	for (unsigned i = args->count; i-- > 2;) /* grouped weights have a dimension more */
		if (is_tensor(arg_at(args, i)) && gradient->dims > 2 &&
		    arg_at(args, i)->dims >= gradient->dims)
			return conv_over(gradient, arg_at(args, i), gradient->dims - 2u);
	return UNKNOWN;
}

/* Places of a window given as integers. */
static uint64_t window_area(const struct arg *kernel, unsigned dims)
{
	uint64_t area = 1;

	if (!is_ints(kernel) || !kernel->dims)
		return UNKNOWN;
	for (unsigned i = 0; i < dims; i++)
		area = times(area, int_at(kernel, i) < 1 ? UNKNOWN : (uint64_t)int_at(kernel, i));
	return area;
}

/* PyTorch's: (input, kernel, stride, padding, dilation, ceil mode); an average has no
 * dilation. `each`: places' dimensions; `from`: where the ceil mode stands. */
uint64_t dw_flops_pool(const struct args *args, const struct rule *rule)
{
	const struct arg *input = arg_at(args, 0), *kernel = arg_at(args, 1);
	const struct arg *stride = arg_at(args, 2), *ceil = arg_at(args, rule->from);
	unsigned dims = rule->each;
	uint64_t out;

	if (!is_tensor(input) || input->dims < dims || !has_ints(args, 1, 1) || !has_ints(args, 3, 1) ||
	    !is_ints(stride) || (rule->from == 5 && !has_ints(args, 4, 1)))
		return UNKNOWN;
	out = span(input, 0, input->dims - dims);
	for (unsigned i = 0; i < dims; i++) {
		struct window window = { int_at(kernel, i), int_at(stride->dims ? stride : kernel, i),
			                     int_at(arg_at(args, 3), i), 1,
			                     is_ints(ceil) && ceil->dims && int_at(ceil, 0) };

		if (rule->from == 5)
			window.dilation = int_at(arg_at(args, 4), i);
		out = times(out, places(size_at(input, input->dims - dims + i), &window));
	}
	return times(out, window_area(kernel, dims));
}

/* Plain: (input, output, ...) and somewhere the window; an average of all needs none. */
uint64_t dw_flops_plain_pool(const struct args *args, const struct rule *rule)
{
	const struct arg *input = arg_at(args, 0), *output = arg_at(args, 1);

	if (!is_tensor(input) || !is_tensor(output) || output->dims != input->dims || input->dims < 3)
		return UNKNOWN;
	for (unsigned i = 2; i < args->count; i++)
		if (is_ints(arg_at(args, i)))
			return times(elements_of(output), window_area(arg_at(args, i), input->dims - 2u));
	return span(output, 2, output->dims) == 1 ? elements_of(input) : UNKNOWN;
}

/* PyTorch's: (gradient, input, kernel, ...); plain: (gradient, gradient of the input) of an
 * average of all. */
uint64_t dw_flops_avg_pool_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = arg_at(args, 0), *input = arg_at(args, 1);

	if (is_ints(arg_at(args, 2)))
		return times(elements_of(gradient), window_area(arg_at(args, 2), rule->each));
	if (args->aten || !is_tensor(gradient) || gradient->dims < 3 ||
	    span(gradient, 2, gradient->dims) != 1)
		return UNKNOWN;
	return elements_of(input);
}
