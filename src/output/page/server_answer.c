/*
 * What `dwell view` answers; see server.h.
 *
 * Whoever asks is checked first: the Host, which a web site that lets its name point here cannot
 * forge; the Origin, which browsers add to requests of other sites; then the cookie.
 */
#include <stdio.h>

#include "page/server_inside.h"

#define MOST_TRACKS 256u   /* of a request */
#define MOST_ITEMS 60000u  /* of an answer */
#define MOST_BYTES (64u << 20)
#define MOST_TEXT 256u     /* of a search */

/* ---- who asks -------------------------------------------------------------------------------------- */

/* Whether `text` is PREFIX, then 127.0.0.1 or localhost, then this server's port. */
static bool answer_is_here(const struct dw_view *view, const char *text, const char *prefix)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char wanted[64];

	for (unsigned i = 0; text && i < 2; i++) {
		snprintf(wanted, sizeof wanted, "%s%s:%u", prefix, names[i], view->port);
		if (strcmp(text, wanted) == 0)
			return true;
	}
	return false;
}

/* Compares without telling by its duration how much is equal. */
static bool answer_is_secret(const char *given, size_t length, const char *secret)
{
	unsigned char differs = 0;

	if (length != DW_VIEW_SECRET - 1)
		return false;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char)(given[i] ^ secret[i]);
	return !differs;
}

static bool answer_has_cookie(const struct dw_view *view, const struct dw_view_request *request)
{
	char name[32];
	const char *at = request->cookie;
	size_t length = (size_t)snprintf(name, sizeof name, "dwell-%u=", view->port);

	while (at && *at) {
		at += strspn(at, " ;");
		if (strncmp(at, name, length) == 0 && answer_is_secret(at + length, strcspn(at + length, "; "), view->session))
			return true;
		at = strchr(at, ';');
	}
	return false;
}

/* Whether a page of another site asks, as far as the browser tells. A link to the page itself may be
 * anywhere: without the token or the cookie, which such a request lacks, it leads to nothing. */
static bool answer_is_foreign(const struct dw_view *view, const struct dw_view_request *request)
{
	if (request->origin && !answer_is_here(view, request->origin, "http://"))
		return true;
	return request->site && strcmp(request->path, "/") != 0 &&
	       strcmp(request->site, "same-origin") != 0 && strcmp(request->site, "none") != 0;
}

/* ---- parameters --------------------------------------------------------------------------------------- */

/* The value of a parameter; its length in *length. NULL: it is not given. */
static const char *answer_find(const struct dw_view_request *request, const char *name, size_t *length)
{
	size_t name_length = strlen(name);

	for (const char *at = request->query; *at;) {
		size_t part = strcspn(at, "&");

		if (part > name_length && at[name_length] == '=' && strncmp(at, name, name_length) == 0) {
			*length = part - name_length - 1;
			return at + name_length + 1;
		}
		at += part + (at[part] == '&');
	}
	return NULL;
}

/* A number of digits alone; false: it is none or not given. */
static bool answer_number(const struct dw_view_request *request, const char *name, uint64_t *value)
{
	size_t length = 0;
	const char *text = answer_find(request, name, &length);

	*value = 0;
	if (!text || !length || length > 18)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(text[i] - '0');
	}
	return true;
}

static int answer_digit(char digit)
{
	const char *digits = "0123456789abcdef", *at = digit ? strchr(digits, digit | 32) : NULL;

	return digit >= '0' && digit <= '9' ? digit - '0' : at && at - digits > 9 ? (int)(at - digits) : -1;
}

/* Decodes %XX and +. False: it is too long, empty or not well formed. */
static bool answer_text(const struct dw_view_request *request, const char *name, char text[MOST_TEXT])
{
	size_t length = 0, used = 0;
	const char *at = answer_find(request, name, &length);

	for (size_t i = 0; at && i < length; i++) {
		char letter = at[i] == '+' ? ' ' : at[i];

		if (at[i] == '%') {
			int high = i + 2 < length ? answer_digit(at[i + 1]) : -1;
			int low = high >= 0 ? answer_digit(at[i + 2]) : -1;

			if (low < 0 || high * 16 + low == 0)
				return false;
			letter = (char)(high * 16 + low);
			i += 2;
		}
		if (used + 1 == MOST_TEXT)
			return false;
		text[used++] = letter;
	}
	text[used] = '\0';
	return used;
}

