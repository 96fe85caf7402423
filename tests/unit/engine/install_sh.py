# SPDX-License-Identifier: GPL-3.0-or-later
"""install.sh with packages, tarballs and images made by the real tools: install_sh.py [SHELL]."""
import os
import shutil
import subprocess
import unittest

import fake_root
from fake_root import RUNNING, FakeRoot

R = "6.12.0-patched"
KEY, KEY2 = "a" * 64, "b" * 64


class Install(FakeRoot):
    def setUp(self):
        super().setUp()
        self.write("/boot/vmlinuz-" + RUNNING, "the running kernel")
        self.write("/boot/initrd.img-" + RUNNING, "its initrd")
        self.write("/lib/modules/%s/modules.dep" % RUNNING, "")
        # What is named here must never change.
        self.before = self.tree()
        self.source = os.path.join(self.top, "source")

    def put(self, path, text="x"):
        self.write("/" + path, text, root=self.source)

    def kernel(self, release=R, modules="lib/modules"):
        shutil.rmtree(self.source, ignore_errors=True)
        self.put("boot/vmlinuz-" + release, "image of " + release)
        self.put("boot/config-" + release, "CONFIG_X=y\n")
        self.put("boot/System.map-" + release, "0 T start\n")
        self.put("%s/%s/kernel/a.ko" % (modules, release), "module")
        os.symlink("/usr/src/" + release, "%s/%s/%s/build" % (self.source, modules, release))

    def deb(self, name="linux-image", compression="xz"):
        self.put("DEBIAN/control", "Package: %s\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@y>\n"
                 "Description: kernel\n" % name)
        path = os.path.join(self.top, name + "_1_amd64.deb")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Z" + compression, "-b", self.source, path], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(self.source + "/DEBIAN")
        return path

    def tar(self, flag="z", suffix="tar.gz", members=(".",)):
        path = os.path.join(self.top, "kernel." + suffix)
        subprocess.run(["tar", "-C", self.source, flag and "-c%sf" % flag or "-cf", path, *members]
                       if flag != "zstd" else ["tar", "-C", self.source, "--zstd", "-cf", path, *members], check=True)
        return path

    def install(self, *args, **env):
        return self.run_script("install.sh", "install", *args, **env)

    def installed(self, *args, **env):
        answer = self.install(*args, **env)
        self.assertEqual((answer.status, answer.get("release")), (0, R), answer.text + answer.stderr)
        self.untouched()
        return answer

    def untouched(self):
        after = self.tree()
        for path, content in self.before.items():
            self.assertEqual(after.get(path), content, path)

    def refused(self, *args, **env):
        before = self.tree()
        answer = self.install(*args, **env)
        self.assertEqual(answer.status, 1, answer.text)
        self.assertEqual(self.tree(), before, answer.text)
        self.assertEqual([n for n in os.listdir(self.root + "/lib/modules") if n.startswith(".")], [])
        return answer.get("error")

    def check_files(self, initrd="initrd of " + R + "\n"):
        self.assertEqual(self.read("/boot/kab/vmlinuz-" + R), "image of " + R)
        self.assertEqual(self.read("/lib/modules/%s/kernel/a.ko" % R), "module")
        if initrd is not None:
            self.assertEqual(self.read("/boot/kab/initrd.img-" + R), initrd)
        # No menu generator finds it, and nothing of the work is left.
        self.assertFalse(self.exists("/boot/vmlinuz-" + R))
        self.assertEqual(sorted(os.listdir(self.root + "/lib/modules")), sorted([RUNNING, R]))

    def test_packages_in_every_compression(self):
        for compression in ("xz", "gzip", "zstd", "none"):
            if compression == "zstd" and fake_root.SHELL != "busybox" and not shutil.which("zstd"):
                continue
            self.kernel()
            self.put("usr/share/doc/linux-image/changelog", "text")
            self.installed(KEY, "deb", "-", self.deb(compression=compression))
            self.check_files()
            self.assertEqual(self.read("/lib/modules/%s/config" % R), "CONFIG_X=y\n")
            self.assertFalse(self.exists("/usr"))
            self.assertEqual(self.run_script("install.sh", "remove", R).get("removed"), R)

    def test_package_where_dpkg_deb_is_missing(self):
        if fake_root.SHELL == "busybox":
            self.assertFalse(os.path.exists(self.bin + "/dpkg-deb"))
        folder = os.path.join(self.top, "few")
        os.mkdir(folder)
        for tool in "ar tar xz cat df du awk sed tr grep sort mkdir mv cp rm rmdir head tail date sync sleep cut ls".split():
            os.symlink(shutil.which(tool), os.path.join(folder, tool))
        self.kernel()
        path = self.env["PATH"].split(":")
        self.env["PATH"] = path[0] if fake_root.SHELL == "busybox" else path[0] + ":" + folder
        # The script adds the folders of the system's tools, which hold dpkg-deb on some systems.
        if shutil.which("dpkg-deb", path="/usr/local/sbin:/usr/sbin:/sbin"):
            self.skipTest("dpkg-deb lies in a folder that the script always looks at")
        self.installed(KEY, "deb", "-", self.deb())
        self.check_files()

    def test_dpkg_deb_of_busybox_is_not_used(self):
        self.kernel()
        package = self.deb()
        self.stand_in("dpkg-deb", 'echo "dpkg-deb: unrecognized option: $1" >&2; exit 1')
        self.installed(KEY, "deb", "-", package)
        self.check_files()

    def test_several_packages_are_one_kernel(self):
        self.kernel()
        shutil.move(self.source + "/lib", self.top + "/lib")
        image = self.deb("linux-image")
        shutil.rmtree(self.source)
        os.mkdir(self.source)
        shutil.move(self.top + "/lib", self.source + "/lib")
        self.installed(KEY, "deb", "-", image, self.deb("linux-modules"))
        self.check_files()

    def test_tarballs_in_every_compression(self):
        for flag, suffix in (("z", "tar.gz"), ("J", "tar.xz"), ("zstd", "tar.zst"), ("j", "tar.bz2"), ("", "tar")):
            self.kernel()
            self.put("boot/vmlinux-" + R, "uncompressed")
            self.installed(KEY, "tar", "-", self.tar(flag, suffix, ("boot", "lib") if flag == "z" else (".",)))
            self.check_files()
            self.run_script("install.sh", "remove", R)

    def test_modules_below_usr(self):
        self.kernel(modules="usr/lib/modules")
        self.installed(KEY, "tar", "-", self.tar())
        self.check_files()

    def test_lib_that_is_a_link(self):
        shutil.move(self.root + "/lib", self.root + "/usr-lib")
        os.symlink("usr-lib", self.root + "/lib")
        self.kernel()
        self.assertEqual(self.install(KEY, "tar", "-", self.tar()).get("release"), R)
        self.assertTrue(os.path.islink(self.root + "/lib"))
        self.check_files()

    def test_initrd_of_the_artefact_is_taken(self):
        self.kernel()
        self.put("boot/initrd.img-" + R, "brought along")
        self.installed(KEY, "deb", "-", self.deb())
        self.check_files("brought along")

    def test_image_with_initrd_and_modules(self):
        for modules in (["lib/modules/" + R], ["."]):
            self.kernel()
            image = self.write("/my-image", "image of " + R, root=self.top)
            initrd = self.write("/my-initrd", "my initrd", root=self.top)
            shutil.rmtree(self.source + "/boot")
            if modules == ["."]:
                shutil.move(self.source + "/lib/modules", self.top + "/bare")
                shutil.rmtree(self.source)
                shutil.move(self.top + "/bare", self.source)
            self.installed(KEY, "image", R, image, initrd, self.tar("J", "tar.xz", modules))
            self.check_files("my initrd")
            self.run_script("install.sh", "remove", R)

    def test_release_inside_an_image(self):
        text = "\0\0Linux version %s (me@here) (gcc) #1 SMP\n\0" % R
        image = self.write("/Image", text, root=self.top)
        self.installed(KEY, "image", "-", image, "-", "-")
        self.assertFalse(self.exists("/boot/kab/initrd.img-" + R))
        self.run_script("install.sh", "remove", R)
        subprocess.run(["gzip", "-k", image], check=True)
        self.installed(KEY, "image", "-", image + ".gz", "-", "-")
        self.assertIn("release of the image is not known",
                      self.refused(KEY2, "image", "-", self.write("/odd", "nothing", root=self.top), "-", "-"))

    def test_twice_does_nothing(self):
        self.kernel()
        path = self.deb()
        self.installed(KEY, "deb", "-", path)
        before = self.tree()
        self.assertEqual(self.run_script("install.sh", "have", KEY).get("release"), R)
        os.unlink(path)
        answer = self.install(KEY, "deb", "-", path)
        self.assertEqual((answer.get("release"), answer.get("already")), (R, "1"))
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.run_script("install.sh", "have", KEY2).text, "")

    def test_files_that_have_gone_are_installed_again(self):
        self.kernel()
        path = self.deb()
        self.installed(KEY, "deb", "-", path)
        os.unlink(self.root + "/boot/kab/vmlinuz-" + R)
        self.assertEqual(self.run_script("install.sh", "have", KEY).text, "")
        self.assertIsNone(self.installed(KEY, "deb", "-", path).get("already"))
        self.check_files()

    def test_other_artefact_of_one_release(self):
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())
        before = self.tree()
        self.put("boot/vmlinuz-" + R, "another build")
        said = self.refused(KEY2, "deb", "-", self.deb())
        self.assertIn("CONFIG_LOCALVERSION", said)
        self.assertIn("kab kernels HOST --remove " + R, said)
        # Also when the release is told beforehand: the installed one stays whole.
        self.assertIn("CONFIG_LOCALVERSION", self.refused(KEY2, "deb", R, self.deb()))
        self.refused(KEY2, "deb", R, self.write("/broken.deb", "no package", root=self.top))
        self.assertEqual(self.tree(), before)

    def test_kernel_of_the_distribution_is_not_overwritten(self):
        self.kernel(RUNNING)
        said = self.refused(KEY, "deb", "-", self.deb())
        self.assertIn("did not install", said)
        self.assertIn("release:" + RUNNING, said)
        self.write("/lib/modules/%s/x" % R, "somebody's")
        self.kernel()
        self.assertIn("did not install", self.refused(KEY, "deb", "-", self.deb()))

    def test_members_of_something_else(self):
        for path in ("etc/passwd", "root/.ssh/authorized_keys", "lib/systemd/x", "usr/bin/x", ".hidden"):
            self.kernel()
            self.put(path)
            self.assertIn("members that are not of a kernel", self.refused(KEY, "tar", "-", self.tar()))

    def test_members_that_climb(self):
        self.kernel()
        path = os.path.join(self.top, "climb.tar")
        outside = self.write("/outside", "x", root=self.top)
        subprocess.run(["tar", "-C", self.source, "-cf", path, "boot", "lib"], check=True)
        subprocess.run(["tar", "-C", self.source, "-P", "--transform", "s|.*|../../../escaped|", "-rf", path, outside],
                       check=True)
        self.install(KEY, "tar", "-", path)
        found = [os.path.join(f, n) for f, _, names in os.walk(self.top) for n in names if n == "escaped"]
        self.assertEqual(found, [])

    def test_wrong_release(self):
        self.kernel()
        self.assertIn("not 6.99", self.refused(KEY, "deb", "6.99", self.deb()))

    def test_no_kernel_or_two(self):
        self.kernel()
        shutil.rmtree(self.source + "/boot")
        self.assertIn("no boot/vmlinuz-RELEASE", self.refused(KEY, "deb", "-", self.deb()))
        self.kernel()
        self.put("boot/vmlinuz-6.99", "another")
        self.assertIn("two kernels", self.refused(KEY, "deb", "-", self.deb()))

    def test_release_that_is_no_name(self):
        for release in ("..", "a b", "$(touch x)", "x" * 80):
            self.put("boot/vmlinuz-" + release)
            self.assertIn("not a kernel release", self.refused(KEY, "tar", "-", self.tar()))
            shutil.rmtree(self.source)

    def test_modules_of_another_release(self):
        self.kernel()
        shutil.move(self.source + "/lib/modules/" + R, self.source + "/lib/modules/6.99")
        answer = self.installed(KEY, "deb", "-", self.deb())
        self.assertEqual(answer.get("warning"), "the modules are of 6.99, not of %s; they are not installed" % R)
        self.assertFalse(self.exists("/lib/modules/6.99"))

    def test_broken_artefacts(self):
        self.kernel()
        for name, make in (("deb", self.deb), ("tar", lambda: self.tar("J", "tar.xz"))):
            path = make()
            with open(path, "rb+") as f:
                f.truncate(os.path.getsize(path) - 100)
            self.assertIn("cannot unpack", self.refused(KEY, name, "-", path))

    def test_initrd_maker_that_fails(self):
        self.stand_in("mkinitramfs", 'echo "no such module" >&2; exit 1')
        self.kernel()
        self.assertIn("no such module", self.refused(KEY, "deb", "-", self.deb()))

    def test_tool_that_reads_stdin_does_not_eat_the_script(self):
        self.stand_in("mkinitramfs", 'cat >/dev/null; echo "initrd of $3" >"$2"')
        self.stand_in("depmod", "cat >/dev/null")
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())
        self.check_files()

    def mount(self, path, size):
        if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", path],
                                              capture_output=True, check=False).returncode:
            self.skipTest("no right to mount")
        self.addCleanup(subprocess.run, ["umount", path], check=False)

    def test_full_file_systems(self):
        self.kernel()
        self.put("lib/modules/%s/big.ko" % R, "x" * (6 << 20))
        path = self.deb(compression="none")
        os.mkdir(self.root + "/small")
        self.mount(self.root + "/small", "4m")
        shutil.rmtree(self.root + "/lib/modules")
        os.symlink(self.root + "/small", self.root + "/lib/modules")
        answer = self.install(KEY, "deb", "-", path)
        self.assertEqual(answer.status, 1)
        self.assertIn("full", answer.get("error"))
        self.assertEqual(os.listdir(self.root + "/small"), [])
        self.assertFalse(self.exists("/boot/kab"))

    def test_small_boot(self):
        os.rename(self.root + "/boot", self.top + "/boot")
        os.mkdir(self.root + "/boot")
        self.mount(self.root + "/boot", "2m")
        self.kernel()
        self.put("boot/vmlinuz-" + R, "i" * (3 << 20))
        path = self.deb()
        said = self.refused(KEY, "deb", "-", path)
        self.assertRegex(said, r"/boot has \d+ MiB free, kernel and initrd need about \d+ MiB")

    def test_remove_takes_only_what_is_ours(self):
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())
        for release, reason in ((RUNNING, "not installed by kab"), ("../..", "not a kernel release"), ("6.9", "not installed")):
            answer = self.run_script("install.sh", "remove", release)
            self.assertEqual(answer.status, 1)
            self.assertIn(reason, answer.get("error"))
        answer = self.run_script("install.sh", "remove", R, FAKE_RELEASE=R)
        self.assertIn("is running", answer.get("error"))
        self.check_files()
        answer = self.run_script("install.sh", "remove", R)
        self.assertEqual((answer.get("removed"), answer.get("last")), (R, "1"))
        self.run_script("install.sh", "tidy")
        self.assertEqual(self.tree(), self.before)
        self.assertFalse(self.exists("/var/lib/kab"))
        self.assertFalse(self.exists("/boot/kab"))

    def test_default_kernel_is_not_removed(self):
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())
        self.write("/boot/grub/grub.cfg", 'set default="0"\nmenuentry "mine" {\n\tlinux /boot/kab/vmlinuz-%s ro\n}\n' % R)
        self.assertIn("is the default", self.run_script("install.sh", "remove", R).get("error"))

    def test_list(self):
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())
        blocks = {}
        for line in self.run_script("install.sh", "list").lines:
            key, value = line.split("=", 1)
            if key == "kernel":
                block = blocks.setdefault(value, {})
            block[key] = value
        self.assertEqual(set(blocks), {RUNNING, R})
        self.assertEqual(blocks[RUNNING], {"kernel": RUNNING, "running": "yes"})
        self.assertEqual((blocks[R]["key"], blocks[R]["kind"]), (KEY, "deb"))
        self.assertGreater(int(blocks[R]["kib"]), 0)

    def test_lock_of_a_process_that_has_gone(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.write("/var/lib/kab/installing/pid", "%d\n" % gone.pid)
        self.kernel()
        self.installed(KEY, "deb", "-", self.deb())

    def test_size_and_hash(self):
        path = self.write("/upload", "abc", root=self.top)
        answer = self.run_script("install.sh", "size", path, "hash")
        self.assertEqual((answer.get("size"), answer.get("sha256")),
                         ("3", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        self.assertEqual(self.run_script("install.sh", "size", path + "x").get("size"), "0")

    def test_check(self):
        answer = self.run_script("install.sh", "check", KEY, "deb", "-", "a.deb")
        self.assertEqual(answer.all("refuse"), [], answer.text)
        self.assertGreater(int(answer.get("free_kib")), 0)
        answer = self.run_script("install.sh", "check", KEY, "deb", RUNNING, "a.deb")
        self.assertIn("did not install", answer.get("refuse"))


if __name__ == "__main__":
    fake_root.main()
