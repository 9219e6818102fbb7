/* Reads the two forms of files; see code_names.h. Ranges may overlap, so each knows how far those before it reach. */
#include "base/code/code_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"

#define MOST_RANGE ((uint64_t)1 << 30) /* no function has a GiB of code */
#define MOST_NAMED 3u                  /* names for one address */
#define MOST_TRIED 4096u               /* ranges for one address: programs may announce the same place again and again */

/* ---- files ------------------------------------------------------------------------------------- */

static const char *names_refuse(int fd, uid_t owner, int64_t since)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return "is no ordinary file";
	if (status.st_uid != 0 && status.st_uid != geteuid() && status.st_uid != owner)
		return "belongs to another user";
	/* The time of a file may be a tick of the kernel earlier than the clock. */
	if (status.st_mtim.tv_sec + 1 < since)
		return "was written before the process began";
	return NULL;
}

/* The file's text with a NUL behind it. NULL: it cannot be read. */
static char *names_read(int fd, size_t *bytes, bool *is_longer)
{
	char *text = NULL;
	size_t capacity = 0;
	ssize_t got;

	for (*bytes = 0;; *bytes += (size_t)got) {
		if (*bytes + 1 >= capacity) {
			char *grown = realloc(text, capacity = capacity ? capacity * 2 : 65536);

			if (!grown)
				break;
			text = grown;
		}
		got = *bytes < DW_CODE_NAMES_BYTES ? read(fd, text + *bytes, capacity - 1 - *bytes) : 0;
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got < 0)
			break;
		else if (got == 0) {
			*is_longer = *bytes >= DW_CODE_NAMES_BYTES;
			text[*bytes] = '\0';
			return text;
		}
	}
	free(text);
	return NULL;
}

/* False: out of memory. */
static bool names_put(struct dw_code_names *names, uint64_t start, uint64_t size, const char *name, size_t bytes)
{
	struct dw_code_range *range;

	while (bytes && (name[bytes - 1] == '\r' || name[bytes - 1] == ' '))
		bytes--;
	if (!bytes || !size || size > MOST_RANGE || start > UINT64_MAX - size || names->count >= DW_CODE_NAMES_MOST) {
		names->wrong++;
		return true;
	}
	range = DW_GROW(&names->ranges, &names->capacity, names->count);
	if (!range)
		return false;
	*range = (struct dw_code_range){ .start = start, .end = start + size, .name = name, .order = (uint32_t)names->count,
		                             .bytes = (uint32_t)(bytes < DW_CODE_NAME_BYTES ? bytes : DW_CODE_NAME_BYTES) };
	names->count++;
	return true;
}

/* ---- perf's map ---------------------------------------------------------------------------------- */

