/*
 * SQLite files of nvprof (`nvprof -o FILE`), which the Visual Profiler reads too.
 *
 * Called by import_any.c. The tables have what CUPTI reported, with times in nanoseconds since the
 * epoch. Texts lie in StringTable. A range of NVTX is two rows of MARKER, one for its start and one
 * without a name for its end. Names of kernels are mangled, as in the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "import/rows.h"

#define MARKER_MOMENT 1 /* flags of MARKER: CUPTI's numbers */

struct nvprof {
	struct dw_database *database;
	struct chrome_event event;
};

/* CUPTI's numbers of memories. */
static const char *const nvprof_memories[] = { "Unknown", "Pageable", "Pinned", "Device", "Array",
	"Managed", "Device Static", "Managed Static", NULL };

/* CUPTI's numbers of the calls that launch, copy and wait. */
static const struct { int64_t number; const char *name; } nvprof_calls[] = {
	{ 13, "cudaLaunch" }, { 20, "cudaMalloc" }, { 22, "cudaFree" }, { 25, "cudaMallocHost" },
	{ 26, "cudaFreeHost" }, { 27, "cudaHostAlloc" }, { 31, "cudaMemcpy" }, { 32, "cudaMemcpy2D" },
	{ 41, "cudaMemcpyAsync" }, { 44, "cudaMemcpy2DAsync" }, { 49, "cudaMemset" },
	{ 51, "cudaMemsetAsync" }, { 126, "cudaThreadSynchronize" }, { 129, "cudaStreamCreate" },
	{ 130, "cudaStreamDestroy" }, { 131, "cudaStreamSynchronize" }, { 132, "cudaStreamQuery" },
	{ 133, "cudaEventCreate" }, { 134, "cudaEventCreateWithFlags" }, { 135, "cudaEventRecord" },
	{ 136, "cudaEventDestroy" }, { 137, "cudaEventSynchronize" }, { 138, "cudaEventQuery" },
	{ 147, "cudaStreamWaitEvent" }, { 165, "cudaDeviceSynchronize" }, { 211, "cudaLaunchKernel" },
};

#define OPEN(nvprof, rows, table, columns) \
	dw_rows_open(rows, (nvprof)->database, table, columns, sizeof(columns) / sizeof *(columns), NULL, 0)

static struct chrome_event *nvprof_begin(struct nvprof *nvprof, struct chrome *chrome,
                                         const struct dw_rows *rows, enum chrome_category category)
{
	rows_begin(chrome, rows, &nvprof->event, category);
	return &nvprof->event;
}

/* ---- the host --------------------------------------------------------------------------------------- */

static struct dw_json_string nvprof_call_name(int64_t number, bool runtime, char *text, size_t size)
{
	snprintf(text, size, "%s call %lld", runtime ? "runtime" : "driver", (long long)number);
	for (size_t i = 0; runtime && i < sizeof nvprof_calls / sizeof *nvprof_calls; i++)
		if (nvprof_calls[i].number == number)
			snprintf(text, size, "%s", nvprof_calls[i].name);
	return (struct dw_json_string){ text, (uint32_t)strlen(text), false };
}

static void nvprof_read_calls(struct nvprof *nvprof, struct chrome *chrome, const char *table, bool runtime)
{
	static const char *const columns[] = { ROWS_TIMES, "processId", "threadId", "correlationId",
		"cbid" };
	DW_ROWS rows = { 0 };
	char name[64];

	OPEN(nvprof, &rows, table, columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_RUNTIME);

		event->pid = rows_id(dw_rows_integer(&rows, 2, 0));
		event->tid = rows_id(dw_rows_integer(&rows, 3, 0));
		rows_set_from(&rows, 4, event, CHROME_CORRELATION);
		event->name = nvprof_call_name(dw_rows_integer(&rows, 5, 0), runtime, name, sizeof name);
		chrome_take_event(chrome, event);
	}
}

/* The process and thread of a marker: two numbers of 32 bits, and what lies behind them. */
static void nvprof_set_owner(const struct dw_rows *rows, unsigned column, struct chrome_event *event)
{
	struct dw_json_string object = dw_rows_text(rows, column);
	uint32_t ids[2] = { 0, 0 };

	if (object.length >= sizeof ids)
		memcpy(ids, object.at, sizeof ids);
	event->pid = rows_id(ids[0]);
	event->tid = rows_id(ids[1]);
}

