# SPDX-License-Identifier: GPL-3.0-or-later
"""boot.sh on the boot folders of several distributions: boot_sh.py [SHELL]."""
import os
import shutil
import subprocess
import unittest

import fake_root
from fake_root import RUNNING, FakeRoot

NEW = "6.12.95+deb12-amd64"
UUID = "8c1b-22"
HEADER = """\
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="%s"
fi
function load_video {
  true
}
"""
FOOTER = """\
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
fi
"""
ARGS = "kab.nonce=00ff panic=30 quiet"


def entry(release, ident, title, extra="", prefix="/boot/", indent=""):
    return "".join(indent + line + "\n" for line in [
        "menuentry '%s' --class debian --class os $menuentry_id_option '%s' {" % (title, ident),
        "\tload_video",
        "\tinsmod ext2",
        "\techo\t'Loading Linux %s ...'" % release,
        "\tlinux\t%svmlinuz-%s root=UUID=%s ro console=ttyS0%s" % (prefix, release, UUID, extra),
        "\techo\t'Loading initial ramdisk ...'",
        "\tinitrd\t%sinitrd.img-%s" % (prefix, release),
        "}"])


def debian(kernels=(NEW, RUNNING), default="0", prefix="/boot/"):
    """As update-grub writes it: newest first, all of them in a submenu, with recovery entries."""
    text = HEADER % default
    text += entry(kernels[0], "gnulinux-simple-" + UUID, "Debian GNU/Linux", prefix=prefix)
    text += "submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-%s' {\n" % UUID
    for release in kernels:
        ident = "gnulinux-%s-%%s-%s" % (release, UUID)
        text += entry(release, ident % "advanced", "Debian, with Linux " + release, prefix=prefix,
                      indent="\t")
        text += entry(release, ident % "recovery", "Debian, with Linux %s (recovery mode)" % release,
                      " single", prefix, "\t")
    return text + "}\n" + FOOTER


