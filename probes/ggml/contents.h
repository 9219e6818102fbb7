/* What a graph consists of, said once in the trace; see contents.c. */
#pragma once

#include "library.h"

/* `id`: of the graph's name. */
void dwg_contents_note(struct dwg_library *ggml, struct ggml_cgraph *graph, uint32_t id);
