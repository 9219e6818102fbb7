/*
 * Allocations and frees on the CPU, where libc10 calls its own allocator.
 *
 * libc10's calls of c10::alloc_cpu and c10::free_cpu come here (abi/abi.h). PyTorch's own reporting
 * of memory cannot be used: the program's torch.profiler may need it. Which operator an
 * allocation belongs to follows from its position between the records of operators.
 *
 * alloc_cpu may throw: this file is compiled so that exceptions pass through.
 */
#include "torch.h"

static struct torch_allocator real;

static void *memory_record_alloc(size_t bytes)
{
	void *address = real.alloc(bytes);

	if (address)
		DWELL_ALLOC("other", "cpu", address, bytes);
	return address;
}

static void memory_record_free(void *address)
{
	if (address)
		DWELL_FREE(address);
	real.free(address);
}

void dwp_memory_attach(void)
{
	static const struct torch_allocator ours = { memory_record_alloc, memory_record_free };

	dwp_abi_replace_allocator(&ours, &real);
}
