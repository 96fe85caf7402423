#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a lab guest's disk from Debian packages: build.py CACHE ARCH|qemu-ppc [--refresh].

Prints the folder of the image (disk.img, image.json). With qemu-ppc it prints the path of a
program instead: backports' qemu-system-ppc64, unpacked beside the images. Needs apt, dpkg-deb, readelf, mke2fs,
ssh-keygen; no root, no loop device, no emulation of foreign programs.
"""
import base64
import fcntl
import glob
import hashlib
import json
import lzma
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import uuid

import disk
import grubcfg
from debs import SUITES, Apt, LabError, Tree, natural, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT_MIB, BOOT_MIB = 960, 512

# Files that decide what is in an image.
SOURCES = ("build.py", "debs.py", "disk.py", "grubcfg.py", "guest/init", "guest/initrd-init",
           "guest/update-initramfs")
# arm64 keeps /boot on a partition of its own, so that both common Debian layouts are there.
ARCHES = {
    "amd64": {"deb": "amd64", "flavour": "cloud-amd64-unsigned", "console": "ttyS0",
              "image": "vmlinuz-", "grub": ("grub-pc-bin", "i386-pc"), "boot_part": False,
              "core": "biosdisk serial"},
    "arm64": {"deb": "arm64", "flavour": "cloud-arm64-unsigned", "console": "ttyAMA0",
              "image": "vmlinuz-", "grub": ("grub-efi-arm64-bin", "arm64-efi"),
              "boot_part": True, "core": ""},
    "ppc64le": {"deb": "ppc64el", "flavour": "powerpc64le", "console": "hvc0",
                "image": "vmlinux-", "grub": ("grub-ieee1275-bin", "powerpc-ieee1275"),
                "boot_part": False, "core": ""},
}
# Baseline first. Patterns give whole package names; the newest that matches is taken.
KERNELS = (r"linux-image-6\.1\.0-\d+-%s", r"linux-image-6\.12\.[0-9a-z.+~]+(?:-\d+)?-%s")
MODULES = ("virtio_pci virtio_net virtio_blk virtio_rng crc32c_generic crc32c_vpmsum ext4 "
           "rtc_pl031 rtc_efi").split()
INITRD_APPLETS = "sh mount umount insmod uname findfs switch_root sleep mkdir cat".split()
CORE_MODULES = "part_msdos ext2 normal linux loadenv test echo configfile search " \
    "search_fs_uuid search_fs_file minicmd reboot"
# Package -> programs and other files to install; libraries follow by themselves.
PROGRAMS = {
    "busybox-static": ["bin/busybox"],
    "dash": ["bin/dash"],
    "dropbear-bin": ["usr/sbin/dropbear"],
    "openssh-sftp-server": ["usr/lib/openssh/sftp-server"],
    "rt-tests": ["usr/bin/hackbench", "usr/bin/cyclictest"],
    "stress-ng": ["usr/bin/stress-ng"],
    "sysbench": ["usr/bin/sysbench"],
    "kexec-tools": ["sbin/kexec"],
    "time": ["usr/bin/time"],
    "zstd": ["usr/bin/zstd"],
    "grub-common": ["usr/bin/grub-editenv", "usr/sbin/grub-probe",
                    "usr/share/grub/grub-mkconfig_lib"],
    "grub2-common": ["usr/sbin/grub-reboot", "usr/sbin/grub-set-default"],
    "base-files": ["usr/lib/os-release", "etc/debian_version"],
}


def log(text):
    print(text, file=sys.stderr, flush=True)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)


def stable_uuid(arch, what):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, "%s.%s.kab-lab.invalid" % (what, arch)))


def make_key(path):
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.chmod(os.path.dirname(path), 0o700)
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "kab-lab", "-f", path])


def dropbear_key(path):
    """An unencrypted OpenSSH ed25519 private key in dropbear's format."""
    blob = base64.b64decode("".join(read(path).decode().splitlines()[1:-1]))

    def string(at):
        n = struct.unpack_from(">I", blob, at)[0]
        return blob[at + 4:at + 4 + n], at + 4 + n

    at = len(b"openssh-key-v1\0")
    for _ in range(3):
        _, at = string(at)
    _, at = string(at + 4)
    private, _ = string(at)
    blob, at = private, 8
    for _ in range(2):
        _, at = string(at)
    pair, _ = string(at)
    kind = b"ssh-ed25519"
    return struct.pack(">I", len(kind)) + kind + struct.pack(">I", len(pair)) + pair


