/* Requests a capture from a profiler server; see client.h. */
#include "serve/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/clock.h"
#include "serve/inside.h"

#define MOST_ANSWER ((size_t)1 << 31) /* the largest protocol buffer */
#define CONNECT_MS 10000
#define LEAST_WAIT_MS 60000u
#define TERMINATE_MS 20000u /* time for a server to answer a capture that was ended */
#define WINDOW (64 << 20)

/* One call: its request and its answer. */
struct call {
	int32_t id;
	struct dw_proto request; /* with gRPC's frame header */
	size_t sent;
	unsigned char *in;
	size_t length, size;
	int status; /* of gRPC; -1: none yet */
	char message[256];
	bool http, done;
};

struct client {
	const struct dw_client_options *options;
	char host[256];
	const char *port;
	int socket;
	nghttp2_session *session;
	struct call profile, terminate;
	bool failed; /* out of memory, or the answer is too large */
};

/* ---- HTTP/2 ------------------------------------------------------------------------- */

static struct call *client_call_of(struct client *client, int32_t id)
{
	return id && id == client->profile.id     ? &client->profile
	       : id && id == client->terminate.id ? &client->terminate
	                                          : NULL;
}

static ssize_t client_next_bytes(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                                 uint32_t *flags, nghttp2_data_source *source, void *context)
{
	struct call *call = source->ptr;
	size_t left = call->request.used - call->sent;

	left = left < room ? left : room;
	memcpy(to, call->request.bytes + call->sent, left);
	call->sent += left;
	if (call->sent == call->request.used)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)left;
}

#define FIELD(name, value) \
	{ (uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), strlen(name), strlen(value), 0 }

static void client_submit(struct client *client, struct call *call, const char *path, uint64_t wait_ms)
{
	char timeout[24], authorization[512];
	nghttp2_nv headers[] = { FIELD(":method", "POST"), FIELD(":scheme", "http"),
		FIELD(":path", path), FIELD(":authority", client->options->address),
		FIELD("te", "trailers"), FIELD("content-type", "application/grpc"),
		FIELD("user-agent", "dwell/" DWELL_VERSION), FIELD("grpc-timeout", ""),
		FIELD("authorization", "") };
	nghttp2_data_provider provider = { .source.ptr = call, .read_callback = client_next_bytes };
	size_t count = 8;

	snprintf(timeout, sizeof timeout, "%llum", (unsigned long long)wait_ms);
	headers[7] = (nghttp2_nv)FIELD("grpc-timeout", timeout);
	if (client->options->token) {
		snprintf(authorization, sizeof authorization, "Bearer %s", client->options->token);
		headers[count++] = (nghttp2_nv)FIELD("authorization", authorization);
	}
	call->id = nghttp2_submit_request(client->session, NULL, headers, count, &provider, NULL);
	client->failed |= call->id < 0 || call->request.failed;
}

/* Decodes gRPC's text, in which %XX is a byte that a header cannot contain. */
static void client_take_message(char *to, size_t room, const uint8_t *value, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < room; i++) {
		unsigned byte = value[i];

		if (byte == '%' && i + 2 < length && sscanf((const char *)value + i + 1, "%2x", &byte) == 1)
			i += 2;
		to[used++] = byte < ' ' ? ' ' : (char)byte;
	}
	to[used] = '\0';
}

static int client_on_header(nghttp2_session *session, const nghttp2_frame *frame_in, const uint8_t *name,
                            size_t name_length, const uint8_t *value, size_t length, uint8_t flags, void *context)
{
	struct call *call = client_call_of(context, frame_in->hd.stream_id);

	if (!call)
		return 0;
	if (name_length == 7 && memcmp(name, ":status", 7) == 0)
		call->http = length == 3 && memcmp(value, "200", 3) == 0;
	else if (name_length == 11 && memcmp(name, "grpc-status", 11) == 0)
		call->status = atoi((const char *)value);
	else if (name_length == 12 && memcmp(name, "grpc-message", 12) == 0)
		client_take_message(call->message, sizeof call->message, value, length);
	return 0;
}

static int client_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                          size_t length, void *context)
{
	struct client *client = context;
	struct call *call = client_call_of(client, id);

	if (!call)
		return 0;
	if (call->length + length > call->size) {
		size_t size = call->size ? call->size * 2 : 1 << 16;
		unsigned char *grown;

		while (size < call->length + length)
			size *= 2;
		grown = size > MOST_ANSWER ? NULL : realloc(call->in, size);
		if (!grown) {
			client->failed = true;
			return NGHTTP2_ERR_CALLBACK_FAILURE;
		}
		call->in = grown;
		call->size = size;
	}
	memcpy(call->in + call->length, bytes, length);
	call->length += length;
	return 0;
}

