/* Parsing requests, from bytes that a protobuf library wrote. */
#include "check.h"

#include "serve/inside.h"

static struct dw_serve_request request;
static char message[160];

static enum dw_grpc read_bytes(const char *bytes, size_t length)
{
	return dw_serve_read_profile(&request, (const unsigned char *)bytes, length, message,
	                             sizeof message);
}
#define READ(bytes) read_bytes(bytes, sizeof bytes - 1)

TEST(the_duration_of_the_options_counts)
{
	CHECK_EQ(READ("\x08\xe8\x07"), DW_GRPC_OK); /* 1: 1000 */
	CHECK_EQ(request.duration_ms, 1000);
	CHECK_EQ(READ("\x08\xe8\x07\x22\x03\x48\xf4\x03"), DW_GRPC_OK); /* 4 { 9: 500 } */
	CHECK_EQ(request.duration_ms, 500);
	CHECK_EQ(READ("\x22\x03\x48\xf4\x03\x08\xe8\x07"), DW_GRPC_OK); /* in another order */
	CHECK_EQ(request.duration_ms, 500);
	CHECK_EQ(READ("\x08\xe8\x07\x22\x02\x48\x00"), DW_GRPC_OK); /* 4 { 9: 0 }: not given */
	CHECK_EQ(request.duration_ms, 1000);
}

TEST(a_duration_of_nothing_or_of_a_day_is_refused)
{
	CHECK_EQ(READ(""), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x00"), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x80\xb8\x99\x29"), DW_GRPC_INVALID_ARGUMENT); /* 86400000 */
	CHECK(strstr(message, "86400000 ms; ask for 1 to 3600000 ms"));
	CHECK_EQ(READ("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x80\xdd\xdb\x01"), DW_GRPC_OK); /* an hour */
}

TEST(start_functions_session_and_form)
{
	CHECK_EQ(READ("\x08\x64\x22\x04\x20\x01\x40\x05\x32\x03" "run\x48\x01"), DW_GRPC_OK);
	CHECK_EQ(request.start_ns, 5);
	CHECK(request.functions);
	CHECK(request.emit_xspace);
	CHECK(strcmp(request.session, "run") == 0);
}

TEST(damage_is_refused)
{
	CHECK_EQ(READ("\x08"), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x64\x32\x05" "run"), DW_GRPC_INVALID_ARGUMENT); /* longer than there is */
	CHECK_EQ(READ("\x08\x64\x30\x05"), DW_GRPC_INVALID_ARGUMENT);       /* a number for a name */
	CHECK_EQ(READ("\x08\x64\x32\x03" "a\0b"), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x64\x22\x02\x48"), DW_GRPC_INVALID_ARGUMENT);
	CHECK_EQ(READ("\x08\x64\x22\x01\x48"), DW_GRPC_INVALID_ARGUMENT);
}

TEST(names_are_bounded)
{
	char bytes[400] = "\x08\x64\x32\xff\x01", session[DW_SERVE_MOST_SESSION];

	memset(bytes + 5, 'x', 300);
	CHECK_EQ(read_bytes(bytes, 5 + 255), DW_GRPC_OK);
	CHECK_EQ(strlen(request.session), 255);
	bytes[3] = '\x80';
	bytes[4] = '\x02';
	CHECK_EQ(read_bytes(bytes, 5 + 256), DW_GRPC_INVALID_ARGUMENT);
	CHECK(dw_serve_read_terminate(session, (const unsigned char *)"\x0a\x01s", 3));
	CHECK(strcmp(session, "s") == 0);
	CHECK(dw_serve_read_terminate(session, NULL, 0));
	CHECK(!*session);
	CHECK(!dw_serve_read_terminate(session, (const unsigned char *)"\x08\x01", 2));
}

CHECK_MAIN
