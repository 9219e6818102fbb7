/*
 * What one call of an operator costs: the formulas that flops.h lists.
 *
 * Called once for each symbol, not for each call. Shapes come from a file and are not trusted: a
 * size that is negative or missing, and a product that overflows, are UNKNOWN, which makes the
 * result UNKNOWN. If tensors do not fit together, the operator is not counted. The positions of a
 * window are computed as PyTorch does if strides are given; otherwise they come from the output's
 * shape.
 */
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

static const struct arg *flops_arg(const struct args *args, unsigned index)
{
	static const struct arg none = { DWELL_DTYPE_NONE, 0, NULL };

	return index < args->count ? &args->at[index] : &none;
}

static bool flops_is_ints(const struct arg *arg)
{
	return arg->type == DWELL_ARG_INTS;
}

static bool flops_is_tensor(const struct arg *arg)
{
	return arg->type < DWELL_ARG_WORK;
}

static int64_t flops_size(const struct arg *arg, unsigned index)
{
	int64_t size;

	memcpy(&size, arg->sizes + (size_t)index * 8, sizeof size);
	return size;
}

/* The integer for dimension `index`; a single integer applies to all dimensions. */
static int64_t flops_int(const struct arg *arg, unsigned index)
{
	return flops_size(arg, index < arg->dims ? index : arg->dims - 1u);
}

/* ---- arithmetic that checks for overflow --------------------------------------------------- */

static uint64_t flops_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	if (a == UNKNOWN || b == UNKNOWN || __builtin_mul_overflow(a, b, &product))
		return UNKNOWN;
	return product;
}

static uint64_t flops_plus(uint64_t a, uint64_t b)
{
	return a == UNKNOWN || b == UNKNOWN || a > UNKNOWN - b ? UNKNOWN : a + b;
}

static uint64_t flops_dim(const struct arg *arg, unsigned index)
{
	int64_t size = index < arg->dims ? flops_size(arg, index) : -1;

	return size < 0 ? UNKNOWN : (uint64_t)size;
}

/* Number of elements of the dimensions from `first` to before `end`. */
static uint64_t flops_span(const struct arg *arg, unsigned first, unsigned end)
{
	uint64_t elements = 1;

	if (!flops_is_tensor(arg))
		return UNKNOWN;
	for (unsigned i = first; i < end; i++)
		elements = flops_times(elements, flops_dim(arg, i));
	return elements;
}

static uint64_t flops_elements(const struct arg *arg)
{
	return flops_span(arg, 0, arg->dims);
}

static void flops_read_args(struct args *args, const struct dw_entry_shapes *shapes)
{
	const uint8_t *at = shapes->tensors;
	size_t left = shapes->entry.bytes < sizeof shapes->entry ? 0 : shapes->entry.bytes - sizeof shapes->entry;

	for (uint32_t i = 0; i < shapes->entry.aux && args->count < MOST_ARGS && left >= 8 &&
	                     (left - 8) / 8 >= at[1]; i++) {
		size_t bytes = 8 + (size_t)at[1] * 8;

		if (at[0] != DWELL_ARG_WORK)
			args->at[args->count++] = (struct arg){ at[0], at[1], at + 8 };
		at += bytes;
		left -= bytes;
	}
}

/* The size of a dimension if two sizes broadcast to each other. */
static uint64_t flops_broad(uint64_t a, uint64_t b)
{
	return a == b || b == 1 ? a : a == 1 ? b : UNKNOWN;
}

/* Number of elements of two shapes that broadcast, without their last `skip` dimensions. */
static uint64_t flops_broadcast(const struct arg *a, const struct arg *b, unsigned skip)
{
	unsigned dims = a->dims > b->dims ? a->dims : b->dims;
	uint64_t elements = 1;

	for (unsigned i = skip + 1; i <= dims; i++)
		elements = flops_times(elements, flops_broad(i <= a->dims ? flops_dim(a, a->dims - i) : 1,
		                                             i <= b->dims ? flops_dim(b, b->dims - i) : 1));
	return elements;
}

/* ---- by element ---------------------------------------------------------------------------- */

static uint64_t flops_nothing(const struct args *args, const struct rule *rule)
{
	return 0;
}

static uint64_t flops_each(const struct args *args, const struct rule *rule)
{
	return flops_times(rule->each, flops_elements(flops_arg(args, rule->from)));
}