class Kernel:
    """One kernel package: release, boot files, and the modules that a guest needs, in order."""

    def __init__(self, apt, package, prefix, work):
        self.package = package
        self.deb = apt.deb(package)
        self.release = re.sub(r"^linux-image-|-unsigned$", "", package)
        self.image = prefix + self.release
        self.tree = os.path.join(work, package)
        os.makedirs(self.tree)
        run(["dpkg-deb", "-x", self.deb, self.tree])
        self.top = os.path.join(self.tree, "lib/modules", self.release)
        found = {}
        for folder, _, files in os.walk(self.top):
            for name in files:
                m = re.fullmatch(r"(.+)\.ko(\.xz)?", name)
                if m:
                    found[m.group(1).replace("-", "_")] = os.path.join(folder, name)
        self.modules = []  # (path below lib/modules/RELEASE without .xz, bytes, [needs])
        done = {}

        def add(name):
            if name in done or name not in found:
                return done.get(name)
            path = found[name]
            data = lzma.decompress(read(path)) if path.endswith(".xz") else read(path)
            m = re.search(rb"\0depends=([^\0]*)\0", data)
            needs = [n for n in (m.group(1).decode() if m else "").split(",") if n]
            rel = re.sub(r"\.xz$", "", os.path.relpath(path, self.top))
            below = [add(n.replace("-", "_")) for n in needs]
            done[name] = rel
            self.modules.append((rel, data, [b for b in below if b]))
            return rel

        for name in MODULES:
            add(name)

    def initrd(self, busybox):
        cpio = disk.Cpio()
        cpio.char_device("dev/console", 5, 1)
        for folder in ("proc", "sys", "mnt"):
            cpio.directory(folder)
        cpio.file("bin/busybox", busybox)
        for applet in INITRD_APPLETS:
            cpio.link("bin/" + applet, "busybox")
        cpio.file("init", read(HERE + "/guest/initrd-init"))
        base = "lib/modules/%s/" % self.release
        cpio.file(base + "lab.order", "".join(m[0] + "\n" for m in self.modules).encode(), 0o644)
        for rel, data, _ in self.modules:
            cpio.file(base + rel, data, 0o644)
        return cpio.finish()

    def install(self, stage, boot, busybox):
        for name in (self.image, "config-" + self.release):
            shutil.copyfile(os.path.join(self.tree, "boot", name), os.path.join(boot, name))
        write(os.path.join(boot, "initrd.img-" + self.release), self.initrd(busybox))
        base = os.path.join(stage, "usr/lib/modules", self.release)
        for rel, data, _ in self.modules:
            write(os.path.join(base, rel), data)
        write(base + "/modules.dep", "".join("%s: %s\n" % (m[0], " ".join(m[2]))
                                             for m in self.modules))
        for name in ("modules.builtin", "modules.order"):
            if os.path.exists(os.path.join(self.top, name)):
                shutil.copyfile(os.path.join(self.top, name), os.path.join(base, name))


