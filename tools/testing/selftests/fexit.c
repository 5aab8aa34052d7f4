// SPDX-License-Identifier: GPL-2.0
/*
 * fexit BTF FUNCTION...: attach an empty BPF program to the return of each function, until
 * this program is killed. BTF is a file of /sys/kernel/btf: vmlinux, or a module. Prints in
 * one line the functions that BTF knows, and "attached". Status 4: this kernel cannot do that.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT	4

struct btf {
	uint8_t *data;
	const struct btf_header *head;
	const char *strings;
	unsigned int first_id, first_string;	/* a module's go on where vmlinux's end */
	unsigned int types;
};

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void btf_load(struct btf *b, const char *name)
{
	char path[128];
	struct stat st;
	ssize_t n, at = 0;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		err(CANNOT, "%s", path);
	b->data = malloc(st.st_size);
	if (!b->data)
		err(1, "%s", path);
	while ((n = read(fd, b->data + at, st.st_size - at)) > 0)
		at += n;
	close(fd);
	b->head = (void *)b->data;
	if (at < (ssize_t)sizeof(*b->head) || b->head->magic != BTF_MAGIC)
		errx(1, "%s: no BTF", path);
	b->strings = (char *)b->data + b->head->hdr_len + b->head->str_off;
}

/* What follows the fixed part of a type. */
static size_t btf_extra(const struct btf_type *t)
{
	const unsigned int n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return 0;
	}
}

static const char *btf_name(const struct btf *b, uint32_t off)
{
	return off >= b->first_string && off - b->first_string < b->head->str_len ?
	       b->strings + off - b->first_string : "";
}

/* The id of a function; 0: none. Counts the types if @name is NULL. */
static unsigned int btf_function(struct btf *b, const char *name)
{
	const uint8_t *at = b->data + b->head->hdr_len + b->head->type_off;
	const uint8_t *end = at + b->head->type_len;
	const struct btf_type *t;

	for (b->types = 0; at < end; b->types++) {
		t = (void *)at;
		if (name && BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
		    !strcmp(btf_name(b, t->name_off), name))
			return b->first_id + b->types;
		at += sizeof(*t) + btf_extra(t);
	}
	return 0;
}

/* Is this the kernel's own object of that name? */
static bool btf_is(int fd, const char *name)
{
	char found[64];
	struct bpf_btf_info info = { .name = (uintptr_t)found, .name_len = sizeof(found) };
	union bpf_attr attr = {
		.info.bpf_fd = fd, .info.info_len = sizeof(info), .info.info = (uintptr_t)&info,
	};

	return !bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) && info.kernel_btf && !strcmp(found, name);
}

static int btf_object(const char *name)
{
	union bpf_attr attr = {};
	uint32_t id = 0;
	int fd;

	for (;;) {
		attr = (union bpf_attr){ .start_id = id };
		if (bpf(BPF_BTF_GET_NEXT_ID, &attr))
			err(CANNOT, "no BTF object %s", name);
		id = attr.next_id;
		attr = (union bpf_attr){ .btf_id = id };
		fd = bpf(BPF_BTF_GET_FD_BY_ID, &attr);
		if (fd >= 0 && btf_is(fd, name))
			return fd;
		if (fd >= 0)
			close(fd);
	}
}

static int program_load(unsigned int id, int object)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static char log[4096];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING, .insn_cnt = 2,
		.insns = (uintptr_t)nothing, .license = (uintptr_t)"GPL",
		.log_level = 1, .log_buf = (uintptr_t)log, .log_size = sizeof(log),
		.expected_attach_type = BPF_TRACE_FEXIT,
		.attach_btf_id = id, .attach_btf_obj_fd = object,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		err(1, "BPF_PROG_LOAD: %s", log);
	return fd;
}

/* Returns whether it could: BTF leaves some functions out. */
static bool attach(struct btf *b, int object, const char *function)
{
	unsigned int id = btf_function(b, function);
	union bpf_attr attr = {};

	if (!id)
		return false;
	attr.raw_tracepoint.prog_fd = program_load(id, object);
	if (bpf(BPF_RAW_TRACEPOINT_OPEN, &attr) < 0)
		err(1, "can't attach to %s", function);
	printf("%s ", function);
	return true;
}

int main(int argc, char **argv)
{
	struct btf vmlinux = {}, module = {};
	int i, object, n = 0;

	if (argc < 3)
		errx(2, "want BTF FUNCTION...");
	btf_load(&vmlinux, "vmlinux");
	vmlinux.first_id = 1;
	if (!strcmp(argv[1], "vmlinux")) {
		module = vmlinux;
	} else {
		btf_function(&vmlinux, NULL);
		btf_load(&module, argv[1]);
		module.first_id = vmlinux.types + 1;
		module.first_string = vmlinux.head->str_len;
	}
	object = btf_object(argv[1]);
	for (i = 2; i < argc; i++)
		n += attach(&module, object, argv[i]);
	if (!n)
		errx(CANNOT, "%s: no such function", argv[1]);
	printf("attached\n");
	fflush(stdout);
	for (;;)
		pause();
}
