//! Promises about the tree. Each test is one promise; a broken one is reported as `file:line: what`.
//!
//! Sources are read as tokens, so a word inside a comment or a string breaks nothing, and manifests as
//! TOML. Every `.rs`, `.toml` and `.md` file counts, committed or not, except what cargo wrote.

use proc_macro2::{LineColumn, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The only files that may say `unsafe`: at most one for each adapter.
const UNSAFE_ALLOWED: [&str; 2] = ["edge-board/firmware/lm3s6965/registers.rs", "host-linux/src/device/ioctl.rs"];

/// What each member may use of the others, in any kind of dependency.
const ARROWS: [(&str, &[&str]); 6] = [
    ("wattline-core", &[]),
    ("wattline-sim", &["wattline-core"]),
    ("wattline", &["wattline-core"]),
    ("wattline-edge", &["wattline-core"]),
    ("wattline-model", &["wattline-core"]),
    ("wattline-tests", &["wattline-core", "wattline-sim", "wattline", "wattline-edge"]),
];

/// Features that may be set. The others of the core rest on one source or on memory.
const SETTABLE: [&str; 5] =
    ["AUTONOMOUS_TRANSITIONS", "NON_OPERATIONAL", "POWER_MANAGEMENT", "TEMPERATURE_THRESHOLD", "THERMAL_MANAGEMENT"];

/// A longer file usually holds two ideas.
const MAX_LINES: usize = 700;

/// As rustfmt.toml says for code.
const MAX_COLUMNS: usize = 120;

#[test]
fn core_has_no_operating_system_and_no_unsafe_code() {
    let lib = read("core/src/lib.rs");
    let tokens = tokens("core/src/lib.rs", &lib);
    let mut broken = Vec::new();
    for attribute in ["#![no_std]", "#![forbid(unsafe_code)]"] {
        if find(&tokens, attribute).is_empty() {
            broken.push(format!("core/src/lib.rs:1: {attribute} is missing"));
        }
    }
    report("core is #![no_std] and forbids unsafe code", &broken);
}

#[test]
fn core_has_no_floating_point() {
    let mut broken = Vec::new();
    for (path, tokens) in sources("core/src/") {
        let found = floats(without_tests(&tokens));
        broken.extend(found.iter().map(|(line, float)| format!("{path}:{line}: {float}")));
    }
    report("core computes in integers (its tests may check that in floating point)", &broken);
}

#[test]
fn core_has_no_clock() {
    let broken = occurrences("core/src/", &["std::time", "Instant::now", "SystemTime"]);
    report("core is told the time and never asks", &broken);
}

#[test]
fn unsafe_stays_in_the_files_that_may_have_it() {
    let mut broken = occurrences("", &["unsafe"]);
    broken.retain(|found| !UNSAFE_ALLOWED.iter().any(|path| found.starts_with(&format!("{path}:"))));
    for path in UNSAFE_ALLOWED {
        if !root().join(path).is_file() {
            broken.push(format!("{path}:1: may have unsafe code but does not exist"));
        }
    }
    report("unsafe code only in the files listed in UNSAFE_ALLOWED", &broken);
}

#[test]
fn what_is_unverified_is_never_sent_to_a_drive() {
    let mut broken = Vec::new();
    for (path, tokens) in sources("").filter(|(path, _)| !path.starts_with("core/src/nvme/feature/")) {
        broken.extend(not_settable(&tokens).iter().map(|(line, what)| format!("{path}:{line}: {what}")));
    }
    report("only features listed in SETTABLE are set, and by their names", &broken);
}

#[test]
fn nothing_is_left_for_later() {
    let broken = occurrences("", &["todo!", "unimplemented!", "dbg!"]);
    report("no todo!, unimplemented! or dbg!", &broken);
}

#[test]
fn no_source_file_is_too_long() {
    let mut broken = Vec::new();
    for path in files(&["rs"]) {
        let lines = read(&path).lines().count();
        if lines > MAX_LINES {
            broken.push(format!("{path}:{lines}: this is the last line"));
        }
    }
    report(&format!("no Rust file has more than {MAX_LINES} lines"), &broken);
}

#[test]
fn no_line_of_prose_is_too_wide() {
    let mut broken = Vec::new();
    for path in files(&["rs", "md"]) {
        let is_code = path.ends_with(".rs");
        let mut in_fence = false;
        for (number, line) in numbered(&read(&path)) {
            let text = line.trim_start();
            in_fence ^= !is_code && text.starts_with("```");
            // What rustfmt leaves alone: comments. In documents, tables and commands may be as wide as they must.
            let is_prose = if is_code { text.starts_with("//") } else { !in_fence && !text.starts_with('|') };
            let is_table = text.starts_with("//! |");
            if is_prose && !is_table && line.chars().count() > MAX_COLUMNS {
                broken.push(format!("{path}:{number}: {} columns", line.chars().count()));
            }
        }
    }
    report(&format!("no line of prose has more than {MAX_COLUMNS} columns"), &broken);
}

#[test]
fn no_file_knows_a_developers_machine() {
    let mut paths = files(&["rs", "toml", "md", "sh"]);
    paths.extend(["tests/run".to_owned(), ".ci/run".to_owned()]);
    paths.extend(files(&[]).into_iter().filter(|path| path.starts_with("tests/guest/")));
    let mut broken = Vec::new();
    for path in paths {
        for (number, line) in numbered(&read(&path)) {
            if let Some(home) = home_directory(line) {
                broken.push(format!("{path}:{number}: {home}"));
            }
        }
    }
    report("no path into somebody's home directory", &broken);
}

#[test]
fn readme_names_the_minimum_rust_version_of_the_manifest() {
    let manifest = parse_toml("Cargo.toml");
    let wanted = manifest["workspace"]["package"]["rust-version"].as_str().expect("a string");
    let mut named = 0;
    let mut broken = Vec::new();
    for (number, line) in numbered(&read("README.md")) {
        for version in rust_versions(line) {
            named += 1;
            if version != wanted {
                broken.push(format!("README.md:{number}: Rust {version}, but Cargo.toml has {wanted}"));
            }
        }
    }
    if named == 0 {
        broken.push(format!("README.md:1: does not name Rust {wanted}"));
    }
    report("README names the minimum Rust version of Cargo.toml", &broken);
}

#[test]
fn files_named_in_the_documents_exist() {
    let tree = Tree::of(files(&[]));
    let mut broken = Vec::new();
    for path in files(&["md"]).into_iter().filter(|path| path != "CHANGELOG.md") {
        for (number, name) in named_files(&read(&path), &tree) {
            if !tree.has(&name, &path) {
                broken.push(format!("{path}:{number}: there is no {name}"));
            }
        }
    }
    report("every file that a document names exists", &broken);
}

#[test]
fn members_use_only_what_they_may() {
    let workspace = parse_toml("Cargo.toml");
    let members = workspace["workspace"]["members"].as_array().expect("an array");
    let mut broken = Vec::new();
    for member in members {
        let path = format!("{}/Cargo.toml", member.as_str().expect("a path"));
        let manifest = parse_toml(&path);
        let name = manifest["package"]["name"].as_str().expect("a name");
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            broken.push(format!("{path}:1: {name} is not in ARROWS"));
            continue;
        };
        for used in dependencies(&manifest) {
            let is_member = ARROWS.iter().any(|(to, _)| *to == used);
            if is_member && !allowed.contains(&used.as_str()) {
                let line = line_of(&read(&path), &used);
                broken.push(format!("{path}:{line}: {name} may not use {used}"));
            }
        }
    }
    report("the adapters use core and not each other, core uses no member", &broken);
}