/* One or two operands; one of them may be a number. */
static uint64_t flops_each_result(const struct args *args, const struct rule *rule)
{
	const struct arg *a = flops_arg(args, 0), *b = flops_arg(args, 1);

	if (!flops_is_tensor(a) && !flops_is_tensor(b))
		return UNKNOWN;
	if (!flops_is_tensor(b) || !flops_is_tensor(a))
		return flops_times(rule->each, flops_elements(flops_is_tensor(a) ? a : b));
	return flops_times(rule->each, flops_broadcast(a, b, 0));
}

/* With fixed statistics only x * a + b is left of the formula. PyTorch passes a flag for them; a
 * plain operator then reads the statistics after scale and shift. */
static uint64_t flops_batch_norm(const struct args *args, const struct rule *rule)
{
	const struct arg *flag = flops_arg(args, 5), *fourth = flops_arg(args, 3);
	bool training;

	if (flops_is_ints(flag) && flag->dims)
		training = flops_int(flag, 0) != 0;
	else if (args->aten)
		return UNKNOWN;
	else
		training = !flops_is_tensor(fourth) || fourth->dims != 1;
	return flops_times(training ? rule->each : 2, flops_elements(flops_arg(args, 0)));
}

/* ---- products ------------------------------------------------------------------------------ */

static uint64_t flops_matmul(const struct args *args, const struct rule *rule)
{
	const struct arg *a = flops_arg(args, rule->from), *b = flops_arg(args, rule->from + 1);
	uint64_t inner, rows, columns;

	if (!flops_is_tensor(a) || !flops_is_tensor(b) || !a->dims || !b->dims)
		return UNKNOWN;
	inner = flops_dim(a, a->dims - 1u);
	if (inner != flops_dim(b, b->dims > 1 ? b->dims - 2u : 0))
		return UNKNOWN;
	rows = a->dims > 1 ? flops_dim(a, a->dims - 2u) : 1;
	columns = b->dims > 1 ? flops_dim(b, b->dims - 1u) : 1;
	return flops_times(2, flops_times(flops_broadcast(a, b, 2), flops_times(rows, flops_times(inner, columns))));
}

/* (input, weight [out, in...]): every element of the input is multiplied for each output. */
static uint64_t flops_linear(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 1);

	if (!flops_is_tensor(weight) || !weight->dims)
		return UNKNOWN;
	return flops_times(2, flops_times(flops_elements(flops_arg(args, 0)), weight->dims > 1 ? flops_dim(weight, 0) : 1));
}

/* ggml's products, with the result last: mul_mat([rows, inner], [columns, inner]), out_prod([inner, columns],
 * [inner, rows]). `from` is the argument of which each element is used so often as the first one has rows. */
static uint64_t flops_ggml_product(const struct args *args, const struct rule *rule)
{
	const struct arg *first = flops_arg(args, 0), *other = flops_arg(args, rule->from);

	if (!flops_is_tensor(first) || !first->dims)
		return UNKNOWN;
	return flops_times(2, flops_times(flops_elements(other), first->dims > 1 ? flops_dim(first, first->dims - 2u) : 1));
}

/* (weight, gradient [batch, out]) */
static uint64_t flops_linear_backward_data(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 0);

	return flops_times(2, flops_times(flops_elements(flops_arg(args, 1)), flops_span(weight, 1, weight->dims)));
}

/* (input, gradient [batch, out]) */
static uint64_t flops_linear_backward_weights(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 1);

	if (!flops_is_tensor(gradient) || !gradient->dims)
		return UNKNOWN;
	return flops_times(2, flops_times(flops_elements(flops_arg(args, 0)), flops_dim(gradient, gradient->dims - 1u)));
}

/* Q [..., L, E], K [..., S, E], V [..., S, Ev]; `each` 1: forward, 3: backward. */
static uint64_t flops_attention(const struct args *args, const struct rule *rule)
{
	const struct arg *q = flops_arg(args, rule->from), *k = flops_arg(args, rule->from + 1);
	const struct arg *v = flops_arg(args, rule->from + 2);
	uint64_t scores, widths;

	if (!flops_is_tensor(q) || !flops_is_tensor(k) || !flops_is_tensor(v) || q->dims < 2 || k->dims < 2 || v->dims < 2)
		return UNKNOWN;
	scores = flops_times(flops_span(q, 0, q->dims - 1u), flops_dim(k, k->dims - 2u));
	widths = flops_plus(flops_times(rule->each, flops_dim(q, q->dims - 1u)),
	                    flops_times(rule->each == 1 ? 1 : 2, flops_dim(v, v->dims - 1u)));
	return flops_times(2, flops_times(scores, widths));
}

