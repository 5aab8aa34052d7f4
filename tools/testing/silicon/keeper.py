# SPDX-License-Identifier: GPL-2.0
"""Gives back what a run took from the machine, however the run ends.

A process of its own waits for the run's end, be that a return, a signal or SIGKILL:
it then reads from the work folder what was taken, and undoes it. So there is one way
to clean up, and the run only has to write down what it is about to take.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback


def note(work, name, line):
    """Write down, before it is done, what will have to be undone."""
    with open(os.path.join(work, name), 'a') as f:
        f.write(line + '\n')


def noted(work, name):
    try:
        with open(os.path.join(work, name)) as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def processes(namespaces):
    """Those whose mounts are of a room's namespace."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if os.readlink(f'/proc/{pid}/ns/mnt') in namespaces:
                found.append(int(pid))
    return found


def processes_end(work):
    """Twice: what is killed may just have started another."""
    for _ in range(50):
        left = processes(set(noted(work, 'rooms')))
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    print('silicon: some processes of the run do not end', file=sys.stderr)


def module_unload():
    """A process that was just killed may still be inside a VM's end."""
    for _ in range(50):
        if not os.path.exists('/sys/module/pvperf_host'):
            return
        if subprocess.run(['rmmod', 'pvperf_host'], stderr=subprocess.DEVNULL).returncode:
            time.sleep(0.2)
    print('silicon: pvperf_host does not unload: rmmod pvperf_host', file=sys.stderr)


def settings_restore(work):
    """The first that was noted of a setting is the owner's."""
    owners = {}
    for line in noted(work, 'settings'):
        path, _, value = line.partition(' ')
        owners.setdefault(path, value)
    for path, value in owners.items():
        with open(path) as f:
            if f.read().strip() == value:
                continue
        try:
            with open(path, 'w') as f:
                f.write(value)
        except OSError as e:
            print(f'silicon: {path} was {value}: {e}', file=sys.stderr)


def kvm_load(vendor, enable_pmu):
    subprocess.run(['modprobe', '-r', vendor, 'kvm'], check=True)
    subprocess.run(['modprobe', 'kvm', f'enable_pmu={enable_pmu}'], check=True)
    subprocess.run(['modprobe', vendor], check=True)


def give_back(work):
    processes_end(work)
    if noted(work, 'loaded'):
        module_unload()
    for line in noted(work, 'kvm')[:1]:
        kvm_load(*line.split())
    settings_restore(work)
    shutil.rmtree(work, ignore_errors=True)


class Keeper:
    """The process that waits; stop() lets it do its work, and waits for it."""

    def __init__(self, work):
        waits, self.alive = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(waits)
            return
        os.setsid()
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(s, signal.SIG_IGN)
        os.close(self.alive)
        os.read(waits, 1)
        try:
            give_back(work)
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(0)

    def stop(self):
        os.close(self.alive)
        os.waitpid(self.pid, 0)
