/*
 * A program with ONNX Runtime for onnx_test.py, linked to onnx_standin.c.
 *
 *     onnx_program [PREFIX]        with a PREFIX it starts ONNX Runtime's profiler itself
 */
#include <stddef.h>
#include <stdint.h>

struct base {
	void *const *(*get)(uint32_t version);
	const char *(*version)(void);
};
struct options {
	char prefix[4096];
};
const struct base *OrtGetApiBase(void);

typedef void callback(void *user, void **outputs, size_t count, void *failed);
typedef void *run_async(void *session, void *options, const char *const *input_names, const void *const *inputs,
                        size_t input_count, const char *const *output_names, size_t output_count, void **outputs,
                        callback *done, void *user);

static int completions;

static void completed(void *user, void **outputs, size_t count, void *failed)
{
	completions += user && outputs && count == 2 && !failed;
}

int main(int count, char **words)
{
	void *const *api = OrtGetApiBase()->get(14), *const *same = OrtGetApiBase()->get(15);
	struct options options = { "none" };
	void *session, *run_options, *outputs[2] = { NULL, NULL };
	const void *input = &options;
	const char *const name = "x";

	if (OrtGetApiBase()->get(100) || api != same)
		return 1;
	if (count > 1)
		((void *(*)(struct options *, const char *))api[14])(&options, words[1]);
	((void *(*)(void *, const char *, struct options *, void **))api[7])(&options, "model", &options, &session);
	for (int i = 0; i < 5; i++)
		((void *(*)(void *, void *, const char *const *, const void *const *, size_t, const char *const *, size_t,
		            void **))api[9])(session, NULL, &name, &input, 1, &name, 2, outputs);
	/* with options of its own */
	if (((void *(*)(void **))api[39])(&run_options))
		return 5;
	((void *(*)(void *, void *, const char *const *, const void *const *, size_t, const char *const *, size_t,
	            void **))api[9])(session, run_options, &name, &input, 1, &name, 2, outputs);
	((void (*)(void *))api[97])(run_options);
	for (int i = 0; i < 3; i++)
		if (((void *(*)(void *, void *, void *))api[133])(session, NULL, NULL))
			return 3;
	for (int i = 0; i < 300; i++)
		((run_async *)api[260])(&options, NULL, &name, &input, 1, &name, 2, outputs, completed, &options);
	if (completions != 300 || !((run_async *)api[260])(NULL, NULL, &name, &input, 1, &name, 2, outputs, completed, NULL))
		return 4;
	return outputs[1] == (char *)NULL + 1 ? 0 : 2;
}
