/* TensorBoard's log directory; see logdir.h. */
#include "say/logdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "say/say.h"

#define MOST_NAME 200

bool dw_logdir_make(const char *folder)
{
	char part[DW_LOGDIR_PATH];

	for (size_t i = 0; i < sizeof part - 1; i++) {
		part[i] = folder[i];
		if (folder[i] && folder[i] != '/')
			continue;
		part[i + (folder[i] == '/')] = '\0';
		if (i && mkdir(part, 0777) != 0 && errno != EEXIST) {
			dw_say("cannot make the folder %s: %s; name another with -o", part, strerror(errno));
			return false;
		}
		if (!folder[i])
			return true;
	}
	dw_say("%.80s...: the path is too long; name another folder with -o", folder);
	return false;
}

bool dw_logdir_profiles(const char *folder, char path[DW_LOGDIR_PATH])
{
	char *absolute;
	int length;

	if (!dw_logdir_make(folder))
		return false;
	absolute = realpath(folder, NULL);
	if (!absolute) {
		dw_say("cannot use the folder %s: %s; name another with -o", folder, strerror(errno));
		return false;
	}
	length = snprintf(path, DW_LOGDIR_PATH, "%s/plugins/profile", absolute);
	free(absolute);
	return length < DW_LOGDIR_PATH && dw_logdir_make(path);
}

static void logdir_clean_name(char *to, const char *name)
{
	snprintf(to, MOST_NAME, "%s", *name ? name : "host");
	for (char *at = to; *at; at++)
		if (strchr(":/[]\\", *at) || (unsigned char)*at < ' ')
			*at = '_';
	if (*to == '.')
		*to = '_';
}

bool dw_logdir_path(const char *profiles, const char *run, const char *host, char path[DW_LOGDIR_PATH])
{
	char run_name[MOST_NAME], host_name[MOST_NAME];

	logdir_clean_name(run_name, run);
	logdir_clean_name(host_name, host);
	if (snprintf(path, DW_LOGDIR_PATH, "%s/%s/%s.xplane.pb", profiles, run_name, host_name) < DW_LOGDIR_PATH)
		return true;
	dw_say("%.80s...: the path is too long; name another folder with -o", profiles);
	return false;
}

bool dw_is_logdir(const char *output)
{
	size_t length = output ? strlen(output) : 0;
	struct stat status;

	return length && (output[length - 1] == '/' || (stat(output, &status) == 0 && S_ISDIR(status.st_mode)));
}
