/* Command lines without secrets; in metadata.c. */
#pragma once

#include <stddef.h>

/* Joins arguments that end with NUL each, as in /proc/PID/cmdline, with blanks. */
void dw_metadata_redact(const char *arguments, size_t length, char *line, size_t size);
