/*
 * Peaks of devices, by the data sheets of their vendors.
 *
 * Figures with sparsity are halved. A name that is a part of another comes after it. A device of MI250 is one of its two dies, which
 * programs see as a device. What a device reaches is less: its clock falls under load.
 */
#include "model/device/peaks.h"

#include <string.h>

#include "dwell/probe.h"

#define T 1e12
#define G 1e9

static const struct dw_device_peaks peaks_all[] = {
	{ "B200", "NVIDIA Blackwell Architecture Technical Brief, HGX B200", 2250 * T, 1100 * T, 40 * T, 80 * T, 8000 * G },
	{ "H200 NVL", "NVIDIA H200 Tensor Core GPU Datasheet", 835.5 * T, 417.5 * T, 60 * T, 60 * T, 4800 * G },
	{ "H200", "NVIDIA H200 Tensor Core GPU Datasheet", 989.5 * T, 494.5 * T, 67 * T, 67 * T, 4800 * G },
	{ "H100 NVL", "NVIDIA H100 Tensor Core GPU Datasheet", 835.5 * T, 417.5 * T, 60 * T, 60 * T, 3900 * G },
	{ "H100 PCIe", "NVIDIA H100 Tensor Core GPU Datasheet", 756.5 * T, 378 * T, 51 * T, 51 * T, 2000 * G },
	{ "H100", "NVIDIA H100 Tensor Core GPU Datasheet", 989.5 * T, 494.5 * T, 67 * T, 67 * T, 3350 * G },
	{ "A100-SXM4-80GB", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 2039 * G },
	{ "A100 80GB PCIe", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 1935 * G },
	{ "A100", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 1555 * G },
	{ "L40S", "NVIDIA L40S Datasheet", 362 * T, 183 * T, 0, 91.6 * T, 864 * G },
	{ "L4", "NVIDIA L4 Datasheet", 121 * T, 60 * T, 0, 30.3 * T, 300 * G },
	{ "V100-SXM2", "NVIDIA V100 Tensor Core GPU Datasheet", 125 * T, 15.7 * T, 7.8 * T, 15.7 * T, 900 * G },
	{ "V100-PCIE", "NVIDIA V100 Tensor Core GPU Datasheet", 112 * T, 14 * T, 7 * T, 14 * T, 900 * G },
	{ "RTX 4090", "NVIDIA Ada GPU Architecture", 165.2 * T, 82.6 * T, 1.3 * T, 82.6 * T, 1008 * G },
	{ "RTX 3090", "NVIDIA Ampere GA102 GPU Architecture", 71 * T, 35.6 * T, 0.56 * T, 35.6 * T, 936 * G },
	{ "MI325X", "AMD Instinct MI325X Accelerator Data Sheet", 1307.4 * T, 653.7 * T, 163.4 * T, 163.4 * T, 6000 * G },
	{ "MI300X", "AMD Instinct MI300X Accelerator Data Sheet", 1307.4 * T, 653.7 * T, 163.4 * T, 163.4 * T, 5300 * G },
	{ "MI250X", "AMD Instinct MI250X Accelerator Data Sheet, a die", 191.5 * T, 47.85 * T, 47.85 * T, 23.95 * T, 1638 * G },
	{ "MI250", "AMD Instinct MI250 Accelerator Data Sheet, a die", 181.05 * T, 45.25 * T, 45.25 * T, 22.65 * T, 1638 * G },
	{ "MI210", "AMD Instinct MI210 Accelerator Data Sheet", 181 * T, 45.3 * T, 45.3 * T, 22.6 * T, 1638 * G },
};

const struct dw_device_peaks *dw_device_peaks(const char *name)
{
	for (size_t i = 0; i < sizeof peaks_all / sizeof *peaks_all; i++)
		if (strstr(name, peaks_all[i].name))
			return &peaks_all[i];
	return NULL;
}

double dw_device_peak(const struct dw_device_peaks *peaks, uint8_t type, int product)
{
	if (!product)
		return peaks->others;
	switch (type) {
	case DWELL_FLOAT16: return peaks->half;
	case DWELL_BFLOAT16: return strncmp(peaks->name, "V100", 4) == 0 ? peaks->others : peaks->half;
	case DWELL_FLOAT32: return peaks->single;
	case DWELL_FLOAT64: return peaks->twice;
	default: return 0;
	}
}
