"""The command line: build, files, delete, ask, grade, eval, calibrate, doctor. Drives the functions of the page."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from typing import TextIO

from config import Settings
from crag import __version__
from crag.cli.ask import SHOWN, ask
from crag.cli.build import build
from crag.cli.calibrate import calibrate_command
from crag.cli.console import DONE, FAILED, INTERRUPTED, LOCKED, NOTHING_INDEXED, USAGE, errors
from crag.cli.evaluate import at_least_one, evaluate
from crag.cli.files import delete, files
from crag.cli.grade import grade
from crag.cli.settings import changes_told, settings_of_the_person
from crag.doctor import examine
from crag.errors import (
    BuildLockedError,
    ConfigurationError,
    CragError,
    EmptyIndexError,
    QuestionError,
    QuestionSetError,
)
from crag.runtime import sentence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (see `python -m crag --help`)."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        return int(options.run(options, settings_of_the_person()))
    except CragError as error:
        errors.print(str(error))
        codes = {
            ConfigurationError: USAGE,
            QuestionError: USAGE,
            QuestionSetError: USAGE,
            EmptyIndexError: NOTHING_INDEXED,
            BuildLockedError: LOCKED,
        }
        return codes.get(type(error), FAILED)
    except KeyboardInterrupt:
        errors.print("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say
        sys.stderr.close()
        return FAILED
    except Exception as error:
        errors.print(sentence(error))
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crag",
        description="Ask your own PDFs; the evidence is checked before it answers.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 nothing indexed yet, "
        "4 another process is building, 130 interrupted. Options: CRAG_* variables, see README.md; without a variable "
        "what was changed on the page counts here as well.",
    )
    parser.add_argument("--version", action="version", version=f"crag {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    building = commands.add_parser("build", help="bring the index up to date with the PDFs in Files/")
    building.add_argument("--publish-staged", action="store_true", help="only publish what a cancelled build finished")
    building.add_argument("--read-again", metavar="FILE", help="read this one file again and leave all others")
    building.add_argument("--ocr", choices=("auto", "off", "force"), help="with --read-again: how, from now on")
    building.add_argument(
        "--password", action="append", default=[], metavar="FILE", help="ask for the password of this file"
    )
    building.add_argument("--password-stdin", metavar="FILE", help="take its password from standard input")
    building.set_defaults(run=build)

    listing = commands.add_parser("files", help="list the indexed files, and the size of the index")
    listing.set_defaults(run=files)

    deleting = commands.add_parser("delete", help="delete a PDF from Files/ and from the index, for good")
    deleting.add_argument("file", metavar="FILE")
    deleting.set_defaults(run=delete)

    asking = commands.add_parser("ask", help="answer one question")
    asking.add_argument("question")
    asking.add_argument(
        "--file", action="append", default=[], metavar="NAME", help="use only files so called: a part or a pattern"
    )
    asking.add_argument("--show", default="", metavar="LIST", help=f"also print, by commas: {', '.join(SHOWN)}")
    asking.add_argument(
        "--web",
        choices=("off", "ask", "auto"),
        help="for this question: no web, after you have seen the query, at once",
    )
    asking.add_argument("--json", action="store_true", help="print the whole trace as JSON instead")
    asking.add_argument("--export", metavar="FILE", help="also write a report to hand on: .html, .md or .json")
    asking.set_defaults(run=ask)

    grading = commands.add_parser("grade", help='grade JSON lines {"question", "texts"} from standard input')
    grading.set_defaults(run=grade)

    calibrating = commands.add_parser("calibrate", help="learn the thresholds from labelled questions")
    calibrating.add_argument("questions", nargs="?", metavar="QUESTIONS", help="a question set, .jsonl or .csv")
    calibrating.add_argument("--from-corrections", action="store_true", help="learn from grades corrected in the page")
    calibrating.add_argument("--apply", action="store_true", help="use what is suggested from the next start on")
    calibrating.add_argument("--utility", default="", metavar="NAME=NUMBER,…", help="other weights than the usual ones")
    calibrating.add_argument("--list", action="store_true", help="list what was applied, the active one marked")
    calibrating.add_argument("--undo", action="store_true", help="go back to the one before, or to the defaults")
    calibrating.set_defaults(run=calibrate_command)

    evaluating = commands.add_parser("eval", help="put a question set (JSONL, CSV) to the index and report figures")
    evaluating.add_argument("questions", help="the file; see docs/evaluation.md for its columns")
    evaluating.add_argument("--report", metavar="HTML", help="write a report with plots to this file")
    evaluating.add_argument("--json", metavar="JSON", help="write the figures and a row per question to this file")
    evaluating.add_argument("--compare", metavar="JSON", help="compare with the JSON of an earlier run")
    evaluating.add_argument("--limit", type=at_least_one, metavar="N", help="ask only the first N questions")
    evaluating.set_defaults(run=evaluate)

    examining = commands.add_parser("doctor", help="say what is installed, configured and reachable, and what to mend")
    examining.add_argument(
        "--online", action="store_true", help="also test what is set up outside this machine: a very short call each"
    )
    examining.set_defaults(run=_doctor)
    return parser


def _doctor(options: argparse.Namespace, settings: Settings) -> int:
    findings = examine(settings, options.online, changes_told())
    for finding in findings:
        mark = "FAIL" if not finding.ok else "note" if finding.subject == "file" else "ok"
        print(f"{mark:4} {finding.subject}: {finding.text}")
    return DONE if all(finding.ok for finding in findings) else FAILED


def _utf8(stream: TextIO) -> None:
    """Chinese text and the sign ≥ must not fail on a console with a narrow encoding."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    for standard in (sys.stdout, sys.stderr, sys.stdin):
        _utf8(standard)
    sys.exit(main())
