/* PyTorch. */
#ifndef DW_FRAMEWORKS_TORCH_H
#define DW_FRAMEWORKS_TORCH_H

#include "frameworks/frameworks.h"

/* What torch.profiler calls a step: in a timeline, with the step's number, and in tables. */
#define DW_TORCH_STEP "ProfilerStep#"
#define DW_TORCH_STEPS "ProfilerStep*"

extern const struct dw_framework dw_framework_torch;

#endif