/// A check that cannot fail would be no check.
#[test]
fn the_checks_see_what_they_look_for() {
    let source = "// unsafe, f64
let a = \"dbg!()\";
let b = 1.5;
std::time::Instant::now();
dbg!(); x.0.1; 'f: loop {} 0..7usize
let c = (0x2f64, 1_000e6, 3_f32);
let d: f64 = 0..2.5;";
    let tokens = tokens("sample", source);
    let expected = [(3, "1.5"), (6, "1_000e6"), (6, "3_f32"), (7, "f64"), (7, "2.5")];
    assert_eq!(floats(&tokens), expected);
    let source = "fn a() -> f32 {}\n#[cfg(test)] mod t { fn b() { 1.5 } mod u {} }\n#[cfg(test)] mod v;\ntype C = f64;";
    assert_eq!(floats(without_tests(&self::tokens("sample", source))), [(1, "f32"), (4, "f64")]);
    let source =
        "use a::set_features_dword_10;\nset_features_dword_10(id::POWER_LIMIT, false); set_features_dword_10(fid, x);
set_features_dword_10(feature::identifier::POWER_MANAGEMENT, save);";
    assert_eq!(not_settable(&self::tokens("sample", source)), [(2, "POWER_LIMIT"), (2, "fid")]);
    assert_eq!(find(&tokens, "unsafe"), []);
    assert_eq!(find(&tokens, "dbg!"), [5]);
    assert_eq!(find(&tokens, "std::time"), [4]);
    assert_eq!(find(&tokens, "Instant::now"), [4]);

    assert_eq!(home_directory(&format!("see /{}/ada/notes", "home")), Some("/home/"));
    assert_eq!(home_directory("https://example.org/home/ada"), None);
    assert_eq!(rust_versions("Rust 1.90 or Rust 1.95.").collect::<Vec<_>>(), ["1.90", "1.95"]);

    let tree = Tree::of(vec!["core/src/lib.rs".to_owned(), "tests/run".to_owned(), "README.md".to_owned()]);
    let text = "`lib.rs`, `tests/run --full`, `a/b`\n[x](core/gone.rs#L1), [y](https://x.org/core/a)\n```\ntests/gone x.md\n```";
    let named = named_files(text, &tree);
    assert_eq!(
        named.iter().map(|(line, name)| (*line, name.as_str())).collect::<Vec<_>>(),
        [(1, "lib.rs"), (1, "tests/run"), (2, "core/gone.rs"), (4, "tests/gone")]
    );
    let missing: Vec<_> = named.iter().filter(|(_, name)| !tree.has(name, "README.md")).collect();
    assert_eq!(missing.len(), 2);
}

