/*
 * Loads the Python probe into a Python program, and the PyTorch probe into a program of C++ with PyTorch, without a
 * change to the program.
 *
 * `dwell run` preloads this small library into the program and into all processes that it starts.
 * In a process with a Python interpreter it adds an audit hook. When
 * the interpreter is initialised and about to begin the script, the hook loads the probe from the
 * folder of this library. This also works with -I, -E, -S and -m, in spawned workers and in virtual
 * environments, where sitecustomize and PYTHONPATH have no effect. In a process that has no
 * interpreter, it loads the PyTorch probe before main() if the program is linked to PyTorch, and else when the program
 * loads PyTorch (late.c). At the end of the process it notes which libraries were not recorded. The
 * library links libc alone, because it is in every process of the run.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/keys.h"
#include "format/libraries.h"

#include "late.h"

#define PROBE "libdwell-python.so"
#define TORCH_PROBE "libdwell-torch.so"

typedef int audit_hook(const char *event, void *arguments, void *data);

static char probe_path[4096];
static char lacks[300]; /* why Python is not profiled; "": it is, or there is none */
static bool attached; /* the probe has been loaded, or cannot be */
static void (*uncaught)(void *arguments); /* of the probe: uncaught.c */
static bool watching; /* for a PyTorch that the program loads */

/* Sets probe_path. False: the path is too long or cannot be found. */
static bool attach_find_probe(const char *name)
{
	Dl_info here;
	const char *slash;

	if (!dladdr((void *)(size_t)&attach_find_probe, &here) || !here.dli_fname)
		return false;
	slash = strrchr(here.dli_fname, '/');
	return slash && snprintf(probe_path, sizeof probe_path, "%.*s/%s",
	                         (int)(slash - here.dli_fname), here.dli_fname, name) <
	                    (int)sizeof probe_path;
}

/* The objects of a free-threaded build have another layout than those that the probe was built
 * for. */
static bool attach_is_free_threaded(void)
{
	const char *(*version)(void) = NULL;

	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	return version && strstr(version(), "free-threading");
}

static void attach_refuse(const char *why)
{
	snprintf(lacks, sizeof lacks, "%s", why);
	fprintf(stderr, "dwell: Python is not profiled: %s\n", why);
}

static void attach(void)
{
	void (*begin)(void) = NULL;
	void *probe;

	attached = true;
	if (attach_is_free_threaded()) {
		attach_refuse("it is a free-threaded build, and dwell knows only those with a global interpreter lock");
		return;
	}
	if (access(probe_path, F_OK) != 0) {
		attach_refuse("this dwell was built without Python's headers: build it where they are");
		return;
	}
	probe = dlopen(probe_path, RTLD_NOW | RTLD_LOCAL);
	if (probe)
		*(void **)&begin = dlsym(probe, "dwp_python_attach");
	if (probe)
		*(void **)&uncaught = dlsym(probe, "dwp_python_uncaught");
	if (begin)
		begin();
	else
		attach_refuse(dlerror());
}

/* ---- the end of the interpreter ----------------------------------------------------- */

/* The same layout as Python's PyMemAllocatorEx. */
struct allocator {
	void *context;
	void *(*malloc)(void *context, size_t bytes);
	void *(*calloc)(void *context, size_t count, size_t bytes);
	void *(*realloc)(void *context, void *block, size_t bytes);
	void (*free)(void *context, void *block);
};

static struct allocator raw;

static int attach_on_audit(const char *event, void *arguments, void *data);

/*
 * Frees a block for the interpreter. The entry of our hook is from malloc(), because it was added
 * before the interpreter chose its allocators. In development mode (-X dev, PYTHONMALLOC=debug) the
 * interpreter would free it with another allocator, which aborts. The entry is recognised by its
 * content: a pointer to the next entry, our function, our data.
 */
static void attach_free_block(void *context, void *block)
{
	void **words = block;

	if (block && words[1] == (void *)(size_t)&attach_on_audit && words[2] == (void *)probe_path)
		free(block);
	else
		raw.free(raw.context, block);
}

