"""Arrays of sensors: steering vectors, delay and sum, beams of images, spatial spectra.

H. Van Trees, Optimum Array Processing, 2002; ultrasound: V. Perrot and others, Ultrasonics 111
(2021).
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin, sqrt
from generators.math.sensing.samples import (
    Complex,
    gets,
    power,
    style,
    times,
    times_conjugate,
    total,
)
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var

_TWO_PI = 6.2831853


@dataclass(frozen=True)
class _Geometry:
    """Phases of a plane wave at the sensors, for each direction."""

    array: Var
    spacing: Expr | None
    places: Var | None
    wavelength: Expr | None

    def wave(self, sine: Expr) -> Expr:
        """The phase of a sensor over its place."""
        if self.wavelength is not None:
            return _TWO_PI / self.wavelength * sine
        assert self.spacing is not None
        return _TWO_PI * self.spacing * sine

    def place(self, sensor: Expr) -> Expr:
        return cast(sensor, FLOAT32) if self.places is None else self.places[sensor]

    def gap(self, first: Expr, second: Expr) -> Expr:
        """How far the first of two sensors lies from the second."""
        if self.places is None:
            return cast(first - second, FLOAT32)
        return self.places[first] - self.places[second]

    @property
    def said(self) -> str:
        if self.places is not None:
            place = f"{self.places.name} / {self.wavelength.name}"  # type: ignore[union-attr]
        else:
            place = f"m * {self.spacing.name}"  # type: ignore[union-attr]
        return f"2 * pi * {place} * sin({self.array.name})"


def _geometry(k: KernelBuilder) -> _Geometry:
    """A uniform line by its spacing in wavelengths, or sensors at given places."""
    angles = k.array("angles theta steer_angles", FLOAT32, "directions", low=-1.4, high=1.4)
    if k.draw.shape.chance(0.6):
        spacing = k.scalar("spacing d_over_lambda", FLOAT32, 0.3, 0.6)
        return _Geometry(angles, spacing, None, None)
    places = k.array("sensor_x element_x", FLOAT32, "sensors", low=-1.5, high=1.5)
    wave = k.scalar("wavelength lam", FLOAT32, 0.8, 1.5)
    return _Geometry(angles, None, places, wave)


def _directions(k: KernelBuilder) -> None:
    k.size("directions", 10, 14)
    k.size("sensors", 5, 8)


def _steering(k: KernelBuilder, level: int) -> Title:
    """Steering vectors, tapered or not."""
    kept = style(k)
    _directions(k)
    a, m = k.thread("directions", "sensors", names=k.draw.word.choice((("a", "m"), ("b", "m"))))
    g = _geometry(k)
    phase = k.let("phase phi", g.wave(sin(g.array[a])) * g.place(m))
    value: Complex = (cos(phase), sin(phase))
    said = ""
    if k.draw.shape.chance(0.4):
        taper = k.array("taper shading", FLOAT32, "sensors", low=0.2, high=1.0)
        w = k.let("w weight", taper[m])
        value, said = (w * value[0], w * value[1]), f", times {taper.name}[m]"
    out = kept.store(k, "steering weights", ("directions", "sensors"), (a, m), value)
    kind = "a line of sensors" if g.places is not None else "a uniform line of sensors"
    text = f"Steering vectors of {kind}: {gets(out)} exp(i * {g.said}) for each direction and "
    return Title(k.name("steering_vectors ula_steering"), f"{text}sensor m{said}.")


def _align(k: KernelBuilder, level: int) -> Title:
    """Samples of each sensor with their channel's gain and phase made good."""
    kept = style(k)
    k.size("sensors", 6, 8)
    k.size("samples", 12, 16)
    m, t = k.thread("sensors", "samples", names=k.draw.word.choice((("m", "t"), ("ch", "n"))))
    data = kept.declare(k, "snapshots channel_data", ("sensors", "samples"), 1.0)
    x = data.read("x", (m, t))
    weights = kept.declare(k, "calibration cal", ("sensors",), 1.0)
    w = weights.read("w", (m,))
    conjugate = k.draw.shape.chance(0.5)
    value = times_conjugate(x, w) if conjugate else times(x, w)
    out = kept.store(k, "aligned corrected", ("sensors", "samples"), (m, t), value)
    text = f"Calibrate the channels of an array: {gets(out)} the complex samples in {data.said} "
    text += f"times {'the conjugate of ' * conjugate}the sensor's weight in {weights.said}."
    return Title(k.name("calibrate_channels align_channels"), text)


