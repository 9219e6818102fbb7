/* The messages of the protocol; see mcp.h. */
#include "agents/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "agents/mcp_message.h"
#include "agents/mcp_tools.h"
#include "dwell/dwell.h"
#include "render/json_writer.h"
#include "say/output.h"
#include "say/say.h"

#define MCP_MOST_MESSAGE (1u << 20)
#define MCP_TOOLS "tools/" /* methods */
#define MCP_LASTS_MS 3600000u

/* Codes of JSON-RPC. */
enum {
	MCP_NO_VERSION = -32022,
	MCP_NO_JSON = -32700,
	MCP_NO_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_BAD_PARAMETERS = -32602,
	MCP_INTERNAL = -32603
};

#define MCP_META "io.modelcontextprotocol/"

/* The first without a handshake; the others differ in nothing that this server does. */
static const char *const mcp_versions[] = { DW_MCP_VERSION, DW_MCP_WITH_INITIALIZE, "2025-06-18", "2025-03-26", "2024-11-05" };
#define MCP_VERSIONS (sizeof mcp_versions / sizeof *mcp_versions)

static const char mcp_instructions[] =
	"dwell's traces say where a program's time and memory go. Begin with verdicts: each has its evidence, a remedy and what that saves "
	"at most. A column's unit is ns, bytes, count or ratio (0 to 1, of what its \"of\", or \"sums\" and \"whole\", say). \"rows_cut\" "
	"rows are left out of an answer: narrow it, or ask in SQL.";

struct mcp {
	int output;
	const char *id; /* of the request, in the message; NULL: not known, or it is a notification */
	bool initialized; /* by a client of an older version */
	bool modern;      /* the request names its version itself */
	bool lost; /* nobody reads the output */
};

/* ---- answers ---------------------------------------------------------------------------------- */

struct mcp_out {
	struct dw_json json;
	char *bytes;
	size_t length;
};

/* False: out of memory, which ends the server. */
static bool mcp_begin(struct mcp *mcp, struct mcp_out *out)
{
	*out = (struct mcp_out){ .bytes = NULL };
	out->json.file = open_memstream(&out->bytes, &out->length);
	mcp->lost |= !out->json.file;
	if (!out->json.file)
		return false;
	dw_json_open(&out->json, NULL, '{');
	dw_json_put_text(&out->json, "jsonrpc", "2.0");
	dw_json_key(&out->json, "id");
	if (mcp->id)
		fwrite(mcp->id, 1, dw_mcp_length(mcp->id), out->json.file);
	else
		fputs("null", out->json.file);
	return true;
}

static void mcp_end(struct mcp *mcp, struct mcp_out *out)
{
	bool good;

	dw_json_close(&out->json, '}');
	fputc('\n', out->json.file);
	good = fclose(out->json.file) == 0 && out->bytes;
	mcp->lost |= !good || !dw_output_write(mcp->output, out->bytes, out->length);
	free(out->bytes);
}

/* `asked`: the version of the protocol that is not supported, or NULL. */
static void mcp_fail_with(struct mcp *mcp, int code, const char *text, const char *asked)
{
	struct mcp_out out;

	if (!mcp_begin(mcp, &out))
		return;
	dw_json_open(&out.json, "error", '{');
	dw_json_key(&out.json, "code");
	fprintf(out.json.file, "%d", code);
	dw_json_put_text(&out.json, "message", text);
	if (asked) {
		dw_json_open(&out.json, "data", '{');
		dw_json_put_texts(&out.json, "supported", mcp_versions, MCP_VERSIONS);
		dw_json_put_text(&out.json, "requested", asked);
		dw_json_close(&out.json, '}');
	}
	dw_json_close(&out.json, '}');
	mcp_end(mcp, &out);
}

static void mcp_fail(struct mcp *mcp, int code, const char *text)
{
	mcp_fail_with(mcp, code, text, NULL);
}

static void mcp_put_server(struct dw_json *json, const char *key)
{
	dw_json_open(json, key, '{');
	dw_json_put_text(json, "name", "dwell");
	dw_json_put_text(json, "version", dwell_version());
	dw_json_close(json, '}');
}

static void mcp_put_capabilities(struct dw_json *json)
{
	dw_json_open(json, "capabilities", '{');
	dw_json_open(json, "tools", '{');
	dw_json_close(json, '}');
	dw_json_close(json, '}');
}

