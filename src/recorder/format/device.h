/*
 * The fields of a device record, and the names of events whose kind and detail name them.
 *
 * For readers. A record of a live file may change while it is read: copy it first.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "format/layout.h"

static inline uint32_t dw_device_kind(const struct dw_device_record *record)
{
	return record->what >> DW_KIND_SHIFT;
}

/* QUEUE id; of a CALL a THREAD id. */
static inline uint32_t dw_device_queue(const struct dw_device_record *record)
{
	return record->what & DW_ID_MASK;
}

static inline uint64_t dw_device_duration(const struct dw_device_record *record)
{
	return record->length & DW_DEVICE_LENGTH_MASK;
}

static inline uint32_t dw_device_detail(const struct dw_device_record *record)
{
	return (uint32_t)(record->length >> DW_DEVICE_LENGTH_BITS);
}

/* Source and destination of a copy; the memory of a MEMORY event is like a destination. */
static inline uint32_t dw_device_source(uint32_t detail)
{
	return detail & 15;
}

static inline uint32_t dw_device_destination(uint32_t detail)
{
	return detail >> 4 & 15;
}

/* 'H' host, 'D' device, 'A' array, 'P' peer, '?' unknown. */
char dw_device_end_of_copy(uint32_t memory, uint32_t detail);

/*
 * The name of an event whose record has no name of its own, as Kineto names it: "Memcpy HtoD (Pinned
 * -> Device)", "Memset (Device)", "Stream Sync". Writes it to `text`, which it returns. A writer
 * gives an event another name only if it differs from this.
 */
#define DW_DEVICE_NAME_BYTES 64u
const char *dw_device_usual_name(uint32_t kind, uint32_t detail, char text[DW_DEVICE_NAME_BYTES]);
