/*
 * The form of an XSpace: field numbers of its messages, and what dwell's export adds to it.
 *
 * XSpace is the file of XLA's profiler (*.xplane.pb). export/xplane.c writes it and
 * import/xspace_planes.c reads it: a space has planes (a host, a device, metadata), a plane has lines
 * (threads, streams) of events, and an event has stats. The numbers are those of xplane.proto.
 */
#pragma once

enum { XS_SPACE_PLANE = 1, XS_SPACE_ERROR = 2, XS_SPACE_WARNING = 3, XS_SPACE_HOST = 4 };
enum { XS_PLANE_ID = 1, XS_PLANE_NAME = 2, XS_PLANE_LINE = 3, XS_PLANE_EVENT_META = 4,
	   XS_PLANE_STAT_META = 5, XS_PLANE_STAT = 6 };
enum { XS_LINE_ID = 1, XS_LINE_NAME = 2, XS_LINE_TIMESTAMP_NS = 3, XS_LINE_EVENT = 4,
	   XS_LINE_DISPLAY = 11 };
enum { XS_EVENT_META = 1, XS_EVENT_OFFSET_PS = 2, XS_EVENT_DURATION_PS = 3, XS_EVENT_STAT = 4,
	   XS_EVENT_OCCURRENCES = 5 };
enum { XS_STAT_META = 1, XS_STAT_DOUBLE = 2, XS_STAT_UINT = 3, XS_STAT_INT = 4, XS_STAT_TEXT = 5,
	   XS_STAT_BYTES = 6, XS_STAT_REF = 7 };
enum { XS_META_ID = 1, XS_META_NAME = 2, XS_META_DISPLAY = 4, XS_META_STAT = 5 };
enum { XS_MAP_KEY = 1, XS_MAP_VALUE = 2 };

/* The number of the line of all allocations: one of those that the profile plugin keeps for
 * lines that it derives, so that it does not count allocations as calls of operators. */
#define DW_XSPACE_MEMORY_LINE (0xdeadbeefu + 5)

/* The type of the contexts that join an allocation with its step. */
#define DW_XSPACE_STEP_CONTEXT 0x6477u
