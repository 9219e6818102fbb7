/*
 * Finds the answer to each question of abi.h when PyTorch is attached, and replaces PyTorch's
 * allocator and the end of a backward of DistributedDataParallel.
 */
#include "format/keys.h"
#include "private.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define ALLOC "_ZN3c109alloc_cpuEm"
#define FREE "_ZN3c108free_cpuEPv"
#define REPORT_MEMORY "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define REPORT_FAILURE "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE"
#define REPORT_FAILURE_1 "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE"
#define REPORT_MEMORY_1 "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE" /* PyTorch 1 */
#define SET_STATE "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE"
#define FINALIZE "_ZN4c10d7Reducer17finalize_backwardEv"
#define REDUCE_BUCKET "_ZN4c10d7Reducer17all_reduce_bucketERNS0_6BucketE"

static struct {
	void *c10; /* has the allocator; NULL: not found */
	void *cpu; /* has the operators; NULL: not found */
} libraries;

/* Opens the library that defines a function; NULL if none does. */
static void *abi_open_library_of(void *handle, const char *function)
{
	void *address = dlsym(handle, function);
	Dl_info found;

	return address && dladdr(address, &found) && found.dli_fname
	           ? dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* ---- attaching ------------------------------------------------------------------------------- */

static bool abi_find_functions(void *library)
{
	struct dwp_abi_functions *functions = &dwp_abi_functions;

	if (!TORCH_HAS_CALLBACKS || !library)
		return false;
	*(void **)&functions->remove = dlsym(library, "_ZN2at14removeCallbackEm");
	*(void **)&functions->name = dlsym(library, "_ZNK2at14RecordFunction4nameEv");
	*(void **)&functions->next_sequence = dlsym(library, "_ZN2at15sequence_number4peekEv");
	*(void **)&functions->inputs = dlsym(library, "_ZNK2at14RecordFunction10num_inputsEv");
	*(void **)&functions->grad_enabled = dlsym(library, "_ZN3c108GradMode10is_enabledEv");
	if (functions->remove && functions->name && functions->next_sequence)
		*(void **)&functions->add = dlsym(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	return functions->add != NULL;
}

#ifdef DWP_TORCH_ABI
static void abi_find_answers(void *library)
{
	dwp_abi_find_layout(library);
	dwp_abi_check();
	if (!dwp_abi_has_operators())
		return;
	if (libraries.cpu)
		dwp_abi_find_states(library, libraries.cpu);
	dwp_abi_prepare_script(library);
}
#else
static void abi_find_answers(void *library)
{
	static const char absent[] = "this dwell was built with torch_abi=disabled: PyTorch's operators have no "
	                             "shapes, links to their backward and frames of TorchScript";

	if (dwell_wants(DWELL_DETAIL_SHAPES))
		fprintf(stderr, "dwell: %s\n", absent);
	dwell_meta(DW_KEY_TORCH_LACKS, absent);
}
#endif

bool dwp_abi_attach(void *library, const char *version)
{
	snprintf(dwp_abi_version, sizeof dwp_abi_version, "%s", version);
	libraries.c10 = library ? abi_open_library_of(library, ALLOC) : NULL;
	libraries.cpu = library ? abi_open_library_of(library, SET_STATE) : NULL;
	if (abi_find_functions(library))
		abi_find_answers(library);
	else
		dwp_abi_lacks(DWP_ABI_OPERATORS);
	return dwp_abi_has_operators();
}

/* ---- functions that PyTorch calls ---------------------------------------------------------------- */

/* Replaces both functions or none: frees without allocations would make the figures wrong. */
void dwp_abi_replace_allocator(const struct torch_allocator *ours, struct torch_allocator *real)
{
	void *c10 = libraries.c10;
	void **alloc_slot = c10 ? dwp_abi_find_slot(c10, ALLOC) : NULL;
	void **free_slot = c10 ? dwp_abi_find_slot(c10, FREE) : NULL;

	if (c10) {
		*(void **)&real->alloc = dlsym(c10, ALLOC);
		*(void **)&real->free = dlsym(c10, FREE);
	}
	if (!dwp_abi_breaks(DWP_ABI_ALLOCATOR) && real->alloc && real->free && alloc_slot && free_slot &&
	    dwp_abi_replace(alloc_slot, (void *)(uintptr_t)ours->alloc))
		dwp_abi_replace(free_slot, (void *)(uintptr_t)ours->free);
	else
		dwp_abi_lacks(DWP_ABI_ALLOCATOR);
}

/* Paths of PyTorch's libraries with allocators of devices: libc10_cuda.so, libc10_hip.so, ... */
struct device_libraries {
	char paths[4][1024];
	unsigned count;
};

static int abi_see_device_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct device_libraries *found = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t length = slash ? strlen(info->dlpi_name) : 0;

	if (slash && strncmp(slash, "/libc10_", 8) == 0 && length < sizeof *found->paths &&
	    found->count < sizeof found->paths / sizeof *found->paths)
		memcpy(found->paths[found->count++], info->dlpi_name, length + 1);
	return 0;
}

static bool abi_replace_call_of(const char *path, const char *function, void *ours)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	void **slot = library ? dwp_abi_find_any_slot(library, function) : NULL;

	return slot && dwp_abi_replace(slot, ours);
}

