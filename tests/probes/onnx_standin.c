/* Stands for ONNX Runtime in onnx_test.py: a table with the functions that the probe knows, at their places. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct base {
	void *const *(*get)(uint32_t version);
	const char *(*version)(void);
};
struct options {
	char prefix[4096];
};
static struct options copy;

static void *standin_create_session(const void *environment, const char *path, const struct options *options,
                                    void **session)
{
	*session = (void *)environment;
	printf("session of %s, profiler: %s\n", path, options->prefix);
	return NULL;
}

static void *standin_run(void *session, const void *options, const char *const *input_names, const void *const *inputs,
                         size_t input_count, const char *const *output_names, size_t output_count, void **outputs)
{
	(void)session, (void)options, (void)input_names, (void)inputs, (void)output_names;
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

static void *const table[270] = { [7] = (void *)standin_create_session, [9] = (void *)standin_run,
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
	return "9.9.9";
}

const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void)
{
	static const struct base base = { standin_get, standin_version };

	return &base;
}
