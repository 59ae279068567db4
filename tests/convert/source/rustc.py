"""Rust exports, many in one program: rustc is slow to start, and slower still when it optimizes."""

import math
import shutil
import subprocess
import warnings

import pytest

MAIN = """#![deny(warnings)]
use std::io::Read;

fn text(hex: &str) -> String {
    let bytes = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

macro_rules! answer {
    ($model:ident, $line:expr) => {{
        let texts: Vec<String> = $line.iter().map(|c| c.strip_prefix('T').map(text).unwrap_or_default()).collect();
        let cells: Vec<$model::Cell> = $line.iter().zip(&texts).map(|(cell, text)| match &cell[..1] {
            "N" => cell[1..].parse::<f64>().unwrap().into(),
            "T" => text.as_str().into(),
            _ => None::<f64>.into(),
        }).collect();
        match $model::predict(&cells) {
            Ok(found) => println!("{}", found.map(|x| x.to_string()).join(" ")),
            Err(sentence) => println!("{}", format!("!{sentence}").escape_unicode()),
        }
    }};
}

fn main() {
    let mut asked = String::new();
    std::io::stdin().read_to_string(&mut asked).unwrap();
    for line in asked.lines() {
        let mut cells: Vec<&str> = line.split(' ').collect();
        match cells.remove(0) {
            ARMS
            _ => panic!("no such model"),
        }
    }
}
"""


def rustc():
    found = shutil.which("rustc")
    if found is None:
        warnings.warn("Rust exports were not tested: there is no rustc.", stacklevel=2)
        pytest.skip("there is no rustc: Rust exports are not tested")
    return found


def program(sources, folder, *flags):
    """One program of several exports, each a module; warnings are errors."""
    for i, source in enumerate(sources):
        source.write(folder / f"m{i}.rs")
    arms = "\n            ".join(f'"{i}" => answer!(m{i}, cells),' for i in range(len(sources)))
    modules = "\n".join(f"mod m{i};" for i in range(len(sources)))
    (folder / "main.rs").write_text(f"{MAIN.replace('ARMS', arms)}\n{modules}\n")
    command = [rustc(), "--edition=2021", *flags, "main.rs", "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "program"


def ask(binary, tables):
    """The answers for the rows of several models, a list of numbers each; a sentence where a row was refused."""
    asked = "".join(" ".join([str(i), *map(written, row)]) + "\n" for i, rows in enumerate(tables) for row in rows)
    done = subprocess.run([binary], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    return [[answered(next(lines)) for _ in rows] for rows in tables]


def written(cell):
    if cell is None or (not isinstance(cell, str) and math.isnan(cell)):
        return "M"
    return f"T{cell.encode().hex()}" if isinstance(cell, str) else f"N{float(cell)!r}"


def answered(line):
    if line.startswith("\\u{21}"):
        return "".join(chr(int(code, 16)) for code in line.replace("\\u{", "").split("}")[1:-1])
    return [float(x) for x in line.split()]
