/*
 * SQLite exports of Nsight Systems.
 *
 * Called by import_any.c. `nsys export --type sqlite` writes a table for each kind of event: calls of
 * CUDA's interfaces, kernels, copies, ranges of NVTX. Tables without rows may be missing, and
 * columns differ between versions. Processes and threads have a "global id": the machine, the
 * process id and the thread id in one number. A file may have several processes, with their own
 * correlation ids and device numbers. So each process is read for itself.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "import/rows.h"

#define MOST_PROCESSES 64u
#define MOST_DOMAINS 1024u
#define MOST_GPUS 1024u
#define NS_EPOCH_LATEST ((int64_t)1 << 62)

/* Types of NVTX_EVENTS. */
enum { NVTX_MARK = 34, NVTX_THREAD = 39, NVTX_RANGE = 59, NVTX_ASYNC = 60, NVTX_DOMAIN = 75 };

struct nsight_record { int64_t event, correlation; }; /* an event that a stream recorded */

struct nsight {
	struct dw_database *database;
	int64_t processes[MOST_PROCESSES]; /* global ids without the thread */
	size_t process_count, processes_dropped;
	/* of the current process */
	size_t pass;
	struct nsight_record *records;
	size_t record_count, record_capacity;
	struct { int64_t id; bool communication; } domains[MOST_DOMAINS];
	size_t domain_count;
	struct chrome_event event;
};

static const char *const nsight_memories[] = { "Pageable", "Pinned", "Device", "Array", "Managed",
	"Device Static", "Managed Static", NULL };

/* Tables whose rows have an owner. A process without any is left out. */
static const struct { const char *table, *owner; } nsight_owned[] = {
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid" }, { "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid" },
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid" }, { "CUPTI_ACTIVITY_KIND_MEMSET", "globalPid" },
	{ "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid" }, { "NVTX_EVENTS", "globalTid" },
};

/* ---- rows of a process --------------------------------------------------------------------------- */

/* Opens the rows of the current process. Rows without an owner belong to the first process. */
static void nsight_open(struct nsight *nsight, struct dw_rows *rows, const char *table, const char *owner,
                        const char *const *columns, unsigned count)
{
	static const char *const by_thread = "ifnull(t.globalTid >> 24, ?1) = ?1";
	static const char *const by_process = "ifnull(t.globalPid >> 24, ?1) = ?1";
	static const char *const first_only = "t.globalTid >> 24 = ?1";
	static const char *const first_only_process = "t.globalPid >> 24 = ?1";
	bool thread = strcmp(owner, "globalTid") == 0;
	const char *where = nsight->pass ? (thread ? first_only : first_only_process) : (thread ? by_thread : by_process);

	if (dw_database_has(nsight->database, table, owner))
		dw_rows_open(rows, nsight->database, table, columns, count, where, nsight->processes[nsight->pass]);
	else if (!nsight->pass)
		dw_rows_open(rows, nsight->database, table, columns, count, NULL, 0);
	else
		*rows = (struct dw_rows){ .database = nsight->database };
}
#define OPEN(nsight, rows, table, owner, columns) \
	nsight_open(nsight, rows, table, owner, columns, sizeof(columns) / sizeof *(columns))

static struct chrome_event *nsight_begin(struct nsight *nsight, struct chrome *chrome,
                                         const struct dw_rows *rows, enum chrome_category category)
{
	struct chrome_event *event = &nsight->event;
	int64_t owner = (int64_t)((uint64_t)nsight->processes[nsight->pass] << 24);
	int64_t global = dw_rows_integer(rows, ROW_OWNER, owner);

	rows_begin(chrome, rows, event, category);
	event->pid = rows_id(global >> 24 & 0xffffff);
	event->tid = rows_id(global & 0xffffff ? global & 0xffffff : event->pid.number);
	return event;
}

/* ---- the host --------------------------------------------------------------------------------------- */

