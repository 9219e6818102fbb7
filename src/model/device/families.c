/*
 * Finds the family of a kernel by its name.
 *
 * A driver reports nothing but the name of a kernel. What decides is the kernel's own name: the
 * function without its namespaces, template arguments and types of parameters, which name other
 * things. Only a function that says nothing of itself ("cutlass::Kernel<...>") has the family of its
 * first template argument, or else of a namespace that begins with a part of the table.
 *
 * The table has parts of names as libraries spell them today, in any case of letters. The first line
 * that matches decides, so specific names come before general ones ("softmax" before
 * "elementwise"). A kernel that no line matches has the family "other".
 */
#include <ctype.h>
#include <strings.h>

#include "base/text.h"
#include "format/layout.h"
#include "model/device/device.h"

const char *dw_family_name(enum dw_family family)
{
	static const char *const names[] = { DW_FAMILIES(DW_LIST_TEXT) };

	return names[family];
}

#define FAMILIES_PARTS 12 /* of a qualified name; further ones replace the last */
#define FAMILIES_DEPTH 4  /* of wrappers in each other's template arguments */

/* The qualified name of a function: its namespaces from the outermost on, and last its own name. */
struct families_name {
	struct families_part { const char *text; size_t size; } parts[FAMILIES_PARTS];
	unsigned count;
	const char *arguments; /* of the template, after "<"; NULL: none */
};

static void families_put(struct families_name *name, const char *text, size_t size)
{
	name->count += name->count < FAMILIES_PARTS;
	name->parts[name->count - 1] = (struct families_part){ text, size };
	name->arguments = NULL;
}

/* A name as the linker has it: "_ZN7cutlass6KernelINS_4gemm...". A driver reports such names if they
 * were too long for its demangler. Template arguments begin with "N" in place of "_ZN". */
static void families_split_mangled(struct families_name *name, const char *at)
{
	at += strncmp(at, "_Z", 2) == 0 ? 2 : 0;
	at += *at == 'N' || *at == 'L';
	while (true) {
		size_t size = 0;

		if (*at == 'S') { /* a substitution: "St", "S_", "S1a_" */
			at += islower((unsigned char)at[1]) ? 2 : strcspn(at, "_") + (strchr(at, '_') != NULL);
			continue;
		}
		while (isdigit((unsigned char)*at) && size < 4096)
			size = size * 10 + (size_t)(*at++ - '0');
		if (!size || strnlen(at, size) < size)
			break;
		families_put(name, at, size);
		at += size;
	}
	name->arguments = *at == 'I' && name->count ? at + 1 : NULL;
}

/* The end of the template arguments that begin with the "<" at `at`. */
static const char *families_skip_arguments(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		depth += (*at == '<') - (*at == '>' && at[-1] != '-');
		if (depth == 0)
			return at + 1;
	}
	return at;
}

/* A name as in C++: "void at::native::(anonymous namespace)::sum_kernel<float>(float*)". */
static void families_split(struct families_name *name, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)";

	while (true) {
		size_t size = strcspn(at, "<>(): ,");
		const char *arguments = at + size + 1, *next;

		if (size)
			families_put(name, at, size);
		at += size;
		next = at + (*at == ' ');
		if (*at == ':') {
			at++;
		} else if (strncmp(next, anonymous, strlen(anonymous)) == 0) {
			at = next + strlen(anonymous);
		} else if (*at == ' ' && *next && !strchr("[(>,", *next)) {
			name->count = 0; /* that was the type of the result */
			at++;
		} else if (*at == '<') {
			at = families_skip_arguments(at);
			if (size)
				name->arguments = arguments;
		} else {
			return;
		}
	}
}

static bool families_begins(const struct families_part *part, const char *text)
{
	return strlen(text) <= part->size && strncasecmp(part->text, text, strlen(text)) == 0;
}

static bool families_has(const struct families_part *part, const char *text)
{
	for (size_t i = 0; i < part->size; i++)
		if (families_begins(&(struct families_part){ part->text + i, part->size - i }, text))
			return true;
	return false;
}

