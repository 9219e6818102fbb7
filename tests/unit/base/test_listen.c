/* Sockets that listen at a port of this machine. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/listen.h"

static bool connects(unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good = client >= 0 && connect(client, (const struct sockaddr *)&at, sizeof at) == 0;

	if (client >= 0)
		close(client);
	return good;
}

TEST(any_free_port_is_listened_at)
{
	struct dwell_error error = { 0, "" };
	unsigned port = 0;
	int listener = dw_listen(DW_LISTEN_HERE, &port, &error);

	REQUIRE(listener >= 0);
	CHECK(port > 0 && port <= 65535);
	CHECK(connects(port));
	CHECK(fcntl(listener, F_GETFL) & O_NONBLOCK);
	CHECK(fcntl(listener, F_GETFD) & FD_CLOEXEC);
	close(listener);
	CHECK(!connects(port));
}

TEST(a_port_that_is_used_is_an_error_with_a_remedy)
{
	struct dwell_error error = { 0, "" };
	unsigned port = 0, same;
	int listener = dw_listen(DW_LISTEN_HERE, &port, NULL);

	REQUIRE(listener >= 0);
	same = port;
	CHECK_EQ(dw_listen(DW_LISTEN_HERE, &same, &error), -1);
	CHECK_EQ(errno, EADDRINUSE);
	CHECK_EQ(same, port);
	CHECK_EQ(error.code, DWELL_E_IO);
	CHECK(strstr(error.message, "give another with --port"));
	CHECK_EQ(dw_listen(DW_LISTEN_HERE, &same, NULL), -1);
	close(listener);
}

CHECK_MAIN
