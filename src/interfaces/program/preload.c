/*
 * The libraries that `dwell run` loads into the program with LD_PRELOAD: the loader of the Python
 * probes, the sampler of call stacks, for C functions the probe that code compiled with -finstrument-functions
 * calls, and for MPI, ggml and ONNX Runtime the probes whose functions have the names of theirs.
 *
 * Called in the child process before it executes the program. LD_PRELOAD applies to every process
 * that the program starts. The first library does nothing in processes without a Python
 * interpreter, the second does nothing in those without instrumented code. The libraries are found
 * relative to the command, in the build folder or where dwell is installed.
 */
#include "program/preload.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/preload_link.h"

#define LIBRARY "libdwell-attach.so"
#define FUNCTIONS "libdwell-functions.so.0"
#define MPI "libdwell-mpi.so"
#define SAMPLER "libdwell-sampler.so"
#define HEAP "libdwell-malloc.so" /* contains the sampler */
#define GGML "libdwell-ggml.so"
#define ONNX "libdwell-onnx.so"

static const char *const attach_places[] = { "probes/" LIBRARY,
                                             DW_PROBES_FROM_COMMAND "/" LIBRARY };
static const char *const function_places[] = { "probes/functions/" FUNCTIONS,
	                                           DW_PROBES_FROM_COMMAND "/../" FUNCTIONS };

static const char *const mpi_places[] = { "probes/mpi/" MPI, DW_PROBES_FROM_COMMAND "/" MPI };
static const char *const sampler_places[] = { "probes/sampler/" SAMPLER, DW_PROBES_FROM_COMMAND "/" SAMPLER };
static const char *const heap_places[] = { "probes/malloc/" HEAP, DW_PROBES_FROM_COMMAND "/" HEAP };
static const char *const ggml_places[] = { "probes/ggml/" GGML, DW_PROBES_FROM_COMMAND "/" GGML };
static const char *const onnx_places[] = { "probes/onnx/" ONNX, DW_PROBES_FROM_COMMAND "/" ONNX };

/* The folder of this command, as it is or, for LD_PRELOAD, by a path without separators. Returns false if there is none. */
static bool preload_find_folder(bool for_preload, char folder[2048])
{
	ssize_t length = readlink("/proc/self/exe", folder, 2047);
	const char *link;
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	if (!for_preload || !dw_preload_is_split(folder))
		return true;
	link = dw_preload_link(folder);
	if (link)
		snprintf(folder, 2048, "%s", link);
	return link != NULL;
}

static bool preload_find_file(bool for_preload, const char *const places[2], char path[4096])
{
	char folder[2048];

	if (!preload_find_folder(for_preload, folder))
		return false;
	for (int i = 0; i < 2; i++) {
		snprintf(path, 4096, "%s/%s", folder, places[i]);
		if (access(path, R_OK) == 0 && !(for_preload && dw_preload_is_split(path)))
			return true;
	}
	return false;
}

bool dw_find_installed(const char *const places[2], char path[4096])
{
	return preload_find_file(false, places, path);
}

/* Narrows a file to the names for the dynamic linker, if it has them: a hundredth of an interpreter. */
static void preload_narrow(const char **data, size_t *bytes)
{
	Elf64_Ehdr head;
	Elf64_Shdr section;

	if (*bytes < sizeof head)
		return;
	memcpy(&head, *data, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof section || head.e_shoff > *bytes)
		return;
	for (size_t i = 0; i < head.e_shnum && i < (*bytes - head.e_shoff) / sizeof section; i++) {
		memcpy(&section, *data + head.e_shoff + i * sizeof section, sizeof section);
		if (section.sh_type != SHT_STRTAB || !(section.sh_flags & SHF_ALLOC) || section.sh_offset > *bytes ||
		    section.sh_size > *bytes - section.sh_offset)
			continue;
		*data += section.sh_offset;
		*bytes = section.sh_size;
		return;
	}
}

/* Whether the file, or the names for its dynamic linker, contain one of these texts. */
static bool preload_contains(const char *path, bool linked, const char *const *texts, size_t count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool found = false;
	const char *names;
	size_t bytes;
	char *data;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		names = data;
		bytes = (size_t)status.st_size;
		if (data != MAP_FAILED && linked)
			preload_narrow(&names, &bytes);
		for (size_t i = 0; data != MAP_FAILED && i < count; i++)
			found |= memmem(names, bytes, texts[i], strlen(texts[i])) != NULL;
		if (data != MAP_FAILED)
			munmap(data, (size_t)status.st_size);
	}
	close(fd);
	return found;
}

