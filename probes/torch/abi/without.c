/* The other functions of abi.h for a build with torch_abi=disabled; see absent.h. */
#include "../native/native.h"
#include "private.h"

unsigned dwp_abi_inputs(const char *function, struct dwell_tensor tensors[TORCH_MOST_TENSORS],
                        int64_t integers[TORCH_MOST_INTEGERS])
{
	return 0;
}

void dwp_abi_find_script(void)
{
}

unsigned dwp_abi_script_frames(uint32_t *ids, unsigned capacity)
{
	return 0;
}

void dwp_abi_skip_states(bool skip)
{
}

uint64_t dwp_abi_bucket_bytes(const void *bucket)
{
	return 0;
}

uint64_t dwp_abi_tensors_bytes(const void *object, unsigned depth)
{
	return 0;
}

/* Names of torch::nn modules in C++ programs: reading them needs PyTorch's memory, so there are none. */

void dwp_native_modules_attach(void *library)
{
}

void dwp_native_name_modules(const void *root)
{
}

struct dwell_site *dwp_native_layer_site(const void *module)
{
	return NULL;
}

const void *dwp_native_module_of(const void *object)
{
	return NULL;
}

void dwp_native_parameters_of(const void *group, void (*report)(const void *address))
{
}
