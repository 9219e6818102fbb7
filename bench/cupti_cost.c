/*
 * What CUPTI's records of a launch cost the thread that launches, under one set of conditions: for tools/measure/gpu_cost.
 *
 *   cc -O2 -D_GNU_SOURCE -Iinclude -pthread -o cupti_cost bench/cupti_cost.c probes/cuda/calls.c -ldl && ./cupti_cost CONDITION=VALUE...
 *
 * Needs no nvcc: the kernel is PTX, which the driver compiles, and libcuda and libcupti are loaded by name (cuda=, cupti=). The kernel
 * is empty, so the device waits for nothing. Launches are timed one by one, first without records, then with, then without. Prints a
 * line of JSON: for each of the three the median and p99 of a launch in ns, and for each launch the thread's system time and voluntary
 * switches and those of all other threads.
 *
 *   kinds=10,4,5     which kinds are enabled          calls=all|without-asks|submits   which calls have records
 *   pause=US         between two launches             walk=BYTES   memory that is touched meanwhile, as a program's own work does
 *   spinners=N       that many processes of the lowest priority keep CPUs awake
 *   early=1          libcupti is loaded before CUDA starts; late=1: after the first measurement   threads=1   the kernel's thread ids
 *   period=MS        cuptiActivityFlushPeriod()                      clock=1     a clock of the program's
 *   attributes=6:8   attribute:value, set before CUDA starts         hes=1       hardware trace
 *   callbacks=1      a callback when a launch begins                 launches=N
 *   finalize=1       cuptiFinalize() before the third measurement    others=N      further threads that launch all the time
 *   blocks=N         of a kernel: so many that the device is busy longer than the host
 *   flush=MS         a thread flushes CUPTI's buffers so often       entry=LIBRARY:FUNCTION   this launches (cupti_entry.cu)
 *   trace=FOLDER     folder of an instance of tracefs; only the launches of this thread are traced, and marks tell them apart
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../probes/cuda/cuda.h"

#define BUFFER (1u << 20)
#define MOST_LAUNCHES 20000
#define BEFORE_SYNC 500 /* so that the queue of the device is never full */
#define MOST_CALLS 2048u