class Builder:
    def __init__(self, cache, arch, work):
        self.cache, self.arch, self.work = cache, arch, work
        self.info = ARCHES[arch]
        self.apt = Apt(cache, self.info["deb"], log)
        self.root_uuid = stable_uuid(arch, "root")
        self.boot_uuid = stable_uuid(arch, "boot") if self.info["boot_part"] else self.root_uuid
        self.login = os.path.join(cache, "keys/login")
        self.hostkey = os.path.join(cache, "keys/host-" + arch)
        make_key(self.login)
        make_key(self.hostkey)

    def key(self):
        h = hashlib.sha256()
        files = [os.path.join(HERE, n) for n in SOURCES]
        for path in files + [self.login + ".pub", self.hostkey + ".pub"] + sorted(
                glob.glob(self.apt.base + "/lists/*InRelease")):
            h.update(os.path.basename(path).encode() + b"\0" + read(path) + b"\0")
        return h.hexdigest()[:16]

    def userland(self, stage):
        """Install the programs and their libraries; returns the unpacked tree."""
        tree = Tree(self.apt, os.path.join(self.work, "tree"))
        names = [n for n in PROGRAMS if self.apt.has(n)]
        absent = [n for n in PROGRAMS if n not in names]
        if absent:
            log("%s: not in Debian for this architecture: %s" % (self.arch, " ".join(absent)))
        self.apt.fetch(names)
        for name in names:
            tree.add(name)
        wanted = [p for n in names for p in PROGRAMS[n]]
        for path in wanted + tree.closure(wanted):
            real = tree.resolve(path) or tree.resolve("usr/" + path)
            if real is None:
                raise LabError("%s is in no chosen package (%s)" % (path, self.arch))
            merged = path if path.startswith(("usr/", "etc/")) else "usr/" + path
            source = os.path.join(tree.root, real)
            write(os.path.join(stage, merged), read(source), os.stat(source).st_mode & 0o755)
        return tree

    def configuration(self, stage):
        for folder in ("bin", "sbin", "lib", "lib64"):
            os.makedirs(os.path.join(stage, "usr", folder), exist_ok=True)
            os.symlink("usr/" + folder, os.path.join(stage, folder))
        for folder in ("proc", "sys", "dev", "run", "mnt", "var/log", "var/lib", "var/cache",
                       "var/spool", "usr/local/bin", "usr/local/sbin", "opt", "home", "srv"):
            os.makedirs(os.path.join(stage, folder), exist_ok=True)
        for folder in ("tmp", "var/tmp"):
            os.makedirs(os.path.join(stage, folder), exist_ok=True)
            os.chmod(os.path.join(stage, folder), 0o1777)
        os.symlink("/run", os.path.join(stage, "var/run"))
        os.symlink("/run/lock", os.path.join(stage, "var/lock"))
        etc = os.path.join(stage, "etc")
        fstab = "UUID=%s / ext4 errors=remount-ro 0 1\n" % self.root_uuid
        if self.info["boot_part"]:
            fstab += "UUID=%s /boot ext4 defaults 0 2\n" % self.boot_uuid
        for name, text in {
                "passwd": "root:x:0:0:root:/root:/bin/sh\n"
                          "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
                "group": "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
                "shells": "/bin/sh\n/bin/dash\n",
                "hostname": "kab-lab-%s\n" % self.arch,
                "hosts": "127.0.0.1 localhost\n127.0.1.1 kab-lab-%s\n" % self.arch,
                "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
                "machine-id": stable_uuid(self.arch, "machine").replace("-", "") + "\n",
                "fstab": fstab,
                "default/grub": "GRUB_DEFAULT=saved\nGRUB_TIMEOUT=0\n"
                                "GRUB_CMDLINE_LINUX=\"console=%s panic=0\"\n"
                                % self.info["console"],
        }.items():
            write(os.path.join(etc, name), text)
        write(os.path.join(etc, "shadow"), "root:*:19000:0:99999:7:::\n", 0o640)
        os.symlink("../usr/lib/os-release", os.path.join(etc, "os-release"))
        write(os.path.join(etc, "dropbear/dropbear_ed25519_host_key"),
              dropbear_key(self.hostkey), 0o600)
        write(os.path.join(stage, "root/.ssh/authorized_keys"), read(self.login + ".pub"), 0o600)
        os.chmod(os.path.join(stage, "root/.ssh"), 0o700)
        os.chmod(os.path.join(stage, "root"), 0o700)
        write(os.path.join(stage, "usr/sbin/init"), read(HERE + "/guest/init"), 0o755)
        write(os.path.join(stage, "usr/sbin/update-initramfs"),
              read(HERE + "/guest/update-initramfs"), 0o755)
        share = os.path.join(stage, "usr/share/kab-lab")
        write(share + "/initrd-init", read(HERE + "/guest/initrd-init"), 0o755)
        write(share + "/modules", "\n".join(MODULES) + "\n")
        write(share + "/applets", "\n".join(INITRD_APPLETS) + "\n")
        write(os.path.join(stage, ".lab-first-boot"), "")

    def grub_image(self, tree):
        """core image by grub-mkimage of the building machine's architecture, run from packages."""
        package, platform = self.info["grub"]
        tree.add(package)
        modules = os.path.join(tree.root, "usr/lib/grub", platform)
        host = run(["dpkg", "--print-architecture"]).strip()
        if host == self.info["deb"]:
            tools = tree
        else:
            apt = Apt(self.cache, host, log, pool="tools")
            apt.update()
            tools = Tree(apt, os.path.join(self.work, "tools"))
            tools.add("grub-common")
        libs = tools.closure(["usr/bin/grub-mkimage"])
        loader = next(lib for lib in libs if os.path.basename(lib).startswith("ld"))
        folders = {os.path.dirname(os.path.join(tools.root, lib)) for lib in libs}
        boot_dir = "" if self.info["boot_part"] else "/boot"
        early = os.path.join(self.work, "early.cfg")
        write(early, "search.fs_uuid %s root\nset prefix=($root)%s/grub\n"
              % (self.boot_uuid, boot_dir))
        core = os.path.join(self.work, "core.img")
        run([os.path.join(tools.root, tools.resolve(loader)), "--library-path",
             ":".join(sorted(folders)), os.path.join(tools.root, "usr/bin/grub-mkimage"),
             "-O", platform, "-d", modules, "-p", boot_dir + "/grub", "-c", early, "-o", core,
             *CORE_MODULES.split(), *self.info["core"].split()])
        return read(core), modules, platform

    def boot_files(self, boot, kernels, modules, platform):
        grub = os.path.join(boot, "grub")
        os.makedirs(os.path.join(grub, platform))
        for path in glob.glob(modules + "/*.mod") + glob.glob(modules + "/*.lst"):
            shutil.copy(path, os.path.join(grub, platform))
        newest_first = sorted(kernels, key=lambda k: natural(k.release), reverse=True)
        write(grub + "/grub.cfg", grubcfg.config(
            [(k.release, k.image) for k in newest_first], self.boot_uuid, self.root_uuid,
            "/" if self.info["boot_part"] else "/boot/", self.info["console"],
            self.arch == "amd64"), 0o444)
        write(grub + "/grubenv", grubcfg.grubenv(
            {"saved_entry": grubcfg.entry_id(kernels[0].release, self.root_uuid)}))

    def write_disk(self, out, stage, boot, core, modules):
        root_img = os.path.join(self.work, "root.img")
        disk.ext4(root_img, stage, ROOT_MIB, self.root_uuid, "root")
        if self.arch == "amd64":
            code = bytearray(read(modules + "/boot.img"))
            code[0x64] = 0xFF  # boot the drive that the BIOS names
            disk.assemble(out, [(0x83, 1, ROOT_MIB, root_img, True)], bytes(code), core)
        elif self.arch == "arm64":
            boot_img = os.path.join(self.work, "boot.img")
            disk.ext4(boot_img, boot, BOOT_MIB, self.boot_uuid, "boot")
            disk.assemble(out, [(0xEF, 1, 16, disk.fat16(b"BOOTAA64EFI", core), False),
                                (0x83, 17, BOOT_MIB, boot_img, False),
                                (0x83, 17 + BOOT_MIB, ROOT_MIB, root_img, False)])
        else:
            disk.assemble(out, [(0x41, 1, 7, core, True), (0x83, 8, ROOT_MIB, root_img, False)])

    def build(self, final):
        packages = [self.apt.newest(p % re.escape(self.info["flavour"])) for p in KERNELS]
        self.apt.fetch(packages)
        kernels = [Kernel(self.apt, p, self.info["image"], self.work) for p in packages]
        stage = os.path.join(self.work, "stage")
        boot = os.path.join(self.work if self.info["boot_part"] else stage, "boot")
        for folder in (stage, boot, os.path.join(stage, "boot")):
            os.makedirs(folder, exist_ok=True)
        tree = self.userland(stage)
        self.configuration(stage)
        busybox = read(os.path.join(stage, "usr/bin/busybox"))
        for kernel in kernels:
            kernel.install(stage, boot, busybox)
        core, modules, platform = self.grub_image(tree)
        self.boot_files(boot, kernels, modules, platform)
        out = final + ".new"
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        self.write_disk(os.path.join(out, "disk.img"), stage, boot, core, modules)
        entries = []
        for role, kernel in zip(("baseline", "test"), kernels):
            for name in (kernel.image, "initrd.img-" + kernel.release):
                shutil.copyfile(os.path.join(boot, name), os.path.join(out, name))
            entries.append({
                "role": role, "release": kernel.release,
                "entry": grubcfg.entry_id(kernel.release, self.root_uuid),
                "package": kernel.package, "deb": kernel.deb,
                "image": os.path.join(final, kernel.image),
                "initrd": os.path.join(final, "initrd.img-" + kernel.release)})
        write(out + "/image.json", json.dumps({
            "default": kernels[0].release, "kernels": entries,
            "panic_entry": "kab-lab-panic", "hang_entry": "kab-lab-hang",
            "boot_partition": self.info["boot_part"],
            "packages": [os.path.basename(d[1]) for d in tree.debs]}, indent=2) + "\n")
        shutil.rmtree(final, ignore_errors=True)
        os.rename(out, final)
        self.apt.prune({d[1] for d in tree.debs} | {k.deb for k in kernels})