/* Reads a number and the spaces behind it. */
static bool names_number(const char **at, const char *end, uint64_t *value)
{
	const char *from = *at;
	unsigned digits = 0;

	if (end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
		from += 2;
	for (*value = 0; from < end; from++, digits++) {
		char c = (char)(*from | 32);
		int digit = *from >= '0' && *from <= '9' ? *from - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (digit < 0)
			break;
		*value = *value << 4 | (unsigned)digit;
	}
	if (!digits || digits > 16 || from == end || (*from != ' ' && *from != '\t'))
		return false;
	while (from < end && (*from == ' ' || *from == '\t'))
		from++;
	*at = from;
	return true;
}

static bool names_add_map(struct dw_code_names *names, const char *text, size_t bytes)
{
	const char *all = text + bytes, *line = text, *end;

	for (; line < all; line = end + 1) {
		const char *at = line;
		uint64_t start, size;

		end = memchr(line, '\n', (size_t)(all - line));
		if (!end) { /* the line is being written, or was cut */
			names->wrong++;
			return true;
		}
		if (end == line)
			continue;
		if (!names_number(&at, end, &start) || !names_number(&at, end, &size))
			names->wrong++;
		else if (!names_put(names, start, size, at, (size_t)(end - at)))
			return false;
	}
	return true;
}

/* ---- jitdump --------------------------------------------------------------------------------------- */

#define JIT_MAGIC 0x4A695444u
#define JIT_MAGIC_SWAPPED 0x4454694Au
#define JIT_LOAD 0u
#define JIT_MOVE 1u

struct jit_header {
	uint32_t magic, version, bytes, machine, reserved, pid;
	uint64_t timestamp, flags;
};

struct jit_record {
	uint32_t id, bytes;
	uint64_t timestamp;
};

struct jit_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

static bool names_add_dump(struct dw_code_names *names, const char *text, size_t bytes)
{
	struct jit_record record;
	struct jit_header header;

	memcpy(&header, text, sizeof header);
	for (size_t at = header.bytes; at < bytes; at += record.bytes) {
		const char *name = text + at + sizeof record + sizeof(struct jit_load), *end;
		struct jit_load load;
		size_t left;

		if (bytes - at < sizeof record) {
			names->wrong++;
			return true;
		}
		memcpy(&record, text + at, sizeof record);
		if (record.bytes < sizeof record || record.bytes > bytes - at) {
			names->wrong++;
			return true;
		}
		/* Code that was moved has no name at its new place. */
		names->wrong += record.id == JIT_MOVE;
		if (record.id != JIT_LOAD)
			continue;
		left = record.bytes >= sizeof record + sizeof load ? record.bytes - sizeof record - sizeof load : 0;
		end = left ? memchr(name, '\0', left) : NULL;
		if (!end) {
			names->wrong++;
			continue;
		}
		memcpy(&load, text + at + sizeof record, sizeof load);
		if (!names_put(names, load.address, load.size, name, (size_t)(end - name)))
			return false;
	}
	return true;
}

static const char *names_parse(struct dw_code_names *names, const char *text, size_t bytes)
{
	struct jit_header header = { .magic = 0 };

	memcpy(&header, text, bytes < sizeof header ? bytes : sizeof header);
	if (header.magic == JIT_MAGIC_SWAPPED)
		return "has another order of bytes";
	if (header.magic == JIT_MAGIC &&
	    (bytes < sizeof header || header.version != 1 || header.bytes < sizeof header || header.bytes > bytes))
		return "is a jitdump file with an unknown head";
	if (!(header.magic == JIT_MAGIC ? names_add_dump : names_add_map)(names, text, bytes))
		return "needs more memory than there is";
	return NULL;
}

/* ---- the names --------------------------------------------------------------------------------------- */

DW_ORDER(names_compare, struct dw_code_range, DW_UP(start) DW_UP(order))

const char *dw_code_names_add(struct dw_code_names *names, const char *path, uid_t owner, int64_t since)
{
	/* Without waiting: the path may be a pipe. No link: /tmp belongs to all users. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), code = errno;
	const char *problem;
	bool is_longer = false;
	size_t bytes = 0;
	char *text;

	if (fd < 0)
		return code == ENOENT ? "" : code == ELOOP ? "is a symbolic link" : "cannot be read";
	problem = names->text_count == sizeof names->texts / sizeof *names->texts ? "is one file too many"
	                                                                         : names_refuse(fd, owner, since);
	text = problem ? NULL : names_read(fd, &bytes, &is_longer);
	close(fd);
	if (!text)
		return problem ? problem : "cannot be read";
	problem = dw_code_names_take(names, text, bytes);
	return problem ? problem : is_longer ? "is larger than 64 MiB, and the rest was not read" : NULL;
}

const char *dw_code_names_take(struct dw_code_names *names, char *text, size_t bytes)
{
	const char *problem;

	names->texts[names->text_count++] = text;
	problem = names_parse(names, text, bytes);
	if (names->count)
		qsort(names->ranges, names->count, sizeof *names->ranges, names_compare);
	for (size_t i = 0; i < names->count; i++)
		names->ranges[i].reach = i && names->ranges[i - 1].reach > names->ranges[i].end ? names->ranges[i - 1].reach
		                                                                               : names->ranges[i].end;
	return problem;
}

void dw_code_names_lack(char lacks[DW_CODE_NAMES_LACK_BYTES], const char *path, const char *problem)
{
	size_t length = strlen(lacks);

	snprintf(lacks + length, DW_CODE_NAMES_LACK_BYTES - length, "%s%.200s %s", length ? "; " : "", path, problem);
}

static void names_add_below(struct dw_code_names *names, const struct dw_code_process *process, const char *path,
                            char lacks[DW_CODE_NAMES_LACK_BYTES])
{
	size_t wrong = names->wrong, count = names->count;
	char whole[4096 + 64], text[100];
	const char *problem;

	snprintf(whole, sizeof whole, "%s%s", process->root, path);
	problem = dw_code_names_add(names, whole, process->owner, process->since);
	if (problem && *problem)
		dw_code_names_lack(lacks, path, problem);
	if (names->wrong == wrong)
		return;
	snprintf(text, sizeof text, "is damaged, cut or too long: %zu of its %zu entries could not be used",
	         names->wrong - wrong, names->wrong - wrong + names->count - count);
	dw_code_names_lack(lacks, path, text);
}

void dw_code_names_add_process(struct dw_code_names *names, const struct dw_code_process *process,
                               char lacks[DW_CODE_NAMES_LACK_BYTES])
{
	char text[100];

	snprintf(text, sizeof text, "/tmp/perf-%u.map", process->pid);
	names_add_below(names, process, text, lacks);
	if (process->dump)
		names_add_below(names, process, process->dump, lacks);
}

static bool names_same(const struct dw_code_range *a, const struct dw_code_range *b)
{
	return a->bytes == b->bytes && memcmp(a->name, b->name, a->bytes) == 0;
}

/* Appends a name without control characters, which a terminal would obey. */
static size_t names_append(char *to, size_t at, const char *name, size_t bytes)
{
	for (size_t i = 0; i < bytes && at < DW_CODE_NAME_BYTES - 1; i++)
		to[at++] = (unsigned char)name[i] < 32 || name[i] == 127 ? '?' : name[i];
	while (at && at == DW_CODE_NAME_BYTES - 1 && (to[at - 1] & 0xc0) == 0x80)
		at--; /* of a character of several bytes, which may be cut */
	to[at] = '\0';
	return at;
}

const char *dw_code_names_find(const struct dw_code_names *names, uint64_t address, char name[DW_CODE_NAME_BYTES])
{
	const struct dw_code_range *found[MOST_NAMED];
	size_t low = DW_FIRST(i, 0, names->count, names->ranges[i].start > address), at = 0, count = 0, last;

	last = low > MOST_TRIED ? low - MOST_TRIED : 0;
	for (size_t i = low; i-- > last && names->ranges[i].reach > address && count < MOST_NAMED;) {
		bool is_new = names->ranges[i].end > address;

		for (size_t n = 0; n < count; n++)
			is_new = is_new && !names_same(found[n], &names->ranges[i]);
		if (is_new)
			found[count++] = &names->ranges[i];
	}
	for (size_t i = 0; i < count; i++) {
		at = i ? names_append(name, at, " or ", 4) : 0;
		at = names_append(name, at, found[i]->name, found[i]->bytes);
	}
	return count ? name : NULL;
}

void dw_code_names_reset(struct dw_code_names *names)
{
	free(names->ranges);
	for (unsigned i = 0; i < names->text_count; i++)
		free(names->texts[i]);
	*names = (struct dw_code_names){ .ranges = NULL };
}
