/* A stand-in for NVIDIA's libnvidia-ml: one device, which uses 250 W. STANDIN_ENERGY=none: it counts nothing. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STANDIN(name, arguments) int name arguments; int name arguments

STANDIN(nvmlInit_v2, (void)) { return 0; }

STANDIN(nvmlDeviceGetHandleByUUID, (const char *uuid, void **device))
{
	*device = device;
	return strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") ? 6 : 0;
}

STANDIN(nvmlDeviceGetTotalEnergyConsumption, (void *device, unsigned long long *millijoules))
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*millijoules = ((unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000) * 250;
	return !device || getenv("STANDIN_ENERGY") ? 3 : 0;
}
