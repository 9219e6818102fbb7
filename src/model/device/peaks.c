/*
 * Peaks of devices, by the data sheets of their vendors.
 *
 * Figures with sparsity are halved. A device of MI250 is one of its two dies, which programs see as a device. What a device reaches is
 * less: its clock falls under load.
 *
 * The driver's name must end with the name of a row, so that no peak is taken for another model's: an L40 is no L4, a GH200 no H200, and
 * a part of a device (MIG) or a laptop's GPU has no row.
 */
#include "model/device/peaks.h"

#include <string.h>

#include "dwell/probe.h"

#define T 1e12
#define G 1e9

static const struct dw_device_peaks peaks_all[] = {
	{ "B200", "NVIDIA Blackwell Architecture Technical Brief, HGX B200", 2250 * T, 1100 * T, 40 * T, 80 * T, 8000 * G, false },
	{ "H200 NVL", "NVIDIA H200 Tensor Core GPU Datasheet", 835.5 * T, 417.5 * T, 60 * T, 60 * T, 4800 * G, false },
	{ "H200", "NVIDIA H200 Tensor Core GPU Datasheet", 989.5 * T, 494.5 * T, 67 * T, 67 * T, 4800 * G, false },
	{ "H100 NVL", "NVIDIA H100 Tensor Core GPU Datasheet", 835.5 * T, 417.5 * T, 60 * T, 60 * T, 3900 * G, false },
	{ "H100 PCIe", "NVIDIA H100 Tensor Core GPU Datasheet", 756.5 * T, 378 * T, 51 * T, 51 * T, 2000 * G, false },
	{ "H100 80GB HBM3", "NVIDIA H100 Tensor Core GPU Datasheet", 989.5 * T, 494.5 * T, 67 * T, 67 * T, 3350 * G, false },
	{ "A100-SXM4-80GB", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 2039 * G, false },
	{ "A100 80GB PCIe", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 1935 * G, false },
	{ "A100-SXM4-40GB", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 1555 * G, false },
	{ "A100-PCIE-40GB", "NVIDIA A100 Tensor Core GPU Datasheet", 312 * T, 156 * T, 19.5 * T, 19.5 * T, 1555 * G, false },
	{ "L40S", "NVIDIA L40S Datasheet", 362 * T, 183 * T, 0, 91.6 * T, 864 * G, false },
	{ "L4", "NVIDIA L4 Datasheet", 121 * T, 60 * T, 0, 30.3 * T, 300 * G, false },
	{ "V100-SXM2-16GB", "NVIDIA V100 Tensor Core GPU Datasheet", 125 * T, 15.7 * T, 7.8 * T, 15.7 * T, 900 * G, true },
	{ "V100-SXM2-32GB", "NVIDIA V100 Tensor Core GPU Datasheet", 125 * T, 15.7 * T, 7.8 * T, 15.7 * T, 900 * G, true },
	{ "V100-PCIE-16GB", "NVIDIA V100 Tensor Core GPU Datasheet", 112 * T, 14 * T, 7 * T, 14 * T, 900 * G, true },
	{ "V100-PCIE-32GB", "NVIDIA V100 Tensor Core GPU Datasheet", 112 * T, 14 * T, 7 * T, 14 * T, 900 * G, true },
	{ "RTX 4090", "NVIDIA Ada GPU Architecture", 165.2 * T, 82.6 * T, 1.3 * T, 82.6 * T, 1008 * G, false },
	{ "RTX 3090", "NVIDIA Ampere GA102 GPU Architecture", 71 * T, 35.6 * T, 0.56 * T, 35.6 * T, 936 * G, false },
	{ "MI325X", "AMD Instinct MI325X Accelerator Data Sheet", 1307.4 * T, 653.7 * T, 163.4 * T, 163.4 * T, 6000 * G, false },
	{ "MI300X", "AMD Instinct MI300X Accelerator Data Sheet", 1307.4 * T, 653.7 * T, 163.4 * T, 163.4 * T, 5300 * G, false },
	{ "MI250X", "AMD Instinct MI250X Accelerator Data Sheet, a die", 191.5 * T, 47.85 * T, 47.85 * T, 23.95 * T, 1638 * G, false },
	{ "MI250", "AMD Instinct MI250 Accelerator Data Sheet, a die", 181.05 * T, 45.25 * T, 45.25 * T, 22.65 * T, 1638 * G, false },
	{ "MI210", "AMD Instinct MI210 Accelerator Data Sheet", 181 * T, 45.3 * T, 45.3 * T, 22.6 * T, 1638 * G, false },
};

const struct dw_device_peaks *dw_device_peaks(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof peaks_all / sizeof *peaks_all; i++) {
		size_t tail = strlen(peaks_all[i].name);
		bool whole = tail == length || (tail < length && name[length - tail - 1] == ' ');

		if (whole && strcmp(name + length - tail, peaks_all[i].name) == 0)
			return &peaks_all[i];
	}
	return NULL;
}

double dw_device_peak(const struct dw_device_peaks *peaks, uint8_t type, bool product)
{
	if (!product)
		return peaks->others;
	switch (type) {
	case DWELL_FLOAT16: return peaks->half;
	case DWELL_BFLOAT16: return peaks->no_bfloat16 ? peaks->others : peaks->half;
	case DWELL_FLOAT32: return peaks->single;
	case DWELL_FLOAT64: return peaks->twice;
	default: return 0;
	}
}
