/*
 * CUPTI's library: found, loaded, subscribed to.
 *
 * A process has one CUPTI. The copy that the program has loaded is preferred (PyTorch loads its own), then
 * that of the loader's path, of CUDA_HOME and CUDA_PATH, of pip's packages beside the CUDA runtime that the
 * program uses, and of /usr/local/cuda.
 *
 * With several subscribers (since 13.1) dwell is one of them. Before that a process has one, and nobody shares
 * the activity records of another. dwell then subscribes for a moment only, to learn whether someone holds
 * CUPTI, and records without a subscription, which the activity interface does not need: a program's own
 * torch.profiler can still subscribe, and gets the records from then on (handover.c). Callbacks need one, so dwell holds it for
 * these, and gives it up when another tool subscribes.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dwc_cupti dwc_cupti;

static const char *const cupti_names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
	                                       "libcupti.so" };
#define NAMES (sizeof cupti_names / sizeof *cupti_names)

/* ---- the library ---------------------------------------------------------------------------------------- */

static void *cupti_try_folder(const char *folder, size_t length, const char *below)
{
	char path[4096];
	void *library = NULL;

	for (size_t i = 0; !library && i < NAMES; i++)
		if (snprintf(path, sizeof path, "%.*s/%s/%s", (int)length, folder, below, cupti_names[i]) <
		    (int)sizeof path)
			library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	return library;
}

/* Beside the CUDA runtime: .../nvidia/cuda_runtime/lib/libcudart.so.12 has .../nvidia/cuda_cupti/lib, and
 * .../nvidia/cu13/lib/libcudart.so.13 and an installed toolkit have it in the same folder or in extras. */
static int cupti_look_beside(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	char folder[4096];

	(void)size;
	if (!slash || strncmp(slash + 1, "libcudart", 9) != 0 ||
	    snprintf(folder, sizeof folder, "%s", info->dlpi_name) >= (int)sizeof folder)
		return 0;
	memcpy(data, folder, sizeof folder);
	return 1;
}

static void *cupti_find_beside(void)
{
	static const char *const places[] = { ".", "../../cuda_cupti/lib", "../extras/CUPTI/lib64" };
	char runtime[4096] = "";
	void *library = NULL;

	/* Not loaded inside the walk: the loader holds its lock there. */
	dl_iterate_phdr(cupti_look_beside, runtime);
	for (size_t i = 0; *runtime && !library && i < sizeof places / sizeof *places; i++)
		library = cupti_try_folder(runtime, (size_t)(strrchr(runtime, '/') - runtime), places[i]);
	return library;
}

static void *cupti_find(void)
{
	static const char *const homes[] = { "CUDA_HOME", "CUDA_PATH" };
	void *library = NULL;

	for (size_t i = 0; !library && i < NAMES; i++)
		library = dlopen(cupti_names[i], RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = 0; !library && i < sizeof homes / sizeof *homes; i++) {
		const char *home = getenv(homes[i]);

		if (home && *home && !(library = cupti_try_folder(home, strlen(home), "extras/CUPTI/lib64")))
			library = cupti_try_folder(home, strlen(home), "lib64");
		if (home && *home && !library)
			library = cupti_try_folder(home, strlen(home), "lib");
	}
	if (!library)
		library = cupti_find_beside();
	for (size_t i = 0; !library && i < NAMES; i++)
		library = dlopen(cupti_names[i], RTLD_LAZY | RTLD_LOCAL);
	return library ? library : cupti_try_folder("/usr/local/cuda", 15, "extras/CUPTI/lib64");
}

