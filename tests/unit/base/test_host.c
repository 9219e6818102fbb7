/* Which processes are alive: in this pid namespace, in another one, and with a reused id. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/system/host.h"

/* A child process that runs until the test ends it. It sends its identity through a pipe. */
struct child {
	pid_t pid;
	int say;
	struct dw_identity identity;
};

static void live(const int heard[2], const int said[2])
{
	struct dw_identity self;
	char end;

	close(heard[1]);
	dw_identify(&self);
	(void)!write(said[1], &self, sizeof self);
	(void)!read(heard[0], &end, 1);
	_exit(0);
}

static bool begin(struct child *child)
{
	int heard[2], said[2];

	if (pipe(heard) || pipe(said))
		return false;
	child->pid = fork();
	if (child->pid == 0)
		live(heard, said);
	child->say = heard[1];
	close(heard[0]);
	close(said[1]);
	bool known = read(said[0], &child->identity, sizeof child->identity) ==
	             (ssize_t)sizeof child->identity;
	close(said[0]);
	return known;
}

static void end(struct child *child)
{
	close(child->say);
	waitpid(child->pid, NULL, 0);
}

static enum dw_alive lives(struct dw_identity identity)
{
	return dw_process_lives(&identity, NULL);
}

TEST(a_process_knows_itself)
{
	struct dw_identity self, again;

	dw_identify(&self);
	dw_identify(&again);
	CHECK_EQ(self.pid, getpid());
	CHECK(self.pid_namespace && self.birth);
	CHECK_EQ(self.pid, again.pid);
	CHECK_EQ(self.pid_namespace, again.pid_namespace);
	CHECK_EQ(self.birth, again.birth);
	CHECK_EQ(lives(self), DW_ALIVE);
}

TEST(a_child_lives_until_its_end)
{
	struct child child;
	siginfo_t info;

	REQUIRE(begin(&child));
	CHECK_EQ(child.identity.pid, child.pid);
	CHECK_EQ(lives(child.identity), DW_ALIVE);
	close(child.say);
	/* A zombie has an id still, and writes no more. */
	waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT);
	CHECK_EQ(lives(child.identity), DW_DEAD);
	end(&child);
	CHECK_EQ(lives(child.identity), DW_DEAD);
}

TEST(a_later_process_with_the_same_id_is_another)
{
	struct dw_identity self;

	dw_identify(&self);
	REQUIRE(self.birth > 1000);
	self.birth -= 1000;
	CHECK_EQ(lives(self), DW_DEAD);
	self.birth = 0; /* not known: the id decides */
	CHECK_EQ(lives(self), DW_ALIVE);
}

TEST(ids_that_no_process_has)
{
	struct dw_identity self;

	dw_identify(&self);
	self.pid = 0;
	CHECK_EQ(lives(self), DW_DEAD);
	self.pid = UINT32_MAX;
	CHECK_EQ(lives(self), DW_DEAD);
}

TEST(an_unknown_namespace_proves_no_death)
{
	struct dw_identity self, none = { .pid = INT32_MAX };

	dw_identify(&self);
	self.pid_namespace = self.birth = 0;
	CHECK_EQ(lives(self), DW_ALIVE);
	CHECK_EQ(lives(none), DW_ALIVE_UNKNOWN);
}

TEST(looking_into_other_namespaces_is_bounded)
{
	struct dw_identity other = { .pid = 1, .pid_namespace = 1 };
	unsigned scans = 1;

	dw_process_lives(&other, &scans);
	CHECK_EQ(scans, 0);
	CHECK_EQ(dw_process_lives(&other, &scans), DW_ALIVE_UNKNOWN);
}

/* A process of which /proc shows another id here than it has itself. */
TEST(a_process_of_a_nested_namespace)
{
	struct child child = { .pid = -1 };
	int said[2], ids[2], status;
	pid_t first, inside = 0;

	REQUIRE(pipe(said) == 0 && pipe(ids) == 0);
	first = fork();
	if (first == 0) {
		if (unshare(CLONE_NEWPID) != 0)
			_exit(77);
		inside = fork();
		if (inside == 0) {
			struct child inner;

			if (!begin(&inner))
				_exit(1);
			(void)!write(said[1], &inner.identity, sizeof inner.identity);
			pause(); /* the namespace and all in it end with this process */
		}
		(void)!write(ids[1], &inside, sizeof inside); /* its id out here */
		_exit(0);
	}
	close(said[1]);
	close(ids[1]);
	if (read(ids[0], &inside, sizeof inside) != (ssize_t)sizeof inside ||
	    read(said[0], &child.identity, sizeof child.identity) != (ssize_t)sizeof child.identity) {
		waitpid(first, &status, 0);
		printf("skip a_process_of_a_nested_namespace: no pid namespace may be made here\n");
		return;
	}
	struct dw_identity self, other = child.identity;
	dw_identify(&self);
	CHECK(child.identity.pid_namespace != self.pid_namespace);
	CHECK_EQ(lives(child.identity), DW_ALIVE);
	other.pid += 1000;
	CHECK(lives(other) != DW_ALIVE);
	kill(inside, SIGKILL);
	for (int i = 0; i < 2000 && lives(child.identity) == DW_ALIVE; i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	CHECK(lives(child.identity) != DW_ALIVE);
	waitpid(first, &status, 0);
}

TEST(the_boot_has_an_id)
{
	uint8_t id[16], again[16], none[16] = { 0 };

	CHECK(dw_host_boot_id(id) && dw_host_boot_id(again));
	CHECK(memcmp(id, again, 16) == 0 && memcmp(id, none, 16) != 0);
}

/* Answers close_range() as an old kernel does; false: no filter may be set here. */
static bool refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int close_many(bool refuse)
{
	if (refuse && !refuse_close_range())
		return 77;
	for (int i = 0; i < 300; i++)
		if (dup(0) < 0)
			return 2;
	dup2(0, 900);
	dw_host_close_from(3);
	for (int file = 3; file < 1000; file++)
		if (fcntl(file, F_GETFD) >= 0)
			return 3;
	return fcntl(0, F_GETFD) < 0;
}

TEST(all_descriptors_are_closed)
{
	for (int refuse = 0; refuse < 2; refuse++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(close_many(refuse));
		waitpid(child, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			printf("skip all_descriptors_are_closed: no system call may be refused here\n");
		else
			CHECK_EQ(status, 0);
	}
}

CHECK_MAIN
