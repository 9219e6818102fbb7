/*
 * data.c - reads and checks IDX files, and finds the digits that are shipped with the program from
 * any folder. A message about a bad file contains the file's name, the position of the error, and a
 * remedy.
 *
 *   images:  00 00 08 03 | count | height | width | count*height*width bytes
 *   labels:  00 00 08 01 | count | count bytes          (numbers: big-endian)
 */
#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGIT_CLASSES = 10, SIDE_MIN = 8, SIDE_MAX = 256, IMAGES_MAX = 10000000 };

static const float mnist_mean = 0.1307f, mnist_deviation = 0.3081f;

static void data_die_absent(const char *path, int error)
{
	char packed[4200];

	snprintf(packed, sizeof packed, "%s.gz", path);
	if (error == ENOENT && access(packed, R_OK) == 0)
		die("%s: not found, but %s.gz is: unpack it with gunzip -k", path, path);
	if (error == ENOENT)
		die("%s: not found; --data takes a folder with MNIST's four unpacked IDX files", path);
	die("%s: %s", path, strerror(error));
}

static uint32_t data_read_number(FILE *file, const char *path, long offset)
{
	uint8_t bytes[4];

	if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes)
		die("%s: ends inside the header, at offset %ld: truncated; fetch the file again", path,
			offset);
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static FILE *data_open_idx(const char *path, uint32_t magic)
{
	FILE *file = fopen(path, "rb");
	uint32_t found;

	if (!file)
		data_die_absent(path, errno);
	found = data_read_number(file, path, 0);
	if (found >> 16 == 0x1f8b)
		die("%s: compressed with gzip (offset 0): unpack it with gunzip", path);
	if (found != magic)
		die("%s: magic number 0x%08x at offset 0, not 0x%08x: not an IDX file of %s", path, found,
			magic, magic == 0x803 ? "images" : "labels");
	return file;
}

static uint8_t *data_read_body(FILE *file, const char *path, size_t size_bytes, long offset)
{
	uint8_t *body = tensor_memory_alloc(size_bytes, TENSOR_INPUT);
	size_t got = fread(body, 1, size_bytes, file);

	if (got != size_bytes)
		die("%s: ends at offset %zu where the header promises %zu bytes: truncated; fetch the "
			"file again",
			path, (size_t)offset + got, (size_t)offset + size_bytes);
	if (fgetc(file) != EOF)
		die("%s: goes on after offset %zu, where the header says it ends", path,
			(size_t)offset + size_bytes);
	fclose(file);
	return body;
}

static int data_read_count(FILE *file, const char *path)
{
	uint32_t count = data_read_number(file, path, 4);

	if (count == 0 || count > IMAGES_MAX)
		die("%s: %u items by the header (offset 4); this program takes 1 to %d", path, count,
			(int)IMAGES_MAX);
	return (int)count;
}

static int data_read_side(FILE *file, const char *path, long offset)
{
	uint32_t side = data_read_number(file, path, offset);

	if (side < SIDE_MIN || side > SIDE_MAX)
		die("%s: images of %u pixels by the header (offset %ld); this program takes %d to %d", path,
			side, offset, (int)SIDE_MIN, (int)SIDE_MAX);
	return (int)side;
}

static void data_read_images(struct digits *digits, const char *path)
{
	FILE *file = data_open_idx(path, 0x803);

	digits->count = data_read_count(file, path);
	digits->height = data_read_side(file, path, 8);
	digits->width = data_read_side(file, path, 12);
	digits->pixels =
		data_read_body(file, path, (size_t)digits->count * (size_t)(digits->height * digits->width), 16);
}

static void data_read_labels(struct digits *digits, const char *path)
{
	FILE *file = data_open_idx(path, 0x801);
	int count = data_read_count(file, path);

	if (count != digits->count)
		die("%s: %d labels (offset 4) for %d images: the files do not belong together", path, count,
			digits->count);
	digits->labels = data_read_body(file, path, (size_t)count, 8);
	for (int i = 0; i < count; i++)
		if (digits->labels[i] >= DIGIT_CLASSES)
			die("%s: label %d at offset %d; digits are 0 to 9", path, digits->labels[i], 8 + i);
}

static void data_read_digits(struct digits *digits, const char *folder, const char *prefix)
{
	char path[4160];

	snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", folder, prefix);
	data_read_images(digits, path);
	snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", folder, prefix);
	data_read_labels(digits, path);
}

static bool data_holds_digits(const char *folder)
{
	char path[4160];

	snprintf(path, sizeof path, "%s/train-images-idx3-ubyte", folder);
	return access(path, R_OK) == 0;
}

/* Looks next to the executable, then in the source folder, then in the installed folder. */
static void data_find_shipped_digits(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - sizeof "/data");
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash) {
		memcpy(slash, "/data", sizeof "/data");
		if (data_holds_digits(folder))
			return;
	}
#ifdef RESNET18_SOURCE_DATA
	snprintf(folder, size, "%s", RESNET18_SOURCE_DATA);
	if (data_holds_digits(folder))
		return;
#endif
#ifdef DWELL_DATADIR
	snprintf(folder, size, "%s/resnet18", DWELL_DATADIR);
	if (data_holds_digits(folder))
		return;
#endif
	die("the digits that come with this program are not beside it, in its source or installed; "
		"--data DIR names a folder with MNIST's four IDX files");
}

void data_load(struct data_set *data, const char *folder)
{
	memset(data, 0, sizeof *data);
	if (folder)
		snprintf(data->folder, sizeof data->folder, "%s", folder);
	else
		data_find_shipped_digits(data->folder, sizeof data->folder);
	data_read_digits(&data->train, data->folder, "train");
	data_read_digits(&data->held_out, data->folder, "t10k");
	if (data->train.height != data->held_out.height || data->train.width != data->held_out.width)
		die("%s: training images are %dx%d, held-out images %dx%d; they must be of one size",
			data->folder, data->train.height, data->train.width, data->held_out.height,
			data->held_out.width);
}

static void data_free_digits(struct digits *digits)
{
	tensor_memory_free(digits->pixels,
					   (size_t)digits->count * (size_t)(digits->height * digits->width));
	tensor_memory_free(digits->labels, (size_t)digits->count);
}

void data_reset(struct data_set *data)
{
	data_free_digits(&data->train);
	data_free_digits(&data->held_out);
}

void data_normalize(const struct digits *digits, int index, float *out)
{
	int area = digits->height * digits->width;
	const uint8_t *pixels = digits->pixels + (size_t)index * (size_t)area;

	for (int i = 0; i < area; i++)
		out[i] = ((float)pixels[i] / 255.0f - mnist_mean) / mnist_deviation;
}
