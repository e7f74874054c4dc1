"""The system calls that a handler may not make, as a seccomp filter for bubblewrap.

Namespaces and mounts would give it files without a limit of size. Other calls would give it memory that
counts for nobody, more processors than it was given, or a look at other processes. Sources: seccomp(2),
<linux/filter.h>, <linux/seccomp.h>, and the kernel's tables of system calls for x86-64 and for those
that use the generic one.
"""

import errno
import platform
import struct

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF: ld abs, jeq, jge, jset, ret
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little endian
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NEW_NAMESPACE = 0x7E020000  # the flags CLONE_NEW* of clone(2), but CLONE_NEWTIME, which only clone3 takes
OTHER_ABI = 0x40000000  # x32 numbers begin here

MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "arm64": (0xC00000B7, 1)}
"""By name the AUDIT_ARCH of a machine and which of a call's numbers is its own."""
CLONE, CLONE3, PRCTL = (56, 220), (435, 435), (157, 167)
SOCKETS = ((41, 198), (53, 199))  # socket(2), socketpair(2)
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6; others reach parts of the kernel that no handler needs
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG, by which the handler ends when we do
DENIED = """
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, open_tree 428 428, move_mount 429 429,
fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442, unshare 272 97,
setns 308 268, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272,
pidfd_getfd 438 438, process_madvise 440 440, memfd_create 319 279, memfd_secret 447 447, shmget 29 194,
msgget 68 186, semget 64 190, mq_open 240 180, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282,
fanotify_init 300 262, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, keyctl 250 219,
add_key 248 217, request_key 249 218, sched_setaffinity 203 122, sched_setscheduler 144 119, sched_setattr 314 274,
sched_setparam 142 118, open_by_handle_at 304 265, name_to_handle_at 303 264, swapon 167 224, reboot 169 142,
acct 163 89, quotactl 179 60, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105,
finit_module 313 273
"""
"""Name, number on x86-64 and number elsewhere."""


def known() -> bool:
    """Return whether there is a filter for this machine."""
    return platform.machine() in MACHINES


def program() -> bytes:
    """The filter, an array of `struct sock_filter`: calls of `DENIED` fail with EPERM, the others are made.

    Sockets of families other than `FAMILIES` are said not to be supported.

    Threads are made by clone(2): clone3(2), whose flags no filter sees, is said not to exist, upon which the C library
    takes the older call.
    """
    audit, column = MACHINES[platform.machine()]
    refuse, allow = _step(RETURN, ERROR | errno.EPERM), _step(RETURN, ALLOW)
    steps = [
        *(_step(LOAD, MACHINE), _step(EQUAL, audit, 1, 0), refuse),
        *(_step(LOAD, NUMBER), _step(AT_LEAST, OTHER_ABI, 0, 1), refuse),
        *(_step(EQUAL, CLONE3[column], 0, 1), _step(RETURN, ERROR | errno.ENOSYS)),
    ]
    for call in DENIED.split(","):
        steps += [_step(EQUAL, int(call.split()[1 + column]), 0, 1), refuse]
    steps += [
        _step(EQUAL, PRCTL[column], 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(EQUAL, END_WITH_PARENT, 0, 4),
        refuse,
    ]
    for number, check in ((PRCTL[column], (EQUAL, END_WITH_PARENT)), (CLONE[column], (ANY_BIT, NEW_NAMESPACE))):
        steps += [_step(EQUAL, number, 0, 4), _step(LOAD, FIRST_ARGUMENT), _step(*check, 0, 1), refuse, allow]
    for numbers in SOCKETS:
        steps += [_step(EQUAL, numbers[column], 0, len(FAMILIES) + 3), _step(LOAD, FIRST_ARGUMENT)]
        steps += [_step(EQUAL, family, len(FAMILIES) - place, 0) for place, family in enumerate(FAMILIES)]
        steps += [_step(RETURN, ERROR | errno.EAFNOSUPPORT), allow]
    return b"".join([*steps, allow])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
