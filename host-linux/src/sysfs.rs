//! What sysfs says about NVMe controllers, without asking them.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

/// Where sysfs is mounted: `/sys`, or a recorded tree in tests.
#[derive(Clone, Debug)]
pub struct Sysfs(PathBuf);

impl Default for Sysfs {
    fn default() -> Self {
        Self::at("/sys")
    }
}

/// A controller, as the kernel's driver describes it. `None`: the attribute is missing, or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// `nvme0`.
    pub name: String,
    /// Model Number.
    pub model: Option<String>,
    /// Serial Number.
    pub serial: Option<String>,
    /// Firmware Revision.
    pub firmware: Option<String>,
    /// How it is attached: `pcie`, `tcp`, …
    pub transport: Option<String>,
    /// What the driver can do with it: `live`, `resetting`, `connecting`, `dead`, …
    pub state: Option<String>,
}

/// What a PCI function is, as its configuration space says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pci {
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Subsystem Vendor ID. `None`: not known.
    pub subsystem_vendor: Option<u16>,
    /// Subsystem ID. `None`: not known.
    pub subsystem_device: Option<u16>,
}

/// A machine, as its firmware describes it (DMI). `None`: it does not, or there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// System Manufacturer.
    pub system_vendor: Option<String>,
    /// Product Name.
    pub product: Option<String>,
    /// Baseboard Manufacturer.
    pub board_vendor: Option<String>,
    /// Baseboard Product.
    pub board: Option<String>,
}

/// A device file's kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// A block device, not a character device.
    pub block: bool,
    /// The major number.
    pub major: u64,
    /// The minor number.
    pub minor: u64,
}

/// To which controller a device file leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It is a controller.
    Itself,
    /// It is a namespace, or part of one, that is reached through these controllers.
    Controllers(Vec<String>),
    /// It has nothing to do with NVMe.
    Other,
}

impl Node {
    /// The node, where the file is a device.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let kind = metadata.file_type();
        let number = metadata.rdev();
        let node = Self { block: kind.is_block_device(), major: major(number), minor: minor(number) };
        (node.block || kind.is_char_device()).then_some(node)
    }
}

impl Sysfs {
    /// A tree that starts at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// All controllers, by number. None where there is no such class: the driver is not loaded.
    ///
    /// # Errors
    /// Where the class cannot be read.
    pub fn controllers(&self) -> io::Result<Vec<Controller>> {
        let class = self.0.join("class/nvme");
        let mut names = match names(&class) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            names => names?,
        };
        names.sort_by_cached_key(|name| (number(name), name.clone()));
        Ok(names.into_iter().map(|name| Controller::read(&class.join(&name), name)).collect())
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let directory = self.0.join("class/dmi/id");
        Machine {
            system_vendor: attribute(&directory, "sys_vendor"),
            product: attribute(&directory, "product_name"),
            board_vendor: attribute(&directory, "board_vendor"),
            board: attribute(&directory, "board_name"),
        }
    }

    /// The PCI function of a controller. `None`: it is not on a PCI bus.
    #[must_use]
    pub fn pci(&self, node: Node) -> Option<Pci> {
        let function = self.directory(node)?.join("device");
        let number = |name| u16::from_str_radix(attribute(&function, name)?.strip_prefix("0x")?, 16).ok();
        Some(Pci {
            vendor: number("vendor")?,
            device: number("device")?,
            subsystem_vendor: number("subsystem_vendor"),
            subsystem_device: number("subsystem_device"),
        })
    }

    /// What sysfs has about the device of a device file.
    fn directory(&self, node: Node) -> Option<PathBuf> {
        let kind = if node.block { "block" } else { "char" };
        self.0.join(format!("dev/{kind}/{}:{}", node.major, node.minor)).canonicalize().ok()
    }

    /// To which controller a device file leads.
    #[must_use]
    pub fn owner(&self, node: Node) -> Owner {
        let Some(device) = self.directory(node) else {
            return Owner::Other;
        };
        for directory in device.ancestors() {
            match subsystem(directory).as_deref() {
                Some("nvme") if directory == device => return Owner::Itself,
                Some("nvme") => return Owner::Controllers(last_part(directory).into_iter().collect()),
                Some("nvme-subsystem") => return Owner::Controllers(members(directory)),
                _ => {}
            }
        }
        Owner::Other
    }
}

impl Controller {
    fn read(directory: &Path, name: String) -> Self {
        Self {
            name,
            model: attribute(directory, "model"),
            serial: attribute(directory, "serial"),
            firmware: attribute(directory, "firmware_rev"),
            transport: attribute(directory, "transport"),
            state: attribute(directory, "state"),
        }
    }
}

/// Without padding, and harmless to a terminal: a drive chooses the bytes of its names.
fn attribute(directory: &Path, name: &str) -> Option<String> {
    let bytes = fs::read(directory.join(name)).ok()?;
    let text: String = String::from_utf8_lossy(&bytes).trim().chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// The controllers of a subsystem whose namespaces are reached on several paths.
fn members(directory: &Path) -> Vec<String> {
    let mut names = names(directory).unwrap_or_default();
    names.retain(|name| subsystem(&directory.join(name)).as_deref() == Some("nvme"));
    names.sort_by_cached_key(|name| number(name));
    names
}

/// The class or bus of a device: `nvme`, `nvme-generic`, `block`, `pci`, …
fn subsystem(device: &Path) -> Option<String> {
    last_part(&fs::read_link(device.join("subsystem")).ok()?)
}

fn names(directory: &Path) -> io::Result<Vec<String>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn last_part(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

/// 10 for `nvme10`, so that it comes after `nvme2`.
fn number(name: &str) -> Option<u64> {
    name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
