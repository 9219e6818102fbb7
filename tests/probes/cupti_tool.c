/*
 * A tool of the program's own that records by CUPTI, as torch.profiler's Kineto does: the same calls in the same order.
 *
 * Linked with the stand-in for libcupti; with -DBY_NAME it finds the functions by dlsym() instead, as JAX does. A
 * buffer that it did not hand out is dropped, and so is a kernel whose time is not one of its own clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti_versions.h"

#ifdef BY_NAME
static void *tool_library;
#define CALL(name) ((__typeof__(&name))dlsym(tool_library, #name))
#else
#define CALL(name) name
#endif

static const CUpti_ActivityKind kinds[] = { CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
	                                        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME };
#define KINDS (sizeof kinds / sizeof *kinds)
#define BUFFER_BYTES ((size_t)1 << 20)

static uint8_t *buffers[64];
static unsigned buffer_count, unknown, kernels, wrong;
static uint64_t began;
static CUpti_SubscriberHandle subscriber;

static uint64_t CUPTIAPI tool_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return ((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec) * 3; /* not in nanoseconds, as Kineto's */
}

static void CUPTIAPI tool_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

static void CUPTIAPI tool_request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = buffers[buffer_count++ % 64] = malloc(BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*most = 0;
}

static void CUPTIAPI tool_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;
	unsigned at = 0;

	(void)context, (void)stream, (void)size;
	while (at < 64 && buffers[at] != buffer)
		at++;
	if (at == 64) {
		unknown++;
		return;
	}
	while (CALL(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS)
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			uint64_t start = ((real_kernel *)record)->start;

			if (start >= began && start < began + 3 * 600000000000u)
				kernels++;
			else
				wrong++;
		}
	free(buffer);
	buffers[at] = NULL;
}

void tool_play(const char *what);
void tool_play(const char *what)
{
#ifdef BY_NAME
	tool_library = dlopen(BY_NAME, RTLD_LAZY);
#endif
	if (strncmp(what, "start", 5) == 0) { /* "start host": it records the host alone */
		if (CALL(cuptiSubscribe)(&subscriber, (CUpti_CallbackFunc)tool_callback, NULL) != CUPTI_SUCCESS)
			fprintf(stderr, "tool: CUPTI refuses it\n");
		began = tool_clock();
		CALL(cuptiActivityRegisterTimestampCallback)(tool_clock);
		CALL(cuptiActivityRegisterCallbacks)(tool_request, tool_complete);
		for (size_t i = 0; !what[5] && i < KINDS; i++)
			CALL(cuptiActivityEnable)(kinds[i]);
	} else if (strcmp(what, "finalize") == 0) {
		CALL(cuptiFinalize)();
	} else if (strcmp(what, "stop") == 0) {
		for (size_t i = 0; i < KINDS; i++)
			CALL(cuptiActivityDisable)(kinds[i]);
		CALL(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
		fprintf(stderr, "tool: %u kernels, %u of another clock, %u buffers of others\n", kernels, wrong, unknown);
	}
}
