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

int main(int count, char **words)
{
	void *const *api = OrtGetApiBase()->get(14), *const *same = OrtGetApiBase()->get(15);
	struct options options = { "none" };
	void *session, *outputs[2] = { NULL, NULL };
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
	return outputs[1] == (char *)NULL + 1 ? 0 : 2;
}