static bool answer_tracks(const struct dw_view_request *request, uint32_t tracks[MOST_TRACKS],
                          struct dw_page_window *window)
{
	size_t length = 0, i = 0;
	const char *text = answer_find(request, "tracks", &length);

	if (!text)
		return true;
	window->tracks = tracks;
	while (i < length) {
		uint64_t id = 0;
		size_t digits = 0;

		for (; i < length && text[i] >= '0' && text[i] <= '9' && digits < 9; i++, digits++)
			id = id * 10 + (uint64_t)(text[i] - '0');
		if (!digits || window->track_count == MOST_TRACKS || (i < length && text[i] != ','))
			return false;
		tracks[window->track_count++] = (uint32_t)id;
		i++;
	}
	return window->track_count > 0;
}

/* ---- answers from the trace --------------------------------------------------------------------------- */

static int answer_window(struct dw_view *view, const struct dw_view_request *request, bool totals,
                         struct dw_writer_out *out, struct dwell_error *error)
{
	uint32_t tracks[MOST_TRACKS];
	struct dw_page_window window = { .pixels = 1, .most_items = MOST_ITEMS };
	uint64_t pixels = 1, flows = 0;

	if (!answer_number(request, "begin", &window.begin_ns) ||
	    !answer_number(request, "end", &window.end_ns) || window.end_ns <= window.begin_ns ||
	    !answer_tracks(request, tracks, &window) ||
	    (!totals && (!answer_number(request, "pixels", &pixels) || !pixels)))
		return DWELL_E_ARGUMENT;
	window.pixels = pixels < DW_PAGE_MOST_PIXELS ? (uint32_t)pixels : DW_PAGE_MOST_PIXELS;
	window.flows = answer_number(request, "flows", &flows) && flows;
	return totals ? dw_page_span_totals(view->shown.spans, &window, out, error)
	              : dw_page_span(view->shown.spans, &window, out, error);
}

static int answer_event(struct dw_view *view, const struct dw_view_request *request,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	uint64_t track, row, begin_ns;

	if (!answer_number(request, "track", &track) || !answer_number(request, "row", &row) ||
	    !answer_number(request, "begin", &begin_ns) || track > UINT32_MAX || row > UINT32_MAX)
		return DWELL_E_ARGUMENT;
	return dw_page_span_event(view->shown.spans, (uint32_t)track, (uint32_t)row, begin_ns, out, error);
}

static int answer_search(struct dw_view *view, const struct dw_view_request *request,
                         struct dw_writer_out *out, struct dwell_error *error)
{
	char text[MOST_TEXT];
	uint64_t ns, backward = 0;

	if (!answer_text(request, "text", text) || !answer_number(request, "ns", &ns))
		return DWELL_E_ARGUMENT;
	answer_number(request, "backward", &backward);
	return dw_page_span_find(view->shown.spans, text, ns, !backward, out, error);
}

static int answer_live(struct dw_view *view, struct dw_writer_out *out)
{
	dw_view_refresh(view);
	DW_PAGE_PUT(out, "{'version':#,'read_ns':#,'end_ns':#", view->version, dw_page_spans_read_ns(view->shown.spans),
	            dw_page_spans_end_ns(view->shown.spans));
	dw_out_text(out, view->shown.complete ? ",\"complete\":true" : ",\"complete\":false");
	dw_out_text(out, view->shown.source->live ? ",\"live\":true" : ",\"live\":false");
	dw_out_text(out, dw_view_is_gone(view) ? ",\"gone\":true" : ",\"gone\":false");
	DW_OUT_JSON(out, ",'report':true,'path':#}\n", view->options->paths[0]);
	return 0;
}

static int answer_data(struct dw_view *view, const struct dw_view_request *request,
                       struct dw_writer_out *out, struct dwell_error *error)
{
	const char *what = request->path + 5; /* after "/api/" */
	uint64_t bytes = 0;

	if (strcmp(what, "span") == 0)
		return answer_window(view, request, false, out, error);
	if (strcmp(what, "totals") == 0)
		return answer_window(view, request, true, out, error);
	if (strcmp(what, "event") == 0)
		return answer_event(view, request, out, error);
	if (strcmp(what, "find") == 0)
		return answer_search(view, request, out, error);
	if (strcmp(what, "live") == 0)
		return answer_live(view, out);
	if (strcmp(what, "timeline") == 0) {
		answer_number(request, "bytes", &bytes);
		return dw_page_timeline(view->shown.spans, bytes < MOST_BYTES ? (size_t)bytes : MOST_BYTES, out, error);
	}
	return DWELL_E_NAME;
}

