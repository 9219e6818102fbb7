/* The tools of the server for agents, and a call of one; see mcp.h. */
#pragma once

#include <stdbool.h>

#define DW_MCP_MOST_BYTES 8192u /* of an answer */
#define DW_MCP_MOST_SECONDS 60u /* of a call */

struct dw_mcp_answer {
	char *text; /* what the tool answers, then what it says besides */
	bool failed; /* the text says what is wrong, and what to do */
};

struct dw_json;
/* Writes the list of tools. */
void dw_mcp_put_tools(struct dw_json *json);
/* Calls a tool. `arguments`: an object, or NULL. False: no tool has that name. */
bool dw_mcp_call(const char *name, const char *arguments, struct dw_mcp_answer *answer);
/* "overview, verdicts, ...". Returns `text`. */
const char *dw_mcp_tool_names(char text[256]);
