/*
 * Allocations and frees.
 *
 * On the CPU: libc10's calls of c10::alloc_cpu and c10::free_cpu come here (abi/abi.h). On devices:
 * the allocators of devices keep memory that they reserved and give out blocks of it. They report
 * each block to c10::reportMemoryUsageToProfiler(), and these calls come here. PyTorch's own
 * reporting of memory cannot be used: the program's torch.profiler may need it; it gets every
 * report of devices as well.
 *
 * In steps without operators most blocks of the CPU are not recorded: see held_blocks.c.
 *
 * Which operator an allocation belongs to follows from its position between the records of
 * operators.
 *
 * An allocation that fails is recorded as one at NULL: alloc_cpu() throws, and allocators of devices report it to
 * c10::reportOutOfMemoryToProfiler(). So alloc_cpu may throw: this file is compiled so that exceptions pass through.
 */
#include "held_blocks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/keys.h"

#define MEMORY_TYPES 24u   /* of devices; PyTorch has 21 */
#define MEMORY_DEVICES 16u /* of one type */
#define CPU 0

static struct torch_allocator real;
static torch_report_memory *real_report;
static torch_report_failure *real_failure;

/* ---- the CPU ---------------------------------------------------------------------------- */

DWP_SITE(alloc_site, DWELL_CATEGORY_ALLOCATION, "other", "cpu");
DWP_SITE(free_site, DWELL_CATEGORY_ALLOCATION, "free", NULL);

/* An allocation that has not returned yet. What runs when it ends, by an exception too, records one that failed. */
struct memory_call {
	size_t bytes; /* 0: it returned */
};

static void memory_end_call(struct memory_call *call)
{
	if (DWELL_LIKELY(!call->bytes))
		return;
	dwp_held_record(); /* what held the memory */
	dwell_alloc(&alloc_site, NULL, call->bytes);
}

/* These two write their records without a call, because small operators have one of each. */
static void *memory_record_alloc(size_t bytes)
{
	struct memory_call call __attribute__((cleanup(memory_end_call))) = { bytes };
	void *address = real.alloc(bytes);

	if (DWELL_LIKELY(address != NULL))
		call.bytes = 0;
	dwp_memory_calls++;
	if (address && !dwp_held_alloc((uintptr_t)address, bytes) && dwell_wants(1u << DWELL_CATEGORY_ALLOCATION))
		dwell_put_words(DW_WORD_ALLOC | dwell_site_id(&alloc_site),
		                (const uint64_t[2]){ (uintptr_t)address, bytes }, 4);
	return address;
}

static void memory_record_free(void *address)
{
	dwp_memory_calls++;
	if (address && !dwp_held_free((uintptr_t)address) && dwell_wants(1u << DWELL_CATEGORY_ALLOCATION))
		dwell_put_words(DW_WORD_FREE | dwell_site_id(&free_site),
		                (const uint64_t[1]){ (uintptr_t)address }, 2);
	real.free(address);
}

/* ---- devices ---------------------------------------------------------------------------- */

/* A device that reported memory. It is never freed, because its sites are used without a lock. */
struct memory_device {
	struct dwell_site block, reserved;
	uint64_t reserved_bytes; /* atomic: the last value that was recorded */
	uint32_t epoch;          /* atomic: of the session in which it was */
	char name[24], reserved_name[40];
};
static struct memory_device *devices[MEMORY_TYPES][MEMORY_DEVICES]; /* atomic */

/* PyTorch's names of devices ("cuda:0"), by c10::DeviceType. */
static void memory_name_device(char *text, size_t size, struct torch_device device)
{
	static const char *const names[MEMORY_TYPES] = { [1] = "cuda", [6] = "hip", [9] = "xla", [10] = "vulkan",
		[12] = "xpu", [13] = "mps", [15] = "hpu", [18] = "ipu", [19] = "mtia", [20] = "privateuseone" };
	const char *name = names[device.type];

	if (name)
		snprintf(text, size, "%s:%d", name, device.index);
	else
		snprintf(text, size, "device%d:%d", device.type, device.index);
}

/* NULL: out of memory, or a device that PyTorch does not have. */
static struct memory_device *memory_find_device(struct torch_device device)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct memory_device **place, *found;

	if (device.index < 0)
		device.index = 0; /* the only one of its type */
	if (device.type <= CPU || (unsigned)device.type >= MEMORY_TYPES || (unsigned)device.index >= MEMORY_DEVICES)
		return NULL;
	place = &devices[device.type][device.index];
	found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (found)
		return found;
	pthread_mutex_lock(&lock);
	found = *place ? *place : calloc(1, sizeof *found);
	if (found && !*place) {
		memory_name_device(found->name, sizeof found->name, device);
		snprintf(found->reserved_name, sizeof found->reserved_name, "%s" DW_COUNTER_RESERVED, found->name);
		found->block = (struct dwell_site){ "other", found->name, NULL, 0, DWELL_CATEGORY_ALLOCATION, 0 };
		found->reserved = (struct dwell_site){ found->reserved_name, "bytes", NULL, 0, DWELL_CATEGORY_COUNTER, 0 };
		__atomic_store_n(place, found, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* Only where it changed: an allocator reserves seldom. */
static void memory_record_reserved(struct memory_device *device, uint64_t bytes)
{
	uint32_t epoch = dwell_device_epoch();

	if (__atomic_load_n(&device->reserved_bytes, __ATOMIC_RELAXED) == bytes &&
	    __atomic_load_n(&device->epoch, __ATOMIC_RELAXED) == epoch)
		return;
	__atomic_store_n(&device->reserved_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&device->epoch, epoch, __ATOMIC_RELAXED);
	dwell_counter(&device->reserved, (double)bytes);
}

static void memory_record_report(void *address, int64_t bytes, size_t allocated, size_t reserved,
                                 struct torch_device at)
{
	if (at.type != CPU && address && dwell_wants(1u << DWELL_CATEGORY_ALLOCATION)) {
		struct memory_device *device = memory_find_device(at);

		if (device && bytes > 0) {
			memory_record_reserved(device, reserved); /* first: it contains the block */
			dwell_alloc(&device->block, address, (uint64_t)bytes);
		} else if (device && bytes < 0) {
			DWELL_FREE(address);
			memory_record_reserved(device, reserved);
		}
	}
	real_report(address, bytes, allocated, reserved, at);
}

/* The allocator has given back to the device what it could, and no free piece of what it keeps is large enough. */
static void memory_record_failure(int64_t bytes, size_t allocated, size_t reserved, struct torch_device at)
{
	struct memory_device *device = bytes > 0 && at.type != CPU && dwell_wants(1u << DWELL_CATEGORY_ALLOCATION)
	                                   ? memory_find_device(at) : NULL;

	if (device) {
		memory_record_reserved(device, reserved);
		dwell_alloc(&device->block, NULL, (uint64_t)bytes);
	}
	real_failure(bytes, allocated, reserved, at);
}

uint64_t dwp_memory_recorded(void)
{
	return dwp_memory_calls - dwp_held.calls;
}

uint64_t dwp_memory_held(void)
{
	return dwp_held.calls;
}

void dwp_memory_attach(void)
{
	static const struct torch_allocator ours = { memory_record_alloc, memory_record_free };

	dwp_abi_replace_allocator(&ours, &real);
	dwp_abi_replace_report_memory(memory_record_report, &real_report);
	dwp_abi_replace_report_failure(memory_record_failure, &real_failure);
}
