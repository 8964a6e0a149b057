"""Scans made from known text: pages as pictures, turned, skewed and noisy, with the place of every character."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pymupdf

DPI = 150
ENGLISH = (
    "The harbour committee met on the second Tuesday of March and agreed that the northern quay should be dredged "
    "before the autumn storms. Captain Ellen Marsh reported that two grain ships had touched the ground since "
    "Christmas. The treasurer asked for three offers, and the clerk was told to write to the dredging companies in "
    "Hamburg and in Bergen.",
    "Barley is stored in the old granary behind the customs house. Its roof was mended in 1987 with slate from "
    "Wales, and the beams were replaced by oak. Since then no water has come in, although the gutters have to be "
    "cleaned every year. A ladder for this work hangs beside the western door.",
    "Visitors may climb the lighthouse between ten and four. The stairs have 214 steps and no lift. Children must "
    "hold the hand of a grown person. In fog the horn sounds twice a minute, and the gallery is closed because the "
    "noise would hurt the ears.",
)
CHINESE = (
    "港口委员会于三月的第二个星期二开会，同意在秋季风暴之前疏浚北码头。船长报告说，自圣诞节以来已有两艘运粮船触底。"
    "财务主管要求提供三份报价，并让秘书写信给疏浚公司。",
    "大麦存放在海关大楼后面的旧粮仓里。屋顶在一九八七年用石板修好，横梁换成了橡木。从那以后再也没有进水，"
    "不过排水沟每年都要清理一次。清理用的梯子挂在西门旁边。",
    "游客可以在十点到四点之间登上灯塔。楼梯共有二百一十四级，没有电梯。儿童必须由成人牵手。"
    "有雾时雾笛每分钟响两次，因为声音太大，走廊会关闭。",
)


@dataclass(frozen=True)
class Kind:
    """How a page is scanned: turned counter-clockwise by `turn` (0, 90, 180, 270), clockwise by `skew` degrees."""

    name: str
    turn: int = 0
    skew: float = 0.0
    noise: float = 0.0
    columns: int = 1


KINDS = (
    Kind("straight"),
    Kind("skewed-1", skew=1.0),
    Kind("skewed-2.5", skew=-2.5),
    Kind("turned-90", turn=90),
    Kind("turned-180", turn=180),
    Kind("turned-270-skewed-1.5", turn=270, skew=1.5),
    Kind("noisy", skew=0.5, noise=25.0),
    Kind("two-columns-skewed-1", skew=1.0, columns=2),
)

Character = tuple[str, float, float]
"""A character and the middle of its box in points of the scanned page."""


def write_scans(folder: Path) -> dict[str, list[Character]]:
    """One file for each kind and language; by file name the characters as they stand on its only page, in order."""
    truth = {}
    for language, paragraphs in (("en", ENGLISH), ("zh", CHINESE)):
        for kind in KINDS:
            name = f"{language}-{kind.name}.pdf"
            truth[name] = _scan(_set(paragraphs, kind.columns, language == "zh"), kind, folder / name)
    return truth


def _set(paragraphs: Sequence[str], columns: int, chinese: bool) -> pymupdf.Document:
    """The paragraphs as a page with a text layer."""
    document = pymupdf.open()
    page = document.new_page()
    width, font = (36 if columns == 1 else 18, "china-s") if chinese else (84 if columns == 1 else 44, "helv")
    for column in range(columns):
        y = 90.0
        for paragraph in paragraphs:
            step = width if chinese else 0
            lines = [paragraph[i : i + step] for i in range(0, len(paragraph), step)] if step else []
            for line in lines or textwrap.wrap(paragraph, width):
                page.insert_text((72 + 245 * column, y), line, fontname=font, fontsize=12 if chinese else 10.5)
                y += 16
            y += 12
        paragraphs = paragraphs[::-1]
    return document


def _scan(text: pymupdf.Document, kind: Kind, path: Path) -> list[Character]:
    page = text[0]
    image = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
    pixels = np.frombuffer(image.samples, np.uint8).reshape(image.height, image.stride)[:, : image.width].copy()
    height, width = pixels.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -kind.skew, 1)
    pixels = cv2.warpAffine(pixels, matrix, (width, height), borderValue=255)
    pixels = np.ascontiguousarray(np.rot90(pixels, kind.turn // 90))
    if kind.noise:
        grain = np.random.default_rng(0).normal(0, kind.noise, pixels.shape)
        pixels = np.clip(pixels + grain, 0, 255).astype(np.uint8)
    with pymupdf.open() as scan:
        target = scan.new_page(width=pixels.shape[1] * 72 / DPI, height=pixels.shape[0] * 72 / DPI)
        target.insert_image(target.rect, stream=cv2.imencode(".png", pixels)[1].tobytes())
        scan.save(path, deflate=True)
    found = _characters(page)
    middles = np.array([(x, y, 1.0) for _, x, y in found]) * (DPI / 72, DPI / 72, 1)
    moved = _turned(middles @ matrix.T, kind.turn // 90, width, height) * 72 / DPI
    return [(char, float(x), float(y)) for (char, _, _), (x, y) in zip(found, moved, strict=True)]


def _characters(page: pymupdf.Page) -> list[Character]:
    return [
        (char["c"], (char["bbox"][0] + char["bbox"][2]) / 2, (char["bbox"][1] + char["bbox"][3]) / 2)
        for block in page.get_text("rawdict")["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
        for char in span["chars"]
        if not char["c"].isspace()
    ]


def _turned(points: npt.NDArray[np.float64], quarters: int, width: int, height: int) -> npt.NDArray[np.float64]:
    """Pixels of a picture after `np.rot90` by so many quarters."""
    for _ in range(quarters):
        points = np.stack([points[:, 1], width - points[:, 0]], axis=1)
        width, height = height, width
    return points
