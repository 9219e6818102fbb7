/*
 * TensorBoard's log directory: FOLDER/plugins/profile/RUN/HOST.xplane.pb.
 *
 * For `dwell capture` and `dwell export --format xplane`.
 */
#ifndef DW_CLI_LOGDIR_H
#define DW_CLI_LOGDIR_H

#include <stdbool.h>
#include <stddef.h>

#define DW_LOGDIR_PATH 4608 /* characters of a path below */

/* Makes the folder and those above it; says what is wrong. */
bool dw_logdir_make(const char *folder);
/* The folder's absolute path with /plugins/profile; it is made. */
bool dw_logdir_profiles(const char *folder, char path[DW_LOGDIR_PATH]);
/* PROFILES/RUN/HOST.xplane.pb; what a file's name cannot hold becomes _. */
bool dw_logdir_path(const char *profiles, const char *run, const char *host,
                    char path[DW_LOGDIR_PATH]);
/* Whether an output is a log directory: a folder that is there, or a name that ends in /. */
bool dw_is_logdir(const char *output);

#endif
