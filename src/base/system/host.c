/* The host: its boot, its namespaces, and which processes are alive; see host.h. */
#include "base/system/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"

/* The first pid namespace of a boot always has this inode (PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE 0xeffffffcu
/* The kernel rounds a birth to clock ticks, in two steps where namespaces are involved. */
#define BIRTH_TOLERANCE 2u
#define PATH_BYTES 64
#define MOST_DESCRIPTORS 65536

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* What getdents64() writes. */
struct directory_entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* Joins texts; what does not fit is cut off. snprintf() may take locks of libc. */
static void host_join(char path[PATH_BYTES], const char *const parts[], unsigned count)
{
	size_t at = 0;

	for (unsigned i = 0; i < count; i++)
		for (const char *c = parts[i]; *c && at < PATH_BYTES - 1; c++)
			path[at++] = *c;
	path[at] = '\0';
}
#define HOST_JOIN(path, ...)                                                                            \
	host_join(path, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void host_write_number(char text[16], uint32_t number)
{
	char digits[16];
	unsigned count = 0, at = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	while (count)
		text[at++] = digits[--count];
	text[at] = '\0';
}

/* What stat() says, or a negative errno. */
static long host_stat(const char *path, struct stat *status)
{
	return dw_call(SYS_newfstatat, AT_FDCWD, path, status, 0);
}

/* The start of a file as text; false: it cannot be read. */
static bool host_read_text(const char *path, char *text, size_t size)
{
	int fd = dw_descriptor_open(path, O_RDONLY, 0);
	size_t length = 0;
	long got = -1;

	if (fd < 0)
		return false;
	while (length < size - 1 && (got = dw_call(SYS_read, fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	dw_descriptor_close(fd);
	text[length] = '\0';
	return got >= 0 && length > 0;
}

static uint64_t host_number_at(const char *text)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

bool dw_host_boot_id(uint8_t id[16])
{
	char text[48];
	unsigned count = 0;

	memset(id, 0, 16);
	if (!host_read_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
		return false;
	for (const char *c = text; *c && count < 32; c++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, *c);

		if (digit) {
			id[count / 2] = (uint8_t)(id[count / 2] << 4 | (digit - digits));
			count++;
		}
	}
	if (count < 32)
		memset(id, 0, 16);
	return count == 32;
}

uint64_t dw_host_namespace(const char *name)
{
	struct stat status;
	char path[PATH_BYTES];

	HOST_JOIN(path, "/proc/self/ns/", name);
	return host_stat(path, &status) == 0 ? status.st_ino : 0;
}

/* ---- a process's entry in /proc ---------------------------------------------------- */

struct facts {
	uint64_t birth;
	bool dead; /* a zombie without other threads */
};

/*
 * Reads facts of a process from its first thread: `folder` is the process's name in /proc, or
 * "self", and `id` its number there. The thread's file is used because under qemu a process reads
 * other values in its own /proc/PID/stat than other processes do.
 */
static bool host_read_stat(const char *folder, const char *id, struct facts *facts)
{
	char path[PATH_BYTES], text[1024], *at;
	uint64_t threads = 0;
	char state;

	HOST_JOIN(path, "/proc/", folder, "/task/", id, "/stat");
	if (!host_read_text(path, text, sizeof text))
		return false;
	at = strrchr(text, ')'); /* the program's name may contain any character; field 3 follows it */
	if (!at || at[1] != ' ')
		return false;
	state = at[2];
	at++;
	for (int field = 3; field <= 22; field++) {
		if (*at != ' ')
			return false;
		if (field == 20)
			threads = host_number_at(at + 1);
		if (field == 22)
			facts->birth = host_number_at(at + 1);
		at += 1 + strcspn(at + 1, " ");
	}
	/* A process whose first thread has ended is shown as a zombie while other threads run. */
	facts->dead = (state == 'Z' || state == 'X' || state == 'x') && threads <= 1;
	return true;
}

/* Whether /proc shows shifted births, because a time namespace shifts their clock. */
static bool host_births_are_shifted(void)
{
	char text[256];
	const char *at;

	if (!host_read_text("/proc/self/timens_offsets", text, sizeof text))
		return false; /* a kernel without time namespaces */
	if (dw_host_namespace("time") != dw_host_namespace("time_for_children"))
		return true; /* the offsets in the file are those of child processes */
	at = strstr(text, "boottime");
	if (!at)
		return false;
	at += strlen("boottime");
	at += strspn(at, " 0\t");
	return *at != '\n' && *at != '\0';
}

/* The line of a file that begins with `begin`, without that; false: there is none. The file may be long, and the
 * stack of a signal handler is small: it is read in pieces. */
static bool host_find_line(const char *path, const char *begin, char *line, size_t size)
{
	int fd = dw_descriptor_open(path, O_RDONLY, 0);
	size_t matched = 0, length = 0, wanted = strlen(begin);
	bool done = false;
	char piece[512];
	long got;

	while (fd >= 0 && !done && (got = dw_call(SYS_read, fd, piece, sizeof piece)) > 0)
		for (long i = 0; i < got && !done; i++) {
			char c = piece[i];

			done = matched == wanted && (c == '\n' || length == size - 1);
			if (matched == wanted && !done)
				line[length++] = c;
			else if (matched < wanted) /* SIZE_MAX: another line */
				matched = c == begin[matched] ? matched + 1 : SIZE_MAX;
			if (c == '\n' && !done)
				matched = 0;
		}
	dw_descriptor_close(fd);
	line[length] = '\0';
	return done;
}

/* Counts the ids in /proc/NAME, from the namespace of /proc to the process's own; 0 if the file
 * cannot be read. `*last` is the id in the process's own namespace. */
static unsigned host_read_ids(const char *name, uint32_t *last)
{
	char path[PATH_BYTES], line[384]; /* 32 namespaces at most */
	unsigned count = 0;

	HOST_JOIN(path, "/proc/", name, "/status");
	if (!host_find_line(path, "NSpid:", line, sizeof line))
		return 0;
	for (const char *at = line; *at == '\t' || *at == ' '; count++) {
		at++;
		*last = (uint32_t)host_number_at(at);
		at += strspn(at, "0123456789");
	}
	return count;
}

/* Whether /proc shows the caller's pid namespace. It shows another one after unshare() or in a
 * container that mounts its host's /proc. */
static bool host_proc_is_own(void)
{
	char link[24];
	long length;
	uint32_t pid = 0;
	unsigned ids = host_read_ids("self", &pid);

	if (ids)
		return ids == 1 && pid == (uint32_t)dw_call(SYS_getpid);
	length = dw_call(SYS_readlinkat, AT_FDCWD, "/proc/self", link, sizeof link - 1); /* Linux before 4.1 */
	if (length <= 0)
		return false;
	link[length] = '\0';
	return host_number_at(link) == (uint64_t)dw_call(SYS_getpid);
}

static bool host_born_then(uint64_t birth, uint64_t wanted)
{
	return birth + BIRTH_TOLERANCE >= wanted && wanted + BIRTH_TOLERANCE >= birth;
}

/* ---- this process ------------------------------------------------------------------- */

void dw_identify(struct dw_identity *self)
{
	struct facts facts;
	char id[16];

	self->pid = (uint32_t)dw_call(SYS_getpid);
	self->pid_namespace = dw_host_namespace("pid");
	host_write_number(id, self->pid);
	self->birth = host_proc_is_own() && host_read_stat("self", id, &facts) && !host_births_are_shifted()
	                  ? facts.birth : 0;
}

/* ---- other processes ---------------------------------------------------------------- */

static enum dw_alive host_has_process(const struct dw_identity *process)
{
	struct facts facts;
	char name[16];

	long result = dw_call(SYS_kill, process->pid, 0);

	if (result != 0 && result != -EPERM)
		return result == -ESRCH ? DW_DEAD : DW_ALIVE_UNKNOWN;
	host_write_number(name, process->pid);
	if (!host_proc_is_own() || !host_read_stat(name, name, &facts))
		return DW_ALIVE;
	if (facts.dead)
		return DW_DEAD;
	if (process->birth && !host_births_are_shifted() && !host_born_then(facts.birth, process->birth))
		return DW_DEAD; /* a later process with the same id */
	return DW_ALIVE;
}

/* Compares an entry of /proc with a process of another namespace. */
static enum dw_alive host_compare_entry(const char *name, const struct dw_identity *process)
{
	struct facts facts;
	struct stat status;
	char path[PATH_BYTES];
	uint32_t last = 0;
	long result;

	if (!host_read_ids(name, &last)) {
		HOST_JOIN(path, "/proc/", name);
		/* It ended meanwhile, or it is hidden from this process. */
		return host_stat(path, &status) == -ENOENT ? DW_DEAD : DW_ALIVE_UNKNOWN;
	}
	if (last != process->pid)
		return DW_DEAD;
	if (!host_read_stat(name, name, &facts) || facts.dead)
		return DW_DEAD; /* it ended meanwhile */
	if (process->birth && !host_births_are_shifted() && !host_born_then(facts.birth, process->birth))
		return DW_DEAD;
	HOST_JOIN(path, "/proc/", name, "/ns/pid");
	result = host_stat(path, &status);
	if (result == 0)
		return status.st_ino == process->pid_namespace ? DW_ALIVE : DW_DEAD;
	return result == -ENOENT || result == -ESRCH ? DW_DEAD : DW_ALIVE_UNKNOWN;
}

/* Searches /proc: ALIVE if the process is found, DEAD if every entry is another process. */
static enum dw_alive host_scan(const struct dw_identity *process)
{
	char buffer[4096] __attribute__((__aligned__(8)));
	enum dw_alive answer = DW_DEAD;
	int folder = dw_descriptor_open("/proc", O_RDONLY | O_DIRECTORY, 0);
	long got;

	if (folder < 0)
		return DW_ALIVE_UNKNOWN;
	while ((got = dw_call(SYS_getdents64, folder, buffer, sizeof buffer)) > 0 && answer != DW_ALIVE) {
		for (long at = 0; at < got && answer != DW_ALIVE;) {
			const struct directory_entry *entry = (const struct directory_entry *)(const void *)(buffer + at);
			enum dw_alive one;

			at += entry->bytes;
			if (*entry->name < '0' || *entry->name > '9')
				continue;
			one = host_compare_entry(entry->name, process);
			if (one != DW_DEAD)
				answer = one;
		}
	}
	dw_descriptor_close(folder);
	return got < 0 && answer == DW_DEAD ? DW_ALIVE_UNKNOWN : answer;
}

/* Whether /proc shows every process of this boot: it belongs to the first pid namespace, which
 * contains all others, and hides none (the mount option hidepid would hide process 1). */
static bool host_sees_all(uint64_t own_namespace)
{
	struct stat status;

	return own_namespace == FIRST_PID_NAMESPACE && host_proc_is_own() && host_stat("/proc/1", &status) == 0;
}

enum dw_alive dw_process_lives(const struct dw_identity *process, unsigned *scans)
{
	uint64_t own = dw_host_namespace("pid");
	enum dw_alive answer;

	if (!process->pid || process->pid > INT32_MAX)
		return DW_DEAD; /* no process has such an id */
	if (own && process->pid_namespace == own)
		return host_has_process(process);
	if (!process->pid_namespace || !own)
		return host_has_process(process) == DW_ALIVE ? DW_ALIVE : DW_ALIVE_UNKNOWN;
	if (scans && !*scans)
		return DW_ALIVE_UNKNOWN;
	if (scans)
		--*scans;
	answer = host_scan(process);
	return answer == DW_DEAD && !host_sees_all(own) ? DW_ALIVE_UNKNOWN : answer;
}

/* ---- file descriptors --------------------------------------------------------------- */

static void host_close_up_to_limit(int first)
{
	uint64_t limit[2]; /* the one that holds and the hard one */

	if (dw_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit) != 0 || limit[0] > MOST_DESCRIPTORS)
		limit[0] = MOST_DESCRIPTORS;
	for (int fd = first; fd < (int)limit[0]; fd++)
		dw_descriptor_close(fd);
}

/* Closes the descriptors that one pass over /proc/self/fd lists; false if there were none. */
static bool host_close_listed(int folder, int first)
{
	char buffer[4096] __attribute__((__aligned__(8)));
	bool closed = false;
	long got;

	dw_call(SYS_lseek, folder, 0, 0);
	while ((got = dw_call(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
		for (long at = 0; at < got;) {
			const struct directory_entry *entry = (const struct directory_entry *)(const void *)(buffer + at);
			int fd = *entry->name == '.' ? -1 : (int)host_number_at(entry->name);

			at += entry->bytes;
			if (fd >= first && fd != folder)
				closed |= dw_call(SYS_close, fd) == 0;
		}
	return closed;
}

void dw_host_close_from(int first)
{
	int folder;

	if (dw_call(SYS_close_range, first, ~0u, 0) == 0)
		return;
	folder = (int)dw_call(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0) {
		host_close_up_to_limit(first);
		return;
	}
	while (host_close_listed(folder, first)) /* again, because closing may make a pass skip entries */
		;
	dw_descriptor_close(folder);
}

void dw_host_address_space(uint64_t *used, uint64_t *limit)
{
	struct rlimit space = { RLIM_INFINITY, RLIM_INFINITY };
	char text[128];
	uint64_t pages = 0;

	*used = *limit = 0;
	if (dw_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, &space) != 0 || space.rlim_cur == RLIM_INFINITY ||
	    !host_read_text("/proc/self/statm", text, sizeof text))
		return;
	for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
		pages = pages * 10 + (uint64_t)(*digit - '0');
	*used = pages * getauxval(AT_PAGESZ);
	*limit = space.rlim_cur;
}
