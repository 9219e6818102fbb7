/* SQLite exports of Nsight Systems and nvprof: generated databases of several schemas, and broken ones. */
#include "sqlite.h"

/* The global id of thread 9 of process 77; 16777216 is 1 << 24. */
#define PID "(281474976710656 + 77 * 16777216)"
#define TID PID " + 9"

#define STRINGS                                                                                        \
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                            \
	"INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm<a\\nb>'), (3, 'worker');"
#define RUNTIME                                                                                        \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, "    \
	"correlationId INT, nameId INT);"                                                                  \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1200, 0, " TID ", 5, 1);"
#define KERNEL_TABLE                                                                                   \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, "       \
	"streamId INT, correlationId INT, globalPid INT, demangledName INT, gridX INT, gridY INT, "        \
	"gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT, staticSharedMemory INT, "  \
	"dynamicSharedMemory INT, localMemoryPerThread INT);"
#define KERNEL(start, end, stream, correlation, pid)                                                   \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" start ", " end ", 0, 1, " stream ", "            \
	correlation ", " pid ", 2, 8, 16, 5, 128, 1, 1, 90, 100, 200, 0);"
#define NVTX_TABLE                                                                                     \
	"CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, "             \
	"globalTid INT, domainId INT);"
#define NVTX(start, end, type, text, domain)                                                           \
	"INSERT INTO NVTX_EVENTS VALUES (" start ", " end ", " type ", '" text "', NULL, " TID ", " domain ");"

static const struct dw_symbol *symbol_of(const char *name)
{
	static const struct dw_symbol none = { .name = "" };
	const struct dw_source_file *file = &made.source->files[0];

	for (uint32_t id = 0; id < file->symbol_count; id++)
		if (file->symbols[id].name && strcmp(file->symbols[id].name, name) == 0)
			return &file->symbols[id];
	CHECK_FAIL("no symbol '%s'", name);
	return &none;
}

TEST(a_kernel_has_its_stream_launch_and_call)
{
	const struct dw_device_record *record;
	uint32_t process = 9;

	REQUIRE(sqlite_open(STRINGS RUNTIME KERNEL_TABLE KERNEL("1300", "1900", "7", "5", PID)
	                    "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, totalMemory INT, smCount INT);"
	                    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'A \"big\" one', 42949672960, 108);"
	                    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
	                    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
	                    "CREATE TABLE PROCESSES (globalPid INT, pid INT, name TEXT);"
	                    "INSERT INTO PROCESSES VALUES (" PID ", 77, 'python'), (16777216, 1, 'init');"
	                    "CREATE TABLE ThreadNames (nameId INT, priority INT, globalTid INT);"
	                    "INSERT INTO ThreadNames VALUES (3, 0, " TID ")") == 0);
	CHECK_EQ(made.source->process_count, 1);
	CHECK_EQ(made.source->processes[0].pid, 77);
	CHECK_STR(made.source->processes[0].name, "python");
	CHECK_EQ(made.source->threads[0].tid, 9);
	CHECK_STR(made.source->threads[0].name, "worker");
	CHECK_EQ(made.source->realtime_start_ns, 1700000000000001000);
	CHECK_STR(made.source->devices[0].name, "A ?big? one");
	CHECK_EQ(made.source->devices[0].processors, 108);
	CHECK_EQ(made.source->devices[0].memory_bytes, 42949672960);
	CHECK_EQ(sqlite_queues(), 1);
	record = sqlite_event(0, &process);
	REQUIRE(record);
	CHECK_EQ(record->start_ticks, 1300);
	CHECK_EQ(dw_device_duration(record), 600);
	CHECK_EQ(record->correlation, 5);
	CHECK_EQ(process, 0);
	CHECK_EQ(symbol_of("cudaLaunchKernel")->category, DWELL_CATEGORY_RUNTIME);
	CHECK_EQ(symbol_of("gemm<a\\nb>")->category, DWELL_CATEGORY_DEVICE);
	made_close(&made);
}

