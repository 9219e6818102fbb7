/*
 * dwell for agents: a server of the Model Context Protocol over standard input and output.
 *
 * Messages are JSON-RPC 2.0, one a line. Since version 2026-07-28 of the protocol each request names its version in
 * params._meta, and server/discover says which there are; clients of older versions begin with initialize. A tool is a verb
 * of the command with some of its options: mcp_tools.c lists them, and runs each call as the command would, in a child
 * process, with JSON for output. So a tool answers, and explains a mistake, as the command does. If a call takes too
 * much memory or time, only the child ends, and the server goes on.
 *
 *   mcp.c          the messages of the protocol, and its errors
 *   mcp_message.c  reads a message
 *   mcp_tools.c    the tools
 *
 * Answers have at most DW_MCP_MOST_BYTES of text: rows that do not fit are left out, and their number is said (say/output.h).
 */
#pragma once

#include <stdio.h>

#define DW_MCP_VERSION "2026-07-28"          /* of the protocol */
#define DW_MCP_WITH_INITIALIZE "2025-11-25" /* the newest whose clients begin with initialize */

/* Answers messages until the input ends. Returns the exit status. */
int dw_mcp_serve(FILE *input, int output);
