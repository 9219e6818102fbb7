/*
 * NVTX's extension for payloads: what programs call to name schemas, and events that have nothing but payloads.
 * These have the name of the first payload's schema.
 */
#include "payload.h"

#include <stdlib.h>

DWI_API int InitializeInjectionNvtxExtension(struct nvtx_module_of_extension *module);

static uint64_t payload_on_schema(const void *handle, const struct nvtx_schema *from)
{
	return dwi_payload_keep_schema(dwi_nvtx_domain(handle), from);
}

static uint64_t payload_on_values(const void *handle, const struct nvtx_value_names *from)
{
	return dwi_payload_keep_values(dwi_nvtx_domain(handle), from);
}

static struct dwi_name *payload_name(struct dwi_domain *domain, enum dwi_use use,
                                     const struct nvtx_payload_data *data, size_t count)
{
	return dwi_name(domain, use, dwi_payload_name(domain, data, count));
}

static void payload_on_mark(const void *handle, const struct nvtx_payload_data *data, size_t count)
{
	struct nvtx_attributes attributes = dwi_nvtx_of_blocks(data, count);
	struct dwi_name *name = payload_name(dwi_nvtx_domain(handle), DWI_MARK, data, count);

	dwi_nvtx_next_arguments(name, dwi_nvtx_domain(handle), &attributes);
	dwi_mark(name);
}

static int payload_on_push(const void *handle, const struct nvtx_payload_data *data, size_t count)
{
	struct nvtx_attributes attributes = dwi_nvtx_of_blocks(data, count);
	struct dwi_domain *domain = dwi_nvtx_domain(handle);
	int depth = dwi_begin(payload_name(domain, DWI_RANGE, data, count), 0);

	dwi_nvtx_arguments(domain, &attributes);
	return depth;
}

static int payload_on_pop(const void *handle, const struct nvtx_payload_data *data, size_t count)
{
	(void)data, (void)count;
	return dwi_end(dwi_nvtx_domain(handle));
}

static uint64_t payload_on_start(const void *handle, const struct nvtx_payload_data *data, size_t count)
{
	struct nvtx_attributes attributes = dwi_nvtx_of_blocks(data, count);
	struct dwi_name *name = payload_name(dwi_nvtx_domain(handle), DWI_RANGE, data, count);

	dwi_nvtx_next_arguments(name, dwi_nvtx_domain(handle), &attributes);
	return dwi_nvtx_start(name);
}

static void payload_on_end(const void *handle, uint64_t number, const struct nvtx_payload_data *data, size_t count)
{
	(void)handle, (void)data, (void)count;
	dwi_async_end(dwi_key(NULL, number, 1, 0));
}

/* Another library (DWELL_NVTX_NEXT) would get handles that are not its own: nothing is offered then. */
int InitializeInjectionNvtxExtension(struct nvtx_module_of_extension *module)
{
	static const nvtx_function functions[PAYLOAD_FUNCTIONS] = {
		[PAYLOAD_SCHEMA] = (nvtx_function)payload_on_schema, [PAYLOAD_VALUES] = (nvtx_function)payload_on_values,
		[PAYLOAD_MARK] = (nvtx_function)payload_on_mark, [PAYLOAD_PUSH] = (nvtx_function)payload_on_push,
		[PAYLOAD_POP] = (nvtx_function)payload_on_pop, [PAYLOAD_START] = (nvtx_function)payload_on_start,
		[PAYLOAD_END] = (nvtx_function)payload_on_end,
	};
	const char *next = getenv("DWELL_NVTX_NEXT");

	if (!module || module->size < sizeof *module || module->module != NVTX_MODULE_PAYLOAD ||
	    !module->segment_count || !module->segments)
		return 0;
	for (size_t i = 0; !(next && *next) && i < PAYLOAD_FUNCTIONS && i < module->segments->count; i++)
		module->segments->functions[i] = (intptr_t)functions[i];
	return 1;
}