static bool cupti_load(void)
{
	struct dwc_functions *call = &dwc_cupti.call;
	void *library = cupti_find();
	const char *missing = NULL;
	struct link_map *map = NULL;

	if (call->cuptiGetVersion) /* a child of fork: dlsym() would find the functions of handover.c by now */
		return !*dwc_cupti.lacks;
	if (!library) {
		snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "CUPTI (libcupti.so) was not found: set CUDA_HOME, "
		         "or install nvidia-cuda-cupti");
		return false;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
		snprintf(dwc_cupti.path, sizeof dwc_cupti.path, "%s", map->l_name);
#define X(name, arguments)                                     \
	*(void **)&call->name = dlsym(library, #name);             \
	if (!call->name)                                           \
		missing = #name;
	DWC_REQUIRED(X)
#undef X
#define X(name, arguments) *(void **)&call->name = dlsym(library, #name);
	DWC_OPTIONAL(X)
#undef X
	if (missing)
		snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "%.150s lacks %s", dwc_cupti.path, missing);
	else if (call->cuptiGetVersion(&dwc_cupti.version) != CUPTI_OK)
		snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "%.150s does not work with this driver", dwc_cupti.path);
	return !*dwc_cupti.lacks;
}

/* What each call does, by its domain and number; 0: not looked up yet. A number's name is not the same in all versions. */
static uint8_t cupti_calls[2][DWC_FUNCTIONS];

enum dwc_call dwc_cupti_call_of(bool runtime, uint32_t function)
{
	uint8_t none = 0, *known = function < DWC_FUNCTIONS ? &cupti_calls[runtime][function] : &none;
	int domain = runtime ? DOMAIN_RUNTIME : DOMAIN_DRIVER;
	const char *name = NULL;

	if (!*known)
		*known = dwc_cupti.call.cuptiGetCallbackName(domain, function, &name) == CUPTI_OK && name ? dwc_call_of(name)
		                                                                                          : DWC_CALL_OTHER;
	return *known;
}

/* ---- the subscription ------------------------------------------------------------------------------------ */

static dwc_callback *cupti_callback;

static void cupti_on_callback(void *user, int domain, uint32_t id, const void *data)
{
	int saved = errno;

	(void)user;
	cupti_callback(domain, id, data);
	errno = saved;
}

/* The tool that is in this process, if no interface names it. */
static int cupti_look_for_tool(struct dl_phdr_info *info, size_t size, void *data)
{
	static const struct { const char *part, *name; } tools[] = {
		{ "libToolsInjection", "Nsight Systems" }, { "libInterceptorInjectionTarget", "Nsight Compute" },
		{ "libcuda-injection", "Nsight Compute" }, { "libsanitizer-collection", "Compute Sanitizer" },
	};

	(void)size;
	for (size_t i = 0; info->dlpi_name && i < sizeof tools / sizeof *tools; i++)
		if (strstr(info->dlpi_name, tools[i].part)) {
			*(const char **)data = tools[i].name;
			return 1;
		}
	return 0;
}

static void cupti_note_holder(const char *name)
{
	const char *tool = name;

	if (!*name) {
		tool = "another tool";
		dl_iterate_phdr(cupti_look_for_tool, &tool);
	}
	snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "%.150s has CUPTI, which serves one tool a process", tool);
}

/* As one of several. False: this CUPTI has no several, or one refuses; `other` is named then. */
static bool cupti_subscribe_with_others(char *other, size_t size)
{
	struct cupti_subscriber ask = { sizeof ask, "dwell", other, size, 1 };
	const struct dwc_functions *call = &dwc_cupti.call;

	other[0] = '\0';
	if (!call->cuptiSubscribe_v2 || !call->cuptiActivityEnable_v2 || !call->cuptiActivityDisable_v2 ||
	    !call->cuptiActivityRegisterCallbacks_v2 || !call->cuptiActivityGetNextRecord_v2)
		return false;
	if (call->cuptiSubscribe_v2(&dwc_cupti.subscriber, (void *)(uintptr_t)cupti_on_callback, NULL, &ask) == CUPTI_OK)
		return true;
	dwc_cupti.subscriber = NULL;
	return false;
}

/* Subscribes for a moment. */
static int cupti_try_subscription(void)
{
	void *subscriber = NULL;
	int result = dwc_cupti.call.cuptiSubscribe(&subscriber, (void *)(uintptr_t)cupti_on_callback, NULL);

	if (result == CUPTI_OK)
		dwc_cupti.call.cuptiUnsubscribe(subscriber);
	return result;
}

