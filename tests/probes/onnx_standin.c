/* Stands for ONNX Runtime in onnx_test.py: a table with the functions that the probe knows, at their places. */
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

static void *const table[120] = { [7] = (void *)standin_create_session, [9] = (void *)standin_run,
	                              [12] = (void *)standin_clone, [14] = (void *)standin_enable,
	                              [100] = (void *)standin_release };

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
