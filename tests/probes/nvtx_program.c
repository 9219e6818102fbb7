/*
 * A program with NVTX, for nvtx_test.py: built with the real headers, it announces everything that
 * dwell records.
 *
 *     nvtx_program WHAT        see main()
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
}

static nvtxEventAttributes_t text(const char *message)
{
	nvtxEventAttributes_t attributes = { 0 };

	attributes.version = NVTX_VERSION;
	attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
	attributes.message.ascii = message;
	return attributes;
}

static void nested(void)
{
	for (int i = 0; i < 10; i++) {
		nvtxRangePushA("outer");
		rest();
		nvtxRangePushW(L"inner \u00e4\u4e2d");
		rest();
		nvtxRangePop();
		nvtxRangePop();
	}
}

static void *in_thread(void *argument)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the ender");
	nvtxRangeEnd(*(nvtxRangeId_t *)argument);
	nvtxRangePop(); /* nothing was pushed in this thread */
	nvtxRangePushA("in thread");
	nvtxRangePop();
	return NULL;
}

static void across(void)
{
	nvtxRangeId_t first = nvtxRangeStartA("starts here"), second = nvtxRangeStartA("ends first");
	pthread_t thread;

	rest();
	nvtxRangeEnd(second);
	pthread_create(&thread, NULL, in_thread, &first);
	pthread_join(thread, NULL);
	nvtxRangeEnd(12345); /* never began */
}

static void domains(void)
{
	nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL"), own = nvtxDomainCreateW(L"own");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(nccl, "ncclAllReduce");
	nvtxEventAttributes_t attributes = text(NULL), blue = text("blue");

	nvtxDomainNameCategoryA(own, 7, "kind \"seven\"");
	for (int i = 0; i < 5; i++) {
		attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
		attributes.message.registered = name;
		attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
		attributes.payload.ullValue = 4096;
		nvtxDomainRangePushEx(nccl, &attributes);
		blue.category = 7;
		blue.colorType = NVTX_COLOR_ARGB;
		blue.color = 0xff0000ff;
		blue.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
		blue.payload.dValue = 2.5;
		nvtxDomainRangePushEx(own, &blue);
		nvtxDomainRangePop(nccl); /* before the range of the other domain */
		nvtxDomainRangePop(own);
	}
	nvtxDomainMarkEx(own, &blue);
	nvtxMarkA("now");
	nvtxMarkW(L"now wide");
	nvtxDomainRangeEnd(own, nvtxDomainRangeStartEx(own, &blue));
	nvtxDomainDestroy(own);
}

static void event_without_schema(nvtxDomainHandle_t domain)
{
	nvtxEventAttributes_t event = text("no payload");

	event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	event.reserved0 = 5; /* of none */
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}

/* As NCCL: a schema with names of values, whose payload comes with a pushed range. */
static void payloads(void)
{
	struct collective { uint64_t communicator; size_t bytes; uint32_t operation; int root; double ratio; const char *note; };
	const nvtxPayloadEnum_t operations[] = { { "Sum", 0, 0 }, { "Max \"2\"", 2, 0 } };
	const nvtxPayloadEnumAttr_t names = { .fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID, .entries = operations, .numEntries = 2, .sizeOfEnum = 4,
		.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5 };
	nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL"), own = nvtxDomainCreateA("own");
	uint64_t operation = nvtxPayloadEnumRegister(nccl, &names);
	const nvtxPayloadSchemaEntry_t entries[] = {
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "communicator", NULL, 0, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "message size", NULL, 0, offsetof(struct collective, bytes), NULL, NULL },
		{ 0, operation, "operation", NULL, 0, 0, NULL, NULL }, { 0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "root", NULL, 0, 0, NULL, NULL },
		{ 0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "ratio", NULL, 0, 0, NULL, NULL },
		{ NVTX_PAYLOAD_ENTRY_FLAG_POINTER, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "note", NULL, 0, 0, NULL, NULL } };
	const nvtxPayloadSchemaAttr_t attributes = { .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
		NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES, .name = "collective",
		.entries = entries, .numEntries = 6 };
	uint64_t schema = nvtxPayloadSchemaRegister(nccl, &attributes);

	nvtxPayloadSchemaRegister(nccl, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		struct collective collective = { 1ull << 63, 1000u << i, i, -3, 0.5, "not recorded" };
		nvtxPayloadData_t data[2] = { { schema, i == 3 ? 16 : sizeof collective, &collective }, { 99999999, 8, &collective } };
		nvtxEventAttributes_t event = text("ncclBroadcast");

		event.category = 3;
		event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
		event.payload.ullValue = (uint64_t)(uintptr_t)data;
		event.reserved0 = 2;
		nvtxDomainRangePushEx(nccl, &event);
		nvtxDomainRangePop(nccl);
		nvtxRangePushPayload(nccl, data, 1);
		nvtxRangePopPayload(nccl, NULL, 0);
	}
	event_without_schema(own);
	nvtxRangeEndPayload(own, nvtxRangeStartPayload(own, NULL, 0), NULL, 0);
	nvtxMarkPayload(own, NULL, 0);
}

/* What PyTorch's emit_nvtx writes. */
static void operators(void)
{
	char name[64];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "aten::add, op_id = %d", i);
		nvtxRangePushA(name);
		nvtxRangePop();
	}
}

static void wrong(void)
{
	char *large = malloc(100001);
	nvtxEventAttributes_t empty = { 0 }, none = text(NULL);
	pid_t child;

	for (int i = 0; i < 3; i++)
		nvtxRangePop(); /* nothing was pushed */
	memset(large, 'x', 100000);
	large[100000] = '\0';
	nvtxRangePushA(large);
	nvtxRangePop();
	nvtxRangePushA("bad \xff\xfe\xc3 bytes");
	nvtxRangePop();
	nvtxRangePushA(NULL);
	nvtxRangePop();
	nvtxRangePushEx(&empty);
	nvtxRangePop();
	nvtxRangePushEx(&none);
	nvtxRangePop();
	nvtxNameOsThreadA(1, "not of this process");
	for (int i = 0; i < 1000; i++)
		nvtxRangePushA("deep");
	for (int i = 0; i < 1000; i++)
		nvtxRangePop();
	nvtxRangePushA("after");
	nvtxRangePop();
	nvtxRangePushA("forks");
	child = fork();
	nvtxRangePushA(child ? "parent" : "child");
	rest();
	nvtxRangePop();
	nvtxRangePop();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	free(large);
}

static void *many(void *argument)
{
	(void)argument;
	for (int i = 0; i < 20000; i++) {
		char name[32];

		snprintf(name, sizeof name, "range %d", i % 50);
		nvtxRangePushA(name);
		nvtxRangeEnd(nvtxRangeStartA("started"));
		nvtxRangePop();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t threads[4];

	if (strcmp(what, "nested") == 0)
		nested();
	else if (strcmp(what, "across") == 0)
		across();
	else if (strcmp(what, "domains") == 0)
		domains();
	else if (strcmp(what, "payloads") == 0)
		payloads();
	else if (strcmp(what, "operators") == 0)
		operators();
	else if (strcmp(what, "wrong") == 0)
		wrong();
	else if (strcmp(what, "many") == 0) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, many, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
