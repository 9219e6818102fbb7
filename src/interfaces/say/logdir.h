/*
 * TensorBoard's log directory: FOLDER/plugins/profile/RUN/HOST.xplane.pb.
 *
 * For `dwell capture` and `dwell export --format xplane`.
 */
#pragma once

#include <stdbool.h>

#define DW_LOGDIR_PATH 4608 /* characters of a path inside the log directory */

/* Creates the folder and its parents. Returns false after an error message. */
bool dw_logdir_make(const char *folder);
/* Writes the absolute path of FOLDER/plugins/profile to `path` and creates the folder. */
bool dw_logdir_profiles(const char *folder, char path[DW_LOGDIR_PATH]);
/* Writes PROFILES/RUN/HOST.xplane.pb. Characters that file names cannot contain become "_". */
bool dw_logdir_path(const char *profiles, const char *run, const char *host, char path[DW_LOGDIR_PATH]);
/* Whether an output is a log directory: an existing folder, or a name that ends in "/". */
bool dw_is_logdir(const char *output);
