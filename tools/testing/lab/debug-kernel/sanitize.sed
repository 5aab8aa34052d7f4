# SPDX-License-Identifier: GPL-2.0
# For scripts/Makefile.lib. KASAN and UBSAN see modules from outside the tree, KVM, perf, and what
# handles their memory; the rest is compiled as if they were not there, which takes half the time.
# KCSAN sees modules from outside the tree: the kernel's own races are not what we look for.
/^ifeq (\$(CONFIG_KASAN),y)/i\
lab-dirs := $(if $(CONFIG_KCSAN),,kernel kernel/events kernel/time arch/x86/events arch/x86/events/% \\\
	    arch/x86/kvm arch/x86/kvm/% virt/kvm virt/lib lib)\
lab-sanitize = $(if $(is-kernel-object),$(if $(KBUILD_EXTMOD)$(filter $(lab-dirs),$(obj)),y))\

/KASAN_SANITIZE\|UBSAN_\|KCSAN_/s/\$(is-kernel-object)/$(lab-sanitize)/