static int client_on_closed(nghttp2_session *session, int32_t id, uint32_t code, void *context)
{
	struct call *call = client_call_of(context, id);

	if (call)
		call->done = true;
	return 0;
}

static ssize_t client_send_bytes(nghttp2_session *session, const uint8_t *bytes, size_t length, int flags,
                                 void *context)
{
	const struct client *client = context;
	ssize_t sent = send(client->socket, bytes, length, MSG_NOSIGNAL);

	if (sent >= 0)
		return sent;
	return errno == EAGAIN || errno == EINTR ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static bool client_make_session(struct client *client)
{
	const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 }, { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW }
	};
	nghttp2_session_callbacks *callbacks;
	int result;

	if (nghttp2_session_callbacks_new(&callbacks) != 0)
		return false;
	nghttp2_session_callbacks_set_on_header_callback(callbacks, client_on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, client_on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, client_on_closed);
	nghttp2_session_callbacks_set_send_callback(callbacks, client_send_bytes);
	result = nghttp2_session_client_new(&client->session, callbacks, client);
	nghttp2_session_callbacks_del(callbacks);
	return !result && !nghttp2_submit_settings(client->session, NGHTTP2_FLAG_NONE, settings, 2) &&
	       !nghttp2_session_set_local_window_size(client->session, NGHTTP2_FLAG_NONE, 0, WINDOW);
}

/* ---- the socket --------------------------------------------------------------------- */

/* Splits "HOST:PORT" or "[HOST]:PORT". */
static int client_split(struct client *client, struct dwell_error *error)
{
	const char *address = client->options->address, *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	bool bracket = length > 2 && address[0] == '[' && address[length - 1] == ']';

	if (!colon || !length || length >= sizeof client->host ||
	    strspn(colon + 1, "0123456789") != strlen(colon + 1) || !colon[1] || (!bracket && memchr(address, ':', length)))
		return dw_error_set(error, DWELL_E_ARGUMENT, "%s is no address: give HOST:PORT, as localhost:9001", address);
	snprintf(client->host, sizeof client->host, "%.*s", (int)(length - (bracket ? 2 : 0)), address + bracket);
	client->port = colon + 1;
	return 0;
}

static int client_try_address(const struct addrinfo *at, const volatile int *stop)
{
	int one = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), number = 0;
	struct pollfd polled = { one, POLLOUT, 0 };
	socklen_t length = sizeof number;

	if (one < 0)
		return -1;
	if (connect(one, at->ai_addr, at->ai_addrlen) == 0)
		return one;
	if (errno == EINPROGRESS) {
		uint64_t until = dw_clock_monotonic_ns() + CONNECT_MS * 1000000ull, now;

		number = ETIMEDOUT;
		while (!*stop && (now = dw_clock_monotonic_ns()) < until)
			if (poll(&polled, 1, (int)((until - now) / 1000000) + 1) > 0) {
				getsockopt(one, SOL_SOCKET, SO_ERROR, &number, &length);
				break;
			}
		if (!number)
			return one;
		errno = number;
	}
	number = errno;
	close(one);
	errno = number;
	return -1;
}

static int client_connect_to(struct client *client, const volatile int *stop, struct dwell_error *error)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *at;
	char buffer[128];
	int result = getaddrinfo(client->host, client->port, &hints, &found);

	if (result)
		return dw_error_set(error, DWELL_E_IO, "no host '%s': %s; is it spelled so?", client->host,
		                    gai_strerror(result));
	for (at = found; at && client->socket < 0; at = at->ai_next)
		client->socket = client_try_address(at, stop);
	freeaddrinfo(found);
	if (client->socket >= 0)
		return 0;
	return dw_error_set(error, DWELL_E_IO, "cannot connect to %s: %s; is a profiler server running there (dwell run "
	                    "--serve PORT, jax.profiler.start_server(PORT)), and is this its port?",
	                    client->options->address, strerror_r(errno, buffer, sizeof buffer));
}

/* ---- the call ----------------------------------------------------------------------- */

static int client_lost(const struct client *client, struct dwell_error *error)
{
	if (client->failed)
		return dw_error_set(error, DWELL_E_NOMEM, "the answer of %s does not fit in memory, or in 2 GiB; capture for a "
		                    "shorter time", client->options->address);
	return dw_error_set(error, DWELL_E_IO, "%s ended the connection: it has ended, or is no profiler server",
	                    client->options->address);
}

static bool client_receive(struct client *client)
{
	uint8_t bytes[32 << 10];
	ssize_t got = recv(client->socket, bytes, sizeof bytes, 0);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	return got && nghttp2_session_mem_recv(client->session, bytes, (size_t)got) >= 0;
}

static void client_terminate(struct client *client)
{
	dw_client_terminate(&client->terminate.request, client->options);
	client->terminate.status = -1;
	client_submit(client, &client->terminate, "/tensorflow.ProfilerService/Terminate", TERMINATE_MS);
}

