/* The messages of client.c. */
#ifndef DW_SERVE_CLIENT_MESSAGE_H
#define DW_SERVE_CLIENT_MESSAGE_H

#include "base/proto.h"
#include "serve/client.h"

#define DW_CLIENT_FRAME 5u /* size of gRPC's header: whether it is compressed, and the length */

void dw_client_request(struct dw_proto *to, const struct dw_client_options *options);
void dw_client_terminate(struct dw_proto *to, const struct dw_client_options *options);
/* Finds the capture in answer->message; false: the message is not a ProfileResponse. */
bool dw_client_read(struct dw_client_answer *answer);

#endif
