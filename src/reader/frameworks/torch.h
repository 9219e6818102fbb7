/* PyTorch. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "frameworks/frameworks.h"

/* The names of steps in torch.profiler: in a timeline, followed by the number; in tables. */
#define DW_TORCH_STEP "ProfilerStep#"
#define DW_TORCH_STEPS "ProfilerStep*"

/* Whether torch.profiler hides operators of this name. */
bool dw_torch_is_hidden(const char *name);
/* Whether a detail is a part of the name in Kineto's files, as "SGD.step"; other details are dwell's own. */
bool dw_torch_names_call(const char *detail);
/* The name of a phase or of data loading in Kineto's files, where the detail is part of the name:
 * "Optimizer.step#SGD.step". The name itself if it has no such name. */
void dw_torch_annotation(uint32_t category, const char *name, const char *detail, char *text, size_t size);

extern const struct dw_framework dw_framework_torch;
