# SPDX-License-Identifier: GPL-2.0
"""Keeps secrets out of a report: whatever could identify the machine's owner.

clean() removes secrets from a text, and found() lists the kinds that are left. At the
end found() checks the whole report, which is not written if it has a secret: some part
of it may never have gone through clean().
"""

import glob
import os
import pwd
import re
import socket

import machine

# Anything that looks like a secret, even if it does not belong to this machine.
PATTERNS = {
    'an IPv4 address': r'(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])',
    'an IPv6 address': r'(?<![\w:])(?=(?:[0-9a-f]*:){3})(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])',
    'a MAC address': r'(?<![\w:])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:])',
    'a UUID': r'\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b',
    'a long id': r'\b[0-9a-f]{32}\b',
    'a home folder': r'/(?:home|root|Users)/[^\s:,;\'"]+',
    'a kernel address': r'\b(?:0x)?ffff[0-9a-f]{12}\b',
}
# What firmware has as a serial number if the manufacturer set none.
PLACEHOLDERS = {'', 'none', 'default string', 'not specified', 'to be filled by o.e.m.', 'system serial number', '0'}
# Names that identify nobody, and that are in a report for other reasons.
COMMON = {'debian', 'localhost', 'linux', 'kvm', 'qemu', 'host', 'guest', 'server', 'test', 'user', 'admin', 'root'}


def users():
    """The names and the home folders of people, not of services."""
    for p in pwd.getpwall():
        if 1000 <= p.pw_uid < 65534:
            yield 'a user name', p.pw_name
            yield 'a home folder', p.pw_dir
    for name in ('SUDO_USER', 'LOGNAME', 'USER'):
        if os.environ.get(name, 'root') != 'root':
            yield 'a user name', os.environ[name]
    if os.environ.get('HOME', '/root') not in ('/', '/root'):
        yield 'a home folder', os.environ['HOME']


def hosts():
    name = socket.gethostname()
    yield 'the host name', name
    yield 'the host name', name.split('.')[0]
    for line in machine.text('/etc/hosts').splitlines():
        for word in line.partition('#')[0].split()[1:]:
            if word.startswith(name.split('.')[0] + '.'):
                yield 'the host name', word


def numbers():
    yield 'the machine id', machine.text('/etc/machine-id')
    for path in glob.glob('/sys/class/net/*/address'):
        yield 'a MAC address', machine.text(path)
    for path in glob.glob('/sys/class/dmi/id/*serial') + glob.glob('/sys/class/dmi/id/*uuid'):
        value = machine.text(path)
        if value.lower() not in PLACEHOLDERS:
            yield 'a serial number', value


def secrets():
    """[(kind, text)] of this machine's secrets, the longest first."""
    all_of_them = {(kind, word) for source in (users, hosts, numbers) for kind, word in source()
                   if len(word) > 1 and word != '00:00:00:00:00:00' and word.lower() not in COMMON}
    return sorted(all_of_them, key=lambda s: (-len(s[1]), s))


def word(secret):
    return r'(?<![A-Za-z0-9])' + re.escape(secret) + r'(?![A-Za-z0-9])'


def clean(text, known):
    """Replaces all secrets in one pass, as a replacement may contain another secret's text."""
    kinds = [*known_patterns(known), *PATTERNS.items()]
    every = re.compile('|'.join(f'(?P<g{i}>{pattern})' for i, (_, pattern) in enumerate(kinds)), re.I)
    return every.sub(lambda m: f'[{kinds[int(m.lastgroup[1:])][0]}]', text)


def known_patterns(known):
    return [(kind, word(secret)) for kind, secret in known]


def cleaned(value, known):
    """clean() applied to all strings in nested lists and dictionaries, except keys."""
    if isinstance(value, str):
        return clean(value, known)
    if isinstance(value, list):
        return [cleaned(v, known) for v in value]
    if isinstance(value, dict):
        return {k: cleaned(v, known) for k, v in value.items()}
    return value


def found(text, known):
    """The kinds of secrets in a text, without the secrets."""
    # The replacements that clean() has put in are not secrets.
    rest = re.sub(r'\[(an?|the) [A-Za-z0-9 ]+\]', '', text)
    kinds = [*known_patterns(known), *PATTERNS.items()]
    return sorted({kind for kind, pattern in kinds if re.search(pattern, rest, re.I)})
