/*
 * A server that marks nothing, with its clients, for requests_test.py: one thread accepts and reads, others answer, in pieces. It
 * prints its own log, a line for each request: when its first bytes were read, when the first and the last part of the answer were
 * sent, each by the clock before the call and after it, in ns; then how many calls sent the answer.
 *
 * usage: answered_program KIND CLIENTS REQUESTS [kill]    KIND: http, text, binary, or secure; kill: ends by SIGKILL
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, BEGIN = 0, FIRST, LAST, TIMES };

struct line {
	unsigned long long before[TIMES], after[TIMES];
	unsigned sends;
};
struct connection {
	int fd;
	struct line log[1024];
	size_t count;
	char got[512];
	size_t used;
	int busy; /* atomic; another thread has it */
};

static struct connection connections[MOST];
static const char *kind;
static int clients, each, port;

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_nsec;
}

static void put(struct connection *to, struct line *line, const char *text, size_t bytes)
{
	int which = line->sends++ ? LAST : FIRST;

	line->before[which] = now();
	switch (line->sends % 3) {
	case 0: send(to->fd, text, bytes, MSG_NOSIGNAL); break;
	case 1: write(to->fd, text, bytes); break;
	default: writev(to->fd, (struct iovec[]){ { (void *)text, 1 }, { (void *)(text + 1), bytes - 1 } }, 2); break;
	}
	line->after[which] = now();
	line->before[LAST] = line->before[which];
	line->after[LAST] = line->after[which];
}

static void *answer(void *given)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", piece[] = "ok", go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct connection *to = given;
	struct line *line = &to->log[to->count];

	usleep(1000 + (unsigned)rand() % 2000);
	if (strstr(to->got, "Expect")) {
		write(to->fd, go_on, sizeof go_on - 1);
		while (recv(to->fd, to->got, 4, 0) < 4)
			;
	}
	if (*kind == 'h')
		send(to->fd, head, sizeof head - 1, 0); /* is no part of the answer */
	for (int i = 0; i < 5; i++) {
		usleep(500 + (unsigned)rand() % 1000);
		put(to, line, i == 4 && *kind != 'h' ? "k\n" : piece, 2);
	}
	to->count++;
	__atomic_store_n(&to->busy, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* Reads what has come. Returns whether it is all of a request. */
static int take(struct connection *from)
{
	struct line *line = &from->log[from->count];
	unsigned long long before = now();
	ssize_t got;

	recv(from->fd, from->got, 1, MSG_PEEK); /* leaves it */
	before = now();
	got = from->used % 2 ? read(from->fd, from->got + from->used, sizeof from->got - 1 - from->used) :
	                       recv(from->fd, from->got + from->used, 3, 0);
	if (got <= 0) {
		close(from->fd);
		from->fd = -1;
		return 0;
	}
	if (!from->used)
		*line = (struct line){ .before = { before }, .after = { now() } };
	from->used += (size_t)got;
	from->got[from->used] = '\0';
	return strstr(from->got, "\n\n") != NULL || strstr(from->got, "\r\n\r\n") != NULL;
}

static void serve(int listener)
{
	struct pollfd polled[MOST];
	int open = clients;

	for (int i = 0; i < clients; i++)
		connections[i].fd = accept(listener, NULL, NULL);
	while (open) {
		for (int i = 0; i < clients; i++)
			polled[i] = (struct pollfd){ __atomic_load_n(&connections[i].busy, __ATOMIC_ACQUIRE) ? -1 : connections[i].fd, POLLIN, 0 };
		poll(polled, (nfds_t)clients, 1);
		for (int i = 0; i < clients; i++) {
			pthread_t thread;

			if (polled[i].fd < 0 || !polled[i].revents)
				continue;
			if (take(&connections[i])) {
				connections[i].used = 0;
				connections[i].busy = 1;
				pthread_create(&thread, NULL, answer, &connections[i]);
				pthread_detach(thread);
			}
			open -= connections[i].fd < 0;
		}
	}
}

static void ask(int to, int number)
{
	static const char *const http[] = { "POST /v1/users/8fa30c11/chat?key=secret HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		                                "GET /health HTTP/1.1\r\n\r\n",
		                                "PUT /models HTTP/1.1\r\nExpect: 100-continue\r\n\r\n" };
	const char *text = *kind == 'h' ? http[number % 3] : *kind == 't' ? "do it\n\n" : *kind == 'b' ? "\1\2\3it\n\n" : "\x16\3\1it\n\n";
	char got[100] = "";

	send(to, text, strlen(text), 0);
	for (size_t used = 0; !strstr(got, "okokokokok") && !strstr(got, "okokokokk\n");) {
		used += (size_t)recv(to, got + used, sizeof got - 1 - used, 0);
		if (strstr(got, "Continue")) {
			send(to, "GET ", 4, 0); /* a body that looks like a request */
			memset(got, 0, sizeof got);
			used = 0;
		}
	}
}

static void *client(void *unused)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = (in_port_t)port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int to = socket(AF_INET, SOCK_STREAM, 0);

	(void)unused;
	if (connect(to, (struct sockaddr *)&at, sizeof at) != 0)
		abort();
	for (int i = 0; i < each; i++)
		ask(to, i);
	usleep(20000);
	close(to);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t threads[MOST];

	if (argc < 4)
		return 2;
	kind = argv[1];
	clients = atoi(argv[2]);
	each = atoi(argv[3]);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, MOST) ||
	    getsockname(listener, (struct sockaddr *)&at, &bytes))
		return 2;
	port = at.sin_port;
	for (int i = 0; i < clients; i++)
		pthread_create(&threads[i], NULL, client, NULL);
	serve(listener);
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < clients; i++)
		for (size_t at_line = 0; at_line < connections[i].count; at_line++) {
			const struct line *line = &connections[i].log[at_line];

			for (int which = 0; which < TIMES; which++)
				printf("%llu %llu ", line->before[which], line->after[which]);
			printf("%u\n", line->sends);
		}
	fflush(stdout);
	if (argc > 4)
		raise(SIGKILL);
	return 0;
}
