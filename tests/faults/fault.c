/*
 * Makes one call of a program's own code fail, as if there were no more memory, no space on the disk, or too many files and processes.
 *
 * Loaded by LD_PRELOAD. Calls count that dwell's code makes: in the program DWELL_FAULT_PROGRAM those of the program
 * itself, or of the library whose name contains DWELL_FAULT_LIBRARY. DWELL_FAULT=malloc:17 lets the 17th call of malloc
 * fail. DWELL_FAULT_COUNTS names a file to which each process adds "malloc 312" for each function when it ends.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Function, its result, its parameters, the arguments, what it returns when it fails, and errno. */
#define MEMORY(X) \
	X(malloc, void *, (size_t size), (size), NULL, ENOMEM) \
	X(calloc, void *, (size_t count, size_t size), (count, size), NULL, ENOMEM) \
	X(realloc, void *, (void *block, size_t size), (block, size), NULL, ENOMEM) \
	X(aligned_alloc, void *, (size_t align, size_t size), (align, size), NULL, ENOMEM)
#define FUNCTIONS(X) \
	X(strdup, char *, (const char *text), (text), NULL, ENOMEM) \
	X(realpath, char *, (const char *path, char *to), (path, to), NULL, ENOMEM) \
	X(open_memstream, FILE *, (char **text, size_t *size), (text, size), NULL, ENOMEM) \
	X(fopen64, FILE *, (const char *path, const char *mode), (path, mode), NULL, EMFILE) \
	X(fdopen, FILE *, (int fd, const char *mode), (fd, mode), NULL, ENOMEM) \
	X(mmap64, void *, (void *at, size_t size, int protection, int flags, int fd, off_t offset), \
	  (at, size, protection, flags, fd, offset), MAP_FAILED, ENOMEM) \
	X(mprotect, int, (void *at, size_t size, int protection), (at, size, protection), -1, ENOMEM) \
	X(read, ssize_t, (int fd, void *to, size_t size), (fd, to, size), -1, EIO) \
	X(pread64, ssize_t, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset), -1, EIO) \
	X(write, ssize_t, (int fd, const void *from, size_t size), (fd, from, size), -1, ENOSPC) \
	X(pwrite64, ssize_t, (int fd, const void *from, size_t size, off_t offset), (fd, from, size, offset), -1, ENOSPC) \
	X(fwrite, size_t, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file), 0, ENOSPC) \
	X(fsync, int, (int fd), (fd), -1, EIO) \
	X(rename, int, (const char *from, const char *to), (from, to), -1, EACCES) \
	X(ftruncate64, int, (int fd, off_t size), (fd, size), -1, EFBIG) \
	X(fallocate64, int, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size), -1, ENOSPC) \
	X(posix_fallocate64, int, (int fd, off_t offset, off_t size), (fd, offset, size), ENOSPC, ENOSPC) \
	X(lseek64, off_t, (int fd, off_t offset, int from), (fd, offset, from), -1, EINVAL) \
	X(fstat64, int, (int fd, void *status), (fd, status), -1, EIO) \
	X(stat64, int, (const char *path, void *status), (path, status), -1, EIO) \
	X(memfd_create, int, (const char *name, unsigned flags), (name, flags), -1, EMFILE) \
	X(opendir, void *, (const char *path), (path), NULL, EMFILE) \
	X(fork, pid_t, (void), (), -1, EAGAIN) \
	X(pthread_create, int, (pthread_t *thread, const pthread_attr_t *options, void *(*run)(void *), void *of), \
	  (thread, options, run, of), EAGAIN, EAGAIN) \
	X(pthread_mutex_init, int, (pthread_mutex_t *lock, const pthread_mutexattr_t *options), (lock, options), ENOMEM, ENOMEM)

enum function {
#define X(name, ...) IS_##name,
	MEMORY(X) FUNCTIONS(X) IS_open64,
#undef X
	COUNT
};
static const char *const names[] = {
#define X(name, ...) #name,
	MEMORY(X) FUNCTIONS(X) "open64"
#undef X
};
static unsigned long counts[COUNT], fail_at;
static int fail_in = -1;
static uintptr_t from, to; /* dwell's code */

