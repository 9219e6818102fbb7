/* Requests of servers that mark none; see requests.h. */
#include "requests.h"

#include <string.h>

#include "base/system/system.h"
#include "format/keys.h"
#include "sampler.h"

#define LINE_BYTES 90u   /* of the first line of a turn */
#define NAME_BYTES 64u   /* of a request */
#define SEGMENTS 4u      /* of a path, that are in a name */
#define SEGMENT_BYTES 32u /* a longer one is an identifier */
#define SEGMENT_DIGITS 2u /* as in "v1"; one with more is an identifier */
#define ROUTES 64u       /* names of a process; further ones are one */

/* What dws_connections has. */
enum { ACCEPTED = 1 /* nothing was read yet, or less than a line */, HTTP, TEXT };

/* Times are atomic, because one thread may read from a connection while another one sends. If both change them at once, they may be out
 * of order: then request_finish() records nothing. */
struct request {
	uint64_t begin_ns, first_ns, last_ns; /* of the turn: its first bytes; the first and the last sending of the answer; or 0 */
	uint64_t head_ns;                     /* the sending of its head alone; or 0 */
	uint32_t sends;
	uint8_t kind;
	uint8_t used; /* of `line` */
	char line[LINE_BYTES];
};

uint8_t dws_connections[DWS_CONNECTIONS];
static struct request requests[DWS_CONNECTIONS];
static uint32_t highest;          /* atomic; no connection has a larger descriptor */
static uint32_t routes[ROUTES];   /* atomic; hashes of names */
static uint64_t count;            /* atomic; of records */
static uint32_t told;             /* atomic; bits of reasons that the trace has */

static const struct {
	const char *text;
	size_t bytes;
} methods[] = {
#define METHOD(text) { text, sizeof text - 1 }
	METHOD("GET "), METHOD("POST "), METHOD("PUT "), METHOD("HEAD "), METHOD("DELETE "),
	METHOD("OPTIONS "), METHOD("PATCH "), METHOD("CONNECT "), METHOD("TRACE "),
#undef METHOD
};

/* Whether the bytes are a method of HTTP with the space behind it, or as much of it as there is. */
static bool request_is_method(const char *at, size_t bytes)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (bytes && memcmp(at, methods[i].text, bytes < methods[i].bytes ? bytes : methods[i].bytes) == 0)
			return true;
	return false;
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* Whether a part of a path is the name of a thing that the server does, and no identifier. */
static bool request_is_word(const char *at, size_t bytes)
{
	size_t digits = 0;

	for (size_t i = 0; i < bytes; i++) {
		char c = at[i];

		if (c >= '0' && c <= '9')
			digits++;
		else if (!((c | 32) >= 'a' && (c | 32) <= 'z') && c != '-' && c != '_' && c != '.')
			return false;
	}
	return bytes <= SEGMENT_BYTES && digits <= SEGMENT_DIGITS;
}

static size_t request_add(char *name, size_t used, const char *at, size_t bytes)
{
	bytes = bytes < NAME_BYTES - 1 - used ? bytes : NAME_BYTES - 1 - used;
	memcpy(name + used, at, bytes);
	return used + bytes;
}

/* "POST /v1/chat/completions" */
static void request_name(const struct request *request, char *name)
{
	const char *at = request->line, *end = at + request->used, *next;
	size_t used = 0;

	if (request->kind != HTTP)
		end = at;
	while (at < end && *at != ' ')
		at++;
	used = request_add(name, used, request->line, (size_t)(at - request->line));
	at += at < end;
	if (at < end && *at != '/' && *at != '*') { /* with the name of the host */
		at = memchr(at, '/', (size_t)(end - at));
		at = at && end - at > 2 && at[1] == '/' ? memchr(at + 2, '/', (size_t)(end - at - 2)) : NULL;
		at = at ? at : end;
	}
	used = request_add(name, used, " ", at < end);
	for (unsigned parts = 0; at < end && (*at == '/' || *at == '*'); at = next, parts++) {
		for (next = at + 1; next < end && (unsigned char)*next > ' ' && !memchr("/?#;", *next, 4);)
			next++;
		if (parts == SEGMENTS || (next == end && request->used == LINE_BYTES)) {
			used = request_add(name, used, "/...", 4);
			break;
		}
		used = request_is_word(at + 1, (size_t)(next - at - 1)) ? request_add(name, used, at, (size_t)(next - at)) :
		                                                         request_add(name, used, "/*", 2);
	}
	used = used ? used : request_add(name, used, "request", 7);
	name[used] = '\0';
}

