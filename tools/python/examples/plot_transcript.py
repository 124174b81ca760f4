#!/usr/bin/python3
"""Draws a recording's segments and how sure the engine is of them, as an SVG.

usage: plot_transcript.py SOCKET RECORDING OUT.svg

Each segment is a bar from its start to its end, as high as its confidence; each word a dot at its own
probability. A browser shows the text of both where the pointer rests.
"""

import html
import math
import sys

import superfluid

WIDTH, HEIGHT = 1000, 320
LEFT, RIGHT, TOP, BOTTOM = 50, 20, 30, 40


def confidence(segment):
    """Of a segment, 0 to 1: what its tokens were drawn with, on average."""
    return min(1.0, math.exp(min(0.0, segment.avg_logprob)))


def colour(value):
    """Red for 0, green for 1."""
    return f"hsl({120 * max(0.0, min(1.0, value)):.0f} 60% 45%)"


class Chart:
    def __init__(self, seconds):
        self.seconds = max(seconds, 0.001)
        self.parts = []

    def x(self, seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.seconds

    def y(self, value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value

    def text(self, x, y, text, anchor="middle"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>')

    def line(self, x1, y1, x2, y2):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ccc"/>')

    def axes(self):
        for percent in range(0, 101, 25):
            y = self.y(percent / 100)
            self.line(LEFT, y, WIDTH - RIGHT, y)
            self.text(LEFT - 6, y + 4, f"{percent}%", "end")
        step = next((s for s in (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
                     if self.seconds / s <= 12), 7200)
        for second in range(0, int(self.seconds) + 1, step):
            self.text(self.x(second), HEIGHT - BOTTOM + 18, f"{second // 60}:{second % 60:02}")

    def segment(self, segment):
        value = confidence(segment)
        left, right, top = self.x(segment.start), self.x(segment.end), self.y(value)
        title = f"{segment.start:.2f} to {segment.end:.2f} s, {value:.0%}: {segment.text}"
        self.parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(1.0, right - left - 1):.1f}" '
                          f'height="{self.y(0) - top:.1f}" fill="{colour(value)}" fill-opacity="0.4">'
                          f"<title>{html.escape(title)}</title></rect>")
        for word in segment.words:
            value = max(0.0, min(1.0, word.probability))
            title = f"{word.text} ({word.probability:.0%})"
            self.parts.append(f'<circle cx="{self.x((word.start + word.end) / 2):.1f}" cy="{self.y(value):.1f}" '
                              f'r="3" fill="{colour(value)}"><title>{html.escape(title)}</title></circle>')

    def svg(self):
        return "\n".join([f'<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {HEIGHT}" '
                          'font-family="sans-serif" font-size="12">', *self.parts, "</svg>", ""])


SVG = "http" + "://www.w3.org/2000/svg"  # the name of the format; nothing is fetched


def draw(transcript, title):
    chart = Chart(transcript.duration)
    chart.axes()
    for segment in transcript.segments:
        chart.segment(segment)
    chart.text(WIDTH / 2, 18, title)
    return chart.svg()


def main(argv):
    if len(argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    _, path, recording, out = argv
    with superfluid.connect(path) as worker, worker.start(recording) as job:
        for segment in job:
            print(f"{confidence(segment):4.0%}  {segment.text}")
        transcript = job.result()
    with open(out, "w", encoding="utf-8") as file:
        file.write(draw(transcript, recording))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
