# SPDX-License-Identifier: GPL-2.0
"""The host as a machine of QEMU."""

import os
import re
import shutil
import subprocess

from .message import say
from .paths import BUILD


def accelerator(a):
    """Is the host emulated? And QEMU's arguments for it: KVM if this machine can do it."""
    if a.cpu == 'intel':
        say('emulated host, Intel (Bochs), one instruction is 1 ns')
        return True, []
    with open('/proc/cpuinfo') as f:
        virt = re.search(r'\b(svm|vmx)\b', f.read())
    counts = False
    if virt and os.access('/dev/kvm', os.R_OK | os.W_OK) and not a.icount and shutil.which('perf'):
        r = subprocess.run(['perf', 'stat', '-x,', '-e', 'cycles', 'true'], capture_output=True, text=True)
        counts = re.match(r'[1-9]', r.stderr.strip()) is not None
    if counts:
        say(f'real hardware: {virt.group(0)} and a counting PMU, the host runs under KVM')
        return False, ['-accel', 'kvm', '-cpu', 'host']
    say('emulated host (no virtualization with a PMU on this machine), AMD, one thread'
        + (', one instruction is 1 ns' if a.icount else ''))
    # One thread: QEMU's multi-threaded emulation loses patches of running code.
    return True, ['-accel', 'tcg,thread=single,tb-size=512',
                  *(['-icount', 'shift=0,sleep=off'] if a.icount else []),
                  '-seed', str(a.seed), '-rtc', 'base=2026-01-01,clock=vm',
                  '-cpu', 'EPYC,+svm,+npt,+vgif,pmu-emu=on' + (',pmu-v2=on' if a.pmu_v2 or a.lbr else '')
                  + (',pmu-lbr=on' if a.lbr else '')
                  + (',+invtsc' if a.host.endswith('-rt') else '')]     # or its KVM does not load


def kernel(a):
    """The host's kernel, unpacked. Packed if it has to place itself (kaslr), which its unpacker does,
    and on debug kernels: 6.12-debug dies if it is started unpacked."""
    unpacked, packed = (os.path.join(BUILD, 'images', f'{a.host}-vmlinu{x}') for x in 'xz')
    plain = 'kaslr' not in a.append_host.split() and '-debug' not in a.host
    return unpacked if plain and os.path.exists(unpacked) else packed


def command(a, accel, append, log, tmp):
    path = lambda name: os.path.join(log, name)
    ports = ['status', 'host-dmesg', 'guest-console', 'guest-dmesg']
    files = {'status': 'status', 'host-dmesg': 'host.dmesg', 'guest-console': 'guest.log',
             'guest-dmesg': 'guest.dmesg', 'output': 'output'}
    qemu = [os.path.join(BUILD, 'qemu/qemu-system-x86_64'), '-L', '/usr/share/seabios', '-L', '/usr/share/qemu',
            '-M', 'q35', *accel, '-smp', a.smp[0], '-m', a.mem[0], '-nodefaults', '-no-user-config',
            '-no-reboot', '-display', 'none',
            '-chardev', f'file,id=console,path={path("host.log")}', '-serial', 'chardev:console',
            '-device', 'virtio-serial-pci']
    for p in ports:
        qemu += ['-chardev', f'file,id={p},path={path(files[p])}',
                 '-device', f'virtserialport,chardev={p},name={p}']
    if a.cover:     # what is translated where kernels have their modules
        qemu += ['-d', 'in_asm', '-D', path('asm.log'), '-dfilter', '0xffffffffc0000000+0x3f000000']
    interactive = not a.command
    if interactive:
        qemu += ['-chardev', 'stdio,id=output,signal=off']
    else:
        qemu += ['-chardev', f'file,id=output,path={path("output")}']
    kind = 'virtconsole' if interactive and a.where == 'host' else 'virtserialport'
    qemu += ['-device', f'{kind},chardev=output,name=output',
             '-kernel', kernel(a),
             '-initrd', os.path.join(tmp, 'initrd'), '-append', append]
    return qemu