def _weighted(k: KernelBuilder, level: int) -> Title:
    """Narrowband beams: samples of all sensors by the conjugates of complex weights."""
    kept = style(k)
    k.size("num_beams", 5, 7)
    k.size("sensors", 5, 8)
    k.size("samples", 10, 14)
    b, t = k.thread("num_beams", "samples", names=k.draw.word.choice((("b", "t"), ("beam", "n"))))
    last = k.draw.shape.chance(0.4)
    dims = ("samples", "sensors") if last else ("sensors", "samples")
    data = kept.declare(k, "snapshots channel_data", dims, 1.0)
    weights = kept.declare(k, "weights steer", ("num_beams", "sensors"), 1.0)
    count = k.size_param("num_sensors n_channels", "sensors")
    acc = total(k)
    with k.for_("m ch", count) as m:
        x, w = data.read("x", (t, m) if last else (m, t)), weights.read("w", (b, m))
        acc.add(times_conjugate(x, w))
    what = "the sum over sensors of the sample times the conjugate of the beam's weight"
    if k.draw.shape.chance(0.4):
        out = k.out("beam_power power", FLOAT32, ("num_beams", "samples"))
        k.store(out, (b, t), power(acc.value))
        done = f"{out.name} gets the squared magnitude of {what}"
    else:
        done = gets(kept.store(k, "beams formed", ("num_beams", "samples"), (b, t), acc.value))
        done += f" {what}"
    text = f"Narrowband beamforming: for each beam and time, {done}, from {data.said} "
    text += f"(sensors as {'columns' if last else 'rows'}) and "
    return Title(k.name("narrowband_beams weighted_beams"), f"{text}{weights.said}.")


def _delay_and_sum(k: KernelBuilder, level: int) -> Title:
    """Beams of real samples by delays in samples, whole or between two of them."""
    shape = k.draw.shape
    between = level > 2 or shape.chance(0.3)
    k.size("num_beams", 5, 7)
    k.size("sensors", 5, 7)
    k.size("samples", 18, 24)
    b, t = k.thread("num_beams", "samples", names=k.draw.word.choice((("b", "t"), ("beam", "n"))))
    data = k.array("traces channel_data", FLOAT32, ("sensors", "samples"), low=-1.0, high=1.0)
    kind = FLOAT32 if between else INT32
    ends = (-3.0, 3.0) if between else (-3, 3)
    delays = k.array("delays shifts", kind, ("num_beams", "sensors"), low=ends[0], high=ends[1])
    count = k.size_param("num_sensors n_channels", "sensors")
    length = k.size_param("num_samples n_samples", "samples")
    taper = None
    if shape.chance(0.5):
        taper = k.array("taper apodization", FLOAT32, "sensors", low=0.2, high=1.0)
    acc = k.let("acc total", k.lift(0.0, FLOAT32))
    with k.for_("m ch", count) as m:
        if between:
            place = k.let("pos tau", cast(t, FLOAT32) + delays[b, m])
            _between(k, data, m, place, length, taper, acc)
        else:
            at = k.let("at idx", t + delays[b, m])
            with k.if_(fn("and", at >= 0, at < length)):
                value = data[m, at]
                k.augment(acc, "add", value if taper is None else taper[m] * value)
    out = k.out("beams formed", FLOAT32, ("num_beams", "samples"))
    k.store(out, (b, t), acc)
    weight = f"{taper.name} times " if taper is not None else ""
    text = f"Delay-and-sum beamforming: for each beam and time, {out.name} gets the sum over "
    text += "sensors of "
    text += (
        f"{weight}the sensor's sample in {data.name} at that time plus {delays.name} of the beam "
    )
    text += "and sensor"
    text += ", linear between two samples" * between
    text += "; times of which a sample lies outside of the trace add nothing."
    return Title(k.name("delay_and_sum das_beams delay_sum_beams"), text)


def _between(
    k: KernelBuilder, data: Var, m: Var, place: Var, length: Var, taper: Var | None, acc: Var
) -> None:
    """Add what a trace is between two samples, where it has both."""
    first = k.let("i0 left", cast(fn("floor", place), INT32))
    with k.if_(fn("and", first >= 0, first + 1 < length)):
        part = k.let("frac w", place - cast(first, FLOAT32))
        value = (1.0 - part) * data[m, first] + part * data[m, first + 1]
        k.augment(acc, "add", value if taper is None else taper[m] * value)