static void attach_free_hook(void)
{
	void (*get)(int domain, struct allocator *allocator) = NULL;
	void (*set)(int domain, struct allocator *allocator) = NULL;

	*(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
	if (!get || !set)
		return;
	get(0, &raw);
	struct allocator ours = raw;
	ours.free = attach_free_block;
	set(0, &ours);
}

/* ---- the hook ------------------------------------------------------------------------ */

/* The audit hook. The interpreter raises an event "cpython.run_..." before it begins a script, -c,
 * -m or a prompt, and calls the hook with its lock held. */
static int attach_on_audit(const char *event, void *arguments, void *data)
{
	if (uncaught && strcmp(event, "sys.excepthook") == 0)
		uncaught(arguments);
	if (strncmp(event, "cpython.", 8) != 0)
		return 0;
	if (!attached && strncmp(event + 8, "run_", 4) == 0)
		attach();
	else if (strcmp(event + 8, "_PySys_ClearAuditHooks") == 0)
		attach_free_hook();
	return 0;
}

/* ---- what is not recorded --------------------------------------------------------------- */

/* Whether the library is CUDA's runtime. Such a program was made for a device. */
static int attach_is_cuda(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	*(bool *)found = name && strncmp(name + 1, "libcudart.so", 12) == 0;
	return *(bool *)found;
}

/* The CUDA probe is loaded by NVIDIA's driver. Whether the program uses CUDA where there is none. */
static bool attach_lacks_driver(void)
{
	static const char *const drivers[] = { "/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg",
		                                   "/dev/nvhost-ctrl" };
	const char *probe = getenv("CUDA_INJECTION64_PATH");
	bool has_cuda = false;

	/* The files are looked for last: a process that ends in a sandbox may not ask for them. */
	if (probe && strstr(probe, "libdwell-cuda.so"))
		dl_iterate_phdr(attach_is_cuda, &has_cuda);
	for (size_t i = 0; has_cuda && i < sizeof drivers / sizeof *drivers; i++)
		has_cuda = access(drivers[i], F_OK) != 0;
	return has_cuda;
}

/* Whether the process has a library for which a recorder is worth loading at the end, to say that it was not recorded.
 * Many small programs have a Python library or an NVTX one. */
static bool attach_misses(const char *list)
{
	static const char *const ids[] = { "mpi ", "nccl ", "torch " };

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		const char *at = strstr(list, ids[i]);

		if (at && (at == list || at[-1] == ';'))
			return true;
	}
	return false;
}

/* Whether the file of the program has this text in it. */
static bool attach_program_contains(const char *text)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool found = false;
	void *data;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			found = memmem(data, (size_t)status.st_size, text, strlen(text)) != NULL;
			munmap(data, (size_t)status.st_size);
		}
	}
	close(fd);
	return found;
}

/* Whether the program contains libdwell.a, which reads this variable: that recorder says what is missing. */
static bool attach_has_recorder(void)
{
	static int known; /* atomic; 0: not yet, 1: no, 2: yes */
	int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!answer) {
		answer = 1 + attach_program_contains("DWELL_TRACE");
		__atomic_store_n(&known, answer, __ATOMIC_RELAXED);
	}
	return answer == 2;
}

