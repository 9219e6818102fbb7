/*
 * The names of a program's torch::nn modules, "Net.conv1", and the parameters of its optimizers.
 *
 * Called when the program asks a module for its parameters, as for an optimizer, or sets its mode. That
 * module is the root of a model, or a part of one. Its name and those of its children are read from its
 * memory. torch::nn::Module begins with its table of functions and a weak pointer; then come three
 * ordered dictionaries: parameters, buffers and children. A dictionary ends with a description of its
 * keys, "Submodule" for children. The first module is read through the kernel, so that another layout cannot crash the
 * program. If that text is where it must be, later ones are read as PyTorch itself does in the call: a program may ask for
 * its parameters in each step, and the kernel takes 10 us a module.
 */
#include "../native/native.h"
#include "private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define STRING dwp_abi_layout.string_bytes
#define DICTIONARY (80u + STRING)       /* an unordered_map, a vector, a string */
#define CHILDREN (24u + 2 * DICTIONARY) /* in a module */
#define LIST 56u                        /* in a dictionary */
#define DESCRIPTION 80u
#define ITEM (STRING + 16u)             /* a string, a shared_ptr */
#define MOST_DEPTH 16u
#define MODULES 32768u   /* places; half of them are used at most */
#define MODULES_BITS 15
#define TEXT 256u

/* A module that was named. Another one may be made at its address later. */
struct module {
	const void *address;     /* atomic; NULL: free */
	struct dwell_site *site; /* atomic; NULL: it has no name */
};

static struct module modules[MODULES];
static unsigned count;
/* The sites of all module paths. Equal models share them. They are never freed, because ranges use them. */
static struct dwell_site *sites[MODULES];
static unsigned site_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *(*class_of)(const void *module); /* returns where a std::string is */

/* ---- the table ------------------------------------------------------------------------------------ */

static struct module *modules_place(const void *module)
{
	size_t at = (uint32_t)((uint64_t)(uintptr_t)module * 0x9e3779b97f4a7c15u >> (64 - MODULES_BITS));

	for (;; at = (at + 1) % MODULES) {
		const void *address = __atomic_load_n(&modules[at].address, __ATOMIC_ACQUIRE);

		if (!address || address == module)
			return &modules[at];
	}
}

struct dwell_site *dwp_native_layer_site(const void *module)
{
	struct module *place = modules_place(module);

	return __atomic_load_n(&place->address, __ATOMIC_ACQUIRE) ? __atomic_load_n(&place->site, __ATOMIC_ACQUIRE) : NULL;
}

static unsigned modules_depth(const char *path)
{
	unsigned depth = 0;

	for (; *path; path++)
		depth += *path == '.';
	return depth;
}

/* Whether `path` is of a part of the model whose path is known: "Block.fc" of "Net.layer1.fc". */
static bool modules_is_known(const char *known, const char *path)
{
	const char *last = strrchr(path, '.'), *known_last = strrchr(known, '.');

	return known_last && modules_depth(known) >= modules_depth(path) && (!last || strcmp(last, known_last) == 0);
}

/* NULL: there are too many paths. */
static struct dwell_site *modules_site_of(const char *path)
{
	struct dwell_site *site;
	uint32_t at = 2166136261u;

	for (const char *byte = path; *byte; byte++)
		at = (at ^ (unsigned char)*byte) * 16777619u;
	for (at %= MODULES; sites[at]; at = (at + 1) % MODULES)
		if (strcmp(sites[at]->name, path) == 0)
			return sites[at];
	site = site_count < MODULES / 2 ? calloc(1, sizeof *site) : NULL;
	if (!site || !(site->name = strdup(path))) {
		free(site);
		return NULL;
	}
	site->category = DWELL_CATEGORY_LAYER;
	site_count++;
	return sites[at] = site;
}

static void modules_put(const void *module, const char *path)
{
	struct module *place = modules_place(module);
	struct dwell_site *site;

	if (place->site && modules_is_known(place->site->name, path))
		return;
	site = place->address || count < MODULES / 2 ? modules_site_of(path) : NULL;
	if (!site)
		dwp_abi_lacks(DWP_ABI_MODULES);
	if (!site && !place->address)
		return;
	count += !place->address;
	__atomic_store_n(&place->site, site, __ATOMIC_RELEASE);
	__atomic_store_n(&place->address, module, __ATOMIC_RELEASE);
}

/* ---- the memory of a module ------------------------------------------------------------------------- */

static bool modules_read_text(const void *from, char text[TEXT])
{
	const char *at;
	uint64_t length;

	return dwp_abi_read(&at, from, sizeof at) == sizeof at &&
	       dwp_abi_read(&length, dwp_abi_string_length(from, at), sizeof length) == sizeof length && length < TEXT &&
	       (text[length] = '\0', dwp_abi_read(text, at, length) == length);
}

