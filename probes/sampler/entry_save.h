/* The code between a function and the step that begins with its call; see entry_save.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Used by code in assembly, which link-time optimization does not see. */
#define SEEN_BY_CODE __attribute__((visibility("hidden"), used))
extern __attribute__((visibility("hidden"))) uint32_t dws_entry_taken; /* atomic; a thread has the steps */
extern __attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread bool dws_entry_steps; /* this one */
SEEN_BY_CODE void dws_entry_called(void);

/* What the copy of the function's first instructions calls. */
__attribute__((visibility("hidden"))) void dws_entry_save(void);

/* Which registers this processor has. Returns why they cannot be kept, or NULL. */
const char *dws_entry_prepare(void);