// What the checks look for.

/// Lines where `pattern`, read as tokens, begins.
fn find(tokens: &[Token], pattern: &str) -> Vec<usize> {
    let pattern = self::tokens("pattern", pattern);
    let matches = |window: &&[Token]| window.iter().zip(&pattern).all(|(a, b)| a.text == b.text);
    tokens.windows(pattern.len()).filter(matches).map(|window| window[0].line).collect()
}

/// `file:line: pattern` for every place under `directory` where one of `patterns` stands.
fn occurrences(directory: &str, patterns: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, tokens) in sources(directory) {
        for pattern in patterns {
            found.extend(find(&tokens, pattern).iter().map(|line| format!("{path}:{line}: {pattern}")));
        }
    }
    found
}

/// Lines that set a feature which is not in `SETTABLE`, and what stands there for its name.
fn not_settable(tokens: &[Token]) -> Vec<(usize, &str)> {
    let calls = tokens.windows(2).enumerate().filter(|(_, pair)| {
        let [name, open] = [&pair[0].text, &pair[1].text];
        name == "set_features_dword_10" && open == "("
    });
    let feature = |at: usize| {
        let arguments = &tokens[at + 2..];
        let end = arguments.iter().position(|token| token.text == ",").unwrap_or(arguments.len());
        (tokens[at].line, arguments[..end].last().map_or("", |token| token.text.as_str()))
    };
    calls.map(|(at, _)| feature(at)).filter(|(_, name)| !SETTABLE.contains(name)).collect()
}