TEST(copies_sets_graphs_and_waits_have_their_details)
{
	const struct dw_device_record *record;
	uint32_t process;

	REQUIRE(sqlite_open(
	    STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, "
	    "streamId INT, correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 0, 1, 7, 5, " PID ", 9007199254740993, 1, 0, 2);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, streamId INT, "
	    "globalPid INT, bytes INT, memKind INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3, 4, 0, 7, " PID ", 64, 2);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT, streamId INT, "
	    "globalPid INT, graphId INT); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (5, 9, 0, 7, " PID ", 3);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (eventId INT, correlationId INT, globalPid INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (4, 10, " PID "), (4, 30, " PID "), (5, 12, " PID ");"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT, end INT, deviceId INT, streamId INT, "
	    "correlationId INT, globalPid INT, syncType INT, eventId INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (10, 20, 0, 4294967295, 20, " PID ", 1, 4)") == 0);
	CHECK_EQ(sqlite_count(DW_DEVICE_COPY), 1);
	CHECK_EQ(sqlite_count(DW_DEVICE_SET), 1);
	CHECK_EQ(sqlite_count(DW_DEVICE_GRAPH), 1);
	CHECK_EQ(sqlite_count(DW_DEVICE_SYNC), 1);
	for (size_t i = 0; (record = sqlite_event(i, &process)); i++) {
		const struct dw_device_record_wide *wide = (const void *)record;

		if (dw_device_kind(record) == DW_DEVICE_COPY) {
			CHECK_EQ(record->bytes, 9007199254740993);
			CHECK_EQ(dw_device_source(dw_device_detail(record)), DW_MEMORY_PAGEABLE);
			CHECK_EQ(dw_device_destination(dw_device_detail(record)), DW_MEMORY_DEVICE);
		} else if (dw_device_kind(record) == DW_DEVICE_SYNC) {
			CHECK_EQ(dw_device_detail(record), DW_SYNC_EVENT);
			CHECK_EQ(record->wait.event, 4);
			CHECK_EQ(wide->recorded_by, 10);
		}
	}
	made_close(&made);
}

TEST(ranges_of_nvtx_become_steps_operators_and_communication)
{
	const struct dw_stat *stat;

	REQUIRE(sqlite_open(STRINGS NVTX_TABLE NVTX("0", "NULL", "75", "NCCL", "2")
	                    NVTX("100", "900", "59", "iteration 12", "0")
	                    NVTX("110", "200", "59", "aten::mul, seq = 3, op_id = 9, sizes = [[2, 3], []]", "0")
	                    NVTX("300", "350", "59", "MulBackward0, seq = 3, op_id = 10", "0")
	                    NVTX("400", "420", "59", "ncclAllReduce", "2") NVTX("500", "NULL", "34", "here", "0")
	                    NVTX("600", "700", "60", "async", "0") NVTX("650", "NULL", "59", "never ended", "0"))
	        == 0);
	CHECK_EQ(made.source->step_count, 1);
	CHECK_EQ(made.source->steps[0].number, 12);
	CHECK_EQ(symbol_of("aten::mul")->category, DWELL_CATEGORY_OPERATOR);
	CHECK(symbol_of("aten::mul")->shapes != NULL);
	CHECK_EQ(symbol_of("MulBackward0")->category, DWELL_CATEGORY_OPERATOR);
	CHECK_EQ(symbol_of("ncclAllReduce")->category, DWELL_CATEGORY_COMMUNICATION);
	CHECK_EQ(symbol_of("here")->category, DWELL_CATEGORY_MARK);
	stat = made_stat(&made, "aten::mul");
	CHECK(stat && stat->total_ns == 90);
	CHECK(sqlite_noted("1 events begin and do not end"));
	made_close(&made);
}

