/*
 * Compares the structures and numbers of probes/cuda/cupti_types.h with the headers of one version of CUPTI.
 *
 * Compiled and not run, once for each version: -I of its headers. cupti_versions.h has its types' names.
 */
#include "../../probes/cuda/cupti_types.h"
#include "cupti_versions.h"

#define SAME(what, own, real)                                                                          \
	_Static_assert(offsetof(struct cupti_##what, own) == offsetof(real_##what, real) &&                \
	               sizeof(((struct cupti_##what *)0)->own) >= sizeof(((real_##what *)0)->real),        \
	               #what "." #own " is " #real)
#define WITHIN(what) _Static_assert(sizeof(struct cupti_##what) <= sizeof(real_##what), #what " is no longer")

SAME(kernel, registers, registersPerThread); SAME(kernel, start, start); SAME(kernel, end, end);
SAME(kernel, device, deviceId); SAME(kernel, context, contextId); SAME(kernel, stream, streamId);
SAME(kernel, grid, gridX); SAME(kernel, block, blockX); SAME(kernel, static_shared, staticSharedMemory);
SAME(kernel, dynamic_shared, dynamicSharedMemory); SAME(kernel, local_per_thread, localMemoryPerThread);
SAME(kernel, correlation, correlationId); SAME(kernel, name, name); SAME(kernel, queued, queued);
SAME(kernel, submitted, submitted); SAME(kernel, graph_node, graphNodeId); SAME(kernel, graph, graphId);
WITHIN(kernel);
SAME(copy, copy_kind, copyKind); SAME(copy, source, srcKind); SAME(copy, destination, dstKind);
SAME(copy, flags, flags); SAME(copy, bytes, bytes); SAME(copy, start, start); SAME(copy, end, end);
SAME(copy, device, deviceId); SAME(copy, context, contextId); SAME(copy, stream, streamId);
SAME(copy, correlation, correlationId); SAME(copy, graph_node, graphNodeId); WITHIN(copy);
SAME(peer_copy, source, srcKind); SAME(peer_copy, bytes, bytes); SAME(peer_copy, start, start);
SAME(peer_copy, device, deviceId); SAME(peer_copy, stream, streamId); SAME(peer_copy, to_device, dstDeviceId);
SAME(peer_copy, correlation, correlationId); SAME(peer_copy, graph_node, graphNodeId); WITHIN(peer_copy);
SAME(set, bytes, bytes); SAME(set, start, start); SAME(set, end, end); SAME(set, device, deviceId);
SAME(set, stream, streamId); SAME(set, correlation, correlationId); SAME(set, memory, memoryKind); WITHIN(set);
SAME(memory, operation, memoryOperationType); SAME(memory, memory, memoryKind);
SAME(memory, correlation, correlationId); SAME(memory, address, address); SAME(memory, bytes, bytes);
SAME(memory, time, timestamp); SAME(memory, device, deviceId); SAME(memory, context, contextId); WITHIN(memory);
SAME(pool, operation, memoryPoolOperationType); SAME(pool, device, deviceId); SAME(pool, bytes, size);
SAME(pool, time, timestamp); WITHIN(pool);
SAME(call, function, cbid); SAME(call, start, start); SAME(call, end, end); SAME(call, thread, threadId);
SAME(call, correlation, correlationId); WITHIN(call);
SAME(overhead, what, overheadKind); SAME(overhead, object_kind, objectKind);
_Static_assert(offsetof(struct cupti_overhead, object) == offsetof(real_overhead, objectId), "the object");
SAME(overhead, start, start); SAME(overhead, end, end); WITHIN(overhead);
SAME(sync, type, type); SAME(sync, start, start); SAME(sync, end, end); SAME(sync, correlation, correlationId);
SAME(sync, context, contextId); SAME(sync, stream, streamId); SAME(sync, event, cudaEventId); WITHIN(sync);
SAME(event, correlation, correlationId); SAME(event, context, contextId); SAME(event, stream, streamId);
SAME(event, event, eventId); WITHIN(event);
SAME(graph, correlation, correlationId); SAME(graph, start, start); SAME(graph, device, deviceId);
SAME(graph, context, contextId); SAME(graph, stream, streamId); WITHIN(graph);
SAME(device, memory_bytes, globalMemorySize); SAME(device, processors, numMultiprocessors);
SAME(device, id, id); SAME(device, uuid, uuid); SAME(device, name, name); WITHIN(device);
SAME(context, context, contextId); SAME(context, device, deviceId); SAME(context, null_stream, nullStreamId);
WITHIN(context);
SAME(stream, context, contextId); SAME(stream, stream, streamId); SAME(stream, priority, priority); WITHIN(stream);

typedef CUpti_CallbackData real_callback;
typedef CUpti_ResourceData real_resource;
typedef CUpti_GraphData real_graph_data;
SAME(callback, site, callbackSite); SAME(resource, descriptor, resourceDescriptor);
SAME(graph_data, node, node); SAME(graph_data, original_node, originalNode); WITHIN(graph_data);

#define IS(own, real) _Static_assert((int)own == (int)CUPTI_##real, #own)
IS(CUPTI_OK, SUCCESS); IS(CUPTI_LIMIT_REACHED, ERROR_MAX_LIMIT_REACHED);
IS(CUPTI_SUBSCRIBER_EXISTS, ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
IS(KIND_COPY, ACTIVITY_KIND_MEMCPY); IS(KIND_SET, ACTIVITY_KIND_MEMSET); IS(KIND_SERIAL_KERNEL, ACTIVITY_KIND_KERNEL);
IS(KIND_DRIVER_CALL, ACTIVITY_KIND_DRIVER); IS(KIND_RUNTIME_CALL, ACTIVITY_KIND_RUNTIME);
IS(KIND_DEVICE, ACTIVITY_KIND_DEVICE); IS(KIND_CONTEXT, ACTIVITY_KIND_CONTEXT);
IS(KIND_KERNEL, ACTIVITY_KIND_CONCURRENT_KERNEL); IS(KIND_OVERHEAD, ACTIVITY_KIND_OVERHEAD);
IS(KIND_PEER_COPY, ACTIVITY_KIND_MEMCPY2); IS(KIND_EVENT, ACTIVITY_KIND_CUDA_EVENT);
IS(KIND_STREAM, ACTIVITY_KIND_STREAM); IS(KIND_SYNC, ACTIVITY_KIND_SYNCHRONIZATION);
IS(KIND_MEMORY, ACTIVITY_KIND_MEMORY2); IS(KIND_POOL, ACTIVITY_KIND_MEMORY_POOL);
IS(KIND_GRAPH, ACTIVITY_KIND_GRAPH_TRACE); IS(DOMAIN_DRIVER, CB_DOMAIN_DRIVER_API);
IS(DOMAIN_RUNTIME, CB_DOMAIN_RUNTIME_API); IS(DOMAIN_RESOURCE, CB_DOMAIN_RESOURCE);
IS(RESOURCE_NODE_CREATED, CBID_RESOURCE_GRAPHNODE_CREATED); IS(RESOURCE_NODE_CLONED, CBID_RESOURCE_GRAPHNODE_CLONED);
IS(RESOURCE_EXEC_STARTING, CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
IS(RESOURCE_EXEC_CREATED, CBID_RESOURCE_GRAPHEXEC_CREATED); IS(SITE_ENTER, API_ENTER); IS(SITE_EXIT, API_EXIT); IS(THREAD_IDS_OF_SYSTEM, ACTIVITY_THREAD_ID_TYPE_SYSTEM);
IS(THREAD_IDS_OF_PTHREAD, ACTIVITY_THREAD_ID_TYPE_DEFAULT);
IS(COPY_IS_ASYNC, ACTIVITY_FLAG_MEMCPY_ASYNC); IS(FLUSH_FORCED, ACTIVITY_FLAG_FLUSH_FORCED);
IS(OBJECT_IS_DEVICE, ACTIVITY_OBJECT_DEVICE);
_Static_assert(STREAM_NONE == (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream");
IS(ATTRIBUTE_CLEARED_BUFFERS, ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
IS(ATTRIBUTE_BUFFERS_BEFORE, ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
typedef CUpti_CallbackData real_callback;
SAME(callback, site, callbackSite); SAME(callback, correlation, correlationId);
#if CUPTI_API_VERSION >= 24
IS(DOMAIN_STATE, CB_DOMAIN_STATE); IS(STATES, CBID_STATE_WARNING);
_Static_assert(offsetof(struct cupti_state, result) == offsetof(CUpti_StateData, notification.result) &&
               offsetof(struct cupti_state, message) == offsetof(CUpti_StateData, notification.message), "what a state is");
#endif
#if CUPTI_API_VERSION >= 130400
IS(ATTRIBUTE_THREAD_IDS, ACTIVITY_ATTR_THREAD_ID_TYPE); IS(ATTRIBUTE_HARDWARE, ACTIVITY_ATTR_ENABLE_HES);
#endif
#if CUPTI_API_VERSION >= 130000
_Static_assert(offsetof(struct cupti_subscriber, other_size) == offsetof(CUpti_SubscriberParams, oldSubscriberSize) &&
               offsetof(struct cupti_subscriber, several) == CUpti_SubscriberParams_STRUCT_SIZE - (CUPTI_API_VERSION >= 130100 ? 8 : 0),
               "what a subscriber asks");
#endif
