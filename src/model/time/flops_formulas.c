/*
 * What one call of an operator costs: the formulas that flops.h lists.
 *
 * Called once for each symbol, not for each call. If tensors do not fit together, the operator is not counted.
 */
#include "model/time/flops_args.h"

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

/* Three operands, of which any may be broadcast; one of them may be a number. */
static uint64_t flops_each_of_three(const struct args *args, const struct rule *rule)
{
	uint64_t elements = 1;
	unsigned dims = 0;

	for (unsigned i = 0; i < 3; i++)
		if (flops_is_tensor(flops_arg(args, i)) && flops_arg(args, i)->dims > dims)
			dims = flops_arg(args, i)->dims;
	if (!flops_is_tensor(flops_arg(args, 0)) || !flops_is_tensor(flops_arg(args, 1)))
		return UNKNOWN;
	for (unsigned d = 1; d <= dims; d++) {
		uint64_t size = 1;

		for (unsigned i = 0; i < 3; i++) {
			const struct arg *arg = flops_arg(args, i);

			size = flops_broad(size, flops_is_tensor(arg) && d <= arg->dims ? flops_dim(arg, arg->dims - d) : 1);
		}
		elements = flops_times(elements, size);
	}
	return flops_times(rule->each, elements);
}

/* (self, dimension, index, source): copies, unless a reduction is named, which is one argument more. */
static uint64_t flops_scatter(const struct args *args, const struct rule *rule)
{
	return args->count == 4 ? 0 : UNKNOWN;
}

/* With fixed statistics only x * a + b is left of the formula. PyTorch passes a flag for them; a
 * plain operator then reads the statistics after scale and shift. */
static uint64_t flops_batch_norm(const struct args *args, const struct rule *rule)
{
	const struct arg *flag = flops_arg(args, 5), *fourth = flops_arg(args, 3);
	bool training;

	if (flops_is_flag(flag))
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
	const struct arg *input = flops_arg(args, 0), *weight = flops_arg(args, 1);

	if (!flops_is_tensor(weight) || !weight->dims)
		return UNKNOWN;
	if (args->aten && (!input->dims || flops_dim(input, input->dims - 1u) != flops_dim(weight, weight->dims - 1u)))
		return UNKNOWN;
	return flops_times(2, flops_times(flops_elements(input), weight->dims > 1 ? flops_dim(weight, 0) : 1));
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
	if (args->aten && (flops_dim(q, q->dims - 1u) != flops_dim(k, k->dims - 1u) ||
	                   flops_dim(k, k->dims - 2u) != flops_dim(v, v->dims - 2u)))
		return UNKNOWN;
	scores = flops_times(flops_span(q, 0, q->dims - 1u), flops_dim(k, k->dims - 2u));
	widths = flops_plus(flops_times(rule->each, flops_dim(q, q->dims - 1u)),
	                    flops_times(rule->each == 1 ? 1 : 2, flops_dim(v, v->dims - 1u)));
	return flops_times(2, flops_times(scores, widths));
}

/* ---- names --------------------------------------------------------------------------------- */