/// Lines with a floating-point type or number, and the type or number.
fn floats<'a>(tokens: impl IntoIterator<Item = &'a Token>) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let (mut before, mut last) = ("", "");
    for token in tokens {
        // In `pair.0.1`, the lexer takes `0.1` for a number. In `0..0.1` it is one.
        let is_field = last == "." && before != ".";
        if is_float(&token.text) && !is_field {
            found.push((token.line, token.text.as_str()));
        }
        (before, last) = (last, &token.text);
    }
    found
}

/// All but the modules that are compiled for tests only, written `#[cfg(test)] mod tests { … }`.
fn without_tests(tokens: &[Token]) -> Vec<&Token> {
    let begin = self::tokens("pattern", "#[cfg(test)] mod");
    let mut shipped = Vec::new();
    let mut rest = tokens;
    while let Some(token) = rest.first() {
        let is_test = rest.len() > begin.len() && rest.iter().zip(&begin).all(|(a, b)| a.text == b.text);
        let mut depth = 0_usize;
        let closes = |token: &Token| {
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            depth == 0 && ["}", ";"].contains(&token.text.as_str())
        };
        let skipped = if is_test { rest.iter().position(closes).map_or(rest.len(), |end| end + 1) } else { 0 };
        if skipped == 0 {
            shipped.push(token);
        }
        rest = &rest[skipped.max(1)..];
    }
    shipped
}

fn is_float(token: &str) -> bool {
    let is_type = |text: &str| text == "f32" || text == "f64";
    if !token.starts_with(|c: char| c.is_ascii_digit()) || token.starts_with("0x") {
        return is_type(token);
    }
    let end = token.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(token.len());
    token[end..].starts_with(['.', 'e', 'E']) || is_type(&token[end..])
}

/// The beginning of a path into a home directory; not the same letters within a longer path or address.
fn home_directory(line: &str) -> Option<&'static str> {
    const HOMES: [&str; 4] = ["/home/", "/Users/", "/root/", "C:\\Users\\"];
    HOMES.into_iter().find(|home| {
        line.match_indices(home).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let owner = line[at + home.len()..].chars().next();
            !before.is_some_and(|c| c.is_alphanumeric() || "._-}".contains(c))
                && owner.is_some_and(char::is_alphanumeric)
        })
    })
}

fn rust_versions(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("Rust 1.").map(|(at, _)| {
        let version = &line[at + "Rust ".len()..];
        let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
        version[..end].trim_end_matches('.')
    })
}

/// Names of workspace members and of others that a manifest depends on, in whatever way.
fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (key, value) in manifest {
        let Some(table) = value.as_table() else {
            continue;
        };
        if key.ends_with("dependencies") {
            for (name, how) in table {
                let renamed = how.get("package").and_then(toml::Value::as_str);
                names.insert(renamed.unwrap_or(name).to_owned());
            }
        } else {
            names.extend(dependencies(table)); // [target.'cfg(…)'.dependencies]
        }
    }
    names
}

/// Words of a Markdown document that look like files of this repository, with their lines: targets of
/// links, and words in backticks or code blocks that begin with one of its directories. A lone word in
/// backticks also counts when it ends like one of our files.
fn named_files(text: &str, tree: &Tree) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    let mut in_block = false;
    for (number, line) in numbered(text) {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
            continue;
        }
        let spans: Vec<&str> = if in_block { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
        for span in spans {
            let alone = !in_block && !span.contains(' ');
            let words = span.split_whitespace().map(bare_name);
            named.extend(words.filter(|word| tree.could_have(word, alone)).map(|word| (number, word.to_owned())));
        }
        if !in_block {
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
            let ours = targets.filter(|target| !target.is_empty() && !target.contains(':'));
            named.extend(ours.map(|target| (number, bare_name(target).to_owned())));
        }
    }
    named
}

/// Without the line number of `file.rs:12` and the slash of `core/`.
fn bare_name(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(':').trim_end_matches(['/', ',', ';'])
}

