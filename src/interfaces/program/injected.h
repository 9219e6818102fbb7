/* The library that `dwell run` names to libraries which announce their work through ITT or NVTX. */
#pragma once

#include <stdbool.h>

struct dw_executable;
struct dw_source;

/* Sets the environment variables of the interfaces, for the program that is executed next. An
 * interface that is not wanted is left as it is. */
void dw_injected_set(const struct dw_executable *executable, bool itt, bool nvtx);
/* The same for CUDA's driver, which loads the probe when a program first uses it. */
void dw_injected_set_cuda(const struct dw_executable *executable, bool cuda);
/* Prints which interfaces were used in the trace, and by what; nothing if none was. */
void dw_injected_say(const struct dw_source *source);