static bool modules_is_module(const char *module)
{
	char text[TEXT];

	return modules_read_text(module + CHILDREN + DESCRIPTION, text) && strcmp(text, "Submodule") == 0;
}

/* torch::nn::Module is the first part of a class of torch::nn, or, before PyTorch 2, a virtual base, whose
 * offset lies before the class's table of functions. The first object shows which. */
static enum { BASE_UNKNOWN, BASE_FIRST, BASE_VIRTUAL, BASE_NONE } base; /* atomic */

static const char *modules_virtual_base(const char *object)
{
	const char *functions = *(const char *const *)(const void *)object;

	return object + *(const ptrdiff_t *)(const void *)(functions - 24);
}

const void *dwp_native_module_of(const void *object)
{
	int known = __atomic_load_n(&base, __ATOMIC_RELAXED);

	if (DWELL_UNLIKELY(known == BASE_UNKNOWN)) {
		known = modules_is_module(object)                         ? BASE_FIRST
		        : modules_is_module(modules_virtual_base(object)) ? BASE_VIRTUAL
		                                                          : BASE_NONE;
		__atomic_store_n(&base, known, __ATOMIC_RELAXED);
	}
	return known == BASE_FIRST ? object : known == BASE_VIRTUAL ? modules_virtual_base(object) : NULL;
}

/* Names the children of a module, whose path is the first `length` bytes of `path`. */
static void modules_walk(const char *module, char path[TEXT], size_t length, unsigned depth)
{
	const char *item = ABI_POINTER(module, CHILDREN + LIST), *end = ABI_POINTER(module, CHILDREN + LIST + sizeof item);

	for (; depth < MOST_DEPTH && item < end; item += ITEM) {
		const char *name = ABI_POINTER(item, 0), *child = ABI_POINTER(item, STRING);
		uint64_t bytes = ABI_WORD(dwp_abi_string_length(item, name), 0);

		if (!child || length + 1 + bytes >= TEXT)
			continue;
		path[length] = '.';
		memcpy(path + length + 1, name, bytes);
		path[length + 1 + bytes] = '\0';
		modules_put(child, path);
		modules_walk(child, path, length + 1 + bytes, depth + 1);
	}
}

/* "torch::nn::LinearImpl" is Linear, "(anonymous namespace)::Net" is Net. */
static void modules_name_class(const void *module, char path[TEXT])
{
	const char *name = class_of(module), *last = ABI_POINTER(name, 0),
	           *end = last + ABI_WORD(dwp_abi_string_length(name, last), 0);

	for (const char *at = last; at < end && *at != '<'; at++)
		if (*at == ':')
			last = at + 1;
	snprintf(path, TEXT, "%.*s", (int)(end - last), last);
	if (strlen(path) > 4 && strcmp(path + strlen(path) - 4, "Impl") == 0)
		path[strlen(path) - 4] = '\0';
}

void dwp_native_name_modules(const void *root)
{
	static bool is_laid_out; /* as the head of this file says */
	char path[TEXT];

	if (!class_of)
		return;
	modules_name_class(root, path);
	pthread_mutex_lock(&lock);
	modules_put(root, path);
	is_laid_out = is_laid_out || modules_is_module(root);
	if (is_laid_out)
		modules_walk(root, path, strlen(path), 0);
	pthread_mutex_unlock(&lock);
}

/* ---- parameters ------------------------------------------------------------------------------------- */

static int (*address_of)(const void *tensor, void **address); /* from PyTorch 2.1 on */
static void *(*address_of_floats)(const void *tensor);

/* An OptimizerParamGroup begins with the vector of its parameters. */
void dwp_native_parameters_of(const void *group, void (*report)(const void *address))
{
	const char *list[2];

	if (dwp_abi_read(list, group, sizeof list) != sizeof list || list[1] < list[0])
		return;
	for (const char *tensor = list[0]; tensor < list[1]; tensor += sizeof(void *)) {
		void *address = NULL;

		if (address_of)
			address_of(tensor, &address);
		else if (address_of_floats && dwp_abi_dtype(tensor) == DWELL_FLOAT32)
			address = address_of_floats(tensor);
		if (address)
			report(address);
	}
}

static void modules_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
}

void dwp_native_modules_attach(void *library)
{
	pthread_atfork(NULL, NULL, modules_after_fork);
	*(void **)&address_of = dlsym(library, "aoti_torch_get_data_ptr");
	*(void **)&address_of_floats = dlsym(library, "_ZNK2at10TensorBase8data_ptrIfEEPT_v");
	*(void **)&class_of =
		dlsym(library, STRING == 8 ? "_ZNK5torch2nn6Module4nameEv" : "_ZNK5torch2nn6Module4nameB5cxx11Ev");
}
