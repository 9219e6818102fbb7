/*
 * Asks each question of abi.h when PyTorch is attached, and replaces functions that it calls.
 */
#include "private.h"

#include <dlfcn.h>

#define ALLOC "_ZN3c109alloc_cpuEm"
#define FREE "_ZN3c108free_cpuEPv"
#define SET_STATE "_ZN2at24set_record_function_tls_ERKNS_17RecordFunctionTLSE"
#define FINALIZE "_ZN4c10d7Reducer17finalize_backwardEv"

static struct {
	void *c10; /* has the allocator; NULL: not found */
	void *cpu; /* has the operators; NULL: not found */
} libraries;

/* The module's own extension. Functions are looked up in it and in the libraries that it needs,
 * whatever other PyTorch is in the process. */
static void *abi_open_extension(PyObject *torch)
{
	PyObject *module = PyObject_GetAttrString(torch, "_C");
	char path[4096] = "";

	if (module)
		dwp_python_text(module, "__file__", path, sizeof path);
	PyErr_Clear();
	Py_XDECREF(module);
	return *path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

/* The library that defines a function. */
static void *abi_open_library_of(void *handle, const char *function)
{
	void *address = dlsym(handle, function);
	Dl_info found;

	return address && dladdr(address, &found) && found.dli_fname
	           ? dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
}

bool dwp_abi_attach(PyObject *torch)
{
	void *own = abi_open_extension(torch);

	libraries.c10 = own ? abi_open_library_of(own, ALLOC) : NULL;
	libraries.cpu = own ? abi_open_library_of(own, SET_STATE) : NULL;
	if (!own || !dwp_abi_find_layout(torch, own))
		return false;
	if (libraries.cpu)
		dwp_abi_find_states(own, libraries.cpu);
	dwp_abi_prepare_script(torch, own);
	return true;
}

uint64_t dwp_abi_add_callback(torch_start *start, torch_end *end, unsigned scopes, bool inputs)
{
	struct torch_callback callback = { start, end, 1.0, { 0 }, inputs, 0, 0 };

	for (unsigned i = 0; i < sizeof callback.scopes; i++)
		callback.scopes[i] = scopes >> i & 1;
	return dwp_abi_layout.add(callback);
}

void dwp_abi_remove_callback(uint64_t handle)
{
	dwp_abi_layout.remove(handle);
}

/* Both or neither: frees without allocations would be worse than nothing. */
void dwp_abi_replace_allocator(const struct torch_allocator *ours, struct torch_allocator *real)
{
	void *c10 = libraries.c10;
	void **alloc_slot = c10 ? dwp_abi_find_slot(c10, ALLOC) : NULL;
	void **free_slot = c10 ? dwp_abi_find_slot(c10, FREE) : NULL;

	if (!c10)
		return;
	*(void **)&real->alloc = dlsym(c10, ALLOC);
	*(void **)&real->free = dlsym(c10, FREE);
	if (!real->alloc || !real->free)
		return;
	if (alloc_slot && free_slot && dwp_abi_replace(alloc_slot, (void *)(uintptr_t)ours->alloc))
		dwp_abi_replace(free_slot, (void *)(uintptr_t)ours->free);
	else
		fprintf(stderr, "dwell: this PyTorch's allocations are not recorded: its allocator is not "
		                "called in a known way\n");
}

void dwp_abi_replace_finalize_backward(void (*ours)(void *reducer), void (**real)(void *reducer))
{
	void **slot = libraries.cpu ? dwp_abi_find_slot(libraries.cpu, FINALIZE) : NULL;

	if (!slot)
		return;
	*(void **)real = dlsym(libraries.cpu, FINALIZE);
	if (*real)
		dwp_abi_replace(slot, (void *)(uintptr_t)ours);
}
