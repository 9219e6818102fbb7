/*
 * A stand-in for NVIDIA's libcupti: plays records of devices that are not there.
 *
 * Built with the real headers of one version of CUPTI, so that its records are the real structures. It has the
 * functions of libcupti that dwell uses and fills the buffers that it gets, as libcupti does. The program
 * calls standin_play(). The environment decides what else is there:
 *
 *   STANDIN_HOLDER=NAME  another tool has subscribed
 *   STANDIN_SEVERAL=1    several tools may subscribe (13.1 and later)
 *   STANDIN_VERSION=N    it is this version of CUPTI's interface
 *   STANDIN_FAILS=WHAT   "subscribe", "register", "kernels": this fails, as without a device or without the right to it
 *
 * All tools of a process share the enabled kinds, the buffers and the clock. A tool that registers its own function gets
 * the buffers that another tool was asked for, and if a clock is registered while kinds are enabled, kernels have times of neither clock.
 *
 * At the end it prints to stderr how many kinds and how many buffers are still in use.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti_versions.h"

#define KINDS 128
#define HELD 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool enabled[KINDS];
enum { LAUNCH = 211, GET_DEVICE = 17, COPY_ASYNC = 41, SYNCHRONIZE = 131, CU_LAUNCH = 307 };
static bool subscribed, subscribed_v2;
static uint64_t (*clock_of_tool)(void);
static bool clocks_mixed;
static int handle; /* what a subscriber gets: its address */
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
#if CUPTI_API_VERSION >= 130100
static CUpti_BuffersCallbackRequestFunc_v2 request_v2;
static CUpti_BuffersCallbackCompleteFunc_v2 complete_v2;
#endif
static uint8_t *buffer;
static size_t buffer_size, buffer_used;
static size_t dropped, returned;
static struct { uint8_t *buffer; size_t used; } held[HELD];
static unsigned held_count;
static bool hold; /* full buffers are kept, as while a slow kernel runs */

static bool faulted; /* a kernel has failed: CUPTI answers nothing but errors */
static uint32_t context_id = 1;

static bool fails(const char *what)
{
	const char *asked = getenv("STANDIN_FAILS");

	return asked && strcmp(asked, what) == 0;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	if (clock_of_tool)
		return clock_of_tool();
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- buffers ----------------------------------------------------------------------------------- */

static void give_back(uint8_t *memory, size_t used)
{
#if CUPTI_API_VERSION >= 130100
	if (complete_v2) {
		complete_v2(memory, buffer_size, used, NULL);
		return;
	}
#endif
	complete(NULL, 0, memory, buffer_size, used);
}

static void end_buffer(void)
{
	if (!buffer)
		return;
	if (hold && held_count < HELD)
		held[held_count].buffer = buffer, held[held_count++].used = buffer_used;
	else
		give_back(buffer, buffer_used);
	returned++;
	buffer = NULL;
}

static size_t size_of(const void *record)
{
	switch (*(const uint32_t *)record) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(real_kernel);
	case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(real_copy);
	case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(real_peer_copy);
	case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(real_set);
	case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(real_memory);
	case CUPTI_ACTIVITY_KIND_MEMORY_POOL: return sizeof(real_pool);
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(real_call);
	case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(real_overhead);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(real_sync);
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT: return sizeof(real_event);
	case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(real_device);
	case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(real_context);
	case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(real_stream);
	default: return sizeof(CUpti_ActivityPreemption); /* a kind that dwell does not know */
	}
}

/* Calls that are not recorded although their kind is enabled; how many calls of GET_DEVICE were recorded. */
static bool quiet[2][1024];
static unsigned questions;

static bool is_quiet(const void *record)
{
	const CUpti_ActivityAPI *call = record;
	bool runtime = call->kind == CUPTI_ACTIVITY_KIND_RUNTIME;

	if (!runtime && call->kind != CUPTI_ACTIVITY_KIND_DRIVER)
		return false;
	questions += runtime && call->cbid == GET_DEVICE && !quiet[1][call->cbid];
	return quiet[runtime][call->cbid];
}

