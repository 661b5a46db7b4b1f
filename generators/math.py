"""Mathematics: polar coordinates, tone curves, activations, distributions, softmax statistics."""

from __future__ import annotations

from generators._math_angles import angle_arithmetic
from generators._math_atmosphere import weather_index
from generators._math_classify import classification_loss
from generators._math_colour import colour_transfer
from generators._math_control import control_law
from generators._math_cumulative import cumulative_probability
from generators._math_densities import probability_density
from generators._math_diffusion import diffusion_profile
from generators._math_distribution import distribution
from generators._math_doses import dose_response
from generators._math_easing import easing_curve
from generators._math_flows import fluid_flow
from generators._math_geodesy import geodesic
from generators._math_hyperbolic import hyperbolic_profile
from generators._math_interest import interest
from generators._math_interpolation import interpolation
from generators._math_logs import log_measure
from generators._math_losses import regression_loss
from generators._math_network import activation
from generators._math_optics import surface_optics
from generators._math_options import option_price
from generators._math_orbits import orbit_phase
from generators._math_pixels import pixel_measure
from generators._math_polar import planar_angle
from generators._math_positions import positional_encoding
from generators._math_potentials import pair_potential
from generators._math_quantiles import quantile
from generators._math_radiation import thermal_radiation
from generators._math_rounding import grid_rounding
from generators._math_softmax import softmax_statistic
from generators._math_special import special_function
from generators._math_stable import stable_numerics
from generators._math_textures import procedural_texture
from generators._math_tones import tone_curve
from generators._math_waveforms import waveform
from generators._math_windows import window_function
from generators.registry import Category

CATEGORY = Category("math", "elementary functions as science, graphics and learning use them")

_IDIOMS = (
    planar_angle,
    tone_curve,
    activation,
    distribution,
    softmax_statistic,
    probability_density,
    cumulative_probability,
    quantile,
    regression_loss,
    classification_loss,
    stable_numerics,
    easing_curve,
    window_function,
    waveform,
    colour_transfer,
    pixel_measure,
    surface_optics,
    pair_potential,
    dose_response,
    weather_index,
    geodesic,
    option_price,
    interest,
    interpolation,
    grid_rounding,
    angle_arithmetic,
    special_function,
    hyperbolic_profile,
    log_measure,
    fluid_flow,
    thermal_radiation,
    orbit_phase,
    procedural_texture,
    diffusion_profile,
    control_law,
    positional_encoding,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(_idiom)
