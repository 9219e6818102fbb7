/*
 * What one call of an operator costs: the formulas that flops.h lists.
 *
 * Called once a symbol, never once a call. Shapes come from a file: a size that is
 * negative, a product that overflows or tensors that do not fit together make an
 * operator one that is not counted; nothing here trusts them.
 */
#include "model/time/flops_formulas.h"

/* ---- arguments ----------------------------------------------------------------------------- */

static void read_args(struct args *args, const struct dw_entry_shapes *shapes)
{
	const uint8_t *at = shapes->tensors;
	size_t left =
		shapes->entry.bytes < sizeof shapes->entry ? 0 : shapes->entry.bytes - sizeof shapes->entry;

	while (args->count < MOST_ARGS && args->count < shapes->entry.aux && left >= 8 &&
	       (left - 8) / 8 >= at[1]) {
		size_t bytes = 8 + (size_t)at[1] * 8;

		args->at[args->count++] = (struct arg){ at[0], at[1], at + 8 };
		at += bytes;
		left -= bytes;
	}
}

/* Of two sizes that broadcast to one another. */
static uint64_t broad(uint64_t a, uint64_t b)
{
	return a == b || b == 1 ? a : a == 1 ? b : UNKNOWN;
}

/* Elements of two shapes broadcast, their last `skip` dimensions left out. */
static uint64_t broadcast(const struct arg *a, const struct arg *b, unsigned skip)
{
	unsigned dims = a->dims > b->dims ? a->dims : b->dims;
	uint64_t elements = 1;

	for (unsigned i = skip + 1; i <= dims; i++)
		elements = times(elements, broad(i <= a->dims ? size_of(a, a->dims - i) : 1,
		                                 i <= b->dims ? size_of(b, b->dims - i) : 1));
	return elements;
}

/* ---- by element ---------------------------------------------------------------------------- */

static uint64_t nothing(const struct args *args, const struct rule *rule)
{
	return 0;
}

static uint64_t each(const struct args *args, const struct rule *rule)
{
	return times(rule->each, elements_of(arg_at(args, rule->from)));
}

/* One or two operands: the other may be a number. */
static uint64_t each_result(const struct args *args, const struct rule *rule)
{
	const struct arg *a = arg_at(args, 0), *b = arg_at(args, 1);

	if (!is_tensor(a) && !is_tensor(b))
		return UNKNOWN;
	if (!is_tensor(b) || !is_tensor(a))
		return times(rule->each, elements_of(is_tensor(a) ? a : b));
	return times(rule->each, broadcast(a, b, 0));
}

/* With fixed statistics only what is left of the formula, x * a + b, is done. PyTorch
 * says so; a plain operator then reads the statistics after scale and shift. */
static uint64_t batch_norm(const struct args *args, const struct rule *rule)
{
	const struct arg *flag = arg_at(args, 5), *fourth = arg_at(args, 3);
	bool training;

	if (is_ints(flag) && flag->dims)
		training = int_at(flag, 0) != 0;
	else if (args->aten)
		return UNKNOWN;
	else
		training = !is_tensor(fourth) || fourth->dims != 1;
	return times(training ? rule->each : 2, elements_of(arg_at(args, 0)));
}

/* ---- products ------------------------------------------------------------------------------ */

static uint64_t matmul(const struct args *args, const struct rule *rule)
{
	const struct arg *a = arg_at(args, rule->from), *b = arg_at(args, rule->from + 1);
	uint64_t inner, rows, columns;

	if (!is_tensor(a) || !is_tensor(b) || !a->dims || !b->dims)
		return UNKNOWN;
	inner = size_of(a, a->dims - 1u);
	if (inner != size_of(b, b->dims > 1 ? b->dims - 2u : 0))
		return UNKNOWN;
	rows = a->dims > 1 ? size_of(a, a->dims - 2u) : 1;
	columns = b->dims > 1 ? size_of(b, b->dims - 1u) : 1;
	return times(2, times(broadcast(a, b, 2), times(rows, times(inner, columns))));
}

/* (input, weight [out, in...]): every element of the input meets each output. */
static uint64_t linear(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = arg_at(args, 1);

	if (!is_tensor(weight) || !weight->dims)
		return UNKNOWN;
	return times(2, times(elements_of(arg_at(args, 0)), weight->dims > 1 ? size_of(weight, 0) : 1));
}

/* (weight, gradient [batch, out]) */
static uint64_t linear_backward_data(const struct args *args, const struct rule *rule)
{
	const struct arg *weight = arg_at(args, 0);

	return times(2, times(elements_of(arg_at(args, 1)), span(weight, 1, weight->dims)));
}

