/* Who ends a session, and which descriptors it uses. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/descriptor.h"
#include "session.h"

TEST(a_late_record_does_not_end_the_session_that_is_being_opened)
{
	REQUIRE(session_begin(0));
	CHECK(dw_session_is_whole());
	dw_session.run_id[0]++; /* half of the next session's is there */
	dw_session.opening++;
	CHECK(!dw_session_is_whole());
	CHECK(dw_session_head() != NULL);
	dw_session.opening--;
	CHECK(!dw_session_is_whole());
	CHECK(dw_session_head() == NULL); /* the file is no longer what was written */
	session_end();
}

/* A program that closes whatever is open, and opens files, has none with the number of the copy. */
TEST(a_copy_of_the_descriptor_has_a_number_that_no_other_file_gets)
{
	struct stat of_copy, of_path;
	int fd;

	REQUIRE(session_begin(0));
	for (int turn = 0; turn < 2; turn++) {
		fd = dw_window_file();
		CHECK(fd >= DW_DESCRIPTOR_COPY);
		CHECK(fstat(fd, &of_copy) == 0 && stat(session_path, &of_path) == 0 && of_copy.st_ino == of_path.st_ino);
		dw_descriptor_close(fd);
		close(dw_session.fd); /* then it is opened again by name */
		CHECK(open("/dev/null", O_RDONLY) < DW_DESCRIPTOR_COPY);
	}
	session_end();
}

CHECK_MAIN
