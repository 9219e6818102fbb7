/*
 * profile.c - layers, operators and facts for dwell. Called by run.c around
 * every operation and by main.c once. What is not recorded costs a load and a
 * branch an operation; nothing here changes what the trainer computes.
 */
#include "profile.h"

#include <stdio.h>
#include <string.h>

#include <dwell/probe.h>

#ifdef DWELL_DISABLE

void profile_enter_layer(struct profile_layers *open, const char *path)
{
	(void)open;
	(void)path;
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

void profile_run_facts(const struct options *options, const char *data_folder)
{
	(void)options;
	(void)data_folder;
}

#else

/* How many layers two paths share: "A.b.c" and "A.b.d" share two. */
static int shared_depth(const char *a, const char *b)
{
	const char *start = a;
	int depth = 0;

	for (; *a && *a == *b; a++, b++)
		depth += *a == '.';
	if ((*a == '\0' || *a == '.') && (*b == '\0' || *b == '.') && a != start)
		depth++;
	return depth;
}

static void leave_to(struct profile_layers *open, int depth)
{
	while (open->depth > depth)
		dwell_end(open->began[--open->depth]);
}

static void enter_one(struct profile_layers *open, const char *path, size_t length)
{
	char name[GRAPH_LAYER_MAX];
	unsigned began = DWELL_NOT_BEGUN;

	if (open->depth == PROFILE_LAYER_DEPTH_MAX)
		return;
	if (dwell_wants(1u << DWELL_CATEGORY_LAYER)) {
		snprintf(name, sizeof name, "%.*s", (int)length, path);
		began =
			dwell_begin_id(dwell_intern(DWELL_CATEGORY_LAYER, name, NULL), DWELL_CATEGORY_LAYER);
	}
	open->began[open->depth++] = began;
}

void profile_enter_layer(struct profile_layers *open, const char *path)
{
	int depth = 0;

	if (strcmp(open->path, path) == 0)
		return;
	leave_to(open, shared_depth(open->path, path));
	for (size_t i = 0; *path; i++) {
		if (path[i] != '.' && path[i] != '\0')
			continue;
		if (depth++ >= open->depth)
			enter_one(open, path, i);
		if (path[i] == '\0')
			break;
	}
	snprintf(open->path, sizeof open->path, "%s", path);
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

static uint8_t element_type(const struct tensor *tensor)
{
	return tensor->layout.data_type == dnnl_f32 ? DWELL_FLOAT32 : DWELL_INT32;
}

static struct dwell_tensor shape_of(const struct tensor *tensor)
{
	return (struct dwell_tensor){ .sizes = tensor->layout.dims,
								  .dimensions = (uint8_t)tensor->layout.ndims,
								  .dtype = element_type(tensor) };
}

static unsigned begin_communication(struct op *op)
{
	op->site.name = op->name;
	op->site.file = __FILE__;
	op->site.category = DWELL_CATEGORY_COMMUNICATION;
	return dwell_begin(&op->site);
}

/* The arguments are what the operation reads, then what it writes: FLOPs follow
 * from both. oneDNN's scratch memory is neither. */
unsigned profile_begin_op(struct op *op)
{
	struct dwell_tensor arguments[OP_ARGUMENTS_MAX];
	unsigned count = 0;

	if (op->communicates)
		return begin_communication(op);
	if (!dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		return 0;
	for (int i = 0; i < op->read_count; i++)
		arguments[count++] = shape_of(op->reads[i]);
	for (int i = 0; i < op->write_count; i++)
		if (strcmp(op->writes[i]->name, "scratch") != 0)
			arguments[count++] = shape_of(op->writes[i]);
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

static void number_fact(const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof text, "%g", value);
	dwell_meta_json(key, text);
}

void profile_run_facts(const struct options *options, const char *data_folder)
{
	dwell_meta("model", "ResNet-18");
	dwell_meta("data", data_folder);
	dwell_meta("optimizer", optimizer_name(options->optimizer.kind));
	number_fact("learning_rate", (double)options->optimizer.learning_rate);
	number_fact("momentum", (double)options->optimizer.momentum);
	number_fact("batch_size", options->batch_size);
	number_fact("ranks", options->ranks);
	number_fact("threads", dnn_thread_count());
	number_fact("loader_prefetch", options->prefetch);
}

#endif