/* ---- sliding windows: convolutions and pools ---------------------------------------------- */

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

static bool flops_has_ints(const struct args *args, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++)
		if (!flops_is_ints(flops_arg(args, i)) || !flops_arg(args, i)->dims)
			return false;
	return true;
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

	if (weight->dims < 3 || input->dims < count + 1 || input->dims > count + 2)
		return UNKNOWN;
	for (unsigned i = 0; i < count; i++) {
		struct window window = { flops_size(weight, i + 2), flops_int(flops_arg(args, 3), i),
			                     flops_int(flops_arg(args, 4), i), flops_int(flops_arg(args, 5), i), false };

		out = flops_times(out, flops_places(flops_size(input, input->dims - count + i), &window));
	}
	return flops_times(flops_times(2, flops_elements(weight)),
	                   flops_times(input->dims == count + 2 ? flops_dim(input, 0) : 1, out));
}

/* `from`: the argument with PyTorch's flag for transposed; 0: it has none. */
static uint64_t flops_conv(const struct args *args, const struct rule *rule)
{
	const struct arg *input = flops_arg(args, 0), *weight = flops_arg(args, 1);

	if (!flops_is_tensor(input) || !flops_is_tensor(weight))
		return UNKNOWN;
	if (flops_has_ints(args, 3, 3)) {
		if (rule->from && !flops_has_ints(args, rule->from, 1))
			return UNKNOWN;
		if (rule->from && flops_int(flops_arg(args, rule->from), 0))
			return weight->dims < 3 ? UNKNOWN : flops_conv_over(input, weight, weight->dims - 2u);
		return flops_conv_by_ints(args, input, weight);
	}
	for (unsigned i = args->count; !args->aten && i-- > 2;) /* the output is the last tensor */
		if (flops_is_tensor(flops_arg(args, i)) && flops_arg(args, i)->dims == input->dims && input->dims > 2)
			return flops_conv_over(flops_arg(args, i), weight, input->dims - 2u);
	return UNKNOWN;
}

static uint64_t flops_conv_transpose(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 1);

	return weight->dims < 3 ? UNKNOWN : flops_conv_over(flops_arg(args, 0), weight, weight->dims - 2u);
}

/* PyTorch's: (gradient, input, weight, bias sizes, stride, padding, dilation, transposed,
 * output padding, groups, which gradients are wanted). */
static uint64_t flops_conv_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = flops_arg(args, 2), *wanted = flops_arg(args, 10);
	uint64_t one;

	if (!flops_is_tensor(weight) || weight->dims < 3 || !flops_has_ints(args, 7, 1) ||
	    !flops_is_ints(wanted) || wanted->dims < 2)
		return UNKNOWN;
	one = flops_conv_over(flops_arg(args, flops_int(flops_arg(args, 7), 0) ? 1 : 0), weight, weight->dims - 2u);
	return flops_times(one, (uint64_t)(flops_size(wanted, 0) != 0) + (uint64_t)(flops_size(wanted, 1) != 0));
}

/* (weight, gradient of the output) */
static uint64_t flops_conv_backward_data(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 1);

	return gradient->dims < 3 ? UNKNOWN : flops_conv_over(gradient, flops_arg(args, 0), gradient->dims - 2u);
}

/* (input, gradient of the output, ..., gradient of the weight) */
static uint64_t flops_conv_backward_weights(const struct args *args, const struct rule *rule)
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

	if (!flops_is_ints(kernel) || !kernel->dims)
		return UNKNOWN;
	for (unsigned i = 0; i < dims; i++)
		area = flops_times(area, flops_int(kernel, i) < 1 ? UNKNOWN : (uint64_t)flops_int(kernel, i));
	return area;
}

/* PyTorch's: (input, kernel, stride, padding, dilation, ceil mode); an average has no dilation.
 * `each`: number of window dimensions; `from`: the argument with the ceil mode. */
