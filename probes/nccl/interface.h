/*
 * NCCL's profiler interface, versions 4 to 6, as far as this probe uses it. NCCL finds the symbols
 * ncclProfiler_v4 to _v6 in the library that NCCL_PROFILER_PLUGIN names.
 *
 * The versions describe an event alike, except that version 4 has one byte for its type, and they
 * describe more kinds of events than are asked for here. init() has its arguments in another order in
 * version 4.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { NCCL_SUCCESS = 0 };

/* Bits of a mask, and types. */
enum nccl_event_type { NCCL_COLLECTIVE = 1 << 1, NCCL_POINT = 1 << 2, NCCL_KERNEL_CHANNEL = 1 << 6 };

struct nccl_event {
	union {
		uint8_t byte;  /* version 4 */
		uint64_t word; /* later ones */
	} type;
	void *parent; /* of a kernel's channel: the collective that it works for */
	int rank;
	union {
		struct {
			uint64_t sequence;
			const char *function; /* "AllReduce" */
			const void *send;
			void *receive;
			size_t count;
			int root;
			const char *type; /* "ncclFloat32" */
			uint8_t channels; /* so many kernel channels work for it */
		} collective;
		struct {
			const char *function; /* "Send" */
			void *data;
			const char *type;
			size_t count;
			int peer;
			uint8_t channels;
		} point;
	} u;
};

typedef int nccl_start_event(void *context, void **handle, struct nccl_event *event);
typedef int nccl_stop_event(void *handle);
typedef int nccl_record_state(void *handle, int state, void *arguments);
typedef int nccl_finalize(void *context);

struct nccl_profiler_v4 {
	const char *name;
	int (*init)(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank,
	            void *logger);
	nccl_start_event *start;
	nccl_stop_event *stop;
	nccl_record_state *record;
	nccl_finalize *finalize;
};

struct nccl_profiler_v5 {
	const char *name;
	int (*init)(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank,
	            void *logger);
	nccl_start_event *start;
	nccl_stop_event *stop;
	nccl_record_state *record;
	nccl_finalize *finalize;
};
