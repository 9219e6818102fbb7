/* A database that is made from SQL for a test, and what a source has of it. */
#pragma once

#include <sqlite3.h>

#include "made.h"

#include "format/device.h"
#include "read/source.h"

static struct made made;

/* The bytes of a database; the caller calls sqlite3_free(). */
static inline unsigned char *sqlite_bytes(const char *sql, size_t *size)
{
	sqlite3 *handle = NULL;
	char *why = NULL;
	sqlite3_int64 length = 0;
	unsigned char *bytes = NULL;

	if (sqlite3_open(":memory:", &handle) != SQLITE_OK ||
	    sqlite3_exec(handle, sql, NULL, NULL, &why) != SQLITE_OK)
		CHECK_FAIL("%s", why ? why : "sqlite3_open");
	else
		bytes = sqlite3_serialize(handle, "main", &length, 0);
	sqlite3_close(handle);
	*size = (size_t)length;
	return bytes;
}

static inline int sqlite_open_bytes(const void *bytes, size_t size)
{
	const char *path;
	int result;

	memset(&made, 0, sizeof made);
	made.file = -1;
	if (made_write(&made, bytes, size))
		return -100;
	path = made.path;
	result = dw_source_open(&made.source, &path, 1, &made.error);
	return result ? result : dw_model_create(&made.model, made.source, NULL, &made.error);
}

static inline int sqlite_open(const char *sql)
{
	size_t size;
	unsigned char *bytes = sqlite_bytes(sql, &size);
	int code = bytes ? sqlite_open_bytes(bytes, size) : -100;

	sqlite3_free(bytes);
	return code;
}

/* The i-th event of devices, and the index of its process; NULL: there are fewer. */
static inline const struct dw_device_record *sqlite_event(size_t i, uint32_t *process)
{
	for (size_t c = 0; c < made.source->events_count; c++) {
		const struct dw_source_events *events = &made.source->events[c];
		size_t count = (size_t)events->chunk.word_count * 4 / events->record_bytes;

		if (i < count) {
			*process = events->process;
			return (const void *)((const char *)events->chunk.words + i * events->record_bytes);
		}
		i -= count;
	}
	return NULL;
}

/* The numbers of devices and of streams. A source also has placeholders, whose id is 0. */
static inline size_t sqlite_devices(void)
{
	size_t count = 0;

	for (size_t i = 0; i < made.source->device_count; i++)
		count += made.source->devices[i].id != 0;
	return count;
}

static inline size_t sqlite_queues(void)
{
	size_t count = 0;

	for (size_t i = 0; i < made.source->queue_count; i++)
		count += made.source->queues[i].id != 0 && made.source->queues[i].number == 7;
	return count;
}

static inline bool sqlite_noted(const char *what)
{
	for (size_t i = 0; made.source && i < made.source->repair_count; i++)
		if (strstr(made.source->repairs[i], what))
			return true;
	return false;
}

static inline size_t sqlite_count(enum dw_device_kind kind)
{
	const struct dw_device_record *record;
	size_t count = 0;
	uint32_t process;

	for (size_t i = 0; (record = sqlite_event(i, &process)); i++)
		count += dw_device_kind(record) == kind;
	return count;
}