class Grub(FakeRoot):
    def setUp(self):
        super().setUp()
        self.grubenv = self.root + "/boot/grub/grubenv"
        self.own = "/boot/grub/custom.cfg"
        self.config(debian())
        subprocess.run(["grub-editenv", self.grubenv, "create"], check=True)
        for release in (NEW, RUNNING):
            self.write("/boot/vmlinuz-" + release, "image")
            self.write("/boot/initrd.img-" + release, "initrd")

    def config(self, text):
        self.write("/boot/grub/grub.cfg", text)

    def environment(self):
        text = subprocess.run(["grub-editenv", self.grubenv, "list"], capture_output=True, text=True,
                              check=True).stdout
        return dict(line.split("=", 1) for line in text.splitlines())

    def set_environment(self, *words):
        subprocess.run(["grub-editenv", self.grubenv, "set", *words], check=True)

    def boot(self, *args, **env):
        return self.run_script("boot.sh", *args, **env)

    def selected(self, release):
        """The lines of kab's entry after a selection that has to work."""
        answer = self.boot("select", "grub", release, ARGS)
        self.assertEqual((answer.status, answer.get("entry")), (0, "kab-oneshot"), answer.text)
        self.assertEqual(self.environment()["next_entry"], "kab-oneshot")
        self.assertEqual(self.environment()["kab_args"], ARGS)
        return [line.strip() for line in self.read(self.own).splitlines()]

    def refused(self, release, *parts):
        """Nothing was chosen, and the reason has these parts."""
        before = self.tree()
        answer = self.boot("select", "grub", release, ARGS)
        self.assertEqual(answer.status, 1, answer.text)
        for part in parts:
            self.assertIn(part, answer.get("error") or "")
        self.assertNotIn("next_entry", self.environment())
        before.pop(self.root + self.own, None)
        after = self.tree()
        after.pop(self.root + self.own, None)
        self.assertEqual(before, after)
        return answer

    def test_preflight_finds_nothing_wrong(self):
        before = self.tree()
        answer = self.boot("preflight", "grub")
        self.assertEqual((answer.status, answer.all("refuse")), (0, []), answer.text)
        self.assertEqual(answer.get("layout"), "debian")
        self.assertEqual(answer.get("boot_device"), "/dev/vda1")
        self.assertEqual(answer.get("default"), NEW)
        self.assertEqual(answer.get("pending"), "")
        self.assertEqual(self.tree(), before)

    def test_preflight_names_a_choice_of_somebody_else(self):
        self.set_environment("next_entry=other")
        self.assertEqual(self.boot("preflight", "grub").get("pending"), "other")
        self.boot("clear", "grub")
        self.assertEqual(self.environment()["next_entry"], "other")

    def test_grub_cfg_that_never_looks_at_next_entry(self):
        self.config("# load_env; set default=\"${next_entry}\"\n" + entry(RUNNING, "a", "Linux") + FOOTER)
        answer = self.boot("preflight", "grub")
        self.assertEqual(answer.status, 1)
        said = answer.get("refuse")
        for line in ("load_env;", 'set default="${next_entry}";', "save_env next_entry;"):
            self.assertIn(line, said)
        self.config((HEADER % "0").replace("save_env next_entry", "true") + entry(RUNNING, "a", "Linux") + FOOTER)
        said = self.boot("preflight", "grub").get("refuse")
        self.assertIn("save_env next_entry;", said)
        self.assertNotIn("load_env;", said)

    def test_places_where_grub_cannot_write(self):
        for line, word in (("/dev/mapper/vg-root / ext4", "LVM"), ("/dev/md0 / ext4", "RAID"),
                           ("/dev/sda2 / btrfs", "btrfs"), ("tank/root / zfs", "zfs")):
            self.write("/mounts", line + " rw 0 0\n", root=self.top)
            answer = self.boot("preflight", "grub")
            self.assertEqual(answer.status, 1)
            self.assertIn(word, answer.get("refuse"))
        # A /boot of its own on a plain partition is fine although the root is on LVM.
        self.write("/mounts", "/dev/mapper/vg-root / ext4 rw 0 0\n/dev/vda1 %s/boot ext4 rw 0 0\n"
                   % self.root, root=self.top)
        self.assertEqual(self.boot("preflight", "grub").all("refuse"), [])

    def test_grubenv_that_is_missing_or_cut(self):
        self.write("/boot/grub/grubenv", "# GRUB Environment Block\n")
        self.assertIn("1024", self.boot("preflight", "grub").get("refuse"))
        os.unlink(self.grubenv)
        self.assertIn("grub-editenv create", self.boot("preflight", "grub").get("refuse"))

    def test_no_grub_at_all(self):
        shutil.rmtree(self.root + "/boot/grub")
        self.assertIn("is this host booted by GRUB", self.boot("preflight", "grub").get("refuse"))

    def test_no_custom_cfg_in_the_menu(self):
        self.config(debian().replace(FOOTER, ""))
        self.assertIn("custom.cfg", self.boot("preflight", "grub").get("refuse"))

    def test_selection_copies_the_entry_and_leaves_the_menu(self):
        menu = self.read("/boot/grub/grub.cfg")
        lines = self.selected(RUNNING)
        self.assertIn("Owned by kab", lines[0])
        self.assertEqual([w for w in lines if w.startswith("linux")],
                         ["linux\t/boot/vmlinuz-%s root=UUID=%s ro console=ttyS0 ${kab_args}" % (RUNNING, UUID)])
        self.assertIn("initrd\t/boot/initrd.img-" + RUNNING, lines)
        self.assertEqual(self.read("/boot/grub/grub.cfg"), menu)
        self.assertNotIn("saved_entry", self.environment())

    def test_grub_reads_our_entry(self):
        checker = shutil.which("grub-script-check")
        if not checker:
            self.skipTest("grub-script-check is not installed")
        self.selected(NEW)
        subprocess.run([checker, self.root + self.own], check=True)

    def test_entries_that_move(self):
        self.selected(RUNNING)
        self.config(debian(("6.13.0", NEW, RUNNING)))
        self.assertIn("linux\t/boot/vmlinuz-%s root=UUID=%s ro console=ttyS0 ${kab_args}" % (RUNNING, UUID),
                      self.selected(RUNNING))
        self.assertIn("vmlinuz-%s " % NEW, "\n".join(self.selected(NEW)))

    def test_entry_that_has_gone(self):
        self.config(debian((RUNNING,)))
        for name in ("vmlinuz-", "initrd.img-"):
            os.unlink(self.root + "/boot/" + name + NEW)
        self.refused(NEW, "no entry", NEW)

    def test_doubled_id_names_both(self):
        self.config(HEADER % "0" + entry(NEW, "same", "First of them") + entry(NEW, "same", "Second of them") +
                    FOOTER)
        self.refused(NEW, "'same'", "First of them", "Second of them")

    def test_two_entries_of_one_kernel_with_own_ids_are_fine(self):
        self.assertIn("vmlinuz-%s " % NEW, "\n".join(self.selected(NEW)))

    def test_recovery_entries_are_not_taken(self):
        self.config(HEADER % "0" + entry(NEW, "rec", "Recovery", " single") + entry(NEW, "good", "Good") + FOOTER)
        self.assertIn("good", self.boot("lookup", "grub", NEW).get("entry"))
        self.assertNotIn(" single ", "\n".join(self.selected(NEW)))

    def test_release_that_begins_like_another(self):
        longer = RUNNING + "-test"
        self.config(debian((longer, RUNNING)))
        self.assertIn("vmlinuz-%s " % RUNNING, "\n".join(self.selected(RUNNING)))
        self.config(debian((longer,)))
        os.unlink(self.root + "/boot/vmlinuz-" + RUNNING)
        self.boot("clear", "grub")
        self.refused(RUNNING, "no entry")

    def test_a_failed_selection_forgets_the_one_before(self):
        self.selected(NEW)
        self.assertEqual(self.boot("select", "grub", "6.99", ARGS).status, 1)
        self.assertNotIn("next_entry", self.environment())

    def test_letters_of_a_release_mean_themselves(self):
        # A dot must not match any letter, a plus must not repeat.
        self.config(debian(("6x12.95+deb12-amd64", RUNNING)))
        os.unlink(self.root + "/boot/vmlinuz-" + NEW)
        self.refused(NEW, "no entry")

    def test_custom_cfg_of_somebody_else(self):
        self.write(self.own, "menuentry 'mine' { true }\n")
        self.assertIn("is not kab's", self.boot("preflight", "grub").get("refuse"))
        self.refused(NEW, "is not kab's")
        self.assertEqual(self.read(self.own), "menuentry 'mine' { true }\n")
        answer = self.boot("remove", "grub")
        self.assertEqual(answer.status, 1)
        self.assertTrue(self.exists(self.own))

    def test_write_that_is_lost(self):
        # As when an installation rewrites the block at the same time.
        real = shutil.which("grub-editenv")
        self.stand_in("grub-editenv", 'case "$3" in next_entry=*) exit 0 ;; esac\nexec %s "$@"' % real)
        self.refused(NEW, "reads ''", "not rebooting")

    def test_write_that_is_overtaken(self):
        real = shutil.which("grub-editenv")
        self.stand_in("grub-editenv", '%s "$@" || exit\ncase "$3" in next_entry=*) %s "$1" set next_entry=other;; esac'
                  % (real, real))
        self.refused(NEW, "reads 'other'", "not rebooting")

    def test_arguments_that_do_not_fit(self):
        answer = self.boot("select", "grub", NEW, "x" * 1100)
        self.assertEqual(answer.status, 1)
        self.assertNotIn("next_entry", self.environment())

    def test_clear_and_remove_leave_nothing(self):
        before = self.tree()
        self.selected(NEW)
        self.assertEqual(self.boot("clear", "grub").status, 0)
        self.assertEqual(self.environment(), {})
        self.selected(NEW)
        answer = self.boot("remove", "grub")
        self.assertEqual(answer.get("removed"), self.root + self.own)
        self.assertEqual(self.environment(), {})
        self.assertEqual(self.tree(), before)
        self.assertEqual(self.boot("remove", "grub").text, "")

    def kab_kernel(self, release, initrd=True):
        self.write("/boot/kab/vmlinuz-" + release, "image")
        if initrd:
            self.write("/boot/kab/initrd.img-" + release, "initrd")

    def test_kernel_of_kabs_follows_the_default_entry(self):
        self.kab_kernel("6.12.0-patched")
        self.config(debian(default="${saved_entry}"))
        self.set_environment("saved_entry=gnulinux-advanced-%s>gnulinux-%s-advanced-%s" % (UUID, RUNNING, UUID))
        self.assertEqual(self.boot("preflight", "grub").get("default"), RUNNING)
        entry_text = self.boot("lookup", "grub", "6.12.0-patched").get("entry")
        self.assertIn("pattern of " + RUNNING, entry_text)
        lines = self.selected("6.12.0-patched")
        self.assertIn("linux\t/boot/kab/vmlinuz-6.12.0-patched root=UUID=%s ro console=ttyS0 ${kab_args}" % UUID, lines)
        self.assertIn("initrd /boot/kab/initrd.img-6.12.0-patched", lines)
        self.assertNotIn(RUNNING, "\n".join(lines))

    def test_kernel_of_kabs_without_initrd_on_a_boot_partition(self):
        self.kab_kernel("6.12.0-patched", initrd=False)
        self.config(debian(prefix="/"))
        # It stays the same entry when another kernel of kab's runs.
        lines = self.selected("6.12.0-patched")
        self.assertIn("linux\t/kab/vmlinuz-6.12.0-patched root=UUID=%s ro console=ttyS0 ${kab_args}" % UUID, lines)
        self.assertFalse([w for w in lines if w.startswith("initrd")])
        again = self.boot("select", "grub", "6.12.0-patched", ARGS, FAKE_RELEASE="6.12.0-other")
        self.assertEqual(again.status, 0, again.text)
        self.assertEqual([w.strip() for w in self.read(self.own).splitlines()], lines)

    def test_microcode_stays_before_the_initrd(self):
        self.kab_kernel("6.12.0-patched")
        self.config(debian((RUNNING,)).replace("initrd\t/boot/", "initrd\t/boot/ucode.img /boot/"))
        self.assertIn("initrd /boot/ucode.img /boot/kab/initrd.img-6.12.0-patched",
                      self.selected("6.12.0-patched"))

    def test_kernel_in_boot_that_no_entry_starts(self):
        self.config(debian((RUNNING,)))
        self.assertIn("linux\t/boot/vmlinuz-%s root=UUID=%s ro console=ttyS0 ${kab_args}" % (NEW, UUID),
                      self.selected(NEW))

    def test_defaults_in_every_form(self):
        ident = "gnulinux-%s-advanced-%s" % (RUNNING, UUID)
        for default, release in (("0", NEW), ("1>2", RUNNING), ("1>0", NEW), ("1", NEW), ("", NEW),
                                 ("gnulinux-simple-" + UUID, NEW),
                                 ("gnulinux-advanced-%s>%s" % (UUID, ident), RUNNING),
                                 ("Advanced options>Debian, with Linux " + RUNNING, RUNNING)):
            self.config(debian(default=default))
            self.assertEqual(self.boot("preflight", "grub").get("default"), release, default)