TEST(processes_have_ids_of_their_own)
{
	const struct dw_device_record *record;
	uint32_t process, seen = 0;

	REQUIRE(sqlite_open(STRINGS RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000, 2200, 0, "
	                    "281474976710656 + 78 * 16777216 + 3, 5, 1);"
	                    KERNEL_TABLE KERNEL("1300", "1400", "7", "5", PID)
	                    KERNEL("2300", "2500", "7", "5", "281474976710656 + 78 * 16777216")) == 0);
	CHECK_EQ(made.source->process_count, 2);
	CHECK_EQ(sqlite_devices(), 2);
	for (size_t i = 0; (record = sqlite_event(i, &process)); i++) {
		CHECK_EQ(record->start_ticks, made.source->processes[process].pid == 77 ? 1300 : 2300);
		seen |= 1u << process;
	}
	CHECK_EQ(seen, 3);
	made_close(&made);
}

TEST(kernels_alone_are_a_trace)
{
	REQUIRE(sqlite_open("CREATE TABLE StringIds (id INT, value TEXT); CREATE TABLE "
	                    "CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, "
	                    "shortName INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, 7, 1), "
	                    "(6, 8, 1, 7, 1)") == 0);
	CHECK_EQ(sqlite_count(DW_DEVICE_KERNEL), 2);
	CHECK_EQ(sqlite_devices(), 2);
	CHECK_EQ(sqlite_queues(), 2); /* two devices with equal stream numbers */
	made_close(&made);
}

TEST(values_of_wrong_types_are_counted_with_their_row)
{
	REQUIRE(sqlite_open(STRINGS KERNEL_TABLE KERNEL("1300", "1400", "7", "5", PID)
	                    KERNEL("'late'", "1400", "7", "5", PID) KERNEL("NULL", "5", "7", "5", PID)
	                    KERNEL("1500", "1400", "'x'", "-5", PID) KERNEL("-7", "9", "7", "99999999999", PID)
	                    KERNEL("-9223372036854775807", "9223372036854775807", "7", "5", PID)) == 0);
	CHECK_EQ(sqlite_count(DW_DEVICE_KERNEL), 3);
	CHECK(sqlite_noted("3 events have no time, or one that is no number, and are left out (the first in row 2 of "
	                   "CUPTI_ACTIVITY_KIND_KERNEL)"));
	CHECK(sqlite_noted("1 events have a negative duration"));
	CHECK(sqlite_noted("1 events begin before time 0"));
	made_close(&made);
}

TEST(names_that_are_no_text_are_repaired)
{
	REQUIRE(sqlite_open("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
	                    "INSERT INTO StringIds VALUES (2, CAST(x'61ff0062' AS TEXT));"
	                    KERNEL_TABLE KERNEL("1", "2", "7", "5", PID)) == 0);
	symbol_of("a\xef\xbf\xbd\xef\xbf\xbd" "b");
	CHECK(sqlite_noted("were repaired"));
	made_close(&made);
}

TEST(other_databases_are_refused_with_a_reason)
{
	CHECK_EQ(sqlite_open("CREATE TABLE bookmarks (id INT)"), DWELL_E_NOT_TRACE);
	CHECK(strstr(made.error.message, "it is no profile"));
	made_close(&made);
	CHECK_EQ(sqlite_open("CREATE TABLE t (id INT); CREATE VIEW StringIds AS SELECT 1 AS id, 'a' AS value"),
	         DWELL_E_NOT_TRACE);
	made_close(&made);
	REQUIRE(sqlite_open(STRINGS) == 0);
	CHECK(sqlite_noted("it has no events"));
	made_close(&made);
}

