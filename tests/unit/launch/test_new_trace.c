/* The name of a new trace, and the folder that it is in. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "launch/new_trace.h"

static char folder[64], tried[4096];
static unsigned calls, there; /* there: how many of the names are taken */

static int create(void *context, const char *path)
{
	CHECK(context == &calls);
	snprintf(tried, sizeof tried, "%s", path);
	return ++calls <= there ? DWELL_E_EXISTS : 7;
}

static int fail(void *context, const char *path)
{
	(void)context, (void)path;
	calls++;
	return DWELL_E_IO;
}

/* Returns what dw_new_trace() returned where so many names are taken. */
static int make(unsigned taken, const char **elsewhere)
{
	char *command[] = { (char *)(uintptr_t)"./app", NULL };

	calls = 0;
	there = taken;
	return dw_new_trace(command, create, &calls, elsewhere);
}

static const char *name_of(const char *first, const char *second, const char *third)
{
	char *command[] = { (char *)(uintptr_t)first, (char *)(uintptr_t)second, (char *)(uintptr_t)third, NULL };
	static char name[256];

	dw_new_trace_name(command, name, sizeof name);
	return name;
}

TEST(a_trace_is_named_after_the_script_or_the_program)
{
	CHECK_STR(name_of("./build/app", "x.py", NULL), "app");
	CHECK_STR(name_of("python3", "-u", "run/train.py"), "train");
	CHECK_STR(name_of("/usr/bin/python3.11", "-m", "package.train"), "package.train");
	CHECK_STR(name_of("python", NULL, NULL), "python");
	CHECK_STR(name_of("./train.py", NULL, NULL), "train");
	CHECK_STR(name_of("python", "-c", "import train.py"), "python");
}

/* A command of up to 7 words, separated by blanks. */
static const char *name_of_all(const char *text)
{
	static char words[256], name[256];
	char *command[8] = { NULL }, *rest;
	size_t count = 0;

	snprintf(words, sizeof words, "%s", text);
	for (char *word = strtok_r(words, " ", &rest); word && count < 7; word = strtok_r(NULL, " ", &rest))
		command[count++] = word;
	dw_new_trace_name(command, name, sizeof name);
	return name;
}

TEST(what_starts_the_program_does_not_name_its_trace)
{
	CHECK_STR(name_of_all("timeout -k 5 60 python3 train.py"), "train");
	CHECK_STR(name_of_all("timeout 60 /bin/ls"), "ls");
	CHECK_STR(name_of_all("env A=1 nice -n 10 /bin/ls"), "ls");
	CHECK_STR(name_of_all("env A=1 timeout 5 python3 -m pkg"), "pkg");
	CHECK_STR(name_of_all("timeout 60 ./missing"), "timeout");
	CHECK_STR(name_of_all("torchrun --nproc_per_node 2 train.py"), "train");
	CHECK_STR(name_of_all("python3 -m torch.distributed.run --standalone train.py"), "train");
	CHECK_STR(name_of_all("jupyter nbconvert --execute data/fit.ipynb"), "fit");
	CHECK_STR(name_of_all("jupyter lab"), "jupyter");
	CHECK_STR(name_of_all("bash -x run.sh a.py"), "run");
	CHECK_STR(name_of_all("bash -c ls"), "bash");
	CHECK_STR(name_of_all("ls train.py"), "ls");
}

TEST(the_first_name_that_is_free_is_taken)
{
	const char *elsewhere;

	CHECK_EQ(make(0, &elsewhere), 7);
	CHECK_STR(tried, "app.dwell");
	CHECK(!elsewhere);
	CHECK_EQ(make(2, &elsewhere), 7);
	CHECK_STR(tried, "app-3.dwell");
	CHECK_EQ(make(20000, &elsewhere), DWELL_E_EXISTS);
}

static void touch(const char *name)
{
	char path[128];
	int file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(file >= 0 && write(file, "trace", 5) == 5);
	close(file);
}

TEST(each_fifth_trace_says_how_many_there_are)
{
	char text[DW_NEW_TRACE_TEXT], name[128];

	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	REQUIRE(mkdtemp(folder));
	snprintf(name, sizeof name, "%s/app", folder);
	touch("app.dwell");
	touch("app-2.dwell");
	touch("app-4.dwell");
	touch("app-7.dwell");
	dw_new_trace_others(name, 4, text);
	CHECK_STR(text, "");
	dw_new_trace_others(name, 5, text);
	CHECK_HAS(text, "3 older traces of app take ");
	CHECK_HAS(text, "with -o app.dwell each run replaces that file");
	dw_new_trace_others(name, 10, text);
	CHECK_HAS(text, "4 older traces of app take ");
	for (unsigned i = 0; i < 4; i++) {
		static const char *const tails[] = { "", "-2", "-4", "-7" };
		char path[160];

		snprintf(path, sizeof path, "%s%s.dwell", name, tails[i]);
		CHECK_EQ(unlink(path), 0);
	}
	dw_new_trace_others(name, 10, text);
	CHECK_STR(text, "");
	CHECK_EQ(rmdir(folder), 0);
}

TEST(another_error_ends_the_search)
{
	char *command[] = { (char *)(uintptr_t)"./app", NULL };
	const char *elsewhere;

	calls = 0;
	CHECK_EQ(dw_new_trace(command, fail, NULL, &elsewhere), DWELL_E_IO);
	CHECK_EQ(calls, 1);
}

/* In a folder that was removed, where the folder of temporary files is this. */
static void check_removed(const char *temporary, const char *wanted)
{
	const char *elsewhere;
	int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	snprintf(folder, sizeof folder, "/tmp/dwell-unit-XXXXXX");
	REQUIRE(before >= 0 && mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
	if (temporary)
		setenv("TMPDIR", temporary, 1);
	else
		unsetenv("TMPDIR");
	CHECK_EQ(make(0, &elsewhere), 7);
	CHECK_STR(tried, wanted);
	CHECK(elsewhere && strcmp(elsewhere, "was removed") == 0);
	CHECK_EQ(fchdir(before), 0);
	close(before);
}

TEST(where_this_folder_was_removed_that_of_temporary_files_is_taken)
{
	check_removed(NULL, "/tmp/app.dwell");
	check_removed("/var/tmp", "/var/tmp/app.dwell");
}

TEST(a_relative_folder_of_temporary_files_is_not_taken)
{
	check_removed("tmp", "/tmp/app.dwell");
}

CHECK_MAIN
