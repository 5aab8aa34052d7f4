# SPDX-License-Identifier: GPL-2.0
# The commands of this tree; `make help` lists them. The kernel's build reads Kbuild
# instead of this file: tools/testing/lab/modules builds the modules, and so does
#	make -C /lib/modules/$(uname -r)/build M=$PWD modules

LAB := tools/testing/lab

help:
	@echo 'make setup      build what the lab needs, once: QEMU with a PMU, Debian roots'
	@echo 'make modules    build both modules for each kernel in $(LAB)/kernels'
	@echo 'make demo       emulate a host, boot a guest in it, and run plain perf there'
	@echo 'make check      run all checks and tests that must pass; ends in "N passed, N failed, N skipped"'
	@echo 'make check-all  run make check with all tests on each kernel, also with 6.12 as its host and its guest'
	@echo 'make checks     check the source (tools/testing/checks)'
	@echo 'make unit       run the unit tests (tools/testing/unit)'
	@echo 'make selftests  run the selftests in the lab: all on 6.12, some on each other kernel and on Intel'
	@echo 'make packaging  test pvperf, DKMS and the Debian packages in each suite (tools/testing/packaging)'
	@echo 'make bench      measure in instructions what counting and a KVM vPMU cost; writes Documentation/performance.md'
	@echo 'make accuracy   compare counts in a guest with the host and with a KVM vPMU; writes Documentation/accuracy.md'
	@echo 'make docs       build the manual, as HTML in build/docs'
	@echo 'make silicon    test and time pvperf on this machine, which needs svm or vmx and a PMU; writes build/silicon/'
	@echo 'make clean      remove what was built, except QEMU and the roots'
	@echo 'make distclean  remove build/'
	@echo
	@echo 'To run a command in an emulated guest: $(LAB)/run -- perf stat true'

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
	@command -v python3 > /dev/null || { echo 'silicon: python3 is missing; run: apt-get install python3' >&2; exit 2; }
	@tools/testing/silicon/silicon $(SILICON)

clean:
	@rm -rf build/bench build/modules build/logs build/tmp build/selftests build/unit build/packaging build/pvperf build/silicon build/silicon-lab build/docs
	@for r in build/roots/*/src; do rm -rf "$$r"; done
	@$(MAKE) -s -C tools/testing/unit clean

distclean: clean
	@rm -rf build

.PHONY: help setup modules demo check check-all checks unit selftests packaging accuracy bench docs silicon clean distclean