static void nsight_read_calls(struct nsight *nsight, struct chrome *chrome, const char *table,
                              enum chrome_category category)
{
	static const char *const columns[] = { ROWS_TIMES, "globalTid", "correlationId",
		DW_TEXT_OF "nameId" };
	DW_ROWS rows = { 0 };

	OPEN(nsight, &rows, table, "globalTid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, category);

		event->name = rows_call_name(dw_rows_text(&rows, 4));
		if (category == CHROME_IS_RUNTIME)
			rows_set_from(&rows, 3, event, CHROME_CORRELATION);
		chrome_take_event(chrome, event);
	}
}

static void nsight_take_domain(struct nsight *nsight, int64_t id, struct dw_json_string name)
{
	if (nsight->domain_count < MOST_DOMAINS)
		nsight->domains[nsight->domain_count++] = (typeof(*nsight->domains)){ id,
			DW_JSON_IS(&name, "MPI") || DW_JSON_IS(&name, "NCCL") || DW_JSON_IS(&name, "NVSHMEM") ||
			    DW_JSON_IS(&name, "UCX") };
}

static bool nsight_communicates(const struct nsight *nsight, int64_t domain)
{
	for (size_t i = nsight->domain_count; i-- > 0;)
		if (nsight->domains[i].id == domain)
			return nsight->domains[i].communication;
	return false;
}

/* The name of a thread. Nsight names the main thread of a rank "MPI Rank 3". */
static void nsight_take_thread(struct chrome *chrome, struct chrome_event *event, const struct dw_json_string *name)
{
	static const char rank[] = "MPI Rank ";

	if (name->length > strlen(rank) && memcmp(name->at, rank, strlen(rank)) == 0)
		chrome->rank = strtol(name->at + strlen(rank), NULL, 10);
	event->phase = 'M';
	event->name = (struct dw_json_string){ "thread_name", 11, false };
	event->values[CHROME_NAME] = (struct chrome_value){ .kind = CHROME_TEXT, .text = *name };
	event->has = 1u << CHROME_NAME;
	chrome_take_event(chrome, event);
}

static void nsight_take_range(struct chrome *chrome, const struct dw_rows *rows,
                              struct chrome_event *event, int64_t type, int64_t id)
{
	int64_t length = event->length_ns;

	if (type == NVTX_MARK) {
		event->phase = 'i';
	} else if (type == NVTX_ASYNC) { /* may overlap others of its thread */
		event->id = rows_id(id);
		event->phase = 'b';
		chrome_take_event(chrome, event);
		event->phase = 'e';
		event->start_ns += length;
		chrome->events--; /* both are one row */
	} else if (!event->has_length) {
		event->phase = 'B'; /* it was open when recording ended */
	}
	chrome_take_event(chrome, event);
}

static void nsight_read_nvtx(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalTid", "eventType", "text",
		DW_TEXT_OF "textId", "domainId" };
	DW_ROWS rows = { 0 };
	char text[64];

	nsight->domain_count = 0;
	OPEN(nsight, &rows, "NVTX_EVENTS", "globalTid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		int64_t type = dw_rows_integer(&rows, 3, 0), domain = dw_rows_integer(&rows, 6, 0);
		struct dw_json_string name = dw_rows_text(&rows, 4);
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows,
		    nsight_communicates(nsight, domain) ? CHROME_IS_COMMUNICATION : CHROME_IS_ANNOTATION);

		if (!name.length)
			name = dw_rows_text(&rows, 5);
		if (type == NVTX_DOMAIN)
			nsight_take_domain(nsight, domain, name);
		else if (type == NVTX_THREAD)
			nsight_take_thread(chrome, event, &name);
		if (type != NVTX_MARK && type != NVTX_RANGE && type != NVTX_ASYNC)
			continue;
		rows_set_annotation(chrome, event, name, text, sizeof text);
		nsight_take_range(chrome, &rows, event, type, (int64_t)rows.row);
	}
}