class Bls(FakeRoot):
    """As Fedora and RHEL have it."""
    MACHINE = "0123456789abcdef0123456789abcdef"

    def setUp(self):
        super().setUp()
        self.entries = "/boot/loader/entries/"
        self.write("/boot/grub2/grub.cfg", HEADER % "${saved_entry}" + "insmod blscfg\nblscfg\n")
        self.grubenv = self.root + "/boot/grub2/grubenv"
        subprocess.run(["grub-editenv", self.grubenv, "create"], check=True)
        for release in (NEW, RUNNING):
            self.entry("%s-%s" % (self.MACHINE, release), release)
            self.write("/boot/vmlinuz-" + release, "image")
        self.entry(self.MACHINE + "-0-rescue", "0-rescue-" + self.MACHINE)
        subprocess.run(["grub-editenv", self.grubenv, "set", "saved_entry=%s-%s" % (self.MACHINE, RUNNING)], check=True)

    def entry(self, name, release):
        self.write(self.entries + name + ".conf",
                   "title Fedora Linux (%s)\nversion %s\nlinux /vmlinuz-%s\ninitrd /initramfs-%s.img\n"
                   "options root=UUID=1 ro\ngrub_users $grub_users\nid x\n" % ((release,) * 4))

    def boot(self, *args):
        return self.run_script("boot.sh", *args)

    def own(self):
        return self.read(self.entries + "kab-oneshot.conf").splitlines()

    def test_preflight(self):
        answer = self.boot("preflight", "grub")
        self.assertEqual((answer.status, answer.get("layout"), answer.get("default")), (0, "bls", RUNNING), answer.text)

    def test_select_and_remove(self):
        before = self.tree()
        answer = self.boot("select", "grub", NEW, ARGS)
        self.assertEqual(answer.status, 0, answer.text)
        lines = self.own()
        self.assertIn("linux /vmlinuz-" + NEW, lines)
        self.assertIn("initrd /initramfs-%s.img" % NEW, lines)
        self.assertIn("options root=UUID=1 ro " + ARGS, lines)
        self.assertEqual(sum(line.startswith("title ") for line in lines), 1)
        self.boot("remove", "grub")
        self.assertEqual(self.tree(), before)

    def test_our_words_stand_behind_all_options(self):
        self.write(self.entries + "%s-%s.conf" % (self.MACHINE, NEW),
                   "title t\nversion %s\noptions root=UUID=1 ro\nlinux /vmlinuz-%s\noptions panic=0 quiet\n" % (NEW, NEW))
        self.assertEqual(self.boot("select", "grub", NEW, ARGS).status, 0)
        self.assertEqual([line for line in self.own() if line.startswith("options")],
                         ["options root=UUID=1 ro panic=0 quiet " + ARGS])

    def test_two_entries_are_both_named(self):
        self.entry("other", NEW)
        said = self.boot("select", "grub", NEW, ARGS).get("error")
        self.assertIn("other.conf", said)
        self.assertIn("%s-%s.conf" % (self.MACHINE, NEW), said)

    def test_kernel_of_kabs(self):
        self.write("/boot/kab/vmlinuz-6.12.0-patched", "image")
        self.write("/boot/kab/initrd.img-6.12.0-patched", "initrd")
        answer = self.boot("select", "grub", "6.12.0-patched", "a|b&c kab.nonce=1")
        self.assertEqual(answer.status, 0, answer.text)
        lines = self.own()
        self.assertIn("linux /kab/vmlinuz-6.12.0-patched", lines)
        self.assertIn("initrd /kab/initrd.img-6.12.0-patched", lines)
        self.assertIn("version 6.12.0-patched", lines)
        self.assertIn("options root=UUID=1 ro a|b&c kab.nonce=1", lines)

    def test_unknown_kernel(self):
        self.assertIn("no loader entry", self.boot("lookup", "grub", "6.99").get("error"))


