/*
 * The client of a capture: requests one from a profiler server.
 *
 * Used by `dwell capture`, with dwell's own server or XLA's (JAX, TensorFlow, torch_xla). It uses
 * tensorflow.ProfilerService/Profile over gRPC on cleartext HTTP/2, in one thread with poll(). It
 * writes no file: the caller gets the answer.
 */
#pragma once

#include "dwell/dwell.h"
#include "serve/client_message.h"

/*
 * Waits for the answer. When `*stop` becomes 1, ends the capture early; when it becomes 2, gives
 * up. Errors: DWELL_E_ARGUMENT for the address, DWELL_E_IO with the cause and a remedy,
 * DWELL_E_STATE if another capture is running, DWELL_E_NOMEM.
 */
int dw_client_profile(const struct dw_client_options *options, const volatile int *stop,
                      struct dw_client_answer *answer, struct dwell_error *error);