/* Whether the object is linked to the recorder, and is no library of dwell itself. */
static int attach_needs_recorder(struct dl_phdr_info *info, size_t size, void *found)
{
	const ElfW(Dyn) *dynamic = NULL;
	const char *strings = NULL;

	(void)size;
	if (info->dlpi_name && strstr(info->dlpi_name, "/libdwell"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (const ElfW(Dyn) *at = dynamic; at && at->d_tag != DT_NULL; at++)
		if (at->d_tag == DT_STRTAB)
			strings = (const char *)at->d_un.d_ptr;
	if ((uintptr_t)strings < info->dlpi_addr) /* the kernel's own library has offsets there */
		return 0;
	for (const ElfW(Dyn) *at = dynamic; at && strings && at->d_tag != DT_NULL; at++)
		if (at->d_tag == DT_NEEDED && strcmp(strings + at->d_un.d_val, "libdwell.so.0") == 0)
			*(bool *)found = true;
	return *(bool *)found;
}

/* Whether the program, or a library of it, is linked to the recorder. The sampler has it in each process. */
static bool attach_is_linked(void)
{
	bool found = false;

	dl_iterate_phdr(attach_needs_recorder, &found);
	return found;
}

/* The recorder that the process has, or dwell's own, which is in the folder above this library. */
static void *attach_find_recorder(void)
{
	void *recorder = dlopen("libdwell.so.0", RTLD_LAZY | RTLD_NOLOAD);
	char path[4200], *slash;

	if (recorder || !attach_find_probe(PROBE))
		return recorder;
	slash = strrchr(probe_path, '/');
	snprintf(path, sizeof path, "%.*s/../libdwell.so.0", (int)(slash - probe_path), probe_path);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int attach_is_torch(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!slash || strncmp(slash, "/libtorch_cpu.so", 16) != 0)
		return 0;
	snprintf(path, 4096, "%s", info->dlpi_name);
	return 1;
}

/* Whether PyTorch was loaded by a call that late.c did not follow to its end. */
static bool attach_is_late_torch(void)
{
	char path[4096];

	return watching && !attached && dl_iterate_phdr(attach_is_torch, path);
}

/*
 * Notes at the end of the process, because programs load libraries late, what is not recorded and why: Python, the work
 * of devices, and, in a process without a recorder, what format/libraries.h lists. With a recorder, that one does it.
 * `dwell run` and the reports say it.
 */
__attribute__((destructor)) static void attach_note_lacks(void)
{
	void (*note)(const char *key, const char *value) = NULL;
	const char *trace = getenv("DWELL_TRACE");
	bool lacks_driver, has_recorder, has_list, is_late;
	char list[DW_LIBRARIES_BYTES];
	void *recorder;

	if (!trace)
		return;
	has_recorder = attach_is_linked();
	has_list = !has_recorder && dw_libraries_list(list) && attach_misses(list) && !attach_has_recorder();
	lacks_driver = has_recorder && attach_lacks_driver();
	is_late = attach_is_late_torch() && !attach_has_recorder();
	if (!has_list && !lacks_driver && !is_late && !*lacks)
		return;
	recorder = attach_find_recorder();
	if (recorder)
		*(void **)&note = dlsym(recorder, "dwell_meta");
	if (note && lacks_driver)
		note(DW_KEY_CUDA_LACKS, "CUDA is loaded, and this machine has no NVIDIA driver");
	if (note && *lacks)
		note("python" DW_KEY_LACKS, lacks);
	if (note && is_late)
		note(DW_KEY_TORCH_LACKS, DWP_LATE_LACKS);
	if (note && has_list)
		note(DW_KEY_LIBRARIES, list);
}

/* ---- PyTorch without Python ---------------------------------------------------------------- */

/* Called before main(), and after each dlopen() of the program. The libraries that a program is linked to have been
 * initialised before main(), because this one comes first and depends on none of them. A program that contains a recorder
 * of its own, libdwell.a, which reads that variable, records itself alone: with a second recorder its operators would be
 * those of another process. */
static void attach_torch(void)
{
	char torch[4096];
	void (*begin)(const char *path, bool has_probes) = NULL;
	bool has_probes;
	void *probe = NULL;

	if (!dl_iterate_phdr(attach_is_torch, torch) || attach_has_recorder())
		return;
	has_probes = attach_is_linked();
	if (attach_find_probe(TORCH_PROBE))
		probe = dlopen(probe_path, RTLD_NOW | RTLD_LOCAL);
	if (probe)
		*(void **)&begin = dlsym(probe, "dwp_native_attach");
	if (begin)
		begin(torch, has_probes);
	else if (!attached)
		fprintf(stderr, "dwell: PyTorch is not profiled: %s\n", dlerror());
	attached = true;
}

/* Steps may begin at a function of a library that was loaded now. */
static void attach_entry(void)
{
	void (*entry)(bool is_certain) = NULL;

	*(void **)&entry = dlsym(RTLD_DEFAULT, "dws_entry_loaded");
	if (entry)
		entry(!dwp_late_missed());
}

static void attach_loaded(void)
{
	attach_torch();
	attach_entry();
}

/* Whether the user named a function of a native library, as "libnet.so:train" or "libnet.so+0x1234". */
static bool attach_has_entry(void)
{
	const char *entry = getenv("DWELL_STEP_ENTRY");

	return entry && (strchr(entry, ':') || strstr(entry, "+0x"));
}

/* ---- the start --------------------------------------------------------------------------- */

__attribute__((constructor)) static void wait_for_interpreter(void)
{
	int (*add_hook)(audit_hook *hook, void *data) = NULL;

	*(void **)&add_hook = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
	if (!getenv("DWELL_TRACE"))
		return;
	if (!add_hook) {
		attach_torch();
		dwp_late_watch(attach_loaded);
		watching = true;
		return;
	}
	if (attach_find_probe(PROBE))
		add_hook(attach_on_audit, probe_path);
	if (attach_has_entry())
		dwp_late_watch(attach_entry);
}
