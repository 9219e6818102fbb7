/*
 * The file that a target opens: memory with a path of its own.
 *
 * Calls of open(), fstat(), pread(), mmap(), munmap() and close() end here (the linker's --wrap; see
 * meson.build and tools/measure/fuzz), so that an execution makes no file, maps none and touches only
 * the pages that its input fills. All other files are the system's. Under AddressSanitizer a
 * read behind the end of the file is found to the byte.
 */
#pragma once

#include <stddef.h>

#define FILE_PATH "/fuzz-input"

/* Empties the file and gives it so many bytes, all zero; `bytes` is at least 1. */
void file_begin(size_t bytes);
/* Overwrites a part of it. */
void file_write(size_t offset, const void *data, size_t bytes);
