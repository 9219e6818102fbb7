/*
 * A path without separators to the folder of the command.
 *
 * The dynamic linker splits LD_PRELOAD at spaces and colons and expands what follows a `$`, and there is no way to write
 * these characters. Where the folder's path has one, a symbolic link leads to it.
 */
#pragma once

#include <stdbool.h>

/* Whether LD_PRELOAD cannot contain this path. */
bool dw_preload_is_split(const char *path);

/* The path of a link to the folder, or NULL if none can be made. */
const char *dw_preload_link(const char *folder);
