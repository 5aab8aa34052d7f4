# SPDX-License-Identifier: GPL-2.0
"""The initramfs of a run: the images, and what differs between runs."""

import os
import shlex
import shutil
import subprocess

from . import bochs
from .message import die, say
from .paths import BUILD, LAB

# Of both kernels.
KERNEL_ARGS = 'panic=-1 mitigations=off nokaslr norandmaps quiet loglevel=5 nmi_watchdog=0 random.trust_cpu=on cryptomgr.notests'


def kernel_args(more):
    """Those of both kernels, and more; the last one of a name counts, but nothing takes nokaslr back."""
    args = KERNEL_ARGS.replace('nokaslr ', '') if 'kaslr' in more.split() else KERNEL_ARGS
    return f'{args} {more}'


def module(a, side, tree):
    """Put pvperf's module into an overlay; say so if there is none."""
    given = a.host_ko if side == 'host' else a.guest_ko
    kernel = a.host if side == 'host' else a.guest
    path = given or os.path.join(BUILD, 'modules', kernel, f'pvperf_{side}.ko')
    if os.path.exists(path):
        # As DKMS installs it. The emulated machine loads a twentieth.
        subprocess.run(['objcopy', '--strip-debug', path, os.path.join(tree, 'lab', f'pvperf_{side}.ko')], check=True)
    elif given:
        die(f'no file {given}')
    else:
        say(f'no pvperf_{side}.ko for {kernel}: going on without')


def link(tree, path, name):
    shutil.copy(path, os.path.join(tree, name))
    os.chmod(os.path.join(tree, name), 0o755)


def cpio(tree, parts, output):
    """Concatenate cpio archives, with the tree as the last one."""
    with open(output, 'wb') as out:
        for p in parts:
            with open(p, 'rb') as f:
                shutil.copyfileobj(f, out, 1 << 20)
        out.flush()
        names = subprocess.run('find . -exec touch -h -d @0 {} + && find . | LC_ALL=C sort',
                               shell=True, cwd=tree, check=True, capture_output=True).stdout
        subprocess.run(['cpio', '-o', '-H', 'newc', '--quiet', '--reproducible', '-R', '0:0'],
                       cwd=tree, input=names, stdout=out, check=True)


def config(a, side, emulated):
    """/lab/config: what the scripts in the machine need to know."""
    host = side == 'host'
    return {
        'LAB_WHERE': a.where if host else 'guest',
        'LAB_CPU': a.cpu,
        'LAB_SERIAL': int(a.cpu == 'intel'),
        'LAB_HOST_KERNEL': a.host,
        'LAB_GUEST_KERNEL': a.guest,
        'LAB_ICOUNT': int(a.icount),
        'LAB_SEED': a.seed,
        'LAB_EMULATED': int(emulated),
        'LAB_VPMU': int(a.vpmu),
        'LAB_INTERACTIVE': int(not a.command),
        'LAB_LOAD': int(not (a.no_host_module if host else a.no_guest_module)),
        'LAB_ARGS': a.host_args if host else a.guest_args,
        'LAB_KVM_ARGS': a.kvm_args,
        'LAB_GUEST_RESET': int(a.guest_reset),
        'LAB_GUEST_SMP': a.smp[1],
        'LAB_GUEST_MEM': a.mem[1],
        # noxsave: kernels from 7.2 on panic in the FPU set-up of an emulated nested guest.
        # cmos_init: searches 4 seconds for a clock that a microvm does not have.
        'LAB_GUEST_APPEND': 'console=ttyS0 reboot=t initcall_blacklist=cmos_init '
                            f"{'noxsave ' if emulated else ''}{kernel_args(a.append_guest)}",
    }


def host_append(a, emulated):
    """The host's kernel command line."""
    return (f"console=ttyS0 {'no_timer_check tsc=reliable ' if emulated else ''}"
            f"{bochs.APPEND if a.cpu == 'intel' else ''}{kernel_args(a.append_host)}")


def overlay(a, side, tree, emulated):
    """What differs between runs: scripts, modules, tests, the command."""
    os.makedirs(os.path.join(tree, 'lab/bin'))
    inside = os.path.join(LAB, 'inside')
    link(tree, os.path.join(inside, f'{side}-init'), 'init')
    link(tree, os.path.join(inside, 'common'), 'lab/common')
    for name in ('qmark', 'loop', 'hot'):
        link(tree, os.path.join(BUILD, 'bin', name), f'lab/bin/{name}')
    if side == 'host':
        link(tree, os.path.join(inside, 'guest'), 'lab/bin/guest')
        link(tree, os.path.join(inside, 'host-here'), 'lab/bin/host')
        link(tree, os.path.join(BUILD, 'bin/hostcall'), 'lab/bin/hostd')
        link(tree, os.path.join(BUILD, 'bin/mon'), 'lab/bin/mon')
    else:
        link(tree, os.path.join(BUILD, 'bin/hostcall'), 'lab/bin/host')
    module(a, side, tree)
    for d in a.overlay_host if side == 'host' else a.overlay_guest:
        shutil.copytree(d, tree, dirs_exist_ok=True, symlinks=True)
    with open(os.path.join(tree, 'lab/config'), 'w') as f:
        for k, v in config(a, side, emulated).items():
            f.write(f'{k}={shlex.quote(str(v))}\n')
    with open(os.path.join(tree, 'lab/command'), 'w') as f:
        f.write((a.command[0] if len(a.command) == 1 else shlex.join(a.command)) + '\n')


def make(a, tmp, emulated):
    images = os.path.join(BUILD, 'images')
    part = lambda name: os.path.join(images, name)
    guest, host = os.path.join(tmp, 'guest'), os.path.join(tmp, 'host')
    overlay(a, 'guest', guest, emulated)
    overlay(a, 'host', host, emulated)
    udev = [part('udev.cpio')] if a.udev else []
    cpio(guest, [part('userland-guest.cpio'), *udev, part(f'{a.guest}-guest.cpio')],
         os.path.join(host, 'lab/guest.initrd'))
    shutil.copy(part(f'{a.guest}-vmlinuz'), os.path.join(host, 'lab/guest.vmlinuz'))
    cpio(host, [part('userland-host.cpio'), *udev, part(f'{a.host}-host.cpio')], os.path.join(tmp, 'initrd'))
    shutil.rmtree(host)
    shutil.rmtree(guest)
