# SPDX-License-Identifier: GPL-2.0
"""Describes this machine, and finds what it lacks for a run.

A problem is a pair: what is wrong, and what the owner can do about it.
"""

import glob
import os
import re
import subprocess
import time

# The packages that a run needs, each with a file that exists if it is installed.
PACKAGES = {
    'make': '/usr/bin/make',
    'gcc': '/usr/bin/gcc',
    'libc6-dev': '/usr/include/stdio.h',
    'kmod': '/usr/sbin/modprobe',
    'cpio': '/usr/bin/cpio',
    'xz-utils': '/usr/bin/xz',
    'linux-perf': '/usr/bin/perf',
    'qemu-system-x86': '/usr/bin/qemu-system-x86_64',
    'seabios': '/usr/share/seabios/bios-microvm.bin',
}
PARAMETERS = {
    'kvm': ('enable_pmu', 'halt_poll_ns'),
    'kvm_amd': ('npt', 'nested', 'avic', 'vnmi', 'enable_mediated_pmu'),
    'kvm_intel': ('ept', 'nested', 'enable_apicv', 'unrestricted_guest', 'enable_mediated_pmu'),
}


def text(path, default=''):
    try:
        with open(path, errors='replace') as f:
            return f.read().strip()
    except OSError:
        return default


def output(*command):
    try:
        r = subprocess.run(command, capture_output=True, text=True, errors='replace')
    except OSError:
        return ''
    return r.stdout.strip() if r.returncode == 0 else ''


def cpu_fields():
    """{name: value} of the first CPU."""
    first = text('/proc/cpuinfo').split('\n\n')[0]
    return {k.strip(): v.strip() for k, _, v in (x.partition(':') for x in first.splitlines())}


def kvm_vendor():
    """The name of KVM's module for this CPU, or None."""
    flags = cpu_fields().get('flags', '').split()
    return 'kvm_amd' if 'svm' in flags else 'kvm_intel' if 'vmx' in flags else None


def vpmu_offered():
    return text('/sys/module/kvm/parameters/enable_pmu') in ('Y', '1')


def perf_counts_cycles():
    r = subprocess.run(['perf', 'stat', '-x,', '-e', 'cycles', 'true'], capture_output=True, text=True)
    return re.match(r'[1-9]', r.stderr.strip()) is not None


def kselftest_headers(top):
    """A folder that has the kernel's kselftest_harness.h, or None."""
    found = glob.glob(os.path.join(top, 'build/kselftest/*/kselftest_harness.h'))
    return os.path.dirname(found[0]) if found else None


def packages_missing(top):
    release = os.uname().release
    missing = [p for p, path in PACKAGES.items() if not os.path.exists(path)]
    # The guest needs a static busybox, of which ldd lists no libraries.
    if not os.path.exists('/usr/bin/busybox') or output('ldd', '/usr/bin/busybox'):
        missing.append('busybox-static')
    if not os.path.exists(f'/lib/modules/{release}/build/Makefile'):
        missing.append(f'linux-headers-{release}')
    if not kselftest_headers(top) and not glob.glob('/usr/src/linux-source-*.tar.xz'):
        missing.append('linux-source')
    return missing


def problems(prepared):
    """Problems that no package solves, and that show before the packages are installed."""
    if os.geteuid():
        yield 'this is not root', 'run it as root: it loads a kernel module'
    if not re.search(r'^ID=debian$', text('/etc/os-release'), re.M):
        yield 'this is not Debian', "the names of packages and paths are Debian's; nothing else is supported yet"
    if not kvm_vendor():
        yield ('the CPU shows neither svm nor vmx', 'have the host allow nested virtualization'
               if re.search(r'^flags\b.*\bhypervisor\b', text('/proc/cpuinfo'), re.M) else
               "switch virtualization on in the machine's firmware")
    elif not os.access('/dev/kvm', os.R_OK | os.W_OK):
        yield '/dev/kvm is missing or not accessible', f'modprobe {kvm_vendor()}; dmesg says why if that fails'
    if os.path.exists('/sys/module/pvperf_host'):
        yield 'pvperf_host is loaded already', 'rmmod pvperf_host; a run loads the module that it builds'
    lockdown = text('/sys/kernel/security/lockdown', '[none]')
    if '[none]' not in lockdown and not prepared:
        yield ('Secure Boot: this kernel loads signed modules only',
               'switch Secure Boot off for the run, or sign the modules that --prepare builds')


def pmu_problems():
    """Problems that show once perf is installed."""
    if not perf_counts_cycles():
        yield ('perf counts no cycles here: no PMU, or another program uses all of its counters',
               "look at `perf stat -e cycles true` and at `dmesg | grep -i 'performance events'`")


def reload_problem():
    """The problem that prevents a reload of KVM without its vPMU, or None."""
    if text(f'/sys/module/{kvm_vendor()}/refcnt', '0') != '0':
        return 'a VM runs, or something else uses KVM', 'end it, or leave out --reload-kvm'
    return None


def kvm_facts():
    vendor = kvm_vendor()
    found = {'module': vendor}
    for module in ('kvm', vendor):
        for name in PARAMETERS.get(module, ()):
            value = text(f'/sys/module/{module}/parameters/{name}', None)
            if value is not None:
                found[f'{module}.{name}'] = value
    return found


def cpu_facts():
    f = cpu_fields()
    return {
        'vendor': f.get('vendor_id'), 'family': f.get('cpu family'), 'model': f.get('model'),
        'stepping': f.get('stepping'), 'name': f.get('model name'), 'microcode': f.get('microcode'),
        'cpus': os.cpu_count(),
        'under_a_hypervisor': 'hypervisor' in f.get('flags', '').split(),
    }


def facts(top):
    """The report's description of the machine, from which nobody can tell whose it is."""
    commit = output('git', '-C', top, 'describe', '--always', '--dirty', '--exclude=*')
    return {
        'date': time.strftime('%Y-%m-%d', time.gmtime()),
        'pvperf': output(os.path.join(top, 'packaging/version')),
        'commit': commit or os.environ.get('PVPERF_COMMIT', 'unknown'),
        'cpu': cpu_facts(),
        'kernel': os.uname().release,
        'kvm': kvm_facts(),
        'qemu': output('qemu-system-x86_64', '--version').split('\n')[0],
    }
