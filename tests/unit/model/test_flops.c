/* FLOPs: numbers computed by hand from the definitions, or quoted from a source. */
#include "format/arguments.h"
#include "made.h"
#include "model/time/flops.h"

#define OP DWELL_CATEGORY_OPERATOR
#define MOST 12

static struct made made;

/*
 * Arguments as text: "2x3x5" a tensor, "." a scalar tensor, "[3,3]" integers, "-" neither, "?2x3" a tensor without elements;
 * blanks between.
 */
static unsigned parse(const char *text, struct dwell_tensor *tensors, int64_t (*sizes)[8])
{
	unsigned count = 0;

	while (*text) {
		struct dwell_tensor *tensor = &tensors[count];

		*tensor = (struct dwell_tensor){ sizes[count], 0, DWELL_FLOAT32 };
		if (*text == '-')
			tensor->dtype = DWELL_DTYPE_NONE;
		if (*text == '[')
			tensor->dtype = DWELL_ARG_INTS;
		if (*text == '?')
			tensor->dtype = DWELL_DTYPE_NO_MEMORY;
		text += *text == '-' || *text == '[' || *text == '.' || *text == '?';
		while (*text && *text != ' ') {
			if (*text == 'x' || *text == ',' || *text == ']')
				text++;
			else
				sizes[count][tensor->dimensions++] = strtoll(text, (char **)&text, 10);
		}
		while (*text == ' ')
			text++;
		count++;
	}
	return count;
}

/* The arguments as in a trace, all tensors of float32. */
static const struct dw_entry_shapes *shapes_of(const char *arguments)
{
	static _Alignas(8) char room[2048];
	struct dw_entry_shapes *shapes = (struct dw_entry_shapes *)(void *)room;
	struct dwell_tensor tensors[MOST];
	int64_t sizes[MOST][8];
	unsigned count = arguments ? parse(arguments, tensors, sizes) : 0;
	char *at = room + sizeof *shapes;

	for (unsigned i = 0; i < count; i++) {
		memset(at, 0, 8);
		at[0] = (char)tensors[i].dtype;
		at[1] = (char)tensors[i].dimensions;
		memcpy(at + 8, sizes[i], tensors[i].dimensions * sizeof **sizes);
		at += 8 + tensors[i].dimensions * sizeof **sizes;
	}
	shapes->entry =
		(struct dw_entry){ DW_ENTRY_TAG(DW_ENTRY_SHAPES), (uint32_t)(at - room), 1, count };
	return arguments ? shapes : NULL;
}

/* -1 no formula, -2 no shapes, -3 not enough, -4 a tensor without elements. */
static int64_t flops(const char *name, const char *arguments)
{
	enum dw_flops_why why;
	uint64_t result = dw_flops(name, shapes_of(arguments), &why);

	CHECK(why == DW_FLOPS_COUNTED || result == 0);
	return why == DW_FLOPS_COUNTED ? (int64_t)result : -(int64_t)why;
}

/* Elements of 4 bytes. -1: not known. */
static int64_t elements_moved(const char *name, const char *arguments)
{
	uint8_t type;
	int64_t bytes = dw_flops_bytes(name, shapes_of(arguments), &type);

	CHECK(bytes < 0 || (bytes % 4 == 0 && type == DWELL_FLOAT32));
	return bytes < 0 ? -1 : bytes / 4;
}