/* Names of a thread or a process, as metadata. */
static void nsight_read_names(struct nsight *nsight, struct chrome *chrome, const char *table,
                              const char *owner, const char *name, const char *what)
{
	const char *const columns[] = { "start", "end", owner, name };
	DW_ROWS rows = { 0 };

	OPEN(nsight, &rows, table, owner, columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_UNKNOWN);

		event->phase = 'M';
		event->name = (struct dw_json_string){ what, (uint32_t)strlen(what), false };
		event->values[CHROME_NAME] = (struct chrome_value){ .kind = CHROME_TEXT, .text = dw_rows_text(&rows, 3) };
		event->has = 1u << CHROME_NAME;
		chrome_take_event(chrome, event);
		chrome->events--;
	}
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static void nsight_read_kernels(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", ROWS_DEVICE, ROWS_LAUNCH,
		DW_TEXT_OF "demangledName", DW_TEXT_OF "shortName", "graphNodeId" };
	struct dw_launch_shape shape;
	DW_ROWS rows = { 0 };

	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_KERNEL", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_KERNEL);

		rows_set_device(&rows, event);
		rows_set_launch(&rows, ROW_MORE, event, &shape);
		event->name = dw_rows_text(&rows, ROW_MORE + 10);
		if (!event->name.length)
			event->name = dw_rows_text(&rows, ROW_MORE + 11);
		rows_set_from(&rows, ROW_MORE + 12, event, CHROME_GRAPH_NODE);
		chrome_take_event(chrome, event);
	}
}

static void nsight_read_copies(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", ROWS_DEVICE, "bytes", "copyKind",
		"srcKind", "dstKind" };
	DW_ROWS rows = { 0 };
	char name[96];

	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_COPY);

		rows_set_device(&rows, event);
		rows_set_from(&rows, ROW_MORE, event, CHROME_BYTES);
		event->name = rows_copy_name(name, sizeof name, dw_rows_integer(&rows, ROW_MORE + 1, 0),
		                             dw_rows_integer(&rows, ROW_MORE + 2, -1),
		                             dw_rows_integer(&rows, ROW_MORE + 3, -1), nsight_memories);
		chrome_take_event(chrome, event);
	}
}

static void nsight_read_sets(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", ROWS_DEVICE, "bytes", "memKind" };
	DW_ROWS rows = { 0 };
	char name[64];

	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_MEMSET", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_SET);

		rows_set_device(&rows, event);
		rows_set_from(&rows, ROW_MORE, event, CHROME_BYTES);
		event->name = rows_set_name(name, sizeof name, dw_rows_integer(&rows, ROW_MORE + 1, -1), nsight_memories);
		chrome_take_event(chrome, event);
	}
}

/* With --cuda-graph-trace=graph, a launch of a graph is one event. */
static void nsight_read_graphs(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", ROWS_DEVICE, "graphId" };
	DW_ROWS rows = { 0 };
	char name[48];

	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_GRAPH);

		rows_set_device(&rows, event);
		snprintf(name, sizeof name, "CUDA graph %" PRId64, dw_rows_integer(&rows, ROW_MORE, 0));
		event->name = (struct dw_json_string){ name, (uint32_t)strlen(name), false };
		chrome_take_event(chrome, event);
	}
}

DW_ORDER(nsight_compare, struct nsight_record, DW_UP(event) DW_UP(correlation))

static void nsight_read_records(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { "eventId", "correlationId" };
	DW_ROWS rows = { 0 };

	nsight->record_count = 0;
	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows))
		chrome->failed |= !DW_APPEND(&nsight->records, &nsight->record_capacity, &nsight->record_count,
		    (struct nsight_record){ dw_rows_integer(&rows, 0, -1), dw_rows_integer(&rows, 1, 0) });
	DW_SORT(nsight->records, nsight->record_count, nsight_compare);
}

/* The correlation id of the call that recorded an event last before call `before`; 0: unknown. */
static int64_t nsight_recorded_by(const struct nsight *nsight, int64_t event, int64_t before)
{
	const struct nsight_record *records = nsight->records;
	size_t low = DW_FIRST(i, 0, nsight->record_count, records[i].event > event ||
	                      (records[i].event == event && records[i].correlation >= before));

	return low && records[low - 1].event == event ? records[low - 1].correlation : 0;
}

