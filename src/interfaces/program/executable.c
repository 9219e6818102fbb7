/* What an executable is, and what may be loaded into it; see executable.h. */
#include "program/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/code/elf_kind.h"
#include "program/installed.h"

/* ---- what is in the file ----------------------------------------------------------------------- */

/* A file that is mapped; `data` is NULL if it cannot be read. */
struct executable_file {
	const char *data, *names; /* names: the part that the dynamic linker reads names from, or all */
	size_t bytes, name_bytes;
};

/* Narrows a file to the names for the dynamic linker, if it has them: a hundredth of an interpreter. */
static void executable_narrow(const char **data, size_t *bytes)
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

static struct executable_file executable_map(const char *path)
{
	struct executable_file file = { .data = NULL };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *data = MAP_FAILED;

	if (fd < 0)
		return file;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return file;
	file.data = file.names = data;
	file.bytes = file.name_bytes = (size_t)status.st_size;
	executable_narrow(&file.names, &file.name_bytes);
	return file;
}

static void executable_unmap(struct executable_file *file)
{
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->bytes);
}

/* Whether one of these texts is there; the last is NULL. */
static bool executable_search(const char *data, size_t bytes, const char *const *texts)
{
	for (; data && *texts; texts++)
		if (memmem(data, bytes, *texts, strlen(*texts)))
			return true;
	return false;
}

static bool executable_has(const struct executable_file *file, const char *const *texts)
{
	return executable_search(file->data, file->bytes, texts);
}

/* Whether the dynamic linker loads one of these libraries with the file. */
static bool executable_links(const struct executable_file *file, const char *const *names)
{
	return executable_search(file->names, file->name_bytes, names);
}

/* What an executable says of how it is loaded. */
struct executable_loading {
	unsigned char class; /* of 32 or 64 bits; 0: it is no ELF file, as a script */
	char loader[256];    /* name of the file; "": none, it is linked statically */
};

