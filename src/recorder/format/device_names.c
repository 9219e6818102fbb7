/* Names of device events that need no entry; see device.h. */
#include "format/device.h"

#include <stdio.h>

static const char *device_memory_name(uint32_t memory)
{
	static const char *const names[] = {
		[DW_MEMORY_UNKNOWN] = "Unknown",   [DW_MEMORY_PAGEABLE] = "Pageable",
		[DW_MEMORY_PINNED] = "Pinned",     [DW_MEMORY_DEVICE] = "Device",
		[DW_MEMORY_ARRAY] = "Array",       [DW_MEMORY_MANAGED] = "Managed",
		[DW_MEMORY_DEVICE_STATIC] = "Device Static",
		[DW_MEMORY_MANAGED_STATIC] = "Managed Static", [DW_MEMORY_HOST] = "Host",
	};

	return memory < sizeof names / sizeof *names ? names[memory] : "Unknown";
}

char dw_device_end_of_copy(uint32_t memory, uint32_t detail)
{
	if (detail & DW_COPY_PEER)
		return 'P';
	switch (memory) {
	case DW_MEMORY_PAGEABLE:
	case DW_MEMORY_PINNED:
	case DW_MEMORY_HOST: return 'H';
	case DW_MEMORY_DEVICE:
	case DW_MEMORY_MANAGED:
	case DW_MEMORY_DEVICE_STATIC:
	case DW_MEMORY_MANAGED_STATIC: return 'D';
	case DW_MEMORY_ARRAY: return 'A';
	default: return '?';
	}
}

static const char *device_sync_name(uint32_t detail)
{
	switch (detail) {
	case DW_SYNC_EVENT: return "Event Sync";
	case DW_SYNC_QUEUE_WAIT: return "Stream Wait Event";
	case DW_SYNC_QUEUE: return "Stream Sync";
	case DW_SYNC_CONTEXT: return "Context Sync";
	case DW_SYNC_DEVICE: return "Device Sync";
	default: return "Sync";
	}
}

static void device_name_copy(uint32_t detail, char text[DW_DEVICE_NAME_BYTES])
{
	uint32_t from = dw_device_source(detail), to = dw_device_destination(detail);
	char a = dw_device_end_of_copy(from, detail), b = dw_device_end_of_copy(to, detail);

	if (a == '?' || b == '?')
		snprintf(text, DW_DEVICE_NAME_BYTES, "Memcpy Unknown (%s -> %s)", device_memory_name(from),
		         device_memory_name(to));
	else
		snprintf(text, DW_DEVICE_NAME_BYTES, "Memcpy %cto%c (%s -> %s)", a, b,
		         device_memory_name(from), device_memory_name(to));
}

static const char *device_change_name(uint32_t detail)
{
	static const char *const names[16] = { [DW_CHANGE_ALLOCATED] = "Allocate", [DW_CHANGE_FREED] = "Free",
		[DW_CHANGE_POOL_CREATED] = "Create Pool", [DW_CHANGE_POOL_DESTROYED] = "Destroy Pool",
		[DW_CHANGE_POOL_TRIMMED] = "Trim Pool" };

	return names[detail & 15] ? names[detail & 15] : "Memory";
}

const char *dw_device_usual_name(uint32_t kind, uint32_t detail, char text[DW_DEVICE_NAME_BYTES])
{
	switch (kind) {
	case DW_DEVICE_COPY: device_name_copy(detail, text); break;
	case DW_DEVICE_SET:
		snprintf(text, DW_DEVICE_NAME_BYTES, "Memset (%s)",
		         device_memory_name(dw_device_destination(detail)));
		break;
	case DW_DEVICE_SYNC: snprintf(text, DW_DEVICE_NAME_BYTES, "%s", device_sync_name(detail)); break;
	case DW_DEVICE_RECORD: snprintf(text, DW_DEVICE_NAME_BYTES, "Event Record"); break;
	case DW_DEVICE_MEMORY:
		snprintf(text, DW_DEVICE_NAME_BYTES, "%s (%s)", device_change_name(detail),
		         device_memory_name(dw_device_destination(detail)));
		break;
	default: snprintf(text, DW_DEVICE_NAME_BYTES, "(unknown)"); break;
	}
	return text;
}
