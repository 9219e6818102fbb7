/*
 * The nodes of a graph as operators, while shapes are recorded.
 *
 * ggml's backends for the processor ask a callback after each node whether they shall abort; the first thread asks,
 * which is the one that computes the graph. The probe sets this callback around each graph and passes the
 * program's own on. So no node is computed in another way than without the probe. A node ends when the first thread
 * has its part of it: where that thread waits for the others, the wait counts to the next node.
 *
 * The callback does not say which node it was. Versions of ggml compute all nodes, or leave out those without
 * work, or compute some in pairs. Only those of these rules remain that fit the number of callbacks of every graph
 * so far; a graph is divided into nodes if they agree on it.
 */
#pragma once

#include "library.h"

/* A graph that a backend computes in this thread. */
struct dwg_nodes {
	struct dwg_nodes *outer; /* the graph in which this one is computed, or NULL */
	struct dwg_library *ggml;
	struct ggml_cgraph *graph;
	int count, next;         /* nodes; the one that is computed after the open range */
	uint32_t rule;           /* by which they are recorded; 0: the callbacks are only counted */
	uint32_t calls;
	uint32_t expected[3];    /* calls by each rule */
	unsigned began;
};

/* Before and after a backend computes a graph in this thread. `complete`: it has computed all of it. */
void dwg_nodes_begin(struct dwg_nodes *nodes, struct dwg_library *ggml, void *backend, struct ggml_cgraph *graph);
void dwg_nodes_end(struct dwg_nodes *nodes, bool complete);
/* The backend is freed. */
void dwg_nodes_forget(void *backend);

/* The program sets its own callback. */
DWG_API dwg_set_abort ggml_backend_cpu_set_abort_callback;
