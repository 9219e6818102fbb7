/*
 * Finds the family of a kernel by its name.
 *
 * A driver reports nothing but the name of a kernel. The table has parts of names as libraries
 * spell them today. The first line that matches decides, so specific names come before general ones
 * ("softmax" before "elementwise"). A kernel that no line matches has the family "other".
 */
#include <string.h>

#include "format/layout.h"
#include "model/device/device.h"

const char *dw_family_name(enum dw_family family)
{
	static const char *const names[] = {
#define X(name, text) text,
		DW_FAMILIES(X)
#undef X
	};

	return names[family];
}

static bool families_is_communication(const char *name)
{
	static const char *const starts[] = { "nccl", "rccl", "mscclKernel", "oneccl", "ncclDev",
		                                  "void deep_ep::" };

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return strstr(name, "Kernel") || strstr(name, "kernel") || i > 1;
	return strstr(name, "cross_device_reduce") || strstr(name, "symm_mem");
}

enum dw_family dw_device_family(uint32_t kind, const char *name)
{
	static const struct { const char *part; enum dw_family family; } parts[] = {
		{ "fmha", DW_FAMILY_ATTENTION },       { "flash", DW_FAMILY_ATTENTION },
		{ "attention", DW_FAMILY_ATTENTION },  { "Attention", DW_FAMILY_ATTENTION },
		{ "softmax", DW_FAMILY_SOFTMAX },      { "SoftMax", DW_FAMILY_SOFTMAX },
		{ "Softmax", DW_FAMILY_SOFTMAX },
		{ "batch_norm", DW_FAMILY_NORMALISATION }, { "bn_fw", DW_FAMILY_NORMALISATION },
		{ "bn_bw", DW_FAMILY_NORMALISATION },  { "layer_norm", DW_FAMILY_NORMALISATION },
		{ "LayerNorm", DW_FAMILY_NORMALISATION }, { "GammaBeta", DW_FAMILY_NORMALISATION },
		{ "group_norm", DW_FAMILY_NORMALISATION }, { "GroupNorm", DW_FAMILY_NORMALISATION },
		{ "RowwiseMoments", DW_FAMILY_NORMALISATION }, { "rms_norm", DW_FAMILY_NORMALISATION },
		{ "BatchNorm", DW_FAMILY_NORMALISATION },
		{ "max_pool", DW_FAMILY_POOLING },     { "avg_pool", DW_FAMILY_POOLING },
		{ "pooling", DW_FAMILY_POOLING },
		{ "dgrad", DW_FAMILY_CONVOLUTION },    { "wgrad", DW_FAMILY_CONVOLUTION },
		{ "fprop", DW_FAMILY_CONVOLUTION },    { "scudnn", DW_FAMILY_CONVOLUTION },
		{ "conv", DW_FAMILY_CONVOLUTION },     { "Conv", DW_FAMILY_CONVOLUTION },
		{ "winograd", DW_FAMILY_CONVOLUTION }, { "nchwToNhwc", DW_FAMILY_CONVOLUTION },
		{ "nhwcToNchw", DW_FAMILY_CONVOLUTION }, { "im2col", DW_FAMILY_CONVOLUTION },
		{ "gemm", DW_FAMILY_MATMUL },          { "Gemm", DW_FAMILY_MATMUL },
		{ "GEMM", DW_FAMILY_MATMUL },          { "gemv", DW_FAMILY_MATMUL },
		{ "Cijk_", DW_FAMILY_MATMUL },         { "cublas", DW_FAMILY_MATMUL },
		{ "splitKreduce", DW_FAMILY_MATMUL },  { "matmul", DW_FAMILY_MATMUL },
		{ "cutlass", DW_FAMILY_MATMUL },       { "_mm_", DW_FAMILY_MATMUL },
		{ "embedding", DW_FAMILY_EMBEDDING },  { "fbgemm_gpu", DW_FAMILY_EMBEDDING },
		{ "multi_tensor_apply", DW_FAMILY_OPTIMIZER }, { "adam", DW_FAMILY_OPTIMIZER },
		{ "Adam", DW_FAMILY_OPTIMIZER },
		{ "sort", DW_FAMILY_SORT },            { "Sort", DW_FAMILY_SORT },
		{ "scan", DW_FAMILY_SORT },            { "Scan", DW_FAMILY_SORT },
		{ "reduce", DW_FAMILY_REDUCTION },     { "Reduce", DW_FAMILY_REDUCTION },
		{ "triton_red_", DW_FAMILY_REDUCTION }, { "triton_per_", DW_FAMILY_REDUCTION },
		{ "triton_poi_", DW_FAMILY_ELEMENTWISE }, { "elementwise", DW_FAMILY_ELEMENTWISE },
		{ "CatArray", DW_FAMILY_ELEMENTWISE }, { "index", DW_FAMILY_ELEMENTWISE },
		{ "gather", DW_FAMILY_ELEMENTWISE },   { "scatter", DW_FAMILY_ELEMENTWISE },
		{ "fused_dropout", DW_FAMILY_ELEMENTWISE }, { "pointwise", DW_FAMILY_ELEMENTWISE },
	};

	if (kind == DW_DEVICE_COPY)
		return DW_FAMILY_COPY;
	if (kind == DW_DEVICE_SET)
		return DW_FAMILY_SET;
	if (kind != DW_DEVICE_KERNEL && kind != DW_DEVICE_GRAPH)
		return DW_FAMILY_OTHER;
	if (families_is_communication(name))
		return DW_FAMILY_COMMUNICATION;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(name, parts[i].part))
			return parts[i].family;
	return DW_FAMILY_OTHER;
}

bool dw_device_call_waits(const char *name)
{
	static const char *const waits[] = {
		"cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol",
		"cudaFree", "cudaFreeHost", "cudaHostAlloc", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2",
		"cuMemFree_v2", "hipMemcpy", "hipMemcpyWithStream", "hipFree", "hipHostFree",
	};

	if (strstr(name, "Synchronize"))
		return true;
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (strcmp(name, waits[i]) == 0)
			return true;
	return false;
}