def _pixels(k: KernelBuilder, level: int) -> Title:
    """An ultrasound image of a plane wave: the echo of each pixel by its way to each element."""
    shape = k.draw.shape
    aperture = level > 3 and shape.chance(0.6)
    k.size("depths", 7, 9)
    k.size("lateral", 8, 10)
    k.size("elements", 6, 8)
    k.size("samples", 26, 32)
    z, x = k.thread("depths", "lateral", names=k.draw.word.choice((("iz", "ix"), ("row", "col"))))
    data = k.array("rf_data channel_data", FLOAT32, ("elements", "samples"), low=-1.0, high=1.0)
    depth = k.array("z_grid depth_of", FLOAT32, "depths", low=2.0, high=9.0)
    across = k.array("x_grid lateral_x", FLOAT32, "lateral", low=-4.0, high=4.0)
    element = k.array("element_x probe_x", FLOAT32, "elements", low=-4.0, high=4.0)
    rate = k.scalar("samples_per_mm fs_over_c", FLOAT32, 1.6, 2.2)
    count = k.size_param("num_elements n_elements", "elements")
    length = k.size_param("num_samples n_samples", "samples")
    f_number = k.scalar("f_number fnum", FLOAT32, 0.8, 1.5) if aperture else None
    pz, px = k.let("pz zp", depth[z]), k.let("px xp", across[x])
    acc = k.let("acc total", k.lift(0.0, FLOAT32))
    with k.for_("e ch", count) as e:
        dx = k.let("dx off", px - element[e])

        def add() -> None:
            place = k.let("pos tau", (pz + sqrt(dx * dx + pz * pz)) * rate)
            _between(k, data, e, place, length, None, acc)

        if f_number is None:
            add()
        else:
            with k.if_(2.0 * f_number * abs(dx) <= pz):
                add()
    out = k.out("image bmode_rf", FLOAT32, ("depths", "lateral"))
    k.store(out, (z, x), acc)
    names = (out.name, data.name, rate.name, depth.name, across.name, element.name)
    said = _pixels_told(*names, f_number.name if f_number is not None else "")
    return Title(k.name("plane_wave_das ultrasound_das das_image"), said)


def _pixels_told(
    out: str, data: str, rate: str, depth: str, across: str, element: str, f_number: str
) -> str:
    text = f"Plane-wave ultrasound image by delay and sum: for each pixel, {out} gets the sum over "
    text += f"elements of their trace in {data} at sample (z + sqrt(dx^2 + z^2)) * {rate}, linear "
    text += f"between two samples, z being {depth} of the row and dx {across} of the column less "
    text += f"{element}; a place of which a sample lies outside of the trace adds nothing"
    return text + (f", nor does an element with 2 * {f_number} * |dx| > z." if f_number else ".")


def _spectrum(k: KernelBuilder, level: int) -> Title:
    """Spatial spectra of a covariance: Bartlett's, or Capon's of its inverse (MVDR)."""
    kept = style(k)
    _directions(k)
    capon = k.draw.shape.chance(0.5)
    (a,) = k.thread("directions", names=(k.name("a d"),))
    g = _geometry(k)
    names = "inv_cov r_inv" if capon else "cov covariance"
    matrix = kept.declare(k, names, ("sensors", "sensors"), 1.0)
    count = k.size_param("num_sensors n_sensors", "sensors")
    wave = k.let("wave ku", g.wave(sin(g.array[a])))
    acc = k.let("acc quad", k.lift(0.0, FLOAT32))
    with k.for_("m row", count) as m, k.for_("n col", count) as n:
        r = matrix.read("r", (m, n))
        gap = k.let("phase dphi", wave * g.gap(n, m))
        k.augment(acc, "add", r[0] * cos(gap) - r[1] * sin(gap))
    value: Expr = acc
    what = "the real part of conj(a)^T R a"
    if capon:
        floor = k.scalar("eps floor_value", FLOAT32, 0.01, 0.05)
        value = 1.0 / fn("max", acc, floor)
        what = f"1 / max({what}, {floor.name})"
    out = k.out(
        "spectrum pseudo_spectrum" if capon else "spectrum bartlett_power", FLOAT32, "directions"
    )
    k.store(out, a, value)
    name = "Capon (MVDR)" if capon else "Bartlett"
    text = f"{name} spectrum of an array: for each direction, {out.name} gets {what}, R being "
    text += f"{'the inverse covariance' if capon else 'the covariance'} in {matrix.said} and a the "
    text += f"steering vector exp(i * {g.said}) of sensors m."
    return Title(k.name("capon_spectrum mvdr_spectrum" if capon else "bartlett_spectrum"), text)


_FORMS = {
    1: (_steering, _align),
    2: (_weighted, _delay_and_sum),
    3: (_delay_and_sum, _pixels),
    4: (_pixels, _spectrum, _spectrum),
}


@idiom(depth=4)
def beamforming(k: KernelBuilder, level: int) -> Title:
    """Arrays of sensors: steering, weights, delay and sum, images, spatial spectra."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)
