/* Writes JSON value by value; see json_writer.h. */
#include "render/json_writer.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "render/render.h"

void dw_json_key(struct dw_json *json, const char *key)
{
	fputs(json->more ? "," : "", json->file);
	fputs(json->line ? json->line : "", json->file);
	if (key)
		fprintf(json->file, "\"%s\":", key);
	json->more = true;
	json->line = NULL;
}

void dw_json_line(struct dw_json *json, const char *line)
{
	json->line = line;
}

void dw_json_open(struct dw_json *json, const char *key, char bracket)
{
	dw_json_key(json, key);
	fputc(bracket, json->file);
	json->more = false;
}

void dw_json_close(struct dw_json *json, char bracket)
{
	fputc(bracket, json->file);
	json->more = true;
}

void dw_json_put_text(struct dw_json *json, const char *key, const char *text)
{
	dw_json_key(json, key);
	if (text)
		dw_json_text(dw_render_put, json->file, text);
	else
		fputs("null", json->file);
}

void dw_json_put_texts(struct dw_json *json, const char *key, const char *const *texts, size_t count)
{
	dw_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++)
		dw_json_put_text(json, NULL, texts[i]);
	dw_json_close(json, ']');
}

void dw_json_put_whole(struct dw_json *json, const char *key, uint64_t value)
{
	dw_json_key(json, key);
	fprintf(json->file, "%" PRIu64, value);
}

void dw_json_put_real(struct dw_json *json, const char *key, double value)
{
	dw_json_key(json, key);
	if (isfinite(value))
		dw_render_real(json->file, value);
	else
		fputs("null", json->file);
}

void dw_json_put_flag(struct dw_json *json, const char *key, bool value)
{
	dw_json_key(json, key);
	fputs(value ? "true" : "false", json->file);
}