/* (input, gradient [batch, out]) */
static uint64_t linear_backward_weights(const struct args *args, const struct rule *rule)
{
	const struct arg *gradient = arg_at(args, 1);

	if (!is_tensor(gradient) || !gradient->dims)
		return UNKNOWN;
	return times(2, times(elements_of(arg_at(args, 0)), size_of(gradient, gradient->dims - 1u)));
}

/* Q [..., L, E], K [..., S, E], V [..., S, Ev]; `each` 1: forward, 3: backward. */
static uint64_t attention(const struct args *args, const struct rule *rule)
{
	const struct arg *q = arg_at(args, rule->from), *k = arg_at(args, rule->from + 1);
	const struct arg *v = arg_at(args, rule->from + 2);
	uint64_t scores, widths;

	if (!is_tensor(q) || !is_tensor(k) || !is_tensor(v) || q->dims < 2 || k->dims < 2 ||
	    v->dims < 2)
		return UNKNOWN;
	scores = times(span(q, 0, q->dims - 1u), size_of(k, k->dims - 2u));
	widths = plus(times(rule->each, size_of(q, q->dims - 1u)),
	              times(rule->each == 1 ? 1 : 2, size_of(v, v->dims - 1u)));
	return times(2, times(scores, widths));
}

/* ---- names --------------------------------------------------------------------------------- */

static const struct rule rules[] = {
	{ "conv1d", dw_flops_conv, 0, 0 },
	{ "conv2d", dw_flops_conv, 0, 0 },
	{ "conv3d", dw_flops_conv, 0, 0 },
	{ "convolution", dw_flops_conv, 0, 6 },
	{ "_convolution", dw_flops_conv, 0, 6 },
	{ "conv_transpose1d", dw_flops_conv_transpose, 0, 0 },
	{ "conv_transpose2d", dw_flops_conv_transpose, 0, 0 },
	{ "conv_transpose3d", dw_flops_conv_transpose, 0, 0 },
	{ "deconvolution", dw_flops_conv_transpose, 0, 0 },
	{ "convolution_backward", dw_flops_conv_backward, 0, 0 },
	{ "convolution_backward_data", dw_flops_conv_backward_data, 0, 0 },
	{ "convolution_backward_weights", dw_flops_conv_backward_weights, 0, 0 },

	{ "mm", matmul, 0, 0 },
	{ "bmm", matmul, 0, 0 },
	{ "matmul", matmul, 0, 0 },
	{ "mv", matmul, 0, 0 },
	{ "dot", matmul, 0, 0 },
	{ "vdot", matmul, 0, 0 },
	{ "addmm", matmul, 0, 1 },
	{ "baddbmm", matmul, 0, 1 },
	{ "addmv", matmul, 0, 1 },
	{ "linear", linear, 0, 0 },
	{ "linear_backward_data", linear_backward_data, 0, 0 },
	{ "linear_backward_weights", linear_backward_weights, 0, 0 },

	{ "scaled_dot_product_attention", attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention", attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention_for_cpu", attention, 1, 0 },
	{ "_scaled_dot_product_efficient_attention", attention, 1, 0 },
	{ "_scaled_dot_product_cudnn_attention", attention, 1, 0 },
	{ "_scaled_dot_product_attention_math", attention, 1, 0 },
	{ "_scaled_dot_product_flash_attention_backward", attention, 3, 1 },
	{ "_scaled_dot_product_flash_attention_for_cpu_backward", attention, 3, 1 },
	{ "_scaled_dot_product_efficient_attention_backward", attention, 3, 1 },
	{ "_scaled_dot_product_cudnn_attention_backward", attention, 3, 1 },

	{ "add", each_result, 1, 0 },
	{ "sub", each_result, 1, 0 },
	{ "rsub", each_result, 1, 0 },
	{ "mul", each_result, 1, 0 },
	{ "div", each_result, 1, 0 },
	{ "pow", each_result, 1, 0 },
	{ "maximum", each_result, 1, 0 },
	{ "minimum", each_result, 1, 0 },
	{ "gradient_add", each_result, 1, 0 },
	{ "addcmul", each, 3, 0 },
	{ "addcdiv", each, 3, 0 },
	{ "lerp", each, 3, 0 },
	{ "neg", each, 1, 0 },
	{ "abs", each, 1, 0 },
	{ "sqrt", each, 1, 0 },
	{ "rsqrt", each, 1, 0 },
	{ "exp", each, 1, 0 },
	{ "log", each, 1, 0 },
	{ "tanh", each, 1, 0 },
	{ "sigmoid", each, 1, 0 },
	{ "reciprocal", each, 1, 0 },
	{ "clamp", each, 1, 0 },
	{ "clamp_min", each, 1, 0 },
	{ "relu", each, 1, 0 },
	{ "threshold_backward", each, 1, 0 },
	{ "relu_backward", each, 1, 0 },
	{ "sum", each, 1, 0 },
	{ "mean", each, 1, 0 },

	{ "softmax", each, 5, 0 },
	{ "_softmax", each, 5, 0 },
	{ "log_softmax", each, 5, 0 },
	{ "_log_softmax", each, 5, 0 },
	{ "_softmax_backward_data", each, 4, 0 },
	{ "_log_softmax_backward_data", each, 4, 0 },
	{ "cross_entropy", each, 5, 0 },
	{ "cross_entropy_backward", each, 2, 0 },

	{ "batch_norm", batch_norm, 8, 0 },
	{ "native_batch_norm", batch_norm, 8, 0 },
	{ "cudnn_batch_norm", batch_norm, 8, 0 },
	{ "_batch_norm_impl_index", batch_norm, 8, 0 },
	{ "native_batch_norm_backward", each, 9, 0 },
	{ "batch_norm_backward", each, 9, 0 },
	{ "layer_norm", each, 8, 0 },
	{ "native_layer_norm", each, 8, 0 },
	{ "native_layer_norm_backward", each, 13, 0 },
	{ "group_norm", each, 8, 0 },
	{ "native_group_norm", each, 8, 0 },
	{ "native_group_norm_backward", each, 13, 0 },
	{ "rms_norm", each, 4, 0 },

	{ "max_pool1d", dw_flops_pool, 1, 5 },
	{ "max_pool2d", dw_flops_pool, 2, 5 },
	{ "max_pool3d", dw_flops_pool, 3, 5 },
	{ "max_pool2d_with_indices", dw_flops_pool, 2, 5 },
	{ "max_pool3d_with_indices", dw_flops_pool, 3, 5 },
	{ "avg_pool1d", dw_flops_pool, 1, 4 },
	{ "avg_pool2d", dw_flops_pool, 2, 4 },
	{ "avg_pool3d", dw_flops_pool, 3, 4 },
	{ "max_pool", dw_flops_plain_pool, 0, 0 },
	{ "average_pool", dw_flops_plain_pool, 0, 0 },
	{ "max_pool2d_with_indices_backward", each, 1, 0 },
	{ "max_pool3d_with_indices_backward", each, 1, 0 },
	{ "max_pool_backward", each, 1, 0 },
	{ "avg_pool2d_backward", dw_flops_avg_pool_backward, 2, 0 },
	{ "avg_pool3d_backward", dw_flops_avg_pool_backward, 3, 0 },
	{ "average_pool_backward", dw_flops_avg_pool_backward, 2, 0 },
	{ "adaptive_avg_pool1d", each, 1, 0 },
	{ "adaptive_avg_pool2d", each, 1, 0 },
	{ "adaptive_avg_pool3d", each, 1, 0 },
	{ "_adaptive_avg_pool2d", each, 1, 0 },
	{ "_adaptive_avg_pool3d", each, 1, 0 },
	{ "_adaptive_avg_pool2d_backward", each, 1, 1 },
	{ "_adaptive_avg_pool3d_backward", each, 1, 1 },
};

