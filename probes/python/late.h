/* Sees libraries that a program loads while it runs. Part of libdwell-attach.so. */
#pragma once

#include <stdbool.h>

/* Calls loaded() after each dlopen() of the program that has added libraries, when these have been initialised. Does
 * nothing on other processors than x86-64. */
void dwp_late_watch(void (*loaded)(void));

/* Whether the program loaded libraries since the last call that loaded() was not called for. */
bool dwp_late_missed(void);

/* Why PyTorch was loaded and loaded() was not called, and the remedy. */
#if defined(__x86_64__)
#define DWP_LATE_LACKS "it was loaded by a dlopen() that looks in the folders of its caller (RUNPATH): give it the full path, or " \
                       "link the program to libtorch_cpu.so"
#else
#define DWP_LATE_LACKS "it was loaded by dlopen(), which is recorded on x86-64 alone: link the program to libtorch_cpu.so"
#endif
