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
	X(madvise, int, (void *at, size_t size, int advice), (at, size, advice), -1, EAGAIN) \
	X(mprotect, int, (void *at, size_t size, int protection), (at, size, protection), -1, ENOMEM) \
	X(read, ssize_t, (int fd, void *to, size_t size), (fd, to, size), -1, EIO) \
	X(pread64, ssize_t, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset), -1, EIO) \
	X(write, ssize_t, (int fd, const void *from, size_t size), (fd, from, size), -1, ENOSPC) \
	X(pwrite64, ssize_t, (int fd, const void *from, size_t size, off_t offset), (fd, from, size, offset), -1, ENOSPC) \
	X(pwritev64, ssize_t, (int fd, const void *parts, int count, off_t offset), (fd, parts, count, offset), -1, ENOSPC) \
	X(fsync, int, (int fd), (fd), -1, EIO) \
	X(rename, int, (const char *from, const char *to), (from, to), -1, EACCES) \
	X(ftruncate64, int, (int fd, off_t size), (fd, size), -1, EFBIG) \
	X(fallocate64, int, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size), -1, ENOSPC) \
	X(posix_fallocate64, int, (int fd, off_t offset, off_t size), (fd, offset, size), ENOSPC, ENOSPC) \
	X(lseek64, off_t, (int fd, off_t offset, int from), (fd, offset, from), -1, EINVAL) \
	X(fstat64, int, (int fd, void *status), (fd, status), -1, EIO) \
	X(stat64, int, (const char *path, void *status), (path, status), -1, EIO) \
	X(fstatvfs64, int, (int fd, void *status), (fd, status), -1, EIO) \
	X(pipe2, int, (int ends[2], int flags), (ends, flags), -1, EMFILE) \
	X(socketpair, int, (int family, int type, int protocol, int ends[2]), (family, type, protocol, ends), -1, EMFILE) \
	X(memfd_create, int, (const char *name, unsigned flags), (name, flags), -1, EMFILE) \
	X(opendir, void *, (const char *path), (path), NULL, EMFILE) \
	X(fork, pid_t, (void), (), -1, EAGAIN) \
	X(pthread_create, int, (pthread_t *thread, const pthread_attr_t *options, void *(*run)(void *), void *of), \
	  (thread, options, run, of), EAGAIN, EAGAIN) \
	X(pthread_mutex_init, int, (pthread_mutex_t *lock, const pthread_mutexattr_t *options), (lock, options), ENOMEM, ENOMEM) \
	X(pthread_key_create, int, (pthread_key_t *key, void (*end)(void *)), (key, end), EAGAIN, EAGAIN) \
	X(pthread_setspecific, int, (pthread_key_t key, const void *value), (key, value), ENOMEM, ENOMEM) \
	X(pthread_getattr_np, int, (pthread_t thread, pthread_attr_t *options), (thread, options), ENOMEM, ENOMEM)
/* Those with a variable number of arguments, or more to do, are written below. */
#define OTHERS(X) X(open64) X(openat64) X(mremap) X(asprintf) X(fwrite)

enum function {
#define X(name, ...) IS_##name,
	MEMORY(X) FUNCTIONS(X) OTHERS(X)
#undef X
	COUNT
};
static const char *const names[] = {
#define X(name, ...) #name,
	MEMORY(X) FUNCTIONS(X) OTHERS(X)
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

/* At the first call: constructors of other libraries run before one that is here. */
static void begin(void)
{
	static int begun;
	const char *program = getenv("DWELL_FAULT_PROGRAM"), *fault = getenv("DWELL_FAULT"), *colon = fault ? strchr(fault, ':') : NULL;

	if (begun || !*program_invocation_short_name) /* libc is not ready */
		return;
	begun = 1;
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
	begin();
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

#define X(name, result, parameters, arguments, failure, error) \
	result name parameters \
	{ \
		static result(*next) parameters; \
		if (!next) \
			*(void **)&next = dlsym(RTLD_NEXT, #name); \
		if (fails(IS_##name, __builtin_return_address(0))) { \
			errno = error; \
			return failure; \
		} \
		return next arguments; \
	}
FUNCTIONS(X)
#undef X

#define NEXT(name) (next ? next : (*(void **)&next = dlsym(RTLD_NEXT, #name), next))

static int mode_of(va_list arguments)
{
	int mode = va_arg(arguments, int);

	va_end(arguments);
	return mode;
}

int open64(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list arguments;

	va_start(arguments, flags);
	if (!fails(IS_open64, __builtin_return_address(0)))
		return NEXT(open64)(path, flags, mode_of(arguments));
	errno = EMFILE;
	return -1;
}

int openat64(int folder, const char *path, int flags, ...)
{
	static int (*next)(int, const char *, int, ...);
	va_list arguments;

	va_start(arguments, flags);
	if (!fails(IS_openat64, __builtin_return_address(0)))
		return NEXT(openat64)(folder, path, flags, mode_of(arguments));
	errno = EMFILE;
	return -1;
}

void *mremap(void *at, size_t size, size_t wanted, int flags, ...)
{
	static void *(*next)(void *, size_t, size_t, int, ...);

	if (!fails(IS_mremap, __builtin_return_address(0)))
		return NEXT(mremap)(at, size, wanted, flags);
	errno = ENOMEM;
	return MAP_FAILED;
}

int asprintf(char **text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!fails(IS_asprintf, __builtin_return_address(0)))
		return vasprintf(text, format, arguments);
	errno = ENOMEM;
	return -1;
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
	static size_t (*next)(const void *, size_t, size_t, FILE *);

	if (!fails(IS_fwrite, __builtin_return_address(0)))
		return NEXT(fwrite)(data, size, count, file);
	file->_flags |= 0x20; /* a stream remembers that it failed */
	errno = ENOSPC;
	return 0;
}