def qemu_ppc(cache, work):
    """A newer emulator for ppc64le: bookworm's has no SMT. Run from its packages, not installed."""
    apt = Apt(cache, run(["dpkg", "--print-architecture"]).strip(), log, pool="tools",
              suites=SUITES[::-1])
    apt.update()
    apt.load()
    package, program = "qemu-system-ppc", "usr/bin/qemu-system-ppc64"
    final = os.path.join(cache, "tools", "%s-%s" % (package, apt.packages[package]["SHA256"][:16]))
    if not os.path.exists(final):
        shutil.rmtree(os.path.dirname(final), ignore_errors=True)
        tree = Tree(apt, os.path.join(work, "tree"))
        apt.fetch([package, "qemu-system-data"])
        tree.add(package)
        tree.add("qemu-system-data")
        libs = tree.closure([program])
        out = os.path.join(work, "out")
        for path in libs + [program]:
            write(os.path.join(out, "lib", os.path.basename(path)),
                  read(os.path.join(tree.root, tree.resolve(path))), 0o755)
        write(out + "/share/slof.bin", read(tree.root + "/usr/share/qemu/slof.bin"))
        loader = next(os.path.basename(p) for p in libs if os.path.basename(p).startswith("ld"))
        write(out + "/qemu-system-ppc64", "#!/bin/sh\nd=${0%%/*}\nexec \"$d/lib/%s\" --library-path "
              "\"$d/lib\" \"$d/lib/qemu-system-ppc64\" -L \"$d/share\" \"$@\"\n" % loader, 0o755)
        os.makedirs(os.path.dirname(final))
        os.rename(out, final)
    return final + "/qemu-system-ppc64"