/// Every file and directory of the repository.
struct Tree(BTreeSet<String>);

impl Tree {
    fn of(files: Vec<String>) -> Self {
        let mut all = BTreeSet::new();
        for file in files {
            let ancestors = Path::new(&file).ancestors().filter_map(Path::to_str);
            all.extend(ancestors.filter(|path| !path.is_empty()).map(str::to_owned));
        }
        Self(all)
    }

    fn could_have(&self, word: &str, alone: bool) -> bool {
        const PLAIN: &str = "._-/";
        let first = word.split('/').next().unwrap_or_default();
        let is_path = word.contains('/') && self.0.contains(first);
        let is_file = [".rs", ".toml", ".md", ".sh"].iter().any(|end| word.ends_with(end));
        word.chars().all(|c| c.is_ascii_alphanumeric() || PLAIN.contains(c))
            && !word.starts_with('/')
            && (is_path || alone && is_file)
    }

    /// Named from the root, from the document's own directory, or by its last parts alone.
    fn has(&self, name: &str, document: &str) -> bool {
        let beside = Path::new(document).with_file_name(name);
        let tail = format!("/{name}");
        self.0.contains(name) || root().join(beside).exists() || self.0.iter().any(|path| path.ends_with(&tail))
    }
}

// Reading the tree.

/// A token's text and its line, from 1.
struct Token {
    text: String,
    line: usize,
}

/// The Rust sources under a directory, as tokens.
fn sources(directory: &str) -> impl Iterator<Item = (String, Vec<Token>)> {
    let paths = files(&["rs"]).into_iter().filter(move |path| path.starts_with(directory));
    paths.map(|path| {
        let tokens = tokens(&path, &read(&path));
        (path, tokens)
    })
}

fn tokens(path: &str, source: &str) -> Vec<Token> {
    fn flatten(stream: TokenStream, into: &mut Vec<Token>) {
        let token = |text: String, at: LineColumn| Token { text, line: at.line };
        for tree in stream {
            let at = tree.span().start();
            match tree {
                TokenTree::Group(group) => {
                    // The delimiters are tokens too; "()" and the like, as opened and closed.
                    let empty = proc_macro2::Group::new(group.delimiter(), TokenStream::new()).to_string();
                    let (open, close) = empty.split_at(empty.len() / 2);
                    into.push(token(open.trim().to_owned(), at));
                    flatten(group.stream(), into);
                    into.push(token(close.trim().to_owned(), group.span_close().end()));
                }
                other => into.push(token(other.to_string(), at)),
            }
        }
    }
    let mut flat = Vec::new();
    let stream = source.parse().unwrap_or_else(|error| panic!("{path}: not Rust: {error}"));
    flatten(stream, &mut flat);
    flat
}

/// Paths from the root, with `/`, of all files with one of these extensions (or of all, if none is
/// given) outside of git's and cargo's directories.
fn files(extensions: &[&str]) -> Vec<String> {
    fn walk(directory: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a readable directory") {
            let entry = entry.expect("a readable entry");
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if entry.file_type().expect("a file type").is_dir() {
                let not_ours = name == ".git" || name == "target" || name.starts_with("target-");
                if !not_ours {
                    walk(&entry.path(), into);
                }
            } else {
                into.push(entry.path());
            }
        }
    }
    let root = root();
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let wanted = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extensions.is_empty() || extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let relative = |path: PathBuf| path.strip_prefix(&root).expect("below the root").to_str().map(str::to_owned);
    let mut names: Vec<String> = paths.into_iter().filter(wanted).filter_map(relative).collect();
    names.sort();
    names
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace's directory").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parse_toml(path: &str) -> toml::Table {
    read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

fn line_of(text: &str, word: &str) -> usize {
    numbered(text).find(|(_, line)| line.contains(word)).map_or(1, |(number, _)| number)
}

fn report(promise: &str, broken: &[String]) {
    assert!(broken.is_empty(), "broken promise: {promise}\n{}", broken.join("\n"));
}