TEST(bytes_are_the_arguments_and_the_result)
{
	CHECK_EQ(elements_moved("aten::mm", "3x5 5x7"), 15 + 35 + 21);
	CHECK_EQ(elements_moved("aten::addmm", "7 3x5 5x7"), 7 + 15 + 35 + 21);
	CHECK_EQ(elements_moved("aten::mm", "3x5 5x7 3x7"), 15 + 35 + 21); /* with out= */
	CHECK_EQ(elements_moved("aten::bmm", "2x3x5 2x5x7 2x3x7"), 2 * (15 + 35 + 21));
	CHECK_EQ(elements_moved("aten::addmm", "7 3x5 5x7 . . 3x7"), 7 + 15 + 35 + 21);
	CHECK_EQ(elements_moved("aten::linear", "2x3x5 7x5 7"), 30 + 35 + 7 + 42);
	CHECK_EQ(elements_moved("aten::conv2d", "1x3x224x224 64x3x7x7 - [2,2] [3,3] [1,1] [1]"), 150528 + 9408 + 64 * 112 * 112);
	CHECK_EQ(elements_moved("aten::_scaled_dot_product_flash_attention", "2x4x8x16 2x4x9x16 2x4x9x32"), 1024 + 1152 + 2304 + 2048);
	CHECK_EQ(elements_moved("aten::convolution_backward", "1x64x112x112 1x3x224x224 64x3x7x7 [0] [2,2] [3,3] [1,1] [0] [0,0] [1] [0,1,0]"),
	         802816 + 150528 + 9408 + 9408);
	CHECK_EQ(elements_moved("aten::add", "4x1 1x5"), 4 + 5 + 20);
	CHECK_EQ(elements_moved("aten::mul", "4x5 . 4x5"), 20 + 1 + 20); /* the third is the result */
	CHECK_EQ(elements_moved("aten::softmax", "4x5"), 40);
	CHECK_EQ(elements_moved("aten::sum", "4x5"), 20);
	CHECK_EQ(elements_moved("aten::copy_", "4x5 4x5"), 40);
	CHECK_EQ(elements_moved("aten::view", "4x5"), -1);
	CHECK_EQ(elements_moved("aten::mm", "3x5 6x7"), -1);
	CHECK_EQ(elements_moved("aten::convolution_backward", "1x64x112x112 1x3x224x224 64x3x7x7"), -1);
	CHECK_EQ(elements_moved("aten::linear", "."), -1);
	CHECK_EQ(elements_moved("aten::fft", "4x5"), -1);
	CHECK_EQ(elements_moved("aten::mm", NULL), -1);
}

TEST(convolutions_forward)
{
	/* The first layer of ResNet-18: 112 x 112 places, 64 filters of 7 x 7 x 3:
	 * 12544 * 64 * 147 = 118,013,952 multiplications and as many additions. */
	CHECK_EQ(flops("aten::conv2d", "1x3x224x224 64x3x7x7 - [2,2] [3,3] [1,1] [1]"), 236027904);
	CHECK_EQ(flops("aten::convolution", "1x3x224x224 64x3x7x7 - [2] [3] [1] [0] [0,0] [1]"),
	         236027904);
	CHECK_EQ(flops("convolution", "1x3x224x224 64x3x7x7 1x64x112x112"), 236027904);
	/* torch.profiler's own example: 2 * 40 * 33 * 26 * 100 * 5 * 2 * 2 (groups 1), from
	 * kernel 3 x 5, stride 2 x 1, padding 4 x 2, dilation 3 x 1 on 50 x 100: places
	 * (50 + 8 - 6 - 1) / 2 + 1 = 26 and 100 + 4 - 5 + 1 = 100. */
	CHECK_EQ(flops("aten::conv2d", "20x16x50x100 33x16x3x5 33 [2,1] [4,2] [3,1] [1]"),
	         2ll * 20 * 26 * 100 * 33 * 16 * 15);
	/* Groups: the weight has a quarter of the input's channels. */
	CHECK_EQ(flops("aten::conv2d", "1x8x4x4 8x2x1x1 - [1,1] [0,0] [1,1] [4]"), 2 * 16 * 8 * 2);
	/* 1-d: 10 - 3 + 1 = 8 places, 4 filters of 2 x 3; twice the batch. */
	CHECK_EQ(flops("aten::conv1d", "2x2x10 4x2x3 - [1] [0] [1] [1]"), 2 * 2 * 8 * 4 * 6);
	CHECK_EQ(flops("aten::conv1d", "2x10 4x2x3 - [1] [0] [1] [1]"), 2 * 8 * 4 * 6); /* no batch */
	/* 3-d: 2 x 3 x 4 places of 2 x 2 x 2. */
	CHECK_EQ(flops("aten::conv3d", "1x1x3x4x5 6x1x2x2x2 - [1] [0] [1] [1]"), 2 * 24 * 6 * 8);
}

