/* PyTorch. */
#ifndef DW_FRAMEWORKS_TORCH_H
#define DW_FRAMEWORKS_TORCH_H

#include "frameworks/frameworks.h"

/* The names of steps in torch.profiler: in a timeline, followed by the number; in tables. */
#define DW_TORCH_STEP "ProfilerStep#"
#define DW_TORCH_STEPS "ProfilerStep*"

extern const struct dw_framework dw_framework_torch;

#endif
