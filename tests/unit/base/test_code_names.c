/* Names of code made at run time: what a file says, and files that are wrong, old, or of others. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/code/code_names.h"

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

/* A head, and two LOAD records, of which a part is replaced. */
static size_t make_dump(char bytes[164], size_t at, uint32_t value)
{
	uint32_t head[10] = { 0x4A695444, 1, 40, 62, 0, 7 };

	memcpy(bytes, head, 40);
	for (size_t i = 0; i < 2; i++) {
		char *record = bytes + 40 + i * 62;
		uint32_t parts[6] = { 0, 62, 0, 0, 7, 7 };
		uint64_t words[4] = { 0x1000, 0x1000 * (i + 1), 16, i };

		memcpy(record, parts, 24);
		memcpy(record + 24, words, 32);
		memcpy(record + 56, i ? "last\0\x90" : "made\0\x90", 6);
	}
	memcpy(bytes + at, &value, sizeof value);
	return 164;
}

#define ONE_OF(count) " is damaged, cut or too long: 1 of its " count " entries could not be used"

TEST(a_damaged_jitdump_file_is_named_and_the_rest_of_it_is_read)
{
	static const struct {
		size_t at;
		uint32_t value;
		size_t count;
		const char *said;
	} cases[] = {
		{ 40, 0, 2, "" },
		{ 0, 0x4454694A, 0, " has another order of bytes" },
		{ 0, 0x4A695445, 0, ONE_OF("1") },
		{ 4, 2, 0, " is a jitdump file with an unknown head" },
		{ 8, 0, 0, " is a jitdump file with an unknown head" },
		{ 8, UINT32_MAX, 0, " is a jitdump file with an unknown head" },
		{ 44, 0, 0, ONE_OF("1") },
		{ 44, UINT32_MAX, 0, ONE_OF("1") },
		{ 106, 0, 1, ONE_OF("2") },
		{ 106, UINT32_MAX, 1, ONE_OF("2") },
		{ 40, 1, 1, ONE_OF("2") },          /* moved */
		{ 80, 0, 1, ONE_OF("2") },          /* no code */
		{ 84, UINT32_MAX, 1, ONE_OF("2") }, /* much code */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_code_process process = { .pid = (uint32_t)getpid(), .owner = geteuid(), .root = "", .dump = path };
		char bytes[164], lacks[DW_CODE_NAMES_LACK_BYTES] = "", said[200], name[DW_CODE_NAME_BYTES];
		struct dw_code_names names = { .count = 0 };

		write_file(bytes, make_dump(bytes, cases[i].at, cases[i].value));
		dw_code_names_add_process(&names, &process, lacks);
		snprintf(said, sizeof said, "%s%s", *cases[i].said ? path : "", cases[i].said);
		CHECK_STR(lacks, said);
		CHECK_EQ(names.count, cases[i].count);
		CHECK((dw_code_names_find(&names, 0x200f, name) != NULL) == (names.count == 2 || (names.count && cases[i].at < 100)));
		dw_code_names_reset(&names);
	}
	unlink(path);
}

TEST(names_without_end_and_thousands_for_one_address_are_bounded)
{
	struct dw_code_names names = { .count = 0 };
	const size_t many = 500000;
	char bytes[164], name[DW_CODE_NAME_BYTES], *text;
	size_t length = 0;

	make_dump(bytes, 40, 0);
	memset(bytes + 158, 'x', 6);
	write_file(bytes, sizeof bytes);
	CHECK(dw_code_names_add(&names, path, geteuid(), 0) == NULL);
	CHECK_EQ(names.count, 1);
	CHECK_EQ(names.wrong, 1);
	dw_code_names_reset(&names);
	/* One range around all, then the same small range again and again: each look-up tries few of them. */
	text = malloc(many * 16 + 64);
	length += (size_t)snprintf(text, 64, "0 3fffffff all\n");
	for (size_t i = 0; i < many; i++)
		length += (size_t)snprintf(text + length, 16, "1000 10 again\n");
	CHECK(dw_code_names_take(&names, text, length) == NULL);
	CHECK_EQ(names.count, many + 1);
	for (unsigned i = 0; i < (check_is_slow() ? 4096u : 65536u); i++)
		CHECK(dw_code_names_find(&names, 0x1000 + i % 16, name) && strcmp(name, "again") == 0);
	dw_code_names_reset(&names);
	unlink(path);
}

CHECK_MAIN
