/*
 * Sees the calls of PyTorch's functions in a program of C++.
 *
 * A program calls PyTorch's functions through its procedure linkage table, and virtual ones through
 * tables of functions. In each library that is loaded, the relocations for these tables have the mangled
 * name. The pointer there is replaced by a function of this file, which calls the real one. A table of
 * virtual functions may have been copied into the program; there the pointer is found by its value.
 *
 * The functions are found by the beginning of their mangled names, because the types of optional
 * arguments have changed. On x86-64 a call is passed on with six registers and six words of the stack,
 * more than any of these functions takes. Those that return an object get its place as their first
 * argument. On other processors that place is in a register which C cannot name: there nothing is seen.
 */
#include "../native/native.h"
#include "private.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static bool (*is_training)(const void *module);
static int (*thread_count)(void);

bool dwp_native_grad_enabled(void)
{
	return dwp_abi_functions.grad_enabled && dwp_abi_functions.grad_enabled();
}

bool dwp_native_is_training(const void *module)
{
	return !is_training || !module || is_training(module);
}

int dwp_native_threads(void)
{
	return thread_count ? thread_count() : 0;
}

static int entry_count_one(struct dl_phdr_info *info, size_t size, void *count)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	*(unsigned *)count += slash && strncmp(slash, "/libtorch_cpu.so", 16) == 0;
	return 0;
}

bool dwp_native_is_alone(void)
{
	unsigned count = 0;

	dl_iterate_phdr(entry_count_one, &count);
	if (count > 1)
		dwp_abi_lacks(DWP_ABI_SECOND);
	return count == 1;
}

#if defined(__x86_64__)

static struct native_watch watched;

typedef void *entry_function(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
                             void *);
#define ENTRY_PARAMETERS \
	void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k, void *l
#define ENTRY_ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l

static void entry_leave(struct native_seen *seen)
{
	watched.after(seen);
}

/* Defines entry_ID(), which calls real_ID(). `self` and `flag` are made of the call's words. */
#define ENTRY(id, kind, object, layer, truth, second, place, communication)                                                          \
	static entry_function *real_##id;                                                                     \
	static void *entry_##id(ENTRY_PARAMETERS)                                                             \
	{                                                                                                     \
		struct native_seen seen __attribute__((cleanup(entry_leave))) = {                                  \
			.call = (kind), .self = (object), .site = (layer), .flag = (truth), .failed = true,                  \
			.argument = (second), .rank = (int)(intptr_t)c, .size = (int)(intptr_t)d, .result = (place),         \
			.collective = (communication)                                                                      \
		};                                                                                                \
		watched.before(&seen);                                                                             \
		void *result = real_##id(ENTRY_ARGUMENTS);                                                        \
		seen.failed = false;                                                                              \
		return result;                                                                                    \
	}
#define ENTRY_LOW_BYTE(word) (((uintptr_t)(word) & 0xff) != 0)

