/*
 * device.h - what runs a network's operations: each at once, or buffered. With a
 * graph, the operations of the first iteration are recorded in place of being run,
 * and then it and every later iteration replays the recorded list, one operation
 * after the other, without going through the program again.
 */
#pragma once

#include "graph.h"

struct device_node {
	const struct graph *graph;
	int index; /* of the operation in it */
};

struct device {
	bool graph_enabled;
	bool buffering; /* operations are recorded, not run */
	struct device_node *nodes;
	int count, capacity;
};

/* Hands a phase of a network to the device: it is run, or recorded. */
void device_execute(struct device *device, const struct graph *graph, enum op_phase phase);
/* Runs what was recorded, in the order of recording. */
void device_run_graph(const struct device *device);
void device_reset(struct device *device);