TEST(convolutions_transposed)
{
	/* Each of 5 x 5 inputs meets 4 outputs of 3 x 3 in 2 channels in. */
	CHECK_EQ(flops("aten::conv_transpose2d", "1x2x5x5 2x4x3x3 - [2,2] [1,1] [0,0] [1] [1,1]"),
	         2 * 25 * 2 * 4 * 9);
	CHECK_EQ(flops("aten::conv_transpose1d", "3x2x5 2x4x3"), 2 * 3 * 5 * 2 * 4 * 3);
	CHECK_EQ(flops("aten::conv_transpose3d", "1x2x2x2x2 2x1x2x2x2"), 2 * 8 * 2 * 8);
	CHECK_EQ(flops("aten::convolution", "1x2x5x5 2x4x3x3 - [2,2] [1,1] [1,1] [1] [0,0] [1]"),
	         2 * 25 * 2 * 4 * 9);
}

TEST(convolutions_backward)
{
	const char *both = "1x64x112x112 1x3x224x224 64x3x7x7 [0] [2,2] [3,3] [1,1] [0] [0,0] [1] "
					   "[1,1,0]";
	const char *weight = "1x64x112x112 1x3x224x224 64x3x7x7 [0] [2,2] [3,3] [1,1] [0] [0,0] [1] "
						 "[0,1,0]";

	CHECK_EQ(flops("aten::convolution_backward", both), 2 * 236027904);
	CHECK_EQ(flops("aten::convolution_backward", weight), 236027904);
	/* Transposed: the places are the input's, 5 x 5 of them. */
	CHECK_EQ(flops("aten::convolution_backward",
	               "1x4x9x9 1x2x5x5 2x4x3x3 - [2] [1] [1] [1] [0] [1] [1,1,1]"),
	         2 * (2 * 25 * 2 * 4 * 9));
	CHECK_EQ(flops("convolution_backward_data", "64x3x7x7 1x64x112x112"), 236027904);
	CHECK_EQ(flops("convolution_backward_data", "64x3x7x7 1x64x112x112 1x3x224x224"), 236027904);
	CHECK_EQ(flops("convolution_backward_weights", "1x3x224x224 1x64x112x112 64x3x7x7"), 236027904);
	CHECK_EQ(flops("convolution_backward_weights", "1x3x224x224 1x64x112x112 5000 64x3x7x7"),
	         236027904);
	/* Without what it writes nobody knows the filters' size. */
	CHECK_EQ(flops("convolution_backward_weights", "1x3x224x224 1x64x112x112"), -3);
}

