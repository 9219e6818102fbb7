/* Blocks of the file. */
#pragma once

#include "record/record.h"

enum dw_claim { DW_CLAIM_STREAM, DW_CLAIM_RESERVED };

/* A fresh block, zeroed and mapped; 0 with the cause if there is none. Call it under the lock. */
uint32_t dw_window_take(enum dw_claim claim, char **address, enum dw_loss *cause);
/* Where a block is mapped; NULL if it is not one of this process. */
char *dw_window_address(uint32_t block);
/* A descriptor of the trace, for the caller alone, who closes it; -1: the trace cannot be opened. */
int dw_window_file(void);
/* Closes the session's descriptor, if it is still the trace's. */
void dw_window_forget_file(void);
/* Fetches the pages of a chunk before it is used, so that no probe has to. False if the chunk
 * cannot be written. */
bool dw_window_fetch(uint32_t block, char *chunk);
/* After a chunk was closed: its pages may be dropped from the process's memory. */
void dw_window_drop(uint32_t block);
