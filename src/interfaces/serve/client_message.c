/*
 * The messages that a client of tensorflow.ProfilerService sends and receives; called by client.c.
 *
 * Messages are sent with gRPC's frame header before them. Received bytes are not trusted.
 */
#include "serve/client_message.h"

#include <string.h>

#include "base/system/clock.h"

enum { REQUEST_DURATION = 1, REQUEST_MOST_EVENTS = 2, REQUEST_OPTIONS = 4, REQUEST_ROOT = 5,
	   REQUEST_SESSION = 6, REQUEST_HOST = 7, REQUEST_EMIT_XSPACE = 9 };
enum { OPTIONS_DATASET = 1, OPTIONS_HOST_LEVEL = 2, OPTIONS_DEVICE_LEVEL = 3,
	   OPTIONS_PYTHON_LEVEL = 4, OPTIONS_VERSION = 5, OPTIONS_HLO = 7, OPTIONS_START_NS = 8,
	   OPTIONS_DURATION = 9 };
enum { RESPONSE_TOOL = 6, RESPONSE_EMPTY = 7, RESPONSE_XSPACE = 8, TOOL_NAME = 1, TOOL_DATA = 2 };
enum { TERMINATE_SESSION = 1 };

static void message_frame(struct dw_proto *message)
{
	size_t length = message->used - DW_CLIENT_FRAME;

	if (message->failed)
		return;
	message->bytes[0] = 0;
	for (unsigned i = 0; i < 4; i++)
		message->bytes[1 + i] = (unsigned char)(length >> (24 - 8 * i));
}

static void message_open_frame(struct dw_proto *message)
{
	/* each varint of 0 is one byte: reserves space for the header */
	for (unsigned i = 0; i < DW_CLIENT_FRAME; i++)
		dw_proto_varint(message, 0);
}

void dw_client_terminate(struct dw_proto *to, const struct dw_client_options *options)
{
	message_open_frame(to);
	dw_proto_text(to, TERMINATE_SESSION, options->session);
	message_frame(to);
}

void dw_client_request(struct dw_proto *to, const struct dw_client_options *options)
{
	size_t at;

	message_open_frame(to);
	dw_proto_u64(to, REQUEST_DURATION, options->duration_ms);
	dw_proto_u64(to, REQUEST_MOST_EVENTS, 1000000);
	at = dw_proto_open(to, REQUEST_OPTIONS);
	dw_proto_u64(to, OPTIONS_DATASET, 1);
	dw_proto_u64(to, OPTIONS_HOST_LEVEL, 2);
	dw_proto_u64(to, OPTIONS_DEVICE_LEVEL, 1);
	dw_proto_u64(to, OPTIONS_PYTHON_LEVEL, options->functions);
	dw_proto_u64(to, OPTIONS_VERSION, 1);
	dw_proto_u64(to, OPTIONS_HLO, 1);
	if (options->delay_ms) /* the wall clock is assumed to be close to the server's */
		dw_proto_u64(to, OPTIONS_START_NS, dw_clock_ns(CLOCK_REALTIME) + options->delay_ms * 1000000u);
	dw_proto_u64(to, OPTIONS_DURATION, options->duration_ms); /* the one that servers use */
	dw_proto_close(to, at);
	dw_proto_text(to, REQUEST_ROOT, options->repository);
	dw_proto_text(to, REQUEST_SESSION, options->session);
	dw_proto_text(to, REQUEST_HOST, options->address);
	message_frame(to);
}

static void message_take_tool(const struct dw_proto_field *tool, struct dw_client_answer *answer)
{
	struct dw_proto_reader reader = dw_proto_read(tool->bytes, tool->length);
	struct dw_proto_field field, name = { 0 }, data = { 0 };

	while (dw_proto_next(&reader, &field)) {
		if (field.wire == DW_PROTO_BYTES && field.field == TOOL_NAME)
			name = field;
		else if (field.wire == DW_PROTO_BYTES && field.field == TOOL_DATA)
			data = field;
	}
	if (name.length == 9 && memcmp(name.bytes, "xplane.pb", 9) == 0 && data.length) {
		answer->xspace = data.bytes;
		answer->xspace_bytes = data.length;
	}
}

bool dw_client_read(struct dw_client_answer *answer)
{
	struct dw_proto_reader reader = dw_proto_read(answer->message, answer->length);
	struct dw_proto_field field;

	while (dw_proto_next(&reader, &field)) {
		if (field.field == RESPONSE_TOOL && field.wire == DW_PROTO_BYTES) {
			message_take_tool(&field, answer);
		} else if (field.field == RESPONSE_EMPTY && field.wire == DW_PROTO_VARINT) {
			answer->empty = field.number != 0;
		} else if (field.field == RESPONSE_XSPACE && field.wire == DW_PROTO_BYTES && field.length) {
			answer->xspace = field.bytes;
			answer->xspace_bytes = field.length;
		}
	}
	return !reader.bad;
}
