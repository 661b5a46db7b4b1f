"""Control flow: tariffs, searches in sorted tables, integer loops, escape times, row machines."""

from __future__ import annotations

from generators._control_flow_automata import cellular_automaton
from generators._control_flow_calendar import calendar_rules
from generators._control_flow_cases import geometry_cases
from generators._control_flow_filters import row_filter
from generators._control_flow_gates import logic_gates
from generators._control_flow_integers import integer_walk
from generators._control_flow_lookup import sorted_search
from generators._control_flow_marching import random_walks, sphere_tracing
from generators._control_flow_numbers import number_theory
from generators._control_flow_orbits import escape_time
from generators._control_flow_params import with_struct
from generators._control_flow_parsers import token_parser
from generators._control_flow_polygons import polygon_tests
from generators._control_flow_robots import grid_walk
from generators._control_flow_rows import row_machine
from generators._control_flow_rules import classify_levels
from generators._control_flow_scans import event_scan
from generators._control_flow_searches import (
    pattern_search,
    table_lookup,
)
from generators._control_flow_series import power_series
from generators._control_flow_simulations import (
    time_stepping,
)
from generators._control_flow_solvers import root_finding
from generators._control_flow_sorts import small_sorts
from generators._control_flow_stocks import stock_keeping
from generators._control_flow_tariff import tariff
from generators.registry import Category

CATEGORY = Category("control_flow", "loops, searches, state machines and branching rules")

_IDIOMS = (
    sorted_search,
    integer_walk,
    escape_time,
    row_machine,
    tariff,
    root_finding,
    power_series,
    number_theory,
    event_scan,
    row_filter,
    token_parser,
    classify_levels,
    logic_gates,
    calendar_rules,
    geometry_cases,
    time_stepping,
    stock_keeping,
    grid_walk,
    cellular_automaton,
    table_lookup,
    pattern_search,
    polygon_tests,
    small_sorts,
    sphere_tracing,
    random_walks,
)
for _idiom in _IDIOMS:
    CATEGORY.idiom(with_struct(_idiom))
