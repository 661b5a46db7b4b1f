"""Ordinary differential equations: what their states and numbers are, and the rates of change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.kit.functions import sin
from generators.program.expr import Expr

Span = tuple[str, float, float]
"""Names of a quantity and the range of its values."""


@dataclass(frozen=True)
class System:
    """States, numbers, and the rate of each state as a function of those it names."""

    title: str
    states: dict[str, Span]
    numbers: dict[str, Span]
    rates: dict[str, Callable[..., Expr]]
    peak: str = ""
    """The state whose largest value over time is of interest."""
    peak_said: str = ""
    swings: bool = False
    """Whether it is a position and a velocity, for which semi-implicit steps are made."""
    dt: tuple[float, float] = (0.02, 0.05)


SYSTEMS: dict[str, System] = {
    "sir": System(
        "SIR epidemics in terms of the susceptible and the infected share of the population",
        {"s": ("s susceptible", 0.7, 0.99), "i": ("i infected", 0.005, 0.05)},
        {"beta": ("beta contact_rate", 0.3, 0.8), "gamma": ("gamma recovery_rate", 0.1, 0.25)},
        {
            "s": lambda s, i, beta: -beta * s * i,
            "i": lambda s, i, beta, gamma: beta * s * i - gamma * i,
        },
        "i",
        "the largest infected share",
        dt=(0.2, 0.5),
    ),
    "seir": System(
        "SEIR epidemics in terms of the susceptible, exposed and infected shares of the population",
        {
            "s": ("s susceptible", 0.7, 0.99),
            "e": ("e exposed", 0.0, 0.05),
            "i": ("i infected", 0.005, 0.05),
        },
        {
            "beta": ("beta contact_rate", 0.4, 0.9),
            "sigma": ("sigma incubation_rate", 0.2, 0.4),
            "gamma": ("gamma recovery_rate", 0.1, 0.25),
        },
        {
            "s": lambda s, i, beta: -beta * s * i,
            "e": lambda s, e, i, beta, sigma: beta * s * i - sigma * e,
            "i": lambda e, i, sigma, gamma: sigma * e - gamma * i,
        },
        "i",
        "the largest infected share",
        dt=(0.2, 0.5),
    ),
    "lotka_volterra": System(
        "the predator-prey equations of Lotka and Volterra",
        {"x": ("prey x", 0.5, 3.0), "y": ("predators y", 0.3, 2.0)},
        {
            "alpha": ("alpha birth_rate", 0.6, 1.2),
            "beta": ("beta predation", 0.4, 1.0),
            "delta": ("delta conversion", 0.3, 0.8),
            "gamma": ("gamma death_rate", 0.4, 1.0),
        },
        {
            "x": lambda x, y, alpha, beta: alpha * x - beta * x * y,
            "y": lambda x, y, delta, gamma: delta * x * y - gamma * y,
        },
        "x",
        "the largest prey population",
    ),
    "van_der_pol": System(
        "Van der Pol oscillators",
        {"x": ("x", -2.0, 2.0), "v": ("v velocity", -2.0, 2.0)},
        {"mu": ("mu damping", 0.5, 3.0)},
        {"x": lambda v: v, "v": lambda x, v, mu: mu * (1.0 - x * x) * v - x},
        swings=True,
    ),
    "fitzhugh_nagumo": System(
        "FitzHugh-Nagumo neurons, with a membrane potential and a recovery variable",
        {"v": ("v potential", -1.5, 1.0), "w": ("w recovery", -0.5, 0.5)},
        {
            "current": ("current drive", 0.3, 0.8),
            "a": ("a", 0.6, 0.8),
            "b": ("b", 0.7, 0.9),
            "tau": ("tau time_scale", 10.0, 14.0),
        },
        {
            "v": lambda v, w, current: v - v * v * v / 3.0 - w + current,
            "w": lambda v, w, a, b, tau: (v + a - b * w) / tau,
        },
        "v",
        "the largest potential",
        dt=(0.05, 0.1),
    ),
    "pendulum": System(
        "damped pendulums in terms of angle and angular velocity",
        {"theta": ("theta angle", -2.5, 2.5), "omega": ("omega angular_velocity", -1.0, 1.0)},
        {
            "length": ("length rod_length", 0.5, 2.0),
            "gravity": ("gravity g", 9.7, 9.9),
            "damping": ("damping friction", 0.05, 0.3),
        },
        {
            "theta": lambda omega: omega,
            "omega": lambda theta, omega, gravity, length, damping: (
                -gravity / length * sin(theta) - damping * omega
            ),
        },
        swings=True,
        dt=(0.005, 0.02),
    ),
    "duffing": System(
        "unforced Duffing oscillators, whose springs stiffen with the cube of the deflection",
        {"x": ("x deflection", -1.5, 1.5), "v": ("v velocity", -1.0, 1.0)},
        {
            "stiffness": ("stiffness alpha", 0.5, 2.0),
            "hardening": ("hardening beta", 0.5, 2.0),
            "damping": ("damping delta", 0.1, 0.4),
        },
        {
            "x": lambda v: v,
            "v": lambda x, v, stiffness, hardening, damping: (
                -damping * v - stiffness * x - hardening * x * x * x
            ),
        },
        swings=True,
    ),
    "lorenz": System(
        "the Lorenz system",
        {"x": ("x", -10.0, 10.0), "y": ("y", -10.0, 10.0), "z": ("z", 10.0, 30.0)},
        {
            "rho": ("rho rayleigh", 24.0, 30.0),
            "sigma": ("sigma prandtl", 9.0, 11.0),
            "beta": ("beta", 2.5, 2.8),
        },
        {
            "x": lambda x, y, sigma: sigma * (y - x),
            "y": lambda x, y, z, rho: x * (rho - z) - y,
            "z": lambda x, y, z, beta: x * y - beta * z,
        },
        dt=(0.002, 0.005),
    ),
    "logistic_growth": System(
        "logistic growth of harvested populations",
        {"x": ("pop stock", 0.5, 5.0)},
        {
            "harvest": ("harvest effort", 0.1, 0.3),
            "growth": ("growth_rate growth", 0.4, 0.9),
            "limit": ("carrying_capacity max_pop", 8.0, 12.0),
        },
        {"x": lambda x, growth, limit, harvest: growth * x * (1.0 - x / limit) - harvest * x},
        dt=(0.05, 0.1),
    ),
    "enzyme": System(
        "the conversion of a substrate by an enzyme, after Michaelis and Menten",
        {"x": ("substrate conc", 1.0, 8.0)},
        {"vmax": ("v_max max_rate", 0.5, 1.5), "km": ("k_m half_saturation", 0.5, 2.0)},
        {"x": lambda x, vmax, km: -vmax * x / (km + x)},
    ),
    "brusselator": System(
        "the Brusselator, a model of an oscillating reaction",
        {"x": ("x conc_x", 0.5, 2.0), "y": ("y conc_y", 1.0, 3.0)},
        {"b": ("b feed_b", 1.7, 2.5), "a": ("a feed_a", 0.8, 1.2)},
        {
            "x": lambda x, y, a, b: a + x * x * y - (b + 1.0) * x,
            "y": lambda x, y, b: b * x - x * x * y,
        },
        "x",
        "the largest concentration of the first substance",
    ),
    "two_compartments": System(
        "the amounts of a drug in the central and the peripheral compartment of a body",
        {"c": ("central amount_c", 5.0, 50.0), "p": ("peripheral amount_p", 0.0, 5.0)},
        {
            "k10": ("k10 elimination", 0.1, 0.4),
            "k12": ("k12", 0.2, 0.5),
            "k21": ("k21", 0.1, 0.3),
        },
        {
            "c": lambda c, p, k10, k12, k21: k21 * p - (k10 + k12) * c,
            "p": lambda c, p, k12, k21: k12 * c - k21 * p,
        },
        "p",
        "the largest amount in the peripheral compartment",
    ),
    "rlc_circuit": System(
        "series RLC circuits at a constant voltage, in terms of charge and current",
        {"q": ("charge q", -0.5, 0.5), "i": ("current amps", -1.0, 1.0)},
        {
            "voltage": ("voltage v_in", 1.0, 5.0),
            "resistance": ("resistance ohms", 0.5, 2.0),
            "inductance": ("inductance henries", 0.5, 1.5),
            "capacitance": ("capacitance farads", 0.2, 1.0),
        },
        {
            "q": lambda i: i,
            "i": lambda q, i, voltage, resistance, inductance, capacitance: (
                (voltage - resistance * i - q / capacitance) / inductance
            ),
        },
        "i",
        "the largest current",
        swings=True,
    ),
}
