"""Scans for the tests: pages of text as pictures, turned, skewed, noisy, without a text layer."""

from __future__ import annotations

import cv2
import numpy as np
import pymupdf


def scanned(text_pdf: bytes, *, turn: int = 0, skew: float = 0.0, noise: float = 0.0, dpi: int = 150) -> bytes:
    """Every page as a picture: turned counter-clockwise by `turn` (0, 90, 180, 270), clockwise by `skew` degrees."""
    source = pymupdf.open("pdf", text_pdf)
    scan = pymupdf.open()
    for page in source:
        image = page.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
        pixels = np.frombuffer(image.samples, np.uint8).reshape(image.height, image.stride)[:, : image.width].copy()
        height, width = pixels.shape
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -skew, 1)
        pixels = cv2.warpAffine(pixels, matrix, (width, height), borderValue=255)
        pixels = np.ascontiguousarray(np.rot90(pixels, turn // 90))
        if noise:
            grain = np.random.default_rng(0).normal(0, noise, pixels.shape)
            pixels = np.clip(pixels + grain, 0, 255).astype(np.uint8)
        height, width = pixels.shape
        target = scan.new_page(width=width * 72 / dpi, height=height * 72 / dpi)
        target.insert_image(target.rect, stream=cv2.imencode(".png", pixels)[1].tobytes())
    data: bytes = scan.tobytes(deflate=True)
    return data
