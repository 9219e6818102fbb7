/* The messages of client.c: what they ask for, and what is read from an answer. */
#pragma once

#include "base/proto.h"

#define DW_CLIENT_FRAME 5u /* size of gRPC's header: whether it is compressed, and the length */

struct dw_client_options {
	const char *address;     /* HOST:PORT */
	const char *session;     /* the capture's name */
	const char *repository;  /* the folder for a server that stores captures itself */
	const char *token;       /* NULL: none */
	uint64_t duration_ms, delay_ms;
	bool functions;          /* also the functions of the program's language */
};

struct dw_client_answer {
	unsigned char *message; /* the ProfileResponse; the caller frees it */
	size_t length;
	const unsigned char *xspace; /* within the message; NULL: the server did not send it */
	size_t xspace_bytes;
	bool empty;             /* the server reports that it recorded nothing */
};

void dw_client_request(struct dw_proto *to, const struct dw_client_options *options);
void dw_client_terminate(struct dw_proto *to, const struct dw_client_options *options);
/* Finds the capture in answer->message; false: the message is not a ProfileResponse. */
bool dw_client_read(struct dw_client_answer *answer);
