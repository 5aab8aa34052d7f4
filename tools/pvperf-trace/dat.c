// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "dat.h"
#include "fault.h"

static int id_of(struct tep_handle *tep, const char *system, const char *name)
{
	struct tep_event *e = tep_find_event_by_name(tep, system, name);

	return e ? e->id : -1;
}

static bool buffer_add(struct dat *dat, struct tracecmd_input *buffer)
{
	if (!buffer || dat->nr_buffers == BUFFERS_MAX)
		return false;
	tracecmd_set_private(buffer, dat);
	dat->buffers[dat->nr_buffers++] = buffer;
	return true;
}

/* libtracecmd shifts no times of the buffers that trace-cmd record -B makes. */
static int buffers_add(struct dat *dat, struct tracecmd_input *top)
{
	int n = tracecmd_buffer_instances(top), i;

	buffer_add(dat, top);
	if (n && dat->is_guest)
		return merge_failed(dat->path, "a guest's times in buffers of their own can't be shifted: record it without -B");
	for (i = 0; i < n; i++)
		if (!buffer_add(dat, tracecmd_buffer_instance_handle(top, i)))
			return merge_failed(dat->path, "a buffer of trace-cmd record -B can't be read, or there are more than 63");
	return EXIT_FITS;
}

int dat_begin(struct dat *dat, const char *clock)
{
	struct tracecmd_input *top;
	int fd = dup(dat->fd);
	struct tep_handle *tep;

	dat->nr_buffers = 0;
	lseek(fd, 0, SEEK_SET);
	top = tracecmd_open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top)
		return merge_failed(dat->path, "can't be read; try trace-cmd report");
	tep = tracecmd_get_tep(top);
	dat->clock = id_of(tep, "pvperf", clock);
	dat->entry = id_of(tep, "kvm", "kvm_entry");
	dat->exit = id_of(tep, "kvm", "kvm_exit");
	dat->print = id_of(tep, "ftrace", "print");
	dat->write_offset = id_of(tep, "kvm", "kvm_write_tsc_offset");
	dat->id = tracecmd_get_traceid(top);
	if (!dat->runs)		/* later the arrays have that size */
		dat->cpus = tep_get_cpus(tep);
	return buffers_add(dat, top);
}

void dat_end(struct dat *dat)
{
	while (dat->nr_buffers)
		tracecmd_close(dat->buffers[--dat->nr_buffers]);
}

int dats_read(struct dat **dats, int n, dat_fn each, void *arg)
{
	struct tracecmd_input *all[(GUESTS_MAX + 1) * BUFFERS_MAX];
	int nr = 0, i;

	for (i = 0; i < n; i++) {
		memcpy(all + nr, dats[i]->buffers, dats[i]->nr_buffers * sizeof(*all));
		nr += dats[i]->nr_buffers;
	}
	return tracecmd_iterate_events_multi(all, nr, each, arg);
}

struct dat *dat_of(struct tracecmd_input *buffer)
{
	return tracecmd_get_private(buffer);
}

struct tep_event *dat_event(struct tracecmd_input *buffer, struct tep_record *record)
{
	return tep_find_event_by_record(tracecmd_get_tep(buffer), record);
}

static struct tep_format_field *field(struct tep_event *event, struct tep_record *record,
				      const char *name)
{
	struct tep_format_field *f = event ? tep_find_any_field(event, name) : NULL;

	return f && f->offset >= 0 && f->size > 0 && f->offset + (long)f->size <= record->size ?
		f : NULL;
}

bool dat_number(struct tep_event *event, struct tep_record *record, const char *name,
		uint64_t *value)
{
	struct tep_format_field *f = field(event, record, name);
	unsigned long long v;

	if (!f || tep_read_number_field(f, record->data, &v))
		return false;
	*value = v;
	return true;
}

/* The bytes from @at, which end at a 0 or after @room, as a text in @size bytes. */
static void text_take(const struct tep_record *record, long at, long room, char *text, size_t size)
{
	size_t n = room > 0 ? strnlen((char *)record->data + at, room) : 0;

	if (n >= size)
		n = size - 1;
	memcpy(text, (char *)record->data + (n ? at : 0), n);
	text[n] = '\0';
}

void dat_text(struct tep_event *event, struct tep_record *record, const char *name, char *text,
	      size_t size)
{
	struct tep_format_field *f = field(event, record, name);
	bool is_text = f && f->flags & TEP_FIELD_IS_ARRAY && !(f->flags & TEP_FIELD_IS_DYNAMIC);

	text_take(record, is_text ? f->offset : 0, is_text ? f->size : 0, text, size);
}

void dat_rest(struct tep_event *event, struct tep_record *record, const char *name, char *text,
	      size_t size)
{
	struct tep_format_field *f = event ? tep_find_any_field(event, name) : NULL;
	bool there = f && f->offset >= 0 && f->offset < record->size;

	text_take(record, there ? f->offset : 0, there ? record->size - f->offset : 0, text, size);
}
