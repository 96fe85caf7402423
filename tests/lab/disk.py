# SPDX-License-Identifier: GPL-3.0-or-later
"""Disk and archive formats written without root and without mounting: newc cpio, a FAT16 file
system with one file in \\EFI\\BOOT, an MBR, a sparse copy of partitions into one raw disk."""
import os
import struct

from debs import run

SECTOR = 512
MIB = 1 << 20
EXT4_FEATURES = ("none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,flex_bg,"
                 "sparse_super,large_file,huge_file,dir_nlink,extra_isize")


class Cpio:
    """A newc archive (device nodes and owners need no privilege here)."""

    def __init__(self):
        self.out = bytearray()
        self.ino = 0
        self.dirs = set()

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        self.ino += 1
        raw = name.encode() + b"\0"
        fields = (self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, rdev[0], rdev[1], len(raw), 0)
        self.out += b"070701" + b"".join(b"%08X" % f for f in fields) + raw
        self.out += b"\0" * (-len(self.out) % 4) + data
        self.out += b"\0" * (-len(self.out) % 4)

    def directory(self, name):
        if not name or name in self.dirs:
            return
        self.directory(os.path.dirname(name))
        self.dirs.add(name)
        self._entry(name, 0o040755)

    def file(self, name, data, mode=0o755):
        self.directory(os.path.dirname(name))
        self._entry(name, 0o100000 | mode, data)

    def link(self, name, target):
        self.directory(os.path.dirname(name))
        self._entry(name, 0o120777, target.encode())

    def char_device(self, name, major, minor):
        self.directory(os.path.dirname(name))
        self._entry(name, 0o020600, b"", (major, minor))

    def finish(self):
        self._entry("TRAILER!!!", 0)
        return bytes(self.out) + b"\0" * (-len(self.out) % SECTOR)


def fat16(name83, data, mib=16):
    """A FAT16 file system that holds EFI/BOOT/<name83> (eleven characters, blank-padded)."""
    per_cluster, reserved, root_entries, fat_sectors = 4, 4, 512, 40
    total = mib * MIB // SECTOR
    cluster = per_cluster * SECTOR
    first_data = reserved + 2 * fat_sectors + root_entries * 32 // SECTOR
    boot = struct.pack("<3s8sHBHBHHBHHHIIBBBI11s8s", b"\xeb\x3c\x90", b"KABLAB  ", SECTOR,
                       per_cluster, reserved, 2, root_entries, total if total < 65536 else 0,
                       0xF8, fat_sectors, 32, 64, 0, 0 if total < 65536 else total, 0x80, 0,
                       0x29, 0x4B414231, b"ESP        ", b"FAT16   ")
    image = bytearray(mib * MIB)
    image[:len(boot)] = boot
    image[510:512] = b"\x55\xaa"

    count = (len(data) + cluster - 1) // cluster
    fat = [0xFFF8, 0xFFFF, 0xFFFF, 0xFFFF] + [4 + i + 1 for i in range(count - 1)] + [0xFFFF]
    packed = struct.pack("<%dH" % len(fat), *fat)
    if len(packed) > fat_sectors * SECTOR:
        raise ValueError("file too large for this FAT16 layout")
    for copy in range(2):
        at = (reserved + copy * fat_sectors) * SECTOR
        image[at:at + len(packed)] = packed

    def entry(name, attr, first, size):
        # 1980-01-01 is the format's zero date with month and day 1.
        return struct.pack("<11sBBBHHHHHHHI", name, attr, 0, 0, 0, 0x21, 0x21, 0, 0, 0x21, first,
                           size)

    def put(first, blob):
        at = (first_data + (first - 2) * per_cluster) * SECTOR
        image[at:at + len(blob)] = blob

    root_at = (reserved + 2 * fat_sectors) * SECTOR
    image[root_at:root_at + 32] = entry(b"EFI        ", 0x10, 2, 0)
    put(2, entry(b".          ", 0x10, 2, 0) + entry(b"..         ", 0x10, 0, 0) +
        entry(b"BOOT       ", 0x10, 3, 0))
    put(3, entry(b".          ", 0x10, 3, 0) + entry(b"..         ", 0x10, 2, 0) +
        entry(name83, 0x20, 4, len(data)))
    put(4, data)
    return bytes(image)


def ext4(image, folder, mib, uuid, label):
    """Make an ext4 file system with a folder's contents. Features that GRUB writes through."""
    with open(image, "wb") as f:
        f.truncate(mib * MIB)
    run(["mke2fs", "-q", "-F", "-t", "ext4", "-O", EXT4_FEATURES, "-I", "256", "-m", "1",
         "-U", uuid, "-L", label, "-E", "root_owner=0:0", "-d", folder, image],
        env=dict(os.environ, PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"))


def copy_sparse(src, dst, offset):
    """Copy a file into an open file at an offset; blocks of zeros stay holes."""
    with open(src, "rb") as f:
        while True:
            block = f.read(MIB)
            if not block:
                return
            if block.count(0) != len(block):
                dst.seek(offset)
                dst.write(block)
            offset += len(block)


def assemble(path, parts, boot_code=b"", after_mbr=b""):
    """Write a raw disk. parts: (type, start MiB, size MiB, file or bytes, active)."""
    table = b""
    end = 0
    for kind, start, size, _, active in parts:
        table += struct.pack("<B3sB3sII", 0x80 if active else 0, b"\xfe\xff\xff", kind,
                             b"\xfe\xff\xff", start * MIB // SECTOR, size * MIB // SECTOR)
        end = max(end, start + size)
    with open(path, "wb") as f:
        f.truncate(end * MIB)
        f.write(boot_code[:440].ljust(440, b"\0") + struct.pack("<IH", 0x4B41424C, 0) +
                table.ljust(64, b"\0") + b"\x55\xaa" + after_mbr)
        if f.tell() > parts[0][1] * MIB:
            raise ValueError("boot loader does not fit in front of the first partition")
        for _, start, size, content, _ in parts:
            if isinstance(content, bytes):
                if len(content) > size * MIB:
                    raise ValueError("boot loader is larger than its partition")
                f.seek(start * MIB)
                f.write(content)
            else:
                copy_sparse(content, f, start * MIB)