TEST(products)
{
	CHECK_EQ(flops("aten::mm", "4x5 5x6"), 2 * 4 * 5 * 6);
	CHECK_EQ(flops("aten::addmm", "6 4x5 5x6 - -"), 2 * 4 * 5 * 6);
	CHECK_EQ(flops("aten::bmm", "7x4x5 7x5x6"), 7 * 2 * 4 * 5 * 6);
	CHECK_EQ(flops("aten::baddbmm", "7x4x6 7x4x5 7x5x6"), 7 * 2 * 4 * 5 * 6);
	CHECK_EQ(flops("aten::matmul", "3x1x4x5 7x5x6"), 21 * 2 * 4 * 5 * 6);
	CHECK_EQ(flops("aten::matmul", "4x5 5"), 2 * 4 * 5);
	CHECK_EQ(flops("aten::dot", "5 5"), 10);
	CHECK_EQ(flops("aten::linear", "32x512 10x512 10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("linear", "32x512x1x1 10x512x1x1 10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("linear_backward_data", "10x512x1x1 32x10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("linear_backward_weights", "32x512x1x1 32x10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("mul_mat", "10x512 32x512 32x10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("mul_mat", "512 32x512 32x1"), 2 * 32 * 512);
	CHECK_EQ(flops("mul_mat", "2x10x512 8x32x512 8x32x10"), 8 * 2 * 32 * 512 * 10);
	CHECK_EQ(flops("out_prod", "32x10 32x512 512x10"), 2 * 32 * 512 * 10);
	CHECK_EQ(flops("aten::mm", "4x5 6x7"), -3); /* they do not fit */
}

TEST(attention)
{
	/* 2 batches of 3 heads, 10 queries of 8, 20 keys, values of 16:
	 * scores 2*6*10*20*8, the sum of values 2*6*10*20*16. */
	CHECK_EQ(flops("aten::scaled_dot_product_attention", "2x3x10x8 2x3x20x8 2x3x20x16 - - [0]"),
	         19200 + 38400);
	/* Backward: scores again, dQ and dK of width 8; dV and dP of width 16. */
	CHECK_EQ(flops("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
	               "2x3x10x16 2x3x10x8 2x3x20x8 2x3x20x16 2x3x10x16"),
	         3 * 19200 + 2 * 38400);
}

TEST(by_element)
{
	CHECK_EQ(flops("aten::add", "2x3x4 2x3x4 -"), 24);
	CHECK_EQ(flops("aten::add_", "2x3x4 2x3x4 -"), 24);
	CHECK_EQ(flops("aten::mul", "2x1x4 3x1"), 24); /* broadcast to 2 x 3 x 4 */
	CHECK_EQ(flops("aten::mul", "5 ."), 5);
	CHECK_EQ(flops("aten::sub", "5 -"), 5);
	CHECK_EQ(flops("aten::div_", "5x2 [2]"), 10);
	CHECK_EQ(flops("aten::rsub", "- 5x2"), -3 + 3 + 10);
	CHECK_EQ(flops("aten::add", "2x3 2x4"), -3);
	CHECK_EQ(flops("add", "2x3 2x3 2x3"), 6);
	CHECK_EQ(flops("gradient_add", "2x3 2x3"), 6);
	CHECK_EQ(flops("aten::relu_", "10"), 10);
	CHECK_EQ(flops("relu_backward", "10 10"), 10);
	CHECK_EQ(flops("aten::_softmax", "4x10 [1] [0]"), 200);
	CHECK_EQ(flops("aten::_log_softmax_backward_data", "4x10 4x10 [1]"), 160);
	CHECK_EQ(flops("cross_entropy", "4x10 4"), 200);
	CHECK_EQ(flops("aten::view", "4x10 [40]"), 0);
	CHECK_EQ(flops("aten::copy_", "4x10 4x10"), 0);
	CHECK_EQ(flops("reorder", NULL), 0);
}

TEST(norms)
{
	CHECK_EQ(flops("aten::native_batch_norm", "2x3x4x4 3 3 3 3 [1] - -"), 8 * 96);
	CHECK_EQ(flops("aten::native_batch_norm", "2x3x4x4 3 3 3 3 [0] - -"), 2 * 96);
	CHECK_EQ(flops("aten::native_batch_norm", "2x3x4x4 3 3 3 3"), -3);
	CHECK_EQ(flops("batch_norm", "2x3x4x4 3 3"), 8 * 96);
	CHECK_EQ(flops("batch_norm", "2x3x4x4 3 3 2x3x4x4 3 3"), 8 * 96); /* what it writes */
	CHECK_EQ(flops("batch_norm", "2x3x4x4 3 3 3 3 2x3x4x4"), 2 * 96); /* statistics read */
	CHECK_EQ(flops("batch_norm_backward", "2x3x4x4 2x3x4x4 3 3 3 3"), 9 * 96);
	CHECK_EQ(flops("aten::native_layer_norm", "4x10 [10] 10 10 -"), 320);
	CHECK_EQ(flops("aten::native_layer_norm_backward", "4x10 4x10"), 520);
}

TEST(pools)
{
	/* ResNet's: 3 x 3, stride 2, padding 1 on 112: 56 places. */
	CHECK_EQ(flops("aten::max_pool2d", "1x64x112x112 [3,3] [2,2] [1,1] [1,1] [0]"),
	         64 * 56 * 56 * 9);
	/* 5 wide, windows of 2 by 2: 2 fit, and a third when it may stick out. */
	CHECK_EQ(flops("aten::max_pool1d", "1x1x5 [2] [] [0] [1] [0]"), 4);
	CHECK_EQ(flops("aten::max_pool1d", "1x1x5 [2] [] [0] [1] [1]"), 6);
	/* 4 wide, padding 1, stride 3, windows of 2 that may stick out: at -1, 2; 5 is outside. */
	CHECK_EQ(flops("aten::avg_pool1d", "1x1x4 [2] [3] [1] [1]"), 4);
	CHECK_EQ(flops("aten::avg_pool2d", "1x2x4x4 [2,2] [2,2] [0,0] [0]"), 2 * 4 * 4);
	CHECK_EQ(flops("aten::adaptive_avg_pool2d", "1x512x7x7 [1,1]"), 512 * 49);
	CHECK_EQ(flops("average_pool", "1x512x7x7 1x512x1x1"), 512 * 49);
	CHECK_EQ(flops("average_pool_backward", "1x512x1x1 1x512x7x7"), 512 * 49);
	CHECK_EQ(flops("max_pool", "1x64x112x112 1x64x56x56 [3,3]"), 64 * 56 * 56 * 9);
	CHECK_EQ(flops("max_pool", "1x64x112x112 1x64x56x56"), -3);
	CHECK_EQ(flops("max_pool_backward", "1x64x56x56 4"), 64 * 56 * 56);
}

TEST(what_is_not_known_is_not_counted)
{
	CHECK_EQ(flops("aten::my_kernel", "2x3"), -1);
	CHECK_EQ(flops("", "2x3"), -1);
	CHECK_EQ(flops("aten::", "2x3"), -1);
	CHECK_EQ(flops("_", "2x3"), -1);
	CHECK_EQ(flops("aten::mm", NULL), -2);
	CHECK_EQ(flops("aten::mm", ""), -3);
	CHECK_EQ(flops("aten::mm", "4 -"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x3x224x224 64x3x7x7"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x3x224x224 64x3x7x7 - [0,0] [3,3] [1,1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x3x2x2 64x3x7x7 - [1,1] [0,0] [1,1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x3 64x3 - [1,1] [0,0] [1,1]"), -3);
	CHECK_EQ(flops("aten::convolution_backward", "1x3 64x3"), -3);
	CHECK_EQ(flops("aten::relu", "-5x3"), -3);
	CHECK_EQ(flops("aten::relu", "9223372036854775807x9223372036854775807"), -3);
	CHECK_EQ(flops("aten::scaled_dot_product_attention", "8 8 8"), -3);
}

TEST(a_tensor_without_elements_computes_nothing)
{
	CHECK_EQ(flops("aten::mm", "?4x5 5x6"), -4);
	CHECK_EQ(flops("aten::mm", "4x5 ?5x6"), -4);
	CHECK_EQ(flops("aten::add", "? 5x6"), -4);
	CHECK_EQ(flops("aten::view", "?4x10 [40]"), 0);
	CHECK_EQ(flops("aten::my_kernel", "?4x10"), -1);
	CHECK_EQ(flops("aten::mm", "0x5 5x6"), 0);
}

/* Integers of another number or kind than the signature has. */
TEST(integers_that_do_not_fit)
{
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1] [0] [1] [1]"), 2 * 4 * 9);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1,1,1] [0] [1] [1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [] [0] [1] [1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - - [0] [1] [1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1] [0] [1] -"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1] [0] [1] [0]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1] [0] [1] [1,1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [-1] [0] [1] [1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x1x4x4 1x1x3x3 - [1] [-1] [1] [1]"), -3);
	CHECK_EQ(flops("aten::conv2d", "1x2x4x4 1x1x3x3 - [1] [0] [1] [1]"), -3); /* two channels for one */
	CHECK_EQ(flops("aten::convolution", "1x1x4x4 1x1x3x3 - [1] [0] [1] - [0] [1]"), -3);
	CHECK_EQ(flops("aten::convolution", "1x1x4x4 1x1x3x3 - [1] [0] [1] [] [0] [1]"), -3);
	CHECK_EQ(flops("aten::convolution_backward", "1x1x2x2 1x1x4x4 1x1x3x3 - [1] [0] [1] [0] [0] [1] [1,1]"), -3);
	CHECK_EQ(flops("aten::convolution_backward", "1x1x2x2 1x1x4x4 1x1x3x3 - [1] [0] [1] [] [0] [1] [1,1,1]"), -3);
	CHECK_EQ(flops("aten::max_pool2d", "1x1x4x4 [2] - [0] [1] [0]"), 16); /* no stride: the window's */
	CHECK_EQ(flops("aten::max_pool2d", "1x1x4x4 [2] [2,2,2] [0] [1] [0]"), -3);
	CHECK_EQ(flops("aten::max_pool2d", "1x1x4x4 [] [2] [0] [1] [0]"), -3);
	CHECK_EQ(flops("aten::max_pool2d", "1x1x4x4 [2] [2] [0] [1] -"), -3);
	CHECK_EQ(flops("aten::max_pool2d", "1x1x4x4 2x2 [2] [0] [1] [0]"), -3);
	CHECK_EQ(flops("aten::avg_pool2d_backward", "1x1x2x2 1x1x4x4 [2,2,2]"), -3);
	CHECK_EQ(flops("aten::native_batch_norm", "2x3x4x4 3 3 3 3 [1,0] - -"), -3);
	CHECK_EQ(flops("aten::conv2d", "0x1x4x4 1x1x3x3 - [1] [0] [1] [1]"), 0); /* an empty batch */
}

/* Every operator whose integers are recorded has a formula that needs them. */
TEST(operators_with_integers)
{
	static const char *const names[] = {
#define X(name) "aten::" name,
		DW_OPERATORS_WITH_INTEGERS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		CHECK(dw_operator_has_integers(names[i], strlen(names[i])));
		CHECK_EQ(flops(names[i], "1x1x4x4x4 1x1x3x3x3 1x1x3x3x3"), -3);
	}
	CHECK(!dw_operator_has_integers("aten::conv2", 11));
	CHECK(!dw_operator_has_integers("aten::conv2d_", 13));
	CHECK(!dw_operator_has_integers("conv2d", 6));
	CHECK(!dw_operator_has_integers("", 0));
}

TEST(what_moves_and_what_adds)
{
	CHECK_EQ(flops("aten::embedding", "10x4 3"), 0);
	CHECK_EQ(flops("aten::embedding_dense_backward", "3x4 3 - - -"), 12);
	CHECK_EQ(flops("aten::scatter_", "3x5 - 2x5 2x5"), 0);
	CHECK_EQ(flops("aten::scatter_", "3x5 - 2x5 2x5 -"), -3); /* with a reduction */
	CHECK_EQ(flops("aten::scatter_add_", "3x5 - 2x5 2x5"), 10);
	CHECK_EQ(flops("aten::index_add_", "3x5 - 2 2x5 -"), 10);
	CHECK_EQ(flops("aten::addcmul", "5 3x1 1x5 -"), 45); /* broadcast to 3 x 5 */
	CHECK_EQ(flops("aten::lerp", "5 5 -"), 15);
	CHECK_EQ(flops("aten::addcdiv", "5 3 5"), -3);
	CHECK_EQ(flops("aten::addcdiv", "- 3 5"), -3);
	CHECK_EQ(flops("aten::linear", "4x8 3x7"), -3);
	CHECK_EQ(flops("aten::scaled_dot_product_attention", "2x3x10x8 2x3x20x7 2x3x20x16"), -3);
	CHECK_EQ(flops("aten::scaled_dot_product_attention", "2x3x10x8 2x3x20x8 2x3x19x16"), -3);
}

/* ---- the sums ------------------------------------------------------------------------------ */

static uint32_t shaped(const char *name, const char *arguments)
{
	struct dwell_tensor tensors[MOST];
	int64_t sizes[MOST][8];
	unsigned count = parse(arguments, tensors, sizes);

	return dw_encode_op(&made.process, OP, name, NULL,
	                    dw_encode_shapes(&made.process, tensors, count), NULL, 0);
}

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static const struct dw_flops_row *row(const struct dw_flops_sum *sum, const char *name)
{
	for (size_t i = 0; i < sum->count; i++)
		if (strcmp(dw_model_symbols(made.model, NULL)[sum->rows[i].symbol].name, name) == 0)
			return &sum->rows[i];
	return NULL;
}

TEST(nested_operators_count_once)
{
	made_init(&made);
	uint32_t linear = shaped("aten::linear", "2x3 4x3"), addmm = shaped("aten::addmm", "4 2x3 3x4");
	uint32_t mm = shaped("aten::mm", "4x5 5x6"), wrapper = made_op(&made, OP, "MyFunction");
	uint32_t zone = made_op(&made, 0, "zone");

	begin(100, linear); /* 100 long, 48 FLOPs; the addmm in it is the same arithmetic */
	begin(110, addmm);
	end(190);
	end(200);
	begin(300, wrapper); /* 100 long, 40 of it mm: 60 are not counted */
	begin(310, zone);
	begin(320, mm); /* 240 FLOPs */
	end(360);
	end(370);
	end(400);
	begin(500, addmm); /* alone it counts: 48 FLOPs in 10 */
	end(510);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 4);
	CHECK_EQ(sum->flops, 48 + 240 + 48);
	CHECK_EQ(sum->counted_ns, 100 + 40 + 10);
	CHECK_EQ(sum->missed_ns, 60);
	CHECK_EQ(row(sum, "aten::linear")->flops, 48);
	CHECK_EQ(row(sum, "aten::linear")->ns, 100);
	CHECK_EQ(row(sum, "aten::addmm")->flops, 48);
	CHECK_EQ(row(sum, "aten::addmm")->calls, 1);
	CHECK_EQ(row(sum, "aten::addmm")->ns, 10);
	CHECK_EQ(row(sum, "aten::mm")->flops, 240);
	CHECK_EQ(row(sum, "MyFunction")->calls, 0);
	CHECK_EQ(row(sum, "MyFunction")->missed_calls, 1);
	CHECK_EQ(row(sum, "MyFunction")->missed_ns, 60);
	CHECK_EQ(row(sum, "MyFunction")->why, DW_FLOPS_NO_FORMULA);
	made_close(&made);
}

TEST(shapes_of_one_name_add_up)
{
	made_init(&made);
	uint32_t small = shaped("relu", "10"), large = shaped("relu", "1000");
	uint32_t unknown = made_op(&made, OP, "relu");

	for (uint64_t i = 0; i < 100; i++) {
		begin(1000 + i * 10, i < 70 ? small : i < 90 ? large : unknown);
		end(1005 + i * 10);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 1);
	CHECK_EQ(sum->rows[0].flops, 70 * 10 + 20 * 1000);
	CHECK_EQ(sum->rows[0].calls, 90);
	CHECK_EQ(sum->rows[0].ns, 450);
	CHECK_EQ(sum->rows[0].missed_calls, 10);
	CHECK_EQ(sum->rows[0].missed_ns, 50);
	CHECK_EQ(sum->rows[0].why, DW_FLOPS_NO_SHAPES);
	made_close(&made);
}

/* Numbers that no double holds. */
TEST(sums_are_exact_and_saturate)
{
	int64_t given[2] = { 9007199254740993, -1 }, most[2] = { INT64_MAX, -1 };
	struct dwell_tensor work = { given, 2, DWELL_ARG_WORK }, large = { most, 2, DWELL_ARG_WORK };

	made_init(&made);
	uint32_t own = dw_encode_op(&made.process, OP, "mine", NULL, dw_encode_shapes(&made.process, &work, 1), NULL, 0);
	uint32_t huge = dw_encode_op(&made.process, OP, "huge", NULL, dw_encode_shapes(&made.process, &large, 1), NULL, 0);

	for (uint64_t i = 0; i < 3; i++) {
		begin(1000 + i * 100, own);
		end(1010 + i * 100);
		begin(1020 + i * 100, huge);
		end(1030 + i * 100);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 2);
	CHECK(row(sum, "mine")->flops == 3u * 9007199254740993u);
	CHECK(row(sum, "huge")->flops == UINT64_MAX);
	CHECK(sum->flops == UINT64_MAX);
	CHECK_EQ(dw_flops_shown(sum->flops), INT64_MAX);
	made_close(&made);
}

TEST(a_scope_of_steps_counts_what_begins_in_them)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 2 };

	made_init(&made);
	uint32_t relu = shaped("relu", "10");

	for (uint64_t step = 0; step < 4; step++) {
		dw_encode_step(&made.process, made.thread, step, 1000 * step, 1000 * step + 500, 0,
		               DW_STEP_RECORDED);
		begin(1000 * step + 100, relu);
		end(1000 * step + 200);
		begin(1000 * step + 600, relu); /* between steps */
		end(1000 * step + 700);
	}
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 1);
	CHECK_EQ(sum->flops, 20);
	CHECK_EQ(sum->counted_ns, 200);
	made_close(&made);
}