static int is_dwells(struct dl_phdr_info *object, size_t size, void *wanted)
{
	const char *library = wanted;

	if (library ? !strstr(object->dlpi_name, library) : *object->dlpi_name != '\0')
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		uintptr_t start = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;

		if (object->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = !from || start < from ? start : from;
		to = start + object->dlpi_phdr[i].p_memsz > to ? start + object->dlpi_phdr[i].p_memsz : to;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	const char *program = getenv("DWELL_FAULT_PROGRAM"), *fault = getenv("DWELL_FAULT"), *colon = fault ? strchr(fault, ':') : NULL;

	if (!program || strcmp(program, program_invocation_short_name) != 0)
		return;
	for (int i = 0; colon && i < COUNT; i++)
		if (strncmp(fault, names[i], (size_t)(colon - fault)) == 0 && !names[i][colon - fault]) {
			fail_in = i;
			fail_at = strtoul(colon + 1, NULL, 10);
		}
	dl_iterate_phdr(is_dwells, getenv("DWELL_FAULT_LIBRARY"));
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("DWELL_FAULT_COUNTS");
	int fd = path && to ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	char line[64];

	from = to = 0;
	for (int i = 0; fd >= 0 && i < COUNT; i++)
		if (counts[i])
			(void)!write(fd, line, (size_t)snprintf(line, sizeof line, "%s %lu\n", names[i], counts[i]));
	if (fd >= 0)
		close(fd);
}

static int fails(enum function function, const void *caller)
{
	if ((uintptr_t)caller < from || (uintptr_t)caller >= to)
		return 0;
	return __atomic_add_fetch(&counts[function], 1, __ATOMIC_RELAXED) == fail_at && (int)function == fail_in;
}

/* The loader allocates before dlsym() works: memory comes from functions that glibc has under these names too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
#define __libc_aligned_alloc __libc_memalign

#define X(name, result, parameters, arguments, failure, error) \
	result name parameters \
	{ \
		if (!fails(IS_##name, __builtin_return_address(0))) \
			return __libc_##name arguments; \
		errno = error; \
		return failure; \
	}
MEMORY(X)
#undef X

/* A stream remembers that it failed. */
#define IO_ERR_SEEN 0x20
#define AT_FAILURE_fwrite file->_flags |= IO_ERR_SEEN;
#define AT_FAILURE_strdup
#define AT_FAILURE_realpath
#define AT_FAILURE_open_memstream
#define AT_FAILURE_fopen64
#define AT_FAILURE_fdopen
#define AT_FAILURE_mmap64
#define AT_FAILURE_mprotect
#define AT_FAILURE_read
#define AT_FAILURE_pread64
#define AT_FAILURE_write
#define AT_FAILURE_pwrite64
#define AT_FAILURE_fsync
#define AT_FAILURE_rename
#define AT_FAILURE_ftruncate64
#define AT_FAILURE_fallocate64
#define AT_FAILURE_posix_fallocate64
#define AT_FAILURE_lseek64
#define AT_FAILURE_fstat64
#define AT_FAILURE_stat64
#define AT_FAILURE_memfd_create
#define AT_FAILURE_opendir
#define AT_FAILURE_fork
#define AT_FAILURE_pthread_create
#define AT_FAILURE_pthread_mutex_init
#define X(name, result, parameters, arguments, failure, error) \
	result name parameters \
	{ \
		static result(*next) parameters; \
		if (!next) \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		if (fails(IS_##name, __builtin_return_address(0))) { \
			errno = error; \
			AT_FAILURE_##name \
			return failure; \
		} \
		return next arguments; \
	}
FUNCTIONS(X)
#undef X

int open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list arguments;
	int mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, int);
	va_end(arguments);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "open64");
	if (fails(IS_open64, __builtin_return_address(0))) {
		errno = EMFILE;
		return -1;
	}
	return next(path, flags, mode);
}
