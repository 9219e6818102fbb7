/*
 * Reads the messages of tensorflow.ProfilerService; called by http.c and capture.c.
 *
 * Of a ProfileRequest only numbers and the session's name are used. Paths (repository_root) are for
 * servers that share a file system with the client. This server answers with the bytes, and the
 * client stores them.
 */
#include <stdio.h>
#include <string.h>

#include "base/proto.h"
#include "serve/inside.h"

enum { REQUEST_DURATION = 1, REQUEST_OPTIONS = 4, REQUEST_SESSION = 6, REQUEST_EMIT_XSPACE = 9 };
enum { OPTIONS_PYTHON_LEVEL = 4, OPTIONS_START_NS = 8, OPTIONS_DURATION = 9 };
enum { TERMINATE_SESSION = 1 };

static bool request_take_text(char to[DW_SERVE_MOST_SESSION], const struct dw_proto_field *field)
{
	if (field->length >= DW_SERVE_MOST_SESSION || memchr(field->bytes, '\0', field->length))
		return false;
	memcpy(to, field->bytes, field->length);
	to[field->length] = '\0';
	return true;
}

static bool request_read_options(struct dw_serve_request *request, const struct dw_proto_field *message)
{
	struct dw_proto_reader reader = dw_proto_read(message->bytes, message->length);
	struct dw_proto_field field;

	while (dw_proto_next(&reader, &field)) {
		if (field.wire != DW_PROTO_VARINT)
			continue;
		if (field.field == OPTIONS_DURATION && field.number)
			request->duration_ms = field.number; /* the one that XLA's server uses */
		else if (field.field == OPTIONS_START_NS)
			request->start_ns = field.number;
		else if (field.field == OPTIONS_PYTHON_LEVEL)
			request->functions = field.number > 0;
	}
	return !reader.bad;
}

static bool request_read_fields(struct dw_serve_request *request, const unsigned char *bytes, size_t length)
{
	struct dw_proto_reader reader = dw_proto_read(bytes, length);
	struct dw_proto_field field;
	struct dw_proto_field options = { 0 };

	while (dw_proto_next(&reader, &field)) {
		if (field.field == REQUEST_DURATION && field.wire == DW_PROTO_VARINT)
			request->duration_ms = field.number;
		else if (field.field == REQUEST_EMIT_XSPACE && field.wire == DW_PROTO_VARINT)
			request->emit_xspace = field.number != 0;
		else if (field.field == REQUEST_OPTIONS && field.wire == DW_PROTO_BYTES)
			options = field;
		else if (field.field == REQUEST_SESSION &&
		         (field.wire != DW_PROTO_BYTES || !request_take_text(request->session, &field)))
			return false;
	}
	return !reader.bad && (!options.length || request_read_options(request, &options));
}

enum dw_grpc dw_serve_read_profile(struct dw_serve_request *request, const unsigned char *bytes,
                                   size_t length, char *message, size_t room)
{
	memset(request, 0, sizeof *request);
	if (!request_read_fields(request, bytes, length)) {
		snprintf(message, room, "the ProfileRequest is damaged, or its session_id too long");
		return DW_GRPC_INVALID_ARGUMENT;
	}
	if (request->duration_ms == 0 || request->duration_ms > DW_SERVE_MOST_MS) {
		snprintf(message, room, "a duration of %llu ms; ask for 1 to %u ms",
		         (unsigned long long)request->duration_ms, DW_SERVE_MOST_MS);
		return DW_GRPC_INVALID_ARGUMENT;
	}
	return DW_GRPC_OK;
}

bool dw_serve_read_terminate(char session[DW_SERVE_MOST_SESSION], const unsigned char *bytes, size_t length)
{
	struct dw_proto_reader reader = dw_proto_read(bytes, length);
	struct dw_proto_field field;

	session[0] = '\0';
	while (dw_proto_next(&reader, &field))
		if (field.field == TERMINATE_SESSION && (field.wire != DW_PROTO_BYTES || !request_take_text(session, &field)))
			return false;
	return !reader.bad;
}
