/*
 * CUPTI's activity interface: the structures and numbers that the probe needs.
 *
 * Own declarations, so that one build runs with every CUPTI from 11.8 to 13.x and needs no CUDA to compile.
 * A record of CUPTI only ever grew at its end: the members here are those that all versions have, at the
 * same places. tests/probes/cupti_layout.c compares each with the headers of several versions. Only for
 * 64-bit systems, as CUDA itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Results, the same since CUPTI 4 (39: since 11.2). */
enum {
	CUPTI_OK = 0, CUPTI_LIMIT_REACHED = 12, CUPTI_SUBSCRIBER_EXISTS = 39
};

#define CUPTI_SEVERAL 130100u /* the first version that serves several tools */

/* Kinds of records (CUpti_ActivityKind). */
enum {
	KIND_COPY = 1, KIND_SET = 2, KIND_SERIAL_KERNEL = 3, KIND_DRIVER_CALL = 4, KIND_RUNTIME_CALL = 5,
	KIND_DEVICE = 8, KIND_CONTEXT = 9, KIND_KERNEL = 10, KIND_OVERHEAD = 17, KIND_PEER_COPY = 22,
	KIND_EVENT = 36, KIND_STREAM = 37, KIND_SYNC = 38, KIND_EXTERNAL = 39, KIND_MEMORY = 49,
	KIND_POOL = 50, KIND_GRAPH = 51
};

/* Domains of cuptiGetCallbackName(). */
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2, DOMAIN_RESOURCE = 3, DOMAIN_STATE = 6 };

/* Callbacks of the domain of resources, and when one of a call comes. */
enum { RESOURCE_NODE_CREATED = 13, RESOURCE_EXEC_STARTING = 17, RESOURCE_EXEC_CREATED = 18, RESOURCE_NODE_CLONED = 20 };
enum { SITE_ENTER = 0, SITE_EXIT = 1 };
#define STATES 3u /* callbacks 1 to 3 of the domain of states: errors and warnings */

#define THREAD_IDS_OF_PTHREAD 0 /* as CUPTI begins */
#define THREAD_IDS_OF_SYSTEM 1
/* CUpti_ActivityAttribute; the last two are for one of several tools, THREAD_IDS since 13.4 */
enum { ATTRIBUTE_CLEARED_BUFFERS = 5, ATTRIBUTE_BUFFERS_BEFORE = 6, ATTRIBUTE_HARDWARE = 13, ATTRIBUTE_THREAD_IDS = 21 };
#define COPY_IS_ASYNC 1u     /* in cupti_copy.flags */
#define STREAM_NONE 0xffffffffu /* in cupti_sync.stream */
#define FLUSH_FORCED 1u

/* CUpti_ActivityKernel8 (11.8) to Kernel13 (13.5) */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t global_cache[2];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout[2], padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;
};

/* CUpti_ActivityMemcpy5 (11.8) to Memcpy7 */
struct cupti_copy {
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint32_t runtime_correlation, pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivityMemcpyPtoP4 */
struct cupti_peer_copy {
	uint32_t kind;
	uint8_t copy_kind, source, destination, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivityMemset4 (11.8) to Memset5 */
struct cupti_set {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
};

/* CUpti_ActivityMemory3 (11.8) to Memory4 */
struct cupti_memory {
	uint32_t kind, operation, memory, correlation;
	uint64_t address, bytes, time, pc;
	uint32_t process, device, context, stream;
};

/* CUpti_ActivityMemoryPool2 (11.8) to MemoryPool3 */
struct cupti_pool {
	uint32_t kind, operation, type, correlation, process, device;
	uint64_t keep_bytes, address, bytes, threshold, time;
};

/* CUpti_ActivityAPI */
struct cupti_call {
	uint32_t kind, function;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

/* CUpti_ActivityOverhead (11.8) to Overhead3. `object`: process and thread, or device, context and stream */
struct cupti_overhead {
	uint32_t kind, what, object_kind, object[3];
	uint64_t start, end;
};
#define OBJECT_IS_DEVICE 3u /* and greater kinds: `object` begins with a device */

/* CUpti_ActivitySynchronization (11.8), Synchronization2 */
struct cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

/* CUpti_ActivityCudaEvent (11.8) to CudaEvent3 */
struct cupti_event {
	uint32_t kind, correlation, context, stream, event;
};

/* CUpti_ActivityGraphTrace (11.8), GraphTrace2 */
struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

/* CUpti_ActivityDevice4 (11.8) to Device6 */
struct cupti_device {
	uint32_t kind, flags;
	uint64_t bandwidth, memory_bytes;
	uint32_t constant_memory, l2, warp, clock, engines, processors, others[14];
	uint32_t capability[2], id, ecc;
	uint8_t uuid[16];
	const char *name;
};

/* CUpti_ActivityContext to Context4 */
struct cupti_context {
	uint32_t kind, context, device;
	uint16_t api, null_stream;
};

/* CUpti_ActivityStream */
struct cupti_stream {
	uint32_t kind, context, stream;
	int32_t priority;
	uint32_t flag, correlation;
};

/* CUpti_CallbackData, CUpti_ResourceData, CUpti_GraphData, CUpti_StateData: what callbacks get */
struct cupti_callback {
	int site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *own; /* a word that enter and exit of one call share */
	uint32_t correlation;
};

struct cupti_state {
	int result;
	const char *message;
};

struct cupti_resource {
	void *context, *handle;
	const void *descriptor;
};

struct cupti_graph_data {
	void *graph, *original_graph;
	void *node, *original_node;
};

/* CUpti_SubscriberParams (13.0 on; the last member since 13.1, which `size` tells the library) */
struct cupti_subscriber {
	size_t size;
	const char *name;
	char *other;
	size_t other_size;
	uint8_t several;
};

typedef void (*cupti_request_function)(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void (*cupti_complete_function)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                        size_t valid);
typedef void (*cupti_request_v2_function)(uint8_t **buffer, size_t *size, size_t *most_records, void *info);
typedef void (*cupti_complete_v2_function)(uint8_t *buffer, size_t size, size_t valid, void *info);
