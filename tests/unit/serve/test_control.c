/* Whether the program of a served trace is still alive, according to its control page. */
#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/host.h"
#include "serve/inside.h"

/* A control page that names `creator`, and `stepper` at gate 3 (pid 0: nobody). */
static bool alive(struct dw_identity creator, struct dw_identity stepper)
{
	struct dw_head *head = aligned_alloc(4096, DW_BLOCK_BYTES);
	struct dw_serve_control control = { .head = head };
	bool answer;

	memset(head, 0, DW_BLOCK_BYTES);
	control.page = (struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET);
	head->creator_pid = creator.pid;
	head->creator_pid_namespace = creator.pid_namespace;
	head->creator_birth = creator.birth;
	head->next_gate = 4;
	control.page->gates[3].pid = stepper.pid;
	control.page->gate_births[3] = (uint32_t)stepper.birth;
	answer = dw_serve_is_alive(&control);
	free(head);
	return answer;
}

static const struct dw_identity nobody;

static struct dw_identity self(void)
{
	struct dw_identity identity;

	dw_identify(&identity);
	return identity;
}

/* A process that has ended: a zombie until it is waited for. */
static struct dw_identity ended(bool zombie)
{
	struct dw_identity identity = self();

	identity.pid = (uint32_t)fork();
	if (!identity.pid)
		_exit(0);
	waitid(P_PID, identity.pid, NULL, WEXITED | (zombie ? WNOWAIT : 0));
	identity.birth = 0;
	return identity;
}

TEST(a_creator_or_a_process_that_steps_is_enough)
{
	CHECK(alive(self(), nobody));
	CHECK(!alive(ended(false), nobody));
	CHECK(alive(ended(false), self()));
	CHECK(!alive(nobody, nobody));
}

TEST(a_zombie_has_ended)
{
	CHECK(!alive(ended(true), nobody));
	CHECK(!alive(ended(true), ended(true)));
}

TEST(a_later_process_with_the_same_id_is_another)
{
	struct dw_identity later = self();

	later.birth -= 100;
	CHECK(!alive(later, nobody));
	CHECK(!alive(ended(false), later));
}

TEST(what_cannot_be_seen_may_live_and_an_old_trace_is_taken_as_it_is)
{
	struct dw_identity hidden = self(), old = self(), gone = ended(false);

	hidden.pid_namespace = 1; /* no namespace has this inode */
	hidden.pid = 0x7ffffff0;
	/* Unless all processes of the machine are seen, it may be elsewhere. */
	CHECK(alive(hidden, nobody) == (dw_process_lives(&hidden, NULL) != DW_DEAD));
	old.pid_namespace = old.birth = 0;
	CHECK(alive(old, nobody));
	gone.pid_namespace = 0;
	CHECK(!alive(gone, nobody));
}

TEST(true_is_remembered_for_half_a_second)
{
	struct dw_head *head = aligned_alloc(4096, DW_BLOCK_BYTES);
	struct dw_serve_control control = { .head = head };

	memset(head, 0, DW_BLOCK_BYTES);
	control.page = (struct dw_control *)(void *)((char *)head + DW_CONTROL_OFFSET);
	head->creator_pid = (uint32_t)getpid();
	CHECK(dw_serve_is_alive(&control));
	head->creator_pid = 0;
	CHECK(control.alive_until_ms <= dw_clock_monotonic_ms() + 500);
	control.alive_until_ms = 0;
	CHECK(!dw_serve_is_alive(&control));
	free(head);
}

CHECK_MAIN