static bool cupti_is_held(int result)
{
	return result == CUPTI_SUBSCRIBER_EXISTS || result == CUPTI_LIMIT_REACHED; /* before 11.2 */
}

bool dwc_cupti_taken(void)
{
	return !dwc_cupti.subscriber && !dwc_cupti.alone && !dwc_cupti.seen && cupti_is_held(cupti_try_subscription());
}

/* 13.0 serves one tool, but names it. */
static void cupti_ask_for_holder(char *other, size_t size)
{
	struct cupti_subscriber ask = { offsetof(struct cupti_subscriber, several), "dwell", other, size, 0 };
	void *subscriber = NULL;

	if (!*other && dwc_cupti.call.cuptiSubscribe_v2 &&
	    dwc_cupti.call.cuptiSubscribe_v2(&subscriber, (void *)(uintptr_t)cupti_on_callback, NULL, &ask) == CUPTI_OK)
		dwc_cupti.call.cuptiUnsubscribe(subscriber);
}

/* As one of several, CUPTI refuses it by its old function since 13.3, and by its new one before 13.4. */
static bool cupti_set_thread_ids(int type)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	size_t size = sizeof type;

	if (dwc_cupti.subscriber && call->cuptiActivitySetAttribute_v2 &&
	    call->cuptiActivitySetAttribute_v2(dwc_cupti.subscriber, ATTRIBUTE_THREAD_IDS, &size, &type) == CUPTI_OK)
		return true;
	return call->cuptiSetThreadIdType && call->cuptiSetThreadIdType(type) == CUPTI_OK;
}

/* As one of several, if calls have their threads then or another tool is there already. Alone they always have them. */
static bool cupti_share(char *other, size_t size)
{
	bool shares = cupti_subscribe_with_others(other, size);

	if (shares && !cupti_set_thread_ids(THREAD_IDS_OF_SYSTEM)) {
		dwc_cupti.call.cuptiUnsubscribe(dwc_cupti.subscriber);
		dwc_cupti.subscriber = NULL;
		shares = cupti_is_held(cupti_try_subscription()) && cupti_subscribe_with_others(other, size);
	}
	return shares;
}

void *dwc_cupti_caller(void)
{
	return dwc_cupti.subscriber ? dwc_cupti.subscriber : dwc_cupti.alone;
}

/* Has CUPTI call back when something is not as it should be, when a stream is captured and when nodes of graphs are made: seldom. */
static void cupti_watch(void)
{
	static const uint32_t resources[] = { RESOURCE_NODE_CREATED, RESOURCE_NODE_CLONED, RESOURCE_EXEC_STARTING, RESOURCE_EXEC_CREATED };
	const struct dwc_functions *call = &dwc_cupti.call;
	void *subscriber;

	if (!call->cuptiEnableCallback)
		return;
	if (!dwc_cupti.subscriber && call->cuptiSubscribe(&dwc_cupti.alone, (void *)(uintptr_t)cupti_on_callback, NULL) != CUPTI_OK)
		dwc_cupti.alone = NULL;
	subscriber = dwc_cupti_caller();
	for (uint32_t id = 1; subscriber && id <= STATES; id++)
		call->cuptiEnableCallback(1, subscriber, DOMAIN_STATE, id);
	if (!subscriber || !call->cuptiGetGraphNodeId)
		return;
	for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
		call->cuptiEnableCallback(1, subscriber, DOMAIN_RESOURCE, resources[i]);
	for (uint32_t function = 1; function < DWC_FUNCTIONS; function++)
		for (int runtime = 0; runtime <= 1; runtime++) {
			enum dwc_call does = dwc_cupti_call_of(runtime, function);

			if (does == DWC_CALL_CAPTURES || does == DWC_CALL_CAPTURED)
				call->cuptiEnableCallback(1, subscriber, runtime ? DOMAIN_RUNTIME : DOMAIN_DRIVER, function);
		}
}

