/* What devices can do at most, by their data sheets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* FLOP/s without sparsity, and bytes/s of the memory. 0: the device has no such units. */
struct dw_device_peaks {
	const char *name;      /* the end of the name that the driver gives the device */
	const char *source;
	double half;           /* products of matrices: float16, and bfloat16 unless no_bfloat16 */
	double single;         /* products of float32: TF32 if the device has it */
	double twice;          /* products of float64 */
	double others;         /* everything else, in float32 */
	double bytes;
	bool no_bfloat16;      /* has no units for it: its products are computed in float32 */
};

/* NULL: the table lacks this device. */
const struct dw_device_peaks *dw_device_peaks(const char *name);
/* The peak for products, or for other operators, whose elements have this type (enum dwell_dtype); 0: unknown. */
double dw_device_peak(const struct dw_device_peaks *peaks, uint8_t type, bool product);
