/* Sockets that listen; see listen.h. */
#include "base/system/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

#define LISTEN_WAITING 64 /* connections that wait until they are accepted */

int dw_listen(uint32_t address, unsigned *port, struct dwell_error *error)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)*port), .sin_addr.s_addr = htonl(address) };
	int on = 1, why, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof at;

	if (listener >= 0)
		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (listener >= 0 && bind(listener, (const struct sockaddr *)&at, length) == 0 && listen(listener, LISTEN_WAITING) == 0 &&
	    getsockname(listener, (struct sockaddr *)&at, &length) == 0) {
		*port = ntohs(at.sin_port);
		return listener;
	}
	why = errno;
	if (listener >= 0)
		close(listener);
	dw_error_set(error, DWELL_E_IO, "cannot listen at port %u: %s%s", *port, strerror(why),
	             why == EADDRINUSE ? "; give another with --port, or 0 for any" : "");
	errno = why;
	return -1;
}