static void put(const void *record)
{
	size_t bytes = (size_of(record) + 7) & ~(size_t)7, most;

	if (!enabled[*(const uint32_t *)record] || is_quiet(record))
		return;
	if (buffer && buffer_used + bytes > buffer_size)
		end_buffer();
	if (!buffer) {
#if CUPTI_API_VERSION >= 130100
		if (request_v2)
			request_v2(&buffer, &buffer_size, &most, NULL);
		else
#endif
			request(&buffer, &buffer_size, &most);
		buffer_used = 0;
		if (hold && buffer_size > 4096)
			buffer_size = 4096; /* so that all are soon in use */
	}
	if (!buffer) {
		dropped++;
		return;
	}
	memcpy(buffer + buffer_used, record, size_of(record));
	buffer_used += bytes;
}

/* ---- libcupti's functions ------------------------------------------------------------------------ */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	*version = getenv("STANDIN_VERSION") ? (uint32_t)atoi(getenv("STANDIN_VERSION")) : CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user)
{
	(void)callback, (void)user;
	if (fails("subscribe"))
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (getenv("STANDIN_HOLDER") || subscribed || subscribed_v2)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscribed = true;
	*subscriber = (CUpti_SubscriberHandle)(void *)&handle;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	(void)subscriber;
	subscribed = subscribed_v2 = false;
#if CUPTI_API_VERSION >= 130100
	request_v2 = NULL;
	complete_v2 = NULL;
#endif
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed)
{
	if (fails("register"))
		return CUPTI_ERROR_NOT_INITIALIZED;
	request = requested;
	complete = completed;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	for (unsigned i = 0; i < KINDS; i++)
		clocks_mixed |= enabled[i];
	clock_of_tool = clock;
	return CUPTI_SUCCESS;
}

static void enable(CUpti_ActivityKind kind)
{
	enabled[kind] = true;
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER)
		memset(quiet[kind == CUPTI_ACTIVITY_KIND_RUNTIME], 0, sizeof quiet[0]);
}

#if CUPTI_API_VERSION >= 24 /* 12.4 */
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId function, uint8_t on)
{
	quiet[1][function] = !on;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId function, uint8_t on)
{
	quiet[0][function] = !on;
	return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fails("kernels"))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	enable(kind);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	enabled[kind] = false;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void)
{
	memset(enabled, 0, sizeof enabled);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	pthread_mutex_lock(&lock);
	end_buffer();
	pthread_mutex_unlock(&lock);
	return faulted ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *memory, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + ((size_of(*record) + 7) & ~(size_t)7) : memory;

	if (next >= memory + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)next;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
	(void)context, (void)stream;
	*count = dropped;
	dropped = 0;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *ns)
{
	if (faulted)
		return CUPTI_ERROR_UNKNOWN;
	*ns = now_ns();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	(void)type;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t function, const char **name)
{
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		*name = function == CU_LAUNCH ? "cuLaunchKernel" : NULL;
	else
		*name = function == LAUNCH ? "cudaLaunchKernel_v7000" : function == GET_DEVICE ? "cudaGetDevice_v3020"
		      : function == COPY_ASYNC ? "cudaMemcpyAsync_v3020"
		      : function == SYNCHRONIZE ? "cudaStreamSynchronize_v3020" : NULL;
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

#if CUPTI_API_VERSION >= 130000
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user,
                                       CUpti_SubscriberParams *asked)
{
	const char *holder = getenv("STANDIN_HOLDER");

	(void)callback, (void)user;
	if (holder && asked->oldSubscriberName)
		snprintf(asked->oldSubscriberName, asked->oldSubscriberSize, "%s", holder);
	if (!getenv("STANDIN_SEVERAL"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscribed_v2 = true;
	*subscriber = (CUpti_SubscriberHandle)(void *)&handle;
	return CUPTI_SUCCESS;
}
#endif

#if CUPTI_API_VERSION >= 130100
static CUptiResult good(CUpti_SubscriberHandle subscriber)
{
	return (void *)subscriber == (void *)&handle ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
                                                       CUpti_BuffersCallbackRequestFunc_v2 requested,
                                                       CUpti_BuffersCallbackCompleteFunc_v2 completed)
{
	request_v2 = requested;
	complete_v2 = completed;
	return good(subscriber);
}

CUptiResult CUPTIAPI cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                            CUpti_ActivityConfig *config)
{
	(void)config;
	enable(kind);
	return good(subscriber);
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId function, uint8_t on)
{
	cuptiActivityEnableRuntimeApi(function, on);
	return good(subscriber);
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId function, uint8_t on)
{
	cuptiActivityEnableDriverApi(function, on);
	return good(subscriber);
}

CUptiResult CUPTIAPI cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                             CUpti_ActivityConfig *config)
{
	(void)config;
	enabled[kind] = false;
	return good(subscriber);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *memory, size_t valid,
                                                   CUpti_Activity **record)
{
	return good(subscriber) == CUPTI_SUCCESS ? cuptiActivityGetNextRecord(memory, valid, record) : good(subscriber);
}
#endif