/* What an executable says of how it is loaded. */
struct loading {
	unsigned char class; /* of 32 or 64 bits; 0: it is no ELF file, as a script */
	char loader[256];    /* name of the file; "": none, it is linked statically */
};

static struct loading preload_read_loading(const char *path)
{
	struct loading loading = { 0, "" };
	Elf64_Ehdr head;
	Elf64_Phdr part;
	char name[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;

	loading.class = is ? head.e_ident[EI_CLASS] : 0;
	for (unsigned i = 0; is && loading.class == ELFCLASS64 && head.e_phentsize == sizeof part && i < head.e_phnum; i++)
		if (pread(fd, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) == (ssize_t)sizeof part &&
		    part.p_type == PT_INTERP && part.p_filesz > 1 && part.p_filesz <= sizeof name &&
		    pread(fd, name, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz) {
			name[part.p_filesz - 1] = '\0';
			snprintf(loading.loader, sizeof loading.loader, "%s", strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
		}
	if (fd >= 0)
		close(fd);
	return loading;
}

/* The libraries of this build have the same sanitizer as this file. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_SANITIZED 1
#elif !defined(OWN_SANITIZED)
#define OWN_SANITIZED 0
#endif

#define STATIC_REFUSAL "the program is linked statically, and no library can be loaded before it; dwell attach PID records it while it runs"

/* Why dwell's libraries cannot be loaded into the program, or NULL if they can. `is_static` is set if the program is linked
 * statically. Loaders other than glibc's refuse dwell's libraries. */
static const char *preload_find_refusal(const char *path, bool *is_static)
{
	static const char *const runtimes[] = { "libasan.so", "libtsan.so", "libclang_rt." };
	struct loading own = preload_read_loading("/proc/self/exe"), its = preload_read_loading(path);
	char folder[2048];

	*is_static = its.class && !*its.loader;
	if (!own.class)
		return "dwell needs /proc to find its libraries, and it is not mounted: mount -t proc proc /proc";
	if (!preload_find_folder(true, folder))
		return "the path of dwell's folder has a space, a colon or a $, which LD_PRELOAD cannot have, and no link to it could be "
		       "made in /tmp or /var/tmp; move dwell to another folder";
	if (its.class && (its.class != own.class || (*its.loader && *own.loader && strcmp(its.loader, own.loader) != 0)))
		return "the program is for another C library (as musl) or processor than dwell's libraries, which cannot be loaded "
		       "into it; dwell attach PID records it while it runs";
	if (preload_contains(path, true, runtimes, sizeof runtimes / sizeof *runtimes))
		return "the program is built with a sanitizer, whose runtime permits no library before it; build it without";
	return NULL;
}

/* It is asked about for each library: the last answer is kept. */
static const char *preload_refusal(const char *path, bool *is_static)
{
	static bool answer_static;
	static const char *answer;
	static char asked[4096];

	if (strcmp(asked, path) != 0) {
		answer = preload_find_refusal(path, &answer_static);
		snprintf(asked, sizeof asked, "%s", path);
	}
	if (is_static)
		*is_static = answer_static;
	return answer;
}

/* Whether the program, or what it starts, may use MPI: it is linked to MPI, or starts ranks, or is Python,
 * which may load mpi4py. Others may look for MPI's functions to learn whether they are there. */
static bool preload_may_use_mpi(const char *path)
{
	static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "python" };
	static const char *const libraries[] = { "libmpi" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return preload_contains(path, false, libraries, 1);
}

static bool preload_is_python(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "python", 6) == 0;
}

/* Whether the program may use ggml: it is linked to it or to what contains it, or is Python. */
static bool preload_may_use_ggml(const char *path)
{
	static const char *const libraries[] = { "libggml", "libllama", "libwhisper" };

	return preload_is_python(path) ||
	       preload_contains(path, false, libraries, sizeof libraries / sizeof *libraries);
}

/* Whether the program may use ONNX Runtime. In Python that is another library without this interface. */
static bool preload_may_use_onnx(const char *path)
{
	static const char *const libraries[] = { "libonnxruntime" };

	return !preload_is_python(path) && preload_contains(path, false, libraries, 1);
}

/* Finds the file that execvp() will run. Returns false if there is none. */
static bool preload_find_program(const char *program, char path[4096])
{
	const char *folders = getenv("PATH");

	if (strchr(program, '/'))
		return snprintf(path, 4096, "%s", program) < 4096;
	for (; folders && *folders; folders += strcspn(folders, ":")) {
		folders += *folders == ':';
		snprintf(path, 4096, "%.*s/%s", (int)strcspn(folders, ":"), folders, program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

const char *dw_preload_contained(const char *program, unsigned n, const char **remedy)
{
	/* A text of the library's own code, and the names of the shared libraries. */
	static const struct {
		const char *name, *text, *linked[3], *remedy;
	} known[] = {
		{ "ggml", "GGML_ASSERT(", { "libggml", "libllama", "libwhisper" },
		  "build that with ggml's shared libraries (-DBUILD_SHARED_LIBS=ON)" },
		{ "PyTorch", "torch/csrc/autograd/engine.cpp", { "libtorch", "libtorch", "libtorch" },
		  "link that to LibTorch's shared libraries, or mark steps and operators with probe.h" },
		{ "ONNX Runtime", "onnxruntime/core/session/inference_session.cc", { "libonnxruntime", "libonnxruntime", "libonnxruntime" },
		  "link that to ONNX Runtime's shared library, or mark steps with probe.h" },
	};
	char path[4096];

	if (!preload_find_program(program, path) || preload_is_python(path))
		return NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (preload_contains(path, false, &known[i].text, 1) && !preload_contains(path, true, known[i].linked, 3) && n-- == 0) {
			*remedy = known[i].remedy;
			return known[i].name;
		}
	return NULL;
}

/*
 * A program of musl that a shell starts inherits the variable, and musl's loader ends it because of a library of glibc.
 * musl opens the path as it stands, and ignores a path where there is no file. glibc puts the folder of the program's
 * file in the place of $ORIGIN, and from there the path goes to the root: as in a shell that puts nothing there.
 */
static void preload_put_first(const char *library)
{
#define UP8 "/../../../../../../../.."
	static const char root[] = "$ORIGIN" UP8 UP8 UP8 UP8 UP8;
	const char *before = getenv("LD_PRELOAD");
	char *value;

	if (asprintf(&value, "%s%s%s%s", root, library, before && *before ? ":" : "", before ? before : "") < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void preload_library(const char *const places[2])
{
	char library[4096];

	if (!OWN_SANITIZED && preload_find_file(true, places, library))
		preload_put_first(library);
}

bool dw_preload_path(char path[4096])
{
	return !OWN_SANITIZED && preload_find_file(true, attach_places, path);
}

void dw_preload(const char *program, const struct dw_preload *wanted)
{
	char path[4096];
	bool found = preload_find_program(program, path);

	if (found && preload_refusal(path, NULL))
		return;
	if (wanted->mpi && found && preload_may_use_mpi(path))
		preload_library(mpi_places);
	if (wanted->ggml && found && preload_may_use_ggml(path))
		preload_library(ggml_places);
	if (wanted->onnx && found && preload_may_use_onnx(path))
		preload_library(onnx_places);
	if (wanted->functions)
		preload_library(function_places);
	if (wanted->heap || wanted->sampler)
		preload_library(wanted->heap ? heap_places : sampler_places);
	preload_library(attach_places);
}

const char *dw_preload_refusal(const char *program)
{
	char path[4096];

	return preload_find_program(program, path) ? preload_refusal(path, NULL) : NULL;
}

const char *dw_preload_library_refusal(const char *program)
{
	const char *refusal;
	bool is_static;
	char path[4096];

	if (!preload_find_program(program, path))
		return NULL;
	refusal = preload_refusal(path, &is_static);
	return refusal || !is_static ? refusal : STATIC_REFUSAL;
}

const char *dw_preload_process_refusal(const char *path)
{
	static const char *const recorder = "DWELL_TRACE";
	bool is_static;
	const char *refusal = preload_find_refusal(path, &is_static);

	if (!refusal && is_static)
		refusal = STATIC_REFUSAL;
	return refusal && !preload_contains(path, false, &recorder, 1) ? refusal : NULL;
}

const char *dw_preload_mpi_refusal(bool mpi)
{
	char path[4096];

	if (!mpi)
		return "dwell run was started with --no-mpi";
	return dw_find_installed(mpi_places, path) ? NULL : "libdwell-mpi.so is not installed with this dwell";
}

bool dw_find_program(const char *program, char path[4096])
{
	return preload_find_program(program, path);
}

bool dw_find_library(const char *const places[2], const char *program, char path[4096])
{
	char command[4096];

	return !OWN_SANITIZED && !(preload_find_program(program, command) && preload_refusal(command, NULL)) &&
	       dw_find_installed(places, path);
}