/* Of the two names, the second is that of PyTorch 1. Returns false if there are allocators, and none calls the function. */
static bool abi_replace_report(const char *function, const char *before, void *ours, void **real)
{
	struct device_libraries found = { .count = 0 };
	bool replaced = false;

	if (libraries.c10 && !dlsym(libraries.c10, function))
		function = before;
	*real = libraries.c10 ? dlsym(libraries.c10, function) : NULL;
	/* Not opened inside the walk: the loader holds its lock there. */
	dl_iterate_phdr(abi_see_device_library, &found);
	for (unsigned i = 0; *real && !dwp_abi_breaks(DWP_ABI_DEVICE_ALLOCATOR) && i < found.count; i++)
		replaced |= abi_replace_call_of(found.paths[i], function, ours);
	return replaced || !found.count;
}

void dwp_abi_replace_report_memory(torch_report_memory *ours, torch_report_memory **real)
{
	if (!abi_replace_report(REPORT_MEMORY, REPORT_MEMORY_1, (void *)(uintptr_t)ours, (void **)real))
		dwp_abi_lacks(DWP_ABI_DEVICE_ALLOCATOR);
}

void dwp_abi_replace_report_failure(torch_report_failure *ours, torch_report_failure **real)
{
	abi_replace_report(REPORT_FAILURE, REPORT_FAILURE_1, (void *)(uintptr_t)ours, (void **)real);
}

/* Returns false if this PyTorch does not call the function through its linkage table. */
static bool abi_replace_reducer_call(const char *function, void *ours, void **real)
{
	void **slot = dwp_abi_find_slot(libraries.cpu, function);

	*real = dlsym(libraries.cpu, function);
	return *real && slot && dwp_abi_replace(slot, ours);
}

void dwp_abi_replace_reducer(const struct dwp_abi_reducer *ours, struct dwp_abi_reducer *real)
{
	if (!libraries.cpu || !dlsym(libraries.cpu, FINALIZE))
		return; /* a PyTorch without torch.distributed */
	if (dwp_abi_breaks(DWP_ABI_REDUCER) ||
	    !abi_replace_reducer_call(FINALIZE, (void *)(uintptr_t)ours->finalize_backward,
	                              (void **)&real->finalize_backward)) {
		dwp_abi_lacks(DWP_ABI_REDUCER);
		return;
	}
	abi_replace_reducer_call(REDUCE_BUCKET, (void *)(uintptr_t)ours->all_reduce_bucket,
	                         (void **)&real->all_reduce_bucket);
}
