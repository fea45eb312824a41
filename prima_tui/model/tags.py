"""Tags: which languages a session changed files of, and what kind of work its words speak of.

Pure tables and string search. The texts of one session can be hundreds of megabytes, so words are looked for with
``str.find`` and a topic that was found is looked for no further.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

TOPICS = ("bugfix", "refactor", "testing", "feature")

_EXTENSIONS = {
    "assembly": "asm s",
    "astro": "astro",
    "awk": "awk",
    "batch": "bat cmd",
    "bicep": "bicep",
    "c": "c h",
    "clojure": "clj cljs cljc",
    "cmake": "cmake",
    "cobol": "cob cbl cpy",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp cppm ixx",
    "crystal": "cr",
    "csharp": "cs csx cshtml razor",
    "css": "css",
    "cuda": "cu cuh",
    "d": "d",
    "dart": "dart",
    "dockerfile": "dockerfile containerfile",
    "elixir": "ex exs heex eex leex",
    "elm": "elm",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f f77 f90 f95 f03 f08 for",
    "fsharp": "fs fsi fsx",
    "gdscript": "gd",
    "gleam": "gleam",
    "glsl": "glsl vert frag geom comp tesc tese",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gvy gradle",
    "haskell": "hs lhs hsc",
    "hcl": "hcl nomad",
    "hlsl": "hlsl fx",
    "html": "html htm xhtml",
    "idris": "idr",
    "java": "java jsp",
    "javascript": "js mjs cjs jsx",
    "julia": "jl",
    "just": "just",
    "kotlin": "kt kts",
    "latex": "tex sty cls",
    "lean": "lean",
    "less": "less",
    "lisp": "lisp lsp cl el",
    "lua": "lua luau",
    "make": "mk mak",
    "metal": "metal",
    "mojo": "mojo",
    "nim": "nim nims nimble",
    "nix": "nix",
    "nushell": "nu",
    "objective-c": "m mm",
    "ocaml": "ml mli mll mly",
    "pascal": "pas pp dpr lpr",
    "perl": "pl pm t psgi",
    "php": "php phtml php5 php7",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "prolog": "prolog",
    "protobuf": "proto",
    "puppet": "epp",
    "purescript": "purs",
    "python": "py pyi pyw pyx pxd ipynb",
    "qml": "qml",
    "r": "r rmd qmd",
    "racket": "rkt",
    "reason": "re rei res resi",
    "ruby": "rb erb rake gemspec ru haml slim",
    "rust": "rs",
    "sass": "sass scss",
    "scala": "scala sc sbt",
    "scheme": "scm ss sld",
    "shell": "sh bash zsh ksh bats",
    "solidity": "sol",
    "sql": "sql psql plsql pgsql ddl",
    "starlark": "bzl star bazel",
    "svelte": "svelte",
    "swift": "swift",
    "systemverilog": "sv svh",
    "tcl": "tcl tk",
    "terraform": "tf tfvars",
    "thrift": "thrift",
    "typescript": "ts tsx mts cts",
    "typst": "typ",
    "vala": "vala vapi",
    "verilog": "v vh",
    "vhdl": "vhd vhdl",
    "vim": "vim vimrc",
    "visual-basic": "vb vbs bas",
    "vue": "vue",
    "webassembly": "wat wast",
    "wgsl": "wgsl",
    "xslt": "xsl xslt",
    "zig": "zig zon",
}
_FILE_NAMES = {
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "groovy": "jenkinsfile",
    "just": "justfile .justfile",
    "make": "makefile gnumakefile bsdmakefile",
    "meson": "meson.build meson_options.txt",
    "python": "pipfile sconstruct sconscript wscript",
    "ruby": "gemfile rakefile guardfile vagrantfile podfile fastfile brewfile capfile",
    "shell": ".bashrc .bash_profile .bash_aliases .zshrc .zshenv .zprofile .profile",
    "starlark": "build.bazel workspace.bazel tiltfile",
    "vim": ".vimrc _vimrc",
}

LANGUAGE_OF_EXTENSION = {extension: tag for tag, listed in _EXTENSIONS.items() for extension in listed.split()}
LANGUAGE_OF_NAME = {name: tag for tag, listed in _FILE_NAMES.items() for name in listed.split()}

# The stem to look for, and the whole words that begin with it and speak of the topic.
_WORDS = {
    "bugfix": {
        "fix": r"fix(?:e[sd]|ing|ings|er|ers|ups?)?",
        "bug": r"bug(?:s|gy|ged|fix(?:e[sd]|ing)?)?",
        "error": r"error(?:s|ed|ing|neous)?",
        "hotfix": r"hotfix(?:e[sd]|ing)?",
    },
    "refactor": {
        "refactor": r"refactor(?:s|ed|ing|ings|er|ers|able)?",
        "restructur": r"restructur(?:e|es|ed|ing)",
        "reorgani": r"reorgani[sz](?:e|es|ed|ing|ation)",
    },
    "testing": {
        "test": r"test(?:s|ed|er|ers|ing|able|case|cases|bed|suite|suites)?",
    },
    "feature": {
        "implement": r"implement(?:s|ed|ing|er|ers|ation|ations)?",
        "add": r"add(?:s|ed|ing)?",
        "feature": r"feature(?:s|d)?",
    },
}
# A word goes on through letters only, so that "test_login" and "error404" begin with one; Han and kana need no spaces.
_NOT_SPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"


@cache
def _stems() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """Return each topic's stems with the words they may begin; made at the first use, which most starts don't need."""
    return {
        topic: [(stem, re.compile(rf"(?:{words})(?![^\W\d_{_NOT_SPACED}])")) for stem, words in stems.items()]
        for topic, stems in _WORDS.items()
    }


def language_tags(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the language tags of the files at these paths, sorted, each once; files of no known language give none."""
    tags = set(map(_language, paths))
    tags.discard("")
    return tuple(sorted(tags))