class SystemdBoot(FakeRoot):
    def setUp(self):
        super().setUp()
        self.stand_in("bootctl", 'case $1 in\n-x) echo /efi ;;\nset-oneshot) [ -z "$FAIL" ] && echo "$2" >%s/oneshot ;;\n'
                             '*) exit 1 ;;\nesac' % self.top)
        self.write("/efi/loader/loader.conf", "timeout 3\ndefault debian-*\n")
        for release in (NEW, RUNNING):
            self.write("/efi/%s/linux" % release, "image")
            self.write("/efi/loader/entries/m-%s.conf" % release,
                       "title Debian\nversion %s\nlinux /m/%s/linux\ninitrd /m/%s/initrd.img\noptions root=/dev/vda2\n"
                       % ((release,) * 3))

    def boot(self, *args, **env):
        return self.run_script("boot.sh", *args, **env)

    def oneshot(self):
        path = self.top + "/oneshot"
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            return f.read().strip()

    def test_select(self):
        self.assertEqual(self.boot("preflight", "systemd-boot").all("refuse"), [])
        self.assertEqual(self.boot("select", "systemd-boot", NEW, ARGS).get("entry"), "kab-oneshot.conf")
        self.assertEqual(self.oneshot(), "kab-oneshot.conf")
        lines = self.read("/efi/loader/entries/kab-oneshot.conf").splitlines()
        self.assertIn("linux /m/%s/linux" % NEW, lines)
        self.assertIn("options root=/dev/vda2 " + ARGS, lines)

    def test_kernel_of_kabs_is_copied_to_the_partition(self):
        before = self.tree()
        self.write("/boot/kab/vmlinuz-6.12.0-patched", "the image")
        self.write("/boot/kab/initrd.img-6.12.0-patched", "the initrd")
        answer = self.boot("select", "systemd-boot", "6.12.0-patched", ARGS)
        self.assertEqual(answer.status, 0, answer.text)
        lines = self.read("/efi/loader/entries/kab-oneshot.conf").splitlines()
        self.assertIn("linux /kab/vmlinuz-6.12.0-patched", lines)
        self.assertIn("initrd /kab/initrd.img-6.12.0-patched", lines)
        self.assertEqual(self.read("/efi/kab/vmlinuz-6.12.0-patched"), "the image")
        self.boot("remove", "systemd-boot")
        shutil.rmtree(self.root + "/boot/kab")
        self.assertEqual(self.tree(), before)

    def test_bootctl_that_fails(self):
        answer = self.boot("select", "systemd-boot", NEW, ARGS, FAIL="1")
        self.assertEqual(answer.status, 1)
        self.assertIsNone(self.oneshot())

    def test_without_entries(self):
        shutil.rmtree(self.root + "/efi")
        self.assertIn("no loader/entries", self.boot("preflight", "systemd-boot").get("refuse"))


class Words(FakeRoot):
    def test_unknown_words(self):
        self.assertIn("unknown verb", self.run_script("boot.sh", "select", "lilo", "x").get("error"))
        self.assertIn("unknown verb", self.run_script("install.sh", "frob").get("error"))


if __name__ == "__main__":
    fake_root.main()
