/*
 * profile.h - what the trainer tells dwell beyond the one-line probes in
 * main.c, loader.c and tensor.c: operators with their shapes, nested layers,
 * and the metadata of the run. With -DDWELL_DISABLE all of it is empty.
 */
#pragma once

#include "graph.h"
#include "options.h"

/* The layers that are open now, outermost first: "ResNet", "ResNet.layer1", ... */
struct profile_layers {
	char path[GRAPH_LAYER_MAX];
	int depth;
	unsigned began[GRAPH_LAYER_DEPTH_MAX];
};

/* Leaves the open layers that do not contain the operation's and enters those that
 * do; NULL leaves all of them. */
void profile_enter_layer(struct profile_layers *open, const struct graph *graph, struct op *op);

/* The phase of a replayed graph; what the begin returns goes to the end. */
unsigned profile_begin_phase(enum op_phase phase);
void profile_end_phase(unsigned began);

unsigned profile_begin_op(struct op *op);
void profile_end_op(unsigned began);

void profile_name_thread(const char *name);
void profile_run_metadata(const struct options *options, const char *data_folder);
