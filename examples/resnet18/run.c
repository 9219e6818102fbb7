/*
 * run.c - runs one phase of a list of operations: allocates the results of every operation, runs
 * it, and frees tensors after their last use. Called by device.c for each step and by step.c for
 * each evaluation. Operators and layers are reported to the profiler here.
 */
#include "graph.h"
#include "profile.h"

static void run_make_results_alive(const struct op *op)
{
	for (int i = 0; i < op->write_count; i++)
		if (op->writes[i]->lifetime == TENSOR_TRANSIENT)
			tensor_make_alive(op->writes[i]);
}

static void run_release_last_used(struct tensor *const *tensors, int count, int index)
{
	for (int i = 0; i < count; i++)
		if (tensors[i]->lifetime == TENSOR_TRANSIENT && tensors[i]->last_use == index &&
			tensors[i]->data)
			tensor_release(tensors[i]);
}

void graph_run_op(const struct graph *graph, int index, struct profile_layers *open)
{
	struct op *op = &graph->ops[index];
	unsigned began;

	profile_enter_layer(open, graph, op);
	began = profile_begin_op(op);
	run_make_results_alive(op);
	op->run(op, graph->dnn);
	run_release_last_used(op->reads, op->read_count, index);
	run_release_last_used(op->writes, op->write_count, index);
	profile_end_op(began);
}

void graph_run(const struct graph *graph, enum op_phase phase)
{
	struct profile_layers open = { 0 };

	for (int i = graph->phase_first[phase]; i < graph->phase_first[phase + 1]; i++)
		graph_run_op(graph, i, &open);
	profile_enter_layer(&open, graph, NULL);
}