/* Whether the process has few enough names for this one to be used. */
static bool request_is_route(const char *name)
{
	uint64_t hash = 0;
	uint32_t here, empty;

	for (; *name; name++)
		hash = dws_sampler_hash(hash, (unsigned char)*name);
	here = (uint32_t)hash | 1u;
	for (unsigned i = 0; i < ROUTES; i++) {
		uint32_t there = __atomic_load_n(&routes[i], __ATOMIC_RELAXED);

		empty = 0;
		if (there == here || (!there && (__atomic_compare_exchange_n(&routes[i], &empty, here, false, __ATOMIC_RELAXED,
		                                                             __ATOMIC_RELAXED) || empty == here)))
			return true;
	}
	return false;
}

/* ---- records ----------------------------------------------------------------------------------------- */

/* In a sandbox nothing is recorded, because a system call may end the program. */
static bool request_may_record(void)
{
	return dws_process.period_ns && !dws_process.in_sandbox;
}

/* A child of vfork() has its parent's memory. */
static bool request_is_here(void)
{
	return request_may_record() && dws_process.pid == (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static void request_record(void *given)
{
	const struct request *request = given;
	char name[NAME_BYTES];

	if (!dws_sampler_records() || !dws_recorder->answered)
		return;
	request_name(request, name);
	dws_recorder->answered(request_is_route(name) ? name : "other requests", __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED),
	                       (const uint64_t[3]){ request->begin_ns, request->first_ns, request->last_ns }, request->sends);
}

/* The turn is over. It is a request if there was an answer. */
static void request_finish(struct request *request, uint8_t kind)
{
	struct request taken = *request;

	taken.begin_ns = __atomic_exchange_n(&request->begin_ns, 0, __ATOMIC_RELAXED); /* of two threads one has it */
	__atomic_store_n(&request->first_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&request->head_ns, 0, __ATOMIC_RELAXED);
	request->used = 0;
	taken.kind = kind;
	if (!taken.first_ns && taken.head_ns) { /* it had no body */
		taken.first_ns = taken.last_ns = taken.head_ns;
		taken.sends = 1;
	}
	if (taken.begin_ns && taken.first_ns >= taken.begin_ns && taken.last_ns >= taken.first_ns)
		dws_apart(request_record, &taken);
}

static const char *const reasons[] = { "TLS", "HTTP/2", "WebSocket", "descriptors above 2047" };
enum { OF_TLS, OF_HTTP_2, OF_WEBSOCKET, OF_MANY };

static void request_tell(void *given)
{
	static const char *const keys[] = { DW_KEY_REQUESTS_UNSEEN ".tls", DW_KEY_REQUESTS_UNSEEN ".http2",
		                                DW_KEY_REQUESTS_UNSEEN ".websocket", DW_KEY_REQUESTS_UNSEEN ".many" };
	uint32_t reason = *(const uint32_t *)given;

	if (dws_sampler_records() && dws_recorder->meta_try && dws_recorder->meta_try(keys[reason], reasons[reason], false))
		__atomic_fetch_or(&told, 1u << reason, __ATOMIC_RELAXED);
}

static void request_miss(uint32_t reason)
{
	if (!(__atomic_load_n(&told, __ATOMIC_RELAXED) & 1u << reason))
		dws_apart(request_tell, &reason);
}

/* The connection is not watched any more, because what it carries has no turns that can be told apart. */
static void request_leave(int file, uint32_t reason)
{
	__atomic_store_n(&dws_connections[file], 0, __ATOMIC_RELAXED);
	request_miss(reason);
}

/* ---- turns ------------------------------------------------------------------------------------------- */

/* What the first bytes of a connection begin; ACCEPTED: that cannot be told yet; 0: nothing that counts. */
static uint8_t request_kind(const struct request *request)
{
	size_t used = request->used;

	if (request_is_method(request->line, used))
		return memchr(request->line, ' ', used) ? HTTP : ACCEPTED;
	for (size_t i = 0; i < used; i++) {
		unsigned char c = (unsigned char)request->line[i];

		if (c == '\n')
			return TEXT;
		if ((c < ' ' && c != '\t' && c != '\r') || c == 127)
			return 0;
	}
	return used < LINE_BYTES ? ACCEPTED : 0;
}

static void request_keep(struct request *request, const char *bytes, size_t bytes_there)
{
	size_t room = LINE_BYTES - request->used;

	room = bytes_there < room ? bytes_there : room;
	memcpy(request->line + request->used, bytes, room);
	request->used = (uint8_t)(request->used + room);
}

static void request_take(int file, const char *bytes, size_t bytes_there)
{
	struct request *request = &requests[file];
	uint8_t kind = __atomic_load_n(&dws_connections[file], __ATOMIC_RELAXED);
	bool answered = (__atomic_load_n(&request->first_ns, __ATOMIC_RELAXED) | __atomic_load_n(&request->head_ns, __ATOMIC_RELAXED)) != 0;

	if (!kind || !request_may_record() || (answered && kind == HTTP && !request_is_method(bytes, bytes_there)))
		return; /* the rest of a body whose answer did not wait for it */
	if (answered)
		request_finish(request, kind);
	if (!__atomic_load_n(&request->begin_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&request->begin_ns, dws_now_ns(), __ATOMIC_RELAXED);
	request_keep(request, bytes, bytes_there);
	if (kind != ACCEPTED)
		return;
	if (request->line[0] == 0x16 && (request->used < 2 || request->line[1] == 3)) {
		request_leave(file, OF_TLS);
	} else if (request->used >= 6 && memcmp(request->line, "PRI * ", 6) == 0) {
		request_leave(file, OF_HTTP_2);
	} else {
		__atomic_store_n(&dws_connections[file], request_kind(request), __ATOMIC_RELAXED);
	}
}

/* Whether what was sent is the head of an interim answer: 100 (continue), or 101, after which another protocol begins. */
static bool request_is_interim(int file, const char *bytes)
{
	if (bytes[9] == '1' && bytes[11] == '1') /* 101 */
		request_leave(file, OF_WEBSOCKET);
	return bytes[9] == '1';
}

static void request_answer(int file, const char *bytes, size_t bytes_there, bool is_whole)
{
	struct request *request = &requests[file];
	uint8_t kind = __atomic_load_n(&dws_connections[file], __ATOMIC_RELAXED);
	uint64_t now_ns;

	if (!kind || !request_may_record() || !__atomic_load_n(&request->begin_ns, __ATOMIC_RELAXED))
		return; /* a greeting */
	if (kind == ACCEPTED) { /* an answer to less than a line */
		__atomic_store_n(&dws_connections[file], 0, __ATOMIC_RELAXED);
		return;
	}
	now_ns = dws_now_ns();
	if (!__atomic_load_n(&request->first_ns, __ATOMIC_RELAXED)) {
		if (kind == HTTP && bytes_there >= 16 && memcmp(bytes, "HTTP/1.", 7) == 0) {
			if (request_is_interim(file, bytes))
				return;
			if (is_whole && memcmp(bytes + bytes_there - 4, "\r\n\r\n", 4) == 0) {
				__atomic_store_n(&request->head_ns, now_ns, __ATOMIC_RELAXED);
				return;
			}
		}
		request->sends = 0;
		__atomic_store_n(&request->first_ns, now_ns, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&request->last_ns, now_ns, __ATOMIC_RELAXED);
	request->sends++;
}

ssize_t dws_request_received(int file, const char *bytes, size_t room, ssize_t result)
{
	if (bytes)
		request_take(file, bytes, (size_t)result < room ? (size_t)result : room);
	return result;
}

ssize_t dws_request_sent(int file, const char *bytes, size_t room, ssize_t result)
{
	request_answer(file, bytes, !bytes ? 0 : (size_t)result < room ? (size_t)result : room, (size_t)result <= room);
	return result;
}

/* ---- connections --------------------------------------------------------------------------------------- */

int dws_request_accepted(int file)
{
	uint32_t before = __atomic_load_n(&highest, __ATOMIC_RELAXED);

	if (!request_may_record())
		return file;
	if ((unsigned)file >= DWS_CONNECTIONS) {
		request_miss(OF_MANY);
		return file;
	}
	if (dws_request_connection(file))
		dws_request_ended(file);
	requests[file] = (struct request){ .used = 0 };
	while (before < (unsigned)file + 1 &&
	       !__atomic_compare_exchange_n(&highest, &before, (unsigned)file + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	/* Relaxed is enough: other threads get the descriptor from the caller, who synchronises with them. */
	__atomic_store_n(&dws_connections[file], ACCEPTED, __ATOMIC_RELAXED);
	return file;
}

void dws_request_ended(int file)
{
	uint8_t kind = __atomic_load_n(&dws_connections[file], __ATOMIC_RELAXED);

	if (!request_is_here())
		return;
	__atomic_store_n(&dws_connections[file], 0, __ATOMIC_RELAXED);
	request_finish(&requests[file], kind);
}

void dws_requests_end(void)
{
	uint32_t after = __atomic_load_n(&highest, __ATOMIC_RELAXED);

	if (after && !request_is_here())
		return;
	for (uint32_t file = 0; file < after; file++)
		if (dws_request_connection((int)file))
			request_finish(&requests[file], dws_connections[file]);
}

void dws_requests_forked(void)
{
	for (uint32_t file = 0; file < highest; file++)
		if (dws_connections[file] && requests[file].begin_ns)
			requests[file] = (struct request){ .used = 0 };
	count = 0;
	told = 0;
}
