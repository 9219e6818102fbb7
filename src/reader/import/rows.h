/*
 * From the rows of a database to the events of chrome.h, for nsight.c and nvprof.c.
 *
 * Both profilers store what CUPTI reports, so their tables have the same columns under the same
 * names. What differs is how they name processes, threads and memories.
 */
#pragma once

#include "import/chrome.h"
#include "import/database.h"

/* The first columns of each table of events that dwell reads. */
#define ROWS_TIMES "start", "end"
/* What follows them in the tables of a device's events, behind the owner. */
#define ROWS_DEVICE "deviceId", "contextId", "streamId", "correlationId"
enum { ROW_START, ROW_END, ROW_OWNER, ROW_DEVICE, ROW_CONTEXT, ROW_STREAM, ROW_CORRELATION, ROW_MORE };

#define ROWS_NO_ID 4294967295 /* what CUPTI stores where an id does not apply */

/* Makes an event of the current row: its times from the first two columns, nothing else. */
void rows_begin(struct chrome *chrome, const struct dw_rows *rows, struct chrome_event *event,
                enum chrome_category category);
/* Sets an argument. */
void rows_set(struct chrome_event *event, enum chrome_arg arg, int64_t value);
/* Sets an argument to a column, if the row has a value there. */
void rows_set_from(const struct dw_rows *rows, unsigned column, struct chrome_event *event, enum chrome_arg arg);
/* Device, context, stream and correlation id. */
void rows_set_device(const struct dw_rows *rows, struct chrome_event *event);
/* Grid, block, registers and memories of a kernel, in ten columns from `column`: ROWS_LAUNCH. */
#define ROWS_LAUNCH \
	"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", \
	"staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"
void rows_set_launch(const struct dw_rows *rows, unsigned column, struct chrome_event *event,
                     struct dw_launch_shape *shape);
struct chrome_id rows_id(int64_t number);

/* Names as Kineto writes them. `memories` has the names of kinds of memory, with NULL at the end. */
struct dw_json_string rows_copy_name(char *text, size_t size, int64_t kind, int64_t from, int64_t to,
                                     const char *const *memories);
struct dw_json_string rows_set_name(char *text, size_t size, int64_t memory, const char *const *memories);
/* The kind of a synchronisation, and what it waits for. */
void rows_set_sync(const struct dw_rows *rows, struct chrome_event *event, int64_t type, int64_t waited);
/* The name of a range of NVTX. One of PyTorch's emit_nvtx() is an operator; "step 7" is a step, for
 * which `text` gets the name. */
void rows_set_annotation(struct chrome *chrome, struct chrome_event *event, struct dw_json_string name,
                         char *text, size_t size);
/* "cudaLaunchKernel_v7000" without its version. */
struct dw_json_string rows_call_name(struct dw_json_string name);

/* Counts the tables that could not be read. */
void rows_note(const struct dw_database *database, struct dw_arena *arena, struct dw_import_result *result);
