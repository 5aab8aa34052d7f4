# SPDX-License-Identifier: GPL-2.0
# The commands of this tree; `make help` lists them. First those that build and install
# pvperf here, then those of the lab and its tests.
#
# The kernel's build reads Kbuild instead of this file: make -C KDIR M=$PWD modules

LAB := tools/testing/lab
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
PVPERF ?=
ifneq ($(words x$(DESTDIR) x$(PREFIX)),2)
$(error make: DESTDIR and PREFIX want paths without a space)
endif
override PREFIX := $(PREFIX:/=)
override DESTDIR := $(if $(DESTDIR),$(abspath $(DESTDIR)))
sides := $(or $(PVPERF),host guest)
# The headers of a distribution have no key to sign with; DKMS has one.
kbuild = $(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR) CONFIG_MODULE_SIG_ALL= $(if $(PVPERF),PVPERF=$(PVPERF))
# What uname -r says; the kernelrelease of Debian 12's headers is another.
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

modules: headers
	@$(kbuild) modules

headers:
	@[ -e "$(KDIR)/Makefile" ] || { echo "make: no headers of a kernel in $(KDIR); on Debian:" \
		"apt install linux-headers-$$(uname -r), or say KDIR=/lib/modules/VERSION/build" >&2; exit 2; }

# pvperf-trace where its libraries are.
tools = pvperf $(shell pkg-config --exists libtracecmd 2> /dev/null && echo pvperf-trace)

tool:
	@for t in $(tools); do $(MAKE) --no-print-directory -C tools/$$t || exit; done
	@[ "$(strip $(tools))" != pvperf ] || echo 'make: without pvperf record and pvperf merge: they need' \
		'libtracecmd-dev libtracefs-dev libtraceevent-dev'

install: install-modules install-tool

# depmod gives both places the same rank.
install-modules: modules
	@! ls $(foreach s,$(sides),$(DESTDIR)/lib/modules/$(release)/updates/dkms/pvperf_$(s).ko*) 2> /dev/null | grep . || \
		{ echo 'make: DKMS has installed this: remove the package pvperf-*-dkms, or dkms remove, first' >&2; exit 2; }
	@$(kbuild) KERNELRELEASE=$(release) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		$(if $(DESTDIR),DEPMOD=true) modules_install
ifeq ($(DESTDIR),)
	@depmod $(release)
endif

# Where systemd and udev look. The Debian package gets these from debhelper.
units = $(addprefix $(DESTDIR)$(PREFIX)/lib/,systemd/system/pvperf-host.service \
	systemd/system/pvperf-policy.service udev/rules.d/60-pvperf-tools.rules)
has_units := $(filter /usr /usr/local,$(PREFIX))

install-tool: tool
	@for t in $(tools); do $(MAKE) --no-print-directory -C tools/$$t PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install || exit; done
ifneq ($(has_units),)
	install -D -m 644 debian/pvperf-host-dkms.pvperf-host.service $(word 1,$(units))
	install -D -m 644 debian/pvperf-tools.pvperf-policy.service $(word 2,$(units))
	install -D -m 644 debian/pvperf-tools.udev $(word 3,$(units))
else
	@echo 'make: systemd and udev do not look below $(PREFIX): no units, and no rule that applies /etc/pvperf/policy.d'
endif

uninstall: uninstall-modules uninstall-tool

# Of each kernel, and without its headers.
uninstall-modules:
	@for s in $(sides); do for f in $(DESTDIR)/lib/modules/*/updates/pvperf_$$s.ko*; do \
		[ -e "$$f" ] || continue; \
		rm -f "$$f" || exit; r=$${f%/updates/*}; [ -n "$(DESTDIR)" ] || depmod "$${r##*/}"; \
	done; done

uninstall-tool:
	@for t in pvperf pvperf-trace; do $(MAKE) --no-print-directory -C tools/$$t PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) uninstall; done
	@rm -f $(if $(has_units),$(units))
	@l=/etc/systemd/system/multi-user.target.wants/pvperf-host.service; [ -n "$(DESTDIR)" ] || [ ! -L $$l ] || \
		[ -e $$l ] || echo 'make: the unit is still enabled: systemctl disable pvperf-host'

