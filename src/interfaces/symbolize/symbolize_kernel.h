/* The part of symbolize.h for the kernel's code. */
#pragma once

#include "read/source.h"

/* Names the frames in the kernel by /proc/kallsyms, and appends SYMBOL entries whose file is DW_KERNEL. Says if the kernel
 * shows no addresses, also in the trace. */
void dw_symbolize_kernel(const struct dw_source_file *file);