/* They move memory or make another view of it. */
static const char *const idle[] = {
	"alias",
	"as_strided",
	"cat",
	"chunk",
	"clone",
	"contiguous",
	"copy",
	"detach",
	"empty",
	"empty_like",
	"empty_strided",
	"expand",
	"fill",
	"flatten",
	"full",
	"gather",
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

static const struct rule *find(const char *name, size_t length)
{
	static const struct rule is_idle = { "", nothing, 0, 0 };

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strncmp(rules[i].name, name, length) == 0 && !rules[i].name[length])
			return &rules[i];
	for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
		if (strncmp(idle[i], name, length) == 0 && !idle[i][length])
			return &is_idle;
	return NULL;
}

uint64_t dw_flops(const char *name, const struct dw_entry_shapes *shapes, enum dw_flops_why *why)
{
	struct args args = { .aten = strncmp(name, "aten::", 6) == 0 };
	const char *plain = args.aten ? name + 6 : name;
	size_t length = strlen(plain);
	const struct rule *rule = find(plain, length);
	uint64_t flops;

	if (!rule && length > 1 && plain[length - 1] == '_')
		rule = find(plain, length - 1);
	*why = DW_FLOPS_NO_FORMULA;
	if (!rule)
		return 0;
	*why = DW_FLOPS_NO_SHAPES;
	if (!shapes && rule->formula != nothing)
		return 0;
	if (shapes)
		read_args(&args, shapes);
	flops = rule->formula(&args, rule);
	*why = flops == UNKNOWN ? DW_FLOPS_NOT_ENOUGH : DW_FLOPS_COUNTED;
	return flops == UNKNOWN ? 0 : flops;
}