/* X(ID, kind, the object, flag, beginning of the mangled name) */
#define ENTRIES(X)                                                                                         \
	X(add_group, NATIVE_OPTIMIZER_MADE, a, false, "_ZN5torch5optim9Optimizer15add_param_groupE")           \
	X(sgd, NATIVE_STEP, b, false, "_ZN5torch5optim3SGD4stepE")                                             \
	X(adam, NATIVE_STEP, b, false, "_ZN5torch5optim4Adam4stepE")                                           \
	X(adamw, NATIVE_STEP, b, false, "_ZN5torch5optim5AdamW4stepE")                                         \
	X(lbfgs, NATIVE_STEP, b, false, "_ZN5torch5optim5LBFGS4stepE")                                         \
	X(adagrad, NATIVE_STEP, b, false, "_ZN5torch5optim7Adagrad4stepE")                                     \
	X(rmsprop, NATIVE_STEP, b, false, "_ZN5torch5optim7RMSprop4stepE")                                     \
	X(zero_grad, NATIVE_ZERO_GRAD, a, false, "_ZN5torch5optim9Optimizer9zero_gradE")                       \
	X(module_zero_grad, NATIVE_ZERO_GRAD, a, false, "_ZN5torch2nn6Module9zero_gradE")                      \
	X(parameters, NATIVE_MODEL, b, false, "_ZNK5torch2nn6Module10parametersE")                             \
	X(train, NATIVE_MODEL, a, false, "_ZN5torch2nn6Module5trainE")                                         \
	X(execute, NATIVE_BACKWARD, b, ENTRY_LOW_BYTE(g), "_ZN5torch8autograd6Engine7executeE")                \
	X(method, NATIVE_METHOD, b, false, "_ZNK5torch3jit6MethodclE")                                         \
	X(package, NATIVE_METHOD, b, false, "_ZN5torch8inductor22AOTIModelPackageLoader3runE")                 \
	X(boxed_package, NATIVE_METHOD, b, false, "_ZN5torch8inductor22AOTIModelPackageLoader9boxed_runE")     \
	X(compiled, NATIVE_METHOD, b, false, "_ZN5torch8inductor24AOTIModelContainerRunner3runE")              \
	X(boxed_compiled, NATIVE_METHOD, b, false, "_ZN5torch8inductor24AOTIModelContainerRunner9boxed_runE")  \
	X(random, NATIVE_BATCH, b, false, "_ZN5torch4data8samplers13RandomSampler4nextE")                      \
	X(sequential, NATIVE_BATCH, b, false, "_ZN5torch4data8samplers17SequentialSampler4nextE")              \
	X(stream, NATIVE_BATCH, b, false, "_ZN5torch4data8samplers13StreamSampler4nextE")                      \
	X(ranks_random, NATIVE_BATCH, b, false, "_ZN5torch4data8samplers24DistributedRandomSampler4nextE")     \
	X(ranks_sequential, NATIVE_BATCH, b, false, "_ZN5torch4data8samplers28DistributedSequentialSampler4nextE") \
	X(wait, NATIVE_WAIT, a, false, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE")             \
	X(save_file, NATIVE_SAVE, a, false, "_ZN5torch9serialize13OutputArchive7save_toERKNS")                 \
	X(save_old, NATIVE_SAVE, a, false, "_ZN5torch9serialize13OutputArchive7save_toERKSs")                 \
	X(save_stream, NATIVE_SAVE, a, false, "_ZN5torch9serialize13OutputArchive7save_toERSo")                \
	X(load_file, NATIVE_LOAD, a, false, "_ZN5torch9serialize12InputArchive9load_fromERKNS")                \
	X(load_old, NATIVE_LOAD, a, false, "_ZN5torch9serialize12InputArchive9load_fromERKSs")                \
	X(load_stream, NATIVE_LOAD, a, false, "_ZN5torch9serialize12InputArchive9load_fromERSi")               \
	X(prefix, NATIVE_STORE_MADE, a, false, "_ZN4c10d11PrefixStoreC")                                        \
	X(gloo, NATIVE_GROUP_MADE, a, false, "_ZN4c10d16ProcessGroupGlooC")                                     \
	X(work_wait, NATIVE_WORK_WAIT, a, false, "_ZN4c10d4Work4waitE")                                         \
	X(send_wait, NATIVE_WORK_WAIT, a, false, "_ZN4c10d16ProcessGroupGloo8SendWork4waitE")                   \
	X(recv_wait, NATIVE_WORK_WAIT, a, false, "_ZN4c10d16ProcessGroupGloo8RecvWork4waitE")                   \
	X(reduce, NATIVE_REDUCE, a, false, "_ZN4c10d7Reducer17all_reduce_bucketE")                              \
	X(reduced, NATIVE_REDUCED, a, false, "_ZN4c10d7Reducer17finalize_backwardE")                            \
	X(grad_mode, NATIVE_GRAD_MODE, NULL, ENTRY_LOW_BYTE(a), "_ZN3c108GradMode11set_enabledE")

/* X(method of c10d::ProcessGroupGloo, its kind, what it is, depth of its first argument, whether times the ranks). It
 * returns one object. */
#define ENTRY_COLLECTIVES(X) \
	X(allreduce, "all_reduce", TORCH_COLLECTIVE, 1, false) X(allreduce_sparse, "all_reduce", TORCH_COLLECTIVE, 1, false) \
	X(allreduce_coalesced, "all_reduce", TORCH_COLLECTIVE, 1, false) X(broadcast, "broadcast", TORCH_COLLECTIVE, 1, false) \
	X(reduce, "reduce", TORCH_COLLECTIVE, 1, false) X(allgather, "all_gather", TORCH_COLLECTIVE, 2, false) \
	X(_allgather_base, "all_gather", TORCH_COLLECTIVE, 0, false) \
	X(allgather_coalesced, "all_gather", TORCH_COLLECTIVE, 2, false) \
	X(allgather_into_tensor_coalesced, "all_gather", TORCH_COLLECTIVE, 1, false) \
	X(gather, "gather", TORCH_COLLECTIVE, 2, false) X(scatter, "scatter", TORCH_COLLECTIVE, 1, false) \
	X(reduce_scatter, "reduce_scatter", TORCH_COLLECTIVE, 1, true) \
	X(_reduce_scatter_base, "reduce_scatter", TORCH_COLLECTIVE, 0, true) \
	X(reduce_scatter_tensor_coalesced, "reduce_scatter", TORCH_COLLECTIVE, 1, true) \
	X(alltoall, "all_to_all", TORCH_COLLECTIVE, 1, false) X(alltoall_base, "all_to_all", TORCH_COLLECTIVE, 0, false) \
	X(barrier, "barrier", TORCH_COLLECTIVE, -1, false) X(send, "send", TORCH_SENT, 1, false) \
	X(recv, "recv", TORCH_RECEIVED, 1, false) X(recvAnysource, "recv", TORCH_RECEIVED_OF_ANY, 1, false)

/* Classes of torch::nn whose forward() is a layer. It returns one object. */
#define ENTRY_LAYERS(X)                                                                                    \
	X(AdaptiveAvgPool1d) X(AdaptiveAvgPool2d) X(AdaptiveAvgPool3d) X(AdaptiveLogSoftmaxWithLoss)           \
	X(AdaptiveMaxPool1d) X(AdaptiveMaxPool2d) X(AdaptiveMaxPool3d) X(AlphaDropout) X(AvgPool1d)            \
	X(AvgPool2d) X(AvgPool3d) X(BCELoss) X(BCEWithLogitsLoss) X(Bilinear) X(CELU) X(CTCLoss) X(Conv1d)     \
	X(Conv2d) X(Conv3d) X(ConvTranspose1d) X(ConvTranspose2d) X(ConvTranspose3d) X(CosineEmbeddingLoss)    \
	X(CosineSimilarity) X(CrossEntropyLoss) X(CrossMapLRN2d) X(Dropout) X(Dropout2d) X(Dropout3d) X(ELU)   \
	X(Embedding) X(EmbeddingBag) X(FeatureAlphaDropout) X(Flatten) X(Fold) X(FractionalMaxPool2d)          \
	X(FractionalMaxPool3d) X(Functional) X(GELU) X(GLU) X(GRU) X(GRUCell) X(GroupNorm) X(Hardshrink)       \
	X(Hardtanh) X(HingeEmbeddingLoss) X(HuberLoss) X(Identity) X(KLDivLoss) X(L1Loss) X(LPPool1d)          \
	X(LPPool2d) X(LPPool3d) X(LSTM) X(LSTMCell) X(LayerNorm) X(LeakyReLU) X(Linear) X(LocalResponseNorm)   \
	X(LogSigmoid) X(LogSoftmax) X(MSELoss) X(MarginRankingLoss) X(MaxPool1d) X(MaxPool2d) X(MaxPool3d)     \
	X(MaxUnpool1d) X(MaxUnpool2d) X(MaxUnpool3d) X(Mish) X(MultiLabelMarginLoss)                           \
	X(MultiLabelSoftMarginLoss) X(MultiMarginLoss) X(MultiheadAttention) X(NLLLoss) X(PReLU)               \
	X(PairwiseDistance) X(PixelShuffle) X(PixelUnshuffle) X(PoissonNLLLoss) X(RNN) X(RNNCell) X(RReLU)     \
	X(ReLU) X(ReLU6) X(SELU) X(SiLU) X(Sigmoid) X(SmoothL1Loss) X(SoftMarginLoss) X(Softmax) X(Softmax2d)  \
	X(Softmin) X(Softplus) X(Softshrink) X(Softsign) X(Tanh) X(Tanhshrink) X(Threshold)                    \
	X(Transformer) X(TransformerDecoder) X(TransformerDecoderLayer) X(TransformerEncoder)                  \
	X(TransformerEncoderLayer) X(TripletMarginLoss) X(TripletMarginWithDistanceLoss) X(Unflatten)          \
	X(Unfold) X(Upsample) X(ZeroPad2d)

#define X(id, kind, object, truth, name) ENTRY(id, kind, object, NULL, truth, b, NULL, NULL)
ENTRIES(X)
#undef X
#define X(id)                                                                               \
	static struct dwell_site site_##id = { #id, NULL, NULL, 0, DWELL_CATEGORY_LAYER, 0 }; \
	ENTRY(layer_##id, NATIVE_LAYER, b, &site_##id, false, b, NULL, NULL)
ENTRY_LAYERS(X)
#undef X

#define X(id, kind, call, depth, ranks)                                                           \
	static struct dwell_site site_##id = { kind, NULL, NULL, 0, DWELL_CATEGORY_COMMUNICATION, 0 }; \
	static const struct native_collective collective_##id = { call, depth, ranks };                \
	ENTRY(gloo_##id, NATIVE_COLLECTIVE, b, &site_##id, false, c, a, &collective_##id)
ENTRY_COLLECTIVES(X)
#undef X

struct entry {
	const char *beginning; /* of the mangled name; of a layer "" */
	const char *layer;     /* the name of the class, or NULL */
	const char *method;    /* the rest of the name, after a length; NULL: any */
	entry_function *ours, **real;
};

static const struct entry entries[] = {
#define X(id, kind, object, truth, name) { name, NULL, NULL, entry_##id, &real_##id },
	ENTRIES(X)
#undef X
#define X(id) { "", #id, NULL, entry_layer_##id, &real_layer_##id },
	ENTRY_LAYERS(X)
#undef X
#define X(id, kind, call, depth, ranks) \
	{ "_ZN4c10d16ProcessGroupGloo", NULL, #id "E", entry_gloo_##id, &real_gloo_##id },
	ENTRY_COLLECTIVES(X)
#undef X
};

/* Whether the name is _ZN5torch2nn<length><layer>Impl7forwardE... */
static bool entry_is_layer(const char *name, const char *layer)
{
	static const char space[] = "_ZN5torch2nn", rest[] = "Impl7forwardE";
	size_t length = strlen(layer);

	if (strncmp(name, space, sizeof space - 1) != 0)
		return false;
	name += sizeof space - 1;
	name += strspn(name, "0123456789");
	return strncmp(name, layer, length) == 0 && strncmp(name + length, rest, sizeof rest - 1) == 0;
}

static bool entry_is_method(const char *name, const char *class, const char *method)
{
	size_t length = strlen(class);

	if (strncmp(name, class, length) != 0)
		return false;
	name += length + strspn(name + length, "0123456789");
	return !method || strncmp(name, method, strlen(method)) == 0;
}

static const struct entry *entry_of(const char *name)
{
	bool may_be_layer = strstr(name, "Impl7forwardE") != NULL;

	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		const struct entry *entry = &entries[i];

		if (entry->layer ? may_be_layer && entry_is_layer(name, entry->layer)
		                 : entry_is_method(name, entry->beginning, entry->method))
			return entry;
	}
	return NULL;
}

/* ---- the tables of a library ------------------------------------------------------------------ */

struct entry_tables {
	const ElfW(Rela) *calls, *data;
	size_t call_count, data_count, relative_count;
	const ElfW(Sym) *symbols;
	const char *names;
};

static struct entry_tables entry_read_tables(const struct link_map *library)
{
	struct entry_tables tables = { .calls = NULL };

	for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_JMPREL: tables.calls = (const void *)entry->d_un.d_ptr; break;
		case DT_PLTRELSZ: tables.call_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
		case DT_RELA: tables.data = (const void *)entry->d_un.d_ptr; break;
		case DT_RELASZ: tables.data_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
		case DT_RELACOUNT: tables.relative_count = entry->d_un.d_val; break;
		case DT_SYMTAB: tables.symbols = (const void *)entry->d_un.d_ptr; break;
		case DT_STRTAB: tables.names = (const void *)entry->d_un.d_ptr; break;
		default: break;
		}
	return tables;
}

struct entry_walk {
	void *library; /* where the real functions are looked up */
	bool is_own;   /* the tables are of a library of PyTorch */
};

static bool entry_is_pytorch(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "libtorch", 8) == 0 || strncmp(name, "libc10", 6) == 0;
}

static void entry_replace(const struct entry_walk *walk, void **slot, const char *name)
{
	const struct entry *entry = entry_of(name);

	/* PyTorch disables gradients in its own functions, which is no evaluation of the program, and waits in them. */
	if (!entry || (walk->is_own && (entry->real == &real_grad_mode || entry->real == &real_wait)))
		return;
	if (!*entry->real)
		*(void **)entry->real = dlsym(walk->library, name);
	if (*entry->real && *slot != (void *)(uintptr_t)entry->ours)
		dwp_abi_replace(slot, (void *)(uintptr_t)entry->ours);
}

/* A table of virtual functions that the loader copied into the program. */
static void entry_replace_copies(char *from, size_t bytes)
{
	for (char *at = from; at + sizeof(void *) <= from + bytes; at += sizeof(void *))
		for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
			if (*entries[i].real && *(void **)(void *)at == (void *)(uintptr_t)*entries[i].real)
				dwp_abi_replace((void **)(void *)at, (void *)(uintptr_t)entries[i].ours);
}

static void entry_walk(const struct entry_walk *walk, const struct link_map *library,
                       const struct entry_tables *tables, const ElfW(Rela) *relocations, size_t count)
{
	for (size_t i = 0; relocations && i < count; i++) {
		const ElfW(Rela) *relocation = &relocations[i];
		const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
		const char *name = tables->names + symbol->st_name;
		char *place = (char *)library->l_addr + relocation->r_offset;

		if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_COPY) {
			if (strncmp(name, "_ZTVN5torch5optim", 17) == 0)
				entry_replace_copies(place, symbol->st_size);
		} else if (ELF64_R_SYM(relocation->r_info) && !relocation->r_addend && strncmp(name, "_ZN", 3) == 0) {
			entry_replace(walk, (void **)(void *)place, name);
		} else if (ELF64_R_SYM(relocation->r_info) && strncmp(name, "_ZNK5torch", 10) == 0) {
			entry_replace(walk, (void **)(void *)place, name);
		}
	}
}

