/*
 * A program with ggml for ggml_test.py, linked to ggml_standin.c.
 *
 *     ggml_program decode | train | graphs | abort
 *
 * With -DMARKED it marks steps of its own.
 */
#ifdef MARKED
#include <dwell/probe.h>
#else
#define DWELL_STEP()
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct batch {
	int32_t tokens;
	void *pointers[6];
};
struct ggml_cgraph;
int32_t llama_decode(void *context, struct batch batch);
int32_t llama_sampler_sample(void *sampler, void *context, int32_t at);
void ggml_opt_epoch(void *context, void *dataset, void *trained, void *evaluated, int64_t split, void *after_batch,
                    void *after_evaluation);
struct ggml_cgraph *standin_graph(int tokens);
int ggml_backend_graph_compute(void *backend, struct ggml_cgraph *graph);
void ggml_backend_cpu_set_abort_callback(void *backend, bool (*function)(void *data), void *data);
void ggml_backend_free(void *backend);

static bool stop(void *data)
{
	int *calls = data;

	return ++*calls == 4;
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	char context[8];
	int calls = 0;

	if (strcmp(what, "decode") == 0) {
		for (int i = 0; i < 10; i++) {
			DWELL_STEP();
			struct batch batch = { i ? 1 : 5, { 0 } };

			for (int k = 0; k < 6; k++)
				batch.pointers[k] = context + k;
			if (llama_decode(context, batch) != 0 || llama_sampler_sample(NULL, context, i) != i + 7)
				return 1;
		}
	} else if (strcmp(what, "train") == 0) {
		for (int epoch = 0; epoch < 2; epoch++)
			ggml_opt_epoch(NULL, NULL, NULL, NULL, 6, NULL, NULL);
	} else if (strcmp(what, "graphs") == 0) {
		for (int i = 0; i < 5; i++)
			if (ggml_backend_graph_compute(context, standin_graph(2)) != 0)
				return 1;
		ggml_backend_free(context);
	} else if (strcmp(what, "abort") == 0) {
		ggml_backend_cpu_set_abort_callback(context, stop, &calls);
		/* Three nodes each, so the second graph is aborted after its first. */
		for (int i = 0; i < 3; i++)
			printf("%d\n", ggml_backend_graph_compute(context, standin_graph(2)));
		printf("%d calls\n", calls);
	}
	return 0;
}
