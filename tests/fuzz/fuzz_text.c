/*
 * Property: whatever the bytes of a text, what is printed of it holds nothing that steers a
 * terminal, a JSON string of it is JSON, and whether it is JSON itself is answered. A
 * server's answer to a capture is read without a fault.
 */
#include <string.h>

#include "base/text.h"
#include "bounds.h"
#include "export/json.h"
#include "serve/client_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct out {
	char *at;
	size_t used, size;
};

static void put(void *to, const char *bytes, size_t length)
{
	struct out *out = to;

	demand(out->used + length < out->size);
	memcpy(out->at + out->used, bytes, length);
	out->used += length;
}

static void check_harmless(const char *text, bool lines)
{
	while (*text) {
		const char *at = text;
		uint32_t code = dw_utf8_next(&text);

		demand(!(code == 0xfffd && text - at == 1));
		demand(!dw_utf8_steers(code) || (lines && (code == '\n' || code == '\t')));
	}
}

static void read_answer(const uint8_t *data, size_t size)
{
	struct dw_client_answer answer = { .message = malloc(size + 1), .length = size };

	if (!answer.message)
		return;
	memcpy(answer.message, data, size);
	if (dw_client_read(&answer) && answer.xspace)
		demand(answer.xspace >= answer.message &&
		       answer.xspace + answer.xspace_bytes <= answer.message + size);
	free(answer.message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out out = { malloc(size * 6 + 16), 0, size * 6 + 16 };
	char *text = malloc(size + 1), *copy = malloc(size + 1);

	bounds_begin();
	demand(out.at && text && copy);
	memcpy(text, data, size);
	text[size] = '\0';
	dw_json_text(put, &out, text);
	out.at[out.used] = '\0';
	demand(dw_json_valid(out.at));
	dw_json_valid(text);
	for (int lines = 0; lines < 2; lines++) {
		memcpy(copy, text, size + 1);
		dw_text_disarm(copy, lines);
		demand(strlen(copy) <= strlen(text));
		check_harmless(copy, lines);
	}
	read_answer(data, size);
	bounds_end(data, size, size);
	free(copy);
	free(text);
	free(out.at);
	return 0;
}