#define CUDA(X)                                                                                                  \
	X(cuInit, (unsigned flags)) X(cuDeviceGet, (int *device, int number))                                         \
	X(cuDevicePrimaryCtxRetain, (void **context, int device)) X(cuCtxSetCurrent, (void *context))                \
	X(cuModuleLoadData, (void **module, const void *image)) X(cuModuleGetFunction, (void **f, void *module, const char *name)) \
	X(cuLaunchKernel, (void *f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
	X(cuCtxSynchronize, (void))
#define CUPTI(X)                                                                                                 \
	X(cuptiActivityEnable, (int)) X(cuptiActivityDisable, (int)) X(cuptiActivityFlushAll, (uint32_t))              \
	X(cuptiActivityRegisterCallbacks, (cupti_request_function, cupti_complete_function))                          \
	X(cuptiGetCallbackName, (int, uint32_t, const char **)) X(cuptiActivityEnableRuntimeApi, (uint32_t, uint8_t))  \
	X(cuptiActivityEnableDriverApi, (uint32_t, uint8_t)) X(cuptiSetThreadIdType, (int)) X(cuptiActivityFlushPeriod, (uint32_t)) \
	X(cuptiActivityRegisterTimestampCallback, (void *)) X(cuptiActivitySetAttribute, (int, size_t *, void *))      \
	X(cuptiActivityEnableHWTrace, (uint8_t)) X(cuptiSubscribe, (void **, void *, void *))                          \
	X(cuptiEnableCallback, (uint32_t, void *, int, uint32_t)) X(cuptiFinalize, (void)) X(cuptiGetTimestamp, (uint64_t *))

#define X(name, arguments) static int (*name) arguments;
CUDA(X) CUPTI(X)
#undef X

static int count;
static char **arguments;
static char refused[512]; /* what CUPTI lacks or does not allow */
static volatile uint64_t called_back;
static uint64_t took_ns[MOST_LAUNCHES];
static void *function, *context;
static int (*entry)(unsigned blocks);

static const char *option(const char *name, const char *usual)
{
	size_t length = strlen(name);

	for (int i = 1; i < count; i++)
		if (strncmp(arguments[i], name, length) == 0 && arguments[i][length] == '=')
			return arguments[i] + length + 1;
	return usual;
}

static long number(const char *name)
{
	return atol(option(name, "0"));
}

static void look(const char *what, int result)
{
	size_t length = strlen(refused);

	if (result)
		snprintf(refused + length, sizeof refused - length, "%s%s (%d)", length ? ", " : "", what, result);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- CUPTI ------------------------------------------------------------------------------------------------------ */

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size, (void)valid;
	free(buffer);
}

static void on_callback(void *user, int domain, uint32_t id, const void *data)
{
	uint64_t ns;

	(void)user, (void)domain, (void)id, (void)data;
	called_back++;
	cuptiGetTimestamp(&ns); /* as probes/cuda/noted.c does */
}

static void load_cupti(void)
{
	void *library = dlopen(option("cupti", "libcupti.so"), RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(77);
	}
#define X(name, arguments) *(void **)&name = dlsym(library, #name);
	CUPTI(X)
#undef X
}

#define TRY(name, pass) look(#name, name ? name pass : -1)

/* What is set once, before CUDA starts if CUPTI is there by then. */
static void set_up_cupti(void)
{
	for (const char *at = option("attributes", ""); *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		size_t value = strchr(at, ':') ? (size_t)atol(strchr(at, ':') + 1) : 0;
		size_t size = atoi(at) == 5 || atoi(at) == 8 || atoi(at) == 9 ? 1 : sizeof value; /* these have a byte */

		TRY(cuptiActivitySetAttribute, (atoi(at), &size, &value));
	}
	if (number("hes"))
		TRY(cuptiActivityEnableHWTrace, (1));
	if (number("threads"))
		TRY(cuptiSetThreadIdType, (THREAD_IDS_OF_SYSTEM));
	if (number("clock"))
		TRY(cuptiActivityRegisterTimestampCallback, ((void *)(uintptr_t)now_ns));
	TRY(cuptiActivityRegisterCallbacks, (request, complete));
	if (number("period"))
		TRY(cuptiActivityFlushPeriod, ((uint32_t)number("period")));
}

/* Leaves out records of calls, or has those that submit work call back. */
static void choose_calls(void)
{
	bool asks = strcmp(option("calls", "all"), "without-asks") == 0, submits = strcmp(option("calls", "all"), "submits") == 0;
	void *subscriber = NULL;

	if (number("callbacks"))
		TRY(cuptiSubscribe, (&subscriber, (void *)(uintptr_t)on_callback, NULL));
	for (int domain = DOMAIN_DRIVER; domain <= DOMAIN_RUNTIME; domain++)
		for (uint32_t id = 1; id < MOST_CALLS; id++) {
			int (*enable)(uint32_t, uint8_t) = domain == DOMAIN_RUNTIME ? cuptiActivityEnableRuntimeApi : cuptiActivityEnableDriverApi;
			const char *name = NULL;
			enum dwc_call does;

			if (cuptiGetCallbackName(domain, id, &name) || !name)
				continue;
			does = dwc_call_of(name);
			if (enable && ((asks && does == DWC_CALL_ASKS) || (submits && does != DWC_CALL_SUBMITS && does != DWC_CALL_WAITS)))
				enable(id, 0);
			if (subscriber && does == DWC_CALL_SUBMITS)
				cuptiEnableCallback(1, subscriber, domain, id);
		}
}

static void switch_kinds(bool on)
{
	for (const char *at = option("kinds", ""); *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		look("a kind", on ? cuptiActivityEnable(atoi(at)) : cuptiActivityDisable(atoi(at)));
	if (on)
		choose_calls();
}

/* ---- CUDA ------------------------------------------------------------------------------------------------------- */

static bool load_kernel(void)
{
	static const char *const heads[] = { ".version 7.0\n.target sm_80\n", ".version 6.0\n.target sm_70\n" };
	char image[256];
	void *module;

	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		snprintf(image, sizeof image, "%s.address_size 64\n.visible .entry nothing() { ret; }\n", heads[i]);
		if (cuModuleLoadData(&module, image) == 0)
			return cuModuleGetFunction(&function, module, "nothing") == 0;
	}
	return false;
}

/* entry=LIBRARY:FUNCTION */
static bool load_entry(void)
{
	const char *name = strrchr(option("entry", ""), ':');
	char path[4096];
	void *library;

	if (!name)
		return true;
	snprintf(path, sizeof path, "%.*s", (int)(name - option("entry", "")), option("entry", ""));
	library = dlopen(path, RTLD_NOW);
	if (library)
		*(void **)&entry = dlsym(library, name + 1);
	return entry != NULL;
}

static void launch(unsigned blocks)
{
	int result = entry ? entry(blocks) : cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);

	if (!result)
		return;
	fprintf(stderr, "a launch failed: %d\n", result);
	_exit(1);
}

static void start_cuda(void)
{
	void *library = dlopen(option("cuda", "libcuda.so.1"), RTLD_NOW | RTLD_GLOBAL);
	int device = 0;

	if (library) {
#define X(name, arguments) *(void **)&name = dlsym(library, #name);
		CUDA(X)
#undef X
	}
	if (!library || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
	    !load_kernel()) {
		fprintf(stderr, "no device\n");
		exit(77);
	}
	if (!load_entry()) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
}

/* ---- the kernel's tracing --------------------------------------------------------------------------------------- */

static void trace_write(const char *file, const char *text)
{
	char path[4096];
	int to;

	snprintf(path, sizeof path, "%s/%s", option("trace", ""), file);
	to = open(path, O_WRONLY | O_APPEND);
	if (to < 0 || write(to, text, strlen(text)) < 0) {
		perror(path);
		exit(1);
	}
	close(to);
}

/* The process has one thread that launches, the first: its id is the process's. */
static void trace_mark(const char *when, const char *what)
{
	char text[80];

	if (!*option("trace", ""))
		return;
	if (strcmp(when, "begin") == 0) {
		snprintf(text, sizeof text, "%d", (int)getpid());
		trace_write("set_event_pid", text);
		trace_write("tracing_on", "1");
	}
	snprintf(text, sizeof text, "dwell-launches %s %s %d\n", when, what, (int)getpid());
	trace_write("trace_marker", text);
	if (strcmp(when, "end") == 0)
		trace_write("tracing_on", "0");
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

static void pause_between(uint64_t until_ns)
{
	static __thread volatile char *memory;
	size_t bytes = (size_t)number("walk");

	if (bytes && !memory)
		memory = malloc(bytes);
	for (size_t i = 0; i < bytes; i += 64)
		memory[i]++;
	while (now_ns() < until_ns)
		;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static double system_us(const struct rusage *usage)
{
	return (double)usage->ru_stime.tv_sec * 1e6 + (double)usage->ru_stime.tv_usec;
}

static void measure(const char *what, int launches)
{
	const uint64_t pause_ns = (uint64_t)number("pause") * 1000;
	uint64_t whole_ns; /* with the time of the device, if that is longer */
	const unsigned blocks = number("blocks") ? (unsigned)number("blocks") : 1;
	uint64_t begin_ns;
	struct rusage before[2], after[2];

	trace_mark("begin", what);
	begin_ns = now_ns();
	getrusage(RUSAGE_THREAD, &before[0]);
	getrusage(RUSAGE_SELF, &before[1]);
	for (int i = 0; i < launches; i++) {
		uint64_t start = now_ns();

		launch(blocks);
		took_ns[i] = now_ns() - start;
		pause_between(start + pause_ns);
		if (i % BEFORE_SYNC == BEFORE_SYNC - 1)
			cuCtxSynchronize();
	}
	getrusage(RUSAGE_THREAD, &after[0]);
	getrusage(RUSAGE_SELF, &after[1]);
	trace_mark("end", what);
	cuCtxSynchronize();
	whole_ns = (now_ns() - begin_ns) / (uint64_t)launches;
	qsort(took_ns, (size_t)launches, sizeof *took_ns, compare);
	printf("\"%s\": {\"median_ns\": %llu, \"p99_ns\": %llu, \"system_us\": %.3f, \"switches\": %.4f, "
	       "\"others_switches\": %.4f, \"whole_ns\": %llu}", what,
	       (unsigned long long)took_ns[launches / 2], (unsigned long long)took_ns[launches * 99 / 100],
	       (system_us(&after[0]) - system_us(&before[0])) / launches, (double)(after[0].ru_nvcsw - before[0].ru_nvcsw) / launches,
	       (double)(after[1].ru_nvcsw - before[1].ru_nvcsw - after[0].ru_nvcsw + before[0].ru_nvcsw) / launches,
	       (unsigned long long)whole_ns);
}

static void *launch_on(void *unused)
{
	cuCtxSetCurrent(context);
	for (int i = 0;; i++) {
		launch(1);
		pause_between(now_ns() + (uint64_t)number("pause") * 1000);
		if (i % BEFORE_SYNC == 0)
			cuCtxSynchronize();
	}
	return unused;
}

static void *flush_often(void *unused)
{
	for (;;) {
		usleep((useconds_t)number("flush") * 1000);
		cuptiActivityFlushAll(0);
	}
	return unused;
}

static void start_others(void)
{
	pthread_t thread;

	if (number("flush"))
		pthread_create(&thread, NULL, flush_often, NULL);
	for (long i = number("others"); i > 0; i--)
		pthread_create(&thread, NULL, launch_on, NULL);
}

/* Processes that run when nothing else does, so that no CPU is idle. They end with this one. */
static void start_spinners(void)
{
	struct sched_param none = { 0 };
	pid_t parent = getpid();

	for (long i = number("spinners"); i > 0; i--)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent) /* it has ended before that */
				_exit(0);
			sched_setscheduler(0, SCHED_IDLE, &none);
			for (;;)
				;
		}
}

int main(int argument_count, char **argument_values)
{
	int launches;

	count = argument_count;
	arguments = argument_values;
	launches = number("launches") >= 4 && number("launches") < MOST_LAUNCHES ? (int)number("launches") : 4000;
	start_spinners();
	if (number("early")) {
		load_cupti();
		set_up_cupti();
	}
	start_cuda();
	if (!number("early") && !number("late")) {
		load_cupti();
		set_up_cupti();
	}
	start_others();
	printf("{");
	measure("warm", launches / 4);
	printf(", ");
	measure("plain", launches);
	if (number("late")) {
		load_cupti();
		set_up_cupti();
	}
	switch_kinds(true);
	printf(", ");
	measure("recorded", launches);
	switch_kinds(false);
	cuptiActivityFlushAll(FLUSH_FORCED);
	if (number("finalize"))
		TRY(cuptiFinalize, ());
	printf(", ");
	measure("afterwards", launches);
	printf(", \"called_back\": %llu, \"refused\": \"%s\"}\n", (unsigned long long)called_back, refused);
	fflush(stdout);
	_exit(0); /* CUPTI's threads need not be waited for */
}
