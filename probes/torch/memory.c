/*
 * Allocations and frees on the CPU, where libc10 calls its own allocator.
 *
 * libc10 reaches c10::alloc_cpu and c10::free_cpu through its procedure linkage
 * table, whose two entries are pointed here. PyTorch's own reporting would be in the
 * way of the program's torch.profiler. Which operator an allocation belongs to
 * follows from where it stands between the operators' records.
 *
 * alloc_cpu may throw: this file is compiled so that exceptions pass through.
 */
#include "torch.h"

#include <dlfcn.h>

static void *(*real_alloc)(size_t bytes);
static void (*real_free)(void *address);

static void *record_alloc(size_t bytes)
{
	void *address = real_alloc(bytes);

	if (address)
		DWELL_ALLOC("other", "cpu", address, bytes);
	return address;
}

static void record_free(void *address)
{
	if (address)
		DWELL_FREE(address);
	real_free(address);
}

/* Both or neither: frees without allocations would be worse than nothing. */
void dwp_memory_attach(void *c10)
{
	void **alloc_slot = dwp_redirect_slot(c10, "_ZN3c109alloc_cpuEm");
	void **free_slot = dwp_redirect_slot(c10, "_ZN3c108free_cpuEPv");

	*(void **)&real_alloc = dlsym(c10, "_ZN3c109alloc_cpuEm");
	*(void **)&real_free = dlsym(c10, "_ZN3c108free_cpuEPv");
	if (!real_alloc || !real_free)
		return;
	if (alloc_slot && free_slot && dwp_redirect(alloc_slot, (void *)(uintptr_t)record_alloc))
		dwp_redirect(free_slot, (void *)(uintptr_t)record_free);
	else
		fprintf(stderr, "dwell: this PyTorch's allocations are not recorded: its allocator is not "
		                "called in a known way\n");
}