/* outer (no formula) and inner (relu) are open; outer ends first. */
TEST(ranges_that_overlap_keep_their_time)
{
	uint32_t one = 1;

	made_init(&made);
	uint32_t outer = made_op(&made, OP, "outer"), inner = shaped("relu", "10");

	begin(100, outer);
	begin(200, inner);
	dw_encode_record(&made.stream, 300, DW_END_OF, 0, &one, 1);
	end(600);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 2);
	CHECK_EQ(row(sum, "outer")->missed_ns, 100);
	CHECK_EQ(row(sum, "relu")->ns, 400);
	made_close(&made);
}

/* "mm" has a formula, "mine" has none: what the program gave counts for both. */
TEST(the_programs_own_numbers_come_first)
{
	int64_t given[2] = { 1000, 64 }, bytes_only[2] = { -1, 32 }, sizes[2] = { 2, 2 };
	struct dwell_tensor work = { given, 2, DWELL_ARG_WORK };
	struct dwell_tensor mm[3] = { { bytes_only, 2, DWELL_ARG_WORK },
		{ sizes, 2, DWELL_FLOAT32 }, { sizes, 2, DWELL_FLOAT32 } };

	made_init(&made);
	uint32_t own = dw_encode_op(&made.process, OP, "mine", NULL,
	                            dw_encode_shapes(&made.process, &work, 1), NULL, 0);
	uint32_t formula = dw_encode_op(&made.process, OP, "mm", NULL,
	                                dw_encode_shapes(&made.process, mm, 3), NULL, 0);

	begin(100, own);
	end(300);
	begin(400, formula);
	end(500);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_flops_sum *sum = dw_model_flops(made.model, &made.error);
	REQUIRE(sum && sum->count == 2);
	CHECK_EQ(row(sum, "mine")->flops, 1000);
	CHECK_EQ(row(sum, "mine")->bytes, 64);
	CHECK_EQ(row(sum, "mm")->flops, 16);
	CHECK_EQ(row(sum, "mm")->bytes, 32);
	CHECK_EQ(sum->bytes, 96);
	CHECK_EQ(sum->bytes_ns, 300);
	made_close(&made);
}

CHECK_MAIN