def topic_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return those of bugfix, refactor, testing and feature whose words stand in the texts, in this order.

    Capitals are ignored. A word counts from its start: "latest" is no test, "prefix" no fix; what begins inside a
    name (``run_tests``, ``runTests``) or after a digit is no start, while ``test_login`` is one. And it must be one of
    the words meant: "address" is no add, "fixture" no fix. The texts are taken one at a time, and no more of them
    than it needs to find all four.
    """
    found: set[str] = set()
    topics = _stems()
    for text in texts:
        lowered = text.lower()
        for topic, stems in topics.items():
            if topic not in found and any(_speaks_of(lowered, stem, words) for stem, words in stems):
                found.add(topic)
        if len(found) == len(topics):
            break
    return tuple(topic for topic in TOPICS if topic in found)


@lru_cache(maxsize=4096)
def _language(path: str) -> str:
    name = path.replace("\\", "/").rsplit("/", 1)[-1].strip()
    lowered = name.lower()
    if lowered in LANGUAGE_OF_NAME:
        return LANGUAGE_OF_NAME[lowered]
    stem, dot, extension = name.rpartition(".")
    if stem and dot:
        return LANGUAGE_OF_EXTENSION.get(extension.lower(), "")
    return ""


def _speaks_of(lowered: str, stem: str, words: re.Pattern[str]) -> bool:
    place = lowered.find(stem)
    while place >= 0:
        if _starts_word(lowered, place) and words.match(lowered, place):
            return True
        place = lowered.find(stem, place + len(stem))
    return False


def _starts_word(text: str, place: int) -> bool:
    if place == 0:
        return True
    before = text[place - 1]
    if before.isascii():
        return not (before.isalnum() or before == "_")
    if "\u3040" <= before <= "\u30ff" or "\u3400" <= before <= "\u9fff" or "\uf900" <= before <= "\ufaff":
        return True
    return not (before.isalnum() or unicodedata.category(before).startswith("M"))
