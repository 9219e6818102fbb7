/*
 * Another tool with an NVTX injection, for nvtx_test.py: prints what it gets, with its own handles.
 * Written with the real headers of NVTX.
 */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static const char registered[] = "its own handle";
static int depth;

static const char *message_of(const nvtxEventAttributes_t *attributes)
{
	if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED)
		return (const void *)attributes->message.registered == (const void *)registered ? registered : "?";
	return attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii
	           ? attributes->message.ascii : "";
}

static int push_a(const char *message)
{
	fprintf(stderr, "tool: push %s\n", message);
	return depth++;
}

static int pop(void)
{
	fprintf(stderr, "tool: pop\n");
	return --depth;
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	fprintf(stderr, "tool: push %s in %s\n", message_of(attributes), domain ? (const char *)domain : "default");
	return depth++;
}

static int domain_pop(nvtxDomainHandle_t domain)
{
	fprintf(stderr, "tool: pop in %s\n", domain ? (const char *)domain : "default");
	return --depth;
}

static nvtxDomainHandle_t create(const char *name)
{
	(void)name;
	return (nvtxDomainHandle_t) "its domain";
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text)
{
	(void)domain;
	(void)text;
	return (nvtxStringHandle_t)registered;
}

static nvtxRangeId_t start_a(const char *message)
{
	fprintf(stderr, "tool: start %s\n", message);
	return 77;
}

static void end(nvtxRangeId_t id)
{
	fprintf(stderr, "tool: end %d\n", (int)id);
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
	const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table;
	unsigned count;

	callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &count);
	*table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push_a;
	*table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
	*table[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)start_a;
	*table[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)end;
	callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &count);
	*table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)domain_push;
	*table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)domain_pop;
	*table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
	*table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)register_string;
	return 1;
}
