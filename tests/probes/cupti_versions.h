/* The names that records of CUPTI have in its versions: the current ones of each, without their numbers. */
#ifndef TESTS_PROBES_CUPTI_VERSIONS_H
#define TESTS_PROBES_CUPTI_VERSIONS_H

#include <cupti.h>

#if CUPTI_API_VERSION >= 130500
#define T(name, v11, v12_1, v12_9, v13_0, v13_5) CUpti_Activity##v13_5
#elif CUPTI_API_VERSION >= 130000
#define T(name, v11, v12_1, v12_9, v13_0, v13_5) CUpti_Activity##v13_0
#elif CUPTI_API_VERSION >= 26
#define T(name, v11, v12_1, v12_9, v13_0, v13_5) CUpti_Activity##v12_9
#elif CUPTI_API_VERSION >= 19
#define T(name, v11, v12_1, v12_9, v13_0, v13_5) CUpti_Activity##v12_1
#else
#define T(name, v11, v12_1, v12_9, v13_0, v13_5) CUpti_Activity##v11
#endif
typedef T(kernel, Kernel8, Kernel9, Kernel9, Kernel10, Kernel13) real_kernel;
typedef T(copy, Memcpy5, Memcpy5, Memcpy6, Memcpy6, Memcpy7) real_copy;
typedef T(peer, MemcpyPtoP4, MemcpyPtoP4, MemcpyPtoP4, MemcpyPtoP4, MemcpyPtoP4) real_peer_copy;
typedef T(set, Memset4, Memset4, Memset4, Memset4, Memset5) real_set;
typedef T(memory, Memory3, Memory3, Memory4, Memory4, Memory4) real_memory;
typedef T(pool, MemoryPool2, MemoryPool2, MemoryPool2, MemoryPool3, MemoryPool3) real_pool;
typedef T(call, API, API, API, API, API) real_call;
typedef T(overhead, Overhead, Overhead, Overhead3, Overhead3, Overhead3) real_overhead;
typedef T(sync, Synchronization, Synchronization, Synchronization2, Synchronization2, Synchronization2) real_sync;
typedef T(event, CudaEvent, CudaEvent, CudaEvent2, CudaEvent2, CudaEvent3) real_event;
typedef T(graph, GraphTrace, GraphTrace, GraphTrace2, GraphTrace2, GraphTrace2) real_graph;
typedef T(device, Device4, Device4, Device5, Device5, Device6) real_device;
typedef T(context, Context, Context, Context3, Context3, Context4) real_context;
typedef CUpti_ActivityStream real_stream;

#endif
