/*
 * Whether a client belongs to the user of this server.
 *
 * Called by http.c before the first call of a connection is answered, if no token is set. The trace
 * may be readable only for its user, but every user of the machine can connect to 127.0.0.1. The
 * kernel lists all TCP sockets of the network namespace with their owners (/proc/net/tcp, and tcp6
 * for sockets of IPv6 that use IPv4). The client's socket has the two addresses of the server's
 * socket in reverse order. Only an established connection counts, because for sockets that no
 * process holds any more the list contains 0, which is also root's number.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/inside.h"

#define ESTABLISHED 1u

/* Whether an address as /proc/net/tcp or tcp6 prints it (8 or 32 hexadecimal digits) is the IPv4
 * address `address`, in tcp6 mapped into IPv6. */
static bool peer_address_is(const char *digits, in_addr_t address)
{
	static const char mapped[] = "0000000000000000FFFF0000"; /* ::ffff:0:0/96 */
	char wanted[9];
	size_t length = strlen(digits);

	snprintf(wanted, sizeof wanted, "%08X", address);
	if (length == 32 && strncmp(digits, mapped, 24) == 0)
		digits += 24;
	else if (length != 8)
		return false;
	return strcmp(digits, wanted) == 0;
}

/* The owner of the socket from `from` to `to`; false: it is not in the list. */
static bool peer_find_owner(const char *list, const struct sockaddr_in *from,
                            const struct sockaddr_in *to, uid_t *owner)
{
	FILE *file = fopen(list, "re");
	bool found = false;
	char line[512];

	while (file && !found && fgets(line, sizeof line, file)) {
		char local[33], remote[33];
		unsigned local_port, remote_port, state, uid;
		unsigned long inode;

		found = sscanf(line, " %*u: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*x:%*x %*x:%*x %*x %u %*u %lu",
		               local, &local_port, remote, &remote_port, &state, &uid, &inode) == 7 &&
		        state == ESTABLISHED && inode && local_port == ntohs(from->sin_port) &&
		        remote_port == ntohs(to->sin_port) && peer_address_is(local, from->sin_addr.s_addr) &&
		        peer_address_is(remote, to->sin_addr.s_addr);
		if (found)
			*owner = uid;
	}
	if (file)
		fclose(file);
	return found;
}

bool dw_serve_is_ours(int socket)
{
	struct sockaddr_storage here = { 0 }, there = { 0 };
	const struct sockaddr_in *from = (const struct sockaddr_in *)&there;
	const struct sockaddr_in *to = (const struct sockaddr_in *)&here;
	socklen_t length = sizeof here;
	uid_t owner;

	if (getsockname(socket, (struct sockaddr *)&here, &length) != 0)
		return false;
	if (here.ss_family == AF_UNIX)
		return true; /* a socket pair that this process has made */
	length = sizeof there;
	if (getpeername(socket, (struct sockaddr *)&there, &length) != 0 ||
	    here.ss_family != AF_INET || there.ss_family != AF_INET)
		return false;
	return (peer_find_owner("/proc/net/tcp", from, to, &owner) ||
	        peer_find_owner("/proc/net/tcp6", from, to, &owner)) && (owner == geteuid() || owner == 0);
}