/* Begins a result. `lasts`: it is the same for as long as the server runs. */
static bool mcp_begin_result(struct mcp *mcp, struct mcp_out *out, bool lasts)
{
	if (!mcp_begin(mcp, out))
		return false;
	dw_json_open(&out->json, "result", '{');
	if (!mcp->modern)
		return true;
	dw_json_put_text(&out->json, "resultType", "complete");
	if (lasts) {
		dw_json_put_whole(&out->json, "ttlMs", MCP_LASTS_MS);
		dw_json_put_text(&out->json, "cacheScope", "public");
	}
	dw_json_open(&out->json, "_meta", '{');
	mcp_put_server(&out->json, MCP_META "serverInfo");
	dw_json_close(&out->json, '}');
	return true;
}

static void mcp_end_result(struct mcp *mcp, struct mcp_out *out)
{
	dw_json_close(&out->json, '}');
	mcp_end(mcp, out);
}

/* ---- requests --------------------------------------------------------------------------------- */

static void mcp_initialize(struct mcp *mcp, const char *parameters)
{
	const char *asked = dw_mcp_member(parameters, "protocolVersion");
	char *version = asked && *asked == '"' ? dw_mcp_text(asked) : NULL;
	const char *chosen = DW_MCP_WITH_INITIALIZE;
	struct mcp_out out;

	if (!version) {
		mcp_fail(mcp, MCP_BAD_PARAMETERS, "initialize needs protocolVersion, as \"" DW_MCP_WITH_INITIALIZE "\"");
		return;
	}
	for (size_t i = 1; i < MCP_VERSIONS; i++)
		if (strcmp(version, mcp_versions[i]) == 0)
			chosen = mcp_versions[i]; /* to any other version the protocol wants one of the server's in return */
	free(version);
	mcp->initialized = true;
	if (!mcp_begin_result(mcp, &out, true))
		return;
	dw_json_put_text(&out.json, "protocolVersion", chosen);
	mcp_put_capabilities(&out.json);
	mcp_put_server(&out.json, "serverInfo");
	dw_json_put_text(&out.json, "instructions", mcp_instructions);
	mcp_end_result(mcp, &out);
}

static void mcp_discover(struct mcp *mcp)
{
	struct mcp_out out;

	if (!mcp_begin_result(mcp, &out, true))
		return;
	dw_json_put_texts(&out.json, "supportedVersions", mcp_versions, MCP_VERSIONS);
	mcp_put_capabilities(&out.json);
	dw_json_put_text(&out.json, "instructions", mcp_instructions);
	mcp_end_result(mcp, &out);
}

static void mcp_list(struct mcp *mcp)
{
	struct mcp_out out;

	if (!mcp_begin_result(mcp, &out, true))
		return;
	dw_mcp_put_tools(&out.json);
	mcp_end_result(mcp, &out);
}

static void mcp_call(struct mcp *mcp, const char *parameters)
{
	const char *name = dw_mcp_member(parameters, "name"), *arguments = dw_mcp_member(parameters, "arguments");
	char *tool = name ? dw_mcp_text(name) : NULL, text[512], names[256];
	struct dw_mcp_answer answer = { NULL, false };
	struct mcp_out out;

	if (!tool || !dw_mcp_call(tool, arguments, &answer)) {
		snprintf(text, sizeof text, "no tool '%.60s'; there are: %s", tool ? tool : "", dw_mcp_tool_names(names));
		mcp_fail(mcp, MCP_BAD_PARAMETERS, text);
	} else if (!answer.text) {
		mcp_fail(mcp, MCP_INTERNAL, "out of memory");
	} else if (mcp_begin_result(mcp, &out, false)) {
		dw_json_open(&out.json, "content", '[');
		dw_json_open(&out.json, NULL, '{');
		dw_json_put_text(&out.json, "type", "text");
		dw_json_put_text(&out.json, "text", answer.text);
		dw_json_close(&out.json, '}');
		dw_json_close(&out.json, ']');
		dw_json_put_flag(&out.json, "isError", answer.failed);
		mcp_end_result(mcp, &out);
	}
	free(answer.text);
	free(tool);
}

static void mcp_ping(struct mcp *mcp)
{
	struct mcp_out out;

	if (mcp_begin_result(mcp, &out, false))
		mcp_end_result(mcp, &out);
}

