/* The tracepoints of peer_ranges.cpp: a begin with a name's id and an end, as small as can be. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER dwell_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peer_lttng.h"

#if !defined(PEER_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEER_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(dwell_bench, begin,
	LTTNG_UST_TP_ARGS(uint32_t, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, id, id)))
LTTNG_UST_TRACEPOINT_EVENT(dwell_bench, end, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
