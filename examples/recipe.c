/*
 * PyTorch's profiler recipe in C, step by step, on ResNet-18: operators by time, by shape, with
 * memory, as a trace file, with stacks, as a flame graph, and in a long job.
 * doc/how/from-torch-profiler.md compares both outputs.
 *
 *     recipe [FOLDER]        writes files to FOLDER, by default the current one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/dwell.h>
#include <dwell/probe.h>
#include <dwell/trace.h>

#include "resnet18/data.h"
#include "resnet18/loader.h"
#include "resnet18/net.h"

static const char *folder = ".";

/* Errors of the profiler do not end the program; they are printed. */
static struct dwell_error error;

static void say(int code)
{
	if (code)
		fprintf(stderr, "recipe: %s\n", error.message);
}

/* ---- 2. a model and its inputs ------------------------------------------------------ */

struct model {
	struct dnn dnn;
	struct data_set data;
	struct params params;
	struct net net;
	struct batch batch;
};

static void model_init(struct model *model)
{
	struct net_shape shape = { .batch = 5 };

	data_load(&model->data, NULL);
	dnn_init(&model->dnn, 0);
	shape.height = model->data.train.height;
	shape.width = model->data.train.width;
	params_init(&model->params, &model->dnn);
	net_init(&model->net, &model->dnn, &model->params, &shape, false);
	graph_finish(&model->net.graph);
	params_fill(&model->params, 1);
	batch_init(&model->batch, &model->data.train, shape.batch);
	for (int i = 0; i < shape.batch; i++)
		batch_set(&model->batch, &model->data.train, i, i);
	tensor_bind(model->net.images, model->batch.images);
	tensor_bind(model->net.labels, model->batch.labels);
}

static void model_run(const struct model *model)
{
	DWELL_ZONE("model_inference");
	graph_run(&model->net.graph, OP_FORWARD);
}

static void model_reset(struct model *model)
{
	batch_reset(&model->batch);
	net_reset(&model->net);
	params_reset(&model->params);
	data_reset(&model->data);
	dnn_reset(&model->dnn);
}

/* ---- results -------------------------------------------------------------------------- */

/* Prints the table of key_averages(), sorted, ten rows; optionally by shape or by stack. */
static void print_table(const struct dwell_profile_result *result, const char *sort,
                        const char *group_by, size_t limit)
{
	struct dwell_view_options options = { .size = sizeof options, .sort = sort,
		.group_by = group_by, .limit = limit };
	struct dwell_trace *trace;
	int code = dwell_trace_open_result(&trace, result, &error);

	if (!code) {
		code = dwell_trace_layout(trace, "torch", &options, stdout, &error);
		dwell_trace_close(trace);
	}
	say(code);
}

static void export(const struct dwell_profile_result *result, const char *format,
                   const char *metric, const char *title, const char *name)
{
	struct dwell_export_options options = { .size = sizeof options, .metric = metric,
		.title = title };
	struct dwell_trace *trace;
	char path[4096];
	int code = dwell_trace_open_result(&trace, result, &error);

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!code) {
		code = dwell_trace_export(trace, format, path, &options, &error);
		dwell_trace_close(trace);
	}
	say(code);
	if (!code)
		printf("wrote %s\n", path);
}

/* Profiles one inference. Returns false if there is no result. */
static bool profile_once(const struct model *model, const struct dwell_profile_options *options,
                         struct dwell_profile_result *result)
{
	struct dwell_profile *profile = dwell_profile_create(options, &error);
	int code;

	if (!profile) {
		say(error.code);
		return false;
	}
	if (dwell_profile_warning(profile))
		fprintf(stderr, "recipe: %s\n", dwell_profile_warning(profile));
	{
		DWELL_PROFILE(profile);
		model_run(model);
	}
	code = dwell_profile_result(profile, result, &error);
	say(code);
	dwell_profile_destroy(profile);
	return code == 0;
}

/* ---- 3. to 7. ------------------------------------------------------------------------- */

static void show_time(const struct model *model)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile_result result;

	options.name = "time";
	options.activities = DWELL_ACTIVITY_CPU | DWELL_ACTIVITY_CUDA;
	options.record_shapes = true;
	printf("\n3. execution time\n");
	if (!profile_once(model, &options, &result))
		return;
	print_table(&result, "cpu_time_total", NULL, 10);
	print_table(&result, "cpu_time_total", "shape", 10);
}

static void show_memory(const struct model *model)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile_result result;

	options.name = "memory";
	options.profile_memory = options.record_shapes = true;
	printf("\n4. memory consumption\n");
	if (!profile_once(model, &options, &result))
		return;
	print_table(&result, "self_cpu_memory_usage", NULL, 10);
	print_table(&result, "cpu_memory_usage", NULL, 10);
}

static void show_trace_and_stacks(const struct model *model)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile_result result;

	options.name = "stacks";
	options.with_stack = true;
	printf("\n5. tracing\n");
	if (!profile_once(model, &options, &result))
		return;
	export(&result, "chrome", NULL, NULL, "recipe.json");
	printf("\n6. stack traces\n");
	print_table(&result, "self_cpu_time_total", "stack:5", 2);
	printf("\n7. flame graph\n");
	export(&result, "folded", "self_cpu_time_total", NULL, "recipe_stacks.txt");
	export(&result, "flamegraph", "self_cpu", "CPU time", "recipe.svg");
}

/* ---- 8. a long job ----------------------------------------------------------------------- */

static void ready(struct dwell_profile *profile, const struct dwell_profile_result *result,
                  void *context)
{
	unsigned long long step = dwell_profile_step_num(profile);
	char name[64];

	(void)context;
	print_table(result, "self_cpu_time_total", NULL, 10);
	snprintf(name, sizeof name, "recipe_%llu.json", step);
	export(result, "chrome", NULL, NULL, name);
}

static void show_schedule(const struct model *model)
{
	struct dwell_profile_options options = DWELL_PROFILE_OPTIONS_INIT;
	struct dwell_profile *profile;

	options.name = "long";
	options.schedule = (struct dwell_schedule){ .wait = 1, .warmup = 1, .active = 2 };
	options.on_trace_ready = ready;
	printf("\n8. a long-running job: steps 2, 3 and 6, 7 of 8\n");
	profile = dwell_profile_create(&options, &error);
	if (!profile) {
		say(error.code);
		return;
	}
	say(dwell_profile_start(profile, &error));
	for (int step = 0; step < 8; step++) {
		model_run(model);
		say(dwell_profile_step(profile, &error));
	}
	say(dwell_profile_stop(profile, &error));
	dwell_profile_destroy(profile);
}

int main(int argc, char **argv)
{
	static struct model model; /* too large for a stack */
	struct dwell_options session = DWELL_OPTIONS_INIT;
	char path[4096];

	if (argc > 1)
		folder = argv[1];
	snprintf(path, sizeof path, "%s/recipe.dwell", folder);
	session.path = path;
	session.overwrite = true;
	session.categories = DWELL_MASK_NONE; /* record only what the profiles request */
	if (dwell_start(&session, &error)) {
		say(error.code);
		return 1;
	}
	model_init(&model);
	model_run(&model); /* the first run allocates what later runs reuse */
	show_time(&model);
	show_memory(&model);
	show_trace_and_stacks(&model);
	show_schedule(&model);
	model_reset(&model);
	return 0;
}
