# Boots Debian's kernel under QEMU's emulation, without KVM, with an initramfs of our programs, nvme-cli and busybox.
# Sourced by tests/guest/run and tests/guest/shell, in bash.
#
# Where its drives come from is `drives`:
#   emulated   QEMU has two.
#   served     None are there at first; wattline-sim is there to serve some on the guest's own loopback, and so are fio,
#              curl and the tools of ext4.
#
# Kept in target/guest until that is removed: the unpacked kernel (downloaded once), and one archive of tools
# for each set of their contents. Our own programs are added at each start.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target_dir=${CARGO_TARGET_DIR:-$repository/target}
cache=$target_dir/guest

drives=emulated

die() {
    printf 'tests/guest: %s\n' "$*" >&2
    exit 1
}

check_host() {
    [[ $(uname -m) == x86_64 ]] || die "the guest runs this machine's programs, and its kernel is for x86_64"
    local program
    for program in qemu-system-x86_64 modprobe cpio dpkg-deb apt-get $(guest_programs); do
        PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null ||
            die "there is no $program; as root on Debian, tests/run guest installs what is missing"
    done
}

# What of this machine the guest has.
guest_programs() {
    echo busybox nvme
    if [[ $drives == served ]]; then echo fio curl mkfs.ext4 e2fsck; fi
}

# Modules of the guest: the drives, and the directory that is shared with the host.
guest_modules() {
    echo 9pnet_virtio 9p virtio_pci
    if [[ $drives == served ]]; then echo nvme-tcp ext4; else echo nvme; fi
}

# prepare_kernel: sets kernel (a directory) and release. The package is unpacked, never installed.
prepare_kernel() {
    kernel=$cache/kernel
    if [[ ! -f $kernel/release ]]; then
        local package scratch=$cache/kernel.new
        package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\).*/\1/p' | head -n 1)
        [[ -n $package ]] || die "apt-cache knows no linux-image-amd64; try apt-get update"
        rm -rf "$kernel" "$scratch"
        mkdir -p "$scratch"
        (cd "$scratch" && apt-get -q -o APT::Sandbox::User=root download "$package") >&2 || die "apt-get could not download $package"
        dpkg-deb -x "$scratch/$package"_*.deb "$scratch"
        rm "$scratch/$package"_*.deb
        /sbin/depmod -b "$scratch" "${package#linux-image-}"
        printf '%s\n' "${package#linux-image-}" >"$scratch/release"
        mv "$scratch" "$kernel"
    fi
    release=$(<"$kernel/release")
}

# prepare_tools: sets tools, the archive of everything that is not ours.
prepare_tools() {
    local programs=() modules root key name
    for name in $(guest_programs); do programs+=("$(PATH=$PATH:/usr/sbin:/sbin command -v "$name")"); done
    mapfile -t modules < <(
        for module in $(guest_modules); do
            /sbin/modprobe -d "$kernel" -S "$release" --show-depends "$module"
        done | sed -n 's/^insmod \(.*\.ko[^ ]*\).*/\1/p' | awk '!seen[$0]++'
    )
    key=$(sha256sum "${programs[@]}" "${modules[@]}" "$repository"/tests/guest/{init,record,lib.sh} | sha256sum | cut -c 1-16)
    tools=$cache/tools-$drives-$key.cpio
    if [[ -f $tools ]]; then return; fi

    root=$(new_root)
    mkdir -p "$root"/{bin,dev,etc,proc,sys,modules,results}
    cp -L "${programs[@]}" "$repository/tests/guest/record" "$root/bin"
    cp "$repository/tests/guest/init" "$root/init"
    for name in "${programs[@]:1}"; do copy_libraries "$root" "$name"; done # busybox needs none
    local module
    for module in "${modules[@]}"; do
        cp "$module" "$root/modules"
        basename "$module"
    done >"$root/modules/order"
    printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    rm -f "$cache/tools-$drives"-*.cpio
    archive "$root" >"$tools.new" # not compressed, since the emulated processor is slow
    mv "$tools.new" "$tools"
    rm -rf "$root"
}

# prepare_image [FILE...]: sets image, the initramfs: the tools, our programs and these files, in /bin.
prepare_image() {
    local root ours=("$target_dir/debug/wattline")
    cargo build --quiet --locked --manifest-path "$repository/Cargo.toml" -p wattline
    if [[ $drives == served ]]; then
        cargo build --quiet --locked --manifest-path "$repository/Cargo.toml" -p wattline-sim --features serve
        ours+=("$target_dir/debug/wattline-sim")
    fi
    root=$(new_root)
    mkdir "$root/bin"
    cp "${ours[@]}" "$@" "$root/bin"
    for program in "${ours[@]}"; do copy_libraries "$root" "$program"; done
    image=$scratch/initramfs
    # The kernel unpacks one archive after the other.
    { cat "$tools" && archive "$root"; } >"$image"
    rm -rf "$root"
}

# A directory that becomes the root of the guest, which everybody there may enter.
new_root() {
    local root
    root=$(mktemp -d)
    chmod 755 "$root"
    printf '%s' "$root"
}

# copy_libraries ROOT PROGRAM: the shared libraries of a program, to where it looks for them.
copy_libraries() {
    local library
    for library in $(ldd "$2" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
        mkdir -p "$1${library%/*}"
        cp -L "$library" "$1$library"
    done
}

archive() {
    (cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet --owner 0:0 --reproducible)
}

# boot COMMAND RESULTS: runs a command in the guest, with RESULTS mounted at /results; "" is a shell.
boot() {
    local memory=512 devices
    if [[ $drives == served ]]; then
        memory=2048
        # The guest's time is counted in instructions, a nanosecond each, and idle time is skipped: what is measured there
        # does not depend on how fast or how busy this machine is.
        devices=(-icount "shift=0,sleep=off")
    else
        # The drives have no content: I/O is not what they are for. RESULTS/set-features has, from the drives' side,
        # every Set Features that reached one.
        devices=(
            -blockdev "driver=null-co,node-name=plain,size=16777216,read-zeroes=on"
            -device "nvme,drive=plain,serial=PLAIN-0001"
            -blockdev "driver=null-co,node-name=intel,size=16777216,read-zeroes=on"
            -device "nvme,drive=intel,serial=INTEL-ID-0123456789A,use-intel-id=on,mdts=0,smart_critical_warning=2"
            -trace pci_nvme_setfeat -D "$2/set-features"
        )
    fi
    timeout --foreground "${GUEST_TIMEOUT:-90}" qemu-system-x86_64 \
        -accel tcg -machine q35 -cpu max -smp 1 -m "$memory" -nodefaults -no-reboot \
        -display none -serial mon:stdio -rtc base=2026-01-01T00:00:00,clock=vm "${devices[@]}" \
        -virtfs local,path="$2",mount_tag=results,security_model=none \
        -kernel "$kernel/boot/vmlinuz-$release" -initrd "$image" \
        -append "console=ttyS0 quiet panic=-1 wattline.drives=$drives wattline.run=$1"
}
