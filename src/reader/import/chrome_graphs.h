/*
 * Graphs of kernels in a Chrome trace: which launch of its capture each kernel of a graph is.
 *
 *   chrome_graphs.c  reads captures, and writes where the nodes of graphs were made
 *   chrome_match.c   finds the capture of each launch of a graph
 *
 * A program runs its code once while a stream is captured, and then launches the graph that this made. Kineto writes no numbers
 * that join the two. But a capture has the calls that made the graph's nodes, and a graph on a device has as many kernels and
 * copies, with the same names, in the same order in each stream.
 *
 * A capture is in the file itself, or in a file of a folder `capture_traces` beside it, where profilers of servers for language
 * models put it. That file is of another time. So its ranges go to a thread of their own at the begin of the trace, where each
 * begin and end takes a nanosecond: the thread has the order of these ranges, and no times.
 *
 * A file with such launches is read again: first it is imported as all files are. If it launches graphs, captures are
 * collected and matched, and then it is imported once more.
 */
#pragma once

#include "import/chrome_match.h"

/* Whether the files must be read again because of graphs. */
bool chrome_graphs_wanted(const struct chrome_graphs *graphs, const struct dw_import_file *files, size_t count);
/* Collects the captures and finds those of each launch. `read`: see struct chrome_graphs. */
void chrome_graphs_collect(struct chrome *chrome, const struct dw_import_file *file,
                           bool (*read)(struct chrome *, const struct dw_import_file *));
/* Takes an event of a file in the folder of captures, which belongs to the file that is imported. */
void chrome_graphs_take(struct chrome *chrome, const struct chrome_event *event);
/* Adds the threads with the ranges of captures of other files, once the file was read. */
void chrome_graphs_read_ranges(struct chrome *chrome);
/* Writes where nodes were made; threads have their ids. */
void chrome_graphs_put(struct chrome *chrome);
/* Appends what is said of graphs to `note`, which may be NULL. */
const char *chrome_graphs_note(struct chrome *chrome, const char *note);
void chrome_graphs_reset(struct chrome_graphs *graphs);
