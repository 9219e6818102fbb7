/* Protocol buffers: bytes from the documentation of the encoding. */
#include <string.h>

#include "base/proto.h"
#include "check.h"

static struct dw_proto proto;

static bool is(const char *bytes, size_t length)
{
	bool same = !proto.failed && proto.used == length && memcmp(proto.bytes, bytes, length) == 0;

	dw_proto_reset(&proto);
	return same;
}
#define IS(literal) is(literal, sizeof literal - 1)

TEST(a_number_takes_as_many_bytes_as_it_needs)
{
	dw_proto_u64(&proto, 1, 150);
	CHECK(IS("\x08\x96\x01"));
	dw_proto_u64(&proto, 16, 0);
	CHECK(IS("\x80\x01\x00"));
	dw_proto_u64(&proto, 1, UINT64_MAX);
	CHECK(IS("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
}

TEST(fixed_numbers_have_their_low_byte_first)
{
	dw_proto_fixed64(&proto, 47, 0x0102030405060708);
	CHECK(IS("\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"));
	dw_proto_double(&proto, 1, 1.0);
	CHECK(IS("\x09\0\0\0\0\0\0\xf0\x3f"));
}

TEST(texts_are_utf8)
{
	dw_proto_text(&proto, 2, "testing");
	CHECK(IS("\x12\x07testing"));
	dw_proto_text(&proto, 2, "a\xc3");
	CHECK(IS("\x12\x04" "a\xef\xbf\xbd"));
	dw_proto_text(&proto, 2, "");
	CHECK(IS("\x12\x00"));
	dw_proto_bytes(&proto, 3, "\0\xff", 2);
	CHECK(IS("\x1a\x02\0\xff"));
}

TEST(a_message_knows_its_length_when_it_is_closed)
{
	size_t at = dw_proto_open(&proto, 3);

	dw_proto_u64(&proto, 1, 150);
	dw_proto_close(&proto, at);
	CHECK(IS("\x1a\x03\x08\x96\x01"));
}

TEST(a_long_message_moves_and_so_does_what_it_lies_in)
{
	char text[301];
	size_t outer, inner;

	memset(text, 'x', 300);
	text[300] = 0;
	outer = dw_proto_open(&proto, 1);
	inner = dw_proto_open(&proto, 2);
	dw_proto_text(&proto, 3, text);
	dw_proto_close(&proto, inner);
	dw_proto_u64(&proto, 4, 7);
	dw_proto_close(&proto, outer);
	CHECK_EQ(proto.used, 3u + 3u + 3u + 300u + 2u);
	CHECK(memcmp(proto.bytes, "\x0a\xb4\x02\x12\xaf\x02\x1a\xac\x02xx", 11) == 0);
	CHECK(memcmp(proto.bytes + proto.used - 3, "x\x20\x07", 3) == 0);
	dw_proto_reset(&proto);
}

TEST(a_packed_list_is_numbers_without_keys)
{
	size_t at = dw_proto_open(&proto, 6);

	dw_proto_varint(&proto, 3);
	dw_proto_varint(&proto, 270);
	dw_proto_varint(&proto, 86942);
	dw_proto_close(&proto, at);
	CHECK(IS("\x32\x06\x03\x8e\x02\x9e\xa7\x05"));
}

TEST(reads_what_it_wrote)
{
	struct dw_proto wrote = { 0 };
	struct dw_proto_field field;
	size_t at;

	dw_proto_u64(&wrote, 1, UINT64_MAX);
	dw_proto_fixed64(&wrote, 2, 7);
	at = dw_proto_open(&wrote, 3);
	dw_proto_u64(&wrote, 1, 5);
	dw_proto_close(&wrote, at);
	struct dw_proto_reader reader = dw_proto_read(wrote.bytes, wrote.used);

	CHECK(dw_proto_next(&reader, &field) && field.field == 1 && field.number == UINT64_MAX);
	CHECK(dw_proto_next(&reader, &field) && field.field == 2 && field.number == 7);
	CHECK(dw_proto_next(&reader, &field) && field.field == 3 && field.length == 2);
	CHECK(!dw_proto_next(&reader, &field) && !reader.bad);
	dw_proto_reset(&wrote);
}

TEST(refuses_what_is_no_field)
{
	static const struct {
		const char *bytes;
		size_t length;
	} bad[] = {
		{ "\x08", 1 },                                               /* no value */
		{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 }, /* too long a number */
		{ "\x12\x05" "abc", 5 },                                    /* ends within */
		{ "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },  /* a length that wraps */
		{ "\x09" "1234567", 8 }, { "\x0d" "123", 4 },
		{ "\x0b", 1 }, { "\x0f\x01", 2 }, { "\x00\x01", 2 },          /* groups, type 7, field 0 */
	};
	struct dw_proto_field field;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct dw_proto_reader reader = dw_proto_read(bad[i].bytes, bad[i].length);

		CHECK(!dw_proto_next(&reader, &field));
		CHECK(reader.bad);
	}
}

CHECK_MAIN
