# SPDX-License-Identifier: GPL-2.0
"""Undoes what a run has changed on the machine, however the run ends.

A separate process, the keeper, waits until the run returns or is killed, even by
SIGKILL. Then it reads from the work folder what the run has changed, and undoes it.
So there is one way to clean up, and a run only has to note each change before it
makes the change.
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
    """Note a change that the run is about to make, for the keeper to undo."""
    with open(os.path.join(work, name), 'a') as f:
        f.write(line + '\n')


def noted(work, name):
    try:
        with open(os.path.join(work, name)) as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def processes(namespaces):
    """The processes in these mount namespaces, which are those of the rooms."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if os.readlink(f'/proc/{pid}/ns/mnt') in namespaces:
                found.append(int(pid))
    return found


def processes_end(work):
    """Kills until none is left: a process may have started another just before."""
    for _ in range(50):
        left = processes(set(noted(work, 'rooms')))
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    print('silicon: some processes of the run still exist after SIGKILL', file=sys.stderr)


def module_unload():
    """Retries: the exit of a killed process may still be destroying a VM."""
    for _ in range(50):
        if not os.path.exists('/sys/module/pvperf_host'):
            return
        if subprocess.run(['rmmod', 'pvperf_host'], stderr=subprocess.DEVNULL).returncode:
            time.sleep(0.2)
    print('silicon: pvperf_host does not unload; try: rmmod pvperf_host', file=sys.stderr)


def settings_restore(work):
    """The first value noted of a setting is the one that its owner chose."""
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
            print(f'silicon: cannot restore {path} to {value}: {e}', file=sys.stderr)


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
    """The keeper process. stop() has it clean up, and waits until it has done so."""

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
