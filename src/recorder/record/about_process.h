/* What is known about a process. */
#pragma once

#include "record/record.h"

void dw_metadata_read_environment(void); /* when the library is loaded */
bool dw_metadata_process(struct dw_entry_process *entry);
void dw_libraries_read_environment(void); /* when the library is loaded */
void dw_libraries_note(void);
void dw_libraries_note_at_end(void); /* when the process or the session ends: asks the loader */
/* False: it is not in the trace. */
bool dw_meta(const char *key, const char *value, uint32_t flags);

/* account.c. When the library is loaded; after the process is registered; after a sample. */
void dw_account_begin(void);
void dw_account_register(void);
void dw_account_sample(uint32_t weight);