/* ---- what is played --------------------------------------------------------------------------------- */

static uint32_t correlation = 1;

static void others_complete(CUcontext context, uint32_t stream, uint8_t *memory, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)memory, (void)size, (void)valid;
}

static uint32_t call(CUpti_ActivityKind kind, uint32_t function)
{
	real_call record = { .kind = kind };

	record.cbid = function;
	record.start = now_ns();
	record.end = record.start + 2000;
	record.processId = (uint32_t)getpid();
	record.threadId = (uint32_t)gettid();
	record.correlationId = correlation++;
	put(&record);
	return record.correlationId;
}

static void kernel(const char *name, uint32_t stream, uint32_t by, uint64_t after_ns, uint64_t length_ns, uint64_t node)
{
	real_kernel record = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };

	record.start = (clocks_mixed ? 0 : now_ns()) + after_ns;
	record.end = record.start + length_ns;
	record.contextId = context_id;
	record.streamId = stream;
	record.gridX = 12, record.gridY = 3, record.gridZ = 1;
	record.blockX = 256, record.blockY = record.blockZ = 1;
	record.registersPerThread = 40;
	record.dynamicSharedMemory = 1024;
	record.correlationId = by;
	record.name = name;
	record.graphNodeId = node;
	put(&record);
}

static void copies(void)
{
	real_copy copy = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY };
	real_peer_copy peer = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2 };
	real_set set = { .kind = CUPTI_ACTIVITY_KIND_MEMSET };
	real_memory memory = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2 };
	real_pool pool = { .kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL };
	uint64_t now = now_ns();

	copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED, copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
	copy.bytes = 4096, copy.start = now + 100, copy.end = now + 3100;
	copy.contextId = 1, copy.streamId = 13, copy.correlationId = call(CUPTI_ACTIVITY_KIND_RUNTIME, COPY_ASYNC);
	put(&copy);
	peer.srcKind = peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	peer.bytes = 512, peer.start = now + 4000, peer.end = now + 5000, peer.contextId = 1, peer.streamId = 13;
	put(&peer);
	set.bytes = 64, set.start = now + 6000, set.end = now + 6500, set.contextId = 1, set.streamId = 13;
	set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	put(&set);
	memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	memory.address = 0x7f0000000000, memory.bytes = 1 << 20, memory.timestamp = now;
	put(&memory);
	memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
	memory.timestamp = now + 100;
	put(&memory);
	pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
	pool.address = 0x7e0000000000, pool.timestamp = now;
	for (int i = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID;
	     i <= CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED; i++) {
		pool.memoryPoolOperationType = i; /* an invalid one is left out */
		pool.size = (uint64_t)i << 21, pool.timestamp += 100;
		put(&pool);
	}
}