static void nsight_read_syncs(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", ROWS_DEVICE, "syncType", "eventId" };
	DW_ROWS rows = { 0 };

	nsight_read_records(nsight, chrome);
	OPEN(nsight, &rows, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_SYNC);
		int64_t waited = dw_rows_integer(&rows, ROW_MORE + 1, -1), recorded_by;

		rows_set_device(&rows, event);
		rows_set_sync(&rows, event, dw_rows_integer(&rows, ROW_MORE, 0), waited);
		recorded_by = nsight_recorded_by(nsight, waited, dw_rows_integer(&rows, ROW_CORRELATION, 0));
		if (recorded_by)
			rows_set(event, CHROME_WAIT_CORRELATION, recorded_by);
		chrome_take_event(chrome, event);
	}
}

/* Allocations on devices. The thread is that of the call, which the file names by correlation id
 * only; they are put on the main thread. */
static void nsight_read_memory(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { ROWS_TIMES, "globalPid", "deviceId", "address", "bytes",
		"memoryOperationType" };
	DW_ROWS rows = { 0 };

	OPEN(nsight, &rows, "CUDA_GPU_MEMORY_USAGE_EVENTS", "globalPid", columns);
	while (!chrome->failed && dw_rows_next(&rows)) {
		struct chrome_event *event = nsight_begin(nsight, chrome, &rows, CHROME_IS_INSTANT);
		int64_t bytes = dw_rows_integer(&rows, 5, 0);

		event->phase = 'i';
		event->name = (struct dw_json_string){ "[memory]", 8, false };
		rows_set_from(&rows, 4, event, CHROME_ADDRESS);
		rows_set(event, CHROME_MEMORY_BYTES, dw_rows_integer(&rows, 6, 0) && bytes > 0 ? -bytes : bytes);
		rows_set(event, CHROME_DEVICE_TYPE, 1);
		rows_set_from(&rows, 3, event, CHROME_DEVICE_ID);
		chrome_take_event(chrome, event);
	}
}

/* ---- what describes the machine ------------------------------------------------------------------- */

/* CUDA's number of a GPU in this process: CUDA_VISIBLE_DEVICES may hide and reorder them. */
static int64_t nsight_device_number(struct nsight *nsight, int64_t gpu, int64_t number)
{
	static const char *const columns[] = { "gpuId", "cudaId", "pid" };
	int64_t pid = nsight->processes[nsight->pass] & 0xffffff;
	DW_ROWS rows = { 0 };

	dw_rows_open(&rows, nsight->database, "TARGET_INFO_CUDA_DEVICE", columns, 3, NULL, 0);
	while (dw_rows_next(&rows))
		if (dw_rows_integer(&rows, 0, -1) == gpu && dw_rows_integer(&rows, 2, pid) == pid)
			number = dw_rows_integer(&rows, 1, number);
	return number;
}

/* Makes deviceProperties of Kineto's form, which chrome_device.c reads. */
static void nsight_read_gpus(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { "id", "cuDevice", "name", "totalMemory", "smCount" };
	const char *all = "[";
	DW_ROWS rows = { 0 };
	char name[96];

	dw_rows_open(&rows, nsight->database, "TARGET_INFO_GPU", columns, 5, NULL, 0);
	while (all && rows.row < MOST_GPUS && dw_rows_next(&rows)) {
		struct dw_json_string text = dw_rows_text(&rows, 2);
		int64_t id = dw_rows_integer(&rows, 0, 0);

		snprintf(name, sizeof name, "%.*s", (int)(text.length < 95 ? text.length : 95), text.at);
		for (char *at = name; *at; at++)
			if (*at == '"' || *at == '\\')
				*at = '?';
		all = dw_arena_printf(&chrome->names.arena, "%s%s{\"id\": %" PRId64 ", \"name\": \"%s\", "
		                      "\"totalGlobalMem\": %" PRId64 ", \"numSms\": %" PRId64 "}", all,
		                      rows.row > 1 ? ", " : "",
		                      nsight_device_number(nsight, id, dw_rows_integer(&rows, 1, id)), name,
		                      dw_rows_integer(&rows, 3, 0), dw_rows_integer(&rows, 4, 0));
	}
	all = all ? dw_arena_printf(&chrome->names.arena, "%s]", all) : NULL;
	chrome->failed |= !all;
	chrome->devices.properties = all;
	chrome->devices.properties_length = all ? strlen(all) : 0;
}

