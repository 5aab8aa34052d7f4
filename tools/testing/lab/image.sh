# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The parts of an initramfs, out of a Debian root: sourced by who makes one of the
# root $user.

# shellcheck disable=SC2154 # user is the caller's
below=	# a tree over which the one being made will be laid

put() { # TREE PATH...: copy out of the userland root, links followed
	local tree=$1 p
	shift
	for p in "$@"; do
		[ ! -e "$tree/$p" ] && [ ! -e "${below:-$tree}/$p" ] || continue
		mkdir -p "$tree/${p%/*}"
		cp -L "$user/$p" "$tree/$p"
	done
}

put_program() { # TREE PATH...: with the libraries it wants
	local tree=$1 p lib
	shift
	for p in "$@"; do
		put "$tree" "$p"
		for lib in $(chroot "$user" ldd "/$p" | grep -oE '/[^ ]+'); do
			lib=${lib#/}
			case $lib in usr/*) ;; *) lib=usr/$lib;; esac
			put "$tree" "$lib"
		done
	done
}

# put_apart TREE PROGRAM DIR: one of another suite: with its libraries and their loader in
# DIR, where it looks for them
put_apart() {
	local tree=$1 program=$2 dir=$3 lib
	mkdir -p "$tree/$dir" "$tree/${program%/*}"
	cp -L "$user/$program" "$tree/$program"
	for lib in $(chroot "$user" ldd "/$program" | grep -oE '/[^ ]+'); do
		cp -L "$user$lib" "$tree/$dir/"
	done
	patchelf --set-interpreter "/$dir/ld-linux-x86-64.so.2" --force-rpath --set-rpath "/$dir" "$tree/$program"
}

# put_skeleton TREE: the folders that the scripts in inside/ expect, and busybox
put_skeleton() {
	local tree=$1 a
	mkdir -p "$tree"/{proc,sys,dev,tmp,run,root,etc,lab/modules,t,usr/bin,usr/sbin,usr/lib,usr/lib64,usr/share/perf-core}
	for a in bin sbin lib lib64; do ln -s "usr/$a" "$tree/$a"; done
	put "$tree" usr/bin/busybox
	echo 'root:x:0:0:root:/root:/bin/sh' > "$tree/etc/passwd"
	echo 'root:x:0:' > "$tree/etc/group"
}

# put_applets TREE: busybox for what nothing else was put there for
put_applets() {
	local tree=$1 a
	for a in $("$user/usr/bin/busybox" --list); do
		[ -e "$tree/usr/bin/$a" ] || ln -s busybox "$tree/usr/bin/$a"
	done
}

# put_modules TREE ROOT VERSION MODULE...: modules of the root's kernel in
# /lab/modules; NAME.list there says which to load, in which order, to have NAME.
put_modules() {
	local tree=$1 root=$2 version=$3 m path file
	shift 3
	mkdir -p "$tree/lab/modules"
	for m in "$@"; do
		: > "$tree/lab/modules/$m.list"
		for path in $(chroot "$root" modprobe -S "$version" --show-depends "$m" |
				sed -n 's/^insmod \([^ ]*\).*/\1/p'); do
			file=${path##*/}
			file=${file%.xz}
			if [ ! -e "$tree/lab/modules/$file" ]; then
				case $path in
				*.xz) xz -dc "$root$path" > "$tree/lab/modules/$file";;
				*) cp "$root$path" "$tree/lab/modules/$file";;
				esac
			fi
			echo "$file" >> "$tree/lab/modules/$m.list"
		done
	done
}

# put_vmlinuz ROOT VERSION FILE: the root's kernel; from 6.19 on it lies elsewhere
put_vmlinuz() {
	local f
	for f in "$1/boot/vmlinuz-$2" "$1/usr/lib/modules/$2/vmlinuz"; do
		[ ! -e "$f" ] || { cp "$f" "$3"; return; }
	done
	return 1
}

# put_vmlinux VMLINUZ FILE: the same kernel unpacked, as an emulated machine takes seconds for that.
# Not if it can't be started so (CONFIG_PVH), or is packed with something else than zstd knows. The
# offsets are those of the x86 boot protocol; behind the packed kernel there may be its size.
put_vmlinux() {
	local setup at len
	setup=$(od -An -tu1 -j 0x1f1 -N 1 "$1") at=$(od -An -tu4 -j 0x248 -N 4 "$1") len=$(od -An -tu4 -j 0x24c -N 4 "$1")
	tail -c "+$(((setup + 1) * 512 + at + 1))" "$1" | head -c "$len" | zstd -dc > "$2" 2> /dev/null || true
	readelf -n "$2" 2> /dev/null | grep -q Xen || rm "$2"
}

# Same contents, same bytes.
pack() { # TREE FILE
	(cd "$1" && find . -exec touch -h -d @0 {} + && find . | LC_ALL=C sort |
		cpio -o -H newc --quiet --reproducible -R 0:0) > "$2.part"
	mv "$2.part" "$2"
}
