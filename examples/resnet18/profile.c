/*
 * profile.c - layers, operators and metadata for dwell. Called by run.c and device.c before and after
 * operations, by loader.c, and by main.c once. If recording is off, an operation costs a load and a
 * branch. The code does not change the results of the training.
 */
#include "profile.h"

#include <stdio.h>
#include <string.h>

#include <dwell/probe.h>

#ifdef DWELL_DISABLE

void profile_enter_layer(struct profile_layers *open, const struct graph *graph, struct op *op)
{
	(void)open;
	(void)graph;
	(void)op;
}

unsigned profile_begin_phase(enum op_phase phase)
{
	(void)phase;
	return 0;
}

void profile_end_phase(unsigned began)
{
	(void)began;
}

unsigned profile_begin_op(struct op *op)
{
	(void)op;
	return 0;
}

void profile_end_op(unsigned began)
{
	(void)began;
}

void profile_name_thread(const char *name)
{
	(void)name;
}

void profile_run_metadata(const struct options *options, const char *data_folder)
{
	(void)options;
	(void)data_folder;
}

#else

/* Returns the number of layers that two paths have in common: two for "A.b.c" and "A.b.d". */
static int profile_shared_depth(const char *a, const char *b)
{
	const char *start = a;
	int depth = 0;

	for (; *a && *a == *b; a++, b++)
		depth += *a == '.';
	if ((*a == '\0' || *a == '.') && (*b == '\0' || *b == '.') && a != start)
		depth++;
	return depth;
}

static void profile_leave_to(struct profile_layers *open, int depth)
{
	while (open->depth > depth)
		dwell_end(open->began[--open->depth]);
}

unsigned profile_begin_phase(enum op_phase phase)
{
	static struct dwell_site sites[OP_PHASE_COUNT] = {
		[OP_FORWARD] = { .name = "forward", .file = __FILE__, .category = DWELL_CATEGORY_PHASE },
		[OP_BACKWARD] = { .name = "backward", .file = __FILE__, .category = DWELL_CATEGORY_PHASE },
		[OP_OPTIMIZER] = { .name = "optimizer",
						   .file = __FILE__,
						   .category = DWELL_CATEGORY_PHASE },
	};

	return dwell_begin(&sites[phase]);
}

void profile_end_phase(unsigned began)
{
	dwell_end(began);
}

static uint8_t profile_element_type(const struct tensor *tensor)
{
	return tensor->layout.data_type == dnnl_f32 ? DWELL_FLOAT32 : DWELL_INT32;
}

static struct dwell_tensor profile_shape_of(const struct tensor *tensor)
{
	return (struct dwell_tensor){ .sizes = tensor->layout.dims,
								  .dimensions = (uint8_t)tensor->layout.ndims,
								  .dtype = profile_element_type(tensor) };
}

static unsigned profile_begin_communication(struct op *op)
{
	op->site.name = op->name;
	op->site.file = __FILE__;
	op->site.category = DWELL_CATEGORY_COMMUNICATION;
	return dwell_begin(&op->site);
}

/* Includes the layer's own parameters: "ResNet.bn1" has bn1.weight and bn1.bias. */
static uint32_t profile_name_layer(const struct params *params, const char *path)
{
	const char *own = strchr(path, '.') ? strchr(path, '.') + 1 : path;
	size_t length = strlen(own);
	struct dwell_tensor tensors[4];
	unsigned count = 0;

	for (int i = 0; i < params->count && count < 4; i++) {
		const struct param *param = &params->items[i];
		const char *name = param->value.name;

		if (param->trained && strncmp(name, own, length) == 0 && name[length] == '.' &&
			!strchr(name + length + 1, '.'))
			tensors[count++] = profile_shape_of(&param->value);
	}
	return dwell_intern_layer(path, NULL, tensors, count);
}

/* Runs once for each operation; later calls use the ids. */
static void profile_name_layers(const struct params *params, struct op *op)
{
	char path[GRAPH_LAYER_MAX];
	int depth = 0;

	for (size_t i = 0; i < sizeof path && depth < GRAPH_LAYER_DEPTH_MAX; i++) {
		path[i] = '\0';
		if (op->layer[i] == '.' || op->layer[i] == '\0')
			op->layer_ids[depth++] = profile_name_layer(params, path);
		if (op->layer[i] == '\0')
			break;
		path[i] = op->layer[i];
	}
}

void profile_enter_layer(struct profile_layers *open, const struct graph *graph, struct op *op)
{
	const char *path = op ? op->layer : "";
	int depth = *path != '\0';

	if (strcmp(open->path, path) == 0)
		return;
	profile_leave_to(open, profile_shared_depth(open->path, path));
	for (const char *at = path; *at; at++)
		depth += *at == '.';
	if (depth && !op->layer_ids[0] && dwell_wants(1u << DWELL_CATEGORY_LAYER))
		profile_name_layers(graph->params, op);
	for (; open->depth < depth && open->depth < GRAPH_LAYER_DEPTH_MAX; open->depth++)
		open->began[open->depth] =
			dwell_begin_id(op->layer_ids[open->depth], DWELL_CATEGORY_LAYER);
	snprintf(open->path, sizeof open->path, "%s", path);
}

/* The arguments are the tensors that the operation reads, then those that it writes; FLOPs are
 * computed from both. oneDNN's scratch memory is not included. */
unsigned profile_begin_op(struct op *op)
{
	struct dwell_tensor arguments[OP_ARGUMENTS_MAX];
	unsigned count = 0;

	if (op->communicates)
		return profile_begin_communication(op);
	if (!dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		return 0;
	for (int i = 0; i < op->read_count; i++)
		arguments[count++] = profile_shape_of(op->reads[i]);
	for (int i = 0; i < op->write_count; i++)
		if (strcmp(op->writes[i]->name, "scratch") != 0)
			arguments[count++] = profile_shape_of(op->writes[i]);
	op->site.name = op->name;
	op->site.file = __FILE__;
	op->site.category = DWELL_CATEGORY_OPERATOR;
	return dwell_op_begin(&op->site, arguments, count);
}

void profile_end_op(unsigned began)
{
	dwell_end(began);
}

void profile_name_thread(const char *name)
{
	dwell_thread_name(name);
}

static void profile_number_fact(const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof text, "%g", value);
	dwell_meta_json(key, text);
}

void profile_run_metadata(const struct options *options, const char *data_folder)
{
	dwell_meta("model", "ResNet-18");
	dwell_meta("data", data_folder);
	dwell_meta("optimizer", optimizer_name(options->optimizer.kind));
	profile_number_fact("learning_rate", (double)options->optimizer.learning_rate);
	profile_number_fact("momentum", (double)options->optimizer.momentum);
	profile_number_fact("batch_size", options->batch_size);
	profile_number_fact("ranks", options->ranks);
	profile_number_fact("threads", dnn_thread_count());
	profile_number_fact("loader_prefetch", options->prefetch);
}

#endif
