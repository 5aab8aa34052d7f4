# SPDX-License-Identifier: GPL-2.0
# pvperf's front door. The kernel's build reads Kbuild, not this file; the
# modules are built by tools/testing/lab/modules or by
#	make -C /lib/modules/$(uname -r)/build M=$PWD modules

LAB := tools/testing/lab

help:
	@echo 'make setup      what the lab needs, once: QEMU with a PMU, Debian roots'
	@echo 'make modules    both modules, for every kernel in $(LAB)/kernels'
	@echo 'make demo       see it work: an emulated host, a guest, plain perf'
	@echo 'make check      everything that has to pass; ends in "N passed, N failed, N skipped"'
	@echo 'make check-all  the same, and each kernel with 6.12 as host and guest'
	@echo 'make checks     the checks of the source (tools/testing/checks)'
	@echo 'make unit       the unit tests (tools/testing/unit)'
	@echo 'make selftests  the selftests, in the lab: all on 6.12, some on each other kernel'
	@echo 'make packaging  pvperf, DKMS and the Debian packages, in every suite (tools/testing/packaging)'
	@echo 'make bench      what counting costs, in instructions, and what KVM vPMUs cost'
	@echo 'make accuracy   counts in a guest against the host and KVM vPMU; Documentation/accuracy.md'
	@echo 'make docs       the manual, as HTML in build/docs'
	@echo 'make silicon    on a machine with svm or vmx and a PMU: test and time it there; build/silicon/'
	@echo 'make clean      remove what was built, but not QEMU and the roots'
	@echo 'make distclean  remove build/'
	@echo
	@echo 'A command in an emulated guest: $(LAB)/run -- perf stat true'

setup:
	@$(LAB)/setup

modules: setup
	@$(LAB)/modules $$(awk '!/^#/ && NF { print $$1 }' $(LAB)/kernels)

demo:
	@$(LAB)/demo

check:
	@$(LAB)/check

check-all:
	@$(LAB)/check --all

checks unit selftests:
	@$(LAB)/check --only $@

packaging:
	@$(LAB)/check --all --only packaging

accuracy:
	@$(LAB)/accuracy --write

bench:
	@tools/testing/bench/bench --write

docs:
	@tools/documents/manual

silicon:
	@command -v python3 > /dev/null || { echo 'silicon: apt-get install python3, then again' >&2; exit 2; }
	@tools/testing/silicon/silicon $(SILICON)

clean:
	@rm -rf build/bench build/modules build/logs build/tmp build/selftests build/unit build/packaging build/pvperf build/silicon build/silicon-lab build/docs
	@for r in build/roots/*/src; do rm -rf "$$r"; done
	@if [ -e tools/testing/unit/Makefile ]; then $(MAKE) -s -C tools/testing/unit clean; fi

distclean: clean
	@rm -rf build

.PHONY: help setup modules demo check check-all checks unit selftests packaging accuracy bench docs silicon clean distclean
