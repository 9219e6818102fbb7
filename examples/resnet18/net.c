/*
 * net.c - builds ResNet-18 from layers.h: a stem, four stages of two basic blocks, pooling and a
 * linear layer. Called by main.c, once for training and once for evaluation.
 */
#include "net.h"

#include <stdarg.h>
#include <stdio.h>

#include "layers.h"

enum { CLASSES = 10, STEM_CHANNELS = 64, STAGES = 4, BLOCKS_PER_STAGE = 2 };

/* Enters a layer and returns its path, which is the prefix of its parameters' names. */
static const char *net_enter(struct graph *graph, char path[GRAPH_LAYER_MAX], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static const char *net_enter(struct graph *graph, char path[GRAPH_LAYER_MAX], const char *format, ...)
{
	char layer[GRAPH_LAYER_MAX + sizeof "ResNet."];
	va_list args;

	va_start(args, format);
	vsnprintf(path, GRAPH_LAYER_MAX, format, args);
	va_end(args);
	snprintf(layer, sizeof layer, "ResNet.%s", path);
	graph_set_layer(graph, layer);
	return path;
}

static struct tensor *net_shortcut(struct graph *graph, const char *block, struct tensor *input,
							       int channels, int stride)
{
	char path[GRAPH_LAYER_MAX];
	struct tensor *x = input;

	if (stride == 1 && input->layout.dims[1] == channels)
		return input;
	x = layer_conv(graph, net_enter(graph, path, "%s.downsample.0", block), x,
				   &(struct conv_shape){ channels, 1, stride, 0 }, PARAM_KAIMING_NORMAL);
	return layer_batch_norm(graph, net_enter(graph, path, "%s.downsample.1", block), x);
}

static struct tensor *net_basic_block(struct graph *graph, const char *block, struct tensor *input,
								      int channels, int stride)
{
	char path[GRAPH_LAYER_MAX];
	struct tensor *x = input, *identity;

	x = layer_conv(graph, net_enter(graph, path, "%s.conv1", block), x,
				   &(struct conv_shape){ channels, 3, stride, 1 }, PARAM_KAIMING_NORMAL);
	x = layer_batch_norm(graph, net_enter(graph, path, "%s.bn1", block), x);
	net_enter(graph, path, "%s.relu", block);
	x = layer_relu(graph, x);
	x = layer_conv(graph, net_enter(graph, path, "%s.conv2", block), x,
				   &(struct conv_shape){ channels, 3, 1, 1 }, PARAM_KAIMING_NORMAL);
	x = layer_batch_norm(graph, net_enter(graph, path, "%s.bn2", block), x);
	identity = net_shortcut(graph, block, input, channels, stride);
	net_enter(graph, path, "%s", block);
	x = layer_add(graph, x, identity);
	net_enter(graph, path, "%s.relu", block);
	return layer_relu(graph, x);
}

static struct tensor *net_build_logits(struct graph *graph, struct tensor *images)
{
	char path[GRAPH_LAYER_MAX];
	struct tensor *x;

	x = layer_conv(graph, net_enter(graph, path, "conv1"), images,
				   &(struct conv_shape){ STEM_CHANNELS, 3, 1, 1 }, PARAM_KAIMING_UNIFORM);
	x = layer_batch_norm(graph, net_enter(graph, path, "bn1"), x);
	net_enter(graph, path, "relu");
	x = layer_relu(graph, x);
	net_enter(graph, path, "maxpool");
	x = layer_max_pool(graph, x, 3, 2, 1);
	for (int stage = 0; stage < STAGES; stage++) {
		for (int i = 0; i < BLOCKS_PER_STAGE; i++) {
			char block[GRAPH_LAYER_MAX / 2];

			snprintf(block, sizeof block, "layer%d.%d", stage + 1, i);
			x = net_basic_block(graph, block, x, STEM_CHANNELS << stage, stage > 0 && i == 0 ? 2 : 1);
		}
	}
	net_enter(graph, path, "avgpool");
	x = layer_global_average_pool(graph, x);
	return layer_linear(graph, net_enter(graph, path, "fc"), x, CLASSES);
}

static struct tensor *net_scalar(struct graph *graph, const char *name)
{
	dnnl_memory_desc_t layout = dnn_layout(1, (dnnl_dims_t){ 1 }, dnnl_a);

	return graph_tensor(graph, TENSOR_ACTIVATION, TENSOR_PERSISTENT, name, &layout);
}

void net_init(struct net *net, const struct dnn *dnn, struct params *params,
			  const struct net_shape *shape, bool training)
{
	struct graph *graph = &net->graph;
	dnnl_memory_desc_t images =
		dnn_layout(4, (dnnl_dims_t){ shape->batch, 1, shape->height, shape->width }, dnnl_abcd);
	dnnl_memory_desc_t labels;
	struct tensor *logits;

	dnn_check(
		dnnl_memory_desc_init_by_tag(&labels, 1, (dnnl_dims_t){ shape->batch }, dnnl_s32, dnnl_a),
		"labels");
	graph_init(graph, dnn, params, training);
	graph->frozen_norm = shape->frozen_norm;
	graph->norm_ranks = training ? shape->norm_ranks : NULL;
	net->images = graph_tensor(graph, TENSOR_INPUT, TENSOR_BOUND, "images", &images);
	net->labels = graph_tensor(graph, TENSOR_INPUT, TENSOR_BOUND, "labels", &labels);
	net->loss = net_scalar(graph, "loss");
	net->correct = net_scalar(graph, "correct");
	logits = net_build_logits(graph, net->images);
	graph_set_layer(graph, "CrossEntropyLoss");
	layer_cross_entropy(graph, logits, net->labels, net->loss, net->correct);
	if (training)
		graph_build_backward(graph);
}

void net_reset(struct net *net)
{
	graph_reset(&net->graph);
}

float net_loss(const struct net *net)
{
	return *(const float *)net->loss->data;
}

float net_correct(const struct net *net)
{
	return *(const float *)net->correct->data;
}