static void answer_api(struct dw_view *view, struct dw_view_connection *connection,
                       const struct dw_view_request *request)
{
	struct dwell_error error = { 0, "" };
	struct dw_writer_out out;
	int result;

	dw_out_init_memory(&out);
	result = answer_data(view, request, &out, &error);
	if (!result && out.error)
		result = DWELL_E_NOMEM;
	if (!result)
		dw_view_put(connection, request, "200 OK", "application/json", NULL, out.buffer, out.used);
	else if (result == DWELL_E_ARGUMENT)
		dw_view_refuse(connection, request, "400 Bad Request",
		               "a parameter is missing or is not a number in its range");
	else if (result == DWELL_E_NAME)
		dw_view_refuse(connection, request, "404 Not Found", "there is no such thing here");
	else
		dw_view_refuse(connection, request, "500 Internal Server Error",
		               error.message[0] ? error.message : dwell_error_text(result));
	dw_out_reset(&out);
}

/* ---- the page --------------------------------------------------------------------------------------------- */

static const char *answer_type(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot && strcmp(dot, ".js") == 0)
		return "text/javascript; charset=utf-8";
	if (dot && strcmp(dot, ".css") == 0)
		return "text/css; charset=utf-8";
	return "text/html; charset=utf-8";
}

static void answer_file(struct dw_view_connection *connection, const struct dw_view_request *request, const char *name)
{
	for (const struct dw_view_file *file = dw_view_files; file->name; file++)
		if (strcmp(file->name, name) == 0) {
			dw_view_put(connection, request, "200 OK", answer_type(name), NULL,
			            (const char *)file->bytes, file->length);
			return;
		}
	dw_view_refuse(connection, request, "404 Not Found", "there is no such thing here");
}

/* Moves the token from the address into a cookie, which scripts and other sites cannot use. */
static void answer_token(struct dw_view *view, struct dw_view_connection *connection,
                         const struct dw_view_request *request)
{
	size_t length = 0;
	const char *token = answer_find(request, "token", &length);
	char headers[256];

	if (!answer_is_secret(token, length, view->token)) {
		dw_view_refuse(connection, request, "403 Forbidden",
		               "this is not the token of this server; open the address that dwell view printed");
		return;
	}
	snprintf(headers, sizeof headers, "Set-Cookie: dwell-%u=%s; Path=/; HttpOnly; SameSite=Strict\r\nLocation: /\r\n",
	         view->port, view->session);
	dw_view_put(connection, request, "303 See Other", "text/plain; charset=utf-8", headers, "", 0);
}

void dw_view_answer(struct dw_view *view, struct dw_view_connection *connection, const struct dw_view_request *request)
{
	size_t length = 0;

	if (!answer_is_here(view, request->host, "")) {
		dw_view_refuse(connection, request, "421 Misdirected Request",
		               "open the address that dwell view printed: 127.0.0.1 or localhost with its port");
	} else if (answer_is_foreign(view, request)) {
		dw_view_refuse(connection, request, "403 Forbidden", "another site asks for this");
	} else if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0) {
		dw_view_put(connection, request, "405 Method Not Allowed", "text/plain; charset=utf-8",
		            "Allow: GET, HEAD\r\n", "only GET is answered\n", 21);
	} else if (strcmp(request->path, "/") == 0 && answer_find(request, "token", &length)) {
		answer_token(view, connection, request);
	} else if (!answer_has_cookie(view, request)) {
		dw_view_refuse(connection, request, "403 Forbidden",
		               "open the address that dwell view printed, with its token");
	} else if (strcmp(request->path, "/") == 0) {
		answer_file(connection, request, "view.html");
	} else if (strcmp(request->path, "/report") == 0 || strcmp(request->path, "/api/report") == 0) {
		dw_view_refresh(view);
		dw_view_answer_report(view, connection, request, request->path[1] == 'r');
	} else if (strncmp(request->path, "/timeline/", 10) == 0) {
		answer_file(connection, request, request->path + 10);
	} else if (strncmp(request->path, "/api/", 5) == 0) {
		answer_api(view, connection, request);
	} else {
		dw_view_refuse(connection, request, "404 Not Found", "there is no such thing here");
	}
}
