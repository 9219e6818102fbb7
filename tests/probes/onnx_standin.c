/* Stands for ONNX Runtime in onnx_test.py: a table with the functions that the probe knows, at their places. */
#define _GNU_SOURCE /* gettid() */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct base {
	void *const *(*get)(uint32_t version);
	const char *(*version)(void);
};
struct options {
	char prefix[4096];
};
static struct options copy, of_runs[4];

/* ---- options of a run, and its profile ---- */

static void *standin_create_run_options(struct options **to)
{
	for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++)
		if (!of_runs[i].prefix[0]) {
			snprintf(of_runs[i].prefix, sizeof of_runs[i].prefix, "off");
			*to = &of_runs[i];
			return NULL;
		}
	return of_runs;
}

static void standin_release_run_options(struct options *options)
{
	options->prefix[0] = '\0';
}

static void *standin_enable_run(struct options *options, const char *prefix)
{
	snprintf(options->prefix, sizeof options->prefix, "%s", prefix);
	return NULL;
}

static void *standin_disable_run(struct options *options)
{
	snprintf(options->prefix, sizeof options->prefix, "off");
	return NULL;
}

/* Uses the CPU for 40 ms, in which the sampler takes samples. The profile has a loop of 30 ms with two products, a node of
 * another thread, and a node that is none. */
static void standin_profile(const char *prefix)
{
	char path[4200];
	FILE *file;
	clock_t begun = clock();

	while ((clock() - begun) * 1000 / CLOCKS_PER_SEC < 40)
		;
	snprintf(path, sizeof path, "%s_2026-01-01_00-00-00_1.json", prefix);
	file = fopen(path, "w");
	if (!file)
		return;
	fputs("[\n", file);
#define NODE(tid, start, length, name, operator, shapes)                                                              \
	fprintf(file,                                                                                                     \
	        "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :%d,\"dur\" :%d,\"ts\" :%d,\"ph\" : \"X\",\"name\" :\"" name            \
	        "_kernel_time\",\"args\" : {\"input_type_shape\" : [" shapes "],\"op_name\" : \"" operator "\"}},\n",        \
	        tid, length, start)
	NODE(gettid(), 1000, 10000, "/body/first", "MatMul", "{\"float\":[2,3]},{\"int64\":[3]}");
	NODE(gettid() + 1, 1000, 10000, "/other", "Conv", "");
	NODE(gettid(), 12000, 10000, "/body/second", "MatMul", "{\"float\":[2,3]},{\"int64\":[3]}");
	NODE(gettid(), 0, 30000, "/loop", "Loop", "{\"bool\":[]}");
	NODE(gettid(), 30000, 5000, "/broken", "Relu", "{\"float\":[");
	NODE(gettid(), 36000, 0, "/short", "Abs", "");
	NODE(gettid() + 1, 37000, 2000, "/apart", "Conv", "");
	fprintf(file, "{\"cat\" : \"Session\",\"pid\" :1,\"tid\" :%d,\"dur\" :40000,\"ts\" :0,\"ph\" : \"X\",\"name\" "
	              ":\"model_run\",\"args\" : {}}\n]\n", gettid());
	fclose(file);
}

/* ---- sessions ---- */

static void *standin_create_session(const void *environment, const char *path, const struct options *options,
                                    void **session)
{
	*session = (void *)environment;
	printf("session of %s, profiler: %s\n", path, options->prefix);
	return NULL;
}

static void *standin_run(void *session, const struct options *options, const char *const *input_names, const void *const *inputs,
                         size_t input_count, const char *const *output_names, size_t output_count, void **outputs)
{
	(void)session, (void)input_names, (void)inputs, (void)output_names;
	if (options && strcmp(options->prefix, "off") != 0)
		standin_profile(options->prefix);
	for (size_t i = 0; i < output_count; i++)
		outputs[i] = (char *)NULL + input_count;
	return NULL;
}

static void *standin_run_with_binding(void *session, const void *options, const void *binding)
{
	(void)session, (void)options;
	return (void *)binding; /* an error, unless it is NULL */
}

typedef void standin_callback(void *user, void **outputs, size_t count, void *failed);

static struct standin_async {
	standin_callback *callback;
	void *user, **outputs;
	size_t count;
} async;

static void *standin_complete(void *unused)
{
	async.callback(async.user, async.outputs, async.count, NULL);
	return unused;
}

/* Completes in another thread, before it returns. A session is needed. */
static void *standin_run_async(void *session, const void *options, const char *const *input_names,
                               const void *const *inputs, size_t input_count, const char *const *output_names,
                               size_t output_count, void **outputs, standin_callback *callback, void *user)
{
	pthread_t thread;

	(void)options, (void)input_names, (void)inputs, (void)input_count, (void)output_names;
	if (!session)
		return &async;
	async = (struct standin_async){ callback, user, outputs, output_count };
	pthread_create(&thread, NULL, standin_complete, NULL);
	pthread_join(thread, NULL);
	return NULL;
}

static void *standin_clone(const struct options *options, struct options **to)
{
	copy = *options;
	*to = &copy;
	return NULL;
}

static void *standin_enable(struct options *options, const char *prefix)
{
	snprintf(options->prefix, sizeof options->prefix, "%s", prefix);
	return NULL;
}

static void standin_release(struct options *options)
{
	printf("released %s\n", options == &copy ? "the copy" : "other options");
}

static void *const table[420] = { [7] = (void *)standin_create_session, [9] = (void *)standin_run,
	                              [39] = (void *)standin_create_run_options,
	                              [97] = (void *)standin_release_run_options,
	                              [415] = (void *)standin_enable_run, [416] = (void *)standin_disable_run,
	                              [12] = (void *)standin_clone, [14] = (void *)standin_enable,
	                              [100] = (void *)standin_release,
	                              [133] = (void *)standin_run_with_binding,
	                              [260] = (void *)standin_run_async };

static void *const *standin_get(uint32_t version)
{
	return version < 100 ? table : NULL;
}

static const char *standin_version(void)
{
	const char *version = getenv("STANDIN_VERSION");

	return version ? version : "1.24.9";
}

const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void)
{
	static const struct base base = { standin_get, standin_version };

	return &base;
}
