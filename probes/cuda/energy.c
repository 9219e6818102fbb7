/*
 * The energy of devices, by NVML: dwell run --counters.
 *
 * NVML is NVIDIA's library for the state of devices; the driver brings it (libnvidia-ml.so.1). A device counts the energy that it has
 * used since the driver was loaded, in millijoules. The probe's thread reads that about once a second for each device that CUPTI has
 * named, which CUPTI and NVML know by the same UUID, and stores it as a counter. A reading is of the whole device: also of what other
 * programs do there. Devices before Volta and parts of a device (MIG) count none.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"

static struct {
	int (*start)(void);
	int (*find)(const char *uuid, void **device);
	int (*read)(void *device, unsigned long long *millijoules);
	bool asked, known, works;
} energy;

static struct energy_device {
	struct dwell_site site;
	char name[24];
	void *handle;
	bool known, lacks;
} energy_devices[DWC_MOST_DEVICES];

static void energy_lack(const char *why, int error)
{
	char text[160], number[24] = "";

	if (error)
		snprintf(number, sizeof number, " (error %d)", error);
	snprintf(text, sizeof text, "the energy of devices: %s%s", why, number);
	dwell_meta(DW_KEY_GAP "energy", text);
}

static void energy_load(void)
{
	const char *asked = getenv("DWELL_ENERGY");
	void *library;
	int error;

	energy.known = true;
	energy.asked = asked && strcmp(asked, "1") == 0;
	if (!energy.asked)
		return;
	library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library) {
		*(void **)&energy.start = dlsym(library, "nvmlInit_v2");
		*(void **)&energy.find = dlsym(library, "nvmlDeviceGetHandleByUUID");
		*(void **)&energy.read = dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
	}
	if (!energy.start || !energy.find || !energy.read) {
		energy_lack(library ? "libnvidia-ml.so.1 cannot tell it" : "libnvidia-ml.so.1 was not found", 0);
		return;
	}
	error = energy.start();
	energy.works = error == 0;
	if (error)
		energy_lack("NVML does not start", error);
}

static void energy_find(struct energy_device *device, uint32_t number, const uint8_t uuid[16])
{
	char text[64] = "GPU-";
	size_t length = 4;
	int error;

	for (int i = 0; i < 16; i++)
		length += (size_t)snprintf(text + length, sizeof text - length, "%s%02x",
		                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	snprintf(device->name, sizeof device->name, "cuda:%u" DW_COUNTER_ENERGY, number);
	device->site = (struct dwell_site){ device->name, "J", NULL, 0, DWELL_CATEGORY_COUNTER, 0 };
	device->known = true;
	error = energy.find(text, &device->handle);
	device->lacks = error != 0;
	if (error)
		energy_lack("NVML does not know a device", error);
}

void dwc_energy_read(void)
{
	if (!energy.known)
		energy_load();
	if (!energy.works || !dwell_wants(1u << DWELL_CATEGORY_COUNTER))
		return;
	for (uint32_t i = 0; i < DWC_MOST_DEVICES; i++) {
		struct energy_device *device = &energy_devices[i];
		unsigned long long millijoules;
		uint8_t uuid[16];
		int error;

		if (!device->known && dwc_records_uuid(i, uuid))
			energy_find(device, i, uuid);
		if (!device->known || device->lacks)
			continue;
		error = energy.read(device->handle, &millijoules);
		device->lacks = error != 0;
		if (error)
			energy_lack("a device does not count it", error);
		else
			dwell_counter(&device->site, (double)millijoules / 1e3);
	}
}
