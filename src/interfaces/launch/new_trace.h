/*
 * The file of a new trace, where the user names none: NAME.dwell in this folder, NAME-2.dwell if that is there, and so on. If
 * this folder was removed or is read-only, it is in the folder of temporary files.
 */
#pragma once

#include <stddef.h>

/* Writes the name of a command's trace: train for `python3 -u train.py`, app for ./app. */
void dw_new_trace_name(char **command, char *name, size_t size);

/* Creates the file. Returns a descriptor, DWELL_E_EXISTS if it is there, or another negative number. */
typedef int dw_new_trace_create(void *context, const char *path);
/* Calls `create` with one path after another, until one is not there; returns what it returned last. *elsewhere: what is wrong
 * with this folder, if the path is in another one; or NULL. */
int dw_new_trace(char **command, dw_new_trace_create *create, void *context, const char **elsewhere);

#define DW_NEW_TRACE_TEXT 400
/* What to say of the traces NAME.dwell to NAME-(number - 1).dwell, so that they do not pile up unseen: each fifth time how many
 * there are, and how to keep fewer. "": nothing. */
void dw_new_trace_others(const char *name, unsigned number, char text[DW_NEW_TRACE_TEXT]);
