# SPDX-License-Identifier: GPL-3.0-or-later
"""grub.cfg with the layout and the logic that a Debian installation has."""

HEADER = """\
# Written by tests/lab; the layout is that of Debian's update-grub.
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
   set default="${saved_entry}"
fi

if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
else
  menuentry_id_option=""
fi
export menuentry_id_option

if [ "${prev_saved_entry}" ]; then
  set saved_entry="${prev_saved_entry}"
  save_env saved_entry
  set prev_saved_entry=
  save_env prev_saved_entry
  set boot_once=true
fi

function savedefault {
  if [ -z "${boot_once}" ]; then
    saved_entry="${chosen}"
    save_env saved_entry
  fi
}
function load_video {
  true
}
%(terminal)sset timeout_style=menu
set timeout=0
"""

FOOTER = """\
if [ -f  ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
elif [ -z "${config_directory}" -a -f  $prefix/custom.cfg ]; then
  source $prefix/custom.cfg
fi
"""

SERIAL = """\
serial --unit=0 --speed=115200
terminal_input serial console
terminal_output serial console
"""


def menuentry(title, ident, boot_uuid, image, initrd, args, indent=""):
    lines = [
        "menuentry '%s' --class debian --class gnu-linux --class gnu --class os "
        "$menuentry_id_option '%s' {" % (title, ident),
        "\tload_video",
        "\tinsmod gzio",
        "\tinsmod part_msdos",
        "\tinsmod ext2",
        "\tsearch --no-floppy --fs-uuid --set=root %s" % boot_uuid,
        "\techo\t'Loading %s ...'" % image,
        "\tlinux\t%s %s" % (image, args),
        "\techo\t'Loading initial ramdisk ...'",
        "\tinitrd\t%s" % initrd,
        "}",
    ]
    return "".join(indent + line + "\n" for line in lines)


def entry_id(release, root_uuid):
    """What next_entry has to hold: the submenu's id, '>', the entry's id."""
    return "gnulinux-advanced-%s>gnulinux-%s-advanced-%s" % (root_uuid, release, root_uuid)


def config(kernels, boot_uuid, root_uuid, boot_path, console, serial_terminal):
    """kernels: (release, image file name), newest first. The default is grubenv's saved_entry."""
    args = "root=UUID=%s ro console=%s panic=0" % (root_uuid, console)
    out = HEADER % {"terminal": SERIAL if serial_terminal else ""}

    def entry(kernel, title, ident, extra="", indent=""):
        release, image = kernel
        return menuentry(title, ident, boot_uuid, boot_path + image,
                         boot_path + "initrd.img-" + release, args + extra, indent)

    out += entry(kernels[0], "Debian GNU/Linux", "gnulinux-simple-" + root_uuid)
    out += "submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option " \
        "'gnulinux-advanced-%s' {\n" % root_uuid
    for kernel in kernels:
        out += entry(kernel, "Debian GNU/Linux, with Linux " + kernel[0],
                     entry_id(kernel[0], root_uuid).split(">")[1], indent="\t")
    out += "}\n"
    # No program to run and no root to mount: a panic that stays (panic=0).
    out += menuentry("Lab: a kernel that panics", "kab-lab-panic", boot_uuid,
                     boot_path + kernels[0][1], boot_path + "initrd.img-" + kernels[0][0],
                     "console=%s panic=0 root=/dev/none rdinit=/nonexistent" % console)
    out += entry(kernels[0], "Lab: a kernel that hangs", "kab-lab-hang", " lab.hang")
    return out + FOOTER


def grubenv(variables):
    text = "# GRUB Environment Block\n" + "".join("%s=%s\n" % kv for kv in variables.items())
    return text.ljust(1024, "#")
