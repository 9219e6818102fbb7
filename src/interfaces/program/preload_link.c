/*
 * A path without separators to the folder of the command; see preload_link.h.
 *
 * The link is in a folder of this user, /tmp/dwell-UID, that nobody else can write to: root, too, would load what it leads
 * to. It stays there for the next run, and for processes that outlive this one: these would complain for each program that
 * they start. A link of each run, removed at its end, would leave its name to others. The paths of open files in /proc were
 * rejected for the same reason, as another process may have this one's id later.
 */
#include "program/preload_link.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool dw_preload_is_split(const char *path)
{
	return strpbrk(path, " :$") != NULL;
}

/* Whether only this user, and root, decide what is in the folder: at its path, too. */
static bool link_is_safe(const char *parent, const char *folder)
{
	const mode_t others = S_IWGRP | S_IWOTH;
	struct stat above, own;

	return stat(parent, &above) == 0 && (above.st_uid == 0 || above.st_uid == geteuid()) &&
	       (!(above.st_mode & others) || above.st_mode & S_ISVTX) && lstat(folder, &own) == 0 && S_ISDIR(own.st_mode) &&
	       own.st_uid == geteuid() && !(own.st_mode & others);
}

static bool link_leads_to(const char *path, const char *folder)
{
	char target[4096];
	ssize_t length = readlink(path, target, sizeof target);

	return length >= 0 && (size_t)length == strlen(folder) && memcmp(target, folder, (size_t)length) == 0;
}

/* FNV-1a. */
static uint64_t link_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

/* Removes links to folders that are no longer there. */
static void link_clean(const char *own)
{
	DIR *folder = opendir(own);
	struct dirent *entry;
	struct stat status;

	while (folder && (entry = readdir(folder)))
		if (entry->d_type == DT_LNK && fstatat(dirfd(folder), entry->d_name, &status, 0) != 0 && errno == ENOENT)
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static bool link_make_in(const char *parent, const char *folder, char *path, size_t size)
{
	char own[64], part[128];

	snprintf(own, sizeof own, "%s/dwell-%u", parent, (unsigned)geteuid());
	if (mkdir(own, 0755) == 0)
		chmod(own, 0755); /* a program may run as another user: it has to find the libraries */
	if (!link_is_safe(parent, own))
		return false;
	snprintf(path, size, "%s/%016llx", own, (unsigned long long)link_hash(folder));
	if (link_leads_to(path, folder))
		return true;
	link_clean(own);
	/* Renamed, so that others that start meanwhile find the old one or the new one. */
	snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
	unlink(part);
	if (symlink(folder, part) != 0)
		return false;
	if (rename(part, path) == 0 && link_leads_to(path, folder))
		return true;
	unlink(part);
	return false;
}

const char *dw_preload_link(const char *folder)
{
	static char made_for[4096], path[96];
	const char *const parents[] = { "/tmp", "/var/tmp", "/dev/shm" };

	if (*path && strcmp(made_for, folder) == 0)
		return path;
	for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
		if (link_make_in(parents[i], folder, path, sizeof path)) {
			snprintf(made_for, sizeof made_for, "%s", folder);
			return path;
		}
	*path = '\0';
	return NULL;
}
