/* device.c - see device.h. Called by step.c for each training step; evaluation is never
 * buffered. */
#include "device.h"

#include <stdlib.h>

#include "profile.h"

static void device_record(struct device *device, const struct graph *graph, int index)
{
	if (device->count == device->capacity) {
		device->capacity = device->capacity ? 2 * device->capacity : 256;
		device->nodes = realloc(device->nodes, (size_t)device->capacity * sizeof *device->nodes);
		if (!device->nodes)
			die("no memory for the graph of operations");
	}
	device->nodes[device->count++] = (struct device_node){ graph, index };
}

void device_execute(struct device *device, const struct graph *graph, enum op_phase phase)
{
	if (!device->buffering) {
		graph_run(graph, phase);
		return;
	}
	for (int i = graph->phase_first[phase]; i < graph->phase_first[phase + 1]; i++)
		device_record(device, graph, i);
}

void device_run_graph(const struct device *device)
{
	struct profile_layers open = { 0 };
	unsigned began = 0;

	for (int i = 0; i < device->count; i++) {
		const struct device_node *node = &device->nodes[i];
		enum op_phase phase = node->graph->ops[node->index].phase;

		if (i == 0 || phase != device->nodes[i - 1].graph->ops[node[-1].index].phase) {
			profile_enter_layer(&open, NULL, NULL);
			profile_end_phase(began);
			began = profile_begin_phase(phase);
		}
		graph_run_op(node->graph, node->index, &open);
	}
	profile_enter_layer(&open, NULL, NULL);
	profile_end_phase(began);
}

void device_reset(struct device *device)
{
	free(device->nodes);
	*device = (struct device){ 0 };
}