static void waits(void)
{
	real_event event = { .kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT };
	real_sync sync = { .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION };
	real_overhead overhead = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD };
	CUpti_ActivityPreemption unknown = { .kind = CUPTI_ACTIVITY_KIND_PREEMPTION };
	uint64_t now = now_ns();

	event.correlationId = correlation++, event.contextId = 1, event.streamId = 7, event.eventId = 5;
	put(&event);
	sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
	sync.start = now, sync.end = now + 500, sync.contextId = 1, sync.streamId = 13, sync.cudaEventId = 5;
	put(&sync);
	sync.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
	sync.streamId = (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	sync.cudaEventId = (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	sync.correlationId = call(CUPTI_ACTIVITY_KIND_RUNTIME, SYNCHRONIZE);
	put(&sync);
	overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
	overhead.start = now, overhead.end = now + 700;
	put(&overhead);
	put(&unknown);
}

static void device(void)
{
	real_device record = { .kind = CUPTI_ACTIVITY_KIND_DEVICE };
	real_context context = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT };

	record.name = "Stand-in GPU";
	record.globalMemorySize = (uint64_t)16 << 30;
	record.numMultiprocessors = 84;
	put(&record);
	context.contextId = context_id;
	context.nullStreamId = 7;
	put(&context);
}

static void mixed(void)
{
	uint32_t by;

	call(CUPTI_ACTIVITY_KIND_RUNTIME, GET_DEVICE);
	by = call(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH);
	kernel("_Z6matmulPKfS0_Pfi", 7, by, 5000, 20000, 0);
	by = call(CUPTI_ACTIVITY_KIND_DRIVER, CU_LAUNCH);
	kernel("triton_fused", 7, by, 30000, 10000, 0);
	by = call(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH);
	for (uint64_t node = 1; node <= 3; node++) /* a graph's kernels have one call */
		kernel("in_graph", 20, by, 50000 * node, 1000, node);
	copies();
	waits();
}

/* Kernels that come back in the reverse order, as when streams overlap. */
static void many(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		kernel(i % 2 ? "even" : "odd", 7 + i % 4, call(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH),
		       (uint64_t)(count - i) * 100, 50, 0);
}

/* ---- real buffers ------------------------------------------------------------------------------------- */

/* Where a record has times. Returns how many. */
static int times_of(void *record, uint64_t *times[2])
{
#define TIMES(type) { times[0] = &((type *)record)->start; times[1] = &((type *)record)->end; return 2; }
#define TIME(type) { times[0] = &((type *)record)->timestamp; return 1; }
	switch (*(uint32_t *)record) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: TIMES(real_kernel)
	case CUPTI_ACTIVITY_KIND_MEMCPY: TIMES(real_copy)
	case CUPTI_ACTIVITY_KIND_MEMSET: TIMES(real_set)
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: TIMES(real_call)
	case CUPTI_ACTIVITY_KIND_OVERHEAD: TIMES(real_overhead)
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: TIMES(real_sync)
	case CUPTI_ACTIVITY_KIND_MEMORY2: TIME(real_memory)
	case CUPTI_ACTIVITY_KIND_MEMORY_POOL: TIME(real_pool)
	default: return 0;
	}
}

/* The text that a record points to in `texts`, which are those of its buffer (probes/cuda/raw.c). */
static const char *text_at(const char *address, const uint8_t *texts)
{
	uint64_t head[2];

	for (;; texts += sizeof head + head[1]) {
		memcpy(head, texts, sizeof head);
		if (head[0] == (uintptr_t)address || !head[0])
			return head[0] ? strndup((const char *)texts + sizeof head, head[1]) : address;
	}
}

