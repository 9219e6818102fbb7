/*
 * Spans of OpenTelemetry as JSON (OTLP), as a collector writes them to a file: an object a line, with the member "resourceSpans".
 *
 * A span is an asynchronous range. One that has what vLLM says of a request, attributes gen_ai.latency.*, is a request with the stages
 * prefill and decode, and its tokens: the first when it came, the others at the request's end, since spans do not say when. SGLang
 * says it by spans of the request's trace, which are stages by their names.
 */
#pragma once

#include "import/chrome.h"

#define OTLP_MEMBER "resourceSpans"

/* Reads the list, whose bracket was taken. False: the file ends within it, or is no JSON there. */
bool otlp_read(struct chrome *chrome);
