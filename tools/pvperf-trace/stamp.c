// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "stamp.h"

/* Numbers are written as this machine has them: the host's modules are x86's, too. */

enum {
	OPTION_DONE = 0,
	OPTION_TRACEID = 11,
	OPTION_TIME_SHIFT = 12,
	OPTION_GUEST = 13,
	OPTION_TSC2NSEC = 14,
};

#define INTERPOLATE	1	/* flag of TIME_SHIFT: straight lines between the points */

static const char magic[] = "\x17\x08\x44tracing";

#define MAGIC	(sizeof(magic) - 1)

/* The file's begin: magic, version, byte order, size of a long and of a page, compression. */
struct head {
	char bytes[256];
	size_t size;
};

static bool head_read(struct head *head, int fd)
{
	ssize_t n = pread(fd, head->bytes, sizeof(head->bytes), 0);

	head->size = n < 0 ? 0 : n;
	return head->size > MAGIC && !memcmp(head->bytes, magic, MAGIC);
}

/* Passes a string. */
static bool skip(const struct head *head, size_t *at)
{
	const char *end = *at < head->size ? memchr(head->bytes + *at, 0, head->size - *at) : NULL;

	if (end)
		*at = end + 1 - head->bytes;
	return end;
}

/* Where the offset of the first options' section is, or 0. */
static size_t first_at(const struct head *head)
{
	size_t at = MAGIC;

	if (!skip(head, &at))
		return 0;
	at += 1 + 1 + 4;
	if (!skip(head, &at) || !skip(head, &at) || at + sizeof(uint64_t) > head->size)
		return 0;
	return at;
}

bool stamp_is_dat(int fd)
{
	struct head head;

	return head_read(&head, fd);
}

const char *stamp_refuses(int fd)
{
	struct head head;

	if (!head_read(&head, fd))
		return "is no trace.dat; all files have to be, or none";
	if (!strncmp(head.bytes + MAGIC, "6", 2))
		return "is of version 6: make one of version 7 by trace-cmd convert --file-version 7 -i FILE -o NEW";
	if (strncmp(head.bytes + MAGIC, "7", 2))
		return "is of a version that is not known; known is 7";
	if (head.size < MAGIC + 4 || head.bytes[12] || head.bytes[13] != 8)
		return "was not recorded on x86-64";
	return first_at(&head) ? NULL : "its begin is damaged";
}

/* What a section begins with. */
struct section {
	uint16_t id, flags;
	uint32_t description;
	uint64_t size;
};

#define put(f, type, value) do {				\
	const type value_ = (value);			\
							\
	fwrite(&value_, sizeof(value_), 1, f);		\
} while (0)

static void put_option(FILE *f, uint16_t id, uint32_t size)
{
	put(f, uint16_t, id);
	put(f, uint32_t, size);
}

/* The first section of options is the file's end, and begins and ends as stamp_end() makes it. */
bool stamp_is_ours(int fd)
{
	uint64_t at, old, end = lseek(fd, 0, SEEK_END);
	struct section section;
	uint16_t option;
	struct head head;

	if (!head_read(&head, fd) || !first_at(&head))
		return false;
	memcpy(&at, head.bytes + first_at(&head), sizeof(at));
	return pread(fd, &section, sizeof(section), at) == sizeof(section) && !section.id &&
	       at + sizeof(section) + section.size == end &&
	       pread(fd, &option, sizeof(option), at + sizeof(section)) == sizeof(option) &&
	       option == OPTION_TRACEID &&
	       pread(fd, &old, sizeof(old), end - sizeof(old)) == sizeof(old) && old && old < at;
}

bool stamp_begin(struct stamp *stamp)
{
	*stamp = (struct stamp){ };
	stamp->options = open_memstream(&stamp->data, &stamp->size);
	return stamp->options;
}

void stamp_id(struct stamp *stamp, uint64_t id)
{
	put_option(stamp->options, OPTION_TRACEID, 8);
	put(stamp->options, uint64_t, id);
}

static void put_points(FILE *f, const struct shift *shift)
{
	size_t i;

	put(f, uint32_t, shift->nr);
	for (i = 0; i < shift->nr; i++)
		put(f, uint64_t, shift->points[i].tsc);
	for (i = 0; i < shift->nr; i++)
		put(f, uint64_t, shift->points[i].shift);
	for (i = 0; i < shift->nr; i++)
		put(f, uint64_t, 1);
}

void stamp_shifts(struct stamp *stamp, uint64_t host, const struct shift *shifts, uint32_t cpus)
{
	FILE *f = stamp->options;
	size_t all = 0, i;
	uint32_t cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		all += shifts[cpu].nr;
	put_option(f, OPTION_TIME_SHIFT, 8 + 4 + 4 + 4 * cpus + 4 * 8 * all);
	put(f, uint64_t, host);
	put(f, uint32_t, INTERPOLATE);
	put(f, uint32_t, cpus);
	for (cpu = 0; cpu < cpus; cpu++)
		put_points(f, &shifts[cpu]);
	for (i = 0; i < all; i++)
		put(f, uint64_t, 0);
}

void stamp_guest(struct stamp *stamp, const char *name, uint64_t id, const uint32_t *tids,
		 uint32_t cpus)
{
	FILE *f = stamp->options;
	uint32_t cpu;

	put_option(f, OPTION_GUEST, strlen(name) + 1 + 8 + 4 + 8 * cpus);
	fwrite(name, strlen(name) + 1, 1, f);
	put(f, uint64_t, id);
	put(f, uint32_t, cpus);
	for (cpu = 0; cpu < cpus; cpu++) {
		put(f, uint32_t, cpu);
		put(f, uint32_t, tids[cpu]);
	}
}

/*
 * Nanoseconds are (TSC * a number of 31 bits) >> a shift: the greatest that there is room for.
 * libtracecmd, which has the number in an int, and shifts the product of the upper halves by 32 - shift, takes 32 at most.
 */
void stamp_speed(struct stamp *stamp, double per_second)
{
	double mult = 1e9 / per_second;
	uint32_t shift = 0;

	while (mult * 2 < INT32_MAX && shift < 32) {
		mult *= 2;
		shift++;
	}
	put_option(stamp->options, OPTION_TSC2NSEC, 4 + 4 + 8);
	put(stamp->options, uint32_t, mult + 0.5);
	put(stamp->options, uint32_t, shift);
	put(stamp->options, uint64_t, 0);
}

static bool put_section(const struct stamp *stamp, int fd, uint64_t at)
{
	const struct section header = { .size = stamp->size };

	return pwrite(fd, &header, sizeof(header), at) == sizeof(header) &&
	       pwrite(fd, stamp->data, stamp->size, at + sizeof(header)) == (ssize_t)stamp->size;
}

bool stamp_end(struct stamp *stamp, int fd)
{
	uint64_t old, end = lseek(fd, 0, SEEK_END);
	struct head head;
	size_t at;
	bool good;

	errno = EIO;
	if (!head_read(&head, fd))
		return false;
	at = first_at(&head);
	memcpy(&old, head.bytes + at, sizeof(old));
	put_option(stamp->options, OPTION_DONE, 8);
	put(stamp->options, uint64_t, old);
	good = !fclose(stamp->options) && put_section(stamp, fd, end) &&
	       pwrite(fd, &end, sizeof(end), at) == sizeof(end);
	free(stamp->data);
	return good;
}