static void entry_walk_library(const struct entry_walk *walk, const struct link_map *library)
{
	struct entry_tables tables = entry_read_tables(library);

	if (!tables.symbols || !tables.names)
		return;
	entry_walk(walk, library, &tables, tables.calls, tables.call_count);
	if (tables.data_count > tables.relative_count)
		entry_walk(walk, library, &tables, tables.data + tables.relative_count,
		           tables.data_count - tables.relative_count);
}

struct entry_nth {
	size_t left;
	char path[4096];
};

static int entry_find_nth(struct dl_phdr_info *info, size_t size, void *context)
{
	struct entry_nth *nth = context;

	if (nth->left--)
		return 0;
	snprintf(nth->path, sizeof nth->path, "%s", info->dlpi_name ? info->dlpi_name : "");
	return 1;
}

/* A handle keeps each library while it is read: another thread may unload it. */
static void entry_walk_libraries(struct entry_walk *walk, bool with_own)
{
	struct entry_nth nth;

	for (size_t i = 0; nth.left = i, dl_iterate_phdr(entry_find_nth, &nth); i++) {
		const struct link_map *library = NULL;
		void *handle;

		walk->is_own = entry_is_pytorch(nth.path);
		if (!*nth.path || strstr(nth.path, "linux-vdso") || (walk->is_own && !with_own))
			continue;
		handle = dlopen(nth.path, RTLD_LAZY | RTLD_NOLOAD);
		if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &library) == 0)
			entry_walk_library(walk, library);
		if (handle)
			dlclose(handle);
	}
	walk->is_own = false;
}

void dwp_native_enter_added(void *library)
{
	struct entry_walk walk = { library, false };

	entry_walk_libraries(&walk, false);
}

bool dwp_native_enter(void *library, const struct native_watch *watch)
{
	struct entry_walk walk = { library, false };
	const struct link_map *program = NULL;
	void *handle = dlopen(NULL, RTLD_NOW);

	watched = *watch;
	*(void **)&is_training = dlsym(library, "_ZNK5torch2nn6Module11is_trainingEv");
	*(void **)&thread_count = dlsym(library, "_ZN2at15get_num_threadsEv");
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &program) != 0)
		return false;
	/* The program comes last: its copies are of functions that PyTorch's own tables name. */
	entry_walk_libraries(&walk, true);
	entry_walk_library(&walk, program);
	if (!dwp_abi_breaks(DWP_ABI_CALLS) && real_execute && dwp_abi_functions.grad_enabled)
		return true;
	dwp_abi_lacks(DWP_ABI_CALLS);
	return false;
}

#else

bool dwp_native_enter(void *library, const struct native_watch *watch)
{
	dwp_abi_lacks(DWP_ABI_CALLS);
	return false;
}

void dwp_native_enter_added(void *library)
{
}

#endif