static struct executable_loading executable_read_loading(const char *path)
{
	struct executable_loading loading = { 0, "" };
	Elf64_Ehdr head;
	Elf64_Phdr part;
	char name[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

/* ---- what may be loaded into it ---------------------------------------------------------------- */

#define STATIC_REFUSAL \
	"the program is linked statically, and no library can be loaded before it; dwell attach PID records it while it runs"

#define PACKED_REFUSAL \
	"the program is packed (UPX), and linked statically inside that; upx -d unpacks it; dwell attach PID records it while it runs"

/* Why dwell's libraries cannot be loaded into the program, or NULL if they can. `is_static` is set if the program is linked
 * statically. Loaders other than glibc's refuse dwell's libraries. */
static const char *executable_find_refusal(const char *path, const struct executable_file *file, bool *is_static)
{
	static const char *const runtimes[] = { "libasan.so", "libtsan.so", "libclang_rt.", NULL };
	struct executable_loading own = executable_read_loading("/proc/self/exe"), its = executable_read_loading(path);

	*is_static = its.class && !*its.loader;
	if (!own.class)
		return "dwell needs /proc to find its libraries, and it is not mounted: mount -t proc proc /proc";
	if (!dw_installed_has_preload_path())
		return "the path of dwell's folder has a space, a colon or a $, which LD_PRELOAD cannot have, and no link to it could be "
		       "made in /tmp or /var/tmp; move dwell to another folder";
	if (its.class && its.class != own.class)
		return "the program is for processors of 32 bits, and dwell for those of 64; build the program for 64 bits, without -m32";
	if (its.class && *its.loader && *own.loader && strcmp(its.loader, own.loader) != 0)
		return "the program is for another C library (as musl) or processor than dwell's libraries, which cannot be loaded "
		       "into it; dwell attach PID records it while it runs";
	if (executable_links(file, runtimes))
		return "the program is built with a sanitizer, whose runtime permits no library before it; build it without";
	return NULL;
}

const char *dw_executable_process_refusal(const char *path)
{
	static const char *const recorder[] = { "DWELL_TRACE", NULL };
	struct executable_file file = executable_map(path);
	bool is_static;
	const char *refusal = executable_find_refusal(path, &file, &is_static);

	if (!refusal && is_static)
		refusal = STATIC_REFUSAL;
	if (refusal && executable_has(&file, recorder))
		refusal = NULL;
	executable_unmap(&file);
	return refusal;
}

/* A program with more rights: the kernel loads none of the caller's libraries, and the recorder ignores the environment. */
static const char *executable_find_rights(const char *path)
{
	struct stat status;
	char value[64];

	if (stat(path, &status) != 0)
		return NULL;
	if (status.st_mode & S_ISUID && status.st_uid != geteuid())
		return "set-user-ID";
	if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid())
		return "set-group-ID";
	return geteuid() != 0 && getxattr(path, "security.capability", value, sizeof value) > 0 ? "given capabilities" : NULL;
}

/* ---- what it calls ----------------------------------------------------------------------------- */

static const char *executable_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool dw_executable_is_python(const char *path)
{
	return strncmp(executable_name(path), "python", 6) == 0;
}

/* Whether it starts ranks of MPI, or is Python, which may load mpi4py. */
static bool executable_starts_mpi(const char *path)
{
	static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "python" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(executable_name(path), names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static const char *const mpi_names[] = { "libmpi", NULL };
static const char *const ggml_names[] = { "libggml", "libllama", "libwhisper", NULL }; /* it, or what contains it */
static const char *const torch_names[] = { "libtorch", NULL };
static const char *const onnx_names[] = { "libonnxruntime", NULL };

/* A library is a part of the file if a text of its own code is there, and the file does not load it. */
static void executable_find_contained(struct dw_executable *executable, const struct executable_file *file)
{
	static const struct {
		struct dw_executable_contained contained;
		const char *text[2], *const *linked;
	} known[DW_EXECUTABLE_CONTAINED] = {
		{ { "ggml", "build that with ggml's shared libraries (-DBUILD_SHARED_LIBS=ON)" }, { "GGML_ASSERT(" }, ggml_names },
		{ { "PyTorch", "link that to LibTorch's shared libraries, or mark steps and operators with probe.h" },
		  { "torch/csrc/autograd/engine.cpp" }, torch_names },
		{ { "ONNX Runtime", "link that to ONNX Runtime's shared library, or mark steps with probe.h" },
		  { "onnxruntime/core/session/inference_session.cc" }, onnx_names },
	};

	for (size_t i = 0; i < DW_EXECUTABLE_CONTAINED; i++)
		if (executable_has(file, known[i].text) && !executable_links(file, known[i].linked))
			executable->contained[executable->contained_count++] = known[i].contained;
}

/* In Python, ONNX Runtime is another library without this interface. */
static void executable_find_calls(struct dw_executable *executable, const struct executable_file *file)
{
	executable->is_python = dw_executable_is_python(executable->path);
	executable->may_use_mpi = executable_starts_mpi(executable->path) || executable_has(file, mpi_names);
	executable->may_use_ggml = executable->is_python || executable_has(file, ggml_names);
	executable->may_use_onnx = !executable->is_python && executable_has(file, onnx_names);
	if (!executable->is_python)
		executable_find_contained(executable, file);
}

/* ---- the file ---------------------------------------------------------------------------------- */

static bool executable_look_up(const char *name, int mode, char path[4096])
{
	const char *at = getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin";
	size_t length;

	if (strchr(name, '/'))
		return snprintf(path, 4096, "%s", name) < 4096;
	for (;; at += length + 1) {
		length = strcspn(at, ":");
		snprintf(path, 4096, "%.*s%s%s", (int)length, at, length ? "/" : "", name); /* without a folder: of this one */
		if (access(path, mode) == 0)
			return true;
		if (!at[length])
			return false;
	}
}

bool dw_executable_search(const char *name, char path[4096])
{
	return executable_look_up(name, X_OK, path);
}

int dw_executable_why_not(const char *name, int error)
{
	char path[4096];

	struct stat status;

	if (error == EACCES && !strchr(name, '/') && !executable_look_up(name, F_OK, path))
		return ENOENT;
	return error == EACCES && stat(name, &status) == 0 && S_ISDIR(status.st_mode) ? EISDIR : error;
}

void dw_executable_find(struct dw_executable *executable, const char *name)
{
	struct executable_file file;
	struct dw_elf_kind kind;
	bool is_static;

	*executable = (struct dw_executable){ .name = name };
	if (!dw_executable_search(name, executable->path)) {
		executable->path[0] = '\0';
		return;
	}
	file = executable_map(executable->path);
	kind = dw_elf_kind(file.data, file.bytes);
	if (kind.kind != DW_ELF_NONE && kind.kind != DW_ELF_PROGRAM)
		executable->no_program = dw_elf_kind_said(&kind);
	executable->refusal = executable->own_refusal = executable_find_refusal(executable->path, &file, &is_static);
	if (is_static && !executable->refusal)
		executable->own_refusal = kind.is_packed ? PACKED_REFUSAL : STATIC_REFUSAL;
	executable->rights = executable_find_rights(executable->path);
	executable_find_calls(executable, &file);
	executable_unmap(&file);
}
