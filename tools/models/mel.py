"""The filters that turn a spectrum into mel bands.

Triangles on the scale of M. Slaney's Auditory Toolbox (1998): linear up to 1 kHz, logarithmic
above, each triangle of the same area. Whisper's files hold them for 16 kHz and windows of 400
samples.
"""

import math

SAMPLE_RATE = 16000
WINDOW = 400
BINS = WINDOW // 2 + 1
_LINEAR_HZ = 200.0 / 3
_BREAK_HZ = 1000.0
_BREAK_MEL = _BREAK_HZ / _LINEAR_HZ
_LOG_STEP = math.log(6.4) / 27.0


def hz_to_mel(hz):
    if hz < _BREAK_HZ:
        return hz / _LINEAR_HZ
    return _BREAK_MEL + math.log(hz / _BREAK_HZ) / _LOG_STEP


def mel_to_hz(mel):
    if mel < _BREAK_MEL:
        return mel * _LINEAR_HZ
    return _BREAK_HZ * math.exp(_LOG_STEP * (mel - _BREAK_MEL))


def filters(bands):
    """`bands` rows of BINS weights, one row after the other."""
    top = hz_to_mel(SAMPLE_RATE / 2)
    edges = [mel_to_hz(top * i / (bands + 1)) for i in range(bands + 2)]
    weights = []
    for low, centre, high in zip(edges, edges[1:], edges[2:]):
        height = 2.0 / (high - low)
        for index in range(BINS):
            hz = index * SAMPLE_RATE / WINDOW
            rise = (hz - low) / (centre - low)
            fall = (high - hz) / (high - centre)
            weights.append(max(0.0, min(rise, fall)) * height)
    return weights
