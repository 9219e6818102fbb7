/* What /proc shows of processes and threads. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/proc.h"

#define NOBODY 4194305u /* above the largest number of a process */

static const char line[] = "4711 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 100 20 30 4 20 0 17 0 987654 1000000 250 "
                           "18446744073709551615 1 2 140723 3 4\n";

TEST(a_name_may_have_brackets_and_blanks)
{
	struct dw_proc_stat stat;

	CHECK(dw_proc_parse_stat(line, &stat));
	CHECK_STR(stat.name, "a) b) (c");
	CHECK_EQ(stat.state, 'S');
	CHECK_EQ(stat.parent, 1);
	CHECK_EQ(stat.cpu_ns, dw_proc_ns(120));
	CHECK_EQ(stat.ended_ns, dw_proc_ns(34));
	CHECK_EQ(stat.threads, 17);
	CHECK_EQ(stat.birth, 987654);
	CHECK_EQ(stat.resident_pages, 250);
	CHECK_EQ(stat.stack, 140723);
}

TEST(a_text_that_ends_early_is_nothing)
{
	struct dw_proc_stat stat;
	char text[sizeof line];

	CHECK(!dw_proc_parse_stat("", &stat));
	CHECK(!dw_proc_parse_stat("4711 (a", &stat));
	for (size_t length = 0; length < strlen("4711 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 100 20"); length++) {
		snprintf(text, sizeof text, "%.*s", (int)length, line);
		CHECK(!dw_proc_parse_stat(text, &stat));
	}
}

TEST(this_process_and_its_thread)
{
	struct dw_proc_stat process, thread;

	prctl(PR_SET_NAME, "a thread (1)");
	REQUIRE(dw_proc_read_stat((uint32_t)getpid(), 0, &process));
	REQUIRE(dw_proc_read_stat((uint32_t)getpid(), (uint32_t)getpid(), &thread));
	CHECK_STR(thread.name, "a thread (1)");
	CHECK_EQ(process.parent, getppid());
	CHECK_EQ(thread.state, 'R');
	CHECK(process.threads >= 1 && process.birth == thread.birth);
	CHECK(!dw_proc_read_stat(NOBODY, 0, &process));
}

TEST(a_child_that_ended_is_a_zombie_until_it_is_reaped)
{
	struct dw_proc_stat stat;
	siginfo_t info;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	REQUIRE(child > 0);
	CHECK_EQ(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	CHECK(dw_proc_read_stat((uint32_t)child, 0, &stat));
	CHECK_EQ(stat.state, 'Z');
	waitpid(child, NULL, 0);
	CHECK(!dw_proc_read_stat((uint32_t)child, 0, &stat));
}

TEST(the_file_of_a_process)
{
	char own[4096], path[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

	REQUIRE(length > 0);
	own[length] = '\0';
	CHECK(dw_proc_read_link((uint32_t)getpid(), "exe", path, sizeof path));
	CHECK_STR(path, own);
	CHECK(!dw_proc_read_link(NOBODY, "exe", path, sizeof path));
	CHECK_STR(path, "");
}

TEST(the_words_of_a_command)
{
	char text[4096], *words[DW_PROC_WORDS];
	size_t length = dw_proc_read_command((uint32_t)getpid(), text, sizeof text, words);

	CHECK(length > 0 && words[0] == text);
	CHECK_EQ(dw_proc_read_command(NOBODY, text, sizeof text, words), 0);
	CHECK(words[0] == NULL);
}

TEST(times_of_a_thread_where_the_kernel_counts)
{
	struct dw_proc_schedule schedule;

	if (access("/proc/self/schedstat", R_OK) == 0)
		CHECK(dw_proc_read_schedule((uint32_t)getpid(), 0, &schedule) && schedule.cpu_ns > 0 && schedule.slices > 0);
	CHECK(!dw_proc_read_schedule(NOBODY, 0, &schedule));
	CHECK_EQ(schedule.ready_ns, 0);
}

struct wanted {
	uint64_t address;
	struct dw_proc_mapping found;
	char path[4096];
	unsigned mappings;
};

static bool take_mapping(void *context, const struct dw_proc_mapping *mapping)
{
	struct wanted *wanted = context;

	wanted->mappings++;
	if (wanted->address < mapping->low || wanted->address >= mapping->high)
		return true;
	wanted->found = *mapping;
	snprintf(wanted->path, sizeof wanted->path, "%s", mapping->path);
	return false;
}

TEST(mappings_of_files_and_of_memory)
{
	char path[] = "/tmp/dwell unit-XXXXXX";
	int fd = mkstemp(path);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct wanted wanted = { 0 };
	void *file, *memory;

	REQUIRE(fd >= 0 && ftruncate(fd, (off_t)(2 * page)) == 0);
	file = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(file != MAP_FAILED && memory != MAP_FAILED);
	wanted.address = (uint64_t)(uintptr_t)file;
	CHECK_EQ(dw_proc_read_maps((uint32_t)getpid(), take_mapping, &wanted), 0);
	CHECK_STR(wanted.path, path);
	CHECK_STR(wanted.found.access, "r--s");
	CHECK_EQ(wanted.found.offset, page);
	CHECK(wanted.found.inode != 0);
	wanted.address = (uint64_t)(uintptr_t)memory;
	CHECK_EQ(dw_proc_read_maps((uint32_t)getpid(), take_mapping, &wanted), 0);
	CHECK_STR(wanted.path, "");
	CHECK_STR(wanted.found.access, "rw-p");
	CHECK_EQ(dw_proc_read_maps(NOBODY, take_mapping, &wanted), ENOENT);
	munmap(file, page);
	munmap(memory, page);
	close(fd);
	unlink(path);
}

/* Nobody asks how the child ended until the end of the test. */
TEST(a_zombie_does_not_live)
{
	pid_t child = fork();
	siginfo_t ended;

	REQUIRE(child >= 0);
	if (child == 0)
		_exit(0);
	CHECK_EQ(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
	CHECK_EQ(kill(child, 0), 0);
	CHECK(!dw_proc_lives((uint32_t)child));
	CHECK_EQ(waitpid(child, NULL, 0), child);
	CHECK(!dw_proc_lives((uint32_t)child));
	CHECK(dw_proc_lives((uint32_t)getpid()));
	CHECK(!dw_proc_lives(NOBODY));
}

CHECK_MAIN