bool dwc_cupti_set_attribute(int attribute, size_t size, uint64_t value)
{
	const struct dwc_functions *call = &dwc_cupti.call;

	if (dwc_cupti.subscriber && call->cuptiActivitySetAttribute_v2)
		return call->cuptiActivitySetAttribute_v2(dwc_cupti.subscriber, attribute, &size, &value) == CUPTI_OK;
	return !dwc_cupti.subscriber && call->cuptiActivitySetAttribute &&
	       call->cuptiActivitySetAttribute(attribute, &size, &value) == CUPTI_OK;
}

void dwc_cupti_make_room(void)
{
	if (!dwc_cupti.alone)
		return;
	dwc_cupti.call.cuptiUnsubscribe(dwc_cupti.alone);
	dwc_cupti.alone = NULL;
}

bool dwc_cupti_open(const struct dwc_buffer_functions *buffers, dwc_callback *callback)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	char other[128];
	int result;

	cupti_callback = callback;
	if (!cupti_load())
		return false;
	if (cupti_share(other, sizeof other)) {
		result = call->cuptiActivityRegisterCallbacks_v2(dwc_cupti.subscriber, buffers->request_v2,
		                                                 buffers->complete_v2);
	} else if (cupti_is_held(result = cupti_try_subscription())) {
		cupti_ask_for_holder(other, sizeof other);
		cupti_note_holder(other);
		return false;
	} else if (result == CUPTI_OK) {
		result = call->cuptiActivityRegisterCallbacks(buffers->request, buffers->complete);
	}
	if (result != CUPTI_OK) {
		snprintf(dwc_cupti.lacks, sizeof dwc_cupti.lacks, "CUPTI %u does not work here (error %d): the driver may "
		         "have no device (nvidia-smi lists them)", dwc_cupti.version, result);
		return false;
	}
	dwc_cupti.has_threads = cupti_set_thread_ids(THREAD_IDS_OF_SYSTEM);
	cupti_watch();
	return true;
}

/* ---- ends, buffers, clocks ---------------------------------------------------------------------------------- */

void dwc_cupti_close(void)
{
	cupti_set_thread_ids(THREAD_IDS_OF_PTHREAD);
	dwc_cupti_make_room();
	if (dwc_cupti.subscriber)
		dwc_cupti.call.cuptiUnsubscribe(dwc_cupti.subscriber);
	dwc_cupti.subscriber = NULL;
}

void dwc_cupti_flush(bool all)
{
	dwc_cupti.call.cuptiActivityFlushAll(all ? FLUSH_FORCED : 0);
}

const void *dwc_cupti_next(uint8_t *buffer, size_t valid, const void *record)
{
	void *next = (void *)(uintptr_t)record;
	const struct dwc_functions *call = &dwc_cupti.call;
	int result = dwc_cupti.subscriber
	                 ? call->cuptiActivityGetNextRecord_v2(dwc_cupti.subscriber, buffer, valid, &next)
	                 : call->cuptiActivityGetNextRecord(buffer, valid, &next);

	return result == CUPTI_OK ? next : NULL;
}

uint64_t dwc_cupti_dropped(void)
{
	const struct dwc_functions *call = &dwc_cupti.call;
	size_t dropped = 0;
	int result;

	if (dwc_cupti.subscriber && call->cuptiActivityGetNumDroppedRecords_v2)
		result = call->cuptiActivityGetNumDroppedRecords_v2(dwc_cupti.subscriber, NULL, 0, &dropped);
	else
		result = call->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	return result == CUPTI_OK ? dropped : 0;
}

bool dwc_cupti_time(uint64_t *ns)
{
	const struct dwc_functions *call = &dwc_cupti.call;

	if (dwc_cupti.subscriber && call->cuptiGetTimestamp_v2)
		return call->cuptiGetTimestamp_v2(dwc_cupti.subscriber, ns) == CUPTI_OK;
	return call->cuptiGetTimestamp(ns) == CUPTI_OK;
}