static int client_wait_for(struct client *client, uint64_t wait_ms, const volatile int *stop, struct dwell_error *error)
{
	uint64_t until = dw_clock_monotonic_ns() + wait_ms * 1000000, now;
	bool ended = false;

	while (!client->profile.done) {
		struct pollfd polled = { client->socket, POLLIN, 0 };

		if (*stop > 1)
			return dw_error_set(error, DWELL_E_IO, "given up: nothing was stored");
		if (*stop && !ended) {
			ended = true;
			client_terminate(client);
			until = dw_clock_monotonic_ns() + TERMINATE_MS * 1000000ull;
		}
		now = dw_clock_monotonic_ns();
		if (now >= until)
			return dw_error_set(error, DWELL_E_IO, "%s did not answer within %llu s; is it busy, or "
			                    "no profiler server?", client->options->address,
			                    (unsigned long long)(ended ? TERMINATE_MS : wait_ms) / 1000);
		if (client->failed || nghttp2_session_send(client->session) != 0)
			return client_lost(client, error);
		if (nghttp2_session_want_write(client->session))
			polled.events |= POLLOUT;
		now = until - now < 500000000 ? until - now : 500000000;
		if (poll(&polled, 1, (int)(now / 1000000) + 1) > 0 &&
		    polled.revents & (POLLIN | POLLHUP | POLLERR) && !client_receive(client) && !client->profile.done)
			return client_lost(client, error);
	}
	return 0;
}

/* Makes an error of the server's status, with a remedy. */
static int client_judge(const struct client *client, struct dwell_error *error)
{
	const struct call *call = &client->profile;
	const char *address = client->options->address, *remedy = "";

	if (call->status == DW_GRPC_OK)
		return 0;
	if (!call->http || call->status < 0)
		return dw_error_set(error, DWELL_E_IO, "%s is no profiler server: it did not answer as gRPC does", address);
	if (call->status == DW_GRPC_ALREADY_EXISTS ||
	    strstr(call->message, "nother profiling session")) /* XLA returns INTERNAL for it */
		return dw_error_set(error, DWELL_E_STATE,
		                    "%s is being captured already (%s); wait until that has ended", address, call->message);
	if (call->status == DW_GRPC_UNAUTHENTICATED)
		remedy = "; set DWELL_TOKEN to the server's token";
	else if (call->status == DW_GRPC_UNIMPLEMENTED)
		remedy = "; it is a gRPC server without a profiler";
	return dw_error_set(error, DWELL_E_IO, "%s refused: %s (gRPC status %d)%s", address,
	                    *call->message ? call->message : "no reason given", call->status, remedy);
}

static int client_unframe(struct client *client, struct dw_client_answer *answer, struct dwell_error *error)
{
	struct call *call = &client->profile;
	size_t length = 0;

	for (unsigned i = 1; i < DW_CLIENT_FRAME && call->length >= DW_CLIENT_FRAME; i++)
		length = length << 8 | call->in[i];
	if (call->length < DW_CLIENT_FRAME || call->in[0] || call->length != length + DW_CLIENT_FRAME)
		return dw_error_set(error, DWELL_E_IO, "the answer of %s is no message of gRPC's (%zu bytes)",
		                    client->options->address, call->length);
	memmove(call->in, call->in + DW_CLIENT_FRAME, length);
	answer->message = call->in;
	answer->length = length;
	call->in = NULL;
	if (dw_client_read(answer))
		return 0;
	return dw_error_set(error, DWELL_E_IO, "the answer of %s is no ProfileResponse", client->options->address);
}

int dw_client_profile(const struct dw_client_options *options, const volatile int *stop,
                      struct dw_client_answer *answer, struct dwell_error *error)
{
	struct client client = { .options = options, .socket = -1, .profile.status = -1 };
	uint64_t wait_ms = options->duration_ms * 2;
	int result = client_split(&client, error);

	*answer = (struct dw_client_answer){ .message = NULL };
	if (result == 0)
		result = client_connect_to(&client, stop, error);
	if (result == 0 && !client_make_session(&client))
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory");
	if (result == 0) {
		wait_ms = (wait_ms > LEAST_WAIT_MS ? wait_ms : LEAST_WAIT_MS) + options->delay_ms;
		dw_client_request(&client.profile.request, options);
		client_submit(&client, &client.profile, "/tensorflow.ProfilerService/Profile", wait_ms);
		result = client_wait_for(&client, wait_ms, stop, error);
	}
	if (result == 0)
		result = client_judge(&client, error);
	if (result == 0)
		result = client_unframe(&client, answer, error);
	nghttp2_session_del(client.session);
	if (client.socket >= 0)
		close(client.socket);
	dw_proto_reset(&client.profile.request);
	dw_proto_reset(&client.terminate.request);
	free(client.profile.in);
	free(client.terminate.in);
	return result;
}