static void nvprof_read_markers(struct nvprof *nvprof, struct chrome *chrome)
{
	static const char *const columns[] = { "timestamp", "end", "name", "flags", "objectId",
		DW_TEXT_OF "name" };
	DW_ROWS rows = { 0 };
	char text[64];

	OPEN(nvprof, &rows, "CUPTI_ACTIVITY_KIND_MARKER", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_ANNOTATION);
		bool moment = dw_rows_integer(&rows, 3, 0) & MARKER_MOMENT;

		nvprof_set_owner(&rows, 4, event);
		event->phase = moment ? 'i' : dw_rows_integer(&rows, 2, 0) ? 'B' : 'E';
		if (event->phase == 'E')
			chrome->events--; /* two rows are one event */
		else
			rows_set_annotation(chrome, event, dw_rows_text(&rows, 5), text, sizeof text);
		chrome_take_event(chrome, event);
	}
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static void nvprof_read_kernels(struct nvprof *nvprof, struct chrome *chrome, const char *table)
{
	static const char *const columns[] = { ROWS_TIMES, "end", ROWS_DEVICE, ROWS_LAUNCH,
		DW_TEXT_OF "name" };
	struct dw_launch_shape shape;
	DW_ROWS rows = { 0 };

	OPEN(nvprof, &rows, table, columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_KERNEL);

		rows_set_device(&rows, event);
		rows_set_launch(&rows, ROW_MORE, event, &shape);
		event->name = dw_rows_text(&rows, ROW_MORE + 10);
		chrome_take_event(chrome, event);
	}
}

static void nvprof_read_copies(struct nvprof *nvprof, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "end", ROWS_DEVICE, "bytes", "copyKind",
		"srcKind", "dstKind", "runtimeCorrelationId" };
	DW_ROWS rows = { 0 };
	char name[96];

	OPEN(nvprof, &rows, "CUPTI_ACTIVITY_KIND_MEMCPY", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_COPY);

		rows_set_device(&rows, event);
		if (dw_rows_integer(&rows, ROW_MORE + 4, 0) > 0)
			rows_set_from(&rows, ROW_MORE + 4, event, CHROME_CORRELATION);
		rows_set_from(&rows, ROW_MORE, event, CHROME_BYTES);
		event->name = rows_copy_name(name, sizeof name, dw_rows_integer(&rows, ROW_MORE + 1, 0),
		                             dw_rows_integer(&rows, ROW_MORE + 2, -1),
		                             dw_rows_integer(&rows, ROW_MORE + 3, -1), nvprof_memories);
		chrome_take_event(chrome, event);
	}
}

static void nvprof_read_sets(struct nvprof *nvprof, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "end", ROWS_DEVICE, "bytes", "memoryKind" };
	DW_ROWS rows = { 0 };
	char name[64];

	OPEN(nvprof, &rows, "CUPTI_ACTIVITY_KIND_MEMSET", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_SET);

		rows_set_device(&rows, event);
		rows_set_from(&rows, ROW_MORE, event, CHROME_BYTES);
		event->name = rows_set_name(name, sizeof name, dw_rows_integer(&rows, ROW_MORE + 1, -1), nvprof_memories);
		chrome_take_event(chrome, event);
	}
}

static void nvprof_read_syncs(struct nvprof *nvprof, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "end", ROWS_DEVICE, "type", "cudaEventId" };
	DW_ROWS rows = { 0 };

	OPEN(nvprof, &rows, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nvprof_begin(nvprof, chrome, &rows, CHROME_IS_SYNC);

		rows_set_device(&rows, event);
		rows_set_sync(&rows, event, dw_rows_integer(&rows, ROW_MORE, 0), dw_rows_integer(&rows, ROW_MORE + 1, -1));
		chrome_take_event(chrome, event);
	}
}

/* ---- all --------------------------------------------------------------------------------------------- */

static void nvprof_read(struct chrome *chrome, void *context, size_t process)
{
	struct nvprof *nvprof = context;

	nvprof_read_calls(nvprof, chrome, "CUPTI_ACTIVITY_KIND_RUNTIME", true);
	nvprof_read_calls(nvprof, chrome, "CUPTI_ACTIVITY_KIND_DRIVER", false);
	nvprof_read_markers(nvprof, chrome);
	nvprof_read_kernels(nvprof, chrome, "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
	nvprof_read_kernels(nvprof, chrome, "CUPTI_ACTIVITY_KIND_KERNEL");
	nvprof_read_copies(nvprof, chrome);
	nvprof_read_sets(nvprof, chrome);
	nvprof_read_syncs(nvprof, chrome);
}

int dw_import_nvprof(struct dw_database *database, const struct dw_import_file *file, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error)
{
	struct nvprof *nvprof = calloc(1, sizeof *nvprof);
	int code;

	if (!nvprof)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	nvprof->database = database;
	dw_database_use_strings(database, "StringTable", "_id_");
	code = chrome_import_rows(file, &(struct chrome_rows){ "nvprof", nvprof_read, nvprof, 1, database, 0 }, image_fd,
	                          arena, result, error);
	free(nvprof);
	return code;
}
