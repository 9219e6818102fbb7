/* Names of code made at run time: what a file says, and files that are wrong, old, or of others. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/code_names.h"

static char path[] = "/tmp/dwell-code-names-XXXXXX";

static void write_file(const void *bytes, size_t count)
{
	FILE *file = fopen(path, "w");

	fwrite(bytes, count, 1, file);
	fclose(file);
}

static const char *add(struct dw_code_names *names, const char *text)
{
	write_file(text, strlen(text));
	return dw_code_names_add(names, path, geteuid(), 0);
}

TEST(addresses_have_the_names_of_their_ranges)
{
	struct dw_code_names names = { .count = 0 };
	char name[DW_CODE_NAME_BYTES];

	(void)!mkstemp(path);
	CHECK(add(&names, "1000 20 outer function\n1008 8 inner\x1b[2J\n0x2000 0x10 last\r\nzz 1 no\n3000 10 cut") == NULL);
	CHECK_EQ(names.count, 3);
	CHECK_EQ(names.wrong, 2);
	CHECK_STR(dw_code_names_find(&names, 0x1000, name), "outer function");
	CHECK_STR(dw_code_names_find(&names, 0x100f, name), "inner?[2J or outer function");
	CHECK_STR(dw_code_names_find(&names, 0x1010, name), "outer function");
	CHECK_STR(dw_code_names_find(&names, 0x200f, name), "last");
	CHECK(dw_code_names_find(&names, 0x1020, name) == NULL && dw_code_names_find(&names, 0xfff, name) == NULL);
	dw_code_names_reset(&names);
}

TEST(files_of_others_and_of_earlier_processes_are_refused)
{
	struct dw_code_names names = { .count = 0 };

	CHECK_STR(dw_code_names_add(&names, "/tmp/dwell-no-such-file", 0, 0), "");
	CHECK_STR(dw_code_names_add(&names, "/tmp", 0, 0), "is no ordinary file");
	write_file("1000 20 a\n", 10);
	CHECK_STR(dw_code_names_add(&names, path, 0, (int64_t)1 << 40), "was written before the process began");
	if (geteuid() == 0 && chown(path, 12345, 0) == 0) {
		CHECK_STR(dw_code_names_add(&names, path, 0, 0), "belongs to another user");
		CHECK(dw_code_names_add(&names, path, 12345, 0) == NULL);
		CHECK(chown(path, 0, 0) == 0);
	}
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0);
	CHECK_STR(dw_code_names_add(&names, path, 0, 0), "is no ordinary file");
	unlink(path);
	dw_code_names_reset(&names);
}

/* A head and a LOAD record, cut at each byte and with each byte changed: nothing is read outside. */
TEST(damaged_jitdump_files_are_read_as_far_as_they_are_whole)
{
	uint32_t head[10] = { 0x4A695444, 1, 40, 62, 0, 7 }, record[4] = { 0, 62 }, ids[2] = { 7, 7 };
	uint64_t words[4] = { 0x1000, 0x1000, 16, 1 };
	char bytes[102], changed[102], name[DW_CODE_NAME_BYTES];

	memcpy(bytes, head, 40);
	memcpy(bytes + 40, record, 16);
	memcpy(bytes + 56, ids, 8);
	memcpy(bytes + 64, words, 32);
	memcpy(bytes + 96, "made\0\x90", 6);
	for (size_t i = 1; i <= sizeof bytes; i++) {
		struct dw_code_names names = { .count = 0 };

		write_file(bytes, i);
		dw_code_names_add(&names, path, geteuid(), 0);
		CHECK_EQ(names.count, i == sizeof bytes);
		if (i == sizeof bytes)
			CHECK_STR(dw_code_names_find(&names, 0x1001, name), "made");
		dw_code_names_reset(&names);
		memcpy(changed, bytes, sizeof bytes);
		changed[i - 1] = (char)~changed[i - 1];
		write_file(changed, sizeof bytes);
		dw_code_names_add(&names, path, geteuid(), 0);
		dw_code_names_find(&names, 0x1001, name);
		dw_code_names_reset(&names);
	}
	unlink(path);
}

CHECK_MAIN
