/*
 * SQLite files that were made to cost their reader memory or time: `hostile_sqlite [NAME]`.
 *
 * Like hostile.c. Each file is made from SQL. Its rows have values that their writers never write:
 * a process each, a name each, names without an index, names of megabytes.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "bounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The numbers from 1, as a table: INSERT INTO t SELECT i, ... FROM n. */
#define NUMBERS(count) "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " #count ") "
#define NSIGHT_STRINGS "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
#define NSIGHT_CALLS                                                                                   \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, correlationId INT, " \
	"nameId INT);"
#define NSIGHT_KERNELS                                                                                 \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, "       \
	"streamId INT, correlationId INT, globalPid INT, demangledName INT, gridX INT, gridY INT, "        \
	"gridZ INT, blockX INT, blockY INT, blockZ INT);"
#define NVPROF_STRINGS "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);"
#define NVPROF_KERNELS                                                                                 \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT, deviceId INT, "           \
	"contextId INT, streamId INT, correlationId INT, name INT, gridX INT, gridY INT, gridZ INT, "      \
	"blockX INT, blockY INT, blockZ INT);"
#define NVPROF_MARKERS                                                                                 \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (timestamp INT, flags INT, objectId BLOB, name INT);"

static const struct { const char *name, *sql; } all[] = {
	{ "nsight processes", NSIGHT_STRINGS NSIGHT_CALLS
	  NUMBERS(100000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 1, i << 24, i, 1 FROM n" },
	{ "nsight threads", NSIGHT_STRINGS NSIGHT_CALLS
	  NUMBERS(100000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 1, 16777216 + i, i, 1 FROM n" },
	{ "nsight names", NSIGHT_STRINGS NSIGHT_KERNELS
	  NUMBERS(30000) "INSERT INTO StringIds SELECT i, 'kernel ' || i FROM n;"
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i, i % 99, 1, i, i, 16777216, i, i, 1, "
	                 "1, i, 1, 1 FROM n" },
	{ "nsight names without an index", "CREATE TABLE StringIds (id INT, value TEXT);" NSIGHT_CALLS
	  NUMBERS(30000) "INSERT INTO StringIds SELECT i, 'call ' || i FROM n;"
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i, 16777217, i, 60001 - i FROM n" },
	{ "nsight long name", NSIGHT_STRINGS NSIGHT_CALLS
	  "INSERT INTO StringIds VALUES (1, hex(zeroblob(1000000)));"
	  NUMBERS(20000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i, 16777217, i, 1 FROM n" },
	{ "nsight overlaps", NSIGHT_STRINGS NSIGHT_CALLS
	  NUMBERS(100000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 100000, 16777217, 7, 1 FROM n" },
	{ "nsight calls of one number", NSIGHT_STRINGS NSIGHT_CALLS NSIGHT_KERNELS
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i + 1, 16777217, 7, 1 FROM n;"
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i, 0, 1, 7, 7, 16777216, 1, 1, 1, 1, 1, "
	                 "1, 1 FROM n" },
	{ "nvprof streams", NVPROF_STRINGS NVPROF_KERNELS
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT i, i, i, i, i, i, i, i, 1, 1, i, "
	                 "1, 1 FROM n" },
	{ "nvprof names without an index", "CREATE TABLE StringTable (_id_ INT, value TEXT);" NVPROF_KERNELS
	  NUMBERS(30000) "INSERT INTO StringTable SELECT i, 'kernel ' || i FROM n;"
	  NUMBERS(60000) "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT i, i, 0, 1, 7, i, 60001 - i, 1, 1, "
	                 "1, 1, 1, 1 FROM n" },
	{ "nvprof markers that do not end", NVPROF_STRINGS NVPROF_MARKERS
	  NUMBERS(100000) "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT i, 2, x'0100000001000000', i FROM n" },
	{ "nvprof objects", NVPROF_STRINGS NVPROF_MARKERS
	  NUMBERS(20000) "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT i, 2, zeroblob(400), 1 FROM n" },
	{ "generated columns", NSIGHT_STRINGS
	  "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT AS (length(hex(zeroblob(2000000)))), "
	  "globalTid INT AS (16777217), nameId INT AS (hex(zeroblob(500000))), correlationId INT);"
	  NUMBERS(300) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, correlationId) SELECT i, i FROM n" },
	{ "numbers that are blobs", NSIGHT_STRINGS NSIGHT_CALLS
	  NUMBERS(30) "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i, i, 16777217, zeroblob(4000000 / i), "
	              "zeroblob(2000000 / i) FROM n" },
};

static void run(const char *sql)
{
	sqlite3 *handle = NULL;
	sqlite3_int64 size = 0;
	char *why = NULL;
	unsigned char *bytes;

	if (sqlite3_open(":memory:", &handle) != SQLITE_OK || sqlite3_exec(handle, sql, NULL, NULL, &why)) {
		fprintf(stderr, "%s\n", why ? why : "sqlite3_open");
		abort();
	}
	bytes = sqlite3_serialize(handle, "main", &size, 0);
	demand(bytes != NULL);
	sqlite3_close(handle);
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	sqlite3_free(bytes);
}

int main(int argc, char **argv)
{
	unsigned ran = 0;

	bounds_ask_all = true;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (argc > 1 && !strstr(all[i].name, argv[1]))
			continue;
		printf("%s\n", all[i].name);
		fflush(stdout);
		run(all[i].sql);
		ran++;
	}
	printf("%u passed, 0 failed\n", ran);
	return ran == 0;
}
