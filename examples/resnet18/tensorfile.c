/*
 * tensorfile.c - writes and reads named tensors. Called by main.c and step.c for --save-weights,
 * --load-weights and --dump. tests/probes/resnet18_torch_test.py writes the same format in Python.
 * Little-endian, row-major float32:
 *
 *   "RN18TENS"
 *   repeated until the end of the file:
 *     u32 length of the name | name | u32 dimensions | u64 each | values
 */
#include "tensorfile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char magic[8] = { 'R', 'N', '1', '8', 'T', 'E', 'N', 'S' };

static void tensorfile_put_bytes(FILE *file, const char *path, const void *bytes, size_t size_bytes)
{
	if (fwrite(bytes, 1, size_bytes, file) != size_bytes)
		die("%s: cannot write: %s", path, strerror(errno));
}

FILE *tensorfile_create(const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		die("%s: cannot write: %s", path, strerror(errno));
	tensorfile_put_bytes(file, path, magic, sizeof magic);
	return file;
}

void tensorfile_close(FILE *file, const char *path)
{
	if (fclose(file) != 0)
		die("%s: cannot write: %s", path, strerror(errno));
}

static void tensorfile_put_header(FILE *file, const char *path, const char *name, uint32_t dim_count,
					              const int64_t *dims)
{
	uint32_t length = (uint32_t)strlen(name);

	tensorfile_put_bytes(file, path, &length, sizeof length);
	tensorfile_put_bytes(file, path, name, length);
	tensorfile_put_bytes(file, path, &dim_count, sizeof dim_count);
	tensorfile_put_bytes(file, path, dims, dim_count * sizeof *dims);
}

void tensorfile_put(FILE *file, const char *path, const char *prefix, const struct dnn *dnn,
					const struct tensor *tensor)
{
	size_t size_bytes = tensor_element_count(tensor) * sizeof(float);
	float *values = tensor_memory_alloc(size_bytes, TENSOR_TEMPORARY);
	char name[2 * TENSOR_NAME_MAX];

	snprintf(name, sizeof name, "%s%s", prefix, tensor->name);
	tensor_to_plain(dnn, tensor, values);
	tensorfile_put_header(file, path, name, (uint32_t)tensor->layout.ndims, tensor->layout.dims);
	tensorfile_put_bytes(file, path, values, size_bytes);
	tensor_memory_free(values, size_bytes);
}

void tensorfile_put_values(FILE *file, const char *path, const char *name, const float *values,
						   int count)
{
	tensorfile_put_header(file, path, name, 1, (int64_t[]){ count });
	tensorfile_put_bytes(file, path, values, (size_t)count * sizeof *values);
}

void tensorfile_save_params(const char *path, const struct params *params)
{
	FILE *file = tensorfile_create(path);

	for (int i = 0; i < params->count; i++)
		tensorfile_put(file, path, "", params->dnn, &params->items[i].value);
	tensorfile_close(file, path);
}

static void tensorfile_get_bytes(FILE *file, const char *path, void *bytes, size_t size_bytes)
{
	size_t got = fread(bytes, 1, size_bytes, file);

	if (got != size_bytes)
		die("%s: ends at offset %ld inside a tensor: truncated; save it again", path, ftell(file));
}

/* Returns false at the end of the file. */
static bool tensorfile_get_name(FILE *file, const char *path, char name[TENSOR_NAME_MAX])
{
	uint32_t length;
	int first = fgetc(file);

	if (first == EOF)
		return false;
	ungetc(first, file);
	tensorfile_get_bytes(file, path, &length, sizeof length);
	if (length == 0 || length >= TENSOR_NAME_MAX)
		die("%s: a name of %u bytes before offset %ld: damaged; save it again", path, length,
			ftell(file));
	tensorfile_get_bytes(file, path, name, length);
	name[length] = '\0';
	return true;
}

static void tensorfile_check_shape(FILE *file, const char *path, const struct tensor *tensor)
{
	uint64_t dims[DNNL_MAX_NDIMS];
	uint32_t dim_count;
	bool same;

	tensorfile_get_bytes(file, path, &dim_count, sizeof dim_count);
	same = dim_count == (uint32_t)tensor->layout.ndims;
	if (same)
		tensorfile_get_bytes(file, path, dims, dim_count * sizeof *dims);
	for (uint32_t i = 0; same && i < dim_count; i++)
		same = dims[i] == (uint64_t)tensor->layout.dims[i];
	if (!same)
		die("%s: %s has another shape before offset %ld: weights of another network", path,
			tensor->name, ftell(file));
}

static void tensorfile_load_param(FILE *file, const char *path, struct params *params, const char *name)
{
	struct param *param = params_find(params, name);
	size_t size_bytes;
	float *values;

	if (!param)
		die("%s: unknown parameter %s before offset %ld: weights of another network", path, name,
			ftell(file));
	tensorfile_check_shape(file, path, &param->value);
	size_bytes = tensor_element_count(&param->value) * sizeof(float);
	values = tensor_memory_alloc(size_bytes, TENSOR_TEMPORARY);
	tensorfile_get_bytes(file, path, values, size_bytes);
	tensor_from_plain(params->dnn, &param->value, values);
	tensor_memory_free(values, size_bytes);
}

void tensorfile_load_params(const char *path, struct params *params)
{
	char name[TENSOR_NAME_MAX], found[sizeof magic];
	bool loaded[PARAMS_MAX] = { false };
	FILE *file = fopen(path, "rb");

	if (!file)
		die("%s: cannot read: %s", path, strerror(errno));
	if (fread(found, 1, sizeof found, file) != sizeof found || memcmp(found, magic, sizeof magic))
		die("%s: does not begin with RN18TENS (offset 0): not written by --save-weights", path);
	while (tensorfile_get_name(file, path, name)) {
		tensorfile_load_param(file, path, params, name);
		loaded[params_find(params, name) - params->items] = true;
	}
	for (int i = 0; i < params->count; i++)
		if (!loaded[i])
			die("%s: ends at offset %ld without %s: truncated; save it again", path, ftell(file),
				params->items[i].value.name);
	fclose(file);
}
