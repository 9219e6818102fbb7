/* The figures of `dwell watch --port`: who gets them, and who does not. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job/watch_port.h"

static const char figures[] = "ranks 4\n";
static int listener;
static unsigned port;

static bool begin(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof address;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (listener < 0 || bind(listener, (void *)&address, length) || listen(listener, 8) || getsockname(listener, (void *)&address, &length))
		return false;
	port = ntohs(address.sin_port);
	return true;
}

static int connect_here(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_EQ(connect(fd, (void *)&address, sizeof address), 0);
	return fd;
}

/* What the server answers to the request, whose first "%u" is the port. */
static const char *answer(const char *request)
{
	static char text[4096];
	int fd = connect_here(), length = snprintf(text, sizeof text, request, port);
	ssize_t got, all = 0;

	CHECK_EQ(write(fd, text, (size_t)length), length);
	dw_watch_serve(listener, figures, sizeof figures - 1, 20);
	while ((got = recv(fd, text + all, sizeof text - 1 - (size_t)all, MSG_DONTWAIT)) > 0)
		all += got;
	text[all] = '\0';
	close(fd);
	return text;
}

static bool gives_figures(const char *request)
{
	const char *text = answer(request);

	return strncmp(text, "HTTP/1.", 7) == 0 && strstr(text, " 200 ") && strstr(text, figures);
}

TEST(a_request_from_this_machine_gets_the_figures)
{
	REQUIRE(begin());
	CHECK(gives_figures("GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\n\r\n"));
	CHECK(gives_figures("GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:%u\r\n\r\n"));
	close(listener);
}

TEST(a_name_of_another_site_that_points_here_gets_nothing)
{
	REQUIRE(begin());
	CHECK(!gives_figures("GET /metrics HTTP/1.1\r\nHost: site.example:%u\r\n\r\n"));
	CHECK(!gives_figures("GET /metrics HTTP/1.1\r\n\r\n"));
	CHECK(!gives_figures("GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\nHost: site.example\r\n\r\n"));
	close(listener);
}

TEST(other_paths_and_methods_get_no_figures)
{
	REQUIRE(begin());
	CHECK(!gives_figures("GET / HTTP/1.1\r\nHost: localhost:%u\r\n\r\n"));
	CHECK(!gives_figures("POST /metrics HTTP/1.1\r\nHost: localhost:%u\r\n\r\n"));
	CHECK(!gives_figures("nonsense\r\n\r\n"));
	close(listener);
}

TEST(a_client_that_says_nothing_keeps_no_other_waiting)
{
	int quiet;

	REQUIRE(begin());
	quiet = connect_here();
	CHECK(gives_figures("GET /metrics HTTP/1.1\r\nHost: localhost:%u\r\n\r\n"));
	close(quiet);
	close(listener);
}

CHECK_MAIN
