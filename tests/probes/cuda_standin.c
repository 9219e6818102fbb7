/*
 * A stand-in for CUDA's driver: the functions that bench/cupti_cost.c calls. A launch takes a microsecond. It stands in for what nvcc
 * makes of bench/cupti_entry.cu, too. STANDIN_TRACE: a file to which each launch writes what the kernel's tracing would.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STANDIN(name, arguments) int name arguments; int name arguments

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

STANDIN(cuInit, (unsigned flags)) { return (int)flags; }
STANDIN(cuDeviceGet, (int *device, int number)) { *device = number; return 0; }
STANDIN(cuDevicePrimaryCtxRetain, (void **context, int device)) { (void)device; *context = context; return 0; }
STANDIN(cuCtxSetCurrent, (void *context)) { return context == (void *)0; }
STANDIN(cuModuleLoadData, (void **module, const void *image)) { *module = module; return image == (void *)0; }
STANDIN(cuModuleGetFunction, (void **function, void *module, const char *name)) { *function = module; return !*name; }
STANDIN(cuCtxSynchronize, (void)) { return 0; }

static void trace_launch(void)
{
	static FILE *to;

	if (!getenv("STANDIN_TRACE"))
		return;
	if (!to && (to = fopen(getenv("STANDIN_TRACE"), "a")))
		setvbuf(to, NULL, _IOLBF, 0);
	if (to)
		fprintf(to, " cupti_cost-%d [001] ..... 1.5: sys_futex(uaddr: 1, op: 81)\n cupti_cost-%d [001] ..... 1.6: sys_futex -> 0x1\n"
		        " cupti_cost-%d [001] d.... 1.7: sched_waking: comm=cupti pid=9 prio=120\n worker-9 [000] ..... 1.8: sys_read(fd: 1)\n",
		        getpid(), getpid(), getpid());
}

STANDIN(cuLaunchKernel, (void *function, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned shared,
                         void *stream, void **parameters, void **extra))
{
	uint64_t until = now_ns() + 1000;

	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)shared, (void)stream, (void)parameters, (void)extra;
	trace_launch();
	while (now_ns() < until)
		;
	return function == (void *)0;
}

STANDIN(launch_by_pointer, (unsigned blocks)) { return cuLaunchKernel(&blocks, blocks, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); }
STANDIN(launch_by_stub, (unsigned blocks)) { return launch_by_pointer(blocks); }
