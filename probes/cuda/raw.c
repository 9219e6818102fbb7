/*
 * CUPTI's buffers as they came, for tests of later versions: DWELL_TEST_CUPTI_RAW names the file.
 *
 * A buffer is u64 0x5550544355504954, u32 version of CUPTI, u32 0, u64 bytes, the bytes, and then the texts that
 * its records point to: u64 address, u64 length, the text; an address of 0 ends them. For development only.
 */
#include "cuda.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RAW_MAGIC 0x5550544355504954u

static int raw_fd = -2; /* -2: not looked yet, -1: not asked for */

static bool raw_write(const void *data, size_t bytes)
{
	const char *at = data;

	while (bytes) {
		ssize_t done = write(raw_fd, at, bytes);

		if (done <= 0)
			return false;
		at += done;
		bytes -= (size_t)done;
	}
	return true;
}

static const char *raw_text(const void *record)
{
	switch (*(const uint32_t *)record) {
	case KIND_KERNEL:
	case KIND_SERIAL_KERNEL: return ((const struct cupti_kernel *)record)->name;
	case KIND_DEVICE: return ((const struct cupti_device *)record)->name;
	default: return NULL;
	}
}

static bool raw_write_texts(uint8_t *buffer, size_t valid)
{
	uint64_t head[2] = { 0, 0 };
	const void *record = NULL;
	const char *last = NULL;

	while ((record = dwc_cupti_next(buffer, valid, record))) {
		const char *text = raw_text(record);

		if (!text || text == last)
			continue;
		last = text;
		head[0] = (uint64_t)(uintptr_t)text;
		head[1] = strlen(text);
		if (!raw_write(head, sizeof head) || !raw_write(text, head[1]))
			return false;
	}
	head[0] = head[1] = 0;
	return raw_write(head, sizeof head);
}

void dwc_raw_keep(uint8_t *buffer, size_t valid)
{
	struct { uint64_t magic; uint32_t version, zero; uint64_t bytes; } head = { RAW_MAGIC, dwc_cupti.version, 0, valid };
	const char *path;

	if (raw_fd == -2) {
		path = getenv("DWELL_TEST_CUPTI_RAW");
		raw_fd = path && *path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	}
	if (raw_fd >= 0 && !(raw_write(&head, sizeof head) && raw_write(buffer, valid) && raw_write_texts(buffer, valid))) {
		close(raw_fd);
		raw_fd = -1;
	}
}