help:
	@echo 'Build and install:'
	@echo '  make                  build both modules for the running kernel, or for KDIR=...;'
	@echo '                        PVPERF=host or PVPERF=guest: only that one'
	@echo '  make tool             build the command pvperf, and pvperf-trace if libtracecmd is there'
	@echo '  make install          install both, the man page, completion and units; DESTDIR=... PREFIX=/usr/local;'
	@echo '                        make install-modules, make install-tool: only those'
	@echo '  make uninstall        remove what that has installed; make uninstall-modules, uninstall-tool: only those'
	@echo
	@echo 'See and test it in an emulator (as root, on Debian 12; the first call installs some 40'
	@echo 'packages on this machine, QEMU'"'"'s build dependencies, and fills 10 GB in build/):'
	@echo '  make demo             emulate a host, boot a guest in it, and run plain perf there'
	@echo '  make check            run all checks and tests that must pass; ends in "N passed, N failed, N skipped"'
	@echo '  make check-all        run make check with all tests on each kernel, some with 6.12 as its host and its guest'
	@echo '  make check-debug      run the selftests on kernels with KASAN, lockdep, KCSAN and the like, which it builds (10 CPU minutes each), and those that race in 50 interleavings'
	@echo '  make setup            build what the lab needs, once: QEMU with a PMU, Debian roots'
	@echo '  make lab-modules      build both modules for each kernel in $(LAB)/kernels'
	@echo '  make checks           check the source (tools/testing/checks)'
	@echo '  make unit             run the unit tests (tools/testing/unit)'
	@echo '  make selftests        run the selftests in the lab: all but branch stacks on 6.12, some on each other kernel and on Intel'
	@echo '  make packaging        test pvperf, DKMS and the Debian packages in each suite (tools/testing/packaging)'
	@echo '  make bench            measure in instructions what counting and a KVM vPMU cost; writes Documentation/measured/costs.md'
	@echo
	@echo 'Others:'
	@echo '  make pictures         draw the manual'"'"'s pictures, from measured tables and two boots of the lab'
	@echo '  make docs             build the manual, as HTML in build/docs; installs sphinx, and 140 MB of kernel source for kernel-doc'
	@echo '  make silicon          run the selftests on this machine, whose CPU is real: a host with pvperf_host or a'
	@echo '                        guest with pvperf_guest; writes build/silicon/report.txt'
	@echo '  make clean            remove what was built, except QEMU and the roots'
	@echo '  make distclean        remove build/'
	@echo
	@echo 'To run a command in an emulated guest: $(LAB)/run -- perf stat true'

setup:
	@$(LAB)/setup

lab-modules: setup
	@$(LAB)/modules $$(awk '!/^#/ && NF { print $$1 }' $(LAB)/kernels)

demo:
	@$(LAB)/demo

check:
	@$(LAB)/check

check-all:
	@$(LAB)/check --all --record

check-debug:
	@$(LAB)/check --debug --record

checks unit selftests:
	@$(LAB)/check --only $@

packaging:
	@$(LAB)/check --all --only packaging

bench:
	@tools/testing/bench/bench --write

docs:
	@tools/documents/manual

pictures: setup
	@tools/documents/pictures

silicon:
	@tools/testing/silicon

clean:
	@rm -rf build/bench build/modules build/logs build/tmp build/selftests build/unit build/packaging build/pvperf build/silicon build/docs
	@for r in build/roots/*/src; do rm -rf --one-file-system "$$r"; done
	@$(MAKE) -s -C tools/testing/unit clean
	@$(MAKE) -s -C tools/pvperf clean
	@$(MAKE) -s -C tools/pvperf-trace clean
	@[ ! -e Module.symvers ] || if [ -e "$(KDIR)/Makefile" ]; then $(kbuild) clean; else \
		echo 'make: the modules stay here: no headers in $(KDIR) to clean with'; fi

distclean: clean
	@rm -rf --one-file-system build

.PHONY: modules headers tool install install-modules install-tool uninstall \
	uninstall-modules uninstall-tool help setup lab-modules \
	demo check check-all check-debug checks unit selftests packaging bench docs pictures silicon clean distclean