/* Products of matrices, convolutions and attention. */
static const struct rule products[] = {
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
	{ "addcmul", flops_each_of_three, 3, 0 },
	{ "addcdiv", flops_each_of_three, 3, 0 },
	{ "lerp", flops_each_of_three, 3, 0 },
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
	{ "scatter_add", flops_each, 1, 2 },
	{ "index_add", flops_each, 1, 3 },
	{ "embedding_dense_backward", flops_each, 1, 0 },
	{ "scatter", flops_scatter, 0, 0 },

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
	{ "max_pool2d_with_indices_backward", flops_each, 1, 0 },
	{ "max_pool3d_with_indices_backward", flops_each, 1, 0 },
	{ "max_pool_backward", flops_each, 1, 0 },
	{ "avg_pool2d_backward", dw_flops_avg_pool_backward, 2, 0 },
	{ "avg_pool3d_backward", dw_flops_avg_pool_backward, 3, 0 },
	{ "average_pool_backward", dw_flops_avg_pool_backward, 2, 0 },
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
	"embedding",
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

static bool flops_lacks_memory(const struct args *args)
{
	for (unsigned i = 0; i < args->count; i++)
		if (args->at[i].type == DWELL_DTYPE_NO_MEMORY)
			return true;
	return false;
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
	*why = DW_FLOPS_NO_MEMORY;
	if (rule->formula != flops_nothing && flops_lacks_memory(&args))
		return 0;
	flops = rule->formula(&args, rule);
	*why = flops == UNKNOWN ? DW_FLOPS_NOT_ENOUGH : DW_FLOPS_COUNTED;
	return flops == UNKNOWN ? 0 : flops;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t flops_element_bytes(uint8_t type)
{
	switch (type) {
	case DWELL_UINT8:
	case DWELL_INT8:
	case DWELL_BOOL: return 1;
	case DWELL_INT16:
	case DWELL_FLOAT16:
	case DWELL_BFLOAT16: return 2;
	case DWELL_INT32:
	case DWELL_FLOAT32:
	case DWELL_COMPLEX32: return 4;
	case DWELL_INT64:
	case DWELL_FLOAT64:
	case DWELL_COMPLEX64: return 8;
	case DWELL_COMPLEX128: return 16;
	default: return UNKNOWN;
	}
}

static uint64_t flops_tensor_bytes(const struct arg *arg)
{
	return flops_is_tensor(arg) ? flops_times(flops_elements(arg), flops_element_bytes(arg->type)) : 0;
}

static bool flops_is_named(const struct rule *rule, const char *names)
{
	size_t length = strlen(rule->name);

	for (const char *at = names; (at = strstr(at, rule->name)); at++)
		if (at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

/* Elements of the result of a call, by its FLOPs. */
static uint64_t flops_result(const struct args *args, const struct rule *rule, uint64_t flops)
{
	const struct arg *first = flops_arg(args, rule->from), *second = flops_arg(args, 1), *value = flops_arg(args, rule->from + 2);
	uint64_t elements = UNKNOWN, by = 0;

	if (rule->formula == flops_each || rule->formula == flops_each_result || rule->formula == flops_each_of_three) {
		if (flops_is_named(rule, " sum mean cross_entropy adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
		                         "_adaptive_avg_pool2d _adaptive_avg_pool3d "))
			return 0;
		return flops_is_named(rule, " scatter_add index_add embedding_dense_backward max_pool2d_with_indices_backward "
		                            "max_pool3d_with_indices_backward max_pool_backward _adaptive_avg_pool2d_backward "
		                            "_adaptive_avg_pool3d_backward ")
		           ? UNKNOWN : flops / rule->each;
	}
	if (rule->formula == flops_batch_norm)
		return flops_elements(first);
	if (rule->formula == flops_matmul)
		by = flops_dim(first, first->dims - 1u), elements = flops / 2;
	else if (rule->formula == flops_linear)
		by = flops_dim(second, second->dims - 1u), elements = flops / 2;
	else if (rule->formula == dw_flops_conv)
		by = flops_elements(second), elements = flops_times(flops / 2, flops_dim(second, 0));
	else if (rule->formula == flops_attention && rule->each == 1)
		by = flops_dim(first, first->dims - 1u), elements = flops_times(flops_elements(first), flops_dim(value, value->dims - 1u));
	else if (rule->formula == dw_flops_conv_backward) /* gradients of input and weight */
		return flops_plus(flops_size(flops_arg(args, 10), 0) ? flops_elements(second) : 0,
		                  flops_size(flops_arg(args, 10), 1) ? flops_elements(flops_arg(args, 2)) : 0);
	return elements == UNKNOWN || by == UNKNOWN || !by ? UNKNOWN : elements / by;
}

/* Bytes of an element of the result. Of two tensors with different types, those of the wider one, unless the first one is changed. */
static uint64_t flops_result_bytes(const struct args *args, const struct rule *rule, const char *name, uint8_t type)
{
	bool in_place = name[strlen(name) - 1] == '_';
	uint64_t bytes = flops_element_bytes(type);

	for (unsigned i = 0; i < 2 && rule->formula == flops_each_result && !in_place; i++) {
		const struct arg *arg = flops_arg(args, i);

		if (flops_is_tensor(arg) && arg->dims && flops_element_bytes(arg->type) > bytes)
			bytes = flops_element_bytes(arg->type);
	}
	return bytes;
}

/* How many arguments the operator reads. The next one, of a call with `out=`, is the result. */
static unsigned flops_reads(const struct args *args, const struct rule *rule)
{
	return rule->formula == flops_each_result ? 2 : rule->formula == flops_matmul ? rule->from + 2u : args->count;
}

int64_t dw_flops_bytes(const char *name, const struct dw_entry_shapes *shapes, uint8_t *type)
{
	struct args args = { .aten = strncmp(name, "aten::", 6) == 0 };
	const struct rule *rule = flops_rule(name);
	int64_t given = dw_flops_given(shapes).bytes;
	uint64_t bytes = 0;
	enum dw_flops_why why;

	*type = DWELL_DTYPE_NONE;
	if (shapes)
		flops_read_args(&args, shapes);
	for (unsigned i = 0; i < args.count && *type == DWELL_DTYPE_NONE; i++)
		*type = flops_is_tensor(&args.at[i]) ? args.at[i].type : *type;
	if (given >= 0 || !shapes || !rule)
		return given;
	if (rule->formula != flops_nothing) {
		uint64_t flops = dw_flops(name, shapes, &why);

		if (why != DW_FLOPS_COUNTED)
			return -1;
		bytes = flops_times(flops_result(&args, rule, flops), flops_result_bytes(&args, rule, name, *type));
	} else if (strncmp(name, "aten::copy_", 11) != 0 || name[11]) {
		return -1; /* a view, or it is not known how much it writes */
	}
	for (unsigned i = 0; i < args.count && i < flops_reads(&args, rule); i++)
		bytes = flops_plus(bytes, flops_tensor_bytes(&args.at[i]));
	return bytes > INT64_MAX ? -1 : (int64_t)bytes;
}