TEST(files_of_nvprof_are_read)
{
	const struct dw_device_record *record;
	const struct dw_stat *stat;
	uint32_t process;

	REQUIRE(sqlite_open(
	    "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
	    "INSERT INTO StringTable VALUES (1, 'aten::mul, seq = 3'), (2, '_Z4gemmv'), (3, 'here');"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, "
	    "processId INT, threadId INT, correlationId INT, returnValue INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 211, 1100, 1200, 77, 9, 5, 0), "
	    "(2, 299, 1300, 1400, 77, 9, 6, 0);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT, "
	    "objectKind INT, objectId BLOB, name INT, domain INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (1, 2, 1000, 1, 2, x'4d0000000900000000000000', 1, 0), "
	    "(2, 1, 1050, 2, 2, x'4d0000000900000000000000', 3, 0), "
	    "(3, 4, 1250, 1, 2, x'4d0000000900000000000000', 0, 0);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, deviceId INT, contextId INT, "
	    "streamId INT, correlationId INT, name INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, "
	    "blockZ INT); INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES "
	    "(1300, 1700, 0, 1, 7, 5, 2, 1, 1, 1, 32, 1, 1);"
	    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (copyKind INT, srcKind INT, dstKind INT, bytes INT, "
	    "start INT, end INT, deviceId INT, streamId INT, correlationId INT, runtimeCorrelationId INT);"
	    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 1, 3, 64, 1800, 1900, 0, 7, 6, 0)") == 0);
	CHECK_EQ(sqlite_count(DW_DEVICE_KERNEL), 1);
	CHECK_EQ(sqlite_count(DW_DEVICE_COPY), 1);
	for (size_t i = 0; (record = sqlite_event(i, &process)); i++)
		if (dw_device_kind(record) == DW_DEVICE_COPY) {
			CHECK_EQ(dw_device_source(dw_device_detail(record)), DW_MEMORY_PAGEABLE);
			CHECK_EQ(dw_device_destination(dw_device_detail(record)), DW_MEMORY_DEVICE);
			CHECK_EQ(record->correlation, 6);
		}
	CHECK_EQ(made.source->process_count, 1);
	CHECK_EQ(made.source->processes[0].pid, 77);
	CHECK_EQ(made.source->thread_count, 1);
	stat = made_stat(&made, "aten::mul");
	CHECK(stat && stat->total_ns == 250);
	CHECK_EQ(symbol_of("cudaLaunchKernel")->category, DWELL_CATEGORY_RUNTIME);
	CHECK_EQ(symbol_of("runtime call 299")->category, DWELL_CATEGORY_RUNTIME);
	CHECK_EQ(symbol_of("here")->category, DWELL_CATEGORY_MARK);
	CHECK_EQ(symbol_of("_Z4gemmv")->category, DWELL_CATEGORY_DEVICE);
	made_close(&made);
}

TEST(views_in_place_of_tables_are_not_read)
{
	REQUIRE(sqlite_open(STRINGS "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE "
	                    "x(start) AS (VALUES (1) UNION ALL SELECT start + 1 FROM x) SELECT start FROM x") == 0);
	CHECK_EQ(made.source->events_count, 0);
	made_close(&made);
}

TEST(damaged_files_show_what_is_readable)
{
	size_t size;
	unsigned char *bytes = sqlite_bytes("PRAGMA page_size = 512;" STRINGS KERNEL_TABLE
	    "WITH RECURSIVE x(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM x WHERE i < 500) "
	    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, 0, 1, 7, i, " PID ", 2, 1, 1, 1, 1, 1, 1, 1, "
	    "1, 1, 1 FROM x", &size);

	REQUIRE(bytes && size > 8192);
	memset(bytes + size - 2048, 0xa5, 1024);
	CHECK_EQ(sqlite_open_bytes(bytes, size), 0);
	CHECK(sqlite_count(DW_DEVICE_KERNEL) > 100);
	CHECK(sqlite_noted("table CUPTI_ACTIVITY_KIND_KERNEL cannot be read to its end"));
	made_close(&made);
	for (size_t cut = 16; cut < size; cut += cut < 1024 ? 61 : 997) { /* truncated: an error or a note */
		int code = sqlite_open_bytes(bytes, cut);

		CHECK(code == 0 || code == DWELL_E_NOT_TRACE);
		made_close(&made);
	}
	bytes[18] = bytes[19] = 2;
	CHECK_EQ(sqlite_open_bytes(bytes, size), DWELL_E_NOT_TRACE);
	CHECK(strstr(made.error.message, "journal_mode=delete"));
	made_close(&made);
	sqlite3_free(bytes);
}

CHECK_MAIN
