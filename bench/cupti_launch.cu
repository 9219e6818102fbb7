/*
 * What CUPTI's records of a launch cost the thread that launches, by kind of record, and what switching them costs.
 *
 *   nvcc -O2 -o cupti_launch bench/cupti_launch.cu -ldl && ./cupti_launch [PATH OF libcupti.so]
 *
 * nvcc 13 launches by __cudaLaunchKernel(); PyTorch by cudaLaunchKernel(), as cupti_entry.cu can.
 * Uses CUPTI alone, nothing of dwell. The kernel is empty and the device waits for nothing, so the time is the host's.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

#define BATCHES 21
#define LAUNCHES 1000
#define BUFFER (1 << 20)

enum { COPY = 1, SET = 2, DRIVER = 4, RUNTIME = 5, DEVICE = 8, CONTEXT = 9, KERNEL = 10, OVERHEAD = 17, EVENT = 36, STREAM = 37,
	SYNC = 38, MEMORY = 49, POOL = 50 };

static int (*activity_enable)(int), (*activity_disable)(int), (*activity_flush)(unsigned);
static int (*activity_register)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
static int (*enable_runtime)(uint32_t, uint8_t), (*callback_name)(int, uint32_t, const char **);
static bool without_questions;
static bool as_pytorch; /* with the questions that a launch of PyTorch asks before and after */

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = (uint8_t *)aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size, (void)valid;
	free(buffer);
}

static double now_us(void)
{
	return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void nothing(void)
{
}

__global__ void spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

static void launch(void)
{
	int device;

	for (int i = 0; as_pytorch && i < 13; i++)
		cudaGetDevice(&device);
	nothing<<<1, 1>>>();
	if (as_pytorch)
		cudaPeekAtLastError(), cudaGetLastError();
}

/* The median of the mean time of a launch, in us. */
static double launch_us(void)
{
	std::vector<double> times;

	for (int batch = 0; batch < BATCHES; batch++) {
		double start = now_us();

		for (int i = 0; i < LAUNCHES; i++)
			launch();
		times.push_back((now_us() - start) / LAUNCHES);
		cudaDeviceSynchronize();
	}
	std::sort(times.begin(), times.end());
	return times[times.size() / 2];
}

static void set_all(const std::vector<int> &kinds, bool on)
{
	const char *name;

	for (int kind : kinds)
		(on ? activity_enable : activity_disable)(kind);
	for (uint32_t call = 1; on && without_questions && enable_runtime && call < 600; call++)
		if (callback_name(2, call, &name) == 0 && name && (!strncmp(name, "cudaGet", 7) || !strncmp(name, "cudaPeek", 8)))
			enable_runtime(call, 0);
}

static const std::vector<int> all_kinds = { DEVICE, CONTEXT, STREAM, RUNTIME, DRIVER, COPY, SET, MEMORY, POOL, SYNC, EVENT, OVERHEAD, KERNEL };

static void measure(const char *what, const std::vector<int> &kinds)
{
	double plain = launch_us(), with;

	set_all(kinds, true);
	with = launch_us();
	set_all(kinds, false);
	activity_flush(1);
	printf("%-44s %6.2f us plain, %6.2f us, %+6.2f\n", what, plain, with, with - plain);
}

static void measure_switch(const char *what, bool busy)
{
	std::vector<double> on, off, flush;

	for (int i = 0; i < 11; i++) {
		double start;

		if (busy)
			spin<<<1, 1>>>(40000000);
		for (int j = 0; j < 300; j++)
			nothing<<<1, 1>>>();
		start = now_us();
		set_all(all_kinds, true);
		on.push_back(now_us() - start);
		for (int j = 0; j < 300; j++)
			nothing<<<1, 1>>>();
		start = now_us();
		set_all(all_kinds, false);
		off.push_back(now_us() - start);
		start = now_us();
		activity_flush(0);
		flush.push_back(now_us() - start);
		cudaDeviceSynchronize();
	}
	std::sort(on.begin(), on.end()), std::sort(off.begin(), off.end()), std::sort(flush.begin(), flush.end());
	printf("%-44s on %.0f us (at most %.0f), off %.0f us (%.0f), flush %.0f us (%.0f)\n", what, on[5], on[10], off[5], off[10],
	       flush[5], flush[10]);
}

int main(int count, char **arguments)
{
	void *library = dlopen(count > 1 ? arguments[1] : "libcupti.so", RTLD_NOW);
	int (*version)(uint32_t *);
	uint32_t number = 0;

	cudaFree(NULL);
	printf("%-44s %6.2f us\n", "before CUPTI is loaded", launch_us());
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&activity_enable = dlsym(library, "cuptiActivityEnable");
	*(void **)&activity_disable = dlsym(library, "cuptiActivityDisable");
	*(void **)&activity_flush = dlsym(library, "cuptiActivityFlushAll");
	*(void **)&activity_register = dlsym(library, "cuptiActivityRegisterCallbacks");
	*(void **)&enable_runtime = dlsym(library, "cuptiActivityEnableRuntimeApi");
	*(void **)&callback_name = dlsym(library, "cuptiGetCallbackName");
	*(void **)&version = dlsym(library, "cuptiGetVersion");
	version(&number);
	printf("CUPTI %u\n", number);
	activity_register(request, complete);
	measure("kernels", { KERNEL });
	measure("runtime calls", { RUNTIME });
	measure("driver calls", { DRIVER });
	measure("kernels, runtime calls", { KERNEL, RUNTIME });
	measure("kernels, driver calls", { KERNEL, DRIVER });
	measure("kernels, runtime and driver calls", { KERNEL, RUNTIME, DRIVER });
	measure("memory, pools", { MEMORY, POOL });
	measure("synchronisation, events", { SYNC, EVENT });
	measure("copies, sets", { COPY, SET });
	measure("overhead", { OVERHEAD });
	measure("all", all_kinds);
	as_pytorch = true;
	measure("all, as PyTorch launches", all_kinds);
	without_questions = true;
	measure("all without calls that only ask", all_kinds);
	measure_switch("switching all, device idle", false);
	measure_switch("switching all, device busy for 20 ms", true);
	printf("%-44s %6.2f us\n", "afterwards, all off", launch_us());
	return 0;
}
