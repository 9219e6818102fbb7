/*
 * Stands for ggml and llama.cpp in ggml_test.py: a library with the functions that the probe records and calls. Its
 * tensors are laid out in no version's way. With -DFUSED it computes RMS_NORM and the MUL after it as one node.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))

struct ggml_tensor {
	char name[24];
	int64_t sizes[4];
	const char *operation;
	struct ggml_tensor *sources[10];
	int32_t flags, type;
	char unused[64];
};
struct ggml_cgraph {
	int count;
	struct ggml_tensor **nodes;
};
struct init {
	size_t bytes;
	void *memory;
	bool no_data;
};
struct batch {
	int32_t tokens;
	void *pointers[6];
};
typedef bool abort_callback(void *data);

static struct ggml_tensor tensors[1024];
static unsigned made;
static abort_callback *callback;
static void *callback_data;
static int backend, device, registry;

/* ---- tensors and graphs ------------------------------------------------------------------------ */

API void *ggml_init(struct init how)
{
	return how.no_data ? &made : NULL;
}

API void ggml_free(void *context)
{
	(void)context;
}

API size_t ggml_tensor_overhead(void)
{
	return sizeof(struct ggml_tensor);
}

API struct ggml_tensor *ggml_new_tensor_2d(void *context, int type, int64_t inner, int64_t outer)
{
	struct ggml_tensor *tensor = &tensors[made++ % 1024];

	(void)context;
	*tensor = (struct ggml_tensor){ .sizes = { inner, outer, 1, 1 }, .operation = "NONE", .type = type };
	return tensor;
}

static struct ggml_tensor *operate(const char *operation, struct ggml_tensor *a, struct ggml_tensor *b, int64_t inner,
                                   int64_t outer)
{
	struct ggml_tensor *tensor = ggml_new_tensor_2d(NULL, 0, inner, outer);

	tensor->operation = operation;
	tensor->sources[0] = a;
	tensor->sources[1] = b;
	return tensor;
}

API struct ggml_tensor *ggml_mul_mat(void *context, struct ggml_tensor *a, struct ggml_tensor *b)
{
	(void)context;
	return operate("MUL_MAT", a, b, a->sizes[1], b->sizes[1]);
}

API int ggml_graph_n_nodes(struct ggml_cgraph *graph)
{
	return graph->count;
}

API struct ggml_tensor *ggml_graph_node(struct ggml_cgraph *graph, int i)
{
	return graph->nodes[i];
}

API const char *ggml_get_name(const struct ggml_tensor *tensor)
{
	return tensor->name;
}

API const char *ggml_op_desc(const struct ggml_tensor *tensor)
{
	return tensor->operation;
}

API size_t ggml_nbytes(const struct ggml_tensor *tensor)
{
	return (size_t)(4 * tensor->sizes[0] * tensor->sizes[1]);
}

API const char *ggml_type_name(int type)
{
	return type == 12 ? "q4_K" : "f32";
}

API const char *ggml_version(void)
{
	return "stand-in";
}

/* x, its norm, a product with quantized weights, a view of it. */
API struct ggml_cgraph *standin_graph(int tokens)
{
	static struct ggml_tensor *nodes[4];
	static struct ggml_cgraph graph = { 4, nodes };
	struct ggml_tensor *x = ggml_new_tensor_2d(NULL, 0, 64, tokens), *weight = ggml_new_tensor_2d(NULL, 12, 64, 32);

	nodes[0] = operate("RMS_NORM", x, NULL, 64, tokens);
	nodes[1] = operate("MUL", nodes[0], x, 64, tokens);
	nodes[2] = ggml_mul_mat(NULL, weight, nodes[1]);
	nodes[3] = operate("VIEW", nodes[2], NULL, 32, tokens);
	snprintf(nodes[3]->name, sizeof nodes[3]->name, "result_output");
	return &graph;
}

/* ---- the backend ---------------------------------------------------------------------------------- */

API const char *ggml_backend_name(void *which)
{
	(void)which;
	return "CPU";
}

API void *ggml_backend_get_device(void *which)
{
	(void)which;
	return &device;
}

API void *ggml_backend_dev_backend_reg(void *which)
{
	(void)which;
	return &registry;
}

API void ggml_backend_cpu_set_abort_callback(void *which, abort_callback *function, void *data)
{
	(void)which;
	callback = function;
	callback_data = data;
}

API void *ggml_backend_reg_get_proc_address(void *which, const char *name)
{
	(void)which;
	return strcmp(name, "ggml_backend_set_abort_callback") == 0 ? (void *)ggml_backend_cpu_set_abort_callback : NULL;
}

API void ggml_backend_free(void *which)
{
	(void)which;
}

API int ggml_graph_compute(struct ggml_cgraph *graph, void *plan)
{
	(void)plan;
	for (int i = 0; i < graph->count; i++) {
		volatile double sum = 0;

		if (strcmp(graph->nodes[i]->operation, "VIEW") == 0)
			continue;
		for (int k = 0; k < 20000; k++)
			sum += k;
#ifdef FUSED
		i += strcmp(graph->nodes[i]->operation, "RMS_NORM") == 0;
#endif
		if (callback && callback(callback_data))
			return 1;
	}
	return 0;
}

API int ggml_backend_graph_compute_async(void *which, struct ggml_cgraph *graph)
{
	(void)which;
	return ggml_graph_compute(graph, NULL);
}

API int ggml_backend_graph_compute(void *which, struct ggml_cgraph *graph)
{
	return ggml_backend_graph_compute_async(which, graph);
}

API int ggml_backend_sched_graph_compute_async(void *scheduler, struct ggml_cgraph *graph)
{
	(void)scheduler;
	return ggml_backend_graph_compute_async(&backend, graph);
}

API int ggml_backend_sched_graph_compute(void *scheduler, struct ggml_cgraph *graph)
{
	return ggml_backend_sched_graph_compute_async(scheduler, graph);
}

/* ---- llama.cpp, and ggml's trainer ------------------------------------------------------------------ */

API int32_t llama_decode(void *context, struct batch batch)
{
	for (int i = 0; i < 6; i++)
		if (batch.pointers[i] != (char *)context + i)
			return -1;
	return ggml_backend_sched_graph_compute_async(NULL, standin_graph(batch.tokens));
}

API int32_t llama_sampler_sample(void *sampler, void *context, int32_t at)
{
	(void)sampler, (void)context;
	return at + 7;
}

API void ggml_opt_alloc(void *context, bool backward)
{
	(void)context, (void)backward;
}

API void ggml_opt_dataset_get_batch(void *dataset, void *data, void *labels, int64_t batch)
{
	(void)dataset, (void)data, (void)labels, (void)batch;
}

API void ggml_opt_eval(void *context, void *result)
{
	(void)context, (void)result;
	ggml_backend_sched_graph_compute(NULL, standin_graph(3));
}

API void ggml_opt_epoch(void *context, void *dataset, void *trained, void *evaluated, int64_t split, void *after_batch,
                        void *after_evaluation)
{
	(void)after_batch, (void)after_evaluation;
	for (int64_t batch = 0; batch < split + 2; batch++) {
		ggml_opt_alloc(context, batch < split);
		ggml_opt_dataset_get_batch(dataset, NULL, NULL, batch);
		ggml_opt_eval(context, batch < split ? trained : evaluated);
	}
}
