# SPDX-License-Identifier: Apache-2.0
"""The few pieces of SVG that the plots of docs/ are drawn with."""

COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#999999", "#000000"]
FONT = 'font-family="sans-serif" font-size="12"'


def text(x, y, what, anchor="middle", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{what}</text>'


def svg(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" {FONT}>\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' +
            "\n".join(parts) + "\n</svg>\n")


def line(x1, y1, x2, y2, colour, extra=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" {extra}/>')


def curve(points, colour, extra=""):
    """`points` in pixels."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" {extra}/>'


def dot(x, y, colour, radius=3, extra=""):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" {extra}/>'
