/* The file that a target opens; see file.h. */
#include "file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#define PAGE_BYTES ((size_t)4096)
#define LEAST_BYTES ((size_t)2 << 20)
#define MOST_PARTS 256u

static int file_fd = -1;
static char *file_data;
static size_t file_bytes, file_capacity;
/* What was written since the file was all zeros; beyond MOST_PARTS all of it. */
static struct { size_t offset, bytes; } file_parts[MOST_PARTS];
static unsigned file_part_count;

int __real_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __real_fstat(int fd, struct stat *status);
int __real_fstat64(int fd, struct stat64 *status);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset);
int __real_munmap(void *at, size_t bytes);
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t __real_pread64(int fd, void *to, size_t bytes, off64_t offset);
int __real_close(int fd);

/* ---- its bytes ----------------------------------------------------------------------- */

static void file_reserve(size_t bytes)
{
	size_t capacity = bytes < LEAST_BYTES ? LEAST_BYTES : (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);

	if (bytes <= file_capacity)
		return;
	free(file_data);
	file_data = aligned_alloc(PAGE_BYTES, capacity);
	if (file_fd < 0)
		file_fd = __real_open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!file_data || file_fd < 0)
		abort();
	memset(file_data, 0, capacity);
	ASAN_POISON_MEMORY_REGION(file_data, capacity);
	file_capacity = capacity;
	file_bytes = 0;
	file_part_count = 0;
}

static void file_clear(void)
{
	if (file_part_count > MOST_PARTS) {
		memset(file_data, 0, file_bytes);
	} else {
		for (unsigned i = 0; i < file_part_count; i++)
			memset(file_data + file_parts[i].offset, 0, file_parts[i].bytes);
	}
	file_part_count = 0;
}

/* All that lies behind the file's end stays poisoned: only what the file before had needs to be poisoned again. */
void file_begin(size_t bytes)
{
	file_reserve(bytes);
	file_clear();
	ASAN_UNPOISON_MEMORY_REGION(file_data, bytes);
	if (file_bytes > bytes)
		ASAN_POISON_MEMORY_REGION(file_data + bytes, file_bytes - bytes);
	file_bytes = bytes;
}

void file_write(size_t offset, const void *data, size_t bytes)
{
	if (!bytes)
		return;
	memcpy(file_data + offset, data, bytes);
	if (file_part_count < MOST_PARTS) {
		file_parts[file_part_count].offset = offset;
		file_parts[file_part_count].bytes = bytes;
	}
	if (file_part_count <= MOST_PARTS)
		file_part_count++;
}

/* ---- calls --------------------------------------------------------------------------- */

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat64(int fd, struct stat64 *status);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset);
int __wrap_munmap(void *at, size_t bytes);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off64_t offset);
int __wrap_close(int fd);

#define FILE_OPEN(real)                           \
	va_list arguments;                            \
	mode_t mode;                                  \
                                                  \
	if (file_data && strcmp(path, FILE_PATH) == 0) \
		return file_fd;                           \
	va_start(arguments, flags);                   \
	mode = va_arg(arguments, mode_t);             \
	va_end(arguments);                            \
	return real(path, flags, mode)

int __wrap_open(const char *path, int flags, ...)
{
	FILE_OPEN(__real_open);
}

int __wrap_open64(const char *path, int flags, ...)
{
	FILE_OPEN(__real_open64);
}

#define FILE_STATUS(real)                       \
	if (fd != file_fd || fd < 0)                \
		return real(fd, status);                \
	memset(status, 0, sizeof *status);          \
	status->st_mode = S_IFREG | 0644;           \
	status->st_nlink = 1;                       \
	status->st_size = (off_t)file_bytes;        \
	return 0

int __wrap_fstat(int fd, struct stat *status)
{
	FILE_STATUS(__real_fstat);
}

int __wrap_fstat64(int fd, struct stat64 *status)
{
	FILE_STATUS(__real_fstat64);
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && fd == file_fd)
		return bytes == file_bytes && !offset ? file_data : MAP_FAILED;
	return __real_mmap(at, bytes, protection, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	if (fd >= 0 && fd == file_fd)
		return bytes == file_bytes && !offset ? file_data : MAP_FAILED;
	return __real_mmap64(at, bytes, protection, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t bytes)
{
	return at == file_data ? 0 : __real_munmap(at, bytes);
}

#define FILE_READ(real)                                               \
	if (fd != file_fd || fd < 0)                                      \
		return real(fd, to, bytes, offset);                           \
	if (offset < 0 || (size_t)offset >= file_bytes)                   \
		return 0;                                                     \
	if (bytes > file_bytes - (size_t)offset)                          \
		bytes = file_bytes - (size_t)offset;                          \
	memcpy(to, file_data + offset, bytes);                            \
	return (ssize_t)bytes

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset)
{
	FILE_READ(__real_pread);
}

ssize_t __wrap_pread64(int fd, void *to, size_t bytes, off64_t offset)
{
	FILE_READ(__real_pread64);
}

int __wrap_close(int fd)
{
	return fd >= 0 && fd == file_fd ? 0 : __real_close(fd);
}
