/*
 * Runs a model with ONNX Runtime, and prints the time of each run, and of the processor. pip's package has no header, so the
 * few functions of the table are called by their places.
 *
 *     onnxruntime MODEL RUNS [PREFIX]        MODEL has the input x of 16 times 256 numbers, and the output y; with PREFIX,
 *                                            ONNX Runtime writes a profile of each run to a file of its own
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GET_ERROR_MESSAGE = 2, CREATE_ENV = 3, CREATE_SESSION = 7, RUN = 9, CREATE_SESSION_OPTIONS = 10, SET_THREADS = 24,
       CREATE_RUN_OPTIONS = 39, CREATE_TENSOR = 49, CREATE_CPU_MEMORY_INFO = 69, RELEASE_SESSION = 95, RELEASE_VALUE = 96, RELEASE_RUN_OPTIONS = 97, ENABLE_RUN_PROFILING = 415 };
enum { ROWS = 16, COLUMNS = 256, WARNING = 2, FLOATS = 1 };

struct base {
	void *const *(*get)(uint32_t version);
	const char *(*version)(void);
};
const struct base *OrtGetApiBase(void);

static void *const *api;
#define CALL(place, result, ...) ((result (*)(__VA_ARGS__))api[place])

static void onnxruntime_check(void *failed)
{
	if (!failed)
		return;
	fprintf(stderr, "%s\n", CALL(GET_ERROR_MESSAGE, const char *, void *)(failed));
	exit(1);
}

static double onnxruntime_now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void onnxruntime_run(void *session, void *input, const char *prefix)
{
	const char *input_name = "x", *output_name = "y";
	void *output = NULL, *options = NULL;
	double cpu = onnxruntime_now_ms(CLOCK_THREAD_CPUTIME_ID), begun = onnxruntime_now_ms(CLOCK_MONOTONIC);

	if (prefix) {
		onnxruntime_check(CALL(CREATE_RUN_OPTIONS, void *, void **)(&options));
		onnxruntime_check(CALL(ENABLE_RUN_PROFILING, void *, void *, const char *)(options, prefix));
	}
	onnxruntime_check(CALL(RUN, void *, void *, void *, const char *const *, void *const *, size_t, const char *const *, size_t,
	           void **)(session, options, &input_name, &input, 1, &output_name, 1, &output));
	begun = onnxruntime_now_ms(CLOCK_MONOTONIC) - begun;
	printf("took %f ms, %f ms of the processor\n", begun, onnxruntime_now_ms(CLOCK_THREAD_CPUTIME_ID) - cpu);
	CALL(RELEASE_VALUE, void, void *)(output);
	if (options)
		CALL(RELEASE_RUN_OPTIONS, void, void *)(options);
}

int main(int count, char **words)
{
	const int64_t shape[] = { ROWS, COLUMNS };
	static float numbers[ROWS * COLUMNS];
	void *environment, *options, *session, *memory, *input;

	if (count != 3 && count != 4)
		return 2;
	api = OrtGetApiBase()->get(14);
	onnxruntime_check(CALL(CREATE_ENV, void *, int, const char *, void **)(WARNING, "example", &environment));
	onnxruntime_check(CALL(CREATE_SESSION_OPTIONS, void *, void **)(&options));
	onnxruntime_check(CALL(SET_THREADS, void *, void *, int)(options, 1));
	onnxruntime_check(CALL(CREATE_SESSION, void *, void *, const char *, void *, void **)(environment, words[1], options,
	                                                                                       &session));
	onnxruntime_check(CALL(CREATE_CPU_MEMORY_INFO, void *, int, int, void **)(0, 0, &memory));
	onnxruntime_check(CALL(CREATE_TENSOR, void *, void *, void *, size_t, const int64_t *, size_t, int, void **)(
		memory, numbers, sizeof numbers, shape, 2, FLOATS, &input));
	for (int i = 0; i < atoi(words[2]); i++)
		onnxruntime_run(session, input, words[3]);
	CALL(RELEASE_SESSION, void, void *)(session);
	return 0;
}
