/*
 * Rules of unwind tables, of libraries as they are installed: each function is found by any place in it, and no place between two
 * functions is one. Of a library that was loaded later the tables are copied: few copies are enough for one place.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "check.h"
#include "sampler.h"

static unsigned long copies;

size_t dws_copy(void *to, uintptr_t from, size_t bytes)
{
	copies++;
	memcpy(to, (const void *)from, bytes);
	return bytes;
}

/* An index as its bytes say: functions and entries relative to it. */
struct index {
	const char *wanted; /* a part of the file's name */
	const uint8_t *at;
	uint32_t count;
};

static uintptr_t index_function(const struct index *index, uint32_t number)
{
	int32_t offset;

	memcpy(&offset, index->at + 12 + 8 * (size_t)number, sizeof offset);
	return (uintptr_t)(index->at + offset);
}

static int index_find(struct dl_phdr_info *file, size_t bytes, void *found)
{
	struct index *index = found;

	(void)bytes;
	for (unsigned i = 0; i < file->dlpi_phnum && strstr(file->dlpi_name, index->wanted); i++)
		if (file->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			index->at = (const uint8_t *)(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr);
	if (index->at && !index->count)
		memcpy(&index->count, index->at + 8, sizeof index->count);
	return index->at != NULL;
}

static struct index index_of(const char *name)
{
	struct index index = { .wanted = name };

	dl_iterate_phdr(index_find, &index);
	return index;
}

/* Every function, and places in and behind it. Returns how many there are. */
static uint32_t check_functions(const struct index *index, uint32_t step)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i + 1 < index->count; i += step) {
		uintptr_t start = index_function(index, i), next = index_function(index, i + 1);
		uint64_t bytes = dws_cfi_function(start);

		if (!bytes || bytes > next - start) /* a function of which the table says more than this library reads, as a signal's frame */
			continue;
		found++;
		if (dws_cfi_find(start).end == DWS_END_UNKNOWN || (bytes > 1 && dws_cfi_function(start + 1)))
			CHECK_FAIL("function %u of %s", i, index->wanted);
		if (start + bytes < next && dws_cfi_find(start + bytes).end != DWS_END_UNKNOWN)
			CHECK_FAIL("behind function %u of %s", i, index->wanted);
	}
	return found;
}

TEST(functions_of_libraries_have_rules)
{
	struct index index = index_of("libc.so");

	REQUIRE(dws_cfi_prepare());
	REQUIRE(index.count > 1000);
	CHECK(check_functions(&index, 1) > index.count * 0.9);
	CHECK_EQ(copies, 0); /* the program began with it */
}

TEST(tables_of_a_library_that_was_loaded_later_are_copied_in_few_pieces)
{
	bool later = !dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD); /* sanitizers bring it */
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);
	struct index index;

	REQUIRE(library);
	index = index_of("libstdc++");
	REQUIRE(index.count > 2000);
	for (uint32_t i = 0; i < index.count; i += 3)
		dws_cfi_find(index_function(&index, i));
	copies = 0;
	for (uint32_t i = 1; i < index.count; i += 3)
		dws_cfi_find(index_function(&index, i));
	CHECK_EQ(copies > 0, later);
	CHECK((double)copies < 2.5 * index.count / 3);
	dws_cfi_forget();
	CHECK(check_functions(&index, 7) > index.count / 7 * 0.9);
	dlclose(library);
}

CHECK_MAIN
