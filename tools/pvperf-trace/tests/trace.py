#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make trace.dat files of a host and its guests, of which each event's true time is known.

  trace.py DIR VMS VCPUS SEED RATIO/FRAC/STEP[/load][,RATIO/FRAC/STEP[/load]]... [debugfs]

DIR/host.dat has kvm_entry, kvm_exit and pvperf_clock; DIR/vm1.dat and so on have
pvperf_guest_clock, and `truth` with the host's TSC at that moment. A VM's clocks follow each
other: its guest's TSC goes on at RATIO >> FRAC of the host's, STEP further on. The guest does
that; with `load` it is the VMM, which loads a state: what the guest did since is gone. With `wrong=N` the host tells
offsets that are wrong by so much, with `ticks=N` so many ticks are a nanosecond. With
`debugfs` the guests have no pvperf_guest, and the host's trace has what KVM's debugfs told. With
`apics=A,B...` CPU 0 of a guest has the APIC id A and so on, and the host has made the vCPUs in the
opposite order; without it the modules are old ones, which tell no APIC id. With `odd=WORD` a
guest's file has something that few have, see odd(): an event without a format behind lost ones,
fewer CPUs than have events, a buffer of trace-cmd record -B, the name of process N. With
`why` for all there is one wake-up, of which is known what happened until its task ran; with
another word behind it something is otherwise, see wakeup(). The
format is that of trace-cmd.dat.v7(5), the pages are the kernel's (events/header_page).
"""

import random
import struct
import sys

PAGE = 4096
PLACES = '\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n' \
    '\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n' \
    '\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n' \
    '\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n'
HEADER_PAGE = b'\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n' \
    b'\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n' \
    b'\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n' \
    b'\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n'
PRINT = ('name: print\nID: 5\nformat:\n' + PLACES + '\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n'
         '\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n\nprint fmt: "%ps: %s", (void *)REC->ip, REC->buf\n').encode()
HEADER_EVENT = b'# compressed entry header\n'
U64, INT, COMM = 'Q', 'i', '16s'
APICS = next(([*map(int, a.removeprefix('apics=').split(','))] for a in sys.argv if a.startswith('apics=')), [])
APIC = [('apic', INT)] if APICS else []
EVENTS = {      # name: (identifier, system, fields)
    'kvm_entry': (901, 'kvm', [('vcpu_id', U64)]),
    'kvm_exit': (902, 'kvm', [('exit_reason', U64)]),
    'pvperf_clock': (903, 'pvperf', [('clock', U64), ('offset', U64), ('ratio', U64), ('tsc', U64),
                                     ('boot', U64), ('vcpu', U64), ('tid', INT), ('frac', INT)] + APIC + [('vm', U64)]),
    'pvperf_guest_clock': (904, 'pvperf', [('clock', U64), ('tsc', U64)] + APIC),
    'truth': (905, 'test', [('at', U64)]),
    'kvm_write_tsc_offset': (908, 'kvm', [('next_tsc_offset', U64)]),
    'sched_switch': (906, 'sched', [('prev_comm', COMM), ('prev_pid', INT), ('prev_state', INT),
                                    ('next_comm', COMM), ('next_pid', INT)]),
    'sched_wakeup': (907, 'sched', [('comm', COMM), ('pid', INT), ('target_cpu', INT)]),
    'sched_waking': (910, 'sched', [('comm', COMM), ('pid', INT), ('target_cpu', INT)]),
    'sched_migrate_task': (909, 'sched', [('comm', COMM), ('pid', INT), ('dest_cpu', INT)]),
}
MASK = (1 << 64) - 1
TICKS = next((int(a.removeprefix('ticks=')) for a in sys.argv if a.startswith('ticks=')), 1)
ODD = next((a.removeprefix('odd=') for a in sys.argv if a.startswith('odd=')), '')
WRONG = next((int(a.removeprefix('wrong=')) for a in sys.argv if a.startswith('wrong=')), 0)
SVM_MSR = 0x7c
SHOWN = {U64: 'llu', INT: 'd', COMM: 's'}


def event_format(name):
    number, _, fields = EVENTS[name]
    at, text = 8, f'name: {name}\nID: {number}\nformat:\n{PLACES}'
    for field, kind in fields:
        size = struct.calcsize(kind)
        name_of = {U64: f'u64 {field}', INT: f'int {field}', COMM: f'char {field}[16]'}[kind]
        text += f'\tfield:{name_of};\toffset:{at};\tsize:{size};\tsigned:{int(kind == INT)};\n'
        at += size
    shown = ' '.join(f'{f.removeprefix("exit_")}{" " if f == "exit_reason" else "="}%{SHOWN[k]}' for f, k in fields)
    return (text + f'\nprint fmt: "{shown}"' + ''.join(f', REC->{f}' for f, _ in fields) + '\n').encode()


def record(name, pid, *values):
    number, _, fields = EVENTS[name]
    return struct.pack('<HBBi', number, 0, 0, pid) + \
        b''.join(struct.pack('<' + kind, value) for (_, kind), value in zip(fields, values))


def printed(pid, text):
    body = struct.pack('<HBBiQ', 5, 0, 0, pid, 0) + text.encode() + b'\n\0'
    return body + bytes(-len(body) % 4)


def pages(events):
    """Of (time, record); each has a time extension, so that any distance will do. At a record
    None events are lost."""
    done, data, before, begin, lost = b'', b'', 0, None, 0

    def page():
        return (struct.pack('<QQ', begin, len(data) | lost << 31) + data).ljust(PAGE, b'\0')
    for time, body in events:
        if body is None:
            done, data, begin, lost = done + page(), b'', None, 1
            continue
        if len(data) + len(body) + 12 > PAGE - 16:
            done, data, begin, lost = done + page(), b'', None, 0
        if begin is None:
            begin = before = time
        delta = time - before if time > before else 0
        # a ring buffer never goes back; the first event of a page says that some were lost before
        if data:
            data += struct.pack('<II', (delta & (1 << 27) - 1) << 5 | 30, delta >> 27)
        data += struct.pack('<I', len(body) // 4) + body
        before = time
    return done + page() if data else done


def section(number, body):
    return struct.pack('<HHIQ', number, 0, 0, len(body)) + body


def option(number, body):
    return struct.pack('<HI', number, len(body)) + body


def sized(data):
    return struct.pack('<Q', len(data)) + data


def odd(guest):
    """The events of a CPU of a guest."""
    if ODD == 'unknown':
        at = len(guest) // 2
        guest[at:at] = [(guest[at][0], None), (guest[at][0], struct.pack('<HBBi', 999, 0, 0, 7))]
    elif ODD.isdigit():
        guest[0] = guest[0][0], record('pvperf_guest_clock', 9, int(ODD), guest[0][0])
    return guest


def trace_dat(path, identifier, cpus):
    systems = {}
    for name, (_, system, _) in EVENTS.items():
        systems.setdefault(system, []).append(event_format(name))
    formats = struct.pack('<I', len(systems)) + b''.join(
        s.encode() + b'\0' + struct.pack('<I', len(f)) + b''.join(map(sized, f)) for s, f in systems.items())
    bodies = {16: b'header_page\0' + sized(HEADER_PAGE) + b'header_event\0' + sized(HEADER_EVENT),
              17: struct.pack('<I', 1) + sized(PRINT), 18: formats, 19: struct.pack('<I', 0), 20: struct.pack('<I', 0),
              21: struct.pack('<Q', 0)}
    head = b'\x17\x08\x44tracing7\0' + struct.pack('<BBI', 0, 8, PAGE) + b'none\0\0'
    data, options = head + bytes(8), b''
    for number, body in bodies.items():
        options += option(number, struct.pack('<Q', len(data)))
        data += section(number, body)
    options += option(4, b'[x86-tsc]\0') + option(8, struct.pack('<I', 1 if ODD == 'cpus' else len(cpus)))
    if identifier:
        options += option(11, struct.pack('<Q', identifier))
    buffer, texts = len(data), [pages(c) for c in cpus]
    start = -(-(buffer + 16) // PAGE) * PAGE
    table = struct.pack('<Q', buffer) + b'\0x86-tsc\0' + struct.pack('<II', PAGE, len(cpus))
    at = start
    for number, text in enumerate(texts):
        table += struct.pack('<IQQ', number, at, len(text))
        at += len(text)
    data += section(3, bytes(start - buffer - 16) + b''.join(texts))
    data = head + struct.pack('<Q', len(data)) + data[len(head) + 8:]
    options += option(3, table)
    if ODD == 'buffer' and 'vm' in path:
        options += option(3, table.replace(b'\0x86-tsc', b'mine\0x86-tsc', 1))
    options += option(0, bytes(8))
    with open(path, 'wb') as f:
        f.write(data + section(0, options))


def vcpu_run(clock, thread, vcpu, clocks, host, guest, debugfs):
    """A vCPU from entry to entry, with each of its clocks for a while."""
    now, offset = random.randrange(1 << 41, 1 << 42), random.randrange(1 << 64)
    before = None
    apic = [APICS[vcpu]] if APICS else []
    index = len(APICS) - 1 - vcpu if APICS else vcpu
    for (ratio, frac, step, load), then in zip(clocks, [*clocks[1:], None]):
        if before:      # the guest's TSC goes on from where it is
            offset = (now * before[0] >> before[1]) + before[2] + step - (now * ratio >> frac) & MASK
        else:           # and is no great number at first
            offset = (1 << 40) + step - (now * ratio >> frac) & MASK
        before = ratio, frac, offset
        if load:
            guest[:] = [e for e in guest if e[0] <= (now * ratio >> frac) + offset & MASK]
        if debugfs and guest:
            host.append((now, record('kvm_write_tsc_offset', thread, offset)))
        elif debugfs:
            host.append((now, printed(7, f'pvperf: vm={clock & 0xffff} vcpu={apic[0] if APICS else vcpu} tid={thread} '
                                      f'offset={offset - (offset >> 63 << 64)} ratio={ratio} frac={frac}')))
        else:
            host.append((now, record('pvperf_clock', 7, clock, offset + WRONG & MASK, ratio, now, now // TICKS, index, thread, frac, *apic, clock & 0xffff)))
        for n in range(200):
            now += random.randrange(2000, 5_000_000)
            host.append((now, record('kvm_entry', thread, vcpu)))
            for _ in range(random.randrange(1, 4)):
                now += random.randrange(4, 40_000)
                tsc = (now * ratio >> frac) + offset & MASK
                body = record('truth', 100 + vcpu, now) if n or debugfs else record('pvperf_guest_clock', 9, clock, tsc, *apic)
                guest.append((tsc, body))
            now += random.randrange(4, 1000)
            wrote = n == 199 and then and not then[3]
            host.append((now, record('kvm_exit', thread, SVM_MSR if wrote else 1)))


def wakeup():
    """A wake-up, and 5 us later the task: 1.5 in the guest, 2.5 without a CPU."""
    clock = 0xfacade00, 0, 1
    what = sys.argv[-1]
    thread = 2000 if what == 'moved' else 1000      # it runs the vCPU from 1_080_000 on
    host = [(t, record('pvperf_clock', 7, *clock[:3], t, t, 0, tid, 0))
            for t, tid in ((1_000_000, 1000), (1_080_000, thread), (1_080_500 if what == 'short' else 1_001_000_000, thread))]
    guest = [(1_000_000, record('pvperf_guest_clock', 9, clock[0], 1_000_000)),
             (1_060_000, record('sched_wakeup', 9, b'victim', 42, 0)),    # it runs still
             (1_070_000, record('sched_switch', 9, b'victim', 42, 1, b'swapper', 0)),
             (1_100_000, record('sched_wakeup', 9, b'victim', 42, 0)),
             (1_105_000, record('sched_switch', 9, b'swapper', 0, 0, b'victim', 42))]
    if what == 'lost':     # the switch is, and then there is another wake-up
        guest[4:] = [(1_100_001, None), (1_904_000, record('sched_wakeup', 9, b'victim', 42, 0)),
                     (1_905_000, record('sched_switch', 9, b'swapper', 0, 0, b'victim', 42))]
    other_guest = []
    if what in ('remote', 'waker', 'leaving'):      # CPU 0 takes its interrupt late; its waker, CPU 1, is late itself
        other_guest = [(1_000_000, record('pvperf_guest_clock', 9, clock[0], 1_000_000)), (1_100_000, record('sched_waking', 9, b'victim', 42, 0))]
        woken = 1_104_900 if what == 'remote' else 1_103_000, guest.pop(3)[1]
        (guest if what == 'remote' else other_guest).append(woken)
        if what == 'leaving':   # while the task leaves its CPU
            guest[1:3] = [(1_100_100, guest[2][1])]
        guest.sort(key=lambda e: e[0])
    if what in ('remote', 'waker', 'leaving') or what.startswith('pulled'):     # CPU 1 was in the guest all the time
        host += [(1_000_000, record('pvperf_clock', 7, *clock[:3], 1_000_000, 1_000_000, 1, 1001, 0)), (1_089_000, record('kvm_entry', 1001, 1)), *((1_106_000, record('kvm_exit', t, 64)) for t in (1000, 1001))]
    if what.startswith('pulled'):   # by CPU 1
        other_guest = [(1_000_000, record('pvperf_guest_clock', 9, clock[0], 1_000_000)),
                       (1_103_000, record('sched_migrate_task', 9, b'victim', 42, 1)), (1_105_000, guest.pop()[1])]
        if what == 'pulled-unseen':
            other_guest.pop(1)
    if what == 'starved':
        guest.pop()
    host += [(1_085_000, record('sched_wakeup', 9, b'pig', 6, 0))]
    host += [(t, record('kvm_entry', thread, 0)) for t in (1_090_000, 1_104_500)]
    between = [(1_101_000, record('kvm_exit', thread, 64)),
               (1_101_500, record('sched_switch', thread, b'qemu', thread, 0, b'hog', 5)),
               (1_102_500, record('sched_switch', 5, b'hog', 5, 0, b'pig', 6)),
               (1_104_000, record('sched_switch', 6, b'pig', 6, 1, b'qemu', thread))]
    if what == 'lost-host-still':     # the task runs in the gap
        guest[4] = 1_103_500, guest[4][1]
    host += [(1_104_000, None)] if what.startswith('lost-host') else between
    other = []
    if what.startswith('migrated'):     # to CPU 1, which cow has from owl
        host = [e for e in host if e[0] != 1_104_000]
        host += [(1_102_000, record('sched_migrate_task', 5, b'qemu', thread, 1))] if what == 'migrated' else []
        other = [(1_100_500, record('sched_switch', 7, b'owl', 7, 0, b'cow', 8)), (1_104_000, between[-1][1])]
    if what == 'gap-reason':    # CPU 0 has lost all since the entry, CPU 1 not the exit
        host = [e for e in host if e[0] < 1_101_000 or e[0] > 1_102_500] + [(1_103_999, None)]
        other = [(1_101_000, record('kvm_exit', thread, 65))]
    if what == 'gap-entry':     # behind the exit, on CPU 0
        host = [e for e in host if e[0] < 1_101_500 or e[0] >= 1_104_000] + [(1_103_999, None)]
        other = [(1_103_200, record('kvm_entry', thread, 0)), (1_103_800, record('kvm_exit', thread, 64))]
        guest.insert(4, (1_103_000, record('truth', 9, 1_103_000)))
    if what == 'no-switch':
        host = [e for e in host if e[1][:2] != record('sched_switch', 0, b'', 0, 0, b'', 0)[:2]]
    trace_dat(sys.argv[1] + '/vm1.dat', 0x100, [guest, *([other_guest] if other_guest else [])])
    trace_dat(sys.argv[1] + '/host.dat', 0x77, [sorted(host, key=lambda e: e[0]), *([other] if other else [])])


def main():
    if sys.argv[5] == 'why':
        return wakeup()
    where, vms, vcpus, seed = sys.argv[1], *map(int, sys.argv[2:5])
    clocks = [(*map(int, c.split('/')[:3]), c.endswith('/load')) for c in sys.argv[5].split(',')]
    random.seed(seed)
    host = []
    for vm in range(vms):
        guests = [[] for _ in range(vcpus)]
        for vcpu in range(vcpus):
            vcpu_run(0xfacade00 + vm, 1000 + 10 * vm + vcpu, vcpu, clocks, host, guests[vcpu], 'debugfs' in sys.argv)
        trace_dat(f'{where}/vm{vm + 1}.dat', 0x100 + vm if vm % 2 else 0, [*map(odd, guests)])
    host.sort()
    trace_dat(f'{where}/host.dat', 0x77, [host[::2], host[1::2]])


main()
