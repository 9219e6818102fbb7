/*
 * Graphs of kernels in a Chrome trace: what is collected of them, and which launch of its capture each kernel is; see
 * chrome_graphs.h.
 */
#pragma once

#include <string.h>

#include "import/chrome.h"

#define CHROME_MOST_CAPTURE_FILES 64u
#define CHROME_MOST_GRAPH_STREAMS 64u

enum chrome_work_kind { CHROME_WORK_KERNEL, CHROME_WORK_COPY, CHROME_WORK_SET };

/* An event of a device; `node`: the captured launch that it is of, its index + 1, or 0. */
struct chrome_work {
	uint64_t correlation, name; /* name: its hash */
	int64_t start_ns, stream;
	uint32_t kind, node;
	uint32_t next;              /* of the events of its launch: the next one in its stream, or UINT32_MAX */
};

/* A call that made a node of a graph. */
struct chrome_captured {
	uint64_t correlation, name; /* name: the hash of the kernel's, or 0 */
	uint64_t pid, tid;          /* keys of its thread */
	int64_t start_ns;
	uint32_t kind;
};

/* A call that begins (at its end) or ends (at its begin) a capture. */
struct chrome_bound {
	int64_t ns;
	bool begins;
};

/* A capture: some of the captured launches. */
struct chrome_capture {
	int64_t begin_ns, end_ns;
	uint32_t file;       /* 0: the file itself; else of the folder, its index + 1 */
	size_t first, count;
	bool unnamed;        /* a call has no name of its kernel */
	bool used;
};

struct chrome_graph_launch {
	uint64_t correlation;
	int64_t start_ns;
	struct chrome_id pid;
};

/* A file of the folder. */
struct chrome_capture_file {
	struct dw_import_file file;
	const char *name;
	bool used;
};

/* Where a node was made. */
struct chrome_node {
	uint64_t node;
	int64_t begin_ns, made_ns; /* `begin_ns`: of its capture */
	uint32_t thread;           /* index */
};

/* What a file has of graphs. All zero: nothing is known yet. */
struct chrome_graphs {
	uint64_t launches, captures; /* calls that launch graphs and begin captures, counted while the file is imported */
	/* Reads another file with the same structures, and calls chrome_graphs_take() for its events. False: it is no Chrome trace. */
	bool (*read)(struct chrome *, const struct dw_import_file *);
	bool places;                 /* events of a capture become ranges of a thread of their own */
	bool matched;
	uint64_t seed;               /* of the hashes */
	uint32_t file;               /* that is read: of struct chrome_capture */
	struct chrome_work *works;
	struct chrome_captured *made, *captured; /* made: calls of the file that is read, captured or not */
	struct chrome_bound *bounds;
	struct chrome_capture *all;
	struct chrome_graph_launch *launched;
	struct chrome_capture_file *files;
	struct dw_sort_event *ranges;
	struct chrome_node *nodes;
	size_t work_count, work_capacity, made_count, made_capacity, captured_count, captured_capacity, bound_count, bound_capacity,
		all_count, all_capacity, launched_count, launched_capacity, file_count, file_capacity, range_count, range_capacity,
		node_count, node_capacity;
	uint64_t moved_tid;          /* the thread that moved_name is of; 0: none */
	const char *moved_name;
	const char *unread;          /* files of the folder that are no such traces, by name; or NULL */
	size_t compared;             /* captures; only those that some launch is of stay in `all` */
	size_t joined, unnamed, without, without_works; /* launches: joined; by order alone; not, and the events of the first */
	bool failed;                 /* out of memory */
};

static inline bool chrome_name_has(const struct dw_json_string *name, const char *part)
{
	return memmem(name->at, name->length, part, strlen(part)) != NULL;
}
/* Counts a runtime call that launches a graph or begins a capture. */
void chrome_graphs_count(struct chrome *chrome, const struct chrome_event *event);
/* Finds the capture of each launch. */
void chrome_graphs_match(struct chrome_graphs *graphs);
/* The index of the first event of a call. */
size_t chrome_graphs_first_work(const struct chrome_graphs *graphs, uint64_t correlation);
/* The node that an event of a device is of, or 0. */
uint64_t chrome_graphs_node(const struct chrome *chrome, const struct chrome_event *event);

/* chrome_device.c: writes where a node of a graph was made. */
void chrome_put_node(struct chrome *chrome, const struct chrome_node *node);
/* The number of the stream of an event. */
static inline int64_t chrome_stream_of(const struct chrome_event *event)
{
	return chrome_integer(event, CHROME_STREAM, event->tid.given && !event->tid.is_text ? event->tid.number : -1);
}
/* chrome_host.c: adds a range of the host. */
void chrome_take_range(struct chrome *chrome, const struct chrome_event *event);