/* A record of another process becomes one of this: its times, its main thread, its texts. */
static void adopt(void *record, const uint8_t *texts, uint64_t *shift)
{
	static const char *last, *last_text;
	uint64_t *times[2];
	uint32_t kind = *(uint32_t *)record;
	const char **text = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? &((real_kernel *)record)->name
	                  : kind == CUPTI_ACTIVITY_KIND_DEVICE ? &((real_device *)record)->name : NULL;

	for (int i = times_of(record, times); i > 0; i--) {
		if (!*shift && *times[i - 1])
			*shift = now_ns() - *times[i - 1];
		*times[i - 1] += *times[i - 1] ? *shift : 0;
	}
	if ((kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) &&
	    ((real_call *)record)->threadId == ((real_call *)record)->processId)
		((real_call *)record)->threadId = (uint32_t)getpid();
	if (text && *text) {
		last_text = *text == last ? last_text : text_at(*text, texts);
		last = *text;
		*text = last_text;
	}
}

/* The whole buffers of a file that dwell wrote with DWELL_TEST_CUPTI_RAW. */
static void replay(const char *path)
{
	static uint8_t file[32 << 20];
	FILE *stream = fopen(path, "rb");
	size_t bytes = stream ? fread(file, 1, sizeof file, stream) : 0, at = 0, most;
	uint64_t head[3], shift = 0, text[2];

	for (; at + sizeof head <= bytes; at += head[2]) {
		memcpy(head, file + at, sizeof head);
		at += sizeof head;
		if (at + head[2] > bytes)
			break;
		request(&buffer, &buffer_size, &most);
		memcpy(buffer, file + at, buffer_used = head[2]);
		for (size_t i = 0; i < buffer_used; i += (size_of(buffer + i) + 7) & ~(size_t)7)
			adopt(buffer + i, file + at + head[2], &shift);
		end_buffer();
		for (text[0] = 1; text[0]; at += sizeof text + text[1])
			memcpy(text, file + at + head[2], sizeof text);
	}
	if (stream)
		fclose(stream);
}

__attribute__((destructor)) static void say(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < KINDS; i++)
		count += enabled[i];
	fprintf(stderr, "standin: %u kinds enabled, %zu buffers returned, %u questions recorded\n", count, returned, questions);
}

void standin_play(const char *what);
void standin_play(const char *what)
{
	unsigned us;

	pthread_mutex_lock(&lock);
	if (strcmp(what, "device") == 0) {
		device();
	} else if (strcmp(what, "mixed") == 0) {
		mixed();
	} else if (strcmp(what, "many") == 0) {
		many(20000);
	} else if (sscanf(what, "kernel %u", &us) == 1) {
		kernel("timed", 7, call(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH), 5000, us * 1000ull, 0);
	} else if (strncmp(what, "replay ", 7) == 0) {
		replay(what + 7);
	} else if (strcmp(what, "wrap") == 0) {
		correlation = UINT32_MAX - 10;
		many(50);
	} else if (strcmp(what, "drop") == 0) {
		end_buffer();
		hold = true;
		many(5000);
		hold = false;
		fprintf(stderr, "standin: %zu dropped\n", dropped);
		for (; held_count; held_count--)
			give_back(held[held_count - 1].buffer, held[held_count - 1].used);
	} else if (strcmp(what, "reset") == 0) { /* cudaDeviceReset(): another context, its streams from the beginning */
		end_buffer();
		context_id++;
		device();
	} else if (strcmp(what, "fault") == 0) { /* the kernel that fails has no times */
		uint32_t by = call(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH);
		real_kernel record = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };

		record.contextId = context_id, record.streamId = 7, record.correlationId = by, record.name = "faulting";
		put(&record);
		faulted = true;
	} else if (strcmp(what, "say") == 0) {
		say();
	} else if (strcmp(what, "unseen tool") == 0) { /* it has its functions from an earlier dlsym() */
		subscribed = true;
		enabled[CUPTI_ACTIVITY_KIND_JIT] = true;
		complete = others_complete;
	}
	pthread_mutex_unlock(&lock);
}
