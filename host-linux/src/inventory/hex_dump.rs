//! A hex dump of the Identify Controller page: how pages come out of posts and logs.
//!
//! Each line is `offset: bytes`, both in hexadecimal, with any number of two-digit bytes. `#` starts a comment.
//! The offsets have to fit the bytes before them, so that a lost line is noticed.

use super::{Inventory, InventoryError, excerpt, page};

/// Whether the first line that is no comment is `offset: …`.
pub(crate) fn is_recognised(text: &str) -> bool {
    contents(text)
        .next()
        .is_some_and(|(_, line)| line.split_once(':').is_some_and(|(offset, _)| number(offset).is_some()))
}

/// Reads a hex dump of a page.
pub(super) fn read(text: &str) -> Result<Inventory, InventoryError> {
    let bytes = bytes(text).map_err(|Flaw { line, problem }| InventoryError::HexDump { line, problem })?;
    page::read(&bytes)
}

/// What is wrong with a hex dump, and in which line, counted from 1.
pub(crate) struct Flaw {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

/// The bytes of a hex dump.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, Flaw> {
    let mut bytes = Vec::new();
    for (line, content) in contents(text) {
        add(content, &mut bytes).map_err(|problem| Flaw { line, problem })?;
    }
    Ok(bytes)
}

fn add(content: &str, bytes: &mut Vec<u8>) -> Result<(), String> {
    let (offset, values) =
        content.split_once(':').ok_or_else(|| format!("{} is not `offset: bytes`", excerpt(content)))?;
    let at = number(offset).ok_or_else(|| format!("{} is not an offset in hexadecimal", excerpt(offset)))?;
    if at != bytes.len() {
        return Err(format!("it starts at offset {at:#06x}, but {:#06x} has to follow", bytes.len()));
    }
    for value in values.split_whitespace() {
        let byte = number(value).filter(|_| value.len() == 2).and_then(|number| u8::try_from(number).ok());
        bytes.push(byte.ok_or_else(|| format!("{} is not a byte of two hexadecimal digits", excerpt(value)))?);
    }
    Ok(())
}

/// The lines that are not only comment, with their numbers, counted from 1.
fn contents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, content)| !content.is_empty())
}

fn number(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| usize::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_recognised_behind_its_comments() {
        assert!(is_recognised("# a page\n\n0000: b7 15\n"));
        for text in ["", "# only a comment", "fr: 1", "0000 b7 15", "+0: 00", "ffffffffffffffffff: 00"] {
            assert!(!is_recognised(text), "{text:?}");
        }
    }

    #[test]
    fn every_flaw_is_named_with_its_line() {
        for (text, message) in [
            ("0000: 00 01\n0004: 00", "line 2 of the hex dump: it starts at offset 0x0004, but 0x0002 has to follow"),
            ("0000: 00 01\n0001: 00", "line 2 of the hex dump: it starts at offset 0x0001, but 0x0002 has to follow"),
            ("0010: 00", "line 1 of the hex dump: it starts at offset 0x0010, but 0x0000 has to follow"),
            ("0000: 00\n*\n", "line 2 of the hex dump: \"*\" is not `offset: bytes`"),
            ("# x\n0000: 0g", "line 2 of the hex dump: \"0g\" is not a byte of two hexadecimal digits"),
            ("\n\n0000: b715", "line 3 of the hex dump: \"b715\" is not a byte of two hexadecimal digits"),
            ("0000: 00 01", "an Identify Controller page has 4096 bytes, but 2 came"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }
}
