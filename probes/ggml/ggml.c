/*
 * libdwell-ggml: records programs that are linked to ggml, llama.cpp or whisper.cpp. `dwell run` preloads it.
 *
 * Its functions have the names of theirs. A graph that is computed is an operator, named after its last node; so is
 * what each backend computes of it. While shapes are recorded, the nodes are operators too (nodes.h).
 *
 * Steps are, whichever the program has: batches of ggml's trainer; calls of llama_decode(), llama_process(),
 * llama_encode(), whisper_decode() and whisper_encode(); graphs that are computed outside all of these. Such a step ends
 * with the last call of these libraries before the next one, so it has the sampling and the copies that belong to it,
 * and not what the program waits for in between.
 *
 * The library is linked to none of them: it is loaded into every process of the program.
 */
#include "contents.h"
#include "nodes.h"

#include <stdio.h>


#define SUCCESS 0
#define SITE(variable, category, name) \
	static struct dwell_site variable = { name, NULL, NULL, 0, DWELL_CATEGORY_##category, 0 }
#define DWG_IS_STATUS(result) _Generic((result(*)(void))NULL, int (*)(void): true, default: false)
#define REAL(result, function_name, parameters)                       \
	static struct dwg_function function = { .name = #function_name, .has_status = DWG_IS_STATUS(result) }; \
	result(*real) parameters = (result(*) parameters)dwg_real(&function, __builtin_return_address(0))

/* ---- steps ----------------------------------------------------------------------------------------- */

static __thread struct {
	unsigned graphs; /* that are being computed */
	unsigned calls;  /* of functions that are steps, or that belong to one */
	unsigned epochs;
	bool stepping;      /* a step of this thread is open */
	uint64_t last;      /* end of the last call that belongs to it */
	unsigned evaluation; /* the open range of an evaluation */
	const void *batch;   /* the batch of llama_process() that got a token last, and how many it has */
	int batch_tokens;
} thread __attribute__((tls_model("initial-exec")));

static bool ggml_steps_here(void)
{
	return __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED) != NULL;
}

/* Atomic: steps begun by this probe. If the process has begun more, the program marks its steps itself, or another
 * probe does: those alone are kept. */
static uint64_t steps_begun;

static bool ggml_steps_are_ours(void)
{
	return dwell_steps_begun() <= __atomic_load_n(&steps_begun, __ATOMIC_RELAXED);
}

static void ggml_step_end(void)
{
	if (thread.stepping && ggml_steps_are_ours())
		dwell_step_end_at(thread.last);
	thread.stepping = false;
}

static void ggml_step_begin(void)
{
	if (!ggml_steps_here())
		return;
	ggml_step_end();
	if (!ggml_steps_are_ours())
		return;
	__atomic_fetch_add(&steps_begun, 1, __ATOMIC_RELAXED);
	dwell_step_begin();
	thread.stepping = true;
	thread.last = dwell_ticks();
}

/* Until now the open step lasts at least. */
static void ggml_step_reach(void)
{
	if (thread.stepping)
		thread.last = dwell_ticks();
}

static __attribute__((destructor)) void ggml_end(void)
{
	ggml_step_end();
}

/* ---- graphs ---------------------------------------------------------------------------------------- */

/* The id of a graph: "graph NAME", where NAME is that of its last node, or "graph". ggml numbers what the
 * program has not named; such names are left out. `detail`: the backend, if it is known. */
static uint32_t ggml_graph_id(struct dwg_library *ggml, struct ggml_cgraph *graph, const char *detail)
{
	int count = ggml && ggml->has_graphs ? ggml->ggml_graph_n_nodes(graph) : 0;
	const char *last = count > 0 ? ggml->ggml_get_name(ggml->ggml_graph_node(graph, count - 1)) : "";
	char name[96];

	if (strncmp(last, "node_", 5) == 0 || strncmp(last, "leaf_", 5) == 0)
		last = "";
	snprintf(name, sizeof name, "graph%s%.64s", *last ? " " : "", last);
	return dwell_intern(DWELL_CATEGORY_OPERATOR, name, detail);
}

/* A graph that is computed. `step`: it is a step, because no call around it is. */
struct open_graph {
	unsigned began;
	bool outermost;
};

static struct open_graph ggml_graph_begin(struct dwg_library *ggml, struct ggml_cgraph *graph, const char *backend)
{
	struct open_graph open = { DWELL_NOT_BEGUN, thread.graphs++ == 0 };
	char name[80];

	if (open.outermost && !thread.calls)
		ggml_step_begin();
	if (!dwell_wants(1u << DWELL_CATEGORY_OPERATOR))
		return open;
	if (open.outermost) {
		uint32_t id = ggml_graph_id(ggml, graph, backend);

		dwg_contents_note(ggml, graph, id);
		open.began = dwell_begin_id(id, DWELL_CATEGORY_OPERATOR);
	} else if (backend) {
		snprintf(name, sizeof name, "graph on %.64s", backend);
		open.began = dwell_begin_id(dwell_intern(DWELL_CATEGORY_OPERATOR, name, NULL), DWELL_CATEGORY_OPERATOR);
	}
	return open;
}

static void ggml_graph_end(struct open_graph open)
{
	dwell_end_id(open.began);
	thread.graphs--;
	ggml_step_reach();
}

#define GRAPH_OF_SCHEDULER(name)                                              \
	DWG_API int name(void *scheduler, struct ggml_cgraph *graph)              \
	{                                                                         \
		REAL(int, name, (void *, struct ggml_cgraph *));                      \
		struct open_graph open;                                               \
		int status;                                                           \
		if (!ggml_steps_here() || thread.graphs)                              \
			return real(scheduler, graph);                                    \
		open = ggml_graph_begin(dwg_library_of((void *)real), graph, NULL);   \
		status = real(scheduler, graph);                                      \
		ggml_graph_end(open);                                                 \
		return status;                                                        \
	}
GRAPH_OF_SCHEDULER(ggml_backend_sched_graph_compute)
GRAPH_OF_SCHEDULER(ggml_backend_sched_graph_compute_async)
/* (graph, plan), by programs that use no backend; backends call it too. */
DWG_API int ggml_graph_compute(struct ggml_cgraph *graph, void *plan)
{
	REAL(int, ggml_graph_compute, (struct ggml_cgraph *, void *));
	struct open_graph open;
	int status;

	if (!ggml_steps_here() || thread.graphs)
		return real(graph, plan);
	open = ggml_graph_begin(dwg_library_of((void *)real), graph, NULL);
	status = real(graph, plan);
	ggml_graph_end(open);
	return status;
}

DWG_API int ggml_backend_graph_compute_async(void *backend, struct ggml_cgraph *graph)
{
	REAL(int, ggml_backend_graph_compute_async, (void *, struct ggml_cgraph *));
	struct dwg_library *ggml;
	struct open_graph open;
	struct dwg_nodes nodes;
	int status;

	if (!ggml_steps_here() || !(ggml = dwg_library_of((void *)real)))
		return real(backend, graph);
	open = ggml_graph_begin(ggml, graph, ggml->ggml_backend_name ? ggml->ggml_backend_name(backend) : NULL);
	dwg_nodes_begin(&nodes, ggml, backend, graph);
	status = real(backend, graph);
	dwg_nodes_end(&nodes, status == SUCCESS);
	ggml_graph_end(open);
	return status;
}

/* It calls the one above, and waits. */
DWG_API int ggml_backend_graph_compute(void *backend, struct ggml_cgraph *graph)
{
	REAL(int, ggml_backend_graph_compute, (void *, struct ggml_cgraph *));
	struct open_graph open;
	int status;

	if (!ggml_steps_here() || thread.graphs)
		return real(backend, graph);
	open = ggml_graph_begin(dwg_library_of((void *)real), graph, NULL);
	status = real(backend, graph);
	ggml_graph_end(open);
	return status;
}

DWG_API void ggml_backend_free(void *backend)
{
	REAL(void, ggml_backend_free, (void *));

	dwg_nodes_forget(backend);
	real(backend);
}

/* ---- what a call does besides computing ------------------------------------------------------------ */

#define PART(result, name, category, parameters, arguments) \
	DWG_API result name parameters                          \
	{                                                       \
		SITE(site, category, #name);                        \
		REAL(result, name, parameters);                     \
		unsigned began = dwell_begin(&site);                \
		result value = real arguments;                      \
		dwell_end(began);                                   \
		ggml_step_reach();                                  \
		return value;                                       \
	}
#define PART_OF_NO_RESULT(name, category, parameters, arguments) \
	DWG_API void name parameters                                 \
	{                                                            \
		SITE(site, category, #name);                             \
		REAL(void, name, parameters);                            \
		unsigned began = dwell_begin(&site);                     \
		real arguments;                                          \
		dwell_end(began);                                        \
		ggml_step_reach();                                       \
	}
PART_OF_NO_RESULT(ggml_backend_tensor_get, ZONE, (const void *tensor, void *data, size_t offset, size_t bytes),
                  (tensor, data, offset, bytes))
PART_OF_NO_RESULT(ggml_backend_tensor_get_async, ZONE,
                  (void *backend, const void *tensor, void *data, size_t offset, size_t bytes),
                  (backend, tensor, data, offset, bytes))
PART(int32_t, llama_sampler_sample, PHASE, (void *sampler, void *context, int32_t at), (sampler, context, at))
PART_OF_NO_RESULT(llama_sampler_apply, PHASE, (void *sampler, void *candidates), (sampler, candidates))
PART_OF_NO_RESULT(llama_synchronize, ZONE, (void *context), (context))
PART(float *, llama_get_logits, ZONE, (void *context), (context))
PART(float *, llama_get_logits_ith, ZONE, (void *context, int32_t at), (context, at))
PART(float *, llama_get_embeddings, ZONE, (void *context), (context))
PART(float *, llama_get_embeddings_ith, ZONE, (void *context, int32_t at), (context, at))
PART(float *, llama_get_embeddings_seq, ZONE, (void *context, int32_t sequence), (context, sequence))

/* ---- tokens ---------------------------------------------------------------------------------------- */

/* llama.cpp's batch begins with the number of tokens. It is passed by value; older versions have more members, so more
 * is passed on than any of them has. What follows it in the caller's frame does no harm. */
struct llama_batch {
	int32_t tokens;
	int32_t unknown[23];
};

struct llama_embd {
	const float *data;
	size_t rows, columns;
};

/* Begins a step that is a call for so many tokens; 0: it is not known. */
static unsigned ggml_tokens_begin(bool encodes, int tokens)
{
	static struct dwell_site sites[] = {
		{ "decode", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
		{ "decode a token", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
		{ "decode several tokens", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
		{ "encode", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 },
	};
	static struct dwell_site counter = { "tokens", NULL, NULL, 0, DWELL_CATEGORY_COUNTER, 0 };

	if (thread.calls++)
		return DWELL_NOT_BEGUN;
	ggml_step_begin();
	if (tokens > 0 && dwell_wants(1u << DWELL_CATEGORY_COUNTER))
		dwell_counter(&counter, tokens);
	return dwell_begin(&sites[encodes ? 3 : tokens > 1 ? 2 : tokens > 0]);
}

static void ggml_tokens_end(unsigned began)
{
	dwell_end(began);
	thread.calls--;
	ggml_step_reach();
}

#define TOKENS(name, encodes, tokens, parameters, arguments)        \
	DWG_API int32_t name parameters                                 \
	{                                                               \
		REAL(int32_t, name, parameters);                            \
		unsigned began = ggml_tokens_begin(encodes, tokens);        \
		int32_t result = real arguments;                            \
		ggml_tokens_end(began);                                     \
		return result;                                              \
	}
TOKENS(llama_decode, false, batch.tokens, (void *context, struct llama_batch batch), (context, batch))
TOKENS(llama_encode, true, batch.tokens, (void *context, struct llama_batch batch), (context, batch))
/* `type` 0: encode. */
TOKENS(llama_process, type == 0, batch == thread.batch ? thread.batch_tokens : 0,
       (void *context, int type, void *batch), (context, type, batch))
TOKENS(whisper_encode, true, 0, (void *context, int offset, int threads), (context, offset, threads))
TOKENS(whisper_encode_with_state, true, 0, (void *context, void *state, int offset, int threads),
       (context, state, offset, threads))
TOKENS(whisper_decode, false, tokens, (void *context, const int32_t *ids, int tokens, int past, int threads),
       (context, ids, tokens, past, threads))
TOKENS(whisper_decode_with_state, false, tokens,
       (void *context, void *state, const int32_t *ids, int tokens, int past, int threads),
       (context, state, ids, tokens, past, threads))

/* Adds a token to a batch of llama_process(), and returns its number in the batch. */
#define ADD_TOKEN(name, parameters, arguments)    \
	DWG_API int32_t name parameters               \
	{                                             \
		REAL(int32_t, name, parameters);          \
		int32_t at = real arguments;              \
		thread.batch = batch;                     \
		thread.batch_tokens = at + 1;             \
		return at;                                \
	}
ADD_TOKEN(llama_batch_ext_add, (void *batch, int32_t sequence), (batch, sequence))
ADD_TOKEN(llama_batch_ext_add_token, (void *batch, int32_t sequence, int32_t id), (batch, sequence, id))
ADD_TOKEN(llama_batch_ext_add_embd, (void *batch, int32_t sequence, struct llama_embd embedding),
          (batch, sequence, embedding))

/* ---- ggml's trainer --------------------------------------------------------------------------------- */

PART_OF_NO_RESULT(ggml_opt_dataset_get_batch, DATA, (void *dataset, void *data, void *labels, int64_t batch),
                  (dataset, data, labels, batch))
PART_OF_NO_RESULT(ggml_opt_dataset_get_batch_host, DATA,
                  (void *dataset, void *data, size_t bytes, void *labels, int64_t batch),
                  (dataset, data, bytes, labels, batch))
PART_OF_NO_RESULT(ggml_opt_dataset_shuffle, DATA, (void *context, void *dataset, int64_t data),
                  (context, dataset, data))

/* A batch is trained or evaluated by this function and then by ggml_opt_eval(). */
DWG_API void ggml_opt_alloc(void *context, bool backward)
{
	SITE(site, PHASE, "ggml_opt_alloc");
	SITE(evaluation, EVALUATION, "ggml_opt_eval");
	REAL(void, ggml_opt_alloc, (void *, bool));
	unsigned began;

	/* In an epoch the loop goes on without a pause. */
	if (thread.epochs)
		ggml_step_reach();
	dwell_end(thread.evaluation);
	thread.evaluation = DWELL_NOT_BEGUN;
	if (backward) {
		ggml_step_begin();
	} else {
		ggml_step_end();
		thread.evaluation = dwell_begin(&evaluation);
	}
	began = dwell_begin(&site);
	real(context, backward);
	dwell_end(began);
}

DWG_API void ggml_opt_eval(void *context, void *result)
{
	SITE(site, PHASE, "ggml_opt_eval");
	REAL(void, ggml_opt_eval, (void *, void *));
	unsigned began = thread.evaluation ? DWELL_NOT_BEGUN : dwell_begin(&site);

	thread.calls++;
	real(context, result);
	thread.calls--;
	dwell_end(began);
	dwell_end(thread.evaluation);
	thread.evaluation = DWELL_NOT_BEGUN;
	ggml_step_reach();
}

DWG_API void ggml_opt_epoch(void *context, void *dataset, void *trained, void *evaluated, int64_t split,
                            void *after_batch, void *after_evaluation)
{
	SITE(site, ACTION, "ggml_opt_epoch");
	REAL(void, ggml_opt_epoch, (void *, void *, void *, void *, int64_t, void *, void *));
	unsigned began = dwell_begin(&site);

	thread.epochs++;
	real(context, dataset, trained, evaluated, split, after_batch, after_evaluation);
	thread.epochs--;
	ggml_step_reach();
	ggml_step_end();
	dwell_end(began);
}