static void nsight_read_start(struct nsight *nsight, struct chrome *chrome)
{
	static const char *const columns[] = { "utcEpochNs" };
	DW_ROWS rows = { 0 };

	dw_rows_open(&rows, nsight->database, "TARGET_INFO_SESSION_START_TIME", columns, 1, NULL, 0);
	if (dw_rows_next(&rows))
		chrome->base_ns = dw_rows_integer(&rows, 0, 0);
	if (chrome->base_ns < 0 || chrome->base_ns > NS_EPOCH_LATEST)
		chrome->base_ns = 0;
}

static void nsight_find_processes(struct nsight *nsight)
{
	for (size_t t = 0; t < sizeof nsight_owned / sizeof *nsight_owned; t++) {
		const char *const columns[] = { nsight_owned[t].owner };
		DW_ROWS rows = { 0 };
		int64_t last = -1;

		dw_rows_open(&rows, nsight->database, nsight_owned[t].table, columns, 1, NULL, 0);
		while (dw_rows_next(&rows)) {
			int64_t process = (int64_t)((uint64_t)dw_rows_integer(&rows, 0, 0) >> 24);
			size_t i = 0;

			if (!process || process == last)
				continue;
			last = process;
			while (i < nsight->process_count && nsight->processes[i] != process)
				i++;
			if (i == MOST_PROCESSES)
				nsight->processes_dropped++;
			else if (i == nsight->process_count)
				nsight->processes[nsight->process_count++] = process;
		}
	}
	if (!nsight->process_count)
		nsight->processes[nsight->process_count++] = 0;
}

/* ---- all --------------------------------------------------------------------------------------------- */

static void nsight_read(struct chrome *chrome, void *context, size_t pass)
{
	struct nsight *nsight = context;

	nsight->pass = pass;
	nsight_read_start(nsight, chrome);
	nsight_read_gpus(nsight, chrome);
	nsight_read_names(nsight, chrome, "PROCESSES", "globalPid", "name", "process_name");
	nsight_read_names(nsight, chrome, "ThreadNames", "globalTid", DW_TEXT_OF "nameId", "thread_name");
	nsight_read_calls(nsight, chrome, "CUPTI_ACTIVITY_KIND_RUNTIME", CHROME_IS_RUNTIME);
	nsight_read_calls(nsight, chrome, "CUBLAS_EVENTS", CHROME_IS_ANNOTATION);
	nsight_read_calls(nsight, chrome, "CUDNN_EVENTS", CHROME_IS_ANNOTATION);
	nsight_read_nvtx(nsight, chrome);
	nsight_read_kernels(nsight, chrome);
	nsight_read_copies(nsight, chrome);
	nsight_read_sets(nsight, chrome);
	nsight_read_graphs(nsight, chrome);
	nsight_read_syncs(nsight, chrome);
	nsight_read_memory(nsight, chrome);
}

int dw_import_nsight(struct dw_database *database, const struct dw_import_file *file, int image_fd,
                     struct dw_arena *arena, struct dw_import_result *result, struct dwell_error *error)
{
	struct nsight *nsight = calloc(1, sizeof *nsight);
	int code;

	if (!nsight)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	nsight->database = database;
	dw_database_use_strings(nsight->database, "StringIds", "id");
	nsight_find_processes(nsight);
	code = chrome_import_rows(file, &(struct chrome_rows){ "Nsight Systems", nsight_read, nsight,
	                          nsight->process_count, nsight->database, nsight->processes_dropped },
	                          image_fd, arena, result, error);
	DW_FREE(nsight->records, nsight);
	return code;
}
