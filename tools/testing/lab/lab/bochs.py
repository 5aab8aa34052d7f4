# SPDX-License-Identifier: GPL-2.0
"""The Intel host of `run --cpu intel`: a machine of Bochs, with a PMU (bochs/build).

Of Bochs's CPUs, Tiger Lake has VMX, EPT and CET, so kernels that support IBT (from 6.12
on, in Debian) run with IBT. 6.1 hangs on it before its first process, so it gets a
Skylake. One instruction is one tick of the TSC, and the kernel is told that a tick is
one nanosecond.

With --cpu hybrid it is an Alder Lake: even CPUs are P cores with eight general and four fixed
counters, odd ones E cores with six and three, where what is a fraction of the instructions elsewhere
is twice that fraction.

There is no virtio: the machine's output comes by four serial lines, each into a file.
bochs/rom.S boots the kernel from a disk. This file knows the machine only; initrd.py
makes what runs in it.
"""

import os
import shutil
import struct
import subprocess

from .paths import BUILD, LAB

# Also in bochs/rom.S.
ROM, PARAMS, TABLES, KERNEL = 0xd0000, 0x200000, 0x202000, 0x1000000
ROM_ENTRY, ROM_PARTS = 440, 448
INITRD = 0x10000000         # far above the memory that the kernel needs to start
CHUNK = 256 * 512           # one command of the disk reads so much
CYLINDER = 16 * 63 * 512    # the size of a disk is a multiple of it

# The kernel would warn where Bochs's CPUID contradicts itself: threads (ht), and the state
# of AVX-512 and of protection keys. Bochs's SHA instructions compute wrong results.
# reboot=t: a triple fault ends Bochs, while a reset would boot again.
APPEND = 'tsc_early_khz=1000000 reboot=t clearcpuid=ht,pku,xsavec,xsaves,sha_ni '

# com1 to com4. The last one has all other files one after the other, see logs_split().
SERIAL = ('host.log', 'output', 'status', 'guest.log')

# Devices have a slower clock than the TSC claims, because otherwise a byte would pass a
# serial line in ten instructions, which are too few to handle it.
IPS = 100000000

CONFIG = '''cpu: model={model}, count={cpus}, ips={ips}, reset_on_triple_fault=0
memory: guest={mem}, host={mem}
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
optromimage1: file={tmp}/rom, address={rom:#x}
ata0-master: type=disk, path={tmp}/disk, mode=flat
boot: disk
display_library: nogui
clock: sync=none, time0=1767225600
log: {log}/bochs.log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
'''


def kernel_load(elf):
    """The memory from KERNEL on of an unpacked kernel, and its entry."""
    entry, headers = struct.unpack_from('<QQ', elf, 24)
    memory = bytearray()
    for n in range(struct.unpack_from('<H', elf, 56)[0]):
        kind, _, at, _, to, size = struct.unpack_from('<IIQQQQ', elf, headers + 56 * n)
        if kind == 1:       # PT_LOAD
            memory.extend(bytes(max(0, to - KERNEL + size - len(memory))))
            memory[to - KERNEL:to - KERNEL + size] = elf[at:at + size]
    return memory, entry


def page_tables():
    """The first 4 GiB, at their own addresses, by pages of 2 MiB."""
    link = lambda n: TABLES + 4096 * n | 3
    return b''.join((struct.pack('<Q', link(1)).ljust(4096, b'\0'),
                     struct.pack('<4Q', *map(link, range(2, 6))).ljust(4096, b'\0'),
                     struct.pack('<2048Q', *(n << 21 | 0x83 for n in range(2048)))))


def boot_params(kernel, initrd_size, append):
    """The kernel's struct boot_params, and its command line in the next page."""
    params = bytearray(8192)
    end = 0x202 + kernel[0x201]
    params[0x1f1:end] = kernel[0x1f1:end]               # the image's own header
    struct.pack_into('<H', params, 0x1fa, 0xffff)       # vid_mode: as it is
    params[0x210] = 0xff                                # type_of_loader: none known
    params[0x211] |= 1                                  # loadflags: LOADED_HIGH
    struct.pack_into('<III', params, 0x214, KERNEL, INITRD, initrd_size)
    struct.pack_into('<I', params, 0x228, PARAMS + 4096)    # cmd_line_ptr
    append = append.encode() + b'\0'
    params[4096:4096 + len(append)] = append
    return params


def disk_make(path, parts):
    """Put the parts on a disk; return the ROM's table of them."""
    table, sector = b'', 0
    with open(path, 'wb') as disk:
        for destination, data in parts:
            chunks = -(-len(data) // CHUNK)
            table += struct.pack('<III', destination, sector, chunks)
            disk.write(data)
            sector += chunks * 256
            disk.seek(sector * 512)
        disk.truncate(-(-sector * 512 // CYLINDER) * CYLINDER)
    return table


def rom_make(path, entry, table):
    subprocess.run(['gcc', '-c', '-m32', '-o', path + '.o', os.path.join(LAB, 'bochs/rom.S')], check=True)
    subprocess.run(['ld', '-m', 'elf_i386', '-Ttext', '0', '--oformat', 'binary', '-o', path, path + '.o'],
                   check=True)
    with open(path, 'r+b') as f:
        rom = bytearray(f.read())
        struct.pack_into('<I', rom, ROM_ENTRY, entry)
        rom[ROM_PARTS:ROM_PARTS + len(table)] = table
        rom[-1] = -sum(rom[:-1]) & 0xff
        f.seek(0)
        f.write(rom)


def command(cpus, hybrid, mem, kernel, initrd, append, log, tmp):
    """Make what the machine needs; return the command that runs it."""
    model = 'corei7_skylake_x' if os.path.basename(kernel).startswith('6.1-') else 'tigerlake'
    with open(kernel, 'rb') as k, open(kernel.removesuffix('z') + 'x', 'rb') as elf, open(initrd, 'rb') as i:
        k, elf, i = k.read(), elf.read(), i.read()
    params = boot_params(k, len(i), append) + page_tables()
    memory, entry = kernel_load(elf)
    table = disk_make(os.path.join(tmp, 'disk'), ((PARAMS, params), (KERNEL, memory), (INITRD, i)))
    rom_make(os.path.join(tmp, 'rom'), entry, table)
    config = os.path.join(log, 'bochsrc')
    with open(config, 'w') as f:
        f.write(CONFIG.format(model=model, cpus=cpus, ips=IPS, mem=mem, tmp=tmp, rom=ROM, log=log))
        for n, name in enumerate(SERIAL, 1):
            f.write(f'com{n}: enabled=1, mode=file, dev={log}/{name}\n')
    return (['env', 'BOCHS_HYBRID=1'] if hybrid else []) + [os.path.join(BUILD, 'bochs/bochs'), '-q', '-f', config]


def last_words(log):
    """Why Bochs ended. A triple fault is left out, as every reset ends by one."""
    try:
        with open(os.path.join(log, 'bochs.log'), errors='replace') as f:
            return [x.strip() for x in f if 'PANIC' in x and '3rd (' not in x]
    except FileNotFoundError:
        return []


def logs_split(log):
    """Move what follows "@@lab NAME" in the last serial line's file to NAME."""
    whole = os.path.join(log, SERIAL[-1])
    if not os.path.exists(whole):
        return
    shutil.move(whole, whole + '.part')
    with open(whole + '.part', 'rb') as f:
        out = open(whole, 'wb')
        for line in f:
            if line.startswith(b'@@lab '):
                out.close()
                out = open(os.path.join(log, line.split()[1].decode()), 'wb')
            else:
                out.write(line)
        out.close()
    os.unlink(whole + '.part')