static uint64_t flops_pool(const struct args *args, const struct rule *rule)
{
	const struct arg *input = flops_arg(args, 0), *kernel = flops_arg(args, 1);
	const struct arg *stride = flops_arg(args, 2), *ceil = flops_arg(args, rule->from);
	unsigned dims = rule->each;
	uint64_t out;

	if (!flops_is_tensor(input) || input->dims < dims || !flops_has_ints(args, 1, 1) ||
	    !flops_has_ints(args, 3, 1) || !flops_is_ints(stride) || (rule->from == 5 && !flops_has_ints(args, 4, 1)))
		return UNKNOWN;
	out = flops_span(input, 0, input->dims - dims);
	for (unsigned i = 0; i < dims; i++) {
		struct window window = { flops_int(kernel, i), flops_int(stride->dims ? stride : kernel, i),
			                     flops_int(flops_arg(args, 3), i), 1,
			                     flops_is_ints(ceil) && ceil->dims && flops_int(ceil, 0) };

		if (rule->from == 5)
			window.dilation = flops_int(flops_arg(args, 4), i);
		out = flops_times(out, flops_places(flops_size(input, input->dims - dims + i), &window));
	}
	return flops_times(out, flops_window_area(kernel, dims));
}

/* Plain: (input, output, ...) and the window as a later argument; a global average has no
 * window. */