def main(argv):
    os.umask(0o022)  # the modes of the files in the image
    refresh = "--refresh" in argv
    cache, arch = [a for a in argv[1:] if not a.startswith("-")]
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        for left in glob.glob(os.path.join(cache, "work-*")):
            shutil.rmtree(left, ignore_errors=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        work = tempfile.mkdtemp(prefix="work-", dir=cache)
        try:
            if arch == "qemu-ppc":
                print(qemu_ppc(cache, work))
                return 0
            builder = Builder(cache, arch, work)
            builder.apt.update(force=refresh)
            final = os.path.join(cache, "images", "%s-%s" % (arch, builder.key()))
            if not os.path.exists(final + "/image.json"):
                os.makedirs(os.path.dirname(final), exist_ok=True)
                try:
                    builder.build(final)
                except LabError as e:
                    if "404" not in str(e):
                        raise
                    # The archive moved on: packages of the cached lists are gone.
                    builder.apt.update(force=True)
                    shutil.rmtree(work)
                    os.makedirs(work)
                    final = os.path.join(cache, "images", "%s-%s" % (arch, builder.key()))
                    builder.build(final)
                for old in glob.glob(os.path.join(cache, "images", arch + "-*")):
                    if old != final:
                        shutil.rmtree(old)
                log("%s: built in %.0f s, %.0f MB of packages downloaded"
                    % (arch, time.monotonic() - began, builder.apt.downloaded / 1e6))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print(final)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except (LabError, subprocess.CalledProcessError, OSError, ValueError) as error:
        log("build: %s" % error)
        sys.exit(1)