static bool families_is_communication(const struct families_name *name)
{
	const struct families_part *own = &name->parts[name->count - 1];

	for (unsigned i = 0; i + 1 < name->count; i++)
		if (families_begins(&name->parts[i], "deep_ep"))
			return true;
	if (families_begins(own, "nccl") || families_begins(own, "rccl"))
		return families_has(own, "kernel") || families_begins(own, "ncclDev");
	return families_begins(own, "mscclKernel") || families_begins(own, "oneccl") ||
	       families_has(own, "cross_device_reduce") || families_has(own, "symm_mem");
}

/* The family of the first line of the table that `matches` the part of a name. */
static enum dw_family families_match(const struct families_part *part,
                                     bool (*matches)(const struct families_part *, const char *))
{
	static const struct { const char *text; enum dw_family family; } lines[] = {
		/* Kernels that Triton makes for TorchInductor list the operators that they compute; what
		 * they do with them is in front: "triton_poi_fused_convolution_relu_0" adds a bias. */
		{ "triton_poi_", DW_FAMILY_ELEMENTWISE }, { "triton_for_", DW_FAMILY_ELEMENTWISE },
		{ "fmha", DW_FAMILY_ATTENTION },       { "flash", DW_FAMILY_ATTENTION },
		{ "attention", DW_FAMILY_ATTENTION },  { "softmax", DW_FAMILY_SOFTMAX },
		{ "batch_norm", DW_FAMILY_NORMALISATION }, { "BatchNorm", DW_FAMILY_NORMALISATION },
		{ "layer_norm", DW_FAMILY_NORMALISATION }, { "LayerNorm", DW_FAMILY_NORMALISATION },
		{ "group_norm", DW_FAMILY_NORMALISATION }, { "GroupNorm", DW_FAMILY_NORMALISATION },
		{ "rms_norm", DW_FAMILY_NORMALISATION }, { "RMSNorm", DW_FAMILY_NORMALISATION },
		{ "bn_fw", DW_FAMILY_NORMALISATION },  { "bn_bw", DW_FAMILY_NORMALISATION },
		{ "GammaBeta", DW_FAMILY_NORMALISATION }, { "RowwiseMoments", DW_FAMILY_NORMALISATION },
		{ "triton_red_", DW_FAMILY_REDUCTION }, { "triton_per_", DW_FAMILY_REDUCTION },
		{ "max_pool", DW_FAMILY_POOLING },     { "avg_pool", DW_FAMILY_POOLING },
		{ "average_pool", DW_FAMILY_POOLING }, { "pooling", DW_FAMILY_POOLING },
		{ "convert", DW_FAMILY_ELEMENTWISE }, /* before "conv" */
		{ "dgrad", DW_FAMILY_CONVOLUTION },    { "wgrad", DW_FAMILY_CONVOLUTION },
		{ "fprop", DW_FAMILY_CONVOLUTION },    { "scudnn", DW_FAMILY_CONVOLUTION },
		{ "conv", DW_FAMILY_CONVOLUTION },     { "winograd", DW_FAMILY_CONVOLUTION },
		{ "nchwToNhwc", DW_FAMILY_CONVOLUTION }, { "nhwcToNchw", DW_FAMILY_CONVOLUTION },
		{ "im2col", DW_FAMILY_CONVOLUTION },   { "fft2d_", DW_FAMILY_CONVOLUTION },
		{ "gemm", DW_FAMILY_MATMUL },          { "gemv", DW_FAMILY_MATMUL },
		{ "Cijk_", DW_FAMILY_MATMUL },         { "cublas", DW_FAMILY_MATMUL },
		{ "splitK", DW_FAMILY_MATMUL },        { "matmul", DW_FAMILY_MATMUL },
		{ "cutlass", DW_FAMILY_MATMUL },       { "_mm_", DW_FAMILY_MATMUL },
		{ "addmm_", DW_FAMILY_MATMUL },        { "bmm_", DW_FAMILY_MATMUL },
		{ "epilogue", DW_FAMILY_MATMUL }, /* of cuBLASLt */
		{ "embedding", DW_FAMILY_EMBEDDING },  { "pooled_emb", DW_FAMILY_EMBEDDING },
		{ "multi_tensor_apply", DW_FAMILY_OPTIMIZER }, { "adam", DW_FAMILY_OPTIMIZER },
		{ "sort", DW_FAMILY_SORT },            { "scan", DW_FAMILY_SORT },
		{ "topk", DW_FAMILY_SORT },            { "reduce", DW_FAMILY_REDUCTION },
		{ "elementwise", DW_FAMILY_ELEMENTWISE }, { "pointwise", DW_FAMILY_ELEMENTWISE },
		{ "CatArray", DW_FAMILY_ELEMENTWISE }, { "index", DW_FAMILY_ELEMENTWISE },
		{ "indices", DW_FAMILY_ELEMENTWISE },  { "gather", DW_FAMILY_ELEMENTWISE },
		{ "scatter", DW_FAMILY_ELEMENTWISE },  { "permute", DW_FAMILY_ELEMENTWISE },
		{ "transpose", DW_FAMILY_ELEMENTWISE }, { "copy", DW_FAMILY_ELEMENTWISE },
		{ "quantize", DW_FAMILY_ELEMENTWISE }, { "_to_float", DW_FAMILY_ELEMENTWISE },
		{ "fused_dropout", DW_FAMILY_ELEMENTWISE }, { "ParallelFor", DW_FAMILY_ELEMENTWISE },
		{ "scal_kernel", DW_FAMILY_ELEMENTWISE }, { "scalePackedTensor", DW_FAMILY_ELEMENTWISE },
		{ "computeOffsets", DW_FAMILY_CONVOLUTION }, { "computeBOffsets", DW_FAMILY_CONVOLUTION }, /* of cuDNN */
		{ "cupy_fill", DW_FAMILY_ELEMENTWISE }, { "cupy_tanh", DW_FAMILY_ELEMENTWISE },
		/* XLA names what a fusion computes if it is no loop over elements: "input_reduce_fusion". */
		{ "_fusion", DW_FAMILY_ELEMENTWISE },  { "wrapped_", DW_FAMILY_ELEMENTWISE },
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (matches(part, lines[i].text))
			return lines[i].family;
	return DW_FAMILY_OTHER;
}

/* Whether a function's own name says nothing: it calls what its template argument names. */
static bool families_is_wrapper(const struct families_part *own)
{
	static const char *const names[] = { "kernel", "kernel2", "device_kernel", "globalKernel",
		                                 "kernel_agent", "_kernel_agent", "init_device_workspace_kernel" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == own->size && families_begins(own, names[i]))
			return true;
	return false;
}

static enum dw_family families_of(const char *text, bool mangled, int depth)
{
	struct families_name name = { 0 };
	enum dw_family family;

	if (mangled)
		families_split_mangled(&name, text);
	else
		families_split(&name, text);
	if (!name.count)
		return DW_FAMILY_OTHER;
	if (families_is_communication(&name))
		return DW_FAMILY_COMMUNICATION;
	family = families_match(&name.parts[name.count - 1], families_has);
	if (depth == 0 && !families_is_wrapper(&name.parts[name.count - 1]))
		return family;
	if (family == DW_FAMILY_OTHER && name.arguments && depth < FAMILIES_DEPTH)
		family = families_of(name.arguments, mangled, depth + 1);
	for (unsigned i = name.count - 1; family == DW_FAMILY_OTHER && i > 0; i--)
		family = families_match(&name.parts[i - 1], families_begins);
	return family;
}

enum dw_family dw_device_family(uint32_t kind, const char *name)
{
	switch (kind) {
	case DW_DEVICE_COPY: return DW_FAMILY_COPY;
	case DW_DEVICE_SET: return DW_FAMILY_SET;
	case DW_DEVICE_KERNEL:
	case DW_DEVICE_GRAPH: return families_of(name, strncmp(name, "_Z", 2) == 0, 0);
	default: return DW_FAMILY_OTHER;
	}
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
	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		size_t length = strlen(waits[i]);

		/* With this end it is the same call of a program whose threads have default streams of their own. */
		if (strncmp(name, waits[i], length) == 0 && (!name[length] || strcmp(name + length, "_ptds") == 0))
			return true;
	}
	return false;
}