static uint64_t flops_plain_pool(const struct args *args, const struct rule *rule)
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
static uint64_t flops_avg_pool_backward(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = flops_arg(args, 0), *input = flops_arg(args, 1);

	if (flops_is_ints(flops_arg(args, 2)))
		return flops_times(flops_elements(gradient), flops_window_area(flops_arg(args, 2), rule->each));
	if (args->aten || !flops_is_tensor(gradient) || gradient->dims < 3 || flops_span(gradient, 2, gradient->dims) != 1)
		return UNKNOWN;
	return flops_elements(input);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Products of matrices, convolutions and attention. */
static const struct rule products[] = {
	{ "conv1d", flops_conv, 0, 0 },
	{ "conv2d", flops_conv, 0, 0 },
	{ "conv3d", flops_conv, 0, 0 },
	{ "convolution", flops_conv, 0, 6 },
	{ "_convolution", flops_conv, 0, 6 },
	{ "conv_transpose1d", flops_conv_transpose, 0, 0 },
	{ "conv_transpose2d", flops_conv_transpose, 0, 0 },
	{ "conv_transpose3d", flops_conv_transpose, 0, 0 },
	{ "deconvolution", flops_conv_transpose, 0, 0 },
	{ "convolution_backward", flops_conv_backward, 0, 0 },
	{ "convolution_backward_data", flops_conv_backward_data, 0, 0 },
	{ "convolution_backward_weights", flops_conv_backward_weights, 0, 0 },

	{ "mm", flops_matmul, 0, 0 },
	{ "bmm", flops_matmul, 0, 0 },
	{ "matmul", flops_matmul, 0, 0 },
	{ "mv", flops_matmul, 0, 0 },
	{ "dot", flops_matmul, 0, 0 },
	{ "vdot", flops_matmul, 0, 0 },
	{ "addmm", flops_matmul, 0, 1 },
	{ "baddbmm", flops_matmul, 0, 1 },
	{ "addmv", flops_matmul, 0, 1 },
	{ "linear", flops_linear, 0, 0 },
	{ "mul_mat", flops_ggml_product, 0, 1 },
	{ "out_prod", flops_ggml_product, 0, 2 },
	{ "linear_backward_data", flops_linear_backward_data, 0, 0 },
	{ "linear_backward_weights", flops_linear_backward_weights, 0, 0 },

	{ "scaled_dot_product_attention", flops_attention, 1, 0 },
	{ "flash_attn_ext", flops_attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention", flops_attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention_for_cpu", flops_attention, 1, 0 },
	{ "_scaled_dot_product_efficient_attention", flops_attention, 1, 0 },
	{ "_scaled_dot_product_cudnn_attention", flops_attention, 1, 0 },
	{ "_scaled_dot_product_attention_math", flops_attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention_backward", flops_attention, 3, 1 },
	{ "_scaled_dot_product_flash_attention_for_cpu_backward", flops_attention, 3, 1 },
	{ "_scaled_dot_product_efficient_attention_backward", flops_attention, 3, 1 },
	{ "_scaled_dot_product_cudnn_attention_backward", flops_attention, 3, 1 },
};

static const struct rule rules[] = {
	{ "add", flops_each_result, 1, 0 },
	{ "sub", flops_each_result, 1, 0 },
	{ "rsub", flops_each_result, 1, 0 },
	{ "mul", flops_each_result, 1, 0 },
	{ "div", flops_each_result, 1, 0 },
	{ "pow", flops_each_result, 1, 0 },
	{ "maximum", flops_each_result, 1, 0 },
	{ "minimum", flops_each_result, 1, 0 },
	{ "gradient_add", flops_each_result, 1, 0 },
	{ "addcmul", flops_each, 3, 0 },
	{ "addcdiv", flops_each, 3, 0 },
	{ "lerp", flops_each, 3, 0 },
	{ "neg", flops_each, 1, 0 },
	{ "abs", flops_each, 1, 0 },
	{ "sqrt", flops_each, 1, 0 },
	{ "rsqrt", flops_each, 1, 0 },
	{ "exp", flops_each, 1, 0 },
	{ "log", flops_each, 1, 0 },
	{ "tanh", flops_each, 1, 0 },
	{ "sigmoid", flops_each, 1, 0 },
	{ "reciprocal", flops_each, 1, 0 },
	{ "clamp", flops_each, 1, 0 },
	{ "clamp_min", flops_each, 1, 0 },
	{ "relu", flops_each, 1, 0 },
	{ "threshold_backward", flops_each, 1, 0 },
	{ "relu_backward", flops_each, 1, 0 },
	{ "sum", flops_each, 1, 0 },
	{ "mean", flops_each, 1, 0 },

	{ "softmax", flops_each, 5, 0 },
	{ "soft_max", flops_each, 5, 0 },
	{ "_softmax", flops_each, 5, 0 },
	{ "log_softmax", flops_each, 5, 0 },
	{ "_log_softmax", flops_each, 5, 0 },
	{ "_softmax_backward_data", flops_each, 4, 0 },
	{ "_log_softmax_backward_data", flops_each, 4, 0 },
	{ "cross_entropy", flops_each, 5, 0 },
	{ "cross_entropy_backward", flops_each, 2, 0 },

	{ "batch_norm", flops_batch_norm, 8, 0 },
	{ "native_batch_norm", flops_batch_norm, 8, 0 },
	{ "cudnn_batch_norm", flops_batch_norm, 8, 0 },
	{ "_batch_norm_impl_index", flops_batch_norm, 8, 0 },
	{ "native_batch_norm_backward", flops_each, 9, 0 },
	{ "batch_norm_backward", flops_each, 9, 0 },
	{ "layer_norm", flops_each, 8, 0 },
	{ "native_layer_norm", flops_each, 8, 0 },
	{ "native_layer_norm_backward", flops_each, 13, 0 },
	{ "group_norm", flops_each, 8, 0 },
	{ "native_group_norm", flops_each, 8, 0 },
	{ "native_group_norm_backward", flops_each, 13, 0 },
	{ "rms_norm", flops_each, 4, 0 },

	{ "max_pool1d", flops_pool, 1, 5 },
	{ "max_pool2d", flops_pool, 2, 5 },
	{ "max_pool3d", flops_pool, 3, 5 },
	{ "max_pool2d_with_indices", flops_pool, 2, 5 },
	{ "max_pool3d_with_indices", flops_pool, 3, 5 },
	{ "avg_pool1d", flops_pool, 1, 4 },
	{ "avg_pool2d", flops_pool, 2, 4 },
	{ "avg_pool3d", flops_pool, 3, 4 },
	{ "max_pool", flops_plain_pool, 0, 0 },
	{ "average_pool", flops_plain_pool, 0, 0 },
	{ "max_pool2d_with_indices_backward", flops_each, 1, 0 },
	{ "max_pool3d_with_indices_backward", flops_each, 1, 0 },
	{ "max_pool_backward", flops_each, 1, 0 },
	{ "avg_pool2d_backward", flops_avg_pool_backward, 2, 0 },
	{ "avg_pool3d_backward", flops_avg_pool_backward, 3, 0 },
	{ "average_pool_backward", flops_avg_pool_backward, 2, 0 },
	{ "adaptive_avg_pool1d", flops_each, 1, 0 },
	{ "adaptive_avg_pool2d", flops_each, 1, 0 },
	{ "adaptive_avg_pool3d", flops_each, 1, 0 },
	{ "_adaptive_avg_pool2d", flops_each, 1, 0 },
	{ "_adaptive_avg_pool3d", flops_each, 1, 0 },
	{ "_adaptive_avg_pool2d_backward", flops_each, 1, 1 },
	{ "_adaptive_avg_pool3d_backward", flops_each, 1, 1 },
};

/* These move memory or make another view of it. */
static const char *const idle[] = {
	"alias",
	"as_strided",
	"cat",
	"chunk",
	"clone",
	"cont",
	"contiguous",
	"copy",
	"cpy",
	"detach",
	"empty",
	"empty_like",
	"empty_strided",
	"expand",
	"fill",
	"flatten",
	"full",
	"gather",
	"get_rows",
	"index_select",
	"narrow",
	"new_empty",
	"new_zeros",
	"ones",
	"ones_like",
	"permute",
	"reorder",
	"reshape",
	"resize",
	"select",
	"set_rows",
	"slice",
	"split",
	"squeeze",
	"stack",
	"t",
	"to",
	"_to_copy",
	"transpose",
	"unbind",
	"unflatten",
	"unsqueeze",
	"view",
	"zero",
	"zeros",
	"zeros_like",
	"_reshape_alias",
	"_unsafe_view",
};

static const struct rule *flops_find_in(const struct rule *table, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(table[i].name, name, length) == 0 && !table[i].name[length])
			return &table[i];
	return NULL;
}

static const struct rule *flops_find(const char *name, size_t length)
{
	static const struct rule is_idle = { "", flops_nothing, 0, 0 };

	const struct rule *product = flops_find_in(products, sizeof products / sizeof *products, name, length);
	const struct rule *rule = flops_find_in(rules, sizeof rules / sizeof *rules, name, length);

	if (product || rule)
		return product ? product : rule;
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (strncmp(idle[i], name, length) == 0 && !idle[i][length])
			return &is_idle;
	return NULL;
}

/* The rule of a name, which may begin with "aten::" and end with "_"; NULL: none. */
static const struct rule *flops_rule(const char *name)
{
	const char *plain = strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
	size_t length = strlen(plain);
	const struct rule *rule = flops_find(plain, length);

	if (!rule && length > 1 && plain[length - 1] == '_')
		rule = flops_find(plain, length - 1);
	return rule;
}

bool dw_flops_is_product(const char *name)
{
	const struct rule *rule = flops_rule(name);

	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		if (rule == &products[i])
			return true;
	return false;
}

struct dw_flops_work dw_flops_given(const struct dw_entry_shapes *shapes)
{
	struct dw_flops_work work = { -1, -1 };
	const uint8_t *first = shapes ? shapes->tensors : NULL;

	if (first && shapes->entry.aux && shapes->entry.bytes >= sizeof shapes->entry + 8 + sizeof work &&
	    first[0] == DWELL_ARG_WORK && first[1] == 2)
		memcpy(&work, first + 8, sizeof work);
	return work;
}

uint64_t dw_flops(const char *name, const struct dw_entry_shapes *shapes, enum dw_flops_why *why)
{
	struct args args = { .aten = strncmp(name, "aten::", 6) == 0 };
	const struct rule *rule = flops_rule(name);
	struct dw_flops_work work = dw_flops_given(shapes);
	uint64_t flops;

	*why = DW_FLOPS_COUNTED;
	if (work.flops >= 0)
		return (uint64_t)work.flops;
	*why = DW_FLOPS_NO_FORMULA;
	if (!rule)
		return 0;
	*why = DW_FLOPS_NO_SHAPES;
	if (!shapes && rule->formula != flops_nothing)
		return 0;
	if (shapes)
		flops_read_args(&args, shapes);
	flops = rule->formula(&args, rule);
	*why = flops == UNKNOWN ? DW_FLOPS_NOT_ENOUGH : DW_FLOPS_COUNTED;
	return flops == UNKNOWN ? 0 : flops;
}
