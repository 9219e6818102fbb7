/* What people read of a frame and of a wait. */
#pragma once

#include <stddef.h>

#include "process/process.h"

/* The function's name, of C++ without its parameters. */
void dw_top_frame_name(const struct dw_process_frame *frame, char *text, size_t size);
/* The end of the path of its file; "": the file is not known. */
const char *dw_top_frame_file(const struct dw_process_frame *frame);
/* "a lock that thread 17 holds", of a thread of which this is known. */
void dw_top_put_awaited(const struct dw_process_thread *thread, char text[80]);
