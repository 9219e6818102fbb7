/* Running an export: formats by name, files that are complete or absent, errors. */
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifdef DW_HAVE_ZLIB
#include <zlib.h>
#endif

#include "export/export.h"
#include "made.h"

static struct made made;
static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void start(void)
{
	snprintf(folder, sizeof folder, "/tmp/dwell-export-XXXXXX");
	if (!mkdtemp(folder))
		exit(77);
	made_init(&made);
	uint32_t outer = made_op(&made, DWELL_CATEGORY_ZONE, "a;b");
	uint32_t inner = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::add");

	dw_encode_begin(&made.stream, 1000, outer);
	for (uint64_t i = 0; i < 2000; i++) {
		dw_encode_begin(&made.stream, 2000 + i * 10, inner);
		dw_encode_end(&made.stream, 2005 + i * 10);
	}
	dw_encode_end(&made.stream, 30000);
	CHECK_EQ(made_open(&made, NULL), 0);
}

static unsigned files_in_folder(void)
{
	DIR *found = opendir(folder);
	unsigned count = 0;

	for (struct dirent *entry; found && (entry = readdir(found));)
		count += entry->d_name[0] != '.';
	if (found)
		closedir(found);
	return count;
}

static void end(void)
{
	made_close(&made);
	CHECK_EQ(files_in_folder(), 0);
	CHECK_EQ(rmdir(folder), 0);
}

static const char *content(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	return text;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

TEST(formats_are_listed)
{
	CHECK_STR(dw_export_at(0)->name, "chrome");
	CHECK_STR(dw_export_at(1)->name, "folded");
	for (size_t i = 0; dw_export_at(i); i++) {
		CHECK(*dw_export_at(i)->what);
		CHECK(dw_export_find(dw_export_at(i)->name) == dw_export_at(i));
	}
	CHECK(!dw_export_find("fold"));
}

TEST(an_unknown_format_names_the_nearest)
{
	start();
	CHECK_EQ(dw_export_run(made.model, "chorme", in_folder("x"), NULL, &made.error), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "did you mean 'chrome'?");
	CHECK_EQ(dw_export_run(made.model, "protobuf", in_folder("x"), NULL, &made.error), DWELL_E_NAME);
	CHECK_HAS(made.error.message, "chrome, folded");
	end();
}

TEST(a_file_follows_the_umask_and_leaves_nothing_beside_it)
{
	const mode_t mask = 027;
	mode_t before = umask(mask);
	struct stat found;

	start();
	CHECK_EQ(dw_export_run(made.model, "folded", in_folder("x"), NULL, &made.error), 0);
	CHECK_STR(content(in_folder("x")), "main;a_b 19000\nmain;a_b;aten::add 10000\n");
	CHECK(stat(in_folder("x"), &found) == 0 && (found.st_mode & 0777) == (0666 & ~mask));
	CHECK_EQ(files_in_folder(), 1);
	unlink(in_folder("x"));
	end();
	umask(before);
}

TEST(an_export_replaces_what_a_link_leads_to)
{
	struct stat found;
	char target[128];

	start();
	snprintf(target, sizeof target, "%s", in_folder("target"));
	put(target, "old");
	CHECK_EQ(symlink(target, in_folder("link")), 0);
	CHECK_EQ(dw_export_run(made.model, "folded", in_folder("link"), NULL, &made.error), 0);
	CHECK(lstat(in_folder("link"), &found) == 0 && S_ISLNK(found.st_mode));
	CHECK_HAS(content(target), "aten::add 10000");
	unlink(target);
	unlink(in_folder("link"));
	end();
}

TEST(a_folder_that_is_not_there_is_named)
{
	start();
	CHECK_EQ(dw_export_run(made.model, "chrome", in_folder("no/x"), NULL, &made.error), DWELL_E_IO);
	CHECK_HAS(made.error.message, "no/x: No such file or directory; make the folder first");
	CHECK_EQ(dw_export_run(made.model, "chrome", folder, NULL, &made.error), DWELL_E_IO);
	CHECK_HAS(made.error.message, "Is a directory; name a file in it");
	end();
}

TEST(a_folder_that_cannot_be_written_is_named)
{
	start();
	chmod(folder, 0500);
	if (geteuid() != 0) {
		CHECK_EQ(dw_export_run(made.model, "chrome", in_folder("x"), NULL, &made.error), DWELL_E_IO);
		CHECK_HAS(made.error.message, "Permission denied; name a file in a folder");
	}
	chmod(folder, 0700);
	end();
}

TEST(a_full_disk_is_an_error)
{
	start();
	if (access("/dev/full", W_OK) == 0) {
		CHECK_EQ(dw_export_run(made.model, "chrome", "/dev/full", NULL, &made.error), DWELL_E_NOSPACE);
		CHECK_HAS(made.error.message, "/dev/full: No space left on device; free some space");
	}
	end();
}

TEST(what_fails_leaves_the_old_file)
{
	struct rlimit old, small;

	start();
	put(in_folder("x"), "old");
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	CHECK_EQ(dw_export_run(made.model, "chrome", in_folder("x"), NULL, &made.error), DWELL_E_IO);
	setrlimit(RLIMIT_FSIZE, &old);
	CHECK_HAS(made.error.message, "File too large; raise the limit");
	CHECK_STR(content(in_folder("x")), "old");
	CHECK_EQ(files_in_folder(), 1);
	unlink(in_folder("x"));
	end();
}

#ifdef DW_HAVE_ZLIB
TEST(a_name_in_gz_is_compressed)
{
	char packed[128];
	static char text[1 << 20];
	gzFile file;

	start();
	snprintf(packed, sizeof packed, "%s", in_folder("x.json.gz"));
	CHECK_EQ(dw_export_run(made.model, "chrome", in_folder("x.json"), NULL, &made.error), 0);
	CHECK_EQ(dw_export_run(made.model, "chrome", packed, NULL, &made.error), 0);
	file = gzopen(packed, "rb");
	REQUIRE(file);
	int length = gzread(file, text, sizeof text - 1);
	gzclose(file);
	REQUIRE(length > 0);
	text[length] = '\0';
	/* alike up to the name at the end */
	char *name = strstr(text, "\"traceName\"");
	REQUIRE(name);
	CHECK(strncmp(text, content(in_folder("x.json")), (size_t)(name - text)) == 0);
	CHECK_HAS(name, "x.json.gz\"}\n");
	unlink(packed);
	unlink(in_folder("x.json"));
	end();
}
#endif

CHECK_MAIN
