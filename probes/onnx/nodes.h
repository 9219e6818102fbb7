/*
 * The nodes of ONNX Runtime's graphs as operators inside the run that computed them.
 *
 * From version 1.25 on, the options of a run can make the library write a profile of this run alone. After the run its
 * nodes are taken from that file, which is then removed. The file says when a node began since the library opened it. How
 * long that takes is measured once, so nodes may be off by some microseconds. From the end of the run, which the file has
 * too, until the file was read is a range of the category PROFILER.
 *
 * All are recorded in the stream of the thread that called the run, also those that threads of the library compute (the
 * execution mode ORT_PARALLEL): it waits for them. Of nodes that two threads compute at the same time only the one that
 * began first is; the others are counted as lost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *dwo_function;

/* A run. */
struct dwo_nodes {
	const dwo_function *table; /* NULL: as without this code */
	void *options;             /* of this run */
	bool made;                 /* by this code */
	bool enabled;              /* the file is written */
	uint64_t start;
};

/* Whether a library of this version ("1.25.0") can write such files. */
bool dwo_nodes_known(const char *version);
/* Before a run of the library with this table (NULL: it cannot). Returns the options to run with: the program's own,
 * which may be NULL, or others. */
const void *dwo_nodes_begin(struct dwo_nodes *nodes, const dwo_function *table, const void *options);
void dwo_nodes_end(struct dwo_nodes *nodes);