static void mcp_request(struct mcp *mcp, const char *method, const char *parameters)
{
	char text[256];

	if (!mcp->modern && strcmp(method, "initialize") == 0) {
		mcp_initialize(mcp, parameters);
	} else if (!mcp->modern && strcmp(method, "ping") == 0) {
		mcp_ping(mcp);
	} else if (!mcp->modern && !mcp->initialized) {
		mcp_fail(mcp, MCP_BAD_PARAMETERS,
		         "the request does not say its version: set params._meta[\"" MCP_META "protocolVersion\"] to \"" DW_MCP_VERSION
		         "\", or begin with initialize");
	} else if (mcp->modern && strcmp(method, "server/discover") == 0) {
		mcp_discover(mcp);
	} else if (strcmp(method, MCP_TOOLS "list") == 0) {
		mcp_list(mcp);
	} else if (strcmp(method, MCP_TOOLS "call") == 0) {
		mcp_call(mcp, parameters);
	} else {
		snprintf(text, sizeof text, "no method '%.60s'; there are: %s, " MCP_TOOLS "list, " MCP_TOOLS "call", method,
		         mcp->modern ? "server/discover" : "initialize, ping");
		mcp_fail(mcp, MCP_NO_METHOD, text);
	}
}

/* Reads what a request says of its version. False after an error. */
static bool mcp_take_version(struct mcp *mcp, const char *parameters)
{
	const char *meta = dw_mcp_member(parameters, "_meta"), *value = dw_mcp_member(meta, MCP_META "protocolVersion");
	char *version = value ? dw_mcp_text(value) : NULL;

	mcp->modern = value != NULL;
	if (!value)
		return true;
	if (!version || strcmp(version, DW_MCP_VERSION) != 0)
		mcp_fail_with(mcp, MCP_NO_VERSION,
		              "this server has version " DW_MCP_VERSION " of the protocol, and older ones after initialize",
		              version ? version : "");
	else if (!dw_mcp_member(meta, MCP_META "clientCapabilities"))
		mcp_fail(mcp, MCP_BAD_PARAMETERS, "params._meta lacks \"" MCP_META "clientCapabilities\", which may be {}");
	else
		value = NULL;
	free(version);
	return !value;
}

/* Whether a request may have such an id. */
static bool mcp_is_id(const char *id)
{
	return *id == '"' || *id == '-' || (*id >= '0' && *id <= '9');
}

static bool mcp_is_version_2(const char *message)
{
	const char *version = dw_mcp_member(message, "jsonrpc");

	return version && strncmp(version, "\"2.0\"", 5) == 0;
}

/* A notification has no id, and gets no answer. */
static void mcp_take(struct mcp *mcp, const char *message, size_t length)
{
	const char *method, *id;
	char *name;

	mcp->id = NULL;
	mcp->modern = false;
	if (!dw_mcp_is_json(message, length)) {
		mcp_fail(mcp, MCP_NO_JSON, "this line is no JSON: send one message of JSON-RPC 2.0 a line");
		return;
	}
	id = dw_mcp_member(message, "id");
	method = dw_mcp_member(message, "method");
	if (id && mcp_is_id(id))
		mcp->id = id;
	name = method ? dw_mcp_text(method) : NULL;
	if (!mcp_is_version_2(message) || !name || *method != '"' || (id && !mcp->id))
		mcp_fail(mcp, MCP_NO_REQUEST, "a request is an object with jsonrpc, id (a text or a number), method and params; lists of "
		                              "requests are not answered");
	else if (id && mcp_take_version(mcp, dw_mcp_member(message, "params")))
		mcp_request(mcp, name, dw_mcp_member(message, "params"));
	free(name);
}

int dw_mcp_serve(FILE *input, int output)
{
	struct mcp mcp = { .output = output };
	char *line = NULL;
	size_t size = 0;
	ssize_t read;

	while (!mcp.lost && (read = getline(&line, &size, input)) >= 0) {
		size_t length = (size_t)read;
		char *message;

		while (length && strchr(" \t\r\n", line[length - 1]))
			line[--length] = '\0';
		if (!length)
			continue;
		message = length <= MCP_MOST_MESSAGE ? calloc(1, length + DW_MCP_SLACK) : NULL;
		if (message) {
			memcpy(message, line, length);
			mcp_take(&mcp, message + strspn(message, " \t"), length - strspn(message, " \t"));
		} else {
			mcp.id = NULL;
			mcp_fail(&mcp, MCP_NO_REQUEST, "a message has at most 1 MiB");
		}
		free(message);
	}
	free(line);
	return mcp.lost ? DW_EXIT_PIPE : 0;
}
